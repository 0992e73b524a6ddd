local dbf = require "spec.support.dbf_builder"
local profio = require "profio"

-- Report each warning, not only the first one of each kind.
local function one_by_one(options)
   options = options or {}
   options.all_warnings = true
   return options
end

-- Reads bytes without option strict. Returns the values of the first field, false where missing,
-- and the warnings { code, offset }; or nil, message, code.
local function read(bytes, options, memo)
   options = options or {}
   options.format = "dbf"
   local trace <close>, message, code = profio.open({ data = bytes, memo = memo },
      one_by_one(options))
   if not trace then
      return nil, message, code
   end
   local found = { values = {}, warnings = {} }
   local first = trace.structure:rows()[1]
   if first then
      for value in trace.data:each(first.name) do
         found.values[#found.values + 1] = value
      end
   end
   for _, name in ipairs(trace.tables) do
      for _ in trace:table(name):records() do end
   end
   for i, warning in ipairs(trace.warnings) do
      found.warnings[i] = { warning.code, warning.offset }
   end
   return found
end

local function says(found, code)
   for _, warning in ipairs(found.warnings) do
      if warning[1] == code then
         return true
      end
   end
   return false
end

local function letters(described)
   described[1] = { "A", "C", 1 }
   described[2] = { "N", "N", 3 }
   return dbf(described):row { "a", 1 }:row { "b", 2 }:row { "c", 3 }
end

describe("dbf, damage:", function()
   it("keeps the complete records before each cut", function()
      local memo = dbf.fpt { { 1, "one" } }
      for _, version in ipairs { 0x03, 0x30, 0x8c } do
         local builder = letters { version = version }
         local bytes = builder:bytes()
         local start = #builder:header()
         local all = { "a", "b", "c" }
         for size = 0, #bytes - 1 do
            local found, message, code = read(bytes:sub(1, size), {}, memo)
            local whole = math.max(0, size - start) // 5
            if not found then
               assert.is_true(size < start)
               assert.equal("truncated", code)
               assert.matches("byte %d+", message)
            else
               assert.same(table.move(all, 1, whole, 1, {}), found.values)
            end
            assert.is_true(not found or whole == 3 or says(found, "dbf-truncated"))
         end
      end
   end)

   it("reads a header that is cut inside its descriptors", function()
      local found = read(letters {}:bytes():sub(1, 70))
      assert.same({ {}, { { "dbf-truncated", 64 }, { "dbf-record-size", 10 },
         { "dbf-truncated", 70 } } }, { found.values, found.warnings })
   end)

   it("returns damage as an error with strict", function()
      local trace, message, code = profio.open({ data = letters {}:bytes():sub(1, -4) },
         { strict = true })
      assert.is_nil(trace)
      assert.equal("truncated", code)
      assert.matches("3 records expected, the file ends after 2", message)
   end)

   it("raises at an invalid value in an iterator with strict", function()
      local bytes = dbf { { "A", "C", 1 }, { "N", "N", 3 } }:row { "a", 1 }:row { "b", "x" }:bytes()
      local trace <close> = assert(profio.open({ data = bytes }, { strict = true }))
      assert.equal(2, trace.data:count())
      assert.has_error(function()
         trace.data:rows()
      end, "(data): dbf: field N: a whole number below 2^63 expected, found 'x  ' (byte 104)")
   end)

   it("does not check columns that are not read", function()
      local bytes = dbf { { "A", "C", 1 }, { "N", "N", 3 } }:row { "a", "x" }:bytes()
      local trace <close> = assert(profio.open { data = bytes })
      for value in trace.data:each "A" do
         assert.equal("a", value)
      end
      assert.same({}, trace.warnings)
      assert.equal(1, #trace:check())
   end)

   it("reads headers with every count and size at its maximum", function()
      local bytes = letters {}:bytes()
      for at = 5, 12 do
         for _, byte in ipairs { "\0", "\x7f", "\xff" } do
            assert.is_truthy(read(bytes:sub(1, at - 1) .. byte .. bytes:sub(at + 1)))
         end
      end
      for _, field in ipairs { { 5, 8 }, { 9, 10 }, { 11, 12 } } do
         for _, byte in ipairs { "\0", "\xff" } do
            local size = field[2] - field[1] + 1
            assert.is_truthy(read(bytes:sub(1, field[1] - 1) .. byte:rep(size)
               .. bytes:sub(field[2] + 1)))
         end
      end
      for at = 33, 96 do
         assert.is_truthy(read(bytes:sub(1, at - 1) .. "\xff" .. bytes:sub(at + 1)))
      end
   end)

   it("warns if the header counts more records than the file has", function()
      local found = read(letters { count = 0xffffffff }:bytes())
      assert.same({ "a", "b", "c" }, found.values)
      assert.same({ { "dbf-truncated", 97 + 15 } }, found.warnings)
   end)

   it("reads more records than the header counts, as in a file that is being written", function()
      for count = 0, 2 do
         local found = read(letters { count = count }:bytes())
         assert.same({ "a", "b", "c" }, found.values)
         assert.same({ { "dbf-stale-count", 4 } }, found.warnings)
      end
      local found = read(letters { count = 1 }:bytes(false) .. " d ")
      assert.same({ "a", "b", "c" }, found.values)
   end)

   it("accepts bytes after the end, 0x1A inside of records, and a missing end mark", function()
      local found = read(letters {}:bytes() .. (" "):rep(40))
      assert.same({ { "a", "b", "c" }, { { "dbf-trailing-bytes", 113 } } },
         { found.values, found.warnings })
      found = read(dbf { { "A", "C", 1 } }:row { "\26" }:row { "x" }:bytes(false))
      assert.same({ { "\26", "x" }, {} }, { found.values, found.warnings })
   end)

   it("warns of an unknown delete flag", function()
      local found = read(dbf { { "A", "C", 1 } }:row({ "a" }, "\0"):row { "b" }:bytes())
      assert.same({ { "a", "b" }, { { "dbf-delete-flag", 65 } } }, { found.values, found.warnings })
   end)

   it("accepts other ends of the descriptors", function()
      for _, terminator in ipairs { "\r\0", "\r" .. ("x"):rep(30), "\0", "\n", "" } do
         local found = read(letters { terminator = terminator }:bytes())
         assert.same({ "a", "b", "c" }, found.values)
         assert.same(terminator:sub(1, 1) == "\r" and {} or { { "dbf-no-terminator", 96 } },
            found.warnings)
      end
   end)

   it("reads a header that was rewritten without the 263 bytes that it still counts", function()
      local found = read(letters { version = 0x30, backlink = "", start = 97 + 263 }:bytes())
      assert.same({ { "a", "b", "c" }, { { "dbf-header-size", 8 } } },
         { found.values, found.warnings })
   end)

   it("corrects a record size of 0, or without the delete flag", function()
      for _, record in ipairs { 4, 0, 1 } do
         local found = read(letters { record = record }:bytes())
         assert.same({ { "a", "b", "c" }, { { "dbf-header-size", 8 } } },
            { found.values, found.warnings })
      end
   end)

   it("corrects a start of data inside the descriptors", function()
      for _, start in ipairs { 0, 31, 32, 33, 63 } do
         local found = read(letters { start = start }:bytes())
         assert.same({ { "a", "b", "c" }, { { "dbf-header-size", 8 } } },
            { found.values, found.warnings })
      end
      assert.is_true(says(read(letters { start = 64 }:bytes()), "dbf-record-size"))
      for _, start in ipairs { 64, 68, 80, 115 } do -- descriptors of dBASE 7 begin at 68
         local found = read(letters { version = 0x04, start = start }:bytes())
         assert.same({ { "a", "b", "c" }, { { "dbf-header-size", 8 } } },
            { found.values, found.warnings })
      end
   end)

   it("warns if the fields do not add up to the record", function()
      local long = dbf { record = 8, { "A", "C", 1 } }:row { "a      " }:row { "b      " }
      assert.same({ { "a", "b" }, { { "dbf-record-size", 10 } } },
         (function(found) return { found.values, found.warnings } end)(read(long:bytes())))
      local cut = dbf { version = 0x30, record = 6, { "A", "C", 3 }, { "I", "I", 4 },
         { "D", "D", 8 } }
      cut.rows = { " abcde", " fghij" }
      local trace <close> = assert(profio.open({ data = cut:bytes() }))
      assert.same({ { A = "abc", record = 1, deleted = false },
         { A = "fgh", record = 2, deleted = false } }, trace.data:rows())
      assert.equal("dbf-record-size", trace.warnings[1].code)
   end)

   it("renames fields whose names are duplicates, or those of other columns", function()
      local trace <close> = assert(profio.open({ data = dbf { { "A", "C", 1 }, { "A", "C", 1 },
         { "A_2", "C", 1 }, { "deleted", "C", 1 }, { "ABCDEFGHIJK", "C", 1 } }
         :row { "1", "2", "3", "4", "5" }:bytes() }))
      assert.same({ { A = "1", A_2 = "2", A_2_2 = "3", deleted_2 = "4",
         ABCDEFGHIJK = "5", record = 1, deleted = false } }, trace.data:rows())
      assert.equal(1, #trace.warnings)
      assert.equal(3, trace.warnings[1].count)
   end)

   it("reads 2038 fields", function()
      local described = {}
      for i = 1, 2038 do
         described[i] = { ("F%d"):format(i), "N", 1 }
      end
      local builder, row = dbf(described), {}
      for i = 1, 2038 do
         row[i] = i % 10
      end
      local trace <close> = assert(profio.open({ data = builder:row(row):bytes() }))
      assert.equal(2040, #trace.data.columns)
      local read_back = trace.data:rows()[1]
      for i = 1, 2038 do
         assert.equal(i % 10, read_back["F" .. i])
      end
   end)

   it("reads tables without fields or records", function()
      local found = assert(profio.open { data = dbf {}:bytes() })
      assert.same({}, found.data:rows())
      found = assert(profio.open { data = dbf { { "A", "C", 1 } }:bytes() })
      assert.same({}, found.data:rows())
      assert.same({}, found.warnings)
   end)

   it("refuses to open tables of different fields together", function()
      local one = dbf { { "A", "C", 3 } }:row { "x" }:bytes()
      local other = dbf { { "A", "N", 3 } }:row { 7 }:bytes()
      local trace <close> = assert(profio.open { { data = one }, { data = one } })
      assert.equal(2, trace.data:count())
      local both, message, code = profio.open { { data = one }, { data = other } }
      assert.is_nil(both)
      assert.equal("format", code)
      assert.matches("its tables differ", message)
   end)

   it("does not detect text as a table", function()
      for _, text in ipairs { "1,0,i,MAIN\r\n" .. ("1,5,o,MAIN\r\n"):rep(20), ("0"):rep(200),
         "2" .. ("\1"):rep(300) } do
         local trace <close> = profio.open { data = text }
         assert.is_true(not trace or trace.format ~= "dbf")
      end
   end)
end)

describe("dbf, memos:", function()
   local function table_of(version, numbers, size)
      local builder = dbf { version = version, mark = 3, { "M", "M", size } }
      for _, number in ipairs(numbers) do
         builder:row { size == 4 and string.pack("<I4", number & 0xffffffff) or number }
      end
      return builder:bytes()
   end

   it("reads all forms, by block numbers in bytes or in digits", function()
      local texts = { "one", ("x"):rep(1000), "caf\xe9" }
      local expected = { "one", ("x"):rep(1000), "café" }
      local blocks = { { 1, texts[1] }, { 1, texts[2] }, { 1, texts[3] } }
      for _, case in ipairs { { 0xf5, 10, dbf.fpt(blocks) }, { 0x30, 4, dbf.fpt(blocks, 512) },
         { 0x30, 4, dbf.fpt(blocks, 1) }, { 0x83, 10, dbf.dbt3(texts) },
         { 0x8b, 10, dbf.dbt4(texts) }, { 0x8b, 10, dbf.dbt4(texts, 1024) },
         { 0x03, 10, dbf.fpt(blocks) }, { 0x03, 10, dbf.dbt3(texts) },
         { 0x03, 4, dbf.dbt4(texts) } } do
         local version, size, memo, numbers = table.unpack(case)
         local found = read(table_of(version, numbers, size), {}, memo)
         assert.same({ expected, {} }, { found.values, found.warnings })
      end
   end)

   it("leaves binary memos unchanged", function()
      local memo, numbers = dbf.fpt { { 0, "\xe9" }, { 2, "\xe9" }, { 1, "\xe9\0" }, { 1, "\xe9" } }
      local found = read(table_of(0x30, numbers, 4), {}, memo)
      assert.same({ "\xe9", "\xe9", "\xe9\0", "é" }, found.values)
      local raw = dbf { version = 0x30, mark = 3, { "M", "M", 4, 0, 4 } }
         :row { string.pack("<I4", numbers[4]) }:bytes()
      assert.same({ "\xe9" }, read(raw, {}, memo).values)
   end)

   it("reads block number 0, blanks or NULs as no memo", function()
      assert.same({ { false, false, false }, {} }, (function(found)
         return { found.values, found.warnings }
      end)(read(table_of(0xf5, { 0, "", ("\0"):rep(10) }, 10), {}, (dbf.fpt { { 1, "a" } }))))
   end)

   it("warns of block numbers outside the file", function()
      local memo = dbf.fpt { { 1, "one" } }
      local found = read(table_of(0x30, { 8, 7, 1, 9, -1, 0x7fffffff }, 4), {}, memo)
      assert.same({ "one", false, false, false, false, false }, found.values)
      assert.equal(5, #found.warnings)
      assert.equal("dbf-memo-block", found.warnings[1][1])
      found = read(table_of(0xf5, { "x", "-1", "1.5", "9999999999" }, 10), {}, memo)
      assert.same({ false, false, false, false }, found.values)
   end)

   it("warns of lengths beyond the end of the file, at each cut of it", function()
      local memo, numbers = dbf.fpt { { 1, "one" } }
      local bytes = table_of(0x30, numbers, 4)
      for size = 0, 522 do
         local found = read(bytes, {}, memo:sub(1, size))
         assert.same({ false }, found.values)
         assert.is_true(#found.warnings > 0)
      end
      assert.same({ "one" }, read(bytes, {}, memo:sub(1, 523)).values)
      local huge = memo:sub(1, 516) .. "\xff\xff\xff\xff" .. memo:sub(521)
      assert.same({ false }, read(bytes, {}, huge).values)
   end)

   it("warns once if there is no memo file", function()
      local found = read(table_of(0x30, { 8, 9, 10 }, 4))
      assert.same({ { false, false, false }, { { "dbf-no-memo", 32 } } },
         { found.values, found.warnings })
   end)

   it("reads large memos of other code pages completely, in small batches", function()
      local memo, numbers = dbf.fpt { { 1, ("\xe9"):rep(300000) } }
      local many = {}
      for i = 1, 100 do
         many[i] = numbers[1]
      end
      local found = read(table_of(0x30, many, 4), {}, memo)
      assert.equal(100, #found.values)
      for _, value in ipairs(found.values) do
         assert.is_true(value == ("é"):rep(300000))
      end
   end)
end)
