-- Tags: stressed.

local core = require "profio.core"
local profio = require "profio"
local view = require "profio.view"

-- Rows { time, number } over the core: a reader that can seek.
local function over(times)
   local rows = {}
   for i = 1, #times do
      rows[i] = { times[i] or nil, i }
   end
   return view.over(function()
      return core.rows_reader({ { "time", "int" }, { "n", "int" } }, rows)
   end)
end

-- The numbers of the rows that the definition selects.
local function expected(times, from, to)
   local list = {}
   for i = 1, #times do
      local time = times[i]
      if time and (not from or time >= from) and (not to or time < to) then
         list[#list + 1] = i
      end
   end
   return list
end

local function numbers(rows)
   local list = {}
   for n in rows:each "n" do
      list[#list + 1] = n
   end
   return list
end

-- Times in order, some of them equal.
local function ordered(count, step)
   local times, time = {}, -500
   for i = 1, count do
      times[i] = time
      time = time + math.random(0, step)
   end
   return times
end

describe("range", function()
   it("selects from <= time < to, for any number of rows", function()
      math.randomseed(7)
      for _, count in ipairs { 0, 1, 2, 4095, 4096, 4097, 8192, 30000 } do
         local times = ordered(count, 3)
         local rows, last = over(times), times[count] or 0
         for _ = 1, 20 do
            local from, to = math.random(-600, last + 50), math.random(-600, last + 50)
            assert.same(expected(times, from, to), numbers(rows:range(from, to)))
         end
      end
   end)

   it("accepts ends at times of rows, and open ends", function()
      local times = ordered(20000, 1)
      local rows = over(times)
      for _, time in ipairs { times[1], times[4096], times[4097], times[9000], times[20000] } do
         assert.same(expected(times, time), numbers(rows:range(time)))
         assert.same(expected(times, nil, time), numbers(rows:range(nil, time)))
         assert.same(expected(times, time, time + 1), numbers(rows:range(time, time + 1)))
      end
      assert.equal(20000, rows:range():count())
   end)

   it("accepts the minimum and maximum of times", function()
      local rows = over { math.mininteger, 0, math.maxinteger }
      assert.same({ 1, 2, 3 }, numbers(rows:range()))
      assert.same({ 1, 2 }, numbers(rows:range(nil, math.maxinteger)))
      assert.same({}, numbers(rows:range(nil, math.mininteger)))
      assert.same({ 3 }, numbers(rows:range(math.maxinteger)))
   end)

   it("reads nothing before and after the range if the rows are in order", function()
      local times = {}
      for i = 1, 100000 do
         times[i] = i
      end
      times[50001], times[99999] = 70500, 70500 -- far from what has to be looked at
      local wanted = {}
      for i = 70001, 71000 do
         wanted[#wanted + 1] = i
      end
      assert.same(wanted, numbers(over(times):range(70001, 71001)))
   end)

   it("reads everything if rows that it probes are out of order", function()
      local times = {}
      for i = 1, 20000 do
         times[i] = i
      end
      times[3], times[19000] = 9000, 9001
      assert.same(expected(times, 9000, 9002), numbers(over(times):range(9000, 9002)))
   end)

   it("reads on if the range itself is out of order", function()
      local times = {}
      for i = 1, 20000 do
         times[i] = i
      end
      times[9500], times[9400], times[12000] = 9100, 15000, 9600
      local rows = over(times):where { n = profio.no(0) } -- a stage that cannot seek
      assert.same(expected(times, 9000, 10000), numbers(rows:range(9000, 10000)))
   end)

   it("leaves out rows without a time", function()
      local times = {}
      for i = 1, 9000 do
         times[i] = i % 7 ~= 0 and i
      end
      assert.same(expected(times, 5000, 5100), numbers(over(times):range(5000, 5100)))
   end)

   it("uses another column, and works between other stages", function()
      local rows = over(ordered(10000, 2))
      assert.same({ 5, 6, 7 }, numbers(rows:range(5, 8, "n")))
      assert.same({ 6 }, numbers(rows:range(5, 8, "n"):where { n = { 6, 9 } }))
      assert.equal(2, rows:range(5, 8, "n"):limit(2):count())
      assert.equal(9, rows:group("n"):aggregate { "time = max(time)" }:range(1, 10, "n"):count())
   end)

   it("finds the same in a binary timeline as a filter does", function()
      local winidea = require "spec.support.winidea"
      local list = {}
      for i = 1, 20000 do
         list[i] = { handle = i % 3, event = i % 2 == 1 and "enter" or "leave", core = 0,
            time = i // 3 * 7 }
      end
      local trace <close> = assert(profio.open({ data = winidea.bytes(list, winidea.new) },
         { format = "winidea", dialect = "bin" }))
      for _, span in ipairs { { 0, 7 }, { 6, 8 }, { 20000, 20700 }, { 46655, 99999 },
         { -5, 0 }, { 30000, 30000 } } do
         local from, to = span[1], span[2]
         assert.same(trace:where { time = profio.between(from, to - 1) }:rows("time", "handle"),
            trace:range(from, to):rows("time", "handle"))
         assert.equal(trace.events:where { time = profio.between(from, to - 1) }:count(),
            trace.events:range(from, to):count())
      end
   end)

   it("accepts columns of keys from functions, also without rows", function()
      for _, times in ipairs { { 1, 5, 9 }, {} } do
         local rows = over(times)
         for _, key in ipairs { { function(time) return time end, "time", name = "time" },
            { function(time) return time end, "time", name = "time", type = "int" } } do
            assert.equal(#times // 3, rows:group(key):range(2, 8):count())
         end
         assert.equal(0, rows:group { function() end, "time", name = "time" }:range(2, 8):count())
      end
      assert.error_matches(function()
         over { 1, 2 }:group { function(time) return time / 2 end, "time" }
            :range(0, 1, "key"):count()
      end, "of type num, not int; .* type = \"int\"")
   end)

   it("reports wrong use", function()
      local rows = over { 1, 2 }
      assert.error_matches(function() rows:range("1ms") end, "whole numbers of nanoseconds")
      assert.error_matches(function() rows:range(0, 1.5) end, "whole numbers of nanoseconds")
      assert.error_matches(function() rows:range(0, 1, "nope"):rows() end, "no column 'nope'")
      local named = view.over(function()
         return core.rows_reader({ { "time", "name" } }, { { "x" } })
      end)
      assert.error_matches(function() named:range(0, 1):rows() end, "of type name, not int")
   end)
end)
