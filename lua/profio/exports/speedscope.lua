-- Sampled profiles for speedscope.

local core = require "profio.core"

local speedscope = {
   name = "speedscope",
   help = "a profile for speedscope",
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "what is weighed: time, samples, ..." },
      { name = "name", type = "text", help = "what the viewer calls it" },
   },
}

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function speedscope.write(profile, given, file)
   return core.write_speedscope(profile:contexts(), { metric = given.metric,
      name = given.name or profile:title(), exporter = "profio " .. core.version }, file)
end

---@param trace profio.Trace
function speedscope.fits(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

return speedscope
