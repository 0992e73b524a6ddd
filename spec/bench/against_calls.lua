-- Measures the statistics of the calls of a timeline, with one thread and with two, chains of
-- events, and the explanation of slow calls. The references are a minimal C loop that computes net
-- and gross time, the statistics, and `uftrace report` on its own recording.

local events = require "bench.events"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local records, areas, depth = 20000000, 2000, 40
local pairs_of_threads = 7

local function row(label, mine, theirs)
   timing.print("%-34s %8.2f ns %8.2f ns %8.2f x", label, mine / records * 1e9,
      theirs / records * 1e9, mine / theirs)
end

-- Count, and sum, minimum, maximum and mean of each duration; p50 and p99 on request.
local function columns(quantiles)
   local list = { "area", "count" }
   for _, length in ipairs { "net", "gross", "call", "period", "outside" } do
      for _, suffix in ipairs { "", "_min", "_max", "_mean" } do
         list[#list + 1] = length .. suffix
      end
      for _, suffix in ipairs(quantiles and { "_p50", "_p99" } or {}) do
         list[#list + 1] = length .. suffix
      end
   end
   return list
end

-- Fails unless the loop finds the same number of ended calls: else times are not comparable.
local function statistics(trace, options, quantiles, expected)
   options.partial = "exclude"
   local count = 0
   for _, r in ipairs(trace:call_statistics(options):rows(table.unpack(columns(quantiles)))) do
      count = count + (r.gross_max > 0 and r.count or 0)
   end
   assert(count >= expected, "the calls differ")
end

-- The best of pairs of runs that follow each other directly, so that other load affects both.
local function report_threads(trace, expected)
   local best, one, two = 0, nil, nil
   for _ = 1, pairs_of_threads do
      local times = timing.functions({
         function() statistics(trace, { threads = 1, parts = 1 }, false, expected) end,
         function() statistics(trace, { threads = 2 }, false, expected) end,
      }, 1)
      if times[1] / times[2] > best then
         best, one, two = times[1] / times[2], times[1], times[2]
      end
   end
   timing.print("%-34s %8.2f ns %8.2f ns %8.2f x as fast", "two threads; one", two / records * 1e9,
      one / records * 1e9, best)
end

-- Statistics of two event chains of the functions with most calls, beside those of all calls.
local function report_chains(trace)
   local names = {}
   for name in trace:call_statistics { quantiles = "" }:sort("-count"):limit(3):each "area" do
      names[#names + 1] = name
   end
   local chains = ('a: "%s" leave -> "%s" enter <= 5ms\nb: "%s" enter -> "%s" enter -> "%s" leave')
      :format(names[1], names[2], names[1], names[2], names[3])
   local times = timing.functions({
      function() assert(#trace:chain_statistics(chains):rows() == 2) end,
      function() statistics(trace, { threads = 1, parts = 1 }, false, 0) end,
   }, 3)
   row("two chains of events; statistics", times[1], times[2])
end

-- Explains the slow calls of the function with most calls, beside the statistics of the same file:
-- as it is, and with suspend and resume swapped, so that each caller is suspended after its first
-- callee.
local function report_explained(path)
   local function explained(trace, area)
      local made = assert(trace:explain(area))
      local sum = 0
      for _, part in ipairs(made.parts) do
         sum = sum + part.time
      end
      assert(sum == made.gap, "the parts differ from the gap")
   end
   for i, label in ipairs { "slow calls explained; statistics", "suspended ones; statistics" } do
      local trace <close> = assert(profio.open(path, { swap_suspend_resume = i == 2 }))
      local most = trace:call_statistics { quantiles = "" }:sort("-count"):limit(1):rows()[1]
      local times = timing.functions({
         function() explained(trace, most.area) end,
         function() statistics(trace, { threads = 1, parts = 1 }, false, 0) end,
      }, 3)
      row(label, times[1], times[2])
   end
end

-- {====== uftrace ======

local program = [[
#include <stdlib.h>
static volatile long sum;
static void leaf (long n) { sum += n; }
static void middle (long n) { for (int i = 0; i < 4; i++) leaf(n); }
int main (void) { for (long n = 0; n < 200000; n++) middle(n); return 0; }
]]

local function has(command)
   return (os.execute("command -v " .. command .. " > /dev/null 2>&1"))
end

-- Net and gross time of a million calls, computed by uftrace.
local function against_uftrace()
   if not has "uftrace" or not has "gcc" then
      timing.print("%-34s not installed", "uftrace report")
      return
   end
   local folder = timing.folder .. "/uftrace"
   local source <close> = assert(io.open(folder .. ".c", "w"))
   source:write(program)
   source:close()
   assert(os.execute(("gcc -O0 -pg -o %s.exe %s.c && rm -rf %s.data && uftrace record --no-libcall "
      .. "-d %s.data %s.exe > /dev/null 2>&1"):format(folder, folder, folder, folder, folder)))
   local calls = 1 + 200000 * 5
   local times = timing.functions({ function()
      assert(os.execute(("uftrace report -d %s.data > /dev/null"):format(folder)))
   end }, 3)
   timing.print("%-34s %11s %8.2f ns", "uftrace report, an enter or leave", "",
      times[1] / calls / 2 * 1e9)
   os.execute(("rm -rf %s.data %s.c %s.exe"):format(folder, folder, folder))
end

-- }======

--- Statistics of a binary timeline of 20,000,000 events of 2,000 areas, calls up to 40 deep.
function bench.calls()
   local path = timing.folder .. "/timeline-calls"
   assert(os.execute(("%s/timeline %s %d %d %d"):format(timing.folder, path, records, areas,
      depth)))
   local trace <close> = assert(profio.open(path .. ".txt.BIN"))
   local file = events.open(path .. ".txt.BIN")
   local expected = file:spent()
   local times = timing.functions({
      function() statistics(trace, { threads = 1, parts = 1 }, false, expected) end,
      function() file:spent() end,
      function() statistics(trace, {}, false, expected) end,
      function() file:spent() end,
      function() statistics(trace, {}, true, expected) end,
      function() file:spent() end,
   }, 5)
   timing.print("\n%d events of %d areas, for each event; %d processors", records, areas,
      require "profio.core".processors())
   timing.print("%-34s %11s %11s %10s", "", "profio", "other", "ratio")
   row("statistics in one thread", times[1], times[2])
   row("statistics as they come", times[3], times[4])
   row("with p50 and p99", times[5], times[6])
   report_chains(trace)
   report_threads(trace, expected)
   report_explained(path .. ".txt.BIN")
   against_uftrace()
   for _, ending in ipairs { ".txt", ".txt.BIN" } do
      os.remove(path .. ending)
   end
end

return bench
