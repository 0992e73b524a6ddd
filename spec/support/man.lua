-- The man pages profio(1) and profio(3lua), from the declarations of the command and the comments
-- of the Lua API. They need no other program: spec/support/generate.lua writes them at each build.

local api = require "spec.support.api"
local core = require "profio.core"
local declarations = require "profio.cli.declarations"
local pages = require "profio.cli.help.pages"
local profio = require "profio"
local verbs = require "profio.cli.verbs"

local man = {}

-- {====== The language of man ======

-- Escapes what groff reads as marks; runs of white space become a blank.
local function escaped(text)
   text = text:gsub("%s+", " "):gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("^[.']", "\\&%0")
   return text
end

local function bold(text)
   return "\\fB" .. escaped(text) .. "\\fR"
end

local function italic(text)
   return "\\fI" .. escaped(text) .. "\\fR"
end

local function paragraph(text)
   return ".PP\n" .. text .. "\n"
end

-- Returns an entry: a name with an argument, and an indented text.
local function entry(name, argument, text)
   return (".TP\n%s%s\n%s\n"):format(bold(name), argument and " " .. italic(argument) or "",
      escaped(text))
end

local function option_entry(option)
   return entry(option[1], option[2], option[3])
end

-- Returns lines as they are, in the letters of a program.
local function code(lines)
   local shown = {}
   for i, line in ipairs(lines) do
      shown[i] = line:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("^[.']", "\\&%0")
   end
   return (".PP\n.RS 4\n.EX\n%s\n.EE\n.RE\n"):format(table.concat(shown, "\n"))
end

local function section(title)
   return ".SH " .. escaped(title) .. "\n"
end

-- Returns the title of a part of a section; quotes keep its blanks together.
local function subsection(title)
   return '.SS "' .. escaped(title):gsub('"', "\\(dq") .. '"\n'
end

-- Returns the first line, without a date; without hyphenation and with ragged lines.
local function head(title, number)
   return ('.TH "profio" "%s" "" "profio %s" "%s"\n.nh\n.ad l\n'):format(number, core.version,
      title)
end

-- }======

-- {====== profio(1) ======

local function verb_text(verb)
   local parts = { entry(verb.usage, nil, verb.help), ".RS\n" }
   for _, option in ipairs(verb.options) do
      if type(option) == "table" then -- others are among the options of the command
         parts[#parts + 1] = option_entry(option)
      end
   end
   parts[#parts + 1] = ".RE\n"
   return table.concat(parts)
end

local function examples()
   local lines = {}
   for _, verb in ipairs(verbs.all()) do
      for _, example in ipairs(verb.examples) do
         lines[#lines + 1] = entry(example[1], nil, example[2])
      end
   end
   return table.concat(lines)
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
   return table.concat(lines)
end

local function option_groups()
   local parts = {}
   for _, group in ipairs(declarations.groups) do
      parts[#parts + 1] = subsection(group[1])
      for i = 2, #group do
         parts[#parts + 1] = option_entry(group[i])
      end
   end
   return table.concat(parts)
end

local function verb_list()
   local lines = {}
   for i, verb in ipairs(verbs.every()) do
      lines[i] = verb_text(verb)
   end
   return table.concat(lines)
end

-- The names of the pages of help.
local function page_list()
   local names = {}
   for i, name in ipairs(pages.names()) do
      names[i] = bold((name:gsub("^format%-", "")))
   end
   return table.concat(names, ", ")
end

local function format_list()
   local lines = {}
   for i, format in ipairs(profio.formats()) do
      lines[i] = { format.name, format.help }
   end
   return listed(lines)
end

---Returns profio(1).
---@return string
function man.command()
   return table.concat { head("the command profio", "1"), section "NAME",
      "profio \\- read and question the trace of a profiler\n", section "SYNOPSIS",
      paragraph "\\fBprofio\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR...",
      paragraph "\\fBprofio\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR] ...", section "DESCRIPTION",
      "Without options, profio prints what the format's own tool would print first. \\fIFILE\\fR "
         .. "may be \\fB\\-\\fR (standard input), packed with gzip, one of several packets, or the "
         .. "folder of a database; an executable among the files gives names of functions. The "
         .. "first word is a verb unless a file has this name.\n",
      section "VERBS", verb_list(), section "OPTIONS",
      "\\fBprofio\\fR \\fIVERB\\fR \\fB\\-\\-help\\fR lists those that a verb accepts.\n",
      option_groups(), section "FORMATS", format_list(), section "EXAMPLES", examples(),
      section "EXIT STATUS", listed(statuses), section "ENVIRONMENT", listed(variables),
      section "PAGES OF HELP", "\\fBprofio help\\fR \\fITOPIC\\fR shows one:\n",
      paragraph(page_list()), section "SEE ALSO",
      "\\fBprofio\\fR(3lua), \\fBgprof\\fR(1), \\fBless\\fR(1)\n" }
end

-- }======

-- {====== profio(3lua) ======

-- Returns the text above a function; its indented lines stay as they are.
local function prose(text)
   local parts, words, i = {}, {}, 1
   local function flush()
      parts[#parts + 1] = #words > 0 and paragraph(escaped(table.concat(words, " "))) or nil
      words = {}
   end
   while i <= #text do
      if text[i]:find "^  " then
         flush()
         local first = i
         while text[i + 1] and text[i + 1]:find "^  " do
            i = i + 1
         end
         parts[#parts + 1] = code(table.move(text, first, i, 1, {}))
      else
         words[#words + 1] = text[i]
      end
      i = i + 1
   end
   flush()
   return table.concat(parts)
end

local function function_text(f)
   local parts = { subsection(f.call), prose(f.text) }
   for _, item in ipairs(f.params) do
      parts[#parts + 1] = (".TP\n%s (%s)\n%s\n"):format(italic(item[1]), escaped(item[2]),
         item[3] ~= "" and escaped(item[3]) or ".PP")
   end
   for i, item in ipairs(f.returns) do
      parts[#parts + 1] = paragraph(("%s %s%s"):format(i == 1 and "returns" or "and",
         escaped(item[2]), item[3] ~= "" and ": " .. escaped(item[3]) or ""))
   end
   return table.concat(parts)
end

---Returns profio(3lua).
---@return string
function man.library()
   local parts = { head("the Lua module profio", "3lua"), section "NAME",
      "profio \\- read, write and question traces of profilers from Lua\n", section "SYNOPSIS",
      code { 'local profio = require "profio"',
         'local trace <close> = assert(profio.open "gmon.out")',
         'for from, to, count in trace.arcs:each("from", "to", "count") do',
         "   print(from, to, count)", "end" }, section "DESCRIPTION",
      "Errors of use raise. A file that cannot be read gives nil, a message and a code. Objects "
         .. "that own a file or memory have close and work with <close>.\n" }
   for _, part in ipairs(api.parts) do
      parts[#parts + 1] = section(part.title:upper())
      parts[#parts + 1] = escaped((part.help:gsub("`", ""))) .. "\n"
      for _, f in ipairs(api.functions(part)) do
         parts[#parts + 1] = function_text(f)
      end
   end
   parts[#parts + 1] = section "SEE ALSO" .. "\\fBprofio\\fR(1)\n"
   return table.concat(parts)
end

-- }======

return man
