-- Source lines of programs of several compilers, versions of DWARF and file formats are those of
-- llvm-addr2line at each address of the code. (That of the binutils has defects in version 5.)

local command = require "spec.support.command"
local core = require "profio.core"
local disk = require "spec.support.disk"
local programs = require "spec.support.programs"

local TOOL = "llvm-addr2line"
local folder = command.folder .. "/dwarf"

local SOURCE = [[
#include "sum.h"
int work (int n) { int sum = 0; for (int i = 0; i < n; i++) sum += twice(i);
  return sum; }
int unused (int n) { return twice(n) + 1; }
int main (int argc, char **argv) { (void)argv; return work(argc); }
]]

local HEADER = [[
static inline int twice (int x) {
  volatile int y = x;
  return 2 * y; }
]]

-- Templates, whose sections end where the last row begins.
local TEMPLATES = [==[
#include <algorithm>
#include <map>
#include <string>
#include <vector>
int g (std::vector<int> &v) { std::sort(v.begin(), v.end()); return v[0]; }
int main (int argc, char **argv) {
  std::map<std::string, int> m;
  for (int i = 0; i < argc; i++) m[argv[i]]++;
  std::vector<int> w;
  for (auto &p : m) w.push_back(p.second);
  return g(w); }
]==]

local ways = {
   { "gcc", "-gdwarf-2 -gstrict-dwarf" }, { "gcc", "-gdwarf-3 -gstrict-dwarf -O1" },
   { "gcc", "-gdwarf-4 -O2" }, { "gcc", "-gdwarf-5 -O2" }, { "gcc", "-gdwarf64 -gdwarf-5" },
   { "gcc", "-g -O2 -ffunction-sections -Wl,--gc-sections" }, { "gcc", "-g -O2 -flto" },
   { "gcc", "-g -gsplit-dwarf" }, { "gcc", "-gdwarf-4 -fdebug-types-section" },
   { "clang", "-gdwarf-4 -O1" }, { "clang", "-gdwarf-5 -O2" },
   { "g++", "-gdwarf-4 -O2", "templates.cc" }, { "g++", "-gdwarf-5 -O2", "templates.cc" },
   { "aarch64-linux-gnu-gcc", "-g -O2" }, { "s390x-linux-gnu-gcc", "-g -O2" },
   { "i686-linux-gnu-gcc", "-gdwarf-2 -gstrict-dwarf -O1" },
   { "x86_64-w64-mingw32-gcc", "-g -O2" }, { "i686-w64-mingw32-gcc", "-gdwarf-5" },
}

-- Returns the answers of addr2line for addresses.
local function answers_of(exe, addresses)
   local list = folder .. "/addresses"
   command.file("dwarf/addresses", table.concat(addresses, "\n") .. "\n")
   local pipe <close> = assert(io.popen(("%s -e '%s' <'%s'"):format(TOOL, exe, list)))
   local answers = {}
   for line in pipe:lines() do
      line = line:gsub("^.*[?]$", "none"):gsub("^.*:0$", "none")
         :gsub(" %(disc.*$", ""):gsub("/%./", "/")
      repeat
         local shorter, changed = line:gsub("/[^/]+/%.%./", "/", 1)
         line = shorter
      until changed == 0
      answers[#answers + 1] = line
   end
   return answers
end

describe("source lines", function()
   setup(function()
      disk.fresh(folder)
      command.file("dwarf/a.c", SOURCE)
      command.file("dwarf/sum.h", HEADER)
      command.file("dwarf/templates.cc", TEMPLATES)
   end)

   teardown(function()
      disk.remove(folder)
   end)

   for _, way in ipairs(ways) do
      local compiler, options, source = way[1], way[2], way[3] or "a.c"
      it(("of %s %s are those of addr2line"):format(compiler, options), function()
         if not (programs.can_compile(compiler) and programs.has(TOOL)) then
            return pending("needs " .. compiler .. " and " .. TOOL)
         end
         local _, status, errors = command.run(
            ("cd dwarf && %s %s %s -o program.bin"):format(compiler, options, source))
         assert.equal(0, status, errors)
         local path = folder .. "/program.bin"
         local exe <close> = assert(core.source(path))
         local symbols = assert(core.symbols_elf(exe, nil, "exact", core.dictionary()))
         local addresses = {}
         for _, symbol in ipairs(symbols:all()) do
            local name = symbol.name
            if name == "main" or name == "work" or name:find "^_Z" then
               for address = symbol.start, symbol.stop - 1 do
                  addresses[#addresses + 1] = ("0x%x"):format(address)
               end
            end
         end
         assert.is_true(#addresses > 20)
         local answers, with_lines = answers_of(path, addresses), 0
         for i, address in ipairs(addresses) do
            local file, line = symbols:line(math.tointeger(address))
            local found = line and line > 0 and file .. ":" .. line or "none"
            assert.equal(answers[i], found, address)
            with_lines = with_lines + (line and 1 or 0)
         end
         assert.is_true(with_lines > 20)
      end)
   end
end)
