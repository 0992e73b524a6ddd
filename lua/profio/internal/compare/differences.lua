-- The difference of the mean profiles of both sides of a comparison, for exports.

local differences = {}

-- Returns the mean of the profiles of runs.
local function mean_of(runs)
   local sum = runs[1].profile
   for i = 2, #runs do
      sum = sum + runs[i].profile
   end
   return #runs > 1 and sum:scale(1 / #runs) or sum
end

local function mean(weights)
   local sum = 0
   for _, weight in ipairs(weights) do
      sum = sum + weight
   end
   return sum / #weights
end

-- Returns the weight by which the runs of a side are normalised: of the whole, or of one function.
local function unit_of(runs, items, normalise, side)
   if normalise == "total" then
      local wholes = {}
      for i, run in ipairs(runs[side]) do
         wholes[i] = run.whole
      end
      return mean(wholes)
   end
   for _, item in ipairs(items) do
      if item.key == normalise then
         return mean(item.self[side])
      end
   end
end

---Returns mean of the new runs - mean of the base. With option normalise the new mean is scaled.
---@param runs { base: profio.WeighedRun[], new: profio.WeighedRun[] } with their profiles
---@param items profio.ComparedItem[]
---@param options table of profio.compare
---@return profio.Profile
function differences.of(runs, items, options)
   local new, base = mean_of(runs.new), mean_of(runs.base)
   if options.normalise ~= "none" then
      local before = unit_of(runs, items, options.normalise, "base")
      local after = unit_of(runs, items, options.normalise, "new")
      if before <= 0 or after <= 0 then
         error(("difference: %s has no cost on one side"):format(options.normalise), 0)
      end
      new = new:scale(before / after)
   end
   return new - base
end

return differences
