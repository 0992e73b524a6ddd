-- Creates a store in ClickHouse, and checks that the servers of an address are those of a store.

local picking = require "profio.internal.store.clickhouse.picking"
local problem = require "profio.internal.store.problem"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local schema = require "profio.internal.store.clickhouse.schema"
local servers = require "profio.internal.store.clickhouse.servers"

local opening = {}

-- Returns a table with the servers by their numbers. Raises if two servers have the same one.
local function by_number(path, list, numbers)
   local found = {}
   for i, number in ipairs(numbers) do
      if found[number] then
         problem.raise(("%s: %s and %s are one server: name it once"):format(path,
            found[number].label, list[i].label), "unsupported")
      end
      found[number] = list[i]
   end
   return found
end

-- Returns the rows that each of some servers answers.
local function rows_of(self, list, types, sql)
   local found = {}
   for i, bytes in ipairs(self.servers:ask(list, sql .. " FORMAT RowBinary")) do
      found[i] = {}
      servers.unpack(found[i], types, bytes, list[i])
   end
   return found
end

-- {====== Creation ======

-- Creates what is missing of a store on all servers. Programs that do this at the same time, or
-- after one that was stopped, create one store: the first number that a server gets stays, and all
-- programs insert the same rows.
local function create(self, path)
   local list, database, numbers, rows = self.servers.list, self.servers.database, {}, {}
   for _, sql in ipairs(schema.commands(database, self.servers.cluster)) do
      self.servers:ask(list, sql)
   end
   for _, server in ipairs(list) do
      self.servers:ask({ server }, schema.numbering(database, servers.random()))
   end
   for i, found in ipairs(rows_of(self, list, "i", ("SELECT shard FROM %s.number"):format(
      database)))
   do
      numbers[i] = found[1][1]
   end
   by_number(path, list, numbers)
   local all = table.move(numbers, 1, #numbers, 1, {})
   table.sort(all)
   for i, number in ipairs(numbers) do
      rows[i] = row_binary.pack("iiI", schema.VERSION, number, all)
   end
   self.servers:insert { { table = "store", rows = rows } }
end

-- Returns the servers that have the table store, and one that has none, or nil.
local function with_store(self)
   local list, absent = {}, nil
   for i, answer in ipairs(self.servers:ask(self.servers.list, ("SELECT count() FROM system.tables "
      .. "WHERE database = '%s' AND name = 'store'"):format(self.servers.database)))
   do
      local server = self.servers.list[i]
      list[#list + 1] = answer:find "^1" and server or nil
      absent = list[#list] ~= server and server or absent
   end
   return list, absent
end

-- Returns the rows of the table store of some servers; and whether all, or any of them, have one.
local function states(self, list)
   local found, all, any = rows_of(self, list, "iiI", ("SELECT DISTINCT version, shard, shards "
      .. "FROM %s.store"):format(self.servers.database)), true, false
   for _, rows in ipairs(found) do
      all, any = all and #rows > 0, any or #rows > 0
   end
   return found, all, any
end

-- Returns the rows of the table store of all servers. A store of which a part is missing, because
-- the program that created it was stopped, is completed.
local function completed(self, path, mode)
   local list, absent = with_store(self)
   local found, all, any = states(self, list)
   if any and absent then -- rows come after all tables: another program may have created them since
      list, absent = with_store(self)
      found, all = states(self, list)
   end
   if #list == 0 and mode ~= "create" then
      problem.raise(path .. ": the database has no store: profio store add creates it", "io")
   elseif any and absent then
      problem.raise(("%s: this server does not have the store that others have: name the servers "
         .. "with which it was created"):format(absent.label), "unsupported")
   elseif absent or not all then
      create(self, path)
      found = states(self, self.servers.list)
   end
   return found
end

-- }======

-- {====== Checks ======

-- Returns the number of each server and the numbers of all, as the tables store have them. Raises
-- unless each has one row with a version that is known here.
local function numbers_of(self, path, found)
   local numbers = {}
   for i, rows in ipairs(found) do
      if #rows ~= 1 then
         problem.raise(("%s: the table store has %d rows instead of one: programs have created it "
            .. "for different servers at the same time; drop the database and create it again")
            :format(self.servers.list[i].label, #rows), "format")
      elseif rows[1][1] < schema.OLDEST or rows[1][1] > schema.VERSION then
         problem.raise(("%s: the schema of this store is %d, this profio knows %d: use the profio "
            .. "that has written it"):format(path, rows[1][1], schema.VERSION), "unsupported")
      elseif rows[1][1] ~= found[1][1][1] then
         problem.raise(("%s: its servers have the schemas %d and %d: name those of one store")
            :format(path, found[1][1][1], rows[1][1]), "unsupported")
      end
      numbers[i] = rows[1][2]
   end
   self.schema_version = found[1][1][1]
   self.has_months = schema.has_months(self.schema_version)
   return numbers, found[1][1][3]
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

-- }======

---Opens the tables of a store: creates them, or what is missing of them, and checks that the
---servers are exactly the shards of the store, so that no run is left out and none counts twice.
---Orders them by their numbers. Raises failures.
---@param self profio.ClickHouseEngine
---@param path string
---@param mode "read"|"write"|"create" "create": the tables are created if there are none
function opening.open(self, path, mode)
   local found, list = completed(self, path, mode), {}
   local own, all = numbers_of(self, path, found)
   local server_of = by_number(path, self.servers.list, own)
   for _, number in ipairs(all) do
      list[#list + 1] = server_of[number]
   end
   if #list ~= #all or #list ~= #found then
      problem.raise(("%s: the store has %d shards, not the %d servers of the address: name all of "
         .. "them, with shards=HOST:PORT,..."):format(path, #all, #found), "unsupported")
   end
   self.servers:set_order(list)
   if self.servers.cluster then
      check_cluster(self, path, all)
   end
end

return opening
