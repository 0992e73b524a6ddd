-- The pages of help: the files *.md in the folder profio/help, those of formats in its folder
-- formats, and answers to what goes wrong in problems; they are installed with the module.

local resources = require "profio.internal.resources"

local pages = {}

-- Returns the folder of a page below that folder, with a slash, or "".
local function part_of(name)
   return name:find "^format%-" and "formats/"
      or (name == "troubleshooting" or name:find "%-questions$") and "problems/" or ""
end

---Returns the path of a page in that folder.
---@param name string
---@return string
function pages.file(name)
   return part_of(name) .. name .. ".md"
end

---Returns the names of all pages, sorted.
---@return string[]
function pages.names()
   local list = {}
   for _, part in ipairs { "", "formats/", "problems/" } do
      for _, file in ipairs(resources.names("help/" .. part)) do
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
   return name:find "^[%w-]+$" and resources.read("help/" .. pages.file(name)) or nil
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

-- {====== Sections ======

-- Returns the name of a section, as it is typed: its title in small letters with dashes for
-- blanks, without punctuation and what stands in parentheses, such as arguments.
local function name_of(title)
   title = title:lower():gsub("%s*%(.*", ""):gsub("[,:]?%s+", "-")
   return (title:gsub("[^%w:._-]", ""))
end

---Returns the sections of a page in their order, each with those below it.
---@param text string
---@return { name: string, text: string, is_function: boolean }[]
function pages.sections(text)
   local list, levels, starts, at, is_code = {}, {}, {}, 1, false
   for line in (text .. "\n"):gmatch "([^\n]*)\n" do
      is_code = is_code ~= (line:find "^```" ~= nil)
      local marks, title = line:match "^(##+) +(.*)$"
      if marks and not is_code then
         list[#list + 1] = { name = name_of(title), is_function = title:find "^`" ~= nil }
         levels[#list], starts[#list] = #marks, at
      end
      at = at + #line + 1
   end
   for i, section in ipairs(list) do
      local after = i + 1
      while levels[after] and levels[after] > levels[i] do
         after = after + 1
      end
      section.text = text:sub(starts[i], (starts[after] or #text + 1) - 1)
   end
   return list
end

---Returns the sections of a page with a name, or else those whose name ends with it after a mark:
---"html" is "export-html", "each" is "view:each".
---@param text string of the page
---@param word string blanks are as good as dashes
---@return string|nil text
function pages.section(text, word)
   word = name_of(word)
   local same, ending = {}, {}
   for _, section in ipairs(pages.sections(text)) do
      local name = section.name
      if name == word then
         same[#same + 1] = section.text
      elseif #name > #word and name:sub(-#word - 1):find "^[-:.]" and name:sub(-#word) == word then
         ending[#ending + 1] = section.text
      end
   end
   local found = same[1] and same or ending
   return found[1] and table.concat(found, "\n") or nil
end

---Returns the names of the sections of a page that a list shows: those of functions are too many.
---@param text string
---@return string[]
function pages.section_names(text)
   local names = {}
   for _, section in ipairs(pages.sections(text)) do
      names[#names + 1] = not section.is_function and section.name or nil
   end
   return names
end

-- }======

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
