-- The samples of a trace with their times: the page sums them in any range of time, and draws the
-- stacks of each thread. Where they do not fit, those of equal lengths of time are summed by stack.

local conditions = require "profio.internal.conditions"
local lanes = require "profio.exports.lanes"
local profiles = require "profio.internal.bodies.profile_methods"
local texts = require "profio.internal.texts"
local traces = require "profio.internal.trace"

---@class profio.exports.html.sampled
local sampled = {}

local SAMPLE_SIZE = 8        -- bytes of JSON of a sample and for each of its weights 2 more, about
local CONTEXTS, CONTEXT_SIZE = 0.4, 8 -- part of the size for contexts, bytes of one
local STACKS = 3             -- different stacks in a length of time, at first
local LEAST_PARTS = 16       -- of the trace in which samples are summed
local FEWER = 4              -- the number of contexts is divided by this if samples do not fit
local LEAST_SIZE = 500       -- bytes: below them no samples are written
local LANE_SIZE = 300        -- bytes that a lane should have at least
local MOST_TITLE = 300       -- bytes of a title
local NAMES = 0.05           -- part of the size for names of functions that the profile lacks

-- {====== Rows ======

-- Returns three values. columns[m]: the column of metric m of the profile, or false if each sample
-- counts 1; counts: the index of a metric that counts samples, which is appended if there is none;
-- lasts: the index of the metric that is the duration of a sample, or nil. Nil: the profile has a
-- metric that the samples do not have.
local function weights_of(timed, metrics)
   local columns, known, lasts, counts = {}, {}, nil, nil
   for _, metric in ipairs(timed.metrics) do
      known[metric.name] = metric.column or false
   end
   for m, metric in ipairs(metrics) do
      columns[m] = known[metric.name]
      lasts = metric.name == timed.lasts and m or lasts
      if columns[m] == nil then
         return nil
      end
      counts = columns[m] == false and m or counts
   end
   columns[counts or #columns + 1] = false
   return columns, counts or #columns, lasts
end

-- Returns the columns of lanes: the file, if there are several, and the thread.
local function keys_of(rows, timed)
   local known, keys = {}, {}
   for _, column in ipairs(rows.columns) do
      known[column] = true
   end
   keys[1] = known.file and "file" or nil
   keys[#keys + 1] = timed.lanes
   return keys
end

-- Returns the samples in the order of lanes and times, and the columns of their weights; those of
-- one stack in `width` ns are one.
local function ordered(source, width)
   local rows, names, sums = source.rows, {}, { "n = count" }
   local by = table.move(source.keys, 1, #source.keys, 1, {})
   by[#by + 1] = "time"
   if width == 1 then
      return rows:sort(table.unpack(by)), source.weights
   end
   for m, column in ipairs(source.weights) do
      names[m] = column and "weight" .. m or "n"
      sums[#sums + 1] = column and ("weight%d = sum(%s)"):format(m, column) or nil
   end
   local groups = table.move(source.keys, 1, #source.keys, 1, {})
   groups[#groups + 1], groups[#groups + 2] = ("bucket(time, %d)"):format(width), "stack"
   return rows:group(table.unpack(groups)):aggregate(sums):sort(table.unpack(by)), names
end

-- }======

-- {====== Contexts ======

-- The contexts of samples: of each its caller, from 1 on (0: none), its function, and how many
-- samples are in it or below it.
local Contexts = {}
Contexts.__index = Contexts

-- Returns the number of a frame's function, from 1 on.
function Contexts:name_of(frame)
   local key = frame.area .. "\0" .. (frame.file or "")
   local known = self.by_name[key]
   if not known then
      known = #self.frames + 1
      self.by_name[key], self.frames[known] = known, frame
   end
   return known
end

-- Returns the context of a stack of `count` samples, which are added to it.
function Contexts:add(frames, count)
   local node = 0
   for i = #frames, 1, -1 do
      local fn = self:name_of(frames[i])
      local key = node << 32 | fn
      local known = self.by_key[key]
      if not known then
         known = #self.fn + 1
         self.by_key[key], self.parent[known], self.fn[known] = known, node, fn
         self.total[known] = 0
      end
      node = known
      self.total[node] = self.total[node] + count
   end
   return node
end

-- Returns by context whether it is kept: those of most samples, at most `most`. The callers of a
-- context have at least as many.
function Contexts:kept(most)
   local total, order, is_kept = self.total, {}, {}
   for node = 1, #self.fn do
      order[node] = node
   end
   if #order > most then
      table.sort(order, function(a, b)
         return total[a] > total[b] or total[a] == total[b] and a < b
      end)
   end
   for i = 1, math.min(most, #order) do
      is_kept[order[i]] = true
   end
   return is_kept
end

-- Reads the stacks of samples, of whose contexts at most `most` are kept. Returns by stack twice
-- the number of its innermost context in the page, and 1 more if others are left out; and the
-- contexts as members of a JSON object: how far the number of each is from that of its caller, and
-- functions.
local function places_of(source, functions, most)
   local contexts = setmetatable({ parent = {}, fn = {}, total = {}, by_key = {}, by_name = {},
      frames = {} }, Contexts)
   local nodes, place, back, fn = {}, { [0] = 0 }, {}, {}
   for stack, count in source.rows:group("stack"):aggregate { "n = count" }:each("stack", "n") do
      nodes[stack or -1] = contexts:add(stack and source.trace:stack(stack) or {}, count)
   end
   local is_kept = contexts:kept(most)
   for node = 1, #contexts.fn do
      local caller = place[contexts.parent[node]]
      if is_kept[node] then
         local frame = contexts.frames[contexts.fn[node]]
         fn[#fn + 1], back[#fn + 1] = functions:of(frame.area, frame.file), #fn + 1 - caller // 2
      end
      place[node] = is_kept[node] and 2 * #fn or caller | 1
   end
   for stack, node in pairs(nodes) do
      nodes[stack] = place[node]
   end
   return nodes, ('"back":[%s],\n"function":[%s]'):format(table.concat(back, ","),
      table.concat(fn, ","))
end

-- }======

-- {====== Lanes ======

-- Returns the title of a lane; files have their base name, or with `is_long` their path.
local function title_of(source, values, is_long)
   if #source.keys == 0 then
      return "main"
   end
   local words = {}
   for i, key in ipairs(source.keys) do
      local is_short = key == "file" and not is_long
      words[i] = is_short and values[i]:match "[^/\\]*$" or tostring(values[i] or "(no lane)")
   end
   return table.concat(words, ": ")
end

-- Lanes that are read: `add` takes samples in the order of lanes and times, and adds those of one
-- place in one length of time.
local Lanes = {}
Lanes.__index = Lanes

-- Begins a lane if the values of its keys are not those of the last one.
function Lanes:lane_of(...)
   local values, is_same = self.values, self.last ~= nil
   for i = 1, #self.source.keys do
      local value = (select(i, ...))
      is_same = is_same and values[i] == value
      values[i] = value
   end
   if not is_same then
      self.last = { title = title_of(self.source, values), time = {}, node = {}, weights = {},
         long_title = title_of(self.source, values, true) }
      for m = 1, #self.source.weights do
         self.last.weights[m] = {}
      end
      self[#self + 1], self.seen = self.last, {}
   end
   return self.last
end

-- Returns the index of the samples of a place and a time in a lane, if they are to be summed.
function Lanes:index_of(lane, place, time)
   local count = #lane.time
   if time ~= lane.time[count] then
      self.seen = {}
   end
   local known = self.is_summed and self.seen[place]
   if not known then
      known = count + 1
      self.count, self.seen[place] = self.count + 1, known
      lane.time[known], lane.node[known] = time, place
   end
   return known
end

function Lanes:add(weights, time, stack, ...)
   local lane = self:lane_of(...)
   local i = self:index_of(lane, self.source.places[stack or -1], time)
   for m, list in ipairs(lane.weights) do
      list[i] = (list[i] or 0) + weights[m]
   end
end

-- Orders lanes: first the `drawn` ones with most samples, by name.
local function order(list, counts, drawn)
   local seen = {}
   for _, lane in ipairs(list) do
      seen[lane.title] = (seen[lane.title] or 0) + 1
   end
   for _, lane in ipairs(list) do
      lane.title = seen[lane.title] > 1 and lane.long_title or lane.title
      lane.count, lane.key = 0, texts.natural_key(lane.title)
      for _, count in ipairs(lane.weights[counts]) do
         lane.count = lane.count + count
      end
   end
   table.sort(list, function(a, b)
      return a.count > b.count or a.count == b.count and a.key < b.key
   end)
   for place, lane in ipairs(list) do
      lane.is_drawn = place <= drawn
   end
   table.sort(list, function(a, b)
      if a.is_drawn ~= b.is_drawn then
         return a.is_drawn
      end
      return a.key < b.key
   end)
end

-- Reads the lanes of the samples, summed over `width` ns; nil if they are more than `most` samples.
local function lanes_of(source, width, most)
   local rows, names = ordered(source, width)
   local columns, at, weights = { "time", "stack" }, {}, {}
   local keys = #source.keys
   table.move(source.keys, 1, keys, 3, columns)
   for m, name in ipairs(names) do
      columns[#columns + 1] = name or nil
      at[m] = name and #columns or false
   end
   local list = setmetatable({ source = source, is_summed = width > 1, count = 0, values = {} },
      Lanes)
   local function take(time, ...)
      for m = 1, time and #at or 0 do
         weights[m] = not at[m] and 1 or (select(at[m] - 1, ...)) or 0
      end
      if time then
         list:add(weights, time, ...)
      end
      return time
   end
   local next_row, state, time = rows:each(table.unpack(columns))
   repeat
      time = take(next_row(state, time))
   until time == nil or list.count > most
   if time ~= nil then
      return nil
   end
   order(list, source.counts, source.drawn)
   return list
end

local function gcd(a, b)
   while b ~= 0 do
      a, b = b, a % b
   end
   return a
end

-- Returns the largest number that all distances of times are multiples of.
local function unit_of(list, first)
   local unit = 0
   for _, lane in ipairs(list) do
      local before = first
      for _, time in ipairs(lane.time) do
         if time ~= before then
            unit, before = gcd(unit, time - before), time
         end
         if unit == 1 then
            return 1
         end
      end
   end
   return math.max(unit, 1)
end

-- Returns how long after `first` the last sample ends; it lasts at least 1 ns.
local function length_of(list, first, lasts, width)
   local longest = 0
   for _, lane in ipairs(list) do
      local sum, before = 0, nil
      for i, time in ipairs(lane.time) do
         local start, lasting = time - first, lasts and lane.weights[lasts][i] or 0
         sum = time == before and sum + lasting or lasting
         longest = math.max(longest, start + math.min(math.max(width, sum),
            math.maxinteger - start))
         before = time
      end
   end
   return longest
end

-- Returns differences of numbers, divided by `unit`, as an array of JSON.
local function steps_text(list, before, unit)
   local steps = {}
   for i, value in ipairs(list) do
      steps[i], before = (value - before) // unit, value
   end
   return "[" .. table.concat(steps, ",") .. "]"
end

-- Returns weights as JSON: one number if they are all equal, else differences.
local function weights_text(list)
   for _, weight in ipairs(list) do
      if weight ~= list[1] then
         return steps_text(list, 0, 1)
      end
   end
   return ("%d"):format(list[1] or 0)
end

local function lane_text(lane, first, unit)
   local weights = {}
   for m, list in ipairs(lane.weights) do
      weights[m] = weights_text(list)
   end
   return ('{"name":%s,"count":%d,"time":%s,\n"node":[%s],\n"weights":[%s]}'):format(
      lanes.script(lane.title:sub(1, MOST_TITLE)), lane.count, steps_text(lane.time, first, unit),
      table.concat(lane.node, ","), table.concat(weights, ",\n"))
end

-- }======

-- Returns the members of the samples, summed over `width` ns each, and their length in ns and
-- lanes; nil if they are more than `most`.
local function members_of(source, width, most)
   local first = source.first // width * width
   local list, members = lanes_of(source, width, most), {}
   if not list then
      return nil
   end
   local unit = width > 1 and width or unit_of(list, first)
   local length = length_of(list, first, source.lasts, width)
   for i, lane in ipairs(list) do
      members[i] = lane_text(lane, first, unit)
   end
   return ('"first":%d,"length":%d,"unit":%d,"width":%d,"lasts":%d,"counts":%d,\n%s,\n"lanes":[%s]')
      :format(first, length, unit, width, (source.lasts or 0) - 1, source.counts - 1,
      source.contexts, table.concat(members, ",\n")), { length = length, lanes = #list }
end

-- Returns the samples of the selected part of a trace: rows, keys, weights, counts, lasts, first,
-- count, length in ns, and how many are left out, as they have no time; nil: there are none whose
-- metrics are those of the profile.
local function source_of(trace, given)
   local rows, timed = profiles.timed_samples(trace, traces.of(trace), given)
   local weights, counts, lasts
   if rows and timed.stack == "stack" then
      weights, counts, lasts = weights_of(timed, given.metrics)
   end
   if not weights then
      return nil
   end
   local ends = rows:aggregate { "first = min(time)", "last = max(time)", "n = count",
      "known = count(time)" }:rows()[1]
   return ends.first and { trace = trace, keys = keys_of(rows, timed), weights = weights,
      rows = rows:where { time = conditions.no(conditions.missing) }, counts = counts,
      lasts = lasts, first = ends.first, count = ends.known, length = ends.last - ends.first + 1,
      untimed = ends.n - ends.known } or nil
end

-- Returns the least power of two that is not below a number: lengths of time in which the samples
-- of two runs are summed are multiples of each other.
local function power_of(number)
   local power = 1
   while power < number and power < 1 << 61 do
      power = power << 1
   end
   return power
end

-- Returns the members of the samples in at most given.size bytes, and what they are: they are
-- summed over longer and longer times, and if a length would exceed a part of the trace, with fewer
-- contexts. Nil: they do not fit.
local function fitting(source, given)
   local each, contexts = SAMPLE_SIZE + 2 * #source.weights, given.size * CONTEXTS // CONTEXT_SIZE
   local most = math.max(given.size * (1 - CONTEXTS) // each | 0, 1)
   local coarse = power_of(math.max(source.length // most * STACKS, 2))
   local first = source.count > most and coarse or 1
   while contexts >= 1 and given.size >= LEAST_SIZE do
      source.places, source.contexts = places_of(source, given.functions, contexts)
      local width = first
      repeat
         local text, found = members_of(source, width, 3 * most)
         if text and #text <= given.size then
            return text, found
         end
         -- Rare stacks have hardly any neighbours: twice the length is not half of the samples.
         local excess = text and #text / given.size or 2
         width = math.max(power_of(width * math.max(2, excess * excess * excess // 1 | 0)), coarse)
      until width > source.length // LEAST_PARTS
      contexts = contexts // FEWER
   end
end

---Returns whether a page shows the samples of a trace by time.
---@param trace profio.Trace
---@return boolean
function sampled.fits(trace)
   local name = profiles.span_table(traces.of(trace))
   return name ~= nil and name ~= "events"
end

---Returns the samples for the page's scripts, as a member of a JSON object.
---@param trace profio.Trace
---@param given table from, to, lane; lanes: most that are drawn; size: bytes that they may take;
---functions: of the page (profio.PageFunctions); member: its name in the JSON object; metrics: of
---the profile
---@return string|nil nil: there are no such samples
---@return { length: integer, lanes: integer, few: string|nil, notes: string[] }|nil found few:
---which lanes are drawn, if not all; notes: what is left out
function sampled.text(trace, given)
   local source = source_of(trace, given)
   if not source then
      return nil
   elseif source.length <= 0 then
      return nil, { notes = { "the samples are not shown by time: their times lie more than 292 "
         .. "years apart" } }
   end
   source.drawn = lanes.limit(given, given.size // LANE_SIZE | 0)
   given.functions.room = given.functions.room + (given.size * NAMES // 1 | 0)
   local text, found = fitting(source, given)
   if not text then
      return nil, { notes = { "the samples are too many to be shown by time: size = N has room "
         .. "for N bytes" } }
   end
   found.few = lanes.few(source.drawn, found.lanes, "samples")
   found.notes = { found.few and found.few .. ": lanes = N draws N" }
   found.notes[#found.notes + 1] = source.untimed > 0 and ("%d samples have no time: they are in "
      .. "no range"):format(source.untimed) or nil
   return ('"%s":{"drawn":%d,"few":%s,%s},\n'):format(given.member, source.drawn,
      found.few and lanes.script(found.few) or "null", text), found
end

return sampled
