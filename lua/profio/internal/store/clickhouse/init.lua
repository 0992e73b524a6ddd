-- The engine of stores in ClickHouse: see ../README.md for what engines do, and
-- schema.lua for the tables.
--
-- There are no transactions. A commit inserts the cells and the dictionary that were not sent
-- before, waits for all servers, and then inserts the rows of the runs: until then the runs do not
-- exist. Labelling and dropping are done at once, so a rollback does not take them back. Queries of
-- runs between begin "read" and its end see the attempts that existed at the first of them, as
-- picking.lua says.

local sums = require "profio.internal.store.clickhouse.cell_sums"
local changing = require "profio.internal.store.clickhouse.changing"
local counting = require "profio.internal.store.clickhouse.counting"
local native_store = require "profio.internal.store.native"
local opening = require "profio.internal.store.clickhouse.opening"
local picking = require "profio.internal.store.clickhouse.picking"
local problem = require "profio.internal.store.problem"
local programs = require "profio.internal.store.clickhouse.programs"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local schema = require "profio.internal.store.clickhouse.schema"
local run_conditions = require "profio.internal.store.clickhouse.run_conditions"
local servers = require "profio.internal.store.clickhouse.servers"
local weights = require "profio.internal.store.clickhouse.weights"

local clickhouse = {}

local FLUSH = 256 -- runs, after which cells are sent before the commit
local MONTHS = 64 -- of the runs of one insert

---@class profio.ClickHouseEngine
local Engine = { has_parts = true } -- see stores.has_parts
Engine.__index = Engine

-- {====== Adding ======

---Begins a transaction.
---@param mode "read"|"write"
function Engine:begin(mode)
   self.snapshot = nil
   if mode == "read" then
      picking.begin(self)
   end
end

-- Forgets what was added since the last commit.
local function forget(self)
   self.rows:forget()
   self.pending, self.added, self.pending_labels = {}, 0, {}
   self.months, self.month_count = {}, 0
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
   self.added, self.months, self.month_count = 0, {}, 0
end

-- Inserts the rows of the runs, of up to MONTHS months at once.
local function insert_runs(self)
   local months, inserts = {}, {}
   for month in pairs(self.pending) do
      months[#months + 1] = month
   end
   table.sort(months)
   for i, month in ipairs(months) do
      local number = (i - 1) // MONTHS + 1
      inserts[number] = inserts[number] or {}
      for shard, list in pairs(self.pending[month]) do
         inserts[number][shard] = (inserts[number][shard] or "") .. table.concat(list)
      end
   end
   for _, rows in ipairs(inserts) do
      self.servers:insert { { table = "runs", rows = rows } }
   end
end

---Ends a transaction. What was added is in the servers when it returns.
function Engine:commit()
   self.snapshot = nil
   if not next(self.pending) then
      return
   end
   local done, raised = pcall(function()
      flush(self)
      finish(self)
      insert_runs(self)
   end)
   if not done then
      forget(self)
      error(raised, 0)
   end
   self.pending, self.pending_labels = {}, {}
end

---Ends a transaction and takes back what was added. Without one it does nothing.
function Engine:rollback()
   self.snapshot = nil
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

---Returns the labels of those of some runs that the store has, or gets by this transaction.
---@param hashes string[] of 16 bytes each
---@return table<string, table<string, string>> labels by hash
function Engine:known(hashes)
   local found, asked = {}, {}
   for _, hash in ipairs(hashes) do
      local labels = self.pending_labels[hash]
      found[hash], asked[#asked + 1] = labels, not labels and hash or nil
   end
   for _, row in ipairs(asked[1] and picking.rows(self, { "hash", "keys", "values" },
      picking.by_hash(asked)) or {})
   do
      found[row[1]] = labels_of(row[2], row[3])
   end
   return found
end

-- Notes the month of a run. ClickHouse refuses an insert into more than 100 partitions, so cells of
-- many months are sent before.
local function note_month(self, month)
   if not self.months[month] and self.month_count == MONTHS then
      flush(self)
   end
   if not self.months[month] then
      self.months[month], self.month_count = true, self.month_count + 1
   end
end

---Adds a run that the store does not have, within a transaction of mode "write".
---@param added profio.StoredRun
---@param contents profio.RunContents
function Engine:add(added, contents)
   local shard = string.unpack("<I4", added.hash, 13) % #self.servers.list + 1
   local attempt, keys, values, row = servers.random(), {}, {}, {}
   local month = run_conditions.month(self.has_months and added.time or added.added)
   note_month(self, month)
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
   self.pending[month] = self.pending[month] or {}
   self.pending[month][shard] = self.pending[month][shard] or {}
   table.insert(self.pending[month][shard], row_binary.pack(types, table.unpack(row)))
   self.pending_labels[added.hash] = labels_of(keys, values)
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
---@param limit { by: string, descending: boolean, count: integer }|nil only the first runs by an
---attribute
---@return profio.StoredRun[]
function Engine:runs(tests, has_details, limit)
   local names, list = table.move(facts, 1, #facts, 1, {}), {}
   names[#names + 1] = has_details and "details" or nil
   for i, row in ipairs(picking.rows(self, names, tests, limit)) do
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

Engine.counts, Engine.labels, Engine.label_count, Engine.keys, Engine.values, Engine.check =
   counting.counts, counting.labels, counting.label_count, counting.keys, counting.values,
   counting.check
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
      pending_labels = {}, months = {}, month_count = 0, sent_programs = {}, new_programs = {},
      servers = servers.open(native, path) }, Engine)
   local done, raised = pcall(open, self, path, mode)
   if not done then
      self:close()
      error(raised, 0)
   end
   return self
end

-- }======

return clickhouse
