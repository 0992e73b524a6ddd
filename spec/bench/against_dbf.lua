-- Measures reading an Xbase++ trace. The references are shapelib, in a C loop over the same columns
-- (other/shape.c; omitted if libshp-dev is not installed), and python3-dbfread.

local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local ENTRIES = 1000000

-- Random calls up to 12 deep, as a table of digits: 43 bytes a record.
function bench.write_xbase(path)
   local writer = assert(profio.create(path, { format = "xpp", layout = "text-fields",
      params = false }))
   local emit = writer:emitter("thread", "time", "op", "call", "line")
   local stack, time = {}, 0
   math.randomseed(1)
   for _ = 1, ENTRIES do
      time = time + math.random(0, 2)
      local leaves = #stack > 0 and (#stack >= 12 or math.random(2) == 1)
      local name = leaves and table.remove(stack) or ("FUNCTION%03d"):format(math.random(200))
      emit(1, time * 1000000, leaves and "O" or "I", name, leaves and 20 or 10)
      if not leaves then
         stack[#stack + 1] = name
      end
   end
   assert(writer:close())
end

local function seconds_of(command)
   local pipe <close> = assert(io.popen(command .. " 2>/dev/null"))
   return tonumber((pipe:read "l" or ""):match "^(%S+)")
end

-- Returns the median of several runs of a program, or nil if it is not installed.
local function median(command)
   local runs = {}
   for i = 1, 3 do
      runs[i] = seconds_of(command)
   end
   table.sort(runs)
   return runs[(#runs + 1) // 2]
end

-- Three columns of each record, or four.
local function shapelib(path)
   local program = timing.folder .. "/shape"
   local made = os.execute(("cc -std=c11 -O2 spec/bench/other/shape.c -lshp -o %s 2>/dev/null")
      :format(program))
   if made then
      return median(program .. " " .. path), median(program .. " " .. path .. " thread")
   end
end

local dbfread = [[/usr/bin/python3 -c "
import time, dbfread
began = time.time()
for record in dbfread.DBF('%s'): record['TIME'], record['OP'], record['MSG']
print(time.time() - began)"]]

local function print_beside(label, seconds, others)
   local ratios = {}
   for _, other in ipairs(others) do
      ratios[#ratios + 1] = other[2] and ("%8.1f x %s"):format(other[2] / seconds, other[1]) or
         ("  (no %s)"):format(other[1])
   end
   timing.print("%-34s %8.1f ms %s", label, seconds * 1e3, table.concat(ratios))
end

--- Measures a Lua loop over all entries, the columns of XppPat's report (which include the thread),
--- and statistics of the calls.
function bench.xbase()
   local path = timing.folder .. "/large.dbf"
   bench.write_xbase(path)
   timing.settle()
   local times = timing.functions({
      function()
         local trace <close> = assert(profio.open(path, { format = "xpp" }))
         local n = 0
         for _ in trace.entries:each("time", "op", "call") do
            n = n + 1
         end
         assert(n == ENTRIES)
      end,
      function()
         local trace <close> = assert(profio.open(path, { format = "xpp" }))
         assert(#trace:call_statistics { recursion = "outermost", quantiles = "" }:rows("area",
            "count", "net", "gross", "net_max", "net_min", "last_stop") == 200)
      end,
      function()
         local trace <close> = assert(profio.open(path, { format = "xpp" }))
         assert(#trace:call_statistics { recursion = "outermost" }:rows("area", "count", "net",
            "gross", "call", "period", "outside", "net_min", "net_max", "net_mean") >= 200)
      end,
   }, 5)
   local three, four = shapelib(path)
   local slow = median(dbfread:format(path))
   timing.print("\na trace of Xbase++ with %d entries", ENTRIES)
   for _, other in ipairs { { "shapelib, three columns", three },
      { "shapelib, with the threads", four }, { "dbfread", slow } } do
      timing.print("%-34s %s", other[1], other[2] and ("%8.1f ms"):format(other[2] * 1e3)
         or "       is not here")
   end
   print_beside("each entry in Lua", times[1], { { "shapelib", three }, { "dbfread", slow } })
   for i, label in ipairs { "calls and times", "statistics of calls" } do
      print_beside(label, times[i + 1], { { "shapelib", three },
         { "with the threads", four }, { "dbfread", slow } })
   end
   os.remove(path)
end

return bench
