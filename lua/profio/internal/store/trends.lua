-- Compares runs of a store: the weight of a function over time or by label, and which groups of
-- runs differ from the others. Engines add up whole numbers; shares and quantiles are computed
-- here.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local graph_weights = require "profio.internal.store.graph_weights"
local positions = require "profio.internal.naming.positions"
local problem = require "profio.internal.store.problem"
local selecting = require "profio.internal.store.selecting"
local views = require "profio.internal.views"

local trends = {}

-- {====== Groups of runs ======

local SECOND <const>, DAY <const> = 1000000000, 86400

-- Returns the week of ISO 8601, which is that of its Thursday; Windows has no %G.
local function week_of(seconds)
   local day = seconds // DAY
   local thursday = (day - (day + 3) % 7 + 3) * DAY
   return ("%s-W%02d"):format(os.date("!%Y", thursday), (os.date("!%j", thursday) + 6) // 7)
end

-- Returns the function that gives a time the name of its part, in UTC.
local function named(format)
   return function(seconds)
      return os.date(format, seconds)
   end
end

local periods = { hour = named "!%Y-%m-%d %H:00", day = named "!%Y-%m-%d", week = week_of,
   month = named "!%Y-%m" }

-- Returns the function that gives a run its group: a text, or nil for a run without the label.
local function key_of(by, labels)
   local attribute = selecting.attribute(by)
   if periods[by] then
      return function(run)
         return periods[by](run.time // SECOND)
      end
   elseif by == "run" then
      return function(run)
         return selecting.hex(run.hash)
      end
   elseif attribute and attribute.type == "name" and by ~= "labels" then
      return function(run)
         return run[by]
      end
   end
   local names, known = { "hour", "day", "week", "month", "run" }, {}
   for _, label in ipairs(labels) do
      if not known[label.key] then
         known[label.key], names[#names + 1] = true, label.key
      end
   end
   if not known[by] then
      error(("by: no label '%s'; there are: %s"):format(by, table.concat(names, ", ")), 0)
   end
   return function(run)
      return run.labels[by]
   end
end

-- Returns the groups of runs, in order; runs without the label are the last one.
local function groups_of(runs, by, labels)
   local key, groups, known = key_of(by, labels), {}, {}
   for _, run in ipairs(runs) do
      local name = key(run)
      local id = name or groups -- no text, so it is not that of a label
      if not known[id] then
         known[id] = { name = name, runs = 0, hashes = {} }
         groups[#groups + 1] = known[id]
      end
      local group = known[id]
      group.runs, group.hashes[group.runs + 1] = group.runs + 1, run.hash
   end
   table.sort(groups, function(a, b)
      return b.name == nil and a.name ~= nil or a.name ~= nil and b.name ~= nil and a.name < b.name
   end)
   return groups
end

-- }======

---The selected runs of an open store, which are compared.
---@class profio.ComparedRuns
---@field engine table
---@field path string of the store
---@field tests table[]|nil
---@field runs profio.StoredRun[] with or without details
---@field all profio.CombinedRuns
---@field has_graphs boolean some of the runs have histograms and arcs
---@field given table options of profio.open that name the functions of these: exe, symbols, ...

-- Returns the metric of a name; nil: the default one.
local function metric_of(compared, name)
   local all = compared.all
   local names = {}
   if not name then
      local contexts = core.empty_contexts(core.dictionary(), all.metrics, all.usual)
      name = contexts:usual()
      contexts:close()
   end
   for i, metric in ipairs(all.metrics) do
      if metric.name == name then
         return metric
      end
      names[i] = metric.name
   end
   error(("no metric '%s'; there are: %s"):format(tostring(name), table.concat(names, ", ")), 0)
end

-- Raises if a sum of an engine was limited to 64 bits.
local function check_limit(compared, sums)
   if sums.is_limited then
      problem.raise(compared.path .. ": the weight of the selected runs exceeds 64 bits: select "
         .. "fewer of them", "limit")
   end
end

-- Returns a view of rows with these columns; weights are in the unit of the metric.
local function view_of(columns, rows, metric)
   local fields, names = {}, {}
   for i, column in ipairs(columns) do
      fields[i] = { name = column.name, type = column.type, help = column.is_weight
         and core.help_of_weight(column.help, metric.name, metric.unit) or column.help }
      names[i] = column.name
   end
   local list = {}
   for i, row in ipairs(rows) do
      list[i] = {}
      for n, name in ipairs(names) do
         list[i][n] = row[name]
      end
   end
   return views.over(function()
      return core.rows_reader(fields, list)
   end)
end

local function check_runs(compared)
   if #compared.runs == 0 then
      problem.raise(compared.path .. ": no run of the store is selected", "format")
   end
end

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
   return found
end

-- Calls f(number, group) with the weights of each group of runs.
local function each_group(compared, groups, metric, f)
   local numbers = {}
   for number, group in ipairs(groups) do
      for _, hash in ipairs(group.hashes) do
         numbers[hash] = number
      end
   end
   local more = compared.has_graphs and graph_weights.of_groups(compared, metric, numbers) or {}
   compared.engine:functions(numbers, #groups, metric, function(number, group)
      if more[number] then
         graph_weights.add(group, more[number])
      end
      check_limit(compared, group)
      f(number, group)
   end)
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

-- Returns the rows of a trend, from the weights of the runs.
local function summed(compared, rows)
   local sums = views.over(function()
      return core.rows_reader(run_fields, rows)
   end):derive { "share = total / whole" }:group("by"):aggregate { "runs = count",
      "self = sum(self)", "total = sum(total)", "whole = sum(whole)", "p10_share = p10(share)",
      "p50_share = p50(share)", "p90_share = p90(share)" }
      :derive { "self_share = self / whole", "total_share = total / whole" }:sort("by")
   local done, list = pcall(sums.rows, sums)
   check_limit(compared, { is_limited = not done and tostring(list):find "exceeds 64 bits" })
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
   each_group(compared, groups, metric, function(number, group)
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

---Returns a row for each period or value of a label: see trend_columns. Raises failures.
---@param compared profio.ComparedRuns
---@param by string hour, day, week, month, run, a label, or an attribute with texts
---@param metric string|nil
---@param wanted any a condition for names of functions, as those of view:where
---@return profio.View
function trends.trend(compared, by, metric, wanted)
   check_runs(compared)
   local found, rows, group_of = acceptor(wanted), {}, {}
   local used = metric_of(compared, metric)
   for _, group in ipairs(groups_of(compared.runs, by, compared.engine:labels())) do
      for _, hash in ipairs(group.hashes) do
         group_of[hash] = group.name
      end
   end
   local name_of = names_in_runs(compared, used, wanted)
   local weights = name_of and weights_by_name(compared, used, name_of)
      or weights_of(compared, used, found.accepts)
   for i, run in ipairs(weights) do
      rows[i] = { group_of[run.hash], run.whole, run.self, run.total }
      check_limit(compared, run)
   end
   if not name_of and found.count == 0 then
      problem.raise(compared.path .. ": no function of the store has such a name", "format")
   end
   return view_of(trends.trend_columns, summed(compared, rows), used)
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

---Returns a row for each value of a label or each run, those that differ most from all others
---first: see top_columns. Raises failures.
---@param compared profio.ComparedRuns
---@param by string as of trend
---@param metric string|nil
---@return profio.View
function trends.top(compared, by, metric)
   check_runs(compared)
   local groups, hashes, all = groups_of(compared.runs, by, compared.engine:labels()), {}, nil
   local used, names, rows = metric_of(compared, metric), {}, {}
   for i, run in ipairs(compared.runs) do
      hashes[i] = run.hash
   end
   each_group(compared, { { hashes = hashes } }, used, function(_, group)
      all = group
   end)
   for name in pairs(all.self) do
      names[#names + 1] = name
   end
   table.sort(names)
   each_group(compared, groups, used, function(number, group)
      local row = { by = groups[number].name, runs = groups[number].runs, whole = group.whole }
      row.distance, row["function"], row.function_share, row.others_share = distance_of(names, all,
         group)
      rows[number] = row
   end)
   return view_of(trends.top_columns, rows, used):sort("-distance", "by")
end

-- }======

return trends
