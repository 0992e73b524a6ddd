local dcpi = require "spec.support.dcpi_builder"
local profio = require "profio"

-- Reads bytes without option strict. Returns the sum of samples, and codes and offsets of damage.
local function read(bytes, options)
   local trace <close>, message, code = profio.open({ data = bytes, path = "x" }, options)
   if not trace then
      return nil, message, code
   end
   local found = { samples = 0, rows = 0, damage = {}, messages = {} }
   for count in trace.samples:each "count" do
      found.samples, found.rows = found.samples + (count or 0), found.rows + 1
   end
   for _, name in ipairs(trace.tables) do
      trace[name]:count()
   end
   for _, warning in ipairs(trace.warnings) do
      if warning.kind == "damage" then
         table.insert(found.damage, { warning.code, warning.offset })
         table.insert(found.messages, warning.message)
      end
   end
   return found
end

local function golden_with(position, bytes)
   local golden = dcpi.golden()
   return golden:sub(1, position) .. bytes .. golden:sub(position + #bytes + 1)
end

local header = 185 -- bytes of the builder's header without blanks
local function plain(...)
   return dcpi():header(...)
end

local word = function(value)
   return ("<I4"):pack(value)
end

-- Each class of damage: title, bytes, code and offset of the first warning, number of samples, and
-- a part of the message.
local classes = {
   { "D1 nothing after the header", plain():bytes(), "dcpi-no-footer", header, 0,
      "8 bytes expected" },
   { "D1 less than a footer after the header", plain():raw "\0\0\0\0\0\0\0":bytes(),
      "dcpi-no-footer", header, 0, "found 7" },
   { "D3 a required line is missing", plain({ tstart = false }):footer():bytes(),
      "dcpi-missing-line", header - 20, 0, "tstart" },
   { "D3 two required lines missing", plain({ period = false, tsize = false }):footer():bytes(),
      "dcpi-missing-line", header - 13 - 14, 0, "period tsize" },
   { "D3 a required line is present twice", plain(nil, "platform oak\n"):footer():bytes(),
      "dcpi-duplicate-line", 177, 0, "platform" },
   { "D3 another period", plain(nil, "period 7\n"):footer():bytes(), "dcpi-duplicate-line", 177, 0,
      "period" },
   { "D3 an image that is not hexadecimal", plain({ image = "xemacs" }):footer():bytes(),
      "dcpi-bad-value", 17, 0, "image: hexadecimal digits expected, found \"xemacs\"" },
   { "D3 a start that is not hexadecimal", plain({ tstart = "12000g000" }):footer():bytes(),
      "dcpi-bad-value", 103, 0, "tstart" },
   { "D3 a period with a letter", plain({ period = "62K" }):footer():bytes(), "dcpi-bad-value",
      90, 0, "period: digits expected" },
   { "D3 a size in hexadecimal", plain({ tsize = "80ff00" }):footer():bytes(), "dcpi-bad-value",
      123, 0, "tsize" },
   { "D3 a negative speed", plain({ cpuspeed = "-1" }):footer():bytes(), "dcpi-bad-value",
      137, 0, "cpuspeed" },
   { "D3 an epoch of another length", plain({ epoch = "98051917" }):footer():bytes(),
      "dcpi-bad-epoch", 44, 0, "98051917" },
   { "D3 an epoch in month 13", plain({ epoch = "9813191724" }):footer():bytes(), "dcpi-bad-epoch",
      44, 0, "YYMMDDHHMM" },
   { "D3 an epoch on 29 February", plain({ epoch = "199902291724" }):footer():bytes(),
      "dcpi-bad-epoch", 44, 0, "199902291724" },
   { "D3 an epoch at 24 o'clock", plain({ epoch = "9805192400" }):footer():bytes(),
      "dcpi-bad-epoch", 44, 0, "9805192400" },
   { "D4 no version", plain({ version = false }):chunk(0, { 5 }):footer():bytes(),
      "dcpi-bad-version", header - 17, 5, "found none" },
   { "D4 a version of another form", plain({ version = "0.07" }):chunk(0, { 5 }):footer():bytes(),
      "dcpi-bad-version", 0, 5, "found \"0.07\"" },
   { "D4 a version without a point", plain({ version = "pdb-7" }):chunk(0, { 5 }):footer():bytes(),
      "dcpi-bad-version", 0, 5, "pdb%-7" },
   { "D5 another major version", plain({ version = "pdb-1.01" }):chunk(0, { 5 }):footer():bytes(),
      "dcpi-unsupported-major", header, 0, "pdb%-1.01" },
   { "D6 a decimal above 64 bits", plain({ period = "18446744073709551616" }):footer():bytes(),
      "dcpi-value-too-large", 90, 0, "period" },
   { "D6 a start above 64 bits", plain({ tstart = "10000000000000000" }):footer():bytes(),
      "dcpi-value-too-large", 103, 0, "tstart" },
   { "D7 a NUL in the header", plain({ platform = "wal\0nut" }):footer():bytes(),
      "dcpi-control-byte", 61 + 12, 0, "byte 0x00" },
   { "D7 an escape in the header", plain({ platform = "walnut\27" }):footer():bytes(),
      "dcpi-control-byte", 61 + 15, 0, "byte 0x1b" },
   { "D7 a carriage return in the header", plain({ platform = "walnut\r" }):footer():bytes(),
      "dcpi-carriage-return", 61 + 15, 0, "CR LF" },
   { "D7 a very long word", plain(nil, ("w"):rep(300) .. " x\n"):footer():bytes(),
      "dcpi-long-word", 177, 0, "found 300" },
   { "D7 an empty line", plain(nil, "\n"):footer():bytes(), "dcpi-bad-line", 177, 0, "a value" },
   { "D7 a word alone", plain(nil, "word\n"):footer():bytes(), "dcpi-bad-line", 177, 0, "a value" },
   { "D7 0x before the start", plain({ tstart = "0x120000000" }):chunk(0, { 5 }):footer():bytes(),
      "dcpi-hex-prefix", 103, 5, "without 0x" },
   { "D7 words after the end", plain(nil, "samples foo\n"):chunk(0, { 5 }):footer():bytes(),
      "dcpi-odd-terminator", 177, 5, "unknown word" },
   { "D8 bytes before the footer", plain():chunk(0, { 5 }):raw "abc":footer():bytes(),
      "dcpi-stray-bytes", header + 12, 5, "found 3 bytes" },
   { "D8 a word before the footer", plain():chunk(0, { 5 }):raw "abcd":footer():bytes(),
      "dcpi-stray-bytes", header + 12, 5, "found 4 bytes" },
   { "D8 a footer cut off", plain():chunk(0, { 5 }):raw "\1\0\0\0\5":bytes(),
      "dcpi-truncated-footer", header + 12, 5, "found 5" },
   { "D9 counts cut off", plain():chunk(0, { 5, 6, 7 }, 9):bytes(), "dcpi-truncated", header, 18,
      "ends after 3 counts" },
   { "D9 a wrong number before a footer that fits", plain():chunk(0, { 5, 6 }, 9):footer():bytes(),
      "dcpi-wrong-number", header, 11, "it has 2" },
   { "D10 a number that wraps 32 bits", plain():chunk(0, { 5, 6, 7 }, 0x40000001):bytes(),
      "dcpi-number-too-large", header, 0, "found 1073741825" },
   { "D10 the largest number", plain():chunk(0, { 5, 6, 7 }, 0xffffffff):bytes(),
      "dcpi-number-too-large", header, 0, "found 4294967295" },
   { "D11 a chunk without counts", plain():chunk(16, {}):chunk(32, { 5 }):footer():bytes(),
      "dcpi-empty-chunk", header, 5, "one of 0" },
   { "D12 an offset that does not rise", plain():chunk(16, { 5 }):chunk(8, { 6 }):footer():bytes(),
      "dcpi-chunk-order", header + 12, 11, "above 16 expected, found 8" },
   { "D12 an offset twice", plain():chunk(16, { 5 }):chunk(16, { 6 }):footer():bytes(),
      "dcpi-chunk-order", header + 12, 11, "above 16 expected, found 16" },
   { "D13 chunks that overlap", plain():chunk(16, { 5, 5 }):chunk(20, { 6 }):footer():bytes(),
      "dcpi-chunk-overlap", header + 16, 16, "at least 24" },
   { "D14 addresses that wrap", plain({ tstart = "fffffffffffffff8" }):chunk(4, { 1, 2 }):footer()
      :bytes(), "dcpi-address-wrap", header - 20 + 24, 3, "2%^64" },
   { "D15 a chunk beyond the code", plain({ tsize = "8" }):chunk(0, { 1, 2, 3 }):footer():bytes(),
      "dcpi-beyond-text", header - 6, 6, "ends at 12" },
   { "D16 an offset inside an instruction", plain():chunk(6, { 1 }):footer():bytes(),
      "dcpi-unaligned", header, 1, "multiple of 4" },
   { "D16 an offset after the first byte", plain():chunk(0, { 5 }):chunk(5, { 1 }):footer():bytes(),
      "dcpi-unaligned", header + 12, 6, "multiple of 4" },
   { "D17 another number of addresses", plain():chunk(0, { 1, 0, 2 }):footer(3, 3):bytes(),
      "dcpi-footer-addresses", header + 20, 3, "states 3 addresses with samples, counted were 2" },
   { "D18 another sum of samples", plain():chunk(0, { 1, 0, 2 }):footer(2, 4):bytes(),
      "dcpi-footer-samples", header + 24, 3, "states 4 samples, counted were 3" },
   { "D19 bytes after the footer", plain():chunk(0, { 5 }):footer():raw "tail":bytes(),
      "dcpi-trailing-bytes", header + 20, 5, "4 bytes" },
   { "D19 many bytes after the footer", plain():chunk(8, { 5 }):footer():raw(("t"):rep(99))
      :bytes(), "dcpi-trailing-bytes", header + 20, 5, "99 bytes" },
   { "D20 sums too large for the file's size", plain():chunk(0, { 5 }):footer(1000, 5):bytes(),
      "dcpi-footer-impossible", header + 12, 5, "states 1000 addresses .* hold 3" },
}

describe("dcpi, damage of class", function()
   for _, class in ipairs(classes) do
      it(class[1], function()
         local found = assert(read(class[2]))
         assert.same({ class[3], class[4] }, found.damage[1])
         assert.is_string(require("profio.formats.dcpi").warnings[class[3]])
         assert.equal(class[5], found.samples)
         assert.matches(class[6], found.messages[1])
         -- with strict, the first warning is the error
         local trace, message, code = profio.open({ data = class[2], path = "x" },
            { strict = true })
         assert.is_nil(trace)
         assert.equal("x: dcpi: " .. found.messages[1] .. (" (byte %d)"):format(class[4]), message)
         assert.is_true(code == "format" or code == "truncated" or code == "unsupported")
      end)
   end

   it("D1 an empty file", function()
      local _, message, code = read("", { format = "dcpi" })
      assert.equal("x: dcpi: a header expected, the file is empty (byte 0)", message)
      assert.equal("format", code)
   end)

   it("D2 no end of the header", function()
      local _, message, code = read("version pdb-0.07\nevent cycles\nima")
      assert.matches("^x: dcpi: a line \"samples\" expected.*%(byte 30%)$", message)
      assert.equal("truncated", code)
   end)

   it("D3 or D6 a start that is not known, without which addresses are missing", function()
      for code, start in pairs { ["dcpi-missing-line"] = false, ["dcpi-bad-value"] = "12g",
         ["dcpi-value-too-large"] = "10000000000001000" } do
         for _, options in ipairs { {}, { zeros = true } } do -- fast path, general path
            local trace <close> = assert(profio.open({
               data = plain({ tstart = start }):chunk(8, { 5, 6 }):footer():bytes() }, options))
            assert.same({ { count = 5 }, { count = 6 } }, trace.samples:rows("address", "count"))
            assert.same({ { start = 8 } }, trace.raw:where { kind = "chunk" }
               :rows("start", "address"))
            assert.equal(code, trace.warnings[1].code)
            assert.equal(1, #trace.warnings)
         end
      end
   end)

   it("D21 the other byte order, which the warning names and an option reads", function()
      local b = dcpi():header()
      b.order = ">"
      local bytes = b:chunk(0x40, { 5, 6 }):footer():bytes()
      local found = assert(read(bytes))
      assert.same({ { "dcpi-byte-order", header } }, found.damage)
      assert.matches("byte_order", found.messages[1])
      found = assert(read(bytes, { byte_order = "big" }))
      assert.same({}, found.damage)
      assert.equal(11, found.samples)
      b = dcpi():header()
      b.order = ">"
      found = assert(read(b:chunk(0x40, { 5, 6 }):bytes())) -- the chunk ends with the file
      assert.same("dcpi-byte-order", found.damage[1][1])
   end)

   it("D22 a copy in text mode", function()
      local header_text = dcpi():header():bytes()
      local body = dcpi():chunk(0x40, { 10, 6 }):chunk(0x80, { 7, 10, 1 }):footer():bytes()
      local found = assert(read(header_text .. body:gsub("\n", "\r\n")))
      assert.same({ "dcpi-text-mode", header }, found.damage[#found.damage])
      assert.matches("text mode", found.messages[#found.damage])
      -- a file whose bytes happen to hold CR LF is fine
      found = assert(read(dcpi():header():chunk(0x40, { 0x0a0d }):footer():bytes()))
      assert.same({}, found.damage)
   end)

   it("an offset inside an instruction, behind what opening reads", function()
      local counts = {}
      for i = 1, 300000 do
         counts[i] = 1
      end
      for odd = 1, 3 do
         local trace <close> = assert(profio.open { data = plain():chunk(0, counts)
            :chunk(1200000, counts):chunk(2400000 + odd, { 1 }):footer(600001, 600001):bytes() })
         assert.same({}, trace.warnings)
         assert.equal(600001, trace.samples:count()) -- the other tables are not read
         assert.same({ "dcpi-unaligned", header + 2 * (8 + 1200000) },
            { trace.warnings[1].code, trace.warnings[1].offset })
      end
   end)

   it("a sum that wraps 32 bits, which is a note", function()
      local bytes = dcpi():header():chunk(0, { 0xffffffff, 0xffffffff }):footer():bytes()
      local found = assert(read(bytes, { strict = true }))
      assert.equal(2 * 0xffffffff, found.samples)
      local trace <close> = assert(profio.open { data = bytes })
      assert.equal("dcpi-sum-wrapped", trace.warnings[1].code)
      assert.equal("note", trace.warnings[1].kind)
   end)
end)

describe("dcpi, cut and changed", function()
   it("warns of each cut, and keeps the counts before it", function()
      local bytes = dcpi.golden()
      -- the end and the value of each count that is not 0
      local counts = { { 200, 29 }, { 212, 10 }, { 216, 1 }, { 220, 2 }, { 228, 3 }, { 236, 2 } }
      for length = 1, #bytes - 1 do
         local found, message, code = read(bytes:sub(1, length), { format = "dcpi" })
         if length < 188 then
            assert.is_nil(found)
            assert.equal("truncated", code)
            assert.matches("%(byte %d+%)$", message)
         else
            assert.is_true(#found.damage > 0, "cut at " .. length)
            local most = 0
            for _, count in ipairs(counts) do
               most = count[1] <= length and most + count[2] or most
            end
            -- the last 8 bytes of what is left may be taken for a footer
            assert.is_true(found.samples <= most)
            local least = 0
            for _, count in ipairs(counts) do
               least = count[1] <= length - 8 and least + count[2] or least
            end
            assert.is_true(found.samples >= least, "cut at " .. length)
         end
      end
   end)

   it("warns of each changed bit in counts and sums", function()
      local bytes = dcpi.golden()
      local heads = { [188] = 8, [200] = 8 } -- offsets and numbers of the chunks
      local position = 0
      while position < #bytes do
         local skip = heads[position] or 0
         for at = position, position + math.max(skip, 1) - 1 do
            for bit = 0, 7 do
               local byte = bytes:byte(at + 1) ~ 1 << bit
               local found = read(golden_with(at, string.char(byte)), { format = "dcpi" })
               if at >= 188 and skip == 0 then
                  assert.is_true(#found.damage > 0, ("bit %d of byte %d"):format(bit, at))
               end
            end
         end
         position = position + math.max(skip, 1)
      end
   end)

   it("reads every number at its minimum and maximum", function()
      for _, position in ipairs { 188, 192, 196, 200, 204, 208, 236, 240 } do
         for _, value in ipairs { 0, 1, 0x3fffffff, 0x40000000, 0x7fffffff, 0x80000000,
            0xffffffff } do
            local bytes = golden_with(position, word(value))
            local found = assert(read(bytes))
            -- the first chunk may begin at 0
            assert.is_true(#found.damage > 0 or bytes == dcpi.golden() or
               position == 188 and value == 0, ("%d at %d"):format(value, position))
         end
      end
   end)

   it("reads on after damage", function()
      local b = dcpi():header()
      for i = 1, 300 do
         b:chunk(i % 2 == 0 and 8 * i or 8 * i + 2, { i })
      end
      local found = assert(read(b:footer():bytes(), { all_warnings = true }))
      assert.equal(300 * 301 // 2, found.samples)
      assert.equal(150, #found.damage)
   end)

   it("warns of large files while they are read, not when they are opened", function()
      local counts = {}
      for i = 1, 1000 do
         counts[i] = i
      end
      local b = dcpi():header { tsize = "80000000" }
      for i = 0, 599 do
         b:chunk(i * 4000, counts)
      end
      local bytes = b:footer(1, 2):bytes()
      local trace <close> = assert(profio.open { data = bytes })
      assert.same({}, trace.warnings)
      assert.is_nil(trace:row_count "samples")
      assert.equal(600000, trace.samples:count())
      assert.equal(2, #trace.warnings)
      assert.equal(2, #trace:check())
      local strict <close> = assert(profio.open({ data = bytes }, { strict = true }))
      assert.has_error(function()
         strict.samples:count()
      end)
   end)

   it("reads the header of a file whose data cannot be read", function()
      local trace <close> = assert(profio.open { data = dcpi():header():raw(("\255"):rep(64))
         :bytes() })
      assert.equal("walnut", trace.info.platform)
      assert.equal(1, trace.profiles:count())
      assert.equal(11, trace.header:count())
   end)
end)

describe("dcpi, the fast path over chunks", function()
   -- Reading with zeros uses the general path: apart from the zeros, the results must be equal.
   local function both(bytes, options)
      local lists, codes = { {}, {} }, { {}, {} }
      for way, zeros in ipairs { false, true } do
         local given = { zeros = zeros, all_warnings = true }
         for name, value in pairs(options or {}) do
            given[name] = value
         end
         local trace <close> = assert(profio.open({ data = bytes }, given))
         for address, count in trace.samples:each("address", "count") do
            if count ~= 0 then
               table.insert(lists[way], address .. " " .. count)
            end
         end
         for _, warning in ipairs(trace.warnings) do
            table.insert(codes[way], warning.code .. " " .. tostring(warning.offset))
         end
         table.sort(codes[way])
      end
      return lists, codes
   end

   it("has the results of the general path, for files with all kinds of damage", function()
      for case = 1, 60 do
         math.randomseed(case)
         local b = dcpi():header { tsize = "100000" }
         local offset = 0
         for _ = 1, math.random(0, case % 10 == 0 and 3 or 60) do
            local counts = {}
            for i = 1, math.random(case % 10 == 0 and 6000 or 30) do
               counts[i] = math.random(3) == 1 and 0 or math.random(1 << 20)
            end
            local odd = case % 3 == 0 and math.random(20) == 1
            b:chunk(math.max(0, offset + (odd and math.random(-40, 40) or 0)), counts,
               case % 7 == 0 and math.random(40) == 1 and math.random(0, 50) or nil)
            offset = offset + 4 * (#counts + math.random(0, 9))
         end
         local bytes = b:footer():bytes()
         if case % 5 == 0 then
            bytes = bytes:sub(1, math.max(header + 1, #bytes - math.random(40)))
         end
         local lists, codes = both(bytes)
         assert.same(lists[2], lists[1])
         assert.same(codes[2], codes[1])
      end
   end)
end)
