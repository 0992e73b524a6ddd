-- The two sides of a difference of profiles, for exports that show both; and a note about rows
-- without a stack, for exports that leave them out.

local context_tree = require "profio.exports.context_tree"
local matching = require "profio.internal.bodies.matching"
local profile_parts = require "profio.internal.bodies.profile_parts"

local compared = {}

-- Returns contexts by function, or with the line in the name of each frame.
local function shown(contexts, has_lines)
   if not has_lines then
      return context_tree.by_function(contexts)
   end
   local named = {}
   for _, frame in ipairs(contexts:frames()) do
      named[frame.number] = frame.line and { ["function"] = ("%s:%d"):format(frame["function"],
         frame.line), file = frame.file, line = frame.line } or nil
   end
   return assert(contexts:rename(named, true))
end

---Returns the contexts of a profile; for a difference those of both sides, as two metrics. A
---function is one frame, or with `has_lines` each of its lines.
---@param profile profio.Profile
---@param metric string|nil
---@param has_lines boolean|nil
---@return profio.core.Contexts
---@return string|nil metric of the profile, or of the new side
---@return string|nil before the metric of the old side; nil: no difference
function compared.contexts(profile, metric, has_lines)
   local new, old = profile_parts.compared(profile)
   if not new then
      return shown(profile_parts.contexts(profile), has_lines), metric, nil
   end
   local a, b = matching.align(profile_parts.contexts(new), profile_parts.contexts(old),
      new:kind() ~= "contexts")
   metric = metric or new:usual_metric()
   local both = assert(a:pick(metric, metric)):merge(assert(b:pick(metric, "before")))
   return shown(assert(both), has_lines), metric, "before"
end

---Returns a note about the weight of rows without a stack, if they have any, for an export that
---leaves them out.
---@param profile profio.Profile
---@param given table metric
---@return string|nil note
function compared.unstacked_note(profile, given)
   local metric = given.metric or profile:usual_metric()
   local weight = metric and profile:kind() == "contexts"
      and profile_parts.contexts(profile):unstacked(metric)
   return weight and weight ~= 0
      and ("rows without a stack are left out: their %s is %d"):format(metric, weight) or nil
end

-- Returns the total of a metric of a profile; nil: the usual one.
local function total_of(profile, metric)
   for _, one in ipairs(profile:metrics()) do
      if one.name == (metric or profile:usual_metric()) then
         return one.total
      end
   end
   return 0
end

---Returns both sides of a difference for pictures in one scale; nil: the profile is no difference.
---@param profile profio.Profile
---@param metric string|nil
---@return { word: string, profile: profio.Profile, scale: number }[]|nil sides before and after;
---scale: its total, divided by the larger one
function compared.sides(profile, metric)
   local new, old = profile_parts.compared(profile)
   if not new then
      return nil
   end
   local before, after = total_of(old, metric), total_of(new, metric)
   local most = math.max(before, after, 1)
   return { { word = "before", profile = old, scale = before / most },
      { word = "after", profile = new, scale = after / most } }
end

return compared
