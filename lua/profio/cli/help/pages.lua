-- The pages of help: the files *.md in the folder profio/help, and those of formats in its folder
-- formats; they are installed with the module.

local lfs = require "lfs"

local pages = {}

-- The folder beside the folder of the command, from the path of this file.
local folder = debug.getinfo(1, "S").source:match "^@(.*)cli/help/[^/]*$" .. "help/"

---The folder of the pages.
pages.folder = folder

---Returns the path of a page in that folder.
---@param name string
---@return string
function pages.file(name)
   return (name:find "^format%-" and "formats/" or "") .. name .. ".md"
end

---Returns the names of all pages, sorted.
---@return string[]
function pages.names()
   local list = {}
   for _, part in ipairs { "", "formats/" } do
      local done, next_name, state = pcall(lfs.dir, folder .. part)
      for file in (done and next_name or function() end), state do
         local name = file:match "^([%w-]+)%.md$"
         list[#list + 1] = name and pages.file(name) == part .. file and name or nil
      end
   end
   table.sort(list)
   return list
end

---Returns the text of a page, or nil if there is none of this name.
---@param name string
---@return string|nil
function pages.read(name)
   local file <close> = name:find "^[%w-]+$" and io.open(folder .. pages.file(name)) or nil
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

---Returns how often a page mentions a word, and whether the word is another name of its topic.
---These are in a comment of the page, such as `<!-- also: difference, regression -->`.
---@param text string
---@param word string
---@return integer count
---@return boolean is_topic
function pages.mentions(text, word)
   text, word = text:lower(), word:lower()
   local names = text:match "<!%-%- also: ([^\n]*) %-%->"
   local pattern = word:gsub("%p", "%%%0")
   local _, count = text:gsub("\n<!%-%-[^\n]*", ""):gsub(pattern, "")
   return count, names ~= nil and (", " .. names .. ","):find(", " .. word .. ",", 1, true) ~= nil
end

return pages
