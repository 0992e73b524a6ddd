-- Escapes texts for XML, HTML and Markdown.

local markup = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ["\""] = "&quot;" }

---Returns a text for a document in UTF-8: control characters become blanks, bytes that are not
---UTF-8 become U+FFFD.
---@param text string
---@return string
function markup.clean(text)
   text = text:gsub("[%c\127]", " ")
   return utf8.len(text) and text or (text:gsub("[\128-\255]", "\u{fffd}"))
end

---Returns a text for an element or an attribute, cleaned.
---@param text string
---@return string
function markup.escaped(text)
   return (markup.clean(text):gsub("[&<>\"]", entities))
end

---Returns a text for a cell of a table of Markdown: names may contain its characters.
---@param text string
---@return string
function markup.markdown(text)
   return (markup.escaped(text):gsub("[\\`*_|~%[%]#]", "\\%0"))
end

---Returns a row of a table of Markdown.
---@param texts string[] of the cells
---@return string
function markup.markdown_row(texts)
   local cells = {}
   for i, text in ipairs(texts) do
      cells[i] = markup.markdown(text)
   end
   return "| " .. table.concat(cells, " | ") .. " |\n"
end

return markup
