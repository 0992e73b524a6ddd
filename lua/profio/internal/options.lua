-- Declarations of options, and the check of given options against them.

local times = require "profio.internal.times"

local options = {}

---Declaration of an option.
---@class profio.Option
---@field name string
---@field type "int"|"size"|"bool"|"text"|"choice"|"file"|"view"|"ring"|"where"
---@field default any
---@field choices string[]|nil for type "choice"
---@field help string

local function names_of(declared)
   local names = {}
   for _, option in ipairs(declared) do
      names[#names + 1] = option.name
   end
   table.sort(names)
   return table.concat(names, ", ")
end

local checks = {}

function checks.int(option, value)
   local whole = math.tointeger(value)
   if not whole then
      error(("option '%s' must be a whole number, got %s"):format(option.name, tostring(value)), 0)
   end
   return whole
end

local binary = { [""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30 }

function checks.size(option, value)
   local digits, unit = tostring(value):upper():match "^(%d+)([KMG]?)$"
   local bytes = digits and math.tointeger(tonumber(digits))
   if not bytes or bytes == 0 or bytes > (1 << 40) then
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
   return value
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
   local known, checked = {}, {}
   if type(given) ~= "table" then
      error(("%s: options must be a table, got %s"):format(owner, type(given)), 0)
   end
   for _, option in ipairs(declared) do
      known[option.name] = option
   end
   for name, value in pairs(given) do
      local option = known[name]
      if not option then
         local names = names_of(declared)
         error(("%s has no option '%s'; there %s"):format(owner, tostring(name),
            names == "" and "is none" or "are: " .. names), 0)
      end
      checked[name] = checks[option.type](option, value)
   end
   return checked
end

---Converts the text of an option (from a command line) to its declared type.
---@param declared profio.Option[]
---@param name string
---@param text string
---@return any value  the text itself if the option is not declared: check() reports it
function options.parse(declared, name, text)
   for _, option in ipairs(declared) do
      if option.name == name then
         if option.type == "int" then
            return times.whole(text) or math.tointeger(tonumber(text)) or text
         elseif option.type == "bool" then
            local words = { ["true"] = true, yes = true, ["1"] = true,
               ["false"] = false, no = false, ["0"] = false }
            if words[text] ~= nil then
               return words[text]
            end
         end
         return text
      end
   end
   return text
end

return options
