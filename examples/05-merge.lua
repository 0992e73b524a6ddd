-- Add up the traces of several runs, and write the sum in another dialect.
-- lua5.4 examples/05-merge.lua [OUT gmon.out.1 gmon.out.2 ...]

local here = dofile((arg[0]:match "^(.*/)" or "") .. "here.lua")

local profio = require "profio"

local out, inputs = arg[1], { table.unpack(arg, 2) }
if #inputs == 0 then
   inputs = { here.small_trace(), here.small_trace() }
end

local trace <close> = assert(profio.open(inputs))
print(("%d traces, %d arcs"):format(#inputs, trace:row_count "arcs"))

-- Without a path the bytes are returned.
local written = assert(trace:save(out, { dialect = "4.4bsd" }))
print("written", type(written) == "string" and #written or written, "bytes")

local sum <close> = assert(profio.open(out or { data = written }))
print("read again", sum.info.dialect, sum:row_count "arcs" .. " arcs")
sum.arcs:sort("-count"):limit(3):print("from", "to", "count")
