-- Limits: timing requirements, one per line.
--
--    # of the engine control, in the field since 2019
--    Db_Read         gross_max <= 1.5ms
--    "operator new"  count     <  1000      # names with blanks in quotes
--    ~^Task_         call_p99  <= 2ms       # each area in whose name a Lua pattern is found
--    Isr in CORE0    net_mean  <= 12us      # only in that context
--    Db_Read         gross_p99 <= base * 1.05       # relative to the rows of an older run
--    Db_Read         gross_max <= base + 20us
--    Db_Read         load      <= 30%
--
-- Limits on a trace as a whole are in trace_limits.lua.
--
-- An area that did not run has no times: a limit on a time then fails, while one on `count` is
-- compared with 0. A quantile of many calls is an estimate (column `about` of the rows names it): a
-- limit within its error is decided by another scan of the calls, and fails where there is none.

local core = require "profio.core"
local exact_quantile = require "profio.internal.calls.exact_quantile"
local patterns = require "profio.internal.patterns"
local suggestions = require "profio.internal.suggestions"
local times = require "profio.internal.times"
local trace_limits = require "profio.internal.requirements.trace_limits"
local words = require "profio.internal.requirements.words"

local limits = {}

local wrong = words.wrong

---@class profio.Limit
---@field line integer
---@field text string as it was written, without comment
---@field area string the name, or the pattern
---@field is_pattern boolean
---@field pattern profio.core.Pattern|nil of the areas, if is_pattern
---@field context string|nil
---@field column string
---@field operator string
---@field bound number|nil in nanoseconds, or a count; nil: relative to a base
---@field unit string|nil unit of the bound
---@field base { factor: number, plus: number }|nil the bound is the value of the base times
---`factor`, plus `plus`

local compare = {
   ["<="] = function(a, b) return a <= b end,
   ["<"] = function(a, b) return a < b end,
   [">="] = function(a, b) return a >= b end,
   [">"] = function(a, b) return a > b end,
   ["=="] = function(a, b) return a == b end,
   ["!="] = function(a, b) return a ~= b end,
}

-- {====== Parsing ======

-- Parses the bound after an operator: a quantity, or base, base * 1.05, base + 20us.
local function bound_of(text)
   local sign, rest = text:match "^base%s*([-+*]?)%s*(.*)$"
   if not sign then
      return words.quantity(text)
   elseif (sign == "") ~= (rest == "") then
      wrong("base, base * 1.05 or base + 20us is expected, got '%s'", text)
   end
   local value, unit = 0, nil
   if sign ~= "" then
      value, unit = words.quantity(rest)
   end
   if sign == "*" and unit then
      wrong("base is multiplied by a number without unit, got '%s'", rest)
   end
   return nil, unit, { factor = sign == "*" and value or 1,
      plus = sign == "*" and 0 or sign == "-" and -value or value }
end

-- Parses a line without comment and surrounding blanks.
local function limit_of(text)
   local limit = { is_pattern = text:sub(1, 1) == "~" }
   local rest, problem
   limit.area, rest = words.word(limit.is_pattern and text:sub(2) or text, "the area")
   if limit.is_pattern then
      limit.pattern, problem = patterns.of(limit.area)
      if not limit.pattern then
         wrong("%s", problem)
      end
   end
   if rest:find "^in%s" then
      limit.context, rest = words.word(rest:match "^in%s+(.*)$", "the context")
   end
   local column, operator, bound = rest:match "^([%a_][%w_.]*)%s*([<>=!]+)%s*([^%s<>=!].*)$"
   if not column then
      wrong("'area column <= bound' is expected, got '%s'", text)
   end
   operator = operator == "=" and "==" or operator
   if not compare[operator] then
      wrong("no comparison '%s'; there are <= < >= > == !=", operator)
   end
   limit.column, limit.operator = column, operator
   limit.bound, limit.unit, limit.base = bound_of(bound)
   limit.text = text
   return limit
end

---Parses limits.
---@param text string
---@return profio.Limit[]|nil
---@return string|nil message
---@return integer|nil line of the error
function limits.parse(text)
   return words.lines(text, function(line)
      return trace_limits.one(line) or limit_of(line)
   end)
end

-- }======

-- {====== Checking ======

-- Columns that are not in nanoseconds.
local counts = { count = true, calls = true, handle = true, value = true }

---Returns the columns of rows that limits may name: those of numbers.
---@param rows profio.View
---@return string[]
function limits.columns(rows)
   local names = {}
   for _, field in ipairs(rows:fields()) do
      if field.type == "int" or field.type == "num" then
         names[#names + 1] = field.name
      end
   end
   return names
end

---Splits limits into those on rows and those on a trace as a whole.
---@param list profio.Limit[]
---@return profio.Limit[] of_rows
---@return profio.Limit[] of_trace
function limits.split(list)
   local of_rows, of_trace = {}, {}
   for _, limit in ipairs(list) do
      local into = limit.is_of_trace and of_trace or of_rows
      into[#into + 1] = limit
   end
   return of_rows, of_trace
end

---Compares limits on a trace as a whole: chains of events, and loads.
---@param list profio.Limit[]
---@param trace profio.Trace with events
---@param span { from: integer|nil, to: integer|nil }|nil
---@return table[] results as of limits.check
function limits.check_trace(list, trace, span)
   return trace_limits.check(select(2, limits.split(list)), trace, span)
end

---Checks that the columns of limits exist and their bounds have suitable units.
---@param list profio.Limit[]
---@param columns string[] the numeric columns
---@return boolean
---@return string|nil message
---@return integer|nil line of the error
function limits.fit(list, columns)
   local known = {}
   for _, column in ipairs(columns) do
      known[column] = true
   end
   for _, limit in ipairs(limits.split(list)) do
      if not known[limit.column] then
         return false, ("no column '%s'; there are: %s"):format(limit.column,
            table.concat(columns, ", ")), limit.line
      elseif (limit.unit == "%") ~= (limit.column == "load") then
         return false, limit.unit == "%" and ("column '%s' is no share of the time"):format(
            limit.column) or "the bound of load is in per cent, as in load <= 30%", limit.line
      elseif limit.unit and counts[limit.column] then
         return false, ("column '%s' is no time: its bound has no unit"):format(limit.column),
            limit.line
      end
   end
   return true
end

-- Returns the context of a row as text, as limits name it; nil: the row is of all contexts.
local function context_of(row)
   return row.context and tostring(row.context) or nil
end

local function is_of(limit, row)
   if context_of(row) ~= limit.context then
      return false
   elseif limit.pattern then
      return limit.pattern:find(row.area or "") ~= nil
   end
   return row.area == limit.area
end

-- Returns the value of a limit's column in a row; nil: there is none.
local function value_of(limit, row)
   local value = row and row[limit.column]
   if value == nil and limit.column == "count" then
      return 0
   end
   return value
end

-- Returns what rows of one area and context have in common, and what rows of one of several areas
-- of this name have in common.
local function keys_of(row)
   local name = ("%s\0%s"):format(row.area, context_of(row) or "")
   return name, ("%s\0%s\0%s\0%s"):format(name, row.value, row.parent, row.file)
end

-- Returns lists of rows by both keys.
local function by_keys(rows)
   local lists = {}
   for _, row in ipairs(rows) do
      for _, key in ipairs { keys_of(row) } do
         lists[key] = lists[key] or {}
         table.insert(lists[key], row)
      end
   end
   return lists
end

-- Returns the row of the base for a row; nil if there is none, or it is not known which one it is.
local function base_of(row, both)
   local name, key = keys_of(row)
   local new, base = both.new[name], both.base[name] or {}
   if #new > 1 or #base > 1 then
      new, base = both.new[key], both.base[key] or {}
   end
   for i = 1, #new == #base and #new or 0 do
      if new[i] == row then
         return base[i]
      end
   end
   return nil
end

-- Returns the bound of a limit for a row (nil: its area did not run), its unit, and the row of the
-- base; a bound that is relative to a base is nil if the base has no value.
local function bound_for(limit, row, both)
   if not limit.base then
      return limit.bound, limit.unit
   end
   local found
   if row then
      found = both and base_of(row, both)
   else
      found = both and (both.base[(keys_of(limit))] or {})[1]
   end
   local value = value_of(limit, found)
   local bound = value and value * limit.base.factor + limit.base.plus
   local unit = limit.unit or bound and not counts[limit.column] and times.unit(bound) or nil
   return bound, unit, found
end

-- Returns the largest error of a value: 0 if it is exact.
local function error_of(limit, row)
   local names = " " .. (row and row.about or "") .. " "
   local is_about = names:find(" " .. limit.column .. " ", 1, true)
   return is_about and math.abs(row[limit.column]) * core.quantile_error + 1 or 0
end

-- Returns value and bound, exactly if the error of an estimate can decide between them; false: that
-- is not possible.
local function decided(limit, row, base, value, bound, scans)
   local of_value = error_of(limit, row)
   local of_bound = error_of(limit, base) * (limit.base and math.abs(limit.base.factor) or 0)
   if of_value + of_bound == 0 or math.abs(value - bound) > of_value + of_bound then
      return value, bound, of_value > 0
   end
   local new = of_value == 0 and value or scans.new and scans.new(row, limit.column)
   local old = of_bound == 0 or scans.base and scans.base(base, limit.column)
   if new and old then
      return new, of_bound == 0 and bound or old * limit.base.factor + limit.base.plus, false
   end
   return false
end

local function result_of(limit, row, both, scans)
   local value, state = value_of(limit, row), "missing"
   local bound, unit, base = bound_for(limit, row, both)
   local about
   if value ~= nil and bound ~= nil then
      local new, old, is_about = decided(limit, row, base, value, bound, scans)
      value, bound, about = new or value, new and old or bound, not new or is_about
      state = not new and "undecided" or compare[limit.operator](value, bound) and "ok"
         or "exceeded"
   end
   local area = row and row.area or (limit.pattern and "~" or "") .. limit.area
   return { line = limit.line, text = limit.text, area = area, context = limit.context,
      column = limit.column, operator = limit.operator, bound = bound, value = value,
      about = about and "value" or nil, state = state, at = row and row[limit.column .. "_at"],
      unit = unit }
end

---Returns the line of the first limit that is relative to a base, or nil.
---@param list profio.Limit[]
---@return integer|nil
function limits.relative(list)
   for _, limit in ipairs(list) do
      if limit.base then
         return limit.line
      end
   end
   return nil
end

---Returns the quantiles in limits, as an option of trace:call_statistics.
---@param list profio.Limit[]
---@return string quantiles "p50,p99,p99.9"
function limits.quantiles(list)
   local names, known = { "p50", "p99" }, { p50 = true, p99 = true }
   for _, limit in ipairs(list) do
      local name = limit.column:match "_(p%d+%.?%d*)$"
      if name and not known[name] then
         known[name] = true
         names[#names + 1] = name
      end
   end
   return table.concat(names, ",")
end

-- Returns a question about similar names for a limit whose area no row has, such as a state without
-- its variable; nil: there are none.
local function hint_of(limit, rows)
   local names, known = {}, {}
   for _, row in ipairs(not limit.pattern and rows or {}) do
      local name = row.area and tostring(row.area)
      if name == limit.area then
         return nil
      elseif name and not known[name] then
         names[#names + 1], known[name] = name, true
      end
   end
   return suggestions.hint(limit.area, names):match "^; (.*)"
end

---Compares limits with rows.
---@param list profio.Limit[]
---@param rows table[] { area =, context =, column = value, ... }
---@param base table[]|nil such rows of an older run, for bounds that are relative to a base; value,
---parent and file in both tell areas of one name apart
---@param exact (fun(row: table, column: string): number|nil)|nil of limits.exact
---@param exact_base (fun(row: table, column: string): number|nil)|nil of limits.exact, for the base
---@return table[] results { line, text, area, context, column, operator, bound, value, about,
---state, at, unit, hint }: state is ok, exceeded, missing (the area did not run, or has no such
---value, here or in the base; or it is not known which of several areas of one name in the base it
---is) or undecided (the bound lies within the error of an estimate, and `exact` cannot tell);
---about: "value", if the value is an estimate; hint: similar names, where no row has that of the
---limit
function limits.check(list, rows, base, exact, exact_base)
   local results, new = {}, by_keys(rows)
   local scans = { new = exact, base = exact_base }
   local both = base and { new = new, base = by_keys(base) }
   local of_rows, of_trace = limits.split(list)
   for _, limit in ipairs(of_trace) do
      results[#results + 1] = { line = limit.line, text = limit.text, area = limit.area,
         column = limit.column, operator = limit.operator, bound = limit.bound, unit = limit.unit,
         state = "undecided", hint = "limits.check_trace compares it with a trace" }
   end
   for _, limit in ipairs(of_rows) do
      local before = #results
      for _, row in ipairs(limit.pattern and rows or new[keys_of(limit)] or {}) do
         if is_of(limit, row) then
            results[#results + 1] = result_of(limit, row, both, scans)
         end
      end
      if #results == before then
         results[#results + 1] = result_of(limit, nil, both, scans)
         results[#results].hint = hint_of(limit, rows)
      end
   end
   return results
end

---Returns the function that limits.check asks for exact quantiles, which scans the calls again.
---@param trace profio.Trace
---@param options table|nil those of trace:calls with which the rows were computed
---@return (fun(row: table, column: string): number|nil)|nil nil: the trace has no events
function limits.exact(trace, options)
   return trace:has "events" and function(row, column)
      return exact_quantile.of(trace, options, row, column, core.quantile_error)
   end or nil
end

-- }======

return limits
