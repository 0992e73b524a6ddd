-- Creates a store in ClickHouse, and checks that the servers of an address are those of a store.

local picking = require "profio.internal.store.clickhouse.picking"
local problem = require "profio.internal.store.problem"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local schema = require "profio.internal.store.clickhouse.schema"
local servers = require "profio.internal.store.clickhouse.servers"

local opening = {}

---Creates the tables on all servers; each gets a number.
---@param self profio.ClickHouseEngine
function opening.create(self)
   local list, numbers = self.servers.list, {}
   for _, sql in ipairs(schema.commands(self.servers.database, self.servers.cluster)) do
      self.servers:ask(list, sql)
   end
   for i = 1, #list do
      numbers[i] = servers.random()
   end
   table.sort(numbers)
   local rows = {}
   for i, number in ipairs(numbers) do
      rows[i] = row_binary.pack("iiI", schema.VERSION, number, numbers)
   end
   self.servers:insert { { table = "store", rows = rows } }
end

---Returns on how many servers the database has a store.
---@param self profio.ClickHouseEngine
---@return integer count
---@return { label: string }|nil absent a server without it
function opening.stores(self)
   local count, absent = 0, nil
   for i, answer in ipairs(self.servers:ask(self.servers.list, ("SELECT count() FROM system.tables "
      .. "WHERE database = '%s' AND name = 'store'"):format(self.servers.database)))
   do
      if answer:find "^1" then
         count = count + 1
      else
         absent = self.servers.list[i]
      end
   end
   return count, absent
end

-- Returns the row of the table store of each server, in the order of the list. Raises unless each
-- has one with a version that is known here.
local function states(self, path)
   local found = {}
   for i, bytes in ipairs(self.servers:ask(self.servers.list, ("SELECT DISTINCT version, shard, "
      .. "shards FROM %s.store FORMAT RowBinary"):format(self.servers.database)))
   do
      local server, rows = self.servers.list[i], {}
      servers.unpack(rows, "iiI", bytes, server)
      if #rows ~= 1 then
         problem.raise(("%s: the table store has %d rows instead of one: two programs created the "
            .. "store at the same time, or one was stopped; drop the database and create it again")
            :format(server.label, #rows), "format")
      elseif rows[1][1] ~= schema.VERSION then
         problem.raise(("%s: the schema of this store is %d, this profio knows %d: use the profio "
            .. "that has written it"):format(path, rows[1][1], schema.VERSION), "unsupported")
      end
      found[i] = rows[1]
   end
   return found
end

-- Raises unless the cluster has exactly the shards of these numbers.
local function check_cluster(self, path, numbers)
   local rows = self.servers:rows("i", "SELECT DISTINCT shard FROM "
      .. picking.table(self, "store"))
   table.sort(rows, function(a, b)
      return a[1] < b[1]
   end)
   for i = 1, math.max(#rows, #numbers) do
      if not rows[i] or rows[i][1] ~= numbers[i] then
         problem.raise(("%s: the cluster '%s' does not have the servers of this address")
            :format(path, self.servers.cluster), "unsupported")
      end
   end
end

---Raises unless the servers are exactly the shards of the store, so that no run is left out and
---none counts twice. Orders them by their numbers.
---@param self profio.ClickHouseEngine
---@param path string
function opening.check(self, path)
   local by_number, list = {}, {}
   local found = states(self, path)
   for i, row in ipairs(found) do
      local server = self.servers.list[i]
      if by_number[row[2]] then
         problem.raise(("%s: %s and %s are one server: name it once"):format(path,
            by_number[row[2]].label, server.label), "unsupported")
      end
      by_number[row[2]] = server
   end
   local numbers = found[1][3]
   for _, number in ipairs(numbers) do
      list[#list + 1] = by_number[number]
   end
   if #list ~= #numbers or #list ~= #found then
      problem.raise(("%s: the store has %d shards, not the %d servers of the address: name all of "
         .. "them, with shards=HOST:PORT,..."):format(path, #numbers, #found), "unsupported")
   end
   self.servers:set_order(list)
   if self.servers.cluster then
      check_cluster(self, path, numbers)
   end
end

return opening
