-- Names in files of callgrind.

local masks = require "profio.internal.anonymising.masks"

local cost_lines = {}

-- Header lines whose values stay; of all others the value is hidden.
local KEPT <const> = { version = "^[%s%d.]*$", events = "", event = "", positions = "",
   summary = "^[%s%d]*$", totals = "^[%s%d]*$", part = "^[%s%d]*$", thread = "^[%s%d]*$",
   pid = "^[%s%d]*$", creator = "^%s*%a+[-%s%d.]*$" }

-- Returns a name. `???` is none, and the number of a recursion stays.
local function name_of(context, text, is_function)
   if text == "???" or text == "" then
      return text
   elseif not is_function then
      return context.names:path(text, "p")
   end
   local name, recursion = text:match "^(.+)('%d+)$"
   return name and context.names:of(name, "f") .. recursion or context.names:of(text, "f")
end

-- Returns a line such as `cfn=(2) work`; nil: it is none.
local function name_line(context, line)
   local key, number, name = line:match "^(%l+=)(%(%d+%)[ \t]*)(.*)$"
   if not key then
      key, name = line:match "^(%l+=)(.*)$"
   end
   return key and key .. (number or "") .. masks.inner(name, function(inner)
      return name_of(context, inner, key:find "fn=$")
   end)
end

-- Returns a line that cannot be read. Lines after one of numbers are relative to its position, so
-- its numbers stay; 0x in front of others would be one.
local function rest_line(line)
   if not line:find "^[%d+*-]" then
      return (masks.text(line):gsub("x", "?"))
   end
   return (line:gsub("%S+", function(word)
      return word:find "^[+-]?0x%x+$" and word or (word:gsub("[%a\x80-\xff]", "?"))
   end))
end

local function header_line(line)
   local key, value = line:match "^(%l+):(.*)$"
   if line == "# callgrind format" or KEPT[key] and value:find(KEPT[key]) then
      return line
   end
   return key and key .. ":" .. masks.text(value) or masks.text(line)
end

---@param context table
---@return fun(kind: string, bytes: string): string
function cost_lines.start(context)
   return function(kind, bytes)
      local line, ending = masks.line(bytes)
      if kind == "name" or kind == "jump" and line:find "^jf" then
         line = name_line(context, line) or masks.text(line)
      elseif kind == "header" or line:find "^#" then
         line = header_line(line)
      elseif kind == "rest" then
         line = rest_line(line)
      end
      return line .. ending
   end
end

return cost_lines
