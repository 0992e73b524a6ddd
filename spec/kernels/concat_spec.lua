-- Concatenated tables, and tables from Lua arrays.
--
-- Tags: stressed.

local core = require "profio.core"
local gmon = require "spec.support.gmon_builder"
local tables = require "spec.support.tables"

local function part(dictionary, rows)
   return core.rows_reader({ { "id", "int" }, { "ref", "int" }, { "n", "name" } }, rows, dictionary)
end

describe("concat", function()
   it("gives all rows of all parts, with their constants", function()
      local dictionary = core.dictionary()
      local reader = core.concat({
         part(dictionary, { { 0, 7, "a" }, { 1, 8, "b" } }),
         part(dictionary, {}),
         part(dictionary, { { 0, 9, "a" } }),
      }, {
         { name = "file", values = { "x", "y", "z" } }, { name = "epoch", values = { "1", "2" } },
      }, "id", { 2, 5, 1 })
      assert.same({
         { id = 0, ref = 7, n = "a", file = "x", epoch = "1" },
         { id = 1, ref = 8, n = "b", file = "x", epoch = "1" },
         { id = 7, ref = 9, n = "a", file = "z" },
      }, core.rows(reader))
   end)

   it("works without constants and ids, and without their columns", function()
      local dictionary = core.dictionary()
      local function two()
         return { part(dictionary, { { 1 } }), part(dictionary, { { 2 } }) }
      end
      assert.same({ { id = 1 }, { id = 2 } }, core.rows(core.concat(two())))
      local reader = core.concat(two(), { { name = "file", values = { "x", "y" } } },
         "id", { 0, 0 })
      assert.same({ { ref = 5 }, { ref = 6 } }, core.rows(core.concat({
         part(dictionary, { { 1, 5 } }), part(dictionary, { { 2, 6 } }) }, nil, "id", { 1, 1 }),
         { "ref" }))
      assert.same({ { id = 1 }, { id = 2 } }, core.rows(reader, { "id" }))
   end)

   it("can be grouped and tested by file", function()
      local dictionary = core.dictionary()
      local function both()
         return core.concat({ part(dictionary, { { 1 }, { 2 } }), part(dictionary, { { 3 } }) },
            { { name = "file", values = { "x", "y" } } })
      end
      assert.same({ { file = "x", n = 2 }, { file = "y", n = 1 } }, core.rows(
         core.group(both(), { { column = "file" } }, { { fn = "count", name = "n" } })))
      assert.same({ { id = 3 } }, core.rows(
         core.where(both(), { { column = "file", op = "match", pattern = core.pattern "y" } }),
         { "id" }))
   end)

   it("refuses tables that do not fit together", function()
      local dictionary = core.dictionary()
      local function refuse(readers, constants, words)
         assert.error_matches(function()
            core.concat(readers, constants)
         end, words)
      end
      refuse({}, nil, "no table to read")
      refuse({ part(dictionary, {}), core.rows_reader({ { "id", "int" } }, {}, dictionary) }, nil,
         "table 2 has other columns")
      refuse({ part(dictionary, {}), part(core.dictionary(), {}) }, nil, "another dictionary")
      refuse({ part(dictionary, {}) }, { { name = "n", values = {} } }, "a column 'n' already")
      local opened = assert(core.open(core.opening("gmon", {}, false, dictionary),
         assert(core.source_data(gmon.new("<", 8):header():bytes(), "g"))))
      refuse({ part(dictionary, {}), opened }, nil, "the first reader is not of a part")
      refuse({ opened }, nil, "profio.reader expected")
   end)
end)

describe("rows_reader", function()
   it("returns the values of random tables", function()
      for case = 1, 300 do
         local tab = tables.any(case)
         tables.assert_same(tab, tables.take(tables.reader(tab)), "case " .. case)
      end
   end)

   it("keeps its texts after Lua has collected them", function()
      local reader = core.rows_reader({ { "t", "bytes" }, { "f" .. "ield", "name" } },
         { { ("x"):rep(100), ("y"):rep(100) } })
      collectgarbage()
      collectgarbage()
      assert.same({ { t = ("x"):rep(100), field = ("y"):rep(100) } }, core.rows(reader))
   end)

   it("refuses values of the wrong type", function()
      assert.error_matches(function()
         core.rows_reader({ { "i", "int" } }, { { "x" } })
      end, "column 'i' is of type int, got x")
      assert.has_error(function()
         core.rows_reader({ { "i", "integer" } }, {})
      end)
      assert.error_matches(function()
         core.rows_reader({}, {})
      end, "no columns")
   end)
end)
