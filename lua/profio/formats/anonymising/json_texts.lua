-- Strings and numbers of JSON, replaced in place. The JSON may be cut into pieces, and damaged:
-- what is no token of it is hidden.

local masks = require "profio.internal.anonymising.masks"

local json_texts = {}

local ESCAPES <const> = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

---Returns what a string of JSON stands for: equal names are equal so, however they are escaped.
---@param raw string between the quotes
---@return string
function json_texts.resolved(raw)
   if not raw:find("\\", 1, true) then
      return raw
   end
   local text = raw:gsub("\\u(d[89ab]%x%x)\\u(d[c-f]%x%x)", function(high, low)
      return utf8.char(0x10000 + ((tonumber(high, 16) & 0x3ff) << 10)
         + (tonumber(low, 16) & 0x3ff))
   end)
   text = text:gsub("\\(u?)(.)(%x?%x?%x?)", function(is_code, first, rest)
      local code = is_code == "u" and #rest == 3 and tonumber(first .. rest, 16)
      return code and utf8.char(code) or is_code == "" and (ESCAPES[first] or first) .. rest or nil
   end)
   return text
end

---Returns whether a string has what JSON does not allow, at which a decoder stops: it must stay.
---@param raw string
---@return boolean
function json_texts.is_damaged(raw)
   return raw:find "[\0-\31]" ~= nil
      or raw:gsub("\\u%x%x%x%x", ""):gsub('\\["\\/bfnrt]', ""):find("\\", 1, true) ~= nil
end

---Returns a string that is hidden, and is damaged if it was.
---@param raw string
---@return string
function json_texts.hidden(raw)
   local text = raw:gsub('\\["\\/bfnrt]', "xx"):gsub("\\u%x%x%x%x", "xxxxxx")
   return masks.text(text)
end

-- Returns the position of the quote that ends a string; nil: it has no end.
local function end_of_string(text, at)
   local sign = text:find('["\\]', at)
   while sign and text:byte(sign) == 92 do
      sign = text:find('["\\]', sign + 2)
   end
   return sign
end

-- Returns the replaced string that begins at a quote, and the position after it.
local function take_string(self, text, at)
   local last = end_of_string(text, at + 1)
   if not last then
      return '"' .. json_texts.hidden(text:sub(at + 1)), #text + 1
   end
   local raw, top = text:sub(at + 1, last - 1), self.stack[#self.stack]
   if json_texts.is_damaged(raw) then
      return '"' .. json_texts.hidden(raw) .. '"', last + 1
   elseif top.kind == "{" and text:find("^%s*:", last + 1) then
      top.key = json_texts.resolved(raw)
      return '"' .. self.key_of(self.stack, raw) .. '"', last + 1
   end
   return '"' .. self.text_of(self.stack, raw) .. '"', last + 1
end

-- Opens and closes objects and arrays.
local function take_bracket(self, sign)
   local stack = self.stack
   if sign == "{" or sign == "[" then
      stack[#stack + 1] = { kind = sign, name = stack[#stack].key }
   elseif #stack > 1 then
      stack[#stack] = nil
   end
   return sign
end

---Returns a function that replaces the texts of pieces of JSON, one after the other.
---@param rules { key_of: fun(stack: table[], raw: string): string, text_of: fun(stack: table[],
---raw:
---string): string, number_of: fun(stack: table[], raw: string): string } the stack has { kind = "{"
---or "[", name = the key of the container, key = the last key in it }, the innermost last
---@return fun(text: string): string
function json_texts.replacer(rules)
   local self = { stack = { { kind = "" } }, key_of = rules.key_of, text_of = rules.text_of }
   return function(text)
      local parts, at = {}, 1
      while at <= #text do
         local blanks, after = text:match("^([%s,:]+)()", at)
         local number, behind = text:match("^([-+]?%d[%d.eE+-]*)()", at)
         local sign, piece = text:sub(at, at), blanks
         if number then
            piece, after = rules.number_of(self.stack, number), behind
         elseif sign == '"' then
            piece, after = take_string(self, text, at)
         elseif sign:find "[%[%]{}]" then
            piece, after = take_bracket(self, sign), at + 1
         elseif not blanks then
            local word
            word, after = text:match("^([^%s,:\"%[%]{}]+)()", at)
            piece = (word == "true" or word == "false" or word == "null" or word == "\xef\xbb\xbf")
               and word or masks.text(word)
         end
         parts[#parts + 1] = piece
         at = after
      end
      return table.concat(parts)
   end
end

---Returns a number of the same size that says nothing, and is valid JSON.
---@param raw string
---@return string
function json_texts.any_number(raw)
   return (raw:gsub("%d", "1"))
end

return json_texts
