-- Files that belong together: a new set leaves nothing of an older one that would be read with it,
-- two programs that write the same set at once leave one of both, and what a killed writer left is
-- removed by the next.
--
-- Tags: user.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local wait = require "spec.support.wait"

local folder = command.folder .. "/belonging"

local function at(name)
   return folder .. "/" .. name
end

-- Writes rows in a new file of the folder.
local function write(name, given, rows)
   local writer = assert(profio.create(at(name), given))
   for _, row in ipairs(rows) do
      assert(writer:write(row))
   end
   assert(writer:close())
end

local function names()
   return command.names(folder)
end

-- Returns rows of xpp, with parameters if a text is given.
local function calls(count, text)
   local rows = {}
   for i = 1, count do
      rows[i] = { thread = 1, time = i * 1000000, op = "i", call = "A", params = text }
   end
   return rows
end

local with_memo = { format = "dbf", fields = "ID C(4), NOTE M" }
local xpp = { format = "xpp", form = "foxdbe" }
local packets = { format = "xpp", form = "foxdbe", packets = true, flush_every = 1 }

describe("files that belong together", function()
   before_each(function()
      disk.fresh(folder)
   end)

   after_each(function()
      disk.remove(folder)
   end)

   it("lose a memo that the new table does not have", function()
      write("a.dbf", with_memo, { { ID = "1", NOTE = "old" } })
      assert.same({ "a.dbf", "a.fpt" }, names())
      write("a.dbf", { format = "dbf", fields = "ID C(4)" }, { { ID = "2" } })
      assert.same({ "a.dbf" }, names())
   end)

   it("lose a binary timeline that the new text does not have", function()
      local given = { format = "winidea", dialect = "text1", timeline_binary = true }
      local rows = { { time = 1, event = "enter", area = "old" } }
      write("a.txt", given, rows)
      assert.same({ "a.txt", "a.txt.BIN" }, names())
      write("a.txt", { format = "winidea", dialect = "text1" }, rows)
      assert.same({ "a.txt" }, names())
      write("a.txt", given, rows)
      write("a.txt", given, {})
      assert.same({ "a.txt" }, names())
   end)

   it("lose packets after the last of the new trace, also those that came meanwhile", function()
      local function saved(count)
         local list = { "a.prf" }
         for i = 1, count do
            list[#list + 1] = ("a.prf.%06d"):format(i)
         end
         list[#list + 1] = "a.prv"
         return list
      end
      write("a.prf", packets, calls(4))
      assert.same(saved(4), names())
      write("a.prf", packets, calls(2))
      assert.same(saved(2), names())
      os.execute(("rm -f '%s'/*"):format(folder))
      local slow = assert(profio.create(at "a.prf", packets))
      for _, row in ipairs(calls(3)) do
         assert(slow:write(row))
      end
      write("a.prf", packets, calls(5))
      assert.same(saved(5), names())
      assert(slow:close())
      assert.same(saved(3), names())
   end)

   it("lose a link to a memo, and leave the file that it names", function()
      local elsewhere = command.folder .. "/elsewhere.fpt"
      write("a.dbf", with_memo, { { ID = "1", NOTE = "old" } })
      os.rename(at "a.fpt", elsewhere)
      assert(lfs.link(elsewhere, at "a.fpt", true))
      write("a.dbf", { format = "dbf", fields = "ID C(4)" }, { { ID = "2" } })
      assert.same({ "a.dbf" }, names())
      assert.is_truthy(lfs.attributes(elsewhere))
      os.remove(elsewhere)
   end)

   -- Returns the words of a program that replaces the table and the memo, with a text of its own.
   local function writer_of(text, times)
      local name = command.file("writer-" .. text .. ".lua", ([[
         local profio = require "profio"
         for _ = 1, %d do
            local writer = assert(profio.create("%s", { format = "xpp", form = "foxdbe" }))
            for i = 1, 3 do
               assert(writer:write { thread = 1, time = i * 1000000, op = "i", call = "%s",
                  params = "%s" .. i })
            end
            assert(writer:close())
         end
         io.open("%s", "w"):close()]]):format(times, at "a.prf", text, text, at(text .. ".ended")))
      return ("env %s lua5.4 '%s'"):format(command.in_tree, name)
   end

   -- Checks that the calls and the memo are of one writer; returns it.
   local function whole()
      local trace <close> = assert(profio.open(at "a.prf"))
      local text, count = nil, 0
      for row in trace:records() do
         count = count + 1
         text = text or row.call
         assert.equal(text, row.call)
         assert.equal(text .. count, row.params)
      end
      assert.equal(3, count)
      return text
   end

   -- Starts a program that has the lock of a file or folder until it is closed.
   local function holder_of(path)
      local holds = ("flock '%s' sh -c 'touch \"%s\"; cat'"):format(path, at "held")
      local holder = assert(io.popen(holds, "w"))
      assert(wait.until_true(function() return lfs.attributes(at "held") end))
      return holder
   end

   it("are exchanged by one program at a time", function()
      write("a.prf", xpp, calls(3, "old"))
      local holder = holder_of(folder)
      local program = assert(io.popen("echo $$; exec " .. writer_of("new", 1)))
      local waits = "%-> FLOCK +ADVISORY +WRITE " .. program:read "n" .. " "
      local is_waiting = wait.until_true(function()
         return command.read "/proc/locks":find(waits) or lfs.attributes(at "new.ended")
      end)
      local has_ended = lfs.attributes(at "new.ended")
      holder:close()
      assert.is_true(program:close())
      assert.is_truthy(is_waiting)
      assert.is_nil(has_ended)
      assert.equal("new", whole())
   end)

   it("are those of one program if two write them at once", function()
      local times = rounds.all and 300 or 20
      local other = assert(io.popen("exec " .. writer_of("one", times)))
      assert.is_true(os.execute(writer_of("two", times)))
      assert.is_true(other:close())
      whole()
   end)

   it("are without what killed writers have left, and keep what a living one has", function()
      local left, alive = at ".profio-0123abcd", at ".profio-4567cdef"
      for _, path in ipairs { left, alive, at ".profio-0123abc", at ".profio-0123ABCD" } do
         io.open(path, "w"):close()
      end
      local holder = holder_of(alive)
      local has_written = os.execute(writer_of("new", 1))
      holder:close()
      assert.is_true(has_written)
      assert.same({ ".profio-0123ABCD", ".profio-0123abc", ".profio-4567cdef", "a.prf", "a.prv",
         "held", "new.ended" }, names())
   end)
end)
