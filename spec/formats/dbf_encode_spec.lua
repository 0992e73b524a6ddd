-- Tags: user.

local dbf = require "spec.support.dbf_builder"
local disk = require "spec.support.disk"
local profio = require "profio"
local refused = require "spec.support.refused"

local build = os.getenv "PROFIO_BUILD" or "build"
local folder = build .. "/spec/dbf"
disk.folder(folder)

-- Writes records with these fields. Returns the bytes of the table and of the memo file.
local function write(fields, records, options)
   local given = { format = "dbf", fields = fields }
   for name, value in pairs(options or {}) do
      given[name] = value
   end
   local writer = assert(profio.create(nil, given))
   for _, record in ipairs(records) do
      local ok, message, code = refused(writer, record)
      if not ok then
         writer.sink:close()
         return nil, message, code
      end
   end
   local bytes, sides = writer:close()
   return bytes, sides.memo
end

local function read(bytes, memo, options)
   local trace <close> = assert(profio.open({ data = bytes, memo = memo }, options))
   assert.same({}, trace.warnings)
   local rows = trace.data:rows()
   for _, row in ipairs(rows) do
      row.record = nil
      row.deleted = row.deleted or nil
   end
   return rows, trace.info
end

local function lines_of(command)
   local lines = {}
   local pipe <close> = assert(io.popen(command .. " 2>&1"))
   for line in pipe:lines() do
      lines[#lines + 1] = line
   end
   return lines
end

local function has_python(module)
   return os.execute(("/usr/bin/python3 -c 'import %s' 2>/dev/null"):format(module))
end

local function python(text)
   local path = folder .. "/run.py"
   local file <close> = assert(io.open(path, "w"))
   file:write(text)
   file:close()
   return lines_of("/usr/bin/python3 " .. path)
end

local visual = "NAME C(10), N N(5), X N(8,2), F F(12,3), I I, B B, L L, D D, T T, Y Y, M M, "
   .. "V V(6), Q Q(4)"

local values = {
   { NAME = "Jörg", N = -12, X = 1.25, F = 0.125, I = -2147483648, B = 0.1, L = true,
      D = "2000-02-29", T = "1999-12-31T23:59:59.999", Y = 12.5, Y_exact = "12.5000",
      M = "a memo – of text", V = "ab ", Q = "\0\1" },
   { NAME = "", N = 99999, X = -99999.5, F = 1e7, I = 2147483647, B = -1e300, L = false,
      D = "0001-01-01", T = "9999-12-31T00:00:00", Y = -922337203685477.5808,
      Y_exact = "-922337203685477.5808", M = "", V = "abcdef", Q = "wxyz" },
}

describe("dbf, writing:", function()
   it("writes values that are read back unchanged", function()
      local bytes, memo = write(visual, values, { changed = "2001-02-03" })
      local rows, info = read(bytes, memo)
      assert.same(values, rows)
      assert.equal("2001-02-03", info.changed)
      assert.equal("CP1252", info.code_page)
      assert.equal(0x32, info.version)
      assert.equal(64, info.memo_block)
   end)

   it("writes a small table with the expected bytes", function()
      local bytes = write("A C(2), N N(3)", { { A = "x", N = 7 }, { A = "y", deleted = true } },
         { dialect = "foxpro2", changed = "2026-11-21" })
      local expected = dbf { version = 0x03, mark = 0x03, { "A", "C", 2 }, { "N", "N", 3 } }
         :row { "x", 7 }:deleted { "y", "" }:bytes()
      assert.equal(expected, bytes)
   end)

   it("writes FoxPro 2 with memos", function()
      local text = "NAME C(10), N N(5), X N(8,2), L L, D D, M M"
      local records = { { NAME = "a", N = 1, X = 0.5, L = true, D = "2020-01-01", M = "memo" },
         { NAME = "b" } }
      local bytes, memo = write(text, records, { dialect = "foxpro2", memo_block = 512 })
      local rows, info = read(bytes, memo)
      assert.same(records, rows)
      assert.same({ 0xf5, 512 }, { info.version, info.memo_block })
   end)

   it("writes nulls and deleted records", function()
      local records = { { I = 1, V = "a", deleted = true }, { C = "b" }, { Y = 1.5,
         Y_exact = "1.5000", M = "x" } }
      local bytes, memo = write("C C(3) null, I I null, V V(3) null, Y Y null, M M null, B B null",
         records)
      assert.same(records, (read(bytes, memo, { deleted = "show" })))
      local live = read(bytes, memo, { deleted = "only" })
      assert.equal(1, #live)
   end)

   it("writes text in code pages", function()
      for page, text in pairs { CP850 = "øé", CP1250 = "žůł", KAMENICKY = "žluťoučký kůň",
         MAZOVIA = "zażółć", CP932 = "日本", raw = "日本ž" } do
         local bytes, memo = write("C C(20), M M", { { C = text, M = text } }, { code_page = page })
         local rows, info = read(bytes, memo)
         assert.same({ { C = text, M = text } }, rows)
         assert.equal(page, info.code_page)
      end
   end)

   it("writes integers up to the limits of 64 bits", function()
      local records = { { N = math.mininteger }, { N = math.maxinteger } }
      for _, dialect in ipairs { "visual", "foxpro2" } do
         assert.same(records, (read(write("N N(20)", records, { dialect = dialect }))))
      end
   end)

   -- Clipper and FoxPro 2 store the higher byte of a size there.
   it("writes no decimals of a text, which other programs may leave in its field", function()
      for _, given in ipairs { { format = "dbf" }, { format = "xpp" } } do
         local bytes = dbf { { "TID", "N", 2 }, { "TIME", "N", 6 }, { "OP", "C", 1 },
            { "MSG", "C", 9, 2 } }:row { 1, 0, "I", "MAIN" }:row { 1, 5, "O", "MAIN" }:bytes()
         local trace <close> = assert(profio.open({ data = bytes }, given))
         local saved <close> = assert(profio.open({ data = assert(trace:save(nil)) }))
         local decimals = {}
         for name, count in saved.structure:each("name", "decimals") do
            decimals[name] = count
         end
         assert.same({ TID = 0, TIME = 0, OP = 0, MSG = 0 }, decimals)
      end
   end)

   it("keeps a table of another program when it is saved", function()
      local memo, numbers = dbf.fpt { { 1, "one" }, { 1, "zw\xf6lf" }, { 0, "\1\0\2" } }
      local builder = dbf { version = 0x30, mark = 3, { "C", "C", 4, 0, 2 }, { "M", "M", 4 },
         { "Y", "Y", 8, 4 }, { "_NullFlags", "0", 1, 0, 5 } }
      for i, number in ipairs(numbers) do
         builder:row({ "c" .. i, string.pack("<I4", number), string.pack("<i8", i), "\0" },
            i == 2 and "*" or " ")
      end
      local trace <close> = assert(profio.open({ data = builder:bytes(), memo = memo },
         { deleted = "show" }))
      local bytes, sides = assert(trace:save(nil))
      local again <close> = assert(profio.open({ data = bytes, memo = sides.memo },
         { deleted = "show" }))
      assert.same(trace.data:rows(), again.data:rows())
      local third, third_sides = again:save(nil)
      assert.equal(bytes, third)
      assert.equal(sides.memo, third_sides.memo)
   end)

   it("writes the memo file beside the table, and only if there are memos", function()
      local path = folder .. "/beside.DBF"
      os.remove(folder .. "/beside.fpt")
      local function create(fields)
         local writer <close> = assert(profio.create(path, { format = "dbf", fields = fields }))
         writer:write { A = "x" }
      end
      create "A C(3)"
      assert.is_nil(io.open(folder .. "/beside.fpt"))
      create "A M"
      local trace <close> = assert(profio.open(path))
      assert.same({ { A = "x", record = 1, deleted = false } }, trace.data:rows())
   end)

   it("writes a table into a pipe, but refuses memos there", function()
      local script = ([[lua5.4 -e 'package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
         package.cpath = "%s/?.so;" .. package.cpath
         local w = require("profio").create("-", { format = "dbf", fields = "%s" })
         for i = 1, 30000 do
            local called, ok, m = pcall(w.write, w, { A = "x" })
            if not called or not ok then print(m or ok) os.exit(1) end
         end
         assert(w:close())' | cat > %s/piped.dbf]])
      os.execute(script:format(build, "A C(3)", folder))
      local trace <close> = assert(profio.open(folder .. "/piped.dbf"))
      assert.same({}, trace.warnings)
      assert.equal(30000, trace.info.records)
      os.execute(script:format(build, "A M", folder))
      local file <close> = assert(io.open(folder .. "/piped.dbf"))
      assert.matches("memos need a file of their own", file:read "a")
   end)

   it("leaves the old files after a failure", function()
      local path = folder .. "/old.dbf"
      local writer = assert(profio.create(path, { format = "dbf", fields = "A C(3), M M" }))
      writer:write { A = "old", M = "memo" }
      writer:close()
      assert.has_error(function()
         local broken <close> = assert(profio.create(path, { format = "dbf", fields = "A C(9)" }))
         broken:write { A = "new" }
         error "stop"
      end)
      local trace <close> = assert(profio.open(path))
      assert.equal("old", trace.data:rows()[1].A)
      assert.equal("memo", trace.data:rows()[1].M)
   end)

   it("writes names of fields in the code page", function()
      local path = folder .. "/names.dbf"
      for page, name in pairs { CP1252 = "größe", CP437 = "größe", CP932 = "日本語日本",
         CP1251 = "НАИМЕНОВАН", CP866 = "цена" } do
         local writer = assert(profio.create(path, { format = "dbf", code_page = page,
            fields = name .. " C(6), B N(3)" }))
         writer:write { [name] = "x", B = 7 }
         assert(writer:close())
         local trace <close> = assert(profio.open(path, { format = "dbf" }))
         local found = {}
         for record in trace:records() do
            found[#found + 1] = { record[name], record.B }
         end
         assert.same({ { "x", 7 } }, found, page)
         assert.same({}, trace.warnings)
      end
      local lacks <const> = "a character of its name is not in the code page"
      local long <const> = "its name has more than 10 bytes in the code page"
      for _, case in ipairs { { "CP1252", "日本", lacks }, { "CP1252", "\xf1", lacks },
         { "CP1252", "ELEVENBYTES", long }, { "CP1251", "НАИМЕНОВАНИ", long },
         { "CP932", "日本語日本a", long }, { "CP1252", ("x"):rep(51), "up to 10 bytes" } } do
         local writer, message = profio.create(path, { format = "dbf", code_page = case[1],
            fields = case[2] .. " C(6)" })
         assert.is_nil(writer)
         assert.matches(case[3], message, 1, true)
      end
   end)

   it("refuses values that a field cannot hold, and names record and field", function()
      for _, case in ipairs { { "A C(2)", "abc", "longer" }, { "A N(2)", 100, "digits" },
         { "A N(2)", -10, "digits" }, { "A N(5,2)", 0.001, "decimals" },
         { "A N(5,2)", 1000.5, "decimals" }, { "A I", 1 << 31, "32 bits" },
         { "A D", "2001-02-29", "date" }, { "A T", "2001-01-01", "time" },
         { "A T", "2001-01-01T24:00:00", "time" }, { "A Y", 0.00001, "decimals" },
         { "A V(2)", "abc", "longer" }, { "A C(3)", "日", "code page" },
         { "A F(5)", 0 / 0, "infinity" } } do
         local fields, value, words = table.unpack(case)
         local bytes, message, code = write(fields, { { A = value } })
         assert.is_nil(bytes)
         assert.equal("unsupported", code)
         assert.matches("record 1, field A: .*" .. words, message)
      end
      local _, message = write("A I", { {} })
      assert.matches("add null", message)
      assert.same({ { A = 0.0 }, { A = 1000.5 } },
         (read(write("A N(6,2)", { { A = 0.001 }, { A = 1000.5 } }, { round = true }))))
   end)

   it("refuses invalid fields", function()
      for _, fields in ipairs { "", "A", "A Z", "A C", "A C(0)", "A C(255)", "A N(21)", "A N(2,2)",
         "A C(3", "A C(3),", "A C(3) B C(3)", "A C(1), A C(1)", "ABCDEFGHIJK C(1)", "A I(8)",
         "deleted L", "A C(x)", "A C(10,2)", "A V(10,2)", "A Q(10,2)" } do
         local writer, message, code = profio.create(nil, { format = "dbf", fields = fields })
         assert.is_nil(writer)
         assert.equal("unsupported", code)
         assert.is_string(message)
      end
      assert.is_nil((profio.create(nil, { format = "dbf", fields = "A I", dialect = "foxpro2" })))
      assert.is_nil((profio.create(nil, { format = "dbf" })))
      assert.is_nil((profio.create(nil, { format = "dbf", fields = "A L", code_page = "no" })))
      assert.is_nil((profio.create(nil, { format = "dbf", fields = "A L", changed = "x" })))
   end)
end)

local describe_dbfread = has_python "dbfread" and describe or pending

describe_dbfread("dbf, tables of ours read by others:", function()
   it("writes tables that dbfread reads", function()
      local path = folder .. "/ours.dbf"
      local writer = assert(profio.create(path, { format = "dbf",
         fields = "NAME C(10), N N(5), X N(8,2), F F(12,3), I I, L L, D D, T T, Y Y, M M, B B" }))
      writer:write { NAME = "Jörg", N = -12, X = 1.25, F = 0.125, I = -5, L = true,
         D = "2000-02-29", T = "1999-12-31T23:59:59", Y = 12.5, M = "mémo", B = 0.5 }
      writer:write { NAME = "gone", I = 0, Y = 0, B = 0, deleted = true }
      writer:close()
      assert.same({ "{'NAME': 'Jörg', 'N': -12, 'X': 1.25, 'F': 0.125, 'I': -5, 'L': True, "
         .. "'D': datetime.date(2000, 2, 29), 'T': datetime.datetime(1999, 12, 31, 23, 59, 59), "
         .. "'Y': Decimal('12.5'), 'M': 'mémo', 'B': 0.5}" }, python(([[
import dbfread
for record in dbfread.DBF(%q):
    print(dict(record))
]]):format(path)))
   end)

   it("writes tables that dbfdump reads", function()
      local path = folder .. "/dumped.dbf"
      local writer = assert(profio.create(path, { format = "dbf", dialect = "foxpro2",
         fields = "TID N(4), TIME N(10), OP C(1), MSG C(20), LINE N(7)" }))
      writer:write { TID = 1, TIME = 4, OP = "I", MSG = "MAIN", LINE = 12 }
      writer:write { TID = 1, TIME = 707, OP = "O", MSG = "MAIN" }
      writer:close()
      local lines = lines_of("dbfdump " .. path)
      local got = {}
      for i, line in ipairs(lines) do
         got[i] = line:gsub("%s+", " "):match "^ ?(.-) ?$"
      end
      assert.same({ "TID TIME OP MSG LINE", "1 4 I MAIN 12", "1 707 O MAIN (NULL)" }, got)
   end)
end)

describe_dbfread("dbf, tables of others read by us:", function()
   it("writes tables that shapelib reads", function()
      local path = folder .. "/shapelib"
      os.remove(path .. ".dbf")
      lines_of(("dbfcreate %s -s NAME 8 -n COUNT 6 0 -n PART 8 3"):format(path))
      lines_of(("dbfadd %s.dbf abc 12 1.5"):format(path))
      lines_of(("dbfadd %s.dbf longername 123456 -0.125"):format(path))
      local trace <close> = assert(profio.open(path .. ".dbf"))
      assert.same({}, trace.warnings)
      assert.same({ { NAME = "abc", COUNT = 12, PART = 1.5, record = 1, deleted = false },
         { NAME = "longerna", COUNT = 123456, PART = -0.125, record = 2, deleted = false } },
         trace.data:rows())
   end)

   it("reads the tables of python3-dbf in each of its dialects", function()
      local expected = { NAME = "Jörg", AGE = 41, PAID = 12.25, SINCE = "2001-02-03", GONE = true,
         NOTE = "some words", record = 1, deleted = false }
      for _, dialect in ipairs { "db3", "fp", "vfp" } do
         local path = folder .. "/python_" .. dialect .. ".dbf"
         local said = python(([[
import dbf, datetime
table = dbf.Table(%q, 'NAME C(10); AGE N(3,0); PAID N(8,2); SINCE D; GONE L; NOTE M',
                  codepage='cp1252', dbf_type=%q)
table.open(dbf.READ_WRITE)
table.append(('Jörg', 41, 12.25, datetime.date(2001, 2, 3), True, 'some words'))
table.append(('gone', 1, 0, datetime.date(2001, 2, 3), False, ''))
dbf.delete(table[1])
table.close()
]]):format(path, dialect))
         assert.same({}, said)
         local trace <close> = assert(profio.open(path))
         assert.same({ expected }, trace.data:rows())
      end
   end)
end)
