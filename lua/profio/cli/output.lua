-- Where the command writes: standard output or the file of -o. A reader of a pipe that has left
-- ends the command quietly; any other failure is one.

local core = require "profio.core"
local failure = require "profio.cli.failure"
local rows = require "profio.exports.rows"

local output = {}

---@class profio.Output
---@field file file*
---@field is_terminal boolean
---@field has_color boolean
---@field width integer|nil places of a line of the terminal
---@field shown integer how many rows were written
---@field is_written boolean whether anything was
---@field interrupt profio.core.Interrupt|nil that ends long printing
local Output = {}
Output.__index = Output

---Open the file at `path`, or standard output.
---@param path string|nil
---@return profio.Output
function output.open(path)
   local file = io.stdout
   if path and path ~= "-" then
      local opened, message = io.open(path, "wb")
      file = failure.check(opened, message)
   end
   local is_terminal = core.is_terminal(file)
   local no_color = os.getenv "NO_COLOR"
   return setmetatable({ file = file, is_terminal = is_terminal, shown = 0,
      is_written = false, width = core.terminal_width(file),
      has_color = is_terminal and (no_color == nil or no_color == "") }, Output)
end

-- The answer of a write: a broken pipe ends the command with what it would have ended with.
local function check_write(ok, message, broken)
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
   local ok, message, number = self.file:write(...)
   check_write(ok, message, number == 32)
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
   local count, message, _, broken = rows.write(printed(self, reader, ...), given,
      self.file)
   return counted(self, check_write(count, message, broken))
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
   local count, message, _, broken = (write or export.write)(what, given, self.file)
   return counted(self, check_write(count, message, broken))
end

---Write a listing: see core.write_listing.
---@param given table { kind =, templates = }
---@param reader userdata|nil
---@return integer count
function Output:listing(given, reader, ...)
   local count, message, _, broken = core.write_listing(printed(self, reader, ...), given,
      self.file)
   return counted(self, check_write(count, message, broken))
end

---Put out what is buffered.
function Output:flush()
   local ok, message, number = self.file:flush()
   check_write(ok, message, number == 32)
end

---Put out what is buffered and close, where it is a file of ours.
function Output:close()
   local ok, message, number = self.file:flush()
   if ok and self.file ~= io.stdout then
      ok, message, number = self.file:close()
   end
   check_write(ok, message, number == 32)
end

return output
