-- Addresses of stores in ClickHouse:
--
--    clickhouse://[USER@]HOST[:PORT]/DATABASE[?NAME=VALUE&...]
--
-- clickhouses:// is the same over TLS. Parameters: shards=HOST:PORT,... the other servers;
-- cluster=NAME of the cluster that has these servers in the configuration of ClickHouse: queries go
-- to the first one then, through Distributed tables, else to all; ca=FILE with certificates to
-- trust; timeout=SECONDS for each request. The password comes from the environment.

local core = require "profio.core"
local problem = require "profio.internal.store.problem"

local address = {}

local ports = { clickhouse = 8123, clickhouses = 8443 }

local known = { shards = true, cluster = true, ca = true, timeout = true }

---Returns whether a path is an address of ClickHouse.
---@param path string
---@return boolean
function address.is_one(path)
   return path:find "^clickhouses?://" ~= nil
end

local function refuse(path, why)
   problem.raise(("%s: %s; an address is clickhouse://[USER@]HOST[:PORT]/DATABASE"
      .. "[?shards=HOST:PORT,...&cluster=NAME&ca=FILE&timeout=SECONDS]"):format(path, why),
      "unsupported")
end

-- Returns a text in which %XX stands for a byte.
local function decoded(text)
   return (text:gsub("%%(%x%x)", function(digits)
      return string.char(tonumber(digits, 16))
   end))
end

local function server_of(path, text, scheme)
   local host, port = text:match "^(%[[%x:.]+%])(.*)$"
   if not host then
      host, port = text:match "^([%w.-]+)(.*)$"
   end
   local digits = (port or ""):match "^:(%d+)$"
   local number = port == "" and ports[scheme] or math.tointeger(tonumber(digits))
   if not host or not number or number < 1 or number > 65535 then
      refuse(path, ("'%s' is no HOST:PORT"):format(text))
   end
   return { url = ("%s://%s:%d/"):format(scheme == "clickhouses" and "https" or "http", host,
      number), label = ("clickhouse://%s:%d"):format(host, number) }
end

local function parameters(path, text)
   local values = {}
   for item in text:gmatch "[^&]+" do
      local name, value = item:match "^(%l+)=(.+)$"
      if not known[name] then
         refuse(path, ("unknown parameter '%s'"):format(item))
      end
      values[name] = decoded(value)
   end
   if values.cluster and not values.cluster:find "^[%w_]+$" then
      refuse(path, "the name of a cluster has letters, digits and _")
   end
   local timeout = math.tointeger(tonumber(values.timeout or "600"))
   if not timeout or timeout < 1 or timeout > 86400 then
      refuse(path, "timeout must be 1 to 86400 seconds")
   end
   values.timeout = timeout
   return values
end

---Returns the parts of an address. Raises if it has another form.
---@param path string
---@return { servers: { url: string, label: string }[], database: string, user: string|nil,
---is_encrypted: boolean, cluster: string|nil, ca: string|nil, timeout: integer }
function address.parse(path)
   local scheme, authority, database, rest = path:match "^(%l+)://([^/?]*)/([^?]*)%??(.*)$"
   if not scheme then
      refuse(path:gsub("//.*@", "//"), "the database is missing")
   end
   local user, host = authority:match "^(.*)@([^@]*)$"
   if user and user:find(":", 1, true) then
      refuse(("%s://%s/%s"):format(scheme, host, database), "a password in an address can be seen "
         .. "by others: set PROFIO_STORE_PASSWORD, or PROFIO_STORE_PASSWORD_FILE to a file that "
         .. "has it")
   elseif not database:find "^[%a_][%w_]*$" then
      refuse(path, "the name of a database has letters, digits and _")
   end
   local given = parameters(path, rest)
   local servers = { server_of(path, host or authority, scheme) }
   for text in (given.shards or ""):gmatch "[^,]+" do
      servers[#servers + 1] = server_of(path, text, scheme)
   end
   return { servers = servers, database = database,
      user = user and user ~= "" and decoded(user) or nil, is_encrypted = scheme == "clickhouses",
      cluster = given.cluster, ca = given.ca, timeout = given.timeout }
end

---Returns the password of the environment, or nil. Raises if its file cannot be read.
---@return string|nil
function address.password()
   local path = os.getenv "PROFIO_STORE_PASSWORD_FILE"
   if not path or path == "" then
      return os.getenv "PROFIO_STORE_PASSWORD"
   end
   local file, why = core.file(path, "rb")
   local text = file and file:read "l"
   if file then
      file:close()
   end
   if not text then
      problem.raise(("PROFIO_STORE_PASSWORD_FILE: %s"):format(why or path .. ": no line"), "io")
   end
   return text
end

return address
