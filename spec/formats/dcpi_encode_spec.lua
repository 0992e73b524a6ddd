-- Tags: user.

local dcpi = require "spec.support.dcpi_builder"
local profio = require "profio"
local refused = require "spec.support.refused"

local function save(input, options, reading)
   local trace <close> = assert(profio.open(type(input) == "table" and input
      or { data = input }, reading))
   return trace:save(nil, options)
end

local function samples_of(bytes, ...)
   local trace <close> = assert(profio.open { data = bytes })
   assert.same({}, trace.warnings)
   return trace.samples:rows(...)
end

-- Writes single rows.
local function write(rows, header, dialect)
   local writer = assert(profio.create(nil, { format = "dcpi", header = header,
      dialect = dialect }))
   for _, row in ipairs(rows) do
      local ok, message, code = refused(writer, row)
      if not ok then
         return nil, message, code
      end
   end
   return writer:close()
end

local facts = "image 19970328081403c0c18b\nepoch 9805191724\nplatform walnut\nevent cycles\n"
   .. "period 63488\ntstart 120000000\ntsize 8388608\ncpuspeed 333\npath /usr/local/bin/xemacs"

describe("dcpi, writing", function()
   it("writes the golden file from its rows", function()
      local golden = { { address = 0x12006cbe8, count = 2 }, { address = 0x12006cbb8, count = 20 },
         { address = 0x12006cbd0, count = 10 }, { address = 0x12006cbd4, count = 1 },
         { address = 0x12006cbd8, count = 2 }, { address = 0x12006cbe0, count = 3 },
         { address = 0x12006cbb8, count = 9 }, { address = 0x12006cbc0, count = 0 } }
      local bytes = assert(write(golden, (facts:gsub("tstart 12", "tstart 00012"))))
      assert.equal(dcpi.golden(), bytes)
      assert.equal(dcpi.golden(), save(dcpi.golden()))
   end)

   it("writes the same file from the rows of its tables", function()
      local bytes = dcpi():header(nil, "hue  blue \n"):chunk(4, { 1, 0, 2 }):footer():bytes()
      local trace <close> = assert(profio.open { data = bytes })
      for _, columns in ipairs { { "word", "value", "line" }, { "word", "value" } } do
         for _, profile in ipairs { 0, 7, false } do
            local writer = assert(profio.create(nil, { format = "dcpi" }))
            for row in trace.header:records(table.unpack(columns)) do
               row.profile = profile or nil
               assert(writer:write("header", row))
            end
            for row in trace.samples:records("address", "count", "event") do
               row.profile = profile or nil
               assert(refused(writer, row))
            end
            local written = writer:close()
            local wanted = #columns == 3 and bytes or bytes:gsub("hue  blue ", "hue blue")
            assert.equal((wanted:gsub("\nsamples +", "\nsamples")),
               (written:gsub("\nsamples +", "\nsamples")))
         end
      end
   end)

   it("pads the header to a multiple of four", function()
      for n = 1, 8 do
         local bytes = assert(write({ { address = 0x120000000, count = 1 } },
            facts .. "\nx " .. ("y"):rep(n)))
         assert.equal(0, (bytes:find("samples *\n") + #bytes:match "samples *\n" - 1) % 4)
         assert.same({ { address = 0x120000000, count = 1 } },
            samples_of(bytes, "address", "count"))
      end
   end)

   it("joins chunks over one address without samples, but not over two", function()
      local function chunks(...)
         local rows = {}
         for i, offset in ipairs { ... } do
            rows[i] = { address = 0x120000000 + offset, count = i }
         end
         local trace <close> = assert(profio.open { data = assert(write(rows, facts)) })
         local list = {}
         for start, number in trace.raw:where { kind = "chunk" }:each("start", "number") do
            list[#list + 1] = start .. "+" .. number
         end
         return table.concat(list, " ")
      end
      assert.equal("0+2", chunks(0, 4))
      assert.equal("0+3", chunks(0, 8))
      assert.equal("0+1 12+1", chunks(0, 12))
      assert.equal("4+5 32+3", chunks(4, 8, 16, 20, 32, 40))
      assert.equal("", chunks())
   end)

   it("keeps unknown lines, with their order and bytes", function()
      local b = dcpi():raw "hue  deep \t blue  \nversion pdb-0.07\nimage ab\nepoch 9805191724\n"
         :raw "platform  walnut\nevent cycles\nperiod 00063488\nwho knows\ntstart 0\ntsize 64\n"
         :raw "cpuspeed 333\npath /a\npath /b\nhue again\nlabel foo\nsamples\n"
      local bytes = b:chunk(0, { 1 }):footer():bytes()
      local header = bytes:sub(1, -21)
      local again = assert(save(bytes))
      assert.equal(header:sub(1, -9), again:sub(1, #header - 8))
      assert.equal(again, save(again))
   end)

   -- Writes a header of `facts` with further rows of table header.
   local function write_lines(rows)
      local writer = assert(profio.create(nil, { format = "dcpi", header = facts }))
      for _, row in ipairs(rows) do
         local ok, message, code = refused(writer, "header", row)
         if not ok then
            return nil, message, code
         end
      end
      return writer:close()
   end

   it("writes header rows that have only a line", function()
      local bytes = assert(write_lines { { line = "hue  deep \t blue " }, { line = "samples  " },
         { word = "samples" }, { word = "who", line = "who knows" } })
      assert.matches("\nhue  deep \t blue \nwho knows\n", bytes)
      local trace <close> = assert(profio.open({ data = bytes }, { strict = true }))
      assert.same({ { word = "hue", value = "deep \t blue" } },
         trace.header:where { word = "hue" }:rows("word", "value"))
   end)

   it("refuses header rows that it cannot write, or that would become other lines", function()
      for _, case in ipairs {
         { { word = "hue" }, "no value" }, { { value = "blue" }, "no word" },
         { { line = "hue" }, "a word, blanks and a value" },
         { { line = "hue blue\nsamples" }, "a word, blanks and a value" },
         { { line = " hue" }, "a word, blanks and a value" },
         { { word = "hue", value = "blue\nwho knows" }, "\"hue\" cannot be written as" },
         { { word = "hue", value = " blue" }, "\"hue\" cannot be written as" },
         { { word = "hue\nwho", value = "knows" }, "cannot be written as" },
         { { word = "hue who", value = "knows" }, "cannot be written as" },
         { { word = "path", value = "/a\nwho knows" }, "\"path\" cannot be written as" },
         { { word = "label", value = "a\nwho knows" }, "label cannot be written as" },
         { { word = "cpuamask", value = "f\nwho knows" }, "cpuamask cannot be written as" },
         { { word = "cpuamask", value = "10000000000000000" }, "cpuamask cannot be written as" },
      } do
         local bytes, message, code = write_lines { case[1] }
         assert.same({ nil, "unsupported" }, { bytes, code })
         assert.matches(case[2], message)
      end
      assert.matches("\ncpuamask 0xf\n",
         assert(write_lines { { word = "cpuamask", value = "0xf" } }))
   end)

   it("keeps optional lines that only a further profile states", function()
      local function input(...)
         return { data = dcpi():header(...):chunk(0, { 1 }):footer():bytes() }
      end
      local bytes = assert(save { input(), input({ epoch = "9805191800" }, "cpucount 4\n") })
      local trace <close> = assert(profio.open({ data = bytes }, { strict = true }))
      assert.equal(4, trace.info.cpucount)
   end)

   it("leaves out invalid header lines", function()
      local bytes = assert(save(dcpi():header(nil, "\n word\nalone\nsamples of it\nhue blue\n")
         :chunk(0, { 1 }):footer():bytes()))
      local trace <close> = assert(profio.open({ data = bytes }, { strict = true }))
      assert.equal("blue", trace.header:where { word = "hue" }:rows()[1].value)
      assert.equal(12, trace.header:count())
   end)

   it("writes random rows that are read back unchanged, in both dialects", function()
      for case = 1, 60 do
         math.randomseed(case)
         local rows, address = {}, 0x120000000
         for i = 1, math.random(0, 200) do
            address = address + 4 * math.random(case % 3 == 0 and 1000 or 3)
            rows[i] = { address = address, count = math.random(case % 2 == 0 and 5 or 1 << 23) }
         end
         local bytes = assert(write(rows, facts))
         assert.same(rows, samples_of(bytes, "address", "count"))
         assert.equal(bytes, save(bytes))
         local text = assert(save(bytes, { dialect = "dcpicat" }))
         assert.same(rows, samples_of(text, "address", "count"))
         assert.equal(text, save(text))
         local back = assert(save(text, { dialect = "0.07", header = "cpuspeed 333" }))
         assert.same(rows, samples_of(back, "address", "count"))
      end
   end)

   it("writes dcpicat's text as the manual page prints it", function()
      local text = save(dcpi.listing)
      assert.equal((dcpi.listing:gsub("470352", "40"):gsub("134705", "27")), text)
   end)

   it("names an image by its path, without the blanks before the last name", function()
      local bytes = assert(write({ { address = 0x120000040, count = 3 } },
         (facts:gsub("bin/xemacs", "bin/ \t xemacs"))))
      local trace <close> = assert(profio.open { data = bytes })
      assert.same({ "xemacs", "/usr/local/bin/ \t xemacs" }, { trace.info.name, trace.info.path })
      local text = assert(save(bytes, { dialect = "dcpicat" }))
      assert.matches("^name +xemacs\n", text)
      assert.equal(text, save(text, { dialect = "dcpicat" }))
   end)

   it("converts dcpicat's text to a binary profile, given the clock rate", function()
      local listing = dcpi.listing:gsub("event            134705 imiss:4096:10000\n", "")
         :gsub("( +%d+) +%d+\n", function(count) return count .. "\n" end)
      local none, message, code = save(listing, { dialect = "0.07" })
      assert.is_nil(none)
      assert.matches("must state cpuspeed", message)
      assert.equal("unsupported", code)
      local bytes = assert(save(listing, { dialect = "0.07", header = "cpuspeed 333" }))
      assert.matches("^version pdb%-0.07\nimage 19970328081403c0c18b\nlabel            foo\n"
         .. "path             /usr/local/bin/xemacs\nepoch            199805191724\n"
         .. "platform         walnut\ntstart 000120000000\ntsize 8388608\nevent cycles\n"
         .. "cpuspeed 333\nperiod 63488\nsamples", (bytes:gsub("image +", "image ")))
      local trace <close> = assert(profio.open { data = bytes })
      assert.same({}, trace.warnings)
      assert.equal("foo", trace.info.label)
   end)

   it("takes the period of option header for the events of dcpicat's text", function()
      local header = "period 1000\ncpuspeed 333"
      local text = assert(save(dcpi.listing, { header = header }))
      assert.equal(dcpi.listing:gsub("470352 cycles:63488", "40 cycles:1000")
         :gsub("134705 imiss:4096", "27 imiss:1000"), text)
      local one = dcpi.listing:gsub("event +134705[^\n]+\n", ""):gsub(" +%d+\n0x", "\n0x")
         :gsub(" +%d+\n$", "\n")
      local trace <close> = assert(profio.open {
         data = assert(save(one, { dialect = "0.07", header = header })) })
      assert.same({ "cycles", 1000, 40 }, { trace.info.event, trace.info.period,
         trace.info.samples })
      assert.matches("period cannot be written as \"1x\"",
         select(2, save(dcpi.listing, { header = "period 1x" })))
   end)

   it("takes the events of dcpicat's text from option header", function()
      local header = "event 40 cycles:1000:5000\nevent 27 imiss:2000:10000\ncpuspeed 333"
      local text = assert(save(dcpi.listing, { header = header }))
      assert.equal(dcpi.listing:gsub("470352 cycles:63488:10000", "40 cycles:1000:5000")
         :gsub("134705 imiss:4096", "27 imiss:2000"), text)
   end)

   it("merges epochs of one image", function()
      local function epoch(time, counts)
         return { data = dcpi():header({ epoch = time }, "seen " .. time .. "\n")
            :chunk(0x40, counts):footer():bytes() }
      end
      local bytes = assert(save { epoch("9805191724", { 5, 0, 7 }), epoch("9612042334", { 1, 1 }),
         epoch("200212042334", { 0, 0, 0, 1 }) })
      local trace <close> = assert(profio.open { data = bytes })
      assert.same({}, trace.warnings)
      assert.same({ { address = 0x120000040, count = 6 }, { address = 0x120000044, count = 1 },
         { address = 0x120000048, count = 7 }, { address = 0x12000004c, count = 1 } },
         trace.samples:rows("address", "count"))
      assert.equal("9612042334", trace.info.epoch)
      local seen = {}
      for value in trace.header:where { word = "seen" }:each "value" do
         seen[#seen + 1] = value
      end
      assert.same({ "9805191724", "9612042334", "200212042334" }, seen)
   end)

   it("writes the events of one image into one text of dcpicat", function()
      local cycles = { data = dcpi.golden() }
      local imiss = { data = dcpi():header { event = "imiss", period = "4096" }
         :chunk(0x6cbb8, { 27 }):footer():bytes() }
      local text = assert(save({ cycles, imiss }, { dialect = "dcpicat" }))
      assert.matches("event            47 cycles:63488:10000\n"
         .. "event            27 imiss:4096:10000\n0x00012006cbb8      29      27\n"
         .. "0x00012006cbd0      10       0\n", text)
      local none, message = save { cycles, imiss }
      assert.is_nil(none)
      assert.matches("one event, here are 2", message)
   end)

   it("writes a line once that several profiles have", function()
      local function with(event, path, other)
         local paths = ("path %s\npath %s\n"):format(path, other)
         return { data = dcpi():header({ event = event }, paths):chunk(0x6cbb8, { 1 }):footer()
            :bytes() }
      end
      local text = assert(save({ with("cycles", "/a/x", "/b/x"), with("imiss", "/c/x", "/b/x") },
         { dialect = "dcpicat" }))
      local paths = {}
      for path in text:gmatch "path +(%S+)" do
         paths[#paths + 1] = path
      end
      table.sort(paths)
      assert.same({ "/a/x", "/b/x", "/c/x", "/usr/local/bin/xemacs" }, paths)
   end)

   it("refuses several profiles, and values that a file cannot hold", function()
      local function with(changes)
         return { data = dcpi():header(changes):chunk(0, { 1 }):footer():bytes() }
      end
      for _, case in ipairs {
         { { with(), with { image = "ab" } }, "one image, here are .*c0c18b\" and \"ab\"" },
         { { with(), with { platform = "oak" } }, "one platform" },
         { { with(), with { cpuspeed = "500" } }, "one cpuspeed" },
         { { with(), with { period = "4096" } }, "here are 63488:10000 and 4096:10000" },
         { { with(), with { tstart = "0" } }, "one range of code" },
         { { with(), with { tsize = "64" } }, "one range of code" },
         { { with { epoch = "98" } }, "epoch" },
         { { with { image = "xemacs" } }, "image cannot be written" },
         { { with { cpuspeed = false } }, "must state cpuspeed" },
         { { with { tsize = "2" }, with { tsize = "2" } }, nil },
         { { { data = dcpi():header():chunk(0, { 0xffffffff }):footer():bytes() }, with() },
            "more than the file can hold" },
         { { { data = dcpi():header():chunk(0, { 0xffffffff }):chunk(400, { 1 }):footer()
            :bytes() } }, "more than the file can hold" },
         { { { data = dcpi():header():chunk(0x7fffffc, { 1 }):footer():bytes() } },
            "outside of the code" },
      } do
         local bytes, message, code = save(case[1])
         if case[2] then
            assert.is_nil(bytes)
            assert.matches(case[2], message)
            assert.equal("unsupported", code)
         else
            assert.is_string(bytes)
         end
      end
      for _, case in ipairs {
         { { { address = 0x120000000 } }, facts, "has no count" },
         { { { count = 1 } }, facts, "has no address" },
         { { { address = 0x120000000, count = -1 } }, facts, "below 0" },
         { { { address = 0x11ffffffc, count = 1 } }, facts, "outside of the code" },
         { { { address = 0x120000002, count = 1 } }, facts, "multiple of 4" },
         { { { address = 0, count = 1 } }, "image ab", "epoch platform cpuspeed event" },
         { { { address = 0, count = 1, event = "e" } }, "image ab", "period of event e" },
      } do
         local bytes, message, code = write(case[1], case[2])
         assert.is_nil(bytes)
         assert.matches(case[3], message)
         assert.equal("unsupported", code)
      end
   end)

   it("needs an event in each row if there are several, in any order of rows", function()
      local header = "image ab\nepoch 9805191724\nplatform oak\nperiod 7"
      local rows = { { address = 0x1000, count = 3 }, { address = 0x1000, count = 1, event = "a" },
         { address = 0x1004, count = 2, event = "b" } }
      for _, order in ipairs { { 1, 2, 3 }, { 2, 1, 3 }, { 2, 3, 1 } } do
         local bytes, message, code = write({ rows[order[1]], rows[order[2]], rows[order[3]] },
            header, "dcpicat")
         assert.same({ nil, "unsupported" }, { bytes, code })
         assert.matches("no event, and the file has 2", message)
      end
      assert.matches("event            4 a:7:10000\n",
         assert(write({ rows[1], rows[2] }, header, "dcpicat")))
   end)

   it("builds a header from the rows", function()
      local bytes = assert(write({ { address = 0x1000, count = 3, image = "ab", name = "prog",
         event = "cycles", epoch = "9805191724", platform = "oak", label = "l" },
         { address = 0x1010, count = 1, image = "ab", name = "prog", event = "cycles",
         epoch = "9805191724", platform = "oak", label = "l" } }, "period 7\ncpuspeed 100"))
      assert.same({ { address = 0x1000, count = 3, spent = 210, image = "ab", event = "cycles",
         epoch = "9805191724", platform = "oak" }, { address = 0x1010, count = 1, spent = 70,
         image = "ab", event = "cycles", epoch = "9805191724", platform = "oak" } },
         samples_of(bytes, "address", "count", "spent", "image", "event", "epoch", "platform"))
      local trace <close> = assert(profio.open { data = bytes })
      assert.same({ 0x1000, 20, "prog", "l" }, { trace.info.tstart, trace.info.tsize,
         trace.info.name, trace.info.label })
   end)
end)
