-- The weight of each function, file, line, stack or area in one run. The rows of a run are read
-- once, so that its trace can be closed then.

local call_statistics = require "profio.internal.compare.call_statistics"
local counts = require "profio.internal.bodies.counts"
local opening = require "profio.internal.opening.open"
local profile_parts = require "profio.internal.bodies.profile_parts"
local sampling = require "profio.internal.bodies.sampling"
local traces = require "profio.internal.trace"

local run_weights = {}

---One run of a comparison.
---@class profio.WeighedRun
---@field title string path of its trace
---@field metric { name: string, unit: string }
---@field whole number weight of all functions
---@field period number|nil weight of one sample; nil: the weights come from no samples
---@field is_exact boolean weights are counts without noise, such as calls
---@field rows { name: string, item: string|nil, area: string|nil, path: string|nil, file:
---string|nil, line: integer|nil, self: number, total: number|nil }[] item: the key of an area;
---path: the packed names of a stack
---@field callers table<string, table<string, boolean>> by the name of a function
---@field calls profio.RunCalls|nil by area or context, or with option calls
---@field sampling profio.SamplingRate|nil how often its samples were taken
---@field clock number|nil hertz, of the machine on which it was recorded
---@field profile profio.Profile|nil if it is kept, for comparison:difference
---@field lost string[] what was lost, as texts
---@field inputs string[] paths of the files from which it was read
---@field lost_share number|nil share of the records that were lost

-- {====== Rows ======

-- Returns the rows of a view. `columns`: name, file, line, self and total as the view calls them;
-- without total if the view has none.
local function rows_of(view, columns)
   local list = {}
   for name, file, line, self, total in view:each(table.unpack(columns)) do
      list[#list + 1] = { name = name or "?", file = file, line = line, self = self or 0,
         total = total }
   end
   return list
end

local readers = {}

readers["function"] = function(run)
   if run.counts_calls then
      return rows_of(run.profile:flat { zeros = true },
         { "function", "file", "line", "calls" })
   end
   return rows_of(run.profile:flat { metric = run.metric.name },
      { "function", "file", "line", "self", "total" })
end

readers.file = readers["function"]

function readers.line(run)
   if not run.trace then
      error("compare: lines are known of a trace, not of a profile: give the trace", 0)
   end
   local profile, message, code = run.trace:profile { lines = true }
   if not profile then
      return nil, message, code
   end
   local rows = rows_of(profile:lines { metric = run.metric.name },
      { "function", "file", "line", "self" })
   local has_lines = false
   for _, row in ipairs(rows) do
      has_lines = has_lines or row.line ~= nil
   end
   if not has_lines then
      error(("compare: no lines are known of %s; a program has them if it is compiled with -g")
         :format(run.title), 0)
   end
   return rows
end

-- The stacks with weight, as names joined by ";", outermost first; names may have a ";", so `path`
-- has the size of each.
function readers.stack(run)
   local names, sized, list = {}, {}, {}
   for depth, name, self, total in run.profile:tree { metric = run.metric.name }
      :each("depth", "function", "self", "total")
   do
      for i = #names, depth, -1 do
         names[i], sized[i] = nil, nil
      end
      names[depth], sized[depth] = name, string.pack("<s4", name)
      if self ~= 0 then
         list[#list + 1] = { name = table.concat(names, ";"), path = table.concat(sized),
            self = self, total = total }
      end
   end
   return list
end

-- The areas of all contexts together, or in each context; there areas without one are alone, such
-- as the states of variables.
local function of_calls(by)
   return function(run)
      local list, key_of, records, in_context = {}, call_statistics.keys(), {}, {}
      for record in call_statistics.records(run.calls, by) do
         records[#records + 1] = record
         in_context[record.area or "?"] = in_context[record.area or "?"] or record.context ~= nil
      end
      for _, record in ipairs(records) do
         local row = { name = call_statistics.name(record), item = key_of(record),
            area = record.area and tostring(record.area),
            file = record.file and tostring(record.file), self = record.net or 0,
            total = record.gross }
         local is_sum = record.context == nil and in_context[record.area or "?"]
         list[#list + 1] = not is_sum and row or nil
      end
      return list
   end
end

readers.area, readers.context = of_calls "area", of_calls "context"

---The kinds of rows that a comparison may have.
run_weights.by = { "function", "area", "context", "line", "file", "stack" }

-- }======

-- {====== Facts ======

local function metric_of(profile, name, title)
   local wanted, names = name or profile:usual_metric(), {}
   for i, metric in ipairs(profile:metrics()) do
      if metric.name == wanted then
         return metric
      end
      names[i] = metric.name
   end
   if wanted == "calls" then -- of a graph, whose arcs count them
      return { name = "calls", unit = "count", total = 0 }, true
   end
   error(("compare: %s has no metric '%s'; there are: %s"):format(title, tostring(wanted),
      table.concat(names, ", ")), 0)
end

-- Returns the weight of one sample, or nil.
local function period_of(profile, metric)
   local name = counts.of_samples(profile:metrics(), metric.name)
   for _, other in ipairs(profile:metrics()) do
      if name and other.name == name and other.total > 0 and metric.total > 0 then
         return metric.total / other.total
      end
   end
   return nil
end

local function callers_of(profile)
   local callers = {}
   for caller, callee in profile:graph():each("caller", "callee") do
      if caller and callee and caller ~= callee then
         callers[callee] = callers[callee] or {}
         callers[callee][caller] = true
      end
   end
   return callers
end

-- Returns the share of the records that were lost; nil if it is not known, or nothing was.
local function lost_share(trace)
   local info = trace and trace.info or {}
   local lost, kept = info.lost or 0, info.records
   return kept and lost > 0 and lost / (lost + kept) or nil
end

-- }======

-- States of variables are in no profile, so a timeline of states has the sum of its rows.
local function whole_of(run)
   if not run.counts_calls and not (run.calls and run.metric.total == 0) then
      return run.metric.total
   end
   local sum = 0
   for _, row in ipairs(run.rows) do
      sum = sum + row.self
   end
   return sum
end

-- Whether the file of a run states a metric in events that were all counted, by a simulator.
local function is_counted_whole(trace, metric)
   return trace ~= nil and metric.unit == "events" and traces.of(trace).format.counts_all == true
end

---Reads what a comparison needs of one run.
---@param what profio.Trace|profio.Profile
---@param options table by, metric, exact, profiles and calls of profio.compare
---@return profio.WeighedRun|nil
---@return string|nil message
---@return string|nil code
function run_weights.of(what, options)
   local is_profile = (getmetatable(what) or {}).__name == "profio.profile"
   local profile, message, code
   if is_profile then
      profile = what
   else
      profile, message, code = what:profile()
   end
   if not profile then
      return nil, message, code
   end
   local run = { profile = profile, trace = not is_profile and what or nil,
      title = is_profile and profile_parts.title(what) or what.path, lost = profile:notes() }
   run.metric, run.counts_calls = metric_of(profile, options.metric, run.title)
   run.is_exact = options.exact or counts.is_exact(run.metric)
      or is_counted_whole(run.trace, run.metric)
   if options.calls or options.by == "area" or options.by == "context" then
      run.calls = call_statistics.of_trace(what, run.title)
   end
   run.period = not run.is_exact and period_of(profile, run.metric) or nil
   run.rows, message, code = readers[options.by](run)
   if not run.rows then
      return nil, message, code
   end
   run.callers, run.inputs = callers_of(profile), what:inputs()
   run.whole, run.sampling = whole_of(run), sampling.of(profile, run.metric)
   run.lost_share = lost_share(run.trace)
   run.clock = run.trace and run.trace.info.clock
   run.trace = nil
   if not options.profiles then
      run.profile = nil
   end
   return run
end

-- {====== Renaming ======

-- Calls a function for each name in a packed path; returns the list of its results.
local function each_of_path(path, f)
   local parts, at = {}, 1
   while at <= #path do
      local name
      name, at = string.unpack("<s4", path, at)
      parts[#parts + 1] = f(name)
   end
   return parts
end

---Adds the names of the functions or areas of a run to a set.
---@param run profio.WeighedRun
---@param names table<string, true> changed
function run_weights.add_names(run, names)
   for _, row in ipairs(run.rows) do
      if row.path then
         each_of_path(row.path, function(name)
            names[name] = true
         end)
      else
         names[row.area or row.name] = true
      end
   end
end

-- Returns the callers with other names.
local function renamed_callers(callers, renamed)
   local list = {}
   for callee, of_callee in pairs(callers) do
      local name = renamed[callee] or callee
      list[name] = list[name] or {}
      for caller in pairs(of_callee) do
         list[name][renamed[caller] or caller] = true
      end
   end
   return list
end

---Gives functions or areas of a run other names.
---@param run profio.WeighedRun changed
---@param by string as in run_weights.by
---@param renamed table<string, string>
function run_weights.rename(run, by, renamed)
   run.callers = renamed_callers(run.callers, renamed)
   if run.calls then
      run.calls.renamed = renamed
   end
   if by == "area" or by == "context" then
      run.rows = readers[by](run)
      return
   end
   for _, row in ipairs(run.rows) do
      if row.path then
         local names = each_of_path(row.path, function(name)
            return renamed[name] or name
         end)
         row.name = table.concat(names, ";")
         for i, name in ipairs(names) do
            names[i] = string.pack("<s4", name)
         end
         row.path = table.concat(names)
      else
         row.name = renamed[row.name] or row.name
      end
   end
end

-- }======

-- Reads one run of a store.
local function of_stored(path, hash, opened, options)
   local trace <close>, message, code = opening.open(path, { format = "store",
      run = { run = hash }, exe = opened.exe, symbols = opened.symbols,
      load_bias = opened.load_bias })
   if not trace then
      return nil, message, code
   end
   local run
   run, message, code = run_weights.of(trace, options)
   if run then
      run.title = ("%s, run %s"):format(path, hash:sub(1, 12))
   end
   return run, message, code
end

---Returns the runs of a trace or profile: of a store one for each of its runs, else one.
---@param what profio.Trace|profio.Profile
---@param options table as of run_weights.of
---@return profio.WeighedRun[]|nil
---@return string|nil message
---@return string|nil code
function run_weights.all_of(what, options)
   if traces.of(what) == nil or what.format ~= "store" then
      local run, message, code = run_weights.of(what, options)
      return run and { run }, message, code
   end
   local list, opened = {}, traces.of(what).options
   for hash in what.runs:each "run" do
      local run, message, code = of_stored(what.path, hash, opened, options)
      if not run then
         return nil, message, code
      end
      list[#list + 1] = run
   end
   return list
end

return run_weights
