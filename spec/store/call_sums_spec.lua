-- Statistics of calls in a store: what it refuses, runs with and without calls, damaged sums.
-- equality_spec.lua and clickhouse_spec.lua say that they are those of the files.
--
-- Extra: many stores beside many files.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-calls"

-- Runs a line in the folder; returns its output, status and errors.
local function run(line)
   return command.run("cd store-calls && " .. line)
end

local function sql(path, text)
   local said, status, errors = run(("sqlite3 '%s' \"%s\""):format(path, text))
   assert.equal("", errors)
   assert.equal(0, status)
   return said:sub(1, -2)
end

-- Returns a file in the folder that does not exist.
local function fresh(name)
   os.execute(("rm -f '%s/%s'*"):format(folder, name))
   return folder .. "/" .. name
end

-- Returns the rows of a store's statistics as CSV, or nil and the error.
local function csv(path, options)
   local trace <close> = assert(profio.open(path))
   local ok, result = pcall(function()
      return trace:call_statistics(options):write { output = "csv" }
   end)
   return ok and result or nil, not ok and result or trace.warnings
end

local traces, others

setup(function()
   disk.fresh(folder)
   math.randomseed(40)
   others = { command.file("store-calls/a.pb.gz", stored.pprof { ["main;f"] = 3 }),
      command.file("store-calls/b.pb.gz", stored.pprof { ["main;g"] = 4 }) }
   traces = stored.traces(folder, "winidea", 5)
end)

describe("runs without calls", function()
   it("are left out, with a note", function()
      local path = fresh "mixed.db"
      stored.add(path, { others[1], traces[1], traces[2], others[2], traces[3] })
      local expected = csv({ traces[1], traces[2], traces[3] }, { by = "context", order = "name" })
      local found, warnings = csv(path, { by = "context" })
      assert.equal(expected, found)
      assert.equal(1, #warnings)
      assert.same({ "store-no-calls", "note" }, { warnings[1].code, warnings[1].kind })
      assert.matches("^2 of 5 runs have no statistics of calls", warnings[1].message)
      local text, status, errors = run "profio report statistics --run 'call_bytes>0' mixed.db"
      assert.equal("", errors)
      assert.equal(0, status)
      assert.equal(text, (run "profio report statistics --set order=name winidea-[123]"))
   end)

   it("have no report, table or sum if there are no others", function()
      local path = fresh "none.db"
      stored.add(path, others)
      local _, status, errors = run "profio report statistics none.db"
      assert.equal(2, status)
      assert.matches("none of its runs has statistics of calls", errors)
      local found, message = csv(path)
      assert.is_nil(found)
      assert.matches("none%.db: none of the selected runs has statistics of calls", message)
      local trace <close> = assert(profio.open(path))
      assert.equal(0, trace:table("durations"):count())
      assert.equal(0, trace:where({ call_bytes = profio.between(1, nil) }):count())
   end)
end)

describe("the statistics of a store", function()
   it("have the default options only", function()
      local path = fresh "options.db"
      stored.add(path, traces)
      for name, value in pairs { by = "caller", recursion = "outermost", partial = "exclude",
         edges = "include", from = 5, to = 5, last = 1 << 40, recording = "events",
         max_depth = 100 } do
         local found, message = csv(path, { [name] = value })
         assert.is_nil(found, name)
         assert.matches(("option '%s': the store .* read the files for others"):format(name),
            message)
      end
      for _, options in ipairs { { recursion = "all", partial = "include", edges = "exclude",
         recording = "stated", max_depth = 65536, threads = 2, parts = 3 },
         { quantiles = "p1,p99.99" }, { quantiles = "", by = "context" } } do
         local found = csv(path, options)
         options.order = "name"
         assert.equal(csv(traces, options), found)
      end
      for _, option in ipairs { "--from 1us", "--lane T1", "--set by=caller" } do
         local _, status = run(("profio report statistics %s options.db"):format(option))
         assert.equal(2, status, option)
      end
   end)

   it("are not added up if lanes are of different kinds", function()
      local path, xpp = fresh "kinds.db", stored.traces(folder, "xpp", 2)
      stored.add(path, { traces[1], xpp[1], xpp[2] })
      local found, message = csv(path)
      assert.is_nil(found)
      assert.matches("kinds%.db: .* of run %x+ %(.*%): they are not added to those of a run of "
         .. "format %l+ %(.*another kind of lanes.*select runs with %-%-run", message)
      local trace <close> = assert(profio.open(path, { run = { format = "xpp" } }))
      assert.equal(csv(xpp, { order = "name" }),
         trace:call_statistics():write { output = "csv" })
      local _, status = run "profio check kinds.db"
      assert.equal(0, status)
   end)

   it("of hundreds of runs are those of all files", function()
      os.execute(("mkdir -p '%s/many'"):format(folder))
      local path, many = fresh "many.db", stored.traces(folder .. "/many", "winidea", 600)
      assert.equal(600, stored.add(path, many))
      assert.equal(csv(many, { by = "context", order = "name" }), csv(path, { by = "context" }))
   end)

   it("are those of each run in table durations", function()
      local path = fresh "table.db"
      stored.add(path, { traces[1], others[1], traces[2] })
      local found, columns = {}, nil
      local trace <close> = assert(profio.open(path))
      local files = {}
      for _, one in ipairs(trace:rows("run", "path")) do
         files[one.run] = one.path
      end
      for _, row in ipairs(trace:table("durations"):rows()) do
         local file = files[row.run]
         row.run = nil
         found[file] = found[file] or {}
         table.insert(found[file], row)
      end
      for i = 1, 2 do
         local single <close> = assert(profio.open(traces[i]))
         local rows = single:call_statistics({ by = "context", order = "name" }):rows()
         for _, row in ipairs(rows) do
            row.area, row.context = tostring(row.area), row.context and tostring(row.context)
         end
         columns = columns or #rows
         assert.same(rows, found[traces[i]])
      end
      assert.is_true(columns > 1)
      assert.is_nil(found[others[1]])
   end)

   it("are what --limits and --diff compare", function()
      stored.add(fresh "new.db", { traces[1], traces[2] })
      stored.add(fresh "old.db", { traces[3], traces[4] })
      command.file("store-calls/limits", "F1 gross_max <= 1000s\nF2 count >= 1000\n")
      local new = table.concat({ traces[1], traces[2] }, " ")
      local text, status = run "profio --limits limits new.db"
      local expected, other_status = run("profio --limits limits --set order=name " .. new)
      assert.same({ expected, other_status }, { text, status })
      assert.matches("4 limits: 2 kept, 2 exceeded", text)
      local report = "profio report statistics --output csv --set order=name "
      text = run(report .. "--diff old.db new.db")
      stored.add(fresh "one.db", { traces[1] })
      assert.equal(run(report .. "--diff old.db one.db"),
         (run(report .. "--diff old.db " .. traces[1])))
      assert.is_true(#text > 500)
   end)
end)

describe("store export", function()
   it("says how many runs lose their statistics of calls", function()
      stored.add(fresh "export.db", { traces[1], others[1], traces[2] })
      local text, status, errors = run "profio store export -o out export.db"
      assert.equal("out: 3 runs written\n", text)
      assert.equal(0, status)
      assert.matches("the files of 2 runs do not have the statistics of calls", errors)
      errors = select(3, run "profio store export -o other --run call_bytes=0 export.db")
      assert.equal("", errors)
   end)

   it("is refused by add if its list ends within a quoted field", function()
      stored.add(fresh "export.db", { traces[1] })
      run "profio store export -o cut export.db"
      local list = command.read(folder .. "/cut/runs.csv")
      for _, text in ipairs { '"file","ru', list:match "^[^\n]*\n" .. '"1.pb.gz', '"' } do
         command.file("store-calls/cut/runs.csv", text)
         local _, status, errors = run "profio store add again.db cut"
         assert.equal(1, status)
         assert.matches(text:find "\n" and "cut/runs%.csv: row 1 has a quote without an end"
            or "cut/runs%.csv: its first column is not 'file'", errors)
      end
   end)
end)

describe("damaged statistics of calls", function()
   local path, id

   before_each(function()
      path = fresh "damaged.db"
      stored.add(path, { traces[1], traces[2], traces[3] })
      id = sql(path, "SELECT lower(hex(hash)) FROM runs WHERE id = 2")
   end)

   -- Expects that reading all runs fails with the run, that others can be read, and that a check
   -- finds it.
   local function refused(change, expected)
      sql(path, change)
      local found, message = csv(path)
      assert.is_nil(found, change)
      assert.matches("damaged%.db: the statistics of calls of run " .. id .. " %(.*%): "
         .. expected, message)
      local trace <close> = assert(profio.open(path))
      local known = {}
      for _, row in ipairs(trace:table("durations"):rows "run") do
         known[row.run] = true
      end
      assert.is_nil(known[id])
      assert.is_not_nil(next(known, next(known)))
      assert.matches(id, trace.warnings[1].message)
      local text, status = run "profio check damaged.db"
      assert.equal(3, status)
      assert.matches("damage: .*run " .. id, text)
      local store <close> = assert(profio.store(path))
      local copy <close> = assert(profio.store(fresh "copy.db"))
      local count, why = copy:merge(store)
      assert.is_nil(count)
      assert.matches(id, why)
      assert.equal(0, #copy:runs())
      assert.is_truthy(store:profile())
   end

   for change, expected in pairs {
      ["UPDATE calls SET data = substr(data, 1, length(data) - 1) WHERE run = 2"] =
         "they are damaged",
      ["UPDATE calls SET data = zeroblob(length(data)) WHERE run = 2"] =
         "they are damaged",
      ["UPDATE calls SET data = NULL WHERE run = 2"] = "they are damaged",
      ["UPDATE calls SET data = 17 WHERE run = 2"] = "they are damaged",
      ["DELETE FROM calls WHERE run = 2"] = "they are missing",
   } do
      it("name the run after " .. change, function()
         refused(change, expected)
      end)
   end

   it("have the size that the checksum of the run covers", function()
      for _, size in ipairs { "1 << 40", "-5", "(64 << 20) + 1" } do
         sql(path, ("UPDATE runs SET call_bytes = %s WHERE id = 2"):format(size))
         local found, message = csv(path)
         assert.is_nil(found)
         assert.matches("damaged%.db: the details of run " .. id .. " %(.*%) are damaged", message)
      end
   end)

   it("are refused wherever they are damaged", function()
      math.randomseed(41)
      local whole = csv(path)
      local size = tonumber(sql(path, "SELECT call_bytes FROM runs WHERE id = 2"))
      local bytes = sql(path, "SELECT hex(data) FROM calls WHERE run = 2")
      for _ = 1, 120 do
         local at, digits = math.random(size) * 2 - 1, ("%02X"):format(math.random(0, 255))
         sql(path, ("UPDATE calls SET data = x'%s%s%s' WHERE run = 2"):format(
            bytes:sub(1, at - 1), digits, bytes:sub(at + 2)))
         local found, message = csv(path)
         assert.equal(digits == bytes:sub(at, at + 1), found ~= nil)
         assert.matches("run " .. id, found and "run " .. id or message)
      end
      sql(path, ("UPDATE calls SET data = x'%s' WHERE run = 2"):format(bytes))
      assert.equal(whole, csv(path))
   end)

   it("do not stay when the run is dropped", function()
      local store <close> = assert(profio.store(path))
      assert.equal(1, store:drop { run = id })
      assert.equal("2", sql(path, "SELECT count(*) FROM calls"))
      assert.equal(2, assert(store:add(assert(profio.open(traces[2])))) and #store:runs() - 1)
      assert.equal(csv({ traces[1], traces[2], traces[3] }, { order = "name" }), csv(path))
   end)
end)
