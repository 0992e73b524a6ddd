-- Compares several runs of an old version of a program with several of a new one: see README.md.

local call_statistics = require "profio.internal.compare.call_statistics"
local comparable = require "profio.internal.compare.comparable"
local core = require "profio.core"
local differences = require "profio.internal.compare.differences"
local gate = require "profio.internal.compare.gate"
local inference = require "profio.internal.inference"
local limits = require "profio.internal.requirements.limit_checks"
local matched = require "profio.internal.compare.matched"
local moved = require "profio.internal.compare.moved"
local options_of = require "profio.internal.options"
local raise = require "profio.internal.raise"
local row_fields = require "profio.internal.compare.row_fields"
local run_weights = require "profio.internal.compare.run_weights"
local sentences = require "profio.internal.compare.sentences"
local statistics_diff = require "profio.internal.compare.statistics_diff"
local suggestions = require "profio.internal.suggestions"
local views = require "profio.internal.views"

local compare = {}

---@class profio.Comparison
---@field by string what its rows are: function, area, context, line, file or stack
---@field metric { name: string, unit: string }
---@field method string the test that was used
---@field whole table the whole: before, after, change, relative, low, high, p, verdict, detectable,
---runs_needed, scale, scale_width; nil: not known
---@field calls_note string|nil what the statistics of calls in the rows are of; nil: none
---@field warnings string[] reasons for care
local Comparison = { __name = "profio.comparison" }
local methods = {}

---Options of profio.compare.
---@type profio.Option[]
compare.options = {
   { name = "by", type = "choice", choices = run_weights.by, default = "function",
      help = "function, file, line, stack, area or context (of events)" },
   { name = "metric", type = "text", help = "the metric; default: that of flat; calls are exact" },
   { name = "method", type = "choice", choices = { "moderated", "welch", "permutation", "poisson" },
      help = "the test: moderated, welch, permutation or poisson" },
   { name = "adjust", type = "choice", choices = { "weighted", "holm", "bh" },
      default = "weighted", help = "for many rows: weighted, holm or bh" },
   { name = "alpha", type = "num", default = 0.05, help = "the level of the verdicts" },
   { name = "normalise", type = "text", default = "none",
      help = "total, or a function that has not changed" },
   { name = "exact", type = "bool", default = false,
      help = "weights are exact counts, as of instructions" },
   { name = "single", type = "bool", default = false,
      help = "judge by one run per side: only by the error of samples" },
   { name = "profiles", type = "bool", default = false,
      help = "keep the profiles of the runs, for comparison:difference" },
   { name = "calls", type = "bool", default = false,
      help = "read the calls of timelines, for comparison:limits" },
   { name = "anyway", type = "bool", default = false,
      help = "only warn of runs that must not be compared" },
}

-- {====== Statistics ======

-- Returns what the test needs beside items and totals. Of runs at several rates the longest period
-- counts, so that none has more samples than it took.
local function test_options(self)
   local options, period, is_exact = self.options, nil, true
   for _, side in ipairs { "base", "new" } do
      for _, run in ipairs(self.runs[side]) do
         period = run.period and math.max(run.period, period or 0) or period
         is_exact = is_exact and run.is_exact
      end
   end
   return { exact = is_exact, counts = not is_exact and self.metric.unit == "count",
      period = period, method = options.method, adjust = options.adjust, alpha = options.alpha,
      normalise = options.normalise, single = options.single }
end

-- Returns the whole of each run.
local function totals_of(runs)
   local totals = {}
   for side, list in pairs(runs) do
      totals[side] = {}
      for i, run in ipairs(list) do
         totals[side][i] = run.whole
      end
   end
   return totals
end

-- Returns the result of the test. `wanted`: the change of runs_needed, as { relative = } or
-- { change = }; nil: 2 per cent.
local function tested(self, items, wanted)
   local given = test_options(self)
   given.items, given.totals = items, totals_of(self.runs)
   given.wanted, given.wanted_change = wanted and wanted.relative, wanted and wanted.change
   return inference.compare(given), given.exact
end

-- Sorts rows by the size of the change, then by name.
local function sort_by_size(rows)
   local sizes = {}
   for _, row in ipairs(rows) do
      sizes[row] = math.abs(row.change)
   end
   table.sort(rows, function(a, b)
      local x, y = sizes[a], sizes[b]
      if x ~= y then
         return x > y
      end
      return a.name < b.name
   end)
end

-- A function that the other side still has, without cost, is not gone or new.
local function presence(row)
   if row.verdict == "gone" and row.item.is_in.new then
      return "faster"
   elseif row.verdict == "new" and row.item.is_in.base then
      return "slower"
   end
   return row.verdict
end

-- Returns the verdict of the whole by its own p value, which no other one corrects.
local function whole_verdict(self, whole, is_exact)
   local word = whole.change > 0 and "slower" or "faster"
   if is_exact then
      return whole.change == 0 and "unchanged" or word
   elseif math.min(#self.runs.base, #self.runs.new) < 2 and not self.options.single then
      return "unknown"
   end
   return (whole.p or 1) <= self.options.alpha and word or "unknown"
end

local function callers_of(runs)
   local all = {}
   for _, list in pairs(runs) do
      for _, run in ipairs(list) do
         for callee, callers in pairs(run.callers) do
            all[callee] = all[callee] or {}
            for caller in pairs(callers) do
               all[callee][caller] = true
            end
         end
      end
   end
   return all
end

local function has_weight(weights)
   for _, side in ipairs { "base", "new" } do
      for _, weight in ipairs(weights[side]) do
         if weight ~= 0 then
            return true
         end
      end
   end
   return false
end

-- Returns the items with weight in a column, and these weights for the test.
local function weights_of(self, column)
   local items, weights = {}, {}
   for _, item in ipairs(self.items) do
      if item[column] and has_weight(item[column]) then
         items[item.key] = item
         weights[#weights + 1] = { key = item.key, base = item[column].base,
            new = item[column].new }
      end
   end
   return items, weights
end

-- Returns the weights of the function of option normalise, or nil.
local function unchanged_of(self, weights)
   for _, item in ipairs(weights) do
      if item.key == self.options.normalise then
         return item
      end
   end
end

-- Raises for the totals of rows that have none: those of files and lines, and counts of calls.
local function check_known(self, column)
   for _, item in ipairs(self.items) do
      if item[column] then
         return
      end
   end
   if #self.items > 0 then
      error(("compare: the rows by %s have no %s of %s, only self"):format(self.by, column,
         self.metric.name), 0)
   end
end

-- Returns the result of the test of a column, self or total, whose rows have names and verdicts;
-- computed once for each `wanted` of tested.
local function result_of(self, column, wanted)
   check_known(self, column)
   local name = ("%s %s %s"):format(column, wanted and wanted.relative, wanted and wanted.change)
   if self.tested[name] then
      return self.tested[name]
   end
   local items, weights = weights_of(self, column)
   local result, is_exact = tested(self, weights, wanted)
   for _, row in ipairs(result.rows) do
      local item = items[row.key]
      row.item, row.name, row.file, row.line = item, item.name, item.file, item.line
      row.verdict = presence(row)
   end
   if self.by == "function" then
      moved.mark(result.rows, callers_of(self.runs), column, is_exact, function(sums)
         sums[#sums + 1] = unchanged_of(self, weights) -- by which all runs are divided
         return (tested(self, sums)).rows
      end)
   end
   sort_by_size(result.rows)
   result.whole.name, result.whole.verdict = "the whole", whole_verdict(self, result.whole,
      is_exact)
   self.tested[name] = result
   return result
end

-- }======

-- {====== Views ======

-- Columns of statistics of calls that say which area it is, as the first column does.
local areas = { item = true, area = true, context = true }

-- Returns what the statistics of calls are of; nil: the rows have none.
local function calls_note(self)
   if self.by ~= "area" and self.by ~= "context" then
      return nil
   end
   return math.max(#self.runs.base, #self.runs.new) == 1 and "single runs"
      or "count, net and load are means of the runs, all others those of all calls"
end

-- Returns the statistics of the calls of both sides by the key of an area, and their fields; empty
-- if the rows are no areas.
local function calls_of(self)
   local records, fields = {}, {}
   if not self.calls and calls_note(self) then
      local both = statistics_diff.view(call_statistics.of_side(self.runs.new, self.by),
         call_statistics.of_side(self.runs.base, self.by))
      for _, field in ipairs(both:fields()) do
         fields[#fields + 1] = not areas[field.name] and field or nil
      end
      for record in both:records() do
         records[record.item] = record
      end
      self.calls = { records = records, fields = fields }
   end
   return self.calls or { records = records, fields = fields }
end

-- Returns the view with the row of the whole.
local function rows_of_whole(self, comparison)
   local fields, whole, row = row_fields.of_whole(self), result_of(self, "self").whole, {}
   for n, field in ipairs(fields) do
      row[n] = row_fields.value(whole, field)
   end
   return views.over(function()
      return core.rows_reader(fields, { row })
   end, comparison)
end

---Returns the rows, the largest change of the whole first: function (or area, context, line, file,
---stack), before, after, change, relative, low, high, p, p_adjusted, verdict, moved, detectable,
---runs_needed, file, line. Weights are means of the runs. Areas, alone and in contexts, also have
---the statistics of the calls of all runs of each side: value, then NAME of the new runs,
---NAME_before and NAME_change for count, net, gross, net_max, gross_max, net_p99, gross_p99,
---period_mean, period_jitter and load; and where the worst calls are (net_max_at, gross_max_at; of
---several runs net_max_run and gross_max_run, the number of the run). The whole is one row: before,
---after, change, relative, low, high, p, verdict, detectable, runs_needed, scale, scale_width.
---@param column "self"|"total"|"whole"|nil default self; total counts callees too. Raises if the
---rows have no totals: by file, by line, and of metric calls of a call graph
---@return profio.View
function methods:rows(column)
   local state = rawget(self, compare)
   if column == "whole" then
      return rows_of_whole(state, self)
   elseif column ~= nil and column ~= "self" and column ~= "total" then
      error("rows: the column is self, total or whole", 0)
   end
   local fields, calls, list = row_fields.of(state), calls_of(state), {}
   local own = #fields
   table.move(calls.fields, 1, #calls.fields, own + 1, fields)
   for i, row in ipairs(result_of(state, column or "self").rows) do
      local statistics = calls.records[row.item.item] or {}
      list[i] = {}
      for n, field in ipairs(fields) do
         list[i][n] = n == 1 and row.name or n <= own and row_fields.value(row, field)
            or n > own and statistics[field.name] or nil
      end
   end
   return views.over(function()
      return core.rows_reader(fields, list)
   end, self)
end

---Returns the paths of the files from which the runs were read; no export of rows overwrites them.
---@return string[]
function methods:inputs()
   local runs, list = rawget(self, compare).runs, {}
   for _, side in ipairs { "base", "new" } do
      for _, run in ipairs(runs[side]) do
         table.move(run.inputs, 1, #run.inputs, #list + 1, list)
      end
   end
   return list
end

---Returns a paragraph in plain words: the change of the whole, what explains it, and what these
---runs cannot show.
---@param shown (fun(value: number): string)|nil formats weights; default: as the reports do
---@return string
function methods:text(shown)
   local state = setmetatable({ shown = shown }, { __index = rawget(self, compare) })
   return sentences.text(state, result_of(state, "self"), function(wanted)
      return result_of(state, "self", wanted).rows
   end)
end

---Returns the difference of the means of both sides as a profile, for exports and reports. Needs
---option profiles. With option normalise the new runs are scaled, as in the rows.
---@return profio.Profile
function methods:difference()
   local state = rawget(self, compare)
   if not state.options.profiles then
      error("difference needs profiles: profio.compare(base, new, { profiles = true })", 0)
   end
   return differences.of(state.runs, state.items, state.options)
end

---Checks conditions of a gate: "self > +5%", "total of ~^Db > +2ms", "whole > +3%", "new",
---"slower of main".
---@param conditions string[]
---@return { condition: string, name: string, state: string, text: string }[] results one for each
---row that fails (state = "failed"), or whose verdict is unknown (state = "unknown"), with what
---would have been needed to know it, and for each name that no row has ("failed"); empty: all
---conditions hold
function methods:check(conditions)
   local state = rawget(self, compare)
   raise.expect(conditions, "table", "check: the conditions")
   return gate.check(conditions, state, function(column, wanted)
      return result_of(state, column, wanted)
   end)
end

---Checks limits of statistics of calls, which may be relative to the base: "Db_Read gross_p99 <=
---base * 1.05" (profio help limits). Maxima and quantiles are those of all calls of a side; counts,
---times and loads are means of the runs. Needs option calls, or rows that are areas or contexts.
---Raises for a line that is no limit.
---@param given string|profio.Limit[] limits, one in each line, or as parsed by profio.limits
---@return table[] results as of profio.limits.check: area, context, column, operator, bound, value,
---state (ok, exceeded or missing), at, unit, line
function methods:limits(given)
   local runs, list, message, line = rawget(self, compare).runs, given, nil, nil
   if type(given) == "string" then
      list, message, line = limits.parse(given)
   elseif type(given) ~= "table" then
      raise.expect(given, "string", "limits: the limits")
   end
   if not runs.new[1].calls then
      error("limits need option calls: profio.compare(base, new, { calls = true })", 0)
   elseif list then
      for _, limit in ipairs(list) do
         raise.expect(raise.expect(limit, "table", "limits: a limit").column, "string",
            "limits: the column of a limit")
      end
      local quantiles = limits.quantiles(list)
      local new = call_statistics.of_side(runs.new, "context", quantiles)
      local fits
      fits, message, line = limits.fit(list, limits.columns(new))
      if fits then
         return limits.check(list, new:rows(),
            call_statistics.of_side(runs.base, "context", quantiles):rows())
      end
   end
   error(("limits: line %d: %s"):format(line, message), 0)
end

compare.methods = methods

raise.publish_methods(methods, "comparison", function(value)
   return getmetatable(value) == Comparison
end)

local shown = { by = true, metric = true, warnings = true }

function Comparison:__index(key)
   local state = rawget(self, compare)
   if key == "whole" or key == "method" then
      return result_of(state, "self")[key]
   elseif key == "calls_note" then
      return calls_note(state)
   end
   return methods[key] or shown[key] and state[key] or nil
end

-- }======

-- Returns the list of traces or profiles of a side.
local function list_of(side, name)
   local function is_one(value)
      local kind = type(value) == "table" and (getmetatable(value) or {}).__name
      return kind == "profio.trace" or kind == "profio.profile"
   end
   local list = is_one(side) and { side } or side
   raise.expect(list, "table", "compare: " .. name)
   for i, one in ipairs(list) do
      if not is_one(one) then
         error(("compare: %s[%d] must be a trace or a profile, got %s"):format(name, i, type(one)),
            0)
      end
   end
   if #list == 0 then
      error("compare: " .. name .. " has no runs", 0)
   end
   return list
end

-- Raises if the function that --normalise names is in no run, or is one of several of this name.
local function check_normalise(items, options)
   local wanted, names, has_others = options.normalise, {}, false
   local is_known = wanted == "none" or wanted == "total"
   for i, item in ipairs(items) do
      names[i] = item.name
      is_known = is_known or item.key == wanted
      has_others = has_others or item.name == wanted
   end
   if not is_known then
      error(("compare: normalise: %s is called '%s'%s"):format((has_others and "more than one %s"
         or "no %s"):format(options.by), wanted, suggestions.hint(wanted, names)), 0)
   end
end

---Returns a comparison of runs that have been read. Raises if they must not be compared.
---@param runs { base: profio.WeighedRun[], new: profio.WeighedRun[] }
---@param options table checked
---@return profio.Comparison|nil
---@return string|nil message
---@return string|nil code
function compare.of_runs(runs, options)
   local items = matched.items(runs, options.by)
   check_normalise(items, options)
   local against, warnings = comparable.reasons(runs, items, options.by)
   if #against > 0 and not options.anyway then
      return nil, ("these runs must not be compared (option anyway compares them): %s"):format(
         table.concat(against, "; ")), "unsupported"
   end
   table.move(warnings, 1, #warnings, #against + 1, against)
   return setmetatable({ [compare] = { runs = runs, items = items, options = options,
      by = options.by, metric = runs.new[1].metric, warnings = against, tested = {},
      shown = sentences.formatter(runs.new[1].metric) } }, Comparison)
end

---Returns checked options of profio.compare, with defaults. Raises on wrong use.
---@param given table|nil
---@return table
function compare.checked(given)
   local options = options_of.check(compare.options, given or {}, "compare")
   for _, option in ipairs(compare.options) do
      if options[option.name] == nil then
         options[option.name] = option.default
      end
   end
   if not (options.alpha > 0 and options.alpha < 1) then
      error(("option 'alpha' must be above 0 and below 1, got %s"):format(options.alpha), 0)
   end
   return options
end

---Compares runs; see profio.compare.
---@param base table
---@param new table
---@param given table|nil
---@return profio.Comparison|nil
---@return string|nil message
---@return string|nil code
function compare.of(base, new, given)
   local options, runs = compare.checked(given), {}
   local lists = { base = list_of(base, "base"), new = list_of(new, "new") }
   for _, side in ipairs { "base", "new" } do
      runs[side] = {}
      for _, one in ipairs(lists[side]) do
         local found, message, code = run_weights.all_of(one, options)
         if not found then
            return nil, message, code
         end
         table.move(found, 1, #found, #runs[side] + 1, runs[side])
      end
      if #runs[side] == 0 then
         return nil, "compare: no run of the store is selected", "format"
      end
   end
   return compare.of_runs(runs, options)
end

return compare
