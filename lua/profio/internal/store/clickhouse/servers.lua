-- Queries to the servers of a store in ClickHouse. Texts of runs and of conditions never become a
-- part of the SQL as they are: they are rows of temporary tables, which are sent with it, or
-- hexadecimal digits (changing.lua).

local address = require "profio.internal.store.clickhouse.address"
local problem = require "profio.internal.store.problem"
local row_binary = require "profio.internal.store.clickhouse.row_binary"

local servers = {}

---@class profio.ClickHouseServers
---@field list { url: string, label: string }[]
---@field readers { url: string, label: string }[] those that queries go to
---@field all string "_all" if they answer for all servers, else ""
local Servers = {}
Servers.__index = Servers

local function escaped(text)
   return (text:gsub("[^%w_.-]", function(byte)
      return ("%%%02X"):format(byte:byte())
   end))
end

---Returns a random number.
---@return integer
function servers.random()
   local file <close> = assert(io.open("/dev/urandom", "rb"))
   return (string.unpack("<i8", file:read(8)))
end

---Opens the client of an address. No server is asked.
---@param native table profio.store
---@param path string
---@return profio.ClickHouseServers
function servers.open(native, path)
   local parsed = address.parse(path)
   local self = setmetatable(parsed, Servers)
   self.list, self.password = parsed.servers, address.password()
   self.all = parsed.cluster and "_all" or ""
   self.client = native.http()
   return self
end

---Sets the order of the servers; queries then go to one of them, or to all.
---@param list { url: string, label: string }[]
function Servers:set_order(list)
   self.readers = self.cluster and { self.list[1] } or list
   self.list = list
end

---Temporary tables of a query. add returns the name of a new one.
---@class profio.ClickHouseTables
local Tables = {}
Tables.__index = Tables

---@param structure string columns, as "key String, value String"
---@param bytes string rows in RowBinary
---@return string name
function Tables:add(structure, bytes)
   local name = "t" .. #self + 1
   self[#self + 1] = { name = name, structure = structure, data = bytes }
   return name
end

---@return profio.ClickHouseTables
function servers.tables()
   return setmetatable({}, Tables)
end

-- Returns a request of the HTTP client.
local function request(self, server, sql, tables, body)
   local parts = { server.url, "?wait_end_of_query=1&skip_unavailable_shards=0&query=",
      escaped(sql) }
   for _, one in ipairs(tables or {}) do
      parts[#parts + 1] = ("&%s_format=RowBinary&%s_structure=%s"):format(one.name, one.name,
         escaped(one.structure))
   end
   return { url = table.concat(parts), label = server.label, user = self.user,
      password = self.password, ca = self.ca, timeout = self.timeout,
      is_encrypted = self.is_encrypted, body = body,
      files = tables and #tables > 0 and tables or nil }
end

---Sends SQL to servers at once; returns their answers. Raises failures.
---@param list { url: string, label: string }[]
---@param sql string
---@param tables profio.ClickHouseTables|nil
---@return string[]
function Servers:ask(list, sql, tables)
   local requests = {}
   for i, server in ipairs(list) do
      requests[i] = request(self, server, sql, tables)
   end
   local answers, message, code = self.client:exchange(requests)
   if not answers and self.cluster and list == self.readers then
      self:ask(self.list, "SELECT 1") -- names a server that is down, which the first one may not
   end
   return problem.check(answers, message, code)
end

---Returns the rows of a query, of all readers. Raises failures.
---@param types string of row_binary.lua
---@param sql string without FORMAT
---@param tables profio.ClickHouseTables|nil
---@return any[][]
function Servers:rows(types, sql, tables)
   local list = {}
   for i, bytes in ipairs(self:ask(self.readers, sql .. " FORMAT RowBinary", tables)) do
      servers.unpack(list, types, bytes, self.readers[i])
   end
   return list
end

---Adds the rows of an answer to a list. Raises if they are damaged.
---@param list any[][]
---@param types string
---@param bytes string
---@param server { label: string }
function servers.unpack(list, types, bytes, server)
   if not row_binary.unpack(list, types, bytes) then
      local told = bytes:match "Code: %d+.*$"
      problem.raise(server.label .. ": the server's answer is damaged"
         .. (told and ": " .. told:sub(1, 150):gsub("%c+", " ") or ""), "format")
   end
end

---Begins to insert rows: `rows[i]` in RowBinary into a table of the i-th server; servers without
---rows are left out. They all have them when `wait` of the result has returned answers.
---@param inserts { table: string, rows: string[] }[]
---@return userdata sent with methods step, wait and close: see csrc/store/exchange.c
function Servers:send(inserts)
   local requests = {}
   for _, one in ipairs(inserts) do
      for i, bytes in pairs(one.rows) do
         if bytes ~= "" then
            requests[#requests + 1] = request(self, self.list[i],
               ("INSERT INTO %s.%s FORMAT RowBinary"):format(self.database, one.table), nil, bytes)
         end
      end
   end
   return self.client:send(requests)
end

---Inserts rows. Returns when all servers have them. Raises failures.
---@param inserts { table: string, rows: string[] }[]
function Servers:insert(inserts)
   problem.check(self:send(inserts):wait())
end

function Servers:close()
   self.client:close()
end

return servers
