-- Stores in ClickHouse: the same profiles as those of files and of SQLite, on one and on several
-- servers.
--
-- Extra: needs clickhouse-server.

local clickhouse = require "spec.support.clickhouse"
local disk = require "spec.support.disk"

if not clickhouse.is_installed() then
   pending "stores in ClickHouse (needs clickhouse-server)"
   return
end

local command = require "spec.support.command"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local programs = require "spec.support.programs"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-clickhouse"
local fleet

-- Returns the address of a new database: on one server, on two, or on all three through
-- Distributed tables.
local function address(kind)
   return fleet:address(kind == "cluster" and "&cluster=fleet" or nil,
      ({ one = 1, shards = 2, cluster = 3 })[kind])
end

local kinds = { "one", "shards", "cluster" }

-- Returns files, some of them several times.
local function doubled(files)
   local list = {}
   for _, file in ipairs(files) do
      for _ = 1, math.random(2) do
         list[#list + 1] = file
      end
   end
   return list
end

describe("a store in ClickHouse", function()
   setup(function()
      disk.folder(folder)
      fleet = clickhouse.fleet("store", 3)
   end)

   teardown(function()
      fleet:close()
   end)

   it("has the profile of all files, on one or more servers, in any split", function()
      for round, kind in ipairs(kinds) do
         math.randomseed(round)
         local files = stored.files("store-clickhouse", 6 + math.random(6))
         local path = address(kind)
         stored.add(path, doubled(files))
         assert.same(stored.forms(files), stored.forms(path))
         for _, warning in ipairs(assert(profio.open(path)):check()) do
            assert.not_equal("damage", warning.kind, warning.message)
         end
      end
   end)

   it("on three servers has what profio merge writes of all files, or names one that is down",
      function()
         math.randomseed(12)
         local files, path = stored.files("store-clickhouse", 30), fleet:address()
         local lines = { "export PROFIO_STORE_PASSWORD=secret", ("cd '%s'"):format(folder),
            ("profio merge -o merged.pb.gz '%s'"):format(table.concat(files, "' '")) }
         for _, list in ipairs { { table.unpack(files, 1, 12) }, { table.unpack(files, 12) } } do
            lines[#lines + 1] = ("profio store add '%s' '%s'"):format(path, table.concat(
               stored.shuffled(list), "' '"))
         end
         for name, line in pairs { pprof = "export pprof", svg = "export svg --set title=x",
            csv = "report flat --output csv", json = "report flat --output json" } do
            lines[#lines + 1] = ("profio %s -o m.%s merged.pb.gz && profio %s -o s.%s '%s' && "
               .. "cmp m.%s s.%s"):format(line, name, line, name, path, name, name)
         end
         local said, status, errors = command.run(table.concat(lines, " && "))
         assert.same({ "", 0 }, { stored.without_notes(errors), status })
         assert.matches("12 runs added\n.*18 runs added, 1 already there\n$", said)
         for _, count in ipairs(fleet:ask "SELECT count() FROM runs") do
            assert.is_true(tonumber(count) > 0, "a server has no run")
         end
         fleet.servers[3]:kill()
         said, status, errors = command.run(("PROFIO_STORE_PASSWORD=secret profio report flat '%s'")
            :format(path))
         fleet.servers[3]:start()
         assert.same({ "", 1 }, { said, status })
         assert.matches(("127.0.0.1:%d: no answer"):format(fleet.servers[3].http), errors, 1, true)
      end)

   it("has all runs of a transaction in parts, or none of them", function()
      math.randomseed(11)
      local files, path = stored.files("store-clickhouse", 4), address "shards"
      local store <close> = assert(profio.store(path))
      local other <close> = assert(profio.store(path, { mode = "read" }))
      local list = {}
      for i, file in ipairs(files) do
         local trace <close> = assert(profio.open(file))
         list[i] = assert(store:prepare(trace))
      end
      assert.equal(1, store:write({ list[1] }, { is_part = true }))
      assert.equal(1, store:write({ list[2], list[1] }, { is_part = true }))
      assert.equal(0, #other:runs())
      assert.has_error(function()
         store:write({ list[3], {} }, { is_part = true })
      end)
      assert.equal(1, store:write { list[3] })
      assert.equal(3, #other:runs())
      assert.same(stored.forms { files[1], files[2], files[3] }, stored.forms(path))
   end)

   it("has histograms and arcs, and the names of programs", function()
      local program, profiled = programs.profiled("store-clickhouse", "spec/data/gmon/cycle.c", "",
         1)
      local low, high, arcs
      do
         local trace <close> = assert(profio.open(profiled[1]))
         low, high, arcs = trace.info.low, trace.info.high, trace.arcs:rows()
      end
      for round, kind in ipairs(kinds) do
         math.randomseed(round + 40)
         local files, path, file = {}, address(kind), folder .. "/g.db"
         for i = 1, 9 do
            local bins = {}
            for n = 1, 50 do
               bins[n] = math.random(0, 60000)
            end
            files[i] = command.file(("store-clickhouse/%d.gmon"):format(i), gmon("<", 8):header()
               :histogram({ low = low, high = high, bins = bins })
               :arc(arcs[1].from, arcs[1].to, math.random(1 << 31)):bytes())
         end
         os.remove(file)
         stored.add(file, { table.unpack(files, 1, 5) }, nil, { exe = program })
         stored.add(path, doubled { table.unpack(files, 4) }, { of = "path" }, { exe = program })
         do
            local store <close> = assert(profio.store(path))
            local other <close> = assert(profio.store(file))
            local added, message = store:merge(other)
            assert.matches("with the labels of=path", message or tostring(added))
            assert.equal(6, store:drop { of = "path" })
            stored.add(path, { table.unpack(files, 6) }, nil, { exe = program })
            assert.equal(5, store:merge(other))
         end
         local want = stored.forms(files, { exe = program })
         assert.same(want, stored.forms(path))
         os.remove(file)
         local copy <close> = assert(profio.store(file))
         local whole <close> = assert(profio.store(path, { mode = "read" }))
         assert.equal(9, copy:merge(whole))
         assert.same(want, stored.forms(file))
         assert.equal(copy:trend("leaf", { by = "run" }):write { output = "csv" },
            whole:trend("leaf", { by = "run" }):write { output = "csv" })
      end
   end)

   it("has the trends and differences of a store in a file", function()
      for round, kind in ipairs(kinds) do
         math.randomseed(round + 20)
         local path, file = address(kind), folder .. "/t.db"
         os.remove(file)
         for i = 1, 3 do
            stored.add(file, stored.files("store-clickhouse/t" .. i, 5), { host = "h" .. i })
         end
         local store <close> = assert(profio.store(path))
         local other <close> = assert(profio.store(file))
         assert.equal(15, store:merge(other))
         for _, by in ipairs { "host", "run", "day" } do
            for _, f in ipairs { "f3", "main", profio.match "^f[1-4]", profio.no "main" } do
               assert.equal(other:trend(f, { by = by }):write { output = "csv" },
                  assert(store:trend(f, { by = by })):write { output = "csv" })
            end
            local where = { host = { "h1", "h3" } }
            assert.equal(other:top { by = by, where = where }:write { output = "csv" },
               store:top { by = by, where = where }:write { output = "csv" })
         end
         assert.equal(assert(other:changes { by = "run" }):write { output = "csv" },
            assert(store:changes { by = "run" }):write { output = "csv" })
         for _, where in ipairs { { time = profio.between "2000-01-01" }, { added = "2000-01" } } do
            assert.equal(#other:runs(where), #store:runs(where))
         end
         local none, message, code = store:trend "f99"
         assert.same({ nil, "format" }, { none, code })
         assert.equal(path .. ": no function of the store has such a name",
            (message:gsub("; .*", "")))
      end
   end)

   it("has the statistics of calls of all files", function()
      for round, kind in ipairs(kinds) do
         math.randomseed(round)
         local files = stored.traces(folder, round == 1 and "xpp" or "winidea", 7)
         local path, file = address(kind), ("%s/calls%d.db"):format(folder, round)
         os.remove(file)
         stored.add(path, doubled(files))
         local forms = stored.forms(files)
         assert.is_string(forms["statistics by context, csv"])
         assert.same(forms, stored.forms(path))
         local copy <close> = assert(profio.store(file))
         local store <close> = assert(profio.store(path))
         assert.equal(7, copy:merge(store))
         assert.same(forms, stored.forms(file))
      end
   end)

   it("is merged with stores in files, and back", function()
      math.randomseed(5)
      local files = stored.files("store-clickhouse", 9)
      local path, file, back = address "shards", folder .. "/a.db", folder .. "/b.db"
      os.remove(file)
      os.remove(back)
      stored.add(file, { table.unpack(files, 1, 5) })
      stored.add(path, doubled { table.unpack(files, 4) })
      local store <close> = assert(profio.store(path))
      local other <close> = assert(profio.store(file))
      assert.equal(3, store:merge(other))
      assert.equal(0, store:merge(other))
      local copy <close> = assert(profio.store(back))
      assert.equal(9, copy:merge(store))
      assert.same(stored.forms(files), stored.forms(path))
      assert.same(stored.forms(files), stored.forms(back))
      assert.same(copy:runs(), store:runs())
   end)
end)
