-- Stubs of calls into shared libraries are called as objdump calls them, on each architecture for
-- which a compiler is installed.

local command = require "spec.support.command"
local core = require "profio.core"
local programs = require "spec.support.programs"

local program <const> = [[
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c, char **v) {
  char b[99];
  int (*volatile compare)(const char *, const char *) = strcmp;
  strcpy(b, v[0]);
  printf("%s %d\n", b, compare(b, "x"));
  return (int)pow(c, 2.5) + memcmp(v[0], b, 2) + (int)strtol(b, 0, 0);
}
]]

-- The compiler and the flags of each program; objdump is that of the compiler.
local built <const> = {
   { "gcc" }, { "gcc", "-no-pie" }, { "gcc", "-Wl,-z,now" }, { "gcc", "-fno-plt" },
   { "gcc", "-fcf-protection=full -Wl,-z,ibtplt" }, { "gcc", "-fuse-ld=gold" },
   { "gcc", "-fuse-ld=lld" }, { "i686-linux-gnu-gcc" }, { "i686-linux-gnu-gcc", "-no-pie" },
   { "aarch64-linux-gnu-gcc" },
   { "aarch64-linux-gnu-gcc", "-mbranch-protection=standard -Wl,-z,force-bti" },
   { "arm-linux-gnueabihf-gcc" }, { "arm-linux-gnueabihf-gcc", "-mthumb -march=armv7-a+fp" },
   { "arm-linux-gnueabihf-gcc", "-Wl,--long-plt" }, { "riscv64-linux-gnu-gcc" },
   { "s390x-linux-gnu-gcc" }, { "powerpc64le-linux-gnu-gcc" },
   { "powerpc-linux-gnu-gcc", "-no-pie" }, { "sparc64-linux-gnu-gcc" }, { "m68k-linux-gnu-gcc" },
   { "sh4-linux-gnu-gcc" }, { "mipsel-linux-gnu-gcc", "-mplt -mno-shared -no-pie" },
}

-- Compiles the program; returns its path, or nil where that is not possible.
local function compiled(compiler, flags)
   local source = programs.source("plt.c", program)
   local path = command.folder .. "/plt-program"
   os.remove(path)
   if programs.has(compiler) and os.execute(("%s -O1 -fno-builtin %s -o '%s' '%s' -lm 2>/dev/null")
      :format(compiler, flags, path, source)) then
      return path
   end
   return nil
end

local function symbols_of(path, rule)
   return assert(core.symbols_elf(assert(core.source(path)), nil, rule, core.dictionary()))
end

-- Returns the lines "address name" of the entries that objdump finds.
local function of_objdump(compiler, path)
   local list = {}
   for address, name in programs.output("%s -d '%s'", compiler:gsub("gcc$", "objdump"), path)
      :gmatch "\n0*(%x+) <([^\n*]*@plt)>:" do
      list[#list + 1] = address .. " " .. name
   end
   table.sort(list)
   return list
end

describe("stubs of calls into shared libraries", function()
   for _, one in ipairs(built) do
      local compiler, flags = one[1], one[2] or ""
      it(("are those of objdump: %s %s"):format(compiler, flags), function()
         local path = compiled(compiler, flags)
         if not path then
            pending("needs " .. compiler .. " " .. flags)
            return
         end
         local found = {}
         for _, symbol in ipairs(symbols_of(path, "exact"):all()) do
            found[#found + 1] = symbol.name:find "@plt$"
               and ("%x %s"):format(symbol.start, symbol.name) or nil
         end
         table.sort(found)
         assert.same(of_objdump(compiler, path), found)
      end)
   end

   it("are unknown to gprof's rule, and are no functions", function()
      local path = compiled("gcc", "")
      if not path then
         pending "needs gcc"
         return
      end
      for _, symbol in ipairs(symbols_of(path, "gprof"):all()) do
         assert.is_nil(symbol.name:find("plt", 1, true))
      end
      local has_section = false
      for _, symbol in ipairs(symbols_of(path, "exact"):all()) do
         has_section = has_section or symbol.name == ".plt"
         assert.is_false(symbol.is_function and symbol.name:find("@plt", 1, true) ~= nil)
      end
      assert.is_true(has_section) -- its header
   end)

   it("survive damage of every byte of their sections", function()
      local path = compiled("gcc", "-no-pie")
      if not path then
         pending "needs gcc"
         return
      end
      local bytes = command.read(path)
      math.randomseed(38)
      for _ = 1, 2000 do
         local at = math.random(#bytes)
         local damaged = bytes:sub(1, at - 1) .. string.char(math.random(0, 255))
            .. bytes:sub(at + 1)
         local symbols = core.symbols_elf(core.source_data(damaged, "damaged"), nil, "exact",
            core.dictionary())
         if symbols then
            symbols:close()
         end
      end
   end)
end)

describe("versions of the functions of shared libraries", function()
   it("are no part of their names", function()
      local function names(text, rule)
         local list = {}
         local symbols = assert(core.symbols_nm(core.source_data(text, "nm"), nil, nil, rule,
            core.dictionary()))
         for i, symbol in ipairs(symbols:all()) do
            list[i] = symbol.name
         end
         return list
      end
      local text = "0000000000001000 T pow@@GLIBC_2.29\n0000000000001100 T pow@GLIBC_2.2.5\n"
         .. "0000000000001200 T ?f@@YAHXZ\n0000000000001300 t _g@8\n0000000000001400 T g@@16\n"
      assert.same({ "pow", "pow@GLIBC_2.2.5", "?f@@YAHXZ", "_g@8", "g@@16" }, names(text, "exact"))
      assert.equal("pow@@GLIBC_2.29", names(text, "gprof")[1])
   end)
end)
