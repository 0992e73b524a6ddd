-- Prints the warnings of a trace, one per line.

local later = require "profio.internal.later"
local core = require "profio.core"
local plain = require "profio.reports.plain"
local trace = require "profio.internal.trace"
local messages = later "profio.cli.messages"

local warnings = {}

local colors = { damage = "\27[31m", note = "\27[33m" }

---Returns a warning as a line: path, kind, message, first byte, count and code.
---@param of profio.Trace
---@param warning profio.Warning
---@param has_color boolean|nil
---@return string
function warnings.line(of, warning, has_color)
   local kind = has_color and colors[warning.kind] .. warning.kind .. "\27[0m" or warning.kind
   local place = (warning.offset and (", byte %d"):format(warning.offset) or "")
      .. trace.times(warning)
   return ("%s: %s: %s%s [%s]\n"):format(plain(warning.path or of.path), kind,
      plain(messages.command(warning.message)),
      place ~= "" and (" (%s)"):format(place:sub(3)) or "", warning.code)
end

---Returns whether one of the warnings is damage.
---@param list profio.Warning[]
---@return boolean
function warnings.has_damage(list)
   for _, warning in ipairs(list) do
      if warning.kind == "damage" then
         return true
      end
   end
   return false
end

---Returns the warnings of a trace as lines.
---@param of profio.Trace
---@param err file* where they will be written
---@return string
function warnings.lines(of, err)
   local has_color = core.is_terminal(err) and (os.getenv "NO_COLOR" or "") == ""
   local lines = {}
   for i, warning in ipairs(of.warnings) do
      lines[i] = "profio: " .. warnings.line(of, warning, has_color)
   end
   return table.concat(lines)
end

---Writes the warnings of a trace.
---@param of profio.Trace
---@param err file*
---@return boolean has_damage
function warnings.report(of, err)
   err:write(warnings.lines(of, err))
   return warnings.has_damage(of.warnings)
end

return warnings
