-- Source files, found by the paths that traces name.

local sources = {}

---The lines of a source: at its path, or under one of the folders, with ever shorter paths.
---@param path string
---@param folders string[]
---@return string[]|nil
function sources.read(path, folders)
   local file = io.open(path)
   for _, folder in ipairs(folders) do
      local rest = path:gsub("^/+", "")
      while not file and rest do
         file = io.open(folder .. "/" .. rest)
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
   return list
end

return sources
