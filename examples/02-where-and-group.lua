-- Query a table. Conditions, groups and sums run in C; nothing is read before print.
-- Works with gmon: lua5.4 02-where-and-group.lua [gmon.out [PROGRAM]]

local profio = require "profio"
local trace <close> = assert(profio.open(arg[1] or "gmon.out", { exe = arg[2] }))

print "bins with 3 samples or more:"
local busy = trace.histogram:where { count = profio.between(3, math.maxinteger) }
busy:sort("-count"):limit(5):print("low", "high", "count", "seconds")

print "\nsamples by how many a bin has:"
trace.histogram:where { count = profio.no(0) }
   :group("count")
   :aggregate { "bins = count", "samples = sum(count)", "first = min(low)" }
   :sort("-samples"):limit(5):print()

print "\nby 256 bytes of code, with a key made by a Lua function:"
local function page(low)
   return ("0x%x"):format(low // 256 * 256)
end
trace.histogram:group({ page, "low", name = "page" })
   :aggregate { "samples = sum(count)", "p90 = p90(count)" }
   :sort("page"):limit(5):print()

print "\nodd counts, found by a Lua function:"
local odd = trace.arcs:filter(function(count)
   return count % 2 == 1
end, "count")
print(odd:count() .. " arcs")
