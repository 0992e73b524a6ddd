-- Files that are written from Lua: complete ones appear, inputs stay, and several of one call are
-- replaced together.
--
-- Tags: user.
-- Costly: many commands.

local command = require "spec.support.command"
local core = require "profio.core"
local dcpi = require "spec.support.dcpi_builder"
local elf = require "spec.support.elf"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local pri = require "profio.formats.xpp.pri"
local profio = require "profio"

local read = command.read

local folder = command.folder .. "/outputs"

local function path_of(name)
   return folder .. "/" .. name
end

local function file(name, bytes)
   return command.file("outputs/" .. name, bytes)
end

local function sh(line)
   return (command.run("cd outputs && " .. line))
end

-- All files and folders of the folder.
local function names()
   local list = {}
   local function add(below)
      for name in lfs.dir(path_of(below)) do
         if name ~= "." and name ~= ".." then
            list[#list + 1] = below .. name
            if lfs.symlinkattributes(path_of(below .. name), "mode") == "directory" then
               add(below .. name .. "/")
            end
         end
      end
   end
   add ""
   table.sort(list)
   return table.concat(list, " ")
end

-- A table with a memo file, and a trace in packets.
local function write_tables()
   local w = assert(profio.create(path_of "t.dbf", { format = "dbf", fields = "ID C(4), NOTE M" }))
   w:write { ID = "a", NOTE = ("x"):rep(300) }
   assert(w:close())
   w = assert(profio.create(path_of "p.prf", { format = "xpp", packets = true, flush_every = 1 }))
   for i = 1, 4 do
      w:write { thread = 1, time = i * 1000000, op = i % 2 == 1 and "i" or "o", call = "A",
         params = "p" .. i }
   end
   assert(w:close())
end

before_each(function()
   disk.fresh(folder)
   file("gmon.out", command.trace())
end)

after_each(function()
   disk.remove(folder) -- other specs read the folder above as a database
end)

-- Returns what is equal for all names of a regular file.
local function identity(path)
   return (select(3, core.file_state(path)))
end

describe("an output that was read", function()
   local function raises(name, f, ...)
      local before, all = read(path_of(name)), names()
      local ok, message = pcall(f, ...)
      assert.is_false(ok)
      assert.matches("write into another file", message)
      assert.matches(path_of(name), message, 1, true)
      assert.equal(before, read(path_of(name)))
      assert.equal(all, names())
   end

   it("raises in trace:export, profile:export and trace:save", function()
      file("old.out", command.trace())
      file("small.nm", command.nm)
      file("prog", elf.build { symbols = {
         { name = "f", value = 0x1000, size = 0x300, type = "func", bind = "global" } } })
      sh "ln -s gmon.out link && ln gmon.out hard"
      local trace = assert(profio.open(path_of "gmon.out", { exe = path_of "prog",
         symbols = path_of "small.nm" }))
      local old <close> = assert(profio.open(path_of "old.out"))
      local profile = trace:profile()
      local change = (profile - old:profile()):scale(2)
      for _, name in ipairs { "gmon.out", "link", "hard", "prog", "small.nm" } do
         for _, kind in ipairs { "pprof", "folded", "svg", "speedscope", "html" } do
            raises(name, trace.export, trace, kind, path_of(name))
            raises(name, profile.export, profile, kind, path_of(name))
            raises(name, change.export, change, kind, path_of(name))
         end
         raises(name, trace.save, trace, path_of(name))
      end
      raises("old.out", change.export, change, "folded", path_of "old.out")
      assert.is_true(profile:export("folded", path_of "old.out"))
      trace:close()
      raises("gmon.out", profile.export, profile, "folded", path_of "gmon.out")
      raises("gmon.out", change.export, change, "folded", path_of "hard")
   end)

   it("is recognised by an identity that all names of a regular file share", function()
      file("other.out", command.trace())
      sh "ln -s gmon.out link && ln gmon.out hard && mkfifo pipe && ln -s none broken"
      local id = identity(path_of "gmon.out")
      assert.equal("string", type(id))
      assert.same({ id, id }, { identity(path_of "link"), identity(path_of "hard") })
      assert.is_true(id ~= identity(path_of "other.out"))
      for _, path in ipairs { folder, path_of "pipe", path_of "broken", path_of "none" } do
         assert.is_nil(identity(path))
      end
   end)

   it("has a state that tells its size and the time of its last change", function()
      file("sized.out", ("x"):rep(77))
      sh "touch -d @1234567890 sized.out && mkfifo pipe2"
      assert.same({ 77, 1234567890, identity(path_of "sized.out") },
         { core.file_state(path_of "sized.out") })
      for _, path in ipairs { folder, path_of "pipe2", path_of "none" } do
         assert.is_nil(core.file_state(path))
      end
   end)

   it("raises when one of several outputs is it", function()
      write_tables()
      local trace <close> = assert(profio.open(path_of "t.dbf"))
      raises("t.fpt", trace.save, trace, path_of "t.fpt")
      raises("t.fpt", trace.save, trace, path_of "u.dbf", { memo = path_of "t.fpt" })
      raises("t.dbf", trace.save, trace, path_of "u.dbf", { memo = path_of "t.dbf" })
      local packets <close> = assert(profio.open(path_of "p.prf"))
      local given = { packets = true, flush_every = 1 }
      raises("p.prf", packets.save, packets, path_of "p.prf", given)
      raises("p.prf.000003", packets.save, packets, path_of "p.prf.000003")
      sh "cp p.prf q.prf; ln p.prf.000002 q.prf.000001"
      raises("q.prf.000001", packets.save, packets, path_of "q.prf", given)
   end)

   it("raises when two outputs of one call are one file", function()
      for _, case in ipairs {
         { "x.prv", { format = "xpp" } },
         { "x.dbf", { format = "dbf", fields = "ID C(4)", memo = folder .. "/./x.dbf" } },
      } do
         local ok, message = pcall(profio.create, path_of(case[1]), case[2])
         assert.is_false(ok)
         assert.matches("two outputs would be this file", message)
      end
      assert.equal("gmon.out", names())
   end)
end)

describe("files of one call", function()
   local given = { format = "xpp", form = "foxdbe", packets = true, flush_every = 1 }

   local function write(count)
      local w = assert(profio.create(path_of "p.prf", given))
      for i = 1, count do
         w:write { thread = 1, time = i * 1000000, op = "i", call = "B", params = "new" .. i }
      end
      return w
   end

   local function all_bytes()
      return sh "md5sum p.*"
   end

   it("appear together, also when they are more than a process may have open", function()
      local w = write(300)
      assert.equal("gmon.out", names():match "%S+$")
      assert.is_nil(names():find("p.prf", 1, true))
      assert(w:close())
      local trace <close> = assert(profio.open(path_of "p.prf"))
      assert.equal(300, trace.entries:count())
      assert.equal(303, select(2, names():gsub("%S+", "")))
   end)

   it("stay as they were when one of them cannot be written", function()
      assert(write(5):close())
      local before = all_bytes()
      sh "mkdir p.prf.000007"
      local w = assert(profio.create(path_of "p.prf", given))
      local message
      for i = 1, 9 do
         local ok, why = w:write { thread = 1, time = i * 1000000, op = "i", call = "B",
            params = "new" }
         message = message or not ok and why
      end
      local done, again, code = w:close()
      assert.same({ nil, message, "io" }, { done, again, code })
      assert.matches("is a folder", message)
      assert.equal(before, all_bytes())
      assert.is_nil(names():find ".profio")
   end)

   it("stay as they were when the writer is left by an error, or is dropped", function()
      assert(write(5):close())
      local before, all = all_bytes(), names()
      pcall(function()
         local w <close> = write(90)
         w:flush()
         error "left"
      end)
      assert.equal(before, all_bytes())
      assert.equal(all, names())
      write(90)
      collectgarbage()
      collectgarbage()
      assert.equal(all, names())
   end)

   it("have none for a pipe", function()
      sh "mkfifo pipe.prf; { cat pipe.prf > got & }"
      local w = assert(profio.create(path_of "pipe.prf", { format = "xpp" }))
      w:write { thread = 1, time = 1000000, op = "i", call = "B" }
      assert(w:close())
      assert.equal("named pipe", lfs.attributes(path_of "pipe.prf", "mode"))
      assert.equal("gmon.out got pipe.prf", names())
   end)
end)

describe("a writer through a ring", function()
   it("leaves no file if it cannot start", function()
      file("x.prf.ring", "the user's own")
      local w, message, code = profio.create(path_of "x.prf", { format = "br", ring = {} })
      assert.is_nil(w)
      assert.equal("io", code)
      assert.matches("x.prf.ring is another file", message)
      assert.equal("the user's own", read(path_of "x.prf.ring"))
      assert.equal("gmon.out x.prf.ring", names())
      file("x.prf", "old")
      assert.is_nil((profio.create(path_of "x.prf", { format = "br", ring = {} })))
      assert.equal("old", read(path_of "x.prf"))
   end)

   it("has no ring beside a pipe, and keeps a link to its file", function()
      sh "mkfifo pipe; { cat pipe > got & }; ln -s x.prf link"
      for _, name in ipairs { "pipe", "link" } do
         local w = assert(profio.create(path_of(name), { format = "xpp", form = "text",
            ring = {} }))
         w:write { thread = 1, time = 1000000, op = "i", call = "B" }
         assert(w:flush())
         assert.is_nil(names():find "pipe.ring")
         assert(w:close())
      end
      assert.equal("named pipe", lfs.attributes(path_of "pipe", "mode"))
      assert.equal("link", lfs.symlinkattributes(path_of "link", "mode"))
      assert.equal("gmon.out got link pipe x.prf", names())
   end)
end)

describe("the recorder", function()
   local recorder = require "profio.recorder"

   it("does not overwrite the script, and checks its output at the start", function()
      local script = file("own.lua", "for i = 1, 10 do local x = i end")
      for _, mode in ipairs { "timed", "sampled", "calls", "aggregate" } do
         local _, status, errors = command.run(("cd outputs && PROFIO_RECORD=mode=%s,path=own.lua "
            .. "%s lua5.4 -lprofio.recorder own.lua"):format(mode, command.in_tree))
         assert.equal(1, status)
         assert.matches("write into another file", errors)
         assert.equal("for i = 1, 10 do local x = i end", read(script))
      end
      local started, message, code = recorder.start { mode = "aggregate",
         path = folder .. "/nosuch/x.pb.gz" }
      assert.is_nil(started)
      assert.equal("io", code)
      assert.matches("cannot be written: its folder", message)
      assert.is_false(recorder.is_recording())
   end)

   it("replaces the file of an aggregate when it is complete", function()
      file("x.folded", "old")
      assert(recorder.start { mode = "aggregate", path = path_of "x.folded", format = "folded" })
      assert.equal("old", read(path_of "x.folded"))
      for _ = 1, 100 do
         names()
      end
      assert.is_nil(recorder.stop().failure)
      assert.matches("names", read(path_of "x.folded"))
      assert.equal("gmon.out x.folded", names())
   end)
end)

describe("settings of Xbase++", function()
   it("may be written where they were read, or not at all", function()
      file("x.pri", "[TRACE]\r\nOUTMSGSIZE=20\r\n")
      sh "chmod 640 x.pri && ln -s x.pri link.pri"
      local settings = assert(pri.read(path_of "link.pri")):set("OUTMSGSIZE", 40)
      assert(settings:write(path_of "link.pri"))
      assert.equal("[TRACE]\r\nOUTMSGSIZE=40\r\n", read(path_of "x.pri"))
      assert.equal("rw-r-----", lfs.attributes(path_of "x.pri", "permissions"))
      assert.equal("link", lfs.symlinkattributes(path_of "link.pri", "mode"))
      local ok, message, code = settings:write(path_of "no/x.pri")
      assert.same({ nil, "io" }, { ok, code })
      assert.matches("no/x.pri: cannot be written", message)
   end)
end)

describe("a database of DCPI", function()
   it("is complete or not there", function()
      file("one", dcpi():header():chunk(0x40, { 10, 5 }):footer():bytes())
      file("two", dcpi():header { event = "imiss" }:chunk(0x40, { 1 }):footer():bytes())
      local all = names()
      local is_over = false
      local trace <close> = assert(profio.open { path_of "one", path_of "two" })
      trace:watch(function(reader)
         return reader
      end, function()
         local was = is_over
         is_over = true -- from the second file on
         return was
      end)
      local bytes, message, code = trace:save(path_of "a/new/")
      assert.is_nil(bytes)
      assert.equal("io", code)
      assert.matches("interrupted", message)
      assert.equal(all, names())
      sh "mkdir empty"
      all = names()
      assert.is_nil((trace:save(path_of "empty")))
      assert.equal(all, names())
      assert.is_false((pcall(trace.save, trace, path_of "a/new/", { nosuch = 1 })))
      assert.equal(all, names())
      trace:watch(function(reader) return reader end, function() return false end)
      assert(trace:save(path_of "empty"))
      local made <close> = assert(profio.open(path_of "empty"))
      assert.equal(3, made.samples:count())
      assert.is_nil(names():find ".profio")
   end)
end)

describe("a file that is replaced", function()
   it("keeps its mode, and the link that named it", function()
      local trace <close> = assert(profio.open(path_of "gmon.out"))
      file("old", "old")
      sh "chmod 640 old && ln -s old link"
      for _, kind in ipairs { "pprof", "folded", "svg", "html" } do
         assert(trace:export(kind, path_of "link"))
      end
      assert(trace:save(path_of "link"))
      command.run "cd outputs && profio --report flat --output csv -o link gmon.out"
      assert.matches("^function,", read(path_of "old"))
      assert.equal("rw-r-----", lfs.attributes(path_of "old", "permissions"))
      assert.equal("link", lfs.symlinkattributes(path_of "link", "mode"))
      assert.equal("gmon.out link old", names())
   end)

   it("is found through as many links as the system follows", function()
      local first = file("links-0", "old")
      for i = 1, 41 do
         sh(("ln -s links-%d links-%d"):format(i - 1, i))
      end
      assert.equal("old", read(path_of "links-40"))
      assert.is_nil((io.open(path_of "links-41")))
      local trace <close> = assert(profio.open(path_of "gmon.out"))
      local done, message, code = trace:export("folded", path_of "links-41")
      assert.same({ nil, "io", "old" }, { done, code, read(first) })
      assert.matches("Too many levels of symbolic links", message, 1, true)
      assert(trace:export("folded", path_of "links-40"))
      assert.not_equal("old", read(first))
      assert.equal("link", lfs.symlinkattributes(path_of "links-40", "mode"))
   end)
end)

describe("core.output", function()
   it("is a file of Lua that leaves nothing until the commit", function()
      file("x", "old")
      local all = names()
      local out = assert(core.output(path_of "x"))
      out:write "new"
      assert.equal("old", read(path_of "x"))
      out:close()
      assert.equal("old", read(path_of "x"))
      out = assert(core.output(path_of "x"))
      assert(out:write("new", 1) and out:seek("set", 0) and out:write "N" and out:flush())
      assert.is_true(core.commit(out))
      assert.equal("New1", read(path_of "x"))
      assert.equal(all, names())
      assert.is_false((pcall(core.commit, out)))
      assert.is_false((pcall(core.commit, io.stdout)))
      assert.is_false((pcall(core.output, "a\0b")))
      assert(core.output(path_of "y"))
      collectgarbage()
      collectgarbage()
      assert.equal(all, names())
   end)

   it("keeps its folder if the current one changes, and reports removed files", function()
      local before = assert(lfs.currentdir())
      lfs.chdir(folder)
      local out = assert(core.output "x")
      lfs.chdir "/"
      local done = core.commit(out)
      lfs.chdir(before)
      assert.is_true(done)
      assert.equal("gmon.out x", names())
      out = assert(core.output(path_of "x"))
      sh "rm x && mkdir x"
      local ok, message, code = core.commit(out)
      assert.same({ nil, "io" }, { ok, code })
      assert.matches("x: cannot be written: it is no regular file any more", message)
      assert.equal("gmon.out x", names())
   end)
end)
