-- The words of requirements: lines of a file of limits, and chains of events.

local times = require "profio.internal.times"
local texts = require "profio.internal.texts"

local words = {}

local LONGEST_BOUND = 100 -- bytes; longer numbers are mistakes

-- Class of errors in a line; words.lines returns them.
local Wrong = {}

---Raises an error that words.lines and words.caught return.
---@param message string
---@param ... any values for its format
function words.wrong(message, ...)
   error(setmetatable({ message = message:format(...) }, Wrong), 0)
end

local wrong = words.wrong

-- Splits a text that begins with a quoted name into the name and the rest.
local function quoted(text)
   local at, name = 2, {}
   while true do
      local c = text:sub(at, at)
      if c == "" then
         wrong "a name in quotes has no end"
      elseif c == '"' then
         return table.concat(name), text:sub(at + 1)
      elseif c == "\\" then
         at = at + 1
         c = text:sub(at, at)
      end
      name[#name + 1] = c
      at = at + 1
   end
end

---Splits a text into a word or quoted name, and the rest without leading blanks. Raises if there is
---none.
---@param text string
---@param what string what is missing then
---@return string found
---@return string rest
function words.word(text, what)
   local found, rest
   if text:sub(1, 1) == '"' then
      found, rest = quoted(text)
      if rest:find "^%S" then
         wrong('a blank is expected after the quotes, got "%s"; a quote in a name is \\"', rest)
      end
   else
      found, rest = text:match "^(%S+)(.*)$"
   end
   if not found or found == "" then
      wrong("%s is missing", what)
   end
   return found, rest:match "^%s*(.*)$"
end

-- Removes a comment, which begins with # at the start or after a blank, outside of quotes.
local function without_comment(text)
   local in_quotes, at = false, 1
   while at <= #text do
      local c = text:sub(at, at)
      if c == "\\" and in_quotes then
         at = at + 1
      elseif c == '"' then
         in_quotes = not in_quotes
      elseif c == "#" and not in_quotes and (at == 1 or text:find("^%s", at - 1)) then
         return text:sub(1, at - 1)
      end
      at = at + 1
   end
   return text
end

---Parses a number, or a time, in a bound. Raises for others.
---@param text string
---@return number quantity in ns, if it is a time; a share of 1, if it is in per cent
---@return string|nil unit of the time, or %
function words.quantity(text)
   if #text > LONGEST_BOUND then
      wrong("a bound of at most %d bytes is expected, got one of %d", LONGEST_BOUND, #text)
   end
   local time, unit = times.parse(text)
   if time and unit then
      return time, unit
   end
   local share = tonumber(text:match "^(%d+%.?%d*)%%$")
   if share then
      return share / 100, "%"
   end
   local number = text:match "^[-+]?%d+%.?%d*$" and tonumber(text)
   if not number then
      wrong("a bound is a number, a time such as 1.5ms, or a share such as 30%%, got '%s'", text)
   end
   return times.whole(text) or number
end

---Calls a function that may raise by words.wrong.
---@param f fun(...): any
---@param ... any
---@return any result nil: it is wrong
---@return string|nil message
function words.caught(f, ...)
   local ok, result = pcall(f, ...)
   if ok then
      return result
   elseif getmetatable(result) == Wrong then
      return nil, result.message
   end
   error(result, 0)
end

---Parses the lines of a text, without comments and empty lines.
---@param text string
---@param parse fun(line: string): table of a line; `line` is set in the result
---@return table[]|nil
---@return string|nil message
---@return integer|nil line of the error
function words.lines(text, parse)
   local list, number = {}, 0
   for line in (text .. "\n"):gmatch "(.-)\r?\n" do
      number = number + 1
      local plain = texts.trim(without_comment(line))
      if plain ~= "" then
         local one, message = words.caught(parse, plain)
         if not one then
            return nil, message, number
         end
         one.line = number
         list[#list + 1] = one
      end
   end
   return list
end

return words
