-- A profile: functions with their self time and their total time.
-- Works with all formats except dbf: lua5.4 03-profile.lua [TRACE [PROGRAM]]

local profio = require "profio"
local trace <close> = assert(profio.open(arg[1] or "gmon.out", { exe = arg[2] }))
local profile <close> = assert(trace:profile())

print(("%d samples, %d functions"):format(profile.facts.samples, profile.facts.functions))

print "\nmost time:"
profile:flat():limit(5):print("function", "calls", "self", "total", "self_share")

print "\nmost calls:"
profile:graph():where { calls = profio.no(profio.missing) }
   :sort("-calls"):limit(5):print("caller", "callee", "calls")

-- The rows of a report are a view like any other: here as csv.
print "\nfor another program:"
io.write((profile:flat():limit(3):write { output = "csv", columns = { "function", "self" } }))
