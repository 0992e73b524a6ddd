-- Measures reports and exports of a timeline, of all events and of a tenth of its time. Reports are
-- compared with a C loop, the Best Trace Format with copying the written file, and each part of the
-- time with the whole.

local core = require "profio.core"
local events = require "bench.events"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local RECORDS, AREAS, DEPTH, PIECES = 20000000, 2000, 40, 20

local function row(label, mine, theirs)
   timing.print("%-34s %8.2f ns %8.2f ns %8.2f x", label, mine / RECORDS * 1e9,
      theirs / RECORDS * 1e9, mine / theirs)
end

local function group(view)
   return #view:group("area"):aggregate { "n = count", "s = sum(time)" }:rows()
end

local function load(trace, from, to)
   local width = (to - from) // PIECES + 1
   return core.drain(core.load(trace.events:reader(), { from = from, to = to, width = width }))
end

-- Returns a chain over two areas of a trace.
local function chain_of(trace)
   local names = {}
   for event in trace.events:where { event = "enter" }:limit(100):with_area():records() do
      names[#names + 1] = event.area
   end
   return ('"%s" leave -> "%s" enter'):format(names[1], names[#names])
end

-- All events, compared with a loop written by hand.
local function of_all(trace, file, first, last, path)
   local btf = path .. ".btf"
   local times = timing.functions({
      function() assert(load(trace, first, last) >= PIECES) end,
      function() file:spent() end,
      function() assert(trace:export("btf", btf)) end,
      function() assert(os.execute(("cp %s %s.copy"):format(btf, btf))) end,
      function() return #trace:chain_statistics(chain_of(trace)):rows() end,
      function() return #trace:call_statistics():rows() end,
   }, 3)
   row("load of each lane; own times in C", times[1], times[2])
   row("a chain; statistics of calls", times[5], times[6])
   row("BTF; copying what was written", times[3], times[4])
   os.remove(btf .. ".copy")
   os.remove(btf)
end

-- A tenth of the time, compared with all of it. All events before it have to be read, to know the
-- calls that are open when it begins; only rows of the timeline do not need them.
local function of_a_tenth(trace, first, last, path)
   local from = first + (last - first) // 20 * 9
   local to = from + (last - first) // 10
   local span, btf = { from = from, to = to }, path .. ".btf"
   local times = timing.functions({
      function() group(trace.timeline:range(from, to)) end,
      function() group(trace.timeline) end,
      function() trace:call_statistics(span):rows() end,
      function() trace:call_statistics():rows() end,
      function() load(trace, from, to) end,
      function() load(trace, first, last) end,
      function() assert(trace:export("btf", btf, span)) end,
      function() assert(trace:export("btf", btf)) end,
   }, 3)
   timing.print("%-34s %11s %11s", "", "a tenth", "all")
   for i, label in ipairs { "count and sum of times by area", "statistics of calls",
      "load of each lane", "BTF" } do
      row(label, times[2 * i - 1], times[2 * i])
   end
   os.remove(btf)
end

--- A binary timeline of 20,000,000 events of 2,000 areas, calls up to 40 deep.
function bench.spans()
   local path = timing.folder .. "/spans"
   assert(os.execute(("%s/timeline %s %d %d %d"):format(timing.folder, path, RECORDS, AREAS,
      DEPTH)))
   local trace <close> = assert(profio.open(path .. ".txt.BIN"))
   local first, last = trace.info.first, trace.info.last
   timing.print("\n%d events of %d areas made into something, for each event", RECORDS, AREAS)
   timing.print("%-34s %11s %11s %10s", "", "profio", "other", "ratio")
   of_all(trace, events.open(path .. ".txt.BIN"), first, last, path)
   of_a_tenth(trace, first, last, path)
   os.remove(path .. ".txt")
   os.remove(path .. ".txt.BIN")
end

return bench
