-- Recording Lua programs, beside the programs alone, an empty C hook of the same events that reads
-- the clock, and a profiler written in Lua over debug.sethook.

local loops = require "bench.loops"
local recorder = require "profio.recorder"
local timing = require "spec.bench.timing"

local bench = {}

local ROUNDS <const> = 10

-- Programs: mostly calls, mostly lines, and a bit of everything.

local function fib(n)
   if n < 2 then
      return n
   end
   return fib(n - 1) + fib(n - 2)
end

local function lines()
   local sum = 0
   for i = 1, 600000 do
      local x = i % 7
      sum = sum + x
   end
   return sum
end

local function mixed()
   local words = {}
   for i = 1, 30000 do
      local word = tostring(i):rep(2)
      if word:find("7", 1, true) then
         words[#words + 1] = word:upper()
      end
   end
   table.sort(words)
   return #table.concat(words)
end

local programs = {
   { "calls: fib(25)", function() return fib(25) end },
   { "lines: a loop of two", lines },
   { "mixed: strings, a sort", mixed },
}

-- {====== Ways to run them ======

local function hooked(events)
   return function(program)
      loops.hook(events)
      local began = loops.now()
      program()
      local took = loops.now() - began
      loops.hook ""
      return took
   end
end

local function recorded(mode)
   return function(program)
      assert(recorder.start { mode = mode,
         path = mode ~= "aggregate" and timing.folder .. "/recorded.out" or nil })
      local began = loops.now()
      program()
      local took = loops.now() - began
      local info = recorder.stop()
      assert(not info.failure, info.failure)
      return took, info
   end
end

local function plain(program)
   local began = loops.now()
   program()
   return loops.now() - began
end

-- As such profilers are written: time by line, of the place that getinfo tells.
local function in_lua(program)
   local spent, last, key = {}, os.clock(), nil
   local function hook(_, line)
      local now = os.clock()
      if key then
         spent[key] = (spent[key] or 0) + now - last
      end
      key = debug.getinfo(2, "S").short_src .. ":" .. line
      last = os.clock()
   end
   debug.sethook(hook, "l")
   local began = loops.now()
   program()
   local took = loops.now() - began
   debug.sethook()
   return took
end

local ways = {
   { "plain", plain },
   { "sampled", recorded "sampled" },
   { "hook of lines and calls", hooked "crl" },
   { "timed", recorded "timed" },
   { "aggregate", recorded "aggregate" },
   { "hook of calls", hooked "cr" },
   { "calls", recorded "calls" },
}

-- }======

-- The best seconds of each way, in turns; of sampled also the least ratio to the plain program of
-- the same round.
local function measure(program)
   local best, least = {}, math.huge
   for _ = 1, ROUNDS do
      local took = {}
      for _, way in ipairs(ways) do
         collectgarbage()
         local seconds = way[2](program)
         took[way[1]] = seconds
         best[way[1]] = math.min(best[way[1]] or math.huge, seconds)
      end
      least = math.min(least, took.sampled / took.plain)
   end
   best["in Lua"] = in_lua(program)
   return best, least
end

---Programs recorded in each mode.
function bench.recorder()
   timing.print("\nrecorder: seconds, and ratios to the program alone; best of %d runs in turns",
      ROUNDS)
   for _, one in ipairs(programs) do
      local best, least = measure(one[2])
      timing.print("\n%s", one[1])
      for _, name in ipairs { "plain", "sampled", "hook of lines and calls", "timed", "aggregate",
         "hook of calls", "calls", "in Lua" } do
         timing.print("%-40s %8.4f s  %8.2f x", name, best[name], best[name] / best.plain)
      end
      timing.print("%-40s %19.2f x", "sampled / plain, the best pair", least)
      timing.print("%-40s %19.2f x", "timed / hook of lines and calls",
         best.timed / best["hook of lines and calls"])
      timing.print("%-40s %19.2f x", "aggregate / hook of lines and calls",
         best.aggregate / best["hook of lines and calls"])
      timing.print("%-40s %19.2f x", "calls / hook of calls", best.calls / best["hook of calls"])
   end
   os.remove(timing.folder .. "/recorded.out")
   os.remove(timing.folder .. "/recorded.out.BIN")
end

return bench
