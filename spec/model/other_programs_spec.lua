-- Functions of executables of Windows and macOS, as nm of their own tools shows them, and of an
-- image of Tru64 UNIX.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"

local folder = command.folder .. "/other-programs"
disk.folder(folder)

command.file("other-programs/a.c", [[
static int twice (int x) { volatile int y = x; return 2 * y; }
int work (int n) { int sum = 0; for (int i = 0; i < n; i++) sum += twice(i); return sum; }
int main (void) { return work(1000); }
]])

-- Whether a command exists.
local function has(name)
   return os.execute(("command -v %s >/dev/null 2>&1"):format(name)) == true
end

-- Returns the functions of a program at some addresses, as profio finds them.
local function functions_of(path, addresses, width)
   local found = {}
   for address in pairs(addresses) do
      local bytes = gmon.new("<", width):header()
         :histogram { low = address, high = address + 4, bins = { 1 } }:bytes()
      local trace <close> = assert(profio.open({ data = bytes },
         { exe = path, any_executable = true }))
      for row in trace.histogram:records() do
         found[address] = row["function"]
      end
   end
   return found
end

-- Returns the functions of code that nm lists, by address.
local function listed(nm, path, underscore)
   local list, pipe <close> = {}, assert(io.popen(("%s '%s'"):format(nm, path)))
   for line in pipe:lines() do
      local address, kind, name = line:match "^(%x+) (%a) (%S+)$"
      name = name and underscore and name:gsub("^_", "") or name
      if kind and kind:lower() == "t" and (name == "main" or name == "work" or name == "twice") then
         list[tonumber(address, 16)] = name
      end
   end
   return list
end

local cases = {
   { "PE of 64 bits", "x86_64-w64-mingw32-gcc", "-o a64.exe a.c", "x86_64-w64-mingw32-nm",
      "a64.exe", 8 },
   { "Mach-O of 64 bits", "clang", "-target x86_64-apple-darwin -ffreestanding -c a.c -o a.o",
      "llvm-nm", "a.o", 8, true },
   { "Mach-O of 32 bits", "clang", "-target i386-apple-darwin -ffreestanding -c a.c -o a32.o",
      "llvm-nm", "a32.o", 4, true },
}

describe("the functions of", function()
   for _, case in ipairs(cases) do
      local what, compiler, words, nm, file, width, underscore = table.unpack(case, 1, 7)
      it(what .. " are those of nm", function()
         if not has(compiler) or not has(nm) then
            return pending("needs " .. compiler .. " and " .. nm)
         end
         local line = ("cd other-programs && %s %s"):format(compiler, words)
         local _, status, errors = command.run(line)
         assert.equal(0, status, errors)
         local expected = listed(nm, folder .. "/" .. file, underscore)
         assert.is_truthy(next(expected))
         assert.same(expected, functions_of(folder .. "/" .. file, expected, width))
      end)
   end

   -- Functions that are static take no part in gprof's arcs: the binutils do not know them in COFF.
   it("PE have the calls of MinGW's gprof, and without --compat also static ones", function()
      local COMPILER, GPROF = "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-gprof"
      if not has(COMPILER) or not has(GPROF) then
         return pending("needs " .. COMPILER .. " and " .. GPROF)
      end
      command.file("other-programs/b.c", [[
int work (int n) { return n + 1; }
static __attribute__((noinline)) int twice (int n) { return 2 * work(n); }
int main (void) { return twice(1000); }
]])
      local _, status, errors = command.run(
         "cd other-programs && " .. COMPILER .. " -O0 -g -o b.exe b.c")
      assert.equal(0, status, errors)
      local at = {}
      for address, name in pairs(listed("x86_64-w64-mingw32-nm", folder .. "/b.exe")) do
         at[name] = address
      end
      command.file("other-programs/b.out", gmon.new("<", 8):header()
         :histogram { low = at.work, high = at.work + 16, bins = { 30, 0, 0, 0 } }
         :arc(at.main + 9, at.twice, 3):arc(at.twice + 9, at.work, 3):bytes())
      local function said(line)
         local text, code, why = command.run("cd other-programs && " .. line)
         assert.equal(0, code, why)
         return text
      end
      for report, option in pairs { flat = "-p", graph = "-q" } do
         assert.equal(said(("%s -b %s b.exe b.out"):format(GPROF, option)),
            said(("profio report %s --compat gprof b.exe b.out"):format(report)))
      end
      assert.matches("3 +%S+ +%S+ +twice\n", said "profio report flat b.exe b.out")
   end)

   -- From the Tru64 UNIX Object File and Symbol Table Format Specification: the header, that of
   -- programs, one section, the symbolic header, the external symbols and their names.
   it("ECOFF of Tru64 UNIX are its external procedures", function()
      local function symbol(address, name, type, class)
         return ("<I8I4BBI2I4I4"):pack(address, name, type | (class & 3) << 6, class >> 2, 0, 0, 0)
      end
      local TEXT, ABSOLUTE, PROCEDURE, STATIC, LABEL = 1, 5, 6, 14, 5
      local names = "main\0work\0twice\0label\0away\0"
      local symbols = symbol(0x120000000, 0, PROCEDURE, TEXT)
         .. symbol(0x120000010, 5, PROCEDURE, TEXT)
         .. symbol(0x120000020, 10, STATIC, TEXT) .. symbol(0x120000024, 16, LABEL, TEXT)
         .. symbol(0x120000028, 22, PROCEDURE, ABSOLUTE)
      local start = 24 + 80 + 64
      local symbolic = ("<I2I2"):pack(0x1992, 0)
         .. ("<I4"):rep(11):pack(0, 0, 0, 0, 0, 0, 0, #names, 0, 0, 5)
         .. ("\0"):rep(64) .. ("<I8I8I8I8"):pack(start + 144, 0, 0, start + 144 + #names)
      local program = ("<I2I2I4I8I4I2I2"):pack(0x183, 1, 0, start, 144, 80, 0)
         .. ("\0"):rep(32) .. ("<I8"):pack(0x120000000) .. ("\0"):rep(40)
         .. ("<c8I8I8I8I8I8I8I2I2I4"):pack(".text", 0, 0x120000000, 0x30, 0, 0, 0, 0, 0, 0x20)
         .. symbolic .. names .. symbols
      command.file("other-programs/vmunix", program)
      local expected = { [0x120000000] = "main", [0x120000010] = "work", [0x120000020] = "twice" }
      assert.same(expected, functions_of(folder .. "/vmunix", expected, 8))
   end)
end)
