-- The readers of texts beside a loop that only finds the ends of lines (memchr, loops.c): bytes in
-- a second as rows, and into a profile.

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

---Each format as rows and as a profile.
function bench.readers()
   timing.print("\nreaders of texts, MB/s %29s %8s %8s", "memchr", "rows", "profile")
   for _, one in ipairs { { "callgrind", callgrind, "costs" }, { "folded", folded, "samples" } } do
      local name, text, main = one[1], one[2](), one[3]
      local trace <close> = assert(profio.open({ data = text }, { format = name }))
      local times = timing.functions({
         function() loops.lines(text) end,
         function() for _ in trace[main]:each(trace[main]:fields()[1].name) do end end,
         function() trace:profile():close() end }, 5)
      timing.print("%-16s %6.1f MB %24.0f %8.0f %8.0f", name, #text / 1e6,
         #text / times[1] / 1e6, #text / times[2] / 1e6, #text / times[3] / 1e6)
   end
end

return bench
