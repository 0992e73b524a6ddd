-- Adjusts p values for the number of tests: `p.adjust` of R, and Holm's method with weights.

local adjust = {}

local EQUAL <const> = 0.75 -- part of the level that all tests share equally

-- Returns the indexes of the values, divided by the weights if there are any, in rising order.
local function order_of(p, weights)
   local order, keys = {}, {}
   for i = 1, #p do
      order[i], keys[i] = i, p[i] / (weights and weights[i] or 1)
   end
   table.sort(order, function(a, b)
      return keys[a] < keys[b] or keys[a] == keys[b] and a < b
   end)
   return order
end

---Adjusts for the probability of at least one false alarm (Holm 1979), for any dependence.
---@param p number[]
---@return number[]
function adjust.holm(p)
   local adjusted, largest = {}, 0.0
   for rank, i in ipairs(order_of(p)) do
      largest = math.max(largest, math.min((#p - rank + 1) * p[i], 1.0))
      adjusted[i] = largest
   end
   return adjusted
end

---Returns the weights of tests, whose mean is 1: three quarters of the level are divided into equal
---parts, a quarter by the sizes. So no test has less than three quarters of the level that it has
---without weights.
---@param sizes number[] not negative; known without the differences that are tested
---@return number[]
function adjust.weights(sizes)
   local sum, weights = 0.0, {}
   for _, size in ipairs(sizes) do
      sum = sum + size
   end
   for i, size in ipairs(sizes) do
      weights[i] = EQUAL + (1 - EQUAL) * (sum > 0 and #sizes * size / sum or 1.0)
   end
   return weights
end

---Adjusts for the probability of at least one false alarm with weights (Holm 1979, section 4), for
---any dependence.
---@param p number[]
---@param weights number[] above 0
---@return number[]
function adjust.weighted(p, weights)
   local adjusted, largest, order, left = {}, 0.0, order_of(p, weights), {}
   local sum = 0.0
   for rank = #order, 1, -1 do -- not by subtraction, which would leave errors of rounding
      sum = sum + weights[order[rank]]
      left[rank] = sum
   end
   for rank, i in ipairs(order) do
      largest = math.max(largest, math.min(left[rank] / weights[i] * p[i], 1.0))
      adjusted[i] = largest
   end
   return adjusted
end

---Adjusts for the expected share of false alarms among the alarms (Benjamini and Hochberg 1995).
---@param p number[]
---@return number[]
function adjust.bh(p)
   local adjusted, smallest, order = {}, 1.0, order_of(p)
   for rank = #p, 1, -1 do
      local i = order[rank]
      smallest = math.min(smallest, #p / rank * p[i])
      adjusted[i] = smallest
   end
   return adjusted
end

---Returns the number of tests that need an adjustment: tests of counts whose smallest possible p is
---too large for any alarm are left out, chosen before their results are known (Tarone 1990).
---@param smallest number[] smallest possible p of each test
---@param alpha number
---@return integer count at least 1
---@return number limit tests with a larger smallest possible p are left out
function adjust.testable(smallest, alpha)
   local sorted = table.move(smallest, 1, #smallest, 1, {})
   table.sort(sorted)
   local k = 1
   while k < #sorted and sorted[k + 1] <= alpha / k do
      k = k + 1
   end
   return k, alpha / k
end

return adjust
