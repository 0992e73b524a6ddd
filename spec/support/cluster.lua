-- Programs of examples/cluster for specs: the command profio in PATH, a stand-in for ssh, and Slurm
-- with one node, which ends with the process that has started it.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local wait = require "spec.support.wait"

local cluster = {}

---The folder in which the scripts run.
cluster.folder = command.folder .. "/cluster"

---The folder of the scripts.
cluster.scripts = command.root .. "/examples/cluster"

-- Runs a command on "another machine", which is this one. A login sets SHELL, by which GNU parallel
-- runs the job there; without it, no job would run, and no error be reported.
local SSH <const> = [[
#!/bin/sh
export SHELL=/bin/sh
while [ $# -gt 1 ]; do case $1 in -*) shift ;; *) break ;; esac; done
echo "$1" >>'%s/ssh.log'
shift
[ "$1" != -- ] || shift
exec sh -c "$*"
]]

---Writes a program into a folder below that of the scripts.
---@param folder string
---@param name string
---@param text string
function cluster.program(folder, name, text)
   local path = ("%s/%s"):format(cluster.folder, folder)
   disk.folder(path)
   local file <close> = assert(io.open(path .. "/" .. name, "w"))
   file:write(text)
   file:close()
   assert(os.execute(("chmod +x '%s/%s'"):format(path, name)))
end

---Creates the folder anew, with bin/profio and bin/ssh.
function cluster.prepare()
   disk.fresh(cluster.folder)
   cluster.program("bin", "profio", ("#!/bin/sh\nexec env PROFIO_BUILD='%s' %s \"$@\"\n"):format(
      command.build, command.analyze))
   cluster.program("bin", "ssh", SSH:format(cluster.folder))
end

---Runs a line of shell in the folder.
---@param line string
---@return string output
---@return integer status
---@return string errors
function cluster.run(line)
   return command.run(("unset -f profio; cd '%s' && export PATH='%s/bin':\"$PATH\" "
      .. "PARALLEL_SSH='%s/bin/ssh' && %s"):format(cluster.folder, cluster.folder, cluster.folder,
      line))
end

---Returns whether a program is installed.
---@param name string
---@return boolean
function cluster.has(name)
   return os.execute(("command -v %s >/dev/null 2>&1"):format(name)) == true
end

-- {====== Slurm ======

-- munged, slurmctld and slurmd in the foreground; all of them end when the input does.
local SLURM <const> = wait.shell .. [[cd '%FOLDER%' && {
mkdir -p munge state spool && chmod 0700 munge && chmod 0755 . state spool
head -c 128 /dev/urandom >munge/key && chmod 0600 munge/key
munged --foreground --force --key-file="$PWD/munge/key" --socket="$PWD/munge.socket" \
  --pid-file="$PWD/munge/pid" --log-file="$PWD/munge/log" --seed-file="$PWD/munge/seed" &
munge=$!
wait_until "test -S munge.socket"
slurmctld -D -i -f "$PWD/slurm.conf" & control=$!
slurmd -D -f "$PWD/slurm.conf" -N %HOST% & node=$!
cat
kill -9 $node $control $munge; wait; } >out 2>&1]]

local CONF <const> = [[
ClusterName=specs
SlurmctldHost=%HOST%(127.0.0.1)
SlurmUser=root
SlurmctldPort=%PORT1%
SlurmdPort=%PORT2%
AuthType=auth/munge
AuthInfo=socket=%FOLDER%/munge.socket
CryptoType=crypto/munge
StateSaveLocation=%FOLDER%/state
SlurmdSpoolDir=%FOLDER%/spool
SlurmctldPidFile=%FOLDER%/slurmctld.pid
SlurmdPidFile=%FOLDER%/slurmd.pid
SlurmctldLogFile=%FOLDER%/slurmctld.log
SlurmdLogFile=%FOLDER%/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=%HOST% NodeAddr=127.0.0.1 CPUs=2 RealMemory=512 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
]]

---@class spec.Slurm
local Slurm = {}
Slurm.__index = Slurm

---Starts Slurm; nil if it is not installed or does not start here. Its daemons run as root.
---@return spec.Slurm|nil
---@return string|nil reason
function cluster.slurm()
   for _, name in ipairs { "slurmctld", "slurmd", "munged", "sbatch" } do
      if not cluster.has(name) then
         return nil, "needs " .. name
      end
   end
   if not os.execute "test $(id -u) = 0" then
      return nil, "needs root, as whom Slurm runs jobs"
   end
   local folder = "/tmp/profio-slurm-" .. os.tmpname():match "[^/]*$"
   local host = assert(io.popen "uname -n"):read "l"
   local ports = require("spec.support.clickhouse").ports(2)
   local values = { FOLDER = folder, HOST = host:match "^[^.]+", PORT1 = ports[1],
      PORT2 = ports[2] }
   disk.folder(folder)
   local file <close> = assert(io.open(folder .. "/slurm.conf", "w"))
   file:write((CONF:gsub("%%(%w+)%%", values)))
   file:close()
   local self = setmetatable({ folder = folder, pipe = assert(io.popen((SLURM:gsub("%%(%w+)%%",
      values)), "w")) }, Slurm)
   if wait.until_true(function() return self:run("timeout 5 sinfo -h -o %T"):find "idle" end) then
      return self
   end
   self:close()
   return nil, "Slurm does not start: see " .. folder
end

---Runs a line of shell with the commands of this Slurm.
---@param line string
---@return string output
---@return integer status
---@return string errors
function Slurm:run(line)
   return cluster.run(("export SLURM_CONF='%s/slurm.conf' && %s"):format(self.folder, line))
end

---Waits until a job has ended; returns its state.
---@param job string its number
---@return string
function Slurm:wait(job)
   return wait.until_true(function()
      local state = self:run(("scontrol show job -o %s | grep -o 'JobState=[A-Z_]*'"):format(job))
         :match "=(%u+)"
      return state ~= "PENDING" and state ~= "RUNNING" and state ~= "COMPLETING" and state
   end) or "no end after a minute"
end

function Slurm:close()
   if self.pipe then
      self.pipe:close()
      self.pipe = nil
      disk.remove(self.folder)
   end
end

-- }======

return cluster
