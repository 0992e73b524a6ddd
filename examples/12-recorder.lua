-- Record a Lua program while it runs, and query the recording.
-- lua5.4 12-recorder.lua [PROGRAM ARGS...]
--
-- From outside: PROFIO_RECORD="mode=sampled,path=OUT" lua5.4 -lprofio.recorder PROGRAM

local profio = require "profio"
local recorder = require "profio.recorder"

-- A program of its own: three rounds that count letters and sort the counts.
local function round(text)
   local counts, list = {}, {}
   for letter in text:gmatch "%a" do
      counts[letter] = (counts[letter] or 0) + 1
   end
   for letter, count in pairs(counts) do
      list[#list + 1] = { letter = letter, count = count }
   end
   table.sort(list, function(a, b)
      return a.count > b.count
   end)
   return list
end

local function rounds()
   for _ = 1, 3 do
      round(("the quick brown fox jumps over the lazy dog "):rep(500))
   end
end

local program = arg[1] and assert(loadfile(arg[1])) or rounds
local words = { table.unpack(arg, 2) }

-- Sums by calling context, in memory: for runs of any length.
recorder.start { mode = "aggregate" }
program(table.unpack(words))
local info = recorder.stop()
info.profile:flat { metric = "calls" }:sort("-self"):limit(3):print()
print(("%.1f ns a line taken off for the hooks"):format(info.overhead.per_line))
for caller, calls in info.profile:callers("round"):each("caller", "calls") do
   print(caller .. " > round", calls)
end

-- Each enter and leave as a timeline: time, duration and depth of each call.
local out = os.tmpname()
assert(recorder.start { mode = "calls", path = out })
program(table.unpack(words))
recorder.stop()
local trace <close> = assert(profio.open(out))
trace:calls():group("area"):aggregate { "n = count", "mean = mean(gross)", "worst = max(gross)" }
   :sort("-worst"):limit(3):print()
print("mode calls", trace:calls():where { area = "round" }:count() .. " rounds")
os.remove(out)
os.remove(out .. ".BIN")
