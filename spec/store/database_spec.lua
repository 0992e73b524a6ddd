-- Connections of profio.store to SQLite files: values, rows, statements, failures. The command
-- sqlite3 is what the contents are compared with.
--
-- Tags: stressed.

local cells = require "spec.support.cells"
local sqlite = require "spec.support.sqlite"
local core = require "profio.core"
local native = require "profio.store"

local sqlite3, all = sqlite.ask, sqlite.rows
local folder = sqlite.folder "database"
local count = 0

local function path_of(name)
   count = count + 1
   return ("%s/%d-%s"):format(folder, count, name or "store.db")
end

local function open(path, mode, options)
   return assert(native.sqlite(path or path_of(), mode or "create", options))
end

teardown(function()
   sqlite.remove(folder)
end)

describe("values", function()
   it("come back as they were bound, and sqlite3 reads the same", function()
      local path = path_of()
      local db <close> = open(path)
      assert.equal(0, db:run "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
      local values = { "a\0b\xff", "", 7, math.mininteger, math.maxinteger, 1.5, -0.25, true,
         false }
      for i, value in ipairs(values) do
         assert.equal(1, db:run("INSERT INTO t(v) VALUES(?)", value))
         assert.equal(i, db:last_id())
      end
      assert.equal(1, db:run("INSERT INTO t(v) VALUES(?)", nil))
      local expected = { table.unpack(values, 1, 7) }
      expected[8], expected[9] = 1, 0
      local rows = all(db, "SELECT id, v FROM t ORDER BY id")
      assert.equal(10, #rows)
      for i = 1, 10 do
         assert.equal(expected[i], rows[i][2])
         assert.equal(math.type(expected[i]), math.type(rows[i][2]))
      end
      assert.equal("X'610062FF' X'' 7 -9223372036854775808 9223372036854775807 1.5 -0.25 1 0 NULL",
         sqlite3(path, "SELECT group_concat(quote(v), ' ') FROM t"))
   end)

   it("may have a megabyte, and sizes 0 to 300", function()
      local db <close> = open()
      db:run "CREATE TABLE t(v)"
      db:run "BEGIN"
      local long = ("\0\xfe"):rep(1 << 19)
      db:run("INSERT INTO t VALUES(?)", long)
      for size = 0, 300 do
         db:run("INSERT INTO t VALUES(?)", ("\xe9"):rep(size))
      end
      local rows = all(db, "SELECT rowid, v FROM t ORDER BY 1")
      assert.is_true(rows[1][2] == long)
      for size = 0, 300 do
         assert.equal(("\xe9"):rep(size), rows[size + 2][2])
      end
   end)

   it("are checked before anything runs", function()
      local db <close> = open()
      db:run "CREATE TABLE t(v)"
      for _, value in ipairs { {}, print, io.stdout } do
         assert.has_error(function() db:run("INSERT INTO t VALUES(?)", value) end)
         assert.has_error(function() db:rows("SELECT 1 WHERE ?", value) end)
      end
      assert.has_error(function() db:run("INSERT INTO t VALUES(?)", 0 / 0) end)
      for _, call in ipairs {
         function() return db:run "INSERT INTO t VALUES(?)" end,
         function() return db:run("INSERT INTO t VALUES(?)", 1, 2) end,
         function() return db:rows("SELECT 1", nil) end,
      } do
         local got, message, code = call()
         assert.is_nil(got)
         assert.matches("parameters, %d values are given", message)
         assert.equal("format", code)
      end
      assert.same({ { 0 } }, all(db, "SELECT count(*) FROM t"))
   end)
end)

describe("commands", function()
   it("count the rows that they change", function()
      local db <close> = open()
      db:run "CREATE TABLE t(v)"
      assert.equal(3, db:run "INSERT INTO t VALUES(1), (2), (3)")
      assert.equal(2, db:run("UPDATE t SET v = 0 WHERE v > ?", 1))
      assert.equal(0, db:run "UPDATE t SET v = 0 WHERE v > 9")
      assert.equal(0, db:run "SELECT * FROM t")
      assert.equal(3, db:run "DELETE FROM t")
   end)

   it("are one, or several without values", function()
      local db <close> = open()
      assert.equal(1, db:run "CREATE TABLE t(v); INSERT INTO t VALUES(5);\n")
      assert.same({ { 5 } }, all(db, "SELECT v FROM t;  "))
      assert.matches("several commands", select(2, db:run("SELECT ?; SELECT 1", 1)))
      assert.matches("several", select(2, db:rows "SELECT 1; SELECT 2"))
      assert.matches("no command", select(2, db:run ""))
      assert.matches("no command", select(2, db:rows " -- nothing"))
   end)

   it("know whether a transaction has begun", function()
      local path = path_of()
      local db <close> = open(path)
      db:run "CREATE TABLE t(v)"
      assert.is_false(db:in_transaction())
      db:run "BEGIN IMMEDIATE"
      assert.is_true(db:in_transaction())
      db:run "INSERT INTO t VALUES(1)"
      assert.equal("0", sqlite3(path, "SELECT count(*) FROM t"))
      db:run "COMMIT"
      assert.is_false(db:in_transaction())
      assert.equal("1", sqlite3(path, "SELECT count(*) FROM t"))
      db:run "BEGIN"
      db:run "DELETE FROM t"
      db:run "ROLLBACK"
      assert.equal("1", sqlite3(path, "SELECT count(*) FROM t"))
   end)

   it("name the file and the cause when they fail", function()
      local path = path_of()
      local db <close> = open(path)
      db:run "CREATE TABLE t(v UNIQUE, CHECK(v < 10))"
      db:run "INSERT INTO t VALUES(1)"
      for sql, cause in pairs { ["INSERT INTO t VALUES(1)"] = "UNIQUE",
         ["INSERT INTO u VALUES(1)"] = "no such table",
         ["INSERT INTO t VALUES(11)"] = "CHECK", ["NONSENSE"] = "syntax error" } do
         local got, message, code = db:run(sql)
         assert.is_nil(got)
         assert.equal(path .. ": ", message:sub(1, #path + 2))
         assert.matches(cause, message)
         assert.equal("format", code)
      end
      assert.same({ { 1 } }, all(db, "SELECT v FROM t"))
      assert.equal("limit", select(3, db:run "INSERT INTO t VALUES(zeroblob(2000000000))"))
   end)

   it("are prepared once, and more of them than are kept work", function()
      local db <close> = open()
      db:run "CREATE TABLE t(v); BEGIN"
      for round = 1, 3 do
         for i = 1, 200 do
            assert.equal(1, db:run("INSERT INTO t VALUES(? + " .. i .. ")", round))
         end
      end
      assert.same({ { 600, 600 * 2 + 3 * 200 * 201 // 2 } },
         all(db, "SELECT count(*), sum(v) FROM t"))
   end)
end)

describe("rows", function()
   it("may be read within rows of the same query", function()
      local db <close> = open()
      db:run "CREATE TABLE t(v); INSERT INTO t VALUES(1), (2), (3)"
      local sum = 0
      for a in db:rows "SELECT v FROM t" do
         for b in db:rows "SELECT v FROM t" do
            for c in db:rows "SELECT v FROM t" do
               sum = sum + 100 * a + 10 * b + c
            end
         end
      end
      assert.equal(111 * 6 * 9, sum)
   end)

   it("say when too many queries are open, and free those that were left", function()
      local db <close> = open()
      db:run "CREATE TABLE t(v); INSERT INTO t VALUES(1), (2), (3)"
      local function open_all()
         local opened = {}
         for _ = 1, 100 do
            local next_row, why, code, rows = db:rows("SELECT v FROM t")
            if not next_row then
               return #opened, why, code
            end
            opened[#opened + 1] = rows
         end
      end
      local opened, message, code = open_all()
      assert.is_true(opened >= 30)
      assert.matches("queries are in use", message)
      assert.equal("limit", code)
      collectgarbage()
      collectgarbage()
      assert.equal(3, #all(db, "SELECT v FROM t"))
   end)

   it("end when the loop is left, so that the table can be dropped", function()
      local db <close> = open()
      db:run "CREATE TABLE t(v); INSERT INTO t VALUES(1), (2), (3)"
      pcall(function()
         for v in db:rows "SELECT v FROM t" do
            error(v)
         end
      end)
      assert.equal(0, db:run "DROP TABLE t")
   end)

   it("raise a table when a later row cannot be computed", function()
      local db <close> = open()
      db:run "CREATE TABLE t(v); INSERT INTO t VALUES(1), (-9223372036854775808)"
      local seen = {}
      local fine, failure = pcall(function()
         for v in assert(db:rows "SELECT abs(v) FROM t ORDER BY rowid") do
            seen[#seen + 1] = v
         end
      end)
      assert.is_false(fine)
      assert.same({ 1 }, seen)
      assert.matches("integer overflow", failure.message)
      assert.equal("format", failure.code)
      assert.equal(failure.message, tostring(failure))
   end)

   it("refuse a first column without a value, which would end the loop", function()
      local db <close> = open()
      assert.has_error(function()
         all(db, "SELECT NULL, 1")
      end, "the first column of a row is NULL, which would end the loop: select another one first")
      assert.same({ { 1, nil, 2 } }, all(db, "SELECT 1, NULL, 2"))
   end)
end)

describe("closing", function()
   it("ends rows in the middle, and later use raises", function()
      local path = path_of()
      local db = open(path)
      db:run "CREATE TABLE t(v); INSERT INTO t VALUES(1), (2), (3)"
      assert.has_error(function()
         for _ in db:rows "SELECT v FROM t" do
            db:close()
         end
      end, "database is closed")
      db:close()
      for _, method in ipairs { "run", "rows", "last_id", "in_transaction" } do
         assert.error_matches(function() db[method](db, "SELECT 1") end, "database is closed")
      end
      assert.is_nil(io.open(path .. "-wal"))
   end)

   it("may be left to the collector, in any order", function()
      local kept = setmetatable({}, { __mode = "k" })
      for i = 1, 20 do
         local db = open()
         db:run "CREATE TABLE t(v); INSERT INTO t VALUES(1), (2)"
         local rows = select(4, db:rows "SELECT v FROM t")
         kept[db], kept[rows] = true, true
         if i % 2 == 0 then
            rows = nil -- luacheck: ignore
            collectgarbage()
         end
      end
      collectgarbage()
      collectgarbage()
      assert.is_nil(next(kept))
   end)
end)

describe("opening", function()
   it("tells what is no database from what cannot be opened", function()
      local text = path_of "text"
      sqlite.write(text, ("no database at all\n"):rep(100))
      local empty = path_of "empty"
      sqlite.write(empty, "")
      local short = path_of "short"
      sqlite.write(short, "SQLite format 3\0")
      for _, case in ipairs { { text, "format", "not a database" }, { empty, "truncated", "empty" },
         { short, "format", "not a database" }, { folder, "io", "regular file" },
         { "/dev/null", "io", "regular file" }, { folder .. "/absent", "io", "No such file" } } do
         for _, mode in ipairs { "read", "write" } do
            local db, message, code = native.sqlite(case[1], mode)
            assert.is_nil(db)
            assert.matches(case[3], message)
            assert.equal(case[2], code, case[1])
         end
      end
      local _, message, code = native.sqlite(folder .. "/absent/x.db", "create")
      assert.matches("unable to open database file: No such file or directory", message)
      assert.equal("io", code)
      assert.has_error(function() native.sqlite(text, "append") end)
      assert.has_error(function() native.sqlite("a\0b", "read") end)
      assert.has_error(function() native.sqlite(text, "read", { busy = -1 }) end)
   end)

   it("takes names that mean something to SQLite as files", function()
      for _, name in ipairs { ":memory:", "file:x?mode=memory", "a b%41#?.db", "'\";--" } do
         local path = folder .. "/" .. name
         local db <close> = open(path)
         db:run "CREATE TABLE t(v)"
         local file <close> = assert(io.open(path))
         assert.equal("SQLite format 3\0", file:read(16))
      end
   end)

   it("has safe settings", function()
      local path = path_of()
      local db <close> = open(path)
      local function setting(name)
         return all(db, "PRAGMA " .. name)[1][1]
      end
      assert.equal("wal", setting "journal_mode")
      assert.equal(2, setting "synchronous")
      assert.equal(1, setting "foreign_keys")
      assert.equal(0, setting "trusted_schema")
      assert.equal(1, setting "cell_size_check")
      -- Triggers and views of a file are not executed; actions of foreign keys are.
      sqlite3(path, [[CREATE TABLE t(v); CREATE TABLE u(v); CREATE VIEW w AS SELECT 1;
         CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO u VALUES(1); END;
         CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p ON DELETE CASCADE);
         INSERT INTO p VALUES(1); INSERT INTO c VALUES(1)]])
      db:run "INSERT INTO t VALUES(1)"
      assert.same({ { 0 } }, all(db, "SELECT count(*) FROM u"))
      assert.is_nil((db:rows "SELECT * FROM w"))
      assert.equal(1, db:run "DELETE FROM p")
      assert.same({ { 0 } }, all(db, "SELECT count(*) FROM c"))
      assert.is_nil((db:run "UPDATE sqlite_master SET sql = ''"))
   end)

   it("reads without writing", function()
      local path = path_of()
      open(path):run "CREATE TABLE t(v)"
      collectgarbage()
      local db <close> = open(path, "read")
      local got, message, code = db:run "INSERT INTO t VALUES(1)"
      assert.is_nil(got)
      assert.matches("can only be read", message)
      assert.equal("io", code)
      assert.same({ { 0 } }, all(db, "SELECT count(*) FROM t"))
   end)

   it("waits for another writer as long as asked", function()
      local path = path_of()
      local first <close> = open(path)
      first:run "CREATE TABLE t(v); BEGIN IMMEDIATE; INSERT INTO t VALUES(1)"
      local second <close> = open(path, "write", { busy = 0.05 })
      local got, message, code = second:run "BEGIN IMMEDIATE"
      assert.is_nil(got)
      assert.matches("another process is writing .* 0%.05 s: try again later", message)
      assert.equal("io", code)
      assert.same({ { 0 } }, all(second, "SELECT count(*) FROM t"))
      first:run "COMMIT"
      assert.equal(0, second:run "BEGIN IMMEDIATE")
      assert.same({ { 1 } }, all(second, "SELECT count(*) FROM t"))
   end)
end)

describe("Ctrl-C that is held back", function()
   local function pending(f)
      local interrupt = core.interrupt()
      assert(io.popen "kill -INT $PPID"):close()
      f()
      assert.is_true(interrupt:release())
   end

   it("ends waiting for another writer", function()
      local path = path_of()
      local first <close> = open(path)
      first:run "CREATE TABLE t(v); BEGIN IMMEDIATE; INSERT INTO t VALUES(1)"
      local second <close> = open(path, "write", { busy = 60 })
      pending(function()
         local got, message, code = second:run "BEGIN IMMEDIATE"
         assert.is_nil(got)
         assert.matches("interrupted by Ctrl%-C", message)
         assert.equal("io", code)
      end)
   end)

   it("ends adding up cells, but not commands", function()
      local path = path_of()
      local db <close> = open(path)
      db:run(native.schema)
      pending(function()
         db:run "INSERT INTO metrics(name, unit) VALUES(x'61', x'62')"
         assert.equal(1, db:run("INSERT INTO cells VALUES(1, 1, ?)",
            cells.sealed("\1\0", 1, 1)))
         local got, message = db:sum_cells(core.empty_contexts(core.dictionary()),
            "SELECT run, metric, data FROM cells")
         assert.is_nil(got)
         assert.matches("interrupted by Ctrl%-C", message)
      end)
      assert.is_truthy(db:sum_cells(core.empty_contexts(core.dictionary()),
         "SELECT run, metric, data FROM cells"))
   end)
end)

describe("the schema", function()
   it("is SQL that sqlite3 accepts too", function()
      local path, other = path_of(), path_of()
      local db <close> = open(path)
      assert.is_truthy(db:run(native.schema))
      sqlite.write(other .. ".sql", native.schema)
      os.execute(("sqlite3 '%s' < '%s.sql'"):format(other, other))
      local tables = "SELECT name, sql FROM sqlite_master ORDER BY 1"
      assert.equal(sqlite3(other, tables), sqlite3(path, tables))
      assert.equal("ok", sqlite3(path, "PRAGMA integrity_check"))
   end)

   it("has the version of the library beside it", function()
      assert.equal(sqlite3("", "SELECT sqlite_version()"), native.version.sqlite)
   end)
end)
