-- Tags: stressed.

local dcpi = require "spec.support.dcpi_builder"
local disk = require "spec.support.disk"
local profio = require "profio"
local codes_of = require("spec.support.codes").listed

-- Report each warning, not only the first one of each kind.
local function one_by_one(options)
   options = options or {}
   options.all_warnings = true
   return options
end

local function open(bytes, options)
   return assert(profio.open({ data = bytes }, one_by_one(options)))
end

-- Returns the samples as { { address, count }, ... }.
local function samples_of(bytes, options)
   local trace <close> = open(bytes, options)
   local list = {}
   for address, count in trace.samples:each("address", "count") do
      list[#list + 1] = { address, count }
   end
   return list
end

local golden = { { 0x12006cbb8, 29 }, { 0x12006cbd0, 10 }, { 0x12006cbd4, 1 }, { 0x12006cbd8, 2 },
   { 0x12006cbe0, 3 }, { 0x12006cbe8, 2 } }

describe("dcpi, the daemon's files", function()
   it("reads the numbers of the manual page", function()
      local bytes = dcpi.golden()
      assert.equal(188 + 56, #bytes)
      assert.equal(("b8cb0600010000001d000000"
         .. "d0cb0600070000000a00000001000000020000000000000003000000000000000200000006000000"
         .. "2f000000"), (bytes:sub(189):gsub(".", function(c)
            return ("%02x"):format(c:byte())
         end)))
      assert.same(golden, samples_of(bytes))
      local trace <close> = open(bytes)
      assert.same({}, trace.warnings)
      assert.same({}, trace:check())
      assert.same({ "samples", "profiles", "header", "raw" }, trace.tables)
      local info = trace.info
      for name, value in pairs {
         format = "dcpi", dialect = "0.07", byte_order = "little", address_size = 8, records = 6,
         version = "pdb-0.07", image = "19970328081403c0c18b", epoch = "9805191724",
         epoch_utc = "1998-05-19 17:24:00", platform = "walnut", event = "cycles", period = 63488,
         tstart = 0x120000000, tsize = 8388608, cpuspeed = 333, clock = 333000000,
         path = "/usr/local/bin/xemacs", name = "xemacs", addresses = 6, samples = 47,
      } do
         assert.equal(value, info[name], name)
      end
   end)

   it("computes nanoseconds from samples, period and clock rate", function()
      local trace <close> = open(dcpi.golden())
      local spent = {}
      for count, ns in trace.samples:each("count", "spent") do
         assert.equal(math.floor(count * 63488 * 1000 / 333 + 0.5), ns)
         spent[#spent + 1] = ns
      end
      assert.equal(6, #spent)
      -- a clock rate in hertz, and an event that does not measure time
      local hertz <close> = open(dcpi():header { cpuspeed = "333000000" }:chunk(0, { 47 })
         :footer():bytes())
      assert.equal(333000000, hertz.info.clock)
      assert.equal(math.floor(47 * 63488 * 1000 / 333 + 0.5), hertz.samples:rows()[1].spent)
      local imiss <close> = open(dcpi():header { event = "imiss" }:chunk(0, { 47 }):footer()
         :bytes())
      assert.is_nil(imiss.samples:rows()[1].spent)
   end)

   it("shows addresses without samples only when asked to", function()
      local rows = samples_of(dcpi.golden(), { zeros = true })
      assert.equal(8, #rows)
      assert.same({ 0x12006cbdc, 0 }, rows[5])
   end)

   it("has raw rows with all bytes of the file", function()
      local bytes = dcpi():header(nil, "shoe size 42  \n"):chunk(8, { 0, 7 }):chunk(16, { 1 })
         :footer():bytes()
      local trace <close> = open(bytes)
      local parts, chunks = {}, {}
      for row in trace.raw:records() do
         parts[#parts + 1] = row.bytes
         if row.kind == "chunk" then
            chunks[#chunks + 1] = { row.start, row.number, row.address, row.size }
         end
      end
      assert.equal(bytes, table.concat(parts))
      assert.same({ { 8, 2, 0x120000008, 16 }, { 16, 1, 0x120000010, 12 } }, chunks)
      assert.same({ addresses = 2, samples = 8 }, trace.raw:where { kind = "footer" }
         :rows("addresses", "samples")[1])
   end)

   it("reads chunks that touch, no chunks, and headers of any length", function()
      assert.same({ { 0x120000008, 7 }, { 0x12000000c, 1 } },
         samples_of(dcpi():header():chunk(8, { 7 }):chunk(12, { 1 }):footer():bytes()))
      for pad = 0, 7 do
         local trace <close> = open(dcpi():header(nil, nil, (" "):rep(pad)):footer(0, 0):bytes())
         assert.same({}, trace.warnings)
         assert.equal(0, trace.samples:count())
      end
      assert.same({ { 0x120000000, 3 } },
         samples_of(dcpi():header(nil, nil, "\t \t"):chunk(0, { 3 }):footer():bytes()))
   end)

   it("reads more rows than a batch holds", function()
      local b, want = dcpi():header(), {}
      for i = 0, 999 do
         local counts = {}
         for j = 1, 13 do
            counts[j] = (i * 13 + j) % 5
            if counts[j] > 0 then
               want[#want + 1] = { 0x120000000 + 100 * i + 4 * (j - 1), counts[j] }
            end
         end
         b:chunk(100 * i, counts)
      end
      local bytes = b:footer():bytes()
      assert.same(want, samples_of(bytes))
      local trace <close> = open(bytes)
      assert.equal(#want, trace:row_count "samples")
      assert.same({}, trace.warnings)
   end)

   it("keeps addresses of the kernel", function()
      local rows = samples_of(dcpi():header { tstart = "fffffc0000230000" }:chunk(0x1c4, { 5 })
         :footer():bytes())
      assert.same({ { 0xfffffc00002301c4, 5 } }, rows)
      local trace <close> = open(dcpi():header { tstart = "fffffc0000230000" }:footer():bytes())
      assert.equal(0xfffffc0000230000, trace.info.tstart)
   end)
end)

describe("dcpi, the header", function()
   it("may have lines in any order, and keeps unknown lines with order and bytes", function()
      local b = dcpi()
      for i = #dcpi.facts, 1, -1 do
         b:raw(dcpi.facts[i][1] .. "  \t" .. dcpi.facts[i][2] .. " \n")
      end
      b:raw "colour \t deep  blue  \n":raw "cpuamask 0F\ncpucount 4\nsamples\n"
      local trace <close> = open(b:chunk(0, { 1 }):footer():bytes())
      assert.same({}, trace.warnings)
      assert.equal(15, trace.info.cpuamask)
      assert.equal(4, trace.info.cpucount)
      local words = {}
      for word, kind, value, line in trace.header:each("word", "kind", "value", "line") do
         words[#words + 1] = word
         if kind == "unknown" then
            assert.same({ "colour", "deep  blue", "colour \t deep  blue  " }, { word, value, line })
         end
      end
      assert.same({ "path", "cpuspeed", "tsize", "tstart", "period", "event", "platform", "epoch",
         "image", "version", "colour", "cpuamask", "cpucount", "samples" }, words)
   end)

   it("of version 0.06 is read as 0.07 with a note, and keeps the text of the version", function()
      for version, code in pairs { ["pdb-0.06"] = false, ["pdb-0.7"] = false,
         ["pdb-0.05"] = "dcpi-other-minor", ["pdb-00.0007"] = false } do
         local trace <close> = open(dcpi():header { version = version }:chunk(0, { 3 }):footer()
            :bytes(), { strict = true })
         assert.same({ { address = 0x120000000, count = 3 } },
            trace.samples:rows("address", "count"))
         assert.equal(version, trace.info.version)
         assert.equal(version:sub(5), trace.info.dialect)
         assert.same({ code or nil }, codes_of(trace))
      end
      local trace <close> = open(dcpi():header { version = "pdb-0.06" }:footer():bytes())
      assert.matches("read as version 0.07", trace.info.notes)
   end)

   it("of version 1 is read, with a warning that the data cannot be read", function()
      for _, version in ipairs { "pdb-1.01", "pdb-2.0", "pdb-99999999999999999999.1" } do
         local bytes = dcpi():header { version = version }:raw "\1\2\3\4\5":bytes()
         local trace <close> = open(bytes)
         assert.same({ "dcpi-unsupported-major" }, codes_of(trace))
         local warning = trace.warnings[1]
         assert.equal("damage", warning.kind)
         assert.equal(#bytes - 5, warning.offset)
         assert.is_truthy(warning.message:find(version, 1, true))
         assert.equal(0, trace.samples:count())
         assert.equal("walnut", trace.info.platform)
         assert.same({ "cycles", 63488 },
            { trace.profiles:rows()[1].event, trace.profiles:rows()[1].period })
         local none, message, code = profio.open({ data = bytes, path = "x" }, { strict = true })
         assert.is_nil(none)
         assert.equal("unsupported", code)
         assert.matches("^x: dcpi: .*byte " .. #bytes - 5, message)
      end
   end)

   it("may have epochs of 10, 12 and 14 digits", function()
      for epoch, utc in pairs { ["7001010000"] = "1970-01-01 00:00:00",
         ["6912312359"] = "2069-12-31 23:59:00", ["0002290000"] = "2000-02-29 00:00:00",
         ["200212042334"] = "2002-12-04 23:34:00", ["20021204233459"] = "2002-12-04 23:34:59" } do
         local trace <close> = open(dcpi():header { epoch = epoch }:footer():bytes())
         assert.same({}, trace.warnings)
         assert.equal(utc, trace.info.epoch_utc)
         assert.equal(epoch, trace.info.epoch)
      end
   end)

   it("may have several paths, of which the first one is used", function()
      local trace <close> = open(dcpi():header(nil, "path /elsewhere/xe macs\n"):footer():bytes())
      assert.same({}, trace.warnings)
      assert.equal("/usr/local/bin/xemacs", trace.info.path)
      assert.equal(2, trace.info.paths)
      assert.same({ "/usr/local/bin/xemacs", "/elsewhere/xe macs" }, (function()
         local list = {}
         for value in trace.header:where { word = "path" }:each "value" do
            list[#list + 1] = value
         end
         return list
      end)())
   end)

   it("is detected by its contents, wherever the version is", function()
      local b = dcpi():raw "platform w\nimage ab\nevent cycles\nversion \t pdb-1.01\nsamples\n"
      local trace <close> = open(b:bytes())
      assert.equal("dcpi", trace.format)
      assert.is_nil((profio.open { data = "version 3\nsamples\n" }))
      assert.is_nil((profio.open { data = "path to nowhere\n" }))
   end)

   it("ends within header_limit bytes", function()
      local bytes = dcpi():header(nil, ("x y\n"):rep(20000)):footer():bytes()
      local trace, message, code = profio.open({ data = bytes }, { format = "dcpi" })
      assert.is_nil(trace)
      assert.equal("format", code)
      assert.matches("first 65536 bytes", message)
      trace = open(bytes, { header_limit = 100000 })
      assert.same({}, trace.warnings)
      trace:close()
   end)
end)

describe("dcpi, both readings of an offset", function()
   -- as bytes, the second offset is inside the first chunk; as instructions, it is after it
   local bytes = dcpi():header():chunk(4, { 1, 2, 3, 4 }):chunk(8, { 5 }):footer():bytes()

   it("uses bytes, with a note if instructions are more likely", function()
      local trace <close> = open(bytes)
      assert.same({ "dcpi-chunk-overlap", "dcpi-offset-unit" }, codes_of(trace))
      assert.equal("note", trace.warnings[2].kind)
      assert.same({ 0x120000004, 0x120000008, 0x12000000c, 0x120000010, 0x120000008 }, (function()
         local list = {}
         for address in trace.samples:each "address" do
            list[#list + 1] = address
         end
         return list
      end)())
   end)

   it("uses instructions with option offset_unit", function()
      assert.same({ { 0x120000010, 1 }, { 0x120000014, 2 }, { 0x120000018, 3 }, { 0x12000001c, 4 },
         { 0x120000020, 5 } }, samples_of(bytes, { offset_unit = "insn" }))
      local trace <close> = open(bytes, { offset_unit = "insn" })
      assert.same({}, trace.warnings)
   end)

   it("notes likely instructions if offsets are odd or a chunk is outside of the code", function()
      for _, case in ipairs {
         { dcpi():header():chunk(5, { 1 }):footer():bytes(), "dcpi-unaligned" },
         { dcpi():header { tsize = "18" }:chunk(8, { 1, 1, 1 }):footer():bytes(),
            "dcpi-beyond-text" },
      } do
         local trace <close> = open(case[1])
         assert.same({ case[2], "dcpi-offset-unit" }, codes_of(trace))
      end
   end)

   it("reads other sizes of instructions", function()
      assert.same({ { 0x120000003, 1 }, { 0x120000004, 2 } },
         samples_of(dcpi():header():chunk(3, { 1, 2 }):footer():bytes(), { insn_size = 1 }))
      assert.is_nil((profio.open({ data = bytes }, { insn_size = 0 })))
   end)
end)

describe("dcpi, dcpicat's text", function()
   it("reads the manual page", function()
      local trace <close> = open(dcpi.listing)
      assert.equal("dcpicat", trace.info.dialect)
      assert.same({ "dcpi-event-sum", "dcpi-event-sum" }, codes_of(trace)) -- an excerpt
      assert.matches("470352 samples are stated, counted were 40", trace.warnings[1].message)
      local rows = trace.samples:rows("address", "count", "event", "label", "name")
      assert.same({
         { address = 0x12006cbb8, count = 29, event = "cycles", label = "foo", name = "xemacs" },
         { address = 0x12006cbb8, count = 27, event = "imiss", label = "foo", name = "xemacs" },
         { address = 0x12006cbd0, count = 10, event = "cycles", label = "foo", name = "xemacs" },
         { address = 0x12006cbd4, count = 1, event = "cycles", label = "foo", name = "xemacs" },
      }, rows)
      local profiles = trace.profiles:rows("event", "period", "fraction", "samples", "tstart",
         "tsize")
      assert.same({
         { event = "cycles", period = 63488, fraction = 1.0, samples = 470352,
            tstart = 0x120000000, tsize = 0x800000 },
         { event = "imiss", period = 4096, fraction = 1.0, samples = 134705, tstart = 0x120000000,
            tsize = 0x800000 },
      }, profiles)
      local parts = {}
      for bytes in trace.raw:each "bytes" do
         parts[#parts + 1] = bytes
      end
      assert.equal(dcpi.listing, table.concat(parts))
   end)

   it("reads names of events with colons, and the share of time that they were sampled", function()
      local text = dcpi.listing:gsub("470352 cycles:63488:10000", "40 retired:m0:512:2500")
         :gsub("134705 imiss", "27 cycles")
      local trace <close> = open(text, { cpuspeed = 500 })
      assert.same({}, trace.warnings)
      local rows = trace.samples:rows("event", "spent")
      assert.same({ event = "retired:m0" }, rows[1])
      assert.same({ event = "cycles", spent = 27 * 4096 * 2 }, rows[2])
      assert.same({ 0.25, 1.0 }, { trace.profiles:rows()[1].fraction,
         trace.profiles:rows()[2].fraction })
      -- an event that was sampled for half of the time counts twice
      local half <close> = open(text:gsub("cycles:4096:10000", "cycles:4096:5000"),
         { cpuspeed = 500 })
      assert.equal(2 * 27 * 4096 * 2, half.samples:rows()[2].spent)
   end)

   it("shows counts of 0 with option zeros", function()
      local trace <close> = open(dcpi.listing, { zeros = true })
      assert.equal(6, trace.samples:count())
      assert.equal(6, trace:row_count "samples")
   end)

   it("warns of lines that dcpicat does not print", function()
      local text = dcpi.listing:gsub("470352", "40"):gsub("134705", "27")
      for _, case in ipairs {
         { "0x00012006cbd4       1       0\n", "0x00012006cbd4       1\n", "dcpi-bad-counts", 390 },
         { "      1       0\n", "      1       0       0\n", "dcpi-bad-counts" },
         { "      1       0\n", "      1       x\n", "dcpi-bad-counts" },
         { "      1       0\n", "      1       18446744073709551616\n", "dcpi-bad-counts" },
         { "cbd4 ", "cbd0 ", "dcpi-address-order" },
         { "cbd4 ", "cbd0g ", "dcpi-bad-line" },
         { "0x00012006cbd4", "0x00022006cbd4", "dcpi-beyond-text" },
         { "text_size        0x000000800000\n", "", "dcpi-missing-line" },
         { "text_start       0x000120000000", "text_start       zero", "dcpi-bad-value" },
         { "27 imiss:4096:10000", "27 imiss", "dcpi-bad-value" },
         { "platform         walnut\n", "platform\n", "dcpi-bad-line" },
      } do
         local bad, changes = text:gsub(case[1], case[2])
         assert.equal(1, changes, case[1])
         local trace <close> = open(bad)
         assert.is_truthy(table.concat(codes_of(trace), " "):find(case[3], 1, true), case[3])
         assert.is_nil((profio.open({ data = bad }, { strict = true })))
      end
   end)

   it("takes no count of an earlier line for one that a line lacks", function()
      local bad, changes = dcpi.listing:gsub("      10 *\t* *0\n", "      10\n")
      assert.equal(1, changes)
      local trace <close> = open(bad, { zeros = true })
      assert.same({ { address = 0x12006cbb8, count = 27 }, { address = 0x12006cbd0 },
         { address = 0x12006cbd4, count = 0 } },
         trace.samples:where { event = "imiss" }:rows("address", "count"))
      assert.matches("134705 samples are stated, counted were 27", trace.warnings[3].message)
   end)

   it("reads 64 events, and warns if there are more", function()
      for _, count in ipairs { 64, 65 } do
         local head, counts = dcpi.listing:match "^(.-)event", {}
         for i = 1, count do
            head = head .. ("event            %d e%d:10:10000\n"):format(i, i)
            counts[i] = " " .. i
         end
         local trace <close> = open(head .. "0x000120000000" .. table.concat(counts) .. "\n")
         assert.equal(64, trace.profiles:count())
         assert.equal(64 * 65 // 2, trace.samples:aggregate { "n = sum(count)" }:rows()[1].n)
         assert.same(count == 65 and { "dcpi-too-many-events" } or {}, codes_of(trace))
      end
   end)

   it("reports a damaged sum of an event once", function()
      local bad, changes = dcpi.listing:gsub("470352", "40"):gsub("134705", "x")
      assert.equal(1, changes)
      local trace <close> = open(bad)
      assert.same({ "dcpi-bad-value" }, codes_of(trace))
      assert.equal(27, trace.samples:where { event = "x imiss:4096:10000" }:rows()[1].count)
   end)

   it("states no sum of samples that cannot be read or is too large", function()
      for sum, own in pairs { ["18446744073709551617"] = false, x = false, [" "] = false,
         ["9223372036854775808"] = false, ["9223372036854775807"] = math.maxinteger } do
         local trace <close> = open((dcpi.listing:gsub("470352", sum)))
         local rows = trace.profiles:rows "samples"
         assert.same({ own, 134705 }, { rows[1].samples or false, rows[2].samples })
         assert.is_nil(trace.info.samples)
      end
      local trace <close> = open((dcpi.listing:gsub("470352", "9223372036854641102")))
      assert.equal(math.maxinteger, trace.info.samples)
   end)

   it("shows counts and rates that cannot be read as missing", function()
      local text = dcpi.listing:gsub("470352", "11"):gsub("134705", "27")
      for _, count in ipairs { "18446744073709551617", "12x" } do
         local trace <close> = open((text:gsub("      29 ", " " .. count .. " ")))
         assert.same({ { address = 0x12006cbb8 }, { address = 0x12006cbb8, count = 27 },
            { address = 0x12006cbd0, count = 10 }, { address = 0x12006cbd4, count = 1 } },
            trace.samples:rows("address", "count"))
         assert.same({ "dcpi-bad-counts" }, codes_of(trace))
      end
      for _, rate in ipairs { "63488", "63488:18446744073709551617", "x:10000" } do
         local trace <close> = open((text:gsub("11 cycles:63488:10000", "40 cycles:" .. rate)),
            { cpuspeed = 500 })
         assert.same({ { event = "cycles:" .. rate },
            { event = "imiss", period = 4096, fraction = 1.0 } },
            trace.profiles:rows("event", "period", "fraction"))
         assert.same({ "dcpi-bad-value" }, codes_of(trace))
      end
   end)

   it("shows counts above 2^63 - 1 as missing", function()
      local text = dcpi.listing:gsub("      29 ", " 9223372036854775808 ")
      local trace <close> = open(text)
      assert.is_nil(trace.samples:rows()[1].count)
      assert.is_truthy(table.concat(codes_of(trace), " "):find "dcpi%-count%-too%-large")
   end)

   it("warns of each cut", function()
      local text = dcpi.listing:gsub("470352", "40"):gsub("134705", "27")
      assert.is_table(open(text, { strict = true }))
      for length = 40, #text - 1 do
         local trace <close>, message = profio.open({ data = text:sub(1, length) },
            { format = "dcpi", dialect = "dcpicat" })
         assert.is_truthy(trace, message)
         assert.is_true(#trace.warnings > 0, tostring(length))
         assert.is_nil((profio.open({ data = text:sub(1, length) },
            { format = "dcpi", dialect = "dcpicat", strict = true })))
      end
   end)
end)

describe("dcpi, a profile", function()
   it("has images as functions and events as metrics", function()
      local cycles = { data = dcpi.golden() }
      local imiss = { data = dcpi():header { event = "imiss", image = "ab", path = "/bin/ls" }
         :chunk(0x6cbb8, { 27 }):footer():bytes() }
      local trace <close> = assert(profio.open { cycles, imiss })
      local profile = assert(trace:profile())
      assert.same({ { ["function"] = "xemacs", self = 8960769 } },
         profile:flat():rows("function", "self"))
      assert.same({ { ["function"] = "ls", self = 27 } },
         profile:flat { metric = "imiss" }:rows("function", "self"))
      assert.same({ { ["function"] = "xemacs", self = 47 } },
         profile:flat { metric = "cycles" }:rows("function", "self"))
   end)

   it("is compared with another one, with the standard errors of counts", function()
      local new <close> = assert(profio.open { data = dcpi():header():chunk(0x40, { 80 }):footer()
         :bytes() })
      local old <close> = assert(profio.open { data = dcpi.golden() })
      local row = new:profile():diff(old:profile(), "cycles"):rows()[1]
      assert.same({ 80, 47, 33 }, { row.self, row.self_before, row.change })
      assert.is_true(math.abs(row.significance - 33 / math.sqrt(80 + 47)) < 1e-9)
   end)

   it("has procedures as functions if symbols are loaded", function()
      local path = disk.temporary()
      local file = assert(io.open(path, "w"))
      file:write "000000012006cb00 T Fcdr\n000000012006cbd0 T re_search\n000000012006cc00 T x\n"
      file:close()
      local trace <close> = assert(profio.open({ data = dcpi.golden() }, { symbols = path }))
      assert.same({ { ["function"] = "Fcdr", self = 29 }, { ["function"] = "re_search",
         self = 18 } }, trace:profile():flat { metric = "cycles" }:rows("function", "self"))
      assert.same({ { ["function"] = "Fcdr", n = 29 }, { ["function"] = "re_search", n = 18 } },
         trace.samples:group "function":aggregate { "n = sum(count)" }:rows())
      os.remove(path)
   end)
end)
