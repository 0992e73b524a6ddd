-- Tags: stressed.

local command = require "spec.support.command"
local dbf = require "spec.support.dbf_builder"
local profio = require "profio"
local codes = require("spec.support.codes").sorted

-- Report each warning, not only the first one of each kind.
local function one_by_one(options)
   options = options or {}
   options.all_warnings = true
   return options
end

local function open(bytes, options, memo)
   return assert(profio.open({ data = bytes, memo = memo }, one_by_one(options)))
end

-- Returns one column of table data as an array with false for missing values, and the codes of the
-- warnings.
local function column(bytes, name, options, memo)
   local trace <close> = open(bytes, options, memo)
   local values = {}
   for value in trace.data:each(name) do
      values[#values + 1] = value
   end
   return values, codes(trace)
end

-- Returns the values of a table of one field, and the codes of the warnings.
local function values_of(field, values, described)
   described = described or {}
   described[1] = { "V", table.unpack(field) }
   local builder = dbf(described)
   for _, value in ipairs(values) do
      builder:row { value }
   end
   return column(builder:bytes(), "V", described.options, described.memo)
end

local function people()
   return dbf { version = 0x03, mark = 0x02, { "NAME", "C", 10 }, { "AGE", "N", 3 },
      { "HEIGHT", "N", 6, 2 }, { "BORN", "D", 8 }, { "GONE", "L", 1 } }
      :row { "Ada", 36, " 165.5", "18151210", "T" }
      :deleted { "Nobody", 0, "", "", "F" }
      :row { "J\x94rg", "", "", "", "?" }
end

describe("dbf", function()
   it("shows a table with a column for each field", function()
      local trace <close> = open(people():bytes())
      assert.equal("dbf", trace.format)
      assert.same({ "data", "structure", "raw" }, trace.tables)
      assert.same({ format = "dbf", dialect = "dBASE III", version = 3, changed = "2026-11-21",
         records = 3, record_size = 29, header_size = 193, fields = 5, code_page_mark = 2,
         code_page = "CP850", memo = "none" }, trace.info)
      assert.same({ "NAME", "AGE", "HEIGHT", "BORN", "GONE", "record", "deleted" },
         (function()
            local names = {}
            for i, described in ipairs(trace.data.columns) do
               names[i] = type(described) == "table" and described.name or described
            end
            return names
         end)())
      assert.same({
         { NAME = "Ada", AGE = 36, HEIGHT = 165.5, BORN = "1815-12-10", GONE = true,
            record = 1, deleted = false },
         { NAME = "Jörg", record = 3, deleted = false },
      }, trace.data:rows())
      assert.same({ "dbf-deleted" }, codes(trace))
      assert.equal(222, trace.warnings[1].offset)
      assert.equal("note", trace.warnings[1].kind)
   end)

   it("lists the fields in table structure", function()
      local trace <close> = open(people():bytes())
      assert.same({
         { name = "NAME", type = "C", length = 10, decimals = 0, offset = 1, flags = 0,
            column = "bytes" },
         { name = "AGE", type = "N", length = 3, decimals = 0, offset = 11, flags = 0,
            column = "int" },
         { name = "HEIGHT", type = "N", length = 6, decimals = 2, offset = 14, flags = 0,
            column = "num" },
         { name = "BORN", type = "D", length = 8, decimals = 0, offset = 20, flags = 0,
            column = "bytes" },
         { name = "GONE", type = "L", length = 1, decimals = 0, offset = 28, flags = 0,
            column = "bool" },
      }, trace.structure:rows())
   end)

   it("leaves deleted records out, shows them, or shows them alone", function()
      local bytes = people():bytes()
      for deleted, records in pairs { skip = { 1, 3 }, show = { 1, 2, 3 }, only = { 2 } } do
         local got, warned = column(bytes, "record", { deleted = deleted })
         assert.same(records, got)
         assert.same(deleted == "skip" and { "dbf-deleted" } or {}, warned)
      end
      assert.same({ false, true, false }, column(bytes, "deleted", { deleted = "show" }))
   end)

   it("does not warn of damage in deleted records", function()
      local bytes = dbf { { "N", "N", 3 } }:deleted { "x" }:row { 7 }:bytes()
      local got, warned = column(bytes, "N")
      assert.same({ 7 }, got)
      assert.same({ "dbf-deleted" }, warned)
   end)

   it("numbers records as the file does, over many batches", function()
      for _, deleted in ipairs { "skip", "show" } do
         local builder = dbf { { "N", "N", 6 } }
         local expected = {}
         for i = 1, 10000 do
            local gone = i % 7 == 0 or (i > 5000 and i < 9500)
            builder:row({ i }, gone and "*" or " ")
            if deleted == "show" or not gone then
               expected[#expected + 1] = i
            end
         end
         local got, records = column(builder:bytes(), "N", { deleted = deleted }),
            column(builder:bytes(), "record", { deleted = deleted })
         assert.same(expected, got)
         assert.same(expected, records)
      end
   end)

   it("has raw rows whose bytes add up to the file", function()
      local memo = dbf.fpt { { 1, "a" } }
      for _, bytes in ipairs { people():bytes(), people():bytes(false), people():bytes() .. "more",
         dbf { version = 0x30, { "A", "C", 3 } }:row { "x" }:bytes(),
         dbf { version = 0x8c, { "A", "C", 3 } }:row { "x" }:bytes(),
         dbf {}:bytes(), people():bytes():sub(1, -10), people():bytes():sub(1, 100),
         dbf { count = 1, { "A", "C", 1 } }:row { "x" }:row { "y" }:deleted { "z" }:bytes(),
         people():bytes() .. (" "):rep(500), people():bytes(false) .. "\1" .. (" "):rep(500) } do
         local trace <close> = open(bytes, { format = "dbf" }, memo)
         local joined, at = {}, 0
         for r in trace.raw:records() do
            assert.equal(at, r.offset)
            assert.equal(r.size, #r.bytes)
            at = at + r.size
            joined[#joined + 1] = r.bytes
         end
         assert.equal(bytes, table.concat(joined))
      end
   end)

   it("has no records after bytes that are none, whatever follows", function()
      for _, count in ipairs { 3, 4095, 4096, 5000 } do
         local table = dbf { count = 3, { "A", "C", 1 } }
         for _ = 1, count do
            table:row { "x" }
         end
         for between, kinds in pairs { ["\26"] = { "mark", "rest" }, ["\1"] = { "rest" } } do
            local trace <close> = open(table:bytes(false) .. between .. ("y "):rep(5000))
            local got = trace.raw:rows()
            local first = 3 + count -- after the header, a field and its end
            assert.same({ "record", count }, { got[first].kind, got[first].record })
            for i, kind in ipairs(kinds) do
               assert.equal(kind, got[first + i].kind)
            end
            assert.equal(first + #kinds, #got)
            assert.equal(count, trace.data:count())
         end
      end
   end)

   it("names the kind of each raw row", function()
      local trace <close> = open(dbf { { "A", "C", 3 }, { "B", "N", 2 } }:row { "x", 1 }
         :deleted { "y", 2 }:bytes() .. "rest")
      local got = {}
      for r in trace.raw:records() do
         got[#got + 1] = { r.kind, r.name or r.record, r.type or r.deleted }
      end
      assert.same({ { "header" }, { "field", "A", "C" }, { "field", "B", "N" }, { "end" },
         { "record", 1, false }, { "record", 2, true }, { "mark" }, { "rest" } }, got)
   end)
end)

describe("dbf, values:", function()
   it("removes blanks and NULs at the end of text", function()
      assert.same({ "", "a", " a", "a b", "a\0b", "12345678901" },
         (values_of({ "C", 11 }, { "", "a", " a", "a b", "a\0b\0\0", "12345678901" })))
   end)

   it("reads digits as integers if the field has no decimals", function()
      local got, warned = values_of({ "N", 20 }, { 0, "-1", "+7", "007", "  12  ", "1\0\0", "5.00",
         "1e3", "9223372036854775807", "-9223372036854775808", "" , ".", ("\0"):rep(20) })
      assert.same({ 0, -1, 7, 7, 12, 1, 5, 1000, math.maxinteger, math.mininteger, false, false,
         false }, got)
      assert.same({}, warned)
      for _, value in ipairs(got) do
         assert.is_true(not value or math.type(value) == "integer")
      end
   end)

   -- Compared with a model of one line: numbers of any width and place, and similar texts.
   it("reads digits of any width, with any bytes around them", function()
      math.randomseed(11)
      local odd = { " ", " ", "0", "7", "-", "/", ":", "!", "\0", "\x10", "\x30", "\xb0", "\xff",
         "*" }
      for width = 1, 12 do
         local texts, expected = {}, {}
         for i = 1, 400 do
            local text = tostring(math.random(0, 10 ^ math.random(width) // 1 - 1))
            text = (" "):rep(width - #text) .. text:sub(1, width)
            if i % 2 == 0 then
               local at = math.random(width)
               text = text:sub(1, at - 1) .. odd[math.random(#odd)] .. text:sub(at + 1)
            end
            local digits = text:match "^[ \0]*(-?%d+)[ \0]*$"
            texts[i], expected[i] = text, math.tointeger(digits) or false
         end
         for place = 1, 9, 4 do
            local builder = dbf { { "P", "C", place }, { "V", "N", width } }
            for _, text in ipairs(texts) do
               builder:row { ("9"):rep(place), text }
            end
            assert.same(expected, (column(builder:bytes(), "V")))
         end
      end
   end)

   it("shows other texts as missing in a column of integers", function()
      local got, warned = values_of({ "N", 20 }, { "12.5", "9223372036854775808", "1x", "1 2", "-",
         "1,200.00", "1e", "99999999999999999999", "-9223372036854775809" })
      assert.same({ false, false, false, false, false, false, false, false, false }, got)
      assert.equal(9, #warned)
      assert.equal("dbf-bad-value", warned[9])
   end)

   -- Fields of each size at the beginning, in the middle and at the end of a record, with usual and
   -- unusual numbers. Lua computes the expected values.
   it("reads integers at any place in a record", function()
      math.randomseed(43)
      local function said(text)
         local trimmed = text:match "^[ \0]*(.-)[ \0]*$"
         return trimmed:find "^%-?%d+$" and math.tointeger(tonumber(trimmed)) or false
      end
      local function text_of(size)
         local dice, digits = math.random(12), math.random(size)
         local text = dice == 1 and "" or dice == 2 and ("7"):rep(math.min(digits, 18))
            or tostring(math.random(0, 10 ^ math.min(digits, 8) // 1 - 1))
         if dice == 3 and #text < size then
            text = "-" .. text
         elseif dice == 4 then
            text = text:sub(1, -2) .. ("x:/ 1\0@"):sub(math.random(7)):sub(1, 1)
         end
         local blanks = (" "):rep(size - #text)
         return dice == 5 and text .. blanks or blanks .. text
      end
      for size = 1, 20 do
         for before = 0, 9 do
            local builder = dbf { { "B", "C", before }, { "V", "N", size },
               { "E", "C", (9 * before) % 10 } }
            local expected = {}
            for i = 1, 60 do
               local text = i % 20 > 12 and i > 20 and ("%" .. size .. "d"):format(7)
                  or text_of(size)
               builder:row { "", text, "" }
               expected[i] = said(text)
            end
            assert.same(expected, (column(builder:bytes(), "V", { format = "dbf" })),
               size .. " bytes after " .. before)
         end
      end
   end)

   it("reads asterisks as a number that did not fit", function()
      local got, warned = values_of({ "N", 4, 1 }, { "****", 1.5 })
      assert.same({ false, 1.5 }, got)
      assert.same({ "dbf-overflow" }, warned)
   end)

   it("reads digits with decimals, and type F, as the nearest double", function()
      math.randomseed(7)
      local texts = { "0.1", ".5", "-.5", "1,5", "1.7976931348623157", "123456789.123456789",
         "1.123456789012345678", "9007199254740993", "9007199254740993.0", "0.30000000000000004",
         "1.5e-3", "-2E+5", "0.000000000000000001" }
      for _ = 1, 2000 do
         texts[#texts + 1] = ("%d.%0" .. math.random(9) .. "d"):format(
            math.random(0, 10 ^ math.random(9) // 1), math.random(0, 9))
      end
      local expected = {}
      for i, text in ipairs(texts) do
         expected[i] = tonumber((text:gsub(",", "."))) + 0.0
      end
      assert.same(expected, (values_of({ "N", 20, 5 }, texts)))
      assert.same(expected, (values_of({ "F", 20 }, texts)))
   end)

   it("reads logical values", function()
      local got, warned = values_of({ "L", 1 }, { "T", "t", "Y", "y", "F", "f", "N", "n", " ",
         "?", "\0", "x" })
      assert.same({ true, true, true, true, false, false, false, false, false, false, false,
         false }, got)
      assert.same({ "dbf-bad-value" }, warned)
      local trace <close> = open(dbf { { "L", "L", 1 } }:row { "F" }:row { "?" }:bytes())
      assert.same({ { L = false }, {} }, trace.data:rows "L" )
   end)

   it("reads dates", function()
      local got, warned = values_of({ "D", 8 }, { "20000229", "00010101", "99991231", "",
         "00000000", ("\0"):rep(8), "19000229", "20011301", "20010132", "2001 1 1", "00000101" })
      assert.same({ "2000-02-29", "0001-01-01", "9999-12-31", false, false, false, false, false,
         false, false, false }, got)
      assert.equal(5, #warned)
   end)

   -- Known Julian days: 2440588 is 1970-01-01.
   it("reads dates with times", function()
      local function at(day, milliseconds)
         return string.pack("<i4i4", day, milliseconds)
      end
      local got, warned = values_of({ "T", 8 }, { at(2440588, 0), at(2451604, 45296789),
         at(1721426, 86399999), at(5373484, 1000), at(0, 5), (" "):rep(8), at(-1, 0),
         at(5373485, 0) }, { version = 0x30 })
      assert.same({ "1970-01-01T00:00:00", "2000-02-29T12:34:56.789", "0001-01-01T23:59:59.999",
         "9999-12-31T00:00:01", false, false, false, false }, got)
      assert.equal(2, #warned)
   end)

   it("reads the nearest double of more digits than fit into an integer", function()
      local texts = { "28120219628.409235000815303", "935709005.0500018000792940",
         "0.00000000000000000000012345", "123456789012345678901234567890.5",
         "9007199254740992.99999999999999999", "1e-320", "12.5e300", "4.9e-324" }
      local expected = {}
      for i, text in ipairs(texts) do
         expected[i] = tonumber(text)
         texts[i] = (" "):rep(40 - #text) .. text
      end
      assert.same(expected, (values_of({ "F", 40, 10 }, texts)))
   end)

   it("reads binary numbers", function()
      local visual = { version = 0x30 }
      assert.same({ 1, -1, math.mininteger >> 32 | -1 << 31, 0 }, (values_of({ "I", 4 },
         { "\1\0\0\0", "\xff\xff\xff\xff", "\0\0\0\x80", "\0\0\0\0" }, visual)))
      assert.same({ 1.5, -0.1, 1e300 }, (values_of({ "B", 8, 2 }, { string.pack("<d", 1.5),
         string.pack("<d", -0.1), string.pack("<d", 1e300) }, { version = 0x30 })))
   end)

   it("reads currency as a number and as exact text", function()
      local builder = dbf { version = 0x30, { "Y", "Y", 8, 4 }, { "Y_exact", "C", 1 } }
      for _, units in ipairs { 12345678, -1, 0, math.maxinteger, math.mininteger } do
         builder:row { string.pack("<i8", units), "" }
      end
      local exact = column(builder:bytes(), "Y_exact_")
      assert.same({ "1234.5678", "-0.0001", "0.0000", "922337203685477.5807",
         "-922337203685477.5808" }, exact)
      assert.same({ 1234.5678, -0.0001, 0.0, 922337203685477.5807, -922337203685477.5808 },
         (column(builder:bytes(), "Y")))
   end)

   it("reads the types of dBASE 7", function()
      local function seven()
         return { version = 0x04 }
      end
      assert.same({ 1, -1, -2147483647, 2147483647, false }, (values_of({ "I", 4 },
         { "\x80\0\0\1", "\x7f\xff\xff\xff", "\0\0\0\1", "\xff\xff\xff\xff", "\0\0\0\0" },
         seven())))
      assert.same({ 3 }, (values_of({ "+", 4 }, { "\x80\0\0\3" }, seven())))
      assert.same({ -199.99, 43.65, 0.0, false }, (values_of({ "O", 8 }, { dbf.ordered(-199.99),
         dbf.ordered(43.65), dbf.ordered(0.0), ("\0"):rep(8) }, seven())))
      assert.same({ "1970-01-01T00:00:00", "1970-01-02T00:00:00.500", false },
         (values_of({ "@", 8 }, { string.pack(">d", 719163 * 86400000.0),
            string.pack(">d", 719164 * 86400000.0 + 500), "" }, seven())))
   end)

   it("reads text of more than 255 bytes, if the record is long enough", function()
      local long = ("x"):rep(300)
      local builder = dbf { version = 0xf5, record = 301, { "A", "C", 300, 300 >> 8 } }
      assert.same({ long }, (column(builder:row { long }:bytes(), "A")))
      local short = dbf { { "A", "C", 3, 9 } }:row { "abc" }:bytes()
      assert.same({ "abc" }, (column(short, "A")))
   end)

   -- One byte of flags: bit 0 length of V, 1 null of V, 2 null of N, 3 length of Q.
   it("reads nulls, and texts of variable length", function()
      local builder = dbf { version = 0x32, { "V", "V", 5, 0, 2 }, { "C", "C", 2 },
         { "N", "N", 3, 0, 2 }, { "Q", "Q", 4 }, { "_NullFlags", "0", 1, 0, 5 } }
         :row { "ab  \4", "c", 1, "\1\0 \2", "\x09" }
         :row { "abcde", "c", 2, "wxyz", "\x00" }
         :row { "    \0", "c", 3, "\1\2\3\0", "\x0f" }
         :row { "    \9", "c", 3, "\1\2\3\xff", "\x0d" }
      local trace <close> = open(builder:bytes())
      assert.same({
         { V = "ab  ", C = "c", N = 1, Q = "\1\0", record = 1, deleted = false },
         { V = "abcde", C = "c", N = 2, Q = "wxyz", record = 2, deleted = false },
         { C = "c", Q = "", record = 3, deleted = false },
         { C = "c", record = 4, deleted = false },
      }, trace.data:rows())
      assert.same({ "dbf-bad-value", "dbf-bad-value" }, codes(trace))
   end)

   it("shows the bytes of unknown types", function()
      local got, warned = values_of({ "Z", 3 }, { "a\0b" }, { options = { format = "dbf" } })
      assert.same({ "a\0b" }, got)
      assert.same({ "dbf-field-type" }, warned)
   end)
end)

describe("dbf, code pages:", function()
   local function text(mark, bytes, options)
      return values_of({ "C", 20 }, { bytes }, { mark = mark, options = options })[1]
   end

   it("uses the code page that the table states", function()
      assert.equal("é", text(0x01, "\x82"))
      assert.equal("ø", text(0x02, "\x9b"))
      assert.equal("€uro", text(0x03, "\x80uro"))
      assert.equal("ž", text(0xc8, "\x9e"))
      assert.equal("Жук", text(0xc9, "\xc6\xf3\xea"))
      assert.equal("Жук", text(0x65, "\x86\xe3\xaa"))
      assert.equal("žluťoučký kůň", text(0x68, "\x91lu\x9fou\x87k\x98 k\x96\xa4"))
      assert.equal("zażółć gęślą jaźń │", text(0x69,
         "za\xa7\xa2\x92\x8d g\x91\x9el\x86 ja\xa6\xa4 \xb3"))
      assert.equal("αβγ", text(0x98, "\xe1\xe2\xe7"))
      assert.equal("日本", text(0x7b, "\x93\xfa\x96\x7b"))
   end)

   it("uses the code page of the option", function()
      assert.equal("ø", text(0x03, "\x9b", { code_page = "CP850" }))
      assert.equal("ł", text(0x00, "\x92", { code_page = "mazovia" }))
      assert.equal("\x9b", text(0x02, "\x9b", { code_page = "raw" }))
      assert.equal("ø", text(0x02, "ø", { code_page = "UTF-8" }))
   end)

   it("shows invalid bytes as U+FFFD", function()
      assert.equal("a\u{fffd}b", text(0x03, "a\x81b"))
      assert.equal("a\u{fffd}", text(0x7b, "a\x93"))
      assert.equal("\u{fffd}\u{fffd}b", text(0, "\xff\xfeb", { code_page = "UTF-8" }))
   end)

   it("leaves text unchanged if the code page is missing or unknown", function()
      assert.equal("\x9b", text(0x00, "\x9b"))
      local got, warned = values_of({ "C", 3 }, { "\x9b" }, { mark = 0x7f })
      assert.same({ "\x9b" }, got)
      assert.same({ "dbf-code-page" }, warned)
   end)

   it("reads the language driver of dBASE 7", function()
      assert.equal("ж", values_of({ "C", 3 }, { "\xa6" }, { version = 4, driver = "DB866RU0" })[1])
      assert.equal("€", values_of({ "C", 3 }, { "\x80" }, { version = 4, driver = "DBWINUS0" })[1])
   end)

   it("refuses encrypted tables", function()
      local bytes = people():bytes()
      for _, format in ipairs { "dbf", "xpp" } do
         local trace, message, code = profio.open({ data = bytes:sub(1, 15) .. "\1"
            .. bytes:sub(17) }, { format = format })
         assert.is_nil(trace)
         assert.equal("unsupported", code)
         assert.matches("the table is encrypted: copy it without encryption", message)
      end
   end)

   it("refuses a code page that iconv does not know", function()
      local trace, message, code = profio.open({ data = people():bytes() },
         { code_page = "nonsense" })
      assert.is_nil(trace)
      assert.equal("unsupported", code)
      assert.matches("nonsense", message)
   end)

   it("converts the names of fields, but no fields that are marked as binary", function()
      local bytes = dbf { version = 0x30, mark = 0xc9, { "\xc6\xd3\xca", "C", 2 },
         { "BIN", "C", 2, 0, 4 } }:row { "\xc6", "\xc6" }:bytes()
      assert.same({ "Ж" }, (column(bytes, "ЖУК")))
      assert.same({ "\xc6" }, (column(bytes, "BIN")))
   end)
end)

describe("dbf, the command:", function()
   local function said(line)
      local text, status = command.run(line)
      return { (text:gsub(" +\n", "\n")), status }
   end

   it("shows the records", function()
      command.file("people.dbf", people():bytes())
      assert.same({ [[
NAME  AGE   HEIGHT  BORN        GONE
Ada    36  165.500  1815-12-10  true
Jörg
]], 0 }, said "profio people.dbf")
      assert.same({ "NAME,AGE,HEIGHT,BORN,GONE,record,deleted\nNobody,0,,,false,2,true\n", 0 },
         said "profio --set deleted=only --output csv people.dbf")
      assert.same({ "NAME,AGE\nNobody,0\n", 0 },
         said "profio --set deleted=only --columns NAME,AGE --output csv people.dbf")
   end)

   it("finds the memo file beside the table, whatever the case of its name", function()
      local memo, numbers = dbf.fpt { { 1, "found" } }
      command.file("WITH.FPT", memo)
      command.file("with.dbf",
         dbf { version = 0xf5, { "M", "M", 10 } }:row { numbers[1] }:bytes())
      command.file("other.mem", (dbf.fpt { { 1, "other" } }))
      assert.same({ "M\nfound\n", 0 }, said "profio --output csv --columns M with.dbf")
      assert.same({ "M\nother\n", 0 },
         said "profio --set memo=other.mem --output csv --columns M with.dbf")
   end)

   it("merges tables into one, and the memos into another", function()
      assert.same({ "M\nfound\nfound\n", 0 }, said("profio --merge -o both.dbf with.dbf with.dbf"
         .. " && profio --output csv --columns M both.dbf"))
   end)
end)
