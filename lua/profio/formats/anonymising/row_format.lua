-- The formats of rows in a Text1 file of winIDEA: literal text and macros between per cent signs.
-- Rows are split as csrc/formats/winidea/rowformat.c splits them: numbers from both ends, and the
-- texts between them so that all fields are valid.

local row_format = {}

local MOST_TRIES <const> = 10000 -- separators of a row
local NUMBER_LENGTH <const> = 40
local HANDLES <const> = { HANDLE = true, ["HANDLE.PARENT"] = true, ["HANDLE.STATE"] = true }
local FREE <const> = { NAME = true, ["NAME.PARENT"] = true, ["VALUE.UNIT"] = true, FILE = true,
   PATH = true, CONTEXT = true, CLASS = true, FORMAT = true }
local PLAIN <const> = { VALUE = true, ["VALUE.TYPE"] = true, EVENT = true, TIME = true,
   TOTAL_TIME = true, COUNT = true }

-- Returns whether a macro is free text, as those that profio does not know are.
local function is_free(macro)
   return FREE[macro] or not HANDLES[macro] and not PLAIN[macro] and not macro:find "^T%."
end

row_format.is_free = is_free

---Returns whether rows of a format have free text.
---@param format table
---@return boolean
function row_format.has_text(format)
   for _, macro in ipairs(format.macros) do
      if is_free(macro) then
         return true
      end
   end
   return false
end

---Returns whether a macro is one of winIDEA.
---@param macro string
---@return boolean
function row_format.is_known(macro)
   return FREE[macro] or HANDLES[macro] or PLAIN[macro] or macro:find "^T%.%u+[.%u]*$" ~= nil
end

---Compiles a format.
---@param text string
---@return { literals: string[], macros: string[] } literals[1] macros[1] literals[2] ...
function row_format.compile(text)
   local format, literal, at = { literals = {}, macros = {} }, 1, 1
   while true do
      local sign = text:find("%", at, true)
      local last = sign and text:find("%", sign + 1, true)
      if not last then
         break
      end
      local word = text:sub(sign + 1, last - 1)
      at = sign + 1
      if word:find "^[%a_.][%a_. ]*$" and #word <= 32 then
         table.insert(format.literals, text:sub(literal, sign - 1))
         table.insert(format.macros, (word:gsub(" ", ""):upper()))
         at, literal = last + 1, last + 1
      end
   end
   table.insert(format.literals, text:sub(literal))
   return format
end

-- {====== Numbers ======

local DIGITS <const> = { EVENT = "%a%d", ["VALUE.TYPE"] = "%dIiFf", VALUE = "%xXx.+%-" }

local function digits_of(macro)
   return HANDLES[macro] and "%x" or DIGITS[macro] or "%d.+%-"
end

-- Returns the length of a number at a position.
local function count_digits(macro, text, at, stop)
   local most = macro == "EVENT" and 1 or NUMBER_LENGTH
   local start = at
   if HANDLES[macro] then
      start = text:find("^0[xX].", at) and at + 2 or at
      most = 8
   end
   local last = text:match("^[" .. digits_of(macro) .. "]*()", start)
   return math.min(last, start + most, stop) - at
end

local function digits_before(macro, text, first, stop)
   local most = macro == "EVENT" and 1 or NUMBER_LENGTH
   local n, set = 0, "^[" .. digits_of(macro) .. "]"
   while n < most and stop - n > first and text:find(set, stop - n - 1) do
      n = n + 1
   end
   return n
end

-- Returns the last occurrence of a literal in text[first, stop).
local function find_last(text, literal, first, stop)
   for at = stop - #literal, first, -1 do
      if text:sub(at, at + #literal - 1) == literal then
         return at
      end
   end
end

-- }======

-- {====== Splitting ======

local function begins(text, literal, at, stop)
   return at + #literal <= stop and text:sub(at, at + #literal - 1) == literal
end

-- Takes the numbers before the first free text. Returns the index of that and its position; nil:
-- the row does not match.
local function take_left(format, text, fields)
   local at, stop = 1, #text + 1
   if not begins(text, format.literals[1], at, stop) then
      return nil
   end
   at = at + #format.literals[1]
   for i, macro in ipairs(format.macros) do
      if is_free(macro) then
         return i, at
      end
      local literal = format.literals[i + 1]
      local last = literal ~= "" and text:find(literal, at, true)
         or literal == "" and (i == #format.macros and stop
            or at + count_digits(macro, text, at, stop))
      if not last then
         return nil
      end
      fields[i] = { at, last }
      at = last + #literal
   end
   return #format.macros + 1, at
end

-- Takes the numbers after the last free text. Returns the index of that and where it ends.
local function take_right(format, text, first, fields)
   local count = #format.macros
   local stop = #text + 1 - #format.literals[count + 1]
   if stop < first or text:sub(stop) ~= format.literals[count + 1] then
      return nil
   end
   for i = count, 1, -1 do
      local macro = format.macros[i]
      if is_free(macro) then
         return i, stop
      end
      local literal = format.literals[i]
      local start = literal ~= "" and find_last(text, literal, first, stop)
         or literal == "" and stop - digits_before(macro, text, first, stop)
      if not start then
         return nil
      end
      fields[i] = { start + #literal, stop }
      stop = start
   end
end

local function is_valid(macro, text, at, stop, is_strict)
   if macro == "FILE" or macro == "PATH" then
      return not is_strict or at == stop or text:find("^[/\\.]", at)
         or text:find("^.:[/\\]", at) and stop - at > 2
   elseif is_free(macro) then
      return true
   end
   local may_be_empty = macro == "VALUE" or not is_strict and macro ~= "HANDLE"
   return count_digits(macro, text, at, stop) == stop - at and (stop > at or may_be_empty)
end

-- Tries the splits of text[at, stop) into the fields from i on.
local function split_rest(search, i, at)
   local format, text, stop = search.format, search.text, search.stop
   local macro, literal = format.macros[i], format.literals[i + 1]
   local function take(last)
      if not is_valid(macro, text, at, last, search.is_strict) then
         return
      end
      search.now[i] = { at, last }
      if i == search.to then
         search.found = math.min(search.found + 1, 2)
         if not search.is_strict or search.found == 1 then
            search.chosen = table.move(search.now, 1, #format.macros, 1, {})
         end
      else
         split_rest(search, i + 1, last + #literal)
      end
   end
   if i == search.to then
      return take(stop)
   elseif literal == "" then
      return take(is_free(macro) and at or at + count_digits(macro, text, at, stop))
   end
   local last = text:find(literal, at, true)
   while last and last + #literal <= stop do
      search.tries = search.tries + 1
      if search.tries > MOST_TRIES then
         return
      end
      take(last)
      if not is_free(macro) or search.is_strict and search.found > 1 then
         return
      end
      last = text:find(literal, last + 1, true)
   end
end

---Splits a row.
---@param format table
---@param text string without its line end
---@return integer[][]|nil for each macro the begin of its field and the byte after it
function row_format.split(format, text)
   local fields = {}
   local first, at = take_left(format, text, fields)
   if not first then
      return nil
   elseif first > #format.macros then
      return at == #text + 1 and fields or nil
   end
   local last, stop = take_right(format, text, at, fields)
   if not last or at > stop then
      return nil
   end
   for _, is_strict in ipairs { true, false } do
      local search = { format = format, text = text, stop = stop, to = last, tries = 0, found = 0,
         is_strict = is_strict, now = table.move(fields, 1, #format.macros, 1, {}) }
      split_rest(search, first, at)
      if search.chosen then
         return search.chosen
      end
   end
end

-- }======

return row_format
