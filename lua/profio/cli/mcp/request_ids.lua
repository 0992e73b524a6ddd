-- The ids of the messages in a line as they are written in it. An id must come back as it was: 1,
-- 1.0 and "1" are three ids, and numbers of any size are allowed, which no number of Lua holds.

local json = require "dkjson"

local request_ids = {}

-- Returns the position after the string that begins at a quote.
local function after_string(line, at)
   local sign = line:find('["\\]', at + 1)
   while sign and line:byte(sign) == 92 do
      sign = line:find('["\\]', sign + 2)
   end
   return (sign or #line) + 1
end

-- Returns the position after the value at `at`, and whether it is no array or object.
local function after_value(line, at)
   local sign = line:sub(at, at)
   if sign == '"' then
      return after_string(line, at), true
   elseif sign ~= "{" and sign ~= "[" then
      return line:find("[%s,%]}]", at) or #line + 1, true
   end
   local depth = 0
   repeat
      sign = line:sub(at, at)
      depth = depth + ((sign == "{" or sign == "[") and 1 or (sign == "}" or sign == "]") and -1
         or 0)
      at = sign == '"' and after_string(line, at) or at + 1
      at = depth > 0 and (line:find('["%[%]{}]', at) or #line + 1) or at
   until depth == 0 or at > #line
   return at, false
end

-- Returns the id of the object at `at` as it is written, or nil; the last one counts.
local function of_object(line, at)
   local id
   at = line:find("%S", at + 1)
   while at and line:sub(at, at) == '"' do
      local after = after_string(line, at)
      local key = json.decode(line:sub(at, after - 1))
      local start = line:match("^%s*:%s*()", after)
      if not start then
         break
      end
      local stop, is_plain = after_value(line, start)
      if key == "id" then
         id = is_plain and line:sub(start, stop - 1) or nil
      end
      at = line:match("^%s*,%s*()", stop)
   end
   return id
end

---Returns the ids of the messages of a line that is JSON, in their order; false: it has none.
---@param line string
---@return (string|false)[]
function request_ids.of(line)
   local at = line:find "%S"
   local sign = at and line:sub(at, at)
   if sign == "{" then
      return { of_object(line, at) or false }
   end
   local list = {}
   at = sign == "[" and line:find("%S", at + 1)
   while at and line:sub(at, at) ~= "]" do
      list[#list + 1] = line:sub(at, at) == "{" and of_object(line, at) or false
      at = line:match("^%s*,%s*()", (after_value(line, at)))
   end
   return list
end

return request_ids
