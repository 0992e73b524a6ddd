-- Description of a file: format, header fields, tables, warnings.

local columns = require "profio.reports.columns"
local core = require "profio.core"
local plain = require "profio.reports.plain"
local traces = require "profio.internal.trace"
local messages = require "profio.cli.messages"

local info = {
   name = "info",
   names = "columns",
   help = "format, header fields, tables with their columns and counts, warnings",
   columns = {
      { name = "part", help = "file, header, table or warning" },
      { name = "name", help = "name of a header field or table, or code of a warning" },
      { name = "value", help = "value of a field, rows of a table (? if unknown), or message of a "
         .. "warning" },
      { name = "detail", help = "for a table: its columns; for a warning: its kind and byte" },
   },
}

function info.fits()
   return true
end

-- {====== Facts ======

local function shown(fact)
   if fact.type == "addr" then
      return ("0x%x"):format(fact.value)
   elseif math.type(fact.value) == "float" then
      return ("%.14g"):format(fact.value)
   end
   return tostring(fact.value)
end

-- Adds the header fields of each file, one row each: add(part, name, value, detail).
local function put_facts(trace, add)
   add("file", "format", trace.format)
   for _, facts in ipairs(trace:facts()) do
      for _, fact in ipairs(facts) do
         add("header", fact.name, shown(fact))
      end
   end
end

local function put_tables(trace, add)
   for _, name in ipairs(trace.tables) do
      local view = trace:table(name)
      local count = trace:row_count(name)
      add("table", name, count and tostring(count) or "?", table.concat(view.columns, " "))
   end
end

local function put_warnings(trace, add)
   for _, warning in ipairs(trace.warnings) do
      local place = warning.offset and (", byte %d"):format(warning.offset) or ""
      add("warning", warning.code, messages.command(warning.message),
         warning.kind .. place .. traces.times(warning))
   end
end

local function put_all(trace, add)
   put_facts(trace, add)
   put_tables(trace, add)
   put_warnings(trace, add)
end

-- }======

local fields = { { "part", "name" }, { "name", "name" }, { "value", "name" },
   { "detail", "name" } }

---@param context table
---@return userdata
function info.reader(context)
   return core.decoder(fields, function(put)
      put_all(context.trace, put)
   end, core.dictionary(), context.trace.path)
end

-- {====== The text ======

local to_left = { true, true, true }

local function collect(trace)
   local parts = { file = {}, header = {}, table = {}, warning = {} }
   put_all(trace, function(part, name, value, detail)
      local list = parts[part]
      list[#list + 1] = { plain(name), plain(value), detail and plain(detail) }
   end)
   return parts
end

---@param context table
---@param out table
function info.text(context, out)
   local trace = context.trace
   local parts = collect(trace)
   out:write(plain(trace.path), ": ", trace.format, "\n")
   if trace.info.files then
      out:write(("%d files as one trace; the facts are those of each\n"):format(trace.info.files))
   end
   columns(out, parts.header, to_left, "  ")
   out:write "\ntables (rows, columns):\n"
   for _, row in ipairs(parts.table) do
      row[2] = ("%10s"):format(row[2])
   end
   columns(out, parts.table, to_left, "  ")
   out:write(#parts.warning == 0 and "\nno warnings\n" or "\nwarnings:\n")
   for _, row in ipairs(parts.warning) do
      out:write(("  %s: %s (%s)\n"):format(row[1], row[2], row[3]))
   end
end

-- }======

return info
