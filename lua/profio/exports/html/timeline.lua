-- The timeline of a report: of each lane and variable its longest calls and suspensions, and how
-- busy it was in intervals of equal length. Its size does not depend on the length of the trace.

local core = require "profio.core"
local data = require "profio.exports.html.profile_data"
local lane_cores = require "profio.exports.html.lane_cores"
local lanes = require "profio.exports.lanes"

---@class profio.exports.html.timeline
local timeline = { MOST_LANES = 250 } -- drawn by default

local MOST_VARIABLES = 60
local MOST_VALUES = 3000 -- of a variable: with more of them their ranges are drawn
local CALL_SIZE, INTERVAL_SIZE = 18, 12 -- bytes of JSON, about
local INTERVAL_PART = 0.3               -- of the size
local DISTRIBUTION_PART = 0.2

-- Returns the options with only these lanes selected.
local function only(given, list)
   local values = {}
   for _, lane in ipairs(list) do
      values[#values + 1] = lane.value
   end
   return setmetatable({ lane = values }, { __index = given })
end

-- Reads the events. `size` is the number of bytes that the timeline may take.
local function overview_of(trace, given, list, first, length, size)
   local tracks = #list + 1
   local each = size * INTERVAL_PART // (INTERVAL_SIZE * tracks) // 1 | 0
   local calls = math.max(size * (1 - INTERVAL_PART - DISTRIBUTION_PART) // CALL_SIZE // 1 | 0, 1)
   return core.overview(lanes.narrow(trace.events, given):reader(), { first = first,
      length = length, intervals = math.min(math.max(each, 40), 2000), all_calls = calls,
      most_calls = calls, most_pauses = math.max(calls // (4 * tracks), 10),
      most_variables = MOST_VARIABLES, most_values = MOST_VALUES,
      from = given.from, to = given.to })
end

-- Returns the title of a track.
local function title_of(track, titles)
   if track.kind == "lane" then
      local title = titles[track.value == nil and "" or track.value] or tostring(track.value)
      return track.run > 0 and ("%s (run %d)"):format(title, track.run + 1) or title
   end
   return track.variable
end

local members = { lane = { "start", "length", "depth", "frame" },
   states = { "start", "length", "frame" }, values = { "start", "value" } }

-- Writes the intervals of a track, which are needed where calls are left out.
local function put_intervals(out, overview, number, names)
   for _, name in ipairs(names) do
      out:write((',\n"%s":%s'):format(name, overview:intervals(number, name)))
   end
end

local function put_track(out, overview, track, number)
   out:write(('{"kind":"%s","name":%s,"calls":%d,"kept":%d,"pauses":%d%s'):format(track.kind,
      lanes.script(track.title), track.calls, track.kept, track.pauses, track.core or ""))
   if track.kind == "values" and track.kept < track.calls then
      put_intervals(out, overview, number, { "begun", "low", "high" })
      out:write "}"
      return
   end
   for _, name in ipairs(members[track.kind]) do
      out:write((',\n"%s":%s'):format(name, overview:column(number, "calls", name)))
   end
   if track.kind == "lane" and track.pauses > 0 then
      out:write((',\n"pause_start":%s,\n"pause_length":%s'):format(
         overview:column(number, "pauses", "start"), overview:column(number, "pauses", "length")))
   end
   if track.kept < track.calls then
      put_intervals(out, overview, number, { "busy", "top", "begun" })
   end
   out:write "}"
end

-- Writes the longest call of each function: [function, track, start, length, depth].
local function put_worst(out, overview, ids, places)
   local list = {}
   for frame, worst in ipairs(overview:worst()) do
      if worst and places[worst.track] then
         list[#list + 1] = ("[%d,%d,%d,%d,%d]"):format(ids[frame], places[worst.track], worst.start,
            worst.length, worst.depth)
      end
   end
   out:write(',\n"worst":[', table.concat(list, ",\n"), "]")
end

local DURATIONS = { "net", "gross", "period" }

-- Returns the median, p99 and maximum of the durations of each function, by its name.
local function quantiles_of(trace, given)
   local found, columns, aggregates = {}, { "area", "net" }, { "net = sum(net)" }
   for _, duration in ipairs(DURATIONS) do
      for _, statistic in ipairs { "p50", "p99", "max" } do
         columns[#columns + 1] = duration .. "_" .. statistic
         aggregates[#aggregates + 1] = ("%s_%s = %s(%s)"):format(duration, statistic, statistic,
            duration)
      end
   end
   local options = { from = given.from, to = given.to }
   local rows = given.lane == nil and trace:call_statistics(options)
      or lanes.narrow(trace:calls(options), given):group("area"):aggregate(aggregates)
   for row in rows:records(table.unpack(columns)) do
      found[row.area or "?"] = found[row.area or "?"] or row
   end
   return found
end

-- Returns the distribution of the durations of a function as a member of a list of JSON, or nil.
local function distribution_of(overview, frame, row, id)
   local parts = {}
   for _, duration in ipairs(DURATIONS) do
      local cells = overview:histogram(frame, duration)
      parts[#parts + 1] = cells and ('"%s":{"cells":%s,"p50":%d,"p99":%d,"max":%d}'):format(
         duration, cells, row[duration .. "_p50"], row[duration .. "_p99"],
         row[duration .. "_max"])
   end
   return #parts > 0 and ('{"function":%d,%s}'):format(id, table.concat(parts, ",")) or nil
end

-- Writes the distributions of the functions with most net time, as far as there is room (bytes):
-- of each duration cells of [least duration, count, track, start], p50, p99 and max.
local function put_distributions(out, overview, ids, quantiles, room)
   local frames, list = {}, {}
   for frame, name in ipairs(overview:frames()) do
      frames[#frames + 1] = quantiles[name] and { frame = frame, row = quantiles[name] } or nil
   end
   table.sort(frames, function(a, b)
      local x, y = a.row.net or 0, b.row.net or 0
      return x > y or x == y and a.frame < b.frame
   end)
   for _, one in ipairs(frames) do
      local text = distribution_of(overview, one.frame, one.row, ids[one.frame])
      room = room - #(text or "")
      if room < 0 then
         break
      end
      list[#list + 1] = text
   end
   out:write(',\n"distributions":[', table.concat(list, ",\n"), "]")
end

-- Returns the tracks of lanes in the order of `list`, then those of variables by name; and how many
-- variables are left out.
local function ordered(overview, list)
   local titles, ranks, found, left = {}, {}, {}, 0
   for rank, lane in ipairs(list) do
      titles[lane.value == nil and "" or lane.value] = lane.title
      ranks[lane.title] = rank
   end
   for number, track in ipairs(overview:tracks()) do
      if track.is_left_out then
         left = left + 1
      else
         track.number, track.title = number, title_of(track, titles)
         track.rank = track.kind == "lane" and (ranks[track.title] or #list + number) or math.huge
         found[#found + 1] = track
      end
   end
   table.sort(found, function(a, b)
      if a.rank ~= b.rank then
         return a.rank < b.rank
      elseif a.title ~= b.title then
         return a.title < b.title
      end
      return a.number < b.number
   end)
   return found, left
end

---Writes the timeline for the page's scripts, as a member of a JSON object.
---@param out table of lanes.out
---@param trace profio.Trace
---@param given table from, to, lane; lanes: most that are drawn; size: bytes that it may take;
---id_of: a function that returns the id of the function of a name
---@return { length: integer, lanes: integer, few: string|nil, flagged: table }|nil found few: which
---lanes are drawn, if not all; flagged: number of calls by flag; nil: there is no timeline
---@return string|nil message
---@return string|nil code
function timeline.write(out, trace, given)
   local most = math.max(given.lanes or timeline.MOST_LANES, 1)
   local list, first, length, all = lanes.of(trace, given, most)
   if not list then
      return
   end
   local few = all > most and ("the %d lanes with most events of %d are drawn"):format(most, all)
      or nil
   local part = few and only(given, list) or given
   local overview <close>, message, code = overview_of(trace, part, list, first, length, given.size)
   if not overview then
      return nil, message, code
   end
   local tracks, left = ordered(overview, list)
   local ids, places = {}, {}
   for i, name in ipairs(overview:frames()) do
      ids[i] = given.id_of(name)
   end
   out:write(('"timeline":{"first":%d,"length":%d,"few":%s,"variables_left":%d,\n'):format(first,
      length, few and lanes.script(few) or "null", left))
   out:write('"frames":[', table.concat(ids, ","), '],\n"losses":[',
      table.concat(overview:losses(), ","), '],\n"tracks":[')
   local cores, has_cores = lane_cores.of(trace, part, first, length)
   for i, track in ipairs(tracks) do
      places[track.number] = i - 1
      track.core = track.kind == "lane" and track.value ~= nil and cores[track.value] or nil
      out:write(i > 1 and ",\n" or "\n")
      put_track(out, overview, track, track.number)
   end
   out:write(has_cores and '],\n"has_cores":true' or "]")
   put_worst(out, overview, ids, places)
   local numbers = {}
   for number = 1, #overview:tracks() do
      numbers[number] = places[number] or -1
   end
   out:write(',\n"places":', data.numbers(numbers, #numbers)) -- of tracks by their numbers
   put_distributions(out, overview, ids, quantiles_of(trace, part),
      given.size * DISTRIBUTION_PART)
   out:write "},\n"
   return { length = length, lanes = all, few = few, flagged = overview:flagged() }
end

return timeline
