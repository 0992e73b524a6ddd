-- Attribution of histogram bins to functions: weights are whole numbers, and sums are exact.

local core = require "profio.core"
local profiles = require "spec.support.profiles"

local function weights(given, metric)
   local result = {}
   for name, row in pairs(profiles.flat(assert(profiles.make(given)), { metric = metric })) do
      result[name] = row.self
   end
   return result
end

local symbols = { { "a", 0x1000 }, { "b", 0x1010 }, { "c", 0x1014 }, { "last", 0x2000 } }

describe("attribution", function()
   it("attributes a bin inside a function to that function", function()
      assert.same({ a = 7, b = 3 }, weights { symbols = symbols,
         bins = { { 0x1000, 0x1004, 5, 5 }, { 0x1008, 0x100c, 2, 2 }, { 0x1010, 0x1014, 3, 3 } } })
   end)

   it("divides a bin over several functions by bytes; the largest share gets the rest", function()
      local bins = { { 0x100c, 0x1018, 10, 1000 } } -- 4 bytes of each of a, b, c
      assert.same({ a = 4, b = 3, c = 3 }, weights({ symbols = symbols, bins = bins }, "samples"))
      assert.same({ a = 334, b = 333, c = 333 },
         weights({ symbols = symbols, bins = bins }, "time"))
      assert.same({ a = 1 }, weights({ symbols = symbols,
         bins = { { 0x100a, 0x1012, 1, 1 } } }, "samples"))
   end)

   it("shows addresses before and after all symbols", function()
      assert.same({ ["0x500"] = 9, ["0x508"] = 2, a = 1, ["0x3000"] = 4, ["0x9000"] = 3 },
         weights { symbols = symbols, bins = { { 0x500, 0x504, 9, 9 }, { 0x508, 0x50c, 2, 2 },
            { 0x1000, 0x1004, 1, 1 }, { 0x3000, 0x3004, 4, 4 }, { 0x9000, 0x9004, 3, 3 } } })
   end)

   it("attributes a gap between symbols to a pseudo function named by its start", function()
      local given = { symbols = { { "a", 0x1000, size = 64 }, { "b", 0x1400, size = 64 } },
         bins = { { 0x1020, 0x1060, 64, 64 }, { 0x1100, 0x1104, 3, 3 }, { 0x1800, 0x1804, 2, 2 } } }
      assert.same({ a = 32, ["0x1040"] = 32 + 3, ["0x1800"] = 2 }, weights(given, "samples"))
   end)

   it("shows addresses in a gap of more than a page", function()
      local given = { symbols = { { "a", 0x1000, size = 64 }, { "b", 0x2044, size = 64 } },
         bins = { { 0x1100, 0x1104, 3, 3 }, { 0x1104, 0x1108, 2, 2 } } }
      assert.same({ ["0x1100"] = 3, ["0x1104"] = 2 }, weights(given, "samples"))
      given.symbols[2][2] = 0x2040
      assert.same({ ["0x1040"] = 5 }, weights(given, "samples"))
   end)

   it("does not divide a bin over more than a thousand functions", function()
      local many = {}
      for i = 1, 1100 do
         many[i] = { "f" .. i, 0x1000 + 16 * i }
      end
      assert.same({ ["0x1010"] = 5000 }, weights { symbols = many,
         bins = { { 0x1010, 0x1010 + 16 * 1050, 5000, 5000 } } })
      local found = weights { symbols = many,
         bins = { { 0x1010, 0x1010 + 16 * 1000, 5000, 5000 } } }
      assert.same({ 5, 5 }, { found.f1, found.f1000 })
   end)

   it("names functions by the starts of bins if there are no symbols", function()
      assert.same({ ["0x1000"] = 9, ["0x1008"] = 2 }, weights {
         bins = { { 0x1000, 0x1004, 5, 5 }, { 0x1008, 0x100c, 2, 2 }, { 0x1000, 0x1004, 4, 4 } } })
   end)

   it("adds the load bias to the addresses of symbols", function()
      assert.same({ b = 3 }, weights { symbols = symbols, bias = 0x550000,
         bins = { { 0x551010, 0x551014, 3, 3 } } })
   end)

   it("lets a load bias move all symbols past the last address, but not some of them", function()
      local high = { { "a", 0xffffffff80001000 }, { "b", 0xffffffff80002000 } }
      assert.same({ ["0x500"] = 1, a = 2, b = 3, ["0x7000000000"] = 4 }, weights {
         symbols = high, bias = 0x80000000,
         bins = { { 0x500, 0x504, 1, 1 }, { 0x1ffc, 0x2000, 2, 2 }, { 0x2ffe, 0x3000, 3, 3 },
            { 0x7000000000, 0x7000000004, 4, 4 } } })
      local profile, message = profiles.make { symbols = high, bias = 0x7fffe000,
         bins = { { 0x500, 0x504, 1, 1 } } }
      assert.is_nil(profile)
      assert.matches("moves symbols past the last address", message)
   end)

   it("has no time if no row has a time", function()
      local profile = profiles.make { symbols = symbols, bins = { { 0x1000, 0x1004, 5 } } }
      assert.same(5, profile:facts({ metric = "samples" }).total)
      assert.same(0, profile:facts({ metric = "time" }).total)
   end)

   it("counts a set whose dimension is empty apart from times", function()
      local given = { symbols = symbols,
         bins = { { 0x1000, 0x1004, 3, 30000000 }, { 0x1010, 0x1014, 500, set = 1 } },
         sets = { { 0, 0x1000, 0x1100, 64, 100, "seconds", "s" },
            { 1, 0x1000, 0x1100, 64, 0, "", "" } } }
      assert.same({ a = 3 }, weights(given, "samples"))
      assert.same({ a = 30000000 }, weights(given, "time"))
      assert.same({ b = 500 }, weights(given, ""))
   end)

   it("puts rows without an address at address 0, also after other rows", function()
      local bins, arcs = {}, {}
      for i = 1, 4096 do -- one batch
         bins[i] = { 0x1000, 0x1004, 1, bin = 0 }
         arcs[i] = { 0x1000, 0x1000, 1 }
      end
      bins[4097], arcs[4097] = { nil, nil, 7 }, { nil, 0x1000, 5 }
      bins[4098], arcs[4098] = { 0x1000, nil, 9 }, { 0x1000, nil, 3 }
      local profile = profiles.make { symbols = symbols, bins = bins, arcs = arcs }
      local selves, calls = {}, {}
      for name, row in pairs(profiles.flat(profile, { metric = "samples" })) do
         selves[name] = row.self
      end
      assert.same({ a = 4096 + 9, ["0x0"] = 7 }, selves)
      for _, arc in ipairs(core.rows(profile:graph())) do
         calls[(arc.caller or "-") .. ">" .. arc.callee] = arc.calls
      end
      assert.same({ ["a>a"] = 4096, ["->a"] = 5, ["a>0x0"] = 3 }, calls)
   end)

   it("reports a missing column, and missing input", function()
      local reader = core.rows_reader({ { "low", "addr" }, { "count", "int" } }, {})
      local profile, message, code = core.profile { histogram = reader }
      assert.is_nil(profile)
      assert.matches('a column "high" of type addr is needed', message)
      assert.same("unsupported", code)
      assert.error_matches(function() core.profile {} end, "needs a histogram or arcs")
   end)
end)

-- {====== Comparison with a model of bytes ======

local function random_case()
   local given, address = { symbols = {}, bins = {} }, 0x1000
   for i = 1, math.random(12) do
      given.symbols[i] = { "f" .. i, address }
      address = address + math.random(1, 24)
   end
   local at = 0x1000 - math.random(0, 20)
   while at < address do
      local width = math.random(1, 30)
      if math.random(3) > 1 then
         given.bins[#given.bins + 1] = { at, at + width, math.random(0, 9), math.random(0, 1000) }
      end
      at = at + (math.random(8) == 1 and -5 or width)
   end
   given.bins[1] = given.bins[1] or { 0x1000, 0x1004, 1, 1 }
   return given
end

-- The function of each byte of a bin; the last symbol of nm's text extends to the end.
local function owner(given, byte)
   for i = #given.symbols, 1, -1 do
      if given.symbols[i][2] <= byte then
         return given.symbols[i][1]
      end
   end
   return nil
end

-- Bytes of a bin before all symbols are named by the start of the bin.
local function share(given, bin, column, sums)
   local order, bytes = {}, {}
   for byte = bin[1], bin[2] - 1 do
      local name = owner(given, byte) or ("0x%x"):format(bin[1])
      if not bytes[name] then
         order[#order + 1] = name
      end
      bytes[name] = (bytes[name] or 0) + 1
   end
   local largest, left = order[1], bin[column]
   for _, name in ipairs(order) do
      local part = bin[column] * bytes[name] // (bin[2] - bin[1])
      sums[name] = (sums[name] or 0) + part
      left = left - part
      largest = bytes[name] > bytes[largest] and name or largest
   end
   sums[largest] = sums[largest] + left
end

describe("attribution of random bins", function()
   it("agrees with the model, and keeps all counts", function()
      for case = 1, 200 do
         math.randomseed(case)
         local given = random_case()
         for column, metric in pairs { [3] = "samples", [4] = "time" } do
            local want, total, got_total = {}, 0, 0
            for _, bin in ipairs(given.bins) do
               share(given, bin, column, want)
               total = total + bin[column]
            end
            local got = weights(given, metric)
            for name, value in pairs(want) do
               assert.same(value, got[name] or 0, ("case %d, %s of %s"):format(case, metric, name))
            end
            for _, value in pairs(got) do
               got_total = got_total + value
            end
            assert.same(total, got_total, "case " .. case)
         end
      end
   end)
end)

-- }======
