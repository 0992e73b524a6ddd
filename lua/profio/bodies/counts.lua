-- Which metric of a profile says how often something was counted.

local counts = {}

-- Metrics whose counts are exact: each call, each execution of a line. All others that count are
-- samples, of which the square root of the count is the standard error.
local is_exact = { calls = true, lines = true }

local function is_wanted(metric, takes_exact)
   return metric.unit == "count" and (takes_exact or not is_exact[metric.name])
end

-- The metric itself where it counts, else the nearest one before it that does, else the first.
local function nearest(metrics, name, takes_exact)
   local found
   for _, metric in ipairs(metrics) do
      if is_wanted(metric, takes_exact) then
         found = metric.name
      end
      if metric.name == name and found then
         return found
      end
   end
   for _, metric in ipairs(metrics) do
      if is_wanted(metric, takes_exact) then
         return metric.name
      end
   end
   return nil
end

---The metric that counts the samples of another one, which may be that itself.
---@param metrics { name: string, unit: string }[] of the profile
---@param name string|nil of the other metric; nil: none
---@return string|nil name  nil: the profile has no samples, or its counts are exact
function counts.of_samples(metrics, name)
   return nearest(metrics, name, false)
end

---The metric that counts whatever another one measures: samples, else executions or calls.
---@param metrics { name: string, unit: string }[] of the profile
---@param name string|nil of the other metric; nil: none
---@return string|nil name  nil: the profile counts nothing
function counts.of(metrics, name)
   return nearest(metrics, name, false) or nearest(metrics, name, true)
end

return counts
