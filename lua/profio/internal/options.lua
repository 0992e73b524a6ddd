-- Declarations of options. Formats, exports, reports, the recorder and the functions of the library
-- declare their options in this one form, from which the check of given values, the conversion of
-- texts, the listing of --list-formats and the suggestions for misspelt names are derived.

local core = require "profio.core"
local later = require "profio.internal.later"
local times = later "profio.internal.times"

local options = {}

---Declaration of an option.
---@class profio.Option
---@field name string
---@field type "int"|"num"|"size"|"bool"|"text"|"choice"|"file"|"view"|"ring"|"list"|"where"
---@field default any
---@field unit string|nil unit of a number: "ns", "bytes", ...
---@field choices string[]|nil for type "choice"
---@field help string

---Returns the names of declared options, in order.
---@param declared profio.Option[]|nil
---@return string[]
function options.names(declared)
   local names = {}
   for i, option in ipairs(declared or {}) do
      names[i] = option.name
   end
   return names
end

---Returns the declaration of a name, or nil.
---@param declared profio.Option[]|nil
---@param name string
---@return profio.Option|nil
function options.find(declared, name)
   for _, option in ipairs(declared or {}) do
      if option.name == name then
         return option
      end
   end
end

---Returns the form of an option, `deleted=skip|show`, and its help with the unit and the default.
---@param option profio.Option
---@return string form
---@return string help
function options.described(option)
   local help, default = option.help or "", option.default
   if option.unit then
      help = help .. "; in " .. option.unit
   end
   if default and default ~= "" and not help:find("default", 1, true) then
      help = help .. "; default " .. tostring(default)
   end
   local values = option.choices and table.concat(option.choices, "|") or option.type
   return option.name .. "=" .. values, help
end

---Returns an option of the library as one of the command: its name with --, the name of its value,
---and its help.
---@param declared profio.Option[]
---@param name string
---@param argument string
---@return string[]
function options.of_command(declared, name, argument)
   local _, help = options.described(options.find(declared, name))
   return { "--" .. name, argument, help }
end

local checks = {}

function checks.int(option, value)
   local whole = math.tointeger(value)
   if not whole then
      error(("option '%s' must be a whole number, got %s"):format(option.name, tostring(value)), 0)
   end
   return whole
end

function checks.num(option, value)
   if type(value) ~= "number" then
      error(("option '%s' must be a number, got %s"):format(option.name, tostring(value)), 0)
   end
   return value
end

local binary = { [""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30 }

function checks.size(option, value)
   local digits, unit = tostring(value):upper():match "^(%d+)([KMG]?)$"
   local bytes = digits and math.tointeger(tonumber(digits))
   if not bytes or bytes == 0 or bytes > (1 << 40) // binary[unit] then
      error(("option '%s' must be a size in bytes such as 65536 or \"4M\", got %s")
         :format(option.name, tostring(value)), 0)
   end
   return bytes * binary[unit]
end

function checks.ring(option, value)
   if type(value) ~= "table" then
      error(("option '%s' must be a table { size =, full = }, got %s"):format(option.name,
         type(value)), 0)
   end
   return value
end

function checks.bool(option, value)
   if type(value) ~= "boolean" then
      error(("option '%s' must be true or false, got %s"):format(option.name, tostring(value)), 0)
   end
   return value
end

function checks.list(option, value)
   if type(value) ~= "table" then
      error(("option '%s' must be a list, got %s"):format(option.name, type(value)), 0)
   end
   return value
end

function checks.text(option, value)
   if type(value) ~= "string" then
      error(("option '%s' must be a string, got %s"):format(option.name, type(value)), 0)
   end
   return value
end

function checks.choice(option, value)
   for _, choice in ipairs(option.choices) do
      if choice == value then
         return value
      end
   end
   error(("option '%s' is one of %s; got %s"):format(option.name,
      table.concat(option.choices, ", "), tostring(value)), 0)
end

function checks.file(option, value)
   if type(value) ~= "string" and not (type(value) == "table" and type(value.data) == "string")
   then
      error(("option '%s' must be a path or { data = string }, got %s"):format(option.name,
         type(value)), 0)
   end
   return type(value) == "string" and core.slashes(value) or value
end

function checks.view(option, value)
   if getmetatable(value) == nil or getmetatable(value).__name ~= "profio.view" then
      error(("option '%s' must be a view, got %s"):format(option.name, type(value)), 0)
   end
   return value
end

-- A condition of view:where: a value, a list, or the result of between, match ...
function checks.where(_, value)
   return value
end

---Checks given options against their declarations. Raises on wrong use.
---@param declared profio.Option[]
---@param given table<string, any>
---@param owner string the owner of the options, for messages
---@return table<string, any> checked
function options.check(declared, given, owner)
   local checked = {}
   if type(given) ~= "table" then
      error(("%s: options must be a table, got %s"):format(owner, type(given)), 0)
   end
   for name, value in pairs(given) do
      local option = options.find(declared, name)
      if not option then
         local names = options.names(declared)
         table.sort(names)
         error(("%s has no option '%s'; there %s"):format(owner, tostring(name),
            #names == 0 and "is none" or "are: " .. table.concat(names, ", ")), 0)
      end
      checked[name] = checks[option.type](option, value)
   end
   return checked
end

local words = { ["true"] = true, yes = true, ["1"] = true,
   ["false"] = false, no = false, ["0"] = false }

---Converts the text of an option (from a command line) to its declared type.
---@param declared profio.Option[]
---@param name string
---@param text string
---@return any value  the text itself if the option is not declared: check() reports it
function options.parse(declared, name, text)
   local option = options.find(declared, name) or {}
   if option.type == "int" then
      return times.whole(text) or math.tointeger(tonumber(text)) or text
   elseif option.type == "num" then
      return tonumber(text) or text
   elseif option.type == "bool" and words[text] ~= nil then
      return words[text]
   end
   return text
end

return options
