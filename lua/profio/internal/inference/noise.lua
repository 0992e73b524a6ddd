-- The noise of runs: the variance of a run as a function of its mean m, constant + linear m +
-- square m^2, and at least `least` m. The core has the roots that need it most
-- (csrc/kernels/base/two_means.h).

local core = require "profio.core"

local noise = {}

---@class profio.Noise
---@field [1] number constant
---@field [2] number linear
---@field [3] number square
---@field [4] number least

---@param constant number
---@param linear number
---@param square number
---@param least number|nil default 0
---@return profio.Noise
function noise.new(constant, linear, square, least)
   return { constant, linear, square, least or 0.0 }
end

---Returns the same noise with a variance of at least `least` times the mean.
---@param of profio.Noise
---@param least number
---@return profio.Noise
function noise.at_least(of, least)
   return noise.new(of[1], of[2], of[3], math.max(of[4], least))
end

---Returns the variance of a run.
---@param of profio.Noise
---@param mean number
---@return number
function noise.variance(of, mean)
   return core.noise_variance(of[1], of[2], of[3], of[4], mean)
end

---Returns the variance of after - ratio before, if `ratio` is that of the means.
---@param of profio.Noise
---@param item { before: number, after: number } means of the runs of both sides
---@param data { n1: integer, n2: integer } numbers of these runs
---@param ratio number
---@return number
function noise.variance_at(of, item, data, ratio)
   return core.variance_at(item.before, item.after, data.n1, data.n2, of[1], of[2], of[3], of[4],
      ratio)
end

---Returns the bounds of the ratios that a test does not reject.
---@param of profio.Noise
---@param item { before: number, after: number } before above 0
---@param data { n1: integer, n2: integer }
---@param t number quantile of the test
---@return number low
---@return number high up to math.huge
function noise.bounds(of, item, data, t)
   return core.ratio_bounds(item.before, item.after, data.n1, data.n2, of[1], of[2], of[3], of[4],
      t)
end

---Returns the smallest growth, relative to `before`, that a test finds.
---@param of profio.Noise
---@param before number above 0
---@param n1 integer runs of the base
---@param n2 integer runs of the new side
---@param by_chance number quantile of the level of the test
---@param real number quantile of its power
---@param most number
---@return number growth math.huge: more than `most`
function noise.detectable(of, before, n1, n2, by_chance, real, most)
   return core.detectable_growth(before, n1, n2, of[1], of[2], of[3], of[4], by_chance, real, most)
end

return noise
