-- The metrics that statistics of calls have, and their values in rows of statistics.

local call_sums = require "profio.internal.store.call_sums"

local call_metrics = {}

-- Columns of the statistics that are no measure of the calls.
local others = { handle = true, value = true, last_stop = true, line = true }

local names, is_known = {}, {}

for _, field in ipairs(call_sums.fields) do
   local name, type = field[1], field[2]
   if (type == "int" or type == "num") and not others[name] and not name:find "_max_at$" then
      names[#names + 1], is_known[name] = name, true
   end
end

-- Metrics that are summed, and of which groups have the mean of a run.
local is_sum = { count = true, net = true, gross = true, call = true, period = true,
   outside = true }

---A metric of calls.
---@class profio.CallMetric
---@field name string the column of the statistics
---@field unit string
---@field quantiles string the option of the statistics that gives the column
---@field is_sum boolean the value of a group is the mean of a run

---Returns the names of the metrics, for messages.
---@return string
function call_metrics.names()
   return table.concat(names, ", ") .. "; other quantiles as gross_p99.9"
end

---Returns the metric of a name, or nil if statistics of calls do not have it.
---@param name string
---@return profio.CallMetric|nil
function call_metrics.named(name)
   local duration, rank = name:match "^(%l+)_p(%d[%d.]*)$"
   if not is_known[name] and not (rank and is_sum[duration] and duration ~= "count"
      and tonumber(rank) and tonumber(rank) <= 100)
   then
      return nil
   end
   return { name = name, unit = name == "count" and "count" or "ns",
      quantiles = rank and "p" .. rank or "", is_sum = is_sum[name] or false }
end

-- {====== Several areas ======

local function sum(rows, name)
   local total = 0
   for _, row in ipairs(rows) do
      total = total + (row[name] or 0)
   end
   return total
end

-- Returns the largest value, or with math.min the smallest; nil if no row has one.
local function extreme(rows, name, of)
   local value
   for _, row in ipairs(rows) do
      value = row[name] and (value and of(value, row[name]) or row[name]) or value
   end
   return value
end

-- Returns the mean of the calls of all rows, each with the number of calls that its mean tells.
local function mean(rows, name)
   local total, calls = 0, 0
   for _, row in ipairs(rows) do
      local of, value = row[name], row[name .. "_mean"]
      if of and value then
         total, calls = total + of, calls + (value ~= 0 and of / value or row.count)
      end
   end
   return calls > 0 and total / calls or nil
end

local combine = {
   max = function(rows, name) return extreme(rows, name .. "_max", math.max) end,
   min = function(rows, name) return extreme(rows, name .. "_min", math.min) end,
   mean = mean,
   jitter = function(rows, name)
      local most, least = extreme(rows, name .. "_max", math.max), extreme(rows, name .. "_min",
         math.min)
      return most and most - least
   end,
}

-- }======

---Returns the value of a metric in rows of statistics, all of which belong to what is asked for.
---@param metric profio.CallMetric
---@param rows table[] records of call_statistics by area
---@return number|nil value nil: there are no calls, or it is not known
---@return boolean is_known false: the rows do not tell it together
---@return boolean is_estimate
function call_metrics.value(metric, rows)
   local name = metric.name
   if metric.is_sum then
      return sum(rows, name), true, false
   elseif #rows < 2 then
      local row = rows[1]
      local about = (" %s "):format(row and row.about or "")
      return row and row[name], true, about:find((" %s "):format(name), 1, true) ~= nil
   end
   local duration, kind = name:match "^(%l+)_(%l+)$"
   if combine[kind] then
      return combine[kind](rows, duration), true, false
   end
   return nil, false, false
end

return call_metrics
