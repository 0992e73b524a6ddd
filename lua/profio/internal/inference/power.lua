-- What runs could have shown: the smallest relative change that a test finds with a probability,
-- and the number of runs that a given change needs (Cohen 1988, 2.4: the sum of the two quantiles,
-- in units of the standard error).

local distributions = require "profio.internal.inference.distributions"

local power = {}

local MOST_RUNS <const> = 1000000

-- How much larger the difference of the means is than what the test needs.
local function margin(test, change, n1, n2, df)
   if df <= 0 then
      return -math.huge
   end
   local before, after = test.before, test.before * (1 + change)
   local pooled = (n1 * before + n2 * after) / (n1 + n2)
   local by_chance = test.variance(pooled) * (1 / n1 + 1 / n2)
   local real = test.variance(before) / n1 + test.variance(after) / n2
   return before * change - distributions.t_quantile(test.level / 2, df) * math.sqrt(by_chance)
      - distributions.t_quantile(1 - test.power, df) * math.sqrt(real)
end

---Returns the smallest relative growth that the test would have found.
---@param test table { before, variance, level, power }: the mean of the base, the variance of a run
---as a function of its mean, the level of the test, the probability of finding it
---@param n1 integer runs of the base
---@param n2 integer runs of the new side
---@param df number degrees of freedom
---@return number|nil change nil if the test would not find a thousandfold growth, or before is 0
function power.detectable(test, n1, n2, df)
   local low, high = 0.0, 1e-4
   while margin(test, high, n1, n2, df) <= 0 do
      low, high = high, high * 2
      if high > 1000 then
         return nil
      end
   end
   for _ = 1, 40 do
      local middle = (low + high) / 2
      if margin(test, middle, n1, n2, df) > 0 then
         high = middle
      else
         low = middle
      end
   end
   return high
end

---Returns the number of runs of each side that a relative growth needs.
---@param test table as for power.detectable
---@param change number relative, above 0
---@param df_of fun(n: integer): number degrees of freedom of n runs on each side
---@return integer|nil runs nil if a million is not enough, or before is 0
function power.runs_needed(test, change, df_of)
   local low, high = 0, 1
   while margin(test, change, high, high, df_of(high)) <= 0 do
      low, high = high, high * 2
      if high > MOST_RUNS then
         return nil
      end
   end
   while high - low > 1 do
      local middle = (low + high) // 2
      if margin(test, change, middle, middle, df_of(middle)) > 0 then
         high = middle
      else
         low = middle
      end
   end
   return high
end

return power
