-- The tables of a trace and their columns.

local columns = require "profio.reports.columns"
local core = require "profio.core"
local plain = require "profio.internal.plain"

local tables = {
   name = "tables",
   names = "columns",
   help = "the tables of the file and their columns, with type and meaning",
   columns = {
      { name = "table", help = "name of a table; the first one is the main table" },
      { name = "column", help = "name of a column" },
      { name = "type", help = "int, num, addr, handle, bool, name, area, stack or bytes" },
      { name = "help", help = "what it means, and its unit" },
   },
}

function tables.fits()
   return true
end

local fields = { { "table", "name" }, { "column", "name" }, { "type", "name" }, { "help", "name" } }

---@param context profio.Context
---@return userdata
function tables.reader(context)
   local trace = context.trace
   return core.decoder(fields, function(put)
      for _, name in ipairs(trace.tables) do
         for _, field in ipairs(trace:table(name):fields()) do
            put(name, field.name, field.type, field.help or "")
         end
      end
   end, core.dictionary(), trace.path)
end

local to_left = { true, true, true }

---@param context profio.Context
---@param out profio.Output
function tables.text(context, out)
   local trace = context.trace
   for i, name in ipairs(trace.tables) do
      local count = trace:row_count(name)
      out:write(i > 1 and "\n" or "", plain(name), count and (" (%d rows)\n"):format(count) or "\n")
      local rows = {}
      for j, field in ipairs(trace:table(name):fields()) do
         rows[j] = { plain(field.name), field.type, plain(field.help or "") }
      end
      columns(out, rows, to_left, "   ")
   end
end

return tables
