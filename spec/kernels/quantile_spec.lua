-- Quantiles of groups: their error and their rank.

local core = require "profio.core"
local tables = require "spec.support.tables"

local one = tables.aggregate

describe("quantiles", function()
   -- The exact value of the nearest rank, in thousandths.
   local function true_quantile(values, thousandths)
      local sorted = table.move(values, 1, #values, 1, {})
      table.sort(sorted)
      return sorted[math.max(1, (#sorted * thousandths + 999) // 1000)]
   end

   local makers = {
      small = function() return math.random(0, 255) end,
      times = function() return math.floor(math.exp(math.random() * 25)) end,
      both = function() return math.random(-100000, 100000) end,
      all = function() return math.random(0) end,
   }

   it("are within 1/256 of the exact value, for any number of values", function()
      for name, make in pairs(makers) do
         math.randomseed(42)
         local values = {}
         for i = 1, 50000 do
            values[i] = make()
         end
         for _, p in ipairs { 0, 1, 100, 500, 900, 990, 999, 1000 } do
            local want = true_quantile(values, p)
            local got = one(("p%g"):format(p / 10), "int", values)
            assert.equal("integer", math.type(got))
            assert.is_true(math.abs(got + 0.0 - want) <= math.abs(want / 256),
               ("%s p%g: %d, got %d"):format(name, p / 10, want, got))
         end
      end
   end)

   it("are exact up to 4096 values, and for whole numbers below 256", function()
      math.randomseed(7)
      local values = {}
      for i = 1, 4096 do
         values[i] = math.random(0, 1 << 50)
      end
      assert.equal(true_quantile(values, 990), one("p99", "int", values))
      for i = 1, 20000 do
         values[i] = math.random(-255, 255)
      end
      assert.equal(true_quantile(values, 10), one("p1", "int", values))
      assert.equal(true_quantile(values, 500), one("p50", "int", values))
      for i = 1, 20000 do
         values[i] = i <= 5000 and -1 or i <= 10000 and 0 or 1
      end
      assert.equal(-1, one("p25", "int", values))
      assert.equal(0, one("p25.01", "int", values))
      assert.equal(0, one("p50", "int", values))
      assert.equal(1, one("p50.01", "int", values))
   end)

   it("are named in column about where they are estimates", function()
      math.randomseed(8)
      local rows = {}
      local function about_of(count, most)
         for i = 1, count do
            rows[i] = { math.random(0, most) }
         end
         local list = {}
         for i, p in ipairs { "p0", "p50", "p99", "p100" } do
            list[i] = { name = p, fn = p, column = "v" }
         end
         return core.rows(core.group(core.rows_reader({ { "v", "int" } }, rows), {}, list))[1].about
      end
      assert.is_nil(about_of(4096, 1 << 40))
      assert.equal("p50 p99", about_of(4097, 1 << 40))
      assert.is_nil(about_of(5000, 255))
      local named = core.group(core.rows_reader({ { "v", "int" } }, rows), {},
         { { name = "about", fn = "p50", column = "v" } })
      assert.same({ { name = "about", type = "int", help = named:fields()[1].help } },
         named:fields())
   end)

   it("have the same error for floating-point numbers", function()
      math.randomseed(9)
      local values = {}
      for i = 1, 30000 do
         values[i] = (math.random() - 0.3) * 10.0 ^ math.random(-200, 200)
      end
      values[1], values[2], values[3] = math.huge, -math.huge, 0.0
      for _, p in ipairs { 0, 1, 250, 300, 500, 990, 1000 } do
         local want = true_quantile(values, p)
         local got = one(("p%g"):format(p / 10), "num", values)
         assert.is_true(got == want or math.abs(got - want) <= math.abs(want) / 256,
            ("p%g: %g, got %g"):format(p / 10, want, got))
      end
   end)

   it("use the smallest rank that covers the share exactly", function()
      local values = {}
      for i = 1, 1000 do
         values[i] = i
      end
      assert.equal(999, one("p99.9", "int", values))
      assert.equal(1, one("p0.1", "int", values))
      assert.equal(2, one("p0.100001", "int", values))
      assert.equal(1000, one("p99.900001", "int", values))
   end)
end)
