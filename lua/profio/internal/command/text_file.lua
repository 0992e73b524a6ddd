-- Files of text that options name.

local core = require "profio.core"
local failure = require "profio.internal.command.failure"

local text_file = {}

---Returns the text of a file. Raises a failure if it cannot be read.
---@param path string
---@return string
function text_file.read(path)
   local file, message = core.file(path, "rb")
   if not file then
      failure.raise(failure.NOTHING, message)
   end
   local text
   text, message = file:read "a"
   file:close()
   if not text then -- such as a folder
      failure.raise(failure.NOTHING, ("%s: %s"):format(path, message))
   end
   return text
end

---Returns the texts of an option, of which @FILE stands for the text of a file.
---@param given string[]
---@return string[]
function text_file.texts(given)
   local list = {}
   for i, text in ipairs(given) do
      list[i] = text:sub(1, 1) == "@" and text_file.read(text:sub(2)) or text
   end
   return list
end

return text_file
