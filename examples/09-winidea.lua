-- A timeline of winIDEA: read an export, query it, and write it as a binary timeline.
-- Works with winidea: lua5.4 09-winidea.lua [EXPORT], a .txt, or a .BIN with its .txt beside it

local profio = require "profio"

-- A short export: the header of each section states the format of its rows.
local export = { data = [[
* CONTEXTS %NAME%,%HANDLE%
Task_1ms,0x0
Idle,0x1
* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%
00000000,main,
00000001,read_sensor,
10000000,value = filter(a, b);,52
* HANDLE(AUX) %HANDLE%,%NAME%,%VALUE.TYPE%,%VALUE.UNIT%
40000000,Battery,F64,V
* TIMELINE %HANDLE%,%EVENT%,%CONTEXT%,%VALUE%,%TIME%
00000000,E,Task_1ms,,-200
00000000,S,Task_1ms,,1000
00000001,E,Task_1ms,,1000
10000000,E,Task_1ms,,1200
40000000,W,,12.25,1300
10000000,X,Task_1ms,,1700
00000001,X,Task_1ms,,1800
00000000,R,Task_1ms,,1800
40000000,W,,12.75,2000
00000000,X,Task_1ms,,2400
]] }

local trace <close> = assert(profio.open(arg[1] or export))

print "events by area:"
trace.timeline:group("area", "event"):aggregate { "n = count", "first = min(time)" }
   :sort("area", "first"):limit(12):print()

print "\nwhat was written, as numbers:"
trace.timeline:where { event = "write" }:group("area")
   :aggregate { "n = count", "mean = mean(number)", "last = last(number)" }:limit(5):print()

print "\nareas that belong to others:"
trace.areas:where { parent = profio.no(profio.missing) }:limit(5)
   :print("handle", "name", "class", "parent", "line")

local bytes = assert(trace:save(nil, { dialect = "bin" }))
print(("\nas a binary timeline: %d bytes, %d records of 24"):format(#bytes, #bytes // 24))
