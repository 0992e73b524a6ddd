-- The smallest relative change that a test of these runs finds with a probability, and the number
-- of runs that a given change needs (Cohen 1988, 2.4: the sum of the two quantiles,
-- in units of the standard error).

local distributions = require "profio.internal.inference.distributions"

local power = {}

local MOST_RUNS <const> = 1000000

-- The quantile of t, of whole degrees of freedom where that changes little, so that few differ.
local function quantile(tail, df)
   df = df >= 20 and df < math.huge and math.floor(df) or df
   return distributions.t_quantile(tail, df)
end

-- The difference of the means that the test finds, if the new side has `change` more.
local function needed(test, change, n1, n2, df)
   local before, after = test.before, test.before * (1 + change)
   local pooled = (n1 * before + n2 * after) / (n1 + n2)
   local by_chance = test.variance(pooled) * (1 / n1 + 1 / n2)
   local real = test.variance(before) / n1 + test.variance(after) / n2
   return quantile(test.level / 2, df) * math.sqrt(by_chance)
      + quantile(1 - test.power, df) * math.sqrt(real)
end

---Returns the smallest relative growth that the test would have found.
---@param test table { before, variance, level, power, by_outliers }: the mean of the base, the
---variance of a run as a function of its mean, the level of the test, the probability of finding
---it, nil or the probability of a growth of outliers alone (moderated.row)
---@param n1 integer runs of the base
---@param n2 integer runs of the new side
---@param df number degrees of freedom
---@return number|nil change nil if the test would not find a thousandfold growth, or before is 0
function power.detectable(test, n1, n2, df)
   local low, high = 0.0, 1e-4
   local function is_missed(change)
      return needed(test, change, n1, n2, df) > test.before * change
         or test.by_outliers and test.by_outliers(1 + change, n1, n2) > test.level
   end
   while is_missed(high) do
      low, high = high, high * 4
      if high > 1000 then
         return nil
      end
   end
   for _ = 1, 20 do
      local middle = (low + high) / 2
      if is_missed(middle) then
         low = middle
      else
         high = middle
      end
   end
   return high
end

---Returns the number of runs of each side that a relative growth needs.
---@param test table as for power.detectable
---@param change number relative, above 0
---@param df_of fun(n: integer): number degrees of freedom of n runs on each side
---@param fewest integer runs of each side that the test can use
---@return integer|nil runs nil if a million is not enough
function power.runs_needed(test, change, df_of, fewest)
   while test.by_outliers and fewest < MOST_RUNS
      and test.by_outliers(1 + change, fewest, fewest) > test.level do
      fewest = fewest + 1
   end
   -- The runs that the change needs with the quantiles of df degrees of freedom.
   local function runs_of(df)
      local runs = (needed(test, change, 1, 1, df) / (test.before * change)) ^ 2
      return runs <= MOST_RUNS and math.max(math.ceil(runs), fewest) or nil
   end
   local low = runs_of(math.huge) -- real runs have larger quantiles, so they need as many or more
   local high = low and runs_of(df_of(low))
   while high and low < high do
      local middle = (low + high) // 2
      local runs = runs_of(df_of(middle))
      if runs and runs <= middle then
         high = middle
      else
         low = middle + 1
      end
   end
   return high
end

return power
