-- Calls: intervals made of the events of a trace. csrc/kernels/calls/call.h says what they are.

local conditions = require "profio.conditions"
local core = require "profio.core"
local division = require "profio.division"
local options = require "profio.options"
local view = require "profio.view"

local calls = {}

---What trace:calls takes.
---@type profio.Option[]
calls.options = {
   { name = "recursion", type = "choice", choices = { "all", "outermost" }, default = "all",
      help = "a call within one of the same function has a gross and a call of its own, or " ..
         "they count in the outermost one only" },
   { name = "partial", type = "choice", choices = { "include", "exclude" }, default = "include",
      help = "calls that were not recorded from enter to leave are there with what was " ..
         "recorded, or left out" },
   { name = "edges", type = "choice", choices = { "exclude", "include" }, default = "exclude",
      help = "the time outside an area begins at its first leave and ends at its last enter, " ..
         "or lasts as long as the trace" },
   { name = "from", type = "int", help = "only what happens at this time and later; what began " ..
      "before is cut there and flagged so" },
   { name = "to", type = "int", help = "only what happens before this time; what lasts longer " ..
      "is cut there and flagged so" },
   { name = "last", type = "int", help = "when the recording ended, where that is later than " ..
      "the last event: what is open then lasted so long" },
   { name = "recording", type = "choice", choices = { "stated", "events" }, default = "stated",
      help = "what is open at the end lasted until the recording ended as the file states " ..
         "it, or to the last event" },
   { name = "max_depth", type = "int", default = 65536,
      help = "calls deeper than this end where the next one begins" },
}

---What trace:call_statistics takes beside that.
---@type profio.Option[]
calls.statistics_options = table.move(calls.options, 1, #calls.options, 5, {
   { name = "by", type = "choice", choices = { "area", "context", "caller" }, default = "area",
      help = "a row for each area; then one for each area in each lane; or one for each area " ..
         "and its caller" },
   { name = "quantiles", type = "text", default = "p50,p99",
      help = "which quantiles there are of each length, with commas between; empty: none" },
   { name = "threads", type = "int", help = "how many run at once, at most; else as many as the " ..
      "machine has, up to 8" },
   { name = "parts", type = "int", help = "in how many parts the events are read; the result is " ..
      "the same" },
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

-- A function that opens the events of a trace.
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

---The calls of a trace, in order of stop. See trace:calls.
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

---The contexts of a timeline: where each call was made, its net time and that it was. Lines and
---states have no stack.
---@param rows profio.View of calls
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

-- {====== In parts ======

-- The options of the core for one reading: more readers of the events, if there are parts.
local function in_parts(mine, part, rows)
   local copy = {}
   for name, value in pairs(mine) do
      copy[name] = value
   end
   copy.parts, copy.rows, copy.threads = {}, rows, 1
   if rows then
      local count
      copy.threads, count = division.of(rows, mine.threads, mine.parts)
      for i = 2, count do
         copy.parts[i - 1] = assert(part:reader "events")
      end
   end
   return copy
end

-- }======

---What the calls of a trace come to, by area; no call is made a row. See trace:call_statistics.
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
      local rows = is_read and division.rows(trace, state, "events", true) or nil
      return core.statistics(events(), in_parts(mine, state.parts[1], rows))
   end, trace)
end

return calls
