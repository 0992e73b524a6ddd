-- Functions on strings. Their time is linear in the size. The usual patterns (`^%s*(.-)%s*$`,
-- `%s+$`, `([^\n]*)\n`, `[^/]*$`) try each byte as a start and read on from there: for 64 KiB they
-- take seconds.

local texts = {}

local is_blank = {}
for c in (" \t\r\n\v\f"):gmatch "." do
   is_blank[c:byte()] = true
end

---Removes blanks at the end.
---@param text string
---@return string
function texts.trim_end(text)
   local last = #text
   while is_blank[text:byte(last)] do
      last = last - 1
   end
   return text:sub(1, last)
end

---Removes blanks at both ends.
---@param text string
---@return string
function texts.trim(text)
   return texts.trim_end(text:sub(text:find "%S" or #text + 1))
end

---Returns the part of a path after the last slash.
---@param path string
---@return string
function texts.base_name(path)
   return path:match "^.*/(.*)$" or path
end

---Returns a number of things: "1 run", "2 runs".
---@param count integer
---@param word string
---@return string
function texts.counted(count, word)
   return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

---Formats a number with a decimal point, whatever the locale has, for files that programs read.
---@param form string a conversion of string.format, such as "%.3f"
---@param value number finite
---@return string
function texts.float(form, value)
   return (form:format(value):gsub("[^%d%-+e]+", "."))
end

---Iterates over the lines that end with a line feed, without it, and the position of each.
---@param text string
---@return fun(): string|nil, integer|nil
function texts.lines(text)
   local at = 1
   return function()
      local feed = text:find("\n", at, true)
      if not feed then
         return nil
      end
      local start = at
      at = feed + 1
      return text:sub(start, feed - 1), start
   end
end

---Returns a text with padded digits, so that numbers in such texts compare as numbers.
---@param text string
---@return string
function texts.natural_key(text)
   return (text:gsub("%d+", function(digits)
      digits = digits:gsub("^0+", "")
      return ("%03d%s"):format(math.min(#digits, 999), digits)
   end))
end

---Returns a function that tells whether a text is before another one if the digits in them compare
---as numbers: v9, v10.
---@return fun(a: string, b: string): boolean
function texts.natural_order()
   local keys = {}
   local function key_of(text)
      keys[text] = keys[text] or texts.natural_key(text)
      return keys[text]
   end
   return function(a, b)
      local first, second = key_of(a), key_of(b)
      if first ~= second then
         return first < second
      end
      return a < b
   end
end

return texts
