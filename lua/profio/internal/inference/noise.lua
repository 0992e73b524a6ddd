-- The noise of runs: the variance of a run as a function of its mean m, constant + linear m +
-- square m^2, and at least `least` m. What follows from it are roots, found by false position in
-- the form of Illinois (Dowell and Jarratt 1971), which never leaves what contains the root and
-- needs few evaluations.

local abs <const>, sqrt <const> = math.abs, math.sqrt

local noise = {}

local MOST_STEPS <const> = 200
local CLOSE <const> = 1e-13 -- relative difference that is none

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
local function variance(of, mean)
   local curve, least = of[1] + of[2] * mean + of[3] * mean * mean, of[4] * mean
   return curve > least and curve or least
end

noise.variance = variance

---Returns the variance of after - ratio before, if `ratio` is that of the means.
---@param of profio.Noise
---@param item { before: number, after: number } means of the runs of both sides
---@param data { n1: integer, n2: integer } numbers of these runs
---@param ratio number
---@return number
function noise.variance_at(of, item, data, ratio)
   local n1, n2 = data.n1, data.n2
   local base = (n1 * item.before + n2 * item.after) / (n1 + n2 * ratio)
   return variance(of, ratio * base) / n2 + ratio * ratio * variance(of, base) / n1
end

-- Returns where f(wanted, x) is 0, for x between a and b, at which its signs differ or it is 0.
local function root(f, wanted, a, b)
   local at_a, at_b = f(wanted, a), f(wanted, b)
   for _ = 1, MOST_STEPS do
      if at_a == 0 then
         return a
      elseif at_b == 0 or abs(b - a) <= CLOSE * abs(b) then
         return b
      end
      local c = (a * at_b - b * at_a) / (at_b - at_a)
      local at_c = f(wanted, c)
      if (at_c < 0) ~= (at_b < 0) then
         a, at_a = b, at_b
      else
         at_a = at_a / 2
      end
      if abs(c - b) <= CLOSE * abs(c) then
         return c
      end
      b, at_b = c, at_c
   end
   return b
end

-- Above 0: the test rejects the ratio.
local function rejection(wanted, ratio)
   local item = wanted.item
   return abs(item.after - ratio * item.before)
      - wanted.t * sqrt(noise.variance_at(wanted.noise, item, wanted.data, ratio))
end

---Returns the bounds of the ratios that a test does not reject.
---@param of profio.Noise
---@param item { before: number, after: number } before above 0
---@param data { n1: integer, n2: integer }
---@param t number quantile of the test
---@return number low
---@return number high up to math.huge
function noise.bounds(of, item, data, t)
   local wanted = { noise = of, item = item, data = data, t = t }
   local middle = math.max(item.after / item.before, 1e-9)
   local low = rejection(wanted, 0.0) > 0 and root(rejection, wanted, middle, 0.0) or 0.0
   local inside, outside = middle, middle * 2
   while rejection(wanted, outside) <= 0 and outside <= 1e9 do
      inside, outside = outside, outside * 2
   end
   return low < 1e-8 and 0.0 or low,
      outside > 1e9 and math.huge or root(rejection, wanted, inside, outside)
end

-- Above 0: the test misses the growth.
local function missing(wanted, growth)
   local of, before, n1, n2 = wanted.noise, wanted.before, wanted.n1, wanted.n2
   local after = before * (1 + growth)
   local pooled = (n1 * before + n2 * after) / (n1 + n2)
   local by_chance = variance(of, pooled) * (1 / n1 + 1 / n2)
   local real = variance(of, before) / n1 + variance(of, after) / n2
   return wanted.by_chance * sqrt(by_chance) + wanted.real * sqrt(real)
      - before * growth
end

---Returns the smallest growth, relative to `before`, that a test finds (Cohen 1988, 2.4).
---@param of profio.Noise
---@param before number above 0
---@param n1 integer runs of the base
---@param n2 integer runs of the new side
---@param by_chance number quantile of the level of the test
---@param real number quantile of its power
---@param most number
---@return number growth math.huge: more than `most`
function noise.detectable(of, before, n1, n2, by_chance, real, most)
   local wanted = { noise = of, before = before, n1 = n1, n2 = n2, by_chance = by_chance,
      real = real }
   local high = math.max(2 * missing(wanted, 0.0) / before, 1e-4)
   while missing(wanted, high) > 0 and high <= most do
      high = high * 4
   end
   return high > most and math.huge or root(missing, wanted, 0.0, high)
end

return noise
