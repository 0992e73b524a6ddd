-- Escapes texts for XML, HTML and Markdown, and states what a page of HTML may do.

local core = require "profio.core"
local sha256 = require "profio.internal.sha256"

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

-- {====== Policy ======

-- Hashes by text, because most pages have the same scripts.
local hashes = {}

-- Returns a source of a policy for inline texts.
local function source_of(texts)
   local list = {}
   for i, text in ipairs(texts) do
      hashes[text] = hashes[text] or "'sha256-" .. core.base64(sha256.digest(text)) .. "'"
      list[i] = hashes[text]
   end
   return #list > 0 and table.concat(list, " ") or "'none'"
end

---Returns the element with the Content-Security-Policy of a page, which must be the first of its
---head: only these inline texts run, and nothing is loaded or sent.
---@param given { scripts: string[]|nil, styles: string[] } texts of the elements script and style
---@return string
function markup.policy(given)
   return ('<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; ' ..
      "script-src %s; style-src %s; base-uri 'none'; form-action 'none'\">\n"):format(
      source_of(given.scripts or {}), source_of(given.styles))
end

-- }======

return markup
