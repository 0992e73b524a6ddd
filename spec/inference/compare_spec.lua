-- inference.compare: verdicts, normalisation, and what is not known.
--
-- Unsanitized: it runs no C code.

local adjust = require "profio.internal.inference.adjust"
local inference = require "profio.internal.inference"

-- Returns options for functions with the means, in 5 + 5 runs with a small noise of their own.
local function runs_of(base, new)
   local options = { items = {}, totals = { base = {}, new = {} }, counts = true }
   for g = 1, #base do
      local item = { key = "f" .. g, base = {}, new = {} }
      for j = 1, 5 do
         local noise = ((g * 7 + j * 3) % 5 - 2) * 2
         item.base[j] = math.max(base[g] > 0 and base[g] + noise or 0, 0)
         item.new[j] = math.max(new[g] > 0 and new[g] - noise or 0, 0)
         options.totals.base[j] = (options.totals.base[j] or 0) + item.base[j]
         options.totals.new[j] = (options.totals.new[j] or 0) + item.new[j]
      end
      options.items[g] = item
   end
   return options
end

local function verdicts(result)
   local list = {}
   for i, row in ipairs(result.rows) do
      list[i] = row.verdict
   end
   return table.concat(list, " ")
end

describe("inference.compare", function()
   it("needs no more runs for a change than those that show it", function()
      local options = runs_of({ 100, 200, 300, 90, 1000, 10 }, { 150, 130, 300, 80, 1000, 10 })
      for i, row in ipairs(inference.compare(options).rows) do
         options.wanted = row.detectable * 1.001
         assert.is_true(inference.compare(options).rows[i].runs_needed <= 5, row.key)
         options.wanted = row.detectable * 0.9
         assert.is_true(inference.compare(options).rows[i].runs_needed > 5, row.key)
      end
   end)

   it("says what changed", function()
      local result = inference.compare(runs_of({ 100, 200, 3000, 0, 90, 10000, 10 },
         { 150, 130, 3000, 80, 0, 10000, 10 }))
      assert.equal("slower faster unchanged new gone unchanged unknown", verdicts(result))
      local row = result.rows[1]
      assert.same({ "f1", 100, 150, 50, 0.5 },
         { row.key, row.before, row.after, row.change, row.relative })
      assert.is_true(row.low > 0.3 and row.low < 0.5 and row.high > 0.5 and row.high < 0.7)
      assert.is_nil(result.rows[4].relative)
   end)
end)

describe("inference.compare, runs that differ by less than their samples may", function()
   -- Returns the probability of at least (sign 1) or at most (sign -1) k of n, each with share p.
   local function tail(k, n, p, sign)
      local sum, term = 0.0, (1 - p) ^ n
      for i = 0, n do
         sum = sum + (((i - k) * sign >= 0) and term or 0)
         term = term * (n - i) / (i + 1) * p / (1 - p)
      end
      return sum
   end

   -- Returns the ratios of two Poisson rates at which so many samples of the new side, or fewer or
   -- more, have a probability of 2.5 %: with the sum given, they are binomial.
   local function exact_interval(base, new)
      local bounds = {}
      for i, sign in ipairs { 1, -1 } do
         local low, high = 1e-9, 1 - 1e-9
         for _ = 1, 100 do
            local middle = (low + high) / 2
            if (tail(new, base + new, middle, sign) > 0.025) == (sign > 0) then
               high = middle
            else
               low = middle
            end
         end
         bounds[i] = low / (1 - low)
      end
      return bounds[1], bounds[2]
   end

   local function comparison_of(base, new, more)
      local options = more or {}
      options.items = { { key = "f", base = base, new = new } }
      options.totals = { base = base, new = new }
      return inference.compare(options)
   end

   it("are not taken for certain", function()
      local low, high = exact_interval(20, 24)
      for _, method in ipairs { "moderated", "welch", "permutation" } do
         for _, unit in ipairs { 1, 1e7 } do
            local result = comparison_of({ 10 * unit, 10 * unit }, { 12 * unit, 12 * unit },
               { method = method, counts = unit == 1, period = unit > 1 and unit or nil })
            local row, whole = result.rows[1], result.whole
            assert.equal("unknown", row.verdict, method)
            assert.is_true(row.p > 0.5 and whole.p > 0.5)
            assert.is_true(row.low <= low - 1 + 1e-9 and row.high >= high - 1 - 1e-9)
            if method ~= "permutation" then
               assert.is_true(math.abs(row.low + 1 - low) + math.abs(row.high + 1 - high) < 1e-6)
            end
            assert.is_true(math.abs(whole.low + 1 - low) + math.abs(whole.high + 1 - high) < 1e-6)
            assert.is_true((row.detectable or 9) > 1 and whole.detectable > 1)
            assert.is_true(row.runs_needed > 100)
         end
      end
   end)

   it("are known if nothing says that their weights are samples", function()
      local row = comparison_of({ 10, 10.01 }, { 12, 12.01 }).rows[1]
      assert.equal("slower", row.verdict)
   end)

   it("are binomial if they are divided by the whole", function()
      local options = { normalise = "total", counts = true, items = {
         { key = "f", base = { 990, 990 }, new = { 970, 970 } },
         { key = "g", base = { 10, 10 }, new = { 30, 30 } } },
         totals = { base = { 1000, 1000 }, new = { 1000, 1000 } } }
      local rows = inference.compare(options).rows
      assert.same({ "faster", "slower" }, { rows[1].verdict, rows[2].verdict })
      options.items[1].new, options.items[2].new = { 987, 987 }, { 13, 13 }
      rows = inference.compare(options).rows
      assert.is_true(rows[1].p > 0.2 and rows[2].p > 0.2)
   end)
end)

describe("inference.compare, outliers", function()
   -- 40 functions in 10 + 2 runs. `bursts` of the base cost four times as much once; the first
   -- function does in both new runs.
   local function row_of(bursts)
      local options = { items = {}, totals = { base = {}, new = {} }, counts = true }
      for g = 1, 40 do
         local item = { key = "f" .. g, base = {}, new = {} }
         for j = 1, 12 do
            local side, k = j <= 10 and "base" or "new", j <= 10 and j or j - 10
            local is_far = g == 1 and side == "new"
               or g > 1 and g <= bursts + 1 and side == "base" and k == g % 10 + 1
            local weight = (100 + ((g * 7 + j * 3) % 5 - 2) * 4) * (is_far and 4 or 1)
            item[side][k] = weight
            options.totals[side][k] = (options.totals[side][k] or 0) + weight
         end
         options.items[g] = item
      end
      return inference.compare(options).rows[1]
   end

   it("does not take a side that may have nothing else for a change", function()
      local without, with = row_of(0), row_of(20)
      assert.equal("slower", without.verdict)
      assert.equal("unknown", with.verdict)
      -- 20 of 400 weights of the sides with at least three runs
      assert.is_true(math.abs(with.p - (20 / 400) ^ 2) < 1e-12)
   end)

   it("says that such runs show no change of this size, and that more runs do", function()
      local without, with = row_of(0), row_of(20)
      assert.is_true(without.detectable < 1)
      assert.is_true(with.detectable > 4, with.detectable)
      assert.is_true(with.runs_needed >= 3, with.runs_needed)
   end)
end)

describe("inference.compare, other methods", function()
   -- One function, of which all else is given.
   local function one(base, new, options)
      options = options or {}
      options.items = { { key = "f", base = base, new = new } }
      options.totals = { base = base, new = new }
      return inference.compare(options)
   end

   it("judges one run only if asked", function()
      local result = one({ 100 }, { 200 }, { counts = true })
      assert.equal("poisson", result.method)
      assert.equal("unknown", result.rows[1].verdict)
      assert.is_true(result.rows[1].p < 1e-6 and result.rows[1].low > 0.5)
      local row = one({ 100 }, { 200 }, { counts = true, single = true }).rows[1]
      assert.equal("slower", row.verdict)
      row = one({ 1e6 }, { 2e6 }, { period = 1e4, single = true }).rows[1]
      assert.equal("slower", row.verdict)
      row = one({ 100 }, { 200 }, { single = true }).rows[1]
      assert.same({ "unknown", nil, nil }, { row.verdict, row.p, row.low })
   end)

   it("takes each difference of exact counts as one", function()
      local function verdict(base, new)
         return one(base, new, { exact = true }).rows[1].verdict
      end
      assert.equal("slower", verdict({ 100 }, { 101 }))
      assert.equal("unchanged", verdict({ 100, 100 }, { 100 }))
      assert.equal("gone", verdict({ 7 }, { 0 }))
      assert.equal("new", verdict({ 0 }, { 7 }))
      assert.equal("unknown", verdict({ 5, 9 }, { 7, 7 }))
      assert.equal("faster", verdict({ 8, 9 }, { 7, 5 }))
   end)

   it("takes no error of rounding for a difference of normalised counts", function()
      -- Each function has the same share of each run: 1/2.
      local options = { exact = true, normalise = "total", items = {},
         totals = { base = { 2, 8, 12 }, new = { 4 } } }
      for i = 1, 2 do
         options.items[i] = { key = "f" .. i, base = { 1, 4, 6 }, new = { 2 } }
      end
      local result = inference.compare(options)
      assert.same({ "unchanged", "unchanged", 0 },
         { result.rows[1].verdict, result.rows[2].verdict, #result.notes })
      options.items[2].new, options.totals.new = { 3 }, { 5 }
      result = inference.compare(options)
      assert.same({ "faster", "slower" }, { result.rows[1].verdict, result.rows[2].verdict })
   end)

   it("says nothing of functions without samples, with each method", function()
      for _, method in ipairs { "moderated", "welch", "permutation", "poisson" } do
         local options = { items = {}, totals = { base = { 0, 0 }, new = { 0, 0 } }, counts = true,
            method = method }
         assert.same({}, inference.compare(options).rows)
         options.items[1] = { key = "f", base = { 0, 0 }, new = { 0, 0 } }
         local row = inference.compare(options).rows[1]
         assert.same({ "unknown", 1.0, 1.0 }, { row.verdict, row.p, row.p_adjusted })
         assert.is_nil(row.detectable)
      end
   end)

   it("permutes runs", function()
      local result = one({ 1, 2, 3, 4, 5 }, { 11, 12, 13, 14, 15 }, { method = "permutation" })
      assert.is_true(math.abs(result.rows[1].p - 2 / 252) < 1e-12)
      assert.equal("slower", result.rows[1].verdict)
      assert.is_true(result.rows[1].low > 0 and result.rows[1].high > result.rows[1].relative)
      local short = one({ 1, 2, 3 }, { 11, 12, 13 }, { method = "permutation" }).rows[1]
      assert.same({ "unknown", nil }, { short.verdict, short.detectable })
   end)

   it("keeps a slower machine apart from changes of shape", function()
      local options = runs_of({ 100, 200, 300, 400 }, { 110, 220, 330, 440 })
      local result = inference.compare(options)
      assert.is_true(math.abs(result.whole.scale - 1.1) < 1e-9)
      assert.is_true(math.abs(result.whole.relative - 0.1) < 1e-9)
      options.normalise = "total"
      for _, row in ipairs(inference.compare(options).rows) do
         assert.is_true(row.verdict == "unchanged" or row.verdict == "unknown")
         assert.is_true(math.abs(row.relative) < 0.01)
      end
      options.normalise = "f4"
      assert.equal(0, inference.compare(options).rows[4].relative)
      options.normalise = "f5"
      assert.has_error(function() inference.compare(options) end,
         "normalise: no function f5 in these runs")
   end)
end)

describe("Holm's method with weights", function()
   it("divides three quarters of the level equally, and a quarter by size", function()
      assert.same({ 0.9375, 1.3125, 0.75 }, adjust.weights { 1, 3, 0 })
      assert.same({ 1.0, 1.0 }, adjust.weights { 0, 0 })
      assert.same({}, adjust.weights {})
   end)

   it("is that of a few values by hand", function()
      -- p / weight: 0.005, 0.04, 0.06; the weights that are left: 3, 1, 0.5
      local adjusted = adjust.weighted({ 0.01, 0.02, 0.03 }, { 2, 0.5, 0.5 })
      for i, right in ipairs { 3 / 2 * 0.01, 1 / 0.5 * 0.02, 1 / 0.5 * 0.02 } do
         assert.is_true(math.abs(adjusted[i] - right) < 1e-15)
      end
      assert.same({ 1.0, 1.0 }, adjust.weighted({ 0.9, 0.8 }, { 1.5, 0.5 }))
   end)

   it("is Holm's method if the weights are equal", function()
      math.randomseed(3)
      local p, weights = {}, {}
      for i = 1, 50 do
         p[i], weights[i] = math.random() ^ 6, 1.0
      end
      assert.same(adjust.holm(p), adjust.weighted(p, weights))
   end)

   it("is the default of comparisons, by the mean of all runs", function()
      local options = runs_of({ 1000, 100, 20 }, { 1100, 100, 20 })
      local rows, p, sizes = inference.compare(options).rows, {}, {}
      for i, row in ipairs(rows) do
         p[i], sizes[i] = row.p, row.before + row.after
      end
      local right = adjust.weighted(p, adjust.weights(sizes))
      for i, row in ipairs(rows) do
         assert.is_true(math.abs(row.p_adjusted - right[i]) < 1e-12)
      end
      options.adjust = "holm"
      for i, row in ipairs(inference.compare(options).rows) do
         assert.equal(adjust.holm(p)[i], row.p_adjusted)
      end
   end)
end)
