-- Names in the elements and attributes of an XML export of winIDEA. The text is replaced in place;
-- what is damaged is hidden.

local masks = require "profio.internal.anonymising.masks"

local xml_elements = {}

local KINDS <const> = { NAME = "f", FILE = "p", PATH = "p", CONTEXT = "t", PARENT = "f",
   ["PARENT.NAME"] = "f", PARENTNAME = "f", ["NAME.PARENT"] = "f", NAME_PARENT = "f" }
local LONGEST_TAG <const> = 65536 -- bytes; a longer one is hidden
local ENTITIES <const> = { lt = "<", gt = ">", amp = "&", quot = '"', apos = "'" }

---Returns whether a file is XML.
---@param head string
---@return boolean
function xml_elements.is_xml(head)
   return head:find "^\xef?\xbb?\xbf?%s*<" ~= nil or head:find "^\xff\xfe" ~= nil
      or head:find "^\xfe\xff" ~= nil or head:find "^<\0" ~= nil or head:find "^\0<" ~= nil
end

-- Returns a text with its entities resolved: names are equal if these texts are.
local function resolved(text)
   return (text:gsub("&(#?x?)(%w+);", function(mark, word)
      local code = mark == "#" and tonumber(word) or mark == "#x" and tonumber(word, 16)
      if code and code < 0x110000 then
         return utf8.char(code)
      end
      return mark == "" and ENTITIES[word] or nil
   end))
end

-- Returns whether the text of an element is a number, or a letter of an event. Handles and values
-- are hexadecimal without 0x.
local function is_number(text, name)
   local is_hex = name == "PARENT" or name:find "HANDLE" or name:find "VALUE"
   return text:find "^[-+]?[%d.]+$" or text:find "^0[xX]%x+$" or text:find "^%a?$"
      or is_hex and text:find "^%x+$"
end

-- Returns the position of what XML does not allow in a text: a control character, bytes that are no
-- UTF-8 (if the file does not state another encoding), or, not in a comment, a `&` or `<` that
-- begins nothing.
local function damage_in(context, text, is_comment)
   local at = text:find "[\0-\8\11\12\14-\31]"
   local _, wrong = nil, nil
   if not context.is_bytes then
      _, wrong = utf8.len(text)
   end
   local sign = not is_comment and text:find "<" or nil
   for position, word in (is_comment and "" or text):gmatch "()&(#?%w*;?)" do
      local is_entity = ENTITIES[word:sub(1, -2)] and word:find ";$" or word:find "^#x?%x+;$"
      sign = not is_entity and math.min(sign or position, position) or sign
   end
   local first = math.min(at or #text + 1, wrong or #text + 1, sign or #text + 1)
   return first <= #text and first or nil
end

-- Returns a text that is hidden but for its first damage, at which the decoder stops.
local function hidden(context, text, is_comment)
   local damage = damage_in(context, text, is_comment) or #text + 1
   return masks.text(text:sub(1, damage - 1)) .. text:sub(damage, damage)
      .. masks.text(text:sub(damage + 1))
end

-- Returns the text of an element or attribute. CDATA may hold what else is markup.
local function value_of(context, name, parent, text, is_data)
   if damage_in(context, text, is_data) then
      return hidden(context, text, is_data)
   end
   local kind = KINDS[name]
   if kind == "f" and parent:find "^CONTEXT" then
      kind = "t"
   end
   return masks.inner(text, function(inner)
      local key = is_data and inner or resolved(inner)
      if kind == "p" then
         return context.names:path(key, "p")
      elseif kind and not (name == "PARENT" and is_number(inner, name)) then
         return context.names:of(key, kind, #inner)
      end
      local is_kept = is_number(inner, name) or inner:find "^[IF]%d+$"
      return is_kept and inner or masks.text(inner)
   end)
end

local function attribute(context, element, name, text)
   local word = name:upper()
   if word:find "^XMLNS" then
      return (text:find "isystem" or text:find "w3%.org") and text or masks.text(text)
   elseif word:find "^XSI:" then
      return masks.text(text)
   end
   return value_of(context, word, element, text)
end

-- Returns a tag whose attributes are replaced, and what is no attribute hidden.
local function tag(context, text, element)
   local front, at = text:match "^(</?%s*[%w_:.-]+)()"
   local parts = { front }
   while true do
      local from, name, sign, quote, start = text:match("()([%w_:.-]+)(%s*=%s*)(['\"])()", at)
      local last = start and text:find(quote, start, true)
      if not last then
         break
      end
      parts[#parts + 1] = hidden(context, text:sub(at, from - 1)) .. name .. sign .. quote
         .. attribute(context, element, name, text:sub(start, last - 1)) .. quote
      at = last + 1
   end
   parts[#parts + 1] = hidden(context, text:sub(at))
   return table.concat(parts)
end

-- Returns the position of the `>` that ends a tag: one outside of quotes.
local function end_of_tag(text, at)
   while at do
      local found = text:find("[>'\"]", at)
      local sign = found and text:sub(found, found)
      if not found or sign == ">" then
         return found
      end
      at = text:find(sign, found + 1, true)
      at = at and at + 1
   end
end

-- Returns the position after a piece of markup at `at`, and the piece; nil: it has no end.
local function markup(text, at)
   for _, form in ipairs { { "<!--", "-->" }, { "<![CDATA[", "]]>" }, { "<?", "?>" } } do
      if text:sub(at, at + #form[1] - 1) == form[1] then
         local _, last = text:find(form[2], at + #form[1], true)
         return last and last + 1, form[1]
      end
   end
   local last = end_of_tag(text, at + 1)
   return last and last + 1, "<"
end

-- Replaces one piece of markup. `path` is the stack of open elements.
local function replaced(context, piece, form, path)
   if form == "<!--" then
      return "<!--" .. hidden(context, piece:sub(5, -4), true) .. "-->"
   elseif form == "<![CDATA[" then
      return form .. value_of(context, path[#path] or "", path[#path - 1] or "",
         piece:sub(10, -4), true) .. "]]>"
   elseif form == "<?" then
      return piece:find "^<%?xml%s" and piece or "<?" .. hidden(context, piece:sub(3, -3)) .. "?>"
   elseif piece:find "^<!" then
      return "<!" .. hidden(context, piece:sub(3, -2)) .. ">"
   end
   local slash, name = piece:match "^<(/?)%s*([%w_:.-]+)"
   if not name then
      return "<" .. hidden(context, piece:sub(2))
   elseif slash == "/" then
      path[#path] = nil
      return piece
   end
   name = name:upper()
   if #piece > LONGEST_TAG then
      return "<" .. hidden(context, piece:sub(2))
   elseif not piece:find "/>$" then
      path[#path + 1] = name
   end
   return tag(context, piece, name)
end

---Returns an export without its names.
---@param context table
---@param text string the whole file
---@return string
function xml_elements.rewritten(context, text)
   if text:sub(1, 64):find "\0" then
      context.refuse("the XML has characters of two bytes: convert it to UTF-8 first (iconv -f "
         .. "UTF-16 -t UTF-8), with encoding=\"UTF-8\" in its first line")
   end
   local encoding = text:match "^[^>]*encoding%s*=%s*['\"]([^'\"]*)" or "UTF-8"
   context.is_bytes = encoding:upper() ~= "UTF-8"
   local parts, path, at = {}, {}, 1
   while at <= #text do
      local open = text:find("<", at, true)
      local before = text:sub(at, (open or #text + 1) - 1)
      parts[#parts + 1] = value_of(context, path[#path] or "", path[#path - 1] or "", before)
      if not open then
         break
      end
      local after, form = markup(text, open)
      if not after then
         context.note("anonymised-masked", "the XML ends inside a tag: its text is hidden")
         parts[#parts + 1] = "<" .. hidden(context, text:sub(open + 1))
         break
      end
      parts[#parts + 1] = replaced(context, text:sub(open, after - 1), form, path)
      at = after
   end
   return table.concat(parts)
end

return xml_elements
