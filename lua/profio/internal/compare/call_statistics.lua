-- Statistics of the calls of all runs of a side of a comparison: count, durations, regularity and
-- the worst call of each area, alone or in each context. The packed sums of the runs are added up,
-- so maxima, quantiles and the jitter are those of all calls of the side. Counts, times and loads
-- are means of the runs, so that sides with different numbers of runs can be compared.

local calls_view = require "profio.internal.calls"
local core = require "profio.core"
local traces = require "profio.internal.trace"
local views = require "profio.internal.views"

local call_statistics = {}

-- Columns that are divided by the number of runs.
local sums = { count = true, net = true, gross = true, call = true, period = true, outside = true }

-- Columns whose worst call is looked for in the runs; NAME_at is its start.
local worst = { "net_max", "gross_max" }

---Returns the name of an area, alone or in its context.
---@param record table of call_statistics
---@return string
function call_statistics.name(record)
   local area = record.area or "?"
   return record.context and ("%s in %s"):format(area, record.context) or area
end

---Returns a function that gives each record of one view of statistics a key that the same area and
---context have in the statistics of other runs. Areas of one name are numbered in their order.
---@return fun(record: table): string
function call_statistics.keys()
   local seen = {}
   return function(record)
      local key = call_statistics.name(record) .. "\0" .. tostring(record.value)
      seen[key] = (seen[key] or 0) + 1
      return key .. "\0" .. seen[key]
   end
end

---@class profio.RunCalls the calls of one run
---@field packed string packed sums (csrc/kernels/statistics/packed_sums.h)
---@field length integer|nil nanoseconds from the first to the last event; nil: of a store, which
---has no events
---@field renamed table<string, string>|nil names of areas in the other side of a comparison

---Reads the calls of a trace. Raises if it has none, and for a profile.
---@param trace profio.Trace|profio.Profile
---@param title string
---@return profio.RunCalls
function call_statistics.of_trace(trace, title)
   local state = traces.of(trace)
   if not state or not calls_view.has_statistics(state) then
      error(("compare: statistics of calls need a trace with events: %s %s"):format(title,
         state and "has none" or "is a profile"), 0)
   end
   return { packed = calls_view.packed_sums(trace, state),
      length = trace:has "events" and calls_view.length(trace) or nil }
end

-- Returns an iterator over the records of statistics, whose areas have the names of the other side.
local function records_of(rows, renamed)
   local next_record, state, record = rows:records()
   return function()
      record = next_record(state, record)
      if record and renamed then
         local area = record.area and tostring(record.area)
         record.area = renamed[area] or record.area
      end
      return record
   end
end

---Returns an iterator over the statistics of the calls of one run.
---@param calls profio.RunCalls
---@param by "area"|"context"
---@return fun(): table|nil
function call_statistics.records(calls, by)
   return records_of(calls_view.of_sums(calls.packed, { by = by }), calls.renamed)
end

-- {====== Sides ======

-- Returns the statistics of each run by key.
local function by_key(runs, by)
   local list = {}
   for i, run in ipairs(runs) do
      local key_of = call_statistics.keys()
      list[i] = {}
      for record in call_statistics.records(run.calls, by) do
         list[i][key_of(record)] = record
      end
   end
   return list
end

-- Returns the number of the run with the worst call of a record, which is that of all runs.
local function run_of_worst(of_runs, record, column)
   local value, start = record[column], record[column .. "_at"]
   for i, records in ipairs(value and of_runs or {}) do
      local one = records[record.item]
      if one and one[column] == value and one[column .. "_at"] == start then
         return i
      end
   end
end

-- Returns the sum of the lengths of runs; nil if that of one is not known, or nothing lasted.
local function total_length(runs)
   local sum = 0
   for _, run in ipairs(runs) do
      sum = sum and run.calls.length and sum + run.calls.length
   end
   return sum and sum > 0 and sum or nil
end

-- Returns the fields of statistics, in which counts may be means of runs.
local function mean_fields(rows, has_means)
   local fields = rows:fields()
   for _, field in ipairs(fields) do
      local is_mean = has_means and field.name == "count"
      field.type = is_mean and "num" or (field.type == "int" or field.type == "num")
         and field.type or "name"
   end
   return fields
end

-- Returns the fields of a side: those of the statistics, and those that are added.
local function fields_of(rows, runs, has_load)
   local fields = mean_fields(rows, #runs > 1)
   local function add(name, type, help)
      fields[#fields + 1] = { name = name, type = type, help = help }
   end
   add("item", "name", "the key of the row")
   if has_load then
      add("load", "num", "net time divided by the length of the runs")
   end
   for _, column in ipairs(#runs > 1 and worst or {}) do
      add(column .. "_run", "int", "number of the run with this call")
   end
   return fields
end

-- Changes the sums of a record to means of the runs.
local function to_means(record, count)
   for name in pairs(sums) do
      local value = record[name]
      if value and count > 1 then
         record[name] = name == "count" and value / count or (2 * value + count) // (2 * count)
      end
   end
end

-- Returns a view of records.
local function view_of(fields, records)
   local list = {}
   for r, record in ipairs(records) do
      list[r] = {}
      for i, field in ipairs(fields) do
         local value = record[field.name]
         list[r][i] = value ~= nil and field.type == "name" and tostring(value) or value
      end
   end
   return views.over(function()
      return core.rows_reader(fields, list)
   end)
end

---Returns statistics of the calls of several runs with the means of a run in place of sums.
---@param rows profio.View of trace:call_statistics
---@param count integer number of runs
---@return profio.View
function call_statistics.per_run(rows, count)
   local records = {}
   for record in rows:records() do
      to_means(record, count)
      records[#records + 1] = record
   end
   return view_of(mean_fields(rows, true), records)
end

---Returns the statistics of the calls of all runs of a side, with the columns of
---trace:call_statistics, `item` (the key), `load`, and for several runs the number of the run with
---the worst call (net_max_run, gross_max_run).
---@param runs profio.WeighedRun[] with their calls
---@param by "area"|"context"
---@param quantiles string|nil as of trace:call_statistics
---@return profio.View
function call_statistics.of_side(runs, by, quantiles)
   local packed, length = {}, total_length(runs)
   for i, run in ipairs(runs) do
      packed[i] = run.calls.packed
   end
   local rows = calls_view.of_sums(assert(core.merged_sums(packed)),
      { by = by, quantiles = quantiles })
   local fields, list, key_of = fields_of(rows, runs, length), {}, call_statistics.keys()
   local of_runs = #runs > 1 and by_key(runs, by)
   for record in records_of(rows, runs[1].calls.renamed) do
      record.item, record.load = key_of(record), length and (record.net or 0) / length
      to_means(record, #runs)
      for _, column in ipairs(of_runs and worst or {}) do
         record[column .. "_run"] = run_of_worst(of_runs, record, column)
      end
      list[#list + 1] = record
   end
   return view_of(fields, list)
end

-- }======

return call_statistics
