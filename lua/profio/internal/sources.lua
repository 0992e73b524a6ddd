-- Source files, found by the paths that traces state.

local core = require "profio.core"

local sources = {}

local LONGEST_PATH = 4096 -- bytes; the system opens no longer ones
local MOST_BYTES = 16 << 20 -- of a source file

---Checks that the folders of sources, which the user has named, can be listed.
---@param folders string[]
---@return true|nil
---@return string|nil message
---@return string|nil code
function sources.check(folders)
   for _, folder in ipairs(folders) do
      local kind, message, code = core.kind(folder)
      if not kind then
         return nil, message, code
      elseif kind ~= "folder" then
         return nil, ("%s: a folder of source files expected, this is a %s"):format(folder, kind),
            "io"
      end
      local names
      names, message, code = core.names_in(folder)
      if not names then
         return nil, message, code
      end
   end
   return true
end

-- Returns the paths at which a source may be: its own, and in each folder its ever shorter tails.
local function candidates(path, folders)
   local list = { path }
   for _, folder in ipairs(folders) do
      local rest = path:gsub("^/+", "")
      while rest do
         list[#list + 1] = folder .. "/" .. rest
         rest = rest:match "^[^/]*/(.+)$"
      end
   end
   return list
end

---Opens a source if it may be read: a regular file of at most 16 MiB below a folder of --source or
---the current one, after links and ".." are resolved (see csrc/bytes/named.h).
---@param path string
---@param folders string[] of --source
---@param trusts_paths boolean|nil any regular file may be read
---@return userdata|nil source nil: it may not be read
---@return string|nil message
---@return string|nil code "io": there is no such file; "unsupported", "limit": it may not be read
function sources.open(path, folders, trusts_paths)
   if #path > LONGEST_PATH or path:find("\0", 1, true) then
      return nil, nil, "io"
   elseif trusts_paths then
      return core.named_source(path)
   end
   return core.named_source(path, table.move(folders, 1, #folders, 2, { "." }), MOST_BYTES,
      MOST_BYTES)
end

---Reads the lines of a source: at its path, or below one of the folders, with ever shorter tails.
---@param path string as the trace states it
---@param folders string[] of --source
---@param trusts_paths boolean|nil any regular file may be read
---@return string[]|nil
---@return string|nil found the path that was read; else why the first existing file may not be
---read, nil if there is none
function sources.read(path, folders, trusts_paths)
   local reason
   for _, found in ipairs(candidates(path, folders)) do
      local source <close>, message, code = sources.open(found, folders, trusts_paths)
      if source then
         local list, text = {}, source:read()
         for line in (text:find "[^\n]$" and text .. "\n" or text):gmatch "([^\n]*)\n" do
            list[#list + 1] = line
         end
         return list, found
      end
      reason = reason or code ~= "io" and message or nil
   end
   return nil, reason
end

return sources
