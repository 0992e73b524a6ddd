-- Selects runs in ClickHouse by the tests of selecting.lua.

local problem = require "profio.internal.store.problem"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local schema = require "profio.internal.store.clickhouse.schema"
local selecting = require "profio.internal.store.selecting"
local servers = require "profio.internal.store.clickhouse.servers"

local picking = {}

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

---Returns the condition for the attempts that count, in their last version. A run is on one shard,
---so each shard decides this for its own runs.
---@param engine profio.ClickHouseEngine
---@return string
function picking.valid(engine)
   local database = engine.servers.database
   return ("(hash, attempt) IN (SELECT hash, min(attempt) FROM %s.runs WHERE (hash, attempt) NOT "
      .. "IN (SELECT hash, attempt FROM %s.dropped) GROUP BY hash) AND (hash, attempt, version) "
      .. "IN (SELECT hash, attempt, max(version) FROM %s.runs GROUP BY hash, attempt)"):format(
      database, database, database)
end

-- {====== Conditions ======

-- Returns a query for the only value in a new temporary table.
local function scalar(tables, is_text, value)
   local name = tables:add(is_text and "v String" or "v Int64",
      row_binary.pack(is_text and "s" or "i", value))
   return ("(SELECT v FROM %s)"):format(name)
end

-- Returns a condition for an expression that a test compares.
local function compared(tables, test, expression, is_text)
   local parts = {}
   if test.op == "in" then
      local rows = {}
      for i, value in ipairs(test.values) do
         rows[i] = row_binary.pack(is_text and "s" or "i", value)
      end
      return ("%s IN %s"):format(expression, tables:add(is_text and "v String" or "v Int64",
         table.concat(rows)))
   end
   for name, operator in pairs { low = ">=", high = "<=" } do
      if test[name] ~= nil then
         parts[#parts + 1] = ("%s %s %s"):format(expression, operator,
            scalar(tables, is_text, test[name]))
      end
   end
   return parts[1] and table.concat(parts, " AND ") or "1"
end

-- Returns the condition for the first digits of a hash; a whole hash uses the index.
local function by_digits(tables, values)
   local by_size, parts = {}, {}
   for _, digits in ipairs(values) do
      by_size[#digits] = by_size[#digits] or {}
      table.insert(by_size[#digits], digits)
   end
   for size, list in pairs(by_size) do
      local rows = {}
      for i, digits in ipairs(list) do
         rows[i] = size < 32 and row_binary.pack("s", digits) or digits:gsub("%x%x", function(pair)
            return string.char(tonumber(pair, 16))
         end)
      end
      local name = tables:add(size < 32 and "v String" or "v FixedString(16)", table.concat(rows))
      parts[#parts + 1] = size == 32 and "hash IN " .. name
         or ("substring(lower(hex(hash)), 1, %d) IN %s"):format(size, name)
   end
   return parts[1] and table.concat(parts, " OR ") or "0"
end

local function condition(engine, tables, test)
   local text
   if test.is_label then
      local key = ("k IN %s"):format(tables:add("v String", row_binary.pack("s", test.key)))
      text = ("(hash, attempt, version) IN (SELECT hash, attempt, version FROM %s.runs "
         .. "ARRAY JOIN keys AS k, values AS v WHERE %s)"):format(engine.servers.database,
         test.op == "missing" and key or key .. " AND " .. compared(tables, test, "v", true))
      if test.op == "missing" then
         text = "NOT " .. text
      end
   elseif test.op == "prefix" then
      text = by_digits(tables, test.values)
   elseif test.op == "missing" then
      text = "0"
   else
      text = compared(tables, test, ("`%s`"):format(test.key),
         selecting.attribute(test.key).type == "name")
   end
   return (test.negate and "NOT " or "") .. "(" .. text .. ")"
end

-- }======

-- Returns the attempts that existed when the engine was asked first within begin "read", by hash.
local function attempts(engine)
   if engine.is_reading and not engine.attempts then
      local found, sql = {}, ("SELECT hash, attempt FROM %s WHERE %s"):format(
         picking.table(engine, "runs"), picking.valid(engine))
      for _, row in ipairs(engine.servers:rows("hi", sql)) do
         found[row[1]] = row[2]
      end
      engine.attempts = found
   end
   return engine.attempts
end

---Returns columns of the selected runs, in order of their hashes.
---@param engine profio.ClickHouseEngine
---@param names string[] columns of the table runs
---@param tests table[]|nil nil: all runs
---@return any[][]
function picking.rows(engine, names, tests)
   local parts, tables, types, list = { picking.valid(engine) }, servers.tables(), "hi", {}
   local known, columns = {}, {}
   for _, test in ipairs(tests or {}) do
      parts[#parts + 1] = condition(engine, tables, test)
   end
   for i, name in ipairs(names) do
      types, columns[i] = types .. letters[name], ", `" .. name .. "`"
   end
   local seen = attempts(engine)
   local rows = engine.servers:rows(types, ("SELECT hash, attempt%s FROM %s WHERE %s"):format(
      table.concat(columns), picking.table(engine, "runs"), table.concat(parts, " AND ")), tables)
   table.sort(rows, function(a, b)
      return a[1] < b[1]
   end)
   for _, row in ipairs(rows) do
      if not known[row[1]] and (not seen or seen[row[1]] == row[2]) then
         known[row[1]] = true -- a row may be there twice until ClickHouse has merged it
         list[#list + 1] = table.move(row, 3, #row, 1, {})
      end
   end
   return list
end

---Adds a temporary table with runs (hash, attempt) to those of a query.
---@param engine profio.ClickHouseEngine
---@param rows any[][] hash, attempt and rows of the runs
---@param tables profio.ClickHouseTables
---@return string name of the table
---@return fun() check is to be called after the query: raises if the servers do not have all cells
---of the runs
function picking.runs(engine, rows, tables)
   local picked, expected = {}, 0
   for i, row in ipairs(rows) do
      picked[i], expected = row_binary.pack("hi", row[1], row[2]), expected + row[3]
   end
   local name = tables:add("hash FixedString(16), attempt Int64", table.concat(picked))
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
      local digits, bytes = {}, 0
      while runs[from] and #digits < MOST and bytes < MOST_BYTES do
         if runs[from][2] > 0 then
            digits[#digits + 1] = selecting.hex(runs[from][1])
            bytes = bytes + runs[from][2]
         end
         from = from + 1
      end
      batch, at = digits[1] and picking.rows(engine, { "hash", "calls" },
         { { key = "run", op = "prefix", values = digits } }) or {}, 1
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
