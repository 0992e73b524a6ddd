-- Record a program through a ring: the records survive when the program is killed.
-- Writes br; xpp and winidea are written alike: lua5.4 08-ring.lua [OUT]

local profio = require "profio"

local out = arg[1] or os.tmpname()

-- A flight recorder: the ring keeps the last records, and only dump or close write them.
local w <close> = assert(profio.create(out, { format = "br",
   ring = { size = "64K", full = "overwrite" } }))
local emit = w:emitter("module", "line", "spent", "stack")

local main = { area = "MENU.BR", class = "main", file = "MENU.BR", line = 100 }
local tax = { area = "FNTAX", class = "function", file = "LIB.BR", line = 1230 }
local in_main, in_tax = w:stack { main }, w:stack { tax, main }

for _ = 1, 10000 do
   emit("LIB.BR", 1230, 300, in_tax)
   emit("MENU.BR", 100, 100, in_main)
end

local facts = w:facts()
print(("%d records, the last %d are in the ring"):format(facts.tried, facts.tried - facts.lost))

-- The file is still empty. Opening it reads the records in the ring.
local trace <close> = assert(profio.open(out))
print(trace.warnings[1].code, trace.info.lost == facts.lost and "the others are counted as lost")
trace:group("module", "line"):aggregate { "mean = mean(spent)" }:sort("-mean"):print()

w:close()
os.remove(out)
