-- fork: records of the child process are not written.
--
-- Tags: user.
-- Unsanitized: AddressSanitizer may stay locked in a copy of a process with threads.

local command = require "spec.support.command"
local lfs = require "lfs"
local profio = require "profio"

local build = command.build

local function path_of(name)
   local path = command.folder .. "/" .. name
   os.remove(path)
   os.remove(path .. ".ring")
   return path
end

local function exists(path)
   return lfs.attributes(path) ~= nil
end

local function lines_of(path)
   local trace <close> = assert(profio.open(path))
   local lines = {}
   for line in trace:each "line" do
      lines[#lines + 1] = line
   end
   return lines
end

local function count(from, to)
   local list = {}
   for i = from, to do
      list[#list + 1] = i
   end
   return list
end

describe("a writer in a process that becomes two", function()
   local prologue = [[
      package.cpath = "BUILD/c/?.so;" .. package.cpath
      local processes = require "processes"
      local function as_child(f)
         local pid = processes.fork()
         if pid == 0 then
            local done, message = pcall(f)
            if not done then io.stderr:write(tostring(message), "\n") end
            processes.leave(done and 0 or 1)
         end
         return processes.wait(pid)
      end
   ]]

   local function run(script)
      if not exists(build .. "/c/processes.so") then
         pending("no " .. build .. "/c/processes.so: make test builds it")
      end
      local text = (prologue .. script):gsub("BUILD", build)
      command.file("two.lua", text)
      return command.run(command.in_tree -- a copy cannot free what a thread had
         .. "ASAN_OPTIONS=detect_leaks=0 lua5.4 two.lua")
   end

   for _, mode in ipairs { "block", "drop", "overwrite" } do
      it("stays with the first one: full = " .. mode, function()
         local path = path_of "two.br"
         local output, status, errors = run(([[
            local profio = require "profio"
            local w = assert(profio.create("%s", { format = "br",
               ring = { size = "64K", full = "%s" } }))
            local emit = w:emitter("module", "line")
            for i = 1, 100 do emit("A.BR", i) end
            print(as_child(function()
               for i = 1, 5000 do
                  local _, message, code = emit("A.BR", i + 1000)
                  assert(code == "io" and message:find("its copy", 1, true), message)
               end
               assert(select(3, emit("NEW.BR", 1)) == "io")
               assert(not pcall(w.write, w, { module = "B.BR", line = 7 }))
               assert(not pcall(w.flush, w) and not pcall(w.facts, w))
               assert(select(3, w:close()) == "io")
               collectgarbage()
            end))
            for i = 101, 200 do emit("A.BR", i) end
            print(as_child(function() w = nil emit = nil collectgarbage() collectgarbage() end))
            for i = 201, 300 do emit("A.BR", i) end
            print(w:facts().lost, w:close() ~= nil)]]):format(path, mode))
         assert.same({ "0\n0\n0\ttrue\n", 0, "" }, { output, status, errors })
         assert.same(count(1, 300), lines_of(path))
      end)
   end

   it("keeps its packets", function()
      local path = path_of "two.prf"
      local output, _, errors = run(([[
         local profio = require "profio"
         local w = assert(profio.create("%s", { format = "xpp", packets = true, flush_every = 10,
            ring = {} }))
         print(as_child(function() w:close() w = nil collectgarbage() end))
         assert(w:write { thread = 1, time = 0, op = "i", call = "MAIN" })
         print(w:close() ~= nil)]]):format(path))
      assert.same({ "0\ntrue\n", "" }, { output, errors })
      assert.is_true(exists(path .. ".000001") or exists(path))
   end)

   for _, mode in ipairs { "timed", "calls", "sampled", "aggregate" } do
      it("is the recorder's too: mode " .. mode, function()
         local path = path_of "two.out"
         local output, status, errors = run(([[
            local recorder = require "profio.recorder"
            local function one() end
            local function other() end
            recorder.start { mode = "%s", path = "%s", interval = "100us" }
            for _ = 1, 10 do one() end
            print(as_child(function()
               for _ = 1, 50000 do other() end
               local info = recorder.stop()
               assert(info.failure:find("process that began it", 1, true), info.failure)
               recorder.start { mode = "aggregate" }
               other()
               local calls = {}
               for name, n in recorder.stop().profile:flat { zeros = true }
                  :each("function", "calls") do
                  calls[name] = n
               end
               assert(calls.other == 1)
            end))
            print(as_child(function() for _ = 1, 10 do other() end os.exit(0, true) end))
            for _ = 1, 20 do one() end
            for i = 1, 300000 do local x = i end
            print(recorder.stop().failure)]]):format(mode, path))
         assert.same({ "0\n0\nnil\n", 0, "" }, { output, status, errors })
         local trace <close> = assert(profio.open(path))
         local seen = {}
         if mode == "calls" then
            for area in trace:calls():each "area" do
               seen[area] = (seen[area] or 0) + 1
            end
            assert.same({ 30, nil }, { seen.one, seen.other })
         elseif mode == "timed" then
            for name in trace:each "function" do
               seen[name or 1] = (seen[name or 1] or 0) + 1
            end
            assert.same({ 30, nil }, { seen.one, seen.other })
         end
      end)
   end
end)
