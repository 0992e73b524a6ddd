-- Adding runs to a store, and selecting them.
--
-- Tags: stressed.

local command = require "spec.support.command"
local engines = require "profio.internal.store.engines"
local disk = require "spec.support.disk"
local problem = require "profio.internal.store.problem"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-adding"
local path = folder .. "/a.db"

local function fresh()
   disk.fresh(folder)
   return assert(profio.store(path))
end

-- Returns an open trace with one stack.
local function trace_of(weight, head)
   return assert(profio.open { data = stored.pprof({ ["main;f"] = weight }, head) })
end

describe("a store", function()
   it("adds a run once", function()
      local store <close> = fresh()
      local run, is_new = assert(store:add(trace_of(1)))
      assert.matches("^%x+$", run)
      assert.equal(32, #run)
      assert.is_true(is_new)
      local again, is_new_again = assert(store:add(trace_of(1)))
      assert.equal(run, again)
      assert.is_false(is_new_again)
      local other = assert(store:add(trace_of(2)))
      assert.not_equal(run, other)
      assert.equal(2, #store:runs())
   end)

   it("knows a run by the bytes, not by the path or the packing", function()
      local store <close> = fresh()
      local bytes = stored.pprof { ["main;f"] = 7 }
      command.file("store-adding/x.pb.gz", bytes)
      command.file("store-adding/y.pb.gz", bytes)
      local x = assert(store:add(assert(profio.open(folder .. "/x.pb.gz"))))
      local y, is_new = assert(store:add(assert(profio.open(folder .. "/y.pb.gz"))))
      assert.equal(x, y)
      assert.is_false(is_new)
   end)

   it("has the facts of a run", function()
      local store <close> = fresh()
      command.file("store-adding/x.pb.gz", stored.pprof({ ["main;f"] = 7 }, { time_nanos = 17 }))
      command.file("store-adding/y.pb.gz", stored.pprof { ["main;f"] = 8 })
      os.execute(("touch -d @1700000000 '%s/y.pb.gz'"):format(folder))
      local labels = { version = "v2", host = "h7" }
      local x = assert(stored.at(1700000001, store.add, store,
         assert(profio.open(folder .. "/x.pb.gz")), { labels = labels }))
      local y = assert(store:add(assert(profio.open(folder .. "/y.pb.gz"))))
      local found = assert(store:runs { run = x })[1]
      assert.equal(x, found.run)
      assert.equal("pprof stacks file 17 1", table.concat({ found.format, found.kind,
         found.time_from, found.time, found.files }, " "))
      assert.equal(folder .. "/x.pb.gz", found.path)
      assert.equal(profio.version, found.profio)
      assert.same(labels, found.labels)
      assert.equal(1700000001000000000, found.added)
      found = assert(store:runs { run = y:sub(1, 7) })[1]
      assert.equal("modified", found.time_from)
      assert.equal(1700000000000000000, found.time)
   end)

   it("refuses other labels for a run that it has", function()
      local store <close> = fresh()
      assert(store:add(trace_of(1), { labels = { version = "v1" } }))
      local ok, message, code = store:add(trace_of(1), { labels = { version = "v2" } })
      assert.is_nil(ok)
      assert.equal("unsupported", code)
      assert.matches("the labels version=v1, not with version=v2: profio store label changes those "
         .. "of run %x+", message)
      assert.is_nil((store:add(trace_of(1))))
      assert.is_nil((store:add(trace_of(1), { labels = { version = "v1", host = "h" } })))
      assert.equal(1, #store:runs())
   end)

   it("takes any bytes as labels, names and files", function()
      local store <close> = fresh()
      local odd = "'; DROP TABLE runs; --\0\n\"{}%\\\255\254" .. ("x"):rep(1 << 20)
      local trace = assert(profio.open { data = stored.pprof { [odd:gsub(";", ":")] = 3 },
         path = "a'b\n\0c" })
      local run = assert(store:add(trace, { labels = { [odd] = odd .. "1", k = odd } }))
      local found = assert(store:runs { [odd] = odd .. "1" })
      assert.equal(1, #found)
      assert.equal(run, found[1].run)
      assert.equal(odd, found[1].labels.k)
      assert.equal(0, #store:runs { [odd] = odd })
      local profile = assert(store:profile { where = { k = odd } })
      local names = profile:flat():rows("function")
      assert.equal((odd:gsub(";", ":")), names[1]["function"])
   end)

   it("refuses labels that are no texts, empty, or named as an attribute", function()
      local store <close> = fresh()
      for _, labels in ipairs { { 1 }, { a = 1 }, { [""] = "x" }, { a = "" }, { time = "x" },
         { format = "x" }, { run = "x" } } do
         assert.has_error(function()
            store:add(trace_of(1), { labels = labels })
         end)
      end
      assert.equal(0, #store:runs())
   end)

   it("refuses stores", function()
      local store <close> = fresh()
      assert(store:add(trace_of(1)))
      local ok, message, code = store:add(assert(profio.open(path)))
      assert.is_nil(ok)
      assert.equal("unsupported", code)
      assert.matches("profio store merge", message)
   end)

   it("takes back what could not be committed", function()
      local store <close> = fresh()
      local engine = engines.open(path, "read")
      local Engine = getmetatable(engine).__index
      engine:close()
      local commit = Engine.commit
      Engine.commit = function()
         problem.raise("another process is writing", "io")
      end
      local _, message, code = store:add(trace_of(1))
      Engine.commit = commit
      assert.same({ "another process is writing", "io" }, { message, code })
      assert.same({}, store:runs())
      assert(store:add(trace_of(2)))
      local other <close> = assert(profio.store(path, { mode = "read" }))
      assert.equal(1, #other:runs())
   end)

   it("adds all prepared runs or none", function()
      local store <close> = fresh()
      local first = assert(store:prepare(trace_of(1)))
      local second = assert(store:prepare(trace_of(2)))
      second.stored.labels = { a = {} } -- cannot be bound
      assert.has_error(function()
         store:write { first, second }
      end)
      assert.equal(0, #store:runs())
      assert.has_error(function()
         store:write({ first }, { is_part = true })
      end, "write: is_part needs a store in ClickHouse")
      assert.equal(1, store:write { first, first })
   end)
end)

describe("conditions of runs", function()
   -- Runs with weights 1 to 6, versions v1 to v3, hosts of two, one without a version.
   local function filled()
      local store = fresh()
      for i = 1, 6 do
         assert(store:add(trace_of(i, { time_nanos = i }), { labels = { host = "h" .. i % 2,
            version = i < 6 and "v" .. (i + 1) // 2 or nil, n = tostring(i) } }))
      end
      return store
   end

   local store = filled()

   -- Returns the labels n of the selected runs, sorted.
   local function selected(where)
      local list = {}
      for i, run in ipairs(assert(store:runs(where))) do
         list[i] = run.labels.n
      end
      table.sort(list)
      return table.concat(list)
   end

   for _, case in ipairs {
      { nil, "123456" }, { {}, "123456" }, { { version = "v1" }, "12" },
      { { version = { "v1", "v3" } }, "125" }, { { version = profio.match "^v[23]$" }, "345" },
      { { version = profio.no "v1" }, "3456" }, { { version = profio.missing }, "6" },
      { { version = profio.no(profio.missing) }, "12345" },
      { { version = profio.between("v2", "v9") }, "345" },
      { { version = profio.no(profio.match "1") }, "3456" },
      { { version = "v1", host = "h1" }, "1" }, { { time = profio.between(2, 4) }, "234" },
      { { time = profio.between(5) }, "56" }, { { time = { 1, 6 } }, "16" },
      { { time = profio.no(profio.between(2, 5)) }, "16" }, { { format = "pprof" }, "123456" },
      { { format = "br" }, "" }, { { version = {} }, "" }, { { version = "'" }, "" },
      { { { version = "v1" }, { time = profio.between(2) } }, "2" },
      { { format = profio.match "^pp" }, "123456" }, { { time_from = "modified" }, "" },
   } do
      it(case[2], function()
         assert.equal(case[2], selected(case[1]))
      end)
   end

   it("are refused if they are wrong", function()
      for _, case in ipairs {
         { { versio = "v1" }, "no label 'versio'; there are: host, n, version, .*; did you mean "
            .. "'version'" },
         { { version = 1 }, "version is compared with texts, got integer" },
         { { time = "x" }, "time is a date or time in UTC .*, got 'x'" },
         { { files = "x" }, "files is compared with whole numbers" },
         { { run = "xyz" }, "hexadecimal digits, got 'xyz'" },
         { { run = ("0"):rep(33) }, "up to 32" },
         { { run = profio.match "a" }, "no patterns" },
         { { labels = "a" }, "name a label itself" },
      } do
         local done, message = pcall(store.runs, store, case[1])
         assert.is_false(done)
         assert.matches(case[2], message)
      end
   end)

   it("select what is dropped", function()
      local other <close> = filled()
      assert.equal(2, other:drop { version = "v1" })
      assert.equal(0, other:drop { version = "v1" , host = "none" })
      assert.equal(4, #other:runs())
      assert.equal(4, other:drop {})
      assert.same({}, other:labels())
   end)

   it("come with the labels and their counts", function()
      assert.same({ key = "host", value = "h0", runs = 3 }, store:labels()[1])
      assert.equal(2 + 6 + 3, #store:labels())
   end)
end)

describe("wrong use of a store", function()
   it("raises", function()
      local store = fresh()
      assert.has_error(function() store:add "path" end)
      assert.has_error(function() store.add() end)
      assert.has_error(function() profio.store() end)
      assert.has_error(function() profio.store(path, { mode = "append" }) end)
      store:close()
      store:close()
      assert.has_error(function() store:runs() end)
   end)

   it("names a file that is no store", function()
      local text = command.file("store-adding/text.db", "not a database, and long enough for one")
      for _, mode in ipairs { "read", "write", "create" } do
         local store, message, code = profio.store(text, { mode = mode })
         assert.is_nil(store)
         assert.equal("format", code)
         assert.matches("text%.db: ", message)
      end
      local none, message, code = profio.store(folder .. "/none.db", { mode = "read" })
      assert.is_nil(none)
      assert.equal("io", code)
      assert.matches("none%.db: ", message)
   end)
end)

describe("profio store", function()
   local protobuf = require "spec.support.protobuf"

   it("ls says that no run is selected", function()
      fresh():close()
      local text, status, errors = command.run "profio store ls store-adding/a.db"
      assert.equal(0, status, errors)
      assert.matches("^run ", text)
      text, status, errors = command.run "profio store ls --run path=none store-adding/a.db"
      assert.equal(1, status)
      assert.equal("", text)
      assert.matches("a.db: store: no run of the store is selected", errors, 1, true)
   end)

   it("says that an executable is no store", function()
      for _, words in ipairs { "ls", "labels", "export -o x", "add" } do
         local _, status, errors = command.run(("profio store %s /bin/ls %s"):format(
            words, words == "add" and "x" or ""))
         assert.equal(2, status)
         assert.matches("ls is an executable", errors, 1, true)
      end
   end)

   it("merge creates no store if no other can be opened", function()
      fresh():close()
      local _, status = command.run "profio store merge store-adding/new.db store-adding/none.db"
      assert.equal(1, status)
      assert.is_nil(io.open(folder .. "/new.db"))
   end)

   -- Returns a file of one sample in function f, whose location has an address.
   local function with_address(address)
      local text = protobuf.texts()
      local type = protobuf.message(1, protobuf.number(1, text "samples"),
         protobuf.number(2, text "count"))
      local name = text "f"
      return type .. protobuf.message(2, protobuf.number(1, 1), protobuf.number(2, 5))
         .. protobuf.message(4, protobuf.number(1, 1), protobuf.number(3, address),
            protobuf.message(4, protobuf.number(1, 1)))
         .. protobuf.message(5, protobuf.number(1, 1), protobuf.number(2, name)) .. text.fields()
   end

   it("add says that a file has addresses, also without mappings", function()
      for address, expected in pairs { [0x4010] = "the store has the functions", [0] = "^$" } do
         fresh():close()
         command.file("store-adding/x.pb", with_address(address))
         local line = "profio store add store-adding/a.db store-adding/x.pb"
         local _, status, errors = command.run(line)
         assert.equal(0, status, errors)
         assert.matches(expected, errors)
      end
   end)

   it("names the metrics of other kinds of profiles in a note, which it does not show", function()
      local store <close> = fresh()
      for metric, name in pairs { cpu = "f", inuse_space = "g" } do
         assert(store:add(assert(profio.open { data = stored.pprof({ ["main;" .. name] = 10 }, nil,
            metric) })))
      end
      local words = "rows show 'cpu', which 1 of 2 runs have; the others: inuse_space "
         .. "[store-several-metrics]"
      for _, line in ipairs { "report flat store-adding/a.db", "store top store-adding/a.db",
         "store trend f store-adding/a.db" } do
         local _, status, errors = command.run("profio " .. line)
         assert.equal(0, status, errors)
         assert.is_truthy(errors:find(words, 1, true), errors)
      end
   end)

   it("has one order of samples, whatever that of the files is", function()
      local function bytes(order)
         local text = protobuf.texts()
         local parts = { protobuf.message(1, protobuf.number(1, text "cpu"),
            protobuf.number(2, text "nanoseconds")) }
         for _, n in ipairs(order) do
            parts[#parts + 1] = protobuf.message(2, protobuf.packed(1, { n }),
               protobuf.packed(2, { 10 * n })) .. protobuf.message(4, protobuf.number(1, n),
               protobuf.message(4, protobuf.number(1, n))) .. protobuf.message(5,
               protobuf.number(1, n), protobuf.number(2, text("f" .. n)))
         end
         return table.concat(parts) .. text.fields()
      end
      local exported = {}
      for i, files in ipairs { { { 3, 1, 2 }, { 4, 2, 1 } }, { { 4, 2, 1 }, { 3, 1, 2 } } } do
         local store <close> = fresh()
         for _, order in ipairs(files) do
            assert(store:add(assert(profio.open { data = bytes(order) })))
         end
         exported[i] = assert(assert(store:profile()):export "pprof")
      end
      assert.equal(exported[1], exported[2])
   end)

   it("has one default metric: of several the first by name", function()
      local store <close> = fresh()
      for _, default in ipairs { "wall", "cpu" } do
         local both = stored.pprof({ ["main;f"] = 1 }, { default_sample_type = default }, default)
         assert(store:add(assert(profio.open { data = both })))
      end
      local exported = assert(assert(store:profile()):export "pprof")
      local trace <close> = assert(profio.open { data = exported })
      assert.equal("cpu", trace.info.default_sample_type)
   end)
end)
