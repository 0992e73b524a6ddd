-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.
-- Tags: user.

local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local refused = require "spec.support.refused"

local tables = { "histogram", "arcs", "blocks", "sets" }

-- Returns all rows of the tables that are written.
local function rows_of(bytes)
   local trace <close> = assert(profio.open({ data = bytes }))
   local all = {}
   for _, name in ipairs(tables) do
      all[name] = trace[name]:rows()
   end
   return all, trace.info
end

local function save(bytes, options)
   local trace <close> = assert(profio.open(type(bytes) == "table" and bytes or { data = bytes }))
   return trace:save(nil, options)
end

-- Writes single rows: { sets = { ... }, arcs = { ... } }.
local function write(given, options)
   options = options or {}
   options.format = "gmon"
   local writer = assert(profio.create(nil, options))
   for _, name in ipairs { "sets", "histogram", "arcs", "blocks" } do
      for _, row in ipairs(given[name] or {}) do
         local ok, message, code = refused(writer, name, row)
         if not ok then
            return nil, message, code
         end
      end
   end
   return writer:close()
end

-- Returns one of several files with the same keys.
local function one_of(count, arc)
   return { data = gmon("<", 8):header()
      :histogram { low = 0, high = 16, bins = { count, 1, 0, count } }
      :arc(0, 8, arc):arc(4, 8, 1):blocks({ { 16, 3 } }):bytes() }
end

local set = { set = 0, low = 0, high = 16, bins = 4, rate = 100 }

-- Returns a set with changes.
local function with(changes)
   local copy = {}
   for name, value in pairs(set) do
      copy[name] = value
   end
   for name, value in pairs(changes) do
      copy[name] = value
   end
   return copy
end

describe("gmon, writing", function()
   it("writes the same bytes for files without repeated records", function()
      for b in gmon.each() do
         local bytes = b:header()
            :histogram { low = 0x1000, high = 0x1010, bins = { 0, 3, 0, 65535 } }
            :histogram { low = 0x2000, high = 0x2008, bins = { 1, 2 }, rate = 7, dimension = "tick",
               abbreviation = "t" }
            :arc(0x1004, 0x1008, 7):arc(0x1004, 0x1000, 0xffffffff):arc(0, 0x1008, 0)
            :blocks({ { 0x1000, 5 }, { 0x100c, 0 } }):bytes()
         assert.equal(bytes, save(bytes))
      end
   end)

   it("writes the same bytes for 4.4BSD files", function()
      for b in gmon.each() do
         local bytes = b:bsd { low = 0x1000, high = 0x1010, bins = { 0, 3, 0, 65535 }, rate = 1000 }
            :bsd_arc(0x1004, 0x1008, 7):bsd_arc(0x1004, 0x1000, 0xffffffff):bytes()
         assert.equal(bytes, save(bytes, { dialect = "4.4bsd" }))
      end
   end)

   it("converts between dialects, orders and widths", function()
      for b in gmon.each() do
         local bytes = b:header():histogram { low = 0x1000, high = 0x1010, bins = { 0, 3, 0, 5 } }
            :arc(0x1004, 0x1008, 7):bytes()
         local want = rows_of(bytes)
         for _, dialect in ipairs { "gnu", "4.4bsd" } do
            for _, order in ipairs { "little", "big" } do
               for width = 4, 8, 4 do
                  local got, info = rows_of(assert(save(bytes,
                     { dialect = dialect, byte_order = order, address_size = width })))
                  assert.same({ dialect, order, width },
                     { info.dialect, info.byte_order, info.address_size })
                  got.sets[1].offset = want.sets[1].offset
                  assert.same(want, got)
               end
            end
         end
      end
   end)

   it("adds up the counts of several files exactly", function()
      local sum = assert(save { one_of(40000, 3000000000), one_of(40000, 3000000000),
         one_of(7, 1) })
      local trace <close> = assert(profio.open { data = sum })
      -- 80007 does not fit 16 bits, 6000000001 not 32: further records, which add up
      local bins, arcs = { 0, 0, 0, 0 }, {}
      for bin, count in trace.histogram:each("bin", "count") do
         bins[bin + 1] = bins[bin + 1] + count
      end
      for from, to, count in trace.arcs:each("from", "to", "count") do
         arcs[from .. ">" .. to] = (arcs[from .. ">" .. to] or 0) + count
      end
      assert.same({ 80007, 3, 0, 80007 }, bins)
      assert.same({ ["0>8"] = 6000000001, ["4>8"] = 3 }, arcs)
      assert.same({ { address = 16, count = 9 } }, trace.blocks:rows())
      assert.equal(2, trace.sets:count())
      -- a second copy has the same bytes
      assert.equal(sum, save(sum))
   end)

   it("merges files in any order to the same bytes", function()
      local function file(arcs, low, unit, blocks)
         local made = gmon("<", 8):header():histogram { low = low, high = low + 8,
            bins = { 1, 2 }, dimension = unit }
         for _, arc in ipairs(arcs) do
            made:arc(arc[1], arc[2], arc[3])
         end
         return { data = made:blocks(blocks):bytes() }
      end
      local a = file({ { 0x30, 0x10, 1 }, { 0x20, 0x50, 2 }, { 0x20, 0x40, 3 } }, 0x100, "seconds",
         { { 0x90, 1 }, { 0x80, 2 } })
      local b = file({ { 0x10, 0x10, 4 }, { 0x20, 0x40, 5 } }, 0x80, "seconds", { { 0x70, 3 } })
      local c = file({ { 0x90, 0x20, 6 } }, 0x80, "misses", { { 0x85, 4 }, { 0x90, 5 } })
      local merged = save { a, b, c }
      for _, order in ipairs { { a, c, b }, { b, a, c }, { b, c, a }, { c, a, b }, { c, b, a } } do
         assert.is_true(merged == save(order))
      end
      assert.is_true(merged == save { { data = save { c, a } }, b })
      local rows = rows_of(merged)
      local arcs = {}
      for i, arc in ipairs(rows.arcs) do
         arcs[i] = ("%x>%x %d"):format(arc.from, arc.to, arc.count)
      end
      assert.same({ "10>10 4", "20>40 8", "20>50 2", "30>10 1", "90>20 6" }, arcs)
   end)

   it("merges to the sums of gprof -s", function()
      local base = "../shared/corpus/gmon/public/eclipse-i386-bigtest"
      local input = io.open(base .. ".sum")
      if not input then
         return pending "no corpus here"
      end
      input:close()
      -- gprof made the .sum from this file, taken twice; its arcs begin at symbols
      local theirs <close> = assert(profio.open(base .. ".sum"))
      local path = base .. ".gmon"
      local ours <close> = assert(profio.open { data = assert(save { path, path }) })
      assert.same(theirs.histogram:rows(), ours.histogram:rows())
      local calls = { 0, 0 }
      for i, trace in ipairs { theirs, ours } do
         for count in trace.arcs:each "count" do
            calls[i] = calls[i] + count
         end
      end
      assert.equal(1998, calls[2])
      assert.equal(calls[1], calls[2])
   end)

   it("keeps sets of other ranges, rates and dimensions apart", function()
      local bytes = gmon("<", 8):header()
         :histogram { low = 0, high = 16, bins = { 1, 2, 3, 4 } }
         :histogram { low = 0, high = 16, bins = { 1, 2, 3, 4 }, rate = 1000 }
         :histogram { low = 0, high = 16, bins = { 1, 2 } }
         :histogram { low = 0, high = 16, bins = { 1, 2, 3, 4 }, abbreviation = "x" }:bytes()
      assert.equal(bytes, save(bytes))
   end)

   it("keeps the addresses of the bins of a cut file", function()
      local whole = gmon("<", 8):header()
         :histogram { low = 0x400, high = 0x400 + 7944, nbins = 1988, bins = { 1, 2, 3, 4 } }
         :bytes()
      local again = rows_of(assert(save(whole)))
      local want = rows_of(whole)
      assert.equal(1988, #again.histogram)
      for i = 1, 4 do
         assert.same(want.histogram[i], again.histogram[i])
      end
   end)

   it("does not write bins that only the header of a cut file states", function()
      local bins = {}
      for i = 1, 1200 do
         bins[i] = i * 7919 % 65536
      end
      for _, bytes_of_bin in ipairs { 2, 4, 16, 3.998, 4.4, 7.3, 33.3, 1.1, 300000.7 } do
         for _, nbins in ipairs { 240000000, 1000000 } do
            local cut = gmon("<", 8):header():histogram { low = 0x400, nbins = nbins,
               high = 0x400 + math.floor(nbins * bytes_of_bin) & ~1, bins = bins }:bytes()
            for _, options in ipairs { {}, { dialect = "4.4bsd" } } do
               local saved, message, code = save(cut, options)
               if saved then
                  assert.is_true(#saved < 10 * #cut, bytes_of_bin)
                  local again, want = rows_of(saved), rows_of(cut)
                  for i = 1, 1200 do
                     assert.equal(want.histogram[i].low, again.histogram[i].low)
                     assert.equal(want.histogram[i].count, again.histogram[i].count)
                  end
               else
                  assert.equal("limit", code)
                  assert.matches("bins, of which 1200 were read, cannot be written", message)
                  assert.is_true(bytes_of_bin > 100000)
               end
            end
         end
      end
   end)

   it("writes the largest rate that is read without a warning", function()
      for _, case in ipairs { { (1 << 29) - 1, "gnu" }, { (1 << 32) - 1, "4.4bsd" } } do
         local bytes = assert(write({ sets = { with { rate = case[1] } } }, { dialect = case[2] }))
         local trace <close> = assert(profio.open({ data = bytes }, { strict = true }))
         assert.equal(case[1], trace.sets:rows()[1].rate)
         assert.same({}, trace.warnings)
      end
   end)

   it("keeps the invalid headers of damaged files in files with counters of 8 bytes", function()
      local odd = with { dimension = "", abbreviation = "", rate = 1 << 30 }
      local bytes = assert(write({ sets = { odd } }, { counter_bits = 64 }))
      local trace <close> = assert(profio.open({ data = bytes }, { counter_bits = 64 }))
      assert.equal(1 << 30, trace.sets:rows()[1].rate)
      assert.equal("gmon-odd-histogram", trace.warnings[1].code)
   end)

   it("repeats at most 64 MiB of records for large counts", function()
      local large = { sets = {}, arcs = {} }
      for i = 1, 1000 do
         large.arcs[i] = { from = 0x1000 + i, to = 0x2000, count = 1 << 47 }
      end
      local saved, message, code = write(large)
      assert.is_nil(saved)
      assert.equal("unsupported", code)
      assert.matches("repeat more than 64 MiB of records", message)
      large.sets[1] = { set = 0, low = 0x1000, high = 0x3000, bins = 16, rate = 100 }
      assert.is_true(#write(large, { dialect = "4.4bsd" }) < 100000)
      local bins = { sets = { { set = 0, low = 0, high = 200000, bins = 100000, rate = 100 } },
         histogram = { { set = 0, bin = 1, count = 1 << 31 } } }
      assert.is_nil((write(bins)))
      assert.is_true(#write(bins, { dialect = "4.4bsd" }) < 1000000)
   end)

   it("writes large counts of GNU files in 8 bytes if that is wanted", function()
      local most = (1 << 63) - 1
      for _, size in ipairs { 4, 8 } do
         local bytes = assert(write({ sets = { set, with { set = 1, dimension = "ticks" } },
            histogram = { { set = 0, bin = 2, count = most }, { set = 1, bin = 3, count = 7 } },
            arcs = { { from = 1, to = 2, count = most }, { from = 2, to = 3, count = 5 } },
            blocks = { { address = 8, count = 1 << 31 } } },
            { counter_bits = 64, address_size = size }))
         local trace <close> = assert(profio.open({ data = bytes }, { counter_bits = 64 }))
         assert.same({}, trace.warnings)
         assert.same({ size, 64, 1 }, { trace.info.address_size, trace.info.counter_bits,
            trace:row_count "blocks" })
         local counts = {}
         for _, row in ipairs(trace.histogram:rows("count")) do
            counts[#counts + 1] = row.count
         end
         assert.same({ 0, 0, most, 0, 0, 0, 0, 7 }, counts)
         assert.same({ { from = 1, to = 2, count = most }, { from = 2, to = 3, count = 5 } },
            trace.arcs:rows("from", "to", "count"))
      end
   end)

   it("adds up a cut file and a complete one", function()
      local function file(bins)
         return { data = gmon("<", 8):header():histogram { low = 0x400, high = 0x400 + 400000,
            nbins = 100000, bins = bins }:bytes() }
      end
      local whole = {}
      for i = 1, 100000 do
         whole[i] = i % 3
      end
      local files = { file { 5, 6, 7 }, file(whole) }
      for _, list in ipairs { files, { files[2], files[1] } } do
         local again = rows_of(assert(save(list)))
         assert.equal(100000, #again.histogram)
         assert.same({ 6, 8, 7, 1 }, { again.histogram[1].count, again.histogram[2].count,
            again.histogram[3].count, again.histogram[4].count })
      end
   end)

   it("writes FreeBSD's wider counters if counts exceed 16 bits", function()
      for count, bits in pairs { [65536] = 32, [1 << 32] = 64, [(1 << 63) - 1] = 64 } do
         local bytes = assert(write({
            sets = { { set = 0, low = 0x1000, high = 0x1010, bins = 4, rate = 100 } },
            histogram = { { set = 0, bin = 2, count = count } } }, { dialect = "4.4bsd" }))
         local rows, info = rows_of(bytes)
         assert.equal(bits, info.counter_bits)
         assert.equal(count, rows.histogram[3].count)
      end
   end)

   it("places bins by their lowest address if no number is given", function()
      local sets = { { set = 5, low = 0x400, high = 0x400 + 7944, bins = 1988, rate = 100 } }
      local low = 0x400 + 2 * ((1987 * 65536 + 32800) // 32801)
      local rows = rows_of(assert(write { sets = sets, histogram = { { low = low, count = 9 } } }))
      assert.equal(9, rows.histogram[1988].count)
      local _, message = write { sets = sets, histogram = { { low = low + 1, count = 9 } } }
      assert.matches("no bin of the set begins at 0x", message)
   end)

   it("writes an empty file without rows", function()
      local bytes = assert(write {})
      assert.equal(gmon("<", 8):header():bytes(), bytes)
   end)

   it("refuses values that the dialect cannot hold", function()
      local bsd = { dialect = "4.4bsd" }
      for _, case in ipairs {
         { { sets = { with { high = 1 << 40 } } }, { address_size = 4 }, "does not fit 4 bytes" },
         { { arcs = { { from = -1, to = 0, count = 1 } } }, { address_size = 4 }, "0xffffffff" },
         { { blocks = { { address = 1 << 32, count = 1 } } }, { address_size = 4 }, "4 bytes" },
         { { sets = { with { dimension = "sixteen letters!" } } }, {}, "at most 15 bytes" },
         { { sets = { with { abbreviation = "ab" } } }, {}, "abbreviation of one" },
         { { sets = { with { dimension = "a\0b" } } }, {}, "dimension" },
         { { sets = { with { bins = 1 << 40 } } }, {}, "at most 268435456" },
         { { sets = { with { rate = 1 << 32 } } }, {}, "rate" },
         { { sets = { with { rate = -1 } } }, {}, "below 0" },
         { { sets = { with { rate = 1 << 29 } } }, {}, "rate below 2%^29" },
         { { sets = { with { dimension = "" } } }, {}, "printable dimension" },
         { { sets = { with { dimension = "a\nb" } } }, {}, "printable dimension" },
         { { sets = { with { dimension = "m\xc3\xa4" } } }, {}, "printable dimension" },
         { { sets = { with { abbreviation = "" } } }, {}, "abbreviation" },
         { { sets = { with { abbreviation = "\27" } } }, {}, "abbreviation" },
         { { sets = { set }, histogram = { { set = 0, bin = 4, count = 1 } } }, {}, "bin 4 of 4" },
         { { sets = { set }, histogram = { { set = 1, bin = 0, count = 1 } } }, {}, "set 1" },
         { { sets = { set }, histogram = { { set = 0, bin = 0, count = -1 } } }, {}, "below 0" },
         { { sets = { set }, histogram = { { set = 0, bin = 0 } } }, {}, "has no count" },
         { { sets = { set }, histogram = { { set = 0, bin = 0, count = 1 << 40 } } }, {},
            "records" },
         { { sets = { set, with { rate = 7 } } }, {}, "twice" },
         { { arcs = { { from = 1, to = 2, count = (1 << 63) - 1 } } }, {}, "records" },
         { { arcs = { { from = 1, to = 2, count = (1 << 63) - 1 },
            { from = 1, to = 2, count = 1 } } }, {}, "2%^63" },
         { {}, bsd, "one histogram, here are 0" },
         { { sets = { set, with { set = 1, low = 8 } } }, bsd, "one histogram, here are 2" },
         { { sets = { set }, blocks = { { address = 1, count = 1 } } }, bsd, "no basic blocks" },
         { { sets = { with { dimension = "tick", abbreviation = "t" } } }, bsd, "seconds" },
      } do
         local options = { dialect = case[2].dialect, address_size = case[2].address_size }
         local bytes, message, code = write(case[1], options)
         assert.is_nil(bytes)
         assert.matches(case[3], message)
         assert.is_true(code == "unsupported" or code == "limit")
      end
   end)

   it("leaves nothing of a refused row in the file", function()
      local writer = assert(profio.create(nil, { format = "gmon" }))
      assert.is_nil((refused(writer, "histogram", { set = 7, bin = 0, count = 1 })))
      assert(writer:write("sets", { low = 0, high = 16, bins = 4, rate = 100 }))
      assert(writer:write("histogram", { set = 0, bin = 1, count = 3 }))
      assert.is_nil((refused(writer, "sets", with { rate = 7 })))
      assert.equal(gmon("<", 8):header():histogram { low = 0, high = 16,
         bins = { 0, 3, 0, 0 } }:bytes(), writer:close())
   end)

   it("keeps all data of the files of the corpus", function()
      local base = "../shared/corpus/gmon/"
      for _, path in ipairs { "made/m68k-linux-gnu-pie.gmon", "made/s390x-linux-gnu-pie.gmon",
         "made/arm-linux-gnueabi-no-pie.gmon", "public/x86_64-janus.sum" } do
         local file = io.open(base .. path, "rb")
         if not file then
            return pending "no corpus here"
         end
         local bytes = file:read "a"
         file:close()
         -- except the spare bytes of the header, which gprof does not initialise
         local clean = bytes:sub(1, 8) .. ("\0"):rep(12) .. bytes:sub(21)
         assert.equal(clean, save(bytes))
         local rows = rows_of(bytes)
         local bsd = rows_of(assert(save(bytes, { dialect = "4.4bsd" })))
         rows.sets[1].offset = 0
         assert.same(rows, bsd)
      end
   end)
end)
