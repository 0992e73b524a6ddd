-- Byte sources: a path, or { data = string, path = label }.

local core = require "profio.core"
local lfs = require "lfs"

local bytes = {}

---Open a byte source.
---@param from string|{ data: string, path: string|nil }
---@param max_size integer|nil most bytes a pipe or packed file may unpack to
---@param length integer|nil only this many bytes of the file are used
---@param is_live boolean|nil the file is still being written: its size is checked again
---@return userdata|nil
---@return string|nil message
---@return string|nil code
---@return userdata|nil part the part of damaged packed data that could be unpacked
function bytes.open(from, max_size, length, is_live)
   if type(from) == "table" then
      return core.source_data(from.data, bytes.path(from), max_size)
   elseif is_live then
      return core.source_live(from)
   end
   return core.source(from, max_size, length)
end

---Takes the results of bytes.open or core.source. If they are a failure with a part, returns the
---part and adds a note about the loss.
---@param notes table[]|nil nil: such a failure stays one
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

-- Returns the folder of a path, or the path itself if it is a folder.
local function folder_of(path)
   return lfs.attributes(path, "mode") == "directory" and path or path:match "^(.*/)[^/]*$" or "."
end

---Returns whether a file beside a trace that the user has not named may be read: it must be a
---regular file below the folder of the trace, without links that lead out of it, as
---csrc/bytes/named.h decides.
---@param path string
---@param trace_path string the trace, or the folder that is read as a trace
---@param trusts_paths boolean|nil the file may lie anywhere
---@return string|nil real_path nil: it may not be read
---@return string|nil message
---@return string|nil code "io": there is no such file; "unsupported", "limit": it may not be read
function bytes.beside(path, trace_path, trusts_paths)
   if trusts_paths then
      return core.named_file(path)
   end
   local folders = { folder_of(trace_path) }
   local real = core.named_file(trace_path)
   folders[2] = real and folder_of(real) -- the trace may be a link to a file beside others
   return core.named_file(path, folders)
end

---Returns the path of a byte source, for messages.
---@param from string|{ data: string, path: string|nil }
---@return string
function bytes.path(from)
   return type(from) == "table" and (from.path or "(data)") or from
end

return bytes
