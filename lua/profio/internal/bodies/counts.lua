-- Finds the metric of a profile that counts samples or executions, and totals of metrics.

local counts = {}

-- Metrics with exact counts: each call, each execution of a line. All other counts are samples,
-- whose standard error is the square root of the count.
local exact = { calls = true, lines = true }

local function is_wanted(metric, takes_exact)
   return metric.unit == "count" and (takes_exact or not exact[metric.name])
end

---Returns whether a metric counts each call or each execution of a line, without noise.
---@param metric { name: string, unit: string }
---@return boolean
function counts.is_exact(metric)
   return metric.unit == "count" and exact[metric.name] == true
end

---Returns whether values of a metric are shown with its name in place of a unit.
---@param metric { name: string, unit: string }
---@return boolean
function counts.is_counted(metric)
   return metric.unit == "count" or metric.unit == "events" or metric.unit == ""
end

-- Returns the metric itself if it counts, else the nearest counting one before it, else the first.
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

---Returns the metric that counts the samples of a metric; it may be the metric itself.
---@param metrics { name: string, unit: string }[] of the profile
---@param name string|nil the other metric; nil: none
---@return string|nil name  nil: the profile has no samples, or its counts are exact
function counts.of_samples(metrics, name)
   return nearest(metrics, name, false)
end

---Returns the metric that counts the samples, else the executions or calls, of a metric.
---@param metrics { name: string, unit: string }[] of the profile
---@param name string|nil the other metric; nil: none
---@return string|nil name  nil: the profile counts nothing
function counts.of(metrics, name)
   return nearest(metrics, name, false) or nearest(metrics, name, true)
end

---Returns the total of one metric; 0 without metrics. Raises if no metric has the name.
---@param body table of a profile
---@param metric string|nil default: the metric that views show
---@return integer
function counts.whole(body, metric)
   local wanted = metric or body:usual()
   for _, known in ipairs(body:metrics()) do
      if known.name == wanted then
         return known.total
      end
   end
   if metric then
      error(("no metric '%s'"):format(metric), 3)
   end
   return 0
end

return counts
