-- Hides texts that are no names: parameters, comments, bytes that cannot be read.

local masks = {}

---Returns a text with x for each letter and each byte of a character beyond ASCII, and 0 for each
---digit. Blanks, punctuation and control characters stay, and so does the length.
---@param text string
---@return string
function masks.text(text)
   return (text:gsub("[%a\x80-\xff]", "x"):gsub("%d", "0"))
end

---Returns a text with 0 for each digit: the numbers of parameters.
---@param text string
---@return string
function masks.digits(text)
   return (text:gsub("%d", "0"))
end

---Returns bytes of a binary file that cannot be read, with zeros for each word of 4 bytes that may
---be text: two or more of its bytes are letters or digits. Adds a note.
---@param bytes string
---@param context table of a rewriter
---@return string
function masks.words(bytes, context)
   local hidden = bytes:gsub("..?.?.?", function(word)
      local _, letters = word:gsub("[%w\x80-\xfe]", "")
      return letters > 1 and ("\0"):rep(#word) or word
   end)
   if hidden ~= bytes then
      context.note("anonymised-masked", ("%d bytes cannot be read: those that may be text are "
         .. "zeros"):format(#bytes))
   end
   return hidden
end

local is_padding = { [0] = true, [9] = true, [10] = true, [13] = true, [32] = true }

---Returns a text whose blanks and line ends at both ends stay, also NULs at the end, and whose rest
---is replaced.
---@param text string
---@param replaced fun(inner: string): string
---@return string
function masks.inner(text, replaced)
   local first = text:find "[^ \t\r\n]"
   if not first then
      return text
   end
   local last = #text
   while last >= first and is_padding[text:byte(last)] do
      last = last - 1
   end
   return text:sub(1, first - 1) .. replaced(text:sub(first, last)) .. text:sub(last + 1)
end

---Returns a line without what ends it, and that.
---@param bytes string
---@param endings string|nil the bytes that may end it; default: line ends
---@return string line
---@return string ending
function masks.line(bytes, endings)
   local last = #bytes
   while last > 0 and (endings or "\r\n"):find(bytes:sub(last, last), 1, true) do
      last = last - 1
   end
   return bytes:sub(1, last), bytes:sub(last + 1)
end

return masks
