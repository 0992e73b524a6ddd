-- Tags: stressed.

local core = require "profio.core"
local profio = require "profio"
local view = require "profio.view"

local function over(fields, rows)
   return view.over(function()
      return core.rows_reader(fields, rows)
   end)
end

describe("with_area", function()
   it("adds the columns of areas; they are missing for names", function()
      local rows = over({ { "area", "area" }, { "n", "int" } },
         { { "f", 1 }, { nil, 2 } }):with_area()
      assert.same({ "area", "n", "class", "handle", "value", "parent", "file", "line" },
         rows.columns)
      assert.same({ { area = "f", n = 1 }, { n = 2 } }, rows:rows())
      assert.same({ { area = "f", n = 1 } },
         over({ { "area", "name" }, { "n", "int" } }, { { "f", 1 } }):with_area():rows())
   end)

   it("keeps columns that the rows have already", function()
      local rows = over({ { "to", "area" }, { "line", "int" } }, { { "f", 7 } }):with_area "to"
      assert.same({ "to", "line", "class", "handle", "value", "parent", "file" }, rows.columns)
      assert.same({ { line = 7 } }, rows:rows "line")
   end)

   it("keeps the bisection of a range of times", function()
      local records = {}
      for i = 1, 5000 do
         records[i] = string.pack("<I4I4i8i8", i % 3, 3 - i % 2 * 3, 0, i)
      end
      local trace <close> = assert(profio.open({ data = table.concat(records) },
         { format = "winidea", bin_version = "1.1" }))
      local rows = trace.timeline:with_area("area"):range(4100, 4103, "time"):rows("time", "area")
      assert.same({ { time = 4100, area = "00000002" }, { time = 4101, area = "00000000" },
         { time = 4102, area = "00000001" } }, rows)
   end)

   it("expects a column of areas", function()
      assert.error_matches(function()
         over({ { "n", "int" } }, { { 1 } }):with_area("n"):rows()
      end, 'column "n" holds no areas')
      assert.error_matches(function()
         over({ { "n", "int" } }, { { 1 } }):with_area():rows()
      end, "no column 'area'")
   end)
end)
