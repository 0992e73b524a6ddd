-- profio anonymise, and trace:anonymise: aliases of names in the files of each format.
--
-- Tags: user.

local anonymised = require "spec.support.anonymised"
local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local dcpi = require "spec.support.dcpi_builder"
local gmon = require "spec.support.gmon_builder"
local lfs = require "lfs"
local profio = require "profio"
local records = require "spec.support.winidea"
local xpp = require "spec.support.xpp_builder"

-- Returns the bytes of the anonymised form, the files beside it, and the codes of the notes.
local function form_of(data, format)
   local trace <close> = assert(profio.open(type(data) == "string" and { data = data } or data,
      { format = format }))
   local bytes, sides = assert(trace:anonymise())
   local codes = {}
   for _, warning in ipairs(trace.warnings) do
      codes[#codes + 1] = warning.code
   end
   return bytes, sides, table.concat(codes, " ")
end

-- Checks what holds for every format.
local function check(data, format, given)
   local wrong, bytes, sides = anonymised.wrong(data, format, given)
   assert.is_nil(wrong)
   return assert(bytes, sides), sides
end

-- Returns the files of a folder and those below it; none if it is absent.
local function files_below(folder, list)
   list = list or {}
   for name in lfs.dir(folder) do
      local path = folder .. "/" .. name
      local mode = lfs.attributes(path, "mode")
      if name:sub(1, 1) ~= "." and mode == "directory" then
         files_below(path, list)
      elseif mode == "file" and lfs.attributes(path, "size") < 100000 then
         list[#list + 1] = path
      end
   end
   table.sort(list)
   return list
end


describe("an anonymised trace of br", function()
   local bytes = br():module(1, "C:\\Customer\\MENU.BR"):module(2, "C:\\Customer\\TAX.BR")
      :line(1, 100):time(1500):stop():line(2, 1230, 2):fn("FNTAX"):time(20)
      :back(1, 400):main():stop():bytes()

   it("has aliases in the bytes of the names, and all else as it was", function()
      assert.equal(br():module(1, "C:\\p1______\\m1_____"):module(2, "C:\\p1______\\m2____")
         :line(1, 100):time(1500):stop():line(2, 1230, 2):fn("f1___"):time(20)
         :back(1, 400):main():stop():bytes(), (form_of(bytes, "br")))
      check(bytes, "br", { secrets = { "Customer", "MENU", "TAX" } })
   end)

   it("ends at an unknown type, with a note, and shows the same damage", function()
      local made, _, codes = form_of(bytes .. "\2\0\5SECRET", "br")
      assert.equal(form_of(bytes, "br") .. "\2", made)
      assert.equal("br-bad-type anonymised-dropped", codes)
      local _, _, again = form_of(made, "br")
      assert.equal("br-bad-type", again)
   end)

   it("has what is left of a record that is cut, without its name", function()
      for size = 1, #bytes do
         check(bytes:sub(1, size), "br", { secrets = { "Cust", "MENU", "TAX" } })
      end
   end)

   it("keeps the line of profio's recorder, and no other one", function()
      local own = "profio.recorder: mode sampled, clock cpu, interval 1000000 ns"
      for _, name in ipairs { own, own .. " of Secret" } do
         local made = form_of(br():module(0, name):module(1, "a.lua"):line(1, 2):stop():bytes(),
            "br")
         assert.equal(name == own, made:find(own, 1, true) ~= nil)
      end
   end)
end)

describe("an anonymised trace of Xbase++", function()
   local rows = { { 1, 0, "i", "Main", 1, 'Login("Miller", 42)' }, { 1, 1, "i", "GetUser", 2 },
      { 1, 2, "o", "GETUSER", 3 }, { 1, 3, "i", "X", 3 }, { 1, 3, "o", "X", 3 },
      { 1, 9, "o", "Main", 4 } }

   it("has aliases that differ by case where names do, and hidden parameters", function()
      local prf, prv = xpp.table(rows)
      local made, sides = check(prf, "xpp", { sides = { memo = prv },
         secrets = { "Main", "User", "USER", "Miller", "Login", "42" } })
      local trace <close> = assert(profio.open { data = made, memo = sides.memo })
      local calls = {}
      for call, params in trace.entries:each("call", "params") do
         calls[#calls + 1] = call .. (params and " " .. params or "")
      end
      assert.same({ 'f1xx xxxxx("xxxxxx", 00)', "f2xxxxx", "F2xxxxx", "a", "a", "f1xx" }, calls)
      assert.equal(#prf, #made)
      assert.equal(#prv, #sides.memo)
   end)

   it("is a text with the same quotes and separators", function()
      assert.equal('1,0,"i","f1xx",1,"xxxxx(""xxxxxx"", 00)"\r\n', (form_of(xpp.text(rows), "xpp")
         :match "^[^\n]*\n"))
      check(xpp.text(rows, { names = { "TID", "TIME", "OP", "MSG", "LINE", "PARAMS" } }), "xpp",
         { secrets = { "Main", "User", "USER", "Miller", "Login" } })
   end)

   it("has aliases for fields of the user, and no values of them", function()
      local fields = table.move(xpp.fields, 1, 5, 1, {})
      fields[6], fields[7] = { "CUSTOMER", "C", 10 }, { "AMOUNT", "N", 6 }
      local prf = xpp.table({ { 1, 0, "i", "Main", 1, "Miller", 999 } }, { fields = fields })
      local made = form_of(prf, "xpp")
      assert.equal(#prf, #made)
      for _, secret in ipairs { "CUSTOMER", "AMOUNT", "Miller", "999", "Main" } do
         assert.is_nil(made:find(secret, 1, true), secret)
      end
   end)

   it("has its packets and its settings beside it", function()
      command.run "rm -rf secret.PR* out.*"
      for _, packet in ipairs((xpp.packets(rows, 2, "table"))) do
         command.file("secret.PRF" .. packet.suffix, packet.bytes)
      end
      command.file("secret.PRI", "; of Miller\r\n[TRACE]\r\nOPERATIONMODE=5145\r\n"
         .. "OUTFILE=C:\\Miller\\x.prf\r\n")
      command.fine "profio anonymise secret.PRF -o out.PRF"
      assert.equal("; xx xxxxxx\r\n[TRACE]\r\nOPERATIONMODE=5145\r\nOUTFILE=x:\\xxxxxx\\x.xxx\r\n",
         command.read(command.folder .. "/out.PRI"))
      local old <close> = assert(profio.open(command.folder .. "/secret.PRF"))
      local new <close> = assert(profio.open(command.folder .. "/out.PRF"))
      assert.same(old.entries:rows("thread", "time", "op", "line"),
         new.entries:rows("thread", "time", "op", "line"))
      assert.equal(6, new.entries:count())
      assert.equal("", (command.run "grep -l -i -e miller -e main -e getuser out.PR*"))
   end)
end)

describe("an anonymised trace of winIDEA", function()
   it("has aliases in the rows of a Text1 file", function()
      local text = records.lines("* CONTEXTS %NAME%,%HANDLE%", "Brake_Task,0x1",
         "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%FILE%", "00000000,brake(int,,,C:\\car\\b.c",
         '10000000,"if (a, b)",17,C:\\car\\b.c', "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%",
         "20000000,pedal,", "30000000,PRESSED,1",
         "* STATISTICS(Functions) CONTEXT(Brake_Task) %HANDLE%,%VALUE%,%COUNT%", "00000000,,3",
         "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%,%CONTEXT%", "00000000,E,,10,Brake_Task",
         "00000000,X,,40,Brake_Task")
      local made = check(text, "winidea",
         { secrets = { "rake", "pedal", "PRESSED", "car", "if (" } })
      assert.equal(records.lines("* CONTEXTS %NAME%,%HANDLE%", "t1________,0x1",
         "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%FILE%", "00000000,f1________,,C:\\p1_\\p2_",
         '10000000,"f2_______",17,C:\\p1_\\p2_', "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%",
         "20000000,v1___,", "30000000,v2_____,1",
         "* STATISTICS(Functions) CONTEXT(t1________) %HANDLE%,%VALUE%,%COUNT%", "00000000,,3",
         "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%,%CONTEXT%", "00000000,E,,10,t1________",
         "00000000,X,,40,t1________"), made)
   end)

   it("has aliases for names that look like numbers", function()
      local made = form_of(records.lines("* HANDLE(Functions) %HANDLE%,%NAME%", "00000000,cafe",
         "* TIMELINE %HANDLE%,%EVENT%,%TIME%,%CONTEXT%", "00000000,E,10,beef"), "winidea")
      assert.is_nil(made:find "cafe" or made:find "beef")
   end)

   it("hides rows that cannot be read, and words of a changed header", function()
      assert.equal("[xxxxxxxxx TIMELINE] %HANDLE%,%EVENT%,%TIME%\n00000000,E,10\nxxxxxx\n",
         (form_of("[Companies TIMELINE] %HANDLE%,%EVENT%,%TIME%\n00000000,E,10\nSecret\n",
            "winidea")))
   end)

   it("is found beside its binary timeline, whichever of both is named", function()
      command.run "rm -rf car.* one.* two.*"
      command.file("car.txt", records.lines("* HANDLE(Functions) %HANDLE%,%NAME%",
         "00000000,brake"))
      local list = {}
      for i = 1, 20 do
         list[i] = { handle = 0, event = i % 2 == 1 and "enter" or "leave", core = 0, time = i }
      end
      local bin = records.bytes(list, records.new)
      command.file("car.txt.BIN", bin)
      command.fine "profio anonymise -o one.txt car.txt"
      command.fine "profio anonymise -o two.txt.BIN car.txt.BIN"
      for _, name in ipairs { "one", "two" } do
         assert.equal("* HANDLE(Functions) %HANDLE%,%NAME%\n00000000,f1___\n",
            (command.read(command.folder .. "/" .. name .. ".txt"):gsub("\r", "")))
         assert.equal(bin, command.read(command.folder .. "/" .. name .. ".txt.BIN"))
      end
      local _, status, errors = command.run "profio anonymise -o two.out car.txt.BIN"
      assert.equal(1, status)
      assert.matches("let -o OUT end in .BIN", errors, 1, true)
   end)

   it("has aliases in elements, attributes and CDATA of XML", function()
      local xml = '<?xml version="1.0"?>\n<!-- of Miller --><R><MAPPING><AREA NAME="a > b">'
         .. "<HANDLE>0</HANDLE></AREA><AREA><NAME>f&lt;int&gt;</NAME><HANDLE>1</HANDLE></AREA>"
         .. "<AREA><NAME><![CDATA[f<int>]]></NAME><HANDLE>2</HANDLE></AREA></MAPPING></R>\n"
      assert.equal('<?xml version="1.0"?>\n<!-- xx xxxxxx --><R><MAPPING><AREA NAME="f1___">'
         .. "<HANDLE>0</HANDLE></AREA><AREA><NAME>f2__________</NAME><HANDLE>1</HANDLE></AREA>"
         .. "<AREA><NAME><![CDATA[f2__________]]></NAME><HANDLE>2</HANDLE></AREA></MAPPING></R>\n",
         (form_of(xml, "winidea")))
   end)
end)

describe("an anonymised gmon.out", function()
   it("is a copy, and a note says that it has no names", function()
      local bytes = gmon("<", 8):header():histogram { low = 0x1000, high = 0x1010,
         bins = { 1, 2, 3, 4 } }:arc(0x1004, 0x1000, 7):bytes()
      local made, _, codes = form_of(bytes, "gmon")
      assert.equal(bytes, made)
      assert.equal("anonymised-no-names", codes)
   end)

   it("has no text that was appended to it", function()
      local bytes = gmon("<", 8):header():arc(0x1004, 0x1000, 7):bytes()
      local made = form_of(bytes .. "\9Secret text", "gmon")
      assert.equal(bytes, made:sub(1, #bytes))
      assert.is_nil(made:find "[Ss]ec")
      assert.is_nil(made:find "text")
   end)
end)

describe("an anonymised profile of DCPI", function()
   it("has aliases in its header", function()
      local bytes = dcpi():header({ platform = "walnut.acme.com" },
         "path /opt/acme/bin/editor\nowner Miller\n"):chunk(0x100, { 7 }):footer(1, 7):bytes()
      local made = check(bytes, "dcpi", { secrets = { "acme", "walnut", "editor", "Miller" } })
      assert.equal(#bytes, #made)
   end)

   it("is text of dcpicat with its counts", function()
      local made = check(dcpi.listing, "dcpi", { secrets = { "xemacs", "walnut", "foo\n" },
         kept = { cycles = true, imiss = true, ["/usr/local/bin"] = false } })
      assert.matches("event            470352 cycles:63488:10000\n", made, 1, true)
      assert.matches("0x00012006cbd0      10       0\n", made, 1, true)
   end)
end)

describe("aliases", function()
   it("are distinct, also of more short names than there are letters, which a note says", function()
      local made = br():module(1, "m")
      for i = 1, 200 do
         made:line(1, 1):fn(string.char(i + 32)):stop()
      end
      local trace <close> = assert(profio.open({ data = made:bytes() }, { format = "br",
         code_page = "raw" }))
      local again <close> = assert(profio.open({ data = assert(trace:anonymise()) },
         { format = "br" }))
      local known, count = {}, 0
      for name in again.raw:each "name" do
         count = count + (name and not known[name] and 1 or 0)
         known[name or false] = true
      end
      assert.equal(200, count) -- "m" is a function, too
      assert.equal("anonymised-longer", trace.warnings[#trace.warnings].code)
   end)

   it("are no names of something else in the file", function()
      local made = form_of(br():module(1, "name.br"):line(1, 1):fn("f2"):stop():line(1, 1):fn("f1")
         :stop():bytes(), "br")
      assert.is_nil(made:find("f1", 1, true) or made:find("f2", 1, true))
   end)

   it("are listed, and those of the list are used for another file", function()
      local first = br():module(1, "A.BR"):line(1, 1):fn('say "a,b"'):stop():line(1, 1):fn("other")
         :stop():bytes()
      command.file("first.br", first)
      command.file("second.br", br():module(1, "B.BR"):line(1, 1):fn("new"):stop():line(1, 1)
         :fn("other"):stop():bytes())
      command.fine "profio anonymise --format br -o first.out --aliases names.csv first.br"
      assert.equal('alias,name,kind\nm1__,"A.BR",module\nf1_______,"say ""a,b""",function\n'
         .. 'f2___,"other",function\n', command.read(command.folder .. "/names.csv"))
      command.fine("profio anonymise --format br -o second.out --known-aliases names.csv "
         .. "--aliases all.csv second.br")
      assert.equal(br():module(1, "m2__"):line(1, 1):fn("f3_"):stop():line(1, 1):fn("f2___"):stop()
         :bytes(), command.read(command.folder .. "/second.out"))
      assert.matches('f2___,"other",function\nm2__,"B.BR",module\nf3_,"new",function\n',
         command.read(command.folder .. "/all.csv"), 1, true)
      command.file("bad.csv", "alias,name,kind\nf1,no quotes,function\n")
      local _, status, errors = command.run("profio anonymise --format br -o second.out "
         .. "--known-aliases bad.csv second.br")
      assert.equal(1, status)
      assert.matches("bad.csv: entry 1 is no alias, name in quotes, and kind", errors, 1, true)
   end)
end)

describe("profio anonymise", function()
   local bytes = br():module(1, "A.BR"):line(1, 1):stop():bytes()

   it("writes no file over one that it reads, and needs -o and one FILE", function()
      command.file("a.br", bytes)
      for words, message in pairs {
         ["-o a.br a.br"] = "it is read, so it cannot be the output",
         ["-o b.br --aliases b.br a.br"] = "two outputs would be this file",
         ["-o b.br --aliases a.br a.br"] = "it is read",
         ["a.br"] = "say where to write: -o OUT",
         ["-o b.br a.br a.br"] = "expects one FILE, got 2",
      } do
         local _, status, errors = command.run("profio anonymise --format br " .. words)
         assert.equal(2, status, words)
         assert.matches(message, errors, 1, true)
      end
      assert.equal(bytes, command.read(command.folder .. "/a.br"))
   end)

   it("leaves an older file as it is if it fails, else replaces it", function()
      command.file("old.br", "old")
      command.run "profio anonymise -o old.br absent.br"
      assert.equal("old", command.read(command.folder .. "/old.br"))
      command.fine "profio anonymise --format br -o old.br a.br"
      assert.equal(#bytes, #command.read(command.folder .. "/old.br"))
   end)

   it("ends with status 3 for a damaged file", function()
      command.file("cut.br", bytes .. "\1\0\2\0\9Sec")
      local out, status, errors = command.run "profio anonymise --format br -o - cut.br"
      assert.equal(3, status)
      assert.is_nil(out:find "Sec")
      assert.matches("3 bytes that are no record are left out: they may hold names", errors, 1,
         true)
   end)
end)

describe("anonymised states of tasks", function()
   it("keep their usual names, so that reports of tasks show the same", function()
      local path = "../shared/cases/winidea/os.txt"
      if not lfs.attributes(path) then
         return pending "needs ../shared/cases"
      end
      local trace <close> = assert(profio.open(path))
      local hidden <close> = assert(profio.open { data = trace:anonymise() })
      local function rows(of)
         local list = {}
         for row in of:jobs():records("activation", "response", "preemptions", "flags") do
            list[#list + 1] = row
         end
         return list
      end
      assert.equal(3, #rows(trace))
      assert.same(rows(trace), rows(hidden))
   end)
end)

describe("anonymised files of others", function()
   for _, case in ipairs {
      { "cases/br", "br" }, { "cases/xpp", "xpp", "%.prf$" }, { "cases/winidea", "winidea" },
      { "cases/calls", "winidea", "%.txt$" }, { "cases/dcpi", "dcpi" }, { "corpus/gmon", "gmon" },
   } do
      it("keep all but the names: " .. case[1], function()
         local folder = command.root .. "/../shared/" .. case[1]
         if not lfs.attributes(folder) then
            return pending "needs ../shared"
         end
         for _, path in ipairs(files_below(folder)) do
            if path:find(case[3] or ".") then
               local wrong = anonymised.wrong(command.read(path), case[2],
                  { kept = { cycles = true, imiss = true } })
               assert.is_nil(wrong, path)
            end
         end
      end)
   end
end)
