-- Shared functions of row exports: options for core.write_rows.

local core = require "profio.core"

local rows = {}

-- Options of the outputs csv and tsv.
local text_options = {
   { name = "raw", type = "bool", default = false,
     help = "keep bytes that are not UTF-8, instead of writing U+FFFD" },
   { name = "no_formulas", type = "bool", default = false,
     help = "write ' before a text that a spreadsheet would compute: one that begins with = + - @, "
        .. "a tab or a return" },
   { name = "decimal", type = "text", default = ".",
     help = 'decimal sign of numbers with a fraction, "." or ","; csv then needs another '
        .. "delimiter" },
   { name = "bom", type = "bool", default = false,
     help = "begin with a byte order mark, by which Excel detects UTF-8" },
}

-- Values of the option spreadsheet, and the options that each stands for.
local spreadsheets = {
   comma = { delimiter = ";", decimal = ",", bom = true },
   point = { delimiter = ",", decimal = ".", bom = true },
}

---Options of output tsv.
---@type profio.Option[]
rows.tsv_options = table.move(text_options, 1, #text_options, 1, {})

---Options of output csv.
---@type profio.Option[]
rows.csv_options = table.move(text_options, 1, #text_options, 1, {
   [#text_options + 1] = { name = "delimiter", type = "text", default = ",",
     help = "character between values: a comma, ;, a vertical bar or tab" },
   [#text_options + 2] = { name = "spreadsheet", type = "choice", choices = { "comma", "point" },
     help = 'for Excel and others: comma, where numbers have a decimal comma, is delimiter=";" '
        .. 'decimal="," bom=true; point is bom=true; an option that is given too has priority' },
})

-- Returns a value of the option delimiter or decimal, or raises if it is none of the known ones.
local function sign_of(name, value, ...)
   for _, known in ipairs { ... } do
      if value == known then
         return value
      end
   end
   error(("option '%s' is one of %s; got %s"):format(name, table.concat({ ... }, " "), value), 0)
end

-- Returns the options of csv and tsv for core.write_rows. Raises if the delimiter is the decimal
-- sign: a number with a fraction would be two values.
local function signs_of(given)
   local preset = spreadsheets[given.spreadsheet] or {}
   local delimiter = given.delimiter == "\t" and "tab" or given.delimiter
   delimiter = sign_of("delimiter", delimiter or preset.delimiter or ",", ",", ";", "|", "tab")
   local decimal = sign_of("decimal", given.decimal or preset.decimal or ".", ".", ",")
   if given.output == "csv" and delimiter == decimal then
      error(("the delimiter and the decimal sign are both '%s': give option 'delimiter' another "
         .. "value, such as ';'"):format(decimal), 0)
   end
   local bom = given.bom
   if bom == nil then
      bom = preset.bom
   end
   return delimiter == "tab" and "\t" or delimiter, decimal, bom
end

-- Returns the columns that text shows as per cent.
local function shares_of(fields)
   local shares = {}
   for _, field in ipairs(fields) do
      if field.name:find "_share$" then
         shares[#shares + 1] = field.name
      end
   end
   return shares
end

---Names of the forms of rows.
rows.outputs = { "text", "csv", "tsv", "json", "ndjson" }

---Returns the outputs of rows and further forms, for a verb that has them.
---@param forms string[]
---@return string[]
function rows.outputs_and(forms)
   return table.move(forms, 1, #forms, #rows.outputs + 1,
      table.move(rows.outputs, 1, #rows.outputs, 1, {}))
end

local function check_output(output)
   for _, known in ipairs(rows.outputs) do
      if output == nil or output == known then
         return
      end
   end
   error(("no output '%s'; there are: %s"):format(tostring(output),
      table.concat(rows.outputs, ", ")), 0)
end

-- Raises if an option of the signs is given to a form of rows that does not have it.
local function check_signs(given)
   local forms = { delimiter = "csv", spreadsheet = "csv", decimal = "csv tsv", bom = "csv tsv" }
   for name, of in pairs(forms) do
      if given[name] ~= nil and not of:find(given.output or "text", 1, true) then
         error(("output '%s' has no option '%s'"):format(given.output or "text", name), 0)
      end
   end
end

---Writes the rows of a reader.
---@param reader userdata
---@param given table { output =, columns =, unit =, color =, header =, raw =, no_formulas =,
---delimiter =, decimal =, bom =, spreadsheet =, no_units = }
---@param out file*|nil nil: return the text
---@return integer|string|nil
---@return string|nil message
---@return string|nil code
---@return string|nil broken "EPIPE" if the pipe was closed by its reader
function rows.write(reader, given, out)
   check_output(given.output)
   check_signs(given)
   local delimiter, decimal, bom = signs_of(given)
   return core.write_rows(reader, { output = given.output, columns = given.columns,
      header = given.header, raw = given.raw, no_formulas = given.no_formulas,
      delimiter = delimiter, decimal = decimal, bom = bom,
      color = given.color, unit = given.unit, percent = shares_of(reader:fields()),
      width = given.width, no_units = given.no_units }, out)
end

---Returns an export that writes rows in one form of the core.
---@param name string
---@param help string
---@param options profio.Option[]|nil
---@return table
function rows.export(name, help, options)
   return {
      name = name,
      help = help,
      options = options,
      write = function(reader, given, out)
         local form = { output = name, columns = given.columns, header = given.header }
         for _, option in ipairs(options or {}) do
            form[option.name] = given[option.name]
         end
         return rows.write(reader, form, out)
      end,
   }
end

return rows
