-- Finds the functions in an Xbase++ source (*.prg): FUNCTION, PROCEDURE, CLASS and METHOD.
--
-- A statement that ends in ";" goes on in the next line. Comments begin with // or &&, with * or
-- NOTE where a statement would begin, and are between /* and */. METHOD in a class is a
-- declaration, unless INLINE stands before it; its code is METHOD Foo:Name, METHOD Name CLASS Foo,
-- or METHOD Name after the class.

local texts = require "profio.internal.texts"

local prg_parser = {}

---@class profio.PrgFunction
---@field name string as in the source; of a method with its class, "Foo:Name"
---@field kind "function"|"procedure"|"class"|"method"
---@field line integer its first line
---@field last integer its last line

-- {====== Statements ======

-- Returns the position at which the next comment begins from `at` on, outside of strings, and its
-- mark; nil: there is none.
local function comment_at(text, at)
   while true do
      local start, mark = text:match("()([\"'/&])", at)
      if not start then
         return nil
      end
      at = start + 1
      if mark == '"' or mark == "'" then
         local stop = text:find(mark, at, true)
         at = stop and stop + 1 or #text + 1
      elseif text:find("^//", start) or text:find("^&&", start) or text:find("^/%*", start) then
         return start, text:sub(start, start + 1)
      end
   end
end

-- Returns a line without comments, and whether a comment goes on in the next line. begins: a
-- statement begins here.
local function without_comments(text, is_comment, begins)
   local parts, at, mark = {}, 1, is_comment and "/*" or nil
   if not is_comment and begins and (text:find "^%s*%*" or text:lower():find "^%s*note%s") then
      return "", false
   end
   repeat
      if mark == "/*" then
         local _, stop = text:find("*/", at, true)
         if not stop then
            return table.concat(parts, " "), true
         end
         at = stop + 1
      end
      local start
      start, mark = comment_at(text, at)
      parts[#parts + 1] = text:sub(at, (start or 0) - 1)
      at = start and start + 2
   until mark ~= "/*"
   return table.concat(parts, " "), false
end

-- Iterates over the statements of a source: the first line, and the text without comments.
local function statements(list)
   return coroutine.wrap(function()
      local parts, first, is_comment = {}, nil, false
      for number, line in ipairs(list) do
         local text
         text, is_comment = without_comments(line, is_comment, first == nil)
         text = texts.trim(text)
         first = first or text ~= "" and number or nil
         parts[#parts + 1] = text:gsub(";$", " ")
         if first and text:sub(-1) ~= ";" and not (is_comment and text == "") then
            coroutine.yield(first, table.concat(parts))
            parts, first = {}, nil
         end
      end
      if first then
         coroutine.yield(first, table.concat(parts))
      end
   end)
end

-- }======

-- {====== Definitions ======

-- Returns whether a word is a key word or an abbreviation of it with four letters or more.
local function is_word(word, key)
   return #word >= 4 and key:sub(1, #word) == word
end

local before = { static = true, init = true, exit = true, inline = true, freeze = true,
   final = true, sync = true, access = true, assign = true }

-- Returns the words before FUNCTION, METHOD and so on as a set, that word, and the rest.
local function parted(text)
   local set, word, rest = {}, text:match "^(%a+)%s*(.*)$"
   while word and (before[word:lower()]
      or word:lower() == "class" and rest:lower():find "^method%s")
   do
      set[word:lower()] = true
      word, rest = rest:match "^(%a+)%s*(.*)$"
   end
   return set, (word or ""):lower(), rest or ""
end

-- Returns the name of a method with its class.
local function method_name(rest, class)
   local own, name = rest:match "^([%w_]+)%s*:%s*([%w_]+)"
   if own then
      return own .. ":" .. name
   end
   name = rest:match "^[%w_]+"
   local of = rest:lower():match "%f[%w_]class%s+[%w_]+%s*$" and rest:match "([%w_]+)%s*$" or class
   return name and of and of .. ":" .. name or name
end

-- Returns the function that a statement begins, or nil. state: class, the last one; is_in_class.
local function definition(state, text)
   local set, word, rest = parted(text)
   if word == "endclass" then
      state.is_in_class = false
   elseif is_word(word, "function") then
      return rest:match "^[%w_]+", "function"
   elseif is_word(word, "procedure") then
      return rest:match "^[%w_]+", "procedure"
   elseif word == "class" and not state.is_in_class and rest:find "^[%a_]" then
      state.class, state.is_in_class = rest:match "^[%w_]+", true
      return state.class, "class"
   elseif word == "method" and (set.inline or not state.is_in_class) then
      return method_name(rest, state.class), "method"
   end
end

---Returns the functions of a source, in the order of their lines.
---@param list string[] its lines
---@return profio.PrgFunction[]
function prg_parser.functions(list)
   local found, state = {}, {}
   for line, text in statements(list) do
      local name, kind = definition(state, text)
      if name then
         if found[1] then
            found[#found].last = line - 1
         end
         found[#found + 1] = { name = name, kind = kind, line = line, last = #list }
      end
   end
   return found
end

-- }======

return prg_parser
