-- XppPat's call/time statistics: its columns, its order and its line Sum, in milliseconds.

local clock_runs = require "profio.internal.calls.clock_runs"
local columns = require "profio.reports.columns"
local span = require "profio.internal.command.selection"
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
      { name = "percclear", help = "timeclear in per cent of the last time of the thread, or of "
         .. "the sum of these over all threads" },
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

-- Returns the sums of functions in each thread, or in the threads of --lane.
local function sums_in_lanes(context, options)
   return context:calls_with { recursion = options.recursion }:group("lane", "area"):aggregate {
      "count = sum(count)", "net = sum(net)", "gross = sum(gross)", "net_max = max(net)",
      "net_min = min(net)", "last_stop = max(stop)" }:rows()
end

-- Returns the same for all threads, without a row per call.
local function sums_of_all(context, options)
   local from, to = span.of(context.trace, context.given)
   local all, list = context.trace:call_statistics { by = "context", recursion = options.recursion,
      from = from, to = to, quantiles = "" }:rows("area", "context", "count", "net", "gross",
      "net_max", "net_min", "last_stop"), {}
   for _, sum in ipairs(all) do
      sum.lane = sum.context
      list[#list + 1] = sum.lane and sum or nil
   end
   return #list > 0 and list or all -- of a trace without threads
end

-- Returns the time of each thread: its last one, as XppPat counts it; of several runs the sum.
local function thread_times(context, list)
   local times = {}
   if not has_runs(context.trace) then
      for _, sum in ipairs(list) do
         local lane = sum.lane or false
         times[lane] = math.max(times[lane] or 0, sum.last_stop)
      end
      return times
   end
   local _, to = span.of(context.trace, context.given)
   for _, run in ipairs(clock_runs.of(context.trace, "thread")) do
      local lane = run.of or false
      times[lane] = (times[lane] or 0) + math.min(run.last, to or run.last)
   end
   return times
end

-- Adds the sums of one thread to those of others.
local function add(all, sum)
   for _, name in ipairs { "count", "net", "gross" } do
      all[name] = (all[name] or 0) + (sum[name] or 0)
   end
   if sum.net_max then
      all.net_max = math.max(all.net_max or sum.net_max, sum.net_max)
      all.net_min = math.min(all.net_min or sum.net_min, sum.net_min)
   end
end

-- Returns the sums of each function over all threads, and the time of these threads.
local function merged(list, times)
   local areas, all, whole, counted = {}, {}, 0, {}
   for _, sum in ipairs(list) do
      local lane = sum.lane or false
      whole = whole + (counted[lane] and 0 or times[lane] or 0)
      counted[lane] = true
      if not areas[sum.area] then
         areas[sum.area] = { area = sum.area }
         all[#all + 1] = areas[sum.area]
      end
      add(areas[sum.area], sum)
   end
   return all, { [false] = whole }
end

-- Returns functions with their sums, in order of thread and name, and the times of the threads;
-- with the key false that of all.
local function sums_of(context, options)
   options.recursion = options.recursion or "outermost"
   local list = context.given.lane and sums_in_lanes(context, options)
      or sums_of_all(context, options)
   local times = thread_times(context, list)
   if not options.per_thread then
      list, times = merged(list, times)
   end
   table.sort(list, by_name)
   return list, times
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
   local list, times = sums_of(context, options)
   local rows, shares = {}, 0
   if #list == 0 then
      rows[1] = sum_row(0)
   end
   for i, sum in ipairs(list) do
      local share = percent(sum.net or 0, times[sum.lane or false] or 0)
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
