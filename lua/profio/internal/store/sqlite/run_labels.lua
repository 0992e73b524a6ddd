-- Labels of runs in SQLite. Each run has the sum of the checksums of its labels, so that a damaged
-- or lost label is an error where labels are read. (A selection by a label does not read the labels
-- of other runs: that a damaged one is missing there is found by profio check.)

local checksums = require "profio.internal.store.checksums"
local problem = require "profio.internal.store.problem"
local selecting = require "profio.internal.store.selecting"
local statements = require "profio.internal.store.sqlite.statements"

local rows, run = statements.rows, statements.run

local run_labels = {}

---Adds the labels of a new run.
---@param self profio.SqliteEngine
---@param id integer of the run
---@param added profio.StoredRun
function run_labels.add(self, id, added)
   for key, one in pairs(added.labels) do
      run(self, "INSERT INTO labels(run, key, value) VALUES(?, :key, :value)", id, key, one)
   end
   run(self, "UPDATE runs SET labels_sum = ? WHERE id = ?",
      checksums.labels(added.hash, added.labels), id)
end

---Returns the labels of one run.
---@param self profio.SqliteEngine
---@param id integer
---@return table<string, string>
function run_labels.of_run(self, id)
   local labels = {}
   for key, one in rows(self, "SELECT key, value FROM labels WHERE run = ?", id) do
      labels[key] = one
   end
   return labels
end

---Adds the labels of the picked runs to them. Raises if they are damaged.
---@param self profio.SqliteEngine
---@param by_id table<integer, profio.StoredRun> with their labels_sum, which is removed
function run_labels.read(self, by_id)
   for id, key, one in rows(self, "SELECT run, key, value FROM labels WHERE run IN "
      .. "(SELECT id FROM temp.picked) ORDER BY run, key")
   do
      if not by_id[id] or type(key) ~= "string" or type(one) ~= "string" then
         problem.raise(self.path .. ": the database is damaged: a label has no run or no text",
            "format")
      end
      by_id[id].labels[key] = one
   end
   for _, found in pairs(by_id) do
      if found.labels_sum ~= checksums.labels(found.hash, found.labels) then
         problem.raise(("%s: the labels of run %s are damaged: remove it by profio store drop, and "
            .. "add its files again"):format(self.path, selecting.hex(found.hash)), "format")
      end
      found.labels_sum = nil
   end
end

---Returns the labels of all runs, or of the picked ones, in order of key and value.
---@param self profio.SqliteEngine
---@param is_picked boolean
---@return { key: string, value: string, runs: integer }[]
function run_labels.all(self, is_picked)
   local list = {}
   for key, one, count in rows(self, ("SELECT key, value, count(*) FROM labels %s "
      .. "GROUP BY key, value ORDER BY CAST(key AS BLOB), CAST(value AS BLOB)"):format(is_picked
      and "WHERE run IN (SELECT id FROM temp.picked)" or ""))
   do
      if type(key) ~= "string" or type(one) ~= "string" then
         problem.raise(self.path .. ": the database is damaged: a label is no text", "format")
      end
      list[#list + 1] = { key = key, value = one, runs = count }
   end
   return list
end

---Sets and removes labels of the picked runs.
---@param self profio.SqliteEngine
---@param list profio.StoredRun[] the picked runs
---@param labels table<string, string|false> false: the runs lose the label
function run_labels.change(self, list, labels)
   for key, one in pairs(labels) do
      if one then
         run(self, "INSERT OR REPLACE INTO labels(run, key, value) SELECT id, :key, :value FROM "
            .. "temp.picked", key, one)
      else
         run(self, "DELETE FROM labels WHERE key = :key AND run IN (SELECT id FROM "
            .. "temp.picked)", key)
      end
   end
   for _, changed in ipairs(list) do
      for key, one in pairs(labels) do
         changed.labels[key] = one or nil
      end
      run(self, "UPDATE runs SET labels_sum = ? WHERE hash = ?",
         checksums.labels(changed.hash, changed.labels), changed.hash)
   end
end

return run_labels
