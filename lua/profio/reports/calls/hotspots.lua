-- Functions by the line at which their calls began, the longest net time first.

local breaks = require "profio.formats.xpp.breaks"
local columns = require "profio.reports.columns"
local core = require "profio.core"
local span = require "profio.internal.command.selection"
local traces = require "profio.internal.trace"
local views = require "profio.internal.views"
local doubts = require "profio.internal.calls.doubts"
local xpp = require "profio.reports.xpp.entry_tables"
local xpp_format = require "profio.formats.xpp"

local hotspots = {
   name = "hotspots",
   help = "Xbase++: functions by the line at which their calls began, most time first",
   uses = { "span", "follow" },
   narrows = true,
   columns = {
      { name = "call", help = "the function" },
      { name = "line", help = "the line of the entry that began the call" },
      { name = "numbers", help = "number of calls" },
      { name = "net", help = "time without traced callees, in ns" },
      { name = "gross", help = "time with them, in ns" },
      { name = "net_share", help = "share of the net time of all" },
   },
   options = { xpp.recursion },
}

hotspots.fits = xpp.fits

local fields = { { "call", "name" }, { "line", "int" }, { "numbers", "int" }, { "net", "int" },
   { "gross", "int" }, { "net_share", "num" } }

-- Returns the calls, with functions and lines as areas.
local function calls_by_line(context, options)
   local trace = context.trace
   local from, to = span.of(trace, context.given)
   local calls = views.over(function()
      local events = core.events(trace.entries:reader(), { by_line = true,
         idle = xpp_format.idle_of(trace:options()),
         ranges = breaks.ranges(traces.of(trace), function()
            return trace.entries:reader()
         end) })
      return core.calls(events, { recursion = options.recursion or "outermost", from = from,
         to = to, counts = doubts.counts(trace) })
   end, trace)
   return span.in_lane(calls, context.given)
end

---@param context profio.Context
---@return userdata
function hotspots.reader(context)
   local options = context:report_options(hotspots)
   local list = calls_by_line(context, options):group("area"):aggregate { "numbers = sum(count)",
      "net = sum(net)", "gross = sum(gross)" }:with_area():sort("-net", "-gross", "area"):rows()
   local all, rows = 0, {}
   for _, sum in ipairs(list) do
      all = all + (sum.net or 0)
   end
   for i, sum in ipairs(list) do
      rows[i] = { sum.area, sum.line, sum.numbers, sum.net, sum.gross,
         all > 0 and (sum.net or 0) / all or 0.0 }
   end
   return xpp.reader(context.trace, fields, rows)
end

---@param context profio.Context
---@param out profio.Output
function hotspots.text(context, out)
   local rows = { { "CALL", "LINE", "NUMBERS", "CLEAR (ms)", "GROSS (ms)", "% CLEAR" } }
   for row in context:records(context:narrow(context:view_of(hotspots))) do
      rows[#rows + 1] = { row.call, tostring(row.line or ""), tostring(row.numbers),
         xpp.ms(row.net or 0), xpp.ms(row.gross or 0), ("%.2f"):format(100 * row.net_share) }
   end
   columns(out, rows, { true })
end

return hotspots
