-- Byte sources: a path, or { data = string, path = label }.

local core = require "profio.core"

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
   end
   return core.source(from, max_size, not is_live and length or nil, is_live)
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
   return core.kind(path) == "folder" and path or path:match "^(.*/)[^/]*$" or "."
end

---Returns the folders in which a file beside a trace must be that the user has not named, after
---links are resolved: csrc/bytes/named.h checks that. nil: it may be anywhere.
---@param trace_path string the trace, or the folder that is read as a trace
---@param trusts_paths boolean|nil
---@return string[]|nil
function bytes.folders_of(trace_path, trusts_paths)
   if trusts_paths then
      return nil
   end
   local real = core.named_file(trace_path)
   -- the trace may be a link to a file beside others
   return { folder_of(trace_path), real and folder_of(real) }
end

---Opens a file beside a trace that the user has not named: a regular file in those folders.
---@param path string
---@param trace_path string
---@param given table options of profio.open: trust_paths, max_size, live
---@param length integer|nil only this many bytes of the file are used
---@return userdata|nil
---@return string|nil message
---@return string|nil code "io": there is no such file; "unsupported", "limit": it may not be read
---@return userdata|nil part as of bytes.open
function bytes.open_beside(path, trace_path, given, length)
   return core.named_source(path, bytes.folders_of(trace_path, given.trust_paths), nil,
      given.max_size, length, given.live)
end

---Returns the path of a byte source, for messages.
---@param from string|{ data: string, path: string|nil }
---@return string
function bytes.path(from)
   return type(from) == "table" and (from.path or "(data)") or from
end

return bytes
