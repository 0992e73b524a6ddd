-- A question that DCPI's own tools have no column for: where are there many misses of the
-- instruction cache for each cycle, and which of these numbers can be trusted?
-- Works with dcpi: lua5.4 10-dcpi.lua [DATABASE [NM_TEXT]]

local profio = require "profio"

-- Two profiles of one program, as the daemon writes them: a file for each event.
local function profile(event, period, counts)
   local header = "image 19970328081403c0c18b\nepoch 9805191724\nplatform walnut\nevent " .. event
      .. "\nperiod " .. period .. "\ncpuspeed 333\ntstart 000120000000\ntsize 65536\n"
      .. "path /usr/bin/prog"
   local w = assert(profio.create(nil, { format = "dcpi", header = header }))
   for offset, count in pairs(counts) do
      w:write { address = 0x120000000 + offset, count = count }
   end
   return { data = assert(w:close()), path = "(small " .. event .. ")" }
end

local function small_database()
   return { profile("cycles", 63488, { [0x100] = 900, [0x104] = 400, [0x240] = 80, [0x400] = 5 }),
      profile("imiss", 4096, { [0x100] = 30, [0x240] = 160, [0x400] = 3 }) }
end

local trace <close> = assert(profio.open(arg[1] or small_database(), { symbols = arg[2] }))
print(trace.path, trace.info.platform, trace.samples:count() .. " addresses with samples")

-- One row for each 256 bytes of code, one column for each event; a sample stands for `period`
-- events. The standard error of a count is its square root.
local period = {}
for event, events in trace.profiles:each("event", "period") do
   period[event] = events
end

trace.samples:group("name", "bucket(address, 256)", "event"):aggregate { "count = sum(count)" }
   :pivot("event", "count", { "cycles", "imiss" })
   :group("name", "address"):aggregate { "cycles = sum(cycles)", "imiss = sum(imiss)" }
   :derive { ("misses = 1000 * imiss * %d / (cycles * %d)"):format(period.imiss or 1,
      period.cycles or 1) }
   :derive { "error = misses * sqrt(1 / imiss + 1 / cycles)" }
   :sort("-misses"):limit(10):print("misses", "error", "cycles", "imiss", "address", "name")

print "\nseconds of each image:"
trace.samples:where { event = "cycles" }:group "name":aggregate { "spent = sum(spent)" }
   :derive { "seconds = spent / 1000000000" }:sort "-spent":print("name", "seconds")
