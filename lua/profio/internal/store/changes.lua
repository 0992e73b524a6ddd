-- Steps in the weights of functions over the versions of a store: which version slowed what.
-- Engines add up whole numbers; the steps are found by internal/inference/steps.lua.

local changes_gate = require "profio.internal.store.comparing.changes_gate"
local checking = require "profio.internal.options"
local compared_runs = require "profio.internal.store.compared_runs"
local positions = require "profio.internal.naming.positions"
local raise = require "profio.internal.raise"
local steps = require "profio.internal.inference.steps"
local texts = require "profio.internal.texts"

local changes = {}

local LEAST_SHARE <const> = 0.001 -- of the whole of a version, in which a function is tested
local MOST_DESCENTS <const> = 1 / 3 -- part of the neighbours whose times may fall

---Options of changes, beside by, where and metric.
---@type profio.Option[]
changes.options = {
   { name = "order", type = "text", default = "label", help = "order of the versions: label "
      .. "(numbers within names compare as numbers), or time (of the first run)" },
   { name = "normalise", type = "text", default = "none", help = "none: weights of a run; total: "
      .. "shares of the whole" },
   { name = "alpha", type = "num", default = 0.02, help = "the probability that a store without a "
      .. "step shows one" },
   { name = "since", type = "text", help = "show only the steps at this version or after it" },
}

-- Returns the columns: weights of a run, or shares of the whole.
local function columns_of(is_share)
   local function mean(name, help)
      return { name = is_share and name .. "_share" or name, type = "num",
         is_weight = not is_share, help = (is_share and "mean share of the whole in "
         or "mean weight of a run in ") .. help }
   end
   return {
      { name = "function", type = "name", help = "the function; missing for the whole" },
      { name = "by", type = "name", help = "the first version after the step" },
      { name = "previous", type = "name", help = "the last version before the step" },
      { name = "relative", type = "num", help = "size of the step: after / before - 1; missing if "
         .. "one of them is 0" },
      { name = "low", type = "num", help = "lower end of its interval of confidence, 95 %" },
      { name = "high", type = "num", help = "upper end" },
      mean("before", "the versions between the step before it, or the first version, and the step"),
      mean("after", "the versions from the step to the next one, or to the last version"),
      { name = "runs_before", type = "int", help = "number of runs before, from the step before "
         .. "it" },
      { name = "runs_after", type = "int", help = "number of runs after, up to the next step" },
      { name = "versions_before", type = "int", help = "number of versions of these runs before" },
      { name = "versions_after", type = "int", help = "number of versions of these runs after" },
      { name = "p_adjusted", type = "num", help = "probability of such steps in a series without a "
         .. "step, adjusted for the number of functions (Benjamini and Hochberg)" },
   }
end

---Columns of the steps.
changes.columns = columns_of(false)

-- {====== Versions ======

-- Returns the versions in order, and adds to the notes.
local function versions_of(compared, by, order, notes)
   local groups = compared_runs.groups(compared, by)
   if groups[#groups].name == nil then
      notes[#notes + 1] = ("%s without label '%s' left out"):format(texts.counted(
         groups[#groups].runs, "run"), by)
      groups[#groups] = nil
   end
   if order == "time" then
      local rank = {}
      for i, group in ipairs(groups) do
         rank[group] = i
      end
      table.sort(groups, function(a, b)
         return a.time < b.time or a.time == b.time and rank[a] < rank[b]
      end)
      return groups
   end
   local descents = 0
   for i = 2, #groups do
      descents = descents + (groups[i].time < groups[i - 1].time and 1 or 0)
   end
   if descents > MOST_DESCENTS * (#groups - 1) then
      notes[#notes + 1] = ("the order of the names of '%s' is not that of the times of their runs; "
         .. "--order time goes by these"):format(by)
   end
   return groups
end

-- Adds notes on what so few versions or runs can show.
local function note_counts(versions, notes)
   local has_several = false
   for _, version in ipairs(versions) do
      has_several = has_several or version.runs > 1
   end
   if #versions < steps.FEWEST then
      notes[#notes + 1] = ("%s: no step can be found in fewer than %d; profio compare compares "
         .. "two versions by their runs"):format(texts.counted(#versions, "version"), steps.FEWEST)
   elseif not has_several then
      notes[#notes + 1] = "each version has one run, so only steps are found that are large beside "
         .. "the noise of a run; the means of several runs show smaller ones"
   end
end

-- Labels that say where a run ran.
local PLACES <const> = { "host", "bench", "machine", "runner", "board", "node", "cpu" }

-- Returns the values that runs of a version have in a label, as a text.
local function values_of(hashes, by_hash, label)
   local known, list = {}, {}
   for _, hash in ipairs(hashes) do
      local value = by_hash[hash].labels[label] or "none"
      if not known[value] then
         known[value], list[#list + 1] = true, value
      end
   end
   table.sort(list)
   return table.concat(list, ", ")
end

-- Adds a note if versions ran in different places: a step may be one between these.
local function note_places(compared, by, versions, notes)
   local by_hash = {}
   for _, run in ipairs(compared.runs) do
      by_hash[run.hash] = run
   end
   for _, label in ipairs(PLACES) do
      local first = versions[1] and values_of(versions[1].hashes, by_hash, label)
      for i = 2, label ~= by and #versions or 0 do
         local other = values_of(versions[i].hashes, by_hash, label)
         if other ~= first then
            notes[#notes + 1] = ("label '%s' is %s in %s and %s in %s: a step may be one between "
               .. "these; --run %s=VALUE takes the runs of one"):format(label, first,
               versions[1].name, other, versions[i].name, label)
            break
         end
      end
   end
end

-- }======

-- {====== Series ======

-- Returns the weights of each function, by name, with a value for each version, and those of the
-- whole. Functions that are named by their positions have their names in the last version.
local function series_of(compared, versions, metric)
   local selves, wholes, by_name, names = {}, {}, {}, {}
   compared_runs.each_group(compared, versions, metric, function(number, group)
      selves[number], wholes[number] = group.self, group.whole
   end)
   local last = selves[#selves]
   for number, self in ipairs(selves) do
      local renamed = number < #selves and positions.renaming(self, last) or {}
      for name, weight in pairs(self) do
         name = renamed[name] or name
         if not by_name[name] then
            by_name[name], names[#names + 1] = {}, name
         end
         by_name[name][number] = (by_name[name][number] or 0) + weight
      end
   end
   table.sort(names)
   return names, by_name, wholes
end

-- Returns the series that are tested: the whole, unless it is what shares are of, then the
-- functions by name. Also the number of functions that are too small.
local function tested_of(versions, names, by_name, wholes, is_share)
   local list, too_small = {}, 0
   local function means_of(sums)
      local means = {}
      for i, version in ipairs(versions) do
         local of = is_share and wholes[i] or version.runs
         means[i] = of > 0 and (sums[i] or 0) / of or 0.0
      end
      return means
   end
   if not is_share then
      list[1] = { values = means_of(wholes) }
   end
   for _, name in ipairs(names) do
      local largest = 0.0
      for i in ipairs(versions) do
         largest = math.max(largest, wholes[i] > 0 and (by_name[name][i] or 0) / wholes[i] or 0)
      end
      if largest >= LEAST_SHARE then
         list[#list + 1] = { name = name, values = means_of(by_name[name]) }
      else
         too_small = too_small + 1
      end
   end
   return list, too_small
end

-- }======

-- Returns the row of a step.
local function row_of(one, step, p, versions, is_share)
   local function runs(segment)
      local count = 0
      for i = segment.from, segment.to do
         count = count + versions[i].runs
      end
      return count, segment.to - segment.from + 1
   end
   local row = { ["function"] = one.name, by = versions[step.at].name, at = step.at,
      previous = versions[step.at - 1].name, relative = step.relative, low = step.low,
      high = step.high, p_adjusted = p, size = step.after.mean - step.before.mean }
   row[is_share and "before_share" or "before"] = step.before.mean
   row[is_share and "after_share" or "after"] = step.after.mean
   row.runs_before, row.versions_before = runs(step.before)
   row.runs_after, row.versions_after = runs(step.after)
   return row
end

-- Adds a note if the last version differs by itself, which is no step yet.
local function note_last(tested, found, versions, notes)
   local count, largest, of = 0, 0.0, nil
   for i, result in ipairs(found) do
      local relative = result.last
      if relative then
         count = count + 1
         if math.abs(relative) > largest then
            largest, of = math.abs(relative), { tested[i].name or "the whole", relative }
         end
      end
   end
   if count > 0 then
      notes[#notes + 1] = ("%s, the last version, differs from those before it in %s, most in %s "
         .. "(%+.1f %%); one version is no step yet: add another one, or let profio compare tell "
         .. "by its runs"):format(versions[#versions].name, texts.counted(count, "row"), of[1],
         100 * of[2])
   end
end

-- Returns the number of the version from which on steps are shown.
local function first_of(versions, since)
   for i, version in ipairs(since and versions or {}) do
      if version.name == since then
         return i
      end
   end
   if since then
      error(("since: no version '%s'; the last one is %s"):format(since,
         versions[1] and versions[#versions].name or "missing"), 0)
   end
   return 1
end

-- Returns the options of a call, checked. Raises for wrong ones.
local function checked(given)
   local own = {}
   for name, value in pairs(given) do
      if name ~= "by" and name ~= "where" and name ~= "metric" then
         own[name] = value
      end
   end
   own = checking.check(changes.options, own, "changes")
   for _, option in ipairs(changes.options) do
      own[option.name] = own[option.name] == nil and option.default or own[option.name]
   end
   if own.order ~= "label" and own.order ~= "time" then
      error(("changes: order is label or time, got '%s'"):format(own.order), 0)
   elseif own.normalise ~= "none" and own.normalise ~= "total" then
      error(("changes: normalise is none or total, got '%s'"):format(own.normalise), 0)
   elseif not (own.alpha > 0 and own.alpha < 1) then
      error(("changes: alpha must be above 0 and below 1, got %s"):format(own.alpha), 0)
   end
   return own
end

-- Sorts steps: those of the whole first, then the largest.
local function sort(rows)
   table.sort(rows, function(a, b)
      local x, y = a["function"], b["function"]
      if (x == nil) ~= (y == nil) then
         return x == nil
      elseif x == nil or math.abs(a.size) == math.abs(b.size) then
         return x ~= y and x < y or x == y and a.at < b.at
      end
      return math.abs(a.size) > math.abs(b.size)
   end)
end

-- Adds the function that checks the conditions of a gate to a result, and returns it.
local function with_check(result)
   function result.check(conditions)
      return changes_gate.check(raise.expect(conditions, "table", "check: the conditions"), result)
   end
   return result
end

---The result beside the steps: what was compared.
---@class profio.ChangesResult
---@field by string
---@field versions profio.RunGroup[] in order
---@field tested { name: string|nil }[] what was tested; the whole has no name
---@field rows table[] of the steps, with the fields of the columns
---@field metric { name: string, unit: string }
---@field alpha number
---@field is_share boolean the weights are shares of the whole
---@field check fun(conditions: string[]): table[] results of a gate, as of comparison:check
---@field notes string[] what may make the result differ from what is expected

---Returns the steps of all functions and of the whole, the whole first, then the largest: see
---`columns`. Raises failures.
---@param compared profio.ComparedRuns
---@param by string hour, day, week, month, run, a label, or an attribute with texts
---@param metric string|nil
---@param options table<string, any> as `changes.options` declares them; by, where and metric count
---elsewhere
---@return profio.View
---@return profio.ChangesResult
function changes.changes(compared, by, metric, options)
   options = checked(options)
   compared_runs.check_runs(compared)
   local notes, weights, series, rows = {}, {}, {}, {}
   local used, is_share = compared_runs.metric(compared, metric), options.normalise == "total"
   local versions = versions_of(compared, by, options.order, notes)
   local first = first_of(versions, options.since)
   note_counts(versions, notes)
   note_places(compared, by, versions, notes)
   for i, version in ipairs(versions) do
      weights[i] = version.runs
   end
   local names, by_name, wholes = series_of(compared, versions, used)
   local tested, too_small = tested_of(versions, names, by_name, wholes, is_share)
   for i, one in ipairs(tested) do
      series[i] = one.values
   end
   local found = steps.find(series, weights, options.alpha)
   for i, result in ipairs(found) do
      for _, step in ipairs(result.steps) do
         rows[#rows + 1] = step.at >= first and row_of(tested[i], step, result.p_adjusted, versions,
            is_share) or nil
      end
   end
   note_last(tested, found, versions, notes)
   if too_small > 0 then
      notes[#notes + 1] = ("%s with less than %g %% of the whole in each version not tested")
         :format(texts.counted(too_small, "function"), 100 * LEAST_SHARE)
   end
   sort(rows)
   return compared_runs.view(columns_of(is_share), rows, used), with_check { by = by,
      versions = versions, tested = tested, rows = rows, metric = used, alpha = options.alpha,
      is_share = is_share, notes = notes }
end

return changes
