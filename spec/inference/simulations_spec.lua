-- inference.compare on simulated runs: few false alarms without a difference, and planted ones
-- found. `make bench CASES=inference` has the long form. Seeds are fixed.
--
-- Extra: thousands of comparisons.
-- Unsanitized: it runs no C code.

local inference = require "profio.internal.inference"
local simulated_runs = require "spec.support.simulated_runs"

-- At most so many alarms of 5 % are a chance of about 1 in 1,000: mean and three deviations.
local function most_alarms(count)
   return 0.05 * count + 3 * math.sqrt(0.05 * 0.95 * count)
end

local function alarms_of(plan, count)
   local alarms = 0
   for _ = 1, count do
      alarms = alarms + (simulated_runs.alarms(inference.compare(simulated_runs.make(plan)))
         and 1 or 0)
   end
   return alarms
end

-- One function of 10 % of the samples, and 29 others.
local shares = { 0.1 }
for g = 2, 30 do
   shares[g] = 0.9 / 29
end

-- Returns how often the growth of the first function is found, and the mean of what the runs could
-- have shown.
local function found_of(growth, method)
   local found, detectable = 0, 0.0
   for _ = 1, 100 do
      local options = simulated_runs.make { functions = 30, base = 5, new = 5, samples = 1500,
         shares = shares, growth = { growth } }
      options.method = method
      local row = inference.compare(options).rows[1]
      found = found + (row.verdict == "slower" and 1 or 0)
      detectable = detectable + row.detectable / 100
   end
   return found, detectable
end

-- Returns how often the growth of a function is found in 60 comparisons of runs with 80 samples,
-- with each adjustment, and how often that of the whole is.
local function found_of_sixty(plan)
   local found = { weighted = 0, holm = 0, whole = 0 }
   for _ = 1, 60 do
      local options = simulated_runs.make(plan)
      for _, adjust in ipairs { "weighted", "holm" } do
         options.adjust = adjust
         local result = inference.compare(options)
         for number in pairs(plan.growth) do
            found[adjust] = found[adjust] + (result.rows[number].verdict == "slower" and 1 or 0)
         end
         found.whole = found.whole + (adjust == "holm" and result.whole.p <= 0.05 and 1 or 0)
      end
   end
   return found
end

describe("inference.compare, on simulated runs", function()
   before_each(function()
      math.randomseed(18)
   end)

   for _, functions in ipairs { 1, 3, 30 } do
      it("has few false alarms, functions: " .. functions, function()
         local alarms, count = 0, 0
         for _, noise in ipairs(simulated_runs.noises) do
            for _, drift in ipairs { 0.0, 0.1 } do
               for _, runs in ipairs { { 2, 2 }, { 5, 5 }, { 2, 10 } } do
                  alarms = alarms + alarms_of({ functions = functions, base = runs[1],
                     new = runs[2], samples = 1500, drift = drift, noise = noise }, 5)
                  count = count + 5
               end
            end
         end
         assert.is_true(alarms <= most_alarms(count), ("%d of %d"):format(alarms, count))
      end)
   end

   it("has few false alarms of many functions with few samples", function()
      assert.is_true(alarms_of({ functions = 400, base = 5, new = 5, samples = 1500,
         drift = 0.1 }, 4) <= 1)
   end)

   it("has few false alarms of runs with 80 samples", function()
      local alarms, count = 0, 0
      for _, functions in ipairs { 10, 30 } do
         for _, noise in ipairs(simulated_runs.noises) do
            for _, normalise in ipairs { "none", "total" } do
               for _ = 1, 40 do
                  local options = simulated_runs.make { functions = functions, base = 5, new = 5,
                     samples = 80, noise = noise }
                  options.normalise = normalise
                  alarms = alarms + (simulated_runs.alarms(inference.compare(options)) and 1 or 0)
                  count = count + 1
               end
            end
         end
      end
      assert.is_true(alarms <= most_alarms(count), ("%d of %d"):format(alarms, count))
   end)

   it("finds a large function in runs with 80 samples more often by weights", function()
      local found = found_of_sixty { functions = 30, base = 5, new = 5, samples = 80,
         noise = "differing", growth = { 1.75 } }
      local text = ("whole %d, holm %d, weighted %d"):format(found.whole, found.holm,
         found.weighted)
      assert.is_true(found.weighted >= found.holm + 6, text)
      assert.is_true(found.weighted > found.whole, text)
      found = found_of_sixty { functions = 30, base = 5, new = 5, samples = 1500,
         growth = { [30] = 1.9 } } -- the smallest one
      assert.is_true(math.abs(found.weighted - found.holm) <= 6, ("%d, %d"):format(found.holm,
         found.weighted))
   end)

   it("has few false alarms by weights of the noise that is the worst for them", function()
      for _, runs in ipairs { 2, 5 } do
         local alarms = alarms_of({ functions = 30, base = runs, new = runs, samples = 1500,
            noise = "differing" }, 150)
         assert.is_true(alarms <= most_alarms(150), alarms .. " of 150")
      end
   end)

   it("finds a growth of 25 %, and tells the smallest one that it finds", function()
      local found, detectable = found_of(1.25)
      assert.is_true(found >= 80, found .. " found")
      local more, less = found_of(1 + 1.2 * detectable), found_of(1 + 0.8 * detectable)
      assert.is_true(less < 80 and more > 80, ("%d, %d"):format(less, more))
      assert.is_true(found_of(1.25, "welch") < found)
   end)
end)
