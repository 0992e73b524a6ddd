-- profio help: pages, and what mentions a word.

local command_line = require "profio.cli.command_line"
local failure = require "profio.internal.command.failure"
local index = require "profio.cli.help.index"
local markdown = require "profio.cli.help.markdown"
local pager = require "profio.cli.help.pager"
local pages = require "profio.cli.help.pages"
local suggestions = require "profio.internal.suggestions"
local verbs = require "profio.cli.verbs"

local help = {
   name = "help",
   help = "list the pages, print one, or find what mentions a word",
   usage = "profio help [TOPIC [SECTION] | WORD]",
   options = {},
   argument = { "TOPIC", "a page and one of its sections, a format or a verb; any other word is "
      .. "searched for" },
   examples = {
      { "profio help winidea", "the page of a format" },
      { "profio help gross", "columns, options, warnings and pages that mention it" },
   },
}

-- {====== Lists as Markdown ======

-- A text as a cell of a table.
local function cell(text)
   return (text:gsub("[|\\`*<_%[]", "\\%0"))
end

local function add_rows(out, title, rows)
   if #rows == 0 then
      return
   end
   out[#out + 1] = "\n## " .. title .. "\n\n| | |\n|---|---|"
   for _, row in ipairs(rows) do
      out[#out + 1] = ("| %s | %s |"):format(cell(row[1]), cell(row[2]))
   end
end

-- Returns the list of all pages and verbs.
local function contents()
   local out = { "# profio help TOPIC\n\nPrints a page, `profio help TOPIC SECTION` a part of it; "
      .. "`profio help WORD` finds what mentions a word, `profio VERB --help` describes a verb, "
      .. "`profio --help` lists all options." }
   local topics, formats, listed = {}, {}, {}
   for _, name in ipairs(pages.names()) do
      local title = pages.title(pages.read(name))
      if name:find "^format%-" then
         formats[#formats + 1] = { name:match "^format%-(.*)", (title:gsub("^%w+: ", "")) }
      else -- what one looks for first is the first topic
         table.insert(topics, name == "cookbook" and 1 or #topics + 1, { name, title })
      end
   end
   for i, verb in ipairs(verbs.all()) do
      listed[i] = { "profio " .. verb.name, verb.help }
   end
   add_rows(out, "Topics", topics)
   add_rows(out, "Formats", formats)
   add_rows(out, "Verbs", listed)
   return table.concat(out, "\n")
end

-- Kinds of entries that can be typed as they are stand before the pages, all others after them.
local typed = { { "verb", "Verbs" }, { "report", "Reports" }, { "export", "Exports" } }
local described = { { "format", "Formats" }, { "warning", "Warnings" }, { "column", "Columns" },
   { "option", "Options" }, { "setting", "Options of --set" } }

-- Returns how often a page mentions a word, or how many of its paragraphs have all of several
-- words; and whether its topic has such a name.
local function places_of(text, words)
   if #words > 1 then
      return pages.paragraphs(text, words), false
   end
   return pages.mentions(text, words[1] or "")
end

-- Returns a row for each page that mentions some words: those whose topic it is first, then those
-- that mention them most often. The cookbook is one of them only if it is the topic, because its
-- entries are shown.
local function pages_with(words)
   local list = {}
   for at, name in ipairs(pages.names()) do
      local text = pages.read(name)
      local count, is_topic = places_of(text, words)
      count = name == "cookbook" and 0 or count
      list[#list + 1] = (count > 0 or is_topic) and { "profio help " .. name:gsub("^format%-", ""),
         count == 0 and pages.title(text) or ("%s (%d %s)"):format(pages.title(text), count,
            count == 1 and "place" or "places"),
         rank = is_topic and math.maxinteger or count, at = at } or nil
   end
   table.sort(list, function(a, b)
      if a.rank ~= b.rank then
         return a.rank > b.rank
      end
      return a.at < b.at
   end)
   return list
end

-- Returns entries by kind, each { form, text, owners }: those that several owners have are one.
local function by_kind(entries)
   local lists, known = {}, {}
   for _, entry in ipairs(entries) do
      local text = entry.help .. (entry.remedy and ". Remedy: " .. entry.remedy or "")
      local key = table.concat({ entry.kind, entry.form, text }, "\0")
      local row = known[key]
      if not row then
         row = { entry.form, text, {} }
         known[key], lists[entry.kind] = row, lists[entry.kind] or {}
         table.insert(lists[entry.kind], row)
      end
      table.insert(row[3], entry.owner)
   end
   return lists
end

local function add_kinds(out, list, lists)
   for _, kind in ipairs(list) do
      for _, row in ipairs(lists[kind[1]] or {}) do
         row[2] = (row[3][1] and table.concat(row[3], ", ") .. ": " or "") .. row[2]
      end
      add_rows(out, kind[2], lists[kind[1]] or {})
   end
end

-- Returns the pages and the declared entries that mention all of some words.
local function mentioning(words)
   local of_pages, entries = pages_with(words), index.mentioning(words)
   return { words = words, pages = of_pages, lists = by_kind(entries),
      is_empty = #of_pages == 0 and #entries == 0 }
end

-- Returns all that mentions a word or a phrase, or else all words of the phrase; or nil. What can
-- be typed is first: entries of the cookbook with their commands, verbs, reports and exports.
local function found(phrase)
   local words, all = pages.words(phrase), mentioning { phrase }
   local answers = pages.answers(words)
   if all.is_empty and words[1] then
      all = mentioning(words)
   end
   if all.is_empty and #answers == 0 then
      return nil
   end
   local out = { "# What mentions '" .. cell(table.concat(all.words, "' and '")) .. "'" }
   out[#out + 1] = answers[1] and "\n## Cookbook\n\n" .. table.concat(answers, "\n")
   add_kinds(out, typed, all.lists)
   add_rows(out, "Pages", all.pages)
   add_kinds(out, described, all.lists)
   return table.concat(out, "\n")
end

-- }======

-- Raises for a word that nothing mentions, with pages and declared names that are similar.
local function unknown(word)
   local names, known = pages.names(), {}
   for _, name in ipairs(names) do
      known[name] = true
   end
   for _, entry in ipairs(index.entries()) do
      if not known[entry.name] then
         known[entry.name] = true
         names[#names + 1] = entry.name
      end
   end
   failure.use("help: nothing mentions '%s'%s", word, suggestions.hint(word, names))
end

-- Returns a section of a page; raises if there is none of this name.
local function section_of(name, word)
   local text = pages.read(name)
   local names = pages.section_names(text)
   return pages.section(text, word)
      or failure.use("help: page '%s' has no section '%s'; there are: %s%s", name, word,
         table.concat(names, ", "), suggestions.hint(word, names))
end

-- Returns the Markdown for the words, and true if it is a text without Markdown.
local function text_of(words)
   local word, commands = table.concat(words, " "), (verbs.find(words[1] or "") or {}).commands
   local command = commands and words[2] and commands.find(words[2])
   if word == "" then
      return contents()
   end
   local page = pages.of(words[1] or "")
   if page and words[2] and not command then
      return section_of(page, table.concat(words, " ", 2))
   elseif page and not words[2] then
      return pages.read(page)
   elseif command or verbs.find(word) then
      return command_line.help(command or verbs.find(word)), true
   end
   return found(word) or unknown(word)
end

---@param given table
---@return integer status
function help.run(given)
   local text, is_plain = text_of(given.files)
   local has_color, width = pager.look()
   pager.show(is_plain and text or markdown.text(text, width, has_color))
   return failure.READ
end

return help
