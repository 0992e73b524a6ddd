-- Writing files of a format: records one by one, or whole traces, merged.

local core = require "profio.core"
local options = require "profio.options"
local registry = require "profio.registry"
local trace = require "profio.trace"

local writer = {}

---@class profio.Writer
local Writer = { __name = "profio.writer" }
Writer.__index = Writer

-- The format and its checked write options; raises when it cannot be written.
local function format_of(given)
   local format = registry.named(given.format or error("create wants a format", 0))
   if not format.write_options then
      error(("format '%s' is not written"):format(format.name), 0)
   end
   local rest = {}
   for name, value in pairs(given) do
      if name ~= "format" then
         rest[name] = value
      end
   end
   return format, options.check(format.write_options, rest, "writing " .. format.name)
end

-- The files a format may write beside its own, by role; the format knows where.
local function sides_of(format, path, checked)
   return format.side_outputs and format.side_outputs(path, checked) or nil
end

---Create a file; the records go into it at close.
---@param path string|nil  "-" is standard output; nil: close gives the bytes
---@param given table { format =, options of that format }
---@return profio.Writer|nil
---@return string|nil message
---@return string|nil code
function writer.create(path, given)
   local format, checked = format_of(given)
   local sink, message, code = core.writer(format.name, checked, core.dictionary(), path,
      sides_of(format, path, checked))
   if not sink then
      return nil, message, code
   end
   return setmetatable({ sink = sink, main = sink:tables()[1].name }, Writer)
end

---Write one record: w:write { ... } into the main table, w:write("arcs", { ... }) into another.
---Unknown columns and wrong types raise.
---@param table_name string|table
---@param record table|nil
---@return true|nil
---@return string|nil message
---@return string|nil code
function Writer:write(table_name, record)
   if type(table_name) == "table" then
      table_name, record = self.main, table_name
   end
   return self.sink:put(table_name, record)
end

---Write the file and close; the number of bytes, or without a path the bytes and those of the files
---that belong beside it, by role.
---@return integer|string|nil
---@return string|table<string, string>|nil message
---@return string|nil code
function Writer:close()
   local sink = self.sink
   if not sink then
      return true
   end
   self.sink = nil
   return sink:finish()
end

-- Left by an error, nothing is written: the old file stays.
function Writer:__close(failure)
   if failure ~= nil and self.sink then
      self.sink:close()
      self.sink = nil
   end
   local ok, message = self:close()
   if not ok then
      error(message, 0)
   end
end

-- The tables that the format writes and the trace has, in the format's order. The others are
-- named in a note, but for the raw records and what the format calls `described`, which say the
-- same again.
local function written_tables(sink, state, format)
   local names, written = {}, { raw = true }
   for name in pairs(format.described or {}) do
      written[name] = true
   end
   for _, described in ipairs(sink:tables()) do
      if state.schema[described.name] then
         names[#names + 1], written[described.name] = described.name, true
      end
   end
   for _, name in ipairs(state.names) do
      if not written[name] then
         state.notes[#state.notes + 1] = { code = format.name .. "-not-written", kind = "note",
            message = ("table '%s' has no place in the written file"):format(name) }
      end
   end
   return names
end

---Write all of a trace. What the format's file does not say (byte order, width) is taken from
---the trace.
---@param state table of a trace
---@param path string|nil
---@param given table
---@return integer|string|nil
---@return string|nil message
---@return string|nil code
function writer.save(state, path, given)
   local wanted = { format = state.format.name }
   for name, value in pairs(given) do
      wanted[name] = value
   end
   local format, checked = format_of(wanted)
   if format.save_defaults then
      format.save_defaults(checked, state.parts[1]:info(), state.parts[1])
   end
   local sink, message, code = core.writer(format.name, checked, state.dictionary, path,
      sides_of(format, path, checked))
   if not sink then
      return nil, message, code
   end
   for _, name in ipairs(written_tables(sink, state, format)) do
      local ok
      ok, message, code = sink:put_reader(name, trace.plain_reader(state, name))
      if not ok then
         sink:close()
         return nil, message, code
      end
   end
   return sink:finish()
end

return writer
