-- The modes of the command: which one a command line names, which options it may have, and reports.
-- The work of the other modes is in actions.lua.

local later = require "profio.internal.later"
local actions = later "profio.cli.actions"
local calls_view = later "profio.internal.calls"
local conflicts = require "profio.cli.conflicts"
local contexts = require "profio.cli.context"
local empty_hints = later "profio.cli.empty_hints"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local follow = later "profio.cli.follow"
local query = require "profio.internal.command.query"
local registry = require "profio.internal.opening.registry"
local reports = require "profio.reports"
local show = require "profio.cli.show"
local traces = require "profio.internal.trace"

local modes = {}

-- {====== Subjects ======

-- Returns a report as subject of conflicts.check; all reports also have rows.
local function report_subject(report)
   return { title = ("report '%s'"):format(report.name), kind = "reports", others = reports.all,
      names = report.names,
      uses = function(trace)
         local uses = report.uses
         return conflicts.joined({ "report", "rows" }, type(uses) == "function" and uses(trace)
            or uses)
      end }
end

-- Returns an export of a profile or trace as subject; if it also takes rows, none are selected.
local function export_subject(export)
   return { title = "--export " .. export.name, kind = "exports", others = exports.all,
      options = export.options,
      uses = conflicts.joined({ "export", "out" }, export.takes ~= "rows" and export.uses or nil) }
end

-- }======

-- {====== Reports ======

local function check_fits(report, trace)
   local fits, reason = report.fits(trace)
   if not fits then
      failure.use("report '%s' does not fit this file: %s", report.name, reason)
   end
end

local function run_report(context)
   local report = reports.named(context.given.report)
   if report.compares and not context.given.diff then
      failure.use("report '%s' compares with another file: give --diff FILE", report.name)
   end
   if report.needs and #context.given[report.needs[1]] == 0 then
      failure.use("report '%s' needs %s", report.name, report.needs[2])
   end
   local fits, reason = report.fits(context.trace)
   if not fits then
      failure.use("%s does not fit this file: %s", context.given.unused and "--unused"
         or ("report '%s'"):format(report.name), reason)
   end
   show.report(report, context)
end

-- Returns the reports that show what the format's own tool prints first (`first` of the format):
-- for gprof the flat profile, then the call graph; for events statistics. Reports after the first
-- one are only shown if they support the given options.
local function first_reports(trace, given)
   local names = registry.named(trace.format).first
   if type(names) == "function" then
      names = names(trace)
   end
   names = names or (trace:has "events" and { "statistics" } or { "flat", "graph" })
   local list = {}
   if given.chain[1] and not given.diff then
      names = { "chain-statistics" }
      check_fits(reports.named(names[1]), trace)
   end
   names = given.diff and { "diff" } or names
   for _, name in ipairs(names) do
      local report = reports.named(name)
      if report.fits(trace) then
         list[#list + 1] = report
      end
   end
   return #list > 0 and list or { reports.named "info" }
end

local function run_first(context)
   for i, report in ipairs(first_reports(context.trace, context.given)) do
      if i == 1 then
         show.report(report, context)
      elseif show.has_text(report, context) then
         context.out:write "\f\n"
         show.report(report, context)
      end
   end
end

-- }======

-- {====== Selection of the mode ======

-- --limits compares with statistics of events, else with a flat profile.
local function limits_uses(trace)
   local uses = { "limits", "failed", "columns", "where", "group", "aggregate", "sort", "top",
      "output", "unit", "export", "out", "diff" }
   return conflicts.joined(uses, calls_view.has_statistics(traces.of(trace))
      and { "span of events" } or { "functions", "metric", "compat" })
end

-- Returns what the rows of a table do with names: see `names` in conflicts.lua.
local function names_of_table(trace, given)
   if not conflicts.has_names(trace, given.table or trace.tables[1]) then
      return false
   end
end

-- Shows rows of a table: for --table, and if rows are selected without naming a table.
local rows_mode = { title = "a table", names = names_of_table,
   uses = { "table", "rows", "span", "unfilter", "compat" } }

local follow_mode = { title = "--follow", names = names_of_table,
   uses = { "follow", "table", "columns", "where", "top", "output", "unit", "span", "unfilter",
      "compat", "out" } }

-- The modes, in order of preference; only one may be given.
local mode_list = {
   { key = "info", uses = { "info", "rows" }, names = "columns" },
   { key = "report" },
   { key = "list_reports", uses = { "list_reports", "out" }, names = "columns" },
   { key = "table", uses = rows_mode.uses, names = names_of_table },
   { key = "limits", uses = limits_uses },
   { key = "check", uses = { "check", "out" }, names = false, refuses = "strict" },
   { key = "merge", uses = { "merge", "out" }, names = false },
   { key = "script", uses = { "script", "compat" } },
   { key = "new_script", uses = { "new_script", "out" }, names = "columns" },
}

for _, mode in ipairs(mode_list) do
   mode.title = conflicts.name_of(mode.key)
end

-- Returns the mode that a command line names, or nil.
local function named_mode(given)
   for _, mode in ipairs(mode_list) do
      if given[mode.key] then
         return mode
      end
   end
end

-- Returns whether a command line without a mode, an export of a profile or trace, or --follow shows
-- rows of the main table, because it selects or reshapes them. Otherwise it shows the first reports
-- of the format.
local function is_of_rows(given)
   return not given.diff and not given.chain[1]
      and (query.reshapes(given) or given.where[1] or given.unfilter) ~= nil
end

-- Returns the export of a profile or trace that --export names, or nil. One that also takes rows
-- writes the trace if no rows are selected.
local function whole_export(given)
   local export = given.export and exports.named(given.export)
   local is_of_trace = export and (export.takes ~= "rows" or export.write_trace
      and not (named_mode(given) or is_of_rows(given) or given.diff or given.top))
   return is_of_trace and export or nil
end

---Checks a command line before a file is opened; raises on wrong use.
---@param given table
function modes.check(given)
   local first
   if given.unused and given.report then
      failure.use "--report and --unused do not go together"
   elseif given.unused and not named_mode(given) then
      given.report = "unused"
   end
   for _, mode in ipairs(mode_list) do
      if given[mode.key] and first then
         failure.use("%s and %s do not go together", first, mode.title)
      end
      first = given[mode.key] and mode.title or first
   end
   if given.progress and given.no_progress then
      failure.use "--progress and --no-progress do not go together"
   end
end

-- Returns the mode, export or report that defines which options the command line may have.
local function subject_of(trace, given)
   local export, mode = whole_export(given), named_mode(given)
   if export then
      return export_subject(export)
   elseif given.follow and not given.report then
      return follow_mode
   elseif mode and mode.key ~= "report" then
      return mode
   elseif not mode and is_of_rows(given) then
      return rows_mode
   end
   return report_subject(given.report and reports.named(given.report)
      or first_reports(trace, given)[1])
end

-- Raises for an unknown name; the message lists the names that fit the trace.
local function check_name(word, list, name, trace)
   if not name or list.find(name) then
      return
   end
   local names = {}
   for _, one in ipairs(list.all()) do
      names[#names + 1] = (not one.fits or one.fits(trace)) and one.name or nil
   end
   failure.use("no %s '%s'; there are: %s", word, name, table.concat(names, ", "))
end

---Checks that no option would be ignored; raises on wrong use. Called when the trace is open,
---before the output is opened.
---@param trace profio.Trace
---@param given table
function modes.check_options(trace, given)
   check_name("report", reports, given.report, trace)
   check_name("export", exports, given.export, trace)
   conflicts.check(subject_of(trace, given), given, trace)
end

---Runs the mode of the command line.
---@param trace profio.Trace
---@param given table
---@param out profio.Output
---@param old profio.Trace|nil trace of --diff
---@param again { reopen: fun(): profio.Trace, paths: string[] } for --follow
---@return integer status
---@return string[] notes for standard error: omissions, and hints for an empty selection
---@return profio.Trace|nil now the trace in place of the first one, as of follow.rows
function modes.run(trace, given, out, old, again)
   local context = contexts.new(trace, given, out, old)
   local export, mode, status, now = whole_export(given), named_mode(given), nil, nil
   if export then
      actions.export(context, export)
   elseif given.follow and given.report then
      follow.report(context, reports.named(given.report), again.reopen,
         again.paths)
   elseif given.follow then
      now = actions.follow(context, again)
   elseif given.report then
      run_report(context)
   elseif mode then
      status = actions[mode.key](context)
   elseif is_of_rows(given) then
      actions.table(context)
   else
      run_first(context)
   end
   if context.missed[1] or given.where[1] or query.has_span(given) then
      context:note(empty_hints.hint(context))
   end
   return status or failure.READ, context.notes, now
end

-- }======

return modes
