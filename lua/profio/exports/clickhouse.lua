-- Rows for ClickHouse: the statement that creates a table, or the rows as RowBinary, which
-- csrc/text/binary_rows.c writes.
--
-- The types depend on the columns only, never on the values, so that files of one kind go into one
-- table. Any value may be missing, so a column is Nullable unless it is in the sort key, which
-- ClickHouse refuses for Nullable columns, or an array.

local core = require "profio.core"
local texts = require "profio.internal.texts"

local clickhouse = {
   name = "clickhouse",
   help = "RowBinary to insert into a table of ClickHouse, and the statement that creates it",
   endings = { ".rowbinary" },
   options = {
      { name = "ddl", type = "bool", default = false,
        help = "write the statement CREATE TABLE instead of the rows" },
      { name = "name", type = "text",
        help = "name of the table in that statement; default: that of the table or report, in Lua "
           .. "rows" },
      { name = "key", type = "text",
        help = "columns of the sort key, separated by commas; no value of them may be missing; "
           .. "default: time, if there is such a column; empty: none" },
      { name = "depth", type = "int",
        help = "write only so many frames of a stack, the outermost; default: all, but stacks of "
           .. "more than 4,096 frames are refused" },
   },
}

local types = { int = "Int64", num = "Float64", addr = "UInt64", handle = "UInt64", bool = "UInt8",
   name = "String", area = "String", bytes = "String" }

local escapes = { ["\\"] = "\\\\", ["`"] = "\\`", ["\n"] = "\\n", ["\0"] = "\\0" }

-- Returns a name as an identifier.
local function quoted(name)
   return "`" .. name:gsub("[\\`\n%z]", escapes) .. "`"
end

-- Returns the fields of the columns that are written, in order.
local function fields_of(reader, columns)
   local by_name, list = {}, {}
   for _, field in ipairs(reader:fields()) do
      by_name[field.name] = field
      list[#list + 1] = not columns and field or nil
   end
   for i, name in ipairs(columns or {}) do
      list[i] = by_name[name] -- absent: the core raises
   end
   return list
end

-- Returns the columns of the sort key as a list and as a set.
local function keys_of(fields, given)
   local known, names, keys, set = {}, {}, {}, {}
   for i, field in ipairs(fields) do
      known[field.name], names[i] = true, field.name
   end
   for name in (given or known.time and "time" or ""):gmatch "[^,]+" do
      name = texts.trim(name)
      if not known[name] then
         error(("option 'key': there is no column '%s'; there are: %s"):format(name,
            table.concat(names, ", ")), 0)
      end
      keys[#keys + 1] = name
      set[name] = true
   end
   return keys, set
end

-- Returns the statement that creates the table.
local function ddl_of(fields, keys, is_key, name)
   local lines, order = {}, {}
   for i, field in ipairs(fields) do
      local type = types[field.type]
      lines[i] = ("   %s %s"):format(quoted(field.name), not type and "Array(String)"
         or is_key[field.name] and type or "Nullable(" .. type .. ")")
   end
   for i, key in ipairs(keys) do
      order[i] = quoted(key)
   end
   return ("CREATE TABLE %s (\n%s\n) ENGINE = MergeTree ORDER BY %s\n"):format(quoted(name),
      table.concat(lines, ",\n"), #order == 0 and "tuple()" or "(" .. table.concat(order, ", ")
      .. ")")
end

---Returns whether the output is bytes and not text.
---@param given table
---@return boolean
function clickhouse.is_binary(given)
   return not given.ddl
end

---@param reader userdata
---@param given table see clickhouse.options; columns, and title, the name of the table or report
---@param file file*
---@return integer|boolean|nil rows
---@return string|nil message
---@return string|nil code
---@return string|nil broken "EPIPE" if the pipe was closed by its reader
function clickhouse.write(reader, given, file)
   local fields = fields_of(reader, given.columns)
   local keys, is_key = keys_of(fields, given.key)
   if given.ddl then
      local ok, _, number = file:write(ddl_of(fields, keys, is_key,
         given.name or given.title or "rows"))
      if not ok then
         return core.write_failure(file, number)
      end
      return true
   end
   if given.depth and given.depth < 1 then
      error("option 'depth' must be 1 or more", 0)
   end
   return core.write_rows(reader, { output = "rowbinary", columns = given.columns, keys = keys,
      depth = given.depth }, file)
end

return clickhouse
