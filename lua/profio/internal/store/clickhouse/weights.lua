-- Weights of functions in ClickHouse: see csrc/store/group_rows.c.

local sums = require "profio.internal.store.clickhouse.cell_sums"
local core = require "profio.core"
local picking = require "profio.internal.store.clickhouse.picking"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local servers = require "profio.internal.store.clickhouse.servers"

local weights = {}

local FEW <const> = 8 -- runs of a group, of which cells are read; of more the servers add up
local CELLS <const> = 256 -- groups of few runs that are read at once
local SELF <const> = 1 << 22 -- sums that are in memory, 16 bytes each

-- {====== Helpers ======

-- Returns the sums of runs by stack: `native` with their stacks, the `number` of the metric, the
-- `names` of the functions, and the `answers` of the servers. `rows` are hash, attempt and rows of
-- the runs. Those of the last call are kept, because comparisons ask for all runs first.
local function sums_of(engine, rows, metric, has_callers)
   local key = { metric.name, metric.unit, tostring(has_callers) }
   for i, row in ipairs(rows) do
      key[i + 3] = row_binary.pack("hi", row[1], row[2])
   end
   key = table.concat(key, "\0")
   if not engine.summed or engine.summed.key ~= key then
      local contexts = core.empty_contexts(core.dictionary(), { metric }, metric.name)
      local native, tables = engine.native.run_sums(contexts), servers.tables()
      local number, runs, check = native:metric(1), picking.runs(engine, rows, tables)
      local answers = sums.by_stack(engine, native, number, runs, tables)
      for _, bytes in ipairs(answers) do
         engine:check_answer(native:add(1, bytes))
      end
      check()
      sums.take(engine, native, has_callers)
      engine.summed = { key = key, native = native, number = number, answers = answers,
         names = engine:check_answer(native:names()) }
   end
   return engine.summed
end

-- Returns the sum of halves of weights, limited to 64 bits, and whether it was limited.
local function joined(low, high)
   local upper = high + (low >> 32)
   if upper < -(1 << 31) or upper >= 1 << 31 then
      return upper < 0 and math.mininteger or math.maxinteger, true
   end
   return upper << 32 | low & 0xffffffff, false
end

-- }======

-- {====== Some functions in each run ======

-- Returns which names of functions are accepted; each name of the store is asked for once.
local function accepted(engine, accepts)
   local set = {}
   for _, row in ipairs(engine.servers:rows("s", "SELECT DISTINCT name FROM "
      .. picking.table(engine, "frames")))
   do
      if set[row[1]] == nil then
         set[row[1]] = accepts(row[1])
      end
   end
   return set
end

-- Adds the weights of the answers for all runs to their rows.
local function add_weights(engine, sql, tables, by_hash)
   for _, row in ipairs(engine.servers:rows("hiiiiii", sql, tables)) do
      local run = by_hash[row[1]]
      for i, name in ipairs { "whole", "self", "total" } do
         local is_limited
         run[name], is_limited = joined(row[2 * i], row[2 * i + 1])
         run.is_limited = run.is_limited or is_limited
      end
   end
end

---Returns the weight of some functions in each of the selected runs, in order of their hashes.
---@param engine profio.ClickHouseEngine
---@param tests table[]|nil
---@param metric { name: string, unit: string }
---@param accepts fun(name: string): boolean is called once for each name of the store
---@return profio.RunWeights[]
function weights.weights(engine, tests, metric, accepts)
   local set, list, by_hash, tables = accepted(engine, accepts), {}, {}, servers.tables()
   local rows = picking.attempts(engine, tests)
   for i, row in ipairs(rows) do
      list[i] = { hash = row[1], whole = 0, self = 0, total = 0 }
      by_hash[row[1]] = list[i]
   end
   local summed = sums_of(engine, rows, metric, true)
   local wanted, columns = {}, "hash, sum(low), sum(high)"
   for i, name in ipairs(summed.names) do
      wanted[i] = set[name]
   end
   for _, has_callers in ipairs { false, true } do
      local name = tables:add("hi UInt16, lo UInt64", engine:check_answer(summed.native:keys(wanted,
         has_callers)))
      columns = ("%s, sumIf(low, (hi, lo) IN %s), sumIf(high, (hi, lo) IN %s)"):format(columns,
         name, name)
   end
   local runs, check = picking.runs(engine, rows, tables)
   add_weights(engine, sums.query(engine, columns, "hi, lo, high, low", summed.number, runs)
      .. " GROUP BY hash", tables, by_hash)
   check()
   return list
end

-- }======

-- {====== All functions in groups of runs ======

-- Adds a group of many runs, by its number.
local function add_large(engine, native, metric, number, rows)
   local tables = servers.tables()
   local runs, check = picking.runs(engine, rows, tables)
   for _, bytes in ipairs(sums.by_stack(engine, native, metric, runs, tables)) do
      engine:check_answer(native:add_group(number, bytes))
   end
   check()
end

-- Adds groups of few runs: rows of runs, and the numbers of groups by the hash of a run.
local function add_small(engine, native, metric, numbers, rows)
   local tables = servers.tables()
   local runs, check = picking.runs(engine, rows, tables)
   local sql = sums.query(engine, "hash, hi, lo, high, low", nil, metric, runs)
   for _, bytes in ipairs(engine.servers:ask(engine.servers.readers, sql .. " FORMAT RowBinary",
      tables))
   do
      engine:check_answer(native:add_cells(numbers, bytes))
   end
   check()
end

-- Adds up some of `count` groups, each a list of rows of runs.
local function add_groups(engine, summed, groups, count)
   local native, metric, numbers, small = summed.native, summed.number, {}, {}
   engine:check_answer(native:begin(#groups))
   for _, bytes in ipairs(count == 1 and summed.answers or {}) do
      engine:check_answer(native:add_group(1, bytes))
   end
   for number, rows in ipairs(count > 1 and groups or {}) do
      if #rows > FEW then
         add_large(engine, native, metric, number, rows)
      else
         for _, row in ipairs(rows) do
            numbers[row[1]], small[#small + 1] = number, row
         end
      end
   end
   if small[1] then
      add_small(engine, native, metric, numbers, small)
   end
end

---Adds up all functions in each of several groups of runs.
---@param engine profio.ClickHouseEngine
---@param groups table<string, integer> the number of a group, from 1, by the hash of a run
---@param count integer of groups
---@param metric { name: string, unit: string }
---@param f fun(number: integer, group: profio.GroupWeights) is called for each group, in order
function weights.functions(engine, groups, count, metric, f)
   local all, by_group = {}, {}
   for number = 1, count do
      by_group[number] = {}
   end
   local hashes = {}
   for hash in pairs(groups) do
      hashes[#hashes + 1] = hash
   end
   for i, row in ipairs(picking.attempts(engine, picking.by_hash(hashes))) do
      all[i] = row
      table.insert(by_group[groups[row[1]]], row)
   end
   local summed = sums_of(engine, all, metric, false)
   local names, step = summed.names, math.max(1, math.min(CELLS, SELF // (#summed.names + 1)))
   for first = 1, count, step do
      local some = table.move(by_group, first, math.min(first + step - 1, count), 1, {})
      add_groups(engine, summed, some, count)
      for i = 1, #some do
         local whole, selves, is_limited = summed.native:group(i)
         local self = {}
         for n, weight in pairs(selves) do
            self[names[n]] = weight
         end
         f(first + i - 1, { whole = whole, self = self, is_limited = is_limited })
      end
   end
end

-- }======

return weights
