-- The list of aliases as CSV: alias, name, kind. It has the names, so it stays with the user.

local aliases = require "profio.internal.anonymising.aliases"
local core = require "profio.core"
local outputs = require "profio.internal.writing.outputs"

local alias_list = {}

local HEAD <const> = "alias,name,kind\n"

local letters = {}
for letter, kind in pairs(aliases.kinds) do
   letters[kind] = letter
end

local function quoted(text)
   return '"' .. text:gsub('"', '""') .. '"'
end

---Writes the list.
---@param path string
---@param list { name: string, alias: string, kind: string }[]
---@return any done
---@return string|nil message
---@return string|nil code
function alias_list.write(path, list)
   return outputs.write(path, function(file)
      local ok, message, code, broken = file:write(HEAD)
      for _, entry in ipairs(list) do
         if not ok then
            break
         end
         ok, message, code, broken = file:write(entry.alias, ",", quoted(entry.name), ",",
            aliases.kinds[entry.kind], "\n")
      end
      return ok, message, code, broken
   end)
end

-- Returns the entries of a list; nil and the number of the line that is none.
local function parsed(text)
   local list, known, at, line = {}, {}, #HEAD + 1, 2
   while at <= #text do
      local alias, next_at = text:match('^([^,\r\n]+),"()', at)
      local last = next_at
      while last do -- the quote that ends the name; two of them stand for one
         last = text:find('"', last, true)
         if not last or text:byte(last + 1) ~= 34 then
            break
         end
         last = last + 2
      end
      local kind, after = text:match("^,(%l+)\r?\n()", (last or #text) + 1)
      if not alias or not letters[kind] or known[alias] then
         return nil, line
      end
      known[alias] = true
      list[#list + 1] = { alias = alias, kind = letters[kind],
         name = text:sub(next_at, last - 1):gsub('""', '"') }
      at, line = after, line + 1
   end
   return list
end

---Reads a list that was written.
---@param path string
---@return { name: string, alias: string, kind: string }[]|nil
---@return string|nil message
---@return string|nil code
function alias_list.read(path)
   local file <close>, message = core.file(path, "rb")
   local text
   if file then
      text, message = file:read "a"
   end
   if not text then
      return nil, ("%s: %s"):format(path, message), "io"
   elseif text:sub(1, #HEAD) ~= HEAD then
      return nil, path .. ": no list of aliases: its first line must be alias,name,kind", "format"
   end
   local list, line = parsed(text)
   if not list then
      return nil, ("%s: entry %d is no alias, name in quotes, and kind"):format(path, line - 1),
         "format"
   end
   return list
end

return alias_list
