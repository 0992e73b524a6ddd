-- Tables that other programs wrote, read from the folder of the corpus: each value must be equal to
-- that of dbfread (Debian: python3-dbfread), except where dbfread is known to be wrong.
--
-- Long: many commands or rows, or programs that are compiled.

local profio = require "profio"

local corpus = "../shared/corpus/dbf/"
local manifest = io.open(corpus .. "MANIFEST.md")
local has_dbfread = os.execute("/usr/bin/python3 -c 'import dbfread' 2>/dev/null")

local function lines_of(command)
   local lines = {}
   local pipe <close> = assert(io.popen(command))
   for line in pipe:lines() do
      lines[#lines + 1] = line
   end
   return lines
end

local function hex(text)
   return (text:gsub(".", function(c)
      return ("%02x"):format(c:byte())
   end))
end

-- Returns a value in the form of dbf_values.py.
local function shown(value, type)
   if value == nil then
      return "-"
   elseif type == "bool" then
      return "b " .. tostring(value)
   elseif type == "int" then
      return "i " .. value
   elseif type == "num" then
      return ("n %.17g"):format(value)
   end
   return "t " .. hex(value)
end

-- Returns all values of the trace with their positions: { { shown, record, name, letter }, ... }
local function values_of(trace)
   local fields, list = {}, {}
   for name, type, column in trace.structure:each("name", "type", "column") do
      if type ~= "0" then -- null flags are not a column
         fields[#fields + 1] = { name = name, letter = type, column = column }
      end
   end
   for r in trace.data:records() do
      for _, field in ipairs(fields) do
         local text = shown(r[field.name], field.column)
         if field.letter == "Y" and r[field.name] then
            text = "y " .. r[field.name .. "_exact"]
         end
         list[#list + 1] = { text, r.record, field.name, field.letter }
      end
   end
   return list
end

-- Fields of tables in which values may differ from those of dbfread, each with the reason why ours
-- are right. In all other fields, only two differences are allowed: a float instead of an integer,
-- and a value that dbfread cannot read.
local known = {
   ["dbase_32.dbf NAME"] = "varchar: dbfread shows its length byte and the blanks before it",
   ["dbase_8b.dbf MEMO"] = "the size of a memo counts its 8 bytes of header, dbfread's does not",
   ["dBaseIV.dbf BIO"] = "the same",
   ["dBaseIV.dbf IMAGE"] = "the same, and dbfread ends at a byte 0x1F and converts a picture",
   ["dBaseIII.dbf IMAGE"] = "a picture is no text: it is not converted",
   ["Foxpro2.dbf IMAGE"] = "a picture is no text: it is not converted",
   ["FOXPRO-DB-TEST.DBC PROPERTY"] = "dbfread does not find the memo file of a container",
   ["FOXPRO-DB-TEST.DBC CODE"] = "the same",
   ["FOXPRO-DB-TEST.DBC USER"] = "the same",
   ["issue115.dbf MASINA"] = "dbfread does not look at null flags",
   ["mazovia.dbf A1"] = "dbfread leaves out records whose delete flag is 0x00",
   ["mazovia.dbf A2"] = "the same",
}

local function is_excused(want, got, place, codes)
   if want:match "^i" and got:match "^n" then
      return tonumber(want:sub(3)) == tonumber(got:sub(3)) -- a field with decimals is a number
   elseif want:match "^!" then
      return got == "-" and codes["dbf-bad-value"] -- it raises, we warn
   end
   return known[place] ~= nil
end

-- Tables whose headers or types dbfread does not know. Specs below check them.
local unknown = { ["dbase_02.dbf"] = true, ["dbase_8c.dbf"] = true, ["dBaseVII.dbf"] = true,
   ["dBaseVII_double.dbf"] = true, ["dBaseVII_int.dbf"] = true, ["dBaseVII_ts.dbf"] = true,
   ["vfp.dbf"] = true }

local function tables()
   return manifest and lines_of("find " .. corpus ..
      " -iname '*.dbf' -o -iname '*.dbc' | LC_ALL=C sort") or {}
end

local no_python_name = { raw = "latin-1", MAZOVIA = "latin-1" }

-- Returns the values of a table as read by dbfread, without null flags, which are not a column.
local function wanted(path, trace)
   local name = trace.info.code_page
   local lines = lines_of(("/usr/bin/python3 spec/support/dbf_values.py '%s' %s"):format(path,
      no_python_name[name] or name))
   local letters, list = {}, {}
   for letter in trace.structure:each "type" do
      letters[#letters + 1] = letter
   end
   for i, line in ipairs(lines) do
      if letters[(i - 1) % #letters + 1] ~= "0" then
         list[#list + 1] = line
      end
   end
   return list
end

local describe_corpus = manifest and has_dbfread and describe or pending

describe_corpus("dbf, the corpus beside dbfread", function()
   it("is there", function()
      assert.is_true(#tables() > 30)
   end)

   for _, path in ipairs(tables()) do
      local file = path:match "[^/]*$"
      it("reads " .. path:sub(#corpus + 1), function()
         local trace <close> = assert(profio.open(path))
         local got, codes, differ = values_of(trace), {}, {}
         for _, warning in ipairs(trace.warnings) do
            codes[warning.code] = true
         end
         if unknown[file] then
            return
         end
         local want = wanted(path, trace)
         assert.equal(file == "mazovia.dbf" and 0 or #got, #want)
         for i, found in ipairs(got) do
            local expected, place = want[i] or "nothing", file .. " " .. found[3]
            if expected ~= found[1] and not is_excused(expected, found[1], place, codes) then
               differ[#differ + 1] = { found[3], found[2], expected, found[1] }
            end
         end
         assert.same({}, differ)
      end)
   end
end)

-- Returns the values of some columns, one list for each record.
local function rows(file, ...)
   local path
   for _, candidate in ipairs(tables()) do
      path = candidate:match "[^/]*$" == file and candidate or path
   end
   local trace <close> = assert(profio.open(path, { deleted = "show" }))
   local list = {}
   local names = { ... }
   for r in trace.data:records() do
      local row = {}
      for i, name in ipairs(names) do
         row[i] = r[name] == nil and "none" or r[name]
      end
      list[#list + 1] = row
   end
   return list
end

local describe_others = manifest and describe or pending

-- Tables that FoxPro cannot have: one without fields, one with names of several words.
local not_written = { ["polygon.dbf"] = true, ["dbase_8c.dbf"] = true }

describe_others("dbf, the corpus saved and read again", function()
   for _, path in ipairs(tables()) do
      local file = path:match "[^/]*$"
      it("keeps the values of " .. file, function()
         local trace <close> = assert(profio.open(path, { deleted = "show" }))
         local bytes, sides = trace:save(nil)
         if not_written[file] then
            assert.is_nil(bytes)
            return
         end
         local again <close> = assert(profio.open({ data = bytes, memo = sides.memo },
            { deleted = "show" }))
         assert.same({}, again.warnings)
         assert.same(trace.data:rows(), again.data:rows())
      end)
   end
end)

-- The expected values were taken from dumps of the bytes.
describe_others("dbf, the corpus beside dumps of its bytes", function()
   it("reads dBASE 7", function()
      assert.same({ { 1 }, { -1 }, { 5000000 }, { -5000000 }, { 2147483647 }, { -2147483647 } },
         rows("dBaseVII_int.dbf", "INT"))
      assert.same({ { -199.99 }, { -74.62 }, { 43.65 }, { 150.48 }, { 0.0 } },
         rows("dBaseVII_double.dbf", "double"))
      local times = {}
      for i, row in ipairs(rows("dBaseVII_ts.dbf", "TS")) do
         times[i] = row[1]:match "^(.*)T00:00:00$"
      end
      assert.same({ "1601-01-01", "1601-01-02", "1601-01-03", "1970-01-01", "1970-01-02",
         "1970-01-03", "1900-01-01", "1900-01-02", "1900-01-03", "2000-01-01", "2000-01-02",
         "2000-01-03", "2000-01-04", "2000-01-05", "2000-01-10" }, times)
      local heroes = rows("dBaseVII.dbf", "NAME", "BIRTHDAY", "IS_MAN", "MONEY", "AUTO_INC",
         "INTEGER", "LARGE_INT")
      assert.same({ { "Groot", "1960-11-01", false, 12.1235, 0, 1, 4 },
         { "Rocket Raccoon", "1976-06-01", false, 325.32, 1, 2, 5 },
         { "Star-Lord", "1976-01-01", true, 0.0, 2, 3, 6 } }, heroes)
      assert.same({ { 1, "Clown Triggerfish", "Ballistoides conspicillum", 100.0 },
         { 2, "Giant Maori Wrasse", "Cheilinus undulatus", 228.0 } },
         table.move(rows("dbase_8c.dbf", "ID", "Name", "Species", "Length CM"), 1, 2, 1, {}))
   end)

   -- The pictures that the memos contain are files beside the tables.
   it("reads pictures in memos", function()
      local pictures = {}
      for i, name in ipairs { "groot.jpeg", "rocket_raccoon.png", "star_lord.png" } do
         local file <close> = assert(io.open(corpus .. "luads+php-xbase/tests/Resources/img/"
            .. name, "rb"))
         pictures[i] = file:read "a"
      end
      for _, file in ipairs { "dBaseIV.dbf", "Foxpro2.dbf", "vfp.dbf" } do
         for i, row in ipairs(rows(file, "IMAGE")) do
            assert.is_true(pictures[i] == row[1])
         end
      end
   end)

   it("reads FoxBASE", function()
      local people = rows("dbase_02.dbf", "EMP:NMBR", "LAST", "ADDR", "SSN", "PAYRATE", "START:PAY")
      assert.equal(9, #people)
      assert.same({ 2, "Stegman", "4421 W 166th ST", "257-89-9632", 6.0, 6.0 }, people[1])
   end)

   it("reads Visual FoxPro's types", function()
      assert.same({
         { "Groot", 1.2, "1.2000", "1800-01-01T01:01:01", 2.3, 0, 1, "qwe", "\xab\xcd\xef", "qwe" },
         { "Rocket Raccoon", 1.23, "1.2300", "1970-01-01T00:00:00", 4.56, 1, 2, "asd", "\x124",
            "asd" },
         { "Star-Lord", 15.16, "15.1600", "2020-02-20T20:20:20", 987.654, 2, 3, "zxc",
            "\xfa\xce\x8d", "" },
      }, rows("vfp.dbf", "NAME", "CURRENCY", "CURRENCY_exact", "DATETIME", "DOUBLE", "INTEGER",
         "AI", "VARCHAR", "VARBINARY", "VARCHAR_BI"))
   end)
end)
