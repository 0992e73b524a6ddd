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

   it("are dates, of which each day has its first and last nanosecond", function()
      local day = 86400 * 1000000000
      local tried = 0
      for number = -100000, 105000, 997 do -- from 1696 to 2257
         local has_date, text = pcall(os.date, "!%Y-%m-%d", number * 86400)
         if has_date then -- those of Windows begin in 1970
            assert.same({ text, number * day, number * day + day - 1 }, { text, times.date(text) })
            tried = tried + 1
         end
      end
      assert.is_true(tried > 100)
      assert.same({ 1772323200000000000, 1775001599999999999 }, { times.date "2026-03" })
      assert.same({ 1798675200000000000, 1798761599999999999 }, { times.date "2026-12-31" })
      assert.same({ 1709164800000000000, 1709251199999999999 }, { times.date "2024-02-29" })
      assert.equal("2024-02-29T00:00:00", times.date_text(1709164800000000001))
   end)

   it("are ages", function()
      assert.same({ 90 * 86400 * 1000000000, 12 * 3600 * 1000000000, 14 * 86400 * 1000000000,
         3 * 60 * 1000000000, 5 * 1000000000 }, { times.age "90d", times.age "12h", times.age "2w",
         times.age "3min", times.age "5s" })
      for _, text in ipairs { "90", "d", "1.5d", "-1d", "1y", "15251w" } do
         assert.is_nil(times.age(text))
      end
   end)
end)
