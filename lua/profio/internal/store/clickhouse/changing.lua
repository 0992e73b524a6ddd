-- Changes runs that are in ClickHouse: their labels, or whether they count. What a server was asked
-- for is done when it answers, and not taken back when a later server fails.

local picking = require "profio.internal.store.clickhouse.picking"
local schema = require "profio.internal.store.clickhouse.schema"
local servers = require "profio.internal.store.clickhouse.servers"

local changing = {}

-- Returns the hashes of the selected runs.
local function hashes_of(engine, tests)
   local hashes = {}
   for i, row in ipairs(picking.rows(engine, { "hash" }, tests)) do
      hashes[i] = row[1]
   end
   return hashes
end

-- {====== Labels ======

-- Returns an array of texts for a query.
local function array(list)
   local parts = {}
   for i, text in ipairs(list) do
      parts[i] = ("unhex('%s')"):format((text:gsub(".", function(byte)
         return ("%02x"):format(byte:byte())
      end)))
   end
   return "CAST([" .. table.concat(parts, ", ") .. "] AS Array(String))"
end

-- Returns the expressions of a query that computes the new row of a run from the old one.
local function new_row(labels)
   local changed, keys, values, row = {}, {}, {}, {}
   for key, value in pairs(labels) do
      changed[#changed + 1] = key
      if value then
         keys[#keys + 1], values[#values + 1] = key, value
      end
   end
   local kept = "NOT has(" .. array(changed) .. ", k)"
   local own = {
      keys = ("arrayConcat(arrayFilter(k -> %s, `keys`), %s)"):format(kept, array(keys)),
      values = ("arrayConcat(arrayFilter((v, k) -> %s, `values`, `keys`), %s)"):format(kept,
         array(values)),
      -- Two programs that label a run at the same time choose different versions.
      version = ("greatest(`version` + 1, toInt64('%d'))"):format(os.time() << 20
         | math.random(0, (1 << 20) - 1)),
   }
   for i, column in ipairs(schema.columns) do
      row[i] = own[column[1]] or ("`%s`"):format(column[1])
   end
   return table.concat(row, ", ")
end

---Sets and removes labels of the selected runs: their rows are inserted again with a higher
---version.
---@param engine profio.ClickHouseEngine
---@param tests table[]
---@param labels table<string, string|false> false: the runs lose the label
---@return integer count of selected runs
function changing.label(engine, tests, labels)
   local hashes, names = hashes_of(engine, tests), {}
   if #hashes == 0 then
      return 0
   end
   for i, column in ipairs(schema.columns) do
      names[i] = ("`%s`"):format(column[1])
   end
   local tables, runs = servers.tables(), engine.servers.database .. ".runs"
   engine.servers:ask(engine.servers.list, ("INSERT INTO %s (%s) SELECT %s FROM %s WHERE %s")
      :format(runs, table.concat(names, ", "), new_row(labels), runs, picking.condition(engine,
         tables, picking.by_hash(hashes))), tables)
   return #hashes
end

-- }======

---Removes the selected runs: they do not count any more when it returns, and the servers free their
---space later. Names and stacks stay in the dictionary.
---@param engine profio.ClickHouseEngine
---@param tests table[]
---@return integer count of removed runs
function changing.drop(engine, tests)
   local hashes = hashes_of(engine, tests)
   if #hashes == 0 then
      return 0
   end
   local tables, database = servers.tables(), engine.servers.database
   local all = engine.servers:ask(engine.servers.list, ("SELECT hash, attempt FROM %s.runs WHERE "
      .. "hash IN %s FORMAT RowBinary"):format(database, tables:add("hash FixedString(16)",
      table.concat(hashes))), tables)
   engine.servers:insert { { table = "dropped", rows = all } }
   for _, name in ipairs { "cells", "runs" } do
      engine.servers:ask(engine.servers.list, ("ALTER TABLE %s.%s DELETE WHERE (hash, attempt) IN "
         .. "(SELECT hash, attempt FROM %s.dropped)"):format(database, name, database))
   end
   return #hashes
end

return changing
