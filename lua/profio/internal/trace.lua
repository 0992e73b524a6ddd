-- A trace: an opened file, or several concatenated files of one format, as one object.

local later = require "profio.internal.later"
local anonymising = later "profio.internal.anonymising"
local event_methods = later "profio.internal.calls.event_methods"
local catalogue = require "profio.internal.catalogue"
local chunks = require "profio.internal.chunks"
local core = require "profio.core"
local exporting = later "profio.internal.exporting"
local file_sums = require "profio.internal.several.file_sums"
local inputs = require "profio.internal.opening.inputs"
local joined_runs = later "profio.internal.several.joined_runs"
local profiles = later "profio.internal.bodies.profile_methods"
local raise = require "profio.internal.raise"
local side_files = later "profio.internal.opening.side_files"
local suggestions = later "profio.internal.suggestions"
local tables = require "profio.internal.table_readers"
local view_warnings = require "profio.internal.views.view_warnings"
local views = require "profio.internal.views"
local writer = later "profio.internal.writing.writer"

local trace = {}

---@class profio.Trace
---@field format string
---@field path string
---@field info table<string, any> header fields
---@field warnings profio.Warning[] warnings so far: the first of each code with its count
---@field tables string[] the first is the main one
local Trace = { __name = "profio.trace" }
local methods = {}

-- Header fields that are counts: they are added up over the files of a trace.
local counted = { records = true, sets = true, bins = true, arcs = true, blocks = true,
   lost = true, images = true }

local function add_table(opened, name, described)
   opened.schema[name] = described
   opened.names[#opened.names + 1] = name
end

---Build a trace from opened parts of one format. It has the tables of its parts and those that the
---format derives from them: derived = { name = { from = table, stage = function(reader, options,
---state, again) } }, where again() opens another reader of the same table.
---@param opened table { format=, paths=, parts=, sources=, dictionary=, options=, symbols= }
---@return profio.Trace
function trace.new(opened)
   opened.closed = false
   opened.notes = opened.notes or {}
   opened.other_symbols = {} -- symbols chosen by other rules, by name of the rule
   opened.schema, opened.names = {}, {}
   opened.first = opened.first or opened.parts[1]
   opened.stored = opened.first.stored
   for _, described in ipairs(opened.first:tables()) do
      if not (opened.differs or {})[described.name] then
         add_table(opened, described.name, described)
      end
      for name, made in pairs(opened.format.derived or {}) do
         if made.from == described.name then
            add_table(opened, name, made)
         end
      end
   end
   return setmetatable({ [trace] = opened }, Trace)
end

---Returns the state of a trace, for other files of profio.
---@param self profio.Trace
---@return table
function trace.of(self)
   return rawget(self, trace)
end

local function alive(self)
   local state = trace.of(self)
   if state.closed then
      error("trace is closed", 3)
   end
   return state
end

-- Those of event_methods.lua, which is loaded when one of them is called.
for name in ("calls call_statistics chains chain_events chain_statistics jobs "
   .. "task_statistics explain"):gmatch "%S+"
do
   methods[name] = function(...)
      return event_methods.with(alive)[name](...)
   end
end

-- Reports are above the library: they are plug-ins.
local function report_rows()
   return catalogue.load("profio.cli", "report_rows")
end

-- {====== Tables ======

-- Returns readers of a large table in chunks, one for each thread, or nil. Tables with symbolized
-- columns are read as a whole.
local function parts_of(self, state, name)
   local has_addresses = state.format.addresses and state.format.addresses[name]
   local rows = not has_addresses and chunks.rows(self, state, name)
   local _, count = chunks.of(rows or 0)
   return count > 1 and chunks.readers(state.parts[1], name, rows, count) or nil
end

local function check_table(state, name)
   if not state.schema[name] then
      error(("no table '%s'; there are: %s"):format(tostring(name),
         table.concat(state.names, ", ")), 0)
   end
end

---Returns a view of one table. Raises if there is no such table.
---@param name string
---@return profio.View
function methods:table(name)
   local state = alive(self)
   check_table(state, name)
   return views.over(function()
      return tables.symbolized(state, name)
   end, self, function()
      return parts_of(self, state, name)
   end)
end

---Returns whether the trace has a table of this name.
---@param name string
---@return boolean
function methods:has(name)
   return alive(self).schema[raise.expect(name, "string", "has: the table")] ~= nil
end

-- }======

-- {====== Facts and warnings ======

local function info_of(state)
   if not state.added_info or state.options.live then -- else they are all known after opening
      state.added_info = file_sums.info(state, counted)
   end
   local info = {}
   for name, value in pairs(state.added_info) do
      info[name] = value
   end
   info.format = state.format.name
   if state.lost then
      info.lost = (info.lost or 0) + state.lost
   end
   if #state.paths > 1 then
      info.files = #state.paths
   end
   return info
end

---Returns ", N times" for a warning that came several times, else "".
---@param warning profio.Warning
---@return string
function trace.times(warning)
   return (warning.count or 1) > 1 and (", %d times"):format(warning.count) or ""
end

local none = {}

local function warnings_of(self)
   local state, list = trace.of(self), {}
   file_sums.each(state, function(part, i)
      for _, warning in ipairs(part:warnings() or none) do
         warning.path = warning.path or state.paths[i] -- of a store: the path of the run
         list[#list + 1] = warning
      end
   end)
   local folds = not (state.options and state.options.all_warnings)
   local known = {}
   for _, note in ipairs(state.notes) do
      local kind = table.concat({ note.code, note.path or "", note.message }, "\0")
      if known[kind] and folds then
         known[kind].count = known[kind].count + 1
      else
         known[kind] = { code = note.code, kind = note.kind, path = note.path,
            offset = note.offset, message = note.message, count = folds and 1 or nil }
         list[#list + 1] = known[kind]
      end
   end
   for name in pairs(state.format.derived or none) do
      list[#list + 1] = state.schema[name] and state.schema[name].note
         and state.schema[name].note(state)
   end
   local of_views = view_warnings.of(self)
   return table.move(of_views, 1, #of_views, #list + 1, list)
end

---Returns the format's options that the user gave.
---@return table<string, any>
function methods:options()
   return alive(self).format_options or {}
end

---Returns the losses of the trace as texts; profiles and exports pass them on.
---@return string[] losses  empty if no loss is known
function methods:losses()
   local list, info = {}, self.info
   local stored = trace.of(self).stored
   if stored then
      list = stored.losses()
   elseif (info.lost or 0) ~= 0 then
      list[1] = ("%s: %s records were lost"):format(self.path, info.lost)
   end
   for _, warning in ipairs(self.warnings) do
      local is_own = not stored or not warning.path or warning.path == self.path
      if warning.kind == "damage" and is_own then -- others are among the stored losses
         list[#list + 1] = ("%s: %s (%s%s)"):format(warning.path or self.path, warning.message,
            warning.code, trace.times(warning))
      end
   end
   return list
end

---Returns the header fields in the order of the file: { { name=, type=, value= }, ... } per part.
---@return table[][]
function methods:facts()
   local list = {}
   for i, part in ipairs(alive(self).parts) do
      list[i] = part:info()
   end
   return list
end

---Returns the number of rows of a table, or nil if only reading it would tell.
---@param name string
---@return integer|nil
function methods:row_count(name)
   local state = alive(self)
   check_table(state, name)
   if state.schema[name].stage or name == "events" and state.task_states or state.format.summed
      and state.format.summed(name, file_sums.parts(state))
   then
      return nil
   end
   return file_sums.row_count(state, name)
end

---Put a stage over every table that is read from now on.
---@param stage fun(reader: userdata, name: string): userdata
---@param is_over fun(): boolean  whether the stage ended a table early: then save writes nothing
function methods:watch(stage, is_over)
   local state = alive(self)
   state.watch = raise.expect(stage, "function?", "watch: the stage")
   state.is_over = raise.expect(is_over, "function?", "watch: is_over")
end

---Look for data written since the trace was opened live or refreshed: readers that were at its end
---continue.
---@return boolean more  there is new data
function methods:refresh()
   local state = alive(self)
   local is_new = false
   if not state.options.live then
      error("refresh expects a trace that was opened with live = true", 2)
   end
   for i, part in ipairs(state.parts) do
      -- A writer completes a packet before it creates the next one: so that a packet after which
      -- another one was found has all its rows, files grow after new ones are looked for.
      is_new = state.format.side_files
         and side_files.add_new(state, part, state.paths[i]) or is_new
      is_new = part:grow() or is_new
   end
   return is_new
end

---Read the whole trace and list every warning, not only the first of each code. If a stage of
---`watch` ends a table early: those so far.
---@return profio.Warning[] warnings  empty if there are none
function methods:check()
   local state = alive(self)
   local again, message = state.reopen()
   if not again then
      return { { code = state.format.name .. "-unreadable", kind = "damage", message = message,
         path = state.paths[1] } }
   end
   again:watch(state.watch, state.is_over)
   for _, name in ipairs(again.tables) do
      core.drain(tables.plain(trace.of(again), name), true)
   end
   if trace.of(again).schema.events then
      core.drain(again:call_statistics { quantiles = "" }:reader(), true)
   end
   local warnings = again.warnings
   again:close()
   return warnings
end

-- }======

---Returns the frames of a call stack, innermost first.
---@param number integer a value of a column of stacks
---@return { area: string, class: string|nil, file: string|nil, line: integer|nil }[]
function methods:stack(number)
   return alive(self).dictionary:stack(raise.expect(number, "integer", "stack: the number"))
end

---Returns from what a profile of the trace would be built, or nil if the tables are missing.
---@return "graph"|"stacks"|"calls"|nil
function methods:profile_kind()
   return profiles.kind(alive(self))
end

---Returns whether a profile of the trace knows callers, to which the cost of hidden functions is
---charged.
---@return boolean
function methods:has_callers()
   return profiles.has_callers(self, alive(self))
end

---Returns the profile of the trace: functions and arcs with their times. See profio.profile.
---@param options table|nil
---@return profio.Profile|nil
---@return string|nil message
---@return string|nil code
function methods:profile(options)
   return profiles.of_trace(self, alive(self), options or {})
end

---Returns the rows of a report, such as trace:report("load", { pieces = 40 }). Each report also has
---a method of its name, with _ for -: trace:load { pieces = 40 }. Raises if the report does not fit
---the trace.
---@param name string
---@param options table|nil options of the report (profio help reports), and from, to, lane, metric,
---focus, ignore, hide, source, chain, compat
---@return profio.View
---@return string[] notes  of what was left out, complete when the rows have been read
function methods:report(name, options)
   alive(self)
   raise.expect(name, "string", "report: the name")
   return report_rows().rows(self, name, options)
end

---Export the trace, or its profile, for another program. The file appears when it is complete.
---Raises if the path is a file of the trace.
---@param kind string  "btf", "chrome", "speedscope", ...; the profile is built if necessary
---@param path string|nil nil: return the bytes; "-": standard output
---@param options table|nil options of the export; of events and samples
---with times also from, to, lane
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function methods:export(kind, path, options)
   alive(self)
   return exporting.of_trace(self, kind, path, options)
end

---Returns the paths of all files that were read for the trace; no export overwrites them.
---@return string[]
function methods:inputs()
   return inputs.paths_of(alive(self))
end

---Write the whole trace into a file of a format and dialect; rows of several files with equal keys
---are added up. Files with a clock, which are runs of their own, are written as one file only if
---that has the same calls. The files appear, and replace older ones, when all are complete. Raises
---if the path is a file of the trace.
---@param path string|nil nil: return the bytes; "-": standard output
---@param options table|nil { format =, options of that format }
---@return integer|string|nil written
---@return string|nil message
---@return string|nil code
function methods:save(path, options)
   local state = alive(self)
   if #state.paths > 1 and type(options or {}) == "table" then
      local ok, message, code = joined_runs.check(self, state, path, options or {})
      if not ok then
         return nil, message, code
      end
   end
   return writer.save(state, path, options or {})
end

---Write the files of the trace with aliases instead of names, and without parameters and comments,
---so that a file that shows a fault can be sent. Times, counts, addresses and the order stay, and
---so do, where the format allows it, the bytes around the names. The files appear, and replace
---older ones, when all are complete. Warnings of the trace state what was left out. Raises if a
---path is a file of the trace.
---@param path string|nil nil: return the bytes, and those of files beside the trace by role; "-":
---standard output
---@param options table|nil { aliases = path of the list of aliases that is written, known_aliases =
---path of such a list, of another file of the program }
---@return boolean|string|nil
---@return string|table<string, string>|nil message
---@return string|nil code
function methods:anonymise(path, options)
   return anonymising.write(self, alive(self), path, options, trace.of)
end

---Close the files. Views of the trace raise afterwards. Closing twice is allowed.
function methods:close()
   local state = trace.of(self)
   if state.closed then
      return
   end
   state.closed = true
   state.last_warnings, state.last_info = warnings_of(self), info_of(state)
   for _, part in ipairs(file_sums.parts(state)) do
      part:close()
   end
   for _, source in ipairs(file_sums.sources(state)) do
      source:close()
   end
   if state.symbols then
      state.symbols:close()
   end
   for _, other in pairs(state.other_symbols) do
      other:close()
   end
end

local function is_one(value)
   return getmetatable(value) == Trace
end

raise.publish_methods(methods, "trace", is_one)

-- Methods of views, called on the trace, apply to its main table. Returns nil if there is none of
-- this name.
local function method_of_view(name)
   if not methods[name] and views.all.methods[name] then
      local made = { [name] = function(self, ...)
         local main = methods.table(self, alive(self).names[1])
         return main[name](main, ...)
      end }
      raise.publish_methods(made, "trace", is_one)
      methods[name] = made[name]
   end
   return methods[name]
end

-- Raises for a key that is no field, method or table of the trace.
local function unknown_field(state, key)
   local there = table.concat(state.names, ", ")
   if math.type(key) then -- as ipairs asks
      error(raise.where() .. "a trace has no items: for row in trace:records() do, or "
         .. "trace:rows(); its tables are: " .. there, 0)
   end
   local names = { "columns", "format", "info", "path", "tables", "warnings" }
   for _, some in ipairs { state.schema, methods, views.all.methods } do
      for name in pairs(some) do
         names[#names + 1] = name
      end
   end
   table.sort(names)
   error(("%sthis trace of %s has no field or table '%s'; its tables are: %s%s"):format(
      raise.where(), state.format.name, tostring(key), there,
      suggestions.hint(tostring(key), names)), 0)
end

-- Returns the method of a report of this name, or nil.
local function report_method(key)
   return type(key) == "string" and report_rows().has(key) and function(self, options)
      return methods.report(self, key, options)
   end or nil
end

Trace.__close = methods.close

function Trace:__index(key)
   local state = trace.of(self)
   if methods[key] then
      return methods[key]
   elseif key == "format" then
      return state.format.name
   elseif key == "path" then
      return state.paths[1]
   elseif key == "info" then
      return state.last_info or info_of(state)
   elseif key == "warnings" then
      return state.last_warnings or warnings_of(self)
   elseif key == "tables" then
      return table.move(state.names, 1, #state.names, 1, {})
   elseif key == "columns" and not state.schema[key] then
      return methods.table(self, state.names[1]).columns
   end
   return method_of_view(key) or state.schema[key] and methods.table(self, key)
      or report_method(key) or unknown_field(state, key)
end

function Trace:__tostring()
   local state = trace.of(self)
   return ("profio.trace (%s, %s)"):format(state.format.name, state.closed and "closed"
      or state.paths[1])
end

return trace
