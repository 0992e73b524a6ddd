-- Runs in which a function costs far more or less than in the other runs of its side, by more than
-- noise: a cold cache, another program on the machine. They are gross errors, as in the
-- contaminated distribution of Tukey (1960) and Huber (1964): each weight is one with a probability
-- that all functions together tell. A side of few runs may have nothing else in one of many
-- functions, which looks like a change without noise.

local run_scales = require "profio.internal.inference.run_scales"

local outliers = {}

local FEWEST <const> = 3 -- runs of a side in which the median is not the outlier
local FAR <const> = 4.0  -- standard deviations

-- Adds the ratios of the outliers of one side of a function to its median.
local function collect(found, values, variance)
   local weights = {}
   for j = 1, #values do
      weights[j] = 1.0
   end
   local median = run_scales.weighted_median(values, weights)
   if #values < FEWEST or median <= 0 then
      return
   end
   local far = FAR * math.sqrt(variance(median))
   for _, value in ipairs(values) do
      local list = value - median > far and found.more or median - value > far and found.less
      if list then
         list[#list + 1] = value > median and value / median or median / value
      end
   end
   found.weights = found.weights + #values
end

---@class profio.Outliers
---@field more number[] ratios to the median, the largest first
---@field less number[] ratios of the median to them, the largest first; 1/0 of nothing
---@field weights integer number of weights that were looked at
---@field least table<string, number> results of outliers.least

---Finds the outliers of functions.
---@param items table[] { base, new }: weights in each run, those of functions with enough samples
---@param factors { base: number[], new: number[] }|nil by which the runs drift
---@param variance fun(mean: number): number of one run, without drift
---@return profio.Outliers
function outliers.of(items, factors, variance)
   local found = { more = {}, less = {}, weights = 0, least = {} }
   for _, item in ipairs(items) do
      for _, side in ipairs { "base", "new" } do
         local values = {}
         for j, value in ipairs(item[side]) do
            values[j] = value / (factors and factors[side][j] or 1.0)
         end
         collect(found, values, variance)
      end
   end
   for _, ratios in ipairs { found.more, found.less } do
      table.sort(ratios, function(a, b) return a > b end)
   end
   return found
end

-- The probability that a weight is an outlier by at least a ratio.
local function share(ratios, least, weights)
   local count, after = 0, #ratios + 1 -- so many are at least so large, and fewer than `after`
   while count + 1 < after do
      local middle = (count + after) // 2
      if ratios[middle] >= least then
         count = middle
      else
         after = middle
      end
   end
   return weights > 0 and count / weights or 0.0
end

---Returns the probability that a change is one of outliers alone: all runs of the larger side cost
---more, or all of the smaller one less, by at least half of the change.
---@param found profio.Outliers
---@param ratio number of the larger mean to the smaller
---@param n_larger integer runs of the side with the larger mean
---@param n_smaller integer
---@return number
function outliers.p(found, ratio, n_larger, n_smaller)
   local half = 1 + (ratio - 1) / 2
   return math.min(share(found.more, half, found.weights) ^ n_larger
      + share(found.less, half, found.weights) ^ n_smaller, 1.0)
end

-- Returns all ratios, the smallest first.
local function all_ratios(found)
   if not found.all then
      found.all = table.move(found.less, 1, #found.less, #found.more + 1,
         table.move(found.more, 1, #found.more, 1, {}))
      table.sort(found.all)
   end
   return found.all
end

---Returns the ratio from which on outliers alone have at most some probability; 1/0 if none has.
---@param found profio.Outliers
---@param level number
---@param n_larger integer as for outliers.p
---@param n_smaller integer
---@return number
function outliers.least(found, level, n_larger, n_smaller)
   local key = ("%a %d %d"):format(level, n_larger, n_smaller)
   local known = found.least[key]
   if known then
      return known
   end
   local function beyond(ratio) -- just larger than one whose half is `ratio`
      return (2 * ratio - 1) * (1 + 1e-9)
   end
   local all, low, high = all_ratios(found), 0, #found.more + #found.less + 1
   while low + 1 < high do -- p is too large beyond `low`, and is not beyond `high`
      local middle = (low + high) // 2
      if outliers.p(found, beyond(all[middle]), n_larger, n_smaller) > level then
         low = middle
      else
         high = middle
      end
   end
   known = outliers.p(found, 1.0, n_larger, n_smaller) <= level and 1.0
      or all[high] and beyond(all[high]) or math.huge
   found.least[key] = known
   return known
end

---Returns the number of runs of each side with which outliers alone have at most some probability
---of a change.
---@param found profio.Outliers
---@param ratio number
---@param level number
---@param fewest integer
---@param most integer returned also if more are needed
---@return integer
function outliers.runs(found, ratio, level, fewest, most)
   local function are_enough(n)
      return n >= most or outliers.p(found, ratio, n, n) <= level
   end
   local low, high = fewest, fewest
   while not are_enough(high) do
      low, high = high + 1, high * 2
   end
   while low < high do
      local middle = (low + high) // 2
      if are_enough(middle) then
         high = middle
      else
         low = middle + 1
      end
   end
   return math.min(high, most)
end

return outliers
