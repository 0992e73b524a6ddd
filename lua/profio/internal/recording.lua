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
local recording_options = require "profio.internal.recording_options"
local times = require "profio.internal.times"
local writing = require "profio.internal.writing.writer"

local recorder = { options = recording_options.declared }

---Parses options as in PROFIO_RECORD: "mode=timed,path=out.prf,ring.size=1M". A comma in a value is
---written `\,`.
---@type fun(text: string): table<string, any>
recorder.parse = recording_options.parse

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
      io.stderr:write(("profio.recorder: the collector ended %d cycle%s and freed %.1f MiB\n")
         :format(#info.cycles, #info.cycles == 1 and "" or "s", freed / (1 << 20)))
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
   for name, value in pairs(recording_options.of_format[asked.format]) do
      given[name] = value
   end
   if outputs.is_in_place(asked.path) then
      given.timeline_binary = nil -- there is no file beside a pipe
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
      lines = asked.lines, exact = asked.exact, keep = asked.keep,
      warn_at = asked.warn_at, backtraces = asked.backtraces,
      stream = writer and writer.sink,
      dictionary = writer and writer.dictionary or core.dictionary(),
      own = debug.getinfo(1, "S").short_src, namer = namer_of(asked, coroutines),
   }
   local state = { asked = asked, handle = handle, writer = writer, package_path = package.path,
      package_cpath = package.cpath }
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
   if path == "-" or is_in_place == true then -- else it may be a message
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
   local asked = recording_options.checked(given or {})
   local writer, message, code
   outputs.check_inputs({ asked.path }, { arg and arg[0] })
   local can_begin
   can_begin, message, code = core.check_recording(asked.mode, needs_hook(asked))
   if not can_begin then
      return nil, message, code
   elseif not recording_options.is_in_memory(asked) then
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

-- Calls f as it would have been called when the recording began: the program may have changed where
-- modules are looked for, and exports are loaded when they are needed.
local function with_modules(state, f, ...)
   local path, cpath = package.path, package.cpath
   package.path, package.cpath = state.package_path, state.package_cpath
   local results = table.pack(pcall(f, ...))
   package.path, package.cpath = path, cpath
   return table.unpack(results, 1, results.n)
end

-- Returns a profile of what is in memory: of the last so many ns, or of all.
local function profile_of(state, last)
   local contexts = state.handle:contexts() or state.handle:samples(last)
   return profiles.of_contexts(contexts, state.asked.path or "recorder")
end

-- Returns why there are no samples, if there are none.
local function emptiness_of(info, asked)
   if info.events > 0 or info.mode ~= "sampled" and info.mode ~= "memory" then
      return nil
   elseif info.mode == "memory" then
      return ("no samples: it allocated less than some %d bytes; see the option bytes"):format(
         asked.bytes)
   end
   return ("no samples: it %s less than %s"):format(asked.clock == "cpu" and "computed" or "ran",
      (times.show(asked.interval, times.unit(asked.interval)):gsub("%.000", "")))
end

-- Builds a profile of what is in memory, and writes the file if there is a path.
local function finish_memory(state, info)
   local asked = state.asked
   info.lost = 0
   info.profile = profile_of(state)
   info.cycles = state.handle:cycles()
   if asked.path then
      local done, message = info.profile:export(asked.format, asked.target)
      info.failure = info.failure or (not done and message or nil)
   end
   info.failure = info.failure or emptiness_of(info, asked)
end

local function finish_file(state, info)
   info.lost, info.kept = state.writer:facts().lost, state.writer.kept
   local done, message = state.writer:close()
   info.failure = info.failure or (not done and message or nil)
   info.failure = info.failure or emptiness_of(info, state.asked)
end

local LEAST_UNCERTAIN = 10000000 -- ns that are worth a note
local LEAST_SUBTRACTED = 100000000

-- Whether more was subtracted for the hooks of lines than is left: the cost of a hook depends on
-- the line around it, so what is left of short lines is mostly the error.
local function is_mostly_cost(facts, asked)
   local by_line = asked.mode == "timed" or asked.mode == "aggregate" and asked.lines
   return by_line and asked.subtract and facts.hook > facts.time and facts.hook > LEAST_SUBTRACTED
end

-- Returns what the times of a recording lack, as texts with the figures of this run.
local function notes_of(facts, asked)
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
   elseif is_mostly_cost(facts, asked) then
      list[#list + 1] = ("the cost of %d hooks was subtracted, %.3f s, more than the %.3f s that "
         .. "are left: short lines look up to some times as long as they are; sampled, calls and "
         .. "lines = false do not have this error"):format(facts.hooks, facts.hook / 1e9,
         facts.time / 1e9)
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
---@field profile profio.Profile|nil of the modes aggregate and memory, and of sampled without file
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
      notes = notes_of(facts, state.asked),
      overhead = { hook = facts.hook, wait = facts.wait, drain = facts.drain,
         per_line = facts.per_line, per_call = facts.per_call } }
   if is_copy then
      info.lost, info.failure = 0, "the recording stayed with the process that began it"
   elseif state.writer then
      finish_file(state, info)
   else
      local done, message = with_modules(state, finish_memory, state, info)
      info.failure = info.failure or (not done and message or nil)
   end
   state.handle:close()
   return info
end

---@type profio.Option[]
local dump_options = {
   { name = "format", type = "text", help = "an export; by default that of the ending, or pprof" },
   { name = "last", type = "text", help = "with keep: the samples of the last 5s, ..." },
}

-- Returns the export, the path and the ns that a dump asks for.
local function dump_of(state, to, given)
   local asked = options.check(dump_options, given or {}, "recorder.dump")
   local path = type(to) ~= "function" and to or nil
   if not path and type(to) ~= "function" or path and type(path) ~= "string" then
      error("recorder.dump expects a path or a function", 0)
   elseif not state.handle:contexts() and state.asked.mode ~= "sampled" then
      error(("a recording of mode %s is read while it is written: profio --follow"):format(
         state.asked.mode), 0)
   end
   local last, unit = times.parse(asked.last or "1ns")
   if asked.last and not (state.asked.keep and unit and last > 0 and last <= state.asked.keep) then
      error("option 'last' must be a time of at most the option keep of recorder.start", 0)
   end
   return asked.format or (path and exports.of_path(path)) or "pprof", path,
      asked.last and last
end

---Exports what has been recorded so far, of the modes sampled, aggregate and memory, and goes on
---recording. What the export itself does is not recorded. Calls that have not ended count with the
---time that they have had.
---@param to string|fun(bytes: string) path of a file, or a function that gets its bytes
---@param given { format: string|nil, last: string|nil }|nil format: an export, by default that of
---the ending of the path, or pprof; last: "5s", ...: of a recording with keep, the samples of the
---last time only
---@return boolean|nil
---@return string|nil message
---@return string|nil code
function recorder.dump(to, given)
   local state = current or error("nothing is recorded", 2)
   local was_paused = state.handle:pause()
   local done, result, message, code = with_modules(state, function()
      local kind, path, last = dump_of(state, to, given)
      state.handle:settle()
      return profile_of(state, last):export(kind, path)
   end)
   if not done then
      result = raise.positioned(result, raise.where())
   end
   if not was_paused then
      state.handle:resume()
   end
   if not done then
      error(result, 0)
   elseif result and type(to) == "function" then
      to(result)
   end
   if not result then
      return nil, message, code
   end
   return true
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

---Sets a label of the running coroutine, which what it does from then on has:
---recorder.label("route", "/login"). nil removes it. A new coroutine has the labels of the one that
---creates it. Labels are outermost frames, `route=/login`, in the modes sampled, aggregate, memory,
---and timed with backtraces; a column `labels` of the recording; and labels of pprof.
---@type fun(key: string, value: string|number|nil)
recorder.label = core.label

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
