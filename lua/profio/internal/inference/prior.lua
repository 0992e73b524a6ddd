-- The prior of variances: what the other functions tell of the noise of one. The model of Smyth
-- (2004, limma): sample variances of d degrees of freedom are s0^2 F(d, d0), and the variance of a
-- function is estimated by (d0 s0^2 + d s^2) / (d0 + d). Here s^2 is a factor of the variance
-- m + c m^2 of a function with the mean m: c = 0 is the quasi-Poisson model of samples, a large c
-- noise in proportion to the time; c is what makes the factors agree best.

local special = require "profio.internal.inference.special"

local prior = {}

local FEWEST <const> = 5 -- functions from which a prior is estimated

local function median(values)
   local sorted = table.move(values, 1, #values, 1, {})
   table.sort(sorted)
   return sorted[(#sorted + 1) // 2]
end

-- Returns the logarithms of the factors, their mean and their variance; two parameters are fitted.
-- Factors of nearly 0 are those of limma's fitFDist: at least 1e-5 of the median.
local function logarithms(spreads, c)
   local factors = {}
   for i, spread in ipairs(spreads) do
      factors[i] = spread.squares / (spread.means + c * spread.mean_squares)
   end
   local least, sum, squares = math.max(1e-5 * median(factors), 1e-300), 0.0, 0.0
   for i, factor in ipairs(factors) do
      factors[i] = math.log(math.max(factor, least))
      sum = sum + factors[i]
   end
   local mean = sum / #factors
   for _, value in ipairs(factors) do
      squares = squares + (value - mean) ^ 2
   end
   return mean, squares / math.max(#factors - 2, 1)
end

---@class profio.NoiseSpread of a function, within the sides
---@field squares number sum over the runs of the squared deviations from the mean of their side
---@field means number sum over the sides of (runs - 1) mean
---@field mean_squares number sum over the sides of (runs - 1) mean^2

---Estimates the prior of the variances of functions: `fitFDist` of limma, with a trend.
---@param spreads profio.NoiseSpread[]
---@param d integer degrees of freedom of each
---@return table|nil { scale, c, df }: the variance scale (m + c m^2), df (d0) up to math.huge; nil
---of fewer than 5 functions, or without any noise
function prior.fit(spreads, d)
   local best
   local means = {}
   for i, spread in ipairs(spreads) do
      means[i] = spread.means / d
   end
   if #spreads < FEWEST then
      return nil
   end
   for step = -9, 9 do
      local c = step == -9 and 0.0 or 2.0 ^ step / median(means)
      local mean, variance = logarithms(spreads, c)
      if not best or variance < best.variance then
         best = { c = c, mean = mean, variance = variance }
      end
   end
   local excess = best.variance - special.trigamma(d / 2)
   local df = excess > 0 and 2 * special.trigamma_inverse(excess) or math.huge
   -- A prior knows no more than the functions that it comes from, and these may differ more than
   -- a few of them happen to show.
   df = math.min(df, (#spreads - 1) * d / 4)
   local level = best.mean - special.digamma(d / 2) + math.log(d / 2)
      + special.digamma(df / 2) - math.log(df / 2)
   local scale = math.exp(level)
   return best.mean > -600 and { scale = scale, c = best.c, df = df } or nil
end

return prior
