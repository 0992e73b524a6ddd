-- The engine of stores in a file of SQLite 3: see ../README.md for what engines do.

local checksums = require "profio.internal.store.checksums"
local damage = require "profio.internal.store.sqlite.damage"
local native_store = require "profio.internal.store.native"
local outputs = require "profio.internal.writing.outputs"
local picked_runs = require "profio.internal.store.sqlite.picked_runs"
local problem = require "profio.internal.store.problem"
local run_labels = require "profio.internal.store.sqlite.run_labels"
local selecting = require "profio.internal.store.selecting"
local statements = require "profio.internal.store.sqlite.statements"

local pick, rows, run, value = picked_runs.pick, statements.rows, statements.run, statements.value

local sqlite = {}

local APPLICATION = 0x7072666f -- "prfo": the file is a store of profio
local VERSION = 4 -- of the schema: 3 has checksums, 4 has texts as TEXT
local BLOB_TEXTS = 3 -- the version of which all texts are blobs, which stay so

-- Tables beside those of the native module, which are in csrc/store. Texts are TEXT, or
-- blobs if they contain NUL or are no valid UTF-8; in SQL, parameters with a name (:key) are texts,
-- those without one (?) are numbers or bytes. The columns details, data and content end with a
-- checksum (checksums.lua), which also covers to which run and kind they belong.
local schema = [[
CREATE TABLE runs(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, time INTEGER NOT NULL,
   time_from TEXT NOT NULL, added INTEGER NOT NULL, format TEXT NOT NULL, kind TEXT NOT NULL,
   files INTEGER NOT NULL, bytes INTEGER NOT NULL, losses INTEGER NOT NULL,
   call_bytes INTEGER NOT NULL, path TEXT NOT NULL, profio TEXT NOT NULL, details BLOB NOT NULL,
   labels_sum INTEGER NOT NULL DEFAULT 0);
CREATE TABLE labels(run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, key TEXT NOT NULL,
   value TEXT NOT NULL, PRIMARY KEY(run, key)) WITHOUT ROWID;
CREATE TABLE calls(run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, data BLOB);
CREATE INDEX labels_by_value ON labels(key, value);
CREATE TABLE programs(hash BLOB PRIMARY KEY, symbols BLOB NOT NULL);
CREATE TABLE address_kinds(id INTEGER PRIMARY KEY, content BLOB NOT NULL UNIQUE);
CREATE TABLE addresses(run INTEGER NOT NULL, kind INTEGER NOT NULL, data BLOB NOT NULL,
   PRIMARY KEY(run, kind));
]]

-- Columns of runs, in the order of run() and of the statement that adds one.
local columns = { "hash", "time", "time_from", "added", "format", "kind", "files", "bytes",
   "losses", "call_bytes", "path", "profio", "details" }

-- Their parameters: texts have a name.
local parameters = {}

for i, name in ipairs(columns) do
   local attribute = selecting.attribute(name)
   parameters[i] = attribute and attribute.type == "name" and ":" .. name or "?"
end
parameters = table.concat(parameters, ", ")

---@class profio.SqliteEngine
local Engine = {}
Engine.__index = Engine

-- {====== Transactions ======

---Begins a transaction.
---@param mode "read"|"write" "read": all queries until its end see the same runs
function Engine:begin(mode)
   run(self, mode == "write" and "BEGIN IMMEDIATE" or "BEGIN")
end

---Ends a transaction. What was added is on the disk when it returns.
function Engine:commit()
   run(self, "COMMIT")
end

---Ends a transaction and takes back what it has changed. Without one it does nothing.
function Engine:rollback()
   if self.db:in_transaction() then
      run(self, "ROLLBACK")
   end
end

-- }======

-- {====== Runs ======

---Returns the labels of those of some runs that the store has.
---@param hashes string[] of 16 bytes each
---@return table<string, table<string, string>> labels by hash
function Engine:known(hashes)
   local found = {}
   for _, hash in ipairs(hashes) do
      local id = value(self, "SELECT id FROM runs WHERE hash = ?", hash)
      found[hash] = id and run_labels.of_run(self, id)
   end
   return found
end

-- Returns the attributes of a run as bytes, which the checksum of its details covers.
local function facts_of(one)
   local parts = {}
   for i = 1, #columns - 1 do
      local fact = one[columns[i]]
      parts[i] = string.pack(type(fact) == "string" and "<s4" or "<i8", fact)
   end
   return table.concat(parts)
end

-- Adds the histograms and arcs of a run. Programs and kinds that other runs have are stored once.
local function add_graph(self, id, hash, graph)
   for name, bytes in pairs(graph.programs) do
      run(self, "INSERT OR IGNORE INTO programs(hash, symbols) VALUES(?, ?)", name, bytes)
   end
   for _, row in ipairs(graph.rows) do
      local kind = checksums.seal(row.kind)
      run(self, "INSERT OR IGNORE INTO address_kinds(content) VALUES(?)", kind)
      run(self, "INSERT INTO addresses(run, kind, data) SELECT ?, id, ? FROM address_kinds WHERE "
         .. "content = ?", id, checksums.seal(row.data, hash, row.kind), kind)
   end
end

---Adds a run that the store does not have, within a transaction of mode "write".
---@param added profio.StoredRun
---@param contents profio.RunContents
function Engine:add(added, contents)
   local values = {}
   for i, name in ipairs(columns) do
      values[i] = added[name]
   end
   values[#columns] = checksums.seal(added.details, facts_of(added))
   run(self, ("INSERT INTO runs(%s) VALUES(%s)"):format(table.concat(columns, ", "), parameters),
      table.unpack(values))
   local id = self.db:last_id()
   run_labels.add(self, id, added)
   if contents.graph then
      add_graph(self, id, added.hash, contents.graph)
   else
      problem.check(self.db:put_cells(id, contents.contexts))
   end
   if contents.calls then
      run(self, "INSERT INTO calls(run, data) VALUES(?, ?)", id,
         checksums.seal(contents.calls, added.hash))
   end
end

-- Raises if a run does not have the types that were stored: the file is damaged.
local function check_run(self, id, found, names)
   for _, name in ipairs(names) do
      local kind = math.type(found[name]) or type(found[name])
      local attribute = selecting.attribute(name)
      if kind ~= (attribute and attribute.type == "int" and "integer" or "string")
         or name == "hash" and #found.hash ~= 16
      then
         problem.raise(("%s: the database is damaged: run %s has no valid %s"):format(self.path,
            tostring(id), name), "format")
      end
   end
end

-- The number of rows of a run in the table of its profile. Its metrics are counted by the index.
local ROWS <const> = "CASE CAST(kind AS TEXT) WHEN 'graph' "
   .. "THEN (SELECT count(*) FROM addresses a WHERE a.run = runs.id) "
   .. "ELSE (SELECT count(*) FROM cells c WHERE c.run = runs.id) END"

---Returns the selected runs, in order of their hashes.
---@param tests table[]|nil nil: all
---@param has_details boolean|nil with the fields details, which is empty if it is damaged, and
---rows, the number of rows of their profiles that the tables have
---@param limit { by: string, descending: boolean, count: integer }|nil only the first runs by an
---attribute; runs that are equal in it are in order of their hashes
---@return profio.StoredRun[]
function Engine:runs(tests, has_details, limit)
   local list, by_id, names = {}, {}, table.move(columns, 1, #columns, 1, {})
   pick(self, tests)
   if limit then
      run(self, ("DELETE FROM temp.picked WHERE id NOT IN (SELECT id FROM runs WHERE id IN "
         .. "(SELECT id FROM temp.picked) ORDER BY %s%s, hash LIMIT ?)"):format(limit.by,
         limit.descending and " DESC" or ""), limit.count)
   end
   names[#names] = has_details and "details" or nil
   local next_row, query, _, closing = rows(self, ("SELECT id, %s, labels_sum, %s FROM runs "
      .. "WHERE id IN (SELECT id FROM temp.picked) ORDER BY hash"):format(table.concat(names, ", "),
      has_details and ROWS or "NULL"))
   local function next_list()
      local row = table.pack(next_row(query))
      return row[1] and row
   end
   for row in next_list, nil, nil, closing do
      local found = { labels = {} }
      for i, name in ipairs(names) do
         found[name] = row[i + 1]
      end
      check_run(self, row[1], found, names)
      found.details = has_details and (checksums.open(found.details, facts_of(found)) or "") or nil
      found.labels_sum, found.rows = row[#names + 2], row[#names + 3]
      list[#list + 1], by_id[row[1]] = found, found
   end
   run_labels.read(self, by_id)
   return list
end

---Returns the numbers of the selected runs.
---@param tests table[]|nil nil: all
---@return profio.RunCounts
function Engine:counts(tests)
   pick(self, tests)
   local function count(condition)
      return value(self, "SELECT count(*) FROM runs WHERE id IN (SELECT id FROM temp.picked) AND "
         .. condition)
   end
   return { runs = count "1", damaged = count "losses > 0", with_calls = count "call_bytes <> 0",
      graphs = count "CAST(kind AS TEXT) = 'graph'" }
end

---Returns the labels of the selected runs, in order of key and value.
---@param tests table[]|nil nil: all
---@return { key: string, value: string, runs: integer }[]
function Engine:labels(tests)
   if tests and tests[1] then
      pick(self, tests)
   end
   return run_labels.all(self, tests ~= nil and tests[1] ~= nil)
end

---Returns the number of labels of all runs: of different pairs of key and value.
---@return integer
function Engine:label_count()
   return value(self, "SELECT count(*) FROM (SELECT DISTINCT key, value FROM labels)")
end

---Returns the keys of all labels.
---@return string[]
function Engine:keys()
   local list = {}
   for key in rows(self, "SELECT DISTINCT key FROM labels") do
      list[#list + 1] = tostring(key)
   end
   return list
end

---Returns the distinct values of a label or of an attribute with texts.
---@param key string
---@param is_label boolean
---@return string[]
function Engine:values(key, is_label)
   local list, sql = {}, "SELECT DISTINCT value FROM labels WHERE key = :key"
   if not is_label then
      sql = ("SELECT DISTINCT %s FROM runs WHERE %s <> :none"):format(key, key)
   end
   for one in rows(self, sql, is_label and key or "") do
      list[#list + 1] = tostring(one)
   end
   return list
end

---Sets and removes labels of the selected runs, within a transaction of mode "write".
---@param tests table[]
---@param labels table<string, string|false> false: the runs lose the label
---@return integer count of selected runs
function Engine:label(tests, labels)
   local list = self:runs(tests)
   run_labels.change(self, list, labels)
   return #list
end

---Removes the selected runs. Names, stacks and programs that no other run has stay in the file.
---@param tests table[]
---@return integer count of removed runs
function Engine:drop(tests)
   pick(self, tests)
   run(self, "DELETE FROM cells WHERE run IN (SELECT id FROM temp.picked)")
   run(self, "DELETE FROM addresses WHERE run IN (SELECT id FROM temp.picked)")
   return run(self, "DELETE FROM runs WHERE id IN (SELECT id FROM temp.picked)")
end

-- }======

-- Fails as a method of the native module does; users know a run by its hash.
local function check_sums(self, result, message, code, ...)
   if result == nil then
      problem.raise(message:gsub("run (%d+)", function(id)
         local hash = value(self, "SELECT lower(hex(hash)) FROM runs WHERE id = ?", tonumber(id))
         return hash and "run " .. hash
      end), code)
   end
   return result, message, code, ...
end

---Returns the sum of the profiles of the selected runs.
---@param tests table[]|nil
---@param sum profio.core.Contexts without nodes, with the metrics in the wanted order
function Engine:contexts(tests, sum)
   pick(self, tests)
   check_sums(self, self.db:sum_cells(sum, "SELECT run, metric, data FROM cells WHERE "
      .. "run IN (SELECT id FROM temp.picked)"))
end

-- {====== Weights of functions ======

-- Returns the object that adds up functions, by the number that number_of gives their names; nil:
-- none.
local function function_sums(self, number_of)
   local numbers = {}
   for id, name in rows(self, "SELECT id, name FROM frames") do
      numbers[id] = number_of(tostring(name))
   end
   return problem.check(self.db:function_sums(numbers))
end

local ITS_METRIC <const> = "metric IN (SELECT id FROM metrics WHERE name = :name AND unit = :unit)"

---Returns the weight of some functions in each of the selected runs, in order of their hashes.
---@param tests table[]|nil
---@param metric { name: string, unit: string }
---@param accepts fun(name: string): boolean is called once for each name of the store
---@return profio.RunWeights[]
function Engine:weights(tests, metric, accepts)
   local list, known = {}, {}
   local sums = function_sums(self, function(name)
      if known[name] == nil then
         known[name] = accepts(name)
      end
      return known[name] and 1 or nil
   end)
   pick(self, tests)
   for id, hash in rows(self, "SELECT id, hash FROM runs WHERE id IN (SELECT id FROM temp.picked) "
      .. "ORDER BY hash")
   do
      local whole, total, selves, is_limited = check_sums(self, sums:read("SELECT run, metric, "
         .. "data FROM cells WHERE run = ? AND " .. ITS_METRIC, id, metric.name, metric.unit))
      list[#list + 1] = { hash = hash, whole = whole, total = total, self = selves[1] or 0,
         is_limited = is_limited }
   end
   return list
end

---Adds up all functions in each of several groups of runs.
---@param groups table<string, integer> the number of a group, from 1, by the hash of a run
---@param count integer of groups
---@param metric { name: string, unit: string }
---@param f fun(number: integer, group: profio.GroupWeights) is called for each group, in order
function Engine:functions(groups, count, metric, f)
   local numbers, names = {}, {}
   run(self, "CREATE TEMP TABLE IF NOT EXISTS grouped(number INTEGER, run INTEGER, "
      .. "PRIMARY KEY(number, run)) WITHOUT ROWID")
   run(self, "DELETE FROM temp.grouped")
   for hash, number in pairs(groups) do
      run(self, "INSERT INTO temp.grouped SELECT ?, id FROM runs WHERE hash = ?", number, hash)
   end
   local sums = function_sums(self, function(name)
      if not numbers[name] then
         numbers[name], names[#names + 1] = #names + 1, name
      end
      return numbers[name]
   end)
   for number = 1, count do
      local whole, _, selves, is_limited = check_sums(self, sums:read("SELECT run, metric, data "
         .. "FROM cells WHERE run IN (SELECT run FROM temp.grouped WHERE number = ?) AND "
         .. ITS_METRIC, number, metric.name, metric.unit))
      local by_name = {}
      for i, weight in pairs(selves) do
         by_name[names[i]] = weight
      end
      f(number, { whole = whole, self = by_name, is_limited = is_limited })
   end
end

-- }======

-- Iterates over the results that `convert` returns for the rows of a query.
local function converted(convert, next_row, query, start, closing)
   local function step(...)
      if (...) ~= nil then
         return convert(...)
      end
   end
   return function()
      return step(next_row(query))
   end, query, start, closing
end

---Iterates over the histograms and arcs of the selected runs: the hash of a run as hexadecimal
---digits, a kind, and packed counts, which are nil if they are damaged, or if a run has no rows;
---see graphs.lua. The rows of a run follow each other.
---@param tests table[]|nil
---@return fun(...): string, string, string
function Engine:graphs(tests)
   pick(self, tests)
   return converted(function(digits, hash, content, data)
      local kind = checksums.open(content)
      return digits, kind, kind and checksums.open(data, hash, kind)
   end, rows(self, "SELECT lower(hex(r.hash)), r.hash, k.content, a.data FROM temp.picked p "
      .. "JOIN runs r ON r.id = p.id LEFT JOIN addresses a ON a.run = p.id "
      .. "LEFT JOIN address_kinds k ON k.id = a.kind "
      .. "WHERE CAST(r.kind AS TEXT) = 'graph' ORDER BY p.id, a.kind"))
end

---Returns the packed symbols of a program; nil: the store does not have it, or it is damaged.
---@param hash string
---@return string|nil
function Engine:program(hash)
   local bytes = value(self, "SELECT symbols FROM programs WHERE hash = ?", hash)
   return checksums.fits(bytes, hash) and bytes or nil
end

---Iterates over the packed sums of the calls of the selected runs: the hash of a run and its bytes,
---which are nil if they are damaged, or not as long as the run states.
---@param tests table[]|nil
---@return fun(...): string, string|nil
function Engine:calls(tests)
   pick(self, tests)
   return converted(function(hash, data)
      return hash, checksums.open(data, hash)
   end, rows(self, "SELECT r.hash, CASE WHEN length(c.data) = r.call_bytes + 8 THEN c.data END "
      .. "FROM temp.picked p JOIN runs r ON r.id = p.id JOIN calls c ON c.run = p.id"))
end

---Returns what is damaged in the file, as texts.
---@return string[]
function Engine:check()
   return damage(function(sql)
      return rows(self, sql)
   end)
end

---Returns the version of the schema.
---@return integer
function Engine:version()
   return value(self, "PRAGMA user_version")
end

function Engine:close()
   if not self.is_closed then
      self.is_closed = true
      sqlite.opened[self.identity] = sqlite.opened[self.identity] - 1
      self.db:close()
   end
end

-- {====== Opening ======

---By identity of a file: how often this process has it open as a store. It must not be opened and
---closed otherwise meanwhile, because that would release the locks of SQLite.
sqlite.opened = {}

-- Creates the tables of a store in an empty database.
local function create(self, native)
   run(self, "BEGIN IMMEDIATE")
   if value(self, "SELECT count(*) FROM sqlite_master") == 0 then
      run(self, native.schema .. schema)
      run(self, ("PRAGMA application_id = %d"):format(APPLICATION))
      run(self, ("PRAGMA user_version = %d"):format(VERSION))
   end
   run(self, "COMMIT")
   value(self, "PRAGMA wal_checkpoint(TRUNCATE)") -- so that the file itself states what it is
end

local function check_schema(self, path)
   local id, version = value(self, "PRAGMA application_id"), value(self, "PRAGMA user_version")
   if id ~= APPLICATION then
      problem.raise(path .. ": a database of SQLite, but no store of profio: name another file",
         "format")
   elseif version > VERSION then
      problem.raise(("%s: a newer profio has written this store (schema %d; this one knows %d): "
         .. "use that profio"):format(path, version, VERSION), "unsupported")
   elseif version == BLOB_TEXTS then
      self.db:set_blob_texts()
   elseif version < VERSION then
      problem.raise(("%s: the schema of this store is %d, without all checksums, which no "
         .. "released profio has written: add the files of its runs to a new store"):format(path,
         version), "unsupported")
   end
end

---Opens a store in a file. Raises failures.
---@param path string
---@param mode "read"|"write"|"create" "create": the file is created if it does not exist
---@return profio.SqliteEngine
function sqlite.open(path, mode)
   local native, reason = native_store()
   if not native then
      problem.raise(path .. ": " .. reason, "unsupported")
   end
   local db, message, code = native.sqlite(path, mode)
   local self = setmetatable({ db = problem.check(db, message, code), path = path }, Engine)
   self.identity = outputs.identity(path) or path
   sqlite.opened[self.identity] = (sqlite.opened[self.identity] or 0) + 1
   local ok, raised = pcall(function()
      if mode == "create" and value(self, "SELECT count(*) FROM sqlite_master") == 0 then
         create(self, native)
      end
      check_schema(self, path)
   end)
   if not ok then
      self:close()
      error(raised, 0)
   end
   return self
end

-- }======

return sqlite
