-- Compares runs of a store: the weight of a function over time or by label, and which groups of
-- runs differ from the others. Engines add up whole numbers; shares and quantiles are computed
-- here.

local call_metrics = require "profio.internal.store.comparing.call_metrics"
local call_sums = require "profio.internal.store.call_sums"
local call_values = require "profio.internal.store.comparing.call_values"
local compared_runs = require "profio.internal.store.compared_runs"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local graph_weights = require "profio.internal.store.graph_weights"
local odd_values = require "profio.internal.store.comparing.odd_values"
local positions = require "profio.internal.naming.positions"
local problem = require "profio.internal.store.problem"
local suggestions = require "profio.internal.suggestions"
local views = require "profio.internal.views"

local trends = {}

---Returns two lists of columns as one, in which each name is once.
---@param first { name: string }[]
---@param second { name: string }[]
---@return { name: string, help: string }[]
function trends.all_columns(first, second)
   local list, is_known = table.move(first, 1, #first, 1, {}), {}
   for _, column in ipairs(first) do
      is_known[column.name] = true
   end
   for _, column in ipairs(second) do
      list[#list + 1] = not is_known[column.name] and column or nil
   end
   return list
end

-- {====== Metrics ======

-- Returns the metric of a name, first of the profiles, and whether it is one of calls.
local function metric_of(compared, name)
   local has_calls = call_sums.without(compared.runs) < #compared.runs
   local of_calls = has_calls and name and call_metrics.named(name)
   for _, metric in ipairs(of_calls and compared.all.metrics or {}) do
      of_calls = metric.name ~= name and of_calls
   end
   if of_calls then
      return of_calls, true
   end
   return compared_runs.metric(compared, name, has_calls and "; of calls: " .. call_metrics.names()
      or nil), false
end

-- }======

-- {====== Trends ======

-- Returns whether a name meets a condition, as a function that counts the names that do.
local function acceptor(wanted)
   local test = conditions.tests { ["function"] = wanted }[1]
   local set = {}
   for _, value in ipairs(test.op == "in" and test.values or { test.value }) do
      set[value] = true
   end
   if test.op == "between" or test.op == "missing" then
      error("trend: a function is a name, a list of names or profio.match(pattern)", 0)
   end
   local found, known = { count = 0 }, {}
   function found.accepts(name)
      if known[name] ~= nil then
         return known[name]
      end
      local fits = test.op == "match" and test.pattern:find(name) ~= nil or set[name] or false
      fits = fits ~= (test.negate or false)
      found.count = found.count + (fits and 1 or 0)
      known[name] = fits
      return fits
   end
   function found.unknown() -- the end of a message: no name meets it
      local names = {}
      for name in pairs(known) do
         names[#names + 1] = name
      end
      table.sort(names)
      return suggestions.known(type(wanted) == "string" and wanted or "", names)
   end
   return found
end

---Columns of a trend.
trends.trend_columns = {
   { name = "by", type = "name", help = "the period, or the value of the label; missing for runs "
      .. "without the label" },
   { name = "runs", type = "int", help = "number of runs" },
   { name = "self", type = "int", is_weight = true, help = "weight of the function itself in all "
      .. "of these runs" },
   { name = "total", type = "int", is_weight = true, help = "the same with what it calls; each "
      .. "stack counts once" },
   { name = "whole", type = "int", is_weight = true, help = "weight of all functions in these "
      .. "runs" },
   { name = "self_share", type = "num", help = "self / whole" },
   { name = "total_share", type = "num", help = "total / whole" },
   { name = "p10_share", type = "num", help = "the share total / whole of a run that a tenth of "
      .. "the runs do not exceed (nearest rank)" },
   { name = "p50_share", type = "num", help = "the same for half of the runs: the median" },
   { name = "p90_share", type = "num", help = "the same for nine tenths of the runs" },
}

-- Columns of the runs that are grouped.
local run_fields = { { name = "by", type = "name" }, { name = "whole", type = "int" },
   { name = "self", type = "int" }, { name = "total", type = "int" } }

-- Returns the rows of a trend, in any order, from the weights of the runs.
local function summed(compared, rows)
   local sums = views.over(function()
      return core.rows_reader(run_fields, rows)
   end):derive { "share = total / whole" }:group("by"):aggregate { "runs = count",
      "self = sum(self)", "total = sum(total)", "whole = sum(whole)", "p10_share = p10(share)",
      "p50_share = p50(share)", "p90_share = p90(share)" }
      :derive { "self_share = self / whole", "total_share = total / whole" }
   local done, list = pcall(sums.rows, sums)
   compared_runs.check_limit(compared, { is_limited = not done
      and tostring(list):find "exceeds 64 bits" })
   return done and list or error(list, 0)
end

-- Returns the weights of the functions whose names are accepted, of each run.
local function weights_of(compared, metric, accepts)
   local weights = compared.engine:weights(compared.tests, metric, accepts)
   if compared.has_graphs then
      graph_weights.add_runs(compared, metric, accepts, weights)
   end
   return weights
end

-- Returns the name that a function has in each run, by hash, if its name is a position in a file:
-- that which corresponds to it in the last run that has it. Nil: it is none, or no run has it.
local function names_in_runs(compared, metric, wanted)
   if type(wanted) ~= "string" or not positions.is_position(wanted) then
      return nil
   end
   local groups, names, last, name_of = {}, {}, nil, {}
   for i, run in ipairs(compared.runs) do
      groups[i] = { hashes = { run.hash } }
   end
   compared_runs.each_group(compared, groups, metric, function(number, group)
      names[number] = group.self
   end)
   local time
   for number, run in ipairs(compared.runs) do
      if names[number] and names[number][wanted] and (not time or run.time >= time) then
         last, time = names[number], run.time
      end
   end
   for number, run in ipairs(last and compared.runs or {}) do
      local renamed = positions.renaming(names[number] or {}, last)
      for name in pairs(names[number] or {}) do
         if (renamed[name] or name) == wanted then
            name_of[run.hash] = name
         end
      end
   end
   return last and name_of
end

-- Returns the weights of one function of each run, which may have another name in each of them.
local function weights_by_name(compared, metric, name_of)
   local of_names, rows = {}, nil
   for _, name in pairs(name_of) do
      of_names[name] = of_names[name] or weights_of(compared, metric, function(other)
         return other == name
      end)
      rows = of_names[name]
   end
   local list = {}
   for i, row in ipairs(rows) do
      local name = name_of[row.hash]
      list[i] = name and of_names[name][i] or { hash = row.hash, whole = row.whole, self = 0,
         total = 0 }
   end
   return list
end

-- Returns the rows of trend for a metric of profiles.
local function weight_trend(compared, by, used, wanted)
   local found, rows, group_of, rank = acceptor(wanted), {}, {}, {}
   for number, group in ipairs(compared_runs.groups(compared, by)) do
      rank[group.name or rank] = number
      for _, hash in ipairs(group.hashes) do
         group_of[hash] = group.name
      end
   end
   local name_of = names_in_runs(compared, used, wanted)
   local weights = name_of and weights_by_name(compared, used, name_of)
      or weights_of(compared, used, found.accepts)
   for i, run in ipairs(weights) do
      rows[i] = { group_of[run.hash], run.whole, run.self, run.total }
      compared_runs.check_limit(compared, run)
   end
   if not name_of and found.count == 0 then
      problem.raise(compared.path .. ": no function of the store has such a name"
         .. found.unknown(), "format")
   end
   local sums = summed(compared, rows)
   table.sort(sums, function(a, b)
      return rank[a.by or rank] < rank[b.by or rank]
   end)
   return sums
end

---Returns a row for each period or value of a label: see trend_columns, and for a metric of calls
---call_values.columns. Raises failures.
---@param compared profio.ComparedRuns
---@param by string hour, day, week, month, run, a label, or an attribute with texts
---@param metric string|nil of the profiles, or of the statistics of calls
---@param wanted any a condition for names of functions, as those of view:where
---@return profio.View
---@return { notes: string[] }
function trends.trend(compared, by, metric, wanted)
   compared_runs.check_runs(compared)
   local used, is_of_calls = metric_of(compared, metric)
   local rows = is_of_calls and call_values.of(compared, by, used, acceptor(wanted))
      or weight_trend(compared, by, used, wanted)
   return compared_runs.view(is_of_calls and call_values.columns or trends.trend_columns, rows,
      used), { notes = {} }
end

-- }======

-- {====== Differences between groups ======

---Columns of a comparison of groups.
trends.top_columns = {
   { name = "by", type = "name", help = "the value of the label, or the hash of the run; missing "
      .. "for runs without the label" },
   { name = "runs", type = "int", help = "number of runs" },
   { name = "whole", type = "int", is_weight = true, help = "weight of all functions in these "
      .. "runs" },
   { name = "distance", type = "num", help = "half the sum, over all functions, of the difference "
      .. "between the share of self in this group and that in all other runs: 0 if all shares are "
      .. "equal, 1 if no function is in both" },
   { name = "function", type = "name", help = "the function that differs most" },
   { name = "function_share", type = "num", help = "its share of self in this group" },
   { name = "others_share", type = "num", help = "its share in all other runs" },
}

-- Returns the distance of a group from the others, and the function that differs most with both
-- shares; nothing if one of them has no weight. `names` are in order, so that the sum of doubles is
-- the same in all stores.
local function distance_of(names, all, group)
   local others = all.whole - group.whole
   if group.whole <= 0 or others <= 0 then
      return nil
   end
   local sum, most, found, in_group, in_others = 0, -1, nil, nil, nil
   for _, name in ipairs(names) do
      local self = group.self[name] or 0
      local a, b = self / group.whole, (all.self[name] - self) / others
      local difference = math.abs(a - b)
      sum = sum + difference
      if difference > most then
         most, found, in_group, in_others = difference, name, a, b
      end
   end
   return sum / 2, found, in_group, in_others
end

-- Returns the rows of top for a function: the values of a metric of calls, or shares of a metric of
-- profiles, with those that stand out marked.
local function top_of_function(compared, by, metric, wanted)
   local used, is_of_calls = metric_of(compared, metric)
   local rows = is_of_calls and call_values.of(compared, by, used, acceptor(wanted))
      or weight_trend(compared, by, used, wanted)
   local column = is_of_calls and "value" or "total_share"
   odd_values.mark(compared, by, rows, column)
   return compared_runs.view(odd_values.columns(column), rows, used), { notes = {} }
end

---Returns a row for each value of a label or each run, those that differ most from all others
---first: see top_columns, and with `wanted` odd_values.columns. Raises failures.
---@param compared profio.ComparedRuns
---@param by string as of trend
---@param metric string|nil as of trend; one of calls needs `wanted`
---@param wanted any a condition for names of functions: compare these only; nil: all
---@return profio.View
---@return { notes: string[] }
function trends.top(compared, by, metric, wanted)
   compared_runs.check_runs(compared)
   if wanted ~= nil then
      return top_of_function(compared, by, metric, wanted)
   end
   local used, is_of_calls = metric_of(compared, metric)
   if is_of_calls then
      error(("top: metric '%s' is one of the calls of a function: name one"):format(metric), 0)
   end
   local groups, hashes, all = compared_runs.groups(compared, by), {}, nil
   local names, rows = {}, {}
   for i, run in ipairs(compared.runs) do
      hashes[i] = run.hash
   end
   compared_runs.each_group(compared, { { hashes = hashes } }, used, function(_, group)
      all = group
   end)
   for name in pairs(all.self) do
      names[#names + 1] = name
   end
   table.sort(names)
   compared_runs.each_group(compared, groups, used, function(number, group)
      local row = { by = groups[number].name, runs = groups[number].runs, whole = group.whole }
      row.distance, row["function"], row.function_share, row.others_share = distance_of(names, all,
         group)
      rows[number] = row
   end)
   return compared_runs.view(trends.top_columns, rows, used):sort("-distance", "by"),
      { notes = {} }
end

-- }======

return trends
