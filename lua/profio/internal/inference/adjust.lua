-- Adjusts p values for the number of tests: `p.adjust` of R.

local adjust = {}

-- Returns the indexes of the values in rising order.
local function order_of(p)
   local order = {}
   for i = 1, #p do
      order[i] = i
   end
   table.sort(order, function(a, b)
      return p[a] < p[b] or p[a] == p[b] and a < b
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
