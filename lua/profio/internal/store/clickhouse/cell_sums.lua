-- Sums of profiles in ClickHouse: the servers add up by stack, csrc/store/sum_rows.c adds up their
-- answers and reads the stacks.

local picking = require "profio.internal.store.clickhouse.picking"
local servers = require "profio.internal.store.clickhouse.servers"

local sums = {}

---Returns the query for cells of runs; the arrays of their stacks are joined, or columns of arrays.
---@param engine profio.ClickHouseEngine
---@param columns string
---@param arrays string|nil that are joined
---@param metric integer its number
---@param runs string temporary table with hash and attempt
---@return string
function sums.query(engine, columns, arrays, metric, runs)
   return ("SELECT %s FROM %s %s PREWHERE metric = toInt64('%d') AND (hash, attempt) IN %s"):format(
      columns, picking.table(engine, "cells"), arrays and "ARRAY JOIN " .. arrays or "", metric,
      runs)
end

---Returns the sums of a metric by stack, as the readers answer. Grouping by 64 bits takes less time
---than 80 bits do; these are needed if two stacks have the same 64.
---@param engine profio.ClickHouseEngine
---@param native userdata of profio.store, whose rows they are
---@param metric integer
---@param runs string
---@param tables profio.ClickHouseTables
---@return string[]
function sums.by_stack(engine, native, metric, runs, tables)
   local function ask(hi, keys)
      return engine.servers:ask(engine.servers.readers, sums.query(engine, "toUInt64(" .. hi
         .. "), lo, sum(low), sum(high)", "hi, lo, high, low", metric, runs) .. " GROUP BY " .. keys
         .. " FORMAT RowBinary", tables)
   end
   local answers = ask("if(min(hi) = max(hi), toUInt64(min(hi)), 18446744073709551615)", "lo")
   for _, bytes in ipairs(answers) do
      if not native:are_clear(bytes) then
         return ask("hi", "hi, lo")
      end
   end
   return answers
end

-- Passes the rows of the dictionary that have some keys to a function.
local function take(engine, name, columns, keys, structure, f)
   local tables = servers.tables()
   local sql = ("SELECT %s FROM %s WHERE (%s) IN %s FORMAT RowBinary"):format(columns,
      picking.table(engine, name), structure:gsub(" UInt64", ""), tables:add(structure, keys))
   for _, bytes in ipairs(engine.servers:ask(engine.servers.readers, sql, tables)) do
      f(bytes)
   end
end

---Reads the stacks that have sums, and their frames.
---@param engine profio.ClickHouseEngine
---@param native userdata with all sums
---@param has_callers boolean also the callers of these stacks
function sums.take(engine, native, has_callers)
   repeat
      local keys = native:ask()
      if keys ~= "" then
         take(engine, "stacks", "hi, lo, parent_hi, parent_lo, frame_hi, frame_lo, callers", keys,
            "lo UInt64", function(bytes)
               engine:check_answer(native:take_stacks(bytes, has_callers))
            end)
      end
   until keys == ""
   take(engine, "frames", "hi, lo, name, has_file, file, line", native:frames(),
      "hi UInt64, lo UInt64", function(bytes)
         engine:check_answer(native:take_frames(bytes))
      end)
end

---Returns the sum of the profiles of the selected runs.
---@param engine profio.ClickHouseEngine
---@param tests table[]|nil
---@param sum profio.core.Contexts without nodes, with the metrics in the wanted order
function sums.contexts(engine, tests, sum)
   local tables = servers.tables()
   local runs, check = picking.runs(engine, picking.attempts(engine, tests), tables)
   local native = engine.native.run_sums(sum)
   for metric = 1, #sum:metrics() do
      for _, bytes in ipairs(sums.by_stack(engine, native, native:metric(metric), runs, tables)) do
         engine:check_answer(native:add(metric, bytes))
      end
   end
   check()
   sums.take(engine, native, true)
   engine:check_answer(native:finish())
end

return sums
