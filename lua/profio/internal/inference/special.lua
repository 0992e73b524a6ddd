-- Special functions: digamma, trigamma and its inverse; the core has the gamma and beta functions.
-- "A&S" is Abramowitz and Stegun, Handbook of Mathematical Functions (1964).

local special = {}

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

return special
