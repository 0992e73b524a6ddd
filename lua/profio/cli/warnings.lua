-- Prints the warnings of a trace, one per line.

local core = require "profio.core"
local messages = require "profio.cli.messages"
local plain = require "profio.internal.plain"
local texts = require "profio.internal.texts"
local trace = require "profio.internal.trace"

local warnings = {}

local FEW <const> = 10 -- lines with the same note, of different files

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

-- Returns the warnings to show: all damage, and of a note that many files have the first ones; and
-- how many files have the same note as each of these, by warning.
local function shown_of(list)
   local shown, notes, more = {}, {}, {}
   for _, warning in ipairs(list) do
      local key = warning.code .. "\0" .. warning.message
      local same = warning.kind == "note" and (notes[key] or { count = 0 })
      if same then
         notes[key], same.count = same, same.count + 1
      end
      if same and same.count > FEW then
         more[same.last] = same.count - FEW
      else
         shown[#shown + 1] = warning
         if same then
            same.last = warning
         end
      end
   end
   return shown, more
end

---Returns the warnings of a trace as lines. Of a note that many files have, the first ones have a
---line, and the number of the others follows them.
---@param of profio.Trace
---@param err file* where they will be written
---@return string
function warnings.lines(of, err)
   local has_color = core.is_terminal(err) and (os.getenv "NO_COLOR" or "") == ""
   local shown, more = shown_of(of.warnings)
   local lines = {}
   for _, warning in ipairs(shown) do
      lines[#lines + 1] = "profio: " .. warnings.line(of, warning, has_color)
      if more[warning] then
         lines[#lines + 1] = ("profio: this note also applies to %s, which --check lists [%s]\n")
            :format(texts.counted(more[warning], "more file"), warning.code)
      end
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
