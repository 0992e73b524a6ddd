-- Estimates by how much whole runs, or a whole side, differ: the weighted median over functions of
-- their ratios to a reference (the median of ratios of Anders and Huber 2010, with weights, as
-- functions with few samples have inexact ratios). Functions whose own cost changes do not move it
-- while they are less than half of the weight.

local tests = require "profio.internal.inference.tests"

local run_scales = {}

-- Functions below this share of the total are merged until they have it: ratios of few samples
-- have few values, of which the median may be far from the mean.
local SMALLEST_SHARE <const> = 0.01

---Returns the weighted median: half of the weight is at most it, half at least.
---@param values number[]
---@param weights number[]
---@return number
function run_scales.weighted_median(values, weights)
   local order, total = {}, 0.0
   for i, weight in ipairs(weights) do
      order[i] = i
      total = total + weight
   end
   table.sort(order, function(a, b)
      return values[a] < values[b] or values[a] == values[b] and a < b
   end)
   local sum = 0.0
   for position, i in ipairs(order) do
      sum = sum + weights[i]
      if sum * 2 == total and order[position + 1] then
         return (values[i] + values[order[position + 1]]) / 2
      elseif sum * 2 >= total then
         return values[i]
      end
   end
   return 1.0
end

-- Returns lists of rows that were added up until each has the smallest share.
local function merged(rows)
   local total = 0.0
   for _, row in ipairs(rows) do
      for _, value in ipairs(row) do
         total = total + value
      end
   end
   local groups, group, weight = {}, nil, 0.0
   for _, row in ipairs(rows) do
      local sum = 0.0
      group = group or {}
      for j, value in ipairs(row) do
         group[j] = (group[j] or 0.0) + value
         sum = sum + value
      end
      weight = weight + sum
      if weight >= SMALLEST_SHARE * total then
         groups[#groups + 1] = group
         group, weight = nil, 0.0
      end
   end
   return groups
end

---Returns by how much each column is larger than the typical one, by the median over rows of their
---ratios to their means. The factors have the mean 1.
---@param rows number[][] a row for each function, with a column for each run or side
---@return number[] factors one for each column
function run_scales.factors(rows)
   local groups, columns = merged(rows), rows[1] and #rows[1] or 0
   local factors, sum = {}, 0.0
   for j = 1, columns do
      local ratios, weights = {}, {}
      for _, group in ipairs(groups) do
         local mean = 0.0
         for _, value in ipairs(group) do
            mean = mean + value / columns
         end
         if mean > 0 then
            ratios[#ratios + 1], weights[#weights + 1] = group[j] / mean, mean
         end
      end
      factors[j] = run_scales.weighted_median(ratios, weights)
      sum = sum + factors[j] / columns
   end
   for j = 1, columns do
      factors[j] = sum > 0 and factors[j] > 0 and factors[j] / sum or 1.0
   end
   return factors
end

---Returns the factors of the runs of each side, and the variance of a factor within the sides: nan
---if no side has two runs.
---@param items table[] { base, new }: weights in each run
---@return { base: number[], new: number[] }
---@return number variance
function run_scales.of_sides(items)
   local factors, squares, df = {}, 0.0, 0
   for _, side in ipairs { "base", "new" } do
      local rows = {}
      for i, item in ipairs(items) do
         rows[i] = item[side]
      end
      factors[side] = run_scales.factors(rows)
      local _, side_squares, count = tests.moments(factors[side])
      squares, df = squares + side_squares, df + count - 1
   end
   return factors, squares / df
end

return run_scales
