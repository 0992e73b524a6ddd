-- Tags: stressed.
-- Costly: many commands, or large inputs.

local core = require "profio.core"
local elf = require "spec.support.elf"
local symbol_lists = require "spec.support.symbol_lists"

local from_nm, list, names = symbol_lists.from_nm, symbol_lists.ranges, symbol_lists.names

local corpus = "../shared/corpus/gmon/made/"

-- {====== Helpers ======

local function source(bytes)
   return assert(core.source_data(bytes, "data"))
end

local function from_elf(bytes, rule)
   return core.symbols_elf(source(bytes), nil, rule or "exact", core.dictionary())
end

local function has_tool(name)
   return os.execute("command -v " .. name .. " >/dev/null 2>&1")
end

local function exists(path)
   local file <close> = io.open(path, "rb")
   return file ~= nil
end

local function lines_of(command)
   local pipe <close> = assert(io.popen(command .. " 2>/dev/null"))
   local found = {}
   for line in pipe:lines() do
      found[#found + 1] = line
   end
   return found
end

-- The executables of the corpus that have a profile in the same folder: paths without extension.
local function pairs_of_corpus()
   return has_tool "ls" and lines_of("ls " .. corpus .. "*.gmon | sed 's/\\.gmon$//'") or {}
end

-- }======

describe("symbols of ELF files", function()
   for _, class in ipairs { 32, 64 } do
      for _, order in ipairs { "<", ">" } do
         it(("reads class %d, order %s"):format(class, order), function()
            local symbols = assert(from_elf(elf.build { class = class, order = order,
               symbols = { { name = "b", value = 0x1100, size = 0x100 },
                  { name = "a", value = 0x1000, size = 0x100, bind = "local" } } }))
            assert.same({ "1000-1100 a", "1100-1200 b" }, list(symbols))
            local facts = symbols:facts()
            assert.equal(class // 8, facts.address_size)
            assert.equal(order == "<" and "little" or "big", facts.byte_order)
            assert.same({ 0x1000, 0x2000, 0x1000, false, true, false, 62 }, { facts.text_start,
               facts.text_end, facts.entry, facts.is_pie, facts.has_symbols, facts.has_lines,
               facts.machine })
         end)
      end
   end

   it("ends a function at its size, padding included", function()
      local symbols = assert(from_elf(elf.build { symbols = {
         { name = "padded", value = 0x1000, size = 0x10 }, -- 32 bytes to the next: padding
         { name = "gap", value = 0x1030, size = 0x10 }, -- 33 bytes to the next: a gap
         { name = "sizeless", value = 0x1061 },
         { name = "overlong", value = 0x1100, size = 0x1000 },
         { name = "last", value = 0x1200, size = 0x100 } } }))
      assert.same({ "1000-1030 padded", "1030-1040 gap", "1061-1100 sizeless",
         "1100-1200 overlong", "1200-1300 last" }, list(symbols))
   end)

   it("ends the last function of a section with the section", function()
      local symbols = assert(from_elf(elf.build { sections = {
         { name = ".text", address = 0x1000, size = 0x100, flags = 6 , type = "nobits" },
         { name = ".fini", address = 0x3000, size = 0x20, flags = 6, type = "nobits" } },
         symbols = { { name = "end_of_text", value = 0x1080 },
            { name = "_fini", value = 0x3000, section = ".fini" } } }))
      assert.same({ "1080-1100 end_of_text", "3000-3020 _fini" }, list(symbols))
   end)
end)

describe("looking up addresses", function()
   it("finds by address", function()
      local symbols = assert(from_elf(elf.build { symbols = {
         { name = "a", value = 0x1000, size = 0x10 },
         { name = "_Z1bi", value = 0x1100, size = 0x10, bind = "local" } } }))
      assert.is_nil(symbols:find(0xfff))
      assert.equal("a", symbols:find(0x1000).name)
      assert.equal("a", symbols:find(0x100f).name)
      assert.is_nil(symbols:find(0x1010))
      assert.is_nil(symbols:find(0x10ff))
      assert.same({ name = "_Z1bi", demangled = "b(int)", start = 0x1100, stop = 0x1110,
         is_function = true, is_global = false }, symbols:find(0x110f))
      assert.is_nil(symbols:find(0x1110))
      assert.is_nil(symbols:find(-1))
      assert.equal(2, symbols:count())
   end)

   it("finds among many symbols, and far ones", function()
      local given = {}
      for i = 0, 999 do
         given[i + 1] = { name = "f" .. i, value = 0x1000 + i * i, size = 1, section = "abs" }
      end
      given[1001] = { name = "top", value = -256, size = 0x80, section = "abs" }
      local symbols = assert(from_elf(elf.build { symbols = given }))
      for i = 0, 999 do
         assert.equal("f" .. i, symbols:find(0x1000 + i * i).name)
      end
      assert.equal("top", symbols:find(-200).name)
      assert.is_nil(symbols:find(-1))
      assert.is_nil(symbols:find(0x7fffffffffffffff))
   end)
end)

describe("which symbols of ELF files count", function()
   it("includes functions and untyped globals in code, but no other symbols", function()
      local symbols = assert(from_elf(elf.build { sections = {
         { name = ".text", address = 0x1000, size = 0x1000, flags = 6, type = "nobits" },
         { name = ".data", address = 0x4000, size = 0x100, flags = 3, type = "nobits" } },
         symbols = {
            { name = "function", value = 0x1000, size = 0x100 },
            { name = "resolver", value = 0x1100, size = 0x100, type = "ifunc" },
            { name = "assembler", value = 0x1200, type = "notype" },
            { name = "weak", value = 0x1300, type = "notype", bind = "weak" },
            { name = "label", value = 0x1310, type = "notype", bind = "local" },
            { name = "$x", value = 0x1320, type = "notype", bind = "local" },
            { name = "table", value = 0x1330, type = "object" },
            { name = "etext", value = 0x2000, type = "notype" },
            { name = "data_start", value = 0x4000, type = "notype", section = ".data" },
            { name = "import", value = 0, section = "undef" },
            { name = "file.c", value = 0, type = "file", bind = "local", section = "abs" },
            { name = "", value = 0x1400 } } }))
      assert.same({ "function", "resolver", "assembler", "weak" }, names(symbols))
   end)

   it("keeps one name per address: global, function, fewest underscores", function()
      local symbols = assert(from_elf(elf.build { symbols = {
         { name = "__x", value = 0x1000 }, { name = "_x", value = 0x1000 },
         { name = "x", value = 0x1000 }, { name = "y", value = 0x1000 },
         { name = "a", value = 0x1100, bind = "local" }, { name = "__a", value = 0x1100 },
         { name = "untyped", value = 0x1200, type = "notype" }, { name = "_f", value = 0x1200 },
         { name = "hot", value = 0x1300, bind = "local" },
         { name = "hot.part.0", value = 0x1400, bind = "local" },
         { name = "hot.cold", value = 0x1500, bind = "local" } } }))
      assert.same({ "x", "__a", "_f", "hot", "hot.part.0", "hot.cold" }, names(symbols))
   end)
end)

describe("symbols of other machines and of stripped files", function()
   it("clears the bit that marks Thumb and MIPS16 code", function()
      for _, machine in ipairs { "arm", "mips" } do
         local symbols = assert(from_elf(elf.build { class = 32, machine = machine, symbols = {
            { name = "thumb", value = 0x1101, size = 0x10 } } }))
         assert.same({ "1100-1110 thumb" }, list(symbols))
      end
      assert.same({ "1100-1110 old_thumb" }, list(assert(from_elf(elf.build { class = 32,
         machine = "arm", symbols = { { name = "old_thumb", value = 0x1101, size = 0x10,
            type = "code13" } } }))))
   end)

   it("follows function descriptors of 64-bit PowerPC", function()
      local sections = {
         { name = ".text", address = 0x1000, size = 0x1000, flags = 6, type = "nobits" },
         { name = ".opd", address = 0x8000, flags = 3,
            data = (">I8I8I8"):rep(3):pack(0x1200, 0, 0, 0x1100, 0, 0, 0x99999, 0, 0) } }
      local given = { machine = "ppc64", order = ">", sections = sections, symbols = {
         { name = "main", value = 0x8000, size = 0x40, section = ".opd" },
         { name = "helper", value = 0x8018, size = 0x40, section = ".opd", bind = "local" },
         { name = "astray", value = 0x8030, section = ".opd", type = "notype" } } }
      assert.same({ "1100-1140 helper", "1200-1240 main" },
         list(assert(from_elf(elf.build(given)))))
      assert.same({ ".main" }, names(assert(from_elf(elf.build(given), "gprof"))))
   end)

   it("falls back to the dynamic table, and is empty if there is none", function()
      local symbols = assert(from_elf(elf.build { dynamic = true, table_name = ".dynsym",
         table_type = "dynsym", symbols = { { name = "shown", value = 0x1000 } } }))
      assert.same({ "shown" }, names(symbols))
      assert.is_true(symbols:facts().is_pie)
      symbols = assert(from_elf(elf.build {}))
      assert.equal(0, symbols:count())
      assert.is_false(symbols:facts().has_symbols)
      assert.is_nil(symbols:find(0x1000))
      assert.is_nil(symbols:line(0x1000))
   end)

   it("reads missing tables from the debug file", function()
      local main = elf.build { sections = { elf.build_id("\1\2\3\4"),
         { name = ".text", address = 0x1000, size = 4096, flags = 6, type = "nobits" } } }
      local debug = elf.build { symbols = { { name = "far", value = 0x1000, size = 0x10 } } }
      local symbols = assert(core.symbols_elf(source(main), source(debug), "exact",
         core.dictionary()))
      assert.same({ "1000-1010 far" }, list(symbols))
      assert.equal("01020304", symbols:facts().build_id)
      symbols = assert(core.symbols_elf(source(main), source "no ELF", "exact",
         core.dictionary()))
      assert.equal(0, symbols:count())
   end)
end)

describe("invalid files", function()
   it("are refused with the kind of file", function()
      for bytes, what in pairs { ["\x01\xf0"] = "an XCOFF executable",
         ["\x64\x86"] = "a COFF object", ["!<arch>\n"] = "archive" } do
         local symbols, message, code = from_elf(bytes)
         assert.is_nil(symbols)
         assert.matches(what .. ".*nm.*symbols = PATH", message)
         assert.equal("unsupported", code)
      end
      local _, message, code = from_elf ""
      assert.equal("data: not an ELF file (byte 0)", message)
      assert.equal("format", code)
   end)

   it("cause no crash when truncated or damaged at any byte", function()
      local whole = elf.build { symbols = { { name = "one", value = 0x1000, size = 8 },
         { name = "two.constprop.0", value = 0x1100, bind = "local" } } }
      for size = 0, #whole - 1 do
         from_elf(whole:sub(1, size))
      end
      for i = 1, #whole do
         for _, byte in ipairs { "\0", "\x7f", "\xff" } do
            from_elf(whole:sub(1, i - 1) .. byte .. whole:sub(i + 1), "gprof")
         end
      end
   end)

   it("are refused if names overlap a thousand times", function()
      local given = {}
      for i = 1, 3000 do
         given[i] = { name = "", value = 0x1000 + i }
      end
      given[1].name = ("x"):rep(60000)
      local bytes = elf.build { symbols = given }
      -- every symbol gets the one long name: st_name 1
      local at = bytes:find(("\0"):rep(24) .. ("<I4"):pack(1), 1, true) + 24
      local table_bytes = bytes:sub(at, at + 24 * 3000 - 1):gsub(("."):rep(24), function(entry)
         return ("<I4"):pack(1) .. entry:sub(5)
      end)
      local symbols, message, code = from_elf(bytes:sub(1, at - 1) .. table_bytes
         .. bytes:sub(at + 24 * 3000))
      assert.is_nil(symbols)
      assert.matches("overlap", message)
      assert.equal("limit", code)
   end)
end)

describe("symbols as gprof selects them", function()
   local function kept(given)
      for i, symbol in ipairs(given) do
         symbol.value = symbol.value or 0x1000 + 16 * i
      end
      return names(assert(from_elf(elf.build { symbols = given }, "gprof")))
   end

   it("end where the next one begins, and the last with .text", function()
      local symbols = assert(from_elf(elf.build { symbols = {
         { name = "a", value = 0x1000, size = 4 }, { name = "b", value = 0x1800, size = 4 } } },
         "gprof"))
      assert.same({ "1000-1800 a", "1800-2000 b" }, list(symbols))
   end)

   it("include data in code, and weak symbols anywhere", function()
      assert.same({ "f", "table", "label", "weak" }, kept {
         { name = "f" }, { name = "table", type = "object" },
         { name = "label", type = "notype", bind = "local" },
         { name = "weak", bind = "weak", type = "notype", section = "abs", value = 0x9000 },
         { name = "weak_data", bind = "weak", type = "object" },
         { name = "resolver", type = "ifunc" }, { name = "import", section = "undef" },
         { name = "unique", bind = "unique" } })
   end)

   it("exclude local names with $ or a dotted suffix that is not a number", function()
      local function keeps(name)
         return #kept { { name = name, bind = "local" }, { name = "zz" } } == 2
      end
      assert.same({ true, false, false, false, false, false, true }, { keeps "f", keeps "a$b",
         keeps "f.part.0", keeps "f.cold", keeps ".L12", keeps "__gnu_compiled_c",
         keeps "__gnu_compile" })
      assert.is_true(keeps "f.12")
      assert.is_true(keeps "f.1.2")
      assert.is_true(keeps "f.constprop.0")
      assert.is_true(keeps "f.clone.3")
      assert.is_false(keeps "f.1x")
      assert.is_false(keeps "f.constprop")
   end)

   it("are read past a number into the next string, as gprof does", function()
      assert.same({ "f.1", "next" }, kept { { name = "f.1", bind = "local" }, { name = "next" } })
      assert.same({ "a.b" }, kept { { name = "f.1", bind = "local" }, { name = "a.b" } })
      assert.same({ "x$" }, kept { { name = "f.1", bind = "local" },
         { name = "g.constprop.0", bind = "local" }, { name = "x$" } })
      -- but only one string further when that has no number of its own
      assert.same({ "f.1", "ok", "x$" }, kept { { name = "f.1", bind = "local" }, { name = "ok" },
         { name = "x$" } })
   end)
end)

describe("a comparison with gprof itself", function()
   it("agrees with gprof on every executable of the corpus", function()
      local paths = pairs_of_corpus()
      if #paths == 0 or not has_tool "gprof" then
         pending "no corpus or no gprof"
         return
      end
      -- what gprof leaves out of its listing, and names that come from function descriptors,
      -- which only a gprof built for PowerPC follows
      local hidden = { _mcount = true, mcount = true, __mcount_internal = true }
      for _, path in ipairs(paths) do
         local expected = {}
         for _, line in ipairs(lines_of(("gprof -z -b -p --no-demangle %s.elf %s.gmon"):format(path,
            path))) do
            local name = line:match "^ *[%d.-]+ +[%d.]+ .-(%S+)%s*$"
            if name and name ~= "seconds" and name ~= "name" then
               expected[#expected + 1] = name
            end
         end
         local found = {}
         local exe <close> = assert(core.source(path .. ".elf"))
         for _, name in ipairs(names(assert(core.symbols_elf(exe, nil, "gprof",
            core.dictionary())))) do
            if not hidden[name] and name:sub(1, 1) ~= "." then
               found[#found + 1] = name
            end
         end
         table.sort(expected)
         table.sort(found)
         assert.same(expected, found, path)
      end
   end)
end)

describe("symbols of the corpus", function()
   it("are the functions that readelf lists", function()
      local paths = pairs_of_corpus()
      if #paths == 0 or not has_tool "readelf" then
         pending "no corpus or no readelf"
         return
      end
      for _, path in ipairs(paths) do
         local exe <close> = assert(core.source(path .. ".elf"))
         local symbols = assert(core.symbols_elf(exe, nil, "exact", core.dictionary()))
         local is_arm, checked = path:match "gnueabihf", 0
         for _, line in ipairs(lines_of("readelf -sW " .. path .. ".elf")) do
            local value, kind, section = line:match
               "^ +%d+: (%x+) +%d+ (%u+) +%u+ +%u+ +.-(%w+) [^ ]+"
            if (kind == "FUNC" or kind == "IFUNC") and section ~= "UND"
               and not path:match "powerpc64%-" then
               local address = tonumber(value, 16) & (is_arm and ~1 or ~0)
               local found = symbols:find(address)
               assert.is_table(found, path .. " " .. line)
               assert.equal(address, found.start, path .. " " .. line)
               checked = checked + 1
            end
         end
         assert.is_true(checked > 5 or path:match "powerpc64%-" ~= nil, path)
      end
   end)

   it("have the lines that addr2line prints", function()
      if not exists(corpus .. "isra-x86_64.elf") or not has_tool "addr2line" then
         pending "no corpus or no addr2line"
         return
      end
      for _, name in ipairs { "isra-x86_64", "x86_64-native-pie", "x86_64-native-no-pie" } do
         local exe <close> = assert(core.source(corpus .. name .. ".elf"))
         local symbols = assert(core.symbols_elf(exe, nil, "exact", core.dictionary()))
         local facts, addresses = symbols:facts(), {}
         for address = facts.text_start, facts.text_end - 1 do
            addresses[#addresses + 1] = ("0x%x"):format(address)
         end
         local answers = lines_of(("printf '%%s\\n' %s | addr2line -e %s"):format(
            table.concat(addresses, " "), corpus .. name .. ".elf"))
         assert.equal(#addresses, #answers)
         for i, answer in ipairs(answers) do
            local file, line = symbols:line(facts.text_start + i - 1)
            local found = line and file .. ":" .. line or "no line"
            answer = answer:gsub(" %(discriminator %d+%)", ""):gsub("^.*:[0?]$", "no line")
            assert.equal(answer, found, addresses[i])
         end
      end
   end)

   it("have lines for every target", function()
      local paths = pairs_of_corpus()
      if #paths == 0 then
         pending "no corpus"
         return
      end
      for _, path in ipairs(paths) do
         local exe <close> = assert(core.source(path .. ".elf"))
         local symbols = assert(core.symbols_elf(exe, nil, "exact", core.dictionary()))
         for _, symbol in ipairs(symbols:facts().has_lines and symbols:all() or {}) do
            if symbol.name == "main" then
               local file, line = symbols:line(symbol.start)
               assert.matches("%.c$", file, path)
               assert.is_true(line > 0, path)
            end
         end
      end
   end)
end)

describe("demangled names", function()
   local function readable(name)
      return assert(from_nm("00001000 T " .. name .. "\n")):find(0x1000).demangled
   end

   it("are those of C++ with a suffix for a part of the function", function()
      local function piece(name)
         return from_elf(elf.build { symbols = { { name = name, value = 0x1000 } } }):find(0x1000)
            .demangled
      end
      assert.equal("foo(int) (a.cc:3 @ 1000)", piece "_Z3fooi (a.cc:3 @ 1000)")
      assert.equal("..foo(int) (a.cc:3 @ 1000)", piece ".._Z3fooi (a.cc:3 @ 1000)")
      assert.equal("_Z9fooi (a.cc:3 @ 1000)", piece "_Z9fooi (a.cc:3 @ 1000)")
      assert.equal("_Z3fooi " .. ("x"):rep(65530), piece("_Z3fooi " .. ("x"):rep(65530)))
   end)

   it("are those of C++ symbols", function()
      assert.equal("main", readable "main")
      assert.equal("foo(int)", readable "_Z3fooi")
      assert.equal("foo(int)", readable "__Z3fooi")
      assert.equal(".foo(int)", readable "._Z3fooi")
      assert.equal("foo(int) [clone .part.0]", readable "_Z3fooi.part.0")
      assert.equal("std::vector<int, std::allocator<int> >::push_back(int&&)",
         readable "_ZNSt6vectorIiSaIiEE9push_backEOi")
      assert.equal("_Z", readable "_Z")
      assert.equal("_Znonsense", readable "_Znonsense")
   end)

   -- Names of the description of Rust's mangling (RFC 2603).
   it("are those of Rust, old and new", function()
      assert.equal("core::fmt::write", readable "_ZN4core3fmt5write17h0123456789abcdefE")
      assert.equal("core::fmt::write(int)", readable "_ZN4core3fmt5writeEi")
      assert.equal("mycrate::foo", readable "_RNvCs15kBYyAo9fc_7mycrate3foo")
      assert.equal("<mycrate::Foo<_> as mycrate::Bar>::f",
         readable "_RNvXs_C7mycrateINtB4_3FoopENtB4_3Bar1f")
      assert.equal("std::mem::align_of::<usize>", readable "_RINvNtC3std3mem8align_ofjEC3foo")
      assert.equal("mycrate::g\u{f6}del", readable "_RNvC7mycrateu8gdel_5qa")
      assert.equal("_Rnonsense", readable "_Rnonsense")
      assert.equal("_R", readable "_R")
      assert.equal("foo(int)@plt", readable "_Z3fooi@plt")
   end)

   it("of programs are those of c++filt, whose demangler is that of gprof", function()
      local command = require "spec.support.command"
      local programs = require "spec.support.programs"
      local path = command.folder .. "/demangled-program"
      local built = {
         rust = { "rustc", programs.source("names.rs", [[
            trait Area { fn area(&self) -> f64; }
            struct Square<T>(T);
            impl Area for Square<f64> { #[inline(never)] fn area(&self) -> f64 { self.0 } }
            fn main() { let list: Vec<Box<dyn Area>> = vec![Box::new(Square(2.0))];
               println!("{}", list.iter().map(|s| s.area()).sum::<f64>()); }]]),
            "rustc -C symbol-mangling-version=v0" },
         cpp = { "g++", programs.source("names.cpp", [[
            #include <functional>
            #include <map>
            #include <string>
            int main() { std::map<std::string, std::function<int(int, const char *)>> m;
               m["x"] = [](int a, const char *) { return a; }; return m["x"](1, "") - 1; }]]),
            "g++ -O0" } }
      for _, one in pairs(built) do
         if programs.has(one[1]) and programs.has "c++filt" and os.execute(
            ("%s -o '%s' '%s' 2>/dev/null"):format(one[3], path, one[2])) then
            local mangled, shown = {}, {}
            for _, symbol in ipairs(assert(core.symbols_elf(assert(core.source(path)), nil, "exact",
               core.dictionary())):all()) do
               if symbol.name:find "^_[RZ]" and not symbol.name:find("@", 1, true) then
                  mangled[#mangled + 1], shown[#shown + 1] = symbol.name, symbol.demangled
               end
            end
            local text = command.file("mangled.txt", table.concat(mangled, "\n") .. "\n")
            assert.equal(table.concat(shown, "\n") .. "\n",
               programs.output("c++filt -i < '%s'", text))
            assert.is_true(#mangled > 20)
         end
      end
   end)

   it("are limited in length", function()
      local name = "_Z1f1AIiiE"
      local digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
      for i = 1, 35 do
         local last = "S" .. digits:sub(i, i) .. "_"
         name = name .. "S_I" .. last .. last .. "E"
      end
      assert.equal(name, readable(name))
      assert.equal("_Z" .. ("N"):rep(100000), readable("_Z" .. ("N"):rep(100000)))
   end)
end)

describe("use of symbols", function()
   it("raises an error for wrong use", function()
      assert.error_matches(function() core.symbols_elf("x") end, "profio.source expected")
      assert.error_matches(function()
         core.symbols_elf(source "", nil, "nope", core.dictionary())
      end, "invalid option 'nope'")
      local symbols = assert(from_elf(elf.build {}))
      symbols:close()
      symbols:close()
      assert.error_matches(function() symbols:count() end, "symbols are closed")
      assert.error_matches(function() symbols.count(io.stdout) end, "profio.symbols expected")
   end)

   it("keeps sources alive", function()
      if not exists(corpus .. "isra-x86_64.elf") then
         pending "no corpus"
         return
      end
      local symbols = assert(core.symbols_elf(assert(core.source(corpus .. "isra-x86_64.elf")),
         nil, "exact", core.dictionary()))
      collectgarbage()
      collectgarbage()
      assert.is_string(symbols:line(symbols:facts().entry) or "")
      assert.is_true(symbols:count() > 10)
   end)

   it("has no lines if the source was closed before", function()
      if not exists(corpus .. "x86_64-native-pie.elf") then
         pending "no corpus"
         return
      end
      local exe = assert(core.source(corpus .. "x86_64-native-pie.elf"))
      local symbols = assert(core.symbols_elf(exe, nil, "exact", core.dictionary()))
      exe:close()
      assert.is_nil(symbols:line(0x1200))
      assert.equal("a", symbols:find(0x1200).name)
   end)
end)
