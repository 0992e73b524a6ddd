-- Calls: intervals computed from the events of a trace. csrc/kernels/calls/call.h defines them.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local chunks = require "profio.internal.chunks"
local clock_runs = require "profio.internal.calls.clock_runs"
local options = require "profio.internal.options"
local views = require "profio.internal.views"
local doubts = require "profio.internal.calls.doubts"

local calls = {}

---Options of trace:calls.
---@type profio.Option[]
calls.options = {
   { name = "recursion", type = "choice", choices = { "all", "outermost" }, default = "all",
      help = "nested calls of one function have a gross and call time each, or count only in " ..
         "the outermost one" },
   { name = "partial", type = "choice", choices = { "include", "exclude" }, default = "include",
      help = "calls that were not recorded from enter to leave: include the recorded part, or " ..
         "leave them out" },
   { name = "edges", type = "choice", choices = { "exclude", "include" }, default = "exclude",
      help = "the time outside an area: from its first leave to its last enter, or also before " ..
         "and after, to the ends of its file" },
   { name = "from", type = "int", help = "only calls at this time or later; calls that began " ..
      "earlier are cut there and flagged so" },
   { name = "to", type = "int", help = "only calls before this time; calls that last longer " ..
      "are cut there and flagged so" },
   { name = "last", type = "int", help = "end of the recording, if that is later than the last " ..
      "event: calls that are still open end there" },
   { name = "recording", type = "choice", choices = { "stated", "events" }, default = "stated",
      help = "calls that are open at the end last until the end of the recording that the file " ..
         "states, or until the last event" },
   { name = "max_depth", type = "int", default = 65536,
      help = "calls deeper than this end where the next one begins" },
}

---Options of trace:call_statistics.
---@type profio.Option[]
calls.statistics_options = table.move(calls.options, 1, #calls.options, 6, {
   { name = "by", type = "choice", choices = { "area", "context", "caller" }, default = "area",
      help = "one row for each area; for each area in each lane; or for each area and its caller" },
   { name = "quantiles", type = "text", default = "p50,p99",
      help = "quantiles of each duration, separated by commas; empty: none" },
   { name = "order", type = "choice", choices = { "name", "first" }, default = "name",
      help = "rows by context and name, in whatever order files are given; or in the order in " ..
         "which areas are first used" },
   { name = "threads", type = "int", help = "most threads; default: the number of processors, " ..
      "up to 8" },
   { name = "parts", type = "int", help = "number of chunks in which the events are read; the " ..
      "result is the same" },
})

local function checked(given, declared, owner)
   local mine = options.check(declared, given or {}, owner)
   if mine.max_depth and (mine.max_depth < 2 or mine.max_depth > 1 << 24) then
      error("option 'max_depth' must be from 2 to 16777216, got " .. mine.max_depth, 0)
   end
   return mine
end

local function no_events(trace, state)
   error(("format '%s' has no table 'events', which calls are made from; there are: %s"):format(
      state.format.name, table.concat(trace.tables, ", ")), 0)
end

---Returns a function that opens the events of a trace; raises if it has none.
---@param trace profio.Trace
---@param state table of the trace
---@param mine table checked options: recording
---@return fun(): profio.core.Reader
function calls.events(trace, state, mine)
   if not state.schema.events then
      no_events(trace, state)
   end
   local events = trace:table "events"
   if mine.recording == "events" then
      events = events:where { event = conditions.no "end" }
   end
   return function()
      return events:reader()
   end
end

---Returns the calls of a trace, in order of stop. See trace:calls.
---@param trace profio.Trace
---@param state table of the trace
---@param given table|nil recursion, partial, edges, from, to, max_depth
---@return profio.View
function calls.of_trace(trace, state, given)
   local mine = checked(given, calls.options, "calls")
   mine.counts = doubts.counts(trace)
   local events = calls.events(trace, state, mine)
   return views.over(function()
      return core.calls(events(), mine)
   end, trace)
end

---Returns the calling contexts of a timeline with the net time and the number of the calls. Calls
---without a stack (lines, states) are left out.
---@param rows profio.View calls
---@return profio.core.Contexts|nil
---@return string|nil message
---@return string|nil code
function calls.contexts(rows)
   return core.contexts {
      reader = core.where(rows:reader(),
         { { column = "stack", op = "missing", negate = true } }),
      stack = "stack",
      metrics = { { name = "time", unit = "ns", column = "net" },
         { name = "calls", unit = "count", column = "count" } },
   }
end

-- {====== Parallel reading ======

-- Returns the options of the core for one reading, with a reader for each further chunk.
local function in_parts(mine, part, rows)
   local copy = {}
   for name, value in pairs(mine) do
      copy[name] = value
   end
   local count
   copy.threads, count = chunks.of(rows or 1, mine.threads, mine.parts)
   copy.parts, copy.rows = {}, rows
   for i = 2, count do
      copy.parts[i - 1] = assert(part:reader "events")
   end
   return copy
end

-- }======

-- Checks the options of statistics; quantiles become a list.
local function checked_statistics(given)
   local mine, ranks = checked(given, calls.statistics_options, "call_statistics"), {}
   for rank in (mine.quantiles or "p50,p99"):gmatch "[^,%s]+" do
      ranks[#ranks + 1] = rank
   end
   mine.quantiles = ranks
   return mine
end

-- Returns a function that reads the events of a trace with core.statistics or core.packed_sums.
local function reading(compute, trace, state, mine)
   mine.counts = doubts.counts(trace)
   local events = calls.events(trace, state, mine)
   return function()
      local is_read = not state.schema.events.stage and mine.recording ~= "events"
      local rows = is_read and chunks.rows(trace, state, "events", true) or nil
      return compute(events(), in_parts(mine, state.parts[1], rows))
   end
end

---Returns the packed sums of the calls of a trace (csrc/kernels/statistics/packed_sums.h). Raises
---if a store has none.
---@param trace profio.Trace
---@param state table of the trace
---@param given table|nil options of trace:call_statistics
---@return string
function calls.packed_sums(trace, state, given)
   local mine, stored = checked_statistics(given), state.parts[1].stored
   if stored then
      local packed, message = stored.sums(mine)
      return packed or error(message, 0)
   end
   return reading(core.packed_sums, trace, state, mine)()
end

-- Returns a reader of the statistics in packed sums.
local function sums_reader(packed, mine, dictionary)
   local reader, message = core.sums_statistics(packed, mine, dictionary)
   return reader or error(message, 0)
end

---Returns the statistics in packed sums. Reading raises if they were computed with other options.
---@param packed string
---@param given table|nil options of trace:call_statistics
---@return profio.View
function calls.of_sums(packed, given)
   local mine = checked_statistics(given)
   return views.over(function()
      return sums_reader(packed, mine, core.dictionary())
   end)
end

---Returns the first and the last time of a trace: from the header, or by reading the rows; several
---files have a header each, so they are read.
---@param trace profio.Trace
---@param timed fun(): profio.View returns rows with column time
---@return integer|nil first nil: there are no rows
---@return integer|nil last
function calls.ends(trace, timed)
   local first, last = trace.info.first, trace.info.last
   local is_told = math.type(first) == "integer" and math.type(last) == "integer"
   if is_told and not trace.info.files then
      return first, last
   end
   local row = timed():aggregate { "first = min(time)", "last = max(time)" }:rows()[1]
   return row.first, row.last
end

---Returns the time from the first to the last event of a trace, summed over its runs: its files,
---and the runs in a file whose clock starts again. Net times divided by it are loads.
---@param trace profio.Trace with events
---@param from integer|nil begin of each run, instead of its first event
---@param to integer|nil end of each run, instead of its last event
---@return integer
function calls.length(trace, from, to)
   local info, runs = trace.info, {}
   if info.files or math.type(info.first) ~= "integer" or math.type(info.last) ~= "integer" then
      runs = clock_runs.of(trace)
   end
   if #runs == 0 then
      local first, last = calls.ends(trace, function()
         return trace.events
      end)
      runs[1] = { first = first or 0, last = last or 0 }
   end
   local sum = 0
   for _, run in ipairs(runs) do
      sum = sum + (to or run.last) - (from or run.first)
   end
   return sum
end

---Returns whether a trace has statistics of calls: it has a table of events, or it is a store of
---runs some of which have them.
---@param state table of the trace
---@return boolean
function calls.has_statistics(state)
   local stored = state.stored
   return state.schema.events ~= nil or stored ~= nil and stored.has_calls()
end

-- Options of statistics that do not change the sums.
local free = { quantiles = true, order = true, threads = true, parts = true }

-- Raises for options other than those with which the sums of a store are computed.
local function check_stored(trace, mine)
   for _, option in ipairs(calls.statistics_options) do
      local name, value = option.name, mine[option.name]
      local is_other = value ~= nil and value ~= option.default
      if name == "by" then
         is_other = value == "caller"
      end
      if is_other and not free[name] then
         error(("option '%s': the store %s has statistics of calls by area and by context, with "
            .. "the defaults of the other options: read the files for others"):format(name,
            trace.path), 0)
      end
   end
end

---Returns statistics of the calls of a trace by area, without a row per call. See
---trace:call_statistics. Those of a stored trace come from the packed sums that its function
---stored.sums returns for the checked options; it returns nil and a message if there are none.
---@param trace profio.Trace
---@param state table of the trace
---@param given table|nil by, quantiles, order, and the options of calls
---@return profio.View
function calls.statistics(trace, state, given)
   local mine, stored = checked_statistics(given), state.stored
   if not stored then
      return views.over(reading(core.statistics, trace, state, mine), trace)
   end
   check_stored(trace, mine)
   return views.over(function()
      local packed, message = stored.sums(mine)
      return sums_reader(packed or error(message, 0), mine, state.dictionary)
   end, trace)
end

return calls
