-- The lines and parameters of calls, which traces of some formats have: sums of the calls of a
-- function for each of them.

local conditions = require "profio.internal.conditions"

local call_details = {}

---Returns whether the calls of a trace have a column "line" or "params" with values.
---@param trace profio.Trace with events
---@param format table of the trace
---@param name string
---@return boolean
function call_details.has(trace, format, name)
   for _, column in ipairs(trace:table("events").columns) do
      if column == name then
         return not format.has_column or format.has_column(trace, name)
      end
   end
   return false
end

-- The columns of groups: a line is one of the caller.
local columns = { line = { "line", "caller" }, params = { "params" } }

local sums = { "calls = count", "elapsed = sum(call)", "longest = max(call)" }

-- Returns the calls that were recorded from enter to leave and are not within another call of the
-- function.
local function whole_calls(trace, given)
   return trace:calls({ recursion = "outermost", partial = "exclude", from = given.from,
      to = given.to, max_depth = given.max_depth }):where { lane = given.lane,
      call = conditions.no(conditions.missing) }
end

-- Iterates over the groups of calls: a row with the columns and aggregates.
local function grouped(calls, name, aggregates)
   return calls:group(table.unpack(columns[name])):aggregate(aggregates):records()
end

-- Returns the key of a group.
local function key_of(row, name)
   return ("%s\0%s"):format(row[name] or "", row.caller or "")
end

-- Orders groups: those with most slow calls first, then those with the longest time.
local function is_before(a, b)
   for _, key in ipairs { "slow", "elapsed", "longest" } do
      if a[key] ~= b[key] then
         return a[key] > b[key]
      end
   end
   if a.value == b.value then
      return (a.caller or "") < (b.caller or "")
   end
   return a.value ~= nil and (b.value == nil or a.value < b.value)
end

-- Returns the groups of `calls` that have one value in a column.
local function groups_of(calls, name, slow)
   local groups, is_slow = {}, {}
   for row in grouped(calls:sort("-call", "-stop"):limit(slow), name, { "slow = count" }) do
      is_slow[key_of(row, name)] = row.slow
   end
   for row in grouped(calls, name, sums) do
      groups[#groups + 1] = { value = row[name], caller = row.caller, calls = row.calls,
         elapsed = row.elapsed, longest = row.longest, slow = is_slow[key_of(row, name)] or 0 }
   end
   table.sort(groups, is_before)
   return groups
end

---Returns the calls of all functions by line or by parameters, those with the longest time first:
---area, line and caller or params, calls, elapsed, longest. Calls are those of groups.
---@param trace profio.Trace
---@param name "line"|"params"
---@param given table from, to, max_depth, and lane: a condition
---@return profio.View
function call_details.by_area(trace, name, given)
   return whole_calls(trace, given):where { stack = conditions.no(conditions.missing) }
      :group("area", table.unpack(columns[name])):aggregate(sums)
      :sort("-elapsed", "area", table.unpack(columns[name]))
end

---Returns the calls of a function by line or by parameters: those that were recorded from enter to
---leave, and are not within another call of it. nil: the trace has no values in this column. The
---groups with most slow calls come first, then those with the longest time. Lines are separate for
---each caller, whose name is in `caller`.
---@param trace profio.Trace
---@param format table of the trace
---@param area string
---@param name "line"|"params"
---@param slow integer number of the longest calls that count as slow
---@param given table from, to, max_depth, and lane: a condition
---@return { value: any, caller: string|nil, calls: integer, slow: integer, elapsed: integer,
---longest: integer }[]|nil
function call_details.groups(trace, format, area, name, slow, given)
   if not call_details.has(trace, format, name) then
      return nil
   end
   local groups = groups_of(whole_calls(trace, given):where { area = area }, name, slow)
   local has_values = #groups > 1 or groups[1] and groups[1].value ~= nil
   return has_values and groups or nil
end

return call_details
