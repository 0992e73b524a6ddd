-- The chunks of oom.lua that write and read a store of runs.

local cells = require "spec.support.cells"
local core = require "profio.core"
local profio = require "profio"

local list = { { "main;f;g", 5, 1 }, { "main;f", -7, 2 }, { "other", 1 << 50, 0 } }
for i = 1, 70 do
   list[#list + 1] = { ("main;f%d;g%d"):format(i % 9, i), i, 1 }
end

local function remove(path)
   for _, ending in ipairs { "", "-wal", "-shm" } do
      os.remove(path .. ending)
   end
end

-- Returns the sums of functions in all runs, as a text; a name of n bytes is in function n.
local function function_sums(db)
   local numbers = {}
   for id, name in assert(db:rows "SELECT id, name FROM frames") do
      numbers[id] = #name
   end
   local whole, total, selves = assert(db:function_sums(numbers)):read(
      "SELECT run, metric, data FROM cells WHERE metric = ?", 1)
   assert(whole, total)
   return ("%d %d %d %d"):format(whole, total, selves[1], selves[2])
end

-- Runs are written, and added up by another connection.
local function store()
   local native = require "profio.store"
   local path = os.tmpname()
   remove(path)
   local files <close> = -- luacheck: ignore
      setmetatable({}, { __close = function() remove(path) end })
   local db <close> = assert(native.sqlite(path, "create"))
   assert(db:run(native.schema))
   assert(db:run "BEGIN")
   for run = 1, 2 do
      local contexts = cells.contexts(list, { { name = "time", unit = "ns" },
         { name = "samples", unit = "count" } })
      assert(db:put_cells(run, contexts))
   end
   assert(db:run "COMMIT")
   local other <close> = assert(native.sqlite(path, "read"))
   local function add_up()
      return assert(other:sum_cells(core.empty_contexts(core.dictionary(),
         { { name = "time", unit = "ns" } }, "time"),
         "SELECT run, metric, data FROM cells WHERE run >= ?", 1))
   end
   local done, sum = pcall(add_up)
   if not done then -- a second attempt of the same connection must work
      sum = add_up()
   end
   local texts = { table.concat(cells.lines(sum), "\n"), function_sums(other) }
   for name in assert(db:rows("SELECT name FROM frames WHERE id < ?", 5)) do
      texts[#texts + 1] = name
   end
   texts[#texts + 1] = native.hasher():add("a", core.source_data("b", "b")):digest()
   return table.concat(texts, "\n")
end

-- A trace as a database: which bytes it has, SQLite decides.
local function database(bytes)
   local native = require "profio.store"
   local trace <close> = assert(profio.open { data = bytes })
   local path = os.tmpname()
   local files <close> = -- luacheck: ignore
      setmetatable({}, { __close = function() remove(path) end })
   assert(trace:export("sqlite", path))
   local db <close>, texts = assert(native.sqlite(path, "read")), {}
   for name, n in assert(db:rows "SELECT name, length(sql) FROM sqlite_master ORDER BY name") do
      texts[#texts + 1] = name .. " " .. n
   end
   return table.concat(texts, "\n")
end

return function(chunks, bytes)
   if package.preload["profio.store"] then
      chunks.store = store
      function chunks.database()
         return database(bytes)
      end
   end
end
