-- Texts of a file as a terminal can bear them.

---A text in which control characters are \\xNN. core.write_rows does the same to its texts.
---@param text string
---@return string
local function plain(text)
   return (text:gsub("\xc2[\x80-\x9f]", function(c)
      return ("\\x%02x"):format(c:byte(2))
   end):gsub("[%c\127]", function(c)
      return ("\\x%02x"):format(c:byte())
   end))
end

return plain
