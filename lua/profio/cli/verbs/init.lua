-- The verbs of the command: `profio merge FILE`. To add one, add a file beside this one and its
-- name to this list.
--
-- A verb is a table:
--    name      its first word on the command line
--    help      one line
--    usage     "profio merge [options] FILE..."
--    description  the first lines of its --help; nil: help
--    options   what its --help shows: names of options in profio.cli.declarations, and declarations
--              (profio.CommandOption) of options that only this verb has
--    more      names of options that it also accepts; profio --help describes them
--    argument  { NAME, help } of the words that are no options; nil: the files of a trace
--    stops     true: all words after the first one that is no option are given.rest
--    examples  { { command, explanation }, { command, explanation } }
--    prepare   function(given): sets the options of the flat form that it stands for; nil: none
--    commands  of a verb with a second word, as in profio store add: a list of such tables (see
--              profio.cli.store), in which `of` is the name of the verb; else nil
--    outputs   the forms of --output, if there are others than those of rows; else nil
--    prepare_output, finish  function(given): sets the output, and returns an object that is closed
--              at the end; function(given, err): called when the output is complete; nil: none
--    run       function(given, err): exit status, and whether all files are closed; nil: as without
--              a verb

local catalogue = require "profio.internal.catalogue"
local declarations = require "profio.cli.declarations"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local later = require "profio.internal.later"

local suggestions = later "profio.internal.suggestions"

local verbs = {}

---@class profio.Verb
---@field name string
---@field help string
---@field usage string
---@field options (string|profio.CommandOption)[]
---@field more string[]|nil
---@field stops boolean|nil
---@field prepare fun(given: table)|nil
---@field prepare_output (fun(given: table): table)|nil
---@field finish fun(given: table, err: file*)|nil
---@field run (fun(given: table, err: file*): integer, boolean|nil)|nil

-- In the order of listings.
local order = { "report", "view", "compare", "verdict", "record", "explain", "info", "check",
   "merge", "export", "anonymise", "tables", "help", "store", "mcp", "completion", "lua", "unpack" }

---Returns a verb as it is typed after profio: "merge", "store add".
---@param verb profio.Verb
---@return string
function verbs.title(verb)
   return verb.of and verb.of .. " " .. verb.name or verb.name
end

local function check(verb)
   local name = verbs.title(verb)
   assert(verb.usage:find("^profio " .. name), name .. " has no usage")
   assert(#verb.examples == 2, name .. " has not two examples")
   for _, list in ipairs { verb.options, verb.more or {} } do
      for _, option in ipairs(list) do
         assert(type(option) == "table" or declarations.find(option),
            ("%s names an unknown option: %s"):format(name, tostring(option)))
      end
   end
end

---Returns a list of verbs: see internal/catalogue.lua.
---@param files string[] their names, in the order of listings
---@param folder string of the modules
---@return table
function verbs.listed(files, folder)
   return catalogue.list("verb", files, {}, check, folder)
end

for name, f in pairs(verbs.listed(order, "profio.cli.verbs")) do
   verbs[name] = f
end

---Options for opening files, for `more` of verbs.
verbs.opening = { "--exe", "--symbols", "--load-bias", "--format", "--set", "--mapping",
   "--run", "--trust-paths", "--strict", "--load", "--progress", "--no-progress" }

---Options of older runs, which --diff takes.
verbs.older = { "--diff-exe", "--diff-symbols", "--diff-mapping", "--diff-load-bias",
   "--diff-run" }

---Returns the names of several lists as one, without duplicates.
---@param ... string[]
---@return string[]
function verbs.joined(...)
   local all, known = {}, {}
   for _, list in ipairs { ... } do
      for _, name in ipairs(list) do
         if not known[name] then
            known[name] = true
            all[#all + 1] = name
         end
      end
   end
   return all
end

---Returns the declarations of all options of a verb, without duplicates; --help is the last one.
---@param verb profio.Verb
---@return profio.CommandOption[]
function verbs.options(verb)
   local list = {}
   for i, option in ipairs(verbs.joined(verb.options, verb.more or {}, { "--help" })) do
      list[i] = type(option) == "table" and option or declarations.find(option)
   end
   return list
end

---Returns all verbs, each followed by its commands.
---@return profio.Verb[]
function verbs.every()
   local list = {}
   for _, verb in ipairs(verbs.all()) do
      list[#list + 1] = verb
      for _, command in ipairs(verb.commands and verb.commands.all() or {}) do
         list[#list + 1] = command
      end
   end
   return list
end

---Returns whether a verb accepts an option.
---@param verb profio.Verb
---@param name string "--top"
---@return boolean
function verbs.accepts(verb, name)
   for _, option in ipairs(verbs.options(verb)) do
      if option[1] == name then
         return true
      end
   end
   return false
end

-- Raises if the first of several files is a word that is no file: it was meant as a name.
local function check_name(given, list, verb, noun)
   local word, names = given.files[1], {}
   if given.files[2] and word:find "^%a[%a_-]*$" and not core.kind(word) then
      for i, one in ipairs(list.all()) do
         names[i] = one.name
      end
      failure.use("%s: no %s '%s', and no file of this name%s", verb, noun, word,
         suggestions.known(word, names))
   end
end

---Takes the first word of the files as the name of a report or an export, if there is one of this
---name and no file. A folder of the name does not matter: go tool pprof makes one called pprof.
---Raises for a word that is neither, if files follow.
---@param given table
---@param list { find: (fun(name: string): table|nil), all: fun(): { name: string }[] }
---@param verb string for messages
---@param noun string what the name is one of
---@return string|nil name
function verbs.take_name(given, list, verb, noun)
   local word = given.files[1]
   if not word or not list.find(word) or core.kind(word) == "file" then
      return word and check_name(given, list, verb, noun) or nil
   end
   return table.remove(given.files, 1)
end

return verbs
