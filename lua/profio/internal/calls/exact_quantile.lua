-- Exact quantiles of calls whose statistics are estimates, by another scan of the calls.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"

local exact = {}

---Columns of call_statistics, beside area and context, that tell areas of one name apart.
exact.keys = { "handle", "value", "file", "line" }

-- Returns the conditions under which calls are those of a row of call_statistics.
local function conditions_of(row)
   local list = { area = row.area == nil and conditions.missing or row.area, lane = row.context }
   for _, name in ipairs(exact.keys) do
      list[name] = row[name] == nil and conditions.missing or row[name]
   end
   return list
end

---Returns the exact value of a quantile.
---@param trace profio.Trace with events
---@param options table|nil of trace:calls
---@param row table of trace:call_statistics by area or context, with exact.keys
---@param column string such as gross_p99, of which the row has an estimate
---@param error number the largest error of the estimate, relative to it
---@return integer|nil nil: there are no such calls
function exact.of(trace, options, row, column, error)
   local duration, quantile = column:match "^(%l+)_(p[%d.]+)$"
   local slack = math.ceil(2 * error * math.abs(row[column])) + 1
   local low, high = row[column] - slack, row[column] + slack
   local calls = trace:calls(options):with_area():where(conditions_of(row))
      :where { [duration] = conditions.no(conditions.missing) }
   local left = core.nearest_rank(quantile, calls:count())
      - calls:where { [duration] = conditions.between(nil, low - 1) }:count()
   for value, count in calls:where { [duration] = conditions.between(low, high) }:group(duration)
      :aggregate { "count" }:sort(duration):each(duration, "count")
   do
      left = left - count
      if left <= 0 then
         return value
      end
   end
   return nil
end

return exact
