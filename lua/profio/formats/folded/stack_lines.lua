-- Lines of folded stacks: how the lines of a file are laid out, and what is in each of them.
--
-- No pattern here takes more than linear time for a line, which may be megabytes long.

local lines = {}

---Returns the number that a text of digits, perhaps with a decimal point, stands for, rounded to
---an integer; nil: it is none, or is above 2^63 - 1.
---@param text string
---@return integer|nil
---@return boolean is_rounded
local function integer_of(text)
   local number = math.tointeger(text)
   if number or not text:find "^%d+%.%d*$" then
      return number, false
   end
   local exact = tonumber(text)
   number = math.tointeger(math.floor(exact + 0.5))
   return number, number ~= exact
end

-- Returns the stack, the weight and whether it was rounded; nil: the line is none.
local function of_one(line)
   local stack, weight = line:match "^(.+)[ \t]([%d.]+)[ \t\r]*$"
   if stack then
      local number, is_rounded = integer_of(weight)
      return number and stack, number, nil, is_rounded
   end
end

-- Returns the stack, the weight, the older weight before it and whether one of them was rounded.
local function of_two(line)
   local stack, before, weight = line:match "^(.+)[ \t]([%d.]+)[ \t]([%d.]+)[ \t\r]*$"
   if stack then
      local old, is_old_rounded = integer_of(before)
      local new, is_rounded = integer_of(weight)
      return old and new and stack, new, old, is_rounded or is_old_rounded
   end
end

-- Luau writes "MICROSECONDS FRAME;CALLER;...", each frame as "FILE,FUNCTION,LINE".
local function of_luau(line)
   local weight, inner_first = line:match "^(%d+) (.+)$"
   local time = weight and math.tointeger(weight)
   if not time or time > math.maxinteger // 1000 then
      return nil
   end
   local frames = {}
   for frame in inner_first:gmatch "[^;\r]+" do
      local file, name, number = frame:match "^([^,]*),([^,]*),(%d*)$"
      if not file then
         return nil
      end
      file = number ~= "" and file .. ":" .. number or file
      frames[#frames + 1] = name == "" and file or number == "" and name
         or ("%s (%s)"):format(name, file)
   end
   local count = #frames
   for i = 1, count // 2 do
      frames[i], frames[count + 1 - i] = frames[count + 1 - i], frames[i]
   end
   return table.concat(frames, ";"), time * 1000
end

---Functions that parse a line, by the layout of a file. They return the stack, outermost frame
---first, its weight, the older weight, and whether a weight was rounded; nil or false: the line has
---no stack and weight.
---@type table<string, fun(line: string): string|false|nil, integer?, integer?, boolean?>
lines.layouts = { one = of_one, two = of_two, luau = of_luau }

---With "v" the profiler of LuaJIT writes a line for each state of its virtual machine. The samples
---of these lines are in those of stacks, too.
lines.states = { Compiled = true, Interpreted = true, ["C code"] = true,
   ["Garbage Collector"] = true, ["JIT Compiler"] = true }

---Calls a function with each line of a text, until it is at the end of the text.
---@param text string
---@param visit fun(line: string, at: integer)  at: position of the line, from 1
---@param take nil|fun(text: string, at: integer): integer  takes lines from a position on, which
---are not visited, and returns that of the first one that it has not taken
---@return integer after the position after the last line feed
function lines.each(text, visit, take)
   local at = take and take(text, 1) or 1
   local stop = text:find("\n", at, true)
   while stop do
      visit(text:sub(at, stop - 1), at)
      at = take and take(text, stop + 1) or stop + 1
      stop = text:find("\n", at, true)
   end
   return at
end

---Returns whether a line is empty or a comment.
---@param line string
---@return boolean
function lines.is_blank(line)
   return line:byte() == 35 or line:find "^[ \t\r]*$" ~= nil
end

---Returns the layout of a file, and how many lines of its beginning have stacks of more than one
---frame in it, and how many are other ones.
---@param head string the first bytes of the file
---@param is_whole boolean they are all bytes
---@return string layout
---@return integer count
---@return integer others
function lines.layout(head, is_whole)
   local counts, deep, total = { one = 0, two = 0, luau = 0 }, { one = 0, two = 0, luau = 0 }, 0
   local function visit(line)
      if lines.is_blank(line) or lines.states[of_one(line) or 0] then
         return
      end
      total = total + 1
      for name, parse in pairs(lines.layouts) do
         local stack = parse(line)
         counts[name] = counts[name] + (stack and 1 or 0)
         deep[name] = deep[name] + (stack and stack:find(";", 1, true) and 1 or 0)
      end
   end
   local after = lines.each(head, visit)
   if is_whole and after <= #head then
      visit(head:sub(after))
   end
   local layout = counts.luau * 2 > total and counts.luau > counts.one and "luau"
      or counts.two > 0 and counts.two == counts.one and "two" or "one"
   return layout, deep[layout], total - deep[layout]
end

---Returns how certain it is that a file has folded stacks: most lines have more than one frame and
---a weight.
---@param head string
---@param size integer of the file
---@return integer 0 to 100
function lines.score(head, size)
   local _, count, others = lines.layout(head, #head == size)
   return count > others and 50 or 0
end

return lines
