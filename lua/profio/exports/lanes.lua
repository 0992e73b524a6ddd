-- Shared functions of timeline exports: lanes of a trace, the selected span of time, and writing in
-- pieces.

local clock_runs = require "profio.internal.calls.clock_runs"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local doubts = require "profio.internal.calls.doubts"
local texts = require "profio.internal.texts"

local lanes = { fits = clock_runs.fits }

---Returns the note of an export that falls back on the profile: "without the timeline: ..."; nil if
---the trace has no events or there is no reason.
---@param trace profio.Trace
---@param reason string|false|nil of lanes.fits
---@return string|nil
function lanes.left_out(trace, reason)
   return trace:has "events" and reason and "without the timeline: " .. reason or nil
end

-- {====== Selection ======

---Options that all exports of a trace accept beside their own.
---@type profio.Option[]
lanes.options = {
   { name = "from", type = "int", unit = "ns",
      help = "only from this time on; earlier calls are cut, earlier samples left out" },
   { name = "to", type = "int", unit = "ns",
      help = "only before this time; longer calls are cut" },
   { name = "lane", type = "where", help = "only this lane" },
}

---Appends these options to those of an export.
---@param own profio.Option[]
---@return profio.Option[]
function lanes.with_options(own)
   return table.move(lanes.options, 1, #lanes.options, #own + 1, own)
end

---Appends these options to those of an export that also draws event chains.
---@param own profio.Option[]
---@return profio.Option[]
function lanes.with_chains(own)
   own[#own + 1] = { name = "chains", type = "list",
      help = "event chains, in lanes of their own: as for trace:chains" }
   return lanes.with_options(own)
end

---Returns whether options select a part of a trace.
---@param given table
---@return boolean
function lanes.is_part(given)
   return (given.from or given.to or given.lane) ~= nil
end

---Returns the rows of the selected lanes.
---@param rows profio.View
---@param given table
---@return profio.View
function lanes.narrow(rows, given)
   return given.lane ~= nil and rows:where { lane = given.lane } or rows
end

---Returns the profile of the selected part.
---@param trace profio.Trace
---@param given table
---@return profio.Profile|nil
---@return string|nil message
---@return string|nil code
function lanes.profile(trace, given)
   return trace:profile { from = given.from, to = given.to, lane = given.lane }
end

---Returns the events of the selected lanes, and those of the chains that are drawn.
---@param trace profio.Trace
---@param given table lane, chains; drawn, a list of lanes
---@param from integer|nil
---@param to integer|nil
---@return profio.View
function lanes.events(trace, given, from, to)
   local function part(rows)
      return (from or to) and rows:range(from, to) or rows
   end
   local rows = lanes.narrow(part(trace.events), given)
   if given.chains then
      rows = rows:merge(part(trace:chain_events(given.chains)))
   end
   return given.drawn and rows:where { lane = given.drawn } or rows
end

-- }======

-- {====== Lanes ======

---@class profio.Lane
---@field title string
---@field value any nil: unknown, or there are no lanes
---@field number integer id of its spans
---@field rows integer number of opens and closes

---Returns whether the events of a trace have a column.
---@param trace profio.Trace
---@param name string
---@return boolean
function lanes.has_column(trace, name)
   for _, column in ipairs(trace.events.columns) do
      if column == name then
         return true
      end
   end
   return false
end

local function title_of(value, has_any)
   if value ~= nil then
      return tostring(value)
   end
   return has_any and "(no lane)" or "main"
end

---Removes the values of variables, which are in no lane, and unless `keeps_states` their states,
---from rows with a column `area`.
---@param rows profio.View
---@param keeps_states boolean|nil
---@return profio.View with the columns of the areas
function lanes.without_variables(rows, keeps_states)
   rows = rows:with_area()
   local classes = { "variable$", "aux$", "inspector$", not keeps_states and "state$" or nil }
   for _, class in ipairs(classes) do
      rows = rows:where { class = conditions.no(conditions.match(class)) }
   end
   return rows
end

---Returns the writes of variables in the selected part, in two views: with a value, and without.
---@param trace profio.Trace
---@param given table
---@return profio.View|nil values nil: no writes have values
---@return profio.View others
---@return string|nil column of the values: `number` has more than whole numbers
function lanes.writes(trace, given)
   local writes = lanes.narrow(trace.events:range(given.from, given.to), given)
      :where { event = "write", time = conditions.no(conditions.missing) }
   local column = lanes.has_column(trace, "number") and "number"
      or lanes.has_column(trace, "value") and "value" or nil
   if not column then
      return nil, writes, nil
   end
   return writes:where { [column] = conditions.no(conditions.missing) },
      writes:where { [column] = conditions.missing }, column
end

-- Compares titles with the digits in them as numbers.
local function is_natural_before(a, b)
   a.key, b.key = a.key or texts.natural_key(a.title), b.key or texts.natural_key(b.title)
   if a.key ~= b.key then
      return a.key < b.key
   end
   return a.title < b.title
end

local ranks = { lane = 1, states = 2, values = 3 }

-- Order of tracks: lanes, states, values of variables; each by name, lanes without a name last.
local function is_before(a, b)
   if ranks[a.kind] ~= ranks[b.kind] then
      return ranks[a.kind] < ranks[b.kind]
   elseif (a.value == nil) ~= (b.value == nil) then
      return a.value ~= nil
   elseif math.type(a.value) == "integer" and a.value ~= b.value then
      return a.value < b.value
   elseif a.title ~= b.title then
      return is_natural_before(a, b)
   end
   return a.number < b.number
end

-- Makes the names of variables unique: the second one is called "name (2)".
local function tell_apart(tracks)
   local count = {}
   for _, track in ipairs(tracks) do
      local key = track.kind .. track.title
      count[key] = (count[key] or 0) + 1
      if count[key] > 1 then
         track.title = ("%s (%d)"):format(track.title, count[key])
      end
   end
end

---@class profio.Track
---@field kind "lane"|"states"|"values" calls of a lane, or states or values of a variable
---@field title string the name of the lane or variable
---@field value any for a lane: as in column `lane`
---@field area integer for values: the id of the variable
---@field number integer id of its reader
---@field rows integer rows of its reader: opens and closes

-- Returns the `most` lanes with most events.
local function busiest(list, most)
   table.sort(list, function(a, b)
      return a.events > b.events or a.events == b.events and a.number < b.number
   end)
   return table.move(list, 1, most, 1, {})
end

---Most lanes that are drawn by default.
lanes.MOST = 250

---Returns how many lanes are drawn of those that have room.
---@param given table lanes: how many the user wants
---@param room integer
---@return integer at least 1
function lanes.limit(given, room)
   return math.max(given.lanes or math.min(lanes.MOST, room), 1)
end

---Returns which lanes are drawn, or nil if all are.
---@param most integer
---@param all integer
---@param what "events"|"samples"
---@return string|nil
function lanes.few(most, all, what)
   return all > most and ("the %s with most %s of %d %s drawn"):format(
      most == 1 and "lane" or most .. " lanes", what, all, most == 1 and "is" or "are") or nil
end

---Returns the selected lanes with calls, in order, and the time span of all events. Times in JSON
---begin at 0, because its numbers are doubles.
---@param trace profio.Trace
---@param given table
---@param most integer lanes; if there are more, those with most events
---@return { title: string, value: any, is_chain: boolean }[]|nil nil: the time span needs more than
---64 bits
---@return integer first
---@return integer length
---@return integer count of lanes, including those left out
function lanes.of(trace, given, most)
   local has_any = given.chains ~= nil or lanes.has_column(trace, "lane")
   local rows = lanes.events(trace, given)
   local ends = rows:aggregate { "first = min(time)", "last = max(time)" }:rows()[1]
   local first, last, list = ends.first or 0, ends.last or 0, {}
   if last - first < 0 then
      return nil, first, 0, 0
   end
   rows = lanes.without_variables(rows)
   for row in (has_any and rows:group "lane" or rows):aggregate { "n = count",
      "class = first(class)" }:records()
   do
      list[#list + 1] = row.n > 0 and { kind = "lane", title = title_of(row.lane, has_any),
         value = row.lane, number = #list, events = row.n, is_chain = row.class == "chain" } or nil
   end
   local count = #list
   list = count > most and busiest(list, most) or list
   table.sort(list, is_before)
   first = math.max(first, given.from or first)
   return list, first, math.max(math.min(last, given.to or last) - first, 0), count
end

---Returns the spans of the selected lanes, and their tracks in order. The events are read once.
---@param trace profio.Trace
---@param given table from, to, lane, chains
---@param kept { lines: boolean|nil, variables: boolean|nil, idle: boolean|nil }
---@return profio.core.Spans|nil
---@return profio.Track[]|string tracks
---@return integer|string first time
---@return integer|nil length
function lanes.spans(trace, given, kept)
   local spans, message, code = core.store_spans(lanes.events(trace, given):reader(), {
      from = given.from, to = given.to, lines = kept.lines, variables = kept.variables,
      idle = kept.idle, counts = doubts.counts(trace) })
   if not spans then
      return nil, message, code
   end
   local first, last = spans:ends()
   if last - first < 0 then -- more than 64 bits
      return nil, trace.path .. ": its first and last times lie more than 292 years apart: " ..
         "export a part, with from and to", "unsupported"
   end
   local list = spans:tracks()
   local has_any = given.chains ~= nil or lanes.has_column(trace, "lane")
   for number, track in ipairs(list) do
      track.number = number
      track.title = track.variable or title_of(track.value, has_any)
      if track.run > 0 then
         track.title = ("%s (run %d)"):format(track.title, track.run + 1)
      end
   end
   table.sort(list, is_before)
   tell_apart(list)
   return spans, list, first, last - first
end

-- The deepest call that Perfetto draws on a track. It drops deeper ones, and their ends would end
-- the calls around them.
local MOST_NESTED = 512

---Returns the calls of a track in readers of 512 levels each: what Perfetto draws on one track.
---@param spans profio.core.Spans
---@param track profio.Track
---@return profio.core.Reader[]
---@return string[] titles of their tracks
function lanes.layers(spans, track)
   if track.rows <= 2 * MOST_NESTED then
      return { spans:reader(track.number) }, { track.title }
   end
   local deepest = core.rows(core.group(spans:reader(track.number), {},
      { { fn = "max", column = "depth", name = "depth" } }))[1].depth
   if deepest <= MOST_NESTED then
      return { spans:reader(track.number) }, { track.title }
   end
   local readers, titles = {}, {}
   for from = 1, deepest, MOST_NESTED do
      readers[#readers + 1] = core.where(spans:reader(track.number),
         conditions.tests { depth = conditions.between(from, from + MOST_NESTED - 1) })
      titles[#titles + 1] = from == 1 and track.title
         or ("%s, calls from depth %d on"):format(track.title, from)
   end
   return readers, titles
end

-- }======

-- {====== Text ======

---Returns a text as JSON string.
---@param text string
---@return string
function lanes.json(text)
   local reader = core.rows_reader({ { "text", "name" } }, { { text } })
   return (core.write_listing(reader, { template = "{text:json}" }))
end

---Returns a text as JSON string for a script in a page: no tag can end it.
---@param text string
---@return string
function lanes.script(text)
   return (lanes.json(text):gsub("<", "\\u003c"))
end

---Returns losses as further members of a JSON object; "" if there are none.
---@param notes string[]
---@return string
function lanes.losses(notes)
   local list = {}
   for i, words in ipairs(notes) do
      list[i] = lanes.json(words)
   end
   return #list == 0 and "" or ',"losses":[' .. table.concat(list, ",") .. "]"
end

---Returns the losses in a few words to append to a name; "" if there are none.
---@param notes string[]
---@return string
function lanes.damage(notes)
   if #notes == 0 then
      return ""
   end
   return (" (damaged: %s%s)"):format(notes[1],
      #notes > 1 and (" and %d more"):format(#notes - 1) or "")
end

-- An output file that keeps its first failure: later writes are ignored.
local Out = {}
Out.__index = Out

---@param file file*
function lanes.out(file)
   return setmetatable({ file = file, failure = nil }, Out)
end

function Out:write(...)
   if self.failure then
      return
   end
   local ok, _, number = self.file:write(...)
   if not ok then
      self.failure = { select(2, core.write_failure(self.file, number)) }
   end
end

---Writes a text several times.
---@param text string
---@param times integer
function Out:repeated(text, times)
   local many = text:rep(math.min(times, 4096))
   for _ = 1, times // 4096 do
      self:write(many)
   end
   self:write(many:sub(1, times % 4096 * #text))
end

---Writes with a function of the core, which takes the file as its third argument.
---@param write function
---@param what any
---@param options table
---@return any result of `write`; 0 after a failure
function Out:call(write, what, options)
   if self.failure then
      return 0
   end
   local done, message, code, broken = write(what, options, self.file)
   if not done then
      self.failure = { message, code, broken }
   end
   return done or 0
end

---Writes each row of a view by a template; see core.write_listing.
---@param rows profio.View|profio.core.Reader
---@param template string|table one for all rows, or { kind =, templates = }
---@return integer count
function Out:listing(rows, template)
   local options = type(template) == "table" and template or { template = template }
   local reader = type(rows) == "userdata" and rows or rows:reader()
   return self:call(core.write_listing, reader, options)
end

---Returns the result of the export.
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function Out:result()
   if self.failure then
      return nil, self.failure[1], self.failure[2], self.failure[3]
   end
   return true
end

-- }======

return lanes
