-- Writers of whole files whose format has an encoder in Lua, its `encode`. They have the methods of
-- the core's writers (core.writer).

local core = require "profio.core"
local lazy_view = require "profio.internal.views.lazy_view"
local outputs = require "profio.internal.writing.outputs"
local script_part = require "profio.internal.writing.script_part"

local script_writer = {}

local Sink = {}
Sink.__index = Sink

---Returns the tables that a format writes by default, the main one first.
---@param format table
---@return { name: string, fields: profio.Field[] }[]
function script_writer.tables(format)
   return format.registered and script_part.described(format, format.tables)
      or core.written(format.name)
end

---Returns a writer of a format, in Lua or that of the core.
---@param format table
---@param options table of writing, checked
---@param dictionary userdata
---@param path string|nil "-" is standard output; nil: finish returns the bytes
---@param side_files table[] see core.writer
---@param removed string[]
---@param is_over (fun(): boolean)|nil  whether Ctrl-C was pressed: nothing is written then
---@return table|nil
---@return string|nil message
---@return string|nil code
function script_writer.open(format, options, dictionary, path, side_files, removed, is_over)
   if not format.encode then
      return core.writer(format.name, options, dictionary, path, side_files, removed)
   end
   local self = setmetatable({ format = format, options = options, path = path, written = 0,
      tried = 0, stores = {}, fields = {}, open = {}, is_over = is_over, dictionary = dictionary,
      list = script_writer.tables(format) }, Sink)
   for _, described in ipairs(self.list) do
      self.fields[described.name] = described.fields
      self.stores[described.name] = core.row_store(described.name, described.fields, dictionary)
   end
   return self
end

function Sink:tables()
   return self.list
end

-- Calls a function of the format; true, or nil, message, code and "EPIPE". An error that it raises
-- is raised again, except those of inputs and tables { message =, code = }.
local function protected(self, f, ...)
   local label = self.path and self.path .. ": " or ""
   local done, failed, message, code = pcall(f, ...)
   if done then
      return message == nil or nil, message and label .. message, message and code or "unsupported"
   end
   local unread, unread_code = core.unread()
   if type(failed) == "table" and type(failed.message) == "string" then
      return nil, (failed.code == "io" and "" or label) .. failed.message,
         failed.code or "unsupported", failed.broken
   elseif failed == unread and unread_code then
      return nil, failed, unread_code
   end
   error(failed, 0)
end

---Adds a row, as core.writer does; a record that the format's `check` refuses is not added.
function Sink:put(name, record)
   local store = self.stores[name]
   if not store then
      local names = {}
      for i, described in ipairs(self.list) do
         names[i] = described.name
      end
      error(("format '%s' has no table '%s' to write; there are: %s"):format(self.format.name,
         tostring(name), table.concat(names, ", ")), 0)
   end
   store:set(record)
   local check = self.format.check
   local done, message, code = true, nil, nil
   if check then
      done, message, code = protected(self, check, name, record)
   end
   if done then
      store:add()
      self.tried = self.tried + 1
   end
   return done, message, code
end

function Sink:facts()
   return { tried = self.tried, written = self.tried, lost = 0, rounded = 0 }
end

function Sink:close()
   self.stores, self.open = {}, {}
end

Sink.__close = Sink.close

-- Returns a reader with the columns that are written: those that the trace has not, or has of
-- another type, are missing.
local function with_columns(reader, fields, dictionary)
   local types, names, places = {}, {}, {}
   for _, field in ipairs(reader:fields()) do
      types[field.name] = field.type
   end
   for i, field in ipairs(fields) do
      if types[field.name] == field.type then
         names[#names + 1], places[#places + 1] = field.name, i
      end
   end
   if #names == #fields then
      return reader
   end
   return core.decoder(fields, function(put)
      local rows = lazy_view.over(function() return reader end)
      for record in rows:records(table.unpack(names)) do
         local values = {}
         for i, name in ipairs(names) do
            values[places[i]] = record[name]
         end
         put(table.unpack(values, 1, #fields))
      end
   end, dictionary, "")
end

---Takes the rows of a reader, which are read when `encode` asks for them.
---@param name string of a written table
---@param first userdata
---@param open fun(): userdata|nil, string|nil, string|nil  opens further readers of the rows
function Sink:put_reader(name, first, open)
   self.open[name] = function()
      local reader, message, code = first, nil, nil
      if not reader then
         reader, message, code = open()
      end
      first = nil
      return reader and with_columns(reader, self.fields[name], self.dictionary), message, code
   end
   return true
end

-- Returns what `encode` gets: a view of each written table by name. The methods of the main one are
-- also its own.
local function rows_of(self)
   local views = {}
   for _, described in ipairs(self.list) do
      local name = described.name
      views[name] = lazy_view.over(self.open[name] or function()
         return self.stores[name]:reader()
      end, self)
   end
   local main = views[self.list[1].name]
   return setmetatable(views, { __index = function(_, key)
      local value = main[key]
      return type(value) ~= "function" and value or function(_, ...)
         return value(main, ...)
      end
   end })
end

-- Returns the function that `encode` calls with bytes. A failure of the file ends `encode`.
local function putter(self, write)
   return function(...)
      for i = 1, select("#", ...) do
         local bytes = select(i, ...)
         if type(bytes) ~= "string" then
            error(("put: bytes must be a string, got %s"):format(type(bytes)), 2)
         end
         self.written = self.written + #bytes
         write(bytes)
      end
   end
end

-- Runs `encode`; true, or nil, message, code (and "EPIPE").
local function encoded(self, write)
   local done, message, code, broken = protected(self, self.format.encode, rows_of(self),
      self.options, putter(self, write))
   if done and self.is_over and self.is_over() then
      return nil, (self.path or "(data)") .. ": interrupted: it is as it was", "io"
   end
   return done, message, code, broken
end

-- Returns a function that writes into a file and raises its failure.
local function file_writer(file)
   return function(bytes)
      local ok, _, number = file:write(bytes)
      if not ok then
         local _, message, code, broken = core.write_failure(file, number)
         error { message = message, code = code, broken = broken }
      end
   end
end

---Writes the file and closes, as core.writer does.
function Sink:finish()
   local done, message, code, broken
   local list = {}
   if not self.path then
      done, message, code = encoded(self, function(bytes)
         list[#list + 1] = bytes
      end)
   elseif self.path == "-" then
      done, message, code, broken = encoded(self, file_writer(io.stdout))
      if done then
         done, message, code, broken = core.flush(io.stdout)
      end
   else
      done, message, code, broken = outputs.write(self.path, function(file)
         return encoded(self, file_writer(file))
      end)
   end
   self:close()
   if not done then
      return nil, message, code, broken
   end
   return self.path and self.written or table.concat(list)
end

return script_writer
