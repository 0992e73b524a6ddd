-- Histograms and arcs in ClickHouse (see ../graphs.lua): those of a run are in its row, so they are
-- whole or absent as it is. Programs are in a table of their own, on the shard of their hash.

local checksums = require "profio.internal.store.checksums"
local details = require "profio.internal.store.details"
local picking = require "profio.internal.store.clickhouse.picking"
local problem = require "profio.internal.store.problem"
local row_binary = require "profio.internal.store.clickhouse.row_binary"
local selecting = require "profio.internal.store.selecting"
local servers = require "profio.internal.store.clickhouse.servers"

local programs = {}

---Returns the column `graph` of a run, and notes its programs, which rows() then returns.
---@param engine profio.ClickHouseEngine
---@param graph table|nil of the contents of a run; nil: it has no histograms and arcs
---@return string
function programs.column(engine, graph)
   if not graph then
      return ""
   end
   for hash, bytes in pairs(graph.programs) do
      if not engine.sent_programs[hash] then
         engine.new_programs[hash] = bytes
      end
   end
   return details.pack(graph.rows)
end

---Returns the rows of the programs that are to be inserted, by shard.
---@param engine profio.ClickHouseEngine
---@return table<integer, string>
function programs.rows(engine)
   local rows, count = {}, #engine.servers.list
   for hash, bytes in pairs(engine.new_programs) do
      local shard = string.unpack("<I4", hash, 13) % count + 1
      rows[shard] = (rows[shard] or "") .. row_binary.pack("hs", hash, bytes)
   end
   return rows
end

---Notes that the programs were sent, so that they are not sent again.
---@param engine profio.ClickHouseEngine
function programs.sent(engine)
   for hash in pairs(engine.new_programs) do
      engine.sent_programs[hash] = true
   end
   engine.new_programs = {}
end

-- Returns the rows of a run. Raises if they are damaged.
local function rows_of(engine, hash, packed)
   local is_whole, rows = details.unpack(packed)
   if not is_whole or type(rows) ~= "table" then
      problem.raise(("%s: the histograms and arcs of run %s are damaged"):format(engine.path, hash),
         "format")
   end
   return rows
end

---Iterates over the histograms and arcs of the selected runs: the hash of a run as hexadecimal
---digits, a kind, and packed counts.
---@param engine profio.ClickHouseEngine
---@param tests table[]|nil
---@return fun(): string|nil, string|nil, string|nil
function programs.graphs(engine, tests)
   local list = picking.rows(engine, { "hash", "graph" }, tests)
   return coroutine.wrap(function()
      for _, run in ipairs(list) do
         local hash = selecting.hex(run[1])
         for _, row in ipairs(run[2] ~= "" and rows_of(engine, hash, run[2]) or {}) do
            coroutine.yield(hash, row.kind, row.data)
         end
      end
   end)
end

---Returns the packed symbols of a program; nil: the store does not have it, or it is damaged.
---@param engine profio.ClickHouseEngine
---@param hash string
---@return string|nil
function programs.program(engine, hash)
   local tables = servers.tables()
   local rows = engine.servers:rows("s", ("SELECT symbols FROM %s WHERE hash IN %s LIMIT 1"):format(
      picking.table(engine, "programs"), tables:add("hash FixedString(16)", hash)), tables)
   local bytes = rows[1] and rows[1][1]
   return checksums.fits(bytes, hash) and bytes or nil
end

return programs
