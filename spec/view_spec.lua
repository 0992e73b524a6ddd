-- Tags: stressed.
-- Costly: many commands, or large inputs.

local profio = require "profio"

-- Rows to question, as a registered format: what comes out is compared with plain Lua.
local source = {}
do
   local seed = 12345
   local function random(n)
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed // 65536 % n
   end
   for i = 1, 9000 do
      source[i] = {
         time = i * 10, core = random(4), area = "area" .. random(7), value = random(1000),
         ratio = random(100) / 8, on = random(2) == 1,
         note = i % 5 == 0 and "note " .. random(30) or nil,
      }
   end
end

local columns = { "time", "core", "area", "value", "ratio", "on", "note" }

profio.register {
   name = "rows",
   score = function() return 0 end,
   tables = { rows = { { "time", "int" }, { "core", "int" }, { "area", "name" },
      { "value", "int" }, { "ratio", "num" }, { "on", "bool" }, { "note", "bytes" } } },
   open = function()
      return { rows = function(put)
         for _, row in ipairs(source) do
            put(row.time, row.core, row.area, row.value, row.ratio, row.on, row.note)
         end
      end }
   end,
}

local trace = assert(profio.open({ data = "x" }, { format = "rows" }))

-- The rows of the source for which f holds.
local function kept(f)
   local list = {}
   for _, row in ipairs(source) do
      if f(row) then
         list[#list + 1] = row
      end
   end
   return list
end

describe("a view", function()
   it("has a length and a text, and raises where Lua wants items or keys", function()
      local view = trace:where { area = "area1" }
      assert.equal(#kept(function(row) return row.area == "area1" end), #view)
      assert.equal("profio.view (time, core, area, value, ratio, on, note)", tostring(view))
      assert.has_error(function()
         local step, state = ipairs(view)
         step(state, 0)
      end, "a view has no items: for row in view:records() do, or view:rows()")
      local done, message = pcall(pairs, view)
      assert.is_false(done)
      assert.matches("a view has no keys: for row in view:records%(%) do, or view:rows%(%)$",
         message)
   end)
end)

describe("where", function()
   it("takes values, lists, ranges, patterns, no and missing", function()
      local cases = {
         { { core = 2 }, function(r) return r.core == 2 end },
         { { core = { 0, 3 } }, function(r) return r.core == 0 or r.core == 3 end },
         { { time = profio.between(500, 600) },
            function(r) return r.time >= 500 and r.time <= 600 end },
         { { ratio = profio.between(1.5, 2.25) },
            function(r) return r.ratio >= 1.5 and r.ratio <= 2.25 end },
         { { area = "area3" }, function(r) return r.area == "area3" end },
         { { area = { "area1", "nowhere" } }, function(r) return r.area == "area1" end },
         { { area = profio.match "^area[45]$" },
            function(r) return r.area == "area4" or r.area == "area5" end },
         { { area = profio.no "area0" }, function(r) return r.area ~= "area0" end },
         { { core = profio.no { 1, 2 } }, function(r) return r.core ~= 1 and r.core ~= 2 end },
         { { on = true }, function(r) return r.on end },
         { { note = profio.missing }, function(r) return not r.note end },
         { { note = profio.no(profio.missing) }, function(r) return r.note end },
         { { note = profio.match "2$" }, function(r) return r.note and r.note:find "2$" end },
         { { note = "note 7" }, function(r) return r.note == "note 7" end },
         { { core = 1, on = false, value = profio.between(0, 100) },
            function(r) return r.core == 1 and not r.on and r.value <= 100 end },
      }
      for _, case in ipairs(cases) do
         assert.same(kept(case[2]), trace:table("rows"):where(case[1]):rows())
      end
   end)

   it("names the column and the types when a value does not fit", function()
      assert.error_matches(function() trace:where { core = "two" }:rows() end, "core")
      assert.error_matches(function() trace:where { nope = 1 }:rows() end,
         "no column 'nope'; there are: time, core, area")
   end)
end)

describe("filter", function()
   it("calls a Lua function with the given columns", function()
      local view = trace:filter(function(time, value) return value % 7 == time % 3 end,
         "time", "value")
      assert.same(kept(function(r) return r.value % 7 == r.time % 3 end), view:rows())
   end)

   it("passes on errors of the function", function()
      local failure = setmetatable({}, { __tostring = function() return "mine" end })
      local ok, caught = pcall(function()
         trace:filter(function() error(failure) end, "time"):rows()
      end)
      assert.is_false(ok)
      assert.equal(failure, caught)
   end)
end)

describe("group and aggregate", function()
   -- The definition, slowly: groups in order of first sight.
   local function grouped(key, rows)
      local groups, order = {}, {}
      for _, row in ipairs(rows or source) do
         local k = key(row)
         if not groups[k] then
            groups[k] = {}
            order[#order + 1] = k
         end
         table.insert(groups[k], row)
      end
      return groups, order
   end

   local function sum(rows)
      local total = 0
      for _, row in ipairs(rows) do
         total = total + row.value
      end
      return total
   end

   it("keeps the order of a list, and sorts a keyed table by name", function()
      local listed = trace:group("area"):aggregate { "z = count", "a = sum(value)" }
      assert.same({ "area", "z", "a" }, listed.columns)
      local keyed = trace:group("area"):aggregate { z = "count", a = "sum(value)" }
      assert.same({ "area", "a", "z" }, keyed.columns)
      assert.same({ "area", "count" }, trace:group("area").columns)
   end)

   it("adds up by one key and by two", function()
      local groups, order = grouped(function(r) return r.area end)
      local expected = {}
      for i, area in ipairs(order) do
         expected[i] = { area = area, n = #groups[area], total = sum(groups[area]) }
      end
      assert.same(expected,
         trace:group("area"):aggregate { "n = count", "total = sum(value)" }:rows())
      groups, order = grouped(function(r) return r.area .. "/" .. r.core end)
      local rows = trace:group("area", "core"):aggregate { "n = count" }:rows()
      assert.equal(#order, #rows)
      for i, row in ipairs(rows) do
         assert.equal(order[i], row.area .. "/" .. row.core)
         assert.equal(#groups[order[i]], row.n)
      end
   end)

   it("gives min, max, mean, quantiles and the others as defined", function()
      local values = {}
      for i, row in ipairs(source) do
         values[i] = row.value
      end
      table.sort(values)
      local row = trace:aggregate { "n = count", "lo = min(value)", "hi = max(value)",
         "mean = mean(value)", "d = distinct(area)", "first = first(time)", "last = last(time)",
         "notes = count(note)" }:rows()[1]
      assert.equal(#source, row.n)
      assert.equal(values[1], row.lo)
      assert.equal(values[#values], row.hi)
      assert.is_true(math.abs(row.mean - sum(source) / #source) < 1e-9)
      assert.equal(7, row.d)
      assert.equal(10, row.first)
      assert.equal(90000, row.last)
      assert.equal(1800, row.notes)
      local small = trace:limit(1001):aggregate { "median = p50(value)", "p99 = p99(value)" }
      local some = {}
      for i = 1, 1001 do
         some[i] = source[i].value
      end
      table.sort(some)
      assert.same({ { median = some[501], p99 = some[991] } }, small:rows())
   end)

   it("groups by bucket, and by Lua functions with the same result", function()
      local bucket = trace:group("bucket(time, 1000)"):aggregate { "n = count" }:rows()
      local byfn = trace:group { function(time) return time // 1000 * 1000 end, "time" }
         :aggregate { "n = count" }:rows()
      local byrecord = trace:group(function(r) return r.time // 1000 * 1000 end)
         :aggregate { "n = count" }:rows()
      assert.equal(91, #bucket)
      for i, row in ipairs(bucket) do
         assert.equal(row.n, byfn[i].n)
         assert.equal(row.time or row["bucket(time, 1000)"] or row.bucket, byfn[i].key)
         assert.same(byfn[i], byrecord[i])
      end
   end)

   it("follows where, and is followed by sort and limit", function()
      local rows = trace:where { core = 1 }:group("area"):aggregate { "total = sum(value)" }
         :sort("-total", "area"):limit(3):rows()
      local groups, order = grouped(function(r) return r.area end,
         kept(function(r) return r.core == 1 end))
      local all = {}
      for i, area in ipairs(order) do
         all[i] = { area = area, total = sum(groups[area]) }
      end
      table.sort(all, function(a, b)
         if a.total ~= b.total then
            return a.total > b.total
         end
         return a.area < b.area
      end)
      assert.same({ all[1], all[2], all[3] }, rows)
   end)

   it("refuses nonsense with a message", function()
      assert.error_matches(function() trace:aggregate { "n = sum(area)" }:rows() end, "sum")
      assert.error_matches(function() trace:aggregate { "n = frobnicate(value)" }:rows() end,
         "frobnicate")
      assert.error_matches(function() trace:aggregate { "n = sum(nope)" }:rows() end,
         "no column 'nope'")
      assert.error_matches(function() trace:aggregate { "what is this" } end, "not of the form")
      assert.error_matches(function() trace:group("bucket(time, 0)") end, "width above 0")
   end)
end)

describe("sort", function()
   it("is stable, descends at a minus, and puts missing values last", function()
      local rows = trace:limit(200):sort("-note", "core"):rows()
      local expected = {}
      for i = 1, 200 do
         expected[i] = { row = source[i], i = i }
      end
      table.sort(expected, function(a, b)
         local x, y = a.row, b.row
         if x.note ~= y.note then
            if not x.note or not y.note then
               return x.note ~= nil
            end
            return x.note > y.note
         elseif x.core ~= y.core then
            return x.core < y.core
         end
         return a.i < b.i
      end)
      for i, entry in ipairs(expected) do
         assert.same(entry.row, rows[i])
      end
   end)
end)

describe("output of rows", function()
   it("is the same by each, records and rows", function()
      local n = 0
      for time, area, note in trace:each("time", "area", "note") do
         n = n + 1
         assert.equal(source[n].time, time)
         assert.equal(source[n].area, area)
         assert.equal(source[n].note, note)
      end
      assert.equal(#source, n)
      n = 0
      for record in trace:records() do
         n = n + 1
         assert.same(source[n], record)
      end
      assert.equal(#source, n)
      assert.equal(#source, trace:count())
   end)

   -- More names and areas than the iterator keeps near, some alike, of which each comes again.
   it("has the same names however many there are, of names and of areas", function()
      math.randomseed(77)
      local names, given = {}, {}
      for i = 1, 1500 do
         names[i] = "name " .. i % 1200
      end
      for i = 1, 9000 do
         given[i] = { names[math.random(i // 6 + 1)], names[math.random(i // 6 + 1)],
            names[math.random(3)], i }
      end
      profio.register {
         name = "many names",
         score = function() return 0 end,
         tables = { rows = { { "first", "name" }, { "where", "area" }, { "few", "name" },
            { "number", "int" } } },
         open = function()
            return { rows = function(put)
               for _, row in ipairs(given) do
                  put(table.unpack(row))
               end
            end }
         end,
      }
      local many <close> = assert(profio.open({ data = "x" }, { format = "many names" }))
      local n = 0
      for first, where, few, number in many:each("first", "where", "few", "number") do
         n = n + 1
         assert.same(given[n], { first, where, few, number })
      end
      assert.equal(#given, n)
      n = 0
      for few, where, first in many:each("few", "where", "first") do
         n = n + 1
         assert.same({ given[n][3], given[n][2], given[n][1] }, { few, where, first })
      end
      assert.equal(#given, n)
   end)

   it("gives false, not nil, for a missing first column", function()
      local seen = 0
      for note in trace:limit(10):each "note" do
         seen = seen + 1
         if seen % 5 ~= 0 then
            assert.equal(false, note)
         end
      end
      assert.equal(10, seen)
   end)

   it("prints as an aligned table", function()
      local text = trace:limit(2):write { output = "text", columns = { "time", "area" } }
      assert.equal(("time (ns)  area\n       10  %s\n       20  %s\n"):format(source[1].area,
         source[2].area), text)
   end)

   it("has the unit of a column under each name that is given to it", function()
      -- The names in the heading that have a unit.
      local function times_of(view, options)
         local heading, list = view:write(options or {}):match "^[^\n]*", {}
         for name, unit in heading:gmatch "([%w_]+) %((%a+)%)" do
            assert.equal(options and options.unit or "ns", unit)
            list[#list + 1] = name
         end
         return table.concat(list, " ")
      end
      local sums = trace:group("area"):aggregate { "t = sum(time)", "m = mean(time)", "n = count",
         "c = count(time)", "u = distinct(time)", "p = p99(time)", "v = sum(value)",
         "f = first(time)", "d = stddev(time)" }
      assert.equal("t m p f d", times_of(sums))
      assert.equal("t m p f d", times_of(sums:limit(1), { unit = "ms" }))
      assert.equal("tt", times_of(sums:group():aggregate { "tt = sum(t)", "nn = sum(n)" }))
      assert.equal("time a b c d f h", times_of(trace:limit(1):derive { "a = time",
         "b = time - 5", "c = running(time)", "d = total(time) - time", "e = time / 1000",
         "f = max(time, 0)", "g = time // 1000", "h = -time % 7", "i = time / total(time)",
         "j = time * time", "k = value + 1", "l = time < 5", "m = sqrt(time)" }))
   end)

   it("names its columns", function()
      assert.same(columns, trace:table("rows").columns)
   end)
end)
