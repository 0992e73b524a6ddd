-- A file opened by a format that is written in Lua; it has the methods of the core's parts. That of
-- a store also has the field `stored` (see internal/store/part.lua), whose further tables it has.

local core = require "profio.core"
local raise = require "profio.internal.raise"
local tables = require "profio.internal.table_readers"

local script_part = {}

local Part = {}
Part.__index = Part

-- The table `raw` that every format has: here the file as one record.
local raw_fields = { { "offset", "int" }, { "size", "int" }, { "kind", "name" },
   { "bytes", "bytes" } }

local function put_raw(source)
   return function(put)
      put(0, source:size(), "file", source:read())
   end
end

-- Returns the names of the tables: the main one first, then by name.
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

---Returns the tables of a format, the main one first, then by name.
---@param format table
---@param schema table<string, table> the columns of each table
---@return { name: string, fields: profio.Field[] }[]
function script_part.described(format, schema)
   local list = {}
   for i, name in ipairs(table_names(format)) do
      list[i] = { name = name, fields = described(schema[name]) }
   end
   return list
end

-- {====== Warnings ======

local MOST = 100 -- warnings of one code that are kept; one more has the count of all others

local kinds = { damage = true, note = true }

-- Adds a warning of a decoder. A decoder runs again for each reading, so known warnings are
-- skipped.
local function add_warning(self, message, more)
   local code = more.code or self.format.name .. "-warning"
   local key = table.concat({ code, tostring(more.offset), message, more.path }, "\0")
   local kind = more.kind or "damage"
   if self.known[key] then
      return
   end
   self.known[key] = true
   if self.strict and kind == "damage" then
      error(("%s: %s: %s%s"):format(more.path or self.source:path(), self.format.name, message,
         more.offset and (" (byte %d)"):format(more.offset) or ""), 0)
   end
   self.counts[code] = (self.counts[code] or 0) + 1
   local others = self.others[code]
   if self.counts[code] <= MOST or self.all_warnings then
      self.list[#self.list + 1] = { code = code, kind = kind, offset = more.offset,
         message = message, path = more.path, count = more.count }
   elseif others then
      others.count = others.count + (more.count or 1)
      others.kind = kind == "damage" and kind or others.kind
   else
      others = { code = code, kind = kind, count = more.count or 1,
         message = "further warnings of this code, the first one: " .. message }
      self.others[code], self.list[#self.list + 1] = others, others
   end
end

-- The source that decoders get: that of the core, with the method `warn`.
local Source = {}

---Warn about an anomaly in the file. In strict mode damage is an error.
---@param message string
---@param more table|nil kind = "damage" (default) or "note", code = "mine-odd", offset = byte; for
---stores also the path of a file, and how many times the warning came there (count)
function Source:warn(message, more)
   more = more or {}
   raise.expect(message, "string", "source:warn: the message")
   raise.expect(more, "table", "source:warn: the second argument")
   raise.expect(more.code, "string?", "source:warn: code")
   raise.expect(more.offset, "integer?", "source:warn: offset")
   if more.kind ~= nil and not kinds[more.kind] then
      error(("source:warn: kind must be \"damage\" or \"note\", got %s"):format(
         tostring(more.kind)), 0)
   end
   add_warning(self.part, message, more)
end

for _, name in ipairs { "read", "size", "lines", "path" } do
   Source[name] = function(self, ...)
      return self.part.source[name](self.part.source, ...)
   end
end

Source.__index = Source

local event_words = { enter = true, leave = true, suspend = true, resume = true, write = true }

-- Returns the function that fills a table. For events it warns of event names that calls ignore.
local function maker_of(self, name)
   local at
   for i, field in ipairs(name == "events" and self.schema.events or {}) do
      at = field[1] == "event" and i or at
   end
   local function make(...)
      raise.reading(self.format, self.makers[name], ...)
   end
   if not at then
      return make
   end
   return function(put, put_lines)
      make(function(...)
         local word = select(at, ...)
         if word ~= nil and not event_words[word] then
            add_warning(self, ("event '%s' is none of enter, leave, suspend, resume, write: calls "
               .. "leave it out"):format(tostring(word)), { code = self.format.name .. "-event" })
         end
         return put(...)
      end, put_lines)
   end
end

-- }======

---Open a source with a registered format.
---@param format table
---@param source userdata
---@param options table
---@param dictionary userdata
---@param mine table|nil options of profio.open: strict, all_warnings
---@return table|nil part
---@return string|nil message
---@return string|nil code
function script_part.open(format, source, options, dictionary, mine)
   local self = setmetatable({ format = format, source = source, dictionary = dictionary,
      opened = true, known = {}, counts = {}, list = {}, others = {}, strict = mine and mine.strict,
      all_warnings = mine and mine.all_warnings, given = mine or {} }, Part)
   local makers, message, code = raise.reading(format, format.open,
      setmetatable({ part = self }, Source), options)
   if not makers then
      return nil, ("%s: %s: %s"):format(source:path(), format.name, message or "not readable"),
         code or "format"
   elseif type(makers) ~= "table" then
      error(("open of format '%s' must return { table = function(put) }"):format(format.name))
   end
   local fields = { raw = raw_fields }
   for name, columns in pairs(format.tables) do
      if type(makers[name]) ~= "function" then
         error(("open of format '%s' gave no function for table '%s'"):format(format.name, name))
      end
      fields[name] = columns
   end
   if makers.raw == false then
      fields.raw = nil
   end
   makers.raw = makers.raw or put_raw(source)
   self.makers, self.schema, self.stored = makers, fields, makers.stored
   return self
end

function Part:tables()
   local list = script_part.described(self.format, self.schema)
   for _, more in ipairs(self.stored and self.stored.tables or {}) do
      list[#list + 1] = more
   end
   if self.schema.raw then
      list[#list + 1] = { name = "raw", rows = 1, fields = described(self.schema.raw) }
   end
   return list
end

function Part:reader(name)
   if not self.opened then
      error "trace is closed"
   end
   if self.stored and self.stored.has(name) then
      local inner, message, code = self.stored.inner()
      if not inner then
         return nil, message, code
      end
      inner.watch = nil -- the trace of the store watches its readers
      return tables.plain(inner, name)
   end
   local label = self.source:path() .. ": " .. self.format.name
   return core.decoder(self.schema[name], maker_of(self, name), self.dictionary, label,
      self.source)
end

function Part:info()
   local list = {}
   for name, value in pairs(self.makers.info or {}) do
      list[#list + 1] = { name = name, value = value }
   end
   table.sort(list, function(a, b) return a.name < b.name end)
   return list
end

function Part:fact(name)
   return (self.makers.info or {})[name]
end

function Part:add_info(into, counted)
   for name, value in pairs(self.makers.info or {}) do
      if into[name] == nil then
         into[name] = value
      elseif counted[name] then
         into[name] = into[name] + value
      end
   end
end

function Part.rows(_, name)
   return name == "raw" and 1 or nil
end

-- The tables are declared by the format, for all files.
function Part.is_like()
   return true
end

function Part:warnings()
   local list = {}
   for i, warning in ipairs(self.list) do
      list[i] = { code = warning.code, kind = warning.kind, offset = warning.offset,
         message = warning.message, path = warning.path, count = warning.count }
   end
   return list
end

function Part:close()
   self.opened = false
   if self.stored then
      self.stored.close()
   end
end

return script_part
