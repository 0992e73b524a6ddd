-- The pages of help: the files *.md in the folder profio/help, which is installed with the module.

local lfs = require "lfs"

local pages = {}

-- The folder beside the folder of the command, from the path of this file.
local folder = debug.getinfo(1, "S").source:match "^@(.*)cli/help/[^/]*$" .. "help/"

---The folder of the pages.
pages.folder = folder

---Returns the names of all pages, sorted.
---@return string[]
function pages.names()
   local list = {}
   local done, next_name, state = pcall(lfs.dir, folder)
   if done then
      for file in next_name, state do
         list[#list + 1] = file:match "^([%w-]+)%.md$"
      end
   end
   table.sort(list)
   return list
end

---Returns the text of a page, or nil if there is none of this name.
---@param name string
---@return string|nil
function pages.read(name)
   local file <close> = name:find "^[%w-]+$" and io.open(folder .. name .. ".md") or nil
   return file and file:read "a"
end

---Returns the name of the page about a topic: `winidea` is the page format-winidea.
---@param topic string
---@return string|nil
function pages.of(topic)
   for _, name in ipairs { topic, "format-" .. topic } do
      if pages.read(name) then
         return name
      end
   end
   return nil
end

---Returns the title of a page, its first heading.
---@param text string
---@return string
function pages.title(text)
   return (text:match "^#+ ([^\n]*)" or text:match "\n#+ ([^\n]*)" or ""):gsub("`", "")
end

return pages
