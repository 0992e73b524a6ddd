-- Writers through a ring: what comes out of them, and what is left when they are killed.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local wait = require "spec.support.wait"

local build = command.build

-- Run Lua in a process of its own: with redirections, and after a line of shell.
local function run_lua(script, redirections, before)
   return command.run(("%s %s lua5.4 -e '%s' %s"):format(before or "", command.in_tree, script,
      redirections or ""))
end

local function path_of(name)
   local path = command.folder .. "/" .. name
   os.remove(path)
   os.remove(path .. ".ring")
   return path
end

local function create(path, given)
   given = given or {}
   given.format = "br"
   given.ring = given.ring or {}
   given.ring.size = given.ring.size or "64K"
   return assert(profio.create(path, given))
end

local function exists(path)
   return lfs.attributes(path) ~= nil
end

-- The lines of a file, and the codes of its warnings.
local function lines_of(path)
   local trace <close> = assert(profio.open(path))
   local lines, codes = {}, {}
   for line in trace:each "line" do
      lines[#lines + 1] = line
   end
   for i, warning in ipairs(trace.warnings) do
      codes[i] = warning.code
   end
   return lines, codes, trace.info
end

local function count(from, to)
   local list = {}
   for i = from, to do
      list[#list + 1] = i
   end
   return list
end

describe("a writer through a ring", function()
   it("writes the same as without a ring", function()
      local paths = { path_of "with.br", path_of "without.br" }
      local with = create(paths[1])
      local without = assert(profio.create(paths[2], { format = "br" }))
      for _, w in ipairs { with, without } do
         local stack = w:stack { { area = "FNA", class = "function", file = "B.BR", line = 20 },
            { area = "A.BR", class = "main", file = "A.BR", line = 10, value = 3 } }
         assert.is_nil(w:stack {})
         assert(w:write { module = "A.BR", line = 10, clause = 2, kind = "main", spent = 5 })
         assert(w:write { stack = stack, spent = 7 })
         local emit = w:emitter("stack", "spent", "line", "module", "function")
         for i = 1, 3000 do
            emit(stack, i, i % 7, "M" .. i % 100 .. ".BR", "FN" .. i % 10)
         end
         assert.equal(0, select("#", emit(nil, nil, 1, "A.BR")))
         assert.equal("integer", math.type(w:close()))
      end
      assert.equal(command.read(paths[2]), command.read(paths[1]))
      assert.is_false(exists(paths[1] .. ".ring"))
   end)

   it("writes the same as without a ring, for records of all sizes", function()
      local paths = { path_of "with.br", path_of "without.br" }
      for _, pattern in ipairs { "4", "3", "2", "444444443", "1234", "5432154444444444", "5" } do
         local without = assert(profio.create(paths[2], { format = "br" }))
         for i, w in ipairs { create(paths[1]), without } do
            local stack = w:stack { { area = "FNA", class = "function", file = "B.BR", line = 20 },
               { area = "A.BR", class = "main", file = "A.BR", line = 10, value = 3 } }
            local emits = { w:emitter "module", w:emitter("module", "line"),
               w:emitter("module", "line", "spent"), w:emitter("stack", "spent"),
               w:emitter("module", "line", "clause", "spent", "function") }
            local values = { { "A.BR" }, { "B.BR", 0 }, { "C.BR", 0, 0 }, { stack, 0 },
               { "D.BR", 0, 7, 0, "FNB" } }
            for n = 1, 12000 do
               local kind = pattern:byte(n % #pattern + 1) - 48
               local row = values[kind]
               row[2] = row[2] and n
               emits[kind](row[1], row[2], row[3], row[4], row[5])
            end
            assert.equal("integer", math.type((assert(w:close()))), i)
         end
         assert.equal(command.read(paths[2]), command.read(paths[1]))
      end
   end)

   it("is wrapped many times and loses nothing", function()
      local path = path_of "long.br"
      local w <close> = create(path)
      local emit = w:emitter("module", "line")
      for i = 1, 50000 do
         emit("A.BR", i)
      end
      assert.same({ tried = 50000, lost = 0 }, { tried = w:facts().tried, lost = w:facts().lost })
      assert(w:flush())
      assert.equal(50000, w:facts().written)
      w:close()
      assert.same(count(1, 50000), (lines_of(path)))
   end)

   it("counts dropped records", function()
      local path = path_of "drop.br"
      local w = create(path, { ring = { full = "drop" } })
      local emit = w:emitter("module", "line")
      local kept = {}
      for i = 1, 50000 do
         if emit("A.BR", i) ~= false then
            kept[#kept + 1] = i
         end
      end
      assert.equal(50000 - #kept, w:facts().lost)
      assert(w:close())
      assert.same(kept, (lines_of(path)))
   end)

   it("writes in the thread of the program if it gets no other one", function()
      command.file("no_thread.c", [[
         #include <errno.h>
         int pthread_create (void *thread, const void *how, void *(*run)(void *), void *context) {
           (void)thread, (void)how, (void)run, (void)context;
           return EAGAIN;
         }]])
      local _, status, errors = command.run "cc -shared -fPIC -o no_thread.so no_thread.c"
      assert.equal(0, status, errors)
      for _, full in ipairs { "drop", "block" } do
         local path = path_of "alone.br"
         local said = run_lua(([[
            local w = assert(require "profio".create("%s", { format = "br", flush_every = 1000,
               ring = { size = "64K", full = "%s" } }))
            local emit = w:emitter("module", "line")
            for i = 1, 1500 do emit("A.BR", i) end
            print(w:facts().written >= 1000)
            for i = 1501, 50000 do emit("A.BR", i) end
            print(w:facts().lost)
            w:close()]]):format(path, full), nil, ("ASAN_OPTIONS=verify_asan_link_order=0 "
            .. "LD_PRELOAD='%s/no_thread.so'"):format(command.folder))
         assert.equal("true\n0\n", said, full)
         assert.same(count(1, 50000), (lines_of(path)))
      end
   end)

   it("keeps the last records when it overwrites, and counts the others", function()
      local path = path_of "over.br"
      local w = create(path, { ring = { full = "overwrite" } })
      local emit = w:emitter("module", "line")
      for i = 1, 1000 do
         emit("A.BR", i)
      end
      assert(w:flush())
      assert.equal(0, w:facts().written)
      assert(w:dump())
      assert.same({ tried = 1000, written = 1000, lost = 0, rounded = 0 }, w:facts())
      for i = 1001, 50000 do
         emit("A.BR", i)
      end
      local lost = w:facts().lost
      assert(lost > 40000)
      assert(w:close())
      local lines = lines_of(path)
      assert.equal(50000 - lost, #lines)
      assert.same(count(1, 1000), table.move(lines, 1, 1000, 1, {}))
      assert.same(count(lost + 1001, 50000), table.move(lines, 1001, #lines, 1, {}))
   end)

   it("has the records in the file after so many of them", function()
      local path = path_of "every.br"
      local w <close> = create(path, { flush_every = 100, fsync = true })
      for i = 1, 1000 do
         w:write { module = "A.BR", line = i }
      end
      assert(wait.until_true(function() return w:facts().written >= 900 end))
   end)

   it("takes names without end", function()
      local path = path_of "names.br"
      local w = create(path)
      local emit = w:emitter("module", "line", "function")
      for i = 1, 20000 do
         emit("A.BR", i, ("f"):rep(40) .. i)
      end
      assert(w:close())
      local trace <close> = assert(profio.open(path))
      local n = 0
      for line, name in trace:each("line", "function") do
         n = n + 1
         assert(line == n and name == ("f"):rep(40) .. n)
      end
      assert.equal(20000, n)
   end)

   it("refuses rows that the file cannot hold, and goes on", function()
      local path = path_of "refused.br"
      local w = create(path)
      assert.error_matches(function()
         w:write { module = "A.BR", line = -1 }
      end, "a line is %-1")
      assert.is_true(w:write { module = "A.BR", line = 1 })
      assert(w:close())
      assert.same({ 1 }, (lines_of(path)))
   end)

   it("fails at a later call after an emitter got a value that the file cannot hold", function()
      local path = path_of "late.br"
      local w = create(path)
      local emit = w:emitter("module", "line")
      emit("A.BR", 1)
      emit("A.BR", -1)
      local ok, message, code = w:flush()
      assert.same({ nil, "unsupported" }, { ok, code })
      assert.matches("late%.br.*a line is %-1", message)
      ok, message, code = emit("A.BR", 2)
      assert.same({ nil, "unsupported" }, { ok, code })
      assert.matches("a line is %-1", message)
      assert.is_nil((w:close()))
      assert.same({ 1 }, (lines_of(path)))
   end)

   it("says at a later call that the disk is full", function()
      if not exists "/dev/full" then
         return pending "there is no /dev/full"
      end
      -- Through a link, since the ring stands beside its file.
      local path = path_of "full.br"
      assert(os.execute("ln -sf /dev/full '" .. path .. "'"))
      local w = assert(profio.create(path, { format = "br", ring = { size = "64K" } }))
      local emit = w:emitter("module", "line")
      local n, message, code, _ = 0, nil, nil, nil
      while not message and n < 1000000 do
         _, message, code = emit("A.BR", 1)
         n = n + 1
      end
      assert.equal("io", code)
      assert.matches("No space left", message)
      assert.is_nil((w:close()))
      os.remove(path)
      os.remove(path .. ".ring")
   end)

   it("reports a full disk, and writes what fits", function()
      local mount = command.folder .. "/small"
      disk.folder(mount)
      command.file("small.lua", ([[
         package.path = "%s/lua/?.lua;%s/lua/?/init.lua;" .. package.path
         package.cpath = "%s/?.so;" .. package.cpath
         local profio = require "profio"
         local function write(name, size)
            return profio.create("%s/" .. name, { format = "br", ring = { size = size } })
         end
         local file = io.open("%s/large.br", "w")
         file:write "as it was"
         file:close()
         local w, message, code = write("large.br", "4M")
         print(w, code, message:match "No space left" or message)
         print(io.open("%s/large.br"):read "a")
         w = assert(write("small.br", "64K"))
         local emit, n = w:emitter("module", "line"), 0
         repeat
            n, w_, message, code = n + 1, emit("A.BR", n + 1)
         until message or n == 1000000
         print(code, message:match "No space left" or message, (w:close()))
         local trace = assert(profio.open "%s/small.br")
         local lines, whole = 0, true
         for line in trace:each "line" do
            lines = lines + 1
            whole = whole and line == lines
         end
         print(whole, lines <= n and lines > 10000, trace.warnings[1].code, trace.info.lost)
         ]]):format(command.root, command.root, build, mount, mount, mount, mount))
      local text, status = command.run(("unshare -m sh -c \'mount -t tmpfs -o size=600K none %s "
         .. "&& exec lua5.4 small.lua\'"):format(mount))
      if text == "" and status ~= 0 then
         return pending "nothing can be mounted here"
      end
      assert.equal("nil\tio\tNo space left\nas it was\nio\tNo space left\tnil\n" ..
         "true\ttrue\tring-recovered\t0\n", text)
   end)

   it("raises at wrong use", function()
      local function fails(words, f, ...)
         local ok, message = pcall(f, ...)
         assert.is_false(ok)
         assert.matches(words, message)
      end
      local path = path_of "wrong.br"
      local function with(given)
         given.format = given.format or "br"
         return profio.create(path, given)
      end
      fails("a ring needs a path", profio.create, nil, { format = "br", ring = {} })
      fails("'ring' must be a table", with, { ring = "4M" })
      fails("ring has no option 'sise'", with, { ring = { sise = 1 } })
      for _, size in ipairs { "4X", "1025G", "1099511627776G" } do -- the last is 0 in 64 bits
         fails("'size' must be a size in bytes", with, { ring = { size = size } })
      end
      fails("'full' is one of block, drop, overwrite", with, { ring = { full = "wait" } })
      fails("has no option 'rounds'; there are: code_page", with, { ring = {}, rounds = true })
      fails("br is written as one file: only traces of xpp", with, { ring = {}, packets = true })
      fails("winidea is written as one file", with, { format = "winidea", packets = true })
      local w = create(path)
      fails("no column 'lines'", w.emitter, w, "module", "lines")
      fails("given twice", w.emitter, w, "line", "line")
      fails("no table 'rows'", w.emitter, w, "rows", { "line" })
      local emit = w:emitter("module", "line", "spent")
      fails("'line' is of type int, got string", emit, "A.BR", "x")
      fails("'module' is of type name, got number", emit, 1, 1)
      emit("A.BR", 1.0)
      emit("A.BR", "2", 7)
      assert(w:close())
      fails("writer is closed", emit, "A.BR", 1)
      assert.same({ 1, 2 }, (lines_of(path)))
   end)

   it("refuses a format that is written whole, and a ring that is used", function()
      local path = path_of "whole.gmon"
      local w, message, code = profio.create(path, { format = "gmon", ring = {} })
      assert.same({ nil, "unsupported" }, { w, code })
      assert.matches("no ring serves it", message)
      assert.is_false(exists(path .. ".ring"))
      -- A writer that cannot be opened leaves descriptor 0 open.
      local read = run_lua(([[
         assert(not require "profio".create("%s", { format = "gmon", ring = {} }))
         print(io.read())]]):format(path), "<<END\nx\nEND")
      assert.equal("x\n", read)
      local used = path_of "used.br"
      local first <close> = create(used)
      assert(first:write { module = "A.BR" })
      w, message, code = profio.create(used, { format = "br", ring = {} })
      assert.same({ nil, "io" }, { w, code })
      assert.matches("another writer", message)
   end)

   it("is closed by the collector, also after an error", function()
      local path = path_of "left.br"
      create(path):write { module = "A.BR", line = 7 }
      collectgarbage()
      collectgarbage()
      assert.same({ 7 }, (lines_of(path)))
      assert.is_false(exists(path .. ".ring"))
      pcall(function()
         local w <close> = create(path)
         w:write { module = "A.BR", line = 8 }
         error "the program failed"
      end)
      assert.same({ 8 }, (lines_of(path)))
   end)

   it("calls the system seldom", function()
      if not os.execute "command -v strace >/dev/null" then
         return pending "there is no strace"
      end
      local path = path_of "calls.br"
      command.file("calls.lua", ([[
         package.path = "%s/lua/?.lua;%s/lua/?/init.lua;" .. package.path
         package.cpath = "%s/?.so;" .. package.cpath
         local w = require "profio".create("%s", { format = "br",
            ring = { size = "1M", full = "overwrite" } })
         local emit = w:emitter("module", "line", "spent")
         io.stderr:write "begin"
         for i = 1, 100000 do
            emit("A.BR", i, 7)
         end
         io.stderr:write "end"
         w:close()]]):format(command.root, command.root, build, path))
      local _, status = command.run "strace -f -o calls.txt lua5.4 calls.lua"
      local trace = command.read(command.folder .. "/calls.txt")
      if status ~= 0 then
         return pending "strace may not trace here"
      end
      local between = trace:match '"begin"[^\n]*\n(.-)[^\n]*"end"'
      local _, calls = between:gsub("\n", "")
      assert(calls < 10, calls)
   end)

   it("raises after its close", function()
      local path = disk.temporary()
      local w = assert(profio.create(path, { format = "br", ring = { size = "64K" } }))
      assert(w:close())
      for _, method in ipairs { "dump", "flush", "facts" } do
         -- error_matches cuts the position off
         local _, message = pcall(function() w[method](w) end)
         assert.matches("ring_spec.lua:%d+: writer is closed$", message)
      end
      assert.error_matches(function() w:write { module = "m", line = 1 } end, "writer is closed$")
      os.remove(path)
   end)
end)

describe("a ring that its writer left", function()
   -- Run a writer in a process of its own until it stops itself or is killed.
   local function run(path, options, body)
      return run_lua(([[
         local profio = require "profio"
         local w = assert(profio.create("%s", { format = "br", ring = { size = "64K", %s } }))
         local emit = w:emitter("module", "line")
         local function die() os.execute("kill -9 " .. io.open("/proc/self/stat"):read "n") end
         %s]]):format(path, options, body))
   end

   it("recovers committed records", function()
      for _, mode in ipairs { "block", "drop", "overwrite" } do
         local path = path_of("dead-" .. mode .. ".br")
         local _, status = run(path, ('full = "%s"'):format(mode), [[
            for i = 1, 500 do emit("A.BR", i) end
            for i = 501, 600 do emit("B.BR", i) end
            die()]])
         assert.equal(137, status)
         assert.is_true(exists(path .. ".ring"))
         local lines, codes, info = lines_of(path)
         assert.same(count(1, 600), lines)
         assert.same({ "ring-recovered" }, codes)
         assert.equal(0, info.lost)
         local trace <close> = assert(profio.open(path))
         assert.equal(100, trace:where { module = "B.BR" }:count())
         assert.equal("br", trace.format)
      end
   end)

   it("recovers flushed and later records", function()
      local path = path_of "flushed.br"
      run(path, "", [[
         for i = 1, 300 do emit("A.BR", i) end
         w:flush()
         for i = 301, 400 do emit("A.BR", i) end
         die()]])
      -- behind what is known to be whole stands what was being written
      local file <close> = assert(io.open(path, "ab"))
      file:write "\3\0\1"
      file:close()
      local lines, codes = lines_of(path)
      assert.same(count(1, 400), lines)
      assert.same({ "ring-recovered" }, codes)
   end)

   it("says how much was lost", function()
      local path = path_of "lost.br"
      run(path, 'full = "overwrite"', [[
         for i = 1, 50000 do emit("A.BR", i) end
         die()]])
      local lines, codes, info = lines_of(path)
      assert.same(count(info.lost + 1, 50000), lines)
      assert.same({ "ring-recovered", "ring-lost" }, codes)
      local _, status, errors = command.run("profio --info lost.br")
      assert.equal(3, status)
      assert.matches(info.lost .. " records are lost", errors)
   end)

   it("is followed while its writer lives", function()
      local path = path_of "alive.br"
      local w <close> = create(path)
      local n = 0
      for round = 1, 20 do
         for _ = 1, 50 do
            n = n + 1
            w:write { module = "A.BR", line = n }
         end
         if round % 5 == 0 then
            w:flush()
         end
         local lines, codes = lines_of(path)
         assert.same(count(1, n), lines)
         assert.same({ "ring-alive" }, codes)
      end
   end)

   it("can be read as the file grows", function()
      local path = path_of "grows-too.br"
      local w <close> = create(path)
      local n, found = 0, {}
      local trace <close> = assert(profio.open(path, { live = true, format = "br" }))
      local reader = trace.samples:reader()
      for _ = 1, 20 do
         for _ = 1, 50 do
            n = n + 1
            w:write { module = "A.BR", line = n }
         end
         assert(w:flush())
         trace:refresh()
         for _, row in ipairs(require("profio.core").rows(reader, { "line" })) do
            found[#found + 1] = row.line
         end
         assert.equal(n, #found)
      end
      assert.same(count(1, n), found)
   end)

   it("that is broken does not hide the file", function()
      local path = path_of "broken.br"
      run(path, 'full = "overwrite"', [[emit("A.BR", 1) w:dump() emit("A.BR", 2) die()]])
      local ring = command.read(path .. ".ring")
      -- the second record's size
      local broken = ring:sub(1, 4096 + 32) .. ("\xff"):rep(8) .. ring:sub(4096 + 41)
      command.file("broken.br.ring", broken)
      local lines, codes = lines_of(path)
      assert.same({ { 1 }, { "ring-recovered", "ring-damaged" } }, { lines, codes })
      for _, bytes in ipairs { "", "no ring", ring:sub(1, 5000), ("\0"):rep(100000) } do
         command.file("broken.br.ring", bytes)
         lines, codes = lines_of(path)
         assert.same({ { 1 }, { "ring-damaged" } }, { lines, codes })
      end
      command.file("broken.br.ring", ring:sub(1, 8) .. ring:sub(9, 12):reverse() .. ring:sub(13))
      local other <close> = assert(profio.open(path))
      assert.matches("of the other byte order: open the recording on such a machine",
         other.warnings[1].message)
   end)

   it("is whole after a kill at any moment", function()
      local kill = build .. "/c/kill"
      if not exists(kill) then
         return pending("no " .. kill .. ": make test builds it")
      end
      local text, status, errors = command.run(("%s . %d 1"):format(kill, rounds(100)))
      assert.same({ 0, "" }, { status, errors })
      for _, mode in ipairs { "block", "drop", "overwrite" } do
         assert.matches(("%s: %d killed"):format(mode, rounds(100)), text)
      end
   end)
end)
