-- Columns of the row before and after, and two views in one order, against slow models.
--
-- Tags: stressed.

local core = require "profio.core"
local view = require "profio.view"

local fields = { { "time", "int" }, { "lane", "name" }, { "n", "int" }, { "text", "bytes" },
   { "x", "num" }, { "yes", "bool" } }

-- Random rows in order of time, with missing values.
local function random_rows(count, random)
   local rows, time = {}, 0
   for i = 1, count do
      time = time + random(0, 3)
      rows[i] = { random(20) > 1 and time or nil, random(8) > 1 and "lane" .. random(5) or nil, i,
         random(3) > 1 and "text " .. random(9) or nil, random(4) > 1 and i / 4 or nil,
         random(4) > 1 and i % 2 == 0 or nil }
   end
   return rows
end

local function over(rows, dictionary, columns)
   dictionary = dictionary or core.dictionary()
   return view.over(function()
      return core.rows_reader(columns or fields, rows, dictionary)
   end)
end

local function generator(seed)
   math.randomseed(seed)
   return math.random
end

-- The values of a column of Lua rows, a list with holes, and of a view.
local function values(rows, column)
   local list, n = {}, 0
   for row in rows:records(column) do
      n = n + 1
      list[n] = row[column]
   end
   return list
end

-- By definition: the value in the row before or after with the same key.
local function lagged(rows, column, is_next, key)
   local list, found = {}, {}
   for i = is_next and #rows or 1, is_next and 1 or #rows, is_next and -1 or 1 do
      local group = key and rows[i][key] or "none"
      list[i] = found[group]
      found[group] = rows[i][column]
   end
   return list
end

describe("derive with prev and next", function()
   it("has the value of the row before and after, by key, for columns of all types", function()
      local rows = random_rows(5000, generator(11))
      for column, field in ipairs(fields) do
         for _, key in ipairs { false, 2, 6 } do
            local by = key and " by " .. fields[key][1] or ""
            local seen = over(rows):derive {
               "before = prev(" .. field[1] .. ")" .. by,
               "after = next([" .. field[1] .. "])" .. by }
            assert.same(lagged(rows, column, false, key or nil), values(seen, "before"))
            assert.same(lagged(rows, column, true, key or nil), values(seen, "after"))
         end
      end
   end)

   it("takes several keys, and formulas over its columns", function()
      local seen = over({ { 1, "a", 1 }, { 3, "b", 1 }, { 7, "a", 2 }, { 15, "a", 1 },
         { 20, "b", 1 } }):derive { "gap = time - before", "before = prev(time) by lane, n" }
      assert.same({ "time", "lane", "n", "text", "x", "yes", "before", "gap" }, seen.columns)
      assert.same({ [4] = 14, [5] = 17 }, values(seen, "gap"))
      assert.truthy(seen:write():find("gap (ns)", 1, true))
   end)

   it("refuses what it cannot mean", function()
      local rows = over {}
      local function refused(text, ...)
         local wanted = { ... }
         assert.error_matches(function()
            rows:derive(wanted):rows()
         end, text, 1, true)
      end
      refused("prev is a formula of its own", "gap = time - prev(time)")
      refused("there is a column 'n' already", "n = prev(time)")
      refused("there is a column 'a' already", "a = prev(time)", "a = next(time)")
      refused("no column 'nosuch'", "a = prev(nosuch)")
      refused("after 'by' stand columns, not 'lane+1'", "a = prev(time) by lane+1")
   end)
end)

describe("merge", function()
   it("has the rows of both in order, those of the first view before equal ones", function()
      local random = generator(12)
      for _, counts in ipairs { { 3000, 2500 }, { 4000, 3 }, { 0, 10 }, { 10, 0 }, { 0, 0 } } do
         local dictionary = core.dictionary()
         local left, right = {}, {}
         for i, time in ipairs(random_rows(counts[1], random)) do
            left[i] = { time[1] or 0, time[2], i }
         end
         for i, time in ipairs(random_rows(counts[2], random)) do
            right[i] = { "r" .. i, time[1] or 0, "more" }
         end
         table.sort(left, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[3] < b[3] end)
         table.sort(right, function(a, b) return a[2] < b[2] end)
         local merged = over(left, dictionary,
            { { "time", "int" }, { "lane", "name" }, { "n", "int" } }):merge(
            over(right, dictionary, { { "lane", "name" }, { "time", "int" }, { "more", "name" } }))
         local expected = {}
         local l, r = 1, 1
         while l <= #left or r <= #right do
            if l <= #left and (r > #right or left[l][1] <= right[r][2]) then
               expected[#expected + 1] = { time = left[l][1], lane = left[l][2], n = left[l][3] }
               l = l + 1
            else
               expected[#expected + 1] = { time = right[r][2], lane = right[r][1], more = "more" }
               r = r + 1
            end
         end
         assert.same(expected, merged:rows())
         assert.same({}, merged.warnings)
      end
   end)

   it("keeps a row without a time behind the one before it", function()
      local dictionary = core.dictionary()
      local columns = { { "time", "int" }, { "n", "name" } }
      local merged = over({ { 1, "a" }, { nil, "b" }, { 5, "c" } }, dictionary, columns)
         :merge(over({ { nil, "p" }, { 2, "q" }, { 5, "r" }, { nil, "s" } }, dictionary, columns))
      assert.equal("p a b q c r s", table.concat(values(merged, "n"), " "))
   end)

   it("has names where one view has numbers", function()
      local dictionary = core.dictionary()
      local numbers = over({ { 1, -5 }, { 2, nil }, { 4, -5 }, { 5, -5 } }, dictionary,
         { { "time", "int" }, { "lane", "int" } })
      local names = over({ { 3, "chain" } }, dictionary, { { "time", "int" }, { "lane", "name" } })
      assert.same({ "-5", nil, "chain", "-5", "-5" }, values(numbers:merge(names), "lane"))
      assert.same({ "-5", nil, "chain", "-5", "-5" }, values(names:merge(numbers), "lane"))
   end)

   it("has the names of areas where one view has names", function()
      local dictionary = core.dictionary()
      local areas = over({ { 1, "f" }, { 3, nil } }, dictionary,
         { { "time", "int" }, { "area", "area" } })
      local names = over({ { 2, "g" } }, dictionary, { { "time", "int" }, { "area", "name" } })
      assert.same({ "f", "g" }, values(areas:merge(names), "area"))
      assert.equal("name", areas:merge(names):fields()[2].type)
   end)

   it("says how many rows are not in order", function()
      local rows = over({ { 1 }, { 5 }, { 2 }, { 3 } }, nil, { { "time", "int" } })
      local merged = rows:merge(rows)
      assert.equal(8, #merged:rows())
      assert.same({ { code = "rows-unordered", kind = "note", message =
         "merge: rows that are not in the order of 'time': 4; rows may be joined wrongly" } },
         merged.warnings)
   end)

   it("refuses views of two traces, and columns of two types", function()
      local rows = over {}
      assert.error_matches(function()
         rows:merge(over {}):rows()
      end, "the views are of two traces", 1, true)
      assert.error_matches(function()
         rows:merge "events"
      end, "merge expects a view, got string", 1, true)
      local dictionary = core.dictionary()
      assert.error_matches(function()
         over({}, dictionary):merge(over({}, dictionary,
            { { "time", "int" }, { "x", "int" } })):rows()
      end, 'column "x" is of two types: num and int', 1, true)
      assert.error_matches(function()
         over({}, dictionary):merge(over({}, dictionary), "x"):rows()
      end, "column 'x' is of type num, not int", 1, true)
   end)
end)

describe("join_asof", function()
   -- By definition: the last row that is not later and has the same key.
   local function latest(left, right, key, within)
      local list = {}
      for i, row in ipairs(left) do
         for _, other in ipairs(right) do
            if row[1] and other[1] and other[1] <= row[1]
               and (not key or other[key] == row[key]) then
               list[i] = row[1] - other[1] <= within and other or nil
            end
         end
      end
      return list
   end

   it("has the latest row of the other view, by key, for columns of all types", function()
      local random = generator(13)
      for _, counts in ipairs { { 2600, 300 }, { 300, 2600 }, { 5, 0 } } do
         local left, right = random_rows(counts[1], random), random_rows(counts[2], random)
         for _, key in ipairs { false, 2 } do
            for _, within in ipairs { math.maxinteger, 2 } do
               local dictionary = core.dictionary()
               local joined = over(left, dictionary):join_asof(over(right, dictionary), {
                  by = key and "lane" or nil, within = within < 10 and within or nil })
               local expected = latest(left, right, key, within)
               for column, field in ipairs(fields) do
                  if column > 1 and not (key and column == 2) then
                     local list = {}
                     for i, other in pairs(expected) do
                        list[i] = other[column]
                     end
                     assert.same(list, values(joined, field[1] .. "_right"))
                  end
               end
               assert.same({}, joined.warnings)
            end
         end
      end
   end)

   it("adds the columns that are asked for", function()
      local dictionary = core.dictionary()
      local states = over({ { 2, "a", 7 }, { 4, "b", 8 } }, dictionary,
         { { "at", "int" }, { "lane", "name" }, { "state", "int" } })
      local joined = over({ { 1, "a" }, { 4, "a" }, { 5, "b" } }, dictionary,
         { { "at", "int" }, { "lane", "name" } })
         :join_asof(states, { on = "at", by = { "lane" }, columns = "state" })
      assert.same({ { at = 1, lane = "a" }, { at = 4, lane = "a", state = 7 },
         { at = 5, lane = "b", state = 8 } }, joined:rows())
   end)

   it("says how many rows are not in order, and refuses what it cannot mean", function()
      local dictionary = core.dictionary()
      local rows = over({ { 5 }, { 2 } }, dictionary, { { "time", "int" } })
      local joined = over({ { 9 }, { 8 } }, dictionary, { { "time", "int" } }):join_asof(rows)
      assert.equal(2, #joined:rows())
      assert.equal(
         "join_asof: rows that are not in the order of 'time': 2; rows may be joined wrongly",
         joined.warnings[1].message)
      assert.error_matches(function()
         rows:join_asof(rows, { key = "lane" })
      end, "there is no option 'key'; there are on, by, columns, within", 1, true)
      assert.error_matches(function()
         rows:join_asof(rows, { within = -1 })
      end, "within must be a whole number", 1, true)
      assert.error_matches(function()
         over({}, dictionary):join_asof(over({}, dictionary,
            { { "time", "int" }, { "lane", "int" } }), { by = "lane" }):rows()
      end, 'column "lane" is of two types: name and int', 1, true)
   end)
end)
