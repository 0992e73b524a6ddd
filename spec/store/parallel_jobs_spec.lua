-- 64 processes that add runs to one store at once, in a file or in ClickHouse, and create it: no
-- run is lost, none counts twice, and each has its own sums.
--
-- Extra: needs clickhouse-server.
-- Unsanitized: it runs many commands.

local clickhouse = require "spec.support.clickhouse"
local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-parallel"
local JOBS <const> = 64

local files = {}

-- Starts the jobs and returns what they say when all have ended. Each adds a file of its own and
-- one that all of them add.
local function add_at_once(path)
   disk.fresh(folder .. "/said")
   return (command.run(([[cd '%s' && export PROFIO_STORE_PASSWORD=secret && for i in $(seq %d); do
      { profio store add --label all=x '%s' $i.pb.gz shared.pb.gz >said/$i 2>&1
      echo "status $?" >>said/$i; } & done; wait; cat said/*]]):format(folder, JOBS, path)))
end

-- Checks that the store has all runs, with the weights that were written.
local function is_complete(path, said)
   assert.equal(JOBS, select(2, said:gsub("status 0\n", "")), said)
   local store <close> = assert(profio.store(path))
   local runs = assert(store:runs())
   assert.equal(JOBS + 1, #runs)
   local total = 0
   for _, run in ipairs(runs) do
      local number = tonumber(run.path:match "(%d+)%.pb%.gz$" or 0)
      local rows = assert(store:profile { where = { run = run.run } }):flat():rows("function",
         "self")
      local found = {}
      for _, row in ipairs(rows) do
         found[row["function"]] = row.self
      end
      assert.same({ main = number == 0 and 1 or 0, shared = number == 0 and 1000000 or nil,
         common = number ~= 0 and number or nil,
         ["own" .. number] = number ~= 0 and 1 << number // 2 or nil }, found)
      assert.same({ all = "x" }, run.labels)
      total = total + (number == 0 and 1 or number)
   end
   assert.equal(1 + JOBS * (JOBS + 1) // 2, total)
   assert.same(stored.forms(files), stored.forms(path))
   assert.same({}, (assert(profio.open(path)):check()))
end

describe("a store to which 64 processes add runs at once", function()
   setup(function()
      disk.fresh(folder)
      for i = 1, JOBS do
         files[i] = command.file(("store-parallel/%d.pb.gz"):format(i), stored.pprof({
            ["main;common"] = i, ["main;own" .. i] = 1 << i // 2 }, { time_nanos = i }))
      end
      files[JOBS + 1] = command.file("store-parallel/shared.pb.gz", stored.pprof({ main = 1,
         ["main;shared"] = 1000000 }, { time_nanos = 99 }))
   end)

   it("has all of them in a file", function()
      local path = folder .. "/all.db"
      is_complete(path, add_at_once(path))
      assert.equal("ok\n", (command.run(("sqlite3 '%s' 'PRAGMA integrity_check'"):format(path))))
   end)

   it("has all of them in ClickHouse", function()
      if not clickhouse.is_installed() then
         pending "needs clickhouse-server"
         return
      end
      local fleet = clickhouse.fleet("parallel", 2)
      local done, message = pcall(function()
         local path = fleet:address()
         is_complete(path, add_at_once(path))
      end)
      fleet:close()
      assert(done, message)
   end)
end)
