-- Numbers the lines of Business Rules! sources: those that begin with their numbers, and those
-- without, as the preprocessor Lexi numbers them when it compiles them.
--
-- Lexi adds 1 for each line of the file; "#Autonumber# 1000,10" in a line gives it and those after
-- it the numbers 1000, 1010 and so on, and a label L1000: the line of the label the number 1000. A
-- line below one that ends in "!:" has no number. A statement that goes on in the next line has the
-- number of its last line. A line that begins with a number keeps it.

local texts = require "profio.internal.texts"

local line_numbers = {}

-- {====== Text of lines ======

-- Calls f(position, character) for each character outside of strings, until it returns true;
-- returns that position.
local function find_outside(text, f)
   local quote
   for at = 1, #text do
      local c = text:sub(at, at)
      if quote then
         quote = c ~= quote and quote or nil
      elseif c == '"' or c == "'" then
         quote = c
      elseif f(at, c) then
         return at
      end
   end
end

-- Returns the position of a comment: a "!" outside of strings that begins neither "!:" nor "!_".
local function comment_at(text)
   return text:find("!", 1, true) and find_outside(text, function(at, c)
      return c == "!" and not text:find("^[:_]", at + 1)
   end)
end

-- Returns the number and the increment that "#Autonumber# 1000,10" outside of strings gives.
local function autonumber_of(text)
   local lower = text:lower()
   local at = lower:find("#autonumber#", 1, true) and find_outside(lower, function(at)
      return lower:find("^#autonumber#", at)
   end)
   local number, increment = (at and text:sub(at + 12) or ""):match "^%s*(%d+)%s*,%s*(%d+)%s*$"
   number = math.tointeger(tonumber(number))
   if number and number > 0 then
      return number, math.tointeger(tonumber(increment))
   end
end

local operators = { ["="] = true, ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true,
   [","] = true, ["&"] = true, ["("] = true }

-- Returns whether a statement goes on in the next line: it has "!_", or ends in an operator or a
-- comma, or within a string of backticks; and whether it does so within backticks.
local function goes_on(text, is_quoted)
   local stop = not is_quoted and comment_at(text) or nil
   local code = texts.trim(stop and text:sub(1, stop - 1) or text)
   local _, ticks = code:gsub("`", "")
   is_quoted = (ticks + (is_quoted and 1 or 0)) % 2 == 1
   local word = code:sub(-4):lower()
   return is_quoted or operators[code:sub(-1)] or word == " and" or word:sub(2) == " or"
      or text:find("!_", 1, true) ~= nil and find_outside(text, function(at)
         return text:find("^!_", at)
      end) ~= nil, is_quoted
end

-- }======

-- Returns lines as texts, whose parts are in lists.
local function joined(lines)
   for number, parts in pairs(lines) do
      lines[number] = table.concat(parts, " ")
   end
   return lines
end

-- {====== Lexi's rule ======

local LABEL_INCREMENT = 10

-- Sets the number of the next line and the increment after a label such as L1000:.
local function count_label(state, text)
   local number = math.tointeger(tonumber(text:match "^%s*[lL](%d%d?%d?%d?%d?):"))
   if not number then
      return
   elseif number > state.number then
      state.increment = number % LABEL_INCREMENT == 0 and LABEL_INCREMENT or state.increment
      state.number = number - state.increment
   else
      state.increment = math.max(state.increment // 2, 2)
   end
end

-- Returns the number of a line, or nil if it belongs to the line above.
local function number_of(state, text)
   local number, increment = autonumber_of(text)
   if number then
      state.refused = number <= state.number and number or state.refused
      state.number, state.increment = number - increment, increment
      state.first = state.first or number
   end
   count_label(state, text)
   local own = text:match "^%s*(%d+)%s" or text:match "^%s*(%d+)$"
   if own and #text:match "^%s*%d+" <= 5 and not state.continues then
      return math.tointeger(tonumber(own))
   elseif state.continues then
      return nil
   end
   state.number = state.number + state.increment
   return state.number
end

---Numbers lines as Lexi does.
---@param list string[] the lines of a source without numbers
---@param increment integer of the lines before the first #Autonumber# and L label
---@return table<integer, string> lines by their numbers
---@return integer|nil first the number that the first #Autonumber# gives
---@return integer|nil refused a number of #Autonumber# that is not above those before, which Lexi
---refuses
function line_numbers.lexi(list, increment)
   local state = { number = 0, increment = increment }
   local lines, current, i = {}, nil, 1
   while list[i] do
      local parts = { texts.trim_end(list[i]) }
      local more, is_quoted = goes_on(list[i], false)
      while more and list[i + 1] and not state.continues do
         i, state.number = i + 1, state.number + state.increment
         parts[#parts + 1] = texts.trim(list[i])
         more, is_quoted = goes_on(list[i], is_quoted)
      end
      local text = table.concat(parts, " ")
      local number = number_of(state, text)
      current = number or current
      if number then
         lines[number] = {}
      end
      if current then
         table.insert(lines[current], texts.trim(text))
      end
      state.continues = text:sub(-2) == "!:"
      i = i + 1
   end
   return joined(lines), state.first, state.refused
end

-- }======

---Returns whether the lines of a source begin with their numbers: its first one does, or most do.
---@param list string[]
---@return boolean
function line_numbers.are_stated(list)
   local first, count, all = false, 0, 0
   for _, text in ipairs(list) do
      if text:find "%S" then
         local has_number = text:find "^%s*%d+%s" ~= nil or text:find "^%s*%d+$" ~= nil
         if all == 0 then
            first = has_number
         end
         count, all = count + (has_number and 1 or 0), all + 1
      end
   end
   return first or 2 * count > all
end

---Returns the lines of a source by the numbers with which they begin. A continued line is repeated
---below with the same number, or without one: it belongs to the line above.
---@param list string[]
---@return table<integer, string>
function line_numbers.stated(list)
   local lines, current = {}, nil
   for _, text in ipairs(list) do
      local number, rest = text:match "^%s*(%d+)()"
      if number then
         current = math.tointeger(tonumber(number)) or 0 -- larger than any line
         lines[current] = { texts.trim(text:sub(rest)) }
      elseif current then
         table.insert(lines[current], texts.trim(text))
      end
   end
   return joined(lines)
end

return line_numbers
