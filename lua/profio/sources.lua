-- Source files, found by the paths that traces name.

local core = require "profio.core"
local lfs = require "lfs"

local sources = {}

local LONGEST_PATH = 4096 -- bytes; the system opens none that is longer
local MOST_BYTES = 16 << 20 -- of a source file

---Whether folders of sources, which a user has named, are folders that can be listed.
---@param folders string[]
---@return true|nil
---@return string|nil message
---@return string|nil code
function sources.check(folders)
   for _, folder in ipairs(folders) do
      local mode, message = lfs.attributes(folder, "mode")
      if not mode then
         return nil, ("%s: %s"):format(folder, message:match ": ([^:]+)$" or message), "io"
      elseif mode ~= "directory" then
         return nil, ("%s: a folder of source files expected, this is a %s"):format(folder, mode),
            "io"
      end
      local ok, problem = pcall(lfs.dir, folder)
      if not ok then
         return nil, ("%s: %s"):format(folder, problem), "io"
      end
   end
   return true
end

-- The paths that a named source may have: its own, and those in the folders, ever shorter.
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

---The rule for sources: regular files of at most 16 MiB, in the folders of --source or below the
---current one, after links and ".." (csrc/bytes/named.h decides that).
---@param path string
---@param folders string[] of --source
---@param trusts_paths boolean|nil any regular file may be read
---@return string|nil real_path nil: it may not be read
---@return string|nil message
---@return string|nil code "io": there is no such file; "unsupported", "limit": it is left out
function sources.check_file(path, folders, trusts_paths)
   if #path > LONGEST_PATH or path:find("\0", 1, true) then
      return nil, nil, "io"
   elseif trusts_paths then
      return core.named_file(path)
   end
   return core.named_file(path, table.move(folders, 1, #folders, 2, { "." }), MOST_BYTES)
end

---The lines of a source: at its path, or under one of the folders, with ever shorter paths.
---@param path string as a trace names it
---@param folders string[] of --source
---@param trusts_paths boolean|nil any regular file may be read
---@return string[]|nil
---@return string|nil found the path of the file that was read; else why the first file that is
---there was left out, nil if there is none
function sources.read(path, folders, trusts_paths)
   local reason
   for _, found in ipairs(candidates(path, folders)) do
      local real, message, code = sources.check_file(found, folders, trusts_paths)
      local file <close> = real and io.open(real) or nil
      if file then
         local list = {}
         for line in file:lines() do
            list[#list + 1] = line
         end
         return list, found
      end
      reason = reason or code ~= "io" and message or nil
   end
   return nil, reason
end

return sources
