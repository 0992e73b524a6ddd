-- Servers of ClickHouse for specs, on free ports of the loopback interface, each with its own
-- configuration and data. They end with the process that has started them, because a shell waits
-- for the end of its input and kills its server then.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local wait = require "spec.support.wait"

local clickhouse = {}

local CONFIG = [[
<yandex>
<logger><level>error</level><log>%FOLDER%/log</log><errorlog>%FOLDER%/errors</errorlog></logger>
<http_port>%HTTP%</http_port><tcp_port>%TCP%</tcp_port>%HTTPS%
<listen_host>127.0.0.1</listen_host>
<path>%FOLDER%/data/</path><tmp_path>%FOLDER%/tmp/</tmp_path>
<users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>8388608</mark_cache_size>
<remote_servers><fleet>%SHARDS%</fleet></remote_servers>
</yandex>
]]

local SHARD = [[<shard><replica><host>127.0.0.1</host><port>%d</port><user>fleet</user>
<password>secret</password></replica></shard>]]

local USERS = [[
<yandex>
<profiles><default><max_memory_usage>1500000000</max_memory_usage></default></profiles>
<users><fleet><password>secret</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></fleet>
<default><password>other</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
<quotas><default/></quotas>
</yandex>
]]

local TLS = [[<https_port>%d</https_port><openSSL><server>
<certificateFile>%s/cert.pem</certificateFile><privateKeyFile>%s/key.pem</privateKeyFile>
<verificationMode>none</verificationMode></server></openSSL>]]

-- Ends the server when its input ends; `wait` so that no process is left.
local SHELL = [[cd '%s' && { clickhouse-server --config-file=config.xml >out 2>&1 </dev/null &
pid=$!; echo $pid >pid; cat >/dev/null; kill -9 $pid; wait $pid; } 2>/dev/null]]

local function write(path, text)
   local file <close> = assert(io.open(path, "wb"))
   assert(file:write(text))
end

local function output(line)
   local pipe <close> = assert(io.popen(line))
   return pipe:read "a"
end

local function client()
   require "profio.core"
   return require("profio.store").http()
end

---Returns whether clickhouse-server is installed.
function clickhouse.is_installed()
   return os.execute "command -v clickhouse-server >/dev/null" == true
end

---Returns numbers of free ports of the loopback interface.
---@param count integer
---@return integer[]
function clickhouse.ports(count)
   local list = {}
   for port in output(([[/usr/bin/python3 -c "import socket
all = [socket.socket() for _ in range(%d)]
for one in all: one.bind(('127.0.0.1', 0))
print(*[one.getsockname()[1] for one in all])"]]):format(count)):gmatch "%d+" do
      list[#list + 1] = math.tointeger(tonumber(port))
   end
   return list
end

---@class spec.ClickHouse
local Server = {}
Server.__index = Server

---Starts the server and waits until it answers.
function Server:start()
   self.pipe = assert(io.popen(SHELL:format(self.folder), "w"))
   if wait.until_true(function() return pcall(self.ask, self, "SELECT 1") end) then
      return self
   end
   error("clickhouse-server does not answer: see " .. self.folder)
end

---Ends the server by SIGKILL.
function Server:kill()
   if self.pipe then
      self.pipe:close()
      self.pipe = nil
   end
end

---Ends the server by SIGKILL as soon as it has written so many more files; the caller goes on.
---@param files integer
function Server:kill_when_written(files)
   os.execute(([[%s { cd '%s'; pid=$(cat pid); most=$(($(find data -type f | wc -l) + %d))
      wait_until "! kill -0 $pid || test \$(find data -type f | wc -l) -ge $most"
      kill -9 $pid; } </dev/null >/dev/null 2>&1 &]]):format(wait.shell, self.folder, files))
end

---Starts the server again, whether it was killed or not.
function Server:restart()
   self:kill()
   self:start()
end

---Ends the server and removes its files.
function Server:close()
   self:kill()
   disk.remove(self.folder)
end

---Returns what the server answers to SQL, as text; the SQL is sent as the body.
---@param sql string
---@param database string|nil in which tables without a database are
---@return string
function Server:ask(sql, database)
   return assert(client():exchange { { url = ("http://127.0.0.1:%d/?database=%s"):format(self.http,
      database or "default"), user = "fleet", password = "secret", body = sql } })[1]
end

---Returns the address of its database as profio expects it.
---@param database string
---@param rest string|nil parameters
---@return string
function Server:address(database, rest)
   return ("clickhouse://fleet@127.0.0.1:%d/%s%s"):format(self.http, database, rest or "")
end

---Returns the address of a database on several servers as profio expects it.
---@param servers spec.ClickHouse[]
---@param database string
---@param more string|nil further parameters, as "&cluster=fleet"
---@return string
function clickhouse.on_all(servers, database, more)
   local others = {}
   for i = 2, #servers do
      others[i - 1] = "127.0.0.1:" .. servers[i].http
   end
   return servers[1]:address(database, (#others > 0 and "?shards=" .. table.concat(others, ",")
      or "") .. (more or ""))
end

---Starts servers, which are the shards of the cluster `fleet`. The user fleet has the password
---`secret`. Option https: the first one has a self-signed certificate, folder .. "/cert.pem".
---@param name string of their folder
---@param count integer
---@param options { https: boolean }|nil
---@return spec.ClickHouse[]
function clickhouse.servers(name, count, options)
   local ports, shards, list = clickhouse.ports(2 * count + 1), {}, {}
   local here = output("readlink -f '" .. command.folder .. "'"):gsub("\n", "")
   for i = 1, count do
      shards[i] = SHARD:format(ports[2 * i])
   end
   for i = 1, count do
      local self = setmetatable({ http = ports[2 * i - 1], tcp = ports[2 * i],
         folder = ("%s/%s-%d"):format(here, name, i) }, Server)
      assert(os.execute(("rm -rf '%s' && mkdir -p '%s/data' '%s/tmp'"):format(self.folder,
         self.folder, self.folder)))
      local tls = ""
      if options and options.https and i == 1 then
         self.https = ports[#ports]
         tls = TLS:format(self.https, self.folder, self.folder)
         clickhouse.certificate(self.folder)
      end
      local values = { FOLDER = self.folder, HTTP = self.http, TCP = self.tcp, HTTPS = tls,
         SHARDS = table.concat(shards) }
      write(self.folder .. "/config.xml", (CONFIG:gsub("%%(%u+)%%", values)))
      write(self.folder .. "/users.xml", USERS)
      list[i] = self
   end
   for _, self in ipairs(list) do
      self:start()
   end
   return list
end

-- {====== Servers of the specs of one file ======

---@class spec.Fleet
---@field servers spec.ClickHouse[]
---@field environment table<string, string> replaces what os.getenv returns
---@field database string of the last address
local Fleet = {}
Fleet.__index = Fleet

---Starts servers as clickhouse.servers does, and sets their password in this process until `close`.
---@param name string
---@param count integer
---@param options { https: boolean }|nil
---@return spec.Fleet
function clickhouse.fleet(name, count, options)
   local self = setmetatable({ servers = clickhouse.servers(name, count, options), databases = 0,
      environment = { PROFIO_STORE_PASSWORD = "secret" }, getenv = os.getenv }, Fleet)
   os.getenv = function(variable) -- luacheck: ignore
      return self.environment[variable] or self.getenv(variable)
   end
   return self
end

---Returns the address of a new database.
---@param more string|nil further parameters, as "&cluster=fleet"
---@param count integer|nil only on the first servers; default: on all
---@return string
function Fleet:address(more, count)
   self.databases = self.databases + 1
   self.database = "d" .. self.databases
   return clickhouse.on_all({ table.unpack(self.servers, 1, count) }, self.database, more)
end

---Sends SQL to each server, in the database of the last address.
---@param sql string
---@return string[] answers
function Fleet:ask(sql)
   local answers = {}
   for i, server in ipairs(self.servers) do
      answers[i] = server:ask(sql, self.database)
   end
   return answers
end

---Ends the servers and removes their files.
function Fleet:close()
   os.getenv = self.getenv -- luacheck: ignore
   for _, server in ipairs(self.servers) do
      server:close()
   end
end

-- }======

---Writes key.pem and cert.pem, a certificate for 127.0.0.1 that is signed by itself.
---@param folder string
function clickhouse.certificate(folder)
   assert(os.execute(([[cd '%s' && openssl req -x509 -newkey rsa:2048 -nodes -days 30 \
-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem \
2>/dev/null]]):format(folder)))
end

---Starts a server that answers with given bytes (see answering.py), until the pipe is closed.
---@param folder string for its files
---@param answers string[]
---@return integer port
---@return file* pipe
function clickhouse.answering(folder, answers)
   local port, files = clickhouse.ports(1)[1], {}
   for i, answer in ipairs(answers) do
      files[i] = ("'%s/answer-%d'"):format(folder, i)
      write(files[i]:sub(2, -2), answer)
   end
   local said = folder .. "/said"
   os.remove(said)
   local pipe = assert(io.popen(("/usr/bin/python3 spec/support/answering.py %d %s >'%s' 2>&1")
      :format(port, table.concat(files, " "), said), "w"))
   wait.until_true(function() return (lfs.attributes(said, "size") or 0) > 0 end)
   return port, pipe
end

return clickhouse
