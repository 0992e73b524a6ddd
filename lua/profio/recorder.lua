-- Recording a Lua program while it runs: every line, samples, calls, or sums.
--
--    lua5.4 -lprofio.recorder script.lua      with PROFIO_RECORD="mode=timed,path=out.prf"
--
--    local recorder = require "profio.recorder"
--    recorder.start { mode = "timed", path = "out.prf" }
--    ...
--    local info = recorder.stop()
--
-- While something is recorded, coroutine.create, resume, wrap and close and os.exit are the
-- recorder's, which do what they always do. What a program kept of them before is not seen.

local core = require "profio.core"
local options = require "profio.options"
local outputs = require "profio.outputs"
local plain = require "profio.reports.plain"
local raise = require "profio.raise"
local times = require "profio.times"

local recorder = {}

-- {====== What is asked for ======

---@type profio.Option[]
local declared = {
   { name = "mode", type = "choice", choices = { "timed", "sampled", "calls", "aggregate" },
     default = "timed",
     help = "timed: each line with its time; sampled: a stack now and then; calls: each enter and "
        .. "leave; aggregate: sums by calling context, in memory" },
   { name = "path", type = "text",
     help = "file, in which %p is the number of the process; aggregate needs none" },
   { name = "format", type = "text",
     help = "br of timed and sampled; winidea or xpp of calls; an export of aggregate, by the "
        .. "ending of path where it is left out" },
   { name = "interval", type = "text", default = "1ms",
     help = "from sample to sample: 500us, 1ms, ..." },
   { name = "clock", type = "choice", choices = { "wall", "cpu" }, default = "wall",
     help = "cpu: time in which the program waits or others run is not counted; that clock costs "
        .. "more" },
   { name = "depth", type = "int", default = 128,
     help = "frames of a stack; of deeper ones samples lack the outermost, the other modes those "
        .. "in the middle" },
   { name = "lines", type = "bool", default = true,
     help = "aggregate: by line; else by function, at less cost" },
   { name = "backtraces", type = "bool", default = false,
     help = "timed: each line with its callers; the file gets several times as long" },
   { name = "subtract", type = "bool", default = true,
     help = "measure what hooks cost, and take it off the times" },
   { name = "ring", type = "ring", help = "{ size =, full = } of the ring, as of profio.create" },
   { name = "unfinished", type = "choice", choices = { "keep", "append", "refuse",
     "replace" }, default = "keep",
     help = "the recording that a killed program has left at the path: keep it beside under a name "
        .. "of its own; append to it; refuse to record; or replace it" },
}

recorder.options = declared

-- Formats by mode, the usual one first; and how their files are asked for.
local formats = { timed = { "br" }, sampled = { "br" }, calls = { "winidea", "xpp" } }

local ways = {
   br = {},
   winidea = { dialect = "text1", timeline_binary = true },
   xpp = { round = true, symbol_size = 80, params = false },
}

-- A time like 1ms in ns.
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
      local exports = require "profio.exports"
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

-- Published alone: what calls the hooked program after recorder.start would be recorded.
local checked = raise.public(function(given)
   local asked = options.check(declared, given, "recorder")
   for _, option in ipairs(declared) do
      if asked[option.name] == nil then
         asked[option.name] = option.default
      end
   end
   check_format(asked)
   if not asked.path and asked.mode ~= "aggregate" then
      error("the recorder expects a path", 0)
   elseif asked.depth < 1 or asked.depth > 65536 then
      error("option 'depth' must be from 1 to 65536", 0)
   end
   asked.path = asked.path and (asked.path:gsub("%%([p%%])", { p = core.process_id(),
      ["%"] = "%" }))
   asked.interval = interval_of(asked.interval)
   return asked
end)

---Options from a text like that of PROFIO_RECORD: "mode=timed,path=out.prf,ring.size=1M".
---@param text string
---@type fun(text: string): table<string, any>
recorder.parse = raise.public(function(text)
   raise.expect(text, "string", "recorder.parse: the text")
   local given = {}
   for word in text:gmatch "[^,]+" do
      local name, value = word:match "^%s*([%w_.]+)%s*=%s*(.-)%s*$"
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

-- {====== Beginning and ending ======

-- What is being recorded: asked, handle, writer, replaced, guard.
local current

-- The libraries themselves: what a program finds there.
local libraries = { coroutine = package.loaded.coroutine, os = package.loaded.os }

-- What it takes to put functions in place of those of libraries, and to undo it.
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

-- A program may have replaced them too: then they stay.
local function restore(list)
   for _, one in ipairs(list) do
      if one.from[one.name] == one.ours then
         one.from[one.name] = one.theirs
      end
   end
end

local function tell(info)
   if info.kept then
      io.stderr:write("profio.recorder: what a killed program recorded is kept as ",
         plain(info.kept), "\n")
   end
   if info.failure then
      io.stderr:write("profio.recorder: ", plain(info.failure), "\n")
   elseif info.lost > 0 then
      io.stderr:write(("profio.recorder: %d of %d records were lost\n"):format(info.lost,
         info.events))
   end
end

-- The program ends while it is recorded; the guards of earlier recordings die at any time.
local function stop_at_end(guard)
   local state = current
   if state and (guard == nil or state.guard == guard) then
      local is_told = state.is_told and not state.handle:is_copy()
      local done, info = pcall(recorder.stop)
      if is_told then
         tell(done and info or { failure = tostring(info) })
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
      given.recorded_by = ("profio.recorder: mode %s, clock %s"):format(asked.mode, asked.clock)
   end
   for name, value in pairs(ways[asked.format]) do
      given[name] = value
   end
   return require("profio.writer").create(asked.path, given)
end

-- From here on it is recorded. A raise leaves nothing behind.
local function begin(asked, writer)
   local handle = core.recorder {
      mode = asked.mode, clock = asked.clock, interval = asked.interval, depth = asked.depth,
      lines = asked.lines, backtraces = asked.backtraces, stream = writer and writer.sink,
      dictionary = writer and writer.dictionary or core.dictionary(),
      own = debug.getinfo(1, "S").short_src,
   }
   local state = { asked = asked, handle = handle, writer = writer }
   state.guard = setmetatable({}, { __gc = stop_at_end })
   state.replaced = replacements { coroutine = core.coroutines(coroutine.close),
      os = { exit = exit_of(os.exit) } }
   handle:begin(asked.subtract)
   replace(state.replaced)
   current = state
end

-- A file of aggregate is written at the end: look now whether that can be.
local function try_output(path)
   if outputs.is_in_place(path) then
      return true
   end
   local file, message, code = core.output(path)
   if not file then
      return nil, message, code
   end
   file:close()
   return true
end

---Begin to record this program. Raises at wrong use, also when the file is the script that runs; a
---file that cannot be made answers nil, message, code.
---@param given table mode, path, format, ...: recorder.options has them all with their help
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
   if asked.mode ~= "aggregate" then
      writer, message, code = open_writer(asked)
   elseif asked.path then
      writer, message, code = nil, select(2, try_output(asked.path))
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

-- What was added up becomes a profile, and a file when there is a path for it.
local function finish_sums(state, info)
   local asked = state.asked
   info.lost = 0
   info.profile = require("profio.profile").of_contexts(state.handle:contexts(),
      asked.path or "recorder")
   if asked.path then
      local done, message = info.profile:export(asked.format, asked.path)
      info.failure = info.failure or (not done and message or nil)
   end
end

local function finish_file(state, info)
   info.lost, info.kept = state.writer:facts().lost, state.writer.kept
   local done, message = state.writer:close()
   info.failure = info.failure or (not done and message or nil)
end

---@class profio.Recording
---@field mode string
---@field path string|nil
---@field format string
---@field events integer records: lines, samples, enters and leaves, or what was added up
---@field lost integer of them that a ring dropped or overwrote
---@field time integer ns that were recorded, without the overhead
---@field overhead { hook: integer, wait: integer, drain: integer, per_line: integer?, per_call:
---integer? } ns: in hooks, waiting for the ring, of the writer's thread; what was taken off for an
---event
---@field kept string|nil where the recording is that a killed program had left at the path
---@field failure string|nil why recording ended early, or the file was not written
---@field profile profio.Profile|nil of mode aggregate

---End the recording: the file is complete. In a process that fork made of the one that is recorded
---nothing is, and the file stays with that one.
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

---Record nothing for a while. Calls that are open end here, and begin again at resume.
function recorder.pause()
   local state = current or error("nothing is recorded", 2)
   state.handle:pause()
end

---Go on after a pause.
function recorder.resume()
   local state = current or error("nothing is recorded", 2)
   state.handle:resume()
end

---Whether something is being recorded, or paused.
---@return boolean
function recorder.is_recording()
   return current ~= nil
end

-- }======

local asked = os.getenv "PROFIO_RECORD"

if asked and asked ~= "" then
   local given = recorder.parse(asked)
   assert(recorder.start(given))
   current.is_told = true
   if not (given.path or ""):find("%p", 1, true) then
      core.forget_recording() -- programs that this one starts would write the same file
   end
end

return recorder
