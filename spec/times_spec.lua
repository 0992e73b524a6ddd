-- Tags: user, stressed.

local times = require "profio.internal.times"

describe("times", function()
   it("are parsed with their unit, which is returned", function()
      assert.same({ 1500000, "ms" }, { times.parse "1.5ms" })
      assert.same({ 12000 }, { times.parse("12", "us") })
      assert.is_nil(times.parse "soon")
   end)

   it("are whole nanoseconds to the last digit", function()
      assert.same({ 1763800000123456789, "s" }, { times.parse "1763800000.123456789s" })
      assert.same({ -1763800000123456789, "ms" }, { times.parse "-1763800000123.456789ms" })
      assert.equal(math.maxinteger, (times.parse "9223372036.854775807s"))
      assert.equal(math.mininteger, (times.parse "-9223372036854775808"))
      for _, text in ipairs { "9223372036.854775808s", "-9223372036854775808.5",
         "9223372036854775807.5", "1e3", "99999999999s" } do
         assert.is_nil((times.parse(text)))
      end
   end)

   it("have whole numbers, or none", function()
      for text, expected in pairs { ["1000"] = 1000, ["-3"] = -3, ["1e3"] = 1000, ["2.50e1"] = 25,
         ["9007199254740993.0"] = 9007199254740993, [" 7 "] = 7, ["12300e-2"] = 123, ["0e0"] = 0,
         ["9.223372036854775807e18"] = math.maxinteger, [".5e1"] = 5 } do
         assert.same({ text, expected }, { text, times.whole(text) })
      end
      for _, text in ipairs { "1.5", "1e-1", "", ".", "e3", "x", "1e", "9223372036854775808",
         "1e99", "12e-2", "--1", "0x10" } do
         assert.same({ text }, { text, times.whole(text) })
      end
   end)

   it("are shown in a unit", function()
      assert.equal("1763800000123456.789 us", times.show(1763800000123456789, "us"))
      assert.equal("9223372036854775.807 us", times.show(math.maxinteger, "us"))
      assert.equal("-0.000 s", times.show(-499999, "s"))
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
