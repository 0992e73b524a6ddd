-- Rewrites messages of the library for the command: `deleted = "show"` or option 'deleted' becomes
-- `--set deleted=show`, and `exe = PATH` becomes `--exe PATH`.

local later = require "profio.internal.later"
local exports = require "profio.internal.exporting.export_list"
local opening = require "profio.internal.opening.open"
local options = require "profio.internal.options"
local plain = require "profio.internal.plain"
local profio = require "profio"
local reports = require "profio.reports"
local suggestions = later "profio.internal.suggestions"

local messages = {}

-- Options of profio.open that are options of the command too.
local own = { exe = true, symbols = true, format = true, compat = true, load_bias = true,
   strict = true, trust_paths = true, mapping = true, metric = true }

-- Returns whether some list of declared options has a name.
local function is_declared(name, owners, keys)
   for _, owner in ipairs(owners) do
      for _, key in ipairs(keys) do
         if options.find(owner[key], name) then
            return true
         end
      end
   end
   return false
end

-- Returns whether a name is an option of --set, or one of those above. Only to look for a name that
-- is none of the usual ones loads all formats, exports and reports.
local function is_option(name)
   return own[name] or options.find(opening.options, name) ~= nil
      or is_declared(name, profio.formats(), { "options", "write_options", "roles" })
      or is_declared(name, exports.all(), { "options" })
      or is_declared(name, reports.all(), { "options" })
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
   local function replaced(before, name, value)
      return is_option(name) and before .. typed(name, value) or nil
   end
   message = (" " .. message):gsub('([^%w_])([%l_]+) = ("[^"]*")', replaced)
      :gsub("([^%w_])([%l_]+) = ([%w_]+)", replaced):sub(2)
   return (message:gsub("option '([%l_]+)'", function(name)
      return is_option(name) and not message:find("no option '" .. name, 1, true)
         and option_of(name) or nil
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
