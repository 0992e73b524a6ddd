-- Compares profio with minimal C loops that compute the same (loops.c).

local loops = require "bench.loops"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local symbols, arcs = 2000, 4000000

local function row(label, mine, theirs)
   timing.print("%-34s %8.2f ns %8.2f ns %8.2f x", label, mine / arcs * 1e9,
      theirs / arcs * 1e9, mine / theirs)
end

-- Fails unless the loop has the same sums: otherwise the times are not comparable.
local function group_by_callee(trace, expected)
   local rows = trace.arcs:group("to"):aggregate { "n = count", "calls = sum(count)" }:rows()
   local calls = 0
   for _, r in ipairs(rows) do
      calls = calls + r.calls
   end
   assert(calls == expected, "the sums differ")
end

local function count_all(iterator, expected)
   local calls = 0
   for _, _, count in iterator do
      calls = calls + count
   end
   assert(calls == expected, "the sums differ")
end

--- Count and sum by callee, and a Lua loop over three columns.
function bench.loops()
   local path = timing.make("arcs", symbols, 64000, arcs, "graph")
   local file = loops.open(path .. ".gmon", symbols)
   local trace <close> = assert(profio.open(path .. ".gmon"))
   local _, expected = file:total()
   local times = timing.functions({
      function() group_by_callee(trace, expected) end,
      function() file:total() end,
      function() count_all(trace.arcs:each("from", "to", "count"), expected) end,
      function() count_all(file:each(), expected) end,
   }, 5)
   timing.print("\n%d arcs of %d functions, for each arc", arcs, symbols)
   timing.print("%-34s %11s %11s %10s", "", "profio", "C", "ratio")
   row("count and sum by callee", times[1], times[2])
   row("each of three columns", times[3], times[4])
   timing.remove(path)
end

return bench
