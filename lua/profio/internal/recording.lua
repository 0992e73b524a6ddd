-- The module profio.recorder: records a Lua program while it runs.
--
-- During a recording, coroutine.create, resume, wrap and close, debug.sethook and gethook, and
-- os.exit are replaced by functions of the recorder, which behave the same. Older references to the
-- originals are not seen.

local core = require "profio.core"
local exports = require "profio.internal.exporting.export_list"
local naming = require "profio.internal.naming"
local options = require "profio.internal.options"
local outputs = require "profio.internal.writing.outputs"
local plain = require "profio.internal.plain"
local profiles = require "profio.internal.bodies.profile_methods"
local raise = require "profio.internal.raise"
local times = require "profio.internal.times"
local writing = require "profio.internal.writing.writer"

local recorder = {}

-- {====== Options ======

---@type profio.Option[]
local declared = {
   { name = "mode", type = "choice", choices = { "timed", "sampled", "calls", "aggregate",
     "memory" }, default = "sampled",
     help = "sampled: stacks at intervals; timed: each line with its time; calls: each enter and "
        .. "leave; aggregate: sums by calling context, in memory; memory: allocations by calling "
        .. "context" },
   { name = "path", type = "text",
     help = "output file; %p stands for the process id; optional for aggregate and memory" },
   { name = "format", type = "text",
     help = "br for timed and sampled; winidea or xpp for calls; an export for aggregate and "
        .. "memory, by default by the extension of path" },
   { name = "interval", type = "text", default = "1ms",
     help = "time between two samples: 500us, 1ms, ..." },
   { name = "clock", type = "choice", choices = { "wall", "cpu" },
     help = "cpu, the default of sampled (but for Windows): do not count the time in which the "
        .. "program waits or others run; this clock costs more in other modes, whose default is "
        .. "wall" },
   { name = "depth", type = "int", default = 128,
     help = "most frames of a stack; samples of deeper stacks lack the outermost frames, other "
        .. "modes those in the middle" },
   { name = "lines", type = "bool",
     help = "aggregate, memory: by line; else by function, at lower cost; the default is on for "
        .. "aggregate" },
   { name = "bytes", type = "size", default = 512 << 10,
     help = "memory: bytes from one sample to the next, on average: 64K, 1M, ..." },
   { name = "exact", type = "bool", default = false,
     help = "memory: each block that is allocated, by function, at higher cost" },
   { name = "backtraces", type = "bool", default = false,
     help = "timed: record each line with its callers; the file is several times as long" },
   { name = "subtract", type = "bool", default = true,
     help = "measure the cost of the hooks and subtract it from the times" },
   { name = "ring", type = "ring", help = "{ size =, full = } of the ring, as in profio.create" },
   { name = "unfinished", type = "choice", choices = { "keep", "append", "refuse",
     "replace" }, default = "keep",
     help = "the recording that a killed program has left at the path: keep it under another name; "
        .. "append to it; refuse to record; or replace it" },
}

recorder.options = declared

-- The formats of each mode, the default first; and the options for writing them.
local formats = { timed = { "br" }, sampled = { "br" }, calls = { "winidea", "xpp" } }

local write_options = {
   br = {},
   winidea = { dialect = "text1", timeline_binary = true,
      handle_format = "%HANDLE%,%NAME%,%VALUE%,%FILE%" },
   xpp = { round = true, symbol_size = 80, params = false },
}

-- Converts a time such as 1ms to ns.
local function interval_of(text)
   local ns, unit = times.parse(text)
   if not ns or not unit or ns < 20000 or ns > 10000000000 then
      error(("option 'interval' must be a time from 20us to 10s, got %s"):format(text), 0)
   end
   return ns
end

local function check_format(asked)
   local known = formats[asked.mode]
   if not known then
      asked.format = asked.format or (asked.path and exports.of_path(asked.path)) or "pprof"
      local export = exports.named(asked.format)
      if export.takes ~= "profile" and not export.write_profile then
         error(("export '%s' takes no profile"):format(asked.format), 0)
      end
      return
   end
   asked.format = asked.format or known[1]
   for _, name in ipairs(known) do
      if asked.format == name then
         return
      end
   end
   error(("mode %s is recorded as %s, not as %s"):format(asked.mode,
      table.concat(known, " or "), asked.format), 0)
end

-- Published alone, because functions around it that run after recorder.start would be recorded.
local checked = raise.public(function(given)
   local asked = options.check(declared, given, "recorder")
   for _, option in ipairs(declared) do
      if asked[option.name] == nil then
         asked[option.name] = option.default
      end
   end
   asked.clock = asked.clock or (asked.mode == "sampled" and core.has_fine_cpu_time()
      and "cpu" or "wall")
   check_format(asked)
   if not asked.path and formats[asked.mode] then
      error("the recorder expects a path", 0)
   elseif asked.depth < 1 or asked.depth > 65536 then
      error("option 'depth' must be from 1 to 65536", 0)
   end
   local is_memory = asked.mode == "memory"
   if not is_memory and (given.exact or given.bytes) then
      error(("option '%s' is for mode memory"):format(given.exact and "exact" or "bytes"), 0)
   elseif asked.exact and (asked.lines or given.bytes) then
      error(("option '%s' is not for exact"):format(asked.lines and "lines" or "bytes"), 0)
   elseif is_memory and given.interval then
      error("option 'interval' is not for mode memory: bytes is", 0)
   end
   if asked.lines == nil then
      asked.lines = asked.mode == "aggregate"
   end
   asked.path = asked.path and (asked.path:gsub("%%([p%%])", { p = core.process_id(),
      ["%"] = "%" }))
   asked.interval = is_memory and asked.bytes or interval_of(asked.interval)
   return asked
end)

---Parses options as in PROFIO_RECORD: "mode=timed,path=out.prf,ring.size=1M". A comma in a value is
---written `\,`.
---@param text string
---@type fun(text: string): table<string, any>
recorder.parse = raise.public(function(text)
   raise.expect(text, "string", "recorder.parse: the text")
   local given = {}
   for word in text:gsub("\\,", "\0"):gmatch "[^,]+" do
      local name, value = word:gsub("\0", ","):match "^%s*([%w_.]+)%s*=%s*(.-)%s*$"
      if not name then
         error(("PROFIO_RECORD: name=value expected, got '%s'"):format(word), 0)
      end
      local part = name:match "^ring%.(%w+)$"
      if part then
         given.ring = given.ring or {}
         given.ring[part] = value
      else
         given[name] = options.parse(declared, name, value)
      end
   end
   return given
end)

-- }======

-- {====== Start and stop ======

-- The current recording: asked, handle, writer, replaced, guard.
local current

-- The tables that programs know by these names, even if the globals are changed.
local libraries = { coroutine = package.loaded.coroutine, os = package.loaded.os,
   debug = package.loaded.debug }

-- Returns a list that `replace` and `restore` use to replace functions of libraries and to undo it.
local function replacements(functions)
   local list = {}
   for library, replaced in pairs(functions) do
      for name, ours in pairs(replaced) do
         local from = libraries[library]
         list[#list + 1] = { from = from, name = name, ours = ours, theirs = from[name] }
      end
   end
   return list
end

local function replace(list)
   for _, one in ipairs(list) do
      one.from[one.name] = one.ours
   end
end

-- Functions that the program itself has replaced since stay.
local function restore(list)
   for _, one in ipairs(list) do
      if one.from[one.name] == one.ours then
         one.from[one.name] = one.theirs
      end
   end
end

local function report(info)
   if info.kept then
      io.stderr:write("profio.recorder: what a killed program recorded is kept as ",
         plain(info.kept), "\n")
   end
   for _, note in ipairs(info.notes or {}) do
      io.stderr:write("profio.recorder: ", note, "\n")
   end
   if info.failure then
      io.stderr:write("profio.recorder: ", plain(info.failure), "\n")
   elseif info.cycles then
      local freed = 0
      for _, bytes in ipairs(info.cycles) do
         freed = freed + bytes
      end
      io.stderr:write(("profio.recorder: the collector ended %d cycles, which freed %.1f MiB\n")
         :format(#info.cycles, freed / (1 << 20)))
   elseif info.lost > 0 then
      io.stderr:write(("profio.recorder: %d of %d records were lost\n"):format(info.lost,
         info.events))
   end
end

-- Stops the recording when the program ends; guards of earlier recordings are collected at any
-- time.
local function stop_at_end(guard)
   local state = current
   if state and (guard == nil or state.guard == guard) then
      local is_told = state.is_told and not state.handle:is_copy()
      local done, info = pcall(recorder.stop)
      if is_told then
         report(done and info or { failure = tostring(info) })
      end
   end
end

local function exit_of(exit)
   return function(...)
      stop_at_end()
      return exit(...)
   end
end

local function open_writer(asked)
   local given = { format = asked.format, ring = asked.ring or {}, unfinished = asked.unfinished }
   if asked.format == "br" then
      given.recorded_by = ("profio.recorder: mode %s, clock %s%s"):format(asked.mode, asked.clock,
         asked.mode == "sampled" and (", interval %d ns"):format(asked.interval) or "")
   end
   for name, value in pairs(write_options[asked.format]) do
      given[name] = value
   end
   return writing.create(asked.path, given)
end

-- Returns the function that names functions. The format xpp has nothing but their names.
local function namer_of(asked, coroutines)
   local known = { ["coroutine.wrap function"] = coroutines.wrap(print) }
   for name, f in pairs(coroutines) do
      known["coroutine." .. name] = f
   end
   local here = core.output_path "profio-here"
   return naming.namer { is_distinct = asked.format == "xpp", known = known,
      folder = here and here:match "^(.*)[/\\]" }
end

-- Starts the recording. If it raises, nothing is left behind.
local function begin(asked, writer)
   local coroutines = core.coroutines(coroutine.close)
   local handle = core.recorder {
      mode = asked.mode, clock = asked.clock, interval = asked.interval, depth = asked.depth,
      lines = asked.lines, exact = asked.exact, backtraces = asked.backtraces,
      stream = writer and writer.sink,
      dictionary = writer and writer.dictionary or core.dictionary(),
      own = debug.getinfo(1, "S").short_src, namer = namer_of(asked, coroutines),
   }
   local state = { asked = asked, handle = handle, writer = writer }
   state.guard = setmetatable({}, { __gc = stop_at_end })
   state.replaced = replacements { coroutine = coroutines,
      os = { exit = exit_of(os.exit) },
      debug = core.program_hooks(debug.sethook, debug.gethook) }
   handle:begin(asked.subtract)
   replace(state.replaced)
   current = state
end

-- The file of a mode that sums up is written at the end: check now whether it can be. Returns its
-- path, absolute because the program may leave its folder; or nil, message, code.
local function try_output(path)
   local absolute, is_in_place = core.output_path(path)
   if is_in_place == true then -- else it may be a message
      return path
   end
   local file, message, code = core.output(path)
   if not file then
      return nil, message, code
   end
   file:close()
   return absolute or path
end

-- Whether a mode needs Lua's hook for itself.
local function needs_hook(asked)
   return asked.mode ~= "sampled" and (asked.mode ~= "memory" or asked.exact or asked.lines)
end

---Start recording this program. Raises on wrong use, also if the file is the running script; if the
---file or a timer cannot be created, returns nil, message, code.
---@param given table mode, path, format, ...: recorder.options declares them
---@return true|nil
---@return string|nil message
---@return string|nil code
function recorder.start(given)
   if current then
      error("the recorder is recording", 2)
   end
   local asked = checked(given or {})
   local writer, message, code
   outputs.check_inputs({ asked.path }, { arg and arg[0] })
   local can_begin
   can_begin, message, code = core.check_recording(asked.mode, needs_hook(asked))
   if not can_begin then
      return nil, message, code
   elseif formats[asked.mode] then
      writer, message, code = open_writer(asked)
   elseif asked.path then
      asked.target, message, code = try_output(asked.path)
   end
   if message then
      return nil, message, code
   end
   local begun, failure = pcall(begin, asked, writer)
   if not begun then
      if writer then
         writer:close()
      end
      error(raise.positioned(failure, raise.where()), 0)
   end
   return true
end

-- Builds a profile from the sums, and writes the file if there is a path.
local function finish_sums(state, info)
   local asked = state.asked
   info.lost = 0
   info.profile = profiles.of_contexts(state.handle:contexts(),
      asked.path or "recorder")
   info.cycles = state.handle:cycles()
   if asked.path then
      local done, message = info.profile:export(asked.format, asked.target)
      info.failure = info.failure or (not done and message or nil)
   end
end

local function finish_file(state, info)
   info.lost, info.kept = state.writer:facts().lost, state.writer.kept
   local done, message = state.writer:close()
   info.failure = info.failure or (not done and message or nil)
   if info.mode == "sampled" and info.events == 0 and not info.failure then
      local interval = state.asked.interval
      info.failure = ("no samples: it %s less than %s"):format(
         state.asked.clock == "cpu" and "computed" or "ran",
         (times.show(interval, times.unit(interval)):gsub("%.000", "")))
   end
end

local LEAST_UNCERTAIN = 10000000 -- ns that are worth a note

-- Returns what the times of a recording lack, as texts with the figures of this run.
local function notes_of(facts)
   local list = {}
   if facts.taken_time then
      list[1] = ("%s after %.3f s: %.3f s without it are not recorded"):format(
         facts.is_lost and "another hook replaced that of the recorder (Ctrl-C, or a library)"
         or "the program set a hook of its own", facts.taken_at / 1e9, facts.taken_time / 1e9)
   end
   if facts.uncertain * 5 > facts.time and facts.uncertain > LEAST_UNCERTAIN then
      list[#list + 1] = ("the cost of %d hooks was subtracted, %.3f s, give or take %.3f s: times "
         .. "of short lines and calls are uncertain; sampled has no such cost"):format(
         facts.hooks, facts.hook / 1e9, facts.uncertain / 1e9)
   end
   return list
end

---@class profio.Recording
---@field mode string
---@field path string|nil
---@field format string
---@field events integer records: lines, samples, enters and leaves, or summed events
---@field lost integer records that a ring dropped or overwrote
---@field time integer recorded time in ns, without the overhead
---@field overhead { hook: integer, wait: integer, drain: integer, per_line: integer?, per_call:
---integer? } in ns: time in hooks, time waiting for the ring, time of the writer's thread; cost
---subtracted per event
---@field kept string|nil new path of the recording that a killed program had left at the path
---@field notes string[] what the times lack: the program took the hook, or the cost is uncertain
---@field failure string|nil why recording ended early, or the file was not written
---@field profile profio.Profile|nil of the modes aggregate and memory
---@field cycles integer[]|nil mode memory: the bytes that each cycle of the collector has freed

---Stop the recording and complete the file. In a forked copy of the recorded process nothing is
---written: the file belongs to the original process.
---@return profio.Recording
function recorder.stop()
   local state = current or error("nothing is recorded", 2)
   local is_copy = state.handle:is_copy()
   current = nil
   state.handle:finish()
   restore(state.replaced)
   local facts = state.handle:facts()
   local info = { mode = state.asked.mode, path = state.asked.path, format = state.asked.format,
      events = facts.events, time = facts.time, failure = facts.failure,
      notes = notes_of(facts),
      overhead = { hook = facts.hook, wait = facts.wait, drain = facts.drain,
         per_line = facts.per_line, per_call = facts.per_call } }
   if is_copy then
      info.lost, info.failure = 0, "the recording stayed with the process that began it"
   elseif state.writer then
      finish_file(state, info)
   else
      finish_sums(state, info)
   end
   state.handle:close()
   return info
end

---Pause the recording: the time until resume is in no line or call. A call that is open all the
---while counts once.
function recorder.pause()
   local state = current or error("nothing is recorded", 2)
   state.handle:pause()
end

---Continue after a pause.
function recorder.resume()
   local state = current or error("nothing is recorded", 2)
   state.handle:resume()
end

---Names a part of the program, which is recorded as a call: `local zone <close> =
---recorder.zone "request"` until the end of the block, or recorder.zone("request", f, ...), which
---returns the results of f. It costs little when nothing is recorded, and a zone that began before
---the recording is not in it.
---@type fun(name: string, f: function|nil, ...): any
recorder.zone = core.zone

---Returns whether a recording runs or is paused.
---@return boolean
function recorder.is_recording()
   return current ~= nil
end

-- }======

-- Starts what PROFIO_RECORD asks for; or returns why not.
local function start_asked(text)
   local done, given = pcall(recorder.parse, text)
   if not done then
      return given
   end
   local started, message
   done, started, message = pcall(recorder.start, given)
   if not started or not done then
      return message or started
   end
   current.is_told = true
   if not (given.path or ""):find("%p", 1, true) then
      core.forget_recording() -- else child processes would write the same file
   end
   return nil
end

---Begins the recording for which the environment variable PROFIO_RECORD asks. A program that cannot
---be recorded does not run.
---@return table recorder the module profio.recorder
local function begun()
   local asked = os.getenv "PROFIO_RECORD"
   local failure = asked and asked ~= "" and start_asked(asked)
   if failure then
      io.stderr:write("profio.recorder: ", plain(tostring(failure)), "\n")
      os.exit(1)
   end
   return recorder
end

return { begun = begun, recorder = recorder }
