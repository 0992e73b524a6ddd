-- Measures stores of 10,000 runs, in SQLite and in two servers of ClickHouse, beside go tool pprof
-- on the same files. PROFILES sets another number of them.

local clickhouse = require "spec.support.clickhouse"
local core = require "profio.core"
local disk = require "spec.support.disk"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local ours = "lua5.4 examples/analyze.lua "
local store = "lua5.4 examples/analyze.lua store "

-- Runs of versions, for steps: each run has all of the stacks. PROFILES does not change them.
local CHANGES <const> = { runs = 2400, versions = 60, stacks = 300, bound = 2 }

local STACKS <const>, FUNCTIONS <const>, CELLS <const> = 12000, 800, 3000

-- {====== Profiles ======

-- Returns random stacks of functions f1, f2 ..., with up to 30 frames, those of a tree.
local function random_stacks()
   local stacks = { "main" }
   for i = 2, STACKS do
      local parent
      repeat
         parent = stacks[math.random(math.max(1, i - 2000), i - 1)]
      until select(2, parent:gsub(";", "")) < 30
      stacks[i] = parent .. ";f" .. math.random(FUNCTIONS)
   end
   return stacks
end

-- Writes a pprof file with CELLS of the stacks.
local function write(path, stacks, time)
   local rows, first = {}, math.random(STACKS)
   for i = 1, CELLS do
      rows[i] = { stacks[(first + i * 5) % STACKS + 1], math.random(1000) }
   end
   local contexts = assert(core.contexts { folded = "stack",
      reader = core.rows_reader({ { "stack", "name" }, { "weight", "int" } }, rows),
      metrics = { { name = "cpu", unit = "ns", column = "weight" } } })
   local file <close> = assert(io.open(path, "wb"))
   file:write((assert(core.pprof(contexts, { heads = { { time_nanos = time } } }))))
   contexts:close()
   return file:seek()
end

-- Writes profiles into folders v1 and v2, half of them into each; returns their size.
local function write_all(folder, count)
   math.randomseed(1)
   local stacks, size = random_stacks(), 0
   assert(os.execute(("rm -rf %s && mkdir -p %s/v1 %s/v2"):format(folder, folder, folder)))
   for i = 1, count do
      size = size + write(("%s/v%d/%06d.pb.gz"):format(folder, i <= count // 2 and 1 or 2, i),
         stacks, 1700000000000000000 + i * 60000000000)
   end
   timing.settle()
   return size
end

-- }======

local function text_of(result, runs)
   if not result.seconds then
      return ("status %d"):format(result.status)
   end
   return ("%.2f s, %.0f MB%s"):format(result.seconds, result.megabytes,
      runs and (", %.0f runs/s"):format(runs / result.seconds) or "")
end

-- Returns a command that adds both folders to a store.
local function add_to(path, folder)
   local words = {}
   for i = 1, 2 do
      words[i] = ("%sadd --no-progress --label version=v%d '%s' %s/v%d/*.pb.gz"):format(store, i,
         path, folder, i)
   end
   return ("sh -c \"%s >/dev/null && %s >/dev/null\""):format(words[1], words[2])
end

local function row(label, command, runs, before)
   timing.print("%-44s %s", label, text_of(timing.commands({ command }, before)[1], runs))
end

-- Measures questions to a store that has all runs.
local function ask(name, path)
   row(name .. ": diff of both halves", ("%sreport diff --top 5 --diff '%s' --diff-run version=v1 "
      .. "--run version=v2 '%s'"):format(ours, path, path))
   row(name .. ": flat profile of all", ("%sreport flat --top 5 '%s'"):format(ours, path))
   row(name .. ": trend of a function", ("%strend f7 '%s'"):format(store, path))
   row(name .. ": top by version", ("%stop --by version '%s'"):format(store, path))
   row(name .. ": top by run", ("%stop --top 5 '%s'"):format(store, path))
end

-- Adds profiles of versions to a store, in which f1 has a step.
local function add_versions(path)
   local db <close>, batch = assert(profio.store(path)), {}
   for i = 1, CHANGES.runs do
      local version, rows = (i - 1) * CHANGES.versions // CHANGES.runs, {}
      for k = 1, CHANGES.stacks do
         local mean = k == 1 and version >= CHANGES.versions // 2 and 13000 or 10000
         rows[k] = { ("main;f%d;f%d"):format(k % 7, k), mean + math.random(1000) }
      end
      local contexts = assert(core.contexts { folded = "stack",
         reader = core.rows_reader({ { "stack", "name" }, { "weight", "int" } }, rows),
         metrics = { { name = "cpu", unit = "ns", column = "weight" } } })
      local trace <close> = assert(profio.open { data = assert(core.pprof(contexts,
         { heads = { { time_nanos = 1700000000000000000 + i * 60000000000 } } })) })
      batch[#batch + 1] = assert(db:prepare(trace, { labels = { version = "v" .. version } }))
      contexts:close()
      if #batch == 100 then
         assert(db:write(batch))
         batch = {}
      end
   end
   assert(db:write(batch))
end

-- Measures store changes, alone and as a gate, beside its bound.
local function changes(folder)
   math.randomseed(2)
   local path = folder .. "/versions.db"
   disk.fresh(folder)
   add_versions(path)
   timing.print("\nstore changes over %d runs of %d stacks in %d versions", CHANGES.runs,
      CHANGES.stacks, CHANGES.versions)
   for _, options in ipairs { "", "--normalise total ", "--fail 'whole > +90%' " } do
      local result = timing.commands({ ("%schanges %s'%s'"):format(store, options, path) })[1]
      local cpu = result.cpu
      timing.print("%-44s %s, %s", "SQLite: changes " .. options, text_of(result),
         cpu and ("%.2f s of processor time, %s the bound of %d s"):format(cpu,
            cpu < CHANGES.bound and "below" or "NOT BELOW", CHANGES.bound) or "it failed")
   end
end

local function size_of(path)
   local file <close> = assert(io.open(path, "rb"))
   return file:seek "end"
end

local function in_sqlite(folder, count)
   local path = folder .. "/fleet.db"
   row("SQLite: add", add_to(path, folder), count, function()
      os.execute(("rm -f %s*"):format(path))
   end)
   timing.print("%-44s %d bytes of a run", "SQLite: size", size_of(path) // count)
   assert(os.execute(("for i in 1 2; do %smerge --run version=v$i %s/half$i.db %s >/dev/null; "
      .. "done"):format(store, folder, path)))
   row("SQLite: merge of two stores", ("%smerge %s/all.db %s/half1.db %s/half2.db"):format(store,
      folder, folder, folder), count, function()
      os.execute(("rm -f %s/all.db*"):format(folder))
   end)
   row("SQLite: list of runs", ("%sls --output csv -o /dev/null %s"):format(store, path))
   ask("SQLite", path)
end

local function in_clickhouse(folder, count)
   if not clickhouse.is_installed() then
      timing.print "ClickHouse: not installed"
      return
   end
   local servers = clickhouse.servers("bench", 2)
   local number = 0
   local ok, message = pcall(function()
      ours = "env PROFIO_STORE_PASSWORD=secret " .. ours
      store = "env PROFIO_STORE_PASSWORD=secret " .. store
      local path = clickhouse.on_all(servers, "fleet")
      row("two servers of ClickHouse: add", add_to(path, folder), count, function()
         number = number + 1
         for _, server in ipairs(number > 1 and servers or {}) do
            server:ask "DROP DATABASE fleet"
         end
      end)
      local bytes = 0
      for _, server in ipairs(servers) do
         bytes = bytes + math.tointeger(tonumber((server:ask("SELECT sum(bytes_on_disk) FROM "
            .. "system.parts WHERE active AND database = 'fleet'"))))
      end
      timing.print("%-44s %d bytes of a run", "ClickHouse: size", bytes // count)
      ask("ClickHouse", path)
   end)
   for _, server in ipairs(servers) do
      server:close()
   end
   assert(ok, message)
end

--- 10,000 profiles of 3,000 cells: adding, merging, and questions. Steps over 2,400 profiles.
function bench.store()
   if not package.searchpath("profio.store", package.cpath) then
      timing.print "\nstores: profio was built without them"
      return
   end
   local count = math.tointeger(tonumber(os.getenv "PROFILES" or 10000))
   local folder = timing.folder .. "/store"
   local size = write_all(folder, count)
   timing.print("\nstores of %d profiles of %d cells, %d bytes each", count, CELLS, size // count)
   in_sqlite(folder, count)
   in_clickhouse(folder, count)
   row("profio report flat FILE...", ("%sreport flat --top 5 %s/v?/*.pb.gz"):format(ours, folder))
   for part = 100, count, math.max(100, count // 2 - 100) do
      row(("go tool pprof -top, %d files"):format(part), ("sh -c \"ls -d %s/v?/* | head -%d | "
         .. "xargs -x -n %d go tool pprof -top\""):format(folder, part, part))
   end
   disk.remove(folder)
   changes(folder)
   disk.remove(folder)
end

return bench
