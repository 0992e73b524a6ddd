-- Open a trace and look at it: lua5.4 01-read.lua [gmon.out [PROGRAM]]
-- The first part works with all formats, the loops with gmon.

local profio = require "profio"
local trace <close> = assert(profio.open(arg[1] or "gmon.out", { exe = arg[2] }))

print("format", trace.format)
print("header", trace.info.dialect, trace.info.byte_order, trace.info.address_size)
for _, warning in ipairs(trace.warnings) do
   print(warning.kind, warning.code, warning.message, warning.offset)
end

for _, name in ipairs(trace.tables) do
   print("table", name, table.concat(trace[name].columns, " "))
end

-- Values instead of tables: the fastest loop. Addresses are integers of 64 bits.
for from, to, count in trace.arcs:limit(5):each("from", "to", "count") do
   print(("0x%x calls 0x%x %d times"):format(from, to, count))
end

-- A new table for each record: the most convenient loop.
local most = { count = 0 }
for bin in trace.histogram:records() do
   if bin.count > most.count then
      most = bin
   end
end
if most.low then
   print(("most samples, %d, between 0x%x and 0x%x"):format(most.count, most.low, most.high))
end
