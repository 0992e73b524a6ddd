-- Measures recording through a ring. The references are the minimum costs: a store of 24 bytes into
-- a mapped file in C, a call of an empty C function from Lua, and dd for the speed of the disk.

local loops = require "bench.loops"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local CALLS <const> = 500000

-- Returns the figures that record.c prints: { store = ns, ... }
local function from_c()
   local found = {}
   local pipe <close> = assert(io.popen(timing.folder .. "/record " .. timing.folder))
   for name, value in pipe:read("a"):gmatch "(%a+) ([%d.]+)\n" do
      found[name] = tonumber(value)
   end
   return found
end

local function row(label, mine, theirs)
   timing.print("%-40s %8.2f ns %8.2f ns %8.2f x", label, mine, theirs, mine / theirs)
end

-- Returns the processor time in nanoseconds of a call with these values, and of a call of an empty
-- function: the best of several runs, in turn.
local function lua_cost(emit, a, b, c)
   local best = { math.huge, math.huge }
   local nothing = loops.nothing
   for _ = 1, 15 do
      local began = os.clock()
      for _ = 1, CALLS do
         emit(a, b, c)
      end
      local between = os.clock()
      for _ = 1, CALLS do
         nothing(a, b, c)
      end
      best[1] = math.min(best[1], between - began)
      best[2] = math.min(best[2], os.clock() - between)
   end
   return best[1] / CALLS * 1e9, best[2] / CALLS * 1e9
end

local function from_lua(path)
   local w <close> = assert(profio.create(path, { format = "br",
      ring = { size = "4M", full = "overwrite" } }))
   local numbers = w:emitter("line", "clause", "spent")
   row("emit of three numbers from Lua", lua_cost(numbers, 1230, 2, 1500))
   local names = w:emitter("module", "line", "spent")
   row("emit of a name and two numbers", lua_cost(names, "MENU.BR", 1230, 1500))
   assert(w:write { module = "MENU.BR" })
end

-- Megabytes a second that dd writes.
local function dd_rate(path)
   local began = loops.now()
   assert(os.execute(("dd if=/dev/zero of=%s bs=64K count=4000 conv=fdatasync 2>/dev/null")
      :format(path)))
   return 4000 * 65536 / 1e6 / (loops.now() - began)
end

--- Measures the cost of a record, from C and from Lua, and the rate at which records are written.
function bench.record()
   local path = timing.folder .. "/record.br"
   local c = from_c()
   timing.print("\na record of three values %27s %11s %10s", "profio", "least", "ratio")
   row("C, the ring has room", c.bursts, c.store)
   row("C, the ring overwrites", c.overwrite, c.store)
   from_lua(path)
   timing.print("%-40s %8.2f ns, %.0f MB/s; dd %.0f MB/s", "C, as fast as the file takes them",
      c.sustained, c.megabytes, dd_rate(path))
   os.remove(path)
end

return bench
