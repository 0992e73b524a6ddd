-- Measures the recording of Lua programs. The references are the programs alone, a C hook for the
-- same events that only reads the clock, and a profiler in Lua that uses debug.sethook.

local loops = require "bench.loops"
local recorder = require "profio.recorder"
local timing = require "spec.bench.timing"

local bench = {}

local ROUNDS <const> = 10

-- Programs: mostly calls, mostly lines, and a bit of everything. Each takes a quarter of a
-- millisecond or so, and is run as often as its way of running is fast: each way takes some tenths
-- of a second.

local function fib(n)
   if n < 2 then
      return n
   end
   return fib(n - 1) + fib(n - 2)
end

local function lines()
   local sum = 0
   for i = 1, 50000 do
      local x = i % 7
      sum = sum + x
   end
   return sum
end

local function mixed()
   local words = {}
   for i = 1, 700 do
      local word = tostring(i):rep(2)
      if word:find("7", 1, true) then
         words[#words + 1] = word:upper()
      end
   end
   table.sort(words)
   return #table.concat(words)
end

-- Trees that live until the next one is built: nothing but allocation.
local function trees()
   local function build(depth)
      return depth > 0 and { build(depth - 1), build(depth - 1) } or {}
   end
   return build(10)
end

-- Returns a program that checks the sources of luacheck with luacheck; nil where it is missing.
local function luacheck()
   local path = package.path
   package.path = path .. ";/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
   local found, check = pcall(require, "luacheck")
   local has_files, lfs = pcall(require, "lfs")
   local folder = found and package.searchpath("luacheck", package.path):match "^(.*)/"
   local files = {}
   for _, part in ipairs(has_files and folder and { "/", "/stages/" } or {}) do
      for name in lfs.dir(folder .. part) do
         files[#files + 1] = name:find "%.lua$" and folder .. part .. name or nil
      end
   end
   return files[1] and function() return check(files) end
end

-- Number of runs when it is recorded event by event.
local programs = {
   { "calls: fib(20)", function() return fib(20) end, 100 },
   { "lines: a loop of two", lines, 60 },
   { "mixed: strings, a sort", mixed, 500 },
}

local RUNS <const> = 1000 -- of a program without hooks

-- {====== Ways to run them ======

-- Returns the elapsed time and the processor time of some runs. The processor time does not include
-- the writer's thread, nor waiting for it.
local function take(program, runs)
   local began, spent = loops.now(), loops.spent()
   for _ = 1, runs do
      program()
   end
   spent = loops.spent() - spent
   return { clock = (loops.now() - began) / runs, processor = spent / runs }
end

local function hooked(events)
   return function(...)
      loops.hook(events)
      local took = take(...)
      loops.hook ""
      return took
   end
end

local function recorded(mode, is_exact)
   local is_file = mode ~= "aggregate" and mode ~= "memory"
   return function(...)
      assert(recorder.start { mode = mode, exact = is_exact,
         path = is_file and timing.folder .. "/recorded.out" or nil })
      local took = take(...)
      local info = recorder.stop()
      assert(not info.failure, info.failure)
      return took
   end
end

-- A profiler in Lua by functions: calls and time of each, with its place from getinfo.
local function by_function(...)
   local stack, time, calls = {}, {}, {}
   debug.sethook(function(event)
      local info = debug.getinfo(2, "Sf")
      local now = os.clock()
      if event == "return" then
         local began = table.remove(stack)
         if began then
            time[info.func] = (time[info.func] or 0) + now - began
         end
         return
      end
      calls[info.func] = (calls[info.func] or 0) + 1
      if event == "call" then
         stack[#stack + 1] = now
      end
   end, "cr")
   local took = take(...)
   debug.sethook()
   return took
end

-- A typical profiler in Lua: time by line, with the location from getinfo.
local function in_lua(...)
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
   local took = take(...)
   debug.sethook()
   return took
end

local ways = {
   { "plain", take, RUNS },
   { "sampled", recorded "sampled", RUNS },
   { "hook of lines and calls", hooked "crl" },
   { "timed", recorded "timed" },
   { "aggregate", recorded "aggregate" },
   { "hook of calls", hooked "cr" },
   { "calls", recorded "calls" },
}

local memory_ways = {
   { "plain", take },
   { "sampled", recorded "sampled" },
   { "memory", recorded "memory" },
   { "memory, exact", recorded("memory", true) },
}

local memory_pairs = {
   { "sampled", "plain" },
   { "memory", "plain" },
   { "memory, exact", "plain" },
}

-- The pairs that are compared.
local pairs_of_ways = {
   { "sampled", "plain" },
   { "timed", "hook of lines and calls" },
   { "aggregate", "hook of lines and calls" },
   { "calls", "hook of calls" },
}

-- }======

-- Measures all ways in turn, in each round.
local function measure(program, runs, of)
   local taken = {}
   for round = 1, ROUNDS do
      taken[round] = {}
      for _, way in ipairs(of) do
         collectgarbage()
         taken[round][way[1]] = way[2](program, way[3] or runs)
      end
   end
   return taken
end

local function least(taken, way, of)
   local best = math.huge
   for _, round in ipairs(taken) do
      best = math.min(best, round[way][of])
   end
   return best
end

-- Returns for two ways the ratio of their best runs, and the best and the median ratio of a round.
local function compare(taken, one, other)
   local numbers = {}
   for _, of in ipairs { "clock", "processor" } do
      local ratios = {}
      for i, round in ipairs(taken) do
         ratios[i] = round[one][of] / round[other][of]
      end
      table.sort(ratios)
      numbers[#numbers + 1] = least(taken, one, of) / least(taken, other, of)
      numbers[#numbers + 1] = ratios[1]
      numbers[#numbers + 1] = ratios[(#ratios + 1) // 2]
   end
   timing.print("%-36s %6.2f %6.2f %6.2f     %6.2f %6.2f %6.2f", one .. " / " .. other,
      table.unpack(numbers))
end

local function show(name, seconds, plain)
   timing.print("%-36s %9.4f ms %8.2f x", name, seconds * 1000, seconds / plain)
end

-- Prints a program in all ways, and the ratios of some.
local function print_program(one, of, ratios)
   local taken = measure(one[2], one[3], of)
   local plain = least(taken, "plain", "clock")
   timing.print("\n%s", one[1])
   for _, way in ipairs(of) do
      show(way[1], least(taken, way[1], "clock"), plain)
   end
   show("in Lua, by line", in_lua(one[2], 1).clock, plain)
   show("in Lua, by function", by_function(one[2], 1).clock, plain)
   timing.print("%-36s %20s     %20s", "", "by the clock", "of the processor")
   timing.print("%-36s %6s %6s %6s     %6s %6s %6s", "ratio", "best", "pair", "median", "best",
      "pair", "median")
   for _, two in ipairs(ratios) do
      compare(taken, two[1], two[2])
   end
end

---Programs recorded in each mode.
function bench.recorder()
   timing.print("\nrecorder: the best of %d runs in turns, beside the program alone", ROUNDS)
   for _, one in ipairs(programs) do
      print_program(one, ways, pairs_of_ways)
   end
   print_program({ "memory: trees", trees, 100 }, memory_ways, memory_pairs)
   local check = luacheck()
   if check then
      print_program({ "memory: luacheck over its own sources", check, 5 }, memory_ways,
         memory_pairs)
   end
   os.remove(timing.folder .. "/recorded.out")
   os.remove(timing.folder .. "/recorded.out.BIN")
end

return bench
