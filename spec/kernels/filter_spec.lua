-- where, filter and limit compared with their definitions, and wrong use.

local core = require "profio.core"
local model = require "spec.support.model"
local rounds = require "spec.support.rounds"
local tables = require "spec.support.tables"

local ordered = { int = true, num = true, addr = true, name = true, bytes = true, area = true }
local textual = { name = true, bytes = true }

local function random_test()
   local name, type = table.unpack(tables.pick(tables.fields))
   local test = { column = name, negate = math.random(3) == 1 or nil }
   local ops = { "eq", "in", "missing", ordered[type] and "between" or "eq",
      textual[type] and "match" or "in" }
   test.op = tables.pick(ops)
   if test.op == "eq" then
      test.value = tables.value(type)
   elseif test.op == "in" then
      test.values = {}
      for i = 1, math.random(0, math.random(2) == 1 and 4 or 20) do
         test.values[i] = tables.value(type)
      end
   elseif test.op == "between" then
      test.low = math.random(6) > 1 and tables.value(type) or nil
      test.high = math.random(6) > 1 and tables.value(type) or nil
   elseif test.op == "match" then
      test.words = tables.pick { "^Db", "a", "^$", "[%a]+_", "z", "\0" }
      test.pattern = core.pattern(test.words)
   end
   return test
end

-- A small table with a missing value in each column.
local function small()
   return { fields = { { "i", "int" }, { "x", "num" }, { "a", "addr" }, { "b", "bool" },
      { "n", "name" }, { "t", "bytes" } },
      rows = {
         { 1, 0.5, 16, true, "one", "first" },
         { 2, -0.0, -1, false, "two", "second" },
         {},
         { 3, 1 / 0, 17, true, "three", "third" },
      } }
end

-- The values of column `i` of the remaining rows; "-" for missing ones.
local function left(tests)
   local found = {}
   for i in core.each(core.where(tables.reader(small()), tests)) do
      found[#found + 1] = i or "-"
   end
   return found
end

describe("where", function()
   it("keeps the rows of the definition, for random tables", function()
      for case = 1, rounds(1500) do
         local tab = tables.any(case)
         local tests = {}
         for i = 1, math.random(0, 3) do
            tests[i] = random_test()
         end
         tables.assert_same(model.where(tab, tests),
            tables.take(core.where(tables.reader(tab), tests)), "case " .. case)
      end
   end)

   it("finds equal values of each type", function()
      assert.same({ 2 }, left { { column = "i", op = "eq", value = 2 } })
      assert.same({ 2 }, left { { column = "i", op = "eq", value = 2.0 } })
      assert.same({ 2 }, left { { column = "x", op = "eq", value = 0 } })
      assert.same({ 2 }, left { { column = "a", op = "eq", value = -1 } })
      assert.same({ 1 }, left { { column = "a", op = "eq", value = "0x10" } })
      assert.same({ 1, 3 }, left { { column = "b", op = "eq", value = true } })
      assert.same({ 3 }, left { { column = "n", op = "eq", value = "three" } })
      assert.same({ 1 }, left { { column = "t", op = "eq", value = "first" } })
   end)

   it("includes both ends of a range, and compares addresses unsigned", function()
      assert.same({ 1, 2 }, left { { column = "i", op = "between", low = 1, high = 2 } })
      assert.same({ 2, 3 }, left { { column = "a", op = "between", low = 17, high = -1 } })
      assert.same({ 3 }, left { { column = "x", op = "between", low = 1, high = math.huge } })
      assert.same({ 1, 3 }, left { { column = "n", op = "between", low = "one", high = "three" } })
   end)

   it("finds no rows for an empty range or an empty list", function()
      assert.same({}, left { { column = "i", op = "between", low = 3, high = 1 } })
      assert.same({}, left { { column = "i", op = "in", values = {} } })
   end)

   it("lets missing values match `missing` and every negated condition", function()
      assert.same({ "-" }, left { { column = "n", op = "missing" } })
      assert.same({ 1, 2, 3 }, left { { column = "n", op = "missing", negate = true } })
      assert.same({ 2, "-", 3 }, left { { column = "i", op = "eq", value = 1, negate = true } })
      assert.same({ 1, 2, "-" }, left { { column = "n", op = "match", pattern = core.pattern "^th",
         negate = true } })
   end)

   it("accepts handles as they are printed", function()
      local rows = { { 0x1000000A }, { 0x2000000A } }
      local function count(value)
         local reader = core.rows_reader({ { "h", "handle" } }, rows)
         return core.drain((core.where(reader, { { column = "h", op = "eq", value = value } })))
      end
      assert.equal(1, count "1000000A")
      assert.equal(1, count "1000000a")
      assert.equal(1, count(0x2000000A))
      assert.equal(0, count "0")
      for _, wrong in ipairs { "", "x", "0x1", "10000000000000000" } do
         assert.error_matches(function() count(wrong) end, "'h' is of type handle")
      end
   end)

   it("reports wrong use with a message", function()
      local function refuse(test, words)
         assert.error_matches(function()
            core.where(tables.reader(small()), { test })
         end, words)
      end
      refuse({ column = "j", op = "eq", value = 1 }, "no column 'j'; there are: i, x, a, b, n, t")
      refuse({ column = "i", op = "eq", value = 1.5 }, "'i' is of type int, got 1.5")
      refuse({ column = "i", op = "eq", value = "1" }, "'i' is of type int, got 1")
      refuse({ column = "i", op = "eq" }, "'i' is of type int, got nil")
      refuse({ column = "n", op = "eq", value = 1 }, "'n' is of type name, got 1")
      refuse({ column = "b", op = "eq", value = 1 }, "'b' is of type bool, got 1")
      refuse({ column = "a", op = "eq", value = "0xfffffffffffffffff" }, "'a' is of type addr")
      refuse({ column = "b", op = "between", low = false, high = true }, "no range of column 'b'")
      refuse({ column = "i", op = "match", pattern = core.pattern "1" }, "match expects a text")
      refuse({ column = "i", op = "in", value = 1 }, "no list of values for column 'i'")
      refuse({ column = "i", op = "is", value = 1 }, "no operation 'is'")
   end)
end)

describe("filter", function()
   it("keeps the rows for which a function returns true, of random tables", function()
      for case = 1, rounds(150) do
         local tab = tables.any(case)
         local function f(i, name)
            return (i or 0) > 0 or name == "a"
         end
         tables.assert_same(model.filter(tab, f, { "i", "name" }),
            tables.take(core.filter(tables.reader(tab), f, { "i", "name" })), "case " .. case)
      end
   end)

   it("passes values with their types, and nil for missing ones", function()
      local seen = {}
      core.drain(core.filter(tables.reader(small()), function(...)
         seen[#seen + 1] = table.pack(...)
      end, { "a", "b", "n", "t" }))
      assert.same({
         { n = 4, 16, true, "one", "first" }, { n = 4, -1, false, "two", "second" }, { n = 4 },
         { n = 4, 17, true, "three", "third" },
      }, seen)
   end)

   it("raises the value that the function raises, of any type", function()
      local problem = { "mine" }
      local reader = core.filter(tables.reader(small()), function()
         error(problem)
      end, { "i" })
      local ok, raised = pcall(core.drain, reader)
      assert.is_false(ok)
      assert.equal(problem, raised)
   end)

   it("runs in any coroutine, and refuses a yield out of the function", function()
      local reader = core.filter(tables.reader(small()), function(i)
         return i == 2
      end, { "i" })
      assert.equal(1, coroutine.wrap(function()
         return core.drain(reader)
      end)())
      local yielding = core.filter(tables.reader(small()), coroutine.yield, { "i" })
      assert.error_matches(function()
         coroutine.wrap(core.drain)(yielding)
      end, "yield")
   end)

   it("refuses a function that reads from its own reader", function()
      local rows = {}
      for i = 1, 5000 do
         rows[i] = { i }
      end
      local reader
      reader = core.filter(core.rows_reader({ { "i", "int" } }, rows), function()
         return core.drain(reader)
      end, { "i" })
      assert.error_matches(function()
         core.drain(reader)
      end, "reads the rows it is called for")
   end)

   it("limits the recursion of filters in filters", function()
      local function deeper()
         return core.drain(core.filter(tables.reader(small()), deeper, { "i" }))
      end
      assert.error_matches(deeper, "100 deep")
   end)

   it("survives a garbage collection while it runs", function()
      local rows = {}
      for i = 1, 9000 do
         rows[i] = { i }
      end
      local reader = core.filter(core.rows_reader({ { "i", "int" } }, rows), function(i)
         if i % 1000 == 0 then
            collectgarbage()
         end
         return i % 2 == 0
      end, { "i" })
      assert.equal(4500, core.drain(reader))
   end)

   it("refuses wrong use", function()
      assert.has_error(function()
         core.filter(tables.reader(small()), "i > 1", { "i" })
      end)
      assert.error_matches(function()
         core.filter(tables.reader(small()), print, { "k" })
      end, "no column 'k'")
   end)
end)

describe("limit", function()
   it("keeps the rows of the definition, for random tables", function()
      for case = 1, rounds(150) do
         local tab = tables.any(case)
         local n = math.random(4) > 1 and math.random(0, #tab.rows + 2) or nil
         local skip = math.random(0, #tab.rows + 2)
         tables.assert_same(model.limit(tab, n, skip),
            tables.take(core.limit(tables.reader(tab), n, skip)), "case " .. case)
      end
   end)

   it("reads no more batches than needed", function()
      local asked = 0
      local rows = {}
      for i = 1, 20000 do
         rows[i] = { i }
      end
      local counted = core.filter(core.rows_reader({ { "i", "int" } }, rows), function()
         asked = asked + 1
         return true
      end, { "i" })
      assert.equal(10, core.drain(core.limit(counted, 10)))
      assert.is_true(asked <= 4096)
   end)

   it("refuses negative numbers", function()
      assert.has_error(function()
         core.limit(tables.reader(small()), -1)
      end)
   end)
end)

describe("a stage", function()
   -- A stack of readers of texts, and the values of the last one.
   local function stages()
      local first = core.rows_reader({ { "t", "bytes" } }, { { "one" }, { "two" } })
      return first, core.limit(first, 5)
   end

   it("keeps the reader below it alive when that is closed", function()
      local first, second = stages()
      first:close()
      do
         local _ <close> = first
      end
      assert.same({ { t = "one" }, { t = "two" } }, core.rows(second))
      first, second = stages()
      local chained = core.concat { second }
      second:close()
      first:close()
      assert.same({ { t = "one" }, { t = "two" } }, core.rows(chained))
   end)

   it("gives no more rows when it is closed", function()
      local group = core.group(core.rows_reader({ { "t", "bytes" } }, { { "one" }, { "two" } }),
         { { column = "t" } }, { { fn = "count" } })
      local each, records = core.each(group), core.records(group)
      assert.equal("one", each())
      group:close()
      assert.error_matches(each, "reader is closed")
      assert.error_matches(records, "reader is closed")
      group:close()
   end)

   it("keeps its source alive", function()
      local function sorted()
         local _, second = stages()
         return core.sort(second, { { column = "t" } })
      end
      for _ = 1, 50 do
         local reader = sorted()
         collectgarbage()
         assert.equal(2, core.drain(reader))
      end
   end)
end)
