-- Where the command writes: standard output or the file of -o. The file appears under its name, and
-- replaces an older one, when the command has gone well. A reader of a pipe that has left ends the
-- command quietly; any other failure of a write is one.

local core = require "profio.core"
local failure = require "profio.cli.failure"
local outputs = require "profio.outputs"
local rows = require "profio.exports.rows"

local output = {}

---@class profio.Output
---@field file file*
---@field path string|nil of -o; nil: standard output
---@field inputs string[] paths of the files that are read
---@field is_file boolean it is kept apart until close; false: what is written is there
---@field is_terminal boolean
---@field has_color boolean
---@field width integer|nil places of a line of the terminal
---@field shown integer how many rows were written
---@field is_written boolean whether anything was
---@field interrupt profio.core.Interrupt|nil that ends long printing
local Output = { __name = "profio.output" }
Output.__index = Output

---Open the file at `path`, or standard output. A file that is also read is wrong use.
---@param path string|nil
---@param inputs string[] paths of the files that are read
---@return profio.Output
function output.open(path, inputs)
   local file = io.stdout
   local is_file = path ~= nil and not outputs.is_in_place(path)
   outputs.check({ path or "-" }, inputs)
   if path and path ~= "-" then
      file = failure.check(core.output(path))
   end
   local is_terminal = core.is_terminal(file)
   local no_color = os.getenv "NO_COLOR"
   return setmetatable({ file = file, path = path, is_file = is_file, is_terminal = is_terminal,
      inputs = table.move(inputs, 1, #inputs, 1, {}), shown = 0, is_written = false,
      width = core.terminal_width(file),
      has_color = is_terminal and (no_color == nil or no_color == "") }, Output)
end

-- The answer of a write: a broken pipe ends the command with what it would have ended with.
local function check_write(ok, message, _, broken)
   if ok then
      return ok
   elseif broken then
      failure.raise(failure.READ, nil)
   end
   failure.raise(failure.NOTHING, message)
end

---Write texts.
---@param ... string
function Output:write(...)
   self.is_written = true
   local ok, _, number = self.file:write(...)
   if not ok then
      check_write(core.write_failure(self.file, number))
   end
end

---Further files are read. An output that is one of them is wrong use, and stays as it was.
---@param paths string[]
function Output:reads(paths)
   outputs.check({ self.path or "-" }, paths)
   table.move(paths, 1, #paths, #self.inputs + 1, self.inputs)
end

-- Rows that were written.
local function counted(self, count)
   self.is_written = true
   self.shown = self.shown + (math.type(count) == "integer" and count or 0)
   return count
end

-- The reader that is printed, or the failure to make one.
local function printed(self, reader, ...)
   failure.check(reader, ...)
   return self.interrupt and self.interrupt:guard(reader) or reader
end

---Write the rows of a reader (or nil, message, code, which ends the command).
---@param given table options of exports.rows.write
---@param reader userdata|nil
---@return integer count
function Output:rows(given, reader, ...)
   given.color, given.width = self.has_color, self.width
   return counted(self, check_write(rows.write(printed(self, reader, ...), given, self.file)))
end

---Write the rows of a reader through an export.
---@param export table
---@param given table columns, header
---@param reader userdata|nil
---@return integer count
function Output:export_rows(export, given, reader, ...)
   return self:export(export, given, printed(self, reader, ...))
end

---Write what an export takes.
---@param export table
---@param given table options of the export
---@param what any
---@param write function|nil of the export; default: export.write
---@return integer|boolean count
function Output:export(export, given, what, write)
   local inputs = #self.inputs
   given.inputs, given.notes = self.inputs, given.notes or {}
   local count = check_write((write or export.write)(what, given, self.file))
   if #self.inputs > inputs then -- sources, say
      outputs.check({ self.path or "-" }, self.inputs)
   end
   return counted(self, count)
end

---Write a listing: see core.write_listing.
---@param given table { kind =, templates = }
---@param reader userdata|nil
---@return integer count
function Output:listing(given, reader, ...)
   return counted(self, check_write(core.write_listing(printed(self, reader, ...), given,
      self.file)))
end

---Put out what is buffered.
function Output:flush()
   local ok, _, number = self.file:flush()
   if not ok then
      check_write(core.write_failure(self.file, number))
   end
end

---Put out what is buffered; a file of -o gets its name.
function Output:close()
   if self.file == io.stdout then
      self:flush()
   else
      check_write(core.commit(self.file))
   end
end

-- Left by a failure: the file of -o is dropped.
function Output:__close()
   if io.type(self.file) == "file" and self.file ~= io.stdout then
      self.file:close()
   end
end

return output
