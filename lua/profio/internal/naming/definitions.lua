--- Finds the definitions of functions in the text of a Lua program, with their names.
---
--- A definition is known by what debug.getinfo tells of its function: the lines where it begins and
--- ends, its number of parameters, and whether it takes more. The text is read once, from token to
--- token, so that words of strings and comments are not taken for code.

local definitions = {}

---@class profio.Definition
---@field name string|nil of the function, as the text says; nil: it has none
---@field first integer the line on which Lua says that it begins
---@field last integer
---@field parameters integer
---@field is_vararg boolean
---@field is_only boolean no other function of the text has the name
---@field number integer|nil of the functions with this name that begin on the line, from 1; nil:
---there is one

-- The names are those of at most so many bytes before the word function.
local NAME_REACH <const> = 300

-- {====== Names ======

-- Returns the first of the names that are set together: a of `a, b = function`. `before` ends where
-- the last one begins, `last` is that one.
local function first_of(before, last)
   local rest, name = before:match "^(.-)([%a_][%w_%.]*)%s*,%s*$"
   while name do
      last = name
      rest, name = rest:match "^(.-)([%a_][%w_%.]*)%s*,%s*$"
   end
   return last
end

-- Returns the name that a function without one in its definition is set to, or nil. `before` is the
-- text before the word function.
local function assigned_name(before, is_field)
   local key = before:match "%[%s*\"([^\"\n]*)\"%s*%]%s*=%s*$"
      or before:match "%[%s*'([^'\n]*)'%s*%]%s*=%s*$"
   if key then
      return key
   end
   local set = before:gsub("<%s*%a+%s*>(%s*=%s*)$", "%1")
   local rest, name = set:match "^(.-)([%a_][%w_%.]*)%s*=%s*$"
   if name and not is_field then
      name = first_of(rest:gsub("<%s*%a+%s*>%s*,", ","), name)
   end
   return name
end

-- Returns the number of parameters of a list in parentheses, and whether it ends in `...`.
local function parameters_of(list)
   local plain = list:gsub("%-%-[^\n]*", "")
   local _, count = plain:gsub("[%a_][%w_]*", "")
   return count, plain:find("...", 1, true) ~= nil
end

-- }======

-- {====== Tokens ======

-- Lua counts each of these as one end of a line.
local function with_plain_lines(text)
   if not text:find("\r", 1, true) then
      return text
   end
   return (text:gsub("\r\n", "\n"):gsub("\n\r", "\n"):gsub("\r", "\n"))
end

-- Returns the position after a long string or comment whose first bracket is at `at`; nil: no long
-- bracket begins there.
local function after_long(text, at)
   local level, open_end = text:match("^%[(=*)%[()", at)
   if not level then
      return nil
   end
   local _, stop = text:find("]" .. level .. "]", open_end, true)
   return (stop or #text) + 1
end

local function after_string(text, at)
   local quote = text:sub(at, at)
   local from = at + 1
   while true do
      local found = text:find("[\\\n" .. quote .. "]", from)
      if not found then
         return #text + 1
      elseif text:byte(found) ~= 92 then -- not a backslash
         return found + 1
      end
      from = text:byte(found + 1) == 122 and text:find("%S", found + 2) or found + 2 -- \z
   end
end

-- Returns the position after a comment or a minus.
local function after_minus(text, at)
   if text:byte(at + 1) ~= 45 then
      return at + 1
   end
   return after_long(text, at + 2) or text:find("\n", at, true) or #text + 1
end

local skipped = {
   ["["] = function(text, at)
      return after_long(text, at) or at + 1
   end,
   ["-"] = after_minus, ['"'] = after_string, ["'"] = after_string,
}

-- Returns a function that returns the number of the line of a position; positions only grow.
local function line_counter(text)
   local line, from = 1, 1
   return function(position)
      local at = text:find("\n", from, true)
      while at and at < position do
         line, from = line + 1, at + 1
         at = text:find("\n", from, true)
      end
      return line
   end
end

-- Returns a definition whose word function is at `at`. `is_local`: the word before it is local.
local function definition_at(text, at, line_of, is_local, is_field)
   local first = line_of(at)
   local name, opens = text:match("^function%s*([%w_%.:%s]-)%s*()%(", at)
   local list = name and text:match("^%b()", opens)
   if not list then
      return { first = first, parameters = -1, is_vararg = false }
   end
   local parameters, is_vararg = parameters_of(list)
   if name == "" or is_local then
      first = line_of(opens)
   end
   if name:find(":", 1, true) then
      parameters = parameters + 1
   end
   name = name ~= "" and name:gsub("%s", ""):gsub(":", ".")
      or assigned_name(text:sub(math.max(1, at - NAME_REACH), at - 1), is_field)
   return { name = name, first = first, parameters = parameters, is_vararg = is_vararg }
end

-- Words that begin a block which `end` (of repeat: until) closes.
local openers = { ["do"] = true, ["if"] = true, ["repeat"] = true, ["function"] = true }
local closers = { ["end"] = true, ["until"] = true }

-- Returns all definitions of a text in the order of the words function.
local function scan(text)
   local found, open, depth = {}, {}, 0
   local line_of = line_counter(text)
   local at, last_word = 1, nil
   if text:byte() == 35 then -- the first line of a script may begin with #
      at = text:find("\n", 1, true) or #text + 1
   end
   while true do
      local start, stop, word, sign = text:find("([%w_]*)([\"'%[%-{}]?)", at)
      if start > #text then
         return found
      elseif stop < start then -- another sign
         at = text:find("[%w_\"'%[%-{}]", at) or #text + 1
      elseif word ~= "" then
         at = start + #word
         if openers[word] then
            depth = depth + 1
            open[depth] = false
            if word == "function" then
               found[#found + 1] = definition_at(text, start, line_of, last_word == "local",
                  open[depth - 1] == "{")
               open[depth] = found[#found]
            end
         elseif closers[word] and depth > 0 then
            if open[depth] and open[depth] ~= "{" then
               open[depth].last = line_of(start)
            end
            depth = depth - 1
         end
         last_word = word
      elseif sign == "{" then
         depth, at = depth + 1, start + 1
         open[depth] = "{"
      elseif sign == "}" then
         depth, at = math.max(depth - 1, 0), start + 1
      else
         at = skipped[sign](text, start)
      end
   end
end

-- }======

---Returns the definitions of a text by the line on which they begin, in the order of the text.
---@param text string of a chunk
---@return table<integer, profio.Definition[]>
function definitions.by_line(text)
   local lines, counts = {}, {}
   local all = scan(with_plain_lines(text))
   for _, definition in ipairs(all) do
      local name = definition.name or ""
      counts[name] = (counts[name] or 0) + 1
      local line = lines[definition.first]
      if line then
         line[#line + 1] = definition
      else
         lines[definition.first] = { definition }
      end
   end
   for _, line in pairs(lines) do
      local last = {}
      for _, definition in ipairs(line) do
         local name = definition.name or ""
         definition.is_only = counts[name] == 1
         local before = last[name]
         if before then
            before.number = before.number or 1
            definition.number = before.number + 1
         end
         last[name] = definition
      end
   end
   return lines
end

return definitions
