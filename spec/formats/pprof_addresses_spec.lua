-- Files of pprof whose locations have addresses and no names, as gperftools, jemalloc and
-- converters of perf write them: an executable names them through the mappings.

local command = require "spec.support.command"
local profio = require "profio"
local programs = require "spec.support.programs"
local protobuf = require "spec.support.protobuf"

local message, number = protobuf.message, protobuf.number

local needs_gcc = programs.has "gcc" and it or pending

-- Compiles a program of two functions; returns its path, the link-time addresses of its functions,
-- and its build identifier.
local function compiled(flags)
   local source = programs.source("addresses.c",
      "volatile int s;\nvoid leaf(void) { s++; }\nint main(void) { leaf(); return 0; }\n")
   local path = command.folder .. "/addresses-program"
   assert(os.execute(("gcc -g -O0 -Wl,--build-id=sha1 %s -o '%s' '%s'"):format(flags, path,
      source)))
   local at = {}
   for address, name in programs.output("nm '%s'", path):gmatch "(%x+) T (%w+)" do
      at[name] = tonumber(address, 16)
   end
   local id = programs.output("readelf -n '%s'", path):match "Build ID: (%x+)"
   return path, at, id
end

-- Returns a profile with samples in leaf, called by main. `mapping`: start, limit, offset, file and
-- build_id; `at`: the run-time addresses.
local function profile_of(at, mapping)
   local strings = { "", "samples", "count", mapping.file or "", mapping.build_id or "" }
   local bytes = message(1, number(1, 1), number(2, 2))
      .. message(2, protobuf.packed(1, { 1, 2 }), protobuf.packed(2, { 7 }))
      .. message(3, number(1, 1), number(2, mapping.start), number(3, mapping.limit),
         number(4, mapping.offset), number(5, 3), number(6, 4))
      .. message(4, number(1, 1), number(2, mapping.id or 1), number(3, at.leaf + 5))
      .. message(4, number(1, 2), number(2, mapping.id or 1), number(3, at.main + 5))
   for _, text in ipairs(strings) do
      bytes = bytes .. message(6, text)
   end
   return bytes
end

-- Returns "function line" of the flat profile, and the codes of the warnings.
local function named(bytes, options)
   local trace <close> = assert(profio.open({ data = bytes }, options))
   local rows, codes = {}, {}
   for name, line in trace:profile():flat { zeros = true }:each("function", "line") do
      rows[#rows + 1] = line and ("%s %d"):format(name, line) or name
   end
   table.sort(rows)
   for i, warning in ipairs(trace.warnings) do
      codes[i] = warning.code
   end
   return rows, codes
end

-- A program that is not moved: its mapping begins at 0x401000, after 0x1000 bytes of the file.
local fixed = { start = 0x401000, limit = 0x402000, offset = 0x1000 }
local wanted = { "leaf 2", "main 3" }

describe("addresses of a pprof file", function()
   needs_gcc("have the names of an executable, with and without a name of its mapping", function()
      local path, at, id = compiled "-no-pie"
      for _, stated in ipairs { {}, { file = "/usr/bin/addresses-program" },
         { file = "/other/name", build_id = id }, { file = "/other/name", build_id = id:upper() },
         { id = 0 } } do
         for name, value in pairs(fixed) do
            stated[name] = value
         end
         local rows, codes = named(profile_of(at, stated), { exe = path })
         assert.same(wanted, rows)
         assert.same({}, codes)
      end
   end)

   needs_gcc("have the names of a program that was moved", function()
      for _, flags in ipairs { "-pie -fPIE",
         programs.has "ld.gold" and "-pie -fPIE -fuse-ld=gold" or nil } do
         local path, at, id = compiled(flags)
         local base = 0x555555554000
         local first, offset = programs.output("readelf -lW '%s'", path):match
            "LOAD +(0x%x+) (0x%x+)[^\n]* R E "
         offset, first = tonumber(first), tonumber(offset)
         local moved = { leaf = at.leaf + base, main = at.main + base }
         local rows, codes = named(profile_of(moved, { start = base + first,
            limit = base + first + 0x1000, offset = offset, build_id = id }), { exe = path })
         assert.same(wanted, rows, flags)
         assert.same({}, codes)
      end
   end)

   needs_gcc("have the names of a text of nm", function()
      local path, at = compiled "-no-pie"
      local nm = command.file("addresses.nm", programs.output("nm '%s'", path))
      assert.same({ "leaf", "main" }, (named(profile_of(at, fixed), { symbols = nm })))
   end)

   needs_gcc("stay addresses if the executable is another one, with a note", function()
      local path, at, id = compiled "-no-pie"
      local function note(stated, exe)
         for name, value in pairs(fixed) do
            stated[name] = value
         end
         return named(profile_of(at, stated), { exe = exe })
      end
      local rows, codes = note({ build_id = id:reverse(), file = path }, path)
      assert.matches("^0x%x+$", rows[1])
      assert.same({ "pprof-executable-mismatch" }, codes)
      rows, codes = note({ file = "/lib/libother.so" }, path)
      assert.matches("^0x%x+$", rows[1])
      assert.same({ "pprof-executable-mismatch" }, codes)
      programs.output("strip -o '%s.stripped' '%s'", path, path)
      rows, codes = note({ build_id = id }, path .. ".stripped")
      assert.matches("^0x%x+$", rows[1])
      assert.same({ "pprof-unnamed", "symbols-none" }, codes)
   end)

   needs_gcc("have names in the command, whether the executable is a file or an option", function()
      local path, at = compiled "-no-pie"
      local file = command.file("addresses.pb", profile_of(at, fixed))
      for _, words in ipairs { ("report flat %s %s"):format(file, path),
         ("report flat --exe %s %s"):format(path, file) } do
         local text, status, errors = command.run("profio " .. words)
         assert.same({ 0, "" }, { status, errors })
         assert.matches("\nleaf +7 ", text)
      end
      local _, status, errors = command.run(("profio report flat --exe %s --load-bias 16 %s")
         :format(path, file))
      assert.equal(2, status)
      assert.matches("load%-bias", errors)
   end)

   needs_gcc("are noted as named already where they are", function()
      local path = compiled "-no-pie"
      local bytes = message(1, number(1, 1), number(2, 2)) .. message(2,
         protobuf.packed(1, { 1 }), protobuf.packed(2, { 7 })) .. message(4, number(1, 1),
         message(4, number(1, 1))) .. message(5, number(1, 1), number(2, 3))
      for _, text in ipairs { "", "samples", "count", "named" } do
         bytes = bytes .. message(6, text)
      end
      local rows, codes = named(bytes, { exe = path })
      assert.same({ "named" }, rows)
      assert.same({ "pprof-has-names" }, codes)
   end)
end)
