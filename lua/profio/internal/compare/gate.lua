-- Conditions under which a comparison fails a gate:
--
--    self > +5%                 a function whose own cost grew by more than 5 per cent
--    total of ~^Db > +2ms       a function in whose name the Lua pattern is found, with its callees
--    whole > +3%                the cost of the whole
--    new, slower of parse       a function with this verdict
--
-- A row fails a condition of a size only if its change is proven (verdict slower, faster, new or
-- gone) and larger than the bound. Cost that moved does not fail. A row whose verdict is unknown,
-- and whose interval reaches beyond the bound, is reported with the state "unknown". A condition on
-- names that no row has fails, as a limit does, for a gate that checks nothing must not pass.

local patterns = require "profio.internal.patterns"
local raise = require "profio.internal.raise"
local sentences = require "profio.internal.compare.sentences"
local suggestions = require "profio.internal.suggestions"
local times = require "profio.internal.times"

local gate = {}

local verdicts = { slower = true, faster = true, new = true, gone = true, moved = true,
   unknown = true }
local proven = { slower = true, faster = true, new = true, gone = true }

-- {====== Parsing ======

local function wrong(text)
   error(("'%s' is no condition: write 'self > +5%%', 'total of ~^Db > +2ms', 'whole > +3%%', or "
      .. "a verdict, such as new or 'slower of main'"):format(text), 0)
end

-- Parses "of NAME" or "of ~PATTERN" into the condition; nothing selects all.
local function set_names(condition, text, words)
   if words == "" then
      return
   end
   local name = words:match "^%s*of%s+(.-)%s*$"
   if not name or name == "" then
      wrong(text)
   end
   local pattern = name:match "^~(.+)$"
   condition.name = pattern or name
   if pattern then
      local problem
      condition.pattern, problem = patterns.of(pattern)
      if not condition.pattern then
         error(problem, 0)
      end
   end
end

-- Parses a bound into the condition; returns whether it is one.
local function set_bound(condition, bound)
   local percent = bound:match "^([-+]?%d*%.?%d+)%%$"
   local time, unit = times.parse(bound)
   condition.relative = percent and tonumber(percent) / 100
   condition.change = not percent and (unit and time or tonumber(bound)) or nil
   condition.unit = unit
   return (condition.relative or condition.change) ~= nil
end

---Parses a condition; raises if it is none.
---@param text string
---@return table condition
function gate.parse(text)
   local condition = { text = raise.expect(text, "string", "check: a condition") }
   local subject, operator, bound = text:match "^%s*(.-)%s*([<>])%s*(%S+)%s*$"
   local has_bound = subject ~= nil and set_bound(condition, bound) -- else < is part of a name
   local word, rest = (has_bound and subject or text):match "^%s*(%l+)(.*)$"
   if has_bound and (word == "self" or word == "total" or word == "whole") then
      condition.column, condition.operator = word, operator
   elseif not has_bound and verdicts[word] then
      condition.verdict, condition.column = word, "self"
   else
      wrong(text)
   end
   set_names(condition, text, rest:match "^%s*$" and "" or rest)
   if word == "whole" and condition.name then
      wrong(text)
   end
   return condition
end

-- }======

-- {====== Checking ======

local function is_of(condition, row)
   if condition.pattern then
      return condition.pattern:find(row.name) ~= nil
   end
   return condition.name == nil or condition.name == row.name
end

local function is_beyond(condition, value)
   if condition.operator == ">" then
      return value > (condition.relative or condition.change)
   end
   return value < (condition.relative or condition.change)
end

-- Returns the change of a row in the unit of the bound; a new function has grown without bound.
local function size_of(condition, row)
   if condition.relative then
      return row.relative or (row.change > 0 and math.huge or 0)
   end
   return row.change
end

-- Returns whether the interval of a row reaches beyond the bound; without one it may.
local function may_be_beyond(condition, row)
   local last = condition.operator == ">" and row.high or condition.operator == "<" and row.low
   if not last or row.before == 0 then
      return true
   end
   return is_beyond(condition, condition.relative and last or last * row.before)
end

-- Returns the state of a row for a condition: "failed", "unknown", or nil.
local function state_of(condition, row)
   if condition.verdict then
      return row.verdict == condition.verdict and "failed" or nil
   elseif proven[row.verdict] then
      return is_beyond(condition, size_of(condition, row)) and "failed" or nil
   end
   return row.verdict == "unknown" and may_be_beyond(condition, row) and "unknown" or nil
end

-- Returns the change of a bound, of which a row states how many runs would show it, as
-- { relative = } or { change = }; nil: 2 per cent.
local function wanted_of(condition)
   local relative, change = condition.relative, condition.change
   if (relative or change or 0) == 0 then
      return nil
   end
   return { relative = relative and math.abs(relative), change = change and math.abs(change) }
end

-- Returns what would be needed to know a verdict.
local function needed(row, shown, wanted)
   local parts = {}
   if row.detectable then
      parts[1] = ("these runs would have shown a change from %s on"):format(
         sentences.size(row.detectable))
   end
   if row.runs_needed then
      parts[#parts + 1] = ("%s on each side would show %s"):format(
         sentences.runs(row.runs_needed),
         wanted and wanted.change and shown(wanted.change)
         or sentences.size(wanted and wanted.relative or 0.02))
   end
   return "not known: " .. (#parts > 0 and table.concat(parts, ", ")
      or row.p and "more or longer runs are needed" or "several runs on each side are needed")
end

local function text_of(row, state, shown, wanted)
   local relative = row.relative and (" (%+.1f %%)"):format(row.relative * 100) or ""
   return ("%s: %s to %s%s, %s"):format(row.name, shown(row.before), shown(row.after), relative,
      state == "failed" and (row.said or row.verdict) or needed(row, shown, wanted))
end

-- Returns the result of a condition on names that no item has; nil: one has, or should not.
local function unmatched(condition, items)
   local names, name = {}, condition.name
   if not name or condition.verdict == "new" then
      return nil
   end
   for i, item in ipairs(items) do
      if is_of(condition, item) then
         return nil
      end
      names[i] = item.name
   end
   return { condition = condition.text, name = name, state = "failed",
      text = condition.pattern and ("no row has the pattern '%s'"):format(name)
         or ("no row is called '%s'%s"):format(name, suggestions.hint(name, names)) }
end

local function check_unit(condition, metric)
   if condition.unit and metric.unit ~= "ns" then
      error(("'%s': the metric %s is no time: its bound has no unit"):format(condition.text,
         metric.name), 0)
   end
end

---Checks conditions.
---@param texts string[]
---@param state table of the comparison: metric, items, shown
---@param result_of fun(column: string, wanted: table|nil, condition: table): table rows of self or
---total, and the rows of the whole as `wholes`, or its row as `whole`; raises for conditions that
---it cannot check
---@return { condition: string, name: string, state: string, text: string }[]
function gate.check(texts, state, result_of)
   local list, conditions = {}, {}
   for i, text in ipairs(texts) do
      conditions[i] = gate.parse(text)
      check_unit(conditions[i], state.metric)
   end
   for _, condition in ipairs(conditions) do
      local column = condition.column == "total" and "total" or "self"
      local wanted = wanted_of(condition)
      local result = result_of(column, wanted, condition)
      list[#list + 1] = unmatched(condition, state.items)
      for _, row in ipairs(condition.column == "whole"
         and (result.wholes or { result.whole }) or result.rows) do
         local found = is_of(condition, row) and state_of(condition, row)
         list[#list + 1] = found and { condition = condition.text, name = row.name, state = found,
            text = text_of(row, found, state.shown, wanted) } or nil
      end
   end
   return list
end

-- }======

return gate
