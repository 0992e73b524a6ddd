-- Runs the command in this process and writes its cost: seconds of processor time (of all threads),
-- the largest resident set in KB, and the exit status.
--
--    lua5.4 spec/bench/growth_child.lua RESULT ARGUMENT...

local result = table.remove(arg, 1)
local exit, start = os.exit, os.clock()

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
   file:write(("%.4f %s %d\n"):format(os.clock() - start, peak(), status or 0))
   file:close()
   exit(status, ...)
end

arg[0] = "examples/analyze.lua" -- luacheck: ignore
dofile(arg[0])
