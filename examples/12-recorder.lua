-- Record a Lua program while it runs, and query the recording.
-- lua5.4 examples/12-recorder.lua [TEXT]
--
-- From outside: PROFIO_RECORD="mode=sampled,path=OUT" lua5.4 -lprofio.recorder PROGRAM

local home = arg[0]:match "^(.*/)" or ""
dofile(home .. "here.lua")

local profio = require "profio"
local recorder = require "profio.recorder"

local text = arg[1] or home .. "../README.md"
local program = assert(loadfile(home .. "demo.lua"))

-- Sums by calling context, in memory: for runs of any length.
recorder.start { mode = "aggregate" }
program(text, 3)
local info = recorder.stop()
info.profile:flat { metric = "calls" }:sort("-self"):limit(3):print()
for name, calls in info.profile:flat():each("function", "calls") do
   if name == "round" then
      print(("%-12s %5d  %.1f ns a line taken off for the hooks"):format(name, calls,
         info.overhead.per_line))
   end
end
for caller, calls in info.profile:callers("round"):each("caller", "calls") do
   print(caller .. " > round", calls)
end

-- Each enter and leave as a timeline: time, duration and depth of each call.
local out = os.tmpname()
assert(recorder.start { mode = "calls", path = out })
program(text, 3)
recorder.stop()
local trace <close> = assert(profio.open(out))
local rounds = trace:calls():where { area = "round" }
rounds:group("area"):aggregate { "n = count", "mean = mean(gross)", "worst = max(gross)" }:print()
print("mode calls", ("3 rounds, %d of them counted"):format(#rounds:rows()))
os.remove(out)
os.remove(out .. ".BIN")
