-- Each flipped bit in a packed value of a store is an error, never another number: the profile, the
-- graph and the statistics of calls are as before, or reading fails.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local gmon = require "spec.support.gmon_builder"
local native = require "profio.store"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-checksums"

-- Returns what a store gives; nil and a message: reading it failed.
local function result_of(path)
   local trace <close>, message = profio.open(path)
   if not trace then
      return nil, message
   end
   local profile, why = trace:profile()
   if not profile then
      return nil, why
   end
   local done, text = pcall(function()
      local parts = { profile:flat():write { output = "csv" },
         profile:graph():write { output = "csv" }, (trace.runs:write { output = "csv" }) }
      for _, form in pairs(stored.statistics(trace)) do
         parts[#parts + 1] = form
      end
      table.sort(parts)
      return table.concat(parts)
   end)
   return done and text or nil, not done and text
end

-- Flips random bits of a column of a store, one at a time; returns how many flips were found.
local function flipped(path, place, count)
   local whole, found, first = assert(result_of(path)), 0, nil
   for i = 1, count do
      local db <close> = assert(native.sqlite(path, "write"))
      local rows = {}
      for id, bytes in assert(db:rows(("SELECT rowid, %s FROM %s"):format(place[2], place[1]))) do
         rows[#rows + 1] = { id, bytes }
      end
      local id, bytes = table.unpack(rows[math.random(#rows)])
      local sql = ("UPDATE %s SET %s = ? WHERE rowid = ?"):format(place[1], place[2])
      local at = i <= 20 and math.random(#bytes) or math.random(math.min(#bytes, 60))
      assert(db:run(sql, bytes:sub(1, at - 1) .. string.char(bytes:byte(at)
         ~ 1 << math.random(0, 7)) .. bytes:sub(at + 1), id))
      local text, message = result_of(path)
      if text then
         first = first or ("%s.%s at %d of %d"):format(place[1], place[2], at, #bytes)
      else
         found = found + 1
         assert.matches("damaged", message)
      end
      assert(db:run(sql, bytes, id))
   end
   assert.equal(whole, result_of(path))
   return found, first
end

local function fresh(name)
   disk.fresh(folder)
   return folder .. "/" .. name
end

local function check(path, places)
   for _, place in ipairs(places) do
      local found, first = flipped(path, place, 40)
      assert.equal(40, found, first)
   end
end

describe("a flipped bit", function()
   it("of a profile of stacks is found", function()
      math.randomseed(31)
      local path = fresh "s.db"
      stored.add(path, stored.files("store-checksums/files", 3))
      check(path, { { "cells", "data" }, { "runs", "details" } })
   end)

   it("of the statistics of calls is found", function()
      math.randomseed(32)
      local path = fresh "c.db"
      stored.add(path, stored.traces(folder, "winidea", 2))
      check(path, { { "calls", "data" }, { "cells", "data" } })
   end)

   it("of histograms and arcs is found", function()
      math.randomseed(33)
      local path = fresh "g.db"
      local files = {}
      for i = 1, 2 do
         local bins = {}
         for n = 1, 40 do
            bins[n] = math.random(0, 9)
         end
         files[i] = command.file(("store-checksums/%d.gmon"):format(i), gmon("<", 8):header()
            :histogram({ low = 0x1000, high = 0x1000 + 640, bins = bins })
            :arc(0x1010, 0x1100, math.random(99)):bytes())
      end
      stored.add(path, files)
      check(path, { { "addresses", "data" }, { "address_kinds", "content" } })
   end)

   it("of what finds the rows of a profile is found", function()
      math.randomseed(36)
      local path = fresh "r.db"
      stored.add(path, stored.files("store-checksums/files", 2))
      stored.add(path, { command.file("store-checksums/arcs.gmon", gmon("<", 8):header()
         :histogram({ low = 0x1000, high = 0x1040, bins = { 1, 2, 3, 4 } })
         :arc(0x1010, 0x1020, 3):bytes()) })
      local graph = "(SELECT id FROM runs WHERE CAST(kind AS TEXT) = 'graph')"
      for _, change in ipairs { "UPDATE cells SET run = 77 WHERE rowid = 1",
         "DELETE FROM cells WHERE rowid = 2", "DELETE FROM address_kinds WHERE id = 1",
         "DELETE FROM addresses WHERE run = " .. graph,
         "UPDATE addresses SET run = 77 WHERE run = " .. graph,
         "UPDATE addresses SET kind = 77 WHERE kind = 2" } do
         local damaged = folder .. "/damaged.db"
         assert(os.execute(("rm -f '%s'* && cp '%s' '%s'"):format(damaged, path, damaged)))
         local db <close> = assert(native.sqlite(damaged, "write"))
         assert(db:run(change) > 0)
         local selected = change:find "cells" and "format=pprof" or "format=gmon"
         local store <close> = assert(profio.store(damaged, { mode = "read" }))
         local where = { format = selected:match "=(.*)" }
         local profile, message = store:profile { where = where }
         assert.is_nil(profile, change)
         assert.matches("damaged", message)
         assert.is_nil((assert(profio.store(folder .. "/other.db")):merge(store, where)), change)
         assert(store:profile { where = { format = profio.no(where.format) } })
      end
   end)

   it("of details of runs, or a lost row, is listed by a check, which goes on", function()
      local path = fresh "e.db"
      stored.add(path, stored.files("store-checksums/files", 4))
      local rows
      do
         local trace <close> = assert(profio.open(path))
         rows = trace.cells:count()
      end
      do
         local db <close> = assert(native.sqlite(path, "write"))
         assert(db:run "UPDATE runs SET details = x'00' WHERE id < 3")
         assert(db:run "DELETE FROM cells WHERE run = 3")
      end
      local trace <close> = assert(profio.open(path))
      local warnings = trace:check()
      assert.equal(3, #warnings)
      for i, warning in ipairs(warnings) do
         assert.equal("store-damaged", warning.code)
         local _, count = warning.message:gsub("run %x+ %(.*%) are damaged", "")
         assert.equal(1, count, warning.message)
         assert.is_nil(warning.message:find(path, 1, true), i)
      end
      local left = trace.cells:count()
      assert.is_true(left > 0 and left < rows)
      assert.equal("store-damaged", trace.warnings[1].code) -- and not of the profile:
      assert.is_nil((trace:profile()))
   end)

   it("of a frame or stack is found by a check", function()
      math.randomseed(35)
      local path = fresh "d.db"
      stored.add(path, stored.files("store-checksums/files", 2))
      do
         local trace <close> = assert(profio.open(path))
         assert.same({}, trace:check())
      end
      for change, message in pairs { ["frames SET name = name || x'00'"] = "the frame 3 is damaged",
         ["frames SET line = 77"] = "the frame 3 is damaged",
         ["frames SET file = x'61'"] = "the frame 3 is damaged",
         ["stacks SET parent = 1"] = "the stack 3 is damaged",
         ["stacks SET frame = 1"] = "the stack 3 is damaged" } do
         local damaged = folder .. "/damaged.db"
         assert(os.execute(("rm -f '%s'* && cp '%s' '%s'"):format(damaged, path, damaged)))
         local db <close> = assert(native.sqlite(damaged, "write"))
         assert(db:run(("UPDATE %s WHERE id = 3"):format(change)))
         local trace <close> = assert(profio.open(damaged))
         local warnings = trace:check()
         assert.equal("store-damaged", (warnings[1] or {}).code, change)
         assert.matches(message, warnings[1].message)
      end
   end)

   it("of a label is found when its run is read, and so is a lost label", function()
      local path = fresh "l.db"
      local files = stored.files("store-checksums/files", 3)
      stored.add(path, { files[1] }, { version = "v1", host = "h7" })
      stored.add(path, { files[2] }, { version = "v2" })
      stored.add(path, { files[3] })
      for _, change in ipairs { "UPDATE labels SET value = 'v1' WHERE value = 'v2'",
         "UPDATE labels SET key = 'g' WHERE key = 'host'",
         "UPDATE labels SET run = 3 WHERE run = 2", "DELETE FROM labels WHERE run = 2",
         "INSERT INTO labels VALUES(3, 'k', 'v')", "UPDATE runs SET labels_sum = 1" } do
         local damaged = folder .. "/damaged.db"
         assert(os.execute(("rm -f '%s'* && cp '%s' '%s'"):format(damaged, path, damaged)))
         local db <close> = assert(native.sqlite(damaged, "write"))
         assert(db:run(change) > 0)
         local text, message = result_of(damaged)
         assert.is_nil(text, change)
         assert.matches("the labels of run %x+ are damaged", message)
         local store <close> = assert(profio.store(damaged))
         assert.is_nil((store:label({ host = "h8" }, {})), change)
         local run = message:match "run (%x+)"
         while run do -- what is left is right
            assert.equal(1, store:drop { run = run })
            text, message = result_of(damaged)
            run = not text and message:match "the labels of run (%x+) are damaged"
         end
      end
      assert.is_truthy(result_of(path))
   end)

   it("of an attribute of a run is found when its profile is read", function()
      math.randomseed(34)
      local path = fresh "a.db"
      stored.add(path, stored.files("store-checksums/files", 2))
      for _, change in ipairs { "time = time + 1", "format = x'61'", "losses = 1", "files = 2",
         "path = x'62'" } do
         local db <close> = assert(native.sqlite(path, "write"))
         local before = {}
         local column = change:match "^%l+"
         local sql = ("SELECT id, %s FROM runs WHERE id = 1"):format(column)
         for id, value in assert(db:rows(sql)) do
            before = { value, id }
         end
         assert(db:run(("UPDATE runs SET %s WHERE id = 1"):format(change)))
         local text, message = result_of(path)
         assert.is_nil(text, change)
         assert.matches("the details of run %x+ %(.*%) are damaged", message)
         assert(db:run(("UPDATE runs SET %s = ? WHERE id = ?"):format(column),
            table.unpack(before)))
      end
      assert.is_truthy(result_of(path))
   end)
end)
