-- The tests of one function that need nothing of the others: Welch's t test, and the exact test of
-- Poisson counts. Each returns what moderated.row returns.

local distributions = require "profio.internal.inference.distributions"
local noise = require "profio.internal.inference.noise"
local tests = require "profio.internal.inference.tests"

local classic = {}

---Welch's test, with the interval of Fieller for the ratio.
---@param item table { base, new, before, after }
---@param data table { alpha, n1, n2 }
---@return table { p, low, high, df, noise, smallest }
function classic.welch(item, data)
   local result = tests.welch(item.base, item.new, data.alpha)
   local _, squares1, n1 = tests.moments(item.base)
   local _, squares2, n2 = tests.moments(item.new)
   local variance1, variance2 = squares1 / (n1 - 1), squares2 / (n2 - 1)
   local low, high = tests.ratio_interval(item.before, math.sqrt(variance1 / n1), item.after,
      math.sqrt(variance2 / n2), distributions.t_quantile(data.alpha / 2, result.df))
   local variance = (variance1 / n1 + variance2 / n2) / (1 / n1 + 1 / n2)
   return { p = result.p, low = low, high = high, df = result.df, smallest = 0.0,
      noise = noise.new(variance, 0.0, 0.0) }
end

---The exact test of two Poisson rates. It knows no other noise than that of samples.
---@param item table { count1, count2 }: samples of all runs of each side
---@param data table { alpha, exposure1, exposure2 }: the numbers of runs, or what they are
---normalised by
---@return table { p, low, high, df, noise, smallest }
function classic.poisson(item, data)
   local time1, time2 = data.exposure1, data.exposure2
   local result = tests.poisson(item.count1, item.count2, time1, time2, data.alpha)
   return { p = result.p, low = result.low, high = result.high, df = math.huge,
      smallest = (math.min(time1, time2) / (time1 + time2)) ^ (item.count1 + item.count2),
      noise = noise.new(0.0, 1.0, 0.0) }
end

return classic
