-- Compares two sides of runs: for each function whether it changed, how much, and what these runs
-- could have shown. README.md has the methods and their sources.

local adjust = require "profio.internal.inference.adjust"
local classic = require "profio.internal.inference.classic"
local moderated = require "profio.internal.inference.moderated"
local noise = require "profio.internal.inference.noise"
local permutation = require "profio.internal.inference.permutation"
local power = require "profio.internal.inference.power"
local samples = require "profio.internal.inference.samples"
local whole = require "profio.internal.inference.whole"

local inference = {}

local POWER <const> = 0.8    -- with which `detectable` and `runs_needed` are found
local MATTERS <const> = 0.05 -- relative change from which a function is not unchanged
local WANTED <const> = 0.02  -- relative change of `runs_needed`
local SEED <const> = 1
local ROUNDING <const> = 1e-9 -- relative difference that is none
local LEAST_LEFT <const> = 1e-6 -- part of a run that is taken as outside of any function

-- Each method: `fewest` runs of each side, and `prepare`, which returns a function from an item to
-- its test (moderated.row), and adds to the notes and the result.
local methods = {}

methods.moderated = { fewest = 2, prepare = function(data, result)
   local model = moderated.fit(data)
   result.dispersion = model.prior and model.prior.scale
   result.drift = math.sqrt(model.drift)
   if not model.prior and #data.items > 1 then
      result.notes[#result.notes + 1] = ("fewer than 5 rows (%d) have enough weight to learn the "
         .. "noise of all from, so each has the noise of its own runs"):format(model.learned)
   end
   return function(item)
      return moderated.row(item, data, model)
   end
end }

methods.welch = { fewest = 2, prepare = function(data)
   return function(item)
      return classic.welch(item, data)
   end
end }

methods.permutation = { fewest = 2, prepare = function(data, result)
   local choices, is_exact = permutation.choices(data.n1, data.n2, SEED)
   result.notes[#result.notes + 1] = is_exact
      and ("all %d divisions of the runs into two sides"):format(#choices)
      or ("%d random divisions of the runs into two sides"):format(#choices)
   return function(item)
      return permutation.row(item, data, choices)
   end
end }

methods.poisson = { fewest = 1, prepare = function(data, result)
   result.notes[#result.notes + 1] = data.has_unit
      and "the only noise that this test knows is that of samples, not that between runs"
      or "these weights are no numbers of samples, and the runs are too few: nothing is known of "
         .. "their noise"
   return data.has_unit and function(item)
      return classic.poisson(item, data)
   end or nil
end }

-- Samples are taken at random, so numbers of samples vary at least as those of Poisson, or binomial
-- ones if the whole is given, however little a few runs happen to differ. Widens the result of a
-- test that has found less noise.
local function at_least_samples(row, item, data)
   local left = data.is_shares and math.max(1 - item.pooled / data.whole, LEAST_LEFT) or 1.0
   local least = data.least_scale * left
   if noise.variance(row.noise, item.pooled) >= least * item.pooled then
      return row
   end
   local of_samples = classic.poisson({ count1 = math.floor(item.count1 / left + 0.5),
      count2 = math.floor(item.count2 / left + 0.5) }, data)
   row.p = math.max(row.p, of_samples.p)
   row.low = row.low and math.min(row.low, of_samples.low)
   row.high = row.high and math.max(row.high, of_samples.high)
   row.noise = noise.at_least(row.noise, least)
   return row
end

-- Sets the adjusted p values of rows that can be alarms, and the level of the test of each row.
local function set_adjusted(rows, items, data, options)
   local p, indexes, sizes, smallest = {}, {}, {}, {}
   for i, row in ipairs(rows) do
      smallest[i] = row.smallest
   end
   local count, limit = adjust.testable(smallest, data.alpha)
   for i, row in ipairs(rows) do
      row.p_adjusted, row.level = 1.0, data.alpha / count
      if row.smallest <= limit then
         p[#p + 1], indexes[#indexes + 1], sizes[#sizes + 1] = row.p, i, items[i].pooled
      end
   end
   local name = options.adjust or "weighted"
   local weights = name == "weighted" and adjust.weights(sizes) or nil
   for k, adjusted in ipairs(adjust[name](p, weights)) do
      local row = rows[indexes[k]]
      row.p_adjusted, row.level = adjusted, row.level * (weights and weights[k] or 1)
   end
end

-- Returns the test of each item, with adjusted p values.
local function tested(data, test, options)
   local rows = {}
   for i, item in ipairs(data.items) do
      rows[i] = at_least_samples(test(item), item, data)
      if math.abs(item.after - item.before) <= ROUNDING * item.pooled then
         rows[i].p = 1.0
      end
   end
   set_adjusted(rows, data.items, data, options)
   return rows
end

-- The verdict of a test that may judge.
local function verdict_of(item, row, data, matters)
   if row.p_adjusted <= data.alpha then
      return item.before == 0 and "new" or item.after == 0 and "gone"
         or item.after > item.before and "slower" or "faster"
   elseif row.low and row.low - 1 > -matters and row.high - 1 < matters then
      return "unchanged"
   end
   return "unknown"
end

-- Returns the row of a function that no test has seen.
local function untested(item, data)
   local change = item.after - item.before
   return { key = item.key, before = item.before * data.unit, after = item.after * data.unit,
      change = change * data.unit, relative = item.before > 0 and change / item.before or nil,
      verdict = "unknown" }
end

-- Adds what the runs could have shown, which is nothing if they are too few for a verdict.
-- `before`: the mean of the base as the variance takes it.
local function add_power(row, before, found, level, data, options, fewest)
   local test = { before = before, noise = found.noise, level = level, power = POWER,
      outliers = found.outliers }
   if before > 0 then
      row.detectable = fewest <= math.min(data.n1, data.n2) and found.smallest <= level
         and power.detectable(test, data.n1, data.n2, found.df) or nil
      local wanted = options.wanted_change and options.wanted_change / row.before
         or options.wanted or WANTED
      row.runs_needed = power.runs_needed(test, wanted, function(n)
         return data.df > 0 and found.df * (2 * n - 2) / data.df or math.huge
      end, fewest)
   end
end

local function compare_noisy(data, options, result)
   local name = options.method or (data.n1 > 1 and data.n2 > 1 and "moderated" or "poisson")
   local method = methods[name]
   if math.min(data.n1, data.n2) < method.fewest then
      error(("method %s needs %d runs on each side, got %d and %d"):format(name, method.fewest,
         data.n1, data.n2), 0)
   end
   result.method = name
   local test = method.prepare(data, result)
   local rows = test and tested(data, test, options) or {}
   local may_judge = options.single or math.min(data.n1, data.n2) > 1
   local all_df = {}
   for i, item in ipairs(data.items) do
      local row, found = untested(item, data), rows[i]
      result.rows[i] = row
      if found then
         all_df[i] = found.df
         row.p, row.p_adjusted = found.p, found.p_adjusted
         row.low, row.high = found.low and found.low - 1, found.high and found.high - 1
         row.verdict = may_judge and verdict_of(item, found, data, options.matters or MATTERS)
            or "unknown"
         add_power(row, item.before, found, found.level, data, options, may_judge
            and method.fewest or 2)
      end
   end
   table.sort(all_df)
   result.df = all_df[(#all_df + 1) // 2]
end

-- Returns the least and the largest value.
local function range(values)
   return math.min(table.unpack(values)), math.max(table.unpack(values))
end

-- Counts have no noise: runs of a side that differ are runs of different work. Counts that are
-- divided by what runs are normalised by have errors of rounding.
local function compare_exact(data, options, result)
   local differing, tolerance = 0, (options.normalise or "none") ~= "none" and ROUNDING or 0
   local function is_less(a, b)
      return b - a > tolerance * b
   end
   result.method = "exact"
   for i, item in ipairs(data.items) do
      local row = untested(item, data)
      local low1, high1 = range(item.base)
      local low2, high2 = range(item.new)
      differing = differing + ((is_less(low1, high1) or is_less(low2, high2)) and 1 or 0)
      if not is_less(math.min(low1, low2), math.max(high1, high2)) then
         row.verdict = "unchanged"
      elseif is_less(high1, low2) then
         row.verdict = high1 == 0 and "new" or "slower"
      elseif is_less(high2, low1) then
         row.verdict = high2 == 0 and "gone" or "faster"
      end
      result.rows[i] = row
   end
   if differing > 0 then
      result.notes[#result.notes + 1] = ("%d counts differ between runs of one side; a change is "
         .. "called so only if no run of one side is in the range of the other"):format(differing)
   end
end

---Compares the runs of two sides.
---@param options table
--- * `items`: list of { key, base = weights in each run, new = weights }, 0 where absent
--- * `totals`: { base, new }: the whole of each run
--- * `exact`: the weights are counts without noise
--- * `counts`: the weights are numbers of samples; `period`: weight of a sample
--- * `method`: "moderated", "welch", "permutation" or "poisson"; by default moderated for at least
---   two runs on each side, else poisson
--- * `adjust`: "weighted" (default), "holm" or "bh"; `alpha`: 0.05
--- * `normalise`: "none" (default), "total" or the key of an item: runs are divided by it
--- * `single`: judge by one run on a side
--- * `matters`: relative change below which a function is unchanged, 0.05
--- * `wanted`: relative change of `runs_needed`, 0.02; or `wanted_change`: a change of a weight
---@return table { rows, whole, method, df, dispersion, drift, notes }. A row is { key, before,
---after, change, relative, low, high, p, p_adjusted, verdict, detectable, runs_needed }: means of
---the runs, the interval (1 - alpha) of `relative`, high up to math.huge; nil is what is not known.
---`whole` is { before, after, change, relative, low, high, p, detectable, runs_needed, scale,
---scale_width }: the typical function costs scale times as much, give or take scale_width (nil for
---one run on each side). `df` is the median over the functions, `dispersion` the variance of a
---function in samples to its mean, `drift` the coefficient of variation of whole runs
function inference.compare(options)
   if #options.totals.base == 0 or #options.totals.new == 0 then
      error("compare: needs at least one run on each side", 0)
   end
   local data = samples.of(options)
   local result = { rows = {}, notes = {} }
   if options.exact then
      compare_exact(data, options, result)
   else
      compare_noisy(data, options, result)
   end
   local found
   result.whole, found = whole.compare(options, data)
   if found then
      add_power(result.whole, result.whole.before, found, data.alpha, data, options, 2)
   end
   return result
end

return inference
