-- Reads csv as profio writes it with raw=true, and the tables of all sample files, to compare them
-- with what other exports write.

local profio = require "profio"

local csv = {}

---Returns the records of a csv text as arrays. A missing value (empty, without quotes) is false.
---@param text string
---@param delimiter string|nil a punctuation character or a tab; default: a comma
---@return (string|false)[][]
function csv.parse(text, delimiter)
   local plain = '^([^"%' .. (delimiter or ",") .. "\n]*)()"
   local records, record, at = {}, {}, 1
   while at <= #text do
      local value, stop = text:match(plain, at)
      if text:sub(at, at) == '"' then
         local parts = {}
         repeat
            local part, close = text:match('^"([^"]*)"()', at)
            parts[#parts + 1], at = part, close
         until text:sub(at, at) ~= '"'
         value, stop = table.concat(parts, '"'), at
      elseif value == "" then
         value = false
      end
      record[#record + 1] = value
      if text:sub(stop, stop) == "\n" then
         records[#records + 1], record = record, {}
      end
      at = stop + 1
   end
   return records
end

---Returns the csv cell of a decoded value; numbers with a fraction are not compared as text.
---@param type string of the column
---@param value any nil: missing
---@return any
function csv.cell(type, value)
   if value == nil then
      return false
   elseif type == "addr" then
      return ("0x%x"):format(value)
   elseif type == "handle" then
      return (value >> 32 == 0 and "%08X" or "%016X"):format(value)
   elseif type == "bool" then
      return value ~= 0 and "true" or "false"
   elseif type == "num" then
      return value ~= value and "nan" or value
   end
   return tostring(value)
end

---Converts the cells of numbers of a csv record, as csv.cell returns them.
---@param fields table[]
---@param record (string|false)[]
---@return any[]
function csv.typed(fields, record)
   local cells = {}
   for i, field in ipairs(fields) do
      local text = record[i]
      cells[i] = text and field.type == "num" and text ~= "nan"
         and (tonumber(text) or (text == "inf" and 1 / 0) or (text == "-inf" and -1 / 0)) or text
      if cells[i] and math.type(cells[i]) == "integer" then
         cells[i] = cells[i] + 0.0
      end
   end
   return cells
end

---Iterates over the tables with rows of sample files of all formats: a few files of each format
---among the seeds of the fuzzers.
---@param count integer files of each format
---@return fun(): profio.View, string, string
function csv.samples(count)
   return coroutine.wrap(function()
      for _, format in ipairs { "br", "dbf", "dcpi", "gmon", "pprof", "winidea", "xpp" } do
         local left = count
         local pipe <close> = assert(io.popen("ls spec/fuzz/corpus/" .. format))
         for name in pipe:lines() do
            local path = ("spec/fuzz/corpus/%s/%s"):format(format, name)
            local trace <close> = left > 0 and profio.open(path) or nil
            for _, of in ipairs(trace and trace.tables or {}) do
               coroutine.yield(trace:table(of), of, path)
            end
            left = trace and left - 1 or left
         end
      end
   end)
end

return csv
