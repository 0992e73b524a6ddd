-- The prior of variances: what the other functions tell of the noise of one. The model of Smyth
-- (2004, limma): sample variances of d degrees of freedom are s0^2 F(d, d0), and the variance of a
-- function is estimated by (d0 s0^2 + d s^2) / (d0 + d). Here s^2 is a factor of the variance
-- m + c m^2 of a function with the mean m: c = 0 is the quasi-Poisson model of samples, a large c
-- noise in proportion to the time; c is what makes the factors agree best. The two parts add up, so
-- c above 0 needs that the first part is at least the noise of samples: as in DESeq2 (Love, Huber
-- and Anders 2014), whose dispersions are those of Poisson and more.

local special = require "profio.internal.inference.special"

local prior = {}

local FEWEST <const> = 5 -- functions from which a prior is estimated

local function median(values)
   local sorted = table.move(values, 1, #values, 1, {})
   table.sort(sorted)
   return sorted[(#sorted + 1) // 2]
end

-- Returns the smallest part of the median that a factor of d degrees of freedom counts as: its
-- quantile of about 2 %, by Wilson and Hilferty (1931). A run that decides the median of its side
-- leaves a function no noise at all there, and the logarithm of nearly 0 would outweigh all others.
local function least_part(d)
   local mean, deviation = 1 - 2 / (9 * d), math.sqrt(2 / (9 * d))
   return math.max((mean - 2 * deviation) / mean, 0.01) ^ 3
end

-- Returns the mean and the variance of the logarithms of the factors, and the median of these; two
-- parameters are fitted. No median is below the noise of samples, so that functions whose runs
-- happen to be equal do not teach that there is no noise.
local function logarithms(spreads, c, d, least_scale)
   local factors = {}
   for i, spread in ipairs(spreads) do
      factors[i] = spread.squares / (spread.means + c * spread.mean_squares)
   end
   local middle, sum, squares = median(factors), 0.0, 0.0
   local part = least_part(d)
   for i, factor in ipairs(factors) do
      local spread = spreads[i]
      local of_samples = least_scale * spread.means / (spread.means + c * spread.mean_squares)
      factors[i] = math.log(math.max(factor, part * math.max(middle, of_samples), 1e-300))
      sum = sum + factors[i]
   end
   local mean = sum / #factors
   for _, value in ipairs(factors) do
      squares = squares + (value - mean) ^ 2
   end
   return mean, squares / math.max(#factors - 2, 1), middle
end

---@class profio.NoiseSpread of a function, within the sides
---@field squares number sum over the runs of the squared deviations from the mean of their side
---@field means number sum over the sides of (runs - 1) mean
---@field mean_squares number sum over the sides of (runs - 1) mean^2

---Returns the prior from the logarithms of variances: `fitFDist` of limma.
---@param mean number of the logarithms
---@param variance number of the logarithms
---@param d number degrees of freedom of each variance
---@return number scale
---@return number df up to math.huge
function prior.of_logarithms(mean, variance, d)
   local excess, bias = variance - special.trigamma(d / 2), 0.0
   local df = excess > 0 and 2 * special.trigamma_inverse(excess) or math.huge
   if df < math.huge then
      bias = special.digamma(df / 2) - math.log(df / 2)
   end
   return math.exp(mean - special.digamma(d / 2) + math.log(d / 2) + bias), df
end

---Returns the variance of a function, squeezed towards the prior: `squeezeVar` of limma.
---@param own number its own variance
---@param d number the degrees of freedom of that
---@param scale number of the prior
---@param df number of the prior, finite
---@return number
function prior.squeezed(own, d, scale, df)
   return (df * scale + d * own) / (df + d)
end

---Estimates the prior of the variances of functions: that of limma, with a trend.
---@param spreads profio.NoiseSpread[]
---@param d integer degrees of freedom of each
---@param least_scale number the ratio of variance and mean of the noise of samples, 0 if unknown
---@return table|nil { scale, c, df, middle }: the variance scale (m + c m^2), df (d0) up to
---math.huge, the scale of the median function; nil of fewer than 5 functions, or without any noise
function prior.fit(spreads, d, least_scale)
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
      local mean, variance, middle = logarithms(spreads, c, d, least_scale)
      local scale, df = prior.of_logarithms(mean, variance, d)
      if not best or variance < best.variance and scale >= least_scale then
         best = { scale = scale, c = c, df = df, mean = mean, variance = variance,
            middle = math.max(middle, least_scale) }
      end
   end
   -- A prior knows no more than the functions that it comes from, and these may differ more than
   -- a few of them happen to show.
   local df = math.min(best.df, (#spreads - 1) * d / 4)
   return best.mean > -600 and { scale = best.scale, c = best.c, df = df, middle = best.middle }
      or nil
end

return prior
