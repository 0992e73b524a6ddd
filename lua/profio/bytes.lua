-- Bytes to read: a path, or { data = string, path = label }.

local core = require "profio.core"

local bytes = {}

---Open what a user names as bytes.
---@param from string|{ data: string, path: string|nil }
---@param max_size integer|nil most bytes a pipe or packed file may unpack to
---@param length integer|nil how many bytes of a file are looked at
---@param is_live boolean|nil others write on it: it is looked at again and again
---@return userdata|nil
---@return string|nil message
---@return string|nil code
---@return userdata|nil part of packed data that are damaged: what could be unpacked
function bytes.open(from, max_size, length, is_live)
   if type(from) == "table" then
      return core.source_data(from.data, bytes.path(from), max_size)
   elseif is_live then
      return core.source_live(from)
   end
   return core.source(from, max_size, length)
end

---What bytes.open or core.source has answered; where that is a failure with a part, the part, and a
---note of what is lost.
---@param notes table[]|nil nil: a failure is one
---@param source userdata|nil
---@param message string|nil
---@param code string|nil
---@param part userdata|nil
---@return userdata|nil
---@return string|nil message
---@return string|nil code
function bytes.kept(notes, source, message, code, part)
   if source or not part then
      return source, message, code
   elseif not notes then
      part:close()
      return nil, message, code
   end
   notes[#notes + 1] = { code = code == "truncated" and "gzip-truncated" or "gzip-damaged",
      kind = "damage", message = message .. ": what could be unpacked is read" }
   return part
end

---The path of such bytes, for messages.
---@param from string|{ data: string, path: string|nil }
---@return string
function bytes.path(from)
   return type(from) == "table" and (from.path or "(data)") or from
end

return bytes
