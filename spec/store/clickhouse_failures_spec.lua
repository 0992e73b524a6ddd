-- Stores in ClickHouse when something is wrong: servers that end, addresses that do not fit,
-- answers that are damaged, and parts of a store that are lost.
--
-- Extra: needs clickhouse-server.
-- Unsanitized: fuzz_rows runs all but four of its branches.

local clickhouse = require "spec.support.clickhouse"
local disk = require "spec.support.disk"

if not clickhouse.is_installed() then
   pending "failures of stores in ClickHouse (needs clickhouse-server)"
   return
end

local clickhouse_servers = require "profio.internal.store.clickhouse.servers"
local command = require "spec.support.command"
local core = require "profio.core"
local engines = require "profio.internal.store.engines"
local native = require "profio.store"
local profile_parts = require "profio.internal.bodies.profile_parts"
local profio = require "profio"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local schema = require "profio.internal.store.clickhouse.schema"
local stored = require "spec.support.stored"
local wait = require "spec.support.wait"

local folder = command.folder .. "/store-failures"
local fleet, servers

local function both(more)
   return fleet:address(more)
end

local function trace_of(stacks, time)
   return assert(profio.open { data = stored.pprof(stacks, { time_nanos = time }) })
end

-- Opens a store and returns message and code of the failure.
local function failure(path, mode)
   local store, message, code = profio.store(path, { mode = mode or "read" })
   assert.is_nil(store)
   return message, code
end

local function flat(path, where)
   local trace <close> = assert(profio.open(path, { run = where }))
   return assert(trace:profile()):flat():write { output = "csv" }
end

setup(function()
   disk.fresh(folder)
   fleet = clickhouse.fleet("failures", 2, { https = true })
   servers = fleet.servers
end)

teardown(function()
   fleet:close()
end)

describe("an address of ClickHouse", function()
   it("is checked, and never has a password", function()
      for path, expected in pairs { ["clickhouse://u:p@h/d"] = "password in an address",
         ["clickhouse://h"] = "database is missing", ["clickhouse://h/a.b"] = "name of a database",
         ["clickhouse://h:0/d"] = "no HOST:PORT", ["clickhouse://h:x/d"] = "no HOST:PORT",
         ["clickhouse://h/d?shards=a:b"] = "no HOST:PORT", ["clickhouse:///d"] = "no HOST:PORT",
         ["clickhouse://h/d?x=1"] = "unknown parameter 'x=1'",
         ["clickhouse://h/d?cluster=a'b"] = "name of a cluster",
         ["clickhouse://h/d?timeout=0"] = "timeout must be" } do
         local message, code = failure(path)
         assert.matches(expected, message, 1, true)
         assert.equal("unsupported", code)
         assert.is_nil(message:find("u:p", 1, true))
      end
   end)

   it("names a store that exists, unless it is to be created", function()
      local message, code = failure(both(), "write")
      assert.matches("has no store", message)
      assert.equal("io", code)
   end)

   it("names all servers of the store, each once", function()
      local path = both()
      local store <close> = assert(profio.store(path)) -- luacheck: ignore
      assert.matches("2 shards, not the 1 servers", (failure((path:gsub("%?.*", "")))))
      assert.matches("are one server", (failure((path:gsub(servers[2].http, servers[1].http)))))
      local one = fleet:address(nil, 1)
      local other <close> = assert(profio.store(one)) -- luacheck: ignore
      assert.matches("does not have the store", (failure(one .. path:match "%?.*")))
   end)

   it("names the cluster of these servers", function()
      assert.matches("server refuses", (failure(both "&cluster=nothing", "create")))
   end)

   it("needs the password of the environment, or of a file", function()
      local path, environment = both(), fleet.environment
      local store <close> = assert(profio.store(path)) -- luacheck: ignore
      environment.PROFIO_STORE_PASSWORD = "wrong"
      local message, code = failure(path)
      assert.matches("wrong user or password %(PROFIO_STORE_PASSWORD", message)
      assert.equal("io", code)
      local file <close> = assert(io.open(folder .. "/password", "w"))
      file:write "secret\n"
      file:flush()
      environment.PROFIO_STORE_PASSWORD_FILE = folder .. "/password"
      local again <close> = assert(profio.store(path)) -- luacheck: ignore
      environment.PROFIO_STORE_PASSWORD_FILE = folder .. "/absent"
      assert.matches("PROFIO_STORE_PASSWORD_FILE: .*No such file", (failure(path)))
      environment.PROFIO_STORE_PASSWORD, environment.PROFIO_STORE_PASSWORD_FILE = "secret", nil
   end)

   it("may be encrypted, with a certificate that is trusted", function()
      local path = ("clickhouses://fleet@127.0.0.1:%d/tls"):format(servers[1].https)
      assert.matches("certificate is not trusted.*ca=FILE", (failure(path, "create")))
      local store <close> = assert(profio.store(path .. "?ca=" .. servers[1].folder .. "/cert.pem"))
      assert.is_truthy(store:add(trace_of({ main = 1 }, 1)))
      assert.equal(1, #store:runs())
   end)
end)

describe("a store in ClickHouse", function()
   it("selects by attributes as one in a file", function()
      local path, file = both(), folder .. "/where.db"
      os.remove(file)
      for _, name in ipairs { path, file } do
         local store <close> = assert(profio.store(name))
         for i = 1, 9 do
            assert(store:add(trace_of({ ["main;f" .. i] = i }, i),
               { labels = { n = "v" .. i % 3 } }))
         end
      end
      local store <close> = assert(profio.store(path))
      local other <close> = assert(profio.store(file))
      local run = store:runs()[4].run
      for _, where in ipairs { {}, { time = profio.between(3, 6) }, { time = { 1, 9, 77 } },
         { time = profio.no { 1, 2 } }, { format = "pprof" }, { format = "gmon" }, { run = run },
         { run = run:sub(1, 1) }, { run = { run:sub(1, 5), run:sub(1, 2), ("0"):rep(32) } },
         { n = "v1", time = profio.between(nil, 5) }, { n = profio.between("v1", nil) },
         { n = profio.no(profio.match "[12]") }, { format = profio.match "^p" },
         { path = profio.missing }, { run = profio.no(run) } } do
         local times = {}
         for s, one in ipairs { store, other } do
            times[s] = {}
            for i, found in ipairs(one:runs(where)) do
               times[s][i] = found.time .. " " .. found.run
            end
         end
         assert.same(times[2], times[1])
      end
   end)

   it("has sums of 64 bits, with a warning beyond", function()
      local path, file = both(), folder .. "/most.db"
      os.remove(file)
      local warnings = {}
      for s, name in ipairs { path, file } do
         local store <close> = assert(profio.store(name))
         for i = 1, 3 do
            assert(store:add(trace_of({ ["main;f"] = math.maxinteger, ["main;g"] = -1 - i,
               ["main;h"] = (1 << 33) + i, main = i == 1 and math.mininteger or 1 }, i)))
         end
         local trace <close> = assert(profio.open(name))
         local profile <close> = assert(trace:profile())
         warnings[s] = profile:flat():write { output = "csv" } .. #trace.warnings
         assert.matches("overflow", trace.warnings[1].code)
      end
      assert.equal(warnings[2], warnings[1])
      assert.matches("h,[^\n]*" .. 3 * (1 << 33) + 6, warnings[1])
   end)

   -- Calls a function. Coroutines in it yield before each request to a server.
   local function step_by_step(path, f)
      local client = clickhouse_servers.open(native, path)
      local class = getmetatable(client)
      client:close()
      local ask, send = class.ask, class.send
      function class.ask(self, list, ...)
         local answers = {}
         for i, server in ipairs(list) do
            coroutine.yield()
            answers[i] = ask(self, { server }, ...)[1]
         end
         return answers
      end
      function class.send(...)
         coroutine.yield()
         return send(...)
      end
      local done, message = pcall(f)
      class.ask, class.send = ask, send
      assert(done, message)
   end

   local function creator(path)
      return coroutine.create(function()
         assert(profio.store(path)):close()
      end)
   end

   it("are completed by the next command if their creation was stopped at any request", function()
      for stop = 1, math.huge do
         local path, is_done = both(), false
         step_by_step(path, function()
            local one = creator(path)
            for _ = 1, stop do
               assert(coroutine.resume(one))
            end
            is_done = coroutine.status(one) == "dead"
         end)
         local store <close> = assert(profio.store(path))
         assert(store:add(trace_of({ ["main;f"] = 100 }, 100)))
         assert.matches("f,[^\n]*100", flat(path))
         if is_done then
            assert.is_true(stop > 10)
            return
         end
      end
   end)

   it("are one store if a program creates them at any moment of another one", function()
      for stop = 1, math.huge do
         local path, is_done = both(), false
         step_by_step(path, function()
            local one, other = creator(path), creator(path)
            for _ = 1, stop do
               assert(coroutine.resume(one))
            end
            is_done = coroutine.status(one) == "dead"
            while coroutine.status(other) ~= "dead" do
               assert(coroutine.resume(other))
            end
            while coroutine.status(one) ~= "dead" do
               assert(coroutine.resume(one))
            end
         end)
         local store <close> = assert(profio.store(path, { mode = "write" }))
         assert(store:add(trace_of({ ["main;f"] = 100 }, 100)))
         assert.equal(1, #store:runs())
         if is_done then
            return
         end
      end
   end)

   -- Adds prepared runs as a program does that does not see those which others add meanwhile.
   local function add_unseen(path, list)
      local engine = engines.open(path, "write")
      engine:begin "write"
      for _, prepared in ipairs(list) do
         prepared.stored.added = 1
         engine:add(prepared.stored, prepared.contents)
      end
      engine:commit()
      engine:close()
   end

   -- Returns a store in which a run can be prepared that the one under test has.
   local function other_store()
      return assert(profio.store(folder .. "/other.db"))
   end

   it("counts a run once, also when two programs add it at the same time", function()
      local path = both()
      local first <close> = assert(profio.store(path))
      local second <close> = assert(profio.store(path))
      assert(second:add(trace_of({ ["main;f"] = 100 }, 100)))
      local lists = { {}, {} }
      for n, store in ipairs { first, second } do
         for i = 1, 20 do
            lists[n][i] = assert(store:prepare(trace_of({ ["main;f"] = i }, i),
               { labels = { who = n == 1 and "a" or "b" } }))
         end
      end
      assert.equal(20, assert(first:write(lists[1])))
      add_unseen(path, lists[2])
      assert.equal(1, second:drop { time = 100 })
      assert.equal(20, #second:runs())
      local by_label = #first:runs { who = "a" } + #first:runs { who = "b" }
      assert.equal(20, by_label)
      assert.matches("f,[^\n]*210", flat(path))
      fleet:ask "OPTIMIZE TABLE cells FINAL"
      fleet:ask "OPTIMIZE TABLE runs FINAL"
      assert.matches("f,[^\n]*210", flat(path))
      assert.equal(5, first:drop { time = profio.between(1, 5) })
      assert.equal(15, #first:runs())
      assert.matches("f,[^\n]*195", flat(path))
      local _, is_new = first:add(trace_of({ ["main;f"] = 3 }, 3))
      assert.is_true(is_new)
      assert.matches("f,[^\n]*198", flat(path))
   end)

   local november <const>, march <const> = 1700000000000000000, 1710000000000000000

   it("has partitions by the month of the runs, which can be removed", function()
      local path = both()
      local store <close> = assert(profio.store(path))
      for i = 1, 12 do
         assert(store:add(trace_of({ ["main;f"] = i }, (i <= 6 and november or march) + i)))
      end
      add_unseen(path, { (assert(other_store():prepare(trace_of({ ["main;f"] = 3 },
         november + 3)))) })
      assert.matches("f,[^\n]*78", flat(path))
      assert.equal(2, store:label({ kept = "x" }, { time = { november + 4, march + 9 } }))
      assert.equal(12, #store:runs())
      for from, count in pairs { [november + 1] = 12, [november + 5] = 8, [march] = 6,
         [march + 12] = 1 } do
         assert.equal(count, #store:runs { time = profio.between(from, nil) })
         assert.equal(12 - count, #store:runs { time = profio.between(nil, from - 1) })
         assert.equal(12 - count, #store:runs { time = profio.no(profio.between(from, nil)) })
      end
      fleet:ask "ALTER TABLE runs DROP PARTITION 202311"
      fleet:ask "ALTER TABLE cells DROP PARTITION 202311"
      assert.equal(6, #store:runs())
      assert.equal(1, #store:runs { kept = "x" })
      assert.matches("f,[^\n]*57", flat(path))
      local again <close> = assert(profio.store(path))
      assert.is_false(select(2, again:add(trace_of({ ["main;f"] = 9 }, march + 9),
         { labels = { kept = "x" } })))
      assert.is_true(select(2, again:add(trace_of({ ["main;f"] = 5 }, november + 5))))
      assert.matches("f,[^\n]*62", flat(path))
   end)

   it("of schema 5 has partitions by the month of adding, as before", function()
      local path = both()
      assert(profio.store(path)):close()
      fleet:ask "INSERT INTO store SELECT toInt64(5), shard, shards FROM store"
      fleet:ask "ALTER TABLE store DELETE WHERE version = 6"
      local store
      wait.until_true(function()
         store = profio.store(path)
         return store ~= nil
      end)
      for i = 1, 8 do
         stored.at(1720000000, store.add, store, trace_of({ ["main;f"] = i }, november + i))
      end
      local trace <close> = assert(store:trace())
      assert.equal(5, trace.info.schema)
      assert.equal(8, #store:runs { time = profio.between(november, march) })
      assert.equal(0, #store:runs { time = profio.between(march, nil) })
      for _, answer in ipairs(fleet:ask "SELECT DISTINCT month FROM runs") do
         assert.equal("202407\n", answer)
      end
      assert.matches("f,[^\n]*36", flat(path))
      store:close()
   end)

   it("takes runs of more months than an insert may have", function()
      local path = both()
      local store <close> = assert(profio.store(path))
      local list, month <const> = {}, 31 * 86400 * 1000000000
      for i = 1, 150 do
         list[i] = assert(store:prepare(trace_of({ ["main;f"] = i }, i * month)))
      end
      assert.equal(150, store:write(list))
      assert.equal(150, #store:runs())
      assert.equal(10, #store:runs { time = profio.between(11 * month, 20 * month) })
      assert.matches("f,[^\n]*" .. 150 * 151 // 2, flat(path))
   end)

   it("does not show what was added without a commit", function()
      local path = both()
      local store <close> = assert(profio.store(path))
      local engine = engines.open(path, "write")
      local contexts = profile_parts.contexts(assert(trace_of({ ["main;f"] = 1 }, 1)
         :profile()))
      engine:begin "write"
      for i = 1, 520 do -- the cells of 256 runs are sent before the commit, and waited for at 512
         engine:add({ hash = ("%016d"):format(i), time = i, time_from = "file", added = i,
            format = "pprof", kind = "stacks", files = 1, bytes = 1, losses = 0,
            call_bytes = 0, path = "x",
            profio = "1", labels = {}, details = "" }, { contexts = contexts })
      end
      engine:close()
      assert.equal(0, #store:runs())
      local again <close> = assert(profio.store(path))
      assert.equal(0, #again:runs())
      local sent = 0
      for _, count in ipairs(fleet:ask "SELECT count() FROM cells") do
         sent = sent + tonumber(count)
      end
      assert.is_true(sent > 50, sent)
      assert(again:add(trace_of({ ["main;f"] = 7 }, 7)))
      assert.matches("f,[^\n]*7", flat(path))
   end)

   it("reads the same runs from begin to end", function()
      local path = both()
      local store <close> = assert(profio.store(path))
      assert(store:add(trace_of({ ["main;f"] = 1 }, 1)))
      local trace <close> = assert(profio.open(path))
      assert(store:add(trace_of({ ["main;f"] = 2 }, 2)))
      assert.matches("f,[^\n]*,1,", assert(trace:profile()):flat():write { output = "csv" })
      assert.equal(2, #store:runs())
   end)

   it("that has lost cells, names or runs is damaged, and never has smaller sums", function()
      local cases = { { "cells", "rows of cells of these runs instead of" },
         { "stacks", "a stack or a frame is missing" },
         { "frames", "a stack or a frame is missing" } }
      for _, case in ipairs(cases) do
         local path = both()
         local store <close> = assert(profio.store(path))
         assert(store:add(trace_of({ ["main;f;g"] = 5, ["main;h"] = 6 }, 1)))
         fleet:ask(("RENAME TABLE %s TO old"):format(case[1]))
         fleet:ask(("CREATE TABLE %s AS old"):format(case[1]))
         local got, message, code = store:profile()
         assert.is_nil(got)
         assert.matches(case[2], message, 1, true)
         assert.equal("format", code)
         local warnings = assert(profio.open(path)):check()
         assert.equal("store-damaged", warnings[1].code)
         assert.matches(case[1] == "cells" and "^run %x+ .* has 0 rows of cells instead of 1$"
            or case[2], warnings[1].message)
      end
   end)

   it("never adds up stacks that have only half of their hash in common", function()
      local path = both()
      local store <close> = assert(profio.store(path))
      assert(store:add(trace_of({ ["main;f"] = 5, ["main;g"] = 6 }, 1)))
      -- Each stack again, with another first half.
      fleet:ask "CREATE TABLE more AS cells"
      fleet:ask("INSERT INTO more SELECT metric, hash, attempt, month, arrayConcat(hi, "
         .. "arrayMap(x -> toUInt16(x + 1), hi)), arrayConcat(lo, lo), arrayConcat(high, high), "
         .. "arrayConcat(low, low) FROM cells")
      fleet:ask "RENAME TABLE cells TO old, more TO cells"
      local got, message = store:profile()
      assert.is_nil(got)
      assert.matches("a stack or a frame is missing", message)
      local sums = native.run_sums(core.empty_contexts(core.dictionary(),
         { { name = "n", unit = "count" } }))
      local row = string.pack("<I8I8I8i8", 1, 2, 3, 0)
      assert.is_true(sums:are_clear(row .. row))
      assert.is_false(sums:are_clear(row .. string.pack("<i8I8I8i8", -1, 2, 3, 0)))
   end)

   it("that has two contents for one hash is damaged", function()
      local path = both()
      local store <close> = assert(profio.store(path))
      assert(store:add(trace_of({ ["main;f"] = 5 }, 1)))
      fleet:ask "INSERT INTO frames SELECT hi, lo, 'forged', has_file, file, line FROM frames"
      local got, message = store:profile()
      assert.is_nil(got)
      assert.matches("a frame does not have its hash", message)
   end)

   it("that has other symbols for a program is damaged", function()
      local path, bytes = both(), "packed symbols"
      local store <close> = assert(profio.store(path))
      assert(store:add(trace_of({ ["main;f"] = 5 }, 1)))
      local hash, other = native.hasher():add(bytes):digest(), ("\0"):rep(16)
      for _, name in ipairs { hash, other } do
         fleet:ask(("INSERT INTO programs SELECT unhex('%s'), '%s'"):format(name:gsub(".",
            function(byte) return ("%02x"):format(byte:byte()) end), bytes))
      end
      local engine = engines.open(path, "read")
      assert.equal(bytes, engine:program(hash))
      assert.is_nil(engine:program(other))
      engine:close()
   end)

   it("that has rows twice counts the runs of labels once", function()
      local path = both()
      local store <close> = assert(profio.store(path))
      for i = 1, 3 do
         assert(store:add(trace_of({ ["main;f"] = i }, i), { labels = { v = "x" } }))
      end
      fleet:ask "SYSTEM STOP MERGES runs"
      fleet:ask "INSERT INTO runs SELECT * FROM runs"
      local rows = 0
      for _, answer in ipairs(fleet:ask "SELECT count() FROM runs") do
         rows = rows + tonumber(answer)
      end
      assert.equal(6, rows)
      assert.same({ { key = "v", value = "x", runs = 3 } }, store:labels())
      assert.equal(3, #store:runs())
   end)
end)

describe("servers of a store in ClickHouse", function()
   it("that are down are an error that names them, never a smaller sum", function()
      for _, more in ipairs { "", "&cluster=fleet" } do
         local path = both(more)
         local files = stored.files("store-failures/down", 8)
         stored.add(path, files)
         local store <close> = assert(profio.store(path))
         local trace <close> = assert(profio.open(path))
         servers[2]:kill()
         for _, call in ipairs { store.runs, store.labels, store.profile } do
            local got, message, code = call(store)
            assert.is_nil(got)
            assert.matches("127.0.0.1:" .. servers[2].http .. ": no answer", message)
            assert.equal("io", code)
         end
         assert.is_nil((trace:profile()))
         assert.matches("127.0.0.1:" .. servers[2].http .. ": no answer", (failure(path)))
         local more_files <close> = trace_of({ main = 1 }, 1)
         local prepared = store:prepare(more_files)
         assert.is_nil(prepared and store:write { prepared })
         servers[2]:start()
         assert.same(stored.forms(files), stored.forms(path))
      end
   end)

   it("may be killed while runs are added: each run is in it as a whole or not", function()
      local path = both()
      local files = stored.files("store-failures/killed", 60)
      for round = 1, 4 do
         local store <close> = assert(profio.store(path))
         servers[round % 2 + 1]:kill_when_written(40 * round)
         for i = 1, #files, 6 do
            local list = {}
            for f = i, i + 5 do
               local trace <close> = assert(profio.open(files[f]))
               list[#list + 1] = store:prepare(trace)
            end
            if #list < 6 or not store:write(list) then
               break
            end
         end
         servers[round % 2 + 1]:restart()
         local known, present = {}, {}
         for _, run in ipairs(assert(store:runs())) do
            known[run.path] = true
         end
         for _, file in ipairs(files) do
            present[#present + 1] = known[file] and file or nil
         end
         if present[1] then
            assert.same(stored.forms(present), stored.forms(path))
         end
      end
      stored.add(path, files)
      assert.same(stored.forms(files), stored.forms(path))
   end)

   it("that answer with less, or with an error after the status 200, are an error", function()
      local function answer(body)
         return ("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"):format(#body, body)
      end
      local told = "Code: 241, e.displayText() = DB::Exception: Memory limit exceeded"
      local state = row_binary.pack("iiI", schema.VERSION, 7, { 7 })
      for _, case in ipairs { { "answer is damaged: Code: 241", answer(told) },
         { "answer is damaged: Code: 241", answer(state .. told) },
         { "is damaged", answer(state:sub(1, -2)) }, { "is damaged", answer(state .. "\1") },
         { "rows instead of one", answer(state .. state) },
         { "schema of this store is 1", answer(row_binary.pack("iiI", 1, 7, { 7 })) },
         { "not the 1 servers", answer(row_binary.pack("iiI", schema.VERSION, 7,
            { 7, 8 })) },
         { "is damaged: Code: 241", answer(state), answer(told) },
         { "is incomplete", answer(state), answer("abcdef"):sub(1, -2) } } do
         local port, _ <close> = clickhouse.answering(folder, { answer "1\n",
            table.unpack(case, 2) })
         local store, message = profio.store(("clickhouse://127.0.0.1:%d/d"):format(port),
            { mode = "read" })
         if store then
            store, message = store:labels()
         end
         assert.is_nil(store)
         assert.matches(case[1], message, 1, true)
      end
   end)
end)
