-- The modes of the command except reports, which modes.lua shows: each works on an open trace.

local later = require "profio.internal.later"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local follow = later "profio.cli.follow"
local limits_mode = later "profio.cli.limits.mode"
local messages = require "profio.cli.messages"
local plain = require "profio.internal.plain"
local query = require "profio.internal.command.query"
local reports = require "profio.reports"
local script = require "profio.cli.script"
local show = require "profio.cli.show"
local span = require "profio.internal.command.selection"
local text_file = later "profio.internal.command.text_file"
local warnings = require "profio.cli.warnings"

-- By the key of a mode: a function of the context that returns the exit status; nil: success.
local actions = {}

local function fitting(context)
   local list = {}
   for _, report in ipairs(reports.all()) do
      if report.fits(context.trace) then
         list[#list + 1] = report
      end
   end
   return list
end

---Lists the reports that fit the files.
---@param context profio.Context
function actions.list_reports(context)
   for _, report in ipairs(fitting(context)) do
      context.out:write(("%-13s %s\n"):format(report.name, report.help))
   end
end

-- {====== Rows ======

local function has_operations(rows)
   local known = {}
   for _, name in ipairs(rows.columns) do
      known[name] = true
   end
   return known.op and known.call
end

-- Returns the rows of the table of --table, or of the main table.
local function table_view(context)
   local rows = context.trace:table(context.given.table or context.trace.tables[1])
   if context.given.unfilter and not has_operations(rows) then
      failure.use("--unfilter is for entries of Xbase++ traces; these rows have no columns op and "
         .. "call: %s", table.concat(rows.columns, ", "))
   end
   return context:within(context.given.unfilter and rows:unfilter() or rows)
end

---Shows the rows of a table.
---@param context profio.Context
function actions.table(context)
   show.table(context, table_view(context))
end

---Shows rows as they come.
---@param context profio.Context
---@param again { reopen: fun(): profio.Trace, paths: string[] }
---@return profio.Trace|nil now as of follow.rows
function actions.follow(context, again)
   return follow.rows(context, table_view, again)
end

---Compares with limits.
---@param context profio.Context
---@return integer status
function actions.limits(context)
   return limits_mode.run(context)
end

---Runs a script with the trace.
---@param context profio.Context
---@return integer|nil status
function actions.script(context)
   return script.run(context)
end

---Writes a script as a starting point.
---@param context profio.Context
function actions.new_script(context)
   return script.new(context)
end

---Shows the format, tables, counts and warnings.
---@param context profio.Context
function actions.info(context)
   show.report(reports.named "info", context)
end

---Lists all violations of the format; the status tells whether one of them is damage.
---@param context profio.Context
---@return integer|nil status
function actions.check(context)
   local list = context.trace:check()
   for _, warning in ipairs(list) do
      context.out:write(warnings.line(context.trace, warning))
   end
   if context.out.interrupt:wait(0) then
      context:note "interrupted: only a part of the file was checked"
      return failure.DAMAGE
   elseif warnings.has_damage(list) then
      return failure.DAMAGE
   end
   local count = context.trace.info.files or 1
   context.out:write(plain(context.trace.path), count > 1 and (" and %d more"):format(count - 1)
      or "", ": nothing is damaged\n")
end

---Writes all files as one.
---@param context profio.Context
function actions.merge(context)
   local given, out = context.given, context.out
   local writing = files.set_options(given, "write_options")
   if given.out and not out.path then -- a file that is written as a whole
      failure.check(context.trace:save(given.out, writing))
      return
   elseif out.is_terminal then
      failure.use "--merge writes bytes, which a terminal is not for: give -o OUT"
   end
   out:write(failure.check(context.trace:save(nil, writing)))
end

-- }======

-- {====== Exports of profiles and traces ======

-- Returns whether the options need a profile: a difference, a selection of functions, or a metric
-- if the timeline has no weights.
local function asks_for_profile(export, given)
   return query.names_functions(given) or given.diff or given.metric and export.weighs_profile
end

local function is_profile_wanted(export, given, trace)
   if asks_for_profile(export, given) then
      return export.takes == "profile" or export.write_profile ~= nil
   end
   return export.takes == "profile" and not exports.is_whole(export, trace)
end

-- Returns the traces of both sides of --diff. They have all functions, so that there are none
-- beside a profile of some.
local function timelines_of(context)
   local given = context.given
   if not given.diff or not context.old then
      return nil
   elseif query.names_functions(given) then
      context:note("note: there is no timeline beside --focus, --ignore and --hide: the page has "
         .. "these filters")
      return nil
   end
   return { context.trace, context.old }
end

---Writes an export of a profile or of the trace.
---@param context profio.Context
---@param export table
function actions.export(context, export)
   local given = context.given
   local fits, reason = true, nil
   if export.fits then
      fits, reason = export.fits(context.trace)
   end
   if not fits then
      failure.use("export '%s' does not fit this file: %s", export.name, reason)
   end
   local options, what = files.options_of(given, export), context.trace
   local as_profile = is_profile_wanted(export, given, context.trace)
   if as_profile then
      what = context:profile():with(context:profile_options())
   end
   options.timelines = export.shows_timelines and timelines_of(context) or nil
   if not as_profile or options.timelines then -- a profile is built from the selected part already
      span.into_export(options, context.trace, given)
   end
   if given.chain[1] then
      options.chains = text_file.texts(given.chain)
   end
   options.metric = options.metric or given.metric
   options.sources = given.source
   local write = as_profile and export.write_profile or not as_profile and export.write_trace
   options.notes, options.worded = {}, messages.command
   context.out:export(export, options, what, write or nil)
   for _, note in ipairs(options.notes) do
      context:note(messages.command(note))
   end
end

-- }======

return actions
