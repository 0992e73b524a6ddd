-- Executables that do not belong to a gmon.out, and options with wrong files.
--
-- Long: many commands or rows, or programs that are compiled.
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local command = require "spec.support.command"
local elf = require "spec.support.elf"
local profio = require "profio"
local programs = require "spec.support.programs"
local codes_of = require("spec.support.codes").listed

-- {====== Programs ======

local head = "#include <time.h>\nvolatile long sink;\n#define APART __attribute__((noinline))\n"
local small = "APART void s%d(long n) { for (long i = 0; i < n; i++) sink += i * %d; }\n"
local many = "APART void many(long n) {\n"
   .. ("   sink += n; sink ^= sink << 3; sink -= n * 7;\n"):rep(30) .. "}\n"

-- Builds a program of one large and five small functions, in this or the reverse order. It runs
-- for a fifth of a second, so that any machine gets samples.
local function source_of(is_large_first, more)
   local list = {}
   for i = 1, 5 do
      list[i] = small:format(i, i)
   end
   table.insert(list, is_large_first and 1 or 6, many)
   return head .. table.concat(list) .. (more or "") .. [[
int main(int argc, char **argv)
{
   (void)argv;
   for (int i = 0; i < 4 || clock() < CLOCKS_PER_SEC / 5; i++) {
      many(i); s1(9000000); s2(900000); s3(99); s4(99); s5(99);
   }
   return argc > 9;
}
]]
end

local built = {}

local function build(name, text, flags)
   if not built[name] then
      local exe, files = programs.profiled("program-" .. name, programs.source("program_" .. name
         .. ".c", text), flags or "-no-pie")
      built[name] = { exe = exe, out = files[1] }
   end
   return built[name]
end

-- Checks that all functions with time are addresses of bins with samples.
local function check_addresses(trace)
   local bins = {}
   for low, count in trace.histogram:each("low", "count") do
      bins[low] = count > 0 and count or nil
   end
   for name, self in trace:profile():flat { metric = "samples" }:each("function", "self") do
      local address = math.tointeger(tonumber(name))
      assert.is_not_nil(address, name)
      assert.equal(bins[address] or 0, self)
   end
end

-- }======

describe("an executable that is not the profiled program", function()
   if not programs.has "gcc" then
      pending "needs gcc"
      return
   end

   local more = "APART int f(int n) { sink += n; return n + (int)sink; }\n"
      .. "int g(int n) { return f(n) * 3 + f(n + 1) * 7 + f(n / 3); }\n"

   it("is detected if it is smaller, larger, or of the same size", function()
      local run = build("run", source_of(true))
      for name, text in pairs { smaller = head .. "int main(void) { return 0; }\n",
         larger = source_of(true, more:rep(1) .. many:gsub("many", "more")),
         other = source_of(false) }
      do
         local exe = build(name, text:find "many" and text or head
            .. "int main(void) { return 0; }\n").exe
         local trace <close> = assert(profio.open(run.out, { exe = exe }))
         assert.same({ "gmon-executable-mismatch" }, codes_of(trace), name)
         check_addresses(trace)
         local trusted <close> = assert(profio.open(run.out, { exe = exe,
            any_executable = true }))
         assert.same({ "gmon-executable-mismatch" }, codes_of(trusted), name)
         assert.is_not_nil(trusted.arcs:fields()[5])
      end
   end)

   it("is distinguished from the right one", function()
      for _, name in ipairs { "run", "other" } do
         local run = build(name, source_of(name == "run"))
         local trace <close> = assert(profio.open(run.out, { exe = run.exe }))
         assert.same({}, codes_of(trace))
         assert.equal("s1", trace:profile():flat():rows("function")[1]["function"])
      end
   end)

   -- The range of such a profile ends with the segment, which has more than code.
   for kind, flags in pairs { position_independent = "", fixed = "-no-pie", static = "-static",
      without_unused = "-ffunction-sections -Wl,--gc-sections -Wl,--icf=all" }
   do
      it(("is distinguished from the right one if gold has linked it: %s"):format(kind), function()
         if not programs.has "ld.gold" then
            return pending "needs ld.gold"
         end
         flags = flags .. " -fuse-ld=gold"
         local run = build("gold-run-" .. kind, source_of(true), flags)
         local other = build("gold-other-" .. kind, source_of(false, more:rep(1)), flags)
         for _, one in ipairs { run, other } do
            local trace <close> = assert(profio.open(one.out, { exe = one.exe }))
            assert.same({}, codes_of(trace))
            assert.equal("s1", trace:profile():flat():rows("function")[1]["function"])
            local wrong <close> = assert(profio.open(one.out,
               { exe = one == run and other.exe or run.exe }))
            assert.same({ "gmon-executable-mismatch" }, codes_of(wrong))
         end
      end)
   end

   it("is reported only for the files that it does not belong to", function()
      local run, other = build("run", source_of(true)), build("other", source_of(false))
      local trace <close> = assert(profio.open({ run.out, other.out }, { exe = run.exe }))
      assert.same({ "gmon-executable-mismatch" }, codes_of(trace))
      assert.equal(other.out, trace.warnings[1].path)
   end)

   it("is used for reports with --compat gprof", function()
      local run, larger = build("run", source_of(true)), build("other", source_of(false))
      local trace <close> = assert(profio.open(run.out, { exe = larger.exe, compat = "gprof" }))
      assert.same({ "gmon-executable-mismatch" }, codes_of(trace))
      assert.is_nil(tonumber(trace:profile():flat():rows("function")[1]["function"]))
   end)
end)

describe("a stripped executable", function()
   if not programs.has "gcc" or not programs.has "strip" then
      pending "needs gcc and strip"
      return
   end

   it("results in addresses and a note", function()
      local run = build("run", source_of(true))
      local exe = run.exe .. ".stripped"
      programs.output("strip -o %s %s", exe, run.exe)
      local trace <close> = assert(profio.open(run.out, { exe = exe }))
      assert.same({ "symbols-none" }, codes_of(trace))
      check_addresses(trace)
   end)

   it("that exports some functions has their names, and addresses after them", function()
      local exe, files = programs.profiled("program-exports", programs.source("program_exports.c",
         (source_of(true):gsub("APART void many", "__attribute__((visibility(\"default\"))) %0")
            :gsub("APART void (s%d)", "APART static void %1"))), "-no-pie -rdynamic")
      programs.output("strip -o %s.stripped %s", exe, exe)
      local trace <close> = assert(profio.open(files[1], { exe = exe .. ".stripped" }))
      assert.same({ "symbols-dynamic" }, codes_of(trace))
      local names = {}
      for name, self in trace:profile():flat { metric = "samples" }:each("function", "self") do
         names[#names + 1] = name
         assert.is_true(self == 0 or name:match "^0x%x+$" ~= nil, name)
      end
      assert.is_true(#names > 2)
   end)
end)

describe("the last symbol", function()
   local function flat(size)
      local exe = elf.build { symbols = { { name = "first", value = 0x1000, size = 0x10,
         type = "func", bind = "global" }, { name = "last", value = 0x1100, size = size,
         type = "func", bind = "global" } } }
      local trace <close> = assert(profio.open(command.folder .. "/gmon.out",
         { exe = command.file("last.elf", exe), any_executable = true }))
      local list = {}
      for name, self in trace:profile():flat { metric = "samples" }:each("function", "self") do
         list[name] = self
      end
      return list
   end

   it("ends by its size, and samples after it are shown by address", function()
      assert.same({ last = 0, ["0x1114"] = 30, ["0x1118"] = 5, ["0x1204"] = 0, ["0x122c"] = 15,
         first = 10 }, flat(0x10))
   end)

   it("without a size ends with its section", function()
      assert.same({ first = 10, last = 50 }, flat(0))
   end)
end)

describe("a file that is named by an option", function()
   local function refused(line, words)
      local _, status, errors = command.run("profio " .. line)
      assert.equal(1, status, line .. ": " .. errors)
      assert.is_truthy(errors:find(words, 1, true), errors)
   end

   it("is read, else the status is 1", function()
      local flat = " --report flat gmon.out"
      for _, option in ipairs { "--exe", "--symbols", "--diff gmon.out --diff-exe",
         "--diff gmon.out --diff-symbols", "--diff" }
      do
         refused(option .. " nowhere" .. flat, "nowhere: No such file or directory")
      end
      refused("--exe ." .. flat, "is a directory")
      refused("--symbols ." .. flat, "is a directory")
      refused("--source nowhere --report annotate gmon.out", "nowhere: No such file")
   end)

   it("has the right kind, else the status is 1", function()
      command.file("words.txt", "no program and no symbols\n")
      local flat = " --report flat gmon.out"
      refused("--exe words.txt" .. flat, "not an ELF file")
      refused("--exe words.txt --symbols small.nm" .. flat, "not an ELF file")
      refused("--symbols words.txt" .. flat, "not the text of nm")
      refused("--symbols last.elf" .. flat, "this is an executable")
      refused("--diff gmon.out --diff-exe words.txt" .. flat, "not an ELF file")
      refused("--source words.txt --report annotate gmon.out", "a folder of source files expected")
   end)

   it("may be the folder of sources of a page", function()
      local trace <close> = assert(profio.open(command.folder .. "/gmon.out"))
      local page, message, code = trace:profile():export("html", nil, { source = "nowhere" })
      assert.same({ nil, "io" }, { page, code })
      assert.matches("nowhere: No such file", message)
      assert.is_string(trace:profile():export("html", nil, { source = command.folder }))
   end)

   it("may be the mapping of a binary timeline", function()
      local path = command.folder .. "/program.txt"
      local timeline = assert(profio.create(path, { format = "winidea", dialect = "text1",
         timeline_binary = true }))
      timeline:write { time = 0, event = "enter", area = "A" }
      timeline:write { time = 500, event = "leave", area = "A" }
      assert(timeline:close())
      local calls = " --report calls program.txt.BIN"
      refused("--mapping nowhere" .. calls, "nowhere: No such file")
      refused("--mapping words.txt" .. calls, "areas of an XML export expected")
      refused("--diff program.txt.BIN --diff-mapping words.txt --report flat program.txt.BIN",
         "areas of an XML export expected")
      local trace, message, code = profio.open(path .. ".BIN",
         { mapping = command.folder .. "/words.txt" })
      assert.same({ nil, "format" }, { trace, code })
      assert.is_truthy(message:find("words.txt", 1, true))
   end)
end)
