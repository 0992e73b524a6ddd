-- Selects runs in ClickHouse by the tests of selecting.lua.
--
-- Only what is asked for comes from the servers. Between begin "read" and its end a selection of up
-- to MOST_PICKED runs is read at the first query that has it, as (hash, attempt, rows); later
-- queries name these attempts. Of a larger one the attempts are noted when all its runs are read.

local problem = require "profio.internal.store.problem"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local run_conditions = require "profio.internal.store.clickhouse.run_conditions"
local schema = require "profio.internal.store.clickhouse.schema"
local selecting = require "profio.internal.store.selecting"
local servers = require "profio.internal.store.clickhouse.servers"

local picking = {}

local MOST_PICKED <const> = 8192 -- runs whose attempts are read first: 262 kB

local letters = {}

for _, column in ipairs(schema.columns) do
   letters[column[1]] = column[2]
end

---Returns the name of a table for queries.
---@param engine profio.ClickHouseEngine
---@param name string
---@return string
function picking.table(engine, name)
   return ("%s.%s%s"):format(engine.servers.database, name, engine.servers.all)
end

-- Returns the condition for the attempts that count, in their last version, of runs with a
-- condition. A run is on one shard, so each shard decides this for its own runs. Sets of all
-- attempts and versions would take the server eight times as long, so it builds them for runs only
-- that may have several rows. Their rows are not counted for that: a server may merge rows after it
-- has chosen those that a query reads, and before it builds the sets.
local function valid(engine, condition)
   local runs = engine.servers.database .. ".runs"
   local several = ("(SELECT hash FROM %s WHERE %s GROUP BY hash HAVING max(version) > 0 OR "
      .. "min(attempt) < max(attempt))"):format(runs, condition)
   local kept = ("(hash, attempt) NOT IN (SELECT hash, attempt FROM %s.dropped)"):format(
      engine.servers.database)
   return ("%s AND (hash NOT IN %s OR (hash, attempt) IN (SELECT hash, min(attempt) FROM %s WHERE "
      .. "hash IN %s AND %s GROUP BY hash) AND (hash, attempt, version) IN (SELECT hash, attempt, "
      .. "max(version) FROM %s WHERE hash IN %s GROUP BY hash, attempt))"):format(kept, several,
      runs, several, kept, runs, several)
end

-- {====== Attempts that are read ======

-- Adds a temporary table with runs.
local function add_picked(tables, rows)
   local picked = {}
   for i, row in ipairs(rows) do
      picked[i] = row_binary.pack("hi", row[1], row[2])
   end
   return tables:add("hash FixedString(16), attempt Int64", table.concat(picked))
end

-- Returns the condition for runs by their hashes and attempts, in their last version.
local function of_picked(engine, tables, rows)
   local name, hashes = add_picked(tables, rows), {}
   for i, row in ipairs(rows) do
      hashes[i] = row[1]
   end
   local own = ("hash IN %s AND (hash, attempt) IN %s"):format(tables:add("hash FixedString(16)",
      table.concat(hashes)), name)
   return ("%s AND (hash, attempt, version) IN (SELECT hash, attempt, max(version) FROM %s.runs "
      .. "WHERE %s GROUP BY hash, attempt)"):format(own, engine.servers.database, own)
end

-- Returns the condition for the selected runs as the servers have them now.
local function current(engine, tables, tests)
   local own = run_conditions.of(tests, tables, engine.has_months)
   if not own then
      return valid(engine, "1")
   end
   return own .. " AND " .. valid(engine, ("hash IN (SELECT hash FROM %s.runs WHERE %s)"):format(
      engine.servers.database, own))
end

-- Returns the rows of a query for hash, attempt and other columns, in order of the hashes, each run
-- once: its row may be there twice until ClickHouse has merged it.
local function distinct(rows)
   local list = {}
   table.sort(rows, function(a, b)
      return a[1] < b[1]
   end)
   for _, row in ipairs(rows) do
      list[#list + 1] = (not list[1] or list[#list][1] ~= row[1]) and row or nil
   end
   return list
end

-- Returns the runs of tests by whole hashes, if all of them were read before.
local function by_hashes(snapshot, tests)
   local list = {}
   if not tests or #tests ~= 1 or tests[1].op ~= "prefix" or tests[1].negate then
      return nil
   end
   for i, digits in ipairs(tests[1].values) do
      list[i] = snapshot.by_digits[digits]
      if not list[i] then
         return nil
      end
   end
   return distinct(list)
end

local function note(snapshot, rows)
   for _, row in ipairs(rows) do
      snapshot.by_digits[selecting.hex(row[1])] = { row[1], row[2], row[3] }
   end
end

-- Returns the runs of a selection, as hash, attempt and rows, that were there when it was asked for
-- first within begin "read"; nil: they are too many, or the engine is not reading.
local function picked_runs(engine, tests)
   local snapshot, key = engine.snapshot, tests and tests[1] and tests or "all"
   if snapshot and snapshot.picked[key] == nil then
      local list = by_hashes(snapshot, tests)
      if not list then
         local tables = servers.tables()
         local rows = engine.servers:rows("hii", ("SELECT hash, attempt, rows FROM %s WHERE %s "
            .. "LIMIT %d"):format(picking.table(engine, "runs"), current(engine, tables, tests),
            MOST_PICKED + 1), tables)
         list = #rows <= MOST_PICKED and distinct(rows)
         note(snapshot, list or {})
      end
      snapshot.picked[key] = list
   end
   return snapshot and snapshot.picked[key] or nil
end

-- Returns those of the rows of a large selection that were there when it was read first; notes them
-- if this is the first time.
local function as_first(engine, tests, rows)
   local snapshot, key = engine.snapshot, tests and tests[1] and tests or "all"
   local seen, list = snapshot and snapshot.seen[key], {}
   if not seen then
      seen = {}
      for _, row in ipairs(rows) do
         seen[row[1]] = row[2]
      end
      if snapshot then
         snapshot.seen[key] = seen
      end
   end
   for _, row in ipairs(rows) do
      list[#list + 1] = seen[row[1]] == row[2] and row or nil
   end
   return list
end

---Begins to read: see above.
---@param engine profio.ClickHouseEngine
function picking.begin(engine)
   local weak = { __mode = "k" } -- tests that nothing has any more
   engine.snapshot = { picked = setmetatable({}, weak), seen = setmetatable({}, weak),
      by_digits = {} }
end

-- }======

---Returns the condition for the rows of the table runs that belong to a selection.
---@param engine profio.ClickHouseEngine
---@param tables profio.ClickHouseTables
---@param tests table[]|nil nil: all runs
---@return string
function picking.condition(engine, tables, tests)
   local picked = picked_runs(engine, tests)
   return picked and of_picked(engine, tables, picked) or current(engine, tables, tests)
end

---Returns columns of the selected runs, in order of their hashes.
---@param engine profio.ClickHouseEngine
---@param names string[] columns of the table runs
---@param tests table[]|nil nil: all runs
---@param limit { by: string, descending: boolean, count: integer }|nil only the first runs by an
---attribute; runs that are equal in it are in order of their hashes
---@return any[][]
function picking.rows(engine, names, tests, limit)
   local tables, types, columns = servers.tables(), "hi", {}
   local wanted, tail = table.move(names, 1, #names, 1, {}), ""
   if limit then
      wanted[#wanted + 1] = limit.by
      tail = (" ORDER BY `%s`%s, hash LIMIT 1 BY hash LIMIT %d"):format(limit.by, limit.descending
         and " DESC" or "", limit.count)
   end
   for i, name in ipairs(wanted) do
      types, columns[i] = types .. letters[name], ", `" .. name .. "`"
   end
   local condition = picking.condition(engine, tables, tests)
   local rows = engine.servers:rows(types, ("SELECT hash, attempt%s FROM %s WHERE %s%s"):format(
      table.concat(columns), picking.table(engine, "runs"), condition, tail), tables)
   rows = limit and distinct(rows) or as_first(engine, tests, distinct(rows))
   if limit and #rows > limit.count then -- of several servers
      picking.cut(rows, limit, function(row)
         return row[#row], row[1]
      end)
   end
   for i, row in ipairs(rows) do
      rows[i] = table.move(row, 3, 2 + #names, 1, {})
   end
   return rows
end

---Removes all but the first rows of a limit; the others stay in order of their hashes.
---@param rows any[]
---@param limit { by: string, descending: boolean, count: integer }
---@param of fun(row: any): any, string returns the attribute and the hash
function picking.cut(rows, limit, of)
   table.sort(rows, function(a, b)
      local x, first = of(a)
      local y, second = of(b)
      if x == y then
         return first < second
      end
      return limit.descending == (x > y)
   end)
   for i = #rows, limit.count + 1, -1 do
      rows[i] = nil
   end
   table.sort(rows, function(a, b)
      return select(2, of(a)) < select(2, of(b))
   end)
end

---Returns hash, attempt and rows of the selected runs, in order of their hashes.
---@param engine profio.ClickHouseEngine
---@param tests table[]|nil
---@return any[][]
function picking.attempts(engine, tests)
   return picked_runs(engine, tests) or picking.rows(engine, { "hash", "attempt", "rows" }, tests)
end

---Returns the tests for runs with whole hashes.
---@param hashes string[]
---@return table[]
function picking.by_hash(hashes)
   local digits = {}
   for i, hash in ipairs(hashes) do
      digits[i] = selecting.hex(hash)
   end
   return { { key = "run", op = "prefix", values = digits } }
end

---Adds a temporary table with runs (hash, attempt) to those of a query.
---@param engine profio.ClickHouseEngine
---@param rows any[][] hash, attempt and rows of the runs
---@param tables profio.ClickHouseTables
---@return string name of the table
---@return fun() check is to be called after the query: raises if the servers do not have all cells
---of the runs
function picking.runs(engine, rows, tables)
   local name, expected = add_picked(tables, rows), 0
   for _, row in ipairs(rows) do
      expected = expected + row[3]
   end
   return name, function()
      local found = 0
      for _, row in ipairs(engine.servers:rows("i", ("SELECT toInt64(count()) FROM %s WHERE "
         .. "(hash, attempt) IN %s"):format(picking.table(engine, "cells"), name), tables))
      do
         found = found + row[1]
      end
      if found ~= expected then
         problem.raise(("%s: the servers have %d rows of cells of these runs instead of %d: a run "
            .. "was dropped meanwhile, or the store is damaged"):format(engine.path, found,
            expected), "format")
      end
   end
end

local MOST <const>, MOST_BYTES <const> = 256, 64 << 20 -- packed sums that one query reads

---Iterates over the packed sums of the calls of the selected runs: the hash of a run and its bytes.
---@param engine profio.ClickHouseEngine
---@param tests table[]|nil
---@return fun(): string|nil, string|nil
function picking.calls(engine, tests)
   local runs, from = picking.rows(engine, { "hash", "call_bytes" }, tests), 1
   local batch, at = {}, 1
   local function read_batch()
      local hashes, bytes = {}, 0
      while runs[from] and #hashes < MOST and bytes < MOST_BYTES do
         if runs[from][2] > 0 then
            hashes[#hashes + 1] = runs[from][1]
            bytes = bytes + runs[from][2]
         end
         from = from + 1
      end
      batch, at = hashes[1] and picking.rows(engine, { "hash", "calls" },
         picking.by_hash(hashes)) or {}, 1
   end
   return function()
      if not batch[at] then
         read_batch()
      end
      at = at + 1
      return table.unpack(batch[at - 1] or {})
   end
end

return picking
