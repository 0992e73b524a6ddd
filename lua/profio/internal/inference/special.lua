-- Special functions: the logarithm of gamma and beta, digamma, trigamma and its inverse, and the
-- incomplete gamma and beta functions. "A&S" is Abramowitz and Stegun, Handbook of Mathematical
-- Functions (1964); "NR" is Press et al., Numerical Recipes, 3rd edition (2007).

local special = {}

local EPSILON <const> = 1e-15
local TINY <const> = 1e-300

-- Lanczos's approximation with g = 7 and 9 terms (Godfrey 2001); relative error 1e-15.
local lanczos <const> = {
   676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
   12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
}

---Returns the logarithm of the gamma function.
---@param x number above 0
---@return number
function special.lgamma(x)
   if x < 0.5 then -- reflection, A&S 6.1.17
      return math.log(math.pi / math.sin(math.pi * x)) - special.lgamma(1 - x)
   end
   x = x - 1
   local sum = 0.99999999999980993
   for i, coefficient in ipairs(lanczos) do
      sum = sum + coefficient / (x + i)
   end
   local t = x + 7.5
   return 0.91893853320467274178 + (x + 0.5) * math.log(t) - t + math.log(sum)
end

local lgamma = special.lgamma

-- The sum of the asymptotic series of A&S 6.3.18 and 6.4.12: recurrence to x >= 15 first.
local function recurred(x, step, series)
   local sum = 0.0
   while x < 15 do
      sum = sum + step(x)
      x = x + 1
   end
   return sum + series(x)
end

---Returns the digamma function, the derivative of the logarithm of gamma.
---@param x number above 0
---@return number
function special.digamma(x)
   return recurred(x, function(y) return -1 / y end, function(y)
      local r = 1 / (y * y)
      return math.log(y) - 0.5 / y
         - r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r / 132))))
   end)
end

---Returns the trigamma function, the derivative of digamma.
---@param x number above 0
---@return number
function special.trigamma(x)
   return recurred(x, function(y) return 1 / (y * y) end, function(y)
      local r = 1 / (y * y)
      return 1 / y + r / 2
         + r / y * (1 / 6 - r * (1 / 30 - r * (1 / 42 - r * (1 / 30 - r * 5 / 66))))
   end)
end

-- The derivative of trigamma, by the same recurrence (A&S 6.4.6 and 6.4.14).
local function tetragamma(x)
   return recurred(x, function(y) return -2 / y ^ 3 end, function(y)
      local r = 1 / (y * y)
      return -r * (1 + 1 / y + r * (0.5 - r * (1 / 6 - r * (1 / 6 - r * 0.3))))
   end)
end

---Returns y with trigamma(y) = x, by Newton's method on 1/trigamma, which is convex and nearly
---linear (Smyth 2004, appendix).
---@param x number above 0
---@return number
function special.trigamma_inverse(x)
   if x > 1e7 then
      return 1 / math.sqrt(x)
   elseif x < 1e-6 then
      return 1 / x
   end
   local y = 0.5 + 1 / x
   for _ = 1, 50 do
      local trigamma = special.trigamma(y)
      local change = trigamma * (1 - trigamma / x) / tetragamma(y)
      y = y + change
      if -change / y < 1e-12 then
         break
      end
   end
   return y
end

-- A continued fraction b0 + a1/(b1 + a2/(b2 + ...)) by the method of Lentz (NR 5.2).
-- `term(i)` returns a and b of the i-th level.
local function continued(b0, term)
   local f = b0 ~= 0 and b0 or TINY
   local c, d = f, 0.0
   for i = 1, 100000 do
      local a, b = term(i)
      d = b + a * d
      d = 1 / (d ~= 0 and d or TINY)
      c = b + a / c
      c = c ~= 0 and c or TINY
      local factor = c * d
      f = f * factor
      if math.abs(factor - 1) < EPSILON then
         break
      end
   end
   return f
end

---Returns the upper regularised incomplete gamma function Q(a, x) (NR 6.2: a series below a + 1,
---a continued fraction above).
---@param a number above 0
---@param x number at least 0
---@return number between 0 and 1
function special.gamma_q(a, x)
   if x <= 0 then
      return 1.0
   end
   local front = math.exp(a * math.log(x) - x - lgamma(a))
   if x >= a + 1 then
      return front / continued(x + 1 - a, function(i)
         return -i * (i - a), x + 1 - a + 2 * i
      end)
   end
   local term, sum, n = 1 / a, 1 / a, a
   repeat
      n = n + 1
      term = term * x / n
      sum = sum + term
   until term < sum * EPSILON
   return 1 - front * sum
end

---Returns the logarithm of the beta function.
---@param a number above 0
---@param b number above 0
---@return number
function special.lbeta(a, b)
   return lgamma(a) + lgamma(b) - lgamma(a + b)
end

---Returns the regularised incomplete beta function I_x(a, b) (NR 6.4, A&S 26.5.8).
---@param x number between 0 and 1
---@param a number above 0
---@param b number above 0
---@param y number|nil 1 - x, where the caller knows it more exactly
---@return number between 0 and 1
function special.beta_i(x, a, b, y)
   y = y or 1 - x
   if x <= 0 or y <= 0 then
      return x <= 0 and 0.0 or 1.0
   elseif x > (a + 1) / (a + b + 2) then
      return 1 - special.beta_i(y, b, a, x)
   end
   local front = math.exp(a * math.log(x) + b * math.log(y) - special.lbeta(a, b)) / a
   return front / continued(1.0, function(i)
      local m = i // 2
      if i % 2 == 0 then
         return m * (b - m) * x / ((a + i - 1) * (a + i)), 1.0
      end
      return -(a + m) * (a + b + m) * x / ((a + i - 1) * (a + i)), 1.0
   end)
end

return special
