-- Debug sections that are compressed: the lines are those of the same executable without
-- compression, and neither the file nor the bytes that hold it change.

local command = require "spec.support.command"
local core = require "profio.core"
local disk = require "spec.support.disk"
local programs = require "spec.support.programs"
local symbols_of = require "profio.internal.symbols"

local folder = command.folder .. "/compressed"

local function run(line, ...)
   local _, status, errors = command.run(("cd compressed && " .. line):format(...))
   assert.equal(0, status, errors)
end

-- Returns the functions of an executable and the first line of each.
local function lines_of(exe)
   local opened <close> = assert(symbols_of.open { exe = exe, dictionary = core.dictionary() })
   local list = {}
   for i, symbol in ipairs(opened.symbols:all()) do
      list[i] = { symbol.name, opened.symbols:line(symbol.start) }
   end
   return list
end

describe("compressed debug sections", function()
   setup(function()
      disk.fresh(folder)
      local functions = {}
      for i = 1, 400 do -- more than the size up to which a file is copied
         functions[i] = ("int f%d(int n) { return n * %d; }\n"):format(i, i)
      end
      functions[401] = "int main(void) { return f7(0); }\n"
      command.file("compressed/a.c", table.concat(functions))
      if programs.has "gcc" then
         run "gcc -g -no-pie -Wl,--build-id=none a.c -o plain"
      end
   end)

   teardown(function()
      disk.remove(folder)
   end)

   local function same(name)
      local want = lines_of(folder .. "/plain")
      assert.is_true(#want > 400)
      local bytes = command.read(folder .. "/" .. name)
      for _ = 1, 2 do -- reading leaves them as they are
         assert.same(want, lines_of(folder .. "/" .. name))
      end
      assert.equal(bytes, command.read(folder .. "/" .. name))
   end

   for _, way in ipairs { "gcc -g -gz=zlib -no-pie -Wl,--build-id=none a.c -o",
      "objcopy --compress-debug-sections=zlib plain",
      "objcopy --compress-debug-sections=zlib-gnu plain" } do
      it("are read: " .. way:match "^%S+" .. " " .. way:match "zlib[-%a]*", function()
         if not (programs.has "gcc" and programs.has "objcopy") then
            return pending "needs gcc and objcopy"
         end
         run("%s packed", way)
         same "packed"
      end)
   end

   it("are missing, not empty, if they are compressed in another way", function()
      if not (programs.has "gcc" and programs.has "objcopy") then
         return pending "needs gcc and objcopy"
      end
      run "objcopy --compress-debug-sections=zlib plain other"
      local path = folder .. "/other"
      local bytes = command.read(path)
      local opened <close> = assert(symbols_of.open { exe = path, dictionary = core.dictionary() })
      assert.is_true(opened.facts.has_lines)
      local sections, entry = ("<I8"):unpack(bytes, 0x29), ("<I2"):unpack(bytes, 0x3b)
      assert.equal(64, entry)
      for i = 0, ("<I2"):unpack(bytes, 0x3d) - 1 do
         local _, _, flags, _, at = ("<I4I4I8I8I8"):unpack(bytes, sections + i * entry + 1)
         if flags & 0x800 ~= 0 then -- ELFCOMPRESS_ZSTD
            bytes = bytes:sub(1, at) .. ("<I4"):pack(2) .. bytes:sub(at + 5)
         end
      end
      command.file("compressed/other", bytes)
      local packed <close> = assert(symbols_of.open { exe = path, dictionary = core.dictionary() })
      assert.is_false(packed.facts.has_lines)
   end)

   it("are read in a separate debug file", function()
      if not (programs.has "gcc" and programs.has "objcopy") then
         return pending "needs gcc and objcopy"
      end
      run "objcopy --only-keep-debug --compress-debug-sections=zlib plain apart.debug"
      run "objcopy --strip-all --add-gnu-debuglink=apart.debug plain apart"
      same "apart"
   end)
end)
