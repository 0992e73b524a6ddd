-- Description of a file: format, header fields, tables, warnings.

local columns = require "profio.reports.columns"
local plain = require "profio.internal.plain"
local trace_facts = require "profio.internal.trace_facts"

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

-- Returns the function that words a message for the command.
local function worded_by(context)
   return function(message)
      return context:worded(message)
   end
end

---@param context table
---@return userdata
function info.reader(context)
   return trace_facts.reader(context.trace, worded_by(context))
end

-- {====== The text ======

local to_left = { true, true, true }

local function collect(context)
   local parts = { file = {}, header = {}, table = {}, warning = {} }
   trace_facts.put(context.trace, worded_by(context), function(part, name, value, detail)
      local list = parts[part]
      list[#list + 1] = { plain(name), plain(value), detail and plain(detail) }
   end)
   return parts
end

---@param context table
---@param out table
function info.text(context, out)
   local trace = context.trace
   local parts = collect(context)
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
   out:write(#parts.warning > 0 and "\nwarnings:\n" or trace:profile_kind() == "graph"
      and "\nno warnings; report flat adds notes about its profile, if any\n" or "\nno warnings\n")
   for _, row in ipairs(parts.warning) do
      out:write(("  %s: %s (%s)\n"):format(row[1], row[2], row[3]))
   end
end

-- }======

return info
