-- sort compared with its definition.
--
-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.

local core = require "profio.core"
local model = require "spec.support.model"
local rounds = require "spec.support.rounds"
local tables = require "spec.support.tables"

local function random_keys()
   local keys = {}
   for i = 1, math.random(0, 3) do
      keys[i] = { column = tables.pick(tables.fields)[1], descending = math.random(2) == 1 }
   end
   return keys
end

-- The values of a column after sorting by it; "-" for missing ones.
local function sorted(type, values, count, descending)
   local rows = {}
   for i = 1, count do
      rows[i] = { i, values[i] }
   end
   local reader = core.sort(core.rows_reader({ { "n", "int" }, { "v", type } }, rows),
      { { column = "v", descending = descending } })
   local found = {}
   for n in core.each(reader, { "n" }) do
      found[#found + 1] = n
   end
   return found
end

describe("sort", function()
   it("gives the order of the definition, for random tables", function()
      for case = 1, rounds(1500) do
         local tab = tables.any(case)
         local keys = random_keys()
         tables.assert_same(model.sort(tab, keys), tables.take(core.sort(tables.reader(tab), keys)),
            "case " .. case)
      end
   end)

   it("puts missing values last in both directions, and is stable", function()
      assert.same({ 5, 1, 4, 2, 3 }, sorted("int", { 2, nil, nil, 2, 1 }, 5))
      assert.same({ 1, 4, 5, 2, 3 }, sorted("int", { 2, nil, nil, 2, 1 }, 5, true))
   end)

   it("sorts the limits of the types", function()
      assert.same({ 2, 4, 1, 3 },
         sorted("int", { 0, math.mininteger, math.maxinteger, -1 }, 4))
      assert.same({ 4, 3, 1, 2, 5 },
         sorted("num", { 0.0, 1e-320, -1e-320, -math.huge, math.huge }, 5))
      assert.same({ 3, 1, 2 }, sorted("addr", { 1, -1, 0 }, 3))
   end)

   it("puts NaN after all numbers", function()
      assert.same({ 2, 3, 1, 4 }, sorted("num", { 0 / 0, 1.0, math.huge }, 4))
      assert.same({ 1, 3, 2, 4 }, sorted("num", { -(0 / 0), 1.0, math.huge }, 4, true))
   end)

   it("treats -0 and 0 as equal", function()
      assert.same({ 1, 2, 3 }, sorted("num", { 0.0, -0.0, 0.0 }, 3))
   end)

   it("sorts names by their bytes", function()
      assert.same({ 3, 2, 4, 1, 5 }, sorted("name", { "a", "Z", "", "Za", "\xc3\xa4" }, 5))
      assert.same({ 3, 2, 4, 1, 5 }, sorted("bytes", { "a", "Z", "", "Za", "\xc3\xa4" }, 5))
   end)

   it("sorts numbers that differ in few or many bits, at any position", function()
      math.randomseed(11)
      for width = 1, 64 do
         for _, low in ipairs { 0, math.random(0, 64 - width), 64 - width } do
            local same = math.random(math.mininteger, math.maxinteger)
            local mask = (width == 64 and -1 or (1 << width) - 1) << low
            local values, expected = {}, {}
            for i = 1, 300 do
               local few = values[math.random(i)] -- some are equal
               values[i] = few
                  or same & ~mask | math.random(math.mininteger, math.maxinteger) & mask
               expected[i] = i
            end
            table.sort(expected, function(a, b)
               return values[a] < values[b] or values[a] == values[b] and a < b
            end)
            assert.same(expected, sorted("int", values, #values), width .. " bits from " .. low)
         end
      end
   end)

   it("sorts many rows", function()
      local rows = {}
      math.randomseed(3)
      for i = 1, 20000 do
         rows[i] = { math.random(-1000, 1000), tables.value "name" }
      end
      local tab = { fields = { { "i", "int" }, { "n", "name" } }, rows = rows }
      local keys = { { column = "n", descending = true }, { column = "i" } }
      tables.assert_same(model.sort(tab, keys), tables.take(core.sort(tables.reader(tab), keys)),
         "20000 rows")
   end)

   it("gives the same first rows if only these are read, for any number of rows", function()
      local rows, by_value = {}, {}
      for v = 0, 996 do
         by_value[v] = {}
      end
      for i = 1, 250000 do
         local v = i * 7919 % 997
         rows[i] = { i, v, "text " .. v, i % 3 ~= 0 and "name " .. i or nil }
         table.insert(by_value[v], i)
      end
      local function first(keys, skip)
         local reader = core.rows_reader({ { "i", "int" }, { "v", "int" }, { "t", "bytes" },
            { "n", "name" } }, rows)
         return core.rows(core.limit(core.sort(reader, keys), 300, skip))
      end
      for r, row in ipairs(first({ { column = "v" } }, 100)) do
         local number = 99 + r
         local v = number < #by_value[0] and 0 or 1
         local i = by_value[v][number - v * #by_value[0] + 1]
         local name = i % 3 ~= 0 and "name " .. i or nil
         assert.same({ i = i, v = v, t = "text " .. v, n = name }, row)
      end
      for r, row in ipairs(first { { column = "t", descending = true } }) do
         local v = r > #by_value[996] and 995 or 996
         assert.equal(by_value[v][r - (996 - v) * #by_value[996]], row.i)
      end
   end)

   it("gives the same first rows of many in both directions, for any numbers", function()
      math.randomseed(11)
      local make = {
         int = function() return math.random(-500, 500) end,
         num = function() return math.random(20) == 1 and 0 / 0 or math.random(-500, 500) / 4 end,
         addr = function() return math.random(0) end,
      }
      for type, value in pairs(make) do
         for _, share in ipairs { 0.1, 0.9999 } do
            local rows = {}
            for i = 1, 150000 do
               rows[i] = { i, math.random() >= share and value() or nil, math.random(3) }
            end
            for _, descending in ipairs { false, true } do
               local function reader()
                  return core.sort(core.rows_reader({ { "i", "int" }, { "v", type },
                     { "w", "int" } }, rows), { { column = "v", descending = descending },
                     { column = "w", descending = true } })
               end
               local all, first = {}, {}
               for i in core.each(reader(), { "i" }) do
                  all[#all + 1] = i
                  if #all == 50 then
                     break
                  end
               end
               for i in core.each(core.limit(reader(), 50), { "i" }) do
                  first[#first + 1] = i
               end
               assert.same(all, first)
            end
         end
      end
   end)

   it("reads only the requested columns", function()
      local reader = core.sort(core.rows_reader({ { "a", "int" }, { "b", "name" }, { "c", "num" } },
         { { 1, "x", 0.5 }, { 2, "w", 0.25 }, { nil, nil, 1.0 } }), { { column = "b" } })
      assert.same({ { c = 0.25 }, { c = 0.5 }, { c = 1.0 } }, core.rows(reader, { "c" }))
   end)

   it("refuses unknown columns", function()
      assert.error_matches(function()
         core.sort(core.rows_reader({ { "v", "int" } }, {}), { { column = "w" } })
      end, "no column 'w'; there are: v")
   end)
end)
