-- The two sides of a difference of profiles, for exports that show both.

local matching = require "profio.internal.bodies.matching"

local compared = {}

---Returns the contexts of a profile; for a difference those of both sides, as two metrics.
---@param profile profio.Profile
---@param metric string|nil
---@return profio.core.Contexts
---@return string|nil metric of the profile, or of the new side
---@return string|nil before the metric of the old side; nil: no difference
function compared.contexts(profile, metric)
   local new, old = profile:compared()
   if not new then
      return profile:contexts(), metric, nil
   end
   local a, b = matching.align(new:contexts(), old:contexts(), new:kind() ~= "contexts")
   metric = metric or new:usual_metric()
   local both = assert(a:pick(metric, metric)):merge(assert(b:pick(metric, "before")))
   return assert(both), metric, "before"
end

return compared
