-- Errors of wrong use name the line of the user's script, however deep in profio they are raised.
-- Each public function is published through here: what it raises gets the position of the first
-- function on the stack that is not profio's own.

local near = require "profio.near"

local raise = {}

local own_folder = debug.getinfo(1, "S").source:match "^(.*[/\\])"
local own_position = "^[^\n:]*profio/[%w_/%.-]*%.lua:%d+: "

local function is_own(info)
   return info.source:sub(1, #own_folder) == own_folder
end

---The position of the user's code that called profio: "script.lua:12: ", or "" where there is none.
---@return string
function raise.where()
   local level = 2
   while true do
      local info = debug.getinfo(level, "Sl")
      if not info then
         return ""
      elseif info.currentline > 0 and not is_own(info) then
         return ("%s:%d: "):format(info.short_src, info.currentline)
      end
      level = level + 1
   end
end

-- Raises of Lua itself in the code of profio are our mistakes and keep their place.
local function is_bug(message)
   return message:find("attempt to", 1, true) or message:find("stack overflow", 1, true)
end

raise.is_bug = is_bug

---Raises when a value is not of a type that is wanted.
---@param value any
---@param wanted string a type of Lua; with "?" behind it nil is one too
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

---A message of profio at a position of the user's code. What has one already keeps it.
---@param message any
---@param where string as raise.where returns it
---@return any
function raise.positioned(message, where)
   if type(message) ~= "string" or is_bug(message) then
      return message
   end
   local plain, count = message:gsub(own_position, "")
   if plain == "not enough memory" then -- whoever was asking for it
      return plain
   end
   if count == 0 and plain:find "^[^\n:]+:%d+: " then
      return message
   end
   return where .. near.improved(plain)
end

-- Whether the code that raised is profio's: the first function on the stack that is written in Lua.
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

---A function as users get it: what it raises names their line.
---@param f function
---@return function
function raise.public(f)
   return function(...)
      return results(xpcall(f, handler, ...))
   end
end

---Publish the functions of a table, in place.
---@param functions table<string, function>
function raise.publish(functions)
   for name, f in pairs(functions) do
      if type(f) == "function" then
         functions[name] = raise.public(f)
      end
   end
end

---Publish methods, in place: they check that they are called on an object of theirs. Metamethods
---stay as they are.
---@param methods table<string, function>
---@param kind string what the object is: "view"
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
