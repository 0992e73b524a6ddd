-- Texts in the file of a store: other programs find them as TEXT, those that SQLite cannot have so
-- survive as BLOB, and stores that were written when all texts were BLOB answer the same.

local command = require "spec.support.command"
local profio = require "profio"
local sqlite = require "spec.support.sqlite"
local stored = require "spec.support.stored"

local folder = sqlite.folder "store-texts"

-- The tables of schema 3, with all texts as BLOB, and the statements that copy the contents of the
-- attached store `now` into them.
local schema_3 = [[
ATTACH '%s' AS now;
CREATE TABLE metrics(id INTEGER PRIMARY KEY, name BLOB NOT NULL, unit BLOB NOT NULL,
   UNIQUE(name, unit));
CREATE TABLE frames(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name BLOB NOT NULL,
   file BLOB, line INTEGER);
CREATE TABLE stacks(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, parent INTEGER NOT NULL,
   frame INTEGER NOT NULL);
CREATE TABLE cells(run INTEGER NOT NULL, metric INTEGER NOT NULL, data BLOB NOT NULL,
   PRIMARY KEY(run, metric));
CREATE TABLE runs(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, time INTEGER NOT NULL,
   time_from BLOB NOT NULL, added INTEGER NOT NULL, format BLOB NOT NULL, kind BLOB NOT NULL,
   files INTEGER NOT NULL, bytes INTEGER NOT NULL, losses INTEGER NOT NULL,
   call_bytes INTEGER NOT NULL, path BLOB NOT NULL, profio BLOB NOT NULL, details BLOB NOT NULL,
   labels_sum INTEGER NOT NULL DEFAULT 0);
CREATE TABLE labels(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, key BLOB NOT NULL,
   value BLOB NOT NULL, PRIMARY KEY(run, key)) WITHOUT ROWID;
CREATE TABLE calls(run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, data BLOB);
CREATE INDEX labels_by_value ON labels(key, value);
CREATE TABLE programs(hash BLOB PRIMARY KEY, symbols BLOB NOT NULL);
CREATE TABLE address_kinds(id INTEGER PRIMARY KEY, content BLOB NOT NULL UNIQUE);
CREATE TABLE addresses(run INTEGER NOT NULL, kind INTEGER NOT NULL, data BLOB NOT NULL,
   PRIMARY KEY(run, kind));
INSERT INTO metrics SELECT id, CAST(name AS BLOB), CAST(unit AS BLOB) FROM now.metrics;
INSERT INTO frames SELECT id, hash, CAST(name AS BLOB), CAST(file AS BLOB), line FROM now.frames;
INSERT INTO stacks SELECT * FROM now.stacks;
INSERT INTO cells SELECT * FROM now.cells;
INSERT INTO runs SELECT id, hash, time, CAST(time_from AS BLOB), added, CAST(format AS BLOB),
   CAST(kind AS BLOB), files, bytes, losses, call_bytes, CAST(path AS BLOB), CAST(profio AS BLOB),
   details, labels_sum FROM now.runs;
INSERT INTO labels SELECT run, CAST(key AS BLOB), CAST(value AS BLOB) FROM now.labels;
INSERT INTO calls SELECT * FROM now.calls;
INSERT INTO programs SELECT * FROM now.programs;
INSERT INTO address_kinds SELECT * FROM now.address_kinds;
INSERT INTO addresses SELECT * FROM now.addresses;
PRAGMA application_id = 0x7072666f;
PRAGMA user_version = 3;
]]

-- Texts of which SQLite can have the first two as TEXT only.
local odd = { "", "zü\u{10ffff}", "n\0ul", "\255\254", "\xed\xa0\x80", "a\xc3" }

local function fresh(name)
   local path = folder .. "/" .. name
   for _, ending in ipairs { "", "-wal", "-shm" } do
      os.remove(path .. ending)
   end
   return path
end

-- Writes a store of some runs: gmon.out, traces with events, and pprof files.
local function some_runs(path)
   math.randomseed(21)
   local files = stored.files("store-texts/files", 6)
   stored.add(path, { files[1], files[2] }, { version = "v1", host = "h1" })
   stored.add(path, { files[3], files[4] }, { version = "v10", ["\xff"] = "\0" })
   stored.add(path, { files[5] }, { version = "\xffv" })
   stored.add(path, stored.traces(folder, "xpp", 2), { version = "v2" })
   return files[6]
end

teardown(function()
   sqlite.remove(folder)
end)

describe("the shell of SQLite", function()
   it("finds labels, names and attributes by their texts", function()
      local path = fresh "shell.db"
      some_runs(path)
      local function asked(sql)
         return sqlite.ask(path, sql)
      end
      assert.equal("v1|2\nv10|2\nv2|2", asked("SELECT value, count(*) FROM labels WHERE "
         .. "key='version' AND typeof(value) = 'text' GROUP BY value ORDER BY value"))
      assert.equal("2", asked("SELECT count(*) FROM runs JOIN labels ON run = id "
         .. "WHERE key='version' AND value LIKE 'v1_'"))
      assert.equal("pprof|5\nxpp|2", asked "SELECT format, count(*) FROM runs GROUP BY format")
      assert.equal("main", asked "SELECT DISTINCT name FROM frames WHERE name = 'main'")
      assert.equal("count", asked "SELECT unit FROM metrics WHERE name='samples'")
      assert.equal("1", asked [[SELECT count(*) FROM runs WHERE path LIKE '%/files/1.pb.gz']])
      assert.equal("blob|3\ntext|8", asked("SELECT typeof(value), count(*) FROM labels GROUP BY 1 "
         .. "ORDER BY 1"))
   end)
end)

describe("a text of any bytes", function()
   it("survives as a label, a name, a file and a value of a condition", function()
      local path = fresh "odd.db"
      local store <close> = assert(profio.store(path))
      for i, text in ipairs(odd) do
         local trace <close> = assert(profio.open { data = stored.pprof({ ["main;f" .. text] = i },
            { time_nanos = i }) })
         assert(store:add(trace, { labels = { ["k" .. text] = "v" .. text, all = text ~= ""
            and text or nil } }))
      end
      local names, values = {}, {}
      for function_name in store:profile():flat():each "function" do
         names[function_name] = true
      end
      for _, label in ipairs(store:labels()) do
         if label.key == "all" then
            values[#values + 1] = label.value
         end
      end
      local sorted = table.move(odd, 2, #odd, 1, {})
      table.sort(sorted, function(a, b) -- by bytes
         local i = 1
         while a:byte(i) == b:byte(i) and a:byte(i) do
            i = i + 1
         end
         return (a:byte(i) or -1) < (b:byte(i) or -1)
      end)
      assert.same(sorted, values)
      for i, text in ipairs(odd) do
         assert.is_true(names["f" .. text], i)
         assert.same("v" .. text, store:runs { ["k" .. text] = "v" .. text }[1].labels["k" .. text])
         if i > 1 then
            assert.equal(1, #store:runs { all = text })
            assert.equal(1, #store:runs { all = profio.between(text, text) })
         end
      end
      assert.equal(5, #store:runs { all = profio.between("a", "\255\255") })
      assert.equal(3, #store:runs { all = profio.between "z" })
   end)
end)

describe("a store of schema 3", function()
   local new, old, more

   -- Not in `setup`: it needs a shell, and without one only an example can be pending.
   local function prepare()
      if not old then
         local path = fresh "old.db"
         new = fresh "new.db"
         more = some_runs(new)
         assert.equal("", sqlite.ask(path, schema_3:format(new)))
         old = path
      end
   end

   it("answers the same, and gets runs and labels", function()
      prepare()
      assert.equal("0", sqlite.ask(old, "SELECT count(*) FROM labels WHERE key='version'"))
      for round = 1, 2 do
         local lists = {}
         for i, path in ipairs { new, old } do
            local store <close> = assert(profio.store(path))
            lists[i] = { store:runs(), store:labels(), store:runs { version = profio.match "^v1" },
               store:runs { version = profio.between("v1", "v2") }, store:runs { format = "xpp" },
               store:runs { path = profio.match "files/1" }, stored.forms(path),
               stored.forms(path, { run = { version = "v10" } }),
               assert(store:trend("main", { by = "version" })):write { output = "csv" } }
            for _, list in ipairs { lists[i][1], lists[i][3], lists[i][4], lists[i][5] } do
               for _, run in ipairs(list) do
                  run.added = nil
               end
            end
            if round == 1 then
               stored.add(path, { more }, { version = "v10", host = "h3" })
               assert.equal(2, store:label({ host = "h9", region = "eu" }, { host = "h1" }))
               assert.equal(1, store:label({ host = false }, { host = "h3" }))
            end
         end
         assert.same(lists[1], lists[2])
         assert.equal(round == 1 and 7 or 8, #lists[2][1])
         assert.equal(3 + round, #lists[2][3])
      end
      assert.equal("3", sqlite.ask(old, "PRAGMA user_version"))
      assert.equal("ok", sqlite.ask(old, "PRAGMA integrity_check"))
      assert.equal("0", sqlite.ask(old, "SELECT count(*) FROM labels WHERE typeof(key) = 'text'"))
   end)

   it("is copied into one with texts by profio store merge", function()
      prepare()
      local copy = fresh "copy.db"
      local said, status = command.run(("profio store merge '%s' '%s'"):format(copy, old))
      assert.same({ 0, "runs added from" }, { status, said:match "runs added from" })
      assert.same(stored.forms(old), stored.forms(copy))
      assert.equal("3", sqlite.ask(copy, "SELECT count(*) FROM labels WHERE key='version' AND "
         .. "value='v10'"))
      assert.equal("4", sqlite.ask(copy, "PRAGMA user_version"))
      local _, failed = command.run(("profio check '%s'"):format(copy))
      assert.equal(0, failed)
   end)
end)
