-- The selected runs of a store that trends.lua and changes.lua compare: their groups, by time or by
-- label, and the weights of these.

local core = require "profio.core"
local graph_weights = require "profio.internal.store.graph_weights"
local problem = require "profio.internal.store.problem"
local selecting = require "profio.internal.store.selecting"
local texts = require "profio.internal.texts"
local views = require "profio.internal.views"

local compared_runs = {}

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
local function key_of(by, engine)
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
   for _, label in ipairs(engine:keys()) do
      known[label], names[#names + 1] = true, label
   end
   if not known[by] then
      error(("by: no label '%s'; there are: %s"):format(by, table.concat(names, ", ")), 0)
   end
   return function(run)
      return run.labels[by]
   end
end

local function byte_order(a, b)
   return a < b
end

---Runs of one period, or with one value of a label.
---@class profio.RunGroup
---@field name string|nil nil: runs without the label
---@field runs integer number of runs
---@field hashes string[] of the runs
---@field time integer the earliest time of a run, ns since 1970

---Returns the groups of runs, in order: numbers within their names compare as numbers; runs without
---the label are the last group.
---@param compared profio.ComparedRuns
---@param by string hour, day, week, month, run, a label, or an attribute with texts
---@return profio.RunGroup[]
function compared_runs.groups(compared, by)
   local key, groups, known = key_of(by, compared.engine), {}, {}
   for _, run in ipairs(compared.runs) do
      local name = key(run)
      local id = name or groups -- no text, so it is not that of a label
      if not known[id] then
         known[id] = { name = name, runs = 0, hashes = {}, time = run.time }
         groups[#groups + 1] = known[id]
      end
      local group = known[id]
      group.runs, group.hashes[group.runs + 1] = group.runs + 1, run.hash
      group.time = math.min(group.time, run.time)
   end
   local is_before = by == "run" and byte_order or texts.natural_order()
   table.sort(groups, function(a, b)
      return b.name == nil and a.name ~= nil or a.name ~= nil and b.name ~= nil
         and is_before(a.name, b.name)
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
---@field note fun(message: string, code: string) adds a note to the warnings of the trace
---@field given table options of profio.open that name the functions of these: exe, symbols, ...

---Returns the metric of a name; nil: the default one. Raises for an unknown name.
---@param compared profio.ComparedRuns
---@param name string|nil
---@param others string|nil what there is beside metrics, for the message
---@return { name: string, unit: string }
function compared_runs.metric(compared, name, others)
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
   error(("no metric '%s'; there are: %s%s"):format(tostring(name), table.concat(names, ", "),
      others or ""), 0)
end

---Raises if a sum of an engine was limited to 64 bits.
---@param compared profio.ComparedRuns
---@param sums { is_limited: boolean|nil }
function compared_runs.check_limit(compared, sums)
   if sums.is_limited then
      problem.raise(compared.path .. ": the weight of the selected runs exceeds 64 bits: select "
         .. "fewer of them", "limit")
   end
end

---Returns a view of rows with these columns; weights are in the unit of the metric.
---@param columns { name: string, type: string, help: string, is_weight: boolean|nil }[]
---@param rows table<string, any>[]
---@param metric { name: string, unit: string }
---@return profio.View
function compared_runs.view(columns, rows, metric)
   local fields = {}
   for i, column in ipairs(columns) do
      fields[i] = { name = column.name, type = column.type, help = column.is_weight
         and core.help_of_weight(column.help, metric.name, metric.unit) or column.help }
   end
   return views.over(function()
      return views.reader_of(fields, rows)
   end)
end

---Raises if no run is selected.
---@param compared profio.ComparedRuns
function compared_runs.check_runs(compared)
   if #compared.runs == 0 then
      problem.raise(compared.path .. ": no run of the store is selected", "format")
   end
end

---Calls f(number, group) with the weights of each group of runs.
---@param compared profio.ComparedRuns
---@param groups { hashes: string[] }[]
---@param metric { name: string, unit: string }
---@param f fun(number: integer, group: profio.GroupWeights)
function compared_runs.each_group(compared, groups, metric, f)
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
      compared_runs.check_limit(compared, group)
      f(number, group)
   end)
end

return compared_runs
