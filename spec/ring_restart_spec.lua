-- Writers at a path where another one writes, or where one was killed.
--
-- Tags: user.
-- Extra: hundreds of writers begin at once.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"

local build = command.build

local folder = command.folder .. "/restarts"

local function clean()
   disk.fresh(folder)
end

-- Runs Lua in a process of its own, with `profio` and `processes`; returns its output.
local function run(script, ...)
   command.file("restart.lua", ([[
      package.path = "%s/lua/?.lua;%s/lua/?/init.lua;" .. package.path
      package.cpath = "%s/?.so;%s/c/?.so;" .. package.cpath
      local profio = require "profio"
      local function die() os.execute("kill -9 " .. io.open("/proc/self/stat"):read "n") end
      ]]):format(command.root, command.root, build, build) .. script:format(...))
   return command.run "lua5.4 restart.lua"
end

local function names()
   local found = {}
   for name in lfs.dir(folder) do
      if lfs.attributes(folder .. "/" .. name, "mode") == "file" then
         found[#found + 1] = name
      end
   end
   table.sort(found)
   return found
end

local function column(path, name)
   local trace <close> = assert(profio.open(path))
   local values = {}
   for value in trace:each(name) do
      values[#values + 1] = value
   end
   return values
end

-- Numbers with a step.
local function count(from, to, step)
   local list = {}
   for i = from, to do
      list[#list + 1] = i * (step or 1)
   end
   return list
end

local streams = {
   { name = "a.br", files = { "a.br" }, shows = "line",
     given = [[{ format = "br", ring = { size = "64K" } }]],
     write = [[w:write { module = "A.BR", line = i }]] },
   { name = "b.prf", files = { "b.prf", "b.prv" }, shows = "time", step = 1000000,
     given = [[{ format = "xpp", ring = { size = "64K" } }]],
     write = [[w:write { thread = 1, time = i * 1000000, op = "i", call = "F",
        params = "p" .. i }]] },
   { name = "c.prf", files = { "c.prf", "c.prf.000001", "c.prf.000002", "c.prf.000003", "c.prv" },
     shows = "time", step = 1000000,
     given = [[{ format = "xpp", packets = true, flush_every = 20, ring = { size = "64K" } }]],
     write = [[w:write { thread = 1, time = i * 1000000, op = "i", call = "F",
        params = "p" .. i }]] },
   { name = "d.txt", files = { "d.txt", "d.txt.BIN" }, shows = "time",
     given = [[{ format = "winidea", dialect = "text1", timeline_binary = true,
        ring = { size = "64K" } }]],
     write = [[w:write { time = i, event = "enter", area = "f" }]] },
   { name = "e", files = { "e" }, shows = "line",
     given = [[{ format = "br", ring = { size = "64K" } }]],
     write = [[w:write { module = "A.BR", line = i }]] },
}

-- A writer that is killed after 30 flushed records and 30 more.
local function leave(stream)
   clean()
   local _, status = run([[
      local w = assert(profio.create("%s/%s", %s))
      for i = 1, 60 do
         assert(%s)
         if i == 30 then assert(w:flush()) end
      end
      die()]], folder, stream.name, stream.given, stream.write)
   assert.equal(137, status)
end

-- Runs another writer of 10 records from 101 on; returns its output.
local function write_again(stream, options)
   return run([[
      local given = %s
      for name, value in pairs { %s } do given[name] = value end
      local w, message, code = profio.create("%s/%s", given)
      print(w and w.kept or code, message)
      if w then
         for i = 101, 110 do
            assert(%s)
         end
         assert(w:close())
      end]], stream.given, options, folder, stream.name, stream.write)
end

describe("a writer at the path of a killed one", function()
   for _, stream in ipairs(streams) do
      local path = folder .. "/" .. stream.name
      local kept = folder .. "/" .. stream.name:gsub("^[^.]*", "%0-1", 1)

      for _, options in ipairs { "", "fsync = true" } do
         it(("keeps its recording whole: %s %s"):format(stream.name, options), function()
            leave(stream)
            local text, status, errors = write_again(stream, options)
            assert.same({ kept .. "\tnil\n", 0, "" }, { text, status, errors })
            assert.same(count(1, 60, stream.step), column(kept, stream.shows))
            assert.same(count(101, 110, stream.step), column(path, stream.shows))
            assert.is_true(lfs.attributes(kept .. ".ring") ~= nil)
            assert.is_nil(lfs.attributes(path .. ".ring"))
         end)
      end

      it("refuses to write when it shall: " .. stream.name, function()
         leave(stream)
         local before = names()
         local text = write_again(stream, [[unfinished = "refuse"]])
         assert.matches("^io\t.*killed writer", text)
         assert.same(before, names())
         assert.same(count(1, 60, stream.step), column(path, stream.shows))
      end)

      it("replaces it when it shall: " .. stream.name, function()
         leave(stream)
         assert.equal("nil\tnil\n", (write_again(stream, [[unfinished = "replace"]])))
         assert.same(count(101, 110, stream.step), column(path, stream.shows))
         for _, name in ipairs(names()) do
            assert.is_nil(name:match "%-1")
         end
      end)
   end

   for _, stream in ipairs(streams) do
      local path = folder .. "/" .. stream.name

      it("continues it with unfinished = append: " .. stream.name, function()
         leave(stream)
         local text, status, errors = write_again(stream, [[unfinished = "append"]])
         assert.same({ "nil\tnil\n", 0, "" }, { text, status, errors })
         local want = table.move(count(101, 110, stream.step), 1, 10, 61,
            count(1, 60, stream.step))
         assert.same(want, column(path, stream.shows))
         local trace <close> = assert(profio.open(path))
         assert.same({}, trace:check())
         for _, name in ipairs(names()) do
            assert.is_nil(name:match "%-1" or name:match "ring$")
         end
      end)

      it("goes on and on, and is killed again: " .. stream.name, function()
         clean()
         local want = {}
         for round = 0, 4 do
            local _, status, errors = run([[
               local given = %s
               given.unfinished = "append"
               local w = assert(profio.create("%s/%s", given))
               for i = %d, %d do
                  assert(%s)
                  if i %% 40 == 7 then assert(w:flush()) end
               end
               die()]], stream.given, folder, stream.name, round * 70 + 1, round * 70 + 70,
               stream.write)
            assert.same(137, status, errors)
            table.move(count(round * 70 + 1, round * 70 + 70, stream.step), 1, 70, #want + 1, want)
            assert.same(want, column(path, stream.shows))
         end
      end)
   end

   it("appends nothing to a recording of another kind", function()
      leave(streams[1])
      for words, options in pairs { ["it is br"] = [[format = "xpp"]],
         ["other options"] = [[format = "br", code_page = "CP850"]] } do
         local text = run([[print(profio.create("%s/a.br",
            { %s, ring = {}, unfinished = "append" }))]], folder, options)
         assert.matches("^nil\t.*" .. words .. ".*\tio\n$", text)
      end
      assert.same(count(1, 60), column(folder .. "/a.br", "line"))
   end)

   it("counts the losses of the recording to which it appends", function()
      clean()
      -- The thread that writes only runs when the program does not, on the same processor.
      local script = [[
         local pid = io.open("/proc/self/stat"):read "n"
         os.execute("cpus=$(taskset -cp " .. pid .. "); cpus=${cpus##* }; " ..
            "taskset -cp ${cpus%%%%[,-]*} " .. pid .. " >/dev/null")
         local w = assert(profio.create("%s/a.br", { format = "br", unfinished = "append",
            ring = { size = "64K", full = "drop" } }))
         local before = w:facts().lost
         local row = { module = "A.BR", line = 1 }
         os.execute("for task in /proc/" .. pid .. "/task/*; do test ${task##*/} = " .. pid ..
            " || chrt -i -p 0 ${task##*/}; done")
         repeat
            for _ = 1, 100000 do w:write(row) end
         until w:facts().lost > before
         print(before)
         print(w:facts().lost)
         die()]]
      local lost = 0
      for _ = 1, 2 do
         local text, _, errors = run(script, folder)
         local before, after = text:match "^(%d+)\n(%d+)\n$"
         assert.is_truthy(after, errors)
         assert.equal(lost, tonumber(before))
         lost = tonumber(after)
         assert.is_true(lost > tonumber(before))
         local trace <close> = assert(profio.open(folder .. "/a.br"))
         assert.equal(lost, trace.info.lost)
      end
   end)

   it("names the ring that cannot be read where the file is empty", function()
      leave(streams[1])
      command.file("restarts/a.br", "")
      command.file("restarts/a.br.ring", "another file")
      local trace, message = profio.open(folder .. "/a.br")
      assert.is_nil(trace)
      assert.matches("the file is empty; .*a%.br%.ring: no ring of a writer", message)
   end)

   it("keeps one recording after the other", function()
      leave(streams[1])
      for number = 1, 3 do
         local text = run([[
            local w = assert(profio.create("%s/a.br", %s))
            print(w.kept)
            w:write { module = "A.BR", line = 1000 + %d }
            die()]], folder, streams[1].given, number)
         assert.equal(("%s/a-%d.br\n"):format(folder, number), text)
      end
      assert.same(count(1, 60), column(folder .. "/a-1.br", "line"))
      assert.same({ 1001 }, column(folder .. "/a-2.br", "line"))
      assert.same({ 1003 }, column(folder .. "/a.br", "line"))
   end)

   it("goes on where one was killed while it kept a recording", function()
      leave(streams[4])
      assert(lfs.link(folder .. "/d.txt.ring", folder .. "/d-1.txt.ring"))
      assert(lfs.link(folder .. "/d.txt.BIN", folder .. "/d-1.txt.BIN"))
      assert.equal(folder .. "/d-1.txt\tnil\n", (write_again(streams[4], "")))
      assert.same(count(1, 60), column(folder .. "/d-1.txt", "time"))
      assert.same(count(101, 110), column(folder .. "/d.txt", "time"))
   end)

   it("has nothing to keep of one that recorded nothing, or whose file is gone", function()
      clean()
      run([[profio.create("%s/a.br", %s) die()]], folder, streams[1].given)
      assert.equal("nil\tnil\n", (write_again(streams[1], [[unfinished = "refuse"]])))
      leave(streams[1])
      os.remove(folder .. "/a.br")
      assert.equal("nil\tnil\n", (write_again(streams[1], "")))
      assert.same({ "a.br" }, names())
   end)

   it("takes the path where a power failure has left nothing of the ring", function()
      for _, bytes in ipairs { "", ("\0"):rep(8192) } do
         leave(streams[1])
         command.file("restarts/a.br.ring", bytes)
         assert.equal(folder .. "/a-1.br\tnil\n", (write_again(streams[1], "")))
         local lines = column(folder .. "/a-1.br", "line")
         assert.same(count(1, 30), table.move(lines, 1, 30, 1, {}))
      end
      command.file("restarts/a.br.ring", "another file")
      assert.matches("^io\t.*is another file", (write_again(streams[1], "")))
   end)

   it("is a recorder too", function()
      clean()
      local script = [[
         local recorder = require "profio.recorder"
         local done, message = recorder.start { path = "%s/r.br", mode = "timed",
            ring = { size = "64K" }, %s }
         local x = 0
         for i = 1, 10 do
            x = x + i
         end
         if not done then print(message) else %s end]]
      run(script, folder, "", "die()")
      assert.matches("killed writer", (run(script, folder, [[unfinished = "refuse"]], "")))
      local text = run(script, folder, "", "print(recorder.stop().kept)")
      assert.equal(folder .. "/r-1.br\n", text)
      assert(#column(folder .. "/r-1.br", "line") >= 20)
   end)
end)

describe("of many writers that begin at once", function()
   local function start(before)
      clean()
      if not lfs.attributes(build .. "/c/processes.so") then
         pending("no " .. build .. "/c/processes.so: make test builds it")
      end
      return run([[
         local processes = require "processes"
         local numbers = processes.share(3) -- ready, winners, losers
         local path = "%s/a.br"
         %s
         for round = 1, 10 do
            local children = {}
            numbers:set(1, 0)
            for k = 1, 30 do
               children[k] = processes.fork()
               if children[k] == 0 then
                  numbers:add(1, 1)
                  while numbers:get(1) < 30 do processes.yield() end
                  local w, message = profio.create(path, %s)
                  if w then
                     w:write { module = "A.BR", line = round }
                     assert(w:flush())
                     numbers:add(2, 1)
                     while numbers:get(2) + numbers:get(3) < 30 * round do processes.yield() end
                  else
                     numbers:add(3, 1)
                     if not message:match "another writer" then print(message) end
                  end
                  processes.leave(0) -- nothing is closed: the next round finds it
               end
            end
            for _, child in ipairs(children) do processes.wait(child) end
            local trace <close> = assert(profio.open(path))
            for line in trace:each "line" do assert(line == round) end
            print(numbers:get(2), numbers:get(3), trace:count())
         end]], folder, before, streams[1].given)
   end

   it("one writes, and the others say why they do not", function()
      local text, status, errors = start ""
      local want = {}
      for round = 1, 10 do
         want[round] = ("%d\t%d\t1\n"):format(round, 29 * round)
      end
      assert.same({ table.concat(want), 0, "" }, { text, status, errors })
      for number = 1, 9 do
         assert.same({ number }, column(("%s/a-%d.br"):format(folder, number), "line"))
      end
   end)

   it("one writes a file that has two names", function()
      clean()
      local text = run([[
         local w = assert(profio.create("%s/a.br", %s))
         assert(os.execute "ln -s a.br '%s/b.br'")
         print(profio.create("%s/b.br", %s))]], folder, streams[1].given, folder, folder,
         streams[1].given)
      assert.matches("^nil\t.*another writer", text)
   end)
end)

describe("the recording of a killed writer", function()
   local entry = [[{ thread = 1, time = t, op = event == "enter" and "i" or "o", call = area }]]
   local cases = {
      { "a.prf", [[{ format = "xpp", form = "deldbe", header_row = true, ring = {} }]], entry },
      { "b.prf", [[{ format = "xpp", ring = {} }]], entry },
      { "c.txt", [[{ format = "winidea", dialect = "text1", ring = {} }]],
         "{ time = t, event = event, area = area }" },
      { "d.txt", [[{ format = "winidea", dialect = "text1", timeline_binary = true, ring = {} }]],
         "{ time = t, event = event, area = area }" },
      { "e.BIN", [[{ format = "winidea", dialect = "bin", ring = {} }]],
         "{ time = t, event = event, handle = area:byte() }" },
   }

   for _, case in ipairs(cases) do
      it("is one run, in its file and in the ring: " .. case[1], function()
         clean()
         run([[
            local w = assert(profio.create("%s/%s", %s))
            local function put(t, event, area)
               t = t * 1000000
               assert(w:write(%s))
            end
            put(1, "enter", "A") put(2, "enter", "B")
            assert(w:flush())
            put(3, "enter", "C") put(4, "leave", "C") put(5, "leave", "B") put(8, "leave", "A")
            die()]], folder, case[1], case[2], case[3])
         local trace <close> = assert(profio.open(folder .. "/" .. case[1]))
         local found = {}
         for i, call in ipairs(trace:calls():sort("start"):rows()) do
            found[i] = { call.start // 1000000, call.gross // 1000000, call.flags }
         end
         assert.same({ { 1, 7 }, { 2, 3 }, { 3, 1 } }, found)
         local codes = {}
         for _, warning in ipairs(trace.warnings) do
            codes[#codes + 1] = warning.code
         end
         assert.same({ case[1] == "e.BIN" and "winidea-no-names" or "ring-recovered",
            case[1] == "e.BIN" and "ring-recovered" or nil }, codes)
      end)
   end
end)
