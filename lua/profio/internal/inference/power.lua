-- The smallest relative change that a test of these runs finds with a probability, and the number
-- of runs that a given change needs (Cohen 1988, 2.4: the sum of the two quantiles,
-- in units of the standard error).

local distributions = require "profio.internal.inference.distributions"
local noise = require "profio.internal.inference.noise"
local outliers = require "profio.internal.inference.outliers"

local power = {}

local MOST_RUNS <const> = 1000000
local MOST_GROWTH <const> = 1000

-- The quantile of t, of whole degrees of freedom where that changes little, so that few differ.
local function quantile(tail, df)
   df = df >= 20 and df < math.huge and math.floor(df) or df
   return distributions.t_quantile(tail, df)
end

-- Quantiles of the level and of the power of a test.
local function quantiles_of(test, df)
   return quantile(test.level / 2, df), quantile(1 - test.power, df)
end

---Returns the smallest relative growth that the test would have found.
---@param test table { before, noise, level, power, outliers }: the mean of the base, the
---noise of a run, the level of the test, the probability of finding
---it, nil or the outliers that alone make a growth (outliers.of)
---@param n1 integer runs of the base
---@param n2 integer runs of the new side
---@param df number degrees of freedom
---@return number|nil change nil if the test would not find a thousandfold growth, or before is 0
function power.detectable(test, n1, n2, df)
   local by_chance, real = quantiles_of(test, df)
   local change = noise.detectable(test.noise, test.before, n1, n2, by_chance, real, MOST_GROWTH)
   if test.outliers then
      change = math.max(change, outliers.least(test.outliers, test.level, n2, n1) - 1)
   end
   return change <= MOST_GROWTH and change or nil
end

---Returns the number of runs of each side that a relative growth needs.
---@param test table as for power.detectable
---@param change number relative, above 0
---@param df_of fun(n: integer): number degrees of freedom of n runs on each side
---@param fewest integer runs of each side that the test can use
---@return integer|nil runs nil if a million is not enough
function power.runs_needed(test, change, df_of, fewest)
   if test.outliers then
      fewest = outliers.runs(test.outliers, 1 + change, test.level, fewest, MOST_RUNS)
   end
   local before, after = test.before, test.before * (1 + change)
   local deviation = math.sqrt(2 * noise.variance(test.noise, (before + after) / 2))
   local of_growth = math.sqrt(noise.variance(test.noise, before)
      + noise.variance(test.noise, after))
   -- The runs that the change needs with the quantiles of df degrees of freedom.
   local function runs_of(df)
      local by_chance, real = quantiles_of(test, df)
      local runs = ((by_chance * deviation + real * of_growth) / (before * change)) ^ 2
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
