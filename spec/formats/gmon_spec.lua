-- Tags: stressed.

local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local codes = require("spec.support.codes").sorted

local function open(bytes, options)
   return assert(profio.open({ data = bytes }, options))
end

local function rows_of(bytes, name, options)
   local trace <close> = open(bytes, options)
   return trace[name]:rows()
end

-- Returns one column of a table as an array; missing values are false.
local function column(bytes, name, wanted, options)
   local trace <close> = open(bytes, options)
   local values = {}
   for value in trace[name]:each(wanted) do
      values[#values + 1] = value
   end
   return values
end

-- Reads a histogram of 7944 bytes of code in 1988 bins: 3976 / 7944 * 65536 is 32800.995; in single
-- precision the quotient is rounded up, which results in 32801.
local function seven(extended)
   local bins = {}
   for i = 1, 1988 do
      bins[i] = 1
   end
   local bytes = gmon("<", 8):header()
      :histogram { low = 0x400, high = 0x400 + 7944, bins = bins }:bytes()
   local options = { extended_precision = extended }
   return column(bytes, "histogram", "low", options), column(bytes, "histogram", "high", options)
end

-- Returns whether `low` is the first address that profil counts in a bin.
local function is_first(low, bin, scale)
   local half = (low - 0x400) // 2
   return half * scale // 65536 == bin and (half == 0 or (half - 1) * scale // 65536 < bin)
end

describe("gmon", function()
   it("reads GNU version 1 in both orders and widths", function()
      for b, order, width in gmon.each() do
         local bytes = b:header()
            :histogram { low = 0x1000, high = 0x1010, bins = { 0, 3, 0, 1 } }
            :arc(0x1004, 0x1008, 7)
            :blocks({ { 0x1000, 5 }, { 0x100c, 6 } }):bytes()
         local trace <close> = open(bytes)
         assert.same({}, trace.warnings)
         assert.same({ format = "gmon", dialect = "gnu", byte_order = order,
            address_size = width, version = 1, records = 7, sets = 1, bins = 4, arcs = 1,
            blocks = 2, low = 0x1000, high = 0x1010, rate = 100, dimension = "seconds",
            abbreviation = "s" }, trace.info)
         assert.same({ "histogram", "arcs", "blocks", "sets", "raw" }, trace.tables)
         assert.same({
            { set = 0, low = 0x1000, high = 0x1004, count = 0, seconds = 0.0, spent = 0, bin = 0 },
            { set = 0, low = 0x1004, high = 0x1008, count = 3, seconds = 0.03,
               spent = 30000000, bin = 1 },
            { set = 0, low = 0x1008, high = 0x100c, count = 0, seconds = 0.0, spent = 0, bin = 2 },
            { set = 0, low = 0x100c, high = 0x1010, count = 1, seconds = 0.01,
               spent = 10000000, bin = 3 },
         }, trace.histogram:rows())
         assert.same({ { from = 0x1004, to = 0x1008, count = 7 } }, trace.arcs:rows())
         assert.same({ { address = 0x1000, count = 5 }, { address = 0x100c, count = 6 } },
            trace.blocks:rows())
         assert.same({ { set = 0, low = 0x1000, high = 0x1010, bins = 4, declared = 4, rate = 100,
            dimension = "seconds", abbreviation = "s", offset = 20 } }, trace.sets:rows())
      end
   end)

   it("reads several histograms, in any order with arcs", function()
      local bytes = gmon("<", 8):header()
         :arc(1, 2, 3)
         :histogram { low = 0, high = 8, bins = { 1, 2 } }
         :arc(4, 5, 6)
         :histogram { low = 0, high = 8, bins = { 10, 20 }, rate = 1000 }
         :histogram { low = 64, high = 68, bins = { 9 }, dimension = "i-cache misses!",
            abbreviation = "m" }:bytes()
      local trace <close> = open(bytes)
      assert.same({}, trace.warnings)
      assert.is_nil(trace.info.rate)
      local got = {}
      for set, low, count, seconds in trace.histogram:each("set", "low", "count", "seconds") do
         got[#got + 1] = { set, low, count, seconds or "none" }
      end
      assert.same({ { 0, 0, 1, 0.01 }, { 0, 4, 2, 0.02 }, { 1, 0, 10, 0.01 }, { 1, 4, 20, 0.02 },
         { 2, 64, 9, "none" } }, got)
      assert.same({ 3, 6 }, column(bytes, "arcs", "count"))
      assert.same({ "seconds", "seconds", "i-cache misses!" }, column(bytes, "sets", "dimension"))
   end)

   it("reads runs of arcs longer than a batch", function()
      local b = gmon(">", 4):header():histogram { low = 0, high = 8, bins = { 1, 2 } }
      local sum = 0
      for i = 1, 10000 do
         b:arc(16 * i, 8 * i, i)
         sum = sum + i
      end
      local n, total, last = 0, 0, nil
      local trace <close> = open(b:bytes())
      for from, to, count in trace.arcs:each("from", "to", "count") do
         n = n + 1
         total = total + count
         assert(from == 16 * n and to == 8 * n)
         last = count
      end
      assert.same({ 10000, sum, 10000 }, { n, total, last })
   end)

   it("has raw rows whose bytes add up to the file", function()
      local bytes = gmon("<", 8):header()
         :histogram { low = 0, high = 8, bins = { 1, 2 } }
         :arc(1, 2, 3):arc(4, 5, 6):blocks({ { 1, 2 } }):raw("\9rest"):bytes()
      local trace <close> = open(bytes)
      local joined, at = {}, 0
      for r in trace.raw:records() do
         assert.equal(at, r.offset)
         assert.equal(r.size, #r.bytes)
         at = at + r.size
         joined[#joined + 1] = r.bytes
      end
      assert.equal(bytes, table.concat(joined))
      assert.same({ "header", "histogram", "arc", "arc", "blocks", "rest" },
         column(bytes, "raw", "kind"))
      assert.same({ false, false, 3, 6, 1, false }, column(bytes, "raw", "count"))
   end)

   it("computes the addresses of bins as profil does, not by even division", function()
      for extended, scale in pairs { [false] = 32801, [true] = 32800 } do
         local lows, highs = seven(extended)
         for bin = 0, 1987 do
            assert.is_true(is_first(lows[bin + 1], bin, scale))
            assert.is_true(is_first(highs[bin + 1], bin + 1, scale))
         end
      end
   end)

   it("divides in extended precision if the profiled machine did", function()
      local single, extended = seven(false), seven(true)
      assert.not_same(single, extended)
      assert.same(single, (seven(nil)))
   end)

   it("divides evenly if all bins have the same number of bytes", function()
      local bytes = gmon(">", 4):header()
         :histogram { low = 0x100, high = 0x100 + 18, bins = { 1, 2, 3 } }:bytes()
      assert.same({ 0x100, 0x106, 0x10c }, column(bytes, "histogram", "low"))
      assert.same({ 0x106, 0x10c, 0x112 }, column(bytes, "histogram", "high"))
   end)

   it("reads bins that are far wider than those of profil", function()
      local bytes = gmon("<", 8):header()
         :histogram { low = 0, high = 1000001, bins = { 1, 2, 3 } }:bytes()
      assert.same({ 0, 333334, 666668 }, column(bytes, "histogram", "low"))
      assert.same({ 333334, 666668, 1000001 }, column(bytes, "histogram", "high"))
   end)

   it("has the bins of OpenOCD at the addresses that it counts in them", function()
      -- `profile` of OpenOCD counts a sample in bin (pc - low) * bins / range
      for _, case in ipairs { { 8012, 1311 }, { 801002, 131072 }, { 1001, 500 }, { 4008, 1000 },
         { 7944, 1990 }, { 30, 20 } } do
         local range, bins = case[1], {}
         for i = 1, case[2] do
            bins[i] = 1
         end
         local bytes = gmon("<", 4):header()
            :histogram { low = 0x100, high = 0x100 + range, bins = bins }:bytes()
         local lows = column(bytes, "histogram", "low")
         local highs = column(bytes, "histogram", "high")
         local wrong = 0
         for i, low in ipairs(lows) do
            local starts = (low - 0x100) * #bins // range == i - 1
               and (i == 1 or (low - 0x101) * #bins // range < i - 1)
            wrong = wrong + (starts and highs[i] == (lows[i + 1] or 0x100 + range) and 0 or 1)
         end
         assert.equal(0, wrong)
      end
   end)

   it("rounds nanoseconds so that the sum of a histogram is exact", function()
      local bins, sum = {}, 0
      for i = 1, 5000 do
         bins[i] = i % 7
         sum = sum + bins[i]
      end
      for _, rate in ipairs { 3, 7, 1024, 333333 } do
         local bytes = gmon("<", 8):header()
            :histogram { low = 0, high = 20000, bins = bins, rate = rate }:bytes()
         local total = 0
         for _, spent in ipairs(column(bytes, "histogram", "spent")) do
            total = total + spent
         end
         assert.equal((sum * 2000000000 + rate) // (2 * rate), total)
      end
   end)

   -- For a profile, the reader skips bins of 0; without symbols each bin is a function.
   it("finds each bin that is not 0 if it skips bins of 0", function()
      local counts = { 1, 0xff, 0x100, 0x7fff, 0x8000, 0xffff }
      for _, density in ipairs { 0.003, 0.07, 0.6, 1 } do
         for b, _, width in gmon.each() do
            local bins, expected = {}, {}
            for i = 1, math.random(0, 700) + (width == 8 and 5000 or 0) do
               bins[i] = math.random() < density and counts[math.random(#counts)] or 0
               expected[0x1000 + 4 * (i - 1)] = bins[i] ~= 0 and bins[i] * 10000000 or nil
            end
            local trace <close> = open(b:header()
               :histogram { low = 0x1000, high = 0x1000 + 4 * #bins, bins = bins }:bytes())
            local found = {}
            for name, time in trace:profile():flat():each("function", "self") do
               found[tonumber(name)] = time
            end
            assert.same(expected, found)
         end
      end
   end)

   it("notes a missing rate, and accepts a rate as an option", function()
      local bytes = gmon("<", 4):header()
         :histogram { low = 0, high = 8, bins = { 1, 2 }, rate = 0 }:bytes()
      local trace <close> = open(bytes)
      assert.same({ "gmon-no-rate" }, codes(trace))
      assert.equal("note", trace.warnings[1].kind)
      assert.same({ false, false }, column(bytes, "histogram", "seconds"))
      assert.same({ false, false }, column(bytes, "histogram", "spent"))
      assert.same({ 1.0, 2.0 }, column(bytes, "histogram", "seconds", { rate = 1 }))
   end)

   it("reads version 0 with a note", function()
      for b, order in gmon.each() do
         local bytes = b:header(0):histogram { low = 0, high = 8, bins = { 1, 2 } }
            :arc(1, 2, 3):bytes()
         local trace <close> = open(bytes)
         assert.same({ "gmon-version-0" }, codes(trace))
         assert.equal(order, trace.info.byte_order)
         assert.same({ 3 }, column(bytes, "arcs", "count"))
      end
   end)

   it("reads the number of blocks in 4 and in 8 bytes", function()
      for _, order in ipairs { "<", ">" } do
         for _, tail in ipairs { 0, 1, 2 } do
            for size = 4, 8, 4 do
               local b = gmon(order, 8):header()
                  :blocks({ { 0x401000, 5 }, { 0x402000, 6 } }, size)
               for _ = 1, tail do
                  b:arc(0x401000, 0x402000, 9)
               end
               local options = { address_size = 8 }
               assert.same({ { address = 0x401000, count = 5 }, { address = 0x402000, count = 6 } },
                  rows_of(b:bytes(), "blocks", options))
               assert.equal(tail, #rows_of(b:bytes(), "arcs", options))
               local trace <close> = open(b:bytes(), options)
               assert.same(size == 8 and { "gmon-wide-block-number" } or {}, codes(trace))
            end
         end
      end
   end)

   it("reads a number of blocks in 4 bytes before addresses with a lower half of 0", function()
      local list = { { address = 1 << 32, count = 5 }, { address = 0, count = 6 } }
      local bytes = gmon("<", 8):header():blocks({ { 1 << 32, 5 }, { 0, 6 } }):bytes()
      assert.same(list, rows_of(bytes, "blocks", { address_size = 8 }))
   end)

   it("reads a number of blocks in 8 bytes in a cut file", function()
      local bytes = gmon("<", 8):header()
         :blocks({ { 0x401000, 5 }, { 0x402000, 6 }, { 0x403000, 7 } }, 8):bytes()
      assert.same({ 5, 6 }, column(bytes:sub(1, -9), "blocks", "count", { address_size = 8 }))
   end)

   it("reads the files that ld.so writes for LD_PROFILE", function()
      for b, order, width in gmon.each() do
         local bytes = b:header(0x1ffff):pack("I4", 0)
            :histogram_body { low = 0, high = 16, bins = { 1, 2, 3, 4 } }
            :arc_table({ { 0, 0x10, 2 }, { 0x20, 0x30, 4 } }, 5):bytes()
         local trace <close> = open(bytes)
         assert.same({}, trace.warnings)
         assert.same({ "ld-profile", order, width },
            { trace.info.dialect, trace.info.byte_order, trace.info.address_size })
         assert.same({ { from = 0, to = 0x10, count = 2 }, { from = 0x20, to = 0x30, count = 4 } },
            trace.arcs:rows())
         assert.same({ 1, 2, 3, 4 }, column(bytes, "histogram", "count"))
         assert.same({ "header", "histogram", "header", "arc", "arc", "rest" },
            column(bytes, "raw", "kind"))
      end
   end)

   it("reads Apple's pieces", function()
      for b, order, width in gmon.each() do
         local samples = b:like():bsd { low = 0x1000, high = 0x1010, bins = { 1, 2, 3, 4 } }
         local images = b:like():pack("I4AzAz", 2, 0x1000, "/bin/bash", 0x2000, "libc.dylib")
         local raw_arcs = b:like():pack("AAI4", 1, 2, 3):raw(width == 8 and "pad!" or "")
         local bytes = b:pack("I4", width == 4 and 0xbeefbabe or 0xbeefbabf)
            :piece(4, images):piece(1, samples):piece(3, b:like():pack("AAI4I4", 5, 6, 7, 8))
            :piece(2, raw_arcs):bytes()
         local trace <close> = open(bytes)
         assert.same({}, trace.warnings)
         assert.same({ "apple", order, width },
            { trace.info.dialect, trace.info.byte_order, trace.info.address_size })
         assert.same({ "histogram", "arcs", "blocks", "sets", "images", "raw" }, trace.tables)
         assert.same({ { from = 5, to = 6, count = 7, order = 8 },
            { from = 1, to = 2, count = 3 } }, trace.arcs:rows())
         assert.same({ { address = 0x1000, path = "/bin/bash" },
            { address = 0x2000, path = "libc.dylib" } }, trace.images:rows())
         assert.same({ 1, 2, 3, 4 }, column(bytes, "histogram", "count"))
      end
   end)

   it("lists each warning of the decoder", function()
      local declared = require("profio.formats.gmon").warnings
      local pipe <close> = assert(io.popen "cat csrc/formats/gmon/*.c")
      local n = 0
      for code in pipe:read("a"):gmatch '"(gmon%-[%w-]+)"' do
         n = n + 1
         assert.is_string(declared[code], code)
      end
      assert.is_true(n > 10)
   end)
end)

describe("gmon, BSD", function()
   local sixteen = { 1, 2, 3, 4, 5, 6, 7, 8 }

   it("reads 4.4BSD in both orders and widths", function()
      for b, order, width in gmon.each() do
         local bytes = b:bsd { low = 0x1000, high = 0x1020, bins = sixteen, rate = 250 }
            :bsd_arc(0x1000, 0x1010, 9):bsd_arc(0x1004, 0x1018, 10):bytes()
         local trace <close> = open(bytes)
         assert.same({}, trace.warnings)
         assert.same({ "4.4bsd", order, width, 16, 250, 0x51879 }, { trace.info.dialect,
            trace.info.byte_order, trace.info.address_size, trace.info.counter_bits,
            trace.info.rate, trace.info.version })
         assert.same(sixteen, column(bytes, "histogram", "count"))
         assert.same({ { from = 0x1000, to = 0x1010, count = 9 },
            { from = 0x1004, to = 0x1018, count = 10 } }, trace.arcs:rows())
      end
   end)

   it("reads old BSD files of consistent size, with a guessed rate", function()
      for b, order, width in gmon.each() do
         local bytes = b:bsd { low = 0x1000, high = 0x1020, bins = sixteen, old = true }
            :bsd_arc(0x1000, 0x1010, 9):bytes()
         local trace <close> = open(bytes)
         assert.same({ "gmon-rate-guessed" }, codes(trace))
         assert.same({ "bsd", order, width, 100 }, { trace.info.dialect, trace.info.byte_order,
            trace.info.address_size, trace.info.rate })
         assert.same(sixteen, column(bytes, "histogram", "count"))
         local told <close> = open(bytes, { rate = 60 })
         assert.same({}, told.warnings)
         assert.equal(60, told.info.rate)
      end
   end)

   it("skips the padding of OSF/1", function()
      local bytes = gmon("<", 8):bsd { low = 0x120000000, high = 0x120000020, bins = sixteen,
         old = true, pad = "\0\0\0\0" }:bsd_arc(0x120000000, 0x120000010, 9):bytes()
      assert.same(sixteen, column(bytes, "histogram", "count"))
   end)

   it("reads an old BSD file of inconsistent size if options state its form", function()
      local bytes = gmon(">", 4):bsd { low = 0x1000, high = 0x1020, bins = sixteen, old = true }
         :bsd_arc(0x1000, 0x1010, 9):raw("tail"):bytes()
      assert.is_nil((profio.open { data = bytes }))
      local options = { format = "gmon", dialect = "bsd" }
      local _, message, code = profio.open({ data = bytes }, options)
      assert.matches("address_size", message)
      assert.equal("format", code)
      options.address_size, options.byte_order = 4, "big"
      assert.same(sixteen, column(bytes, "histogram", "count", options))
      local trace <close> = open(bytes, options)
      assert.same({ "gmon-rate-guessed", "gmon-truncated" }, codes(trace))
   end)

   it("uses FreeBSD's types of counters if the sizes fit them", function()
      local formats = { [8] = "I1", [-8] = "i1", [16] = "I2", [-16] = "i2", [32] = "I4",
         [-32] = "i4", [64] = "I8", [-64] = "i8" }
      for bits, format in pairs(formats) do
         local bins = bits < 0 and { 1, -2, 3, -4, 5, 6, 7, 8 } or sixteen
         for b in gmon.each() do
            local bytes = b:bsd { low = 0x1000, high = 0x1020, bins = bins, counter = format,
               spare = { bits, 0, 0 } }:bsd_arc(0x1000, 0x1010, 9):bytes()
            local trace <close> = open(bytes)
            assert.same({}, trace.warnings)
            assert.equal(bits, trace.info.counter_bits)
            assert.same(bins, column(bytes, "histogram", "count"))
            assert.same({ 9 }, column(bytes, "arcs", "count"))
         end
      end
   end)

   it("uses an unusual type of counter if the arcs end at the end of the file", function()
      local bins = {}
      for i = 1, 64 do
         bins[i] = i
      end
      local b = gmon(">", 8):bsd { low = 0x1000, high = 0x1080, bins = bins, counter = "I4",
         spare = { 32, 0, 0 } }:bsd_arc(0x1000, 0x1010, 9)
      assert.same(bins, column(b:bytes(), "histogram", "count"))
      assert.equal(128, #column(b:raw("x"):bytes(), "histogram", "count"))
   end)

   it("ignores garbage in the spare words, with a note", function()
      for _, garbage in ipairs { 0x771b9817, 2, 0x51879, 64 } do
         local bytes = gmon("<", 4):bsd { low = 0x1000, high = 0x1014, bins = { 1, 2, 3, 4, 5 },
            spare = { garbage, 0x40c71b, 7 } }:bsd_arc(0x1000, 0x1010, 9):bytes()
         local trace <close> = open(bytes)
         assert.same({ "gmon-counter-type" }, codes(trace))
         assert.same({ 1, 2, 3, 4, 5 }, column(bytes, "histogram", "count"))
      end
   end)

   it("notes that bins may have 32 bits in files of the PSP", function()
      local bytes = gmon("<", 4):bsd { low = 0x1000, high = 0x1010, counter = "I4",
         bins = { 70000, 2, 3, 4 } }:bsd_arc(0x1000, 0x1010, 9):bytes()
      local trace <close> = open(bytes)
      assert.same({ "gmon-counter-32" }, codes(trace))
      assert.matches("counter_bits = 32", trace.warnings[1].message)
      assert.same({ 70000, 2, 3, 4 }, column(bytes, "histogram", "count", { counter_bits = 32 }))
      assert.same({ 0x1000, 0x1004, 0x1008, 0x100c },
         column(bytes, "histogram", "low", { counter_bits = 32 }))
   end)

   it("masks the padding after the counts of 64-bit Windows", function()
      local b = gmon("<", 8):bsd { low = 0x1000, high = 0x1020, bins = sixteen }
      for i = 1, 3 do
         b:bsd_arc(0x1000, 0x1000 + i, 0x7ffb << 32 | i)
      end
      local trace <close> = open(b:bytes())
      assert.same({ "gmon-arc-padding" }, codes(trace))
      assert.same({ 1, 2, 3 }, column(b:bytes(), "arcs", "count"))
      assert.same({ 0x7ffb << 32 | 1, 0x7ffb << 32 | 2, 0x7ffb << 32 | 3 },
         column(b:bytes(), "arcs", "count", { arc_count_bits = 64 }))
   end)

   it("takes any upper half of three arcs as padding, of two only one that no program reaches",
      function()
         local b = gmon("<", 8):bsd { low = 0x1000, high = 0x1020, bins = sixteen }
            :bsd_arc(0x1000, 0x1010, 2 << 32 | 1):bsd_arc(0x1000, 0x1014, 2 << 32 | 10945)
         assert.same({ 2 << 32 | 1, 2 << 32 | 10945 }, column(b:bytes(), "arcs", "count"))
         b:bsd_arc(0x1000, 0x1018, 2 << 32 | 1)
         assert.same({ 1, 10945, 1 }, column(b:bytes(), "arcs", "count"))
         local trace <close> = open(b:bytes())
         assert.same({ "gmon-arc-padding" }, codes(trace))
      end)

   it("reads upper halves that differ as a part of the counts", function()
      local bytes = gmon("<", 8):bsd { low = 0x1000, high = 0x1020, bins = sixteen }
         :bsd_arc(0x1000, 0x1010, 0x7ffb << 32):bsd_arc(0x1000, 0x1014, 0x7ffc << 32):bytes()
      assert.same({ 0x7ffb << 32, 0x7ffc << 32 }, column(bytes, "arcs", "count"))
   end)

   it("reads counts above 32 bits of 64-bit machines", function()
      local bytes = gmon("<", 8):bsd { low = 0x1000, high = 0x1020, bins = sixteen }
         :bsd_arc(0x1000, 0x1010, 5000000000):bsd_arc(0x1000, 0x1014, 1):bytes()
      assert.same({ 5000000000, 1 }, column(bytes, "arcs", "count"))
      assert.same({ 705032704, 1 }, column(bytes, "arcs", "count", { arc_count_bits = 32 }))
   end)
end)

describe("gmon, address size", function()
   it("refuses arcs that read well in both widths, and names the option", function()
      local bytes = gmon("<", 8):header():raw(("\1"):rep(273)):bytes()
      local trace, message, code = profio.open({ data = bytes, path = "a.out" })
      assert.is_nil(trace)
      assert.equal("format", code)
      assert.matches("a.out", message)
      assert.matches("address_size = 4 or address_size = 8", message)
      assert.equal(21, #rows_of(bytes, "arcs", { address_size = 4 }))
      assert.equal(13, #rows_of(bytes, "arcs", { address_size = 8 }))
   end)

   it("is that of the executable if arcs read well in both widths", function()
      local bytes = gmon("<", 8):header():raw(("\1"):rep(273)):bytes()
      local trace <close> = open(bytes, { elf_class = 4 })
      assert.equal(4, trace.info.address_size)
      assert.same({ "gmon-address-size-guessed" }, codes(trace))
      -- an unambiguous file is not overridden
      local clear = gmon("<", 8):header():histogram { low = 0, high = 8, bins = { 1, 2 } }:bytes()
      local other <close> = open(clear, { elf_class = 4 })
      assert.equal(8, other.info.address_size)
   end)

   it("is not one that spreads addresses over all of memory", function()
      local list = {}
      for i = 0, 272 do
         list[i + 1] = string.char((i % 13 == 0 or i % 21 == 0) and 1 or i * 37 % 251)
      end
      local bytes = gmon("<", 8):header():raw(table.concat(list)):bytes()
      local trace <close> = open(bytes)
      assert.equal(4, trace.info.address_size)
      assert.same({ "gmon-address-size-guessed" }, codes(trace))
   end)

   it("is detected from the header of a cut histogram", function()
      for b, order, width in gmon.each() do
         b:header():histogram { low = 0x1000, high = 0x1010, nbins = 1000, bins = { 1 } }
         local trace <close> = open(b:bytes())
         assert.same({ order, width }, { trace.info.byte_order, trace.info.address_size })
      end
   end)

   it("is detected if the dimension of a histogram is empty", function()
      for b, order, width in gmon.each() do
         local bytes = b:header():histogram { low = 0x1000, high = 0x1010, bins = { 1, 2, 3, 4 },
            dimension = "", abbreviation = "\0" }:arc(0x1000, 0x1004, 5):bytes()
         local trace <close> = open(bytes)
         assert.same({ order, width }, { trace.info.byte_order, trace.info.address_size })
         assert.same({ "gmon-odd-histogram" }, codes(trace))
         assert.same({ 1, 2, 3, 4 }, column(bytes, "histogram", "count"))
         assert.same({ 5 }, column(bytes, "arcs", "count"))
      end
   end)

   it("refuses invalid values of options", function()
      local bytes = gmon("<", 4):bsd { low = 0, high = 8, bins = { 1, 2 } }:bytes()
      for name, value in pairs { address_size = 5, elf_class = 32, rate = -1, counter_bits = 12,
         arc_count_bits = 8 } do
         local trace, message, code = profio.open({ data = bytes }, { [name] = value })
         assert.is_nil(trace)
         assert.matches(name, message)
         assert.equal("unsupported", code)
      end
   end)

   it("opens a file of only a header", function()
      local trace <close> = open(gmon(">", 4):header():bytes())
      assert.same({}, trace.warnings)
      assert.equal(0, trace.info.records)
   end)
end)
