-- Statistics of the calls of each area: count, durations, regularity; for all contexts together and
-- for each one, or by caller.

local calls = require "profio.reports.calls.calls"
local call_statistics = require "profio.internal.compare.call_statistics"
local calls_of = require "profio.internal.calls"
local core = require "profio.core"
local diff = require "profio.internal.compare.statistics_diff"
local distinguished = require "profio.internal.naming.distinguished"
local failure = require "profio.internal.command.failure"
local origin = require "profio.internal.bodies.origin"
local plain = require "profio.internal.plain"
local span = require "profio.internal.command.selection"
local titles = require "profio.internal.bodies.titles"
local traces = require "profio.internal.trace"
local views = require "profio.internal.views"
local words = require "profio.internal.command.values"

local statistics = {
   name = "statistics",
   help = "statistics of calls by area: count, durations, regularity, worst case",
   unit = "us",
   uses = { "span of events", "metric", "unit", "follow", "diff" },
   narrows = true,
   columns = {
      { name = "area", help = "the function, line, variable or state" },
      { name = "handle", help = "the vendor's number of it" },
      { name = "value", help = "distinguishes areas with the same handle" },
      { name = "context", help = "the lane; missing: all of them together" },
      { name = "caller", help = "with --set by=caller: the calling function" },
      { name = "count", help = "number of enters, or of writes" },
   },
   options = {},
}

local durations = {
   { "net", "time in the area itself" }, { "gross", "net and gross time of callees" },
   { "call", "time from enter to leave, including other contexts" },
   { "period", "time from one enter to the next in the lane" },
   { "outside", "time from a leave to the next enter in the lane" },
}

local numbers = { { "", "sum: " }, { "_min", "minimum: " }, { "_max", "maximum: " },
   { "_mean", "mean: " }, { "_stddev", "standard deviation: " }, { "_p50", "median: " },
   { "_p99", "99th percentile: " } }

local function add(name, help)
   statistics.columns[#statistics.columns + 1] = { name = name, help = help }
end

for _, duration in ipairs(durations) do
   durations[duration[1]] = true
   for _, number in ipairs(numbers) do
      add(duration[1] .. number[1], number[2] .. duration[2] .. ", ns")
   end
end
for _, name in ipairs { "net", "gross", "call" } do
   add(name .. "_max_at", "start of the call with the largest " .. name .. ", ns")
end
add("period_jitter", "largest minus smallest period, ns")
add("last_stop", "end of its last call, ns, counted or not; not with by=caller")
add("file", "the file of the area")
add("line", "the line in this file")
add("about", "names of the columns of the row whose values are estimates")

-- --from and --to select the span, and --set what the rows are grouped by.
for _, option in ipairs(calls_of.statistics_options) do
   if option.name == "by" then
      option = { name = "by", type = "choice", choices = { "context", "area", "caller" },
         default = "context", help = "rows for all contexts and each context; for all contexts "
            .. "only; or for each function and caller" }
   end
   if option.name ~= "from" and option.name ~= "to" then
      statistics.options[#statistics.options + 1] = option
   end
end

---@param trace profio.Trace
function statistics.fits(trace)
   if trace:has "events" then
      return calls.fits(trace)
   end
   return calls_of.has_statistics(traces.of(trace)), trace.format == "store"
      and "none of its runs has statistics of calls" or calls.no_events(trace)
end

-- Returns whether rows of all contexts and rows of each one can be distinguished: not if --columns
-- leaves out the context and no other option names it. Sums over the rows would count twice.
local function shows_contexts(given)
   if not given.columns or given.lane then
      return true
   end
   local words_given = { given.columns, given.group or "", given.sort or "",
      table.unpack(given.where) }
   return (" " .. table.concat(words_given, " ")):find "[ ,-]context" ~= nil
end

---Returns the options of trace:calls for the calls of the statistics.
---@param context profio.Context
---@param trace profio.Trace
---@return table
function statistics.call_options(context, trace)
   local chosen, given = {}, context:report_options(statistics)
   for _, option in ipairs(calls_of.options) do
      chosen[option.name] = given[option.name]
   end
   chosen.from, chosen.to = span.of(trace, context.given)
   return chosen
end

-- Returns the number of runs by which the sums of a trace are divided if --diff compares unequal
-- numbers, and adds a note then; else nil.
local function divisor(context, trace)
   if not context.old then
      return nil
   end
   local new, old = origin.run_count(traces.of(context.trace)),
      origin.run_count(traces.of(context.old))
   if new == old then
      return nil
   end
   context:note("note: " .. titles.means_note(new, old))
   return trace == context.old and old or new
end

-- Returns the rows of a trace within --from, --to and --lane; with --diff of unequal numbers of
-- runs with the means of a run.
local function rows_of_trace(context, trace, quantiles)
   local options = context:report_options(statistics)
   options.quantiles = quantiles or options.quantiles
   options.by = options.by or (shows_contexts(context.given) and "context" or "area")
   options.from, options.to = span.of(trace, context.given)
   local lane = context.given.lane
   if lane and options.by ~= "context" then
      failure.use("--lane: statistics by %s tell of all lanes", options.by)
   end
   local rows, runs = trace:call_statistics(options), divisor(context, trace)
   rows = runs and call_statistics.per_run(rows, runs) or rows
   return lane and rows:where(words.condition("context=" .. lane, rows:fields())) or rows
end

-- Returns the duration that --metric names, or nil.
local function metric_of(context)
   local metric = context.given.metric
   return metric and words.choice(metric, "--metric",
      { "net", "gross", "call", "period", "outside" })
end

-- Returns statistics with the load of each area: its net time divided by the length of the trace.
local function with_load(context, trace, rows)
   if not trace:has "events" then
      return rows
   end
   local from, to = span.of(trace, context.given)
   local length = calls_of.length(trace, from, to)
   return length > 0 and rows:derive { ("load = net / %d * %d"):format(length,
      divisor(context, trace) or 1) } or rows
end

-- Returns the rows of the report: of one run, or of both with --diff.
local function rows_of(context, quantiles)
   local new = rows_of_trace(context, context.trace, quantiles)
   if not context.old then
      return new
   end
   local fits, reason = statistics.fits(context.old)
   if not fits then
      failure.use("--diff: report 'statistics' does not fit %s: %s", context.old.path, reason)
   end
   local old = rows_of_trace(context, context.old, quantiles)
   return diff.view(with_load(context, context.trace, new), with_load(context, context.old, old),
      metric_of(context))
end

---Returns the rows of one trace with their loads, for --limits.
---@param context profio.Context
---@param trace profio.Trace
---@param quantiles string|nil
---@return profio.View
function statistics.rows_of_trace(context, trace, quantiles)
   return with_load(context, trace, rows_of_trace(context, trace, quantiles))
end

---@param context profio.Context
---@return userdata
function statistics.reader(context)
   return rows_of(context):reader()
end

-- {====== The text ======

---Returns the columns: with --metric only those of that duration, with --diff those of both runs.
---@param context profio.Context
---@return string[]|nil
function statistics.listed(context)
   local metric, known, names = metric_of(context), {}, {}
   if context.old then
      return rows_of(context).columns
   end
   for _, name in ipairs(rows_of(context).columns) do
      known[name] = true
   end
   for _, column in ipairs(statistics.columns) do
      local duration = column.name:match "^%l+"
      local is_wanted = not metric or not durations[duration] or duration == metric
      names[#names + 1] = known[column.name] and is_wanted and column.name or nil
   end
   return names
end

-- Returns the columns of text: an overview, the response time first and what fits into 80
-- characters; or all of one duration with --metric.
local overview = { "count", "call_max", "call_max_at", "gross_max", "net", "call_p99", "net_mean",
   "gross_mean", "period_jitter", "gross_stddev" }

local function columns_of(context, has_callers)
   local metric, columns = metric_of(context), overview
   if metric then
      columns = { "count", metric }
      for _, suffix in ipairs { "_min", "_mean", "_stddev", "_p50", "_p99", "_max" } do
         columns[#columns + 1] = metric .. suffix
      end
      columns[#columns + 1] = metric == "period" and "period_jitter"
         or metric ~= "outside" and metric .. "_max_at" or nil
   end
   columns = table.move(columns, 1, #columns, 1, {})
   columns[#columns + 1] = "area"
   columns[#columns + 1] = "value"
   columns[#columns + 1] = has_callers and "caller" or nil
   return columns
end

-- Removes column `value` if no area has one.
local function without_value(columns, rows)
   for _, row in ipairs(rows) do
      if row.value then
         return columns
      end
   end
   local kept = {}
   for _, name in ipairs(columns) do
      kept[#kept + 1] = name ~= "value" and name or nil
   end
   return kept
end

-- Splits rows by context: a list of { context =, rows = }, the rows of all contexts first.
local function pages_of(rows, names)
   local pages, by_context = {}, {}
   for _, row in ipairs(rows) do
      local key = row.context or false
      local page = by_context[key]
      if not page then
         page = { context = row.context, rows = {} }
         by_context[key] = page
         table.insert(pages, row.context == nil and 1 or #pages + 1, page)
      end
      local values = {}
      for i, name in ipairs(names) do
         values[i] = row[name]
      end
      page.rows[#page.rows + 1] = values
   end
   return pages
end

local function heading_of(page)
   return page.context == nil and "all contexts"
      or "context " .. plain(tostring(page.context))
end

-- Returns the fields of a view that are among the names, and their names.
local function picked(rows, names)
   local wanted, fields, found = { context = true }, {}, {}
   for _, name in ipairs(names) do
      wanted[name] = true
   end
   for _, field in ipairs(rows:fields()) do
      if wanted[field.name] then
         fields[#fields + 1], found[#found + 1] = field, field.name
      end
   end
   return fields, found
end

local function has_callers(rows)
   for _, name in ipairs(rows.columns) do
      if name == "caller" then
         return true
      end
   end
   return false
end

-- Writes a page for each context, that of all contexts first. page_of(rows) returns a view of the
-- rows of one page, and its columns. `no_units`: one line above tells the unit of all times.
local function write_pages(context, out, pages, no_units, page_of)
   local unit = context.given.unit or statistics.unit
   if no_units and pages[1] then
      out:write("times in ", unit, "\n")
   end
   pages[1] = pages[1] or { rows = {} }
   -- there is only one context: omit the page of all contexts
   local shown = #pages == 2 and pages[1].context == nil and 1 or #pages
   for i = 1, shown do
      local page, columns = page_of(pages[i].rows)
      if shown > 1 then
         out:write(i > 1 and "\n" or "", heading_of(pages[i]), "\n")
      end
      out:rows({ output = "text", unit = unit, columns = columns, no_units = no_units },
         page:reader())
   end
end

-- Writes both runs of --diff: three lines for each area.
local function write_diff(context, out)
   local rows, top = context:where(rows_of(context)), context:top()
   local pages = pages_of(rows:rows(), rows.columns)
   table.sort(pages, function(x, y)
      return x.context ~= y.context and (x.context == nil
         or y.context ~= nil and tostring(x.context) < tostring(y.context))
   end)
   write_pages(context, out, pages, false, function(list)
      local records = {}
      for i = 1, math.min(top or #list, #list) do
         records[i] = {}
         for c, name in ipairs(rows.columns) do
            records[i][name] = list[i][c]
         end
      end
      local fields, lines, columns = diff.lines(rows, records, metric_of(context))
      return views.over(function()
         return core.rows_reader(fields, lines)
      end), columns
   end)
end

---@param context profio.Context
---@param out profio.Output
function statistics.text(context, out)
   if context.old then
      return write_diff(context, out)
   end
   local rows, top = context:where(rows_of(context)), context:top()
   local columns = columns_of(context, has_callers(rows))
   local shown = #columns
   table.move({ "file", "about" }, 1, 2, shown + 1, columns) -- of areas with one name; of estimates
   local fields, names = picked(rows, columns)
   columns = table.move(columns, 1, shown, 1, {})
   local records = rows:rows(table.unpack(names))
   distinguished.by_file(records, "area")
   columns = without_value(columns, records)
   write_pages(context, out, pages_of(records, names), true, function(list)
      local page = views.over(function()
         return core.rows_reader(fields, list)
      end):sort("-" .. (context.given.metric or "net"))
      return top and page:limit(top) or page, columns
   end)
end

-- }======

return statistics
