-- Labels of any bytes, and changing the labels of runs that are in a store. A table in Lua says
-- which labels each run has.
--
-- Extra: stores of SQLite and ClickHouse beside each other.

local clickhouse = require "spec.support.clickhouse"
local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-labels"
local keys, values = { "v", "host", "a 'b'\0\255", "x" }, { "1", "2", "two words", "\\'\"\n\200" }

local function labels_of(chance)
   local labels = {}
   for _, key in ipairs(keys) do
      labels[key] = math.random() < chance and values[math.random(#values)] or nil
   end
   return labels
end

-- Changes random labels of random runs, and compares the store with the table after each change.
local function check(path)
   local store <close> = assert(profio.store(path))
   local wanted = {}
   for _, file in ipairs(stored.files("store-labels/files", 8)) do
      local trace <close> = assert(profio.open(file))
      local labels = labels_of(0.5)
      wanted[assert(store:add(trace, { labels = labels }))] = labels
   end
   local flat = assert(store:profile()):flat():write { output = "csv" }
   for _ = 1, 12 do
      local key, value, changes = "run", next(wanted):sub(1, 9), labels_of(0.4)
      local labels = store:labels()
      if labels[1] and math.random(2) == 1 then
         key, value = labels[1].key, labels[1].value
      end
      local removed = keys[math.random(#keys)]
      changes[removed] = changes[removed] or false
      local count = 0
      for run, own in pairs(wanted) do
         if key == "run" and run:sub(1, 9) == value or own[key] == value then
            count = count + 1
            for name, one in pairs(changes) do
               own[name] = one or nil
            end
         end
      end
      assert.equal(count, store:label(changes, { [key] = value }))
      local found = {}
      for _, run in ipairs(store:runs()) do
         found[run.run] = run.labels
      end
      assert.same(wanted, found)
      local counts = {}
      for _, label in ipairs(store:labels()) do
         counts[label.key .. "=" .. label.value] = label.runs
      end
      for _, own in pairs(wanted) do
         for name, one in pairs(own) do
            local text = name .. "=" .. one
            counts[text] = counts[text] - 1
         end
      end
      for _, left in pairs(counts) do
         assert.equal(0, left)
      end
   end
   assert.equal(flat, assert(store:profile()):flat():write { output = "csv" })
   return store:runs()
end

-- Texts that a command of SQL, its parameters or a C string could take for something else. The last
-- one has 1 MB, so questions to the others do not wait for it.
local TEXTS <const> = { "'; DROP TABLE runs; --", "\\'", "\\", "a\nb\tc", "\0\xff\0", "a\0b", "{}",
   "{x:String}", "`\"%s", "NULL", "%27", "?1", ("long '\\\""):rep(1 << 17) }

-- Adds a run for each of these texts, with a label and a function of it, and selects by it.
local function check_texts(path)
   local store <close> = assert(profio.store(path))
   local labels, weights = { all = #TEXTS }, { main = #TEXTS }
   for i, text in ipairs(TEXTS) do
      local name = text:gsub(";", ":") -- separates the functions of a stack here
      local trace <close> = assert(profio.open { data = stored.pprof({ ["main;" .. name] = i + 1,
         main = 1 }, { time_nanos = i }) })
      assert(store:add(trace, { labels = { [text] = text, all = "x" } }))
      labels[text], weights[name] = 1, i + 1
      for _, value in ipairs { text, { text, "'" }, profio.between(text, text) } do
         local runs = store:runs { [text] = value, all = profio.match "^x" }
         assert.same({ 1, i, text }, { #runs, runs[1].time, runs[1].labels[text] })
      end
      for _, value in ipairs { profio.missing, profio.no(text) } do
         assert.equal(i - 1, #store:runs { [text] = value })
      end
   end
   local found = {}
   for _, label in ipairs(store:labels()) do
      assert.equal(label.key == "all" and "x" or label.key, label.value)
      found[label.key] = label.runs
   end
   assert.same(labels, found)
   local selves = {}
   for _, row in ipairs(assert(store:profile()):flat():rows("function", "self")) do
      selves[row["function"]] = row.self
   end
   assert.same(weights, selves)
end

describe("labels and names", function()
   it("may be any bytes", function()
      disk.fresh(folder)
      check_texts(folder .. "/texts.db")
   end)
end)

describe("store:label", function()
   it("changes the labels of the selected runs only", function()
      math.randomseed(1)
      disk.fresh(folder)
      check(folder .. "/a.db")
   end)

   it("changes all selected runs, or none", function()
      local path = folder .. "/b.db"
      os.remove(path)
      stored.add(path, stored.files("store-labels/files", 3), { v = "1" })
      local store <close> = assert(profio.store(path))
      assert.error_matches(function() store:label({ v = "" }, {}) end, "may be empty")
      assert.error_matches(function() store:label({ v = 1 }, {}) end, "texts by name")
      assert.error_matches(function() store:label({ run = "1" }, {}) end, "attribute of this name")
      assert.error_matches(function() store:label({ v = "2" }) end, "the condition")
      assert.error_matches(function() store:label({ v = "2" }, { color = "red" }) end, "no label")
      assert.equal(0, store:label({ v = "2" }, { v = "7" }))
      assert.same({ { key = "v", value = "1", runs = 3 } }, store:labels())
      local reader <close> = assert(profio.store(path, { mode = "read" }))
      local count, message, code = reader:label({ v = "2" }, {})
      assert.is_nil(count)
      assert.equal("io", code, message)
   end)

   if not clickhouse.is_installed() then
      pending "labels in ClickHouse (needs clickhouse-server)"
      return
   end

   it("changes labels in ClickHouse, on two servers, and takes any bytes", function()
      math.randomseed(2)
      disk.fresh(folder)
      local fleet = clickhouse.fleet("labels", 2)
      local done, message = pcall(function()
         local one, two = fleet:address(nil, 1), fleet:address()
         check(one)
         check_texts(fleet:address())
         local runs = check(two)
         local whole <close> = assert(profio.store(two))
         local copy <close> = assert(profio.store(folder .. "/c.db"))
         assert.equal(#runs, copy:merge(whole))
         assert.same(runs, copy:runs())
         fleet.servers[1]:ask("OPTIMIZE TABLE runs FINAL", one:match "%w+$")
         local store <close> = assert(profio.store(one))
         assert.equal(8, #store:runs())
         assert.equal(8, store:drop {})
         assert.equal(0, #store:runs())
      end)
      fleet:close()
      assert(done, message)
   end)
end)
