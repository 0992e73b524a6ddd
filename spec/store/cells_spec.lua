-- Profiles in a store: what was put comes back, sums equal those of a slow model, and the tables
-- have what module.c and cells.h say, by the command sqlite3 and a decoder in Lua.

local cells = require "spec.support.cells"
local sqlite = require "spec.support.sqlite"
local core = require "profio.core"
local native = require "profio.store"

local folder = sqlite.folder "cells"
local count = 0

local function open(path, mode)
   if not path then
      count = count + 1
      path = ("%s/%d.db"):format(folder, count)
   end
   local db = assert(native.sqlite(path, mode or "create"))
   if not mode then
      assert(db:run(native.schema))
   end
   return db, path
end

local function put(db, run, contexts)
   assert(db:run "BEGIN IMMEDIATE")
   local written = assert(db:put_cells(run, contexts))
   assert(db:run "COMMIT")
   return written
end

local everything = "SELECT run, metric, data FROM cells"

local function sum(db, sql, ...)
   return assert(db:sum_cells(core.empty_contexts(core.dictionary()), sql or everything, ...))
end

local function frames_of(contexts)
   local list = contexts:frames()
   for i, frame in ipairs(list) do
      list[i] = ("%s|%s|%s"):format(frame["function"], frame.file, frame.line)
   end
   table.sort(list)
   return list
end

teardown(function()
   sqlite.remove(folder)
end)

describe("a profile in a store", function()
   it("comes back as it was", function()
      local db <close>, path = open()
      local metrics = { { name = "time", unit = "ns" }, { name = "samples", unit = "count" },
         { name = "never", unit = "count" } }
      local contexts = cells.contexts({ { "main;f;g", 5, 1, 0 }, { "main;f", -7, 2, 0 },
         { "other", math.maxinteger, 0, 0 }, { "main", math.mininteger, 3, 0 },
         { "main;zero", 0, 0, 0 }, { "main;f;h", 0, 9, 0 } }, metrics)
      assert.equal(8, put(db, 1, contexts))
      local back = sum(db)
      assert.same(cells.lines(contexts), cells.lines(back))
      assert.same({ "never", "samples", "time" }, { back:metrics()[1].name,
         back:metrics()[2].name, back:metrics()[3].name })
      assert.equal("time", (back:usual()))
      assert.same({ "f|nil|nil", "g|nil|nil", "h|nil|nil", "main|nil|nil", "other|nil|nil" },
         frames_of(back))
      assert.equal("ok", sqlite.ask(path, "PRAGMA integrity_check"))
      assert.equal("f\ng\nh\nmain\nother", sqlite.ask(path,
         "SELECT cast(name AS text) FROM frames ORDER BY 1"))
      assert.equal("5|5|3", sqlite.ask(path, "SELECT (SELECT count(*) FROM frames),"
         .. " (SELECT count(*) FROM stacks), (SELECT count(*) FROM cells)"))
   end)

   it("is summed as the tables are, whoever has changed them", function()
      local db <close>, path = open()
      local other <close> = open(path, "write")
      local function total()
         return table.concat(cells.lines(sum(db)), "\n")
      end
      local function want(...)
         assert.equal(table.concat(cells.lines(cells.contexts { ... }), "\n"), total())
      end
      put(db, 1, cells.contexts { { "main;f", 1 } })
      want { "main;f", 1 }
      put(db, 2, cells.contexts { { "main;g", 2 } })
      want({ "main;f", 1 }, { "main;g", 2 })
      put(other, 3, cells.contexts { { "main;f", 4 }, { "main;h;i", 8 } })
      want({ "main;f", 5 }, { "main;g", 2 }, { "main;h;i", 8 })
      assert(db:run "BEGIN IMMEDIATE")
      assert(db:put_cells(4, cells.contexts { { "main;k", 16 } }))
      want({ "main;f", 5 }, { "main;g", 2 }, { "main;h;i", 8 }, { "main;k", 16 })
      assert(db:run "ROLLBACK")
      want({ "main;f", 5 }, { "main;g", 2 }, { "main;h;i", 8 })
      put(other, 5, cells.contexts { { "main;l", 32 } })
      want({ "main;f", 5 }, { "main;g", 2 }, { "main;h;i", 8 }, { "main;l", 32 })
      sqlite.ask(path, "UPDATE frames SET name = 'm' WHERE name = 'l'")
      want({ "main;f", 5 }, { "main;g", 2 }, { "main;h;i", 8 }, { "main;m", 32 })
   end)

   it("may have any bytes in names, files and lines", function()
      local db <close> = open()
      local contexts = cells.contexts { { "a;b;c;d;e", 1 }, { "a;b", 2 }, { "c", 4 } }
      local long = ("x\0\xff"):rep(350000)
      local number = {}
      for _, frame in ipairs(contexts:frames()) do
         number[frame["function"]] = frame.number
      end
      contexts = assert(contexts:rename {
         [number.a] = { ["function"] = "a\0\xfe'\";--", file = "", line = 7 },
         [number.b] = { ["function"] = "", file = "b\0.c", line = -1 },
         [number.c] = { ["function"] = long, file = long, line = math.maxinteger },
         [number.d] = { ["function"] = long, file = long, line = 1 },
         [number.e] = { ["function"] = long },
      })
      put(db, 1, contexts)
      local back = sum(db)
      assert.is_true(table.concat(cells.lines(contexts)) == table.concat(cells.lines(back)))
      assert.is_true(table.concat(frames_of(contexts)) == table.concat(frames_of(back)))
      -- Known in memory, found by another connection.
      put(db, 2, contexts)
      db:close()
   end)

   it("may be empty, or have weight outside of all stacks", function()
      local db <close> = open()
      assert.equal(0, put(db, 1, cells.contexts {}))
      assert.equal(0, sum(db):count())
      assert.equal(1, #sum(db):metrics())
      assert.equal(0, #sum(db, "SELECT run, metric, data FROM cells WHERE run = 9"):metrics())
      assert.same({ { 0 } }, sqlite.rows(db, "SELECT count(*) FROM stacks"))
      put(db, 2, cells.contexts { { "", 5 }, { "a", 6 } })
      assert.equal(11, sum(db):metrics()[1].total)
   end)

   it("is stored in the layout that is documented", function()
      local db <close> = open()
      put(db, 1, cells.contexts { { "a", 300 }, { "a;b", -1 }, { "c", math.mininteger } })
      local id = {}
      for name, parent, stack in db:rows [[SELECT f.name, s.parent, s.id
         FROM stacks s JOIN frames f ON s.frame = f.id]] do
         id[name] = stack
         assert.equal(name == "b" and id.a or 0, parent)
      end
      local expected = { { id.a, 300 }, { id.b, -1 }, { id.c, math.mininteger } }
      table.sort(expected, function(x, y) return x[1] < y[1] end)
      for data in db:rows "SELECT data FROM cells" do
         assert.same(expected, cells.unpack(cells.unsealed(data, 1, 1)))
         assert.equal(cells.sealed(cells.pack(expected), 1, 1), data)
      end
   end)

   it("needs a transaction, a new run, and open objects", function()
      local db <close> = open()
      local contexts = cells.contexts { { "main", 1 } }
      assert.error_matches(function() db:put_cells(1, contexts) end, "needs a transaction")
      put(db, 1, contexts)
      db:run "BEGIN"
      local got, message, code = db:put_cells(1, contexts)
      assert.is_nil(got)
      assert.matches("UNIQUE", message)
      assert.equal("format", code)
      db:run "ROLLBACK"
      assert.error_matches(function() db:sum_cells(contexts, everything) end, "is not empty")
      contexts:close()
      assert.error_matches(function() db:put_cells(2, contexts) end, "profile is closed")
      assert.error_matches(function() db:put_cells(2, db) end, "profio.contexts expected")
      local empty = core.empty_contexts(core.dictionary())
      for _, sql in ipairs { "SELECT 1, 2", "SELECT nonsense", "SELECT 1, 1, x'', 1" } do
         assert.equal("format", select(3, db:sum_cells(empty, sql)))
      end
      assert.matches("1 parameters, 0 values",
         select(2, db:sum_cells(empty, everything .. " WHERE run = ?")))
      db:close()
      assert.error_matches(function() db:sum_cells(empty, everything) end, "database is closed")
   end)
end)

describe("hashes", function()
   -- The hash of bytes by the program xxhsum.
   local function xxh128(bytes)
      local file = folder .. "/bytes"
      sqlite.write(file, bytes)
      local pipe <close> = assert(io.popen(("xxhsum -H2 '%s'"):format(file)))
      return (pipe:read(32):gsub("..", function(hex) return string.char(tonumber(hex, 16)) end))
   end

   it("of bytes are XXH3 with 128 bits, however they are cut", function()
      local bytes = {}
      for i = 1, 3000 do
         bytes[i] = string.char(i * 37 % 251)
      end
      bytes = table.concat(bytes)
      for _, size in ipairs { 0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 256, 1024, 3000 } do
         local text = bytes:sub(1, size)
         local expected = xxh128(text)
         assert.equal(expected, native.hasher():add(text):digest())
         local cut = size // 3
         local h = native.hasher():add(text:sub(1, cut), "", text:sub(cut + 1))
         assert.equal(expected, h:digest())
         assert.equal(expected, h:digest())
         assert.equal(expected, native.hasher():add(core.source_data(text, "text")):digest())
      end
   end)

   it("take sources of files, and nothing else", function()
      local path = folder .. "/file"
      sqlite.write(path, "some bytes\n")
      local source = assert(core.source(path))
      assert.equal(xxh128 "some bytes\n", native.hasher():add(source):digest())
      source:close()
      assert.error_matches(function() native.hasher():add(source) end, "source is closed")
      assert.has_error(function() native.hasher():add {} end)
   end)

   it("of frames and stacks are those of their contents", function()
      local db <close> = open()
      local contexts = cells.contexts { { "main;f", 1 } }
      local number = {}
      for _, frame in ipairs(contexts:frames()) do
         number[frame["function"]] = frame.number
      end
      put(db, 1, assert(contexts:rename { [number.f] =
         { ["function"] = "f", file = "f.c", line = -2 } }))
      local main = xxh128(("<s8B<i8"):pack("main", 0, 0))
      local f = xxh128(("<s8Bs8<i8"):pack("f", 1, "f.c", -2))
      assert.same({ { "main", main }, { "f", f } },
         sqlite.rows(db, "SELECT name, hash FROM frames ORDER BY id"))
      local outer = xxh128(("\0"):rep(16) .. main)
      assert.same({ { 1, outer }, { 2, xxh128(outer .. f) } },
         sqlite.rows(db, "SELECT id, hash FROM stacks ORDER BY id"))
   end)

   it("that two contents have are an error, and nothing is added up", function()
      for name, forge in pairs {
         frames = "UPDATE frames SET name = x'00' WHERE name = 'f'",
         stacks = "UPDATE stacks SET frame = frame - 1 WHERE parent > 0",
      } do
         local db <close> = open()
         put(db, 1, cells.contexts { { "main;f", 1 } })
         assert.equal(1, db:run(forge))
         db:run "BEGIN"
         local got, message, code = db:put_cells(2, cells.contexts { { "main;f", 1 } })
         assert.is_nil(got)
         assert.matches("two different rows of the table " .. name .. " have one hash", message)
         assert.equal("format", code)
         db:run "ROLLBACK"
      end
   end)
end)

describe("ids", function()
   local function random_list(names, size)
      local list = {}
      for i = 1, size do
         local stack = {}
         for depth = 1, math.random(1, 6) do
            stack[depth] = "f" .. math.random(names)
         end
         list[i] = { table.concat(stack, ";"), math.random(-5, 50) }
      end
      return list
   end

   it("are found again after rollbacks, and changes of this and other connections", function()
      local db <close>, path = open()
      local other <close> = open(path, "write")
      local expected = {}
      local function add(from, run, ends)
         local contexts = cells.contexts(random_list(4, 20))
         assert(from:run "BEGIN IMMEDIATE")
         assert(from:put_cells(run, contexts))
         assert(from:run(ends))
         if ends == "COMMIT" then
            expected[run] = cells.lines(contexts)
         end
      end
      for run = 1, 60 do
         local from = math.random(2) == 1 and db or other
         add(from, run, math.random(3) == 1 and "ROLLBACK" or "COMMIT")
         if math.random(6) == 1 then
            -- All runs go, and the ids of the dictionary are given to others.
            assert(from:run "DELETE FROM cells; DELETE FROM stacks; DELETE FROM frames")
            expected = {}
         elseif math.random(6) == 1 and next(expected) then
            local gone = next(expected)
            from:run("DELETE FROM cells WHERE run = ?", gone)
            from:run "DELETE FROM stacks"
            from:run "DELETE FROM cells"
            expected = {}
         end
      end
      for run, lines in pairs(expected) do
         assert.same(lines, cells.lines(sum(db, everything .. " WHERE run = ?", run)))
      end
      assert.equal("ok", sqlite.ask(path, "PRAGMA integrity_check"))
      assert.equal("0", sqlite.ask(path, [[SELECT count(*) FROM stacks WHERE
         frame NOT IN (SELECT id FROM frames) OR parent <> 0 AND
         parent NOT IN (SELECT id FROM stacks)]]))
   end)

   it("are the same rows for the same stacks, whoever adds them", function()
      local db <close>, path = open()
      local other <close> = open(path, "write")
      local list = random_list(3, 50)
      put(db, 1, cells.contexts(list))
      local before = sqlite.ask(path, "SELECT count(*), max(id) FROM stacks")
      put(other, 2, cells.contexts(list))
      put(db, 3, cells.contexts(list))
      assert.equal(before, sqlite.ask(path, "SELECT count(*), max(id) FROM stacks"))
      assert.equal("1", sqlite.ask(path,
         "SELECT count(DISTINCT substr(data, 1, length(data) - 8)) FROM cells"))
   end)
end)

describe("sums", function()
   it("equal those of a slow model, in any order of the runs", function()
      local metrics = { { name = "time", unit = "ns" }, { name = "samples", unit = "count" } }
      for round = 1, 5 do
         local db <close> = open()
         local model, wanted = {}, {}
         db:run "BEGIN"
         for run = 1, 40 do
            local list = {}
            for i = 1, math.random(0, 30) do
               local stack = {}
               for depth = 1, math.random(1, 5) do
                  stack[depth] = "f" .. math.random(1, 2 + round)
               end
               list[i] = { table.concat(stack, ";"), math.random(-1 << 40, 1 << 40),
                  math.random(0, 1) }
            end
            assert(db:put_cells(run, cells.contexts(list, metrics)))
            wanted[run] = math.random(2) == 1
            for _, row in ipairs(wanted[run] and list or {}) do
               for m, metric in ipairs(metrics) do
                  local key = ("%s %s/%s"):format(row[1], metric.name, metric.unit)
                  model[key] = (model[key] or 0) + row[m + 1]
               end
            end
         end
         db:run "COMMIT; CREATE TABLE wanted(run)"
         for run, is_wanted in pairs(wanted) do
            db:run("INSERT INTO wanted SELECT ? WHERE ?", run, is_wanted)
         end
         local lines = {}
         for key, total in pairs(model) do
            lines[#lines + 1] = total ~= 0 and key .. " " .. total or nil
         end
         table.sort(lines)
         for _, order in ipairs { "run", "run DESC", "random()" } do
            assert.same(lines, cells.lines(sum(db, everything ..
               " WHERE run IN (SELECT run FROM wanted) ORDER BY " .. order)))
         end
      end
   end)

   it("saturate only at the end, so that no order matters", function()
      local db <close> = open()
      local most = math.maxinteger
      for run, weight in ipairs { most, most, -most, 5, -most } do
         put(db, run, cells.contexts { { "a", weight }, { "b", 1 } })
      end
      for _, order in ipairs { "run", "run DESC" } do
         local all = sum(db, everything .. " ORDER BY " .. order)
         assert.same({ "a time/ns 5", "b time/ns 5" }, cells.lines(all))
         assert.is_false(select(2, all:count()))
      end
      local high = sum(db, everything .. " WHERE run IN (1, 2)")
      assert.same({ "a time/ns " .. most, "b time/ns 2" }, cells.lines(high))
      assert.is_true(select(2, high:count()))
      local low = sum(db, everything .. " WHERE run IN (3, 5)")
      assert.same({ "a time/ns " .. math.mininteger, "b time/ns 2" }, cells.lines(low))
   end)

   it("keep metrics with one name and different units apart, in the order given", function()
      local db <close> = open()
      put(db, 1, cells.contexts({ { "a", 1 } }, { { name = "time", unit = "ns" } }))
      put(db, 2, cells.contexts({ { "a", 2 } }, { { name = "time", unit = "ms" } }))
      put(db, 3, cells.contexts({ { "a", 4 } }, { { name = "calls", unit = "count" } }))
      local function order_of(contexts)
         local list = {}
         for i, metric in ipairs(contexts:metrics()) do
            list[i] = metric.name .. "/" .. metric.unit .. "=" .. metric.total
         end
         return table.concat(list, " ")
      end
      assert.equal("calls/count=4 time/ms=2 time/ns=1", order_of(sum(db)))
      local given = core.empty_contexts(core.dictionary(), { { name = "time", unit = "ns" },
         { name = "other", unit = "count" } }, "other")
      assert.equal("time/ns=1 other/count=0 calls/count=4 time/ms=2",
         order_of(assert(db:sum_cells(given, everything))))
      assert.same({ "other", true }, { given:usual() })
      assert.has_error(function()
         core.empty_contexts(core.dictionary(), { { name = "a", unit = "b" } }, "c")
      end)
      assert.has_error(function() core.empty_contexts(core.dictionary(), { { name = "a" } }) end)
   end)
end)
