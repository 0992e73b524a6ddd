-- group and its aggregates compared with their definitions, and wrong use.
--
-- Costly: large inputs, beside models in Lua.

local core = require "profio.core"
local model = require "spec.support.model"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local tables = require "spec.support.tables"
local traces = require "profio.internal.trace"

local one = tables.aggregate

-- Widths of buckets by type; for addresses powers of two, for which Lua's % is right.
local widths = { int = { 1, 2, 7, 1000 }, num = { 0.5, 1, 3 }, addr = { 1, 2, 8, 16 } }

local function random_keys()
   local keys, used = {}, {}
   for _ = 1, math.random(0, 3) do
      local name, type = table.unpack(tables.pick(tables.fields))
      if not used[name] then
         used[name] = true
         local key = { column = name }
         if widths[type] and math.random(2) == 1 then
            key.bucket = tables.pick(widths[type])
         end
         keys[#keys + 1] = key
      end
   end
   return keys
end

local functions = {
   int = { "count", "sum", "min", "max", "mean", "stddev", "first", "last", "distinct", "p0", "p50",
      "p90", "p99", "p99.9", "p100", "p33.333333" },
   bool = { "count", "min", "max", "first", "last", "distinct" },
   area = { "count", "first", "last", "distinct" },
   stack = { "count", "first", "last", "distinct" },
}
functions.num = functions.int
functions.addr, functions.name, functions.bytes = functions.bool, functions.bool, functions.bool

local function random_aggregates()
   local list = {}
   for i = 1, math.random(1, 6) do
      local name, type = table.unpack(tables.pick(tables.fields))
      list[i] = { name = "a" .. i, fn = tables.pick(functions[type]), column = name }
      if math.random(5) == 1 then
         list[i] = { name = "a" .. i, fn = "count" }
      end
   end
   return list
end

-- The allowed error of aggregates: the last digits of a deviation depend on the order
-- of additions, and quantiles of many values are exact to 1/256 only.
local function rounded(tab, aggregates)
   local tolerance = {}
   for _, aggregate in ipairs(aggregates) do
      if aggregate.fn == "stddev" then
         tolerance[aggregate.name] = 1e-9
      elseif aggregate.fn:match "^p" and #tab.rows > 4096 then
         tolerance[aggregate.name] = 1 / 256
      end
   end
   return tolerance
end

-- Returns groups without column `about`, which quantile_spec checks.
local function taken(reader)
   local tab = tables.take(reader)
   local last = #tab.fields
   if tab.fields[last][1] == "about" then
      for _, row in ipairs(tab.rows) do
         row[last] = nil
      end
      tab.fields[last] = nil
   end
   return tab
end

local function compare(tab, keys, aggregates, what)
   tables.assert_same(model.group(tab, keys, aggregates),
      taken(core.group(tables.reader(tab), keys, aggregates)), what, rounded(tab, aggregates))
end

-- {====== In chunks ======

local part -- of some trace: chunks are read strictly, and there are no anomalies

-- A table cut into chunks, which are read one after the other; names are shared.
local function cut(tab, names)
   local parts, from = { part = part }, 0
   for i = 1, math.random(1, 5) do
      local behind = math.random(from, #tab.rows)
      parts[i] = core.rows_reader(tab.fields, table.move(tab.rows, from + 1, behind, 1, {}), names)
      from = behind
   end
   parts[#parts + 1] = core.rows_reader(tab.fields,
      table.move(tab.rows, from + 1, #tab.rows, 1, {}), names)
   return parts
end

local types = {}
for _, field in ipairs(tables.fields) do
   types[field[1]] = field[2]
end

-- Whether the chunks give the result of one scan, to the last bit.
local function splits(keys, aggregates)
   local all = true
   for _, key in ipairs(keys) do
      all = all and types[key.column] ~= "bytes"
   end
   for _, aggregate in ipairs(aggregates) do
      local fn, type = aggregate.fn, types[aggregate.column]
      local adds = fn == "sum" or fn == "mean"
      all = all and (fn == "count" or type ~= "bytes" and not (adds and type == "num") and
         fn ~= "stddev" and not fn:match "^p%d")
   end
   return all
end

-- When chunks are read, the whole reader is not used: it has no rows.
local function compare_parts(tab, keys, aggregates, what)
   local names = core.dictionary()
   local is_split = splits(keys, aggregates)
   local whole = is_split and { fields = tab.fields, rows = {} } or tab
   local got = core.group(tables.reader(whole, names), keys, aggregates, cut(tab, names))
   tables.assert_same(model.group(tab, keys, aggregates), taken(got), what,
      rounded(tab, aggregates))
   return is_split
end

-- }======

describe("group", function()
   it("gives the rows of the definition, for random tables", function()
      for case = 1, rounds(2000) do
         local tab = tables.any(case)
         compare(tab, random_keys(), random_aggregates(), "case " .. case)
      end
   end)

   it("gives the same rows after where and sort", function()
      for case = 1, rounds(250) do
         local tab = tables.any(case)
         local tests = { { column = "i", op = "between", low = -3 },
            { column = "name", op = "eq", value = "a", negate = true } }
         local order = { { column = "x", descending = true }, { column = "name" } }
         local keys, aggregates = random_keys(), random_aggregates()
         local want = model.group(model.sort(model.where(tab, tests), order), keys, aggregates)
         local got = core.group(core.sort(core.where(tables.reader(tab), tests), order), keys,
            aggregates)
         tables.assert_same(want, taken(got), "case " .. case, rounded(tab, aggregates))
      end
   end)

   it("distinguishes many groups", function()
      local rows = {}
      for i = 1, 70000 do
         rows[i] = { i * 7919 % 100003, "n" .. i % 30011 }
      end
      local tab = { fields = { { "i", "int" }, { "n", "name" } }, rows = rows }
      local aggregates = { { name = "c", fn = "count" }, { name = "s", fn = "sum", column = "i" } }
      compare(tab, { { column = "i" } }, aggregates, "by int")
      compare(tab, { { column = "n" } }, aggregates, "by name")
      compare(tab, { { column = "n" }, { column = "i" } }, aggregates, "by both")
   end)

   it("accepts ids of stacks that are too large for an array", function()
      local rows = {}
      for i = 1, 3000 do
         rows[i] = { ({ 0, 5, 4194303, 4194304, 4294967294 })[i % 5 + 1], i }
      end
      compare({ fields = { { "a", "stack" }, { "v", "int" } }, rows = rows }, { { column = "a" } },
         { { name = "s", fn = "sum", column = "v" } }, "stacks")
   end)

   it("treats -0 and 0 as equal, and all NaNs as equal", function()
      local nan = 0 / 0
      local reader = core.group(core.rows_reader({ { "x", "num" } },
         { { 0.0 }, { -0.0 }, { nan }, { -nan }, {} }), { { column = "x" } }, { { fn = "count" } })
      local counts = {}
      for _, count in core.each(reader) do
         counts[#counts + 1] = count
      end
      assert.same({ 2, 2, 1 }, counts)
   end)

   it("rounds buckets down, up to the limits of the types", function()
      local function bucket(type, value, width)
         local reader = core.group(core.rows_reader({ { "v", type } }, { { value } }),
            { { column = "v", bucket = width } }, { { fn = "count" } })
         return core.rows(reader)[1].v
      end
      assert.equal(-10, bucket("int", -1, 10))
      assert.equal(-10, bucket("int", -10, 10))
      assert.equal(math.mininteger, bucket("int", math.mininteger, 1000))
      assert.equal(math.mininteger, bucket("int", math.mininteger + 1, 1000))
      assert.equal(math.maxinteger - math.maxinteger % 1000, bucket("int", math.maxinteger, 1000))
      assert.equal(-16, bucket("addr", -1, 16))
      assert.equal(-0.5, bucket("num", -0.25, 0.5))
      assert.equal(-7.0, bucket("num", -7.0, 0x1p-1074))
      assert.equal(math.huge, bucket("num", math.huge, 0.5))
      assert.has_error(function() bucket("num", 1.0, math.huge) end,
         "bucket(v, ...): the width must be above 0 and finite")
   end)

   it("rounds down to powers of two", function()
      local function octave(value)
         return core.rows(core.group(core.rows_reader({ { "v", "int" } }, { { value } }),
            { { column = "v", octave = true } }, { { fn = "count" } }))[1].v
      end
      for value, low in pairs { [0] = 0, [1] = 1, [2] = 2, [3] = 2, [4] = 4, [1023] = 512,
         [-1] = -1, [-2] = -2, [-3] = -4, [-4] = -4, [-5] = -8, [math.maxinteger] = 1 << 62,
         [math.mininteger] = math.mininteger, [math.mininteger + 1] = math.mininteger } do
         assert.equal(low, octave(value))
      end
      assert.error_matches(function()
         core.group(core.rows_reader({ { "v", "num" } }, { { 1.5 } }),
            { { column = "v", octave = true } }, { { fn = "count" } })
      end, "octave%(v%): the column is of type num, not int")
   end)

   it("has separate buckets at the limits of the types", function()
      local function buckets(...)
         local rows = {}
         for i, value in ipairs { ... } do
            rows[i] = { value }
         end
         return core.drain(core.group(core.rows_reader({ { "v", "int" } }, rows),
            { { column = "v", bucket = 1000 } }, { { fn = "count" } }))
      end
      assert.equal(2, buckets(math.maxinteger, math.mininteger + 100))
      assert.equal(2, buckets(math.mininteger, math.mininteger + 900))
      assert.equal(1, buckets(math.mininteger, math.mininteger + 800, math.mininteger + 1))
      assert.equal(1, buckets(math.maxinteger - 800, math.maxinteger))
   end)

   it("gives one row without keys, even for an empty table", function()
      local reader = core.group(core.rows_reader({ { "v", "int" } }, {}), {},
         { { fn = "count" }, { fn = "sum", column = "v" }, { fn = "distinct", column = "v" },
            { fn = "min", column = "v" }, { fn = "mean", column = "v" },
            { fn = "stddev", column = "v" }, { fn = "first", column = "v" },
            { fn = "p50", column = "v" } })
      assert.same({ { count = 0, sum = 0, distinct = 0 } }, core.rows(reader))
      assert.same({}, core.rows(core.group(core.rows_reader({ { "v", "int" } }, {}),
         { { column = "v" } }, { { fn = "count" } })))
   end)

   it("gives 0 for sums of an empty group, and missing values for other aggregates", function()
      local fields = { { "k", "name" }, { "i", "int" }, { "x", "num" } }
      local reader = core.group(core.rows_reader(fields, { { "a" }, { "a" }, { "b", 1, 0.5 } }),
         { { column = "k" } }, {
            { fn = "count", name = "n", column = "i" }, { fn = "sum", name = "i", column = "i" },
            { fn = "sum", name = "x", column = "x" }, { fn = "distinct", name = "d", column = "i" },
            { fn = "mean", name = "mean", column = "i" },
            { fn = "max", name = "max", column = "x" },
            { fn = "p50", name = "p50", column = "i" } })
      assert.same({ { k = "a", n = 0, i = 0, x = 0.0, d = 0 },
         { k = "b", n = 1, i = 1, x = 0.5, d = 1, mean = 1.0, max = 0.5, p50 = 1 } },
         core.rows(reader))
   end)

   it("keeps the names of results, and has their fields", function()
      local reader = core.group(core.rows_reader({ { "v", "int" } }, {}),
         { { column = "v", bucket = 5, name = "five" } },
         { { fn = "p99.9", column = "v" }, { fn = "count", name = "n" } })
      local fields = reader:fields()
      assert.equal("five", fields[1].name)
      assert.equal("p99.9", fields[2].name)
      assert.matches("^p99%.9 of v: exact up to 4096 values of a group %(512 in large results%), "
         .. "otherwise at most 1/256 of it away$", fields[2].help)
      assert.matches("^p99%.99999 of v:", core.group(core.rows_reader({ { "v", "int" } }, {}), {},
         { { fn = "p99.99999", column = "v" } }):fields()[1].help)
      assert.equal("n", fields[3].name)
   end)
end)

describe("group in chunks", function()
   local trace
   setup(function()
      trace = assert(profio.open({ data = ("<I4I4i8i8"):pack(1, 3, 0, 0) },
         { format = "winidea", bin_version = "1.1" }))
      part = traces.of(trace).parts[1]
   end)
   teardown(function() trace:close() end)

   it("gives the rows of one scan, for random tables", function()
      local split = 0
      for case = 1, rounds(750) do
         local tab = tables.any(case)
         if compare_parts(tab, random_keys(), random_aggregates(), "case " .. case) then
            split = split + 1
         end
      end
      assert.is_true(split > rounds(125))
   end)

   it("distinguishes many groups", function()
      local rows = {}
      for i = 1, 30000 do
         rows[i] = { i * 7919 % 30011, nil, nil, nil, nil, "n" .. i % 10007 }
      end
      local tab = { fields = tables.fields, rows = rows }
      local aggregates = { { name = "c", fn = "count" }, { name = "s", fn = "sum", column = "i" },
         { name = "d", fn = "distinct", column = "i" } }
      assert(compare_parts(tab, { { column = "i" } }, aggregates, "by int"))
      assert(compare_parts(tab, { { column = "name" }, { column = "i" } }, aggregates, "by both"))
   end)

   it("sums beyond 64 bits", function()
      local rows, names = {}, core.dictionary()
      for i = 1, 10000 do
         rows[i] = { i % 3 == 0 and math.maxinteger - i or -(1 << 62) - i, nil, i % 7 / 7 }
      end
      local tab = { fields = tables.fields, rows = rows }
      local keys = { { column = "x" } }
      local aggregates = { { name = "m", fn = "mean", column = "i" }, { name = "n", fn = "count" } }
      local parts = cut(tab, names)
      parts[#parts + 1] = tables.reader(tab, names)
      local twice = table.move(rows, 1, #rows, #rows + 1, table.move(rows, 1, #rows, 1, {}))
      tables.assert_same(
         taken(core.group(tables.reader { fields = tab.fields, rows = twice }, keys,
            aggregates)),
         taken(core.group(tables.reader({ fields = tab.fields, rows = {} }, names), keys,
            aggregates, parts)), "mean")
   end)
end)

describe("sums", function()
   local max, min = math.maxinteger, math.mininteger

   it("are exact if intermediate sums overflow", function()
      assert.equal(max, one("sum", "int", { max, max, min, min, 1, 1, max }))
      assert.equal(min, one("sum", "int", { min }))
      assert.equal(min, one("sum", "int", { -1, min, 1 }))
      assert.equal(0, one("sum", "int", { max, min, 1 }))
   end)

   it("are exact over many batches of large and small values", function()
      local values, want = {}, 0
      for i = 1, 30000 do
         local value = i // 5000 % 2 == 0 and (1 << 47) - i or -(1 << 60) + i
         values[i] = value
         want = want + value -- wraps: the exact sum may be outside 64 bits in between
      end
      for i = 1, 30000 do
         values[#values + 1] = -values[i]
      end
      values[#values + 1] = 12345
      assert.equal(12345, one("sum", "int", values))
   end)

   it("are exact if the sum of many values exceeds 64 bits", function()
      local values = {}
      for i = 1, 100000 do
         values[i] = (1 << 48) - 1
      end
      assert.is_true(math.abs(one("mean", "int", values) - ((1 << 48) - 1)) < 1)
      assert.error_matches(function()
         one("sum", "int", values)
      end, "64 bits")
   end)

   it("fail with a message if they overflow in either direction", function()
      assert.error_matches(function()
         one("sum", "int", { max, 1 })
      end, "a sum exceeds 64 bits")
      assert.error_matches(function()
         one("sum", "int", { min, -1 })
      end, "aggregate a")
   end)

   it("give means of sums beyond 64 bits", function()
      assert.equal(2.0 ^ 63, one("mean", "int", { max, max, max }))
      assert.equal(-2.0 ^ 63, one("mean", "int", { min, min }))
      assert.equal(-1.0, one("mean", "int", { -1, -1, -1 }))
      assert.equal(-0.5, one("mean", "int", { max, min }))
   end)

   it("give the deviation of values far from 0", function()
      local base = 1e9
      local got = one("stddev", "num", { base + 4, base + 7, base + 13, base + 16 })
      assert.is_true(math.abs(got - math.sqrt(22.5)) < 1e-7)
      assert.equal(0.0, one("stddev", "int", { 5 }))
   end)

   it("are exact for present-day times in ns", function()
      local now = 1763800000123456789
      assert.equal(math.sqrt(22.5), one("stddev", "int", { now + 4, now + 7, now + 13, now + 16 }))
      assert.equal(3.5, one("stddev", "int", { -now, 7 - now }))
      assert.equal(2.0 ^ 63, one("stddev", "int", { min, max, min, max }))
      for shift = 0, 62 do
         for low = -2, 2 do
            local value = (1 << shift) + (1 << shift // 9) + low
            assert.equal(value + 0.0, one("mean", "int", { value, value, value }))
         end
      end
   end)

   it("count rows and values, also together with a sum", function()
      local rows = { { 1, 5 }, { 1 }, { 2 }, { 1, 7 } }
      local reader = core.group(core.rows_reader({ { "k", "int" }, { "v", "int" } }, rows),
         { { column = "k" } }, { { fn = "count", name = "rows" },
            { fn = "count", column = "v", name = "values" }, { fn = "sum", column = "v" } })
      assert.same({ { k = 1, rows = 3, values = 2, sum = 12 },
         { k = 2, rows = 1, values = 0, sum = 0 } }, core.rows(reader))
   end)
end)

describe("first, last, min and max of texts", function()
   it("outlive their rows", function()
      local rows = {}
      for i = 1, 9000 do
         rows[i] = { i % 3, ("text %05d"):format((i * 7) % 9001) }
      end
      for _, type in ipairs { "bytes", "name" } do
         local aggregates = {}
         for i, fn in ipairs { "first", "last", "min", "max", "distinct" } do
            aggregates[i] = { name = fn, fn = fn, column = "t" }
         end
         compare({ fields = { { "k", "int" }, { "t", type } }, rows = rows }, { { column = "k" } },
            aggregates, type)
      end
   end)
end)

describe("keys that are Lua functions", function()
   local function by(f, columns, type)
      return { { fn = f, columns = columns, name = "key", type = type } }
   end

   it("give the same groups as columns and buckets", function()
      for case = 1, rounds(150) do
         local tab = tables.any(case)
         local aggregates = random_aggregates()
         local function bucket(i)
            return i and i - i % 3
         end
         local want = model.group(tab, { { column = "i", bucket = 3, name = "key" } }, aggregates)
         tables.assert_same(want, taken(core.group(tables.reader(tab),
            by(bucket, { "i" }, "int"), aggregates)), "case " .. case, rounded(tab, aggregates))
         want = model.group(tab, { { column = "name", name = "key" }, { column = "flag" } },
            aggregates)
         local keys = by(function(name)
            return name
         end, { "name" })
         keys[2] = { column = "flag" }
         tables.assert_same(want, taken(core.group(tables.reader(tab), keys, aggregates)),
            "case " .. case, rounded(tab, aggregates))
      end
   end)

   -- The keys that f gives for the numbers 1 to 4, and their type.
   local function keys_of(f, type)
      local rows = { { 1 }, { 2 }, { 3 }, { 4 } }
      local reader = core.group(core.rows_reader({ { "i", "int" } }, rows), by(f, { "i" }, type),
         { { fn = "count" } })
      local found = {}
      for i, record in ipairs(core.rows(reader)) do
         found[i] = { record.key, record.count }
      end
      return reader:fields()[1].type, found
   end

   it("have the type of their values", function()
      assert.same({ "int", { { 1, 2 }, { 0, 2 } } }, { keys_of(function(i) return i % 2 end) })
      assert.same({ "num", { { 0.5, 1 }, { 1.0, 1 }, { 1.5, 1 }, { 2.0, 1 } } },
         { keys_of(function(i) return i / 2 end) })
      assert.same({ "bool", { { false, 2 }, { true, 2 } } },
         { keys_of(function(i) return i > 2 end) })
      assert.same({ "name", { { "x", 4 } } }, { keys_of(function() return "x" end) })
      assert.same({ "name", { { nil, 4 } } }, { keys_of(function() return nil end) })
   end)

   it("are texts if the values have several types", function()
      assert.same({ "name", { { "low", 2 }, { "3", 1 }, { "4", 1 } } },
         { keys_of(function(i) return i < 3 and "low" or i end) })
   end)

   it("treat 1 and 1.0 as equal, and nil and NaN as missing", function()
      assert.same({ "num", { { 1.0, 4 } } },
         { keys_of(function(i) return i % 2 == 0 and 1 or 1.0 end) })
      assert.same({ "int", { { nil, 2 }, { 3, 1 }, { 4, 1 } } },
         { keys_of(function(i) return i == 1 and 0 / 0 or i > 2 and i or nil end) })
   end)

   it("are called at the first batch if their type is declared, else at once", function()
      local asked = 0
      local function f(i)
         asked = asked + 1
         return i
      end
      local rows = { { 1 }, { 2 } }
      core.group(core.rows_reader({ { "i", "int" } }, rows), by(f, { "i" }, "int"),
         { { fn = "count" } })
      assert.equal(0, asked)
      core.group(core.rows_reader({ { "i", "int" } }, rows), by(f, { "i" }), { { fn = "count" } })
      assert.equal(2, asked)
   end)

   it("raise their error once, and then one that says so", function()
      local reader = core.group(core.rows_reader({ { "v", "int" } }, { { 1 } }),
         { { fn = function() error({ "mine" }) end, columns = { "v" }, name = "k", type = "int" } },
         { { fn = "count", name = "n" } })
      local _, first = pcall(core.rows, reader)
      assert.same({ "mine" }, first)
      for _ = 1, 2 do
         assert.error_matches(function()
            core.rows(reader)
         end, "^the rows cannot be read: a Lua function raised an error$")
      end
   end)

   it("raise an error for values that cannot be keys", function()
      assert.error_matches(function()
         keys_of(function() return {} end)
      end, "key 'key' is a table")
      assert.error_matches(function()
         keys_of(function() return "x" end, "int")
      end, "declared int, got x")
      assert.error_matches(function()
         keys_of(function() error("mine", 0) end)
      end, "^mine$")
   end)
end)

describe("group refuses", function()
   local function refuse(keys, aggregates, words)
      assert.error_matches(function()
         core.group(core.rows_reader({ { "i", "int" }, { "n", "name" }, { "x", "num" },
            { "a", "area" } }, {}), keys, aggregates)
      end, words)
   end

   it("names that are numbers", function()
      refuse({ { name = 5, column = "n" } }, { { fn = "count" } }, "name must be a string, got num")
      refuse({ { name = "n", column = "n" } }, { { fn = "count", name = 5 } }, "must be a string")
      refuse({ { name = 5, columns = { "n" }, fn = tostring } }, { { fn = "count" } }, "a string")
   end)

   it("unknown columns and functions", function()
      refuse({ { column = "j" } }, { { fn = "count" } }, "no column 'j'; there are: i, n, x, a")
      refuse({}, { { fn = "sum", column = "j" } }, "no column 'j'")
      refuse({}, { { fn = "median", column = "i" } }, "no aggregate 'median'; there are count")
      refuse({}, { { fn = "p101", column = "i" } }, "no aggregate 'p101'")
      refuse({}, { { fn = "p", column = "i" } }, "no aggregate 'p'")
      refuse({}, { { fn = "p5.", column = "i" } }, "no aggregate 'p5.'")
      refuse({}, {}, "nothing to group by")
   end)

   it("aggregates of columns of the wrong type", function()
      refuse({}, { { fn = "sum", column = "n" } }, "sum%(n%): the column is of type name")
      refuse({}, { { fn = "p50", column = "n" } }, "p50%(n%)")
      refuse({}, { { fn = "min", column = "a" } }, "min%(a%): the column is of type area")
      refuse({}, { { fn = "sum" } }, "sum needs a column")
   end)

   it("buckets of other types, and invalid widths", function()
      refuse({ { column = "n", bucket = 5 } }, { { fn = "count" } }, "of type name, not a number")
      refuse({ { column = "i", bucket = 0.5 } }, { { fn = "count" } }, "whole number above 0")
      refuse({ { column = "i", bucket = -1 } }, { { fn = "count" } }, "whole number above 0")
      refuse({ { column = "x", bucket = 0 } }, { { fn = "count" } }, "above 0")
   end)

   it("two results with the same name", function()
      refuse({ { column = "i" } }, { { fn = "count", name = "i" } },
         "two columns would be called 'i'")
   end)
end)
