-- Add up the traces of several runs, and write the sum in another dialect.
-- Works with gmon: lua5.4 05-merge.lua OUT gmon.out.1 gmon.out.2 ...

local profio = require "profio"

local out, inputs = arg[1], { table.unpack(arg, 2) }
if #inputs == 0 then
   error("usage: lua5.4 05-merge.lua OUT gmon.out...", 0)
end

local trace <close> = assert(profio.open(inputs))
print(("%d traces, %d arcs"):format(#inputs, trace:row_count "arcs"))

print("written", assert(trace:save(out, { dialect = "4.4bsd" })), "bytes")

local sum <close> = assert(profio.open(out))
print("read again", sum.info.dialect, sum:row_count "arcs" .. " arcs")
sum.arcs:sort("-count"):limit(3):print("from", "to", "count")
