-- Writing files of a format: records one by one, or whole traces, merged.

local conditions = require "profio.conditions"
local core = require "profio.core"
local input_files = require "profio.inputs"
local lfs = require "lfs"
local options = require "profio.options"
local outputs = require "profio.outputs"
local raise = require "profio.raise"
local recovery = require "profio.recovery"
local registry = require "profio.registry"
local trace = require "profio.trace"
local view = require "profio.view"

local writer = {}

---@class profio.Writer
---@field kept string|nil where the recording is that a killed writer had left at the path
local Writer = { __name = "profio.writer" }
Writer.__index = Writer

-- {====== What is asked for ======

-- What profio.create takes beside the format's own options: how records get into the file.
local ways = {
   { name = "ring", type = "ring", help = "record through a ring that outlives the program" },
   { name = "flush_every", type = "int", help = "records after which the file shall have them" },
   { name = "fsync", type = "bool", help = "and the disk" },
   { name = "unfinished", type = "choice", choices = { "keep", "append", "refuse",
     "replace" }, default = "keep", help = "the recording that a killed writer has left at the "
     .. "path: keep it whole beside, under a name of its own; append to it; refuse to write; or "
     .. "replace it" },
}

local ring_options = {
   { name = "size", type = "size", default = "4M", help = "bytes of the ring: 65536, \"4M\", ..." },
   { name = "full", type = "choice", choices = { "block", "drop", "overwrite" },
     default = "block", help = "what happens to a record that finds no room: it waits, it is "
     .. "lost, or the oldest are" },
}

writer.options, writer.ring_options = ways, ring_options

-- The format and its checked write options; raises when it cannot be written.
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

-- The path by which a format decides what it writes beside its file: nothing beside a pipe or a
-- device, as beside standard output.
local function place_of(path)
   return path and outputs.is_in_place(path) and "-" or path
end

-- The files a format may write beside its own, by role; the format knows where. With `is_stream`
-- all files grow while they are written. Raises when one of all these files is an input, or is
-- written twice.
local function sides_of(format, path, checked, replaced, inputs, is_stream)
   local sides = format.side_outputs and format.side_outputs(place_of(path), checked, is_stream)
      or {}
   local paths = { path }
   for _, side in ipairs(sides) do
      paths[#paths + 1] = side.path
   end
   outputs.check(paths, inputs)
   outputs.check_inputs(replaced.paths, inputs)
   return sides
end

-- The files beside a path that belong to an older trace, and how they are removed; nil, message,
-- code: it cannot be written there.
local function replaced_by(format, path, checked)
   if not format.replaced or not path or place_of(path) == "-" then
      return { paths = {}, all = function() end, rest = function() end }
   end
   return format.replaced(path, checked)
end

-- What a sink answers at its end, and what it has replaced gone where that went well.
local function settle(replaced, ok, message, code)
   if ok then
      replaced.rest()
   end
   return ok, message, code
end

-- Whether a format has an option of its own by this name.
local function has_option(format, name)
   for _, option in ipairs(format.write_options or {}) do
      if option.name == name then
         return true
      end
   end
   return false
end

-- How the ring is asked to be, and what is left for the format; nil: the file is written whole.
-- What a format has an option of its own for, it is told too; packets are whole without a ring.
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

-- The options under which all that a killed writer leaves in its ring is one file.
local function kept_of(format, checked)
   local kept = {}
   for _, option in ipairs(format.write_options) do
      if option.name ~= "packets" and option.name ~= "flush_every" then
         kept[option.name] = checked[option.name]
      end
   end
   return kept
end

-- The right to write the ring of a path, after what a killed writer has left there has been dealt
-- with; nothing where no ring has a name. `kept` is the path of a recording that was kept.
local function claimed(path, plan)
   if not plan or not plan.ring_path then
      return nil
   end
   local claim, message, code = core.claim(plan.ring_path)
   if not claim then
      return nil, nil, message, code
   end
   local kept
   kept, message, code = recovery.settle(path, plan)
   if message then
      claim:close()
   end
   return claim, kept, message, code
end

-- }======

---Create a file. Without a ring it appears, and replaces an older one, at close. With a ring the
---records go through a mapped file PATH.ring into the file while the program runs: what was
---recorded is there also when the program is killed, and profio.open(PATH) finds it.
---A recording at the path that a killed writer has left is kept beside, as PATH-1 with the ending
---of PATH, unless option `unfinished` says otherwise; field `kept` of the writer is its path.
---@param path string|nil  "-" is standard output; nil: close gives the bytes
---@param given table { format =, ring = { size =, full = }, flush_every =, fsync =, unfinished =,
---options of the format }
---@return profio.Writer|nil
---@return string|nil message
---@return string|nil code
function writer.create(path, given)
   raise.expect(path, "string?", "create: the path")
   raise.expect(given, "table", "create: options")
   local named = registry.named(given.format or error("create expects a format", 0))
   if given.packets and not has_option(named, "packets") then
      error(("%s is written as one file: only traces of xpp are cut in packets"):format(named.name),
         0)
   end
   local plan, rest = plan_of(path, given, named)
   local format, checked = format_of(rest)
   local dictionary = core.dictionary()
   local sides = sides_of(format, path, checked, { paths = {} }, {}, plan ~= nil)
   if plan then
      plan.format = format
   end
   local claim <close>, kept, message, code = claimed(path, plan)
   if message then
      return nil, message, code
   end
   local replaced, sink
   local older = not (plan and plan.appends) and path or nil
   replaced, message, code = replaced_by(format, older, checked)
   if not replaced then
      return nil, message, code
   end
   if plan then
      plan.kept, plan.claim = kept_of(format, checked), claim
      sink, message, code = core.stream(format.name, checked, dictionary, path, sides, plan)
   else
      sink, message, code = core.writer(format.name, checked, dictionary, path, sides)
   end
   if not sink then
      return nil, message, code
   end
   if plan then
      replaced.all() -- before somebody reads what is written meanwhile
   end
   return setmetatable({ sink = sink, main = format.main_written or sink:tables()[1].name,
      dictionary = dictionary, is_stream = plan ~= nil, replaced = replaced, kept = kept }, Writer)
end

-- What the file cannot hold is wrong use, as a value of the wrong type is.
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
---@return boolean|nil  false: a ring that drops had no room
---@return string|nil message
---@return string|nil code
function Writer:write(table_name, record)
   if type(table_name) == "table" then
      table_name, record = self.main, table_name
   end
   raise.expect(record, "table", "write: the record")
   return answer(sink_of(self):put(table_name, record))
end

---The number of a call stack, for a column of stacks.
---@param frames table[] { area =, class =, file =, line =, value = }, the innermost first, as
---trace:stack gives them
---@return integer|nil
function Writer:stack(frames)
   raise.expect(frames, "table", "stack: the frames")
   return core.stack(self.dictionary, frames)
end

-- Without a ring an emitter fills a record; it saves writing the names.
local function plain_emitter(sink, table_name, columns)
   return function(...)
      local record = {}
      for i, column in ipairs(columns) do
         record[column] = (select(i, ...))
      end
      local ok, message, code = answer(sink:put(table_name, record))
      if not ok then
         return ok, message, code
      end
   end
end

---A function that records a row for its values: local emit = w:emitter("time", "op"), then
---emit(t, "i"). The fast way; through a ring, what cannot be written is a failure of a later call,
---and the ring takes nothing any more; without one it raises. The columns are those of the main
---table; another one stands before them: w:emitter("arcs", { "from", "to" }).
---The function answers nothing, false when a ring that drops had no room, or nil, message, code.
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
   return raise.public(plain_emitter(sink_of(self), table_name, columns))
end

---Wait until all that was recorded is in the file. A ring that overwrites keeps it: see dump.
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

---Write what a ring holds into the file, also one that overwrites, and go on.
---@return true|nil
---@return string|nil message
---@return string|nil code
function Writer:dump()
   if not self.is_stream then
      return true
   end
   return sink_of(self):dump()
end

---What became of the records: how many were tried, written into the file, and lost (dropped or
---overwritten by a ring); and how many values in them were rounded. Raises behind close.
---@return { tried: integer, written: integer, lost: integer, rounded: integer }
function Writer:facts()
   return sink_of(self):facts()
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
   if self.is_stream then
      return sink:finish()
   end
   return settle(self.replaced, sink:finish())
end

-- Left by an error, a file that is written whole is not: the old one stays. What a ring recorded
-- until then is written.
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

-- A note for each column that the file has no place for, but rows have values in.
local function note_columns(state, format, checked)
   for _, lost in ipairs(format.unwritten and format.unwritten(checked) or {}) do
      local has = state.schema[lost.table] and view.over(function()
         return trace.plain_reader(state, lost.table)
      end):where { [lost.column] = conditions.no(lost.none or conditions.missing) }:limit(1)
      if has and has:count() > 0 then
         state.notes[#state.notes + 1] = { code = format.name .. "-not-written", kind = "note",
            message = ("column '%s' of table '%s' has no place in the written file"):format(
               lost.column, lost.table) }
      end
   end
end

-- Whether a path means a directory.
local function is_directory(path)
   return path ~= nil and (path:find "/$" ~= nil or lfs.attributes(path, "mode") == "directory")
end

-- The rows of all tables that have a place in the file.
local function put_tables(sink, state, format, checked, path)
   local names = written_tables(sink, state, format)
   if #names == 0 then
      return nil, ("%s: no table of a trace of %s has a place in a file of %s"):format(
         path or "(data)", state.format.name, format.name), "unsupported"
   end
   if format == state.format then
      note_columns(state, format, checked)
   end
   for _, name in ipairs(names) do
      local reader, message, code = trace.plain_reader(state, name)
      local ok = reader
      if reader then
         ok, message, code = sink:put_reader(name, reader)
      end
      if not ok then
         return nil, message, code
      end
   end
   return true
end

-- All of a trace: as it is where the format takes whole traces, else its rows.
local function put_all(sink, state, format, checked, path)
   if format == state.format then
      local done, message, code = sink:put_traces(state.parts)
      if done ~= false then
         return done, message, code
      end
   end
   return put_tables(sink, state, format, checked, path)
end

---Write all of a trace. What the format's file does not say (byte order, width) is taken from
---the trace. Raises when a file that would be written is one of the trace.
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
      -- What a file of another format states means other things there.
      local part = format == state.format and state.parts[1] or nil
      format.save_defaults(checked, part and part:info() or {}, part, place_of(path))
   end
   local inputs = input_files.paths_of(state)
   outputs.check_inputs({ path }, inputs)
   local replaced, message, code = replaced_by(format, path, checked)
   if not replaced then
      return nil, message, code
   end
   checked.inputs = #state.parts -- what is merged has an order of its own
   local sink
   sink, message, code = core.writer(format.name, checked, state.dictionary, path,
      sides_of(format, path, checked, replaced, inputs, false))
   if not sink then
      return nil, message, code
   end
   local ok
   ok, message, code = put_all(sink, state, format, checked, path)
   if not ok then
      sink:close()
      return nil, message, code
   end
   if state.is_over and state.is_over() then
      sink:close()
      return nil, (path or "(data)") .. ": interrupted: it is as it was", "io"
   end
   return settle(replaced, sink:finish())
end

raise.publish_methods(Writer, "writer", function(value)
   return getmetatable(value) == Writer
end)

return writer
