-- Functions, their source lines and the calls between them, for callgrind_annotate and KCachegrind.

local core = require "profio.core"

local callgrind = {
   name = "callgrind",
   help = "a profile for callgrind_annotate and KCachegrind",
   endings = { ".callgrind" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "only this metric: time, samples, ...; else all" },
   },
}

-- callgrind knows a function by its name and file together. Arcs of graphs know no files, so their
-- functions go without.
local function without_files(functions)
   local frames = {}
   for _, frame in ipairs(functions:frames()) do
      frames[frame.number] = { ["function"] = frame["function"], line = frame.line }
   end
   return assert(functions:rename(frames))
end

-- The names of what is weighed, what the file shows first at the front. Calls are no costs there:
-- arcs state them.
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
   local functions, arcs = profile:sums()
   if profile:kind() ~= "contexts" then
      functions = without_files(functions)
   end
   return core.write_callgrind(functions, {
      metrics = metrics_of(profile, given.metric), notes = profile:notes(),
      creator = "profio " .. core.version, command = profile:title() }, file, arcs)
end

---@param trace profio.Trace
function callgrind.fits(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

return callgrind
