-- The weight of a function, or a metric of its calls, in the runs of each period of time, or of
-- each value of a label.

local aligned = require "profio.reports.columns"
local call_values = require "profio.internal.store.comparing.call_values"
local chart = require "profio.reports.store.chart"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local patterns = require "profio.internal.patterns"
local texts = require "profio.internal.texts"
local times = require "profio.internal.times"
local traces = require "profio.internal.trace"
local trends = require "profio.internal.store.trends"

local trend = {
   name = "trend",
   help = "of a store: the weight of a function, or a metric of its calls, over time, or by label",
   uses = { "metric" },
   narrows = true,
   columns = trends.all_columns(trends.trend_columns, call_values.columns),
   options = {
      { name = "function", type = "text", help = "its name, or ~PATTERN: the functions whose names "
         .. "match a Lua pattern" },
      { name = "by", type = "text", default = "day", help = "hour, day, week or month (UTC), run, "
         .. "a label, or an attribute of runs with texts" },
   },
}

-- With --unit the rows are a plain table.
function trend.text_fits(context)
   return not context.given.unit
end

---@param trace profio.Trace
function trend.fits(trace)
   return trace.format == "store", "it is no store of runs"
end

---Returns the function that is asked for, as a condition.
---@param name string NAME or ~PATTERN
---@return any
function trend.wanted(name)
   local pattern = name:match "^~(.+)$"
   if not pattern then
      return name
   end
   local compiled, problem = patterns.of(pattern)
   return compiled and conditions.match(pattern) or failure.use("%s", problem)
end

---@param context profio.Context
---@return userdata
function trend.reader(context)
   local options = context:report_options(trend)
   if (options["function"] or "") == "" then
      failure.use "report 'trend' expects --set function=NAME; or use profio store trend NAME"
   end
   return failure.check(traces.of(context.trace).stored.compare("trend",
      options.by or "day", context.given.metric, trend.wanted(options["function"]))):reader()
end

local BAR <const> = 24 -- characters

local function percent(share)
   return share and ("%.2f%%"):format(100 * share) or "-"
end

-- Returns a function that gives a value its bar, and the ends of the axis of the bars, if it does
-- not begin at 0.
local function bars_of(rows, column, shown)
   local least, most = math.huge, 0
   for _, row in ipairs(rows) do
      least, most = math.min(least, row[column] or math.huge), math.max(most, row[column] or 0)
   end
   local first, last = chart.axis(least, most)
   return function(value)
      return ("#"):rep(math.floor(BAR * math.max((value or 0) - first, 0) / (last - first) + 0.5))
   end, first > 0 and ("%s to %s"):format(shown(first), shown(last)) or ""
end

-- Returns the function that formats values in columns of rows: times in one unit for all of them.
local function formatter(rows, columns, unit)
   local longest = 0
   for _, row in ipairs(rows) do
      for _, column in ipairs(columns) do
         longest = math.max(longest, row[column] or 0)
      end
   end
   return function(value)
      return not value and "-" or unit == "ns" and times.show(value, times.unit(longest))
         or tostring(math.tointeger(value) or texts.float("%.6g", value))
   end
end

-- Writes the rows with a bar for the share with what the function calls.
local function write_weights(out, rows, unit)
   local named = unit ~= "ns" and unit ~= "" and (" (%s)"):format(unit) or ""
   local bar, axis = bars_of(rows, "total_share", percent)
   local weight = formatter(rows, { "total" }, unit)
   local lines = { { "by", "runs", "self" .. named, "total" .. named, "self share", "total share",
      "p10", "p50", "p90", axis } }
   for i, row in ipairs(rows) do
      lines[i + 1] = { row.by or "-", tostring(row.runs), weight(row.self), weight(row.total),
         percent(row.self_share), percent(row.total_share), percent(row.p10_share),
         percent(row.p50_share), percent(row.p90_share), bar(row.total_share) }
   end
   aligned(out, lines, { true, [10] = true })
end

-- Writes the rows of a metric of calls with a bar for the value; ~ is before an estimate.
local function write_values(out, rows, metric, unit)
   local shown = formatter(rows, { "value", "p90" }, unit)
   local bar, axis = bars_of(rows, "value", shown)
   local lines = { { "by", "runs", "calls", metric, "p10", "p50", "p90", axis } }
   for i, row in ipairs(rows) do
      lines[i + 1] = { row.by or "-", tostring(row.runs), tostring(row.calls),
         (row.about and "~" or "") .. shown(row.value), shown(row.p10), shown(row.p50),
         shown(row.p90), bar(row.value) }
   end
   aligned(out, lines, { true, [8] = true })
end

-- Writes the rows as a chart.
local function write_chart(out, rows, title, unit, is_of_calls)
   local points = {}
   for i, row in ipairs(rows) do
      points[i] = is_of_calls and { value = row.value, low = row.p10, high = row.p90 }
         or { value = row.total_share, low = row.p10_share, high = row.p90_share }
      points[i].by, points[i].runs = row.by, row.runs
   end
   local shown = formatter(rows, { "value", "p90" }, unit)
   chart.write(out, points, title, is_of_calls and shown or function(share)
      return texts.float("%.4g", 100 * share) .. "%"
   end, is_of_calls and shown or function(share)
      return texts.float("%.2f", 100 * share) .. "%"
   end)
end

---Writes a table with bars; into a file whose name ends in .svg, a chart.
---@param context profio.Context
---@param out profio.Output
function trend.text(context, out)
   local options, rows, view = context:report_options(trend), {}, context:view_of(trend)
   for row in context:records(context:narrow(view)) do
      rows[#rows + 1] = row
   end
   local is_of_calls = view.columns[4] == "value"
   local unit = core.unit(view:reader(), is_of_calls and "value" or "self")
   if (context.given.out or ""):find "%.[sS][vV][gG]$" then
      if context.given.explain then
         failure.use "--explain is for text, not for a chart"
      end
      local metric = is_of_calls and " " .. context.given.metric or ""
      write_chart(out, rows, ("%s%s by %s"):format(options["function"], metric, options.by
         or "day"), unit, is_of_calls)
   elseif is_of_calls then
      write_values(out, rows, context.given.metric, unit)
   else
      write_weights(out, rows, unit)
   end
end

return trend
