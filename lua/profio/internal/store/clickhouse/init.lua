-- The engine of stores in ClickHouse: see ../README.md for what engines do, and
-- schema.lua for the tables.
--
-- There are no transactions. A commit inserts the cells and the dictionary that were not sent
-- before, waits for all servers, and then inserts the rows of the runs: until then the runs do not
-- exist. Labelling and dropping are done at once, so a rollback does not take them back. Queries of
-- runs between begin "read" and its end see the attempts that existed at the first of them.

local sums = require "profio.internal.store.clickhouse.cell_sums"
local changing = require "profio.internal.store.clickhouse.changing"
local native_store = require "profio.internal.store.native"
local opening = require "profio.internal.store.clickhouse.opening"
local picking = require "profio.internal.store.clickhouse.picking"
local problem = require "profio.internal.store.problem"
local programs = require "profio.internal.store.clickhouse.programs"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local schema = require "profio.internal.store.clickhouse.schema"
local selecting = require "profio.internal.store.selecting"
local servers = require "profio.internal.store.clickhouse.servers"
local weights = require "profio.internal.store.clickhouse.weights"

local clickhouse = {}

local FLUSH = 256 -- runs, after which cells are sent before the commit

---@class profio.ClickHouseEngine
local Engine = { has_parts = true } -- see stores.has_parts
Engine.__index = Engine

-- {====== Adding ======

---Begins a transaction.
---@param mode "read"|"write"
function Engine:begin(mode)
   self.is_reading, self.attempts = mode == "read", nil
end

-- Forgets what was added since the last commit.
local function forget(self)
   self.rows:forget()
   self.pending, self.added, self.labels_by_hash = {}, 0, nil
   self.new_programs, self.sent_programs = {}, {}
   if self.sent then
      self.sent:close()
      self.sent = nil
   end
end

-- Waits until the servers have all cells that were sent. Raises failures.
local function finish(self)
   local sent = self.sent
   self.sent = nil
   if sent then
      problem.check(sent:wait())
   end
end

-- Sends the cells that were collected, with the names that are new. The servers insert them while
-- further runs are collected; those that were sent before must be there, so memory is bounded.
local function flush(self)
   local inserts = {}
   finish(self)
   for _, name in ipairs { "frames", "stacks", "cells" } do
      local rows = {}
      for i = 1, #self.servers.list do
         rows[i] = self.rows:take(i, name)
      end
      inserts[#inserts + 1] = { table = name, rows = rows }
   end
   inserts[#inserts + 1] = { table = "programs", rows = programs.rows(self) }
   self.sent = self.servers:send(inserts)
   programs.sent(self)
   self.added = 0
end

---Ends a transaction. What was added is in the servers when it returns.
function Engine:commit()
   self.is_reading, self.attempts = false, nil
   if not next(self.pending) then
      return
   end
   local done, raised = pcall(function()
      flush(self)
      finish(self)
      local rows = {}
      for i, list in pairs(self.pending) do
         rows[i] = table.concat(list)
      end
      self.servers:insert { { table = "runs", rows = rows } }
   end)
   if not done then
      forget(self)
      error(raised, 0)
   end
   self.pending = {}
end

---Ends a transaction and takes back what was added. Without one it does nothing.
function Engine:rollback()
   self.is_reading, self.attempts = false, nil
   if next(self.pending) then
      forget(self)
   end
end

-- Returns labels as a table.
local function labels_of(keys, values)
   local labels = {}
   for i, key in ipairs(keys) do
      labels[key] = values[i]
   end
   return labels
end

---Returns the labels of a run of the store; nil: the store does not have it. Those of all runs are
---read once.
---@param hash string 16 bytes
---@return table<string, string>|nil
function Engine:known(hash)
   if not self.labels_by_hash then
      local found = {}
      for _, row in ipairs(picking.rows(self, { "hash", "keys", "values" })) do
         found[row[1]] = { row[2], row[3] }
      end
      self.labels_by_hash = found
   end
   local labels = self.labels_by_hash[hash]
   return labels and labels_of(labels[1], labels[2])
end

---Adds a run that the store does not have, within a transaction of mode "write".
---@param added profio.StoredRun
---@param contents profio.RunContents
function Engine:add(added, contents)
   local shard = string.unpack("<I4", added.hash, 13) % #self.servers.list + 1
   local attempt, keys, values, row = servers.random(), {}, {}, {}
   local month = math.tointeger(tonumber(os.date("!%Y%m", added.added // 1000000000)))
   local rows = contents.contexts
      and problem.check(self.rows:put(shard, added.hash, attempt, month, contents.contexts)) or 0
   for key in pairs(added.labels) do
      keys[#keys + 1] = key
   end
   table.sort(keys)
   for i, key in ipairs(keys) do
      values[i] = added.labels[key]
   end
   local own = { attempt = attempt, rows = rows, keys = keys, values = values,
      graph = programs.column(self, contents.graph), calls = contents.calls or "", version = 0,
      month = month }
   local types = ""
   for i, column in ipairs(schema.columns) do
      row[i] = own[column[1]] or added[column[1]]
      types = types .. column[2]
   end
   self.pending[shard] = self.pending[shard] or {}
   table.insert(self.pending[shard], row_binary.pack(types, table.unpack(row)))
   if self.labels_by_hash then
      self.labels_by_hash[added.hash] = { keys, values }
   end
   self.added = self.added + 1
   if self.sent then
      self.sent:step()
   end
   if self.added >= FLUSH then
      flush(self)
   end
end

-- }======

-- {====== Runs ======

-- The columns that runs() returns.
local facts = {}

for _, column in ipairs(schema.columns) do
   local is_large = column[1] == "details" or column[1] == "graph" or column[1] == "calls"
      or column[1] == "version" or column[1] == "month"
   facts[#facts + 1] = not is_large and column[1] or nil
end

---Returns the selected runs, in order of their hashes.
---@param tests table[]|nil nil: all
---@param has_details boolean|nil with the field details
---@return profio.StoredRun[]
function Engine:runs(tests, has_details)
   local names, list = table.move(facts, 1, #facts, 1, {}), {}
   names[#names + 1] = has_details and "details" or nil
   for i, row in ipairs(picking.rows(self, names, tests)) do
      local run = {}
      for n, name in ipairs(names) do
         run[name] = row[n]
      end
      run.labels = labels_of(run.keys, run.values)
      run.keys, run.values, run.attempt, run.rows = nil, nil, nil, nil
      list[i] = run
   end
   return list
end

---Returns the labels of all runs, in order of key and value.
---@return { key: string, value: string, runs: integer }[]
function Engine:labels()
   local list, known = {}, {}
   -- The row of a run may be there twice until ClickHouse has merged it.
   local rows = self.servers:rows("ssi", ("SELECT k, v, toInt64(uniqExact(hash)) FROM %s ARRAY "
      .. "JOIN keys AS k, values AS v WHERE %s GROUP BY k, v"):format(picking.table(self, "runs"),
      picking.valid(self)))
   for _, row in ipairs(rows) do
      local name = string.pack("s4s4", row[1], row[2])
      if not known[name] then
         known[name] = { key = row[1], value = row[2], runs = 0 }
         list[#list + 1] = known[name]
      end
      known[name].runs = known[name].runs + row[3]
   end
   table.sort(list, function(a, b)
      return a.key < b.key or a.key == b.key and a.value < b.value
   end)
   return list
end

---Returns the distinct values of a label or of an attribute with texts.
---@param key string
---@param is_label boolean
---@return string[]
function Engine:values(key, is_label)
   local list, known = {}, {}
   local tables, runs = servers.tables(), picking.table(self, "runs")
   local sql = ("SELECT DISTINCT `%s` FROM %s WHERE %s"):format(key, runs, picking.valid(self))
   if is_label then
      sql = ("SELECT DISTINCT v FROM %s ARRAY JOIN keys AS k, values AS v WHERE k IN %s AND %s")
         :format(runs, tables:add("v String", row_binary.pack("s", key)), picking.valid(self))
   end
   for _, row in ipairs(self.servers:rows("s", sql, tables)) do
      list[#list + 1] = not known[row[1]] and row[1] or nil
      known[row[1]] = true
   end
   return list
end

Engine.label, Engine.drop = changing.label, changing.drop

-- }======

-- {====== Profiles ======

---Raises a failure of a native function with the address.
function Engine:check_answer(result, message, code)
   return problem.check(result, result == nil and self.path .. ": " .. message or nil, code)
end

Engine.contexts, Engine.weights, Engine.functions = sums.contexts, weights.weights,
   weights.functions
Engine.graphs, Engine.program = programs.graphs, programs.program
Engine.calls = picking.calls

---Returns what is damaged in the store, as texts.
---@return string[]
function Engine:check()
   local list, found = {}, {}
   for _, row in ipairs(self.servers:rows("hii", ("SELECT hash, attempt, toInt64(count()) FROM %s "
      .. "GROUP BY hash, attempt"):format(picking.table(self, "cells"))))
   do
      local name = row_binary.pack("hi", row[1], row[2])
      found[name] = (found[name] or 0) + row[3]
   end
   for _, row in ipairs(picking.rows(self, { "hash", "attempt", "rows", "path" })) do
      local has = found[row_binary.pack("hi", row[1], row[2])] or 0
      if has ~= row[3] then
         list[#list + 1] = ("run %s (%s) has %d rows of cells instead of %d"):format(
            selecting.hex(row[1]), row[4], has, row[3])
      end
   end
   return list
end

-- }======

---Returns the version of the schema.
---@return integer
function Engine:version()
   return self.schema_version
end

function Engine:close()
   self.servers:close()
end

-- {====== Opening ======

local function open(self, path, mode)
   opening.open(self, path, mode)
   self.schema_version = schema.VERSION
   self.rows = self.native.run_rows(#self.servers.list)
end

---Opens a store in ClickHouse. Raises failures.
---@param path string an address: see address.lua
---@param mode "read"|"write"|"create" "create": the tables are created if there are none
---@return profio.ClickHouseEngine
function clickhouse.open(path, mode)
   local native, reason = native_store()
   if not native then
      problem.raise(path .. ": " .. reason, "unsupported")
   end
   local self = setmetatable({ native = native, path = path, pending = {}, added = 0,
      sent_programs = {}, new_programs = {}, servers = servers.open(native, path) }, Engine)
   local done, raised = pcall(open, self, path, mode)
   if not done then
      self:close()
      error(raised, 0)
   end
   return self
end

-- }======

return clickhouse
