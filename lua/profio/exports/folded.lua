-- Folded stacks, a line each: what flame graph tools read.

local core = require "profio.core"

local folded = {
   name = "folded",
   help = "folded stacks: main;parse;read 1000",
   endings = { ".folded" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "what is weighed: time, samples, ..." },
   },
}

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function folded.write(profile, given, file)
   return core.write_folded(profile:contexts(), { metric = given.metric }, file)
end

---@param trace profio.Trace
function folded.fits(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

return folded
