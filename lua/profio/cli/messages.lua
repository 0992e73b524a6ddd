-- Rewrites messages of the library for the command: `deleted = "show"` or option 'deleted' becomes
-- `--set deleted=show`, and `exe = PATH` becomes `--exe PATH`.

local later = require "profio.internal.later"
local suggestions = later "profio.internal.suggestions"
local options = require "profio.internal.options"
local plain = require "profio.reports.plain"
local profio = require "profio"

local messages = {}

-- Options of profio.open that are options of the command too.
local own = { exe = true, symbols = true, format = true, compat = true, load_bias = true,
   strict = true, trust_paths = true, mapping = true, metric = true }

local known, nformats -- cached for this number of formats: scripts may register more

-- Returns the names of all options of --set, and of those above.
local function known_names()
   if known and nformats == #profio.formats() then
      return known
   end
   known, nformats = {}, #profio.formats()
   for name in pairs(own) do
      known[name] = true
   end
   local function add(declared)
      for _, name in ipairs(options.names(declared)) do
         known[name] = true
      end
   end
   add(profio.common_options)
   for _, format in ipairs(profio.formats()) do
      add(format.options)
      add(format.write_options)
      add(format.roles)
   end
   for _, owners in ipairs { require("profio.exports").all(), require("profio.reports").all() } do
      for _, owner in ipairs(owners) do
         add(owner.options)
      end
   end
   return known
end

local function option_of(name)
   return own[name] and "--" .. name:gsub("_", "-") or "--set " .. name
end

-- Returns an option with its value as typed on the command line.
local function typed(name, value)
   local text = value:match '^"(.*)"$' or value
   if text:find "[^%w_./,:=+-]" then
      text = "'" .. text .. "'"
   end
   if name == "strict" or name == "trust_paths" then
      return option_of(name)
   end
   return option_of(name) .. (own[name] and " " or "=") .. text
end

---Rewrites a message for the command.
---@param message string
---@return string
function messages.command(message)
   if not message:find(" = ", 1, true) and not message:find("option '", 1, true) then
      return message
   end
   local names = known_names()
   local function replaced(before, name, value)
      return names[name] and before .. typed(name, value) or nil
   end
   message = (" " .. message):gsub('([^%w_])([%l_]+) = ("[^"]*")', replaced)
      :gsub("([^%w_])([%l_]+) = ([%w_]+)", replaced):sub(2)
   return (message:gsub("option '([%l_]+)'", function(name)
      return names[name] and not message:find("no option '" .. name, 1, true) and option_of(name)
         or nil
   end))
end

---Rewrites the message of a failure, with suggestions for a misspelt name.
---@param message string
---@return string
function messages.failure(message)
   local word, list = message:match "is one of ([^;\n]*); got '?([^'\n]*)'?$"
   if word then
      local names = {}
      for name in word:gmatch "[^%s,]+" do
         names[#names + 1] = name
      end
      message = message .. suggestions.hint(list, names)
   end
   return suggestions.improved(messages.command(message))
end

---Writes a message of the command. Its lines stay lines; other control characters, which names of
---files and functions may contain, are escaped.
---@param err file*
---@param message string
function messages.say(err, message)
   local lines = {}
   for line in (message .. "\n"):gmatch "([^\n]*)\n" do
      lines[#lines + 1] = line:gsub("[^\t]+", plain)
   end
   err:write("profio: ", table.concat(lines, "\n"), "\n")
end

return messages
