-- Runs the command in this process and writes its cost: steps (spec/c/counter.c; 0 where they are
-- not counted), the largest resident set in KB, and the exit status.
--
--    lua5.4 spec/bench/growth_child.lua RESULT ARGUMENT...

local result = table.remove(arg, 1)
local counter = require("spec.support.counted").counter()
local exit = os.exit

local function peak()
   for line in io.lines "/proc/self/status" do
      local kilobytes = line:match "^VmHWM:%s*(%d+)"
      if kilobytes then
         return kilobytes
      end
   end
end

function os.exit(status, ...) -- luacheck: ignore
   local file <close> = assert(io.open(result, "w"))
   file:write(("%d %s %d\n"):format(counter and counter.steps() or 0, peak(), status or 0))
   file:close()
   exit(status, ...)
end

arg[0] = "examples/analyze.lua" -- luacheck: ignore
if counter then
   counter.start()
end
dofile(arg[0])
