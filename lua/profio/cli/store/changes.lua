-- profio store changes: which version slowed what.

local changes_gate = require "profio.internal.store.comparing.changes_gate"
local changes_forms = require "profio.cli.store.changes_forms"
local comparison_text = require "profio.cli.compare.comparison_text"
local conflicts = require "profio.cli.conflicts"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local messages = require "profio.cli.messages"
local options = require "profio.internal.options"
local output = require "profio.cli.output"
local query = require "profio.internal.command.query"
local row_export = require "profio.internal.exporting.row_export"
local show = require "profio.cli.show"
local stored_changes = require "profio.internal.store.changes"
local target = require "profio.cli.store.target"
local times = require "profio.internal.times"

local function option_of(name, argument)
   return options.of_command(stored_changes.options, name, argument)
end

local changes = {
   name = "changes",
   of = "store",
   help = "find the version from which on functions are slower or faster",
   description = "Find steps in the weights of all functions and of the whole over the versions of "
      .. "a program: their sizes, and the first version with each of them. See profio help store.",
   usage = "profio store changes [options] STORE",
   options = { { "--by", "KEY", "a label, hour, day, week or month (UTC), run, or an attribute "
         .. "with texts; default version" }, option_of("order", "HOW"),
      option_of("since", "VERSION"), option_of("normalise", "HOW"), option_of("alpha", "P"),
      { "--fail", "COND", "end with status 4 for 'self > +5%', 'slower of main', new",
         many = true },
      "--run", "--metric", "--where", "--top",
      { "--output", "FORM", "text, csv, tsv, json, ndjson, markdown or junit" }, "--unit", "-o" },
   more = { "--columns", "--sort", "--group", "--aggregate", "--wide" },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store changes --by version fleet.db", "the steps of all functions" },
      { "profio store changes --order time --fail 'self > +5%' fleet.db",
         "commits in the order of their runs, as a gate" },
   },
   outputs = row_export.outputs_and { "markdown", "junit" },
}

-- The forms that have no rows.
local is_written = { text = true, markdown = true, junit = true }

-- Returns the options of store:changes on the command line.
local function options_of(given)
   local chosen = { by = given.by, metric = given.metric, where = target.where(given) }
   for _, option in ipairs(stored_changes.options) do
      local value = given[option.name]
      chosen[option.name] = option.type == "num" and tonumber(value) or value
   end
   return chosen
end

-- Returns whether the steps are shown as rows.
local function has_rows(given)
   return not is_written[given.output] or given.output == "text" and query.reshapes(given)
end

local function check_unused(given)
   if given.output == "markdown" or given.output == "junit" then
      conflicts.check_unused(given, { "columns", "group", "aggregate", "sort", "wide" },
         "store changes: --output " .. given.output)
   end
end

-- Returns the function that formats a weight of a run, or a share.
local function formatter(given, result)
   if given.unit and result.metric.unit == "ns" and not result.is_share then
      return function(value)
         return times.show(value, given.unit)
      end
   end
   return changes_gate.formatter(result)
end

-- Returns the rows of the result that --where leaves, and in other forms than text --top.
local function picked(given, view, result)
   local numbers, rows = {}, {}
   for i, row in ipairs(result.rows) do
      numbers[("%s\0%s"):format(row["function"] or "", row.by)] = i
   end
   local kept = query.where(view, given)
   for row in (given.output == "text" and kept or query.top(kept, given)):records() do
      rows[#rows + 1] = result.rows[numbers[("%s\0%s"):format(row["function"] or "", row.by)]]
   end
   return rows
end

---@param given table
---@param err file*
---@return integer status
---@return boolean is_closed
function changes.run(given, err)
   local path = target.one(given)
   check_unused(given)
   local store <close> = target.open(path, "read")
   local view, result, code = store:changes(options_of(given))
   failure.check(view, result, code)
   local results = result.check(given.fail)
   local out <close> = output.open(given.out, files.named(given), { wide = given.wide,
      is_paged = true })
   if has_rows(given) then
      local rows = query.apply(view, given)
      local form = show.form(given, query.columns(given), "changes")
      form.unit = given.unit
      show.rows({ given = given, out = out }, rows, form)
   else
      changes_forms[given.output](out, result, picked(given, view, result),
         formatter(given, result), { conditions = given.fail, results = results },
         query.count(given))
   end
   out:close()
   for _, line in ipairs(has_rows(given) and comparison_text.lines(results) or {}) do
      messages.say(err, line)
   end
   for _, note in ipairs(given.output == "markdown" and {} or result.notes) do
      messages.say(err, "note: " .. note)
   end
   return comparison_text.has_failed(results) and failure.EXCEEDED or failure.READ, true
end

return changes
