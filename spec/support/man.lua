-- The sources of the man pages profio(1) and profio(3lua) in the language of scdoc, from the
-- declarations of the command and the comments of the Lua API.

local api = require "spec.support.api"
local core = require "profio.core"
local declarations = require "profio.cli.declarations"
local pages = require "profio.cli.help.pages"
local profio = require "profio"
local verbs = require "profio.cli.verbs"

local man = {}

-- Escapes what scdoc reads as marks.
local function escaped(text)
   return (text:gsub("[*_\\#<>~%[%]`.!+-]", "\\%0"):gsub("%s+", " "))
end

local function bold(text)
   return "*" .. escaped(text) .. "*"
end

-- Returns an entry: a bold name, an underlined argument, and an indented text.
local function entry(name, argument, text)
   return ("%s%s\n\t%s\n"):format(bold(name), argument and " _" .. escaped(argument) .. "_" or "",
      escaped(text))
end

local function option_entry(option)
   return entry(option[1], option[2], option[3])
end

local function head(title, section)
   return ('profio(%s) "profio %s" "%s"\n'):format(section, core.version, title)
end

-- {====== profio(1) ======

local function verb_text(verb)
   local lines = { ("%s\n\t%s\n"):format(bold(verb.usage), escaped(verb.help)) }
   for _, option in ipairs(verb.options) do
      if type(option) == "table" then -- others are among the options of the command
         lines[#lines + 1] = "\t" .. option_entry(option):gsub("\n(.)", "\n\t%1")
      end
   end
   return table.concat(lines, "\n")
end

local function examples()
   local lines = {}
   for _, verb in ipairs(verbs.all()) do
      for _, example in ipairs(verb.examples) do
         lines[#lines + 1] = entry(example[1], nil, example[2])
      end
   end
   return table.concat(lines, "\n")
end

local statuses = { { "0", "the file was read, perhaps with notes" },
   { "1", "nothing could be read or written, or a script failed" }, { "2", "wrong use" },
   { "3", "read with damage: standard error says what was lost" },
   { "4", "a limit is exceeded" } }

local variables = {
   { "PAGER", "shows the pages of profio help on a terminal; default less, with LESS=FRX" },
   { "NO_COLOR", "if set, no colours" },
   { "DCPIDB", "the database of DCPI that is read if no file is given and there is no gmon.out" },
   { "PROFIO_RECORD", "options of the recorder, for lua5.4 -lprofio.recorder script.lua" },
   { "TMPDIR", "the folder for temporary files of pipes and packed files" } }

local function listed(list)
   local lines = {}
   for i, one in ipairs(list) do
      lines[i] = entry(one[1], nil, one[2])
   end
   return table.concat(lines, "\n")
end

local function option_groups()
   local parts = {}
   for _, group in ipairs(declarations.groups) do
      parts[#parts + 1] = "## " .. group[1] .. "\n"
      for i = 2, #group do
         parts[#parts + 1] = option_entry(group[i])
      end
   end
   return table.concat(parts, "\n")
end

local function verb_list()
   local lines = {}
   for i, verb in ipairs(verbs.every()) do
      lines[i] = verb_text(verb)
   end
   return table.concat(lines, "\n")
end

-- The names of the pages of help.
local function page_list()
   local names = {}
   for i, name in ipairs(pages.names()) do
      names[i] = bold((name:gsub("^format%-", "")))
   end
   return table.concat(names, ", ") .. "\n"
end

local function format_list()
   local lines = {}
   for i, format in ipairs(profio.formats()) do
      lines[i] = { format.name, format.help }
   end
   return listed(lines)
end

---Returns the source of profio(1).
---@return string
function man.command()
   return table.concat({ head("the command profio", "1"), "# NAME\n",
      "profio - read and question the trace of a profiler\n", "# SYNOPSIS\n",
      "*profio* [_OPTIONS_] _FILE_...\n", "*profio* _VERB_ [_OPTIONS_] ...\n", "# DESCRIPTION\n",
      "Without options, profio prints what the format's own tool would print first. _FILE_ may "
         .. "be *\\-* (standard input), packed with gzip, one of several packets, or the folder "
         .. "of a database; an executable among the files gives names of functions. The first word "
         .. "is a verb unless a file has this name.\n",
      "# VERBS\n", verb_list(), "# OPTIONS\n",
      "*profio* _VERB_ *\\-\\-help* lists those that a verb accepts.\n", option_groups(),
      "# FORMATS\n", format_list(), "# EXAMPLES\n", examples(), "# EXIT STATUS\n",
      listed(statuses), "# ENVIRONMENT\n", listed(variables), "# PAGES OF HELP\n",
      "*profio help* _TOPIC_ shows one:\n", page_list(), "# SEE ALSO\n",
      "*profio*(3lua), *gprof*(1), *less*(1)\n" }, "\n")
end

-- }======

-- {====== profio(3lua) ======

-- Returns the text above a function; its indented lines stay as they are.
local function prose(text)
   local lines, words = {}, {}
   local function flush()
      lines[#lines + 1] = #words > 0 and escaped(table.concat(words, " ")) .. "\n" or nil
      words = {}
   end
   local i = 1
   while i <= #text do
      if text[i]:find "^  " then
         flush()
         lines[#lines + 1] = "```"
         while text[i] and text[i]:find "^  " do
            lines[#lines + 1] = text[i]
            i = i + 1
         end
         lines[#lines + 1] = "```\n"
      else
         words[#words + 1] = text[i]
         i = i + 1
      end
   end
   flush()
   return table.concat(lines, "\n")
end

local function function_text(f)
   local lines = { "## " .. escaped(f.call) .. "\n", prose(f.text) }
   for _, item in ipairs(f.params) do
      lines[#lines + 1] = ("_%s_ (%s)\n%s"):format(escaped(item[1]), escaped(item[2]),
         item[3] ~= "" and "\t" .. escaped(item[3]) .. "\n" or "")
   end
   for i, item in ipairs(f.returns) do
      lines[#lines + 1] = ("%s %s%s\n"):format(i == 1 and "returns" or "and", escaped(item[2]),
         item[3] ~= "" and ": " .. escaped(item[3]) or "")
   end
   return table.concat(lines, "\n")
end

---Returns the source of profio(3lua).
---@return string
function man.library()
   local parts = { head("the Lua module profio", "3lua"), "# NAME\n",
      "profio - read, write and question traces of profilers from Lua\n", "# SYNOPSIS\n", "```",
      'local profio = require "profio"', 'local trace <close> = assert(profio.open "gmon.out")',
      'for from, to, count in trace.arcs:each("from", "to", "count") do',
      "   print(from, to, count)", "end", "```\n", "# DESCRIPTION\n",
      "Errors of use raise. A file that cannot be read gives nil, a message and a code. Objects "
         .. "that own a file or memory have close and work with \\<close\\>.\n" }
   for _, part in ipairs(api.parts) do
      parts[#parts + 1] = "# " .. part.title:upper() .. "\n"
      parts[#parts + 1] = escaped((part.help:gsub("`", ""))) .. "\n"
      for _, f in ipairs(api.functions(part)) do
         parts[#parts + 1] = function_text(f)
      end
   end
   parts[#parts + 1] = "# SEE ALSO\n\n*profio*(1)\n"
   return table.concat(parts, "\n")
end

-- }======

-- {====== Conversion ======

---Converts a source to a man page by scdoc; nil if there is no scdoc. The page has neither a date
---nor the version of scdoc.
---@param source string
---@return string|nil
function man.page(source)
   if os.execute "command -v scdoc >/dev/null 2>&1" ~= true then
      return nil
   end
   local name <const> = os.tmpname()
   local file <close> = assert(io.open(name, "w"))
   file:write(source)
   file:close()
   local pipe = assert(io.popen("scdoc < " .. name))
   local text = pipe:read "a"
   local done = pipe:close()
   os.remove(name)
   assert(done, "scdoc failed")
   return (text:gsub('^%.\\" Generated by[^\n]*\n', "", 1)
      :gsub('(\n%.TH "[^"]*" "[^"]*" )"[^"]*"', '%1""', 1))
end

-- }======

return man
