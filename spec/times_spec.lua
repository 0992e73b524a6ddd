local times = require "profio.times"

describe("times", function()
   it("are read with their unit, which is told", function()
      assert.same({ 1500000, "ms" }, { times.parse "1.5ms" })
      assert.same({ 12000 }, { times.parse("12", "us") })
      assert.is_nil(times.parse "soon")
   end)

   it("are shown in a unit", function()
      assert.equal("1.500 ms", times.show(1500000, "ms"))
      assert.equal("-0.250 us", times.show(-250, "us"))
      assert.equal("9007199254740993 ns", times.show(9007199254740993, "ns"))
      assert.equal("2.5 ns", times.show(2.5, "ns"))
      assert.equal("2.000 s", times.show(2e9, "s"))
   end)

   it("have a unit in which they are shown best", function()
      assert.same({ "ns", "us", "ms", "s", "s" }, { times.unit(999), times.unit(-1000),
         times.unit(1000000), times.unit(1000000000), times.unit(math.maxinteger) })
   end)
end)
