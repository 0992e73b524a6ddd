-- Advice for words of a command line that mean nothing where they are.

local declarations = require "profio.cli.declarations"
local exports = require "profio.internal.exporting.export_list"
local reports = require "profio.reports"
local suggestions = require "profio.internal.suggestions"
local verbs = require "profio.cli.verbs"

local word_hints = {}

-- Adds what a word without a verb may stand for: the words to write, by name.
local function add_meanings(meanings, list, form)
   for _, one in ipairs(list) do
      meanings[one.name] = meanings[one.name] or one.compares and "--diff FILE"
         or form:format(one.name)
   end
end

---Returns what a first word that is no verb may stand for.
---@param word string
---@return string[]
function word_hints.meanings(word)
   local meanings, names = {}, {}
   add_meanings(meanings, verbs.all(), "profio %s")
   add_meanings(meanings, reports.all(), "profio report %s")
   add_meanings(meanings, exports.all(), "profio export %s")
   declarations.each(function(option)
      local name = option[1]:match "^%-%-(.+)"
      if name and not meanings[name] then
         meanings[name] = option[2] and option[1] .. " " .. option[2] or option[1]
      end
   end)
   for name in pairs(meanings) do
      names[#names + 1] = name
   end
   table.sort(names)
   local near = meanings[word] and { word } or suggestions.names(word, names)
   for i, name in ipairs(near) do
      near[i] = meanings[name]
   end
   return near
end

---Returns a message of argparse in one line; for an option of other verbs, it names them.
---@param message string
---@param verb profio.Verb|nil
---@return string
function word_hints.message(message, verb)
   local name = message:match "unknown option '([^']*)'"
   local known = verb and name and declarations.find(name)
   if not known then
      return (message:gsub("\nDid you mean", "; did you mean"))
   end
   local names = {}
   for _, other in ipairs(verbs.every()) do
      names[#names + 1] = verbs.accepts(other, name) and verbs.title(other) or nil
   end
   return ("profio %s has no option %s; profio without a verb has it%s"):format(
      verbs.title(verb), name, #names > 0 and ", and: " .. table.concat(names, ", ") or "")
end

return word_hints
