-- Times of the recorder, of programs that move their clock themselves (spec/c/clock.c), so that
-- each time is known. The case `times` of the bench measures programs that are really busy.
--
-- Unsanitized: a clock that is preloaded, before the sanitizer.

local moved_clock = require "spec.support.moved_clock"
local profio = require "profio"
local recorded = require "spec.support.recorded"

local lines, run = recorded.lines, recorded.run

-- Three lines that take 1, 2 and 3 ms in each of ten rounds.
local parts = [[
local clock = require "clock"
local function one() clock.advance(1000000) end
local function two() for _ = 1, 2 do clock.advance(1000000) end end
local function three() for _ = 1, 1500 do clock.advance(2000) end end
for _ = 1, 10 do one() two() three() end
]]

-- Records a program whose readings of the clock take `step` ns.
local function trace_of(program, settings, step)
   return recorded.trace(program, settings, nil, step or 0)
end

-- Returns the total ns of each function of a trace.
local function totals(trace)
   local list = {}
   for name, total in trace:profile():flat { zeros = true }:each("function", "total") do
      list[name] = total
   end
   return list
end

if not moved_clock.is_there() then
   pending "times of the recorder (need spec/c/clock.c)"
   return
end

describe("times of mode timed", function()
   for _, clock in ipairs { "cpu", "wall" } do
      it("are those of what the lines call, by clock " .. clock, function()
         local trace <close> = trace_of(parts, "mode=timed,backtraces=true,clock=" .. clock)
         local found = totals(trace)
         assert.same({ 10000000, 20000000, 30000000 }, { found.one, found.two, found.three })
      end)
   end

   it("are those of the lines", function()
      -- a hook reads the clock twice; the step after its last reading belongs to the line
      local trace <close> = trace_of([[
local t = 0
for i = 1, 1000 do
   t = t + i
   t = t - 1
end
]], "mode=timed,subtract=false", 100)
      local counts, spent = lines(trace)
      assert.same({ 1001, 1000, 1000 }, { counts[2], counts[3], counts[4] })
      assert.same({ 100 * 1000, 100 * 1000 }, { spent[3], spent[4] })
   end)

   it("come to the time that the program took", function()
      local output = run([[
local clock = require "clock"
local recorder = require "profio.recorder"
recorder.start { mode = "timed", path = "sum.out" }
for i = 1, 1000 do
   clock.advance(i)
end
local info = recorder.stop()
local trace <close> = assert(require "profio".open "sum.out")
local sum = 0
for spent in trace:each "spent" do sum = sum + spent end
print(sum, info.time)
]], nil, 0)
      assert.equal("500500\t500500\n", output)
   end)
end)

-- A hook reads the clock when it begins and when it ends. What a reading takes after that is
-- charged to the line or function, unless it is subtracted.
describe("the cost of hooks", function()
   local STEP <const> = 100

   -- 100,000 lines that take 1 us each, beside one call that takes 100 ms.
   local program = [[
local clock = require "clock"
local recorder = require "profio.recorder"
local function many()
   for i = 1, 100000 do
      clock.advance(1000)
   end
end
local function few() clock.advance(100000000) end
recorder.start { mode = "%s", subtract = %s, lines = true, backtraces = %s, path = %s }
many() few()
local info = recorder.stop()
local profile = info.profile or assert(require "profio".open "cost.out"):profile()
for name, total in profile:flat():each("function", "total") do print(name, total) end
]]

   -- Returns the time of `many` relative to that of `few`.
   local function ratio(mode, subtract)
      local output = run(program:format(mode, tostring(subtract), tostring(mode == "timed"),
         mode ~= "aggregate" and '"cost.out"' or "nil"), nil, STEP)
      return tonumber(output:match "many\t(%d+)") / tonumber(output:match "few\t(%d+)")
   end

   for _, mode in ipairs { "timed", "calls", "aggregate" } do
      it("is subtracted in mode " .. mode, function()
         assert.near(1, ratio(mode, true), 0.001)
         assert.is_true(ratio(mode, false) > 1.1)
      end)
   end

   it("is told", function()
      local recorder = require "profio.recorder"
      local path = recorded.path "overhead.out"
      assert(recorder.start { path = path, mode = "timed" })
      local t = 0
      for i = 1, 1000 do
         t = t + i
      end
      local info = recorder.stop()
      assert.is_true(info.overhead.per_line > 0 and info.overhead.per_call > 0)
      assert.is_true(info.overhead.hook >= 2000 * info.overhead.per_line)
      assert.is_true(info.overhead.drain >= 0 and info.overhead.wait >= 0)
      assert(recorder.start { path = path, mode = "timed", subtract = false })
      assert.equal(0, recorder.stop().overhead.per_line)
      local trace <close> = assert(profio.open(path))
      assert.equal("timed", trace.info.dialect)
   end)
end)

describe("samples", function()
   -- The interval varies by a sixteenth, and a sample is a whole interval. Bounds of shares are
   -- more than four standard errors of independent samples.
   it("fall where the time is spent", function()
      local trace <close> = trace_of(parts:gsub("1000000", "10007"):gsub("1500", "15")
         :gsub("1, 10 ", "1, 12000 "), "mode=sampled,interval=50us")
      assert.equal("sampled", trace.info.dialect)
      local found, all = totals(trace), trace:count()
      assert.near(12000 * 60 / 50, all, 40)
      for name, part in pairs { one = 1 / 6, two = 2 / 6, three = 3 / 6 } do
         assert.near(part, found[name] / (all * 50000), 0.02, name)
      end
   end)

   it("fall into coroutines too", function()
      local trace <close> = trace_of([[
local clock = require "clock"
local function inside() clock.advance(30011) end
local function outside() clock.advance(30011) end
local co = coroutine.wrap(function() while true do inside() coroutine.yield() end end)
local deep = coroutine.wrap(function() while true do co() coroutine.yield() end end)
for _ = 1, 20000 do deep() outside() end
]], "mode=sampled,interval=100us,clock=cpu")
      local found, all = totals(trace), trace:count()
      assert.near(20000 * 60 / 100, all, 40)
      assert.near(0.5, found.inside / (all * 100000), 0.02)
      assert.near(0.5, found.outside / (all * 100000), 0.02)
   end)

   it("count how long C functions take", function()
      local trace <close> = trace_of([[
local clock = require "clock"
local function long() clock.advance(50000000) end
local function short() for _ = 1, 5000 do clock.advance(10000) end end
long() short()
]], "mode=sampled,interval=1ms,clock=cpu")
      local found = totals(trace)
      assert.near(50e6, found.long, 2e6) -- ns
      assert.near(50e6, found.short, 2e6)
   end)

   it("come with their callers", function()
      local trace <close> = trace_of([[
local clock = require "clock"
local function leaf() for _ = 1, 100 do clock.advance(100000) end end
local function left() leaf() end
local function right() leaf() end
left()
right()
]], "mode=sampled,interval=1ms")
      local seen = {}
      for caller, callee in trace:profile():graph():each("caller", "callee") do
         seen[tostring(caller) .. ">" .. callee] = true
      end
      assert.is_true(seen["left>leaf"] and seen["right>leaf"] and seen["prog.lua>left"])
   end)
end)
