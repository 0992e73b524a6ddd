-- Calls: intervals computed from the events of a trace. csrc/kernels/calls/call.h defines them.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local chunks = require "profio.internal.chunks"
local options = require "profio.internal.options"
local view = require "profio.view"

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
         "and after, to the ends of the trace" },
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
calls.statistics_options = table.move(calls.options, 1, #calls.options, 5, {
   { name = "by", type = "choice", choices = { "area", "context", "caller" }, default = "area",
      help = "one row for each area; for each area in each lane; or for each area and its caller" },
   { name = "quantiles", type = "text", default = "p50,p99",
      help = "quantiles of each duration, separated by commas; empty: none" },
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

-- Returns a function that opens the events of a trace.
local function events_of(trace, state, mine)
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
   local events = events_of(trace, state, mine)
   return view.over(function()
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
   copy.parts, copy.rows, copy.threads = {}, rows, 1
   if rows then
      local count
      copy.threads, count = chunks.of(rows, mine.threads, mine.parts)
      for i = 2, count do
         copy.parts[i - 1] = assert(part:reader "events")
      end
   end
   return copy
end

-- }======

---Returns statistics of the calls of a trace by area, without a row per call. See
---trace:call_statistics.
---@param trace profio.Trace
---@param state table of the trace
---@param given table|nil by, quantiles, and the options of calls
---@return profio.View
function calls.statistics(trace, state, given)
   local mine = checked(given, calls.statistics_options, "call_statistics")
   local events, ranks = events_of(trace, state, mine), {}
   for rank in (mine.quantiles or "p50,p99"):gmatch "[^,%s]+" do
      ranks[#ranks + 1] = rank
   end
   mine.quantiles = ranks
   return view.over(function()
      local is_read = not state.schema.events.stage and mine.recording ~= "events"
      local rows = is_read and chunks.rows(trace, state, "events", true) or nil
      return core.statistics(events(), in_parts(mine, state.parts[1], rows))
   end, trace)
end

return calls
