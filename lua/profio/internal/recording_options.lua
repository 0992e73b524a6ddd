-- The options of a recording: profio.recorder.start, PROFIO_RECORD, profio record.

local core = require "profio.core"
local exports = require "profio.internal.exporting.export_list"
local options = require "profio.internal.options"
local raise = require "profio.internal.raise"
local times = require "profio.internal.times"

local recording_options = {}

---@type profio.Option[]
local declared = {
   { name = "mode", type = "choice", choices = { "timed", "sampled", "calls", "aggregate",
     "memory" }, default = "sampled",
     help = "sampled: stacks at intervals; timed: each line with its time; calls: each enter and "
        .. "leave; aggregate: sums by calling context, in memory; memory: allocations by calling "
        .. "context" },
   { name = "path", type = "text",
     help = "output file; %p stands for the process id; optional for sampled, aggregate and "
        .. "memory, whose profile recorder.stop returns" },
   { name = "format", type = "text",
     help = "br for timed and sampled; winidea or xpp for calls; an export for aggregate and "
        .. "memory, by default by the extension of path" },
   { name = "interval", type = "text", default = "1ms",
     help = "time between two samples: 500us, 1ms, ..." },
   { name = "keep", type = "text",
     help = "sampled: keep the samples of the last 10s, 300s, ... in memory, for recorder.dump and "
        .. "an export to path at the end" },
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
   { name = "warn_at", type = "size", default = 1000000000,
     help = "timed and calls: size of the file at which a message says how fast it grows" },
   { name = "subtract", type = "bool", default = true,
     help = "measure the cost of the hooks and subtract it from the times" },
   { name = "ring", type = "ring", help = "{ size =, full = } of the ring, as in profio.create" },
   { name = "unfinished", type = "choice", choices = { "keep", "append", "refuse",
     "replace" }, default = "keep",
     help = "the recording that a killed program has left at the path: keep it under another name; "
        .. "append to it; refuse to record; or replace it" },
}

recording_options.declared = declared

-- The formats of each mode, the default first; and the options for writing them.
local formats = { timed = { "br" }, sampled = { "br" }, calls = { "winidea", "xpp" } }

---Options of profio.create by the format of the recording.
recording_options.of_format = {
   br = {},
   winidea = { dialect = "text1", timeline_binary = true,
      handle_format = "%HANDLE%,%NAME%,%VALUE%,%FILE%" },
   xpp = { round = true, symbol_size = 80, params = false },
}

-- Converts a time such as 1ms to ns.
local function time_of(name, text, least, most)
   local ns, unit = times.parse(text)
   if not ns or not unit or ns < times.parse(least) or ns > times.parse(most) then
      error(("option '%s' must be a time from %s to %s, got %s"):format(name, least, most, text), 0)
   end
   return ns
end

---Whether the recording is in memory, and at most exported: without a file that grows.
---@param asked table
---@return boolean
function recording_options.is_in_memory(asked)
   return not formats[asked.mode] or asked.keep or (asked.mode == "sampled" and not asked.path)
end

local function check_format(asked)
   local known = formats[asked.mode]
   if recording_options.is_in_memory(asked) then
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

-- Options that some modes do not have.
local function check_modes(asked, given)
   local is_memory = asked.mode == "memory"
   for name, mode in pairs { exact = "memory", bytes = "memory", keep = "sampled" } do
      if asked.mode ~= mode and given[name] then
         error(("option '%s' is for mode %s"):format(name, mode), 0)
      end
   end
   if asked.exact and (asked.lines or given.bytes) then
      error(("option '%s' is not for exact"):format(asked.lines and "lines" or "bytes"), 0)
   elseif is_memory and given.interval then
      error("option 'interval' is not for mode memory: bytes is", 0)
   elseif asked.keep and given.ring then
      error("option 'ring' is not for keep, which keeps samples in memory", 0)
   end
end

---Checks options, and completes them with the defaults. Published alone, because functions around
---it that run after recorder.start would be recorded.
---@type fun(given: table): table
recording_options.checked = raise.public(function(given)
   local asked = options.check(declared, given, "recorder")
   for _, option in ipairs(declared) do
      if asked[option.name] == nil then
         asked[option.name] = option.default
      end
   end
   asked.clock = asked.clock or (asked.mode == "sampled" and core.has_fine_cpu_time()
      and "cpu" or "wall")
   check_modes(asked, given)
   check_format(asked)
   if not asked.path and not recording_options.is_in_memory(asked) then
      error("the recorder expects a path", 0)
   elseif asked.depth < 1 or asked.depth > 65536 then
      error("option 'depth' must be from 1 to 65536", 0)
   end
   if asked.lines == nil then
      asked.lines = asked.mode == "aggregate"
   end
   asked.path = asked.path and (asked.path:gsub("%%([p%%])", { p = core.process_id(),
      ["%"] = "%" }))
   asked.interval = asked.mode == "memory" and asked.bytes
      or time_of("interval", asked.interval, "20us", "10s")
   asked.keep = asked.keep and time_of("keep", asked.keep, "1ms", "1000000s")
   return asked
end)

---Parses options as in PROFIO_RECORD: "mode=timed,path=out.prf,ring.size=1M". A comma in a value is
---written `\,`.
---@param text string
---@type fun(text: string): table<string, any>
recording_options.parse = raise.public(function(text)
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

return recording_options
