-- What the command can do with an open trace: one function for each way.

local contexts = require "profio.cli.context"
local exports = require "profio.exports"
local failure = require "profio.cli.failure"
local files = require "profio.cli.files"
local limits = require "profio.cli.limits"
local query = require "profio.cli.query"
local registry = require "profio.registry"
local reports = require "profio.reports"
local script = require "profio.cli.script"
local span = require "profio.cli.span"
local together = require "profio.cli.together"
local warnings = require "profio.cli.warnings"
local words = require "profio.cli.words"

local modes = {}

-- {====== Rows ======

-- The columns of a report in its own order; without symbols some are not there. nil: all of the
-- file's.
local function columns_of(report, rows)
   if report.any_columns then
      return nil
   end
   local known, columns = {}, {}
   for _, name in ipairs(rows.columns) do
      known[name] = true
   end
   for _, column in ipairs(report.columns) do
      columns[#columns + 1] = known[column.name] and column.name or nil
   end
   return columns
end

-- What the row writers are told.
local function row_options(context, rows, report)
   local given = context.given
   local columns = query.columns(given)
   if report and not columns and not given.group and not given.aggregate then
      local is_text = given.output == "text" and not given.export
      columns = is_text and report.shown or report.listed and report.listed(context)
         or columns_of(report, rows)
   end
   return { output = given.output, unit = given.unit or (report and report.unit),
      columns = columns }
end

-- Write a view as the command line says: queried, as an export or printed.
local function write_view(context, rows, report)
   local given, out = context.given, context.out
   rows = query.apply(rows, given)
   local options = row_options(context, rows, report)
   if given.export then
      out:export_rows(exports.named(given.export), options, rows:reader())
   else
      out:rows(options, rows:reader())
   end
end

local function explain(context, report)
   if not context.given.explain or context.given.output ~= "text" or context.given.export then
      return
   end
   local lines = { "\n" }
   for _, column in ipairs(report.columns) do
      lines[#lines + 1] = ("%-20s %s\n"):format(column.name, column.help)
   end
   context.out:write(table.concat(lines))
end

-- }======

-- {====== Reports ======

-- Whether the report's own text shows what is asked for.
local function has_text(report, context)
   local given = context.given
   if given.output ~= "text" or given.export or query.reshapes(given) or not report.text then
      return false
   elseif report.text_fits and not report.text_fits(context) then
      return false
   end
   return report.narrows or not (given.top or given.where[1])
end

-- As the vendor's tool prints it, or as rows when other rows or columns are asked for.
local function write_report(report, context)
   if has_text(report, context) then
      report.text(context, context.out)
   else
      write_view(context, context:view_of(report), report)
   end
   explain(context, report)
end

-- A report that knows nothing of times would tell of the whole trace.
local function check_span(report, context)
   local spans = report.spans
   if spans == "calls" then
      spans = context.trace:profile_kind() == "calls"
   end
   if span.is_asked(context.given) and not spans then
      failure.use("report '%s' tells of the whole trace: --from, --to and --lane are not for it",
         report.name)
   end
end

local function fitting(context)
   local list = {}
   for _, report in ipairs(reports.all()) do
      if report.fits(context.trace) and (context.given.diff or not report.compares) then
         list[#list + 1] = report
      end
   end
   return list
end

local function run_report(context)
   local report = reports.named(context.given.report)
   if report.compares and not context.given.diff then
      failure.use("report '%s' compares with another file: give --diff FILE", report.name)
   end
   local fits, reason = report.fits(context.trace)
   if not fits then
      failure.use("report '%s' does not fit this file: %s", report.name, reason)
   end
   check_span(report, context)
   write_report(report, context)
end

local function run_list_reports(context)
   for _, report in ipairs(fitting(context)) do
      context.out:write(("%-13s %s\n"):format(report.name, report.help))
   end
end

-- What the format's own tool prints first (`first` of the format): for gprof the flat profile, then
-- the call graph; of events statistics.
local function run_first(context)
   local done = 0
   local first = registry.named(context.trace.format).first
      or (context.trace.events and { "statistics" } or { "flat", "graph" })
   for _, name in ipairs(context.given.diff and { "diff" } or first) do
      local report = reports.named(name)
      if report.fits(context.trace) and (done == 0 or has_text(report, context)) then
         if done > 0 then
            context.out:write "\f\n"
         end
         check_span(report, context)
         write_report(report, context)
         done = done + 1
      end
   end
   if done == 0 then
      check_span(reports.named "info", context)
      write_report(reports.named "info", context)
   end
end

-- }======

-- {====== The others ======

local function has_letters(rows)
   local known = {}
   for _, name in ipairs(rows.columns) do
      known[name] = true
   end
   return known.op and known.call
end

-- The rows of the table that is asked for, or of the main one.
local function table_view(context)
   local rows = context.trace:table(context.given.table or context.trace.tables[1])
   if context.given.unfilter and not has_letters(rows) then
      failure.use("--unfilter is for entries of Xbase++ traces; these rows have no columns op and "
         .. "call: %s", table.concat(rows.columns, ", "))
   end
   return context:within(context.given.unfilter and rows:unfilter() or rows)
end

local function run_table(context)
   write_view(context, table_view(context))
end

local WAIT = 0.2 -- seconds from look to look

-- The rows of a table as they come, until Ctrl-C or --top has enough of them.
local function run_follow(context)
   local given, out, trace = context.given, context.out, context.trace
   if given.group or given.aggregate or given.sort or given.output == "json" then
      failure.use "--follow shows rows as they come: no --group, --aggregate, --sort, no json"
   end
   local rows = query.apply(table_view(context), given)
   local reader, options, left = rows:reader(), row_options(context, rows), given.top
   left = left and words.number(left, "--top")
   repeat
      local count = out:rows(options, reader)
      out:flush()
      options.header = false
      left = left and left - count
      trace:refresh()
   until (left and left <= 0) or out.interrupt:wait(WAIT)
end

local function run_info(context)
   write_report(reports.named "info", context)
end

-- All violations, the status says whether one of them is damage.
local function run_check(context)
   local list = context.trace:check()
   for _, warning in ipairs(list) do
      context.out:write(warnings.line(context.trace, warning))
   end
   if warnings.has_damage(list) then
      return failure.DAMAGE
   end
   local count = context.trace.info.files or 1
   context.out:write(context.trace.path, count > 1 and (" and %d more"):format(count - 1) or "",
      ": nothing is damaged\n")
end

local function run_merge(context)
   local given, out = context.given, context.out
   local writing = files.set_options(given, "write_options")
   if given.out then
      failure.check(context.trace:save(given.out, writing))
      return
   elseif out.is_terminal then
      failure.use "--merge writes bytes, which a terminal is not for: give -o OUT"
   end
   out:write(failure.check(context.trace:save(nil, writing)))
end

-- }======

-- {====== Exports of profiles and traces ======

-- What a trace would lose: a difference, or some functions only, are a profile.
local function is_profile_wanted(export, given)
   return export.takes == "profile" or export.write_profile ~= nil and
      (given.diff or #(given.focus or {}) + #(given.ignore or {}) + #(given.hide or {}) > 0)
end

local function run_export(context, export)
   local given = context.given
   local fits, reason = true, nil
   if export.fits then
      fits, reason = export.fits(context.trace)
   end
   if not fits then
      failure.use("export '%s' does not fit this file: %s", export.name, reason)
   elseif export.is_binary and context.out.is_terminal then
      failure.use("--export %s writes bytes, which a terminal is not for: give -o OUT", export.name)
   end
   span.check_export(context.trace, given)
   local options, what = files.options_of(given, export), context.trace
   local as_profile = is_profile_wanted(export, given)
   if as_profile then
      what = context:profile():with(context:profile_options())
   end
   if not as_profile or context.trace:profile_kind() ~= "calls" then -- those are of the span
      span.into_export(options, context.trace, given)
   end
   options.metric = options.metric or given.metric
   context.out:export(export, options, what, as_profile and export.write_profile)
end

-- The export of the whole that is asked for, or nil.
local function whole_export(given)
   local export = given.export and exports.named(given.export)
   return export and export.takes ~= "rows" and export or nil
end

-- }======

-- In the order in which they are looked for; only one may be asked for.
local ways = {
   { "info", "--info", run_info },
   { "report", "--report", run_report },
   { "list_reports", "--list-reports", run_list_reports },
   { "table", "--table", run_table },
   { "limits", "--limits", limits.run },
   { "check", "--check", run_check },
   { "merge", "--merge", run_merge },
   { "script", "--script", script.run },
   { "new_script", "--new-script", script.new },
}

-- The ways that read a part of the trace; the others would read all of it.
local reads_part = { ["--report"] = true, ["--table"] = true, ["--limits"] = true }

---Whether the options go together; raises at wrong use. Before a file is opened.
---@param given table
function modes.check(given)
   local first
   for _, way in ipairs(ways) do
      if given[way[1]] and first then
         failure.use("%s and %s do not go together", first, way[2])
      end
      first = given[way[1]] and way[2] or first
   end
   if first and not reads_part[first] and span.is_asked(given) then
      failure.use("%s takes the whole trace, without --from, --to and --lane", first)
   end
   if whole_export(given) then
      together.check_export(whole_export(given), given)
   elseif given.export then
      exports.named(given.export)
   end
   together.check(given)
   if given.report then
      reports.named(given.report)
   end
end

---Do what the command line asks for.
---@param trace profio.Trace
---@param given table
---@param out profio.Output
---@return integer status
function modes.run(trace, given, out)
   local context = contexts.new(trace, given, out)
   local export = whole_export(given)
   if export then
      run_export(context, export)
      return failure.READ
   end
   if given.follow then
      run_follow(context)
      return failure.READ
   end
   for _, way in ipairs(ways) do
      if given[way[1]] then
         return way[3](context) or failure.READ
      end
   end
   if not given.diff and (query.reshapes(given) or given.where[1] or given.unfilter) then
      run_table(context)
   else
      run_first(context)
   end
   return failure.READ
end

return modes
