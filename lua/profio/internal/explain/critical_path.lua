-- The critical path of the slowest call: which lanes it waited for, in order of time. Called by
-- call_groups.lua.

local times = require "profio.internal.times"

local critical_path = {}

-- Adds a time to that of a function or lane, in a list ordered by first use. Returns the entry.
local function add(list, by_key, key, time)
   local entry = by_key[key]
   if not entry then
      entry = { key = key, elapsed = 0 }
      by_key[key], list[#list + 1] = entry, entry
   end
   entry.elapsed = entry.elapsed + time
   return entry
end

-- Returns the entry with the largest time; of equal ones the first.
local function longest(list)
   local best = list[1]
   for _, entry in ipairs(list) do
      best = entry.elapsed > best.elapsed and entry or best
   end
   return best
end

---Returns the path of the steps of a call (group `path` of csrc/kernels/explain/explain.h): one
---step for the time in which the path stays in a lane.
---@param steps table[] { start =, elapsed =, lane =, area = }; without an area nothing is known
---@param own any  the lane of the call itself
---@return table[] path  the same, `area` is the function that ran longest; empty if the path goes
---through no other lane
function critical_path.of(steps, own)
   local path, areas, by_key, has_others = {}, nil, nil, false
   for _, step in ipairs(steps) do
      local last = path[#path]
      if not last or last.lane ~= step.lane or (last.area == nil) ~= (step.area == nil) then
         last = { start = step.start, elapsed = 0, lane = step.lane, area = step.area }
         path[#path + 1], areas, by_key = last, {}, {}
      end
      last.elapsed = last.elapsed + step.elapsed
      has_others = has_others or step.area ~= nil and step.lane ~= own
      if step.area then
         add(areas, by_key, step.area, step.elapsed)
         last.area = longest(areas).key
      end
   end
   return has_others and path or {}
end

-- Returns the times of the lanes of the steps, the longest first, each with those of its functions,
-- and the time without a function.
local function by_lane(steps)
   local list, by_key, unknown = {}, {}, 0
   for _, step in ipairs(steps) do
      if step.area then
         local entry = add(list, by_key, tostring(step.lane or "?"), step.elapsed) -- ?: no lane
         entry.areas, entry.by_area = entry.areas or {}, entry.by_area or {}
         add(entry.areas, entry.by_area, step.area, step.elapsed)
      else
         unknown = unknown + step.elapsed
      end
   end
   table.sort(list, function(a, b)
      if a.elapsed ~= b.elapsed then
         return a.elapsed > b.elapsed
      end
      return a.key < b.key
   end)
   return list, unknown
end

local LANES = 5 -- that a sentence names

---Returns the sentence of a path that goes through other lanes.
---@param steps table[] as of critical_path.of
---@param elapsed integer time of the call, in ns
---@return string
function critical_path.sentence(steps, elapsed)
   local unit, texts, rest = times.unit(elapsed), {}, 0
   local list, unknown = by_lane(steps)
   for i, entry in ipairs(list) do
      if i <= LANES then
         texts[i] = ("%s in %s (mostly %s)"):format(times.show(entry.elapsed, unit), entry.key,
            longest(entry.areas).key)
      else
         rest = rest + entry.elapsed
      end
   end
   if rest > 0 then
      texts[#texts + 1] = ("%s in %d more %s"):format(times.show(rest, unit), #list - LANES,
         #list - LANES == 1 and "lane" or "lanes")
   end
   if unknown > 0 then
      texts[#texts + 1] = ("%s in which nothing is known to have run"):format(
         times.show(unknown, unit))
   end
   return ("The slowest call took %s. On its critical path are %s."):format(
      times.show(elapsed, unit), table.concat(texts, ", "))
end

return critical_path
