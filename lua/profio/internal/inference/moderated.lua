-- The moderated test: the variance of a function is that of its own runs, squeezed towards what all
-- functions show (prior.lua), and the drift of whole runs, which all functions share, so that it
-- has only the degrees of freedom of the runs. README.md has the model and its sources.

local distributions = require "profio.internal.inference.distributions"
local noise = require "profio.internal.inference.noise"
local outliers = require "profio.internal.inference.outliers"
local prior = require "profio.internal.inference.prior"
local run_scales = require "profio.internal.inference.run_scales"
local tests = require "profio.internal.inference.tests"

local moderated = {}

local FEW <const> = 5           -- samples a run, below which the variance of Poisson is the least
local OUTLIER <const> = 0.01    -- probability below which a variance does not follow the prior
local MOST_LEARNED <const> = 4096 -- functions that the prior learns from: more tell it nothing new
local MANY_COUNTS <const> = 1e5 -- from which the normal distribution is exact enough

-- Returns the spread of a function whose runs are divided by the factors of their sides, if any.
local function spread_of(item, factors)
   local spread = { squares = 0.0, means = 0.0, mean_squares = 0.0 }
   for side, values in pairs { base = item.base, new = item.new } do
      local scaled = {}
      for j, value in ipairs(values) do
         scaled[j] = value / (factors and factors[side][j] or 1.0)
      end
      local mean, squares, count = tests.moments(scaled)
      spread.squares = spread.squares + squares
      spread.means = spread.means + (count - 1) * mean
      spread.mean_squares = spread.mean_squares + (count - 1) * mean ^ 2
   end
   return spread
end

-- Returns whether the noise of a function is that of many samples, so that the prior can learn
-- from it.
local function is_typical(item, data)
   if data.has_unit then
      return item.pooled >= FEW
   end
   for _, values in pairs { item.base, item.new } do
      for _, value in ipairs(values) do
         if value <= 0 then
            return false
         end
      end
   end
   return true
end

-- Returns the functions from which the noise of all can be learned: of many, evenly those of the
-- whole list.
local function typical_items(data)
   local all = {}
   for _, item in ipairs(data.items) do
      all[#all + 1] = is_typical(item, data) and item or nil
   end
   local count = math.min(#all, MOST_LEARNED)
   local items = {}
   for i = 1, count do
      items[i] = all[1 + (i - 1) * #all // count]
   end
   return items
end

-- Returns the spreads of these functions, with factors of the runs, or without. A factor follows a
-- function by its share, so that only the rest of its noise is left.
local function spreads_of(data, items, factors)
   local spreads, total = {}, 0.0
   for _, item in ipairs(data.items) do
      total = total + item.pooled
   end
   for i, item in ipairs(items) do
      local left = factors and math.max(1 - item.pooled / total, 0.1) ^ 2 or 1.0
      spreads[i] = spread_of(item, factors)
      spreads[i].squares = spreads[i].squares / left
   end
   return spreads
end

-- The variance of a weighted median of ratios that have the noise of the prior, pi/2 times that of
-- their mean.
local function noise_of_scale(data, found)
   local total, variance = 0.0, 0.0
   for _, item in ipairs(data.items) do
      total = total + item.pooled
      variance = variance + found.scale * (item.pooled + found.c * item.pooled ^ 2)
   end
   return math.pi / 2 * variance / total ^ 2
end

---@class profio.NoiseModel
---@field prior table|nil prior.fit
---@field drift number squared coefficient of variation of whole runs
---@field learned integer number of functions of the prior
---@field df integer degrees of freedom of the runs
---@field outliers profio.Outliers|nil

---Estimates the noise of runs.
---@param data table items { base, new, before, after, pooled }, n1, n2, df, has_unit, least_scale
---@return profio.NoiseModel
function moderated.fit(data)
   local items, drift, factors, found = typical_items(data), 0.0, nil, nil
   if not data.is_shares then
      local variance
      factors, variance = run_scales.of_sides(data.items)
      found = prior.fit(spreads_of(data, items, factors), data.df, data.least_scale)
      drift = found and math.max(variance - noise_of_scale(data, found), 0) or 0.0
   end
   if drift == 0 then -- factors without drift are only noise
      factors = nil
      found = prior.fit(spreads_of(data, items), data.df, data.least_scale)
   end
   return { prior = found, drift = drift, learned = #items, df = data.df,
      outliers = found and outliers.of(items, factors, function(mean)
         return found.middle * (mean + found.c * mean ^ 2)
      end) }
end

-- Returns the variance of the difference of the means, by the runs of this function alone, divided
-- by that of a variance function: pooled, or with the weights of Welch's test if these give more.
-- They differ where the numbers of runs do: an outlier in the side with fewer runs moves its mean
-- more than a pooled variance knows.
local function own_factor(item, variance)
   local mean1, squares1, n1 = tests.moments(item.base)
   local mean2, squares2, n2 = tests.moments(item.new)
   local pooled = (squares1 + squares2) / ((n1 - 1) * variance(mean1) + (n2 - 1) * variance(mean2))
   local apart = (squares1 / (n1 - 1) / n1 + squares2 / (n2 - 1) / n2)
      / (variance(mean1) / n1 + variance(mean2) / n2)
   return pooled == pooled and math.max(pooled, apart) or 0.0
end

-- Returns the factor of a function's variance to that of the model, squeezed, and the degrees of
-- freedom of the part of its variance that is not drift.
local function squeezed(own, model)
   local d, prior_df = model.df, model.prior.df
   if distributions.f_tail(own, d, prior_df) < OUTLIER then
      return own, d
   end
   return prior.squeezed(own, d, 1.0, prior_df), math.min(prior_df + d, model.learned * d)
end

-- Returns the noise of one run of a function, and the degrees of freedom of its variance.
local function noise_of(item, data, model)
   local found, drift = model.prior, model.drift
   local linear, square = found and found.scale or 1.0, found and found.scale * found.c + drift or 0
   local function typical(mean)
      return linear * mean + square * mean ^ 2
   end
   local factor, df = own_factor(item, typical), model.df
   if found then
      local df_rest
      factor, df_rest = squeezed(factor, model)
      local shared, all = drift * item.pooled ^ 2, typical(item.pooled)
      df = all > 0 and all ^ 2 / (shared ^ 2 / model.df + (all - shared) ^ 2 / df_rest) or df_rest
   end
   local least = data.has_unit and item.pooled < FEW and 1.0 or 0.0
   return noise.new(0.0, factor * linear, factor * square, least), df
end

-- Few samples of sides with different numbers of runs are skew, not normal: the exact conditional
-- test of the counts that have the noise of these weights. Returns its p and its counts.
local function test_counts(item, data, of_runs)
   local sum = data.n1 * item.before + data.n2 * item.after
   local count = sum * item.pooled / noise.variance(of_runs, item.pooled)
   if count ~= count or count > MANY_COUNTS then
      return 0.0
   end
   local new = count * data.n2 * item.after / sum
   local share = data.n2 / (data.n1 + data.n2)
   local tail = item.after > item.before
      and distributions.binomial_at_least(new, count, share)
      or distributions.binomial_at_least(count - new, count, 1 - share)
   return math.min(2 * tail, 1.0), count - new, new
end

-- The probability that outliers alone make such a change.
local function p_of_outliers(item, data, model)
   if not model.outliers then
      return 0.0
   elseif item.after > item.before then
      return outliers.p(model.outliers, item.after / item.before, data.n2, data.n1)
   end
   return outliers.p(model.outliers, item.before / item.after, data.n1, data.n2)
end

---Tests one function.
---@param item table
---@param data table
---@param model profio.NoiseModel
---@return table { p, low, high, df, noise, smallest, outliers }: bounds of the ratio of the
---means, the noise of a run, the smallest p that these counts could
---have given, the outliers of all functions
function moderated.row(item, data, model)
   local of_runs, df = noise_of(item, data, model)
   local t = (item.after - item.before) / math.sqrt(noise.variance_at(of_runs, item, data, 1.0))
   local p = tests.two_sided(t, df)
   local p_counts, count1, count2 = test_counts(item, data, of_runs)
   local p_outliers = p_of_outliers(item, data, model)
   local row = { p = math.max(p, p_counts, p_outliers), df = df, noise = of_runs,
      smallest = 0.0, outliers = model.outliers }
   if data.has_unit and item.pooled < FEW then
      local share = data.n2 / (data.n1 + data.n2)
      row.smallest = 2 * math.min(share, 1 - share) ^ (item.pooled * (data.n1 + data.n2))
   end
   if item.before > 0 then
      local quantile = distributions.t_quantile(data.alpha / 2, df)
      row.low, row.high = noise.bounds(of_runs, item, data, quantile)
      if p_counts > p then
         local low, high = tests.rate_interval(count1, count2, data.n1, data.n2, data.alpha)
         row.low, row.high = math.min(low, row.low), math.max(high, row.high)
      end
      if p_outliers > data.alpha then
         row.low, row.high = math.min(row.low, 1.0), math.max(row.high, 1.0)
      end
   end
   return row
end

return moderated
