-- A profile as .cpuprofile of V8, for VS Code and Chrome DevTools. Calling contexts are nodes, and
-- each with a weight has one sample, whose time is the weight: the order of samples is that of the
-- tree, not of time. Times are in microseconds, exact to the nanosecond; one unit of another
-- metric counts as one microsecond.

local core = require "profio.core"
local lanes = require "profio.exports.lanes"

local cpuprofile = {
   name = "cpuprofile",
   help = "a profile for VS Code and Chrome DevTools",
   endings = { ".cpuprofile" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "weight of samples: time, samples, ..." },
   },
}

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function cpuprofile.write(profile, given, file)
   local facts = (',\n"profio":{"creator":%s,"title":%s%s}'):format(
      lanes.json("profio " .. core.version), lanes.json(profile:title()),
      lanes.losses(profile:notes()))
   return core.write_cpuprofile(profile:contexts(), { metric = given.metric, facts = facts }, file)
end

return cpuprofile
