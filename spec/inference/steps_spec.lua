-- Steps in series of means: false alarms of series without a step, planted steps, and few points.
-- The series are simulated, so that the truth is known.
--
-- Tags: user.
-- Long: simulations.
-- Unsanitized: Lua alone.

local steps = require "profio.internal.inference.steps"

local ALPHA <const> = 0.02

local function normal()
   return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
end

-- Noise of a mean of a version, relative.
local noises = {
   normal = function() return normal() end,
   heavy = function() -- Student's t with 3 degrees of freedom
      return normal() / math.sqrt((normal() ^ 2 + normal() ^ 2 + normal() ^ 2) / 3)
   end,
   skewed = function() return math.exp(0.8 * normal()) end,
}

-- Returns a series of n means around 100 with the factor of each version.
local function series_of(n, noise, size, factor_of)
   local values = {}
   for i = 1, n do
      values[i] = 100 * (factor_of and factor_of(i) or 1.0) * math.max(0.0, 1 + size * noise())
   end
   return values
end

local function weights_of(n, weight)
   local weights = {}
   for i = 1, n do
      weights[i] = weight or 40
   end
   return weights
end

-- Returns the places of the steps of a series.
local function places(values, weights)
   local list = {}
   for i, step in ipairs(steps.find({ values }, weights or weights_of(#values), ALPHA)[1].steps) do
      list[i] = step.at
   end
   return list
end

describe("series without a step", function()
   it("have one in at most 5 % of 200 of 60 versions, and of 400 of 5 and 15, for each noise",
      function()
         math.randomseed(1)
         for _, name in ipairs { "normal", "heavy", "skewed" } do
            local alarms = { 0, 0 }
            for i, n in ipairs { 60, 5, 15 } do
               local k = math.min(i, 2)
               for _ = 1, 200 do
                  alarms[k] = alarms[k] + (places(series_of(n, noises[name], 0.05))[1] and 1 or 0)
               end
            end
            assert.is_true(alarms[1] <= 10, ("%s: %d of 200"):format(name, alarms[1]))
            assert.is_true(alarms[2] <= 20, ("%s: %d of 400"):format(name, alarms[2]))
         end
      end)

   it("have one in at most 5 % of 60 stores with 30 functions", function()
      math.randomseed(2)
      local alarms = 0
      for _ = 1, 60 do
         local list, has_any = {}, false
         for k = 1, 30 do
            list[k] = series_of(30, noises.heavy, 0.01)
         end
         for _, result in ipairs(steps.find(list, weights_of(30), ALPHA)) do
            has_any = has_any or result.steps[1] ~= nil
         end
         alarms = alarms + (has_any and 1 or 0)
      end
      assert.is_true(alarms <= 3, alarms .. " of 60")
   end)

   it("are found and have none also beside functions with few samples", function()
      math.randomseed(83)
      local function few_samples(n, mean) -- numbers of samples: Knuth's Poisson
         local values = {}
         for i = 1, n do
            local count, product = 0, math.random()
            while product > math.exp(-mean) do
               count, product = count + 1, product * math.random()
            end
            values[i] = count
         end
         return values
      end
      local found, false_alarms, stores = 0, 0, 60
      for _ = 1, stores do
         local n, at, list = 24, math.random(6, 18), {}
         for k = 1, 3 do
            list[k] = series_of(n, normal, 0.05, k == 1 and function(i)
               return i < at and 1.0 or 1.25
            end)
         end
         for k, mean in ipairs { 0.1, 0.3, 0.7, 1.5, 3 } do
            list[3 + k] = few_samples(n, mean)
         end
         for k, result in ipairs(steps.find(list, weights_of(n, 3), ALPHA)) do
            local step = result.steps[1]
            found = found + (k == 1 and step and math.abs(step.at - at) <= 1 and 1 or 0)
            false_alarms = false_alarms + (k > 1 and #result.steps > 0 and 1 or 0)
         end
      end
      assert.is_true(found >= 0.95 * stores, found)
      assert.is_true(false_alarms <= 0.05 * stores + 3, false_alarms)
   end)

   it("have none if all values are equal, or differ now and then only", function()
      assert.same({}, places(weights_of(20, 7.0)))
      local values = weights_of(60, 0.0)
      values[7], values[20], values[21], values[44] = 3.0, 5.0, 4.0, 3.0
      assert.same({}, places(values))
   end)
end)

describe("a planted step", function()
   it("of 20 % is found at its place among 60 functions, with 5 % of noise in 40 runs", function()
      math.randomseed(3)
      local found, right, inside, others, tries = 0, 0, 0, 0, 30
      for _ = 1, tries do
         local at, list = math.random(3, 59), {}
         for k = 1, 60 do
            list[k] = series_of(60, noises.normal, 0.05 / math.sqrt(40), k == 1 and function(i)
               return i < at and 1.0 or 1.2
            end)
         end
         local results = steps.find(list, weights_of(60), ALPHA)
         local step = results[1].steps[1]
         if step then
            found, right = found + 1, right + (math.abs(step.at - at) <= 1 and 1 or 0)
            inside = inside + (step.low <= 0.2 and step.high >= 0.2 and 1 or 0)
         end
         for k = 2, 60 do
            others = others + #results[k].steps
         end
      end
      assert.is_true(found >= 0.95 * tries, found .. " found")
      assert.is_true(right >= 0.9 * tries, right .. " at the right version or its neighbour")
      assert.is_true(inside >= 0.85 * tries, inside .. " intervals with the truth")
      assert.is_true(others <= 2, others .. " steps in other functions")
   end)

   it("and a second one are both found, also if the second one takes the first one back", function()
      math.randomseed(4)
      for _, last in ipairs { 1.0, 1.3 } do
         local list = places(series_of(60, noises.normal, 0.01, function(i)
            return i < 20 and 1.0 or i < 40 and 1.15 or last
         end))
         assert.same({ 20, 40 }, list)
      end
   end)

   it("has segments and a size", function()
      local values = { 10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.0, 12.0, 12.1, 11.9, 12.0, 12.1,
         11.9, 12.0, 12.0 }
      local step = steps.find({ values }, weights_of(16), ALPHA)[1].steps[1]
      assert.same({ 9, 1, 8, 320, 9, 16, 320 }, { step.at, step.before.from, step.before.to,
         math.tointeger(step.before.weight), step.after.from, step.after.to,
         math.tointeger(step.after.weight) })
      assert.is_true(math.abs(step.relative - 0.2) < 1e-9)
      -- by hand: 14 degrees of freedom, t = 2.1448; variance of 1 + value / mean
      local squares = 4 * (0.1 / 10) ^ 2 + 4 * (0.1 / 12) ^ 2
      local reach = 2.144787 * math.sqrt(squares / 14 * (1 / 8 + 1 / 8))
      assert.is_true(math.abs(step.high - (1.2 * math.exp(reach) - 1)) < 1e-6)
      assert.is_true(math.abs(step.low - (1.2 * math.exp(-reach) - 1)) < 1e-6)
   end)

   it("from 0 has no relative size", function()
      local step = steps.find({ { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 } },
         weights_of(20), ALPHA)[1].steps[1]
      assert.equal(11, step.at)
      assert.is_nil(step.relative)
   end)

   it("counts points by their weights", function()
      math.randomseed(5)
      local values, weights = {}, {}
      for i = 1, 40 do -- each second version has one run, whose noise is 10 times as large
         weights[i] = i % 2 == 0 and 1 or 100
         values[i] = (i < 25 and 100 or 104) * (1 + 0.05 * normal() / math.sqrt(weights[i]))
      end
      local found = places(values, weights)
      assert.equal(1, #found)
      assert.is_true(math.abs(found[1] - 25) <= 1)
      assert.same({}, places(values)) -- without them the noise hides it
   end)
end)

describe("a last point that differs alone", function()
   it("is no step, but is told", function()
      math.randomseed(6)
      local list = {}
      for k = 1, 50 do
         list[k] = series_of(30, noises.normal, 0.01)
      end
      assert.is_nil(steps.find(list, weights_of(30), ALPHA)[1].last)
      list[1][30] = 130.0
      local result = steps.find(list, weights_of(30), ALPHA)[1]
      assert.same({}, result.steps)
      assert.is_true(math.abs(result.last - 0.3) < 0.01)
   end)
end)

describe("fewer than 5 points", function()
   it("have no steps", function()
      assert.same({ { steps = {}, p_adjusted = 1.0 } }, steps.find({ { 1, 1, 9, 9 } },
         weights_of(4), ALPHA))
   end)
end)

describe("the results", function()
   it("repeat, and leave math.random alone", function()
      math.randomseed(7)
      local values = series_of(30, noises.heavy, 0.05, function(i)
         return i < 12 and 1.0 or 1.15
      end)
      math.randomseed(8)
      local first = steps.find({ values }, weights_of(30), ALPHA)
      local number = math.random()
      assert.same(first, steps.find({ values }, weights_of(30), ALPHA))
      math.randomseed(8)
      assert.equal(number, math.random())
   end)
end)
