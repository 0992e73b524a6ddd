-- Escapes texts of files for a terminal.

-- The characters of UTF-8 that a terminal hides, or that turn the order of others.
local hidden <const> = { "\xd8\x9c", "\xe1\xa0\x8e", "\xe2\x80[\x8b-\x8f\xa8-\xae]",
   "\xe2\x81[\xa0-\xaf]", "\xef\xbb\xbf" }

local function code_of(character)
   return ("\\u%04x"):format(utf8.codepoint(character))
end

---Returns a text with control characters as \\xNN and hidden ones as \\uNNNN. core.write_rows does
---the same.
---@param text string
---@return string
local function plain(text)
   if text:find "[\xd8\xe1\xe2\xef]" then
      for _, pattern in ipairs(hidden) do
         text = text:gsub(pattern, code_of)
      end
   end
   return (text:gsub("\xc2[\x80-\x9f]", function(c)
      return ("\\x%02x"):format(c:byte(2))
   end):gsub("[%c\127]", function(c)
      return ("\\x%02x"):format(c:byte())
   end))
end

return plain
