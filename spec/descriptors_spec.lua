-- No open, write or export leaves a descriptor open, also when it fails.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"

local folder = command.folder .. "/descriptors"
local has_proc = lfs.attributes("/proc/self/fd", "mode") == "directory"

local function count_now()
   local count = 0
   for _ in lfs.dir "/proc/self/fd" do
      count = count + 1
   end
   return count
end

local function count_open()
   collectgarbage()
   collectgarbage()
   return count_now()
end

-- A writer that leaves its ring, and a ring that is none.
local killed = [[
   package.path = "%s/lua/?.lua;%s/lua/?/init.lua;" .. package.path
   package.cpath = "%s/?.so;" .. package.cpath
   local w = assert(require("profio").create("%s/killed.br", { format = "br",
      ring = { size = "64K" } }))
   w:write { module = "A.BR", line = 1 }
   assert(w:flush())
   w:write { module = "A.BR", line = 2 }
   os.execute("kill -9 " .. io.open("/proc/self/stat"):read "n")]]

local function write_table(path)
   local w = assert(profio.create(path, { format = "dbf", fields = "ID C(4), NOTE M" }))
   w:write { ID = "a", NOTE = ("x"):rep(300) }
   return w:close()
end

local function read_all(path, options)
   local trace <close> = assert(profio.open(path, options))
   for _, name in ipairs(trace.tables) do
      trace:table(name):rows()
   end
   return trace
end

setup(function()
   disk.fresh(folder)
   write_table(folder .. "/t.dbf")
   command.file("descriptors/gmon.out", command.trace())
   os.execute(("gzip -kf %s/gmon.out"):format(folder))
   command.file("descriptors/killed.lua", killed:format(command.root, command.root,
      command.build, folder))
   os.execute(("lua5.4 %s/killed.lua 2>%s/said"):format(folder, folder))
   command.file("descriptors/broken.br", "")
   command.file("descriptors/broken.br.ring", "no ring")
   assert(lfs.attributes(folder .. "/killed.br.ring"), command.read(folder .. "/said"))
end)

teardown(function()
   disk.remove(folder)
end)

local actions = {
   ["reading a file with its memo"] = function() read_all(folder .. "/t.dbf") end,
   ["reading a packed file"] = function() read_all(folder .. "/gmon.out.gz") end,
   ["reading the ring of a killed writer"] = function() read_all(folder .. "/killed.br") end,
   ["refusing a ring"] = function() assert.is_nil((profio.open(folder .. "/broken.br"))) end,
   ["refusing a file that is not there"] = function()
      assert.is_nil((profio.open(folder .. "/nowhere")))
   end,
   ["refusing an executable that is none"] = function()
      assert.is_nil((profio.open(folder .. "/gmon.out", { exe = folder .. "/t.dbf" })))
   end,
   ["writing a file with its memo"] = function() assert(write_table(folder .. "/new.dbf")) end,
   ["refusing to write into no folder"] = function()
      local done = pcall(write_table, folder .. "/nowhere/new.dbf")
      assert.is_false(done)
   end,
   ["writing through a ring"] = function()
      local w = assert(profio.create(folder .. "/r.br", { format = "br", ring = {} }))
      w:write { module = "A.BR", line = 1 }
      assert(w:close())
   end,
   ["refusing what a killed writer has left"] = function()
      assert.is_nil((profio.create(folder .. "/killed.br", { format = "br", ring = {},
         unfinished = "refuse" })))
   end,
   ["exporting and saving"] = function()
      local trace <close> = assert(profio.open(folder .. "/gmon.out"))
      local profile = assert(trace:profile())
      assert(profile:export("pprof", folder .. "/out.pb.gz"))
      assert(trace:save(folder .. "/saved.out"))
   end,
}

describe("no descriptor stays open after", function()
   for name, action in pairs(actions) do
      it(name, function()
         if not has_proc then
            pending "no /proc/self/fd"
         end
         action() -- what is loaded once may stay open
         local before = count_open()
         for _ = 1, 3 do
            action()
         end
         assert.equal(before, count_open())
      end)
   end
end)

it("a decoder that fails while a trace is saved leaves no descriptor to the collector", function()
   if not has_proc then
      pending "no /proc/self/fd"
   end
   profio.register { name = "failing", score = function() return 0 end,
      tables = { arcs = { { "from", "addr" }, { "to", "addr" }, { "count", "int" } } },
      open = function()
         return { arcs = function(put)
            put(16, 32, 1)
            error "no more"
         end }
      end }
   local trace <close> = assert(profio.open({ data = "x" }, { format = "failing" }))
   local before = count_open()
   collectgarbage "stop"
   local done, message = pcall(trace.save, trace, folder .. "/arcs.out", { format = "gmon" })
   local after = count_now()
   collectgarbage "restart"
   assert.is_false(done)
   assert.matches("no more", message)
   assert.equal(before, after)
end)

-- Without standard input the first file that is opened has the descriptor 0.
it("a program without standard input follows a file", function()
   command.file("descriptors/follow.lua", [[
      local profio = require "profio"
      local path = arg[1]
      local function append(text)
         local file <close> = assert(io.open(path, "ab"))
         file:write(text)
      end
      append "* HANDLE(Functions) %HANDLE%,%NAME%\n1,g\n"
      append "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n1,E,0\n"
      local trace <close> = assert(profio.open(path, { live = true, format = "winidea" }))
      local before = trace.timeline:count()
      append "1,X,5\n"
      print(before, trace:refresh(), trace.timeline:count())
   ]])
   local said, status, errors = command.run(("eval $(make -s -C '%s' B='%s' env) &&"
      .. " cd descriptors && rm -f grows.txt && lua5.4 follow.lua grows.txt <&-"):format(
      command.root, command.build))
   assert.same({ "1\ttrue\t2\n", 0, "" }, { said, status, errors })
end)
