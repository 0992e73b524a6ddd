-- Profiles for Go's pprof, and for all that read its files.

local core = require "profio.core"

local pprof = {
   name = "pprof",
   help = "a profile for Go's pprof, gzipped",
   takes = "profile",
   is_binary = true,
   options = {
      { name = "packed", type = "bool", default = true, help = "gzip it" },
   },
}

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function pprof.write(profile, given, file)
   local notes = profile:notes()
   return core.write_pprof(profile:contexts(), { packed = given.packed, comments = notes }, file)
end

---@param trace profio.Trace
function pprof.fits(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

return pprof
