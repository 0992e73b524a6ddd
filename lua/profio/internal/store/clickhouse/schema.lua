-- The tables of a store in ClickHouse, on each of its servers (shards). Rows are only inserted, and
-- those of dropped attempts removed later, so that an insert is whole or absent, and a query never
-- waits:
--
--    number     the random number of this shard, in a view, which the first of several programs
--               creates, so that all know the same
--    store      one row: the version of the schema, the number of this shard, and of all shards.
--               It comes last: a store without it is not complete
--    runs       a row for each time that a run was added (`attempt`, a random number), inserted
--               after all of its cells: cells without such a row do not count. When its labels
--               are changed, the row is inserted again with a higher version, which counts
--    dropped    the attempts that were dropped
--    cells      a row for each metric of an attempt, with its stacks with weights
--    programs   names and lines of programs: see programs.lua
--    frames, stacks    the dictionary: see csrc/store/run_rows.h
--
-- Of several attempts of a run that are not dropped the one with the lowest number counts, so
-- programs that add the same run at the same time change nothing. All of a run is on one shard.
-- The rows of an attempt, also with new labels, are in the partition of the month of the time of
-- the run, in UTC. Attempts of a run whose time is that of a file may be in several partitions:
-- which of them counts is decided over all.
-- Names of the dictionary are on the shard of their hash. The whole row of the dictionary is its
-- sort key, so a merge never hides that two contents have one hash.

local schema = {}

schema.VERSION = 6
schema.OLDEST = 5 -- that is read and written: its months are those of adding

---Returns whether the months of a schema, by which tables have partitions, are those of the times
---of the runs, so that a selection by time only looks into some of them.
---@param version integer
---@return boolean
function schema.has_months(version)
   return version >= 6
end

---Columns of runs: name, type in row_binary.lua, type in ClickHouse.
schema.columns = {
   { "hash", "h", "FixedString(16)" }, { "attempt", "i", "Int64" }, { "rows", "i", "Int64" },
   { "time", "i", "Int64" }, { "time_from", "s", "String" }, { "added", "i", "Int64" },
   { "format", "s", "String" }, { "kind", "s", "String" }, { "files", "i", "Int64" },
   { "bytes", "i", "Int64" }, { "losses", "i", "Int64" },
   { "call_bytes", "i", "Int64" }, { "calls", "s", "String" }, { "path", "s", "String" },
   { "profio", "s", "String" },
   { "keys", "S", "Array(String)" }, { "values", "S", "Array(String)" },
   { "details", "s", "String" }, { "graph", "s", "String" }, { "version", "i", "Int64" },
   { "month", "i", "Int64" },
}

local function columns_text()
   local list = {}
   for i, column in ipairs(schema.columns) do
      list[i] = column[1] .. " " .. column[3]
   end
   return table.concat(list, ", ")
end

-- Name, columns, sort key and settings of each table, and the column of which the row with the
-- highest value replaces others with its sort key. A granule of cells has few rows, because each
-- row has thousands of stacks.
local tables = {
   { "store", "version Int64, shard Int64, shards Array(Int64)", "shard", "" },
   { "dropped", "hash FixedString(16), attempt Int64", "(hash, attempt)", "" },
   { "frames", "hi UInt64, lo UInt64, name String, has_file UInt8, file String, line Int64",
      "(hi, lo, name, has_file, file, line)", "PRIMARY KEY (hi, lo)" },
   { "stacks", "hi UInt64, lo UInt64, parent_hi UInt64, parent_lo UInt64, frame_hi UInt64, "
      .. "frame_lo UInt64, callers Array(UInt64)", "(lo, hi, parent_hi, parent_lo, frame_hi, "
      .. "frame_lo)", "PRIMARY KEY lo" },
   { "cells", "metric Int64, hash FixedString(16), attempt Int64, month Int64, hi Array(UInt16), "
      .. "lo Array(UInt64), high Array(Int32), low Array(UInt32)", "(metric, hash, attempt)",
      "SETTINGS index_granularity = 16" },
   { "programs", "hash FixedString(16), symbols String", "hash", "" },
   { "runs", columns_text(), "(hash, attempt)", "", "(version)" },
}

---Returns the command that gives a server its number, unless it has one.
---@param database string
---@param number integer
---@return string
function schema.numbering(database, number)
   return ("CREATE VIEW IF NOT EXISTS %s.number AS SELECT toInt64(%d) AS shard"):format(database,
      number)
end

---Returns the commands that create the tables.
---@param database string
---@param cluster string|nil with Distributed tables over those of the cluster
---@return string[]
function schema.commands(database, cluster)
   local list = { ("CREATE DATABASE IF NOT EXISTS %s"):format(database) }
   for _, one in ipairs(tables) do
      local settings = one[4]:find "^SETTINGS" and one[4] or ""
      local primary = one[4]:find "^PRIMARY" and one[4] or ""
      list[#list + 1] = ("CREATE TABLE IF NOT EXISTS %s.%s (%s) ENGINE = "
         .. "ReplacingMergeTree%s %s %s ORDER BY %s %s"):format(database, one[1], one[2],
         one[5] or "", one[2]:find "month" and "PARTITION BY month" or "", primary, one[3],
         settings)
      if cluster then
         list[#list + 1] = ("CREATE TABLE IF NOT EXISTS %s.%s_all AS %s.%s ENGINE = "
            .. "Distributed(%s, %s, %s)"):format(database, one[1], database, one[1], cluster,
            database, one[1])
      end
   end
   return list
end

return schema
