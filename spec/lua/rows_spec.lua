-- Tags: stressed.

local core = require "profio.core"
local disk = require "spec.support.disk"
local locales = require "spec.support.locales"

local all_types = { { "n", "int" }, { "x", "num" }, { "a", "addr" }, { "b", "bool" },
   { "s", "name" }, { "y", "bytes" } }

-- A reader over literal rows; nil is a missing value.
local function reader(fields, rows)
   return core.decoder(fields, function(put)
      for _, row in ipairs(rows) do
         put(table.unpack(row, 1, #fields))
      end
   end, core.dictionary(), "test")
end

local function write(output, fields, rows, options)
   options = options or {}
   options.output = output
   return (core.write_rows(reader(fields, rows), options))
end

local missing_row = {}

describe("core.write_rows", function()
   describe("csv", function()
      it("show what is very large or very small with a few digits, in text", function()
      local values = { 1 / 3, 0.001, 0.00034722222222222224, 4.9e-7, -1e-10 / 3, 2 ^ 60, 0.0,
         1 / 0 }
      local list = {}
      for i, value in ipairs(values) do
         list[i] = { value }
      end
      local text = core.write_rows(core.rows_reader({ { "n", "num" } }, list), {})
      local seen = {}
      for word in text:gmatch "%S+" do
         seen[#seen + 1] = word
      end
      assert.same({ "n", "0.333", "0.001", "0.0003472", "4.9e-07", "-3.333e-11", "1.153e+18",
         "0.000", "inf" }, seen)
   end)

   it("have printable names of columns, padded by characters", function()
      local fields = { { "a\27[31m", "int" }, { "Zoë", "name" }, { "x", "int" } }
      assert.equal("a\\x1b[31m  Zoë  x\n" .. "        1  ëë   5\n",
         write("text", fields, { { 1, "ëë", 5 } }))
   end)

   it("have a point in each locale", function()
      local text = locales.run_with_commas [[
         local core = require "profio.core"
         for _, output in ipairs { "text", "csv" } do
            io.write((core.write_rows(core.rows_reader({ { "n", "num" } }, { { 1 / 3 }, { 4.91e-7 },
               { 2.0 ^ 60 }, { 1.5e300 } }), { output = output })))
         end]]
      if not text then
         return pending "no locale can be compiled here"
      end
      local words = {}
      for word in text:gmatch "%S+" do
         words[#words + 1] = word
      end
      assert.same({ "n", "0.333", "4.91e-07", "1.153e+18", "1.5e+300", "n", "0.3333333333333333",
         "4.91e-07", "1.152921504606847e+18", "1.5e+300" }, words)
   end)

   it("prints a header and plain values", function()
         assert.equal("n,x,a,b,s,y\n1,0.5,0x400000,true,main,abc\n",
            write("csv", all_types, { { 1, 0.5, 0x400000, true, "main", "abc" } }))
      end)

      it("quotes as RFC 4180 says", function()
         local texts = { { { "s", "name" } }, { { 'a,b' }, { 'say "x"' }, { "two\nlines" },
            { "cr\r" }, { "plain" } } }
         assert.equal('s\n"a,b"\n"say ""x"""\n"two\nlines"\n"cr\r"\nplain\n',
            write("csv", texts[1], texts[2]))
      end)

      it("leaves missing values empty and quotes empty texts", function()
         assert.equal("n,x,a,b,s,y\n,,,,,\n", write("csv", all_types, { missing_row }))
         assert.equal('s\n""\n', write("csv", { { "s", "name" } }, { { "" } }))
      end)

      it("replaces bytes that are not UTF-8, unless it is raw", function()
         local values = { "\xff\xfe", "<gr\xfc\xdf>", 'a,"\xe2\x82', "é日😀\xed\xa0\x80", "\t\x80\\" }
         local function all(output, options)
            local rows = {}
            for i, value in ipairs(values) do
               rows[i] = { value }
            end
            options.header = false
            return write(output, { { "y", "bytes" } }, rows, options)
         end
         local function with_marks(text)
            return (text:gsub("U", "\u{fffd}"))
         end
         assert.equal('\xff\xfe\n<gr\xfc\xdf>\n"a,""\xe2\x82"\né日😀\xed\xa0\x80\n\t\x80\\\n',
            all("csv", { raw = true }))
         assert.equal(with_marks("UU\n<grUU>\n\"a,\"\"UU\"\né日😀UUU\n\tU\\\n"), all("csv", {}))
         assert.equal('\xff\xfe\n<gr\xfc\xdf>\na,"\xe2\x82\né日😀\xed\xa0\x80\n\\t\x80\\\\\n',
            all("tsv", { raw = true }))
         assert.equal(with_marks("UU\n<grUU>\na,\"UU\né日😀UUU\n\\tU\\\\\n"), all("tsv", {}))
      end)

      it("marks texts that a spreadsheet would compute, if asked", function()
         local rows = {}
         for i, text in ipairs { "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "a=1", "", "'=1",
            '=HYPERLINK("x,y")' } do
            rows[i] = { text, -i }
         end
         local fields = { { "=y", "bytes" }, { "n", "int" } }
         assert.equal("'=y,n\n'=1+1,-1\n'+1,-2\n'-1,-3\n'@SUM(A1),-4\n'\t=1,-5\n"
            .. "\"'\r=1\",-6\na=1,-7\n\"\",-8\n'=1,-9\n\"'=HYPERLINK(\"\"x,y\"\")\",-10\n",
            write("csv", fields, rows, { no_formulas = true }))
         assert.matches("'=1%+1\t%-1\n", write("tsv", fields, rows, { no_formulas = true }))
         assert.matches("\n=1%+1,%-1\n", write("csv", fields, rows, {}))
      end)

      it("prints the limits of integers exactly", function()
         assert.equal("-9223372036854775808\n9223372036854775807\n0\n-10\n",
            write("csv", { { "n", "int" } },
               { { math.mininteger }, { math.maxinteger }, { 0 }, { -10 } }, { header = false }))
      end)

      it("prints addresses as 0x and lower-case hex, the top bit too", function()
         assert.equal("0xffffffffffffffff\n0x0\n0xabc\n", write("csv", { { "a", "addr" } },
            { { -1 }, { 0 }, { 0xABC } }, { header = false }))
      end)

      it("prints handles as their vendor does: 8 hex digits, or 16", function()
         assert.equal("1000000A\n00000000\n0000000100000000\n", write("csv",
            { { "h", "handle" } }, { { 0x1000000A }, { 0 }, { 1 << 32 } }, { header = false }))
         assert.equal('{"h":"1000000A"}\n', write("ndjson", { { "h", "handle" } },
            { { 0x1000000A } }))
      end)

      it("takes columns in the order asked for", function()
         assert.equal("s,n\nx,7\n", write("csv", all_types, { { 7, 0, 0, true, "x", "" } },
            { columns = { "s", "n" } }))
      end)

      it("raises for a column that is not there and names those that are", function()
         assert.error_matches(function()
            write("csv", all_types, {}, { columns = { "zz" } })
         end, "no column 'zz'; there are: n, x, a, b, s, y")
      end)
   end)

   describe("tsv", function()
      it("escapes tabs, line ends and backslashes", function()
         assert.equal("s\ta\nx\\ty\\nz\\r\\\\n\t\n", write("tsv", { { "s", "name" },
            { "a", "addr" } }, { { "x\ty\nz\r\\n", nil } }))
      end)
   end)

   describe("json", function()
      local json = require "dkjson"

      it("is an array of objects that another reader understands", function()
         local rows = { { 1, 0.25, 16, true, "main", "b" },
            { -2, 1e300, -1, false, 'a"b\\c\n\1', "" } }
         local parsed = assert(json.decode(write("json", all_types, rows)))
         assert.same({
            { n = 1, x = 0.25, a = "0x10", b = true, s = "main", y = "b" },
            { n = -2, x = 1e300, a = "0xffffffffffffffff", b = false, s = 'a"b\\c\n\1', y = "" },
         }, parsed)
      end)

      it("prints null for missing values and for NaN and infinities", function()
         assert.equal('[\n{"n":null,"x":null,"a":null,"b":null,"s":null,"y":null}\n]\n',
            write("json", all_types, { missing_row }))
         assert.equal('[\n{"x":null},\n{"x":null},\n{"x":null}\n]\n', write("json",
            { { "x", "num" } }, { { 0 / 0 }, { 1 / 0 }, { -1 / 0 } }))
      end)

      it("is an empty array without rows", function()
         assert.equal("[]\n", write("json", all_types, {}))
         assert.equal("", write("ndjson", all_types, {}))
      end)

      it("replaces bytes that are not UTF-8", function()
         local bad = { "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82" }
         for _, text in ipairs(bad) do
            local line = write("ndjson", { { "y", "bytes" } }, { { "<" .. text .. ">" } })
            assert.equal('{"y":"<' .. ("\u{fffd}"):rep(#text) .. '>"}\n', line)
         end
         assert.equal('{"y":"é日😀"}\n', write("ndjson", { { "y", "bytes" } }, { { "é日😀" } }))
      end)

      it("puts one object on each line as ndjson", function()
         assert.equal('{"n":1}\n{"n":2}\n', write("ndjson", { { "n", "int" } }, { { 1 }, { 2 } }))
      end)
   end)

   describe("texts", function()
      local csv_special = { [","] = ",", ['"'] = '""', ["\n"] = "\n", ["\r"] = "\r" }
      local tsv_special = { ["\t"] = "\\t", ["\n"] = "\\n", ["\r"] = "\\r", ["\\"] = "\\\\" }
      local json_special = { ['"'] = '\\"', ["\\"] = "\\\\", ["\1"] = "\\u0001",
         ["\xff"] = "\u{fffd}" }
      local harmless = { "x", "\127", "!", "-", "#", "[", "]", "é" }

      -- Each byte at each place of texts of several sizes, beside `written`.
      local function check(output, special, head, tail, written)
         local bytes, rows, expected = { table.unpack(harmless) }, {}, {}
         for byte in pairs(special) do
            bytes[#bytes + 1] = byte
         end
         for size = 0, 18 do
            for at = 0, size do
               local front, back = ("a"):rep(at), ("b"):rep(size - at)
               for _, byte in ipairs(bytes) do
                  rows[#rows + 1] = { front .. byte .. back }
                  expected[#expected + 1] = head .. written(front, byte, back) .. tail
               end
            end
         end
         assert.equal(table.concat(expected),
            write(output, { { "s", "name" } }, rows, { header = false }))
      end

      local function replacing(special)
         return function(front, byte, back)
            return front .. (special[byte] or byte) .. back
         end
      end

      it("are quoted in csv wherever the reason stands", function()
         check("csv", csv_special, "", "\n", function(front, byte, back)
            local text = front .. (csv_special[byte] or byte) .. back
            return csv_special[byte] and '"' .. text .. '"' or text
         end)
      end)

      it("are escaped in tsv and json wherever the reason stands", function()
         check("tsv", tsv_special, "", "\n", replacing(tsv_special))
         json_special["\127"] = "\\u007f"
         check("ndjson", json_special, '{"s":"', '"}\n', replacing(json_special))
      end)
   end)

   describe("numbers", function()
      it("read back as the same double, in the shortest form", function()
         local values = { 0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 123456.789, 0.07, 1e15,
            2 ^ 53, 100, 1e-7, 0.000001, -2.5 }
         for i = 1, 2000 do
            values[#values + 1] = i / 100
            values[#values + 1] = math.random() * 10 ^ math.random(-20, 20)
         end
         local rows = {}
         for i, value in ipairs(values) do
            rows[i] = { value }
         end
         local i = 0
         for line in write("csv", { { "x", "num" } }, rows, { header = false }):gmatch "[^\n]+" do
            i = i + 1
            assert.equal(values[i], tonumber(line))
            local shortest = ("%.15g"):format(values[i])
            assert.is_true(tonumber(shortest) ~= values[i] or #line <= #shortest + 3, line)
         end
         assert.equal(#values, i)
      end)
   end)

   describe("doubles", function()
      -- The first of 15, 16 and 17 digits that reads back; decimals of up to
      -- 6 digits are never written with an exponent.
      local function shortest(value)
         for precision = 15, 17 do
            local text = ("%." .. precision .. "g"):format(value)
            if tonumber(text) == value then
               local k = math.abs(value) * 1e6
               local is_decimal = k < 1e15 and k == math.floor(k) and k / 1e6 == math.abs(value)
               return is_decimal and text:find "e" and ("%.6f"):format(value):gsub("0+$", "")
                  or text
            end
         end
      end

      local function next_to(value, step)
         return (string.unpack("d", string.pack("i8", string.unpack("i8",
            string.pack("d", value)) + step)))
      end

      local function check(values)
         local rows = {}
         for i, value in ipairs(values) do
            rows[i] = { value }
         end
         local i = 0
         for line in write("csv", { { "x", "num" } }, rows, { header = false }):gmatch "[^\n]+" do
            i = i + 1
            local expected = shortest(values[i])
            if expected ~= line then
               assert.equal(expected, line)
            end
         end
         assert.equal(#values, i)
      end

      it("of any size have the digits that printf gives", function()
         local values = {}
         for _ = 1, 20000 do
            values[#values + 1] = (math.random() - 0.5) * 10.0 ^ math.random(-12, 17)
            values[#values + 1] = math.random(1, 10 ^ 6) / math.random(1, 10 ^ 6)
            values[#values + 1] = math.random(1, 10 ^ 8) / 10 ^ math.random(0, 12)
         end
         check(values)
      end)

      it("next to powers of ten and of two are read back exactly", function()
         local values = {}
         for exponent = -12, 17 do
            for step = -20, 20 do
               values[#values + 1] = next_to(tonumber("1e" .. exponent), step)
            end
         end
         for exponent = -40, 60 do
            for step = -5, 5 do
               values[#values + 1] = -next_to(2.0 ^ exponent, step)
            end
         end
         check(values)
      end)
   end)

   describe("text", function()
      it("aligns numbers right and texts left", function()
         assert.equal(
            "  n  s    b\n" ..
            "  1  a    true\n" ..
            "200  bcd  false\n",
            write("text", { { "n", "int" }, { "s", "name" }, { "b", "bool" } },
               { { 1, "a", true }, { 200, "bcd", false } }))
      end)

      it("escapes control characters", function()
         assert.equal("\\x1b[31m\\x9b\\x00\\xff\n", write("text", { { "y", "bytes" } },
            { { "\27[31m\xc2\x9b\0\xff" } }, { header = false }))
      end)

      it("counts characters, not bytes", function()
         assert.equal("s   n\né   1\nab  2\n", write("text", { { "s", "name" }, { "n", "int" } },
            { { "é", 1 }, { "ab", 2 } }))
      end)

      it("widens a column when a later row needs it, and never narrows it", function()
         local rows = {}
         for i = 1, 4096 do
            rows[i] = { 1, 1 }
         end
         rows[4097] = { 12345, 1 }
         local text = write("text", { { "n", "int" }, { "m", "int" } }, rows)
         assert.equal("n  m\n1  1\n", text:sub(1, 10))
         assert.equal("12345  1\n", text:sub(-9))
      end)

      it("shows times in a unit and shares as per cent", function()
         assert.equal("self (ms)   share\n    1.500  12.50%\n   -0.001   0.00%\n",
            write("text", { { "self", "int" }, { "share", "num" } },
               { { 1500000, 0.125 }, { -600, 0 } },
               { times = { "self" }, unit = "ms", percent = { "share" } }))
      end)

      it("cuts cells that are too wide", function()
         assert.equal("abcd…\n", write("text", { { "s", "name" } }, { { "abcdefgh" } },
            { header = false, max_width = 5 }))
      end)

      it("cuts texts in the middle until a line fits, and then leaves columns out", function()
         local fields = { { "n", "int" }, { "name", "name" }, { "m", "int" }, { "o", "int" } }
         local values = { { 1, "std::vector<int>::push_back", 22, 333 }, { 4, "é", 5, 6 } }
         for width, expected in pairs {
            [39] = "n  name                          m    o\n"
               .. "1  std::vector<int>::push_back  22  333\n"
               .. "4  é                             5    6\n",
            [34] = "n  name                     m    o\n"
               .. "1  std::ve…nt>::push_back  22  333\n"
               .. "4  é                        5    6\n",
            [29] = "n  name                     m\n"
               .. "1  std::ve…nt>::push_back  22\n"
               .. "4  é                        5\n",
         } do
            assert.equal(expected, (write("text", fields, values, { width = width })))
         end
      end)

      it("names the columns that were left out, the last ones first", function()
         local fields = { { "count", "int" }, { "first", "int" }, { "name", "name" },
            { "other", "int" }, { "third", "int" } }
         local function left_out(width)
            local text, rows, names = core.write_rows(reader(fields, { { 1, 2, "f", 3, 4 } }),
               { width = width })
            assert.equal(1, rows)
            return names and table.concat(names, " "), text
         end
         assert.is_nil((left_out(32)))
         assert.equal("third", (left_out(31)))
         assert.equal("other third", (left_out(20)))
         assert.equal("first other third", (left_out(15)))
         local names, text = left_out(1)
         assert.equal("first other third", names)
         assert.equal("count  name\n    1  f\n", text)
      end)

      it("dims zeros when it may", function()
         assert.equal("\27[1mn\27[0m\n\27[2m0\27[0m\n1\n", write("text", { { "n", "int" } },
            { { 0 }, { 1 } }, { color = true }))
         assert.equal("\27[1m   n\27[0m\n 0xa\n\27[2m 0x0\27[0m\n0xf0\n",
            write("text", { { "n", "addr" } }, { { 10 }, { 0 }, { 240 } }, { color = true }))
         -- Where the last columns are left out, nothing follows a dimmed number.
         assert.equal("\27[1mname  n\27[0m\nf   \27[2m  0\27[0m\n",
            write("text", { { "name", "name" }, { "n", "int" }, { "other", "int" } },
               { { "f", 0, 1 } }, { color = true, width = 8 }))
      end)

      it("prints the header in bold when it may", function()
         assert.equal("\27[1mn\27[0m\n1\n", write("text", { { "n", "int" } }, { { 1 } },
            { color = true }))
      end)
   end)

   it("writes into a file after buffered output of Lua", function()
      local path = disk.temporary()
      local file <close> = assert(io.open(path, "w"))
      file:write "before\n"
      local one = reader({ { "n", "int" } }, { { 1 } })
      assert.equal(1, core.write_rows(one, { output = "csv" }, file))
      file:write "after\n"
      file:close()
      assert.equal("before\nn\n1\nafter\n", io.open(path):read "a")
      os.remove(path)
   end)

   it("returns the error of a full disk", function()
      local full = io.open("/dev/full", "w")
      if not full then
         pending "there is no /dev/full here"
         return
      end
      local count, message, code = core.write_rows(reader({ { "n", "int" } }, { { 1 } }),
         { output = "csv" }, full)
      assert.is_nil(count)
      assert.matches("write failed: No space left", message)
      assert.equal("io", code)
      full:close()
   end)

   it("writes the rows before a failure, and returns the failure", function()
      local failing = core.decoder({ { "n", "int" } }, function(put)
         put(1)
         error "broken decoder"
      end, core.dictionary(), "test")
      local file = io.tmpfile()
      assert.error_matches(function()
         core.write_rows(failing, { output = "csv" }, file)
      end, "broken decoder")
   end)

   it("have all columns of a wide table", function()
      local fields, row = {}, {}
      for i = 1, 5000 do
         fields[i], row[i] = { "c" .. i, "int" }, i
      end
      local function wide()
         return core.rows_reader(fields, { row })
      end
      assert.same(row, { core.each(wide())() })
      assert.equal(5000, core.records(wide())().c5000)
      assert.equal(5000, core.rows(wide())[1].c5000)
      local names = {}
      for i = 1, 5000 do
         names[i] = fields[i][1]
      end
      assert.equal(5000, core.rows(wide(), names)[1].c5000)
      local text = core.write_rows(wide(), { output = "csv" })
      assert.equal(table.concat(names, ",") .. "\n" .. table.concat(row, ",") .. "\n", text)
   end)

   it("writes the row after a put that failed as it is", function()
      local decoder = core.decoder({ { "n", "int" }, { "m", "int" }, { "t", "bytes" } },
         function(put)
            put(1, nil, nil)
            assert(not pcall(put, nil, nil, 2))
            assert(not pcall(put, nil, "x", nil))
            put(5, 7, "y")
            put(nil, 8, nil)
            assert(not pcall(put, nil, nil, false))
         end, core.dictionary(), "test")
      assert.same({ { n = 1 }, { n = 5, m = 7, t = "y" }, { m = 8 } },
         core.rows(decoder, { "n", "m", "t" }))
   end)

   it("raises for wrong options", function()
      local one = { { "n", "int" } }
      assert.error_matches(function() write("xml", one, {}) end, "invalid option 'xml'")
      assert.error_matches(function() write("text", one, {}, { unit = "h" }) end,
         "invalid option 'h'")
      assert.error_matches(function() write("text", one, {}, { max_width = 0 }) end, "max_width")
      local file = io.tmpfile()
      file:close()
      assert.error_matches(function()
         core.write_rows(reader(one, {}), {}, file)
      end, "file is closed")
   end)
end)
