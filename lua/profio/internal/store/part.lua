-- A store that is opened as a trace: the tables runs, labels, cells and durations, what is stored
-- with the runs, and their profile. It has the form in which formats in Lua open a file (see
-- internal/writing/script_part.lua). All that is read comes from one transaction, so that runs
-- which another process adds meanwhile do not appear.

local call_sums = require "profio.internal.store.call_sums"
local changes = require "profio.internal.store.changes"
local combined = require "profio.internal.store.combined"
local core = require "profio.core"
local engines = require "profio.internal.store.engines"
local graph_tables = require "profio.internal.store.graph_tables"
local graph_weights = require "profio.internal.store.graph_weights"
local problem = require "profio.internal.store.problem"
local selecting = require "profio.internal.store.selecting"
local stores = require "profio.internal.store"
local trends = require "profio.internal.store.trends"
local views = require "profio.internal.views"

local part = {}

-- {====== Details ======

local MOST = 90 -- warnings of one code that are passed on

-- Passes on stored warnings. Of many with one code the last one has the number of the others.
local function warn(state, warnings)
   local counts, kinds = {}, {}
   for _, warning in ipairs(warnings) do
      local code = warning.code
      counts[code] = (counts[code] or 0) + 1
      if counts[code] <= MOST then
         state.source:warn(warning.message, { code = code, kind = warning.kind,
            offset = warning.offset, path = warning.path, count = warning.count })
      else
         kinds[code] = kinds[code] == "damage" and "damage" or warning.kind
      end
   end
   for code, kind in pairs(kinds) do
      state.source:warn(("%d more warnings of this kind are stored with the runs"):format(
         counts[code] - MOST), { code = code, kind = kind })
   end
end

-- Returns the runs with their details, and these combined. They are read when the profile or the
-- cells are, and only then the warnings appear that are stored with the runs.
local function detailed(state)
   if not state.detailed then
      local runs = state.engine:runs(state.tests, true)
      state.all = combined.of(runs, state.source:path()) -- raises if a run is damaged
      state.detailed = runs
      local done, message = pcall(warn, state, state.all.warnings)
      if not done then -- in strict mode
         problem.raise(tostring(message), "format")
      end
   end
   return state.detailed, state.all
end

-- Returns a message without the path of the store before it, which who shows it adds.
local function without_path(source, message)
   local path = source:path() .. ": "
   return message:sub(1, #path) == path and message:sub(#path + 1) or message
end

-- Warns of a damaged run.
local function warn_damaged(state, message)
   state.source:warn(without_path(state.source, message), { code = "store-damaged" })
end

-- Returns the runs whose details and rows are not damaged, and warns once of the others.
local function undamaged(state)
   local list, path = {}, state.source:path()
   for _, run in ipairs(state.engine:runs(state.tests, true)) do
      local ok, message = problem.caught(combined.of, { run }, path)
      if ok then
         list[#list + 1] = run
      else
         warn_damaged(state, message)
      end
   end
   warn(state, combined.of(list, path).warnings)
   return list
end

-- Returns the runs of tables with rows for each run.
local function runs_for_rows(state)
   state.undamaged = state.undamaged or problem.caught(detailed, state) or undamaged(state)
   return state.undamaged
end

-- Warns of what a check of the file finds.
local function check(state)
   for _, message in ipairs(state.engine:check()) do
      warn_damaged(state, message)
   end
end

-- }======

-- {====== Runs and labels ======

-- Returns the selected runs.
local function runs_of(state)
   state.runs = state.runs or state.engine:runs(state.tests)
   return state.runs
end

-- Returns the limit of the options `most` and `most_by`, or nil. Raises if they are wrong.
local function limit_of(options)
   local sign, name = (options.most_by or "-time"):match "^(%-?)([%w_]+)$"
   local attribute = selecting.attribute(name)
   if not attribute or attribute.type ~= "int" and name ~= "run" then
      error(("most_by is run or an attribute with numbers, with - before it for the largest, got "
         .. "'%s'"):format(options.most_by), 0)
   elseif options.most and options.most < 0 then
      error(("most must be 0 or more, got %d"):format(options.most), 0)
   end
   return options.most and { by = name == "run" and "hash" or name, descending = sign == "-",
      count = options.most, order = options.most_by, is_noted = options.note_more }
end

-- Returns the runs that table runs has: the selected ones, or those of the option `most`.
local function listed_runs(state)
   local limit, count = state.limit, state.counts.runs
   if not limit or count <= limit.count then
      return runs_of(state)
   end
   state.listed = state.listed or state.engine:runs(state.tests, false, limit)
   if limit.is_noted then
      state.source:warn(("%d of %d runs are shown, %s: --top N shows another number, --run selects "
         .. "runs, --output csv writes all"):format(limit.count, count, limit.order
         and "the first of --sort " .. limit.order or "those with the latest times"),
         { code = "store-more-runs", kind = "note" })
   end
   return state.listed
end

-- Returns the function that supplies the rows of table runs.
local function runs_table(state)
   return function(put)
      for _, run in ipairs(listed_runs(state)) do
         put(selecting.hex(run.hash), run.time, run.time_from, run.added, run.format, run.kind,
            run.files, run.bytes, run.losses, run.call_bytes, run.path, run.profio,
            selecting.labels_text(run.labels))
      end
   end
end

-- Returns the function that supplies the rows of table labels: those of the selected runs.
local function labels_table(state)
   return function(put)
      for _, label in ipairs(state.engine:labels(state.tests)) do
         put(label.key, label.value, label.runs)
      end
   end
end

-- }======

-- {====== Cells ======

-- Passes the stacks of one metric with a weight to `put`. The tree is in pre-order.
local function put_metric(put, run, contexts, metric)
   local names = {}
   local rows = views.over(function()
      return contexts:tree { metric = metric }
   end)
   for depth, name, weight, file, line in rows:each("depth", "function", "self", "file", "line") do
      for i = #names, depth, -1 do
         names[i] = nil
      end
      names[#names + 1] = name
      if weight ~= 0 then
         put(run, metric, table.concat(names, ";"), name, file, line, weight)
      end
   end
end

local function put_cells(state, put, run)
   if run.kind == "graph" then
      return
   end
   local contexts = combined.empty({ run }, state.source:path(), core.dictionary())
   state.engine:contexts(selecting.one(run.hash), contexts)
   for _, metric in ipairs(contexts:metrics()) do
      put_metric(put, selecting.hex(run.hash), contexts, metric.name)
   end
   contexts:close()
end

-- Returns a function that supplies the rows of a table with put_run(state, put, run). A run that is
-- damaged is left out, with a warning.
local function by_run(state, put_run)
   return function(put)
      for _, run in ipairs(runs_for_rows(state)) do
         local ok, message = problem.caught(function()
            put_run(state, put, run)
            return true
         end)
         if not ok then
            warn_damaged(state, message)
         end
      end
   end
end

-- }======

-- {====== Calls ======

-- Passes the statistics of the calls of a run to `put`.
local function put_calls(state, put, run)
   local packed = call_sums.of_run(state.engine, selecting.one(run.hash), run, state.source:path())
   if packed then
      call_sums.put_rows(selecting.hex(run.hash), packed, put)
   end
end

-- Returns the sum of the packed sums of the runs. Raises failures.
local function call_sums_of(state)
   if not state.sums then
      local path, counts = state.source:path(), state.counts
      local left_out = counts.runs - counts.with_calls
      detailed(state)
      state.sums = call_sums.merged(state.engine, state.tests, runs_of(state), path)
      if left_out > 0 then
         state.source:warn(("%d of %d runs have no statistics of calls and are left out; "
            .. "--run 'call_bytes>0' selects the others"):format(left_out, counts.runs),
            { code = "store-no-calls", kind = "note" })
      end
   end
   return state.sums
end

-- Adds what other files of profio ask for statistics of calls.
local function add_calls(state, stored)
   ---Returns the sum of the packed sums of the runs' calls, or nil, message, code.
   function stored.sums()
      return problem.caught(call_sums_of, state)
   end

   ---Returns whether some of the runs have statistics of calls.
   function stored.has_calls()
      return state.counts.with_calls > 0
   end
end

-- }======

-- Returns the sum of the profiles of the runs. Raises failures.
local function sum_of(state, dictionary)
   if state.counts.runs == 0 then
      problem.raise(state.source:path() .. ": no run of the store is selected", "format")
   end
   local _, all = detailed(state)
   local sum = core.empty_contexts(dictionary, all.metrics, all.usual)
   state.engine:contexts(state.tests, sum)
   return sum
end

-- Returns the number of runs that have a metric, and whether their metrics differ.
local function count_runs(lists, name)
   local count, first, differ = 0, nil, false
   for _, list in ipairs(lists) do
      local names, has_it = {}, false
      for i, metric in ipairs(list) do
         names[i], has_it = metric.name, has_it or metric.name == name
      end
      table.sort(names)
      local joined = table.concat(names, "\0")
      first, differ = first or joined, differ or first ~= nil and first ~= joined
      count = count + (has_it and 1 or 0)
   end
   return count, differ
end

-- Adds a note, once, if the runs have different metrics, of which views show one.
local function note_kinds(state, usual, metrics)
   local _, all = detailed(state)
   local others, count, differ = {}, count_runs(all.of_runs, usual)
   for _, metric in ipairs(metrics) do
      others[#others + 1] = metric.name ~= usual and metric.name or nil
   end
   if differ and others[1] and not state.has_noted_kinds then
      state.has_noted_kinds = true
      state.source:warn(("the runs are of several kinds of profiles: without --metric (in Lua "
         .. "option metric) the rows show '%s'%s; the others: %s"):format(usual, count > 0
         and (", which %d of %d runs have"):format(count, #all.of_runs) or "",
         table.concat(others, ", ")), { code = "store-several-metrics", kind = "note" })
   end
end

-- Returns the selected runs, for trends. Raises failures.
local function compared(state, stored)
   local runs, all = detailed(state)
   local traces = stored.has_graphs and problem.check(stored.traces()) or {}
   local metrics, usual = all.metrics, all.usual
   if traces[1] then
      metrics, usual = graph_weights.metrics(traces, metrics)
   end
   note_kinds(state, usual or core.empty_contexts(core.dictionary(), metrics):usual(), metrics)
   return { engine = state.engine, path = state.source:path(), tests = state.tests, runs = runs,
      all = { metrics = metrics, usual = usual }, has_graphs = stored.has_graphs,
      note = function(message, code)
         state.source:warn(message, { code = code, kind = "note" })
      end, given = state.given }
end

-- Returns the view of "trend" or "top" in trends.lua, or of "changes" in changes.lua. The notes of
-- the second result get the warnings of the trace.
local function compare(state, stored, name, ...)
   local view, result = (trends[name] or changes[name])(compared(state, stored), ...)
   for _, warning in ipairs(result and state.source.part:warnings() or {}) do
      table.insert(result.notes, warning.message)
   end
   return view, result
end

-- Returns what other files of profio ask a stored trace for.
local function stored_of(state)
   local stored = { runs = state.counts.runs }
   add_calls(state, stored)

   ---Returns the losses of the runs.
   function stored.losses()
      local all = state.all
      if not all and not state.is_closed then
         local runs, message = problem.caught(detailed, state)
         all = runs and state.all or { losses = { message } }
      end
      return all and table.move(all.losses, 1, #all.losses, 1, {}) or {}
   end

   ---Adds a note, once, if the runs have different metrics, of which views show one.
   function stored.note_kinds(usual, metrics)
      note_kinds(state, usual, metrics)
   end

   ---Returns the sum of the profiles of the runs, or nil, message, code.
   function stored.contexts(dictionary)
      return problem.caught(sum_of, state, dictionary)
   end

   ---Returns the view of "trend" or "top" in trends.lua, or of "changes" in changes.lua, with more
   ---arguments.
   function stored.compare(name, ...)
      return problem.caught(compare, state, stored, name, ...)
   end

   function stored.close()
      state.is_closed = true
      graph_tables.close(state)
      state.engine:close()
   end

   return stored
end

-- Returns the function of a table, whose failures are errors with a text, as those of files are.
local function supplied(supply)
   return function(put)
      local _, message = problem.caught(supply, put)
      if message then
         error(message, 0)
      end
   end
end

local function open(state, options)
   state.limit = limit_of(options)
   state.engine:begin "read"
   state.tests = stores.tests(state.engine, options.run)
   state.counts = state.engine:counts(state.tests)
   if state.tests[1] and state.counts.runs == 0 then
      problem.raise(state.source:path() .. ": no run of the store is selected", "format")
   end
   if state.source.part.all_warnings then
      check(state)
   end
   local info = { runs = state.counts.runs, labels = state.engine:label_count(),
      damaged_runs = state.counts.damaged, schema = state.engine:version() }
   local stored = stored_of(state)
   graph_tables.add(state, stored, info, detailed)
   return { runs = supplied(runs_table(state)), labels = supplied(labels_table(state)),
      cells = supplied(by_run(state, put_cells)),
      durations = supplied(by_run(state, put_calls)), raw = false, info = info, stored = stored }
end

---Opens a store for reading. If all warnings are wanted, as for a check, the file is checked.
---@param source table the source of a format in Lua: path(), warn()
---@param options table run: conditions of runs; most, most_by, note_more: see formats/store.lua
---@return table|nil tables functions by name, info and stored
---@return string|nil message
---@return string|nil code
function part.open(source, options)
   local state = { source = source, given = source.part.given }
   local opened, message, code = problem.caught(function()
      state.engine = engines.open(source:path(), "read")
      local done, result = pcall(open, state, options)
      if not done then
         state.engine:close()
         error(result, 0)
      end
      return result
   end)
   return opened, not opened and without_path(source, message) or message, code
end

return part
