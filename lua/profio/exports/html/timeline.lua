-- The timeline of a report: how busy each lane was, its longest calls, and the longest states of
-- each variable. The size of its output does not depend on the length of the trace. It reads the
-- trace a few times.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local view = require "profio.view"

---@class profio.exports.html.timeline
local timeline = { MOST_CALLS = 10000, MOST_LANES = 250 } -- drawn by default

local PIECES = 1000 -- intervals of time
local MOST_DEPTH = 24

-- Returns the load of all lanes in per cent for each interval, by the title of the lane.
local function loads_of(trace, given, first, length)
   local found = {}
   local rows = core.load(lanes.narrow(trace.events, given):reader(), { from = first,
      to = first + math.max(length, 1), width = math.max(1, (length + PIECES - 1) // PIECES) })
   for _, row in ipairs(core.rows(rows, { "lane", "load_share" })) do
      local key = row.lane == nil and "" or row.lane
      found[key] = found[key] or {}
      table.insert(found[key], ("%d"):format(math.floor(100 * (row.load_share or 0) + 0.5)))
   end
   return found
end

-- Dictionary encoding of names, with ids in order of first use.
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

-- Returns the longest calls and states, and how many there are of any duration.
local function longest_of(trace, given)
   local calls = lanes.without_variables(lanes.narrow(trace:calls { from = given.from,
      to = given.to }, given), true)
   local counted = core.limit(calls:reader())
   local rows = view.over(function()
      return counted
   end, trace):where { depth = conditions.between(1, MOST_DEPTH) }
      :derive { "length = stop - start" }:sort("-length"):limit(given.calls or timeline.MOST_CALLS)
      :rows("area", "lane", "start", "length", "depth", "class", "parent")
   return rows, core.passed(counted)
end

-- Returns the lanes of the page, those of variables last, and a function that returns the index
-- (from 1) of the lane of a call.
local function shown(list)
   local numbers = {}
   for number, lane in ipairs(list) do
      numbers[lane.value or ""] = number
   end
   local of_variables = {}
   return function(call)
      if not (call.class or ""):find "state$" then
         return numbers[call.lane == nil and "" or call.lane]
      end
      local variable = call.parent or call.area or "?"
      if not of_variables[variable] then
         list[#list + 1] = { title = variable .. " (states)" }
         of_variables[variable] = #list
      end
      return of_variables[variable]
   end
end

-- Returns the options with only these lanes selected.
local function only(given, list)
   local values = {}
   for _, lane in ipairs(list) do
      values[#values + 1] = lane.value
   end
   return setmetatable({ lane = values }, { __index = given })
end

---Writes the timeline for the page's script, as members of a JSON object.
---@param out table of lanes.out
---@param trace profio.Trace
---@param given table from, to, lane; calls, lanes: most that are drawn
---@return integer|nil calls in the lanes that are drawn; nil: there is no timeline
---@return integer|nil drawn
---@return string|nil note which lanes are drawn, if not all
function timeline.write(out, trace, given)
   local most = math.max(given.lanes or timeline.MOST_LANES, 1)
   local list, first, length, all = lanes.of(trace, given, most)
   if not list then
      return
   end
   local note = all > most and ("the %d lanes with most events of %d are drawn"):format(most, all)
   given = all > most and only(given, list) or given
   local loads = loads_of(trace, given, first, length)
   local longest, count = longest_of(trace, given)
   local rows, depths, lane_of = {}, {}, shown(list)
   local names, number_of = numbered()
   for _, call in ipairs(longest) do
      local lane = lane_of(call)
      depths[lane] = math.max(depths[lane] or 0, call.depth)
      rows[#rows + 1] = ("[%d,%d,%d,%d,%d]"):format(lane - 1, call.depth, call.start - first,
         call.length, number_of(call.area or "?"))
   end
   out:write((',\n"length":%d,\n"lanes":['):format(length))
   for number, lane in ipairs(list) do
      out:write(("%s\n{\"name\":%s,\"depth\":%d,\"load\":[%s]}"):format(number > 1 and "," or "",
         lanes.script(lane.title), depths[number] or 0,
         lane.kind and table.concat(loads[lane.value or ""] or {}, ",") or ""))
   end
   out:write("],\n\"names\":[", table.concat(names, ","), "],\n\"calls\":[",
      table.concat(rows, ",\n"), "]")
   return count, #rows, note or nil
end

return timeline
