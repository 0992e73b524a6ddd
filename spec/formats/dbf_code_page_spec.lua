-- Where the code page of a table comes from, and records of another size than stated.

local command = require "spec.support.command"
local profio = require "profio"

-- A table of one field NAME C(width) with some values.
local function dbf(values, given)
   given = given or {}
   local width = given.width or 8
   local list = {}
   for i, value in ipairs(values) do
      list[i] = " " .. value .. (" "):rep(width - #value)
   end
   return ("<BBBBI4I2I2"):pack(3, 24, 1, 1, #values, 65, given.record or width + 1)
      .. ("\0"):rep(17) .. string.char(given.mark or 0) .. "\0\0"
      .. "NAME" .. ("\0"):rep(7) .. "C" .. ("\0"):rep(4) .. string.char(width) .. ("\0"):rep(15)
      .. "\r" .. table.concat(list) .. "\26"
end

local function values_of(what, options)
   local trace <close> = assert(profio.open(what, options))
   local list, codes = {}, {}
   for i, row in ipairs(trace.data:rows "NAME") do
      list[i] = row.NAME
   end
   for i, warning in ipairs(trace.warnings) do
      codes[i] = warning.code
   end
   return list, codes, trace.info
end

describe("a .cpg file", function()
   it("states the code page in each of its spellings", function()
      local cases = {
         { "ä", "\xe4", "1252", "ANSI 1252", "CP1252", "windows-1252\r\n", "ISO 88591",
            "ISO 8859-1", "ISO-8859-1", "88591", "28591", "LDID/87", "\xef\xbb\xbf1252" },
         { "ä", "ä", "UTF-8", "utf8", "65001", "UTF-8\n" },
         { "Ж", "\x86", "OEM 866", "CP866", "866" },
         { "Ж", "\xc6", "CP1251", "ANSI 1251", "LDID/201" },
         { "ž", "\xbe", "ISO 8859-2", "ISO 88592", "iso8859_2" },
      }
      for _, case in ipairs(cases) do
         for i = 3, #case do
            local list, codes = values_of { data = dbf({ case[2] }, { mark = 1 }), cpg = case[i] }
            assert.same({ case[1] }, list, case[i])
            assert.same({}, codes)
         end
      end
   end)

   it("is found beside the table, in letters of any case, and outranks the mark", function()
      local path = command.file("cpg.dbf", dbf({ "\x84" }, { mark = 0x03 }))
      assert.same({ "„" }, (values_of(path)))
      for _, name in ipairs { "cpg.cpg", "CPG.CPG", "cpg.Cpg" } do
         local beside = command.file(name, "850")
         assert.same({ "ä" }, (values_of(path)))
         assert.same({ "„" }, (values_of(path, { code_page = "CP1252" })))
         os.remove(beside)
      end
   end)

   it("that states nothing known is a note, and the mark counts", function()
      for _, text in ipairs { "", "nonsense", "LDID/1000", "99999", ("1"):rep(1000), "\0\255" } do
         local list, codes = values_of { data = dbf({ "\x84" }, { mark = 2 }), cpg = text }
         assert.same({ "ä" }, list, text)
         assert.same({ "dbf-cpg" }, codes, text)
      end
   end)
end)

describe("saving a table", function()
   it("keeps the code page that was given, or that a .cpg file states", function()
      local bytes = dbf({ "\x84" })
      for _, case in ipairs { { { data = bytes }, { code_page = "CP850" } },
         { { data = bytes, cpg = "850" } } } do
         local trace <close> = assert(profio.open(case[1], case[2]))
         local path = command.folder .. "/kept.dbf"
         assert(trace:save(path))
         local list, _, info = values_of(path)
         assert.same({ "ä" }, list)
         assert.equal("CP850", info.code_page)
      end
   end)

   it("keeps the text of a code page that no table can state", function()
      local trace <close> = assert(profio.open { data = dbf { "ä" }, cpg = "UTF-8" })
      local path = command.folder .. "/utf8.dbf"
      assert(trace:save(path))
      assert.same({ "ä" }, (values_of(path)))
   end)
end)

describe("a record length that disagrees with the fields", function()
   it("gives way to that of the fields where the file's size says so", function()
      local rows = { "a", "b", "c", "d" }
      for _, record in ipairs { 8, 10, 3, 900 } do
         local list, codes = values_of { data = dbf(rows, { record = record }) }
         assert.same(rows, list, record)
         assert.same({ "dbf-header-size" }, codes, record)
      end
      -- blanks are delete flags too: only the size tells
      local blank = { "", "", "", "" }
      local list = values_of { data = dbf(blank, { record = 8 }) }
      assert.equal(4, #list)
      local same, codes = values_of { data = dbf(rows) }
      assert.same(rows, same)
      assert.same({}, codes)
   end)

   it("counts where its records fit the file", function()
      local body = (" " .. "abcdefgh" .. "x"):rep(3)
      local bytes = dbf({}, { record = 10 }):sub(1, 4) .. ("<I4"):pack(3)
         .. dbf({}, { record = 10 }):sub(9, 65) .. body .. "\26"
      assert.same({ "abcdefgh", "abcdefgh", "abcdefgh" }, (values_of { data = bytes }))
   end)
end)
