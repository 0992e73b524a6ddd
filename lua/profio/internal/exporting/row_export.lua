-- Shared functions of row exports: options for core.write_rows.

local core = require "profio.core"

local rows = {}

---Options of the outputs csv and tsv.
---@type profio.Option[]
rows.text_options = {
   { name = "raw", type = "bool", default = false,
     help = "keep bytes that are not UTF-8, instead of writing U+FFFD" },
   { name = "no_formulas", type = "bool", default = false,
     help = "write ' before a text that a spreadsheet would compute: one that begins with = + - @, "
        .. "a tab or a return" },
}

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

local function check_output(output)
   for _, known in ipairs(rows.outputs) do
      if output == nil or output == known then
         return
      end
   end
   error(("no output '%s'; there are: %s"):format(tostring(output),
      table.concat(rows.outputs, ", ")), 0)
end

---Writes the rows of a reader.
---@param reader userdata
---@param given table { output =, columns =, unit =, color =, header =, raw =, no_formulas =,
---no_units = }
---@param out file*|nil nil: return the text
---@return integer|string|nil
---@return string|nil message
---@return string|nil code
---@return string|nil broken "EPIPE" if the pipe was closed by its reader
function rows.write(reader, given, out)
   check_output(given.output)
   return core.write_rows(reader, { output = given.output, columns = given.columns,
      header = given.header, raw = given.raw, no_formulas = given.no_formulas,
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
         return rows.write(reader, { output = name, columns = given.columns,
            header = given.header, raw = given.raw, no_formulas = given.no_formulas }, out)
      end,
   }
end

return rows
