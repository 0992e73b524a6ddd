-- Escapes texts for XML and HTML.

local markup = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ["\""] = "&quot;" }

---Returns a text for an element or an attribute: control characters become blanks, bytes that are
---not UTF-8 become U+FFFD.
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
