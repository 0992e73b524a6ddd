-- database:function_sums against sums of the stacks that were put, and for damaged stores.

local cells = require "spec.support.cells"
local native = require "profio.store"
local sqlite = require "spec.support.sqlite"

local folder = sqlite.folder "function_sums"

-- Returns a database with runs of these stacks, and its path.
local function store_of(...)
   local path = folder .. "/f.db"
   os.remove(path)
   local db = assert(native.sqlite(path, "create"))
   assert(db:run(native.schema))
   assert(db:run "BEGIN IMMEDIATE")
   for run, stacks in ipairs { ... } do
      assert(db:put_cells(run, cells.contexts(stacks)))
   end
   assert(db:run "COMMIT")
   return db, path
end

-- Returns an object for functions with these numbers.
local function sums_of(db, numbers)
   local functions = {}
   for id, name in assert(db:rows "SELECT id, name FROM frames") do
      functions[id] = numbers[name]
   end
   return assert(db:function_sums(functions))
end

local ALL <const> = "SELECT run, metric, data FROM cells"

teardown(function()
   sqlite.remove(folder)
end)

describe("database:function_sums", function()
   it("adds up innermost functions, and stacks that have any of them", function()
      local db <close> = store_of({ { "main;f;g", 5 }, { "main;f", 7 }, { "f;f;f", 11 } },
         { { "main;f;g", 100 }, { "h;g;f;i", -20 }, { "main", 1000 } })
      local sums = sums_of(db, { f = 1, g = 3 })
      assert.same({ 1103, 103, { 18, [3] = 105 }, false }, { sums:read(ALL) })
      assert.same({ 23, 23, { 18, [3] = 5 }, false }, { sums:read(ALL .. " WHERE run = ?", 1) })
      assert.same({ 0, 0, {}, false }, { sums:read(ALL .. " WHERE run = ?", 9) })
      assert.same({ 1103, 0, {}, false }, { sums_of(db, {}):read(ALL) })
   end)

   it("limits sums to 64 bits, and says so", function()
      local most, least = math.maxinteger, math.mininteger
      local db <close> = store_of({ { "f", most }, { "g", least } }, { { "f", 1 }, { "g", -1 } })
      local sums = sums_of(db, { f = 1, g = 2 })
      assert.same({ -1, -1, { most, least }, true }, { sums:read(ALL) })
      assert.same({ -1, most, { most }, true }, { sums_of(db, { f = 1 }):read(ALL) })
      assert.same({ 0, 1, { 1 }, false }, { sums_of(db, { f = 1 }):read(ALL .. " WHERE run = 2") })
   end)

   it("describes damage", function()
      local db <close> = store_of { { "main;f", 5 } }
      local sums = sums_of(db, { f = 1 })
      for _, data in ipairs { cells.pack { { 3, 1 } }, "\1\1\1", "", cells.pack { { 1, 0 } } } do
         assert(db:run("UPDATE cells SET data = ?", cells.sealed(data, 1, 1)))
         local _, message, code = sums:read(ALL)
         assert.matches("the cells of run 1, metric 1, are damaged$", message)
         assert.equal("format", code)
      end
      assert(db:run("UPDATE cells SET data = ?", cells.sealed("\2" .. cells.pack({ { 1, 1 } })
         :sub(2), 1, 1)))
      assert.equal("unsupported", (select(3, sums:read(ALL))))
      assert(db:run("UPDATE cells SET data = ?", cells.sealed(cells.pack { { 1, 1 }, { 2, 1 } }, 1,
         1)))
      assert(db:run "DELETE FROM stacks WHERE id = 1")
      assert.equal("format", (select(3, sums_of(db, { f = 1 }):read(ALL))))
      assert(db:run "UPDATE stacks SET frame = 99")
      local nothing, message, code = db:function_sums {}
      assert.is_nil(nothing)
      assert.matches("which is impossible: the store is damaged$", message)
      assert.equal("format", code)
   end)

   it("refuses wrong arguments, and a closed database", function()
      local db <close> = store_of { { "main;f", 5 } }
      for _, wrong in ipairs { { [0] = 1 }, { [3] = 1 }, { 0 }, { 1 << 40 }, { f = 1 }, { "x" } } do
         assert.error(function() db:function_sums(wrong) end)
      end
      local sums = sums_of(db, { f = 1 })
      assert.error_matches(function() sums:read() end, "string expected")
      assert.error_matches(function() sums:read(ALL, {}) end, "nil, boolean, number or string")
      assert.equal("format", (select(3, sums:read(ALL, 1))))
      assert.equal("format", (select(3, sums:read "SELECT 1")))
      assert.equal("format", (select(3, sums:read "SELECT")))
      db:close()
      assert.error_matches(function() sums:read(ALL) end, "database is closed")
   end)
end)
