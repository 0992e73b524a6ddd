-- The timeline of a report: of each lane and variable its longest calls and suspensions, and how
-- busy it was in intervals of equal length. Its size does not depend on the length of the trace.

local core = require "profio.core"
local data = require "profio.exports.html.profile_data"
local lane_cores = require "profio.exports.html.lane_cores"
local lanes = require "profio.exports.lanes"
local doubts = require "profio.internal.calls.doubts"

---@class profio.exports.html.timeline
local timeline = {}

local MOST_VARIABLES = 60
local MOST_VALUES = 3000 -- of a variable: with more of them their ranges are drawn
local MOST_LONGEST, LONGEST_SIZE = 2000, 64 -- functions, bytes of the timeline for each of them
local MOST_TITLE = 300   -- bytes of a title
local CALL_SIZE, INTERVAL_SIZE = 8, 6                 -- bytes of JSON, at least
local FRAME_SIZE, LOSS_SIZE, WORST_SIZE = 6, 12, 24 -- bytes of JSON, about
local LEAST_INTERVALS, INTERVAL_CALLS = 32, 4 -- of a track; calls for which one stands
local MOST_TRIES = 12
local LANE_SIZE, VARIABLE_SIZE = 1200, 4000 -- bytes that a track should have at least
local MOST_INTERVALS, ALL_INTERVALS = 1 << 16, 1 << 20 -- of a track, of all that are counted
local PAUSE_SIZE = 64 -- bytes of the timeline for each suspension that is kept
local PARTS = { tracks = 0.7, intervals = 0.5, losses = 0.03, worst = 0.2, names = 0.05 }

-- Returns the options with only these lanes selected.
local function only(given, list)
   local values = {}
   for _, lane in ipairs(list) do
      values[#values + 1] = lane.value
   end
   return setmetatable({ drawn = values }, { __index = given })
end

-- Reads the events. `size` is the number of bytes that the timeline may take.
local function overview_of(trace, given, list, first, length, size)
   local tracks = #list + 1
   return core.overview(lanes.events(trace, given):reader(), { first = first,
      length = length, intervals = math.max(math.min(ALL_INTERVALS // tracks, MOST_INTERVALS,
      size * PARTS.tracks // INTERVAL_SIZE | 0), 40),
      most_calls = math.max(size // CALL_SIZE | 0, 1),
      most_pauses = math.max(size // PAUSE_SIZE // tracks | 0, 10),
      most_variables = math.min(MOST_VARIABLES, size // VARIABLE_SIZE + 1),
      most_values = MOST_VALUES,
      most_longest = math.min(MOST_LONGEST, size // LONGEST_SIZE | 0),
      from = given.from, to = given.to,
      counts = doubts.counts(trace) })
end

-- Returns the title of a track.
local function title_of(track, titles)
   if track.kind == "lane" then
      local title = titles[track.value == nil and "" or track.value] or tostring(track.value)
      return track.run > 0 and ("%s (run %d)"):format(title, track.run + 1) or title
   end
   return track.variable
end

-- {====== Tracks ======

-- Appends members of the values or suspensions of a track.
local function add_columns(texts, overview, track, list, names, prefix)
   for _, name in ipairs(names) do
      texts[#texts + 1] = (',\n"%s%s":%s'):format(prefix, name, overview:column(track.number, list,
         name))
   end
end

-- Appends the calls of a lane, or the states of a variable. Returns their bytes.
local function add_packed(texts, overview, track)
   local text = (',\n"packed":"%s"'):format(core.base64(overview:packed(track.number)))
   texts[#texts + 1] = text
   return #text
end

-- Appends members of the intervals of a track, of which `each` of those that were counted are one.
-- They are needed where calls or suspensions are left out. Returns their bytes.
local function add_intervals(texts, overview, track, each, names)
   local text = (',\n"width":%d'):format(track.width * each)
   for _, name in ipairs(names) do
      text = text .. (',\n"%s":%s'):format(name, overview:intervals(track.number, name, each))
   end
   texts[#texts + 1] = text
   return #text
end

-- Returns how many calls of a track are left out, or suspensions, if these are more.
local function left_of(track)
   return math.max(track.calls - track.kept, track.pauses - track.kept_pauses)
end

-- Appends a track as JSON. Returns the bytes of its calls, and of its intervals.
local function add_track(texts, overview, track, each)
   local is_values, left = track.kind == "values", left_of(track)
   local calls, intervals = 0, 0
   texts[#texts + 1] = ('{"kind":"%s","name":%s,"calls":%d,"kept":%d,"pauses":%d%s%s'):format(
      track.kind, lanes.script(track.title:sub(1, MOST_TITLE)), track.calls, track.kept,
      track.pauses, track.core or "", track.is_chain and ',"chain":true' or "")
   if not is_values then
      calls = add_packed(texts, overview, track)
   elseif left == 0 then
      add_columns(texts, overview, track, "calls", { "start", "value" }, "")
   end
   local uncounted = track.kind == "lane" and overview:uncounted(track.number) or "[]"
   texts[#texts + 1] = uncounted ~= "[]" and (',\n"uncounted":%s'):format(uncounted) or ""
   if track.kind == "lane" and track.pauses > 0 then
      add_columns(texts, overview, track, "pauses", { "start", "length" }, "pause_")
   end
   if left > 0 then
      intervals = add_intervals(texts, overview, track, each,
         is_values and { "begun", "low", "high" } or { "busy", "top", "begun" })
   end
   texts[#texts + 1] = "}"
   return calls, intervals
end

-- Returns how many intervals a track has if `left` calls of it are left out, and none has more than
-- `most`: fewer than the calls that they stand for. As many of those that were counted are one.
local function intervals_of(track, left, most)
   if left == 0 then
      return 0, 1
   end
   local wanted = math.max(left // INTERVAL_CALLS, LEAST_INTERVALS)
   local each = math.ceil(track.intervals / math.max(math.min(wanted, most, track.intervals), 1))
   return math.ceil(track.intervals / each), each
end

-- Returns the largest of the numbers from `low` to `high` with which `fits` is true; `low` if none.
local function largest(low, high, fits)
   while low < high do
      local middle = low + (high - low + 1) // 2
      if fits(middle) then
         low = middle
      else
         high = middle - 1
      end
   end
   return low
end

-- Returns how many intervals a track may have so that there are at most `wanted` in all, and how
-- many there are. left: how many calls are left out, by track.
local function fitting_intervals(tracks, left, wanted)
   local function count(most)
      local sum = 0
      for i, track in ipairs(tracks) do
         sum = sum + intervals_of(track, left[i], most)
      end
      return sum
   end
   local most = largest(LEAST_INTERVALS, MOST_INTERVALS, function(many)
      return count(many) <= wanted
   end)
   return most, count(most)
end

-- Returns the tracks as JSON, with at most `wanted` intervals, if possible; and of what they
-- consist: bytes of calls and of intervals, and the numbers of both.
local function tracks_text(overview, tracks, wanted)
   local texts, left, facts = {}, {}, overview:tracks()
   local sums = { call_bytes = 0, interval_bytes = 0, calls = 0 }
   for i, track in ipairs(tracks) do
      track.kept = facts[track.number].kept
      track.kept_pauses = facts[track.number].kept_pauses
      left[i] = left_of(track)
      sums.calls = sums.calls + (track.kind == "values" and 0 or track.kept)
   end
   local most, count = fitting_intervals(tracks, left, wanted)
   for i, track in ipairs(tracks) do
      local _, each = intervals_of(track, left[i], most)
      texts[#texts + 1] = i > 1 and ",\n" or ""
      local calls, intervals = add_track(texts, overview, track, each)
      sums.call_bytes = sums.call_bytes + calls
      sums.interval_bytes = sums.interval_bytes + intervals
   end
   sums.intervals = count
   return table.concat(texts), sums
end

-- Returns how many calls of each track are left out if only `calls` are kept: overview:trim keeps
-- as many of each track.
local function left_with(tracks, calls)
   local left = {}
   local level = largest(0, calls, function(most)
      local sum = 0
      for _, track in ipairs(tracks) do
         sum = sum + (track.kind == "values" and 0 or math.min(track.kept, most))
      end
      return sum <= calls
   end)
   for i, track in ipairs(tracks) do
      left[i] = math.max(left_of(track),
         track.kind == "values" and 0 or track.calls - math.min(track.kept, level))
   end
   return left
end

-- Returns how many calls and how many intervals fit into `room` bytes, if they are as long as those
-- that `sums` counts. Intervals take at most their part of it.
local function fitting_numbers(tracks, sums, room)
   local call = sums.call_bytes / math.max(sums.calls, 1)
   local interval = sums.intervals > 0 and sums.interval_bytes / sums.intervals or INTERVAL_SIZE
   local wanted = room * PARTS.intervals // interval | 0
   local calls = largest(0, math.max(sums.calls - 1, 0), function(many)
      local _, intervals = fitting_intervals(tracks, left_with(tracks, many), wanted)
      return many * call + intervals * interval <= room
   end)
   return calls, wanted
end

-- Returns the tracks as JSON of at most `size` bytes, if possible, with as many calls as fit. The
-- longest ones take more bytes than the others, so that several numbers are tried, each below the
-- one before. `text` and `sums` are those of all calls.
local function fitting_tracks(overview, tracks, size, text, sums)
   for _ = 1, MOST_TRIES do
      local room = size - FRAME_SIZE * #overview:frames()
      if #text <= room then
         return text
      end
      local calls, intervals = fitting_numbers(tracks, sums,
         room - #text + sums.call_bytes + sums.interval_bytes)
      overview:trim(calls)
      text, sums = tracks_text(overview, tracks, intervals)
   end
   overview:trim(0)
   return (tracks_text(overview, tracks, 0))
end

-- }======

-- {====== Functions ======

local DURATIONS = { "net", "gross", "period" }

-- Returns the distribution of the durations of a frame as an object of JSON, or nil: of each
-- duration cells of [least duration, count, track, start], p50, p99 and max, and which of them are
-- estimates; and the heat map.
local function distribution_of(overview, frame, id)
   local parts = {}
   for _, duration in ipairs(DURATIONS) do
      local cells, p50, p99, most, about50, about99 = overview:histogram(frame, duration)
      local about = about50 and about99 and '"p50","p99"' or about50 and '"p50"'
         or about99 and '"p99"' or ""
      parts[#parts + 1] = cells and ('"%s":{"cells":%s,"p50":%d,"p99":%d,"max":%d,"about":[%s]}')
         :format(duration, cells, p50, p99, most, about)
   end
   return #parts > 0 and ('{"function":%d,%s,"heat":%s}'):format(id, table.concat(parts, ","),
      overview:heat(frame)) or nil
end

-- Returns the longest call of each function, [function, track, start, length, depth], those with
-- most net time, as many as fit into `room` bytes.
local function worst_text(overview, heaviest, functions, places, room)
   local list = {}
   for _, one in ipairs(heaviest) do
      local track, start, length, depth = overview:worst(one.frame)
      if track and places[track] then
         local text = ("[%d,%d,%d,%d,%d]"):format(functions:of(one.name, one.file),
            places[track], start, length, depth)
         room = room - #text - 2
         if room < 0 then
            break
         end
         list[#list + 1] = text
      end
   end
   return ',\n"worst":[' .. table.concat(list, ",\n") .. "]"
end

-- Returns the distributions of the functions with most net time, as many as fit into `room` bytes.
local function distributions_text(overview, heaviest, functions, room)
   local list = {}
   for _, one in ipairs(heaviest) do
      local text = distribution_of(overview, one.frame, functions:of(one.name, one.file))
      room = room - #(text or "") - 2
      if room < 0 then
         break
      end
      list[#list + 1] = text
   end
   return ',\n"distributions":[' .. table.concat(list, ",\n") .. "]"
end

-- }======

-- Returns the tracks of lanes in the order of `list`, then those of variables by name; and how many
-- variables are left out.
local function ordered(overview, list)
   local titles, ranks, found, left = {}, {}, {}, 0
   local chains = {}
   for rank, lane in ipairs(list) do
      chains[lane.title] = lane.is_chain or nil
      titles[lane.value == nil and "" or lane.value] = lane.title
      ranks[lane.title] = rank
   end
   for number, track in ipairs(overview:tracks()) do
      if track.is_left_out then
         left = left + 1
      else
         track.number, track.title = number, title_of(track, titles)
         track.is_chain = track.kind == "lane" and chains[track.title]
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

-- Returns the place in the page of each track, by its number, and of all numbers as JSON.
local function places_of(overview, tracks)
   local places, numbers = {}, {}
   for i, track in ipairs(tracks) do
      places[track.number] = i - 1
   end
   for number = 1, #overview:tracks() do
      numbers[number] = places[number] or -1
   end
   return places, (',\n"places":%s'):format(data.numbers(numbers, #numbers))
end

-- Returns the longest calls and the distributions of functions in about `room` bytes.
local function functions_text(overview, functions, places, room)
   local heaviest = overview:heaviest(math.max(room // WORST_SIZE | 0, 0))
   local worst = worst_text(overview, heaviest, functions, places, room * PARTS.worst)
   return worst .. (',\n"heat_width":%d'):format(overview:heat_width())
      .. distributions_text(overview, heaviest, functions, room - #worst)
end

-- Returns the frames of the tracks by index.
local function frames_text(overview, functions)
   local ids = {}
   for i, frame in ipairs(overview:frames()) do
      ids[i] = functions:of(frame.name, frame.file)
   end
   return ',\n"frames":[' .. table.concat(ids, ",") .. "]"
end

-- Returns what the tracks show as members of a JSON object of at most `size` bytes. Where the
-- tracks take less than their part the functions get the rest, and the other way round.
local function members_text(overview, tracks, functions, size)
   local places, places_text = places_of(overview, tracks)
   local room = size - #places_text - 100
   local drawn, sums = tracks_text(overview, tracks, room * PARTS.intervals // INTERVAL_SIZE | 0)
   local frames, shown
   if #drawn <= room * PARTS.tracks then
      frames = frames_text(overview, functions)
      shown = functions_text(overview, functions, places, room - #drawn - #frames)
   else
      shown = functions_text(overview, functions, places, room * (1 - PARTS.tracks))
      drawn = fitting_tracks(overview, tracks, room - #shown, drawn, sums)
      frames = frames_text(overview, functions)
   end
   return table.concat { '"tracks":[\n', drawn, "]", frames, places_text, shown }
end

-- Sets the cores on which the lanes run. Returns whether cores are known.
local function set_cores(tracks, trace, given, first, length)
   local cores, has_cores = lane_cores.of(trace, given, first, length)
   for _, track in ipairs(tracks) do
      track.core = track.kind == "lane" and track.value ~= nil and cores[track.value] or nil
   end
   return has_cores
end

-- Returns the times in which events are lost as numbers of JSON, in about `size` bytes.
local function losses_text(overview, size)
   local list = overview:losses()
   return table.concat(list, ",", 1, math.min(#list, size // LOSS_SIZE // 2 * 2 | 0))
end

---Returns the timeline for the page's scripts, as a member of a JSON object.
---@param trace profio.Trace
---@param given table from, to, lane; lanes: most that are drawn; size: bytes that it may take;
---functions: of the page (profio.PageFunctions); member: its name in the JSON object
---@return string|nil nil: there is no timeline
---@return { length: integer, lanes: integer, few: string|nil, flagged: table }|nil found few: which
---lanes are drawn, if not all; flagged: number of calls by flag
---@return string|nil message
---@return string|nil code
function timeline.text(trace, given)
   local size = given.size
   local most = lanes.limit(given, size // LANE_SIZE | 0)
   local list, first, length, all = lanes.of(trace, given, most)
   if not list then
      return
   end
   local few = lanes.few(most, all, "events")
   local part = few and only(given, list) or given
   local overview <close>, message, code = overview_of(trace, part, list, first, length, size)
   if not overview then
      return nil, nil, message, code
   end
   local tracks, left = ordered(overview, list)
   local has_cores = set_cores(tracks, trace, part, first, length)
   given.functions.room = given.functions.room + (size * PARTS.names // 1 | 0)
   local begin = table.concat { ('"%s":{"first":%d,"length":%d,"few":%s,"variables_left":%d,')
      :format(given.member, first, length, few and lanes.script(few) or "null", left),
      has_cores and '"has_cores":true,' or "", '\n"losses":[',
      losses_text(overview, size * PARTS.losses), "]," }
   local text = begin .. "\n" .. members_text(overview, tracks, given.functions,
      size * (1 - PARTS.names) - #begin - 10) .. "},\n"
   return text, { length = length, lanes = all, few = few, flagged = overview:flagged() }
end

return timeline
