-- Writes views and reports in the form that the command line asks for: text, rows in another form,
-- or an export of rows.

local conflicts = require "profio.cli.conflicts"
local core = require "profio.core"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local query = require "profio.internal.command.query"

local show = {}

-- {====== Rows ======

-- Returns the columns of a report in its own order, as far as the rows have them; nil: all columns
-- of the file.
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

-- Raises if --unit is given but no shown column (nil: any column) has times.
local function check_unit(given, rows, columns)
   if not given.unit or given.from or given.to then
      return
   end
   local shown = {}
   for _, name in ipairs(columns or rows.columns) do
      shown[name] = true
   end
   local reader = rows:reader()
   for _, field in ipairs(reader:fields()) do
      if shown[field.name] and core.unit(reader, field.name) == "ns" then
         return
      end
   end
   failure.use("--unit: these rows have no column of times; there are: %s",
      table.concat(columns or rows.columns, ", "))
end

---Returns the options of the row writers.
---@param context profio.Context
---@param rows profio.View
---@param report table|nil
---@return table
function show.options(context, rows, report)
   local given = context.given
   local columns = query.columns(given)
   if report and not columns and not given.group and not given.aggregate then
      local is_text = given.output == "text" and not given.export
      local shown = is_text and report.shown
      shown = type(shown) == "function" and shown(rows) or shown
      columns = shown or report.listed and report.listed(context)
         or columns_of(report, rows)
   end
   check_unit(given, rows, columns)
   local options = show.form(given, columns, report and report.name or given.table
      or context.trace.tables[1])
   local unit = report and report.unit
   if type(unit) == "function" then
      unit = unit(context.trace)
   end
   options.unit = given.unit or unit
   return options
end

---Returns the options of --set for the form of rows, its name, and what is written.
---@param given table
---@param columns string[]|nil nil: all
---@param title string name of the table or report
---@return table
function show.form(given, columns, title)
   local options = files.options_of_rows(given)
   options.output, options.columns, options.title = given.output, columns, title
   return options
end

-- Sets the units of columns with one in a table that the caller of cli.main has given.
local function note_units(units, reader)
   for _, field in ipairs(reader:fields()) do
      local unit = (field.type == "int" or field.type == "num") and core.unit(reader, field.name)
      units[field.name] = unit and unit ~= "" and unit or nil
   end
end

---Writes rows as an export, or prints them.
---@param context profio.Context
---@param rows profio.View
---@param options table of show.form
function show.rows(context, rows, options)
   local export, reader = context.given.export, rows:reader()
   local argv = context.given.argv
   if argv and argv.units then
      note_units(argv.units, reader)
   end
   if export then
      context.out:export_rows(exports.named(export), options, reader)
   else
      context.out:rows(options, reader)
   end
end

---Writes a view: with the stages of the command line, as an export or printed.
---@param context profio.Context
---@param rows profio.View
---@param report table|nil
function show.view(context, rows, report)
   rows = query.apply(rows, context.given)
   show.rows(context, rows, show.options(context, rows, report))
end

-- Writes the meaning of each column.
local function explain(context, columns)
   local lines = { "\n" }
   for _, column in ipairs(columns) do
      lines[#lines + 1] = ("%-20s %s\n"):format(column.name, column.help or "")
   end
   context.out:write(table.concat(lines))
end

---Writes the rows of a table.
---@param context profio.Context
---@param rows profio.View
function show.table(context, rows)
   show.view(context, rows)
   if context.given.explain then
      explain(context, rows:fields())
   end
end

-- }======

-- {====== Reports ======

---Returns whether the report's own text can show what is asked for.
---@param report table
---@param context profio.Context
---@return boolean
function show.has_text(report, context)
   local given = context.given
   if given.output ~= "text" or given.export or query.reshapes(given) or not report.text then
      return false
   elseif given.unit and not (given.from or given.to)
      and not conflicts.uses(report, "unit", context.trace) then
      return false
   elseif report.text_fits and not report.text_fits(context) then
      return false
   end
   return report.narrows == true or not (given.top or given.where[1])
end

---Writes a report as the vendor's tool does, or as rows if other rows or columns are asked for.
---@param report table
---@param context profio.Context
function show.report(report, context)
   if context.given.heading and context.given.output == "text" and not context.given.export then
      context.out:write(context.given.heading)
   end
   if show.has_text(report, context) then
      report.text(context, context.out)
      if not context.out.is_written then -- no rows: print the header
         show.view(context, context:view_of(report), report)
      end
   else
      show.view(context, context:view_of(report), report)
   end
   if context.given.explain then
      explain(context, report.columns)
   end
end

-- }======

return show
