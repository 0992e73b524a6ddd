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

-- {====== Mentions ======

-- Words of a question that name nothing.
local fillers = {}
for word in ([[a an and are at be by did do does each for from has have how i in is it its me my of
   on or per the their them there to was were what when where which who why with]]):gmatch "%w+" do
   fillers[word] = true
end

---Returns the pattern that finds a word in small letters. A word of at most three characters is
---found at the begin of a word only: "hot" in "hottest", but not "ci" in "decimal".
---@param word string
---@return string
function pages.pattern(word)
   word = word:lower()
   local escaped = word:gsub("%p", "%%%0")
   return #word <= 3 and word:find "^%w+$" and "%f[%w]" .. escaped or escaped
end

---Returns the words of a question that name something, in small letters: "load" and "core" of "load
---of each core".
---@param question string
---@return string[]
function pages.words(question)
   local list = {}
   for word in question:lower():gmatch "%S+" do
      list[#list + 1] = not fillers[word] and word or nil
   end
   return list
end

---Returns true if a text has all of some words.
---@param text string
---@param words string[]
---@return boolean
function pages.has_all(text, words)
   text = text:lower()
   for _, word in ipairs(words) do
      if not text:find(pages.pattern(word)) then
         return false
      end
   end
   return #words > 0
end

-- Returns whether a word is in the list of a comment `<!-- also: difference, regression -->`.
local function is_listed(text, word)
   local names = text:match "<!%-%- also: ([^\n]*) %-%->"
   return names ~= nil
      and (", " .. names:lower() .. ","):find(", " .. word:lower() .. ",", 1, true) ~= nil
end

---Returns how often a page mentions a word, and whether the word is another name of its topic.
---These are in a comment of the page, such as `<!-- also: difference, regression -->`.
---@param text string
---@param word string
---@return integer count
---@return boolean is_topic
function pages.mentions(text, word)
   local _, count = text:lower():gsub("\n<!%-%-[^\n]*", ""):gsub(pages.pattern(word), "")
   return count, is_listed(text, word)
end

---Returns how many paragraphs of a page have all of some words.
---@param text string
---@param words string[]
---@return integer
function pages.paragraphs(text, words)
   local count = 0
   for paragraph in (text:gsub("\n<!%-%-[^\n]*", "") .. "\n\n"):gmatch "(.-)\n\n+" do
      count = count + (pages.has_all(paragraph, words) and 1 or 0)
   end
   return count
end

---Returns the entries of the cookbook that have all of some words, in the question, in a command,
---or in a comment `<!-- also: ... -->` after it: as Markdown, without what the commands print.
---@param words string[]
---@return string[]
function pages.answers(words)
   local list, text = {}, pages.read "cookbook" or ""
   for question, commands, rest in (text:gsub("\n(%d+%. )", "\n\0%1") .. "\n\0"):gmatch
      "%z(%d+%. .-)\n\n```console\n(.-)```\n(%Z*)"
   do
      local also = rest:match "<!%-%- also: ([^\n]*) %-%->" or ""
      if pages.has_all(table.concat({ question, commands, also }, "\n"), words) then
         commands = ("\n" .. commands):gsub("\n[^$\n][^\n]*", ""):sub(2)
         list[#list + 1] = ("%s\n\n```console\n%s```\n"):format(question, commands)
      end
   end
   return list
end

-- }======

return pages
