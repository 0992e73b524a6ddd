-- On which core each lane of a timeline runs, from column `core` of the events.

local conditions = require "profio.internal.conditions"
local data = require "profio.exports.html.profile_data"
local lanes = require "profio.exports.lanes"

local lane_cores = {}

local INTERVALS = 500 -- of lanes that run on several cores

-- Returns the events of lanes whose core is known.
local function known(trace, given)
   return lanes.events(trace, given, given.from, given.to)
      :where { core = conditions.between(0) }
end

-- Returns the changes of core of lanes, { starts =, cores = } by lane: the first core in each
-- interval, and further ones where the lane first runs on them.
local function changes_of(rows, first, length)
   local found = {}
   local bucket = ("bucket(time, %d)"):format(length // INTERVALS + 1)
   for row in rows:group("lane", "core", bucket):aggregate { "start = min(time)" }:sort "start"
      :records()
   do
      local one = found[row.lane] or { starts = {}, cores = {} }
      found[row.lane] = one
      if one.cores[#one.cores] ~= row.core then
         one.starts[#one.starts + 1] = math.max(row.start - first, 0)
         one.cores[#one.cores + 1] = row.core
      end
   end
   return found
end

---Returns the cores of lanes as members of the tracks of a page, by lane: "core", or "core_start"
---and "core_at" if a lane runs on several. Empty if each core has one lane.
---@param trace profio.Trace
---@param given table from, to, lane
---@param first integer ns
---@param length integer ns
---@return table<any, string>
---@return boolean has_cores cores are known
function lane_cores.of(trace, given, first, length)
   local texts, cores, moving = {}, {}, {}
   if not lanes.has_column(trace, "core") or not lanes.has_column(trace, "lane") then
      return texts, false
   end
   local rows, has_several = known(trace, given), false
   for lane, core in rows:group("lane", "core"):aggregate { "n = count" }:each("lane", "core") do
      if lane ~= nil then
         has_several = has_several or cores[core] ~= nil
         cores[core] = lane
         moving[#moving + 1] = texts[lane] and lane or nil
         texts[lane] = (',"core":%d'):format(core)
      end
   end
   if #moving > 0 then
      for lane, one in pairs(changes_of(rows:where { lane = moving }, first, length)) do
         texts[lane] = (',"core_start":%s,"core_at":%s'):format(
            data.numbers(one.starts, #one.starts), data.numbers(one.cores, #one.cores))
      end
   end
   return (has_several or #moving > 0) and texts or {}, next(cores) ~= nil
end

return lane_cores
