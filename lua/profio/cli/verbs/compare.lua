-- profio compare: several runs of an old version with several of a new one.

local compare = require "profio.internal.compare"
local comparison_text = require "profio.cli.compare.comparison_text"
local conflicts = require "profio.cli.conflicts"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local junit = require "profio.cli.compare.junit"
local limits_mode = require "profio.cli.limits.mode"
local messages = require "profio.cli.messages"
local options = require "profio.internal.options"
local output = require "profio.cli.output"
local outputs = require "profio.internal.writing.outputs"
local pull_request = require "profio.cli.compare.pull_request"
local query = require "profio.internal.command.query"
local row_export = require "profio.internal.exporting.row_export"
local sentences = require "profio.internal.compare.sentences"
local show = require "profio.cli.show"
local sides = require "profio.cli.compare.compared_sides"
local times = require "profio.internal.times"
local verbs = require "profio.cli.verbs"

local function option_of(name, argument)
   return options.of_command(compare.options, name, argument)
end

local verb = {
   name = "compare",
   help = "compare runs of two versions, with statistics; a gate for CI",
   description = "Compare runs of two versions, with statistics. See profio help compare.",
   usage = "profio compare [options] [--base] OLD... --new NEW...",
   options = {
      { "--base", "OLD...", "the old runs, or version=v1 of a store", many = true, list = true },
      { "--new", "NEW...", "the new runs", many = true, list = true },
      option_of("by", "WORD"), "--metric",
      { "--fail", "COND", "end with status 4 for 'self > +5%', 'slower of main', new",
         many = true },
      { "--limits", "FILE", "end with status 4 for calls beyond the limits in FILE" },
      { "--output", "FORM", "text, csv, tsv, json, ndjson, markdown or junit" },
      { "--whole", false, "write one row: the change of the whole" },
      option_of("normalise", "HOW"), option_of("method", "NAME"), option_of("adjust", "NAME"),
      option_of("alpha", "P"), option_of("exact", false), option_of("single", false),
      option_of("anyway", false),
      { "--all", false, "show all rows, also unknown ones below 1 % of the whole" }, "--top",
      "-o" },
   more = verbs.joined({ "--where", "--columns", "--sort", "--group", "--aggregate", "--unit",
      "--wide", "--export", "--exe", "--symbols", "--load-bias", "--format", "--set", "--mapping",
      "--run", "--trust-paths", "--strict", "--load", "--progress", "--no-progress" }, verbs.older),
   argument = { "OLD", "the old runs, and their executable" },
   examples = {
      { "profio compare old/prog old/gmon.* --new new/prog new/gmon.*",
         "each side with its own executable" },
      { "profio compare version=v1 fleet.db --new version=v2 --fail 'self > +5%'",
         "two versions in a store, as a gate" },
   },
   outputs = row_export.outputs_and { "markdown", "junit" },
}

verb.prepare = sides.prepare

-- {====== Options ======

-- Returns the options of profio.compare on the command line.
local function options_of(given)
   local chosen = {}
   for _, option in ipairs(compare.options) do
      local value = given[option.name]
      if type(value) == "string" then
         value = options.parse(compare.options, option.name, value)
      end
      chosen[option.name] = value
   end
   return compare.checked(chosen)
end

-- Returns whether --export is of profiles, not of rows.
local function takes_profile(given)
   local export = given.export and exports.named(given.export)
   return export and export.takes ~= "rows" or false
end

-- The options of rows and of text that the forms of output do not use.
local unused = {
   text = {},
   markdown = { "columns", "group", "aggregate", "sort", "top", "wide" },
   junit = { "all", "columns", "where", "group", "aggregate", "sort", "top", "wide" },
   profile = { "all", "columns", "where", "group", "aggregate", "sort", "top", "wide", "unit" },
   rows = { "all", "wide", "unit" },
}

local function check_unused(given)
   local form = takes_profile(given) and "profile" or given.export and "rows" or given.output
   conflicts.check_unused(given, unused[form] or unused.rows, "compare: " .. (given.export
      and "--export " .. given.export or "--output " .. given.output))
end

local function check(given)
   check_unused(given)
   local export = given.export and exports.named(given.export)
   if export and export.takes == "trace" and not export.write_profile then
      failure.use("compare: --export %s shows the events of one trace", export.name)
   end
   if given.output == "junit" and #given.fail == 0 and not given.limits then
      failure.use "compare: --output junit shows the conditions of --fail and --limits: give one"
   elseif given.export and given.output ~= "text" then
      failure.use "compare: --export has a form of its own: leave out --output"
   elseif given.whole and (takes_profile(given) or given.output == "markdown"
      or given.output == "junit") then
      failure.use("compare: --whole is a row: %s does not show it", given.export
         and "--export " .. given.export or "--output " .. given.output)
   end
end

-- }======

-- {====== Output ======

-- Returns the function that formats weights: times in the unit of --unit.
local function formatter(given, comparison)
   local shown = sentences.formatter(comparison.metric)
   if not given.unit or comparison.metric.unit ~= "ns" then
      return shown
   end
   return function(value)
      return times.show(value, given.unit)
   end
end

local function has_text(given)
   return given.output == "text" and not given.export and not given.whole
      and not query.reshapes(given)
end

-- Returns whether the output has the results of a gate; else they go to standard error.
local function shows_results(given)
   return has_text(given) or given.output == "markdown" or given.output == "junit"
end

-- Writes the difference of both sides as an export of profiles; flame graphs show what is gone.
local function write_profile(given, comparison, out)
   local export = exports.named(given.export)
   local chosen = files.options_of(given, export)
   if options.find(export.options, "widths") then
      chosen.widths = chosen.widths or "both"
   end
   if options.find(export.options, "metric") then
      chosen.metric = chosen.metric or comparison.metric.name
   end
   chosen.comparison = comparison -- its verdicts, for exports that show them
   chosen.timelines = export.takes == "trace" and sides.traces(given) or {}
   local new <close> = chosen.timelines[1] -- luacheck: ignore
   local old <close> = chosen.timelines[2] -- luacheck: ignore
   out:export(export, chosen, comparison:difference(), export.write_profile)
end

-- `gate`: the conditions, and their results.
local function write(given, comparison, gate, heading)
   local out <close> = output.open(given.out, files.named(given), { wide = given.wide,
      is_paged = true })
   local rows = comparison:rows(given.whole and "whole" or "self")
   local shown = formatter(given, comparison)
   if takes_profile(given) then
      write_profile(given, comparison, out)
   elseif given.output == "junit" then
      junit.write(out, "profio compare", gate.conditions, gate.results, comparison:text())
   elseif given.output == "markdown" then
      pull_request.write(out, comparison, query.where(rows, given), gate.results,
         shown, given.all)
   elseif has_text(given) then
      out:write(heading)
      comparison_text.write(out, comparison, query.where(rows, given),
         { top = query.count(given), unit = given.unit, is_all = given.all }, shown)
      comparison_text.write_results(out, gate.results)
   else
      rows = query.apply(rows, given)
      local form = show.form(given, query.columns(given), "compare")
      form.unit = given.unit
      show.rows({ given = given, out = out }, rows, form)
   end
   out:close()
end

-- }======

-- Returns the conditions of --fail and --limits, and the results of those that are not met.
local function checked(given, comparison, limits)
   local conditions = table.move(given.fail, 1, #given.fail, 1, {})
   local results = comparison:check(given.fail)
   for i, limit in ipairs(limits) do
      conditions[#given.fail + i] = limit.text
   end
   for _, result in ipairs(limits[1] and comparison:limits(limits) or {}) do
      local _, area, _, value, bound = table.unpack(limits_mode.cells(result, given))
      results[#results + 1] = result.state ~= "ok" and { condition = result.text, name = area,
         state = "failed", text = ("%s: %s, limit %s"):format(area, value, bound) } or nil
   end
   return conditions, results
end

---@param given table
---@param err file*
---@return integer status
---@return boolean is_closed
function verb.run(given, err)
   check(given)
   local chosen, list = options_of(given), given.limits and limits_mode.read(given.limits) or {}
   chosen.profiles, chosen.calls = takes_profile(given), given.limits ~= nil
   outputs.check_inputs({ given.out or "-" }, files.named(given))
   local runs, heading, has_damage = sides.read(given, chosen, err)
   local comparison = failure.check(compare.of_runs(runs, chosen))
   local conditions, results = checked(given, comparison, list)
   local status = comparison_text.has_failed(results) and failure.EXCEEDED or failure.READ
   write(given, comparison, { conditions = conditions, results = results }, heading)
   if not shows_results(given) then
      for _, line in ipairs(comparison_text.lines(results)) do
         messages.say(err, line)
      end
   end
   sides.warn(comparison.warnings, err)
   return math.max(status, has_damage and failure.DAMAGE or failure.READ), true
end

return verb
