-- How often a comparison of runs without a difference has a verdict of a change, by the number of
-- functions, the noise, the drift of runs and their number; and how often a planted change is
-- found: `make bench CASES=inference`.

local inference = require "profio.internal.inference"
local simulated_runs = require "spec.support.simulated_runs"

local false_alarms = {}

-- Numbers of functions, and of comparisons in each cell.
local sizes <const> = { { 1, 400 }, { 3, 400 }, { 10, 400 }, { 30, 300 }, { 300, 60 },
   { 3000, 6 } }
local runs <const> = { { 2, 2 }, { 3, 3 }, { 2, 10 }, { 5, 5 }, { 10, 10 } }

local COMPARISONS <const> = 400 -- for each line of power

-- Returns how many of some comparisons have an alarm, of the times and of the shares.
local function alarms_of(plan, count)
   local of_times, of_shares = 0, 0
   for _ = 1, count do
      local options = simulated_runs.make(plan)
      of_times = of_times + (simulated_runs.alarms(inference.compare(options)) and 1 or 0)
      options.normalise = "total"
      of_shares = of_shares + (simulated_runs.alarms(inference.compare(options)) and 1 or 0)
   end
   return of_times, of_shares
end

-- Prints the false alarms of each case of comparisons with so many functions.
local function print_size(functions, comparisons)
   local all, all_shares, count = 0, 0, 0
   math.randomseed(functions)
   for _, noise in ipairs(simulated_runs.noises) do
      for _, drift in ipairs { 0.0, 0.1 } do
         for _, sides in ipairs(runs) do
            local times, shares = alarms_of({ functions = functions, base = sides[1],
               new = sides[2], samples = 1500, drift = drift, noise = noise }, comparisons)
            all, all_shares, count = all + times, all_shares + shares, count + comparisons
            print(("%5d functions, %-9s drift %3.0f %%, %2d + %-2d runs: %5.1f %% %5.1f %%")
               :format(functions, noise, 100 * drift, sides[1], sides[2],
               100 * times / comparisons, 100 * shares / comparisons))
         end
      end
   end
   print(("%5d functions, all %d comparisons: %.2f %% %.2f %%"):format(functions, count,
      100 * all / count, 100 * all_shares / count))
end

-- 30 functions, of which one has 10 % of the samples.
local function shares_of_power()
   local shares = { 0.1 }
   for g = 2, 30 do
      shares[g] = 0.9 / 29
   end
   return shares
end

-- Returns in what percentage of comparisons the growth of a function of 10 % is found, and the mean
-- of the smallest change that the runs could have shown.
local function found_of(growth, sides, drift, options)
   local found, detectable = 0, 0.0
   for _ = 1, COMPARISONS do
      local given = simulated_runs.make { functions = 30, base = sides[1], new = sides[2],
         samples = 1500, shares = shares_of_power(), growth = { growth }, drift = drift }
      given.method, given.normalise = options.method, options.normalise
      local row = inference.compare(given).rows[1]
      found = found + (row.verdict == "slower" and 1 or 0)
      detectable = detectable + (row.detectable or 0) / COMPARISONS
   end
   return 100 * found / COMPARISONS, detectable
end

-- Prints how often a growth of 25 % is found, by several methods, and whether the smallest change
-- that is printed is the one that is found in 80 %.
local function print_power()
   math.randomseed(30)
   for _, case in ipairs { { "moderated", 0.0 }, { "welch", 0.0 }, { "moderated", 0.1 },
      { "moderated", 0.1, "total" } } do
      print(("growth of 25 %%, 5 + 5 runs, %-9s drift %2.0f %%%s: found in %.1f %%"):format(case[1],
         100 * case[2], case[3] and ", shares" or "", (found_of(1.25, { 5, 5 }, case[2],
         { method = case[1], normalise = case[3] }))))
   end
   for _, sides in ipairs { { 3, 3 }, { 5, 5 }, { 2, 10 }, { 10, 10 } } do
      local _, detectable = found_of(1.25, sides, 0.0, {})
      print(("smallest change of %2d + %-2d runs: %4.1f %% is printed; found are 0.8 times that in "
         .. "%.1f %%, that in %.1f %%, 1.2 times that in %.1f %%"):format(sides[1], sides[2],
         100 * detectable, (found_of(1 + 0.8 * detectable, sides, 0.0, {})),
         (found_of(1 + detectable, sides, 0.0, {})),
         (found_of(1 + 1.2 * detectable, sides, 0.0, {}))))
   end
end

---Prints the power, then the false alarms of each case, of comparisons of times, and of shares of
---the total.
function false_alarms.inference()
   print_power()
   for _, size in ipairs(sizes) do
      print_size(size[1], size[2])
   end
end

return false_alarms
