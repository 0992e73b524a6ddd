-- The change of the whole: of the totals of the runs, and of the typical function. A slower machine
-- changes both alike, a function that changed the totals only.

local distributions = require "profio.internal.inference.distributions"
local noise = require "profio.internal.inference.noise"
local run_scales = require "profio.internal.inference.run_scales"
local tests = require "profio.internal.inference.tests"

local whole = {}

-- Returns the noise of the total of a run: its variance grows as the square of the mean.
local function noise_of(base, new, df)
   local before, squares1 = tests.moments(base)
   local after, squares2 = tests.moments(new)
   local relative = (squares1 / before ^ 2 + squares2 / after ^ 2) / df
   return noise.new(0.0, 0.0, relative)
end

-- Returns the test of the totals and the bounds of their ratio.
local function tested(base, new, data)
   local before, squares1, n1 = tests.moments(base)
   local after, squares2, n2 = tests.moments(new)
   if n1 > 1 and n2 > 1 then
      local result = tests.welch(base, new, data.alpha)
      local low, high = tests.ratio_interval(before, math.sqrt(squares1 / (n1 - 1) / n1), after,
         math.sqrt(squares2 / (n2 - 1) / n2),
         distributions.t_quantile(data.alpha / 2, result.df))
      return result.p, low, high
   elseif data.has_unit then
      local result = tests.poisson(math.floor(before * n1 / data.unit + 0.5),
         math.floor(after * n2 / data.unit + 0.5), n1, n2, data.alpha)
      return result.p, result.low, result.high
   end
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
      local p, low, high = tested(base, new, data)
      result.p, result.low, result.high = p, low and low - 1, high and high - 1
      if math.min(#base, #new) > 1 and before > 0 and after > 0 then
         return result, { noise = noise_of(base, new, data.df), df = data.df, smallest = 0.0 }
      end
   end
   return result
end

return whole
