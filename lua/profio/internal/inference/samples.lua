-- The weights of functions as the tests want them: in samples where that is known, and divided by
-- what the runs are normalised by.

local tests = require "profio.internal.inference.tests"

local samples = {}

-- Returns the weights of a side that its runs are normalised by; nil for none.
local function reference(options, side)
   local wanted = options.normalise or "none"
   if wanted == "none" then
      return nil
   elseif wanted == "total" then
      return options.totals[side]
   end
   for _, item in ipairs(options.items) do
      if item.key == wanted then
         return item[side]
      end
   end
   error(("normalise: no function %s in these runs"):format(tostring(wanted)), 0)
end

-- Returns the factor by which each run of a side is divided: 1 on average over the base.
local function exposures(options, side)
   local weights, base = reference(options, side), reference(options, "base")
   local mean, result = base and tests.moments(base), {}
   for j = 1, #options.totals[side] do
      if weights and weights[j] <= 0 then
         error(("normalise: %s is 0 in run %d of the %s runs; choose another one, or none"):format(
            tostring(options.normalise), j, side), 0)
      end
      result[j] = weights and weights[j] / mean or 1.0
   end
   return result
end

local function sum(values)
   local total = 0.0
   for _, value in ipairs(values) do
      total = total + value
   end
   return total
end

-- Returns the ratio of variance and mean of numbers of samples that are divided by exposures.
local function scale_of_samples(base, new)
   local inverse = 0.0
   for _, exposures_of_side in ipairs { base, new } do
      for _, exposure in ipairs(exposures_of_side) do
         inverse = inverse + 1 / exposure
      end
   end
   return inverse / (#base + #new)
end

local function divided(values, factors, unit)
   local result = {}
   for j, value in ipairs(values) do
      result[j] = value / factors[j] / unit
   end
   return result
end

---Converts the weights of the items of `inference.compare`.
---@param options table
---@return table data { items, n1, n2, df, exposure1, exposure2, unit, has_unit, least_scale,
---is_shares, whole, alpha }; `whole` is the mean of all items together; an item is
---{ key, base, new, before, after, pooled, count1, count2 } in units of a sample (or of the
---weights, where `has_unit` is false): runs, their means, the mean of all, and sums, not normalised
function samples.of(options)
   local unit = options.period or 1.0
   local base, new = exposures(options, "base"), exposures(options, "new")
   local data = { items = {}, n1 = #base, n2 = #new, df = #base + #new - 2, unit = unit,
      exposure1 = sum(base), exposure2 = sum(new), alpha = options.alpha or 0.05,
      has_unit = options.counts == true or options.period ~= nil,
      is_shares = options.normalise == "total", whole = 0.0 }
   data.least_scale = data.has_unit and scale_of_samples(base, new) or 0.0
   for i, item in ipairs(options.items) do
      local of_base, of_new = divided(item.base, base, unit), divided(item.new, new, unit)
      local before, after = tests.moments(of_base), tests.moments(of_new)
      data.items[i] = { key = item.key, base = of_base, new = of_new, before = before,
         after = after, pooled = (data.n1 * before + data.n2 * after) / (data.n1 + data.n2),
         count1 = math.floor(sum(item.base) / unit + 0.5),
         count2 = math.floor(sum(item.new) / unit + 0.5) }
      data.whole = data.whole + data.items[i].pooled
   end
   return data
end

return samples
