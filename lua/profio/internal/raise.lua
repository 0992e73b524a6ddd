-- Usage errors name the line of the user's script, however deep in profio they are raised. Each
-- public function is published through this file: its errors get the position of the first function
-- on the stack that does not belong to profio.

local core = require "profio.core"
local later = require "profio.internal.later"
local suggestions = later "profio.internal.suggestions"

local raise = {}

local own_folder = debug.getinfo(1, "S").source:match "^(.*[/\\])internal[/\\]"
local own_position = "^[^\n:]*profio/[%w_/%.-]*%.lua:%d+: "

local function is_own(info)
   return info.source:sub(1, #own_folder) == own_folder
end

---The function that runs the command: what calls it is no code of the user.
---@type function|nil
raise.command = nil

---Returns the position of the user's code that called profio, "script.lua:12: ", or "" if unknown.
---@return string
function raise.where()
   local level = 2
   while true do
      local info = debug.getinfo(level, "Slf")
      if not info or info.func == raise.command then
         return ""
      elseif info.currentline > 0 and not is_own(info) then
         return ("%s:%d: "):format(info.short_src, info.currentline)
      end
      level = level + 1
   end
end

-- Errors of Lua itself in the code of profio are bugs and keep their position.
local function is_bug(message)
   return message:find("attempt to", 1, true) or message:find("stack overflow", 1, true)
end

raise.is_bug = is_bug

---Raises if a value does not have the expected type.
---@param value any
---@param wanted string a type of Lua; a "?" at the end also allows nil
---@param what string "limit: n"
---@return any value
function raise.expect(value, wanted, what)
   local kind, optional = wanted:match "^(%l+)(%??)$"
   local found = math.type(value) == "integer" and kind == "integer" and kind or type(value)
   if found ~= kind and not (value == nil and optional == "?") then
      error(("%s must be %s %s, got %s"):format(what, kind:find "^[aeiou]" and "an" or "a", kind,
         found == "number" and tostring(value) or found), 0)
   end
   return value
end

---Whether a message begins with a position in a file of the user, such as a reader of --load.
---@param message string
---@return boolean
function raise.is_of_user(message)
   return not message:find(own_position) and message:find "^[^\n:]+:%d+: " ~= nil
end

local function results_of(ok, ...)
   if not ok then
      error(..., 0)
   end
   return ...
end

---Calls a function of a format. If a user has registered it, its errors are those of an input that
---cannot be read, for core.unread.
---@param format { registered: boolean|nil }
---@param f function
---@param ... any
---@return any ...
function raise.reading(format, f, ...)
   if not format.registered then
      return f(...)
   end
   return results_of(xpcall(f, function(message)
      core.unread(message)
      return message
   end, ...))
end

---Adds a position of the user's code to a message of profio, unless it has one.
---@param message any
---@param where string as raise.where returns it
---@return any
function raise.positioned(message, where)
   if type(message) ~= "string" or is_bug(message) then
      return message
   end
   local plain, count = message:gsub(own_position, "")
   if plain == "not enough memory" then -- the position would mean nothing
      return plain
   end
   if count == 0 and plain:find "^[^\n:]+:%d+: " then
      return message
   end
   return where .. suggestions.improved(plain)
end

-- Returns whether profio raised the error: the first Lua function on the stack is its own.
local function is_raised_here()
   local level = 3
   while true do
      local info = debug.getinfo(level, "S")
      if not info then
         return true
      elseif info.what ~= "C" then
         return is_own(info)
      end
      level = level + 1
   end
end

local function handler(message)
   if type(message) ~= "string" or not is_raised_here() then
      return message
   end
   return raise.positioned(message, raise.where())
end

local function results(done, ...)
   if not done then
      error((...), 0)
   end
   return ...
end

---Returns a public form of a function, whose errors name the user's line.
---@param f function
---@return function
function raise.public(f)
   return function(...)
      return results(xpcall(f, handler, ...))
   end
end

---Publishes the functions of a table, in place.
---@param functions table<string, function>
function raise.publish(functions)
   for name, f in pairs(functions) do
      if type(f) == "function" then
         functions[name] = raise.public(f)
      end
   end
end

---Publishes methods, in place: they check their `self`. Metamethods are not changed.
---@param methods table<string, function>
---@param kind string kind of the object: "view"
---@param is_one fun(value: any): boolean
function raise.publish_methods(methods, kind, is_one)
   for name, f in pairs(methods) do
      if type(f) == "function" and name:sub(1, 2) ~= "__" then
         methods[name] = raise.public(function(self, ...)
            if not is_one(self) then
               error(("%s: call it with a colon, on a %s: %s:%s(...)"):format(name, kind, kind,
                  name), 0)
            end
            return f(self, ...)
         end)
      end
   end
end

return raise
