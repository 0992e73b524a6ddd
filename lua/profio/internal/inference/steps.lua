-- Finds steps in series of means, such as the weights of functions in versions of a program. The
-- steps are those of PELT (Killick, Fearnhead and Eckley 2012): the division of a series into
-- segments with the least sum of squares around their means, plus a penalty for each step. The
-- penalty of each series comes from permutations of what the steps leave, so that it needs no model
-- of the noise; README.md has the method.

local adjust = require "profio.internal.inference.adjust"
local distributions = require "profio.internal.inference.distributions"
local permutation = require "profio.internal.inference.permutation"

local steps = {}

local SEED <const> = 1
local FEWEST <const> = 5 -- points, below which nothing is tested
local LEAST <const> = 999 -- permutations
local LONG <const> = 2 -- points of a segment that are no outliers
local MOSTLY <const> = 0.8 -- part of the neighbours that are equal in a sparse series
local SOME <const> = 0.1 -- ... in a discrete one
local CONFIDENCE <const> = 0.95 -- of intervals
local ROUNDING <const> = 1e-9 -- relative difference that is none

steps.FEWEST = FEWEST

-- {====== Weights ======

-- Returns what all series have in common: of n points with the weights w their roots and inverse
-- roots, the sums of weights up to each point, the factor of a difference of a point from the one
-- before it, and that of the square of a partial sum.
local function frame_of(weights)
   local n, sum = #weights, 0.0
   local frame = { n = n, weights = weights, roots = {}, inverse = {}, sums = {}, pairs = {},
      part = {}, scale = {} }
   for i, weight in ipairs(weights) do
      sum = sum + weight
      local root = math.sqrt(weight)
      frame.roots[i], frame.inverse[i], frame.sums[i] = root, 1 / root, sum
   end
   for i = 1, n - 1 do
      frame.pairs[i + 1] = 1 / math.sqrt(1 / weights[i] + 1 / weights[i + 1])
      frame.part[i] = frame.sums[i] / sum
      frame.scale[i] = sum / (frame.sums[i] * (sum - frame.sums[i]))
   end
   frame.factor = math.pi / 2 / (n - 1) ^ 2 -- of the normal distribution
   return frame
end

-- }======

-- {====== PELT ======

-- Returns the first points of the segments after the first one, in order. `values` have the mean 0.
local function pelt(frame, values, penalty)
   local n, w, sums = frame.n, frame.sums, { [0] = 0.0 }
   local weights = frame.weights
   for i = 1, n do
      sums[i] = sums[i - 1] + weights[i] * values[i]
   end
   -- The sum of all squares is the same for all divisions, so a segment counts by the square of its
   -- sum only.
   local best, before, left = { [0] = -penalty }, {}, { 0 }
   for last = 1, n do
      local least, from, kept = math.huge, 0, {}
      local costs = {}
      for k, first in ipairs(left) do
         local sum = sums[last] - sums[first]
         local cost = best[first] - sum * sum / (w[last] - (w[first] or 0.0))
         costs[k] = cost
         if cost + penalty < least then
            least, from = cost + penalty, first
         end
      end
      best[last], before[last] = least, from
      for k, first in ipairs(left) do -- others are no start of the last segment of a longer series
         if costs[k] <= least then
            kept[#kept + 1] = first
         end
      end
      kept[#kept + 1] = last
      left = kept
   end
   local found, at = {}, before[n]
   while at > 0 do
      table.insert(found, 1, at + 1)
      at = before[at]
   end
   return found
end

-- }======

-- {====== One series ======

-- Returns the largest gain of a single step, divided by the noise, and the noise. The gain of a
-- step is by how much it lessens the sum of squares. `deviations` have the variance of a point of
-- weight 1; the i-th point has that of order[i]. The noise is this variance, from the mean absolute
-- difference of neighbours, in which a few steps count little.
local function statistic(frame, deviations, order, partial)
   local roots, inverse, pairs_of, n = frame.roots, frame.inverse, frame.pairs, frame.n
   local first = deviations[order[1]]
   local sum, previous, absolute = roots[1] * first, first * inverse[1], 0.0
   partial[1] = sum
   for i = 2, n do
      local deviation = deviations[order[i]]
      sum = sum + roots[i] * deviation
      partial[i] = sum
      local value = deviation * inverse[i]
      local difference = (value - previous) * pairs_of[i]
      absolute = absolute + (difference < 0 and -difference or difference)
      previous = value
   end
   local part, scale, most = frame.part, frame.scale, 0.0
   for i = 1, n - 1 do
      local difference = partial[i] - part[i] * sum
      local gain = difference * difference * scale[i]
      if gain > most then
         most = gain
      end
   end
   local noise = absolute * absolute * frame.factor
   return noise > 0 and most / noise or most > 0 and math.huge or 0.0, noise
end

-- Returns the kind of a series. Of a sparse one most neighbours are equal, so that the rest after
-- its steps would have no noise. Of a discrete one some are, as of a function that has few samples,
-- in some versions none: permutations of it have much larger statistics than those of others.
local function kind_of(values)
   local equal = 0
   for i = 2, #values do
      equal = equal + (values[i] == values[i - 1] and 1 or 0)
   end
   local part = equal / (#values - 1)
   return part >= MOSTLY and "sparse" or part >= SOME and "discrete" or "noisy"
end

-- Returns the values less their mean, or nil if they are all equal.
local function centred(frame, values)
   local sum, largest = 0.0, 0.0
   for i, value in ipairs(values) do
      sum = sum + frame.weights[i] * value
      largest = math.max(largest, math.abs(value))
   end
   local mean, list, is_equal = sum / frame.sums[frame.n], {}, true
   for i, value in ipairs(values) do
      list[i] = value - mean
      is_equal = is_equal and math.abs(list[i]) <= ROUNDING * largest
   end
   return not is_equal and list or nil
end

-- Calls f(from, to, mean) for each segment.
local function each_segment(frame, values, found, f)
   for k = 0, #found do
      local from, to = found[k] or 1, (found[k + 1] or frame.n + 1) - 1
      local sum, weight = 0.0, 0.0
      for i = from, to do
         sum, weight = sum + frame.weights[i] * values[i], weight + frame.weights[i]
      end
      f(from, to, sum / weight, weight)
   end
end

-- Sets the deviations of the points from their segments. A short segment may be of outliers, so its
-- points deviate from the segment beside it, as the noise of the series has them.
local function set_deviations(frame, values, found, deviations)
   local level, first = nil, {} -- points before the first segment that is long enough
   each_segment(frame, values, found, function(from, to, mean)
      level = to - from + 1 >= LONG and mean or level
      for i = from, to do
         if level then
            deviations[i] = (values[i] - level) * frame.roots[i]
         else
            first[#first + 1] = i
         end
      end
      for _, i in ipairs(level and first or {}) do
         deviations[i] = (values[i] - level) * frame.roots[i]
      end
      first = level and {} or first
   end)
end

-- Returns the state of the test of a series: what its points deviate from its steps, and the
-- statistic.
local function begun(frame, values, order)
   local list = centred(frame, values)
   local state = { values = list, p = 1.0, deviations = {} }
   if not list then
      return state
   end
   for i = 1, frame.n do
      state.deviations[i] = list[i] * frame.roots[i]
   end
   state.observed, state.noise = statistic(frame, state.deviations, order, {})
   state.kind = kind_of(list)
   if state.kind ~= "sparse" then
      set_deviations(frame, list, pelt(frame, list, 2 * math.log(frame.n) * state.noise),
         state.deviations)
   end
   return state
end

-- }======

-- {====== All series ======

-- Returns the statistics of permutations of each of the series, in falling order.
local function permuted(frame, states, count, random)
   local gains, order, partial, n = {}, {}, {}, frame.n
   for i = 1, n do
      order[i] = i
   end
   for _ = 1, count do
      for i = n, 2, -1 do
         local j = random(i)
         order[i], order[j] = order[j], order[i]
      end
      for _, state in ipairs(states) do
         gains[#gains + 1] = statistic(frame, state.deviations, order, partial)
      end
   end
   table.sort(gains, function(a, b)
      return a > b
   end)
   return gains
end

-- Returns the part of the permutations, and of the series itself, with at least its statistic.
local function p_of(state, gains)
   local low, high = 0, #gains -- so many are at least as large, so many at most
   local least = state.observed * (1 - ROUNDING)
   while low < high do
      local middle = (low + high + 1) // 2
      if gains[middle] >= least then
         low = middle
      else
         high = middle - 1
      end
   end
   return (low + 1) / (#gains + 1)
end

-- Sets p, adjusted p and the permutations of each series. Series with noise share the distribution
-- of their statistic, which has no unit (Tusher, Tibshirani and Chu 2001), and so do discrete ones;
-- sparse ones have their own.
local function judge(frame, states, alpha)
   local random = permutation.generator(SEED)
   local kinds, p = { noisy = {}, discrete = {}, sparse = {} }, {}
   for _, state in ipairs(states) do
      if state.values then
         table.insert(kinds[state.kind], state)
      end
   end
   local count = math.max(LEAST, math.ceil(1.25 * #states / alpha)) -- so that one alone is found
   for _, list in ipairs { kinds.noisy, kinds.discrete } do
      local shared = permuted(frame, list, math.ceil(count / math.max(#list, 1)), random)
      for _, state in ipairs(list) do
         state.gains, state.p = shared, p_of(state, shared)
      end
   end
   for _, state in ipairs(kinds.sparse) do
      state.gains = permuted(frame, { state }, math.ceil(count / #kinds.sparse), random)
      state.p = p_of(state, state.gains)
   end
   for i, state in ipairs(states) do
      p[i] = state.p
   end
   for i, adjusted in ipairs(adjust.bh(p)) do
      states[i].p_adjusted = adjusted
   end
end

-- Returns the penalty of a series with steps, in units of its noise: the statistic that so many
-- permutations exceed as the level allows.
local function penalty_of(state, level)
   local allowed = math.floor(level * (#state.gains + 1)) -- the series itself is one of them
   return state.gains[math.max(allowed, 1)]
end

-- }======

-- Returns the relative variance of a point of weight 1 around its segment, and its degrees of
-- freedom; segments of the mean 0 say nothing.
local function spread_of(frame, values, found)
   local sum, df = 0.0, 0
   each_segment(frame, values, found, function(from, to, mean)
      if mean ~= 0 then
         for i = from, to do
            sum = sum + frame.weights[i] * (values[i] / mean - 1) ^ 2
         end
         df = df + to - from
      end
   end)
   return df > 0 and sum / df or nil, df
end

-- Returns the steps of a series, whose segments are known.
local function described(frame, values, found)
   local list, last = {}, nil
   local spread, df = spread_of(frame, values, found)
   each_segment(frame, values, found, function(from, to, mean, weight)
      local segment = { from = from, to = to, mean = mean, weight = weight }
      if last then
         local step = { at = from, before = last, after = segment }
         if last.mean > 0 and mean > 0 then
            step.relative = mean / last.mean - 1
         end
         if step.relative and spread then
            local reach = distributions.t_quantile((1 - CONFIDENCE) / 2, df)
               * math.sqrt(spread * (1 / last.weight + 1 / weight))
            step.low = (1 + step.relative) * math.exp(-reach) - 1
            step.high = (1 + step.relative) * math.exp(reach) - 1
         end
         list[#list + 1] = step
      end
      last = segment
   end)
   return list
end

-- Returns by which part of the mean the last point differs from its segment, if its gain as a step
-- exceeds a limit; else nil.
local function last_alone(frame, values, found, limit)
   local n, from = frame.n, found[#found] or 1
   local sum, weight = 0.0, 0.0
   for i = from, n - 1 do
      sum, weight = sum + frame.weights[i] * values[i], weight + frame.weights[i]
   end
   if sum == 0 then
      return nil
   end
   local difference, last = values[n] - sum / weight, frame.weights[n]
   local gain = difference * difference * weight * last / (weight + last)
   return gain > limit and difference * weight / sum or nil
end

---A step of a series. Segments have the numbers of their first and last point, `from` and `to`, the
---mean and the sum of the weights.
---@class profio.Step
---@field at integer number of the first point after the step
---@field before { from: integer, to: integer, mean: number, weight: number }
---@field after { from: integer, to: integer, mean: number, weight: number }
---@field relative number|nil after / before - 1; nil: one of them is 0
---@field low number|nil its interval of confidence, 95 %; nil: no point tells the noise
---@field high number|nil

---Finds the steps of several series with the same points. If no series has a step, the probability
---that one is found in any of them is at most alpha; else the expected part of series without a
---step among those in which one is found is (Benjamini and Hochberg 1995).
---@param series number[][] means, not negative
---@param weights number[] of the points, such as numbers of runs, above 0
---@param alpha number
---@return { steps: profio.Step[], p_adjusted: number, last: number|nil }[] for each series; last:
---the relative difference of the last point alone, which is no step yet, if it stands out
function steps.find(series, weights, alpha)
   local frame, states, order, results, count = frame_of(weights), {}, {}, {}, 0
   if #weights < FEWEST then
      for k = 1, #series do
         results[k] = { steps = {}, p_adjusted = 1.0 }
      end
      return results
   end
   for i = 1, frame.n do
      order[i] = i
   end
   for k, values in ipairs(series) do
      states[k] = begun(frame, values, order)
   end
   judge(frame, states, alpha)
   for _, state in ipairs(states) do
      count = count + (state.p_adjusted <= alpha and 1 or 0)
   end
   local universal = 2 * math.log(frame.n * #states)
   for k, state in ipairs(states) do
      local found = {}
      if state.p_adjusted <= alpha then
         found = pelt(frame, state.values, penalty_of(state, alpha * count / #states) * state.noise)
      end
      results[k] = { steps = described(frame, series[k], found), p_adjusted = state.p_adjusted,
         last = state.values and last_alone(frame, series[k], found, universal * state.noise) }
   end
   return results
end

return steps
