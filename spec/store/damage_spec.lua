-- Damaged and forged stores: nothing crashes or hangs, and what cannot be right is an error that
-- says where. A decoder in Lua says which cells are right.
--
-- Costly: many commands, or large inputs.

local cells = require "spec.support.cells"
local disk = require "spec.support.disk"
local sqlite = require "spec.support.sqlite"
local command = require "spec.support.command"
local core = require "profio.core"
local native = require "profio.store"

local folder = sqlite.folder "damage"
local count = 0
local everything = "SELECT run, metric, data FROM cells"

local function path_of()
   count = count + 1
   return ("%s/%d.db"):format(folder, count)
end

local function open(path)
   local db = assert(native.sqlite(path or path_of(), "create"))
   assert(db:run(native.schema))
   return db
end

local function put(db, run, contexts)
   assert(db:run "BEGIN IMMEDIATE")
   assert(db:put_cells(run, contexts))
   assert(db:run "COMMIT")
end

local function sum(db, sql, ...)
   return db:sum_cells(core.empty_contexts(core.dictionary()), sql or everything, ...)
end

-- A store of one run, of which each stack has a name of its own.
local function one_run()
   local db = open()
   put(db, 7, cells.contexts { { "a", 1 }, { "a;b", -300 }, { "a;b;c", 1 << 40 },
      { "d", math.maxinteger }, { "d;e", math.mininteger } })
   return db
end

teardown(function()
   sqlite.remove(folder)
end)

describe("damaged cells", function()
   -- The lines of a list of cells, as cells.lines gives them for the sums.
   local function lines_of(list, paths)
      local lines = {}
      for _, cell in ipairs(list) do
         if cell[1] ~= 0 then
            lines[#lines + 1] = ("%s time/ns %d"):format(paths[cell[1]], cell[2])
         end
      end
      table.sort(lines)
      return lines
   end

   it("are an error that names run and metric, or are what they say", function()
      local db <close> = one_run()
      local paths, limit = {}, 1
      for id, parent, name in db:rows [[SELECT s.id, s.parent, f.name
         FROM stacks s JOIN frames f ON s.frame = f.id ORDER BY s.id]] do
         paths[id], limit = (paths[parent] and paths[parent] .. ";" or "") .. name, id + 1
      end
      local whole = cells.unsealed(sqlite.rows(db, "SELECT data FROM cells")[1][1], 7, 1)
      local right, wrong = 0, 0
      local function check(data)
         local contexts, message, code = sum(db, "SELECT 7, 1, ?", cells.sealed(data, 7, 1))
         local fine, list = pcall(cells.unpack, data, limit)
         if fine then
            right = right + 1
            assert.same(lines_of(list, paths), cells.lines(assert(contexts, message)))
         else
            wrong = wrong + 1
            assert.is_nil(contexts)
            assert.matches("cells of run 7, metric 1, ", message)
            assert.equal(data ~= "" and #data > 1 and data:byte(1) ~= 1 and "unsupported"
               or "format", code)
         end
      end
      assert.equal(whole, cells.pack(cells.unpack(whole, limit)))
      check(whole)
      for at = 1, #whole do
         check(whole:sub(1, at - 1))
         check(whole:sub(1, at) .. "\0")
         for value = 0, 255, at < 4 and 1 or 5 do
            check(whole:sub(1, at - 1) .. string.char(value) .. whole:sub(at + 1))
         end
         for bit = 0, 7 do
            check(whole:sub(1, at - 1) .. string.char(whole:byte(at) ~ 1 << bit)
               .. whole:sub(at + 1))
         end
      end
      check(whole .. "\0")
      check(whole .. whole)
      check("\1" .. cells.varint(-1))
      check("\1" .. ("\xff"):rep(30))
      check("\1\1\1" .. ("\x80"):rep(9) .. "\2")
      check("\1\1" .. cells.varint(1 << 62) .. "\2")
      check("\1\2\1\2" .. cells.varint(-1) .. "\2")
      assert.is_true(right > 50 and wrong > 500)
   end)

   it("are an error if a bit is another, or if they are those of another run", function()
      local db <close> = one_run()
      local whole = sqlite.rows(db, "SELECT data FROM cells")[1][1]
      for at = 1, #whole do
         for bit = 0, 7 do
            local contexts, message, code = sum(db, "SELECT 7, 1, ?", whole:sub(1, at - 1)
               .. string.char(whole:byte(at) ~ 1 << bit) .. whole:sub(at + 1))
            assert.is_nil(contexts)
            assert.matches("the cells of run 7, metric 1, are damaged", message)
            assert.equal("format", code)
         end
      end
      assert(db:run "INSERT INTO metrics(name, unit) VALUES(x'61', x'62')")
      assert.is_nil((sum(db, "SELECT 8, metric, data FROM cells")))
      assert.is_nil((sum(db, "SELECT run, 2, data FROM cells")))
      assert.is_truthy((sum(db)))
   end)

   it("of other types are an error", function()
      local db <close> = one_run()
      for _, value in ipairs { "NULL", "7", "1.5", "'text'", "''", "x''", "zeroblob(100)" } do
         local contexts, message, code = sum(db, "SELECT 7, 1, " .. value)
         assert.is_nil(contexts, value)
         assert.matches("cells of run 7, metric 1, ", message)
         assert.is_true(code == "format" or code == "unsupported")
      end
   end)
end)

describe("a forged store", function()
   local forgeries = {
      ["UPDATE stacks SET parent = id WHERE id = 2"] = "has the parent 2 .* is damaged",
      ["UPDATE stacks SET parent = 5 WHERE id = 2"] = "has the parent 5 .* is damaged",
      ["UPDATE stacks SET parent = -1 WHERE id = 2"] = "has the parent %-1 .* is damaged",
      ["UPDATE stacks SET frame = 0 WHERE id = 2"] = "the frame 0, .* is damaged",
      ["UPDATE stacks SET frame = 99 WHERE id = 2"] = "the frame 99, .* is damaged",
      ["UPDATE stacks SET frame = 1 << 62 WHERE id = 2"] = "the frame 46116.* is damaged",
      ["UPDATE stacks SET frame = 'x' WHERE id = 2"] = "the frame 0, .* is damaged",
      ["DELETE FROM frames WHERE id = 2"] = "frame 2, which the table frames does not have",
      ["DELETE FROM stacks WHERE id = 2"] = "stack 2, which the table stacks does not have",
      ["DELETE FROM stacks"] = "run 7, metric 1, are damaged",
      ["DELETE FROM frames"] = "is damaged",
      ["DELETE FROM metrics"] = "metric 1, which the table metrics does not have",
      ["UPDATE stacks SET id = 1 << 40 WHERE id = 5"] = "the id 1099511627776; ids below",
      ["UPDATE stacks SET id = -id"] = "the id %-1; ids below",
      ["UPDATE frames SET id = 1 << 28 WHERE id = 5"] = "the id 268435456; ids below",
      ["DROP TABLE stacks"] = "no such table",
      ["DROP TABLE frames"] = "no such table",
      ["DROP TABLE metrics"] = "no such table",
      ["DROP TABLE cells"] = "no such table",
      ["DROP TABLE stacks; CREATE VIEW stacks AS SELECT 1 AS id, 0 AS parent, 1 AS frame"] =
         "access to view",
   }

   for sql, expected in pairs(forgeries) do
      it("is refused after " .. sql, function()
         local db <close> = one_run()
         assert(db:run(sql))
         local contexts, message, code = sum(db)
         assert.is_nil(contexts)
         assert.matches(expected, message)
         assert.is_true(code == "format" or code == "limit", code)
         -- Nor does writing crash; ids that are out of order are refused.
         db:run "BEGIN"
         db:put_cells(8, cells.contexts { { "a;b", 2 }, { "d;e;f", 3 } })
         db:run "ROLLBACK"
      end)
   end

   it("may have one stack twice, which is one context", function()
      local db <close> = one_run()
      assert(db:run [[INSERT INTO stacks(hash, parent, frame)
         SELECT x'00', parent, frame FROM stacks WHERE id = 1]])
      local contexts = assert(sum(db, "SELECT 7, 1, ?", cells.sealed(cells.pack { { 1, 5 },
         { 6, 7 } }, 7, 1)))
      assert.same(1, contexts:count())
      assert.equal(12, contexts:metrics()[1].total)
   end)

   it("with a gap in the ids of frames has no sums of functions, which would lack the missing one",
      function()
         for sql, id in pairs { ["UPDATE frames SET id = 268435455 WHERE id = 5"] = 268435455,
            ["UPDATE frames SET id = 6 WHERE id = 5"] = 6, ["DELETE FROM frames WHERE id = 2"] = 5,
            ["UPDATE frames SET id = -2 WHERE id = 2"] = 5 } do
            local db <close> = one_run()
            assert(db:function_sums { 1, 1 })
            assert(db:run(sql))
            local sums, message, code = db:function_sums { 1, 1 }
            assert.is_nil(sums)
            assert.matches(("the table frames has the id %d, which is out of order: the store is "
               .. "damaged$"):format(id), message)
            assert.equal("format", code)
         end
      end)

   it("may have gaps of any size below the limit", function()
      local db <close> = one_run()
      local high = 1 << 24
      assert(db:run("UPDATE stacks SET id = ? WHERE id = 5", high))
      local contexts = assert(sum(db, "SELECT 7, 1, ?", cells.sealed(cells.pack { { 1, 5 },
         { high, 7 } }, 7, 1)))
      assert.equal(12, contexts:metrics()[1].total)
      assert(db:run("UPDATE stacks SET id = ? WHERE id = 4", (1 << 28) - 1))
      db:run "BEGIN"
      local got, message, code = db:put_cells(8, cells.contexts { { "new", 1 } })
      assert.is_nil(got)
      assert.matches("no more ids", message)
      assert.equal("limit", code)
      db:run "ROLLBACK"
   end)
end)

describe("a damaged file", function()
   it("is read with errors or results, and never crashes", function()
      local path, damaged = path_of(), path_of()
      do
         local db <close> = open(path)
         local list = {}
         for i = 1, 400 do
            list[i] = { ("f%d;g%d;h%d"):format(i % 7, i % 31, i), i }
         end
         put(db, 1, cells.contexts(list))
         put(db, 2, cells.contexts(list))
      end
      local whole = command.read(path)
      local refused, results = 0, 0
      for round = 1, 150 do
         local bytes = whole
         if round % 5 == 0 then
            bytes = whole:sub(1, math.random(0, #whole))
         else
            for _ = 1, math.random(1, 20) do
               local at = math.random(round % 2 == 0 and #whole or 4096)
               bytes = bytes:sub(1, at - 1) .. string.char(math.random(0, 255))
                  .. bytes:sub(at + 1)
            end
         end
         os.remove(damaged .. "-wal")
         os.remove(damaged .. "-shm")
         sqlite.write(damaged, bytes)
         local db = native.sqlite(damaged, round % 3 == 0 and "write" or "read")
         local contexts = db and sum(db)
         if db and round % 3 == 0 and db:run "BEGIN IMMEDIATE" then
            db:put_cells(3, cells.contexts { { "f1;g1;new", 1 }, { "f2;g2;h2", 2 } })
            db:run "ROLLBACK"
         end
         if db then
            db:close()
         end
         refused, results = refused + (contexts and 0 or 1), results + (contexts and 1 or 0)
      end
      assert.is_true(refused > 10, refused)
      assert.is_true(results > 10, results)
   end)
end)

describe("a read-only folder", function()
   -- An index of the log, which readers share, that no user can open.
   it("lets the file alone be read, but not without its log", function()
      local path = path_of()
      do
         local db <close> = open(path)
         put(db, 1, cells.contexts { { "main", 5 } })
      end
      os.execute(("ln -s '%s-shm' '%s-shm'"):format(path, path))
      for _ = 1, 2 do
         local db <close> = assert(native.sqlite(path, "read"))
         assert.same({ "main time/ns 5" }, cells.lines(assert(sum(db))))
      end
      sqlite.write(path .. "-wal", "changes")
      local db, message, code = native.sqlite(path, "read")
      assert.is_nil(db)
      assert.matches("its folder is read%-only, but the last changes are in the log", message)
      assert.equal("io", code)
   end)

   it("has stores that can be read, unless changes are left in their log", function()
      local place = folder .. "/read-only"
      disk.folder(place)
      local path = place .. "/a b%#?.db"
      do
         local db <close> = open(path)
         put(db, 1, cells.contexts { { "main", 1 } })
      end
      local as_user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
      if not os.execute("test $(id -u) = 0") then
         as_user = ""
      end
      if not os.execute(("%s test -r '%s/profio/store.so'"):format(as_user, command.build)) then
         return pending "another user cannot read this build"
      end
      local function ask()
         os.execute(("chmod 555 '%s'"):format(place))
         local script = ([[
            local db, message, code = require "profio.store".sqlite(%q, "read")
            if not db then print(message, code) os.exit(0) end
            for n in db:rows "SELECT count(*) FROM cells" do print(n) end]]):format(path)
         sqlite.write(folder .. "/script.lua", script)
         os.execute(("chmod 644 '%s/script.lua'"):format(folder))
         -- The build that counts lines says in stderr that it may not write its counts.
         local pipe <close> = assert(io.popen(
            ("LUA_CPATH='%s/?.so;;' %s lua5.4 '%s/script.lua' 2>/dev/null"):format(command.build,
               as_user, folder)))
         local text = pipe:read "a"
         os.execute(("chmod 755 '%s'"):format(place))
         return text
      end
      assert.equal("1\n", ask())
      -- A writer that was killed leaves its log.
      local script = ([[
         local db = require "profio.store".sqlite(%q, "write")
         db:run "INSERT INTO cells VALUES(9, 9, x'')"
         os.exit(false, false)]]):format(path)
      sqlite.write(folder .. "/writer.lua", script)
      os.execute(("LUA_CPATH='%s/?.so;;' lua5.4 '%s/writer.lua'"):format(command.build, folder))
      assert.is_true(#command.read(path .. "-wal") > 0)
      os.remove(path .. "-shm")
      assert.matches("its folder is read%-only, but the last changes are in the log", ask())
      local db <close> = assert(native.sqlite(path, "write"))
      assert.same({ { 2 } }, sqlite.rows(db, "SELECT count(*) FROM cells"))
   end)
end)
