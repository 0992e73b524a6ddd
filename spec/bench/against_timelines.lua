-- Compares profio on winIDEA timelines with C loops, string.unpack and pandas.

local core = require "profio.core"
local events = require "bench.events"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local records, areas, depth = 20000000, 2000, 40
local rows = 4000000 -- of a text

local function make(name, count, kind)
   local path = timing.folder .. "/" .. name
   local command = ("%s/timeline %s %d %d %d %s"):format(timing.folder, path, count, areas, depth,
      kind or "")
   assert(os.execute(command), "cannot make " .. path)
   return path .. ".txt"
end

local function row(label, mine, theirs, count)
   timing.print("%-34s %8.2f ns %8.2f ns %8.2f x", label, mine / count * 1e9,
      theirs / count * 1e9, mine / theirs)
end

local function sum_of_first(iterator)
   local sum = 0
   for first in iterator do
      sum = sum + first
   end
   return sum
end

local function total_of(view, column)
   local total = 0
   for _, r in ipairs(view:group("area"):aggregate { "n = count", "s = sum(" .. column .. ")" }
      :rows()) do
      total = total + r.s
   end
   return total
end

-- Count and sum by area, and a Lua loop over three columns. Fails unless the sums equal those of
-- the C loops. Functions have no data, so only writes are summed.
local function against_loops(trace, file)
   local _, expected = file:totals()
   local _, data = file:totals(true)
   local times = timing.functions({
      function() assert(total_of(trace.timeline, "time") == expected) end,
      function() file:totals() end,
      function() assert(total_of(trace.timeline, "value") == data) end,
      function() file:totals(true) end,
      function() assert(sum_of_first(trace.timeline:each("time", "event", "area")) == expected) end,
      function() assert(sum_of_first(file:each()) == expected) end,
   }, 5)
   row("count and sum of times by area", times[1], times[2], records)
   row("count and sum of values by area", times[3], times[4], records)
   row("each of time, event and area", times[5], times[6], records)
end

-- The same in Lua alone, over fewer records.
local function against_unpack(path, trace)
   local some = records // 10
   local file <close> = assert(io.open(path .. ".BIN", "rb"))
   local bytes, unpack, sum = file:read(some * 24), string.unpack, 0
   local times = timing.functions({ function()
      for at = 1, #bytes, 24 do
         local handle, _, _, time = unpack("<I4I4i8i8", bytes, at)
         sum = sum + time + handle
      end
   end, function()
      for time in trace.timeline:limit(some):each("time", "handle") do
         sum = sum + time
      end
   end }, 3)
   timing.print("%-34s %8.2f ns %8.2f ns %8.2f x", "a Lua loop; string.unpack",
      times[2] / some * 1e9, times[1] / some * 1e9, times[2] / times[1])
end

local pandas = [[
import sys, time, numpy, pandas
layout = numpy.dtype([("handle", "<u4"), ("flags", "<u4"), ("data", "<i8"), ("time", "<i8")])
best = 1e9
for _ in range(3):
    began = time.monotonic()
    frame = pandas.DataFrame(numpy.fromfile(sys.argv[1], layout))
    frame.groupby("handle")["time"].agg(["count", "sum"])
    best = min(best, time.monotonic() - began)
print(best)
]]

local function against_pandas(path, trace)
   local script = timing.folder .. "/by_handle.py" -- pandas.py would import itself
   local file = assert(io.open(script, "w"))
   file:write(pandas)
   file:close()
   local pipe <close> = assert(io.popen("/usr/bin/python3 " .. script .. " " .. path ..
      ".BIN 2>/dev/null"))
   local theirs = tonumber(pipe:read "l" or "")
   os.remove(script)
   if not theirs then
      timing.print("%-34s not installed (python3-pandas)", "pandas: count and sum by handle")
      return
   end
   local mine = timing.functions({ function() total_of(trace.timeline, "time") end }, 3)[1]
   row("the same; pandas, file and all", mine, theirs, records)
end

-- Returns the anonymous memory of a separate process after it has read everything.
local memory = [[
local events, profio = require "bench.events", require "profio"
local trace <close> = assert(profio.open(%q))
trace.timeline:group("area"):aggregate { "n = count", "s = sum(time)" }:rows()
for _ in trace.timeline:each("time", "event", "area", "core", "value") do end
print(events.anonymous())
]]

local function report_memory(path)
   local script = timing.folder .. "/memory.lua"
   local file = assert(io.open(script, "w"))
   file:write(memory:format(path))
   file:close()
   local pipe <close> = assert(io.popen("lua5.4 " .. script))
   timing.print("%-34s %8.1f MiB", "memory of its own after passes", pipe:read "n" / 1024)
   os.remove(script)
end

-- The first record of a file of 10 GB that is a hole except for its beginning.
local function report_first(path)
   local hole = timing.folder .. "/hole.BIN"
   assert(os.execute(("head -c 2400 %s > %s && truncate -s 10000000008 %s"):format(path .. ".BIN",
      hole, hole)))
   local times = timing.functions({ function()
      local trace <close> = assert(profio.open(hole, { format = "winidea" }))
      local next_time = trace.timeline:each "time"
      assert(next_time() > 0)
   end }, 5)
   timing.print("%-34s %8.2f ms", "first record of 10 GB", times[1] * 1e3)
   os.remove(hole)
end

--- A binary timeline of 20,000,000 events of 2,000 areas, calls up to 40 deep.
function bench.timeline()
   local path = make("timeline-20m", records)
   local trace <close> = assert(profio.open(path .. ".BIN"))
   timing.print("\n%d events of %d areas, for each event", records, areas)
   timing.print("%-34s %11s %11s %10s", "", "profio", "other", "ratio")
   against_loops(trace, events.open(path .. ".BIN"))
   against_unpack(path, trace)
   against_pandas(path, trace)
   report_memory(path .. ".BIN")
   report_first(path)
   os.remove(path)
   os.remove(path .. ".BIN")
end

--- A Text1 timeline: all columns, beside a loop that finds the lines.
function bench.text1()
   local path = make("timeline-text", rows, "text")
   local trace <close> = assert(profio.open(path))
   local file = events.open(path)
   local columns = trace.timeline:fields()
   local times = timing.functions({
      function() assert(core.drain(trace.timeline:reader(), true) == rows) end,
      function() file:lines() end,
   }, 5)
   timing.print("\n%d rows of text, for each row", rows)
   timing.print("%-34s %11s %11s %10s", "", "profio", "C", "ratio")
   row(("%d columns; only the lines"):format(#columns), times[1], times[2], rows)
   os.remove(path)
end

return bench
