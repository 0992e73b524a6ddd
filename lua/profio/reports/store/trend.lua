-- The weight of a function in the runs of each period of time, or of each value of a label.

local aligned = require "profio.reports.columns"
local chart = require "profio.reports.store.chart"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local patterns = require "profio.internal.patterns"
local times = require "profio.internal.times"
local traces = require "profio.internal.trace"
local trends = require "profio.internal.store.trends"

local trend = {
   name = "trend",
   help = "of a store: the weight of a function over time, or by label",
   uses = { "metric" },
   narrows = true,
   columns = trends.trend_columns,
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

-- Returns the function that is asked for, as a condition.
local function wanted_of(name)
   local pattern = (name or ""):match "^~(.+)$"
   if not name or name == "" then
      failure.use "report 'trend' expects --set function=NAME; or use profio store trend NAME"
   elseif not pattern then
      return name
   end
   local compiled, problem = patterns.of(pattern)
   return compiled and conditions.match(pattern) or failure.use("%s", problem)
end

---@param context profio.Context
---@return userdata
function trend.reader(context)
   local options = context:report_options(trend)
   return failure.check(traces.of(context.trace).stored.compare("trend",
      options.by or "day", context.given.metric, wanted_of(options["function"]))):reader()
end

local BAR <const> = 24 -- characters

local function percent(share)
   return share and ("%.2f%%"):format(100 * share) or "-"
end

-- Writes the rows with a bar for the share with what the function calls. The head of the bars has
-- the ends of their axis if it does not begin at 0.
local function write_table(out, rows, unit)
   local named = unit ~= "ns" and unit ~= "" and (" (%s)"):format(unit) or ""
   local least, most, longest = math.huge, 0, 0
   for _, row in ipairs(rows) do
      least = math.min(least, row.total_share or math.huge)
      most, longest = math.max(most, row.total_share or 0), math.max(longest, row.total)
   end
   local first, last = chart.axis(least, most)
   local lines = { { "by", "runs", "self" .. named, "total" .. named, "self share", "total share",
      "p10", "p50", "p90",
      first > 0 and ("%s to %s"):format(percent(first), percent(last)) or "" } }
   local function weight(number)
      return unit == "ns" and times.show(number, times.unit(longest)) or tostring(number)
   end
   for i, row in ipairs(rows) do
      local width = math.max((row.total_share or 0) - first, 0) / (last - first)
      lines[i + 1] = { row.by or "-", tostring(row.runs), weight(row.self), weight(row.total),
         percent(row.self_share), percent(row.total_share), percent(row.p10_share),
         percent(row.p50_share), percent(row.p90_share), ("#"):rep(math.floor(BAR * width + 0.5)) }
   end
   aligned(out, lines, { true, [10] = true })
end

---Writes a table with bars; into a file whose name ends in .svg, a chart.
---@param context profio.Context
---@param out profio.Output
function trend.text(context, out)
   local options, rows, view = context:report_options(trend), {}, context:view_of(trend)
   for row in context:records(context:narrow(view)) do
      rows[#rows + 1] = row
   end
   if (context.given.out or ""):find "%.[sS][vV][gG]$" then
      if context.given.explain then
         failure.use "--explain is for text, not for a chart"
      end
      chart.write(out, rows, ("%s by %s"):format(options["function"], options.by or "day"))
   else
      write_table(out, rows, core.unit(view:reader(), "self"))
   end
end

return trend
