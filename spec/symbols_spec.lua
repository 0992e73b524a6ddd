-- Tags: user, stressed.

local core = require "profio.core"
local elf = require "spec.support.elf"
local disk = require "spec.support.disk"
local symbols = require "profio.internal.symbols"

-- {====== Helpers ======

local folder

local function write(name, bytes)
   local path = folder .. "/" .. name
   os.execute("mkdir -p '" .. path:match "^(.*)/" .. "'")
   local file <close> = assert(io.open(path, "wb"))
   file:write(bytes)
   return path
end

local function text_section()
   return { name = ".text", address = 0x1000, size = 4096, flags = 6, type = "nobits" }
end

local function debug_file(id)
   return elf.build { sections = { elf.build_id(id), text_section() },
      symbols = { { name = "hidden", value = 0x1000, size = 16 } } }
end

local function crc_of(bytes)
   return core.debug_crc(assert(core.source_data(bytes, "data")))
end

local function open(options)
   options.dictionary = core.dictionary()
   options.rule = options.rule or "exact"
   options.debug_root = folder .. "/debug"
   return symbols.open(options)
end

-- }======

describe("profio.symbols", function()
   before_each(function()
      folder = disk.temporary()
      os.remove(folder)
      os.execute("mkdir '" .. folder .. "'")
   end)

   after_each(function()
      disk.remove(folder)
   end)

   it("opens an executable by path or as data", function()
      local bytes = elf.build { symbols = { { name = "main", value = 0x1000, size = 8 } } }
      local path = write("program", bytes)
      for _, exe in ipairs { path, { data = bytes, path = path } } do
         local found <close> = assert(open { exe = exe })
         assert.equal("main", found.symbols:find(0x1000).name)
         assert.equal(8, found.facts.address_size)
         assert.equal(path, found.exe)
         assert.is_nil(found.debug)
         assert.same({}, found.notes)
      end
   end)

   it("returns nil, message, code for unreadable files", function()
      local found, message, code = open { exe = folder .. "/none" }
      assert.is_nil(found)
      assert.equal(folder .. "/none: No such file or directory", message)
      assert.equal("io", code)
      found, message, code = open { exe = write("program.x", "\x01\xf0") }
      assert.is_nil(found)
      assert.matches("program.x: an XCOFF executable", message)
      assert.equal("unsupported", code)
      found, message, code = open { symbols = write("elf", elf.build {}) }
      assert.is_nil(found)
      assert.matches("elf: the text of nm expected, this is an executable: give it as exe", message)
      assert.equal("format", code)
      found, message, code = open { symbols = write("nm.txt", "no symbols here\n") }
      assert.is_nil(found)
      assert.matches("nm.txt: not the text of nm", message)
      assert.equal("format", code)
      assert.error_matches(function() symbols.open {} end, "expects exe or symbols")
   end)

   it("takes names from the text of nm, facts from the executable", function()
      local text = write("nm.txt", "00001000 T from_text\n")
      local exe = write("program", elf.build { symbols = { { name = "in_file", value = 0x1000 } } })
      local found = assert(open { exe = exe, symbols = text })
      assert.equal("from_text", found.symbols:find(0x1000).name)
      assert.equal(8, found.facts.address_size)
      found = assert(open { symbols = text })
      assert.equal("from_text", found.symbols:find(0x1000).name)
      assert.is_nil(found.facts.address_size)
   end)

   it("notes an executable of another kind beside the text of nm", function()
      local found = assert(open { exe = { data = "\x01\xf0" },
         symbols = { data = "00001000 T main\n" } })
      assert.equal("main", found.symbols:find(0x1000).name)
      assert.equal("symbols-unsupported", found.notes[1].code)
      assert.matches("XCOFF executable", found.notes[1].message)
      local none, _, code = open { exe = { data = "no program" },
         symbols = { data = "00001000 T main\n" } }
      assert.same({ nil, "format" }, { none, code })
   end)

   it("notes a stripped executable", function()
      local found = assert(open { exe = write("program", elf.build {}) })
      assert.equal(0, found.symbols:count())
      assert.equal("symbols-none", found.notes[1].code)
      assert.matches("stripped", found.notes[1].message)
   end)

   it("finds the debug file by build identifier", function()
      local exe = write("program", elf.build { sections = { elf.build_id "\xab\xcd\xef\1",
         text_section() } })
      local path = write("debug/.build-id/ab/cdef01.debug", debug_file "\xab\xcd\xef\1")
      local found = assert(open { exe = exe })
      assert.equal("hidden", found.symbols:find(0x1000).name)
      assert.equal(path, found.debug)
   end)

   it("takes no debug file of another build", function()
      local exe = write("program", elf.build { sections = { elf.build_id "\xab\xcd\xef\1",
         text_section() } })
      write("debug/.build-id/ab/cdef01.debug", debug_file "\xab\xcd\xef\2")
      assert.equal(0, assert(open { exe = exe }).symbols:count())
   end)

   it("finds the debug file that the executable names, in its three places", function()
      local debug = debug_file "\1\2\3\4"
      for _, place in ipairs { "bin/", "bin/.debug/", "debug" .. folder .. "/bin/" } do
         local exe = write("bin/program", elf.build { sections = { text_section(),
            elf.debug_link("program.debug", crc_of(debug)) } })
         local path = write(place .. "program.debug", debug)
         local found = assert(open { exe = exe })
         assert.equal("hidden", found.symbols:find(0x1000).name)
         assert.equal(path, found.debug)
         os.remove(path)
      end
   end)

   it("takes no debug file with another check sum, nor one in another folder", function()
      local debug = debug_file "\1\2\3\4"
      write("bin/program.debug", debug)
      local exe = write("bin/program", elf.build { sections = { text_section(),
         elf.debug_link("program.debug", crc_of(debug) ~ 1) } })
      assert.is_nil(assert(open { exe = exe }).debug)
      write("program.debug", debug)
      exe = write("bin/program", elf.build { sections = { text_section(),
         elf.debug_link("../program.debug", crc_of(debug)) } })
      assert.is_nil(assert(open { exe = exe }).debug)
   end)

   it("knows the check sum that objcopy uses", function()
      assert.equal(0xcbf43926, crc_of "123456789")
      assert.equal(0, crc_of "")
   end)

   it("knows an executable by its first bytes", function()
      assert.is_true(symbols.is_executable(write("program", elf.build {})))
      assert.is_true(symbols.is_executable(assert(core.source_data(elf.build {}, "data"))))
      assert.is_false(symbols.is_executable(write("text", "#!/bin/sh")))
      assert.is_false(symbols.is_executable(write("empty", "")))
      assert.is_false(symbols.is_executable(folder .. "/none"))
      assert.is_false(symbols.is_executable(folder))
   end)
end)

describe("the guess of a load bias", function()
   -- a position-independent program as gcc links it
   local facts = { address_size = 8, image_start = 0, image_end = 0x5000, entry = 0x1070,
      text_start = 0x1070, text_end = 0x12f9, code_start = 0x1000, code_end = 0x1305,
      segment_end = 0x1305 }

   local function guess(low, high)
      return (symbols.guess_bias(facts, low, high))
   end

   it("is 0 when the range is where the program was linked", function()
      assert.equal(0, guess(0, 0x1308))
      assert.equal(0, guess(0x1070, 0x1308))
      assert.equal(0, guess(0x1300, 0x2000))
   end)

   it("finds the start of the program or of its code", function()
      local bias, reason = symbols.guess_bias(facts, 0x555555555070, 0x555555555308)
      assert.equal(0x555555554000, bias)
      assert.matches("_start", reason)
      bias, reason = symbols.guess_bias(facts, 0x555555554000, 0x555555555308)
      assert.equal(0x555555554000, bias)
      assert.matches("the program", reason)
   end)

   it("is 0 when the end does not fit, or the distance is no number of pages", function()
      assert.equal(0, guess(0x555555555070, 0x555555559308))
      assert.equal(0, guess(0x555555555074, 0x55555555530c))
      assert.equal(0, guess(0x555555555070, 0x555555555200))
   end)

   it("is 0 without an executable", function()
      assert.equal(0, symbols.guess_bias({}, 0x1000, 0x2000))
      assert.equal(0, symbols.guess_bias({ address_size = 8, code_end = 0 }, 0x1000, 0x2000))
   end)

   it("works for addresses with the top bit", function()
      local bias = symbols.guess_bias(facts, math.mininteger + 0x1070, math.mininteger + 0x1308)
      assert.equal(math.mininteger, bias)
   end)
end)
