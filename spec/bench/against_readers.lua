-- The readers of texts beside a loop that only finds the ends of lines (memchr, loops.c): bytes in
-- a second as rows, and from opening to a profile or statistics of calls.

local loops = require "bench.loops"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

-- Returns a function whose results look random, and are the same in each run.
local function random()
   local state = 1
   return function(limit)
      state = (state * 1103515245 + 12345) & 0x7fffffff
      return (state >> 8) % limit
   end
end

-- Costs of 5,000 functions with 20 lines and 5 calls each, several times.
local function callgrind()
   local list, r = { "positions: line\nevents: Ir Dr Dw\n" }, random()
   for f = 1, 5000 do
      list[#list + 1] = ("fl=(%d) src/file%d.c\nfn=(%d) function_%d\n"):format(f // 10 + 1, f // 10,
         f, f)
   end
   for _ = 1, 10 do
      for f = 1, 5000 do
         list[#list + 1] = ("fl=(%d)\nfn=(%d)\n%d 100 20 3\n"):format(f // 10 + 1, f, f * 20)
         for i = 1, 20 do
            list[#list + 1] = ("+%d %d %d %d\n"):format(r(4), r(100000), r(30000), r(900))
            local callee = (f + i * 37) % 5000 + 1
            list[#list + 1] = i % 4 == 0 and ("cfi=(%d)\ncfn=(%d)\ncalls=%d %d\n+1 %d %d\n")
               :format(callee // 10 + 1, callee, r(1000) + 1, r(9000), r(1000000), r(100000))
               or ""
         end
      end
   end
   return table.concat(list)
end

-- Stacks of 12 frames of 300 functions; 20,000 of them are different.
local function folded()
   local stacks, list, r = {}, {}, random()
   for i = 1, 20000 do
      local frames = { "main" }
      for depth = 2, 12 do
         frames[depth] = ("function_%d"):format(r(300))
      end
      stacks[i] = table.concat(frames, ";")
   end
   for i = 1, 200000 do
      list[i] = ("%s %d\n"):format(stacks[r(20000) + 1], r(100) + 1)
   end
   return table.concat(list)
end

-- Spans of 300 functions in three threads, by their start: as a program with X writes them.
local function chrome()
   local list, r, at = {}, random(), 0
   local function add(thread, start, stop, depth)
      list[#list + 1] = ('{"ph":"X","cat":"op","name":"module::function_%d","pid":1,"tid":%d,'
         .. '"ts":%d.%03d,"dur":%d.%03d,"args":{"id":%d}}'):format(r(300), thread, start // 1000,
         start % 1000, (stop - start) // 1000, (stop - start) % 1000, #list)
      local from = start
      while depth < 8 and stop - from > 100 do
         local to = math.min(stop, from + 50 + r(stop - start))
         add(thread, from, to, depth + 1)
         from = to + 10
      end
   end
   while #list < 300000 do
      add(#list % 3, at, at + 20000, 1)
      at = at + 20000
   end
   return '{"traceEvents":[\n' .. table.concat(list, ",\n") .. "\n]}\n"
end

-- Calls of 100 functions on two cores, as an XML export without blanks.
local function winidea()
   local list, r, time = { "<PROFILER><MAPPING>" }, random(), 0
   for f = 0, 99 do
      list[#list + 1] = ("<AREA><NAME>f%d</NAME><HANDLE>%08X</HANDLE></AREA>"):format(f, f)
   end
   list[#list + 1] = "</MAPPING><TIMELINE>"
   for _ = 1, 100000 do
      local f, core = r(100), r(2)
      for _, event in ipairs { "E", "X" } do
         time = time + r(1000)
         list[#list + 1] = ("<T><TIME>%d</TIME><EVENT>%s</EVENT><HANDLE>%08X</HANDLE>"
            .. "<CORE>%d</CORE></T>"):format(time, event, f, core)
      end
   end
   return table.concat(list) .. "</TIMELINE></PROFILER>"
end

-- Samples of 1 to 30 frames of 2,000 addresses in 300 functions.
local function perfscript()
   local frames, list, r = {}, {}, random()
   for i = 1, 2000 do
      frames[i] = ("\t%16x function_%d(int)+0x%x (/usr/lib/library_%d.so)\n"):format(
         0x7f0000000000 + i * 16, i % 300, i, i % 7)
   end
   for i = 1, 60000 do
      list[#list + 1] = ("program 4000/%d [%03d] %d.%06d: %10d cycles:u: \n"):format(4000 + r(8),
         r(4), i // 1000, i % 1000 * 1000, 1000000 + r(1000))
      for depth = 1, r(30) + 1 do
         list[#list + 1] = frames[(r(60) * 31 + depth * 7) % 2000 + 1]
      end
      list[#list + 1] = "\n"
   end
   return table.concat(list)
end

-- Jobs of 20 tasks on two cores, with pairs of runnables and signals.
local function btf()
   local list, r, time = { "#version 2.2.1\n#timescale ns\n" }, random(), 0
   local function put(source, type, target, event)
      time = time + r(100)
      list[#list + 1] = ("%d,%s,0,%s,%s,0,%s\n"):format(time, source, type, target, event)
   end
   for job = 1, 20000 do
      local task, core = "Task_" .. r(20), "Core_" .. job % 2
      put("STI_" .. task, "T", task, "activate")
      put(core, "T", task, "start")
      for _ = 1, r(20) do
         local outer, inner = "Runnable_outer_" .. r(300), "Runnable_inner_" .. r(300)
         put(task, "R", outer, "start")
         put(task, "R", inner, "start")
         put(task, "R", inner, "terminate")
         put(task, "SIG", "signal_" .. r(50), "write," .. r(1000))
         put(task, "R", outer, "terminate")
      end
      put(core, "T", task, "terminate")
   end
   return table.concat(list)
end

local function profile_of(trace)
   trace:profile():close()
end

local function statistics_of(trace)
   trace:calls():group("area"):aggregate { "n = count", "net = sum(net)" }:rows()
end

---Each format as rows, and into a profile or statistics.
function bench.readers()
   timing.print("\nreaders of texts, MB/s %42s %8s %8s", "memchr", "rows", "sums")
   for _, one in ipairs { { "callgrind", callgrind, "costs", profile_of },
      { "folded", folded, "samples", profile_of },
      { "chrome", chrome, "entries", statistics_of },
      { "perfscript", perfscript, "samples", profile_of },
      { "btf", btf, "events", statistics_of },
      { "winidea", winidea, "timeline", statistics_of } } do
      local name, text, main, sums_of = one[1], one[2](), one[3], one[4]
      local trace <close> = assert(profio.open({ data = text }, { format = name }))
      local times = timing.functions({
         function() loops.lines(text) end,
         function() for _ in trace[main]:each(trace[main]:fields()[1].name) do end end,
         function()
            local again <close> = assert(profio.open({ data = text }, { format = name }))
            sums_of(again)
         end }, 5)
      timing.print("%-16s %6.1f MB, sums %8.1f ms %16.0f %8.0f %8.0f", name, #text / 1e6,
         times[3] * 1e3, #text / times[1] / 1e6, #text / times[2] / 1e6, #text / times[3] / 1e6)
   end
end

return bench
