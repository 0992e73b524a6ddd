-- Texts inside XML and HTML.

local markup = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ["\""] = "&quot;" }

---A text as it may stand in an element or an attribute: control characters are blanks, what is not
---UTF-8 is U+FFFD.
---@param text string
---@return string
function markup.escaped(text)
   text = text:gsub("[%c\127]", " ")
   if not utf8.len(text) then
      text = text:gsub("[\128-\255]", "\u{fffd}")
   end
   return (text:gsub("[&<>\"]", entities))
end

return markup
