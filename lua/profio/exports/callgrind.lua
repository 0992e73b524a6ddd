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

-- The file of each name; false where functions of several files have it.
local function files_of(functions)
   local files = {}
   for _, frame in ipairs(functions:frames()) do
      local name, file = frame["function"], frame.file or false
      files[name] = (files[name] == nil or files[name] == file) and file
   end
   return files
end

-- callgrind knows a function by its name and file together. Arcs of graphs are between names: they
-- get the files of those, and functions whose name does not tell their file go without one.
local function with_files(contexts, files)
   local frames = {}
   for _, frame in ipairs(contexts:frames()) do
      local name = frame["function"]
      frames[frame.number] = { ["function"] = name, file = files[name] or nil, line = frame.line }
   end
   return assert(contexts:rename(frames, true))
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
      local files = files_of(functions)
      functions, arcs = with_files(functions, files), with_files(arcs, files)
   end
   local remark = profile:compared() and "a difference: costs below 0 have shrunk; " ..
      "callgrind_annotate shows them, KCachegrind does not" or nil
   return core.write_callgrind(functions, { remark = remark,
      metrics = metrics_of(profile, given.metric), notes = profile:notes(),
      creator = "profio " .. core.version, command = profile:title() }, file, arcs)
end

---@param trace profio.Trace
function callgrind.fits(trace)
   return trace:profile_kind() ~= nil, "no profile is made from its tables"
end

return callgrind
