-- The timeline of a report: of each lane and variable its longest calls and suspensions, and how
-- busy it was in intervals of equal length. Its size does not depend on the length of the trace.

local core = require "profio.core"
local data = require "profio.exports.html.profile_data"
local lane_cores = require "profio.exports.html.lane_cores"
local lanes = require "profio.exports.lanes"
local view_warnings = require "profio.internal.view_warnings"

---@class profio.exports.html.timeline
local timeline = { MOST_LANES = 250 } -- drawn by default

local MOST_VARIABLES = 60
local MOST_VALUES = 3000 -- of a variable: with more of them their ranges are drawn
local MOST_TITLE = 300   -- bytes of a title
local CALL_SIZE, INTERVAL_SIZE, LOSS_SIZE, WORST_SIZE = 20, 14, 12, 24 -- bytes of JSON, about
local LEAST_INTERVALS, INTERVAL_CALLS = 32, 4 -- of a track; calls for which one stands
local MOST_TRIES = 12
local LANE_SIZE, VARIABLE_SIZE = 1200, 4000 -- bytes that a track should have at least
local MOST_INTERVALS, ALL_INTERVALS = 1 << 16, 1 << 20 -- of a track, of all that are counted
local MOST_CALLS = 1 << 22 -- of all tracks together, while they are read
local PARTS = { tracks = 0.7, calls = 0.5, losses = 0.03, worst = 0.2, names = 0.05 }

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
   local calls = math.max(size * PARTS.tracks // CALL_SIZE | 0, 1)
   return core.overview(lanes.narrow(trace.events, given):reader(), { first = first,
      length = length, intervals = math.max(math.min(ALL_INTERVALS // tracks, MOST_INTERVALS,
      size * PARTS.tracks // INTERVAL_SIZE | 0), 40), all_calls = calls,
      most_calls = math.min(calls, math.max(MOST_CALLS, calls) // tracks),
      most_pauses = math.max(calls // (4 * tracks), 10),
      most_variables = math.min(MOST_VARIABLES, size // VARIABLE_SIZE + 1),
      most_values = MOST_VALUES, from = given.from, to = given.to,
      counts = view_warnings.call_counts(trace) })
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

local members = { lane = { "start", "length", "depth", "frame" },
   states = { "start", "length", "frame" }, values = { "start", "value" } }

-- Returns the intervals of a track as members of JSON. They are needed where calls are left out,
-- and `each` of those that were counted are one.
local function intervals_text(overview, track, each, names)
   local texts = { (',\n"width":%d'):format(track.width * each) }
   for i, name in ipairs(names) do
      texts[i + 1] = (',\n"%s":%s'):format(name, overview:intervals(track.number, name, each))
   end
   return table.concat(texts)
end

local function track_text(overview, track, each)
   local texts = { ('{"kind":"%s","name":%s,"calls":%d,"kept":%d,"pauses":%d%s'):format(track.kind,
      lanes.script(track.title:sub(1, MOST_TITLE)), track.calls, track.kept, track.pauses,
      track.core or "") }
   local is_whole = track.kept == track.calls
   if track.kind == "values" and not is_whole then
      return texts[1] .. intervals_text(overview, track, each, { "begun", "low", "high" }) .. "}"
   end
   for _, name in ipairs(members[track.kind]) do
      texts[#texts + 1] = (',\n"%s":%s'):format(name, overview:column(track.number, "calls", name))
   end
   if track.kind == "lane" and track.pauses > 0 then
      texts[#texts + 1] = (',\n"pause_start":%s,\n"pause_length":%s'):format(
         overview:column(track.number, "pauses", "start"),
         overview:column(track.number, "pauses", "length"))
   end
   texts[#texts + 1] = not is_whole and intervals_text(overview, track, each,
      { "busy", "top", "begun" }) or nil
   return table.concat(texts) .. "}"
end

-- Returns how many intervals a track may have: fewer than the calls that they stand for.
local function useful_intervals(track)
   local left = track.calls - track.kept
   return left == 0 and 0
      or math.min(math.max(left // INTERVAL_CALLS, LEAST_INTERVALS), track.intervals)
end

-- Returns the bytes of intervals if no track has more than `most`.
local function intervals_size(tracks, most)
   local count = 0
   for _, track in ipairs(tracks) do
      count = count + math.min(useful_intervals(track), most)
   end
   return count * INTERVAL_SIZE
end

-- Returns how many of the intervals that were counted are one in each track, by number, so that all
-- have at most `size` bytes, if possible.
local function merged_intervals(tracks, size)
   local most = MOST_INTERVALS
   while intervals_size(tracks, most) > size and most > LEAST_INTERVALS do
      most = most * 3 // 4
   end
   local merged = {}
   for _, track in ipairs(tracks) do
      merged[track.number] = math.ceil(track.intervals
         / math.max(math.min(useful_intervals(track), most), 1))
   end
   return merged
end

-- Returns the tracks as JSON, with about `size` bytes of intervals.
local function tracks_text(overview, tracks, size)
   local texts, facts = {}, overview:tracks()
   for _, track in ipairs(tracks) do
      track.kept = facts[track.number].kept
   end
   local merged = merged_intervals(tracks, size)
   for i, track in ipairs(tracks) do
      texts[i] = track_text(overview, track, merged[track.number])
   end
   return table.concat(texts, ",\n")
end

-- Returns the tracks as JSON of at most `size` bytes, if possible: all calls if they fit, else as
-- many as fit into half of it, and as fine intervals as fit into the rest. Sizes are estimated, so
-- fewer are tried until the text fits.
local function fitting_tracks(overview, tracks, size)
   local all, calls, intervals = 0, size, size * (1 - PARTS.calls)
   for _, track in ipairs(tracks) do
      all = all + track.calls
   end
   if all * CALL_SIZE > size then
      calls = size * PARTS.calls
   end
   for _ = 1, MOST_TRIES do
      overview:trim(calls // CALL_SIZE | 0)
      local text = tracks_text(overview, tracks, intervals)
      if #text <= size then
         return text
      end
      local ratio = 0.95 * size / #text
      calls, intervals = math.min(calls, size) * ratio, intervals * ratio
   end
   overview:trim(0)
   return tracks_text(overview, tracks, 0)
end

-- }======

-- {====== Functions ======

local DURATIONS = { "net", "gross", "period" }

-- Returns the distribution of the durations of a frame as an object of JSON, or nil: of each
-- duration cells of [least duration, count, track, start], p50, p99 and max; and the heat map.
local function distribution_of(overview, frame, id)
   local parts = {}
   for _, duration in ipairs(DURATIONS) do
      local cells, p50, p99, most = overview:histogram(frame, duration)
      parts[#parts + 1] = cells and ('"%s":{"cells":%s,"p50":%d,"p99":%d,"max":%d}'):format(
         duration, cells, p50, p99, most)
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
         local text = ("[%d,%d,%d,%d,%d]"):format(functions:of(one.name), places[track], start,
            length, depth)
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
      local text = distribution_of(overview, one.frame, functions:of(one.name))
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

-- Returns what the tracks show as members of a JSON object of at most `size` bytes.
local function members_text(overview, tracks, functions, size)
   local places, places_text = places_of(overview, tracks)
   local drawn = '"tracks":[\n' .. fitting_tracks(overview, tracks,
      size * PARTS.tracks - #places_text) .. "]"
   local ids = {}
   for i, name in ipairs(overview:frames()) do
      ids[i] = functions:of(name)
   end
   local frames = ',\n"frames":[' .. table.concat(ids, ",") .. "]"
   local room = size - #drawn - #places_text - #frames - 100
   local heaviest = overview:heaviest(math.max(room // WORST_SIZE | 0, 0))
   local worst = worst_text(overview, heaviest, functions, places, room * PARTS.worst)
   return table.concat { drawn, frames, places_text, worst, (',\n"heat_width":%d'):format(
      overview:heat_width()), distributions_text(overview, heaviest, functions, room - #worst) }
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
   local most = math.max(given.lanes or math.min(timeline.MOST_LANES, size // LANE_SIZE | 0), 1)
   local list, first, length, all = lanes.of(trace, given, most)
   if not list then
      return
   end
   local few = all > most and ("the %d lanes with most events of %d are drawn"):format(most, all)
      or nil
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
