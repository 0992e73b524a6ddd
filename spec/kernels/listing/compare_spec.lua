-- The reasons why gprof's numbers differ from the exact ones.

local core = require "profio.core"
local profiles = require "spec.support.profiles"
local gprof = require "spec.support.gprof"
local report = require "profio.reports.gprof.compare"

-- Rows { exact_self, gprof_self, exact_calls, gprof_calls, why } by function.
local function compare(exact, compat)
   local result = {}
   for _, row in ipairs(core.rows(report.differences(exact, compat))) do
      local list = { row.exact_self, row.gprof_self, row.exact_calls, row.gprof_calls, row.why }
      for i = 1, 5 do
         list[i] = list[i] == nil and "-" or list[i]
      end
      result[row["function"]] = list
   end
   return result
end

-- Both profiles of the same tables.
local function both(given)
   given.dictionary = core.dictionary()
   local exact = assert(profiles.make(given))
   given.compat = true
   return exact, assert(profiles.make(given))
end

local function set(low, high, bins, rate, number)
   return { number or 0, low, high, bins, rate or 100, "seconds", "s" }
end

local symbols = { { "a", 0x1000, size = 0x100 }, { "b", 0x1100, size = 0x100 },
   { "c", 0x1200, size = 0x100 }, { "d", 0x1300, size = 0x100 } }

describe("compare", function()
   it("finds nothing if both profiles agree", function()
      local exact, compat = both { symbols = symbols, sets = { set(0x1000, 0x1400, 0x100) },
         bins = { { 0x1000, 0x1004, 7, 70000000, bin = 0 },
            { 0x1100, 0x1104, 5, 50000000, bin = 0x40 } },
         arcs = { { 0x1000, 0x1100, 3 } } }
      assert.same({}, compare(exact, compat))
   end)

   it("reports bins whose real range differs from gprof's", function()
      -- profil() has bins of 4 bytes; an even division of the range makes them smaller
      local exact, compat = both { symbols = symbols, sets = { set(0x1000, 0x1400, 0x104) },
         bins = { { 0x1100, 0x1104, 9, 90000000, bin = 0x40 } } }
      local found = compare(exact, compat)
      assert.matches("bin drift", found.b[5])
      assert.same({ 0, 0 }, { found.a[1], found.a[3] })
      assert.matches("bin drift", found.a[5])
   end)

   it("reports parts of a bin that do not add up to its count", function()
      local exact, compat = both { symbols = symbols, sets = { set(0x1000, 0x1400, 0x155) },
         bins = { { 0x1006, 0x1008, 8, 80000000, bin = 2 } } } -- 3.003 bytes: 1 or 2 units
      assert.same(80000000, compare(exact, compat).a[1])
      assert.matches("credit not conserved", compare(exact, compat).a[5])
   end)

   it("reports a bin over several functions, and the last symbol", function()
      local exact, compat = both { symbols = symbols, sets = { set(0x1000, 0x1400, 0x40) },
         bins = { { 0x10f8, 0x1108, 1, 10000000, bin = 15 },
            { 0x1300, 0x1310, 4, 40000000, bin = 48 } } }
      assert.is_nil(compare(exact, compat).c)
      assert.same({ 40000000, 0, 0, 0, "last symbol" }, compare(exact, compat).d)
   end)

   it("reports code outside symbols, and calls from outside", function()
      local given = { { "a", 0x1000, size = 0x40 }, { "b", 0x1200, size = 0x100 },
         { "c", 0x1300, size = 0x100 } }
      local exact, compat = both { symbols = given, sets = { set(0x1000, 0x1400, 0x100) },
         bins = { { 0x1100, 0x1104, 9, 90000000, bin = 0x40 } },
         arcs = { { 0, 0x1200, 6 }, { 0x1000, 0x1200, 1 } } }
      assert.same({
         a = { 0, 90000000, 0, 0, "absorbs a gap" },
         ["0x1040"] = { 90000000, "-", 0, "-", "outside symbols" },
         b = { 0, 0, 7, 1, "caller outside" },
      }, compare(exact, compat))
   end)

   it("reports local symbols with a suffix, which gprof drops", function()
      local given = { { "a", 0x1000, size = 0x100 },
         { "work.part.0", 0x1100, size = 0x100, bind = "local" },
         { "c", 0x1200, size = 0x100 }, { "d", 0x1300, size = 0x100 } }
      local exact, compat = both { symbols = given, sets = { set(0x1000, 0x1400, 0x100) },
         bins = { { 0x1100, 0x1104, 9, 90000000, bin = 0x40 } }, arcs = { { 0x1200, 0x1100, 2 } } }
      assert.same({
         a = { 0, 90000000, 0, 2, "absorbs work.part.0" },
         ["work.part.0"] = { 90000000, "-", 2, "-", "local suffix dropped" },
      }, compare(exact, compat))
   end)

   it("reports files of different sampling rates", function()
      local exact, compat = both { symbols = symbols,
         sets = { set(0x1000, 0x1400, 0x100, 100, 0), set(0x1000, 0x1400, 0x100, 1000, 1) },
         bins = { { 0x1000, 0x1004, 4, 40000000, bin = 0, set = 0 },
            { 0x1000, 0x1004, 4, 4000000, bin = 0, set = 1 } } }
      assert.same({ a = { 44000000, 80000000, 0, 0, "different rates" } }, compare(exact, compat))
   end)

   it("expects an exact and a compat profile", function()
      local given = { symbols = symbols, bins = { { 0x1000, 0x1004, 4, 4 } },
         sets = { set(0x1000, 0x1400, 0x100) } }
      local exact, compat = both(given)
      assert.error_matches(function() compare(exact, exact) end, "not a compat profile")
      assert.error_matches(function() compare(compat, compat) end, "not an exact profile")
      given.dictionary = core.dictionary()
      local other = profiles.make(given)
      assert.same(compare(exact, compat), compare(exact, other))
   end)
end)

describe("compare of the corpus", function()
   local made = "../shared/corpus/gmon/made/"
   local manifest = io.open(made .. "isra-x86_64.gmon")
   if not manifest then
      pending "the corpus is not there"
      return
   end
   manifest:close()

   local function of(name)
      local dictionary = core.dictionary()
      local exe, traces = made .. name .. ".elf", { made .. name .. ".gmon" }
      local exact = gprof.profile(exe, traces, { compat = false, dictionary = dictionary })
      local compat = gprof.profile(exe, traces, { dictionary = dictionary })
      return compare(assert(exact), assert(compat))
   end

   it("finds the hot function that gprof misses by bin drift", function()
      local found = of "drift-x86_64"
      assert.same({ 900000000, 0, 0, 0, "bin drift" }, found.hot)
      assert.matches("bin drift", found.frame_dummy[5])
   end)

   it("finds the functions that gprof drops", function()
      local found = of "isra-x86_64"
      assert.same("local suffix dropped", found["hot1.isra.0"][5])
      assert.matches("absorbs hot1%.isra%.0", found.before[5])
      assert.same({ 0, 1, 2 }, { found.before[1], found.before[3], found.before[4] })
   end)
end)
