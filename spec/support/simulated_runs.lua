-- Runs of programs that do not exist: numbers of samples of functions, with Poisson noise, drift of
-- whole runs and noise of functions, for the checks of profio.internal.inference.

local simulated_runs = {}

local random = math.random

local function normal()
   return math.sqrt(-2 * math.log(1 - random())) * math.cos(2 * math.pi * random())
end

-- Poisson numbers: products of uniform ones, and above 30 PTRS (Hoermann 1993).
local function poisson(mean)
   if mean < 30 then
      local limit, count, product = math.exp(-mean), 0, random()
      while product > limit do
         count, product = count + 1, product * random()
      end
      return count
   end
   local b = 0.931 + 2.53 * math.sqrt(mean)
   local a = -0.059 + 0.02483 * b
   while true do
      local u, v = random() - 0.5, random()
      local us = 0.5 - math.abs(u)
      local k = math.floor((2 * a / us + b) * u + mean + 0.43)
      if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2) then
         return k
      elseif k >= 0 and (us >= 0.013 or v <= us) then
         local log_factorial = 0.5 * math.log(2 * math.pi * (k + 1e-300)) + k * math.log(k + 1e-300)
            - k + 1 / (12 * (k + 1e-9))
         if math.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / us ^ 2 + b))
            <= k * math.log(mean) - mean - log_factorial then
            return k
         end
      end
   end
end

-- Factors of the mean of a function in one run, beside the noise of samples. `own` is a number of
-- the function between 0 and 1.
local noises = {
   poisson = function() return 1.0 end,
   heavy = function() -- Student's t with 3 degrees of freedom, 10 %
      local chi = normal() ^ 2 + normal() ^ 2 + normal() ^ 2
      return math.max(0.05, 1 + 0.1 * normal() / math.sqrt(chi / 3))
   end,
   bursts = function() -- a run of 30 in which it costs four times as much
      return random() < 1 / 30 and 4.0 or 1.0
   end,
   differing = function(own) -- each function has its own noise, up to 20 %
      return math.exp(0.2 * own * normal())
   end,
}

simulated_runs.noises = { "poisson", "heavy", "bursts", "differing" }

---Returns options of `inference.compare` for runs without a difference, but for planted ones.
---@param plan table functions, base and new (numbers of runs), samples (of a run, all functions),
---drift (coefficient of variation of whole runs), noise (of `noises`), shares (of the functions;
---falling like 1/rank), growth (the factor of functions in the new side, by number)
---@return table
function simulated_runs.make(plan)
   local shares, sum, own = {}, 0.0, {}
   for g = 1, plan.functions do
      shares[g] = plan.shares and plan.shares[g] or 1 / g
      sum, own[g] = sum + shares[g], random()
   end
   local options = { items = {}, totals = { base = {}, new = {} }, counts = true }
   for g = 1, plan.functions do
      options.items[g] = { key = g, base = {}, new = {} }
   end
   for _, side in ipairs { "base", "new" } do
      for j = 1, plan[side] do
         local run, total = math.exp((plan.drift or 0) * normal()), 0
         for g = 1, plan.functions do
            local growth = side == "new" and plan.growth and plan.growth[g] or 1.0
            local count = poisson(plan.samples * shares[g] / sum * run * growth
               * noises[plan.noise or "poisson"](own[g]))
            options.items[g][side][j], total = count, total + count
         end
         options.totals[side][j] = total
      end
   end
   return options
end

---Returns whether a comparison has a verdict of a change.
---@param result table of `inference.compare`
---@return boolean
function simulated_runs.alarms(result)
   for _, row in ipairs(result.rows) do
      if row.verdict ~= "unknown" and row.verdict ~= "unchanged" then
         return true
      end
   end
   return false
end

return simulated_runs
