-- Writing files of a format: records one by one, or whole traces, merged.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local input_files = require "profio.internal.opening.inputs"
local options = require "profio.internal.options"
local outputs = require "profio.internal.writing.outputs"
local plain_emitter = require "profio.internal.writing.plain_emitter"
local raise = require "profio.internal.raise"
local registry = require "profio.internal.opening.registry"
local script_writer = require "profio.internal.writing.script_writer"
local tables = require "profio.internal.table_readers"
local unfinished = require "profio.internal.opening.unfinished"
local views = require "profio.internal.views"

local writer = {}

---@class profio.Writer
---@field kept string|nil new path of the recording that a killed writer had left at the path
local Writer = { __name = "profio.writer" }
Writer.__index = Writer

-- {====== Options and plans ======

-- Options of profio.create for all formats: how records get into the file.
local ways = {
   { name = "ring", type = "ring", help = "record through a ring that outlives the program" },
   { name = "flush_every", type = "int", help = "write to the file after this many records" },
   { name = "fsync", type = "bool", help = "also flush the file to the disk" },
   { name = "unfinished", type = "choice", choices = { "keep", "append", "refuse",
     "replace" }, default = "keep", help = "the recording that a killed writer has left at the "
     .. "path: keep it under another name; append to it; refuse to write; or replace it" },
}

local ring_options = {
   { name = "size", type = "size", default = "4M", help = "bytes of the ring: 65536, \"4M\", ..." },
   { name = "full", type = "choice", choices = { "block", "drop", "overwrite" },
     default = "block", help = "if the ring is full: wait, drop the new record, or overwrite the "
     .. "oldest ones" },
}

writer.options, writer.ring_options = ways, ring_options

-- Returns the format and its checked write options; raises if the format cannot be written.
local function format_of(given)
   local format = registry.named(given.format or error("create expects a format", 0))
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

-- Returns the path that decides which files a format writes beside its file: "-" (none) for a pipe
-- or a device, as for standard output.
local function place_of(path)
   return path and outputs.is_in_place(path) and "-" or path
end

-- Returns the files that a format writes beside its own, by role, and the paths of older files that
-- would be read as parts of the new trace: those that the format names, and side files, which are
-- not written when they are empty; or nil, nil, message, code. With a plan all files grow while
-- they are written. Raises if one of them is an input, or two have the same path.
local function files_beside(format, path, checked, inputs, plan)
   local place = place_of(path)
   local side_files = format.side_outputs
      and format.side_outputs(place, checked, plan ~= nil) or {}
   local paths, removed = { path }, {}
   for _, side in ipairs(side_files) do
      paths[#paths + 1] = side.path
   end
   outputs.check(paths, inputs)
   local replaces = path and place ~= "-" and not (plan and plan.appends)
   if format.replaced and replaces then
      local older, message, code = format.replaced(path, checked)
      if not older then
         return nil, nil, message, code
      end
      removed = older
   end
   outputs.check_inputs(removed, inputs)
   return side_files, replaces and table.move(paths, 2, #paths, #removed + 1, removed) or removed
end

-- Removes what an older trace has beside a file that readers may open while it grows, but for the
-- files that grow with it.
local function remove_older(removed, side_files)
   local grows = {}
   for _, side in ipairs(side_files) do
      grows[side.path or false] = true
   end
   for _, older in ipairs(removed) do
      if not grows[older] then
         core.remove(older)
      end
   end
end

-- Returns whether a format declares a write option of this name.
local function has_option(format, name)
   for _, option in ipairs(format.write_options or {}) do
      if option.name == name then
         return true
      end
   end
   return false
end

-- Returns the options of the ring (nil: the file is written as a whole) and the options for the
-- format. An option that the format declares too goes to both; packets without a ring are files
-- written as a whole.
local function plan_of(path, given, format)
   local mine, rest = {}, {}
   for name, value in pairs(given) do
      rest[name] = value
   end
   for _, way in ipairs(ways) do
      local is_its_own = has_option(format, way.name)
      if not is_its_own or given.ring or path and not given.packets then
         mine[way.name] = given[way.name]
      end
      rest[way.name] = is_its_own and given[way.name] or nil
   end
   if next(mine) == nil then
      return nil, rest
   elseif not path then
      error("a ring needs a path: it is for files that grow while they are written", 0)
   end
   mine = options.check(ways, mine, "create")
   local ring = options.check(ring_options, mine.ring or {}, "ring")
   return { size = ring.size, full = ring.full, flush_every = mine.flush_every,
      fsync = mine.fsync, unfinished = mine.unfinished,
      ring_path = place_of(path) ~= "-" and path .. ".ring" or nil }, rest
end

-- Returns the options with which recovery writes what a killed writer left in its ring into one
-- file.
local function kept_of(format, checked)
   local kept = {}
   for _, option in ipairs(format.write_options) do
      if option.name ~= "packets" and option.name ~= "flush_every" then
         kept[option.name] = checked[option.name]
      end
   end
   return kept
end

-- Deals with what a killed writer left at the path, and locks the ring. Returns the lock (nil: the
-- ring has no name), and the path of the recording that was kept; or nil, nil, message, code.
local function claimed(path, plan)
   if not plan or not plan.ring_path then
      return nil
   end
   local claim, message, code = core.claim(plan.ring_path)
   if not claim then
      return nil, nil, message, code
   end
   local kept
   kept, message, code = unfinished.settle(path, plan)
   if message then
      claim:close()
   end
   return claim, kept, message, code
end

-- }======

---Create a file. Without a ring the file appears, and replaces an older one, at close. With a ring
---the records go through the mapped file PATH.ring into the file while the program runs: they
---survive the death of the program, and profio.open(PATH) finds them.
---A recording that a killed writer has left at the path is kept as PATH-1 with the extension of
---PATH, unless option `unfinished` says otherwise; field `kept` of the writer is its new path.
---@param path string|nil  "-" is standard output; nil: close returns the bytes
---@param given table { format =, ring = { size =, full = }, flush_every =, fsync =, unfinished =,
---options of the format }
---@return profio.Writer|nil
---@return string|nil message
---@return string|nil code
function writer.create(path, given)
   path = raise.expect(path, "string?", "create: the path") and core.slashes(path)
   raise.expect(given, "table", "create: options")
   local named = registry.named(given.format or error("create expects a format", 0))
   if given.packets and not has_option(named, "packets") then
      error(("%s is written as one file: only traces of xpp are cut in packets"):format(named.name),
         0)
   end
   local plan, rest = plan_of(path, given, named)
   local format, checked = format_of(rest)
   local dictionary = core.dictionary()
   if plan and format.encode then
      return nil, ("%s: format '%s' is written whole when it is closed: no ring serves it")
         :format(path, format.name), "unsupported"
   elseif plan then
      plan.format = format
   end
   local claim <close>, kept, message, code = claimed(path, plan)
   if message then
      return nil, message, code
   end
   local sink, side_files, removed
   side_files, removed, message, code = files_beside(format, path, checked, {}, plan)
   if not side_files then
      return nil, message, code
   end
   if plan then
      plan.kept, plan.claim = kept_of(format, checked), claim
      sink, message, code = core.stream(format.name, checked, dictionary, path, side_files, plan)
   else
      sink, message, code = script_writer.open(format, checked, dictionary, path, side_files,
         removed)
   end
   if not sink then
      return nil, message, code
   end
   if plan then
      remove_older(removed, side_files)
   end
   return setmetatable({ sink = sink, main = format.main_written or sink:tables()[1].name,
      dictionary = dictionary, is_stream = plan ~= nil, kept = kept }, Writer)
end

-- A value that the file cannot hold is a usage error, like a value of the wrong type: raise it.
local function answer(ok, message, code)
   if ok == nil and (code == "unsupported" or code == "limit") then
      error(message, 3)
   end
   return ok, message, code
end

local function sink_of(self)
   return self.sink or error("writer is closed", 0)
end

---Write one record: w:write { ... } into the main table, w:write("arcs", { ... }) into another.
---Unknown columns, wrong types and values that the file cannot hold raise.
---@param table_name string|table
---@param record table|nil
---@return boolean|nil  false: the ring was full and dropped the record
---@return string|nil message
---@return string|nil code
function Writer:write(table_name, record)
   if type(table_name) == "table" then
      table_name, record = self.main, table_name
   end
   raise.expect(record, "table", "write: the record")
   return answer(sink_of(self):put(table_name, record))
end

---Returns the id of a call stack, for a column of stacks.
---@param frames table[] { area =, class =, file =, line =, value = }, innermost first, as returned
---by trace:stack
---@return integer|nil
function Writer:stack(frames)
   raise.expect(frames, "table", "stack: the frames")
   return core.stack(self.dictionary, frames)
end

---Returns a function that records one row: local emit = w:emitter("time", "op"), then
---emit(t, "i"). This is the fast way to write. The columns belong to the main table, unless another
---one is given first: w:emitter("arcs", { "from", "to" }). A column that the table does not have
---raises at once. The function returns nothing; false if
---the ring was full and dropped the row; or nil, message, code. Without a ring it raises for a
---value that cannot be written; with a ring a later call fails, and all calls after that.
---@param ... string
---@return fun(...): false|nil, string|nil, string|nil
function Writer:emitter(...)
   local table_name, columns = ...
   if type(columns) ~= "table" then
      table_name, columns = self.main, { ... }
   end
   if self.is_stream then
      return sink_of(self):emitter(table_name, columns)
   end
   return plain_emitter(sink_of(self), table_name, columns, answer)
end

---Wait until all records are in the file. With full = "overwrite" the ring keeps them: see dump.
---@return true|nil
---@return string|nil message
---@return string|nil code
function Writer:flush()
   sink_of(self)
   if not self.is_stream then
      return true
   end
   return self.sink:flush()
end

---Write the records that the ring holds into the file, also with full = "overwrite".
---@return true|nil
---@return string|nil message
---@return string|nil code
function Writer:dump()
   if not self.is_stream then
      return true
   end
   return sink_of(self):dump()
end

---Returns how many records were tried, written into the file, and lost (dropped or overwritten by
---the ring, also those that a recording which was appended to had lost), and how many of their
---values were rounded. Raises after close.
---@return { tried: integer, written: integer, lost: integer, rounded: integer }
function Writer:facts()
   return sink_of(self):facts()
end

---Write the file and close. Returns the number of bytes; without a path the bytes, and those of the
---files beside it, by role.
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

-- If an error leaves the block, a file that is written as a whole is not written and the old one
-- stays; the records in a ring are written.
function Writer:__close(failure)
   if failure ~= nil and self.sink and not self.is_stream then
      self.sink:close()
      self.sink = nil
   end
   local ok, message = self:close()
   if not ok then
      error(message, 0)
   end
end

-- Returns the tables that the format writes and the trace has, in the format's order. A note names
-- each other table, except the raw records and the tables that repeat others (`redundant`).
local function written_tables(sink, state, format)
   local names, written = {}, { raw = true }
   for name in pairs(format.redundant or {}) do
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

-- Returns the columns that have no place in the file, as { table =, column =, none = }: those that
-- the format states for its own traces, or those that the written tables lack.
local function unwritten_columns(sink, state, format, checked)
   if format == state.format then
      return format.unwritten and format.unwritten(checked, state.format_options or {}) or {}
   end
   local list = {}
   for _, described in ipairs(sink:tables()) do
      local has = {}
      for _, field in ipairs(described.fields) do
         has[field.name] = true
      end
      for _, field in ipairs(state.schema[described.name] and state.schema[described.name].fields
         or {})
      do
         list[#list + 1] = not has[field.name] and { table = described.name, column = field.name }
            or nil
      end
   end
   return list
end

-- Adds a note for each column that has values, but no place in the file.
local function note_columns(sink, state, format, checked)
   for _, lost in ipairs(unwritten_columns(sink, state, format, checked)) do
      local has = state.schema[lost.table] and views.over(function()
         return tables.plain(state, lost.table)
      end):where { [lost.column] = conditions.no(lost.none or conditions.missing) }:limit(1)
      if has and has:count() > 0 then
         state.notes[#state.notes + 1] = { code = format.name .. "-not-written", kind = "note",
            message = ("column '%s' of table '%s' has no place in the written file"):format(
               lost.column, lost.table) }
      end
   end
end

-- Returns whether a path means a directory.
local function is_directory(path)
   return path ~= nil and (path:find "/$" ~= nil or core.kind(path) == "folder")
end

-- Write the rows of all tables that have a place in the file.
local function put_tables(sink, state, format, checked, path)
   local names = written_tables(sink, state, format)
   if #names == 0 then
      return nil, ("%s: no table of a trace of %s has a place in a file of %s"):format(
         path or "(data)", state.format.name, format.name), "unsupported"
   end
   note_columns(sink, state, format, checked)
   for _, name in ipairs(names) do
      local reader, message, code = tables.plain(state, name)
      local ok = reader
      if reader then
         ok, message, code = sink:put_reader(name, reader, function()
            return tables.plain(state, name)
         end)
      end
      if not ok then
         return nil, message, code
      end
   end
   return true
end

-- Write a trace: as a whole if the format supports that, else its rows.
local function put_all(sink, state, format, checked, path)
   if format == state.format and not format.encode then
      local done, message, code = sink:put_traces(state.parts)
      if done ~= false then
         return done, message, code
      end
   end
   return put_tables(sink, state, format, checked, path)
end

---Write a whole trace. Properties that the options leave open (byte order, width) are those of the
---trace. Raises if a file that would be written belongs to the trace.
---@param state table of a trace
---@param path string|nil
---@param given table
---@return integer|string|nil
---@return string|nil message
---@return string|nil code
function writer.save(state, path, given)
   raise.expect(path, "string?", "save: the path")
   raise.expect(given, "table", "save: options")
   if state.format.save_directory and is_directory(path) and given.format == nil then
      return state.format.save_directory(state, path, given, writer.save)
   end
   local wanted = { format = state.format.name }
   for name, value in pairs(given) do
      wanted[name] = value
   end
   local format, checked = format_of(wanted)
   if format.save_defaults then
      -- Header fields of another format have other meanings.
      local part = format == state.format and state.parts[1] or nil
      format.save_defaults(checked, part and part:info() or {}, part, place_of(path))
   end
   local inputs = input_files.paths_of(state)
   outputs.check_inputs({ path }, inputs)
   local side_files, removed, message, code = files_beside(format, path, checked, inputs)
   if not side_files then
      return nil, message, code
   end
   checked.inputs = #state.parts -- a merged file has an order of its own
   local sink <close>, problem, kind = script_writer.open(format, checked, state.dictionary,
      path, side_files, removed, state.is_over)
   if not sink then
      return nil, problem, kind
   end
   local ok
   ok, message, code = put_all(sink, state, format, checked, path)
   if not ok then
      return nil, message, code
   end
   if state.is_over and state.is_over() then
      return nil, (path or "(data)") .. ": interrupted: it is as it was", "io"
   end
   return sink:finish()
end

raise.publish_methods(Writer, "writer", function(value)
   return getmetatable(value) == Writer
end)

return writer
