-- Profiles for Go's pprof, and for all that read its files.

local core = require "profio.core"

local MOST_COMMENTS = 8

local pprof = {
   name = "pprof",
   help = "a profile for Go's pprof, gzipped",
   endings = { ".pb.gz", ".pb", ".pprof" },
   takes = "profile",
   is_binary = true,
   options = {
      { name = "packed", type = "bool", default = true, help = "gzip it" },
   },
}

-- What was lost, in as many comments as are written.
local function comments_of(notes)
   local list = table.move(notes, 1, math.min(#notes, MOST_COMMENTS), 1, {})
   if #notes > MOST_COMMENTS then
      list[MOST_COMMENTS] = ("and %d more"):format(#notes - MOST_COMMENTS + 1)
   end
   return list
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function pprof.write(profile, given, file)
   local notes = comments_of(profile:notes())
   return core.write_pprof(profile:contexts(), { packed = given.packed, comments = notes }, file)
end

---@param trace profio.Trace
function pprof.fits(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

return pprof
