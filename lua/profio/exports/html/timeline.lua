-- The timeline of a report: how busy each lane was, and its longest calls. However long a trace is,
-- it gives as much; it is read four times.

local core = require "profio.core"
local lanes = require "profio.exports.lanes"

local timeline = {}

local PIECES = 1000 -- that the time is cut into
local MOST_DEPTH = 24

-- The strips of all lanes: busy in per cent, by the title of the lane.
local function loads_of(trace, first, length)
   local found = {}
   local rows = core.load(trace.events:reader(), { from = first, to = first + math.max(length, 1),
      width = math.max(1, (length + PIECES - 1) // PIECES) })
   for _, row in ipairs(core.rows(rows, { "lane", "load_share" })) do
      local key = row.lane == nil and "" or row.lane
      found[key] = found[key] or {}
      table.insert(found[key], ("%d"):format(math.floor(100 * (row.load_share or 0) + 0.5)))
   end
   return found
end

-- Names as numbers, in the order of first sight.
local function numbered()
   local list, numbers = {}, {}
   return list, function(name)
      if not numbers[name] then
         list[#list + 1] = lanes.script(name)
         numbers[name] = #list - 1
      end
      return numbers[name]
   end
end

---What the page's program wants of the timeline, as members of a JSON object.
---@param out table of lanes.out
---@param trace profio.Trace
---@param most integer how many calls are drawn
---@return integer calls that there are
---@return integer drawn
function timeline.write(out, trace, most)
   local first, length = lanes.first(trace)
   local list, loads = lanes.of(trace), loads_of(trace, first, length)
   local rows, depths = {}, {}
   local names, number_of = numbered()
   local calls = trace:calls():where { depth = require("profio").between(1, MOST_DEPTH) }
   local longest = calls:derive { "length = stop - start" }:sort("-length"):limit(most)
   local number_of_lane = {}
   for number, lane in ipairs(list) do
      number_of_lane[lane.value or ""] = number
   end
   for _, call in ipairs(longest:rows("area", "lane", "start", "length", "depth")) do
      local lane = number_of_lane[call.lane == nil and "" or call.lane] or 1
      depths[lane] = math.max(depths[lane] or 0, call.depth)
      rows[#rows + 1] = ("[%d,%d,%d,%d,%d]"):format(lane - 1, call.depth, call.start - first,
         call.length, number_of(call.area or "?"))
   end
   out:write(('"length":%d,\n"lanes":['):format(length))
   for number, lane in ipairs(list) do
      out:write(("%s\n{\"name\":%s,\"depth\":%d,\"load\":[%s]}"):format(number > 1 and "," or "",
         lanes.script(lane.title), depths[number] or 0,
         table.concat(loads[lane.value or ""] or {}, ",")))
   end
   out:write("],\n\"names\":[", table.concat(names, ","), "],\n\"calls\":[",
      table.concat(rows, ",\n"), "]")
   return trace:calls():count(), #rows
end

return timeline
