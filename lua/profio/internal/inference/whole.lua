-- The change of the whole: of the totals of the runs, and of the typical function. A slower machine
-- changes both alike, a function that changed the totals only.

local distributions = require "profio.internal.inference.distributions"
local noise = require "profio.internal.inference.noise"
local run_scales = require "profio.internal.inference.run_scales"
local tests = require "profio.internal.inference.tests"

local whole = {}

-- Returns the noise of the total of a run: its variance grows as the square of the mean, and is at
-- least that of samples.
local function noise_of(base, new, data)
   local before, squares1 = tests.moments(base)
   local after, squares2 = tests.moments(new)
   local relative = (squares1 / before ^ 2 + squares2 / after ^ 2) / data.df
   return noise.new(0.0, 0.0, relative, data.has_unit and data.unit or 0.0)
end

-- Returns the test of the totals by the differences between runs, and the bounds of their ratio;
-- nil for one run on a side.
local function by_runs(base, new, data)
   local before, squares1, n1 = tests.moments(base)
   local after, squares2, n2 = tests.moments(new)
   if n1 < 2 or n2 < 2 then
      return nil
   end
   local result = tests.welch(base, new, data.alpha)
   local low, high = tests.ratio_interval(before, math.sqrt(squares1 / (n1 - 1) / n1), after,
      math.sqrt(squares2 / (n2 - 1) / n2), distributions.t_quantile(data.alpha / 2, result.df))
   return { p = result.p, low = low, high = high }
end

-- Returns the same by the number of samples; nil if that is not known.
local function by_samples(base, new, data)
   return data.has_unit and tests.poisson(math.floor(tests.moments(base) * #base / data.unit + 0.5),
      math.floor(tests.moments(new) * #new / data.unit + 0.5), #base, #new, data.alpha) or nil
end

-- Returns the test of the totals and the bounds of their ratio. Runs may differ by chance less than
-- their numbers of samples do.
local function tested(base, new, data)
   local one, other = by_runs(base, new, data), by_samples(base, new, data)
   if not one or not other then
      return one or other or {}
   end
   return { p = math.max(one.p, other.p), low = math.min(one.low, other.low),
      high = math.max(one.high, other.high) }
end

-- How many times as much the typical function costs in the new side, and half of the width of the
-- interval of that, nil if no side has two runs.
local function scale_of(items, data)
   local rows = {}
   for i, item in ipairs(items) do
      rows[i] = { (tests.moments(item.base)), (tests.moments(item.new)) }
   end
   local factors = run_scales.factors(rows)
   local scale = #factors == 2 and factors[2] / factors[1] or 1.0
   if data.df == 0 then
      return scale
   end
   local _, variance = run_scales.of_sides(items)
   if data.has_unit and data.whole > 0 then -- a median of numbers of samples
      variance = math.max(variance, math.pi / 2 / data.whole)
   end
   return scale, scale * math.sqrt(variance * (1 / data.n1 + 1 / data.n2))
      * distributions.t_quantile(data.alpha / 2, data.df)
end

---Compares the whole of the runs, not normalised. Its p is a test of its own, which does not belong
---to those of the functions.
---@param options table of `inference.compare`
---@param data table samples.of
---@return table { before, after, change, relative, low, high, p, scale, scale_width }
---@return table|nil found { noise, df, smallest } as of moderated.row; nil for one run on a side
function whole.compare(options, data)
   local base, new = options.totals.base, options.totals.new
   local before, after = tests.moments(base), tests.moments(new)
   local result = { before = before, after = after, change = after - before,
      relative = before > 0 and (after - before) / before or nil }
   result.scale, result.scale_width = scale_of(options.items, data)
   if not options.exact then
      local found = tested(base, new, data)
      result.p, result.low = found.p, found.low and found.low - 1
      result.high = found.high and found.high - 1
      if math.min(#base, #new) > 1 and before > 0 and after > 0 then
         return result, { noise = noise_of(base, new, data), df = data.df, smallest = 0.0 }
      end
   end
   return result
end

return whole
