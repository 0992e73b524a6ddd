-- The sources of a table's code page, and records of another size than stated.
--
-- Tags: stressed.

local command = require "spec.support.command"
local dbf_format = require "profio.formats.dbf"
local disk = require "spec.support.disk"
local profio = require "profio"

-- Returns a table of one field NAME C(width) with some values.
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
   it("that is too large to be one is read only at its beginning", function()
      local path = command.file("large.dbf", dbf({ "\x84" }, { mark = 2 }))
      local role = dbf_format.cpg_role
      local converted, size = role.converted, nil
      role.converted = function(text)
         size = #text
         return converted(text)
      end
      local file <close> = assert(io.open(command.file("large.cpg", "850"), "r+b"))
      assert(file:seek("set", (1 << 26) - 1) and file:write "\xff" and file:flush())
      local fine, list, codes = pcall(values_of, path)
      role.converted = converted
      assert.same({ true, { "ä" }, {}, 1 << 24 }, { fine, list, codes, size })
   end)

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

   it("is found beside the table, whatever the case of its name, and overrides the mark", function()
      local path = command.file("cpg.dbf", dbf({ "\x84" }, { mark = 0x03 }))
      assert.same({ "„" }, (values_of(path)))
      for _, name in ipairs { "cpg.cpg", "CPG.CPG", "cpg.Cpg" } do
         local beside = command.file(name, "850")
         assert.same({ "ä" }, (values_of(path)))
         assert.same({ "„" }, (values_of(path, { code_page = "CP1252" })))
         os.remove(beside)
      end
   end)

   it("with an unknown code page is ignored with a note", function()
      for _, text in ipairs { "", "nonsense", "LDID/1000", "99999", ("1"):rep(1000), "\0\255" } do
         local list, codes = values_of { data = dbf({ "\x84" }, { mark = 2 }), cpg = text }
         assert.same({ "ä" }, list, text)
         assert.same({ "dbf-cpg" }, codes, text)
      end
   end)
end)

describe("a code page whose characters may be combined", function()
   -- The marks and letters that the standards give for each byte from 0xC0 on; nil: unassigned.
   local hebrew = {}
   for byte = 0xe0, 0xfa do
      hebrew[byte] = utf8.char(0x5d0 + byte - 0xe0)
   end
   for i = 0, 4 do
      hebrew[0xd4 + i] = utf8.char(0x5f0 + i)
   end
   for i = 0, 9 do
      hebrew[0xc0 + i] = utf8.char(0x5b0 + i)
   end
   local vietnamese = { [0xcc] = "\u{300}", [0xd2] = "\u{309}", [0xde] = "\u{303}",
      [0xec] = "\u{301}", [0xf2] = "\u{323}", [0xc3] = "Ă", [0xd5] = "Ơ", [0xf0] = "đ",
      [0xfd] = "ư", [0xe2] = "â" }

   it("is converted byte by byte, in both directions", function()
      for page, characters in pairs { CP1255 = hebrew, CP1258 = vietnamese } do
         local bytes, texts = {}, {}
         for byte, text in pairs(characters) do
            bytes[#bytes + 1] = string.char(byte)
            texts[#texts + 1] = text
            bytes[#bytes + 1] = "A" .. string.char(byte) .. "e"
            texts[#texts + 1] = "A" .. text .. "e"
         end
         assert.same(texts, (values_of({ data = dbf(bytes) }, { code_page = page })))
         assert.same(texts, (values_of { data = dbf(bytes), cpg = page:sub(3) }))
         local path = command.folder .. "/combined.dbf"
         local w = assert(profio.create(path, { format = "dbf", fields = "NAME C(8)",
            code_page = page }))
         for i, text in ipairs(texts) do
            assert(w:write { NAME = text }, i)
         end
         assert(w:close())
         local written = command.read(path)
         local first = ("<I2"):unpack(written, 9)
         for i, text in ipairs(bytes) do
            assert.equal(text, written:sub(first + 9 * i - 7, first + 9 * i):match "^%S+")
         end
      end
   end)

   it("is found by the mark 7D", function()
      local list, codes = values_of { data = dbf({ "\xf9\xec\xe5\xed" }, { mark = 0x7d }) }
      assert.same({ "שלום" }, list)
      assert.same({}, codes)
   end)

   it("keeps a last character that could be combined with another one", function()
      for page, case in pairs { ["BIG5-HKSCS"] = { "aÊ", "a\x88\x66" },
         ["EUC-JISX0213"] = { "か", "\xa4\xab" } } do
         local path = command.folder .. "/last.dbf"
         local w = assert(profio.create(path, { format = "dbf", fields = "NAME C(8)",
            code_page = page }))
         assert(w:write { NAME = case[1] })
         assert(w:close())
         local written = command.read(path)
         assert.equal(case[2], written:sub(("<I2"):unpack(written, 9) + 2):match "^%S+", page)
         assert.same({ case[1] }, (values_of(path)), page)
      end
   end)
end)

describe("a code page in which ASCII is something else", function()
   it("is refused", function()
      for _, page in ipairs { "JOHAB", "DIN_66003", "UTF-7", "ISO-2022-JP", "VISCII" } do
         local trace, message, code = profio.open({ data = dbf { "A" } }, { code_page = page })
         assert.same({ nil, "unsupported" }, { trace, code }, page)
         assert.matches("knows no code page " .. page .. " with ASCII", message, 1, true)
         local list, codes = values_of { data = dbf({ "\x84" }, { mark = 2 }), cpg = page }
         assert.same({ { "ä" }, { "dbf-cpg" } }, { list, codes })
      end
   end)

   it("is CP932 if it is Shift_JIS by name", function()
      for _, page in ipairs { "SHIFT_JIS", "Shift-JIS", "sjis", "MS_KANJI" } do
         local list, _, info = values_of({ data = dbf { "C:\\A~", "\x83\x65\\" } },
            { code_page = page })
         assert.same({ "C:\\A~", "テ\\" }, list)
         assert.equal("CP932", info.code_page)
      end
   end)
end)

describe("saving a table", function()
   it("keeps the code page of the option or of the .cpg file", function()
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

   -- Each value as bytes, and as UTF-8.
   local unmarked = {
      ["UTF-8"] = { "ä", "ä" },
      ["ISO-8859-2"] = { "\xbe", "ž" },
      ["ISO-8859-15"] = { "\xa4", "€" },
      ["KOI8-R"] = { "\xf6", "Ж" },
      ["EUC-JP"] = { "\xa5\xb9", "ス" },
   }

   it("writes a .cpg file for a code page without a mark", function()
      for page, case in pairs(unmarked) do
         local trace <close> = assert(profio.open({ data = dbf { case[1] } }, { code_page = page }))
         for _, name in ipairs { "unmarked.dbf", "unmarked.sub/name.x.DBF", "unmarked" } do
            disk.folder(command.folder .. "/unmarked.sub")
            local path = command.folder .. "/" .. name
            local beside = path:gsub("%.[dD][bB][fF]$", "") .. ".cpg"
            assert(trace:save(path))
            assert.equal(page, command.read(beside))
            local bytes = command.read(path)
            assert.equal("\0", bytes:sub(30, 30))
            assert.truthy(bytes:find(" " .. case[1] .. " ", 1, true))
            local list, codes, info = values_of(path, { format = "dbf" })
            assert.same({ case[2] }, list)
            assert.same({}, codes)
            assert.equal(page, info.code_page)
            os.remove(beside)
            os.remove(path)
         end
      end
   end)

   it("writes the .cpg file together with the memo file, and for a new table", function()
      local path = command.folder .. "/memos.dbf"
      local writer = assert(profio.create(path, { format = "dbf", fields = "NAME C(8), NOTE M",
         code_page = "ISO-8859-2" }))
      writer:write { NAME = "ž", NOTE = "šž" }
      assert(writer:close())
      local trace <close> = assert(profio.open(path))
      local row = trace.data:rows()[1]
      assert.same({ "ž", "šž" }, { row.NAME, row.NOTE })
      assert.truthy(command.read(command.folder .. "/memos.fpt"):find("\xb9\xbe", 1, true))
   end)

   it("replaces or removes the .cpg file of an older table", function()
      local function files()
         local list = {}
         for name in require "lfs".dir(command.folder .. "/older") do
            list[#list + 1] = name:find "^%." == nil and name or nil
         end
         table.sort(list)
         return list
      end
      os.execute(("rm -rf %s/older; mkdir %s/older"):format(command.folder, command.folder))
      local path = command.folder .. "/older/t.dbf"
      local marked <close> = assert(profio.open { data = dbf({ "\x84" }, { mark = 2 }) })
      local utf8 <close> = assert(profio.open { data = dbf { "ä" }, cpg = "UTF-8" })
      command.file("older/T.Cpg", "1251")
      command.file("older/t.cpg", "1250")
      assert(utf8:save(path))
      assert.same({ "t.cpg", "t.dbf" }, files())
      assert.same({ "ä" }, (values_of(path)))
      command.file("older/T.CPG", "1251")
      assert(marked:save(path))
      assert.same({ "t.dbf" }, files())
      assert.same({ "ä" }, (values_of(path)))
      command.file("older/T.cpg", "UTF-8")
      command.file("older/T.dbf", dbf { "ä" })
      assert(marked:save(path)) -- leaves the file of the other table
      assert.same({ "T.cpg", "T.dbf", "t.dbf" }, files())
      command.file("older/t.cpg", "1251")
      local bytes = command.read(path)
      assert.is_nil((marked:save(path, { fields = "NAME C(0)" })))
      local writer = assert(profio.create(path, { format = "dbf", fields = "NAME C(8)" }))
      assert.is_false((pcall(writer.write, writer, { NAME = "Ж" })))
      writer.sink:close()
      assert.equal("1251", command.read(command.folder .. "/older/t.cpg"))
      assert.equal(bytes, command.read(path))
   end)

   it("keeps UTF-8 if no file can be written beside the table", function()
      local trace <close> = assert(profio.open({ data = dbf { "\xbe" } },
         { code_page = "ISO-8859-2" }))
      local bytes, sides = trace:save()
      assert.same({}, sides)
      assert.truthy(bytes:find(" ž", 1, true))
      command.file("page.dbf", dbf { "\xbe" })
      command.file("page.cpg", "ISO-8859-2")
      assert.truthy(command.run("profio --merge page.dbf | cat"):find(" ž", 1, true))
      os.remove(command.folder .. "/page.cpg")
   end)

   it("refuses a code page without a mark where no .cpg file can be written", function()
      local given = { format = "dbf", fields = "NAME C(8)", code_page = "ISO-8859-2" }
      for _, case in ipairs { { nil, nil }, { "-", nil }, { command.folder .. "/ring.dbf", {} } } do
         given.ring = case[2]
         local writer, message, code = profio.create(case[1], given)
         assert.is_nil(writer)
         assert.truthy(message:find("only a .cpg file can state code page ISO-8859-2", 1,
            true))
         assert.equal("unsupported", code)
      end
   end)

   it("keeps an old .cpg file that a table of another extension reads too", function()
      disk.folder(command.folder .. "/shared")
      local path = command.file("shared/t.dbf", dbf { "\xe4" })
      command.file("shared/t.cpg", "1251")
      local prf, scx = command.folder .. "/shared/t.prf", command.folder .. "/shared/T.SCX"
      local function kept()
         assert.equal("1251", command.read(command.folder .. "/shared/t.cpg"))
         local trace <close> = assert(profio.open(path))
         assert.equal("\u{434}", trace.data:rows()[1].NAME)
         assert.is_nil((io.open(prf)))
      end
      local source <close> = assert(profio.open { data = dbf({ "\x84" }, { mark = 2 }) })
      for _, to in ipairs { prf, command.folder .. "/shared/t.scx" } do
         local done, message, code = source:save(to)
         assert.same({ nil, "unsupported" }, { done, code })
         assert.truthy(message:find("states the code page of " .. path, 1, true), message)
         kept()
      end
      local entries <close> = assert(profio.open { data =
         "TID,TIME,OP,MSG,LINE,PARAMS\n1,0,I,M,1,\n" })
      local done, message = entries:save(prf, { form = "foxdbe" })
      assert.is_nil(done)
      assert.truthy(message:find("states the code page of " .. path, 1, true), message)
      kept()
      os.remove(command.folder .. "/shared/t.cpg")
      local _, said = entries:save(prf, { form = "foxdbe", code_page = "UTF-8" })
      assert.matches("only a .cpg file can state code page UTF%-8", said)
      assert.is_nil((io.open(command.folder .. "/shared/t.cpg")))
      assert(source:save(scx)) -- a name with other letters has a .cpg file of its own
   end)

   it("through a ring removes the .cpg file of an older table at the start", function()
      local path = command.folder .. "/ring.dbf"
      command.file("ring.cpg", "1251")
      local writer = assert(profio.create(path, { format = "dbf", fields = "NAME C(8)",
         code_page = "CP850", ring = {} }))
      assert.is_nil((io.open(command.folder .. "/ring.cpg")))
      writer:write { NAME = "ä" }
      assert(writer:close())
      assert.same({ "ä" }, (values_of(path)))
   end)
end)

describe("a record length that disagrees with the fields", function()
   it("is replaced by that of the fields if the size of the file fits the fields", function()
      local rows = { "a", "b", "c", "d" }
      for _, record in ipairs { 8, 10, 3, 900 } do
         local list, codes = values_of { data = dbf(rows, { record = record }) }
         assert.same(rows, list, record)
         assert.same({ "dbf-header-size" }, codes, record)
      end
      -- blanks are delete flags too: only the size of the file shows the record length
      local blank = { "", "", "", "" }
      local list = values_of { data = dbf(blank, { record = 8 }) }
      assert.equal(4, #list)
      local same, codes = values_of { data = dbf(rows) }
      assert.same(rows, same)
      assert.same({}, codes)
   end)

   it("is used if its records fit the size of the file", function()
      local body = (" " .. "abcdefgh" .. "x"):rep(3)
      local bytes = dbf({}, { record = 10 }):sub(1, 4) .. ("<I4"):pack(3)
         .. dbf({}, { record = 10 }):sub(9, 65) .. body .. "\26"
      assert.same({ "abcdefgh", "abcdefgh", "abcdefgh" }, (values_of { data = bytes }))
   end)
end)
