-- Parses the command line with argparse: the flat form `profio [options] FILE...`, and the verbs.

local declarations = require "profio.cli.declarations"
local later = require "profio.internal.later"
local core = require "profio.core"
local verbs = later "profio.cli.verbs"
local word_hints = later "profio.cli.help.word_hints"

local options = {}

local key_of = declarations.key_of

---Returns the keys of all options of the flat form, in the order of --help.
options.keys = declarations.keys

-- {====== Words ======

local DASH = ("-"):byte()

-- Returns the declarations of the options of a verb, or of the flat form.
local function options_of(verb)
   local list = verb and verbs.options(verb) or {}
   if not verb then
      declarations.each(function(option)
         list[#list + 1] = option
      end)
   end
   return list
end

-- Returns by name whether an option of the flat form or of a verb takes a value, and whether all
-- words up to the next such option are its values.
local function values_of(verb)
   local takes_value, takes_list = {}, {}
   for _, option in ipairs(options_of(verb)) do
      takes_value[option[1]], takes_list[option[1]] = option[2] ~= false, option.list
   end
   return takes_value, takes_list
end

-- Returns an option with its value as one word that argparse accepts, whatever the value begins
-- with.
local function joined(name, value)
   return (name == "-o" and "--out=" or #name == 2 and name or name .. "=") .. value
end

-- Gives each word that follows an option with a list of values, such as --new of profio compare,
-- this option: "--new a b --top 5 c" becomes "--new=a --new=b --top 5 --new=c". The option holds to
-- the next one with a list, also after "--".
local function spread(argv, takes_value, takes_list)
   if not next(takes_list) then
      return argv
   end
   local words, list, i = {}, nil, 1
   while argv[i] do
      local word = argv[i]
      local name = word:match "^[^=]+"
      local is_option = word ~= "-" and word:sub(1, 1) == "-"
      list = takes_list[name] and name or list
      if list and not is_option then
         words[#words + 1] = joined(list, word)
      elseif not list or word ~= list and word ~= "--" then
         words[#words + 1] = word
      end
      if is_option and takes_value[word] and not takes_list[word] and argv[i + 1] then
         i = i + 1
         words[#words + 1] = argv[i]
      end
      i = i + 1
   end
   return words
end

---Parts a command line into options and files. Each option that takes a value is joined with the
---next word, whatever that begins with, so that argparse sees --option=value. argparse does not see
---the files, of which there may be thousands.
---@param argv string[]
---@param verb profio.Verb|nil of the command line; nil: the flat form
---@return string[] words the options
---@return string[] files
---@return string[]|nil rest the words after "--", and for a verb with `stops` those from the first
---word on that is no option
---@return string[][] followers the files that directly follow each "--diff FILE" of two words
function options.parted(argv, verb)
   local words, files, followers, i = {}, {}, {}, 1
   local takes_value, takes_list = values_of(verb)
   local following
   argv = spread(argv, takes_value, takes_list)
   while argv[i] do
      local word = argv[i]
      local is_option = word:byte() == DASH and word ~= "-"
      if word == "--" or not is_option and verb and verb.stops then
         return words, files, table.move(argv, is_option and i + 1 or i, #argv, 1, {}), followers
      elseif is_option then
         following = nil
         if takes_value[word] and argv[i + 1] then
            if word == "--diff" then
               following = {}
               followers[#followers + 1] = following
            end
            word = joined(word, argv[i + 1])
            i = i + 1
         elseif takes_value["-o"] and word:match "^%-o." then
            word = joined("-o", word:sub(3))
         end
         words[#words + 1] = word
      else
         files[#files + 1] = word
         if following then
            following[#following + 1] = word
         end
      end
      i = i + 1
   end
   return words, files, nil, followers
end

-- Returns the verb of a command line, or nil: the first word, unless a file has this name, or a
-- folder if it is the only word, and argv.has_verb is not set; and the number of its words, which
-- are two for a command such as `store add`.
local function verb_of(argv)
   local word = argv[1]
   local kind = word and not word:find "^%-" and (core.kind(word) or "word")
   local is_word = kind == "word" or kind == "folder" and argv[2] or kind and argv.has_verb
   local verb = is_word and verbs.find(word) or nil
   local command = verb and verb.commands and argv[2] and verb.commands.find(argv[2])
   return command or verb, command and 2 or 1
end

-- Returns the message for a command line whose first word was meant as a verb: no file has this
-- name, it consists of letters, and other files follow. Else nil.
local function no_verb(argv, given)
   local word = argv[1]
   if #given.files < 2 or word ~= given.files[1] or not word:find "^%a[%a_-]*$"
      or core.kind(word)
   then
      return nil
   end
   local near = word_hints.meanings(word)
   return ("no verb '%s', and no file of this name; %s"):format(word, near[1]
      and "did you mean " .. table.concat(near, " or ") .. "?" or "the verbs are: "
      .. verbs.names())
end

-- }======

-- {====== Parsers ======

local function add_option(parser, option, choices)
   local name, argument, help = table.unpack(option, 1, 3)
   if not argument then
      local names = option.also and name .. " " .. option.also or name
      return parser:flag(names):target(key_of(name)):description(help)
   end
   local added = parser:option(name)
   if name == "-o" then
      added:hidden_name "--out"
   end
   added:target(key_of(name)):argname(argument):description(help)
   if choices and choices[name] then
      added:choices(choices[name])
   end
   if option.many then
      added:count "*"
   end
   return added
end

local function set_layout(parser)
   return parser:add_help(false):help_max_width(80):help_description_margin(25)
end

local files_help = "traces of one format; an executable (with --diff a second one is that of the "
   .. "older runs); - is standard input; default gmon.out, or $DCPIDB"

local statuses = "Exit status: 0 read; 1 nothing could be read or written; 2 wrong use; "
   .. "3 read with damage; 4 a limit exceeded."

local function verb_lines()
   local lines = { "Verbs, each with its own --help: " .. verbs.names() .. "." }
   lines[2] = "profio -h shows them with examples on one screen; profio help lists pages; "
      .. "profio help WORD finds what mentions a word."
   return table.concat(lines, "\n")
end

-- Returns whether a command line has an option by one of its names. `named` are the first parts of
-- its words; nil: all options are wanted.
local function is_named(option, named)
   if not named or named[option[1]] then
      return true
   end
   for name in (option.also or ""):gmatch "%S+" do
      if named[name] then
         return true
      end
   end
   return option[1] == "-o" and named["--out"] == true
end

-- Adds the options of the flat form, without FILE. The values of `choices` are for completion
-- alone: else an unknown name gets a message that knows the trace.
local function flat_parser(argparse, choices, named)
   local parser = set_layout(argparse("profio", "Read and question the trace of a profiler."))
   parser:usage "Usage: profio [options] FILE...\n       profio VERB [options] ..."
   for _, group in ipairs(declarations.groups) do
      local added = {}
      for i = 2, #group do
         added[#added + 1] = is_named(group[i], named) and add_option(parser, group[i], choices)
            or nil
      end
      parser:group(group[1], table.unpack(added))
   end
   return parser
end

local function examples_of(verb)
   local lines = { "Examples:" }
   for _, example in ipairs(verb.examples) do
      lines[#lines + 1] = "   " .. example[1]
      lines[#lines + 1] = "      " .. example[2]
   end
   if verb.more then
      lines[#lines + 1] = "\nprofio --help describes its other options: "
         .. table.concat(verb.more, " ")
   end
   return table.concat(lines, "\n")
end

-- Adds a verb as a command of argparse.
local function add_verb(parser, verb, choices, named)
   local description = verb.description or verb.help:gsub("^%l", string.upper) .. "."
   local command = set_layout(parser:command(verb.name, description, examples_of(verb)))
   command:help_description_margin(22):summary(verb.help):usage("Usage: " .. verb.usage)
   command:target "verb" -- by default its name, which is also the key of an option
   local shown = {}
   for _, name in ipairs(verb.options) do
      shown[name] = true
   end
   for _, option in ipairs(verbs.options(verb)) do
      if is_named(option, named) then
         add_option(command, option, choices):hidden(not shown[option[1]] and not shown[option])
      end
   end
   local argument = verb.argument or { "FILE", "traces of one format, and their executable" }
   command:argument(argument[1]):args("*"):target("files"):description(argument[2])
   return command
end

---Returns the parser of the flat form with all verbs, for completion.
---@param choices table<string, string[]> values by the name of an option
---@return table
function options.whole_parser(choices)
   local parser = flat_parser(require "argparse", choices):require_command(false)
   for _, verb in ipairs(verbs.all()) do
      local added = add_verb(parser, verb, choices)
      for _, command in ipairs(verb.commands and verb.commands.all() or {}) do
         add_verb(added:require_command(false), command, choices)
      end
   end
   return parser
end

-- Returns the parser for a command line of the flat form, or of a verb, with all options or with
-- those that are `named`.
local function parser_of(argparse, verb, named)
   if verb then
      local parser = argparse "profio"
      return parser, add_verb(parser:add_help(false), verb, nil, named)
   end
   local parser = flat_parser(argparse, nil, named)
   parser:argument("FILE"):args("*"):target("files"):description(files_help)
   return parser, parser
end

-- }======

-- {====== Parsing ======

-- Returns the keys of the options that a command line gives, in the order of --help.
local function asked_of(given)
   local asked = {}
   for _, key in ipairs(options.keys()) do
      local value = given[key]
      if value and (type(value) ~= "table" or #value > 0) then
         asked[#asked + 1] = key
      end
   end
   return asked
end

-- Sets options that may be repeated to an empty list if they were not declared.
local function set_lists(given, list)
   for _, option in ipairs(list) do
      local key = key_of(option[1])
      if option.many and given[key] == nil then
         given[key] = {}
      end
   end
end

-- Lets a verb set the options of the flat form that it stands for.
local function prepare(given, verb)
   set_lists(given, options_of(verb))
   given.verb = verb
   if verb.prepare and not given.help then
      verb.prepare(given)
   end
end

-- Parses words with argparse; returns whether they are right, and the options or a message. Only
-- the options that the words name are declared, since each costs time; a message is that of a
-- parser with all. Without any option argparse would take words with a dash for files.
local function parsed(argparse, verb, words)
   local named = { ["--help"] = true }
   for _, word in ipairs(words) do
      named[word:match "^%-%a" or word:match "^%-%-[^=]*" or ""] = true
   end
   local ok, given = parser_of(argparse, verb, named):pparse(words)
   if ok then
      return ok, given
   end
   return parser_of(argparse, verb):pparse(words)
end

-- Returns whether one of the words is -h, and none --help.
local function is_screen_asked(words)
   local has_short = false
   for _, word in ipairs(words) do
      if word == "--help" then
         return false
      end
      has_short = has_short or word == "-h"
   end
   return has_short
end

-- Arguments of options that are paths.
local paths = { FILE = true, DIR = true, OUT = true, PROGRAM = true, NM_TEXT = true }

-- Lets the paths of options have slashes, on systems where others separate names too.
local function use_slashes(given, verb)
   for _, option in ipairs(options_of(verb)) do
      local key = key_of(option[1])
      local value = paths[option[2]] and given[key]
      if type(value) == "table" then
         for i, path in ipairs(value) do
            value[i] = core.slashes(path)
         end
      elseif value then
         given[key] = core.slashes(value)
      end
   end
end

---Parses a command line.
---@param argv string[]
---@return table|nil given  by key: list_reports, where (an array), files, rest ...; `asked` has the
---keys of the options that were given, `argv` the words, `verb` the verb; `is_screen_asked`: -h
---instead of --help
---@return string|nil message of a usage error
---@return string|nil help the command that lists the options
function options.parse(argv)
   local found, argparse = pcall(require, "argparse")
   if not found and not argparse:find("module 'argparse' not found", 1, true) then
      error(argparse, 0) -- Ctrl-C
   elseif not found then
      return nil, "lua-argparse is missing: apt install lua-argparse, or luarocks install argparse"
   end
   local verb, count = verb_of(argv)
   local words, named, rest, followers = options.parted(verb
      and table.move(argv, count + 1, #argv, 1, {}) or argv, verb)
   if verb then
      table.insert(words, 1, verb.name)
   end
   local ok, given = parsed(argparse, verb, words)
   if not ok then
      return nil, word_hints.message(given, verb),
         verb and "profio " .. verbs.title(verb) .. " --help"
   end
   use_slashes(given, verb)
   for i, path in ipairs(named) do
      named[i] = core.slashes(path)
   end
   given.files, given.rest = named, rest
   if rest and not given.script then
      table.move(rest, 1, #rest, #given.files + 1, given.files)
   end
   set_lists(given, options_of())
   local message = not verb and not rest and no_verb(argv, given)
   if message then
      return nil, message
   elseif verb then
      prepare(given, verb)
   end
   given.is_screen_asked = given.help and not verb and is_screen_asked(words)
   given.run, given.diff_run = given.run[1] and given.run, given.diff_run[1] and given.diff_run
   given.diff, given.diff_followers = given.diff[1] and given.diff, followers
   given.asked, given.argv = asked_of(given), argv
   return given
end

---The usage line of the command.
options.usage = "Usage: profio [options] FILE...   (profio --help lists the options)"

-- The examples of -h: { command, what it shows }.
local examples = {
   { "profio report flat program gmon.out", "where a program spends its time" },
   { "profio record script.lua", "a Lua program, recorded and shown" },
   { "profio explain Db_Read run.txt", "why its slow calls are slow" },
}

---Returns the text of -h: the verbs and some examples, on a terminal of 24 lines with a prompt.
---@return string
function options.screen()
   local lines = { "Usage: profio VERB [options] FILE...   or   profio [options] FILE...",
      "(--help: all options, also of a VERB; profio help cookbook: what to type)" }
   for _, verb in ipairs(verbs.all()) do
      lines[#lines + 1] = ("  %-11s %s"):format(verb.name, verb.help)
   end
   for _, example in ipairs(examples) do -- without an empty line, for 24 lines are a screen
      lines[#lines + 1] = ("  %-37s  %s"):format(example[1], example[2])
   end
   return table.concat(lines, "\n") .. "\n"
end

---Returns the text of --help.
---@param verb profio.Verb|nil nil: of the flat form
---@return string
function options.help(verb)
   local parser, command = parser_of(require "argparse", verb)
   parser:epilog(verb_lines() .. "\n\n" .. statuses)
   return command:get_help() .. "\n"
end

-- }======

return options
