-- Emitters of writers without a ring; those with a ring are in C (csrc/lua/writer/emitter.c). The
-- core's writers have a fast one in C, which raises through a function of this file.

local raise = require "profio.internal.raise"

local raise_message = raise.public(function(message)
   error(message, 0)
end)

-- Raises unless the sink writes a table of this name with these columns, each named once.
local function check_columns(sink, table_name, columns)
   local names, known = {}, {}
   for i, described in ipairs(sink:tables()) do
      names[i], known[described.name] = described.name, described.fields
   end
   if not known[table_name] then
      error(("emitter: no table '%s'; there are: %s"):format(tostring(table_name),
         table.concat(names, ", ")), 0)
   end
   local seen = {}
   names = {}
   for i, field in ipairs(known[table_name]) do
      names[i], seen[field.name] = field.name, 0
   end
   for _, name in ipairs(columns) do
      if not seen[name] then
         error(("table '%s' has no column '%s'; there are: %s"):format(table_name, tostring(name),
            table.concat(names, ", ")), 0)
      end
      seen[name] = seen[name] + 1
      if seen[name] > 1 then
         error(("column '%s' is given twice"):format(name), 0)
      end
   end
   if #columns == 0 then
      error("emitter expects names of columns", 0)
   end
end

---Returns a function that writes one row: that of the core, or one that builds a record from its
---arguments.
---@param sink table
---@param table_name string
---@param columns string[]
---@param answer function of the results of sink:put: raises for a value that the file cannot hold
---@return fun(...): nil, string|nil, string|nil
local function plain_emitter(sink, table_name, columns, answer)
   if sink.emitter then
      return sink:emitter(table_name, columns, raise_message)
   end
   check_columns(sink, table_name, columns)
   return raise.public(function(...)
      local record = {}
      for i, column in ipairs(columns) do
         record[column] = (select(i, ...))
      end
      local ok, message, code = answer(sink:put(table_name, record))
      if not ok then
         return ok, message, code
      end
   end)
end

return plain_emitter
