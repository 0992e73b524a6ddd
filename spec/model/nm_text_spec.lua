-- Symbols from the text of nm: its forms, and texts in which functions are missing.
--
-- Tags: stressed.
-- Costly: many symbols.

local elf = require "spec.support.elf"
local symbol_lists = require "spec.support.symbol_lists"

local from_nm, list, names = symbol_lists.from_nm, symbol_lists.ranges, symbol_lists.names

describe("the text of nm", function()
   local expected = { "1000-1100 first", "1100-1200 second", "1200-1220 third" }

   it("is read in all its forms", function()
      local forms = {
         bsd = "0000000000001000 T first\n                 U printf\n"
            .. "0000000000001200 t third\n0000000000001100 W second\n0000000000001220 T end\n"
            .. "0000000000004000 D data\n",
         bsd_sizes = "00001000 00000100 T first\n00001100 00000100 i second\n"
            .. "00001200 00000020 T third\n00001220 T end\n",
         posix = "first T 1000 100\nprintf U         \nsecond W 1100 \nthird t 1200 20\n"
            .. "end T 1220\ndata D 4000 4\n",
         system_v = "\n\nSymbols from a.out:\n\nName  Value   Class  Type  Size  Line  Section\n\n"
            .. "first |0000000000001000|   T  |  FUNC|0000000000000100|     |.text\n"
            .. "second|0000000000001100|   W  |  FUNC|0000000000000100|     |.text\n"
            .. "third |0000000000001200|   t  |  FUNC|0000000000000020|     |.text\n"
            .. "end   |0000000000001220|   T  |NOTYPE|                |     |.text\n"
            .. "puts  |                |   U  |  FUNC|                |     |*UND*\n",
         tru64 = "nm:     Name                 Value              Type   Size\n\n"
            .. "first          | 0000000000004096 | T | 0000000000000008\n"
            .. "second         | 0000000000004352 | T | 0000000000000000\n"
            .. "third          | 0x1200 | t | 0000000000000032\n"
            .. "end            | 0000000000004640 | T | 0000000000000008\n",
      }
      for form, text in pairs(forms) do
         local found = list(assert(from_nm(text)))
         if form == "tru64" then -- its size shows a gap after first
            assert.equal("1000-1008 first", found[1])
            found[1] = expected[1]
         end
         assert.equal("end", found[4]:match "%S+$", form)
         found[4] = nil
         assert.same(expected, found, form)
         assert.same(list(assert(from_nm(text))),
            list(assert(from_nm((text:gsub("\n", "\r\n"))))), form)
      end
   end)

   it("may have 0x, capital letters, source lines, and names with spaces and bars", function()
      local symbols = assert(from_nm("0x0000ABC0 T operator|(A, B const&)\n"
         .. "0x0000ABD0 T operator new[](unsigned long)\t/src/new.cc:12\n0XABE0 T end"))
      assert.same({ "operator|(A, B const&)", "operator new[](unsigned long)", "end" },
         names(symbols))
      symbols = assert(from_nm "operator new[](unsigned long) T 1139 16\nx b 10 4\nf T 1200\n")
      assert.same({ "operator new[](unsigned long)", "f" }, names(symbols))
      symbols = assert(from_nm("operator|(A) |0000000000001000|   T  |  FUNC|01|     |.text\n"))
      assert.same({ "operator|(A)" }, names(symbols))
   end)

   it("gives gprof only symbols of types t and T, with any names", function()
      local symbols = assert(from_nm("1000 T a\n1010 W b\n1020 t c.part.0\n1030 i d\n1040 D e\n",
         "gprof"))
      assert.same({ "1000-1020 a", "c.part.0" }, { list(symbols)[1], names(symbols)[2] })
   end)

   it("has names of sections, which win over no function at the same address", function()
      local text = "1000 t .text\n1000 t printf\n1100 t _puts\n1100 t .text$mn\n1200 t .text\n"
         .. "1300 t .textual\n1300 t other\n"
      assert.same({ "printf", "_puts", ".text", ".textual" }, names(assert(from_nm(text))))
      assert.equal(".text", names(assert(from_nm(text, "gprof")))[1])
   end)

   it("has no facts of its own, but those of the executable given with it", function()
      local text = "0000000000001000 T a\n0000000000001800 T b\n"
      assert.is_nil(assert(from_nm(text)):facts().address_size)
      for rule, last in pairs { exact = "1800-2000 b", gprof = "1800-2000 b" } do
         local symbols = assert(from_nm(text, rule, elf.build {}))
         assert.equal(8, symbols:facts().address_size)
         assert.equal(last, list(symbols)[2])
      end
   end)

   it("may have more lines than are parsed at once", function()
      for _, count in ipairs { 65535, 65536, 65537, 131072, 140000 } do
         local lines = {}
         for i = 1, count do
            lines[i] = ("%08x T f%d\n         a heading\n"):format(i * 16, i)
         end
         local found = from_nm(table.concat(lines)):all()
         assert.equal(count, #found)
         for i, symbol in ipairs(found) do
            if symbol.start ~= i * 16 or symbol.name ~= "f" .. i then
               assert.same({ i * 16, "f" .. i }, { symbol.start, symbol.name })
            end
         end
      end
   end)

   it("is refused if functions are missing in it: of nm -D, nm -g and objdump -t", function()
      local bsd = "0000000000401196 T pub\n                 U printf@GLIBC_2.2.5\n"
      local posix = "pub T 401196 32\nprintf@GLIBC_2.2.5 U         \n"
      local system_v = "pub |0000000000401196|   T  |  FUNC|0000000000000032|     |.text\n"
         .. "printf|                |   U  |  FUNC|                |     |*UND*\n"
      for _, text in ipairs { bsd, posix, system_v } do
         local symbols, message, code = from_nm(text)
         assert.is_nil(symbols)
         assert.matches("no local symbols, as that of nm %-D or nm %-g", message)
         assert.equal("format", code)
      end
      for _, text in ipairs { bsd .. "0000000000404028 b completed.0\n",
         posix .. "work t 401150 32\n", (system_v:gsub("printf[^\n]*\n", "")) } do
         assert.equal("pub", from_nm(text):find(0x401196).name)
      end
      local _, message = from_nm("SYMBOL TABLE:\n0000000000401196 l     F .text\t32 work\n"
         .. "00000000004011c8 g     F .text\t36 pub\n")
      assert.matches("give the output of nm, not that of objdump", message)
   end)

   it("is refused if no line is valid", function()
      for _, text in ipairs { "", "hello world\n", "U printf\n", ("\0"):rep(100),
         "11111111111111111 T too_long\n" } do
         local symbols, message, code = from_nm(text)
         assert.is_nil(symbols)
         assert.matches("not the text of nm", message)
         assert.equal("format", code)
      end
   end)
end)
