-- Areas: columns of ids that Lua sees as names.
--
-- Tags: stressed.

local core = require "profio.core"
local profio = require "profio"

local function reader()
   return core.rows_reader({ { "at", "area" }, { "n", "int" } },
      { { "main", 1 }, { "idle", 2 }, { nil, 3 }, { "main", 4 }, { "Z", 5 } })
end

describe("areas", function()
   it("are names in Lua, or missing", function()
      assert.same({ { at = "main", n = 1 }, { at = "idle", n = 2 }, { n = 3 },
         { at = "main", n = 4 }, { at = "Z", n = 5 } }, core.rows(reader()))
      local seen = {}
      for at in core.each(reader(), { "at" }) do
         seen[#seen + 1] = at
      end
      assert.same({ "main", "idle", false, "main", "Z" }, seen)
   end)

   it("are tested, sorted and grouped", function()
      local function where(test)
         test.column = "at"
         local list = {}
         for n in core.each(core.where(reader(), { test }), { "n" }) do
            list[#list + 1] = n
         end
         return list
      end
      assert.same({ 1, 4 }, where { op = "eq", value = "main" })
      assert.same({ 2, 3, 5 }, where { op = "eq", value = "main", negate = true })
      assert.same({ 1, 2, 4 }, where { op = "match", pattern = core.pattern "^[im]" })
      assert.same({ 1, 4 }, where { op = "between", low = "j" })
      assert.same({ 5, 2, 1, 4, 3 }, (function()
         local list = {}
         for n in core.each(core.sort(reader(), { { column = "at" } }), { "n" }) do
            list[#list + 1] = n
         end
         return list
      end)())
      assert.same({ { at = "main", n = 5 }, { at = "idle", n = 2 }, { n = 3 },
         { at = "Z", n = 5 } }, core.rows(core.group(reader(), { { column = "at" } },
            { { name = "n", fn = "sum", column = "n" } })))
   end)

   it("are columns of formats written in Lua, and are printed", function()
      profio.register {
         name = "with-areas",
         score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "area", "area" } } },
         open = function()
            return { events = function(put)
               put(1, "main")
               put(2, "main")
               put(3, nil)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "with-areas" }))
      assert.same({ { area = "main", n = 2 }, { n = 1 } },
         trace.events:group("area"):aggregate { "n = count" }:rows())
      assert.equal("time,area\n1,main\n2,main\n3,\n", trace.events:write { output = "csv" })
      assert.has_error(function()
         trace:stack(0)
      end)
   end)
end)
