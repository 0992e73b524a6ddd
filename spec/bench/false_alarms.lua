-- How often a comparison of runs without a difference has a verdict of a change, by the number of
-- functions, the noise, the drift of runs and their number: `make bench CASES=inference`.

local inference = require "profio.internal.inference"
local simulated_runs = require "spec.support.simulated_runs"

local false_alarms = {}

-- Numbers of functions, and of comparisons in each cell.
local sizes <const> = { { 1, 400 }, { 3, 400 }, { 10, 400 }, { 30, 300 }, { 300, 60 },
   { 3000, 6 } }
local runs <const> = { { 2, 2 }, { 3, 3 }, { 2, 10 }, { 5, 5 }, { 10, 10 } }

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

---Prints the false alarms of each case, of 100 comparisons of times, and of shares of the total.
function false_alarms.inference()
   for _, size in ipairs(sizes) do
      print_size(size[1], size[2])
   end
end

return false_alarms
