-- Register a format that is decoded and encoded in Lua; it is used like those of the core.
-- lua5.4 04-register.lua [FILE], where FILE has lines such as "1200 main 37"

local profio = require "profio"

profio.register {
   name = "lines",
   help = "time (us), function and bytes of memory, one allocation a line",
   score = function(head)
      return head:find "^%d+ %S+ %d+\n" and 50 or 0
   end,
   tables = { allocations = { { "time", "int" }, { "name", "name" }, { "size", "int" } } },
   open = function(source)
      return { allocations = function(put)
         for time, name, size in source:read():gmatch "(%d+) (%S+) (%d+)" do
            put(1000 * tonumber(time), name, tonumber(size))
         end
      end }
   end,
   encode = function(rows, _, put)
      for time, name, size in rows:each("time", "name", "size") do
         put(("%d %s %d\n"):format(time // 1000, name, size))
      end
   end,
}

local sample = { data = "100 malloc 32\n150 malloc 4096\n170 realloc 64\n200 malloc 32\n" }
local trace <close> = assert(profio.open(arg[1] or sample))
print(trace.format, table.concat(trace.tables, " "))
trace.allocations:group("name"):aggregate { "n = count", "bytes = sum(size)" }
   :sort("-bytes"):print()

local writer = assert(profio.create(nil, { format = "lines" }))
writer:write { time = 250000, name = "calloc", size = 16 }
io.write(assert(writer:close()))
