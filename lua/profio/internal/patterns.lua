-- Lua patterns that people give. string.find reads a pattern as far as it matches: a fault behind
-- that place would be raised by the first text that reaches it. Here it is read to its end.

local patterns = {}

local MOST_CAPTURES <const> = 32 -- of Lua

-- Returns the position after a set such as "[^%]a-z]" that begins at a position; nil if it has no
-- end.
local function set_end(pattern, at)
   at = at + (pattern:sub(at + 1, at + 1) == "^" and 2 or 1)
   repeat -- the first character is one of the set, also if it is ]
      local c = pattern:sub(at, at)
      if c == "" then
         return nil
      end
      at = at + (c == "%" and 2 or 1)
   until pattern:sub(at, at) == "]"
   return at + 1
end

-- Returns the position after the item that begins with % at a position; nil and what is wrong.
local function escape_end(pattern, at, closed)
   local c = pattern:sub(at + 1, at + 1)
   if c == "" then
      return nil, "it ends with %"
   elseif c == "b" then
      if at + 3 > #pattern then
         return nil, "two characters are missing after %b"
      end
      return at + 4
   elseif c == "f" then
      if pattern:sub(at + 2, at + 2) ~= "[" then
         return nil, "[ is missing after %f"
      end
      return set_end(pattern, at + 2), "a ] is missing"
   elseif c:find "%d" and not closed[tonumber(c)] then
      return nil, ("there is no capture %%%s before it"):format(c)
   end
   return at + 2
end

---Returns what is wrong with a pattern; nil: it is one.
---@param pattern string
---@return string|nil
function patterns.problem(pattern)
   local at, count, open, closed = 1, 0, {}, {}
   while at <= #pattern do
      local c, problem = pattern:sub(at, at), nil
      local after = at + 1
      if c == "%" then
         after, problem = escape_end(pattern, at, closed)
      elseif c == "[" then
         after, problem = set_end(pattern, at), "a ] is missing"
      elseif c == "(" then
         count = count + 1
         open[#open + 1] = count
      elseif c == ")" then
         after, problem = #open > 0 and after or nil, "a ( is missing"
         closed[table.remove(open) or 0] = true
      end
      if not after then
         return problem
      end
      at = after
   end
   return #open > 0 and "a ) is missing"
      or count > MOST_CAPTURES and ("it has more than %d captures"):format(MOST_CAPTURES) or nil
end

return patterns
