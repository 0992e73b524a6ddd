-- How right the recorder's times of a busy program are: shares of three functions that take 1, 2
-- and 3 parts of the time, and the ratio of a loop of short lines to calls of a C function, as
-- recorded and without a recorder. They are figures of one run; spec/recorder_times_spec.lua has
-- exact times.

local profio = require "profio"
local recorder = require "profio.recorder"
local timing = require "spec.bench.timing"

local bench = {}

local function spin(n)
   local t = 0
   for i = 1, n do
      t = t + i % 7
   end
   return t
end

-- No tail calls, which take the place of their callers.
local function one() local t = spin(5000) return t end
local function two() local t = spin(10000) return t end
local function three() local t = spin(15000) return t end

-- A loop of lines that take 2 ns each, of which the hook costs some twenty times as much.
local function loop()
   local s = 0
   for i = 1, 400 do
      s = s + i
   end
   return s
end

local function call_c()
   local s = ("x"):rep(3000)
   return #s:reverse() + #s:upper()
end

local function loops() for _ = 1, 1000 do loop() end end
local function calls() for _ = 1, 1000 do call_c() end end

local function time(f)
   local began = os.clock()
   f()
   return os.clock() - began
end

-- Records a function; returns the total time by the line at which a function is defined.
local function totals(mode, clock, f)
   local path = timing.folder .. "/times.out"
   assert(recorder.start { mode = mode, clock = clock, backtraces = mode == "timed",
      interval = mode == "sampled" and "200us" or nil, path = mode ~= "aggregate" and path or nil })
   f()
   local info, list = recorder.stop(), {}
   local profile = info.profile or assert(profio.open(path,
      { format = mode ~= "calls" and "br" or nil })):profile()
   for name, total in profile:flat():each("function", "total") do
      list[name] = total
   end
   return list
end

-- Ten kinds of code, each for some milliseconds; the name of the function is the kind.
local kinds = {}

function kinds.lines() local t = spin(500000) return t end
function kinds.calls()
   local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end
   return (f(24))
end
function kinds.strings()
   local s = ""
   for i = 1, 5000 do s = s .. i end
   return #s
end
function kinds.tables()
   local t = {}
   for i = 1, 20000 do t[#t + 1] = { i } end
   return #t
end
function kinds.closures()
   local f
   for i = 1, 30000 do f = function() return i end end
   return f()
end
function kinds.c_function() return #("x"):rep(1000000) end
function kinds.patterns() return select(2, ("word and "):rep(8000):gsub("%a+", string.upper)) end
function kinds.sort()
   local t = {}
   for i = 1, 5000 do t[i] = i * 7919 % 5003 end
   table.sort(t, function(a, b) return a < b end)
   return t[1]
end
function kinds.coroutines()
   local co = coroutine.wrap(function() for i = 1, 20000 do coroutine.yield(i) end end)
   for _ = 1, 20000 do co() end
end
function kinds.errors()
   for _ = 1, 10000 do pcall(error, "x") end
end

-- Prints the share of each kind by os.clock without a recorder, and by samples. Both take the kinds
-- in turns: what the collector does for one kind may fall into the next one.
local function print_kinds()
   local names, alone, whole = {}, {}, 0
   for name in pairs(kinds) do
      names[#names + 1], alone[name] = name, 0
   end
   table.sort(names)
   for _ = 1, 40 do
      for _, name in ipairs(names) do
         local taken = time(kinds[name])
         alone[name], whole = alone[name] + taken, whole + taken
      end
   end
   local found, sum, worst = totals("sampled", "cpu", function()
      for _ = 1, 40 do
         for _, name in ipairs(names) do kinds[name]() end
      end
   end), 0, 0
   for _, name in ipairs(names) do
      sum = sum + (found["kinds." .. name] or 0)
   end
   for _, name in ipairs(names) do
      local share, sampled = alone[name] / whole, (found["kinds." .. name] or 0) / sum
      worst = math.max(worst, math.abs(share - sampled))
      print(("  %-12s %5.1f %% by os.clock, %5.1f %% by samples"):format(name, 100 * share,
         100 * sampled))
   end
   print(("  ten kinds of code: at most %.1f points off"):format(100 * worst))
end

---Prints the largest error of the shares, and the factor by which the ratio is off.
function bench.times()
   print "times of a recorded program (0 %: exact; 1.00: exact)"
   for _, way in ipairs { { "timed", "cpu" }, { "timed", "wall" }, { "calls", "cpu" },
      { "aggregate", "wall" }, { "sampled", "cpu" } } do
      local rounds = way[1] == "sampled" and 1000 or 20
      local found = totals(way[1], way[2], function()
         for _ = 1, rounds do
            one() two() three()
         end
      end)
      local sum, worst = 0, 0
      local wanted = { one = 1 / 6, two = 2 / 6, three = 3 / 6 }
      for name in pairs(wanted) do
         sum = sum + (found[name] or 0)
      end
      for name, share in pairs(wanted) do
         worst = math.max(worst, math.abs((found[name] or 0) / sum - share))
      end
      local truth = time(loops) / time(calls)
      local both = totals(way[1], way[2], function()
         for _ = 1, rounds // 10 do
            loops()
            calls()
         end
      end)
      print(("  %-10s %-5s shares off by %4.1f %%, short lines by a factor of %.2f"):format(way[1],
         way[2], 100 * worst, (both.loops or 0) / (both.calls or 1) / truth))
   end
   print_kinds()
end

return bench
