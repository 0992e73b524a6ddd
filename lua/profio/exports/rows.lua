-- What the row exports have in common: options for core.write_rows.

local core = require "profio.core"

local rows = {}

---Options of the outputs csv and tsv.
---@type profio.Option[]
rows.text_options = {
   { name = "raw", type = "bool", default = false,
     help = "bytes that are not UTF-8 stay as they are, in place of U+FFFD" },
}

-- Times whose help may not say so.
local known_times = { time = true, start = true, stop = true, self = true, total = true,
   net = true, gross = true, spent = true }

local function is_time(field)
   if field.type ~= "int" and field.type ~= "num" then
      return false
   end
   return (field.help or ""):find "%f[%a]ns%f[%A]" ~= nil
      or (known_times[field.name] and (field.help or "") == "")
end

---The columns that text shows in another unit, and those it shows as per cent.
---@param fields table[]
---@return string[] times
---@return string[] shares
function rows.kinds(fields)
   local times, shares = {}, {}
   for _, field in ipairs(fields) do
      if is_time(field) then
         times[#times + 1] = field.name
      elseif field.name:find "_share$" then
         shares[#shares + 1] = field.name
      end
   end
   return times, shares
end

---Names of the outputs of rows.
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

---Write the rows of a reader.
---@param reader userdata
---@param given table { output =, columns =, unit =, color =, header =, raw = }
---@param out file*|nil without it the text is returned
---@return integer|string|nil
---@return string|nil message
---@return string|nil code
---@return string|nil broken "EPIPE" when the reader of a pipe left
function rows.write(reader, given, out)
   check_output(given.output)
   local times, shares = rows.kinds(reader:fields())
   return core.write_rows(reader, { output = given.output, columns = given.columns,
      header = given.header, raw = given.raw, color = given.color, unit = given.unit,
      times = times, percent = shares, width = given.width }, out)
end

---An export that writes rows in one form of the core.
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
            header = given.header, raw = given.raw }, out)
      end,
   }
end

return rows
