-- A trace: an opened file, or several of one format in a row, as one object.

local core = require "profio.core"
local division = require "profio.division"
local inputs = require "profio.inputs"
local raise = require "profio.raise"
local view = require "profio.view"

local trace = {}

---@class profio.Trace
---@field format string
---@field path string
---@field info table<string, any> header facts
---@field warnings profio.Warning[] what has been noticed so far: the first of each code, and how
---often it came
---@field tables string[] the first is the main one
local Trace = { __name = "profio.trace" }
local methods = {}

-- Facts that count something are added up over the files of a trace.
local counted = { records = true, sets = true, bins = true, arcs = true, blocks = true,
   lost = true, images = true }

local function add_table(opened, name, described)
   opened.schema[name] = described
   opened.names[#opened.names + 1] = name
end

---Make a trace of opened parts of one format. Beside the tables of its parts it has those that the
---format makes of them: made = { name = { from = table, stage = function(reader, options) } }.
---@param opened table { format=, paths=, parts=, sources=, dictionary=, options=, symbols= }
---@return profio.Trace
function trace.new(opened)
   opened.closed = false
   opened.notes = opened.notes or {}
   opened.other_symbols = {} -- picked by other rules, by name of the rule
   opened.schema, opened.names = {}, {}
   for _, described in ipairs(opened.parts[1]:tables()) do
      if not (opened.differs or {})[described.name] then
         add_table(opened, described.name, described)
      end
      for name, made in pairs(opened.format.made or {}) do
         if made.from == described.name then
            add_table(opened, name, made)
         end
      end
   end
   return setmetatable({ [trace] = opened }, Trace)
end

---What stands behind a trace, for the other files of profio.
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

-- {====== Tables ======

-- Names of the files that tell them apart: bytes have none, and a file may be given twice. The
-- records of a ring go on where those of its file end, as one run, so they have its name.
local function names_of(paths, goes_on)
   local names, seen = {}, {}
   for i, path in ipairs(paths) do
      path = path or "(data)"
      seen[path] = (seen[path] or 0) + 1
      names[i] = goes_on[i] and names[i - 1]
         or seen[path] == 1 and path or ("%s (%d)"):format(path, seen[path])
   end
   return names
end

-- The constant columns of the files: `file`, and what the format says of each.
local function constants_of(state)
   local columns = { { name = "file", values = names_of(state.paths, state.goes_on) } }
   for i, part in ipairs(state.parts) do
      for c, constant in ipairs(state.format.constants and state.format.constants(part) or {}) do
         columns[c + 1] = columns[c + 1] or { name = constant.name, values = {} }
         columns[c + 1].values[i] = constant.value
      end
   end
   return columns
end

-- Where a table has a column `file` of its own, that of the files is trace_file.
local function free_name(reader, name)
   for _, field in ipairs(reader:fields()) do
      if field.name == name then
         return "trace_" .. name
      end
   end
   return name
end

-- The files of a trace in a row, with their constant columns.
local function chained(state, name)
   local readers, numbers = {}, {}
   for i, part in ipairs(state.parts) do
      local reader, message, code = part:reader(name)
      if not reader then
         return nil, message, code
      end
      readers[i], numbers[i] = reader, part:numbers_used()
   end
   local constants = constants_of(state)
   for _, constant in ipairs(constants) do
      constant.name = free_name(readers[1], constant.name)
   end
   return core.chain(readers, constants, numbers)
end

-- A reader over a table as the file states it.
local function plain_reader(state, name)
   if state.closed then
      error("trace is closed", 0)
   end
   local made = state.schema[name].stage
   local reader, message, code
   if made then
      reader, message, code = plain_reader(state, state.schema[name].from)
      return reader and made(reader, state.format_options or {}), message, code
   elseif #state.parts == 1 and not state.format.constants then
      reader, message, code = state.parts[1]:reader(name)
   else
      reader, message, code = chained(state, name)
   end
   if reader and state.watch then
      reader = state.watch(reader, name)
   end
   return reader, message, code
end

-- The same where the format says that equal things of several records and files are one: rows with
-- equal keys are added up.
local function summed_reader(state, name)
   local reader, message, code = plain_reader(state, name)
   local summed = state.format.summed and state.format.summed(name, state.parts)
   if not reader or not summed then
      return reader, message, code
   end
   return core.group(reader, { { column = summed.key, name = summed.key } },
      { { fn = "sum", column = summed.sum, name = summed.sum } })
end

-- The columns that come from addresses stand behind those of the file.
local function derived_reader(state, name)
   local reader, message, code = summed_reader(state, name)
   local addresses = state.format.addresses and state.format.addresses[name]
   if not reader or not state.symbols or not addresses then
      return reader, message, code
   end
   return core.symbolize(reader, state.symbols.symbols, state.load_bias, addresses)
end

-- The rows of a large table in parts, or nil: a reader for each thread. Not where a stage stands
-- over the table.
local function parts_of(self, state, name)
   local has_addresses = state.format.addresses and state.format.addresses[name]
   local rows = not has_addresses and division.rows(self, state, name)
   local _, count = division.of(rows or 0)
   return count > 1 and division.readers(state.parts[1], name, rows, count) or nil
end

local function check_table(state, name)
   if not state.schema[name] then
      error(("no table '%s'; there are: %s"):format(tostring(name),
         table.concat(state.names, ", ")), 0)
   end
end

---A view over one of the trace's tables. Raises when there is no such table.
---@param name string
---@return profio.View
function methods:table(name)
   local state = alive(self)
   check_table(state, name)
   return view.over(function()
      return derived_reader(state, name)
   end, self, function()
      return parts_of(self, state, name)
   end)
end

-- Methods of views, of the trace itself, mean its main table.
for name in pairs(view.methods) do
   if not methods[name] then
      methods[name] = function(self, ...)
         local main = methods.table(self, alive(self).names[1])
         return main[name](main, ...)
      end
   end
end

---The calls that the events of the trace make, in order of stop: area, lane, start, stop, gross,
---net, call, period, outside, depth, caller, flags, count, stack. Raises when there are no events.
---@param options table|nil recursion = "all" | "outermost", partial = "include" | "exclude",
---edges = "exclude" | "include", from, to, last, max_depth; see profio.calls
---@return profio.View
function methods:calls(options)
   return require("profio.calls").of_trace(self, alive(self), options)
end

---What the calls come to, a row for each area, as it was met: area, handle, value, context, count,
---then net, gross, call, period, outside, each bare (the sum) and with _min, _max, _mean, _stddev,
---_p50, _p99; net_max_at, gross_max_at, call_max_at, period_jitter; without callers last_stop. The
---same numbers as an aggregate of calls, in memory that does not grow with them.
---@param options table|nil by = "area" | "context" | "caller", quantiles = "p50,p99", and those
---of calls
---@return profio.View
function methods:call_statistics(options)
   return require("profio.calls").statistics(self, alive(self), options)
end

-- }======

-- {====== What it says of itself ======

local function info_of(state)
   local info = {}
   for _, part in ipairs(state.parts) do
      for _, fact in ipairs(part:info()) do
         local known = info[fact.name]
         if known == nil then
            info[fact.name] = fact.value
         elseif counted[fact.name] then
            info[fact.name] = known + fact.value
         end
      end
   end
   info.format = state.format.name
   if state.lost then
      info.lost = (info.lost or 0) + state.lost
   end
   if #state.parts > 1 then
      info.files = #state.parts
   end
   return info
end

---How often a warning came, as words behind it; "" when it came once, or stands for itself.
---@param warning profio.Warning
---@return string
function trace.times(warning)
   return (warning.count or 1) > 1 and (", %d times"):format(warning.count) or ""
end

local function warnings_of(self)
   local state, list = trace.of(self), {}
   for i, part in ipairs(state.parts) do
      for _, warning in ipairs(part:warnings()) do
         warning.path = state.paths[i]
         list[#list + 1] = warning
      end
   end
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
   local of_views = view.warnings(self)
   return table.move(of_views, 1, #of_views, #list + 1, list)
end

---What the user gave for the format.
---@return table<string, any>
function methods:options()
   return alive(self).format_options or {}
end

---What was lost of it, in words: what goes along with what is made of the trace.
---@return string[] losses  empty when nothing is known to be lost
function methods:losses()
   local list, info = {}, self.info
   if (info.lost or 0) ~= 0 then
      list[1] = ("%s: %s records were lost"):format(self.path, info.lost)
   end
   for _, warning in ipairs(self.warnings) do
      if warning.kind == "damage" then
         list[#list + 1] = ("%s: %s (%s%s)"):format(warning.path or self.path, warning.message,
            warning.code, trace.times(warning))
      end
   end
   return list
end

---Header facts in the order of the file: { { name=, type=, value= }, ... } per part.
---@return table[][]
function methods:facts()
   local list = {}
   for i, part in ipairs(alive(self).parts) do
      list[i] = part:info()
   end
   return list
end

---How many rows a table has, or nil where only a pass would tell.
---@param name string
---@return integer|nil
function methods:row_count(name)
   local total = 0
   check_table(alive(self), name)
   local state = alive(self)
   if state.schema[name].stage or state.format.summed
      and state.format.summed(name, state.parts)
   then
      return nil
   end
   for _, part in ipairs(alive(self).parts) do
      for _, described in ipairs(part:tables()) do
         if described.name == name then
            if not described.rows then
               return nil
            end
            total = total + described.rows
         end
      end
   end
   return total
end

---Put a stage over every table that is read from here on.
---@param stage fun(reader: userdata, name: string): userdata
---@param is_over fun(): boolean  whether the stage has ended a table before its end: then save
---writes nothing
function methods:watch(stage, is_over)
   local state = alive(self)
   state.watch = raise.expect(stage, "function?", "watch: the stage")
   state.is_over = raise.expect(is_over, "function?", "watch: is_over")
end

-- Further files of a part, which have appeared since it was opened.
local function add_files(state, part, path)
   local known, is_new = {}, false
   for _, source in ipairs(state.sources) do
      known[source:path()] = true
   end
   for _, found in ipairs(state.format.side_files { path = path, source = state.sources[1],
      options = state.format_options or {} }) do
      local source = not known[found.path] and inputs.is_allowed(found.path, path, state.format,
         state.options, {}) and core.source_live(found.path)
      if source then
         state.sources[#state.sources + 1] = source
         part:add(found.role, source)
         is_new = true
      end
   end
   return is_new
end

---Look what has been written since a trace was opened live, or refreshed: readers that had come to
---its end go on.
---@return boolean more
function methods:refresh()
   local state = alive(self)
   local is_new = false
   if not state.options.live then
      error("refresh expects a trace that was opened with live = true", 2)
   end
   for i, part in ipairs(state.parts) do
      is_new = part:grow() or is_new
      is_new = (state.format.side_files and add_files(state, part, state.paths[i])) or is_new
   end
   return is_new
end

---Read everything and list each thing that is odd, not only the first of its code.
---@return profio.Warning[] warnings  empty when there is nothing to say
function methods:check()
   local state = alive(self)
   local again, message = state.reopen()
   if not again then
      return { { code = state.format.name .. "-unreadable", kind = "damage", message = message,
         path = state.paths[1] } }
   end
   for _, name in ipairs(again.tables) do
      core.drain(plain_reader(trace.of(again), name), true)
   end
   local warnings = again.warnings
   again:close()
   return warnings
end

-- }======

---The frames of a call stack, the innermost first.
---@param number integer a value of a column of stacks
---@return { area: string, class: string|nil, file: string|nil, line: integer|nil }[]
function methods:stack(number)
   return alive(self).dictionary:stack(raise.expect(number, "integer", "stack: the number"))
end

---What a profile of the trace would be made from, or nil when it has no such tables.
---@return "graph"|"stacks"|"calls"|nil
function methods:profile_kind()
   return require("profio.profile").kind(alive(self))
end

---Whether a profile of the trace knows callers, whom the cost of hidden functions is charged to.
---@return boolean
function methods:has_callers()
   return require("profio.profile").has_callers(self, alive(self))
end

---The profile of the trace: functions and arcs with their times. See profio.profile.
---@param options table|nil
---@return profio.Profile|nil
---@return string|nil message
---@return string|nil code
function methods:profile(options)
   return require("profio.profile").of_trace(self, alive(self), options or {})
end

-- The options of an export of profiles, and those which say what the profile is made of.
local function parted(options)
   local own, part = {}, {}
   for name, value in pairs(raise.expect(options or {}, "table", "export: options")) do
      local is_part = name == "from" or name == "to" or name == "lane"
      (is_part and part or own)[name] = value
   end
   return own, part
end

---Hand the trace to another program: exports that take a trace, or its profile. The file appears
---when it is complete; a path that is a file of the trace raises.
---@param kind string  "btf", "chrome", "speedscope", ...; exports that take a profile get it made
---@param path string|nil nil: the bytes are returned
---@param options table|nil of the export; of events also from, to, lane
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function methods:export(kind, path, options)
   alive(self)
   local exports = require "profio.exports"
   local export = exports.named(kind)
   local own, part = parted(options)
   if export.takes == "profile" and (next(part) or not exports.is_whole(export, self)) then
      local made, message, code = self:profile(part)
      if not made then
         return nil, message, code
      end
      return made:export(kind, path, own)
   end
   return exports.run(kind, "trace", self, options, path, inputs.paths_of(alive(self)))
end

---Write the whole trace into a file of a format and dialect; equal things of several files are
---added up. The files appear, and replace older ones, when all are complete; a path that is a file
---of the trace raises.
---@param path string|nil  nil: the bytes are returned
---@param options table|nil { format =, options of that format }
---@return integer|string|nil written
---@return string|nil message
---@return string|nil code
function methods:save(path, options)
   return require("profio.writer").save(alive(self), path, options or {})
end

---Close the files. Views of the trace raise from then on. Closing twice is fine.
function methods:close()
   local state = trace.of(self)
   if state.closed then
      return
   end
   state.closed = true
   state.last_warnings, state.last_info = warnings_of(self), info_of(state)
   for _, part in ipairs(state.parts) do
      part:close()
   end
   for _, source in ipairs(state.sources) do
      source:close()
   end
   if state.symbols then
      state.symbols:close()
   end
   for _, other in pairs(state.other_symbols) do
      other:close()
   end
end

raise.publish_methods(methods, "trace", function(value)
   return getmetatable(value) == Trace
end)

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
   elseif state.schema[key] then
      return methods.table(self, key)
   elseif key == "columns" then
      return methods.table(self, state.names[1]).columns
   end
   return nil
end

function Trace:__tostring()
   local state = trace.of(self)
   return ("profio.trace (%s, %s)"):format(state.format.name, state.closed and "closed"
      or state.paths[1])
end

trace.plain_reader = plain_reader
trace.derived_reader = derived_reader

return trace
