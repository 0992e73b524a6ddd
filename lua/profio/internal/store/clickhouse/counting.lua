-- Numbers of runs, and what labels and attributes they have: the servers count, so that their
-- answers do not grow with the runs.

local picking = require "profio.internal.store.clickhouse.picking"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local selecting = require "profio.internal.store.selecting"
local servers = require "profio.internal.store.clickhouse.servers"

local counting = {}

-- Returns the rows of a query for the selected runs; "%s" stand for the table and the condition.
local function rows_of(engine, types, sql, tests, tables)
   tables = tables or servers.tables()
   return engine.servers:rows(types, sql:format(picking.table(engine, "runs"), picking.condition(
      engine, tables, tests)), tables)
end

-- Returns the distinct texts in rows of one column.
local function distinct(rows)
   local list, known = {}, {}
   for _, row in ipairs(rows) do
      list[#list + 1] = not known[row[1]] and row[1] or nil
      known[row[1]] = true
   end
   return list
end

-- The row of a run may be there twice until ClickHouse has merged it, so runs are counted by hash.
local COUNTS <const> = "SELECT toInt64(uniqExact(hash)), toInt64(uniqExactIf(hash, losses > 0)), "
   .. "toInt64(uniqExactIf(hash, call_bytes != 0)), toInt64(uniqExactIf(hash, kind = 'graph')) "
   .. "FROM %s WHERE %s"

---Returns the numbers of the selected runs.
---@param engine profio.ClickHouseEngine
---@param tests table[]|nil nil: all
---@return profio.RunCounts
function counting.counts(engine, tests)
   local sums = { 0, 0, 0, 0 }
   for _, row in ipairs(rows_of(engine, "iiii", COUNTS, tests)) do
      for i, count in ipairs(row) do
         sums[i] = sums[i] + count
      end
   end
   return { runs = sums[1], damaged = sums[2], with_calls = sums[3], graphs = sums[4] }
end

---Returns the labels of the selected runs, in order of key and value.
---@param engine profio.ClickHouseEngine
---@param tests table[]|nil nil: all
---@return { key: string, value: string, runs: integer }[]
function counting.labels(engine, tests)
   local list, known = {}, {}
   for _, row in ipairs(rows_of(engine, "ssi", "SELECT k, v, toInt64(uniqExact(hash)) FROM %s "
      .. "ARRAY JOIN keys AS k, values AS v WHERE %s GROUP BY k, v", tests))
   do
      local name = string.pack("s4s4", row[1], row[2])
      if not known[name] then
         known[name] = { key = row[1], value = row[2], runs = 0 }
         list[#list + 1] = known[name]
      end
      known[name].runs = known[name].runs + row[3]
   end
   table.sort(list, selecting.is_label_before)
   return list
end

---Returns the number of labels of all runs: of different pairs of key and value.
---@param engine profio.ClickHouseEngine
---@return integer
function counting.label_count(engine)
   if engine.servers.readers[2] then
      return #counting.labels(engine) -- several servers may have a label
   end
   return rows_of(engine, "i", "SELECT toInt64(uniqExact(k, v)) FROM %s ARRAY JOIN keys AS k, "
      .. "values AS v WHERE %s")[1][1]
end

---Returns the keys of all labels.
---@param engine profio.ClickHouseEngine
---@return string[]
function counting.keys(engine)
   return distinct(rows_of(engine, "s", "SELECT DISTINCT k FROM %s ARRAY JOIN keys AS k WHERE %s"))
end

---Returns the distinct values of a label or of an attribute with texts.
---@param engine profio.ClickHouseEngine
---@param key string
---@param is_label boolean
---@return string[]
function counting.values(engine, key, is_label)
   local tables = servers.tables()
   local sql = ("SELECT DISTINCT `%s` FROM %%s WHERE %%s"):format(key)
   if is_label then
      sql = ("SELECT DISTINCT v FROM %%s ARRAY JOIN keys AS k, values AS v WHERE k IN %s AND %%s")
         :format(tables:add("v String", row_binary.pack("s", key)))
   end
   return distinct(rows_of(engine, "s", sql, nil, tables))
end

---Returns the runs that do not have all rows of their cells, as texts.
---@param engine profio.ClickHouseEngine
---@return string[]
function counting.check(engine)
   local tables, list, known = servers.tables(), {}, {}
   local sql = ("SELECT hash, path, rows, found FROM (SELECT hash, attempt, path, rows FROM %s "
      .. "WHERE %s) AS added ANY LEFT JOIN (SELECT hash, attempt, toInt64(count()) AS found FROM "
      .. "%s GROUP BY hash, attempt) AS counted USING (hash, attempt) WHERE rows != found")
      :format(picking.table(engine, "runs"), picking.condition(engine, tables),
         picking.table(engine, "cells"))
   for _, row in ipairs(engine.servers:rows("hsii", sql, tables)) do
      list[#list + 1] = not known[row[1]] and ("run %s (%s) has %d rows of cells instead of %d")
         :format(selecting.hex(row[1]), row[2], row[4], row[3]) or nil
      known[row[1]] = true
   end
   table.sort(list)
   return list
end

return counting
