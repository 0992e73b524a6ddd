-- A store has the profile and the statistics of calls of all files that were added to it, byte for
-- byte: however they were spread over stores, in whatever order, and however often.
--
-- Extra: stores of each corpus, in each form.
-- Unsanitized: graphs_spec, call_sums_spec and clickhouse_spec compare stores with files as well.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local dcpi = require "spec.support.dcpi_builder"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-equality"
lfs.mkdir(folder)

describe("the profile of a store", function()
   it("is that of all files, in any split", function()
      for round = 1, 6 do
         math.randomseed(round)
         local files = stored.files("store-equality", 2 + math.random(12))
         assert.same(stored.forms(files), stored.forms(stored.split(folder, files, 1 + round % 4)))
      end
   end)

   it("is what profio merge writes of files that profio has exported", function()
      math.randomseed(7)
      local files = stored.files("store-equality", 9)
      local store = stored.split(folder, files, 3)
      local _, status, errors = command.run(("profio merge -o '%s/sum.pb.gz' %s && "
         .. "profio export -o '%s/all.pb.gz' '%s' && cmp '%s/sum.pb.gz' '%s/all.pb.gz'"):format(
         folder, table.concat(files, " "), folder, store, folder, folder))
      assert.equal("", stored.without_notes(errors))
      assert.equal(0, status)
   end)

   it("is what profio merge writes of 500 files, in every export", function()
      math.randomseed(10)
      local files, lists = stored.files("store-equality", 500), { {}, {}, {} }
      for _, file in ipairs(stored.shuffled(files)) do
         table.insert(lists[math.random(3)], file)
      end
      local whole <close> = assert(profio.store(folder .. "/500.db"))
      for i, list in ipairs(lists) do
         stored.add(("%s/500-%d.db"):format(folder, i), list)
      end
      for _, i in ipairs { 2, 1, 3, 2 } do -- one of them twice
         local other <close> = assert(profio.store(("%s/500-%d.db"):format(folder, i)))
         assert(whole:merge(other))
      end
      assert.equal(500, #whole:runs())
      local lines = { ("cd '%s' && profio --merge -o merged.pb.gz %s"):format(folder,
         table.concat(files, " ")) }
      for name, line in pairs { pprof = "export pprof", svg = "export svg --set title=x",
         folded = "export folded", csv = "report flat --output csv",
         json = "report flat --output json", tree = "report tree" } do
         lines[#lines + 1] = ("profio %s -o a.%s merged.pb.gz && profio %s -o b.%s 500.db && "
            .. "cmp a.%s b.%s"):format(line, name, line, name, name, name)
      end
      local said, status, errors = command.run(table.concat(lines, " && "))
      assert.same({ "", "", 0 }, { said, stored.without_notes(errors), status })
   end)

   it("is that of each program, with 500 files of the corpus and others in stores", function()
      local corpus <close> = assert(io.popen
         "find ../shared/corpus/gmon -type f 2>/dev/null | sort")
      local wanted, runs, known = {}, {}, {}
      for name in corpus:lines() do
         local trace <close> = profio.open(name, { format = "gmon" })
         local bytes = command.read(name)
         os.remove(folder .. "/corpus.db")
         local store <close> = assert(profio.store(folder .. "/corpus.db"))
         if trace and not known[bytes] and store:add(trace) then
            known[bytes] = true
            wanted[name] = assert(trace:profile()):flat():write { output = "csv" }
            runs[#runs + 1] = { path = name, options = { format = "gmon" }, label = name }
         end
      end
      if #runs == 0 then
         return pending "the corpus is not here"
      end
      assert.is_true(#runs > 10, #runs)
      math.randomseed(16)
      local files = stored.files("store-equality", 500 - #runs)
      for _, file in ipairs(files) do
         runs[#runs + 1] = { path = file, label = "generated" }
      end
      wanted.generated = stored.forms(files)["flat csv"]
      runs[#runs + 1] = runs[1] -- once more
      local stores = {}
      for i = 1, 3 do
         stores[i] = folder .. "/fleet-" .. i .. ".db"
         os.remove(stores[i])
      end
      for _, run in ipairs(stored.shuffled(runs)) do
         stored.add(stores[math.random(3)], { run.path }, { file = run.label }, run.options)
      end
      local whole <close> = assert(profio.store(stores[1]))
      for i = 2, 3 do
         local other <close> = assert(profio.store(stores[i], { mode = "read" }))
         assert(whole:merge(other))
      end
      assert.equal(500, #whole:runs())
      for label, csv in pairs(wanted) do
         local profile = assert(whole:profile { where = { file = label } })
         assert.equal(csv, profile:flat():write { output = "csv" }, label)
      end
   end)

   it("is that of files of each format that has stacks, calls or functions", function()
      disk.fresh(folder .. "/formats")
      local files = { winidea = {}, xpp = {}, br = {}, dcpi = {} }
      for i = 1, 3 do
         local events = assert(profio.create(("%s/formats/%d.txt"):format(folder, i), {
            format = "winidea", dialect = "text1" }))
         local calls = assert(profio.create(("%s/formats/%d.PRF"):format(folder, i), {
            format = "xpp" }))
         for n = 0, 3 * i do
            for at, event in ipairs { "enter", "leave" } do
               events:write { time = n * 1000 + at * i, event = event, area = "Task_" .. n % 3 }
            end
            calls:write { thread = 1, time = n * 10000000, op = "i", call = "MAIN" .. n % 2 }
            calls:write { thread = 1, time = n * 10000000 + i * 1000000, op = "o",
               call = "MAIN" .. n % 2 }
         end
         assert(events:close())
         assert(calls:close())
         files.winidea[i] = ("%s/formats/%d.txt"):format(folder, i)
         files.xpp[i] = ("%s/formats/%d.PRF"):format(folder, i)
         files.br[i] = command.file(("store-equality/formats/%d.br"):format(i), br():module(1,
            "A.BR"):line(1, 100, 0):main():time(1500 * i):stop():line(1, 101, 0):back(1, 100, 0)
            :time(300):stop():bytes())
         files.dcpi[i] = command.file(("store-equality/formats/%d.dcpi"):format(i),
            dcpi():header { epoch = "980519172" .. i }:chunk(0x40, { 3, i }):footer():bytes())
      end
      for format, list in pairs(files) do
         local forms = stored.forms(list, { format = format })
         assert.same(forms, stored.forms(stored.split(folder, list, 2, { format = format })))
         assert.equal(format == "winidea" or format == "xpp",
            forms["statistics by context, csv"] ~= nil)
      end
   end)

   it("is that of files with events, and so are the statistics of their calls", function()
      for round = 1, 6 do
         math.randomseed(round)
         local files = stored.traces(folder, round % 2 == 0 and "winidea" or "xpp",
            1 + math.random(8))
         local forms = stored.forms(stored.split(folder, files, 1 + round % 4))
         assert.same(stored.forms(files), forms)
         assert.is_true(#forms["statistics by area, csv"] > 500)
      end
   end)

   it("is that of a trace of thousands of files", function()
      local files = {}
      local same = command.file("store-equality/t.pb.gz", stored.pprof { ["main;f"] = 1 })
      for i = 1, 4200 do
         files[i] = i < 5 and command.file(("store-equality/t%d.pb.gz"):format(i), stored.pprof {
            main = i }) or same
      end
      os.remove(folder .. "/t.db")
      local store <close> = assert(profio.store(folder .. "/t.db"))
      local trace <close> = assert(profio.open(files))
      assert(store:add(trace))
      local found = store:runs()[1]
      assert.equal(4200, found.files)
      assert.is_true(found.bytes > 4196 * 50)
      local flat = assert(store:profile()):flat():rows("function", "self")
      assert.equal(4196 + 10, flat[1].self + flat[2].self)
   end)

   it("is that of the selected runs", function()
      math.randomseed(8)
      local files = stored.files("store-equality", 8)
      local path, first, second = folder .. "/l.db", {}, {}
      for i, file in ipairs(files) do
         table.insert(i % 3 == 0 and first or second, file)
      end
      stored.add(path, first, { version = "v1" })
      stored.add(path, second, { version = "v2", host = "h" })
      assert.same(stored.forms(first), stored.forms(path, { run = { version = "v1" } }))
      assert.same(stored.forms(second), stored.forms(path, { run = { host = "h" } }))
      assert.same(stored.forms(files), stored.forms(path))
   end)

   it("has the metrics of all runs, in one order", function()
      local one = { data = stored.pprof({ ["main;f"] = 3 }, nil, "cpu") }
      local other = { data = stored.pprof({ ["main;f"] = 4, main = 1 }, nil, "allocs") }
      local forms = {}
      for i, list in ipairs { { one, other }, { other, one } } do
         os.remove(folder .. "/m.db")
         local store <close> = assert(profio.store(folder .. "/m.db"))
         for _, data in ipairs(list) do
            assert(store:add(assert(profio.open(data))))
         end
         forms[i] = stored.forms(folder .. "/m.db")
         local totals = {}
         for _, metric in ipairs(store:profile():metrics()) do
            totals[metric.name] = metric.total
         end
         assert.same({ cpu = 3, allocs = 5 }, totals)
      end
      assert.same(forms[1], forms[2])
   end)

   it("is limited as that of files, with a warning", function()
      local most = { ["main;f"] = math.maxinteger, main = 1 }
      local files = {}
      os.remove(folder .. "/o.db")
      for i = 1, 3 do
         files[i] = command.file(("store-equality/o%d.pb.gz"):format(i),
            stored.pprof(most, { time_nanos = i }))
      end
      stored.add(folder .. "/o.db", files)
      local codes, flats = {}, {}
      for i, what in ipairs { files, folder .. "/o.db" } do
         local trace <close> = assert(profio.open(what))
         flats[i] = assert(trace:profile()):flat():write { output = "csv" }
         codes[i] = trace.warnings[1].code .. " " .. trace.warnings[1].kind
      end
      assert.equal(flats[1], flats[2])
      assert.equal(codes[1], codes[2])
      assert.matches("^profile%-overflow damage", codes[2])
   end)
end)

describe("a folder of runs", function()
   it("gives the same store again", function()
      math.randomseed(9)
      local files = stored.files("store-equality", 6)
      local path, again = folder .. "/e.db", folder .. "/f.db"
      local odd = "a,\"b\"\r\n'c'\255"
      stored.add(path, { files[1], files[2] }, { version = "v1", ["k \"x\","] = odd })
      stored.add(path, { files[3], files[4], files[5], files[6] }, { version = "v2" })
      local store <close> = assert(profio.store(path))
      assert.equal(6, store:export(folder .. "/out"))
      local said, status, errors = command.run(("profio store add '%s' '%s/out'"):format(again,
         folder))
      assert.equal("", stored.without_notes(errors))
      assert.equal(0, status)
      assert.matches("f%.db: 6 runs added\n$", said)
      assert.same(stored.forms(path), stored.forms(again))
      local other <close> = assert(profio.store(again))
      assert.same(store:labels(), other:labels())
      for _, version in ipairs { "v1", "v2" } do
         assert.same(stored.forms(path, { run = { version = version } }),
            stored.forms(again, { run = { version = version } }))
      end
      assert.equal(2, #other:runs { ["k \"x\","] = odd })
   end)
end)
