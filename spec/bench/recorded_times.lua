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
end

return bench
