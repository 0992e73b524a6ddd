-- Weights of functions in ClickHouse: the servers add up, and get the stacks of the functions as
-- temporary tables.

local core = require "profio.core"
local picking = require "profio.internal.store.clickhouse.picking"
local problem = require "profio.internal.store.problem"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local servers = require "profio.internal.store.clickhouse.servers"

local weights = {}

local WHOLE <const> = -1 -- in place of the number of a function
local GROUPS <const> = 256 -- groups of runs for which one query is sent

-- {====== Helpers ======

-- Returns the number by which cells name a metric.
local function number_of_metric(engine, metric)
   local contexts = core.empty_contexts(core.dictionary(), { metric }, metric.name)
   local number = engine.native.run_sums(contexts):metric(1)
   contexts:close()
   return number
end

-- Returns the query for the cells of runs: the temporary table has their hashes and attempts.
local function cells_of(engine, columns, metric, runs)
   return ("SELECT %s FROM %s ARRAY JOIN hi, lo, high, low PREWHERE metric = toInt64('%d') AND "
      .. "(hash, attempt) IN %s"):format(columns, picking.table(engine, "cells"), metric, runs)
end

-- Returns the number that a function gives the name of the innermost frame, and the parent, of each
-- stack, both by its hash; 0: none.
local function stacks_of(engine, number_of)
   local numbers, leaves, parents = {}, {}, {}
   for _, row in ipairs(engine.servers:rows("hs", "SELECT hi, lo, name FROM "
      .. picking.table(engine, "frames")))
   do
      numbers[row[1]] = number_of(row[2]) or 0
   end
   for _, row in ipairs(engine.servers:rows("hhh", "SELECT hi, lo, parent_hi, parent_lo, frame_hi, "
      .. "frame_lo FROM " .. picking.table(engine, "stacks")))
   do
      leaves[row[1]] = numbers[row[3]] or problem.raise(engine.path .. ": a stack has a frame that "
         .. "no server has: the store is damaged", "format")
      parents[row[1]] = row[2]
   end
   return leaves, parents
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

-- Returns the hashes of the stacks that end in a function, and of those that have any.
local function stack_sets(leaves, parents)
   local ends, has_any, within = {}, {}, {}
   for stack, number in pairs(leaves) do
      local path, at = {}, stack
      while within[at] == nil and leaves[at] == 0 do
         path[#path + 1], within[at] = at, false
         at = parents[at]
      end
      local is_within = within[at] or leaves[at] ~= nil and leaves[at] ~= 0 or false
      within[at] = is_within
      for _, one in ipairs(path) do
         within[one] = is_within
      end
      ends[#ends + 1] = number ~= 0 and stack or nil
   end
   for stack, is_within in pairs(within) do
      has_any[#has_any + 1] = is_within and stack or nil
   end
   return table.concat(ends), table.concat(has_any)
end

---Returns the weight of some functions in each of the selected runs, in order of their hashes.
---@param engine profio.ClickHouseEngine
---@param tests table[]|nil
---@param metric { name: string, unit: string }
---@param accepts fun(name: string): boolean is called once for each name of the store
---@return profio.RunWeights[]
function weights.weights(engine, tests, metric, accepts)
   local known, list, by_hash, tables = {}, {}, {}, servers.tables()
   local ends, has_any = stack_sets(stacks_of(engine, function(name)
      if known[name] == nil then
         known[name] = accepts(name)
      end
      return known[name] and 1 or nil
   end))
   local rows = picking.rows(engine, { "hash", "attempt", "rows" }, tests)
   local runs, check = picking.runs(engine, rows, tables)
   local structure, columns = "hi UInt64, lo UInt64", "hash, sum(low), sum(high)"
   for _, keys in ipairs { ends, has_any } do
      local name = tables:add(structure, keys)
      columns = ("%s, sumIf(low, (hi, lo) IN %s), sumIf(high, (hi, lo) IN %s)"):format(columns,
         name, name)
   end
   for i, row in ipairs(rows) do
      list[i] = { hash = row[1], whole = 0, self = 0, total = 0 }
      by_hash[row[1]] = list[i]
   end
   for _, row in ipairs(engine.servers:rows("hiiiiii", cells_of(engine, columns,
      number_of_metric(engine, metric), runs) .. " GROUP BY hash", tables))
   do
      local run = by_hash[row[1]]
      for i, name in ipairs { "whole", "self", "total" } do
         local is_limited
         run[name], is_limited = joined(row[2 * i], row[2 * i + 1])
         run.is_limited = run.is_limited or is_limited
      end
   end
   check()
   return list
end

-- Adds halves of a weight to those of a key.
local function add(halves, key, low, high)
   local own = halves[key] or { 0, 0 }
   own[1], own[2], halves[key] = own[1] + (low & 0xffffffff), own[2] + high + (low >> 32), own
end

-- Returns the weights of a group from their halves by the number of a function.
local function group_of(halves, names)
   local group = { whole = 0, self = {} }
   for key, own in pairs(halves or {}) do
      local sum, is_limited = joined(own[1], own[2])
      group.is_limited = group.is_limited or is_limited
      if key == WHOLE then
         group.whole = sum
      elseif names[key] and sum ~= 0 then
         group.self[names[key]] = sum
      end
   end
   return group
end

-- Adds up the functions of some groups of runs: calls f for each of them, in order.
local function add_groups(engine, part, metric, stacks, names, f)
   local tables, groups = servers.tables(), {}
   local runs, check = picking.runs(engine, part.rows, tables)
   local of = tables:add("hash FixedString(16), number Int64", table.concat(part.numbers))
   local numbered = tables:add("hi UInt64, lo UInt64, f Int64", stacks)
   local sql = ("SELECT number, f, sum(low), sum(high) FROM (SELECT hash, f, low, high FROM (%s) "
      .. "ANY LEFT JOIN (SELECT hi, lo, f FROM %s) USING hi, lo) ANY INNER JOIN (SELECT hash, "
      .. "number FROM %s) USING hash GROUP BY number, f"):format(cells_of(engine,
      "hash, hi, lo, low, high", metric, runs), numbered, of)
   for _, row in ipairs(engine.servers:rows("iiii", sql, tables)) do
      local number, key = row[1], row[2] - 1
      groups[number] = groups[number] or {}
      if key < 0 then
         problem.raise(engine.path .. ": cells have a stack that no server has: the store is "
            .. "damaged", "format")
      end
      add(groups[number], key, row[3], row[4])
      add(groups[number], WHOLE, row[3], row[4])
   end
   check()
   for number = part.first, part.last do
      f(number, group_of(groups[number], names))
   end
end

---Adds up all functions in each of several groups of runs.
---@param engine profio.ClickHouseEngine
---@param groups table<string, integer> the number of a group, from 1, by the hash of a run
---@param count integer of groups
---@param metric { name: string, unit: string }
---@param f fun(number: integer, group: profio.GroupWeights) is called for each group, in order
function weights.functions(engine, groups, count, metric, f)
   local names, numbers, stacks, parts = {}, {}, { string.pack("<i8i8i8", 0, 0, 1) }, {}
   local leaves = stacks_of(engine, function(name)
      if not numbers[name] then
         numbers[name], names[#names + 1] = #names + 1, name
      end
      return numbers[name]
   end)
   for stack, number in pairs(leaves) do
      stacks[#stacks + 1] = stack .. string.pack("<i8", number + 1)
   end
   for first = 1, count, GROUPS do
      parts[#parts + 1] = { first = first, last = math.min(first + GROUPS - 1, count), rows = {},
         numbers = {} }
   end
   for _, row in ipairs(picking.rows(engine, { "hash", "attempt", "rows" })) do
      local part = groups[row[1]] and parts[(groups[row[1]] - 1) // GROUPS + 1]
      if part then
         part.rows[#part.rows + 1] = row
         part.numbers[#part.numbers + 1] = row_binary.pack("hi", row[1], groups[row[1]])
      end
   end
   stacks = table.concat(stacks)
   for _, part in ipairs(parts) do
      add_groups(engine, part, number_of_metric(engine, metric), stacks, names, f)
   end
end

return weights
