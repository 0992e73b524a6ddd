-- A file opened by a format that is written in Lua: it answers as the core's parts do.

local core = require "profio.core"

local script_part = {}

local Part = {}
Part.__index = Part

-- The table that every format has: here the file as one record.
local raw_fields = { { "offset", "int" }, { "size", "int" }, { "kind", "name" },
   { "bytes", "bytes" } }

local function put_raw(source)
   return function(put)
      put(0, source:size(), "file", source:read())
   end
end

-- Tables in order: the main one first, then by name.
local function table_names(format)
   local names = {}
   for name in pairs(format.tables) do
      if name ~= format.main then
         names[#names + 1] = name
      end
   end
   table.sort(names)
   if format.main then
      table.insert(names, 1, format.main)
   end
   return names
end

local function described(fields)
   local list = {}
   for i, field in ipairs(fields) do
      list[i] = { name = field[1], type = field[2], help = field[3] or "" }
   end
   return list
end

---Open a source with a registered format.
---@param format table
---@param source userdata
---@param options table
---@param dictionary userdata
---@return table|nil part
---@return string|nil message
---@return string|nil code
function script_part.open(format, source, options, dictionary)
   local makers, message, code = format.open(source, options)
   if not makers then
      return nil, ("%s: %s: %s"):format(source:path(), format.name, message or "not readable"),
         code or "format"
   elseif type(makers) ~= "table" then
      error(("open of format '%s' wants to answer { table = function(put) }"):format(format.name))
   end
   local fields = { raw = raw_fields }
   for name, columns in pairs(format.tables) do
      if type(makers[name]) ~= "function" then
         error(("open of format '%s' gave no function for table '%s'"):format(format.name, name))
      end
      fields[name] = columns
   end
   makers.raw = makers.raw or put_raw(source)
   return setmetatable({ format = format, source = source, makers = makers, schema = fields,
      dictionary = dictionary, opened = true }, Part)
end

function Part:tables()
   local list = {}
   for i, name in ipairs(table_names(self.format)) do
      list[i] = { name = name, fields = described(self.schema[name]) }
   end
   list[#list + 1] = { name = "raw", rows = 1,
      fields = described(self.schema.raw) }
   return list
end

function Part:reader(name)
   if not self.opened then
      error "trace is closed"
   end
   local label = self.source:path() .. ": " .. self.format.name
   return core.decoder(self.schema[name], self.makers[name], self.dictionary, label)
end

function Part:info()
   local list = {}
   for name, value in pairs(self.makers.info or {}) do
      list[#list + 1] = { name = name, value = value }
   end
   table.sort(list, function(a, b) return a.name < b.name end)
   return list
end

function Part.warnings()
   return {}
end

function Part.numbers_used()
   return 0
end

function Part:close()
   self.opened = false
end

return script_part
