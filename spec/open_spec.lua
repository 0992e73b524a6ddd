-- Tags: user, stressed.

local disk = require "spec.support.disk"
local profio = require "profio"

local function write(path, bytes)
   local file <close> = assert(io.open(path, "wb"))
   file:write(bytes)
   return path
end

local function scratch(bytes)
   return write(disk.temporary(), bytes)
end

-- A small gmon.out: one histogram of 4 bins, one arc. Little-endian, 8-byte addresses.
local gmon = "gmon" .. ("<I4"):pack(1) .. ("\0"):rep(12)
   .. ("<BI8I8I4I4c15c1"):pack(0, 0x1000, 0x1010, 4, 100, "seconds", "s")
   .. ("<I2I2I2I2"):pack(0, 3, 0, 1)
   .. ("<BI8I8I4"):pack(1, 0x1004, 0x1008, 7)

describe("profio.open", function()
   it("raises at wrong use", function()
      assert.error_matches(function() profio.open() end, "open expects a path")
      assert.error_matches(function() profio.open {} end, "at least one path")
      assert.error_matches(function() profio.open { "a.BIN", mapping = "a" } end,
         "no field 'mapping'")
      assert.is_nil(profio.open(table.pack "/nowhere"))
      assert.error_matches(function() profio.open({ data = 1 }) end, "data = string")
      assert.error_matches(function() profio.open("x", 1) end, "table of options")
      assert.error_matches(function() profio.open("x", { format = "nope" }) end,
         "no format 'nope'; there are: gmon")
      assert.error_matches(function() profio.open({ data = gmon }, { nope = 1 }) end,
         "no option 'nope'")
      assert.error_matches(function() profio.open({ data = gmon }, { strict = 1 }) end,
         "option 'strict' must be true or false")
   end)

   it("returns nil, message, code for missing files and directories", function()
      local trace, message, code = profio.open "/nonexistent/gmon.out"
      assert.is_nil(trace)
      assert.equal("/nonexistent/gmon.out: No such file or directory", message)
      assert.equal("io", code)
      trace, message, code = profio.open "/"
      assert.is_nil(trace)
      assert.matches("^/: is a directory", message)
      assert.equal("io", code)
   end)

   it("shows the first bytes of an unknown file", function()
      local trace, message, code = profio.open { data = "\255\216\255\224 JFIF", path = "x.jpg" }
      assert.is_nil(trace)
      assert.matches("^x.jpg: not a trace of a known format %(it begins ff d8 ff e0", message)
      assert.matches("byte 0", message)
      assert.equal("format", code)
      trace, message, code = profio.open { data = "" }
      assert.is_nil(trace)
      assert.matches("the file is empty", message)
      assert.equal("format", code)
      trace, message = profio.open { data = "\127ELF" .. ("\0"):rep(60) }
      assert.is_nil(trace)
      assert.matches("an executable, not a trace", message)
   end)

   it("reads files, strings and packed data alike", function()
      local path = scratch(gmon)
      finally(function() os.remove(path) os.remove(path .. ".gz") end)
      assert(os.execute("gzip -kf " .. path))
      local packed <close> = assert(io.open(path .. ".gz", "rb"))
      for _, what in ipairs { path, { data = gmon }, path .. ".gz",
         { data = packed:read "a" } } do
         local trace <close> = assert(profio.open(what))
         assert.equal("gmon", trace.format)
         assert.same({ { from = 0x1004, to = 0x1008, count = 7 } },
            trace.arcs:rows("from", "to", "count"))
      end
   end)

   it("limits the size of unpacked data", function()
      local path = scratch(("\0"):rep(100000))
      finally(function() os.remove(path .. ".gz") end)
      assert(os.execute("gzip -f " .. path))
      local trace, message, code = profio.open(path .. ".gz", { max_size = 5000 })
      assert.is_nil(trace)
      assert.matches("max_size", message)
      assert.equal("limit", code)
   end)

   it("leaves room in the temporary folder when data are unpacked or piped", function()
      local path, library = scratch "", scratch(""):gsub("$", ".so")
      finally(function() os.remove(path .. ".gz") os.remove(path .. ".c") os.remove(library) end)
      -- A file system of 100 MB, of which what the process has written is used.
      local file <close> = assert(io.open(path .. ".c", "w"))
      file:write [[
         #define _GNU_SOURCE
         #include <sys/stat.h>
         #include <sys/statvfs.h>
         int fstatvfs (int fd, struct statvfs *found) {
           struct stat about;
           fstat(fd, &about);
           *found = (struct statvfs){.f_frsize = 1};
           found->f_bavail = about.st_size < 100000000 ? 100000000 - about.st_size : 0;
           return 0;
         }
      ]]
      file:close()
      assert(os.execute(("cc -shared -fPIC -o '%s' '%s.c'"):format(library, path)))
      local preloading = "ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD='%s' "
      local function run(input)
         local pipe = assert(io.popen(("%s | " .. preloading
            .. "lua5.4 examples/analyze.lua - 2>&1")
            :format(input, library)))
         local said = pipe:read "a"
         local _, _, status = pipe:close()
         return said, status
      end
      assert(os.execute(("head -c 200000000 /dev/zero | gzip -1 > '%s.gz'"):format(path)))
      for _, input in ipairs { ("cat '%s.gz'"):format(path), "head -c 200000000 /dev/zero" } do
         local said, status = run(input)
         assert.matches("of which 6250000 bytes stay free: TMPDIR names another one", said)
         assert.equal(1, status)
      end
      assert(os.execute(("head -c 90000000 /dev/zero | gzip -1 > '%s.gz'"):format(path)))
      assert.matches("not a trace of a known format", (run(("cat '%s.gz'"):format(path))))
   end)

   local function warning_of(trace, code)
      for _, warning in ipairs(trace.warnings) do
         if warning.code == code then
            return warning
         end
      end
   end

   -- 300 arcs, or `count`, as gzip packs them.
   local function packed_arcs(count)
      local arcs = {}
      math.randomseed(4)
      for i = 1, count or 300 do
         arcs[i] = string.pack("<Bi8i8i4", 1, math.random(1 << 40), math.random(1 << 40), i)
      end
      local path = scratch(gmon:sub(1, 20) .. table.concat(arcs))
      finally(function() os.remove(path .. ".gz") end)
      assert(os.execute("gzip -f " .. path))
      local file <close> = assert(io.open(path .. ".gz", "rb"))
      return file:read "a"
   end

   it("reads packed data that end early as far as they can be unpacked", function()
      local packed = packed_arcs()
      local seen = 0
      for _, size in ipairs { 1000, #packed // 2, #packed - 9, #packed - 1 } do
         local data = packed:sub(1, size)
         local trace <close> = assert(profio.open({ data = data }, { format = "gmon" }))
         local told = warning_of(trace, "gzip-truncated")
         assert.equal("damage", told.kind)
         assert.matches("gzip data ends early %(byte %d+%): what could be unpacked is read",
            told.message)
         local count = 0
         for n in trace.arcs:each "count" do
            count = count + 1
            assert.equal(count, n)
         end
         assert.is_true(count >= seen)
         seen = count
         local refused, message, code = profio.open({ data = data }, { strict = true })
         assert.is_nil(refused)
         assert.matches("gzip data ends early %(byte " .. size .. "%)$", message)
         assert.equal("truncated", code)
      end
      assert.equal(300, seen)
      assert.is_nil(profio.open { data = packed:sub(1, 12) })
   end)

   it("reads packed data up to where they are damaged", function()
      local packed = packed_arcs()
      local wrong_sum = packed:sub(1, -5) .. "\0\0\0\0"
      local trace <close> = assert(profio.open { data = wrong_sum })
      assert.equal(300, trace.arcs:count())
      assert.matches("gzip data is damaged", warning_of(trace, "gzip-damaged").message)
   end)

   it("reports bytes after packed data that are no member, except zeros", function()
      local packed = packed_arcs()
      local small = packed_arcs(1)
      local cases = { [small .. "\30" .. small:sub(2)] = #small, [small .. "\0\0x"] = #small + 2,
         [packed .. "\30" .. packed:sub(2)] = #packed, [small .. "\31\0"] = #small + 2 }
      for data, byte in pairs(cases) do
         local path = scratch(data)
         for _, what in ipairs { { data = data }, path } do
            local trace <close> = assert(profio.open(what))
            assert.equal(byte > #packed // 2 and 300 or 1, trace.arcs:count())
            assert.matches("gzip data is damaged: .* %(byte " .. byte .. "%)",
               warning_of(trace, "gzip-damaged").message)
         end
         os.remove(path)
      end
      for _, padding in ipairs { "", "\0", ("\0"):rep(1000) } do
         local trace <close> = assert(profio.open { data = packed .. padding })
         assert.same({}, trace.warnings)
      end
   end)

   it("fails if a packed file shrinks while it is unpacked", function()
      local path = scratch ""
      local packed, library = path .. ".gz", path .. ".so"
      finally(function()
         for _, name in ipairs { path, path .. ".c", packed, library } do
            os.remove(name)
         end
      end)
      -- Called once 1 MiB is unpacked.
      local file = assert(io.open(path .. ".c", "w"))
      file:write(([[
         #include <sys/statvfs.h>
         #include <unistd.h>
         int fstatvfs (int fd, struct statvfs *found) {
           *found = (struct statvfs){.f_frsize = 0};
           return fd < 0 || truncate("%s", 500000) != 0;
         }
      ]]):format(packed))
      file:close()
      assert(os.execute(("cc -shared -fPIC -o '%s' '%s.c'"):format(library, path)))
      -- In the middle of the data; and at the end of a member, where zeros could be padding.
      for _, command in ipairs { "head -c 3000000 /dev/urandom | gzip -1 >'%s'",
         "{ head -c 2000000 /dev/zero | gzip -1; head -c 600000 /dev/zero; } >'%s'" } do
         assert(os.execute(command:format(packed)))
         local pipe = assert(io.popen(("ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD='%s' "
            .. "lua5.4 examples/analyze.lua '%s' 2>&1"):format(library, packed)))
         assert.matches("the file shrank or failed while it was read", pipe:read "a")
      end
   end)

   -- Files named *.gz are unpacked at once.
   it("reads several packed files in their order, the damaged one named", function()
      local paths = {}
      for i = 1, 5 do
         paths[i] = scratch(gmon) .. ".gz"
         assert(os.execute("gzip -f " .. paths[i]:sub(1, -4)))
      end
      finally(function()
         for _, path in ipairs(paths) do
            os.remove(path)
         end
      end)
      local trace <close> = assert(profio.open { paths[1], paths[2], { data = gmon }, paths[3],
         paths[4], paths[5] })
      assert.equal(6, trace.arcs:count())
      assert.equal(paths[5], trace.arcs:rows("file")[6].file)
      local file = assert(io.open(paths[4], "r+b"))
      local whole = file:read "a"
      file:close()
      file = assert(io.open(paths[4], "wb"))
      file:write(whole:sub(1, #whole // 2))
      file:close()
      local part <close> = assert(profio.open(paths))
      assert.equal(4, part.arcs:count())
      assert.equal(paths[4], warning_of(part, "gzip-truncated").message:sub(1, #paths[4]))
      local none, message, code = profio.open(paths, { strict = true })
      assert.is_nil(none)
      assert.equal("truncated", code)
      assert.equal(paths[4], message:sub(1, #paths[4]))
      none, message, code = profio.open({ paths[3], paths[4] }, { max_size = 3 })
      assert.is_nil(none)
      assert.equal("limit", code)
      assert.equal(paths[3], message:sub(1, #paths[3]))
   end)

   it("reads standard input", function()
      local path = scratch(gmon)
      finally(function() os.remove(path) end)
      local script = [[
         package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
         package.cpath = (os.getenv "PROFIO_BUILD" or "build") .. "/?.so;" .. package.cpath
         local trace <close> = assert(require "profio".open "-")
         print(trace.path, trace.arcs:count())]]
      local program = scratch(script)
      finally(function() os.remove(program) os.remove(path) end)
      local pipe = assert(io.popen(("cat %s | lua5.4 %s"):format(path, program)))
      assert.equal("-\t1\n", pipe:read "a")
      assert(pipe:close())
   end)

   it("joins several files to one trace with a column file", function()
      local trace <close> = assert(profio.open { { data = gmon, path = "a" },
         { data = gmon, path = "b" } })
      assert.same({
         { file = "a", count = 7 }, { file = "b", count = 7 },
      }, trace.arcs:rows("file", "count"))
      assert.same({ 0, 0, 0, 0, 1, 1, 1, 1 }, (function()
         local sets = {}
         for set in trace.histogram:each "set" do
            sets[#sets + 1] = set
         end
         return sets
      end)())
      assert.equal(2, trace.info.files)
      assert.equal(2, trace.info.sets)
   end)
end)

describe("a trace", function()
   it("describes itself", function()
      local trace <close> = assert(profio.open { data = gmon, path = "x" })
      assert.equal("gmon", trace.format)
      assert.equal("x", trace.path)
      assert.equal("gnu", trace.info.dialect)
      assert.equal("little", trace.info.byte_order)
      assert.equal(8, trace.info.address_size)
      assert.same({}, trace.warnings)
      assert.equal("histogram", trace.tables[1])
      assert.is_true(tostring(trace):find("gmon", 1, true) ~= nil)
   end)

   it("means its main table by its own methods", function()
      local trace <close> = assert(profio.open { data = gmon })
      assert.same(trace.histogram:rows "count", trace:rows "count")
      assert.equal(4, trace:count())
   end)

   it("gives raw records that make the file again", function()
      local trace <close> = assert(profio.open { data = gmon })
      local joined = {}
      for bytes in trace.raw:each "bytes" do
         joined[#joined + 1] = bytes
      end
      assert.equal(gmon, table.concat(joined))
   end)

   it("keeps records up to the damage, warns once, and is strict when told", function()
      local cut = gmon:sub(1, -5)
      local trace <close> = assert(profio.open { data = cut })
      assert.equal(0, trace.arcs:count())
      assert.equal(4, trace.histogram:count())
      assert.equal(1, #trace.warnings)
      local warning = trace.warnings[1]
      assert.equal("damage", warning.kind)
      assert.equal(#gmon - 21, warning.offset)
      assert.matches("^gmon%-", warning.code)
      local none, message, code = profio.open({ data = cut, path = "cut" }, { strict = true })
      assert.is_nil(none)
      assert.matches("^cut: gmon: .*%(byte " .. #gmon - 21 .. "%)$", message)
      assert.equal("truncated", code)
   end)

   it("checks the whole of a file", function()
      local trace <close> = assert(profio.open { data = gmon })
      assert.same({}, trace:check())
      local damaged <close> = assert(profio.open { data = gmon .. "\9" })
      assert.equal(1, #damaged:check())
   end)

   it("raises when it is used after close, and closes twice", function()
      local trace = assert(profio.open { data = gmon })
      local view = trace.arcs
      local iterator = view:each "count"
      local kept = trace.histogram:where { count = 3 }
      trace:close()
      trace:close()
      assert.error_matches(function() iterator() end, "trace is closed")
      assert.error_matches(function() view:rows() end, "trace is closed")
      assert.error_matches(function() kept:count() end, "trace is closed")
      assert.error_matches(function() trace:table "arcs" end, "trace is closed")
      assert.equal("gmon", trace.format)
      assert.same({}, trace.warnings)
   end)

   it("lives as long as its views", function()
      local count = (function()
         return assert(profio.open { data = gmon }).arcs:each "count"
      end)()
      collectgarbage()
      collectgarbage()
      assert.equal(7, count())
      assert.is_nil(count())
   end)

   it("returns an error if the file shrinks under the mapping", function()
      local path = scratch(gmon .. (("<BI8I8I4"):pack(1, 0x1004, 0x1008, 7)):rep(20000))
      finally(function() os.remove(path) end)
      local trace <close> = assert(profio.open(path))
      local next_count = trace.arcs:each "count"
      assert.equal(7, next_count())
      write(path, gmon:sub(1, 30))
      local ok, message = pcall(function()
         while next_count() do end -- luacheck: ignore 542
      end)
      assert.is_false(ok)
      assert.matches("shrank", message)
   end)

   it("is saved as every other format, or refused in words", function()
      local seeds = { br = "timed", gmon = "gnu-w8-le", pprof = "small", winidea = "bin-1.1",
         xpp = "foxdbe", dcpi = "golden" }
      for name, seed in pairs(seeds) do
         local trace <close> = assert(profio.open(("spec/fuzz/corpus/%s/%s"):format(name, seed)))
         for _, format in ipairs(profio.formats()) do
            local ok, bytes, message = pcall(trace.save, trace, nil, { format = format.name })
            local words = ok and (bytes or message) or bytes
            assert.is_nil(words:match "attempt to" or words:match "no table 'structure'",
               name .. " as " .. format.name)
         end
      end
   end)
end)

describe("a view", function()
   local trace = assert(profio.open { data = gmon })

   it("names the existing columns for an unknown one", function()
      assert.error_matches(function() trace.arcs:rows "nope" end,
         "no column 'nope'; there are: from, to, count")
   end)

   it("refuses arguments of wrong types", function()
      local arcs = trace.arcs
      assert.error_matches(function() arcs:where() end, "where expects a table")
      assert.error_matches(function() arcs:filter "x" end, "filter expects a function")
      assert.error_matches(function() arcs:limit(-1) end, "limit: the number of rows must be")
      assert.error_matches(function() arcs:sort() end, "at least one column")
      assert.error_matches(function() arcs:aggregate {} end, "at least one")
   end)

   it("is immutable", function()
      local base = trace.histogram
      local filtered = base:where { count = profio.between(1, 3) }
      assert.equal(2, filtered:count())
      assert.equal(4, base:count())
      assert.same({ { count = 1 } }, filtered:where { count = 1 }:rows "count")
      assert.equal(2, filtered:count())
   end)
end)

describe("objects of the core", function()
   it("check self, also in finalisers", function()
      local core = require "profio.core"
      local source = core.source_data("x", "x")
      local methods = getmetatable(source)
      for _, wrong in ipairs { io.stdout, "text", 1 } do
         assert.has_error(function() methods.__gc(wrong) end)
         assert.has_error(function() methods.__index.close(wrong) end)
         assert.has_error(function() methods.__index.size(wrong) end)
      end
      assert.has_error(function() methods.__index.close() end)
      source:close()
      source:close()
      assert.error_matches(function() source:size() end, "source is closed")
   end)
end)

describe("an executable", function()
   local programs = require "spec.support.programs"
   local names, folder = programs.corpus("gmon/made", ".gmon")
   if #names == 0 then
      pending "the corpus is not there"
      return
   end
   local base = folder .. "/"

   local function codes(trace)
      local list = {}
      for i, warning in ipairs(trace.warnings) do
         list[i] = warning.kind .. " " .. warning.code
      end
      return list
   end

   it("that fits says nothing, on every machine", function()
      for _, name in ipairs(names) do
         local trace <close> = assert(profio.open(base .. name .. ".gmon",
            { exe = base .. name .. ".elf" }))
         assert.same({}, codes(trace), name)
      end
   end)

   it("of another program is noted", function()
      for _, exe in ipairs { "drift-x86_64.elf", "arm-linux-gnueabi-pie.elf" } do
         local trace <close> = assert(profio.open(base .. "isra-x86_64.gmon",
            { exe = base .. exe }))
         assert.same({ "note gmon-executable-mismatch" }, codes(trace))
      end
   end)

   it("of another program gives addresses", function()
      for _, exe in ipairs { "drift-x86_64.elf", "arm-linux-gnueabi-pie.elf" } do
         local trace <close> = assert(profio.open(base .. "isra-x86_64.gmon",
            { exe = base .. exe }))
         for name in trace:profile():flat():each "function" do
            assert.matches("^0x%x+$", name)
         end
      end
   end)

   it("that is missing or none is a failure", function()
      for exe, code in pairs { ["/nonexistent"] = "io", ["README.md"] = "format" } do
         for _, option in ipairs { "exe", "symbols" } do
            local trace, message, found = profio.open(base .. "isra-x86_64.gmon",
               { [option] = exe })
            assert.is_nil(trace)
            assert.equal(code, found)
            assert.is_truthy(message:find(exe, 1, true))
         end
      end
   end)
end)
