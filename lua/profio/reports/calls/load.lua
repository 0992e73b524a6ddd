-- Load of lanes or cores over intervals of time.

local calls = require "profio.reports.calls.calls"
local clock_runs = require "profio.internal.calls.clock_runs"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local os_states = require "profio.internal.calls.os_states"
local plain = require "profio.internal.plain"
local span = require "profio.internal.command.selection"
local times = require "profio.internal.times"
local traces = require "profio.internal.trace"
local views = require "profio.internal.views"

local load = {
   name = "load",
   help = "load of lanes or cores over time",
   uses = { "span", "unit", "follow" },
   narrows = true,
   columns = {
      { name = "start", help = "begin of the interval" },
      { name = "stop", help = "end of the interval" },
      { name = "lane", help = "the thread, task or core" },
      { name = "core", help = "the core, with --set by=core" },
      { name = "busy", help = "time in which a function was active, in ns" },
      { name = "load_share", help = "busy divided by the length of the interval" },
   },
   options = {
      { name = "pieces", type = "int", default = 20, help = "number of intervals" },
      { name = "width", type = "text", help = "length of an interval (10ms), instead of pieces" },
      { name = "by", type = "choice", choices = { "lane", "core" }, default = "lane",
        help = "show the load of lanes or of cores" },
   },
}

---@param trace profio.Trace
function load.fits(trace)
   local fits, reason = calls.fits(trace)
   if fits then
      fits, reason = clock_runs.fits(trace)
   end
   return fits, reason
end

-- Returns the span of time and the length of an interval.
local function pieces_of(context, options)
   local from, to = span.of(context.trace, context.given)
   if not from or not to then
      local first, last = span.ends(context.trace)
      from = from or first or 0
      to = to or (last and math.max(last, from + 1)) or from
   end
   local width = options.width and times.parse(options.width)
   if options.width and (not width or width <= 0) then
      failure.use("--set width must be a time such as 10ms, got '%s'", options.width)
   end
   local pieces = options.pieces or 20
   if pieces < 1 then
      failure.use("--set pieces must be 1 or more, got %d", pieces)
   end
   return from, to, width or math.max(1, (to - from + pieces - 1) // pieces)
end

-- Notes why there is no load: the trace has no calls, only perhaps states of tasks. Notes that
-- cores of tasks are not known.
local function note_missing(context, by)
   local trace = context.trace
   local events = trace:table "events"
   local no_core = by == "core" and os_states.no_core(traces.of(trace))
   if context.given.follow then
      return
   elseif no_core and events:where { core = conditions.missing }:limit(1):count() > 0 then
      context:note(no_core)
   elseif events:where { event = { "enter", "leave" } }:limit(1):count() == 0 then
      context:note("note: the trace has no calls, so nothing has a load; if it has states of "
         .. "tasks: --set os_states=usual, for the load of cores also --set os_core=0 "
         .. "(profio help tasks)")
   end
end

---@param context profio.Context
---@return userdata
function load.reader(context)
   local options = context:report_options(load)
   note_missing(context, options.by)
   local from, to, width = pieces_of(context, options)
   local rows = views.over(function()
      return core.load(context.trace:table "events":reader(), { from = from, to = to,
         width = width, by_core = options.by == "core" })
   end, context.trace)
   return span.in_lane(rows, context.given):reader()
end

local BAR = 40

-- Writes one line for each interval, under a heading for each lane.
---@param context profio.Context
---@param out profio.Output
function load.text(context, out)
   local unit, last, by_core = context.given.unit, nil, context:report_options(load).by == "core"
   for row in context:records(context:narrow(context:view_of(load))) do
      local who = row.lane or row.core or by_core and "core unknown" or "?"
      unit = unit or times.unit(row.stop - row.start)
      if who ~= last then
         out:write(last and "\n" or "", row.core and "core " or "", plain(tostring(who)), "\n")
         last = who
      end
      local full = math.floor(row.load_share * BAR + 0.5)
      out:write((("  %14s  %6.2f%%  %s"):format(times.show(row.start, unit),
         100 * row.load_share, ("#"):rep(full)):gsub("%s+$", "")), "\n")
   end
end

return load
