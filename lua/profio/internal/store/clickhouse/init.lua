-- The engine of stores in ClickHouse: see ../README.md for what engines do, and
-- schema.lua for the tables.
--
-- There are no transactions. A commit inserts the cells and the dictionary, waits for all servers,
-- and then inserts the rows of the runs: until then the runs do not exist. Dropping is done at
-- once, so a rollback does not take it back. Queries between begin "read" and its end see the
-- attempts that existed at the first of them.

local changing = require "profio.internal.store.clickhouse.changing"
local native_store = require "profio.internal.store.native"
local picking = require "profio.internal.store.clickhouse.picking"
local problem = require "profio.internal.store.problem"
local programs = require "profio.internal.store.clickhouse.programs"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local schema = require "profio.internal.store.clickhouse.schema"
local servers = require "profio.internal.store.clickhouse.servers"
local weights = require "profio.internal.store.clickhouse.weights"

local clickhouse = {}

local FLUSH = 256 -- runs, after which cells are sent before the commit

---@class profio.ClickHouseEngine
local Engine = {}
Engine.__index = Engine

-- Returns a random number.
local function random()
   local file <close> = assert(io.open("/dev/urandom", "rb"))
   return (string.unpack("<i8", file:read(8)))
end

-- Returns a hash as hexadecimal digits.
local function hex(hash)
   return (hash:gsub(".", function(byte)
      return ("%02x"):format(byte:byte())
   end))
end

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
   self.new_programs = {}
end

-- Sends the cells that were collected, with the names that are new.
local function flush(self)
   local inserts = {}
   for _, name in ipairs { "frames", "stacks", "cells" } do
      local rows = {}
      for i = 1, #self.servers.list do
         rows[i] = self.rows:take(i, name)
      end
      inserts[#inserts + 1] = { table = name, rows = rows }
   end
   inserts[#inserts + 1] = { table = "programs", rows = programs.rows(self) }
   self.servers:insert(inserts)
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
   local attempt, keys, values, row = random(), {}, {}, {}
   local rows = contents.contexts
      and problem.check(self.rows:put(shard, added.hash, attempt, contents.contexts)) or 0
   for key in pairs(added.labels) do
      keys[#keys + 1] = key
   end
   table.sort(keys)
   for i, key in ipairs(keys) do
      values[i] = added.labels[key]
   end
   local own = { attempt = attempt, rows = rows, keys = keys, values = values,
      graph = programs.column(self, contents.graph), calls = contents.calls or "", version = 0 }
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
      or column[1] == "version"
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
   local rows = self.servers:rows("ssi", ("SELECT k, v, toInt64(count()) FROM %s ARRAY JOIN "
      .. "keys AS k, values AS v WHERE %s GROUP BY k, v"):format(picking.table(self, "runs"),
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

-- Adds the dictionary rows of hashes to sums: `take` is their method.
local function take(self, sums, name, columns, hashes, method)
   local tables = servers.tables()
   local sql = ("SELECT %s FROM %s WHERE (hi, lo) IN %s FORMAT RowBinary"):format(columns,
      picking.table(self, name), tables:add("hi UInt64, lo UInt64", hashes))
   for _, bytes in ipairs(self.servers:ask(self.servers.readers, sql, tables)) do
      self:check_answer(method(sums, bytes))
   end
end

---Raises a failure of a native function with the address.
function Engine:check_answer(result, message, code)
   return problem.check(result, result == nil and self.path .. ": " .. message or nil, code)
end

-- Returns the sums of a metric by stack, as the readers answer. Grouping by 64 bits takes half of
-- the time that 128 bits take; 128 are needed if two stacks have the same 64.
local function sums_of(self, sums, metric, runs, tables)
   local sql = ("SELECT %%s, lo, sum(low), sum(high) FROM %s ARRAY JOIN hi, lo, high, low PREWHERE "
      .. "metric = toInt64('%d') AND (hash, attempt) IN %s GROUP BY %%s FORMAT RowBinary"):format(
      picking.table(self, "cells"), sums:metric(metric), runs)
   local answers = self.servers:ask(self.servers.readers,
      sql:format("if(min(hi) = max(hi), min(hi), 0)", "lo"), tables)
   for _, bytes in ipairs(answers) do
      if not sums:are_clear(bytes) then
         return self.servers:ask(self.servers.readers, sql:format("hi", "hi, lo"), tables)
      end
   end
   return answers
end

Engine.graphs, Engine.program = programs.graphs, programs.program
Engine.weights, Engine.functions = weights.weights, weights.functions

---Returns the sum of the profiles of the selected runs.
---@param tests table[]|nil
---@param sum profio.core.Contexts without nodes, with the metrics in the wanted order
function Engine:contexts(tests, sum)
   local tables = servers.tables()
   local runs, check = picking.runs(self, picking.rows(self, { "hash", "attempt", "rows" }, tests),
      tables)
   local sums = self.native.run_sums(sum)
   for metric = 1, #sum:metrics() do
      for _, bytes in ipairs(sums_of(self, sums, metric, runs, tables)) do
         self:check_answer(sums:add(metric, bytes))
      end
   end
   check()
   take(self, sums, "stacks", "hi, lo, parent_hi, parent_lo, frame_hi, frame_lo", sums:stacks(),
      sums.take_stacks)
   take(self, sums, "frames", "hi, lo, name, has_file, file, line", sums:frames(),
      sums.take_frames)
   self:check_answer(sums:finish())
end

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
         list[#list + 1] = ("run %s (%s) has %d rows of cells instead of %d"):format(hex(row[1]),
            row[4], has, row[3])
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

-- Creates the tables on all servers; each gets a number.
local function create(self)
   local list, numbers = self.servers.list, {}
   for _, sql in ipairs(schema.commands(self.servers.database, self.servers.cluster)) do
      self.servers:ask(list, sql)
   end
   for i = 1, #list do
      numbers[i] = random()
   end
   table.sort(numbers)
   local rows = {}
   for i, number in ipairs(numbers) do
      rows[i] = row_binary.pack("iiI", schema.VERSION, number, numbers)
   end
   self.servers:insert { { table = "store", rows = rows } }
end

-- Returns on how many servers the database has a store.
local function stores_of(self)
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

-- Raises unless the servers are exactly the shards of the store, so that no run is left out and
-- none counts twice. Orders them by their numbers.
local function check_shards(self, path)
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

local function open(self, path, mode)
   local count, absent = stores_of(self)
   if count == 0 and mode ~= "create" then
      problem.raise(path .. ": the database has no store: profio store add creates it", "io")
   elseif count > 0 and absent then
      problem.raise(("%s: this server does not have the store that others have: name the servers "
         .. "with which it was created"):format(absent.label), "unsupported")
   elseif count == 0 then
      create(self)
   end
   check_shards(self, path)
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
