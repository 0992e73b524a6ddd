-- XppPat's call/time statistics: its columns, its order and its line Sum, in milliseconds.

local columns = require "profio.reports.columns"
local lanes = require "profio.exports.lanes"
local span = require "profio.cli.selection"
local xpp = require "profio.reports.xpp.entry_tables"

local xpppat = {
   name = "xpppat",
   help = "Xbase++: calls and times of functions, as XppPat prints them",
   uses = { "span", "follow" },
   narrows = true,
   columns = {
      { name = "call", help = "the function; Sum in the last row" },
      { name = "numbers", help = "number of calls" },
      { name = "timeclear", help = "time without traced callees, in ms" },
      { name = "timegross", help = "time with them, in ms" },
      { name = "timemax", help = "the longest timeclear of one call, in ms" },
      { name = "timemin", help = "the shortest timeclear of one call, in ms" },
      { name = "timecall", help = "timeclear / numbers, in ms" },
      { name = "percclear", help = "timeclear in per cent of the last time of the trace" },
      { name = "thread", help = "the thread, with per_thread" },
   },
   options = {
      xpp.recursion,
      { name = "per_thread", type = "bool", default = false,
        help = "a table for each thread, instead of one for all" },
   },
}

xpppat.fits = xpp.fits

local fields = { { "call", "name" }, { "numbers", "int" }, { "timeclear", "num" },
   { "timegross", "num" }, { "timemax", "num" }, { "timemin", "num" }, { "timecall", "num" },
   { "percclear", "num" }, { "thread", "int" } }

-- {====== Numbers ======

local function by_name(a, b)
   if a.lane ~= b.lane then
      return (a.lane or 0) < (b.lane or 0)
   end
   return a.area < b.area
end

-- Returns whether there is more than one run; the events must have been read.
local function has_runs(trace)
   for _, warning in ipairs(trace.warnings) do
      if warning.code == "xpp-run-begins" then
         return true
      end
   end
   return trace.info.files ~= nil
end

-- Returns the last time; for several runs the sum of their last times.
local function whole_of(context)
   local _, to = span.of(context.trace, context.given)
   local whole = 0
   for _, run in ipairs(lanes.runs(context.trace)) do
      whole = whole + math.min(run.last, to or run.last)
   end
   return whole
end

-- Returns the sums of functions in each thread, or in the threads of --lane.
local function sums_in_lanes(context, options)
   local keys = options.per_thread and { "lane", "area" } or { "area" }
   return context:calls_with { recursion = options.recursion }:group(table.unpack(keys)):aggregate {
      "count = sum(count)", "net = sum(net)", "gross = sum(gross)", "net_max = max(net)",
      "net_min = min(net)", "last_stop = max(stop)" }:rows()
end

-- Returns the sums over all threads, without a row per call.
local function sums_of_all(context, options)
   local from, to = span.of(context.trace, context.given)
   return context.trace:call_statistics { recursion = options.recursion, from = from, to = to,
      quantiles = "" }:rows("area", "count", "net", "gross", "net_max", "net_min", "last_stop")
end

-- Returns functions with their sums, in order of thread and name, and the last time of all.
local function sums_of(context, options)
   options.recursion = options.recursion or "outermost"
   local is_by_lane = options.per_thread or context.given.lane
   local list = is_by_lane and sums_in_lanes(context, options) or sums_of_all(context, options)
   table.sort(list, by_name)
   local last = 0
   for _, sum in ipairs(list) do
      last = math.max(last, sum.last_stop)
   end
   return list, has_runs(context.trace) and whole_of(context) or last
end

local function percent(part, whole)
   return whole > 0 and 100.0 * part / whole or 0
end

local function rounded(number)
   return math.floor(number * 100 + 0.5) / 100
end

-- Returns XppPat's line Sum: only its share is meaningful. It adds the shares before rounding.
local function sum_row(shares, thread)
   return { "Sum", 0, 0.0, 0.0, 0.0, 0.0, 0.0, rounded(shares), thread }
end

local function function_row(sum, share)
   local ms = xpp.MS
   local numbers, clear = sum.count, sum.net or 0
   return { sum.area, numbers, clear / ms, (sum.gross or 0) / ms, (sum.net_max or 0) / ms,
      (sum.net_min or 0) / ms, numbers > 0 and clear / numbers / ms or 0.0, rounded(share),
      sum.lane }
end

local function rows_of(context, options)
   local list, last = sums_of(context, options)
   local rows, shares = {}, 0
   if #list == 0 then
      rows[1] = sum_row(0)
   end
   for i, sum in ipairs(list) do
      local share = percent(sum.net or 0, last)
      rows[#rows + 1], shares = function_row(sum, share), shares + share
      if not list[i + 1] or list[i + 1].lane ~= sum.lane then
         rows[#rows + 1], shares = sum_row(shares, sum.lane), 0
      end
   end
   return rows
end

---@param context profio.Context
---@return userdata
function xpppat.reader(context)
   local options = context:report_options(xpppat)
   return xpp.reader(context.trace, fields, rows_of(context, options))
end

-- }======

-- {====== The text ======

local title = { "CALL", "NUMBERS", "TIMECLEAR", "TIMEGROSS", "TIMEMAX", "TIMEMIN", "TIMECALL",
   "PERCCLEAR" }

-- Formats a time in ms, as an integer if it is one.
local function shown(ms)
   return ms % 1 == 0 and ("%d"):format(ms) or (("%.2f"):format(ms))
end

local function text_row(row)
   return { row.call, tostring(row.numbers), shown(row.timeclear), shown(row.timegross),
      shown(row.timemax), shown(row.timemin), shown(row.timecall), ("%.2f"):format(row.percclear) }
end

---@param context profio.Context
---@param out profio.Output
function xpppat.text(context, out)
   local tables = {}
   for row in context:records(context:narrow(context:view_of(xpppat))) do
      local last = tables[#tables]
      if not last or last.thread ~= row.thread then
         last = { thread = row.thread, title }
         tables[#tables + 1] = last
      end
      last[#last + 1] = text_row(row)
   end
   for i, rows in ipairs(tables) do
      if rows.thread then
         out:write(i > 1 and "\n" or "", "Thread ", tostring(rows.thread), "\n")
      end
      columns(out, rows, { true })
   end
end

-- }======

return xpppat
