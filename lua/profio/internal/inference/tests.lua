-- Tests of two samples, each with its interval: Welch's t test of means, the t interval of a ratio
-- of means, the exact test of two Poisson rates, and the permutation test.

local core = require "profio.core"
local distributions = require "profio.internal.inference.distributions"

local tests = {}

---Returns the mean, the sum of squared deviations from it, and the count of values.
---@param values number[]
---@return number mean
---@return number squares
---@return integer count
function tests.moments(values)
   local sum, squares = 0.0, 0.0
   for _, value in ipairs(values) do
      sum = sum + value
   end
   local mean = sum / #values
   for _, value in ipairs(values) do
      squares = squares + (value - mean) ^ 2
   end
   return mean, squares, #values
end

---Returns the two-sided p of a statistic. 0/0, a difference of 0 without any noise, is no evidence.
---@param t number
---@param df number
---@return number
function tests.two_sided(t, df)
   return t ~= t and 1.0 or math.min(2 * distributions.t_tail(math.abs(t), df), 1.0)
end

---Welch's test of the difference of two means (Welch 1947), with the degrees of freedom of
---Satterthwaite (1946): `t.test` of R.
---@param base number[] at least two values
---@param new number[] at least two values
---@param alpha number|nil 1 - the level of the interval, 0.05
---@return table { difference, low, high, p, t, df, error }, error of the difference
function tests.welch(base, new, alpha)
   local m1, s1, n1 = tests.moments(base)
   local m2, s2, n2 = tests.moments(new)
   local e1, e2 = s1 / (n1 - 1) / n1, s2 / (n2 - 1) / n2
   local df = (e1 + e2) ^ 2 / (e1 ^ 2 / (n1 - 1) + e2 ^ 2 / (n2 - 1))
   df = df == df and df or n1 + n2 - 2
   local difference, standard = m2 - m1, math.sqrt(e1 + e2)
   local t = difference / standard
   local width = standard * distributions.t_quantile((alpha or 0.05) / 2, df)
   return { difference = difference, low = difference - width, high = difference + width,
      p = tests.two_sided(t, df), t = t, df = df, error = standard }
end

---Returns the interval of the ratio m2/m1 of two independent means (Fieller 1954): all ratios r
---with |m2 - r m1| <= t sqrt(e2^2 + r^2 e1^2). It contains 1 exactly if the t test of the
---difference does not reject.
---@param m1 number at least 0
---@param e1 number standard error of m1
---@param m2 number at least 0
---@param e2 number standard error of m2
---@param t number quantile
---@return number low at least 0
---@return number high math.huge if m1 is not distinct from 0
function tests.ratio_interval(m1, e1, m2, e2, t)
   local a, b, c = m1 ^ 2 - (t * e1) ^ 2, m1 * m2, m2 ^ 2 - (t * e2) ^ 2
   local root = math.sqrt(math.max(b ^ 2 - a * c, 0))
   if a <= 0 then -- m1 may be 0: no ratio is too large
      local low = c > 0 and c / (b + root) or 0.0
      return low, math.huge
   end
   return math.max((b - root) / a, 0.0), (b + root) / a
end

-- The number of outcomes in [low, high] that are at most as probable as `limit`, where the
-- probability rises (sign 1) or falls (sign -1): a search of the boundary.
local function count_of_rare(density, low, high, limit, sign)
   local first, last = low, high + 1
   while first < last do
      local middle = (first + last) // 2
      if (density(middle) <= limit) == (sign > 0) then
         first = middle + 1
      else
         last = middle
      end
   end
   return sign > 0 and first - low or high + 1 - first
end

-- The two-sided p of the exact binomial test: all outcomes that are at most as probable as k, with
-- the tolerance of R.
local function binomial_p(k, n, p)
   local function density(i)
      return distributions.binomial(i, n, p)
   end
   local limit, expected = density(k) * (1 + 1e-7), n * p
   if k == expected then
      return 1.0
   elseif k < expected then
      local rare = count_of_rare(density, math.ceil(expected), n, limit, -1)
      return math.min(1 - distributions.binomial_at_least(k + 1, n, p)
         + (rare > 0 and distributions.binomial_at_least(n - rare + 1, n, p) or 0), 1.0)
   end
   local rare = count_of_rare(density, 0, math.floor(expected), limit, 1)
   return math.min(distributions.binomial_at_least(k, n, p)
      + (rare > 0 and 1 - distributions.binomial_at_least(rare, n, p) or 0), 1.0)
end

---Returns the interval of the ratio of two Poisson rates, new to base, from that of Clopper and
---Pearson (1934) for the share of the events that are in the new side.
---@param count1 number events of the base
---@param count2 number events of the new side; not both 0
---@param time1 number exposure of the base, above 0
---@param time2 number
---@param alpha number 1 - the level of the interval
---@return number low
---@return number high math.huge without events in the base
function tests.rate_interval(count1, count2, time1, time2, alpha)
   local function ratio(share)
      return share >= 1 and math.huge or share / (1 - share) * time1 / time2
   end
   local low = count2 == 0 and 0.0
      or core.beta_quantile(alpha / 2, count2, count1 + 1)
   local high = count1 == 0 and 1.0
      or core.beta_quantile(1 - alpha / 2, count2 + 1, count1)
   return ratio(low), ratio(high)
end

---The exact test of two Poisson rates, conditional on the sum of the counts (Przyborowski and
---Wilenski 1940): `poisson.test` of R.
---@param count1 integer events of the base
---@param count2 integer events of the new side
---@param time1 number exposure of the base, above 0
---@param time2 number
---@param alpha number|nil 1 - the level of the interval, 0.05
---@return table { p, low, high }, the bounds of the ratio of the rates, new to base
function tests.poisson(count1, count2, time1, time2, alpha)
   if count1 + count2 == 0 then
      return { p = 1.0, low = 0.0, high = math.huge }
   end
   local low, high = tests.rate_interval(count1, count2, time1, time2, alpha or 0.05)
   return { p = binomial_p(count2, count1 + count2, time2 / (time1 + time2)), low = low,
      high = high }
end

return tests
