-- The permutation test of the difference of two means (Fisher 1935; Pitman 1937): how often a
-- random division of the same runs into two sides differs as much. All divisions are tried if
-- there are at most 10,000, else 9,999 random ones and the one that was observed (Phipson and
-- Smyth 2010). The interval has the ratios r for which the runs of the base times r, and those of
-- the new side, pass the same test.

local noise = require "profio.internal.inference.noise"

local permutation = {}

local MOST <const> = 10000

-- The number of ways to choose k of n, up to more than MOST.
local function ways(n, k)
   local count = 1
   for i = 1, k do
      count = count * (n - k + i) // i
      if count > MOST * n then
         break
      end
   end
   return count
end

-- Returns all choices of k of n, as lists of indexes.
local function all_choices(n, k)
   local choices, chosen = {}, {}
   local function extend(from, count)
      if count == k then
         choices[#choices + 1] = table.move(chosen, 1, k, 1, {})
         return
      end
      for i = from, n - (k - count) + 1 do
         chosen[count + 1] = i
         extend(i + 1, count + 1)
      end
   end
   extend(1, 0)
   return choices
end

---Returns a generator of whole numbers from 1 to n: splitmix64 (Steele, Lea and Flood 2014), as
---math.random belongs to the user.
---@param seed integer
---@return fun(n: integer): integer
function permutation.generator(seed)
   local state = seed
   return function(n)
      state = state + 0x9e3779b97f4a7c15
      local z = (state ~ state >> 30) * 0xbf58476d1ce4e5b9
      z = (z ~ z >> 27) * 0x94d049bb133111eb
      return ((z ~ z >> 31) >> 11) % n + 1
   end
end

local function random_choices(n, k, random)
   local choices, pool = {}, {}
   for i = 1, n do
      pool[i] = i
   end
   for c = 1, MOST - 1 do
      for i = 1, k do
         local j = i - 1 + random(n - i + 1)
         pool[i], pool[j] = pool[j], pool[i]
      end
      choices[c] = table.move(pool, 1, k, 1, {})
   end
   local observed = {}
   for i = 1, k do
      observed[i] = n - k + i
   end
   choices[MOST] = observed
   return choices
end

---Returns the divisions of the runs: which of all runs, base first, are the new side.
---@param n1 integer
---@param n2 integer
---@param seed integer
---@return integer[][] choices
---@return boolean is_exact
function permutation.choices(n1, n2, seed)
   if ways(n1 + n2, n2) <= MOST then
      return all_choices(n1 + n2, n2), true
   end
   return random_choices(n1 + n2, n2, permutation.generator(seed)), false
end

-- Returns for each choice the sums of the values of the base and of the new side in it.
local function sums_of(item, choices)
   local n1, of_base, of_new = #item.base, {}, {}
   for c, choice in ipairs(choices) do
      local base, new = 0.0, 0.0
      for _, i in ipairs(choice) do
         if i <= n1 then
            base = base + item.base[i]
         else
            new = new + item.new[i - n1]
         end
      end
      of_base[c], of_new[c] = base, new
   end
   return of_base, of_new
end

-- Returns a function from a ratio to the p of the runs of the base times it: the difference of the
-- means of a division is linear in the sum of its new side.
local function p_of_ratio(item, data, choices)
   local of_base, of_new = sums_of(item, choices)
   local n1, n2 = data.n1, data.n2
   return function(ratio)
      local mean = (ratio * n1 * item.before + n2 * item.after) / (n1 + n2)
      local observed = math.abs(item.after - mean) * (1 - 1e-9) - 1e-12 * mean
      local count = 0
      for c = 1, #choices do
         if math.abs((ratio * of_base[c] + of_new[c]) / n2 - mean) >= observed then
            count = count + 1
         end
      end
      return count / #choices
   end
end

local function bound(p_of, alpha, inside, outside)
   while outside > inside and p_of(outside) > alpha do
      inside, outside = outside, outside * 2
      if outside > 1e9 then
         return math.huge
      end
   end
   for _ = 1, 30 do
      local middle = (inside + outside) / 2
      if p_of(middle) > alpha then
         inside = middle
      else
         outside = middle
      end
   end
   return (inside + outside) / 2
end

---Tests one function.
---@param item table { base, new, before, after }
---@param data table { alpha, n1, n2 }
---@param choices integer[][] permutation.choices
---@return table { p, low, high, df, noise, smallest }: as moderated.row
function permutation.row(item, data, choices)
   local p_of = p_of_ratio(item, data, choices)
   local squares = 0.0
   for _, side in ipairs { "base", "new" } do
      local mean = side == "base" and item.before or item.after
      for _, value in ipairs(item[side]) do
         squares = squares + (value - mean) ^ 2
      end
   end
   local df = data.n1 + data.n2 - 2
   local row = { p = p_of(1.0), df = df, smallest = (data.n1 == data.n2 and 2 or 1) / #choices,
      noise = noise.new(squares / df, 0.0, 0.0) }
   if item.before > 0 then
      local ratio = item.after / item.before
      row.low = ratio > 0 and bound(p_of, data.alpha, ratio, 0.0) or 0.0
      row.high = bound(p_of, data.alpha, ratio, math.max(2 * ratio, 1e-6))
   end
   return row
end

return permutation
