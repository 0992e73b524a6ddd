-- A metric of the calls of one function in groups of runs, and in each run: see README.md.

local call_metrics = require "profio.internal.store.comparing.call_metrics"
local call_sums = require "profio.internal.store.call_sums"
local calls_view = require "profio.internal.calls"
local compared_runs = require "profio.internal.store.compared_runs"
local problem = require "profio.internal.store.problem"
local selecting = require "profio.internal.store.selecting"
local texts = require "profio.internal.texts"

local call_values = {}

---Columns of the values.
call_values.columns = {
   { name = "by", type = "name", help = "the period, or the value of the label; missing for runs "
      .. "without the label" },
   { name = "runs", type = "int", help = "number of runs with statistics of calls" },
   { name = "calls", type = "int", help = "number of calls of the function in all of these runs" },
   { name = "value", type = "num", is_weight = true, help = "the metric of all these calls; of "
      .. "counts and sums of times the mean of a run" },
   { name = "p10", type = "num", is_weight = true, help = "the metric of a single run that a tenth "
      .. "of the runs do not exceed (nearest rank)" },
   { name = "p50", type = "num", is_weight = true, help = "the same for half of the runs: the "
      .. "median" },
   { name = "p90", type = "num", is_weight = true, help = "the same for nine tenths of the runs" },
   { name = "about", type = "name", help = "value, if that is an estimate: quantiles of many calls "
      .. "are known to 0.4 %" },
}

-- Returns the records of the statistics in packed sums whose names are accepted.
local function rows_of(packed, metric, accepts)
   local list = {}
   for row in calls_view.of_sums(packed, { by = "area", quantiles = metric.quantiles }):records() do
      row.area = tostring(row.area)
      list[#list + 1] = accepts(row.area) and row or nil
   end
   return list
end

-- Raises for a run in which a metric of several areas is asked for that their rows do not tell.
local function refuse_several(compared, metric, run, rows)
   local names = {}
   for i, row in ipairs(rows) do
      names[i] = row.value and ("%s (value %s)"):format(row.area, row.value) or row.area
   end
   problem.raise(("%s: metric %s is known of one function, and run %s (%s) has %d that fit: %s; "
      .. "choose one of them, or a metric that is added up (count, net, gross_max, gross_mean)")
      :format(compared.path, metric.name, selecting.hex(run.hash), run.path, #rows,
      table.concat(names, ", ", 1, math.min(#names, 5))), "unsupported")
end

-- Returns the quantiles of the values of runs by nearest rank.
local function quantiles(values)
   table.sort(values)
   local function ranked(percent)
      return values[math.max(1, (percent * #values + 99) // 100)]
   end
   return ranked(10), ranked(50), ranked(90)
end

-- Returns the row of a group.
local function row_of(group, metric, accepts)
   local rows = group.has_function and rows_of(group.sums:sum(), metric, accepts) or {}
   local value, is_known, is_estimate = call_metrics.value(metric, rows)
   local row = { by = group.name, runs = group.count, calls = 0,
      about = is_estimate and "value" or nil }
   for _, one in ipairs(rows) do
      row.calls = row.calls + one.count
   end
   row.value = value and metric.is_sum and value / group.count or value
   row.p10, row.p50, row.p90 = quantiles(group.values)
   return row, is_known
end

-- Adds the packed sums of each run to its group; returns whether any run has the function.
local function read(compared, metric, accepts, group_of)
   local has_function = false
   call_sums.each(compared.engine, compared.tests, compared.runs, compared.path,
      function(run, packed)
      local group, rows = group_of[run.hash], rows_of(packed, metric, accepts)
      local value, is_known = call_metrics.value(metric, rows)
      if not is_known then
         refuse_several(compared, metric, run, rows)
      end
      group.count = group.count + 1
      group.values[#group.values + 1] = value
      if rows[1] then
         has_function, group.has_function = true, true
         group.sums:add(run, packed)
      end
   end)
   return has_function
end

-- Adds notes on what the rows do not have.
local function note(compared, metric, unknown)
   local left_out = call_sums.without(compared.runs)
   if left_out > 0 then
      compared.note(("%d of %d runs have no statistics of calls and are left out"):format(left_out,
         #compared.runs), "store-no-calls")
   end
   if unknown[1] then
      compared.note(("%s of the function as of one area is not known in %s, of whose runs it has "
         .. "several handles, as in several builds: their values are missing, and p10, p50 and p90 "
         .. "are those of the runs"):format(metric.name, table.concat(unknown, ", ")),
         "store-several-areas")
   end
end

---Returns the values of a metric of calls for each group of runs, in the order of the groups: see
---columns. Raises failures, also if no run has such a function.
---@param compared profio.ComparedRuns
---@param by string hour, day, week, month, run, a label, or an attribute with texts
---@param metric profio.CallMetric
---@param found { accepts: (fun(name: string): boolean), unknown: fun(): string } accepts tells the
---  areas that count, unknown the end of the message if there are none
---@return table[]
function call_values.of(compared, by, metric, found)
   local accepts = found.accepts
   local groups, group_of, rows, unknown = compared_runs.groups(compared, by), {}, {}, {}
   for _, group in ipairs(groups) do
      group.values, group.count, group.sums = {}, 0, call_sums.adder(compared.path)
      for _, hash in ipairs(group.hashes) do
         group_of[hash] = group
      end
   end
   if call_sums.without(compared.runs) == #compared.runs then
      problem.raise(compared.path .. ": none of the selected runs has statistics of calls",
         "unsupported")
   elseif not read(compared, metric, accepts, group_of) then
      problem.raise(compared.path .. ": no run of the store has calls of such a function"
         .. found.unknown(), "format")
   end
   for _, group in ipairs(groups) do
      if group.count > 0 then
         local is_known
         rows[#rows + 1], is_known = row_of(group, metric, accepts)
         unknown[#unknown + 1] = not is_known and (group.name or ("the %s without '%s'"):format(
            texts.counted(group.count, "run"), by)) or nil
      end
   end
   note(compared, metric, unknown)
   return rows
end

return call_values
