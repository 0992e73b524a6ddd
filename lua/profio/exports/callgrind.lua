-- Functions, their source lines and the calls between them for callgrind_annotate and KCachegrind.

local compared = require "profio.exports.compared"
local core = require "profio.core"
local sums_body = require "profio.internal.bodies.sums_body"

local callgrind = {
   name = "callgrind",
   help = "a profile for callgrind_annotate and KCachegrind",
   endings = { ".callgrind" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "only this metric: time, samples, ...; else all" },
   },
}

-- Returns the names of the metrics, the usual one first. Calls are no costs in this format: arcs
-- state them.
local function metrics_of(profile, wanted)
   local first = wanted or profile:usual_metric()
   local names = { first }
   for _, metric in ipairs(wanted and {} or profile:metrics()) do
      local is_other = metric.name ~= first and metric.name ~= "calls"
      names[#names + 1] = is_other and metric.name or nil
   end
   return names
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function callgrind.write(profile, given, file)
   if given.metric then
      sums_body.check_metric(profile, given.metric)
   end
   local functions, arcs = profile:sums()
   local remark = profile:compared() and "a difference: costs below 0 have shrunk; " ..
      "callgrind_annotate shows them, KCachegrind does not" or nil
   local note = compared.unstacked_note(profile, given)
   remark = remark and note and remark .. "; " .. note or remark or note
   return core.write_callgrind(functions, { remark = remark,
      metrics = metrics_of(profile, given.metric), notes = profile:notes(),
      creator = "profio " .. core.version, command = profile:title() }, file, arcs)
end

return callgrind
