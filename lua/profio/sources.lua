-- Source files, found by the paths that traces name.

local lfs = require "lfs"

local sources = {}

local LONGEST_PATH = 4096 -- bytes; the system opens none that is longer

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

---The lines of a source: at its path, or under one of the folders, with ever shorter paths.
---@param path string
---@param folders string[]
---@return string[]|nil
---@return string|nil found the path of the file that was read
function sources.read(path, folders)
   if #path > LONGEST_PATH then
      return nil
   end
   local file, found = io.open(path), path
   for _, folder in ipairs(folders) do
      local rest = path:gsub("^/+", "")
      while not file and rest do
         found = folder .. "/" .. rest
         file = io.open(found)
         rest = rest:match "^[^/]*/(.+)$"
      end
   end
   if not file then
      return nil
   end
   local list = {}
   for line in file:lines() do
      list[#list + 1] = line
   end
   file:close()
   return list, found
end

return sources
