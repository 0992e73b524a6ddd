-- The scripts of examples/cluster with the real programs: each way gives the store that adding all
-- files gives, also when a worker is killed and started again.
--
-- Tags: user.
-- Extra: needs GNU parallel, Slurm and clickhouse-server.
-- Unsanitized: it runs the command through other programs.

local clickhouse = require "spec.support.clickhouse"
local cluster = require "spec.support.cluster"
local lfs = require "lfs"
local stored = require "spec.support.stored"
local traced = require "spec.support.traced"

local COUNT <const> = 40

-- Returns the bytes of the profile of a store.
local function exported(store)
   local text, status, errors = cluster.run(("profio export pprof --set packed=false -o out.pb "
      .. "'%s' && cat out.pb"):format(store))
   assert.equal("", stored.without_notes(errors))
   assert.equal(0, status)
   return text
end

-- Runs a line and expects success; returns its output.
local function fine(line)
   local text, status, errors = cluster.run(line)
   assert.equal(0, status, errors)
   return text
end

-- Stands for profio in the jobs: the first call of profio store add after another one has ended is
-- killed at one of its system calls, and so is its job.
local DYING <const> = ([[
#!/bin/sh
PATH=${PATH#*/once:}
if [ "$2" = add ]; then
  if [ -e once/added ] && mkdir once/killed 2>/dev/null; then
    @profio "$@"
    kill -9 $PPID
  fi
  profio "$@" && touch once/added
  exit
fi
exec profio "$@"
]]):gsub("@profio", traced.words(cluster.folder, "SIGKILL", 200) .. " profio")

local scripts = "'" .. cluster.scripts .. "'/"
local slurm, reason = nil, "needs slurmctld"
local expected

describe("scripts of examples/cluster", function()
   setup(function()
      cluster.prepare()
      math.randomseed(3)
      stored.files("cluster/new", COUNT)
      fine "profio store add --label version=v1 direct.db new/*.pb.gz && ls new/*.pb.gz >list"
      expected = exported "direct.db"
      slurm, reason = cluster.slurm()
   end)

   teardown(function()
      if slurm then
         slurm:close()
      end
   end)

   -- Checks that a store has all runs with their labels.
   local function is_complete(store)
      assert.equal(expected, exported(store))
      assert.equal(fine "profio store labels --output csv direct.db",
         fine(("profio store labels --output csv '%s'"):format(store)))
   end

   it("add files with GNU parallel", function()
      if not cluster.has "parallel" then
         pending "needs parallel"
         return
      end
      fine("PROFIO_ADD='--label version=v1' FILES=7 " .. scripts
         .. "add-parallel.sh 'p 1.db' new/*.pb.gz")
      is_complete "p 1.db"
      assert.is_nil(lfs.attributes(cluster.folder .. "/p 1.db.parts"))
   end)

   it("add files with GNU parallel on several machines", function()
      if not cluster.has "parallel" then
         pending "needs parallel"
         return
      end
      fine("PROFIO_ADD='--label version=v1' FILES=5 HOSTS=1/one,1/two " .. scripts
         .. "add-parallel.sh p2.db new/*.pb.gz")
      is_complete "p2.db"
      local used = fine "sort -u ssh.log"
      assert.equal("one\ntwo\n", used)
   end)

   it("go on after a worker that was killed", function()
      if not cluster.has "parallel" or traced.missing() then
         pending "needs parallel, and programs that can be traced"
         return
      end
      cluster.program("once", "profio", DYING)
      local line = "export PATH=\"$PWD/once:$PATH\" && PROFIO_ADD='--label version=v1' FILES=8 "
         .. scripts .. "add-parallel.sh p3.db new/*.pb.gz"
      local _, status = cluster.run(line)
      assert.not_equal(0, status)
      fine(line)
      is_complete "p3.db"
   end)

   it("add files to servers of ClickHouse with GNU parallel", function()
      if not cluster.has "parallel" or not clickhouse.is_installed() then
         pending "needs parallel and clickhouse-server"
         return
      end
      local servers = clickhouse.servers("cluster", 2)
      local address = clickhouse.on_all(servers, "fleet")
      local ok, message = pcall(function()
         fine("export PROFIO_STORE_PASSWORD=secret PROFIO_ADD='--label version=v1' FILES=9 && "
            .. scripts .. ("add-parallel.sh '%s' new/*.pb.gz"):format(address))
         fine(("export PROFIO_STORE_PASSWORD=secret && profio store merge back.db '%s'"):format(
            address))
      end)
      for _, server in ipairs(servers) do
         server:close()
      end
      assert(ok, message)
      is_complete "back.db"
   end)

   it("add files with an array of Slurm", function()
      if not slurm then
         pending(reason)
         return
      end
      local line = "export PROFIO_ADD='--label version=v1' && " .. scripts
         .. "add-slurm.sh \"$PWD/s.db\" \"$PWD/list\" 4"
      local function job()
         return slurm:wait((slurm:run(line):match "^%d+"))
      end
      assert.equal("COMPLETED", job())
      is_complete "s.db"
      fine "mv new/1.pb.gz away && rm s.db" -- a task that fails cancels the merge
      assert.equal("CANCELLED", job())
      assert.is_nil(lfs.attributes(cluster.folder .. "/s.db"))
      fine "mv away new/1.pb.gz"
      assert.equal("COMPLETED", job())
      is_complete "s.db"
   end)

   it("ship the files of a folder", function()
      fine [[cp -r new ship && touch -d '2 minutes ago' ship/* && touch ship/1.pb.gz]]
      local line = "PROFIO_ADD='--label version=v1' " .. scripts .. "ship.sh ship host.db"
      assert.equal(("host.db: %d runs added\n"):format(COUNT - 1), fine(line))
      assert.equal("1.pb.gz\n", fine "ls ship")
      assert.equal("", fine(line))
      fine "touch -d '2 minutes ago' ship/1.pb.gz"
      assert.equal("host.db: 1 run added\n", fine(line))
      assert.equal("", fine "ls ship")
      assert.equal(expected, exported "host.db")
      assert.equal(("host,%s,%d\n"):format(fine("uname -n"):gsub("\n", ""), COUNT),
         fine "profio store labels --where key=host --output csv host.db | tail -1")
   end)

   it("have units that systemd accepts, and a line for cron", function()
      local line = fine(("grep -v '^#' %sprofio-ship.cron"):format(scripts))
      assert.matches("^%*/5 %* %* %* %* root flock .* /bin/sh /[%w/-]+/ship%.sh /[%w/]+ "
         .. "/[%w/.]+\n$", line)
      if not cluster.has "systemd-analyze" then
         pending "needs systemd-analyze"
         return
      end
      local text, status, errors = cluster.run(("systemd-analyze verify --man=no "
         .. "%sprofio-ship.service %sprofio-ship.timer 2>&1 | grep profio-ship"):format(scripts,
         scripts))
      assert.equal("", text .. errors)
      assert.equal(1, status)
   end)

   it("are clean for shellcheck", function()
      if not cluster.has "shellcheck" then
         pending "needs shellcheck"
         return
      end
      assert.equal("", fine(("shellcheck %s*.sh"):format(scripts)))
   end)
end)
