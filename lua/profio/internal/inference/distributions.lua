-- Tails and quantiles of the distributions that the tests need. Tails are computed directly, not as
-- 1 - p, so that small ones keep their digits. The relations between them are those of Abramowitz
-- and Stegun (1964), 26.2 to 26.6.

local core = require "profio.core"

local distributions = {}

local MANY <const> = 1e7 -- degrees of freedom from which t is the normal distribution

---Returns the probability of a normal value above x.
---@param x number
---@return number
function distributions.normal_tail(x)
   local half = core.gamma_q(0.5, x * x / 2) / 2
   return x >= 0 and half or 1 - half
end

---Returns the probability of a value above t of Student's distribution.
---@param t number
---@param df number degrees of freedom, above 0; math.huge for the normal distribution
---@return number
function distributions.t_tail(t, df)
   if df > MANY then
      return distributions.normal_tail(t)
   elseif t ~= t or t == math.huge or t == -math.huge then
      return t == math.huge and 0.0 or t == -math.huge and 1.0 or t
   end
   local sum = df + t * t
   local half = core.beta_i(df / sum, df / 2, 0.5, t * t / sum) / 2
   return t >= 0 and half or 1 - half
end

---Returns the probability of a value above x of the F distribution.
---@param x number at least 0
---@param df1 number
---@param df2 number math.huge for chi-squared / df1
---@return number
function distributions.f_tail(x, df1, df2)
   if df2 > MANY then
      return core.gamma_q(df1 / 2, df1 * x / 2)
   end
   local sum = df2 + df1 * x
   return core.beta_i(df2 / sum, df2 / 2, df1 / 2, df1 * x / sum)
end

-- Quantiles of t are wanted again and again for the same tails and degrees of freedom.
local KNOWN_AT_MOST <const> = 10000
local known, known_count = {}, 0

-- The quantile for a tail below 0.5, by Newton's method on the logarithm of the tail, with
-- bisection where a step would leave what is known to contain it.
local function t_above(tail, df)
   local is_normal = df > MANY
   local log_front = is_normal and -math.log(2 * math.pi) / 2
      or -core.log_beta(df / 2, 0.5) - math.log(df) / 2
   local low, high, t = 0.0, math.huge, math.sqrt(-2 * math.log(2 * tail))
   for _ = 1, 200 do
      local found = distributions.t_tail(t, df)
      if found > tail then
         low = t
      else
         high = t
      end
      local log_density = log_front
         - (is_normal and t * t / 2 or (df + 1) / 2 * math.log(1 + t * t / df))
      local next = t + math.log(found / tail) * found / math.exp(log_density)
      if not (next > low and next < high) then
         next = high < math.huge and low + (high - low) / 2 or 2 * low + 1
      end
      if math.abs(next - t) <= 1e-13 * t then
         return next
      end
      t = next
   end
   return t
end

---Returns the value above which Student's distribution has a probability.
---@param tail number between 0 and 1, exclusive
---@param df number degrees of freedom; math.huge for the normal distribution
---@return number
function distributions.t_quantile(tail, df)
   if tail > 0.5 then
      return -distributions.t_quantile(1 - tail, df)
   end
   local of_tail = known[tail] or {}
   local t = of_tail[df]
   if not t then
      t = t_above(tail, df)
      known_count = known_count + 1
      if known_count > KNOWN_AT_MOST then
         known, known_count, of_tail = {}, 0, {}
      end
      known[tail], of_tail[df] = of_tail, t
   end
   return t
end

---Returns the probability of k successes of n.
---@param k integer
---@param n integer
---@param p number probability of a success, between 0 and 1, exclusive
---@return number
function distributions.binomial(k, n, p)
   return math.exp(core.log_gamma(n + 1) - core.log_gamma(k + 1) - core.log_gamma(n - k + 1)
      + k * math.log(p) + (n - k) * math.log(1 - p))
end

---Returns the probability of at least k successes of n; both may be fractions, for which the
---incomplete beta function interpolates (A&S 26.5.24).
---@param k number at most n
---@param n number
---@param p number
---@return number
function distributions.binomial_at_least(k, n, p)
   return k <= 0 and 1.0 or core.beta_i(p, k, n - k + 1, 1 - p)
end

return distributions
