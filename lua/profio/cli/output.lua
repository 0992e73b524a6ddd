-- Output of the command: standard output or the file of -o. The file appears under its name, and
-- replaces an older one, when the command has succeeded. A closed pipe ends the command silently;
-- any other write error is reported.

local later = require "profio.internal.later"
local core = require "profio.core"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local outputs = require "profio.internal.writing.outputs"
local pager = later "profio.cli.help.pager"
local rows = later "profio.internal.exporting.row_export"

local output = {}

---@class profio.Output
---@field file file*
---@field path string|nil path of -o; nil: standard output
---@field inputs string[] paths of the files that are read
---@field is_file boolean the output is kept apart until close; false: it is written in place
---@field is_terminal boolean
---@field has_color boolean
---@field width integer|nil columns of the terminal, unless all columns are wanted
---@field pager userdata|nil the process of the pager, to which `file` is a pipe
---@field left_out string[]|nil columns that did not fit
---@field shown integer number of rows written
---@field is_written boolean whether anything was written
---@field interrupt profio.core.Interrupt|nil ends long output
local Output = { __name = "profio.output" }
Output.__index = Output

---Opens the file at `path`, or standard output. It is a usage error if the file is also read.
---@param path string|nil
---@param inputs string[] paths of the files that are read
---@param given { wide: boolean|nil, is_paged: boolean|nil } is_paged: through the pager, if
---standard output is a terminal
---@return profio.Output
function output.open(path, inputs, given)
   local file = io.stdout
   local is_file = path ~= nil and not outputs.is_in_place(path)
   outputs.check({ path or "-" }, inputs)
   if path and path ~= "-" then
      file = failure.check(core.output(path))
   end
   local is_terminal = core.is_terminal(file)
   local no_color = os.getenv "NO_COLOR"
   local width = not given.wide and core.terminal_width(file) or nil
   local pipe, process
   if given.is_paged and is_terminal and file == io.stdout then
      pipe, process = pager.open()
   end
   return setmetatable({ file = pipe or file, pager = process, path = path,
      is_file = is_file, is_terminal = is_terminal,
      inputs = table.move(inputs, 1, #inputs, 1, {}), shown = 0, is_written = false,
      width = width,
      has_color = is_terminal and (no_color == nil or no_color == "") }, Output)
end

-- Passes on the result of a write; a broken pipe ends the command with status READ.
local function check_write(ok, message, _, broken)
   if ok then
      return ok
   elseif broken then
      failure.raise(failure.READ, nil)
   end
   failure.raise(failure.NOTHING, message)
end

---Writes texts.
---@param ... string
function Output:write(...)
   self.is_written = true
   local ok, _, number = self.file:write(...)
   if not ok then
      check_write(core.write_failure(self.file, number))
   end
end

---Registers further files that are read. It is a usage error if the output is one of them.
---@param paths string[]
function Output:reads(paths)
   outputs.check({ self.path or "-" }, paths)
   table.move(paths, 1, #paths, #self.inputs + 1, self.inputs)
end

-- Counts rows that were written.
local function counted(self, count)
   self.is_written = true
   self.shown = self.shown + (math.type(count) == "integer" and count or 0)
   return count
end

-- Returns the reader that is printed, with a guard for Ctrl-C; raises a failure to open it.
local function printed(self, reader, ...)
   failure.check(reader, ...)
   return self.interrupt and self.interrupt:guard(reader) or reader
end

---Writes the rows of a reader (or nil, message, code, which ends the command).
---@param given table options of write in row_export.lua
---@param reader userdata|nil
---@return integer count
function Output:rows(given, reader, ...)
   given.color, given.width = self.has_color, self.width
   local count, left_out, code, broken = rows.write(printed(self, reader, ...), given, self.file)
   self.left_out = count and left_out or self.left_out
   return counted(self, check_write(count, left_out, code, broken))
end

---Writes the rows of a reader through an export.
---@param export table
---@param given table columns, header
---@param reader userdata|nil
---@return integer count
function Output:export_rows(export, given, reader, ...)
   return self:export(export, given, printed(self, reader, ...))
end

---Writes an export.
---@param export table
---@param given table options of the export
---@param what any
---@param write function|nil of the export; default: export.write
---@return integer|boolean count
function Output:export(export, given, what, write)
   if self.is_terminal and exports.is_binary(export, given) then
      failure.use("--export %s writes bytes, which a terminal is not for: give -o OUT", export.name)
   end
   local inputs = #self.inputs
   given.inputs, given.notes = self.inputs, given.notes or {}
   local count = check_write((write or export.write)(what, given, self.file))
   if #self.inputs > inputs then -- such as sources
      outputs.check({ self.path or "-" }, self.inputs)
   end
   return counted(self, count)
end

---Writes a listing: see core.write_listing.
---@param given table { kind =, templates = }
---@param reader userdata|nil
---@return integer count
function Output:listing(given, reader, ...)
   return counted(self, check_write(core.write_listing(printed(self, reader, ...), given,
      self.file)))
end

---Flushes the buffer.
function Output:flush()
   check_write(core.flush(self.file))
end

---Flushes the buffer; a file of -o gets its name.
function Output:close()
   if self.pager then
      self.file:close()
      self.pager:wait() -- for the user
   elseif self.file == io.stdout then
      self:flush()
   else
      check_write(core.commit(self.file))
   end
end

---Ends the command if standard output could not be written: what verbs and scripts wrote there
---without a look at the result.
function output.check_standard()
   if io.type(io.stdout) == "file" then -- else a script has closed it
      check_write(core.flush(io.stdout))
   end
end

-- After an error the file of -o is dropped.
function Output:__close()
   if self.file ~= io.stdout then
      self.file:close()
   end
   if self.pager then
      self.pager:wait()
   end
end

return output
