-- The text of --list-formats.

local exports = require "profio.internal.exporting.export_list"
local options = require "profio.internal.options"
local profio = require "profio"
local reports = require "profio.reports"
local script_writer = require "profio.internal.writing.script_writer"

local format_list = {}

-- Prints the options of --set for a format, an export or a report.
local function print_options(out, declared, when)
   for _, option in ipairs(declared or {}) do
      local form, help = options.described(option)
      out:write(("   --set %-28s %s%s\n"):format(form, when or "", help))
   end
end

-- Prints the exports or reports that have options.
local function print_owners(out, word, list)
   for _, owner in ipairs(list) do
      if #(owner.options or {}) > 0 then
         out:write(("%s %s: %s\n"):format(word, owner.name, owner.help))
         print_options(out, owner.options)
      end
   end
end

-- Prints the tables and columns that profio.create accepts for a format.
local function print_written(out, format)
   for _, written in ipairs(format.write_options and script_writer.tables(format) or {}) do
      local names = {}
      for i, field in ipairs(written.fields) do
         names[i] = field.name
      end
      out:write(("   %-34s %s\n"):format("writes " .. written.name, table.concat(names, " ")))
   end
end

---Writes the formats with their options, tables that are written and warnings, and the exports and
---reports that have options.
---@param out profio.Output
function format_list.write(out)
   for _, format in ipairs(profio.formats()) do
      out:write(("%s: %s\n"):format(format.name, format.help))
      print_options(out, format.options)
      print_options(out, format.write_options, "with --merge: ")
      print_written(out, format)
      local codes = {}
      for code in pairs(format.warnings) do
         codes[#codes + 1] = code
      end
      table.sort(codes)
      for _, code in ipairs(codes) do
         out:write(("   %-34s %s\n"):format(code, format.warnings[code]))
      end
   end
   print_owners(out, "--export", exports.all())
   print_owners(out, "--report", reports.all())
end

return format_list
