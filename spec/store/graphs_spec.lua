-- Runs of gmon.out in a store: their bins and arcs are added up by address, so that all reports are
-- those of the files read together, byte for byte.
--
-- Extra: many stores beside many files.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local gmon = require "spec.support.gmon_builder"
local lfs = require "lfs"
local profio = require "profio"
local programs = require "spec.support.programs"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-graphs"
local program, files = programs.profiled("store-graphs", "spec/data/gmon/cycle.c", "", 1)
local other = programs.profiled("store-graphs-2", "spec/data/gmon/cycle.c", "-O2 -fno-inline", 1)

-- Returns the range and the arcs of the program's own gmon.out.
local function own_of(path)
   local trace <close> = assert(profio.open(path))
   return { low = trace.info.low, high = trace.info.high, arcs = trace.arcs:rows() }
end

local own = own_of(files[1])

-- Returns a gmon.out of the program with random counts. Bins of many bytes cover parts of several
-- functions.
local function random_file(options)
   options = options or {}
   local file = gmon(options.order or "<", options.width or 8)
   local function bins_of(count)
      local bins = {}
      for i = 1, count do
         bins[i] = math.random(3) == 1 and math.random(0, options.most or 300) or 0
      end
      return bins
   end
   local range = own.high - own.low
   if options.bsd then
      file:bsd { low = own.low, high = own.high, bins = bins_of(range // 4), rate = 100 }
   else
      file:header():histogram { low = own.low, high = own.high, bins = bins_of(range // 16) }
   end
   if options.several then
      file:histogram { low = own.low + 64, high = own.high, bins = bins_of(97), rate = 1000 }
      file:histogram { low = own.low, high = own.high, bins = bins_of(100), rate = 1,
         dimension = "misses", abbreviation = "m" }
   end
   for _, arc in ipairs(stored.shuffled(own.arcs)) do
      if math.random(3) > 1 then
         file[options.bsd and "bsd_arc" or "arc"](file, arc.from, arc.to, math.random(0,
            options.most or 5000))
      end
   end
   if not options.bsd and math.random(2) == 1 then
      file:blocks { { own.arcs[1].to, math.random(9) }, { own.arcs[2].to, 1 } }
   end
   return file:bytes()
end

-- Writes random files; returns their paths.
local function random_files(count, options)
   disk.fresh(folder)
   local paths = {}
   for i = 1, count do
      paths[i] = command.file(("store-graphs/%d.gmon"):format(i), random_file(options))
   end
   return paths
end

-- Returns all that is compared, as texts.
local function forms(what, options)
   local all = stored.forms(what, options)
   local trace <close> = assert(profio.open(what, options))
   local profile = assert(trace:profile { lines = options and options.exe ~= nil })
   for _, name in ipairs { "graph", "graph_listing", "index", "lines", "annotations" } do
      if options and options.exe or name ~= "lines" and name ~= "annotations" then
         all[name] = assert(profile[name](profile):write { output = "csv" })
      end
   end
   for _, metric in ipairs(profile:metrics()) do
      all["metric " .. metric.name] = assert(profile:flat({ metric = metric.name }):write {
         output = "json" })
   end
   local blocks, list = {}, {}
   for address, count in trace.blocks:each("address", "count") do
      blocks[address] = (blocks[address] or 0) + count
   end
   for address, count in pairs(blocks) do
      list[#list + 1] = ("0x%x %d\n"):format(address, count)
   end
   table.sort(list)
   all.blocks = table.concat(list)
   return all
end

-- Fails with the first line that differs.
local function check_same(want, got)
   for name, text in pairs(want) do
      local next_line = (got[name] or ""):gmatch "[^\n]*\n?"
      for line in text:gmatch "[^\n]*\n?" do
         assert.equal(name .. ": " .. line:sub(1, 300), name .. ": " .. next_line():sub(1, 300))
      end
      assert.equal(#text, #got[name])
   end
end

describe("runs of gmon.out in a store", function()
   it("give what their files give with the executable, in any split", function()
      math.randomseed(11)
      for number = 1, 3 do
         local paths = random_files(number == 3 and 200 or 20)
         local want = forms(paths, { exe = program })
         assert.is_truthy(want["flat csv"]:find("leaf", 1, true))
         local store = stored.split(folder, paths, number, { exe = program })
         check_same(want, forms(store, { exe = program }))
         want.lines, want.annotations = nil, nil -- forms asks for them with an executable only
         check_same(want, forms(store))
      end
   end)

   it("have source lines and gprof's arithmetic, if the executable is there", function()
      math.randomseed(12)
      local paths = random_files(7)
      local store = stored.split(folder, paths, 2, { exe = program })
      for _, options in ipairs { { lines = true }, { by_line = true } } do
         local a <close> = assert(profio.open(paths, { exe = program }))
         local b <close> = assert(profio.open(store))
         local name = options.lines and "annotations" or "flat"
         local one, two = assert(a:profile(options)), assert(b:profile(options))
         assert.equal(one[name](one):write { output = "csv" },
            two[name](two):write { output = "csv" })
      end
      local texts = {}
      for i, what in ipairs { paths, store } do
         local trace <close> = assert(profio.open(what, { exe = program, compat = "gprof" }))
         texts[i] = assert(trace:profile()):flat():write { output = "csv" }
      end
      assert.equal(texts[1], texts[2])
      local ok, message, code = profio.open(store, { compat = "gprof" })
      assert.is_nil(ok)
      assert.equal("unsupported", code)
      assert.matches("%-%-exe", message)
   end)

   it("note an executable that is given and is the program of none of them", function()
      local store = stored.split(folder, random_files(2), 1, { exe = program })
      for exe, expected in pairs { [program] = "", [other] = "store-executable-unused" } do
         local trace <close> = assert(profio.open(store, { exe = exe }))
         local last = trace.warnings[#trace.warnings]
         assert.equal(expected, last and last.code or "")
      end
   end)

   it("get names from an executable that is given for reading", function()
      math.randomseed(13)
      local paths = random_files(9)
      local store = stored.split(folder, paths, 3)
      check_same(forms(paths), forms(store))
      check_same(forms(paths, { exe = program }), forms(store, { exe = program }))
      local mixed <close> = assert(profio.store(store))
      local more = command.file("store-graphs/more.gmon", random_file())
      assert(mixed:add(assert(profio.open(more, { exe = program }))))
      table.insert(paths, more)
      check_same(forms(paths, { exe = program }), forms(store, { exe = program }))
      local trace <close> = assert(profio.open(store)) -- some have names, and some have not
      assert.equal("sums", assert(trace:profile()):kind())
   end)

   it("may have several histograms and units, other dialects and large counts", function()
      math.randomseed(14)
      for _, kind in ipairs { { several = true }, { bsd = true }, { bsd = true, order = ">" },
         { width = 4 }, { width = 4, order = ">", bsd = true }, { most = 65535 } } do
         local paths = random_files(70, kind)
         local options = (kind.width or kind.order) and {} or { exe = program }
         local want = forms(paths, options)
         local got = forms(stored.split(folder, paths, 2, options), options)
         check_same(want, got)
      end
   end)

   it("hold counts beyond 32 bits", function()
      disk.fresh(folder)
      local paths = {}
      for i = 1, 5 do
         paths[i] = command.file(("store-graphs/%d.gmon"):format(i), gmon("<", 8):header()
            :histogram({ low = own.low, high = own.high, bins = { i, 65535, 65535 } })
            :arc(own.arcs[1].from, own.arcs[1].to, (1 << 32) - 1):bytes())
      end
      local trace <close> = assert(profio.open(stored.split(folder, paths, 2)))
      assert.equal(5 * ((1 << 32) - 1), trace.arcs:rows("count")[1].count)
      assert.same({ 15, 5 * 65535, 5 * 65535 }, (function(rows)
         return { rows[1].count, rows[2].count, rows[3].count }
      end)(trace.histogram:rows "count"))
      assert.same({ sets = 1, bins = 3, arcs = 1, blocks = 0 }, { sets = trace.info.sets,
         bins = trace.info.bins, arcs = trace.info.arcs, blocks = trace.info.blocks })
   end)

   it("may be damaged, and of all dialects", function()
      local path = folder .. "/corpus.db"
      local count = 0
      for name in lfs.dir "spec/fuzz/corpus/gmon" do
         local opened <close> = profio.open("spec/fuzz/corpus/gmon/" .. name, { format = "gmon" })
         os.remove(path)
         local store <close> = assert(profio.store(path))
         local added = opened and store:add(opened)
         if added then
            local want = assert(opened:profile())
            local got = assert(store:profile())
            assert.equal(want:flat():write { output = "csv" }, got:flat():write { output = "csv" })
            assert.equal(want:graph():write { output = "csv" },
               got:graph():write { output = "csv" })
            count = count + 1
         end
      end
      assert.is_true(count > 5)
   end)

   it("are one run if several files are added as one", function()
      math.randomseed(15)
      local paths = random_files(6)
      local path = folder .. "/one.db"
      stored.add(path, { paths }, nil, { exe = program })
      local store <close> = assert(profio.store(path, { mode = "read" }))
      assert.equal(1, #store:runs())
      local want = forms(paths, { exe = program })
      check_same(want, forms(path, { exe = program }))
   end)
end)

describe("stores of several programs", function()
   -- Returns the rows of a profile by function.
   local function by_function(profile)
      local rows = {}
      for _, row in ipairs(profile:flat():rows("function", "calls", "self", "total")) do
         rows[row["function"]] = row
      end
      return rows
   end

   it("have the sum of their profiles, whatever the order of the runs", function()
      math.randomseed(16)
      local paths = random_files(10)
      local texts = {}
      local want
      do
         local a <close> = assert(profio.open(table.move(paths, 1, 5, 1, {}), { exe = program }))
         local b <close> = assert(profio.open(table.move(paths, 6, 10, 1, {}), { exe = other,
            any_executable = true }))
         want = by_function(assert(a:profile()) + assert(b:profile()))
      end
      for round = 1, 3 do
         local path = ("%s/%d.db"):format(folder, round)
         local order = stored.shuffled { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }
         for _, i in ipairs(order) do
            stored.add(path, { paths[i] }, nil, { exe = i <= 5 and program or other,
               any_executable = i > 5 })
         end
         local trace <close> = assert(profio.open(path))
         local profile = assert(trace:profile())
         assert.same(want, by_function(profile))
         texts[round] = profile:flat():write { output = "csv" }
         assert.equal(texts[1], texts[round])
         assert.is_false(trace:has "arcs")
         assert.is_nil(trace.info.sets)
         for _, warning in ipairs(trace:check()) do
            assert.equal("note", warning.kind)
         end
      end
   end)

   it("add up graphs and stacks", function()
      math.randomseed(17)
      local paths = random_files(3)
      local path = folder .. "/mixed.db"
      stored.add(path, paths, nil, { exe = program })
      local pprof = command.file("store-graphs/s.pb.gz", stored.pprof { ["main;leaf"] = 5 })
      stored.add(path, { pprof })
      local a <close> = assert(profio.open(paths, { exe = program }))
      local b <close> = assert(profio.open(pprof))
      local trace <close> = assert(profio.open(path))
      assert.equal("stacks", trace:profile_kind())
      assert.same(by_function(assert(a:profile()) + assert(b:profile())),
         by_function(assert(trace:profile())))
      assert.equal(1, #trace.cells:rows())
   end)
end)

describe("histograms and arcs of a store", function()
   it("are written as gmon.out, and added again", function()
      math.randomseed(18)
      for _, kind in ipairs { {}, { several = true }, { width = 4, order = ">" }, { bsd = true } }
      do
         local paths = random_files(4, kind)
         local path, copy = stored.split(folder, paths, 1), folder .. "/copy.db"
         local store <close> = assert(profio.store(path, { mode = "read" }))
         assert.equal(4, assert(store:export(folder .. "/runs")))
         local list = {}
         for _, run in ipairs(store:runs()) do
            list[#list + 1] = ("%s/runs/%s.gmon"):format(folder, run.run)
         end
         os.remove(copy)
         stored.add(copy, list)
         check_same(forms(path), forms(copy))
      end
   end)

   it("are dropped with their runs", function()
      math.randomseed(19)
      local paths = random_files(4)
      local path = folder .. "/drop.db"
      stored.add(path, { paths[1], paths[2] }, { keep = "yes" }, { exe = program })
      stored.add(path, { paths[3], paths[4] }, { keep = "no" }, { exe = program })
      do
         local store <close> = assert(profio.store(path))
         assert.equal(2, store:drop { keep = "no" })
      end
      local want = forms({ paths[1], paths[2] }, { exe = program })
      check_same(want, forms(path, { exe = program }))
   end)

   it("are refused if a row is lost, each of them", function()
      local native = require "profio.store"
      local path = folder .. "/lost.db"
      local bytes = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1008,
         bins = { 1, 30 } }:arc(0x1000, 0x1004, 5):bytes()
      local file = command.file("lost.gmon", bytes)
      stored.add(path, { file })
      local function damaged(sql)
         local copy = folder .. "/lost_row.db"
         assert(os.execute(("rm -f '%s'* && cp '%s' '%s'"):format(copy, path, copy)))
         local db = assert(native.sqlite(copy, "write"))
         assert(db:run "PRAGMA foreign_keys = OFF")
         assert(db:run(sql))
         db:close()
         local trace <close> = assert(profio.open(copy))
         local profile, message = trace:profile()
         local target <close> = assert(profio.store(folder .. "/other.db"))
         local from <close> = assert(profio.store(copy))
         local _, merged = target:merge(from)
         local done, check = pcall(trace.check, trace)
         return profile == nil and message, merged, done and check[1] and check[1].message or check
      end
      for kind = 1, 2 do
         local message, merged, check = damaged("DELETE FROM addresses WHERE kind = " .. kind)
         for _, text in ipairs { message, merged, check } do
            assert.matches("has 1 rows of histograms and arcs instead of 2", text)
         end
      end
      local message, _, check = damaged "DELETE FROM addresses"
      assert.matches("of run %x+ .* are damaged", message)
      assert.matches("^the histograms and arcs of run %x+ are damaged$", check)
      assert.equal("1 run of the table addresses is missing",
         select(3, damaged "DELETE FROM runs"))
   end)

   it("are refused or read if stored bytes are damaged", function()
      math.randomseed(20)
      local native = require "profio.store"
      local path = folder .. "/damage.db"
      local paths = random_files(1)
      stored.add(path, paths, nil, { exe = program })
      for _, place in ipairs { { "addresses", "data" }, { "address_kinds", "content" },
         { "programs", "symbols" } } do
         for _ = 1, 25 do
            local damaged = folder .. "/damaged.db"
            assert(os.execute(("rm -f '%s'* && cp '%s' '%s'"):format(damaged, path, damaged)))
            local db = assert(native.sqlite(damaged, "write"))
            local sql = ("SELECT rowid, %s FROM %s"):format(place[2], place[1])
            for id, bytes in assert(db:rows(sql)) do
               local at = math.random(#bytes)
               bytes = math.random(4) == 1 and bytes:sub(1, at) or bytes:sub(1, at - 1)
                  .. string.char(math.random(0, 255)) .. bytes:sub(at + 1)
               assert(db:run(("UPDATE %s SET %s = ? WHERE rowid = ?"):format(place[1], place[2]),
                  bytes, id))
            end
            db:close()
            local trace <close> = assert(profio.open(damaged))
            local profile, message, code = trace:profile()
            assert(profile or type(message) == "string" and type(code) == "string")
            local warnings = trace:check()
            assert(profile or #warnings > 0)
         end
      end
   end)
end)
