-- Escapes texts of files for a terminal.

---Returns a text with control characters as \\xNN. core.write_rows does the same.
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
