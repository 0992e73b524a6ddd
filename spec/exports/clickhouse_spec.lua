-- Export clickhouse: RowBinary is decoded here by its definition, and compared with csv.

local cli = require "profio.cli"
local command = require "spec.support.command"
local core = require "profio.core"
local csv = require "spec.support.csv"
local events = require "spec.support.events"
local profio = require "profio"
local view = require "profio.view"

local decoders = {
   Int64 = "<i8", UInt64 = "<i8", Float64 = "<d", UInt8 = "B",
}

local function varint(bytes, at)
   local value, shift = 0, 0
   repeat
      local byte = bytes:byte(at)
      value = value | (byte & 0x7f) << shift
      shift, at = shift + 7, at + 1
   until byte < 0x80
   return value, at
end

local function string_at(bytes, at)
   local size, start = varint(bytes, at)
   assert(start + size - 1 <= #bytes)
   return bytes:sub(start, start + size - 1), start + size
end

-- Returns the value at a position, and the position after it.
local function value_at(bytes, at, type)
   local inner = type:match "^Nullable%((.*)%)$"
   if inner then
      local mark = bytes:byte(at)
      assert(mark == 0 or mark == 1)
      if mark == 1 then
         return nil, at + 1
      end
      return value_at(bytes, at + 1, inner)
   elseif type == "String" then
      return string_at(bytes, at)
   elseif type == "Array(String)" then
      local count, first = varint(bytes, at)
      local list = {}
      at = first
      for i = 1, count do
         list[i], at = string_at(bytes, at)
      end
      return list, at
   end
   return decoders[type]:unpack(bytes, at)
end

-- Returns the rows, each with its n values.
local function decode(bytes, types)
   local rows, at = {}, 1
   while at <= #bytes do
      local row = { n = #types }
      for i, type in ipairs(types) do
         row[i], at = value_at(bytes, at, type)
      end
      rows[#rows + 1] = row
   end
   assert.equal(#bytes + 1, at)
   return rows
end

-- Returns the types of the columns in a statement.
local function types_in(ddl)
   local types = {}
   for type in ddl:gmatch "\n   `.-[^\\]` ([%w()]+)" do
      types[#types + 1] = type
   end
   return types
end

local function over(fields, rows)
   return view.over(function()
      return core.rows_reader(fields, rows)
   end)
end

local function export(rows, options)
   return rows:export("clickhouse", nil, options)
end

-- Returns the decoded rows of a view.
local function rows_of(rows, options)
   options = options or {}
   options.ddl = true
   local types = types_in(export(rows, options))
   options.ddl = nil
   return decode(export(rows, options), types)
end

-- Compares with csv all columns that are no stacks.
local function check_as_csv(rows, what)
   local decoded, fields = rows_of(rows, { key = "" }), rows:fields()
   local records = csv.parse((rows:write { output = "csv", raw = true }))
   assert.equal(#records - 1, #decoded, what)
   for i, row in ipairs(decoded) do
      local expected, cells = csv.typed(fields, records[i + 1]), {}
      for c, field in ipairs(fields) do
         cells[c] = csv.cell(field.type, row[c])
         if field.type == "stack" then -- csv has its id
            cells[c] = expected[c]
         end
      end
      assert.same(expected, cells, what)
   end
end

describe("export clickhouse", function()
   it("has the values of csv, for the tables of all formats", function()
      local count = 0
      for rows, name, path in csv.samples(6) do
         check_as_csv(rows, path .. ": " .. name)
         count = count + 1
      end
      assert.is_true(count > 60, count)
   end)

   it("writes all types, and values that are missing", function()
      local rows = over({ { "t", "int" }, { "x", "num" }, { "a", "addr" }, { "h", "handle" },
         { "b", "bool" }, { "n", "name" }, { "f", "area" }, { "y", "bytes" } }, {
         { -1, -0.5, -1, 1 << 63, true, "\0\xff`", "f", "" },
         { math.mininteger, 1 / 0, 0, 7, false, "", "g\n", ("z"):rep(1 << 20) },
         {},
      })
      local ddl = export(rows, { ddl = true, name = "a`b\\c\nd" })
      assert.equal([[
CREATE TABLE `a\`b\\c\nd` (
   `t` Nullable(Int64),
   `x` Nullable(Float64),
   `a` Nullable(UInt64),
   `h` Nullable(UInt64),
   `b` Nullable(UInt8),
   `n` Nullable(String),
   `f` Nullable(String),
   `y` Nullable(String)
) ENGINE = MergeTree ORDER BY tuple()
]], ddl)
      assert.same({
         { -1, -0.5, -1, 1 << 63, 1, "\0\xff`", "f", "", n = 8 },
         { math.mininteger, 1 / 0, 0, 7, 0, "", "g\n", ("z"):rep(1 << 20), n = 8 },
         { n = 8 },
      }, rows_of(rows))
      assert.equal("", export(over({ { "t", "int" } }, {})))
   end)

   it("has columns of the sort key without marks, time by default, and names the row without",
   function()
      local rows = over({ { "time", "int" }, { "n", "name" } }, { { 5, "a" }, { 6 }, { nil, "b" } })
      assert.equal("CREATE TABLE `rows` (\n   `time` Int64,\n   `n` Nullable(String)\n) ENGINE = "
         .. "MergeTree ORDER BY (`time`)\n", export(rows, { ddl = true }))
      local bytes, message, code = export(rows)
      assert.same({ nil, "row 3 has no time, which is a column of the sort key: choose other "
         .. "columns with option key, or none", "unsupported" }, { bytes, message, code })
      assert.equal(("<i8Bs1i8B"):pack(5, 0, "a", 6, 1), export(rows:limit(2)))
      assert.equal(("Bs1B"):pack(0, "a", 1), export(rows:limit(2), { columns = { "n" } }))
      assert.same({ { 5, "a", n = 2 }, { 6, n = 2 }, { nil, "b", n = 2 } },
         rows_of(rows, { key = "" }))
      assert.is_truthy(export(rows, { ddl = true, key = " n , time" }):find(
         "ORDER BY (`n`, `time`)", 1, true))
      assert.has_error(function() export(rows, { key = "m" }) end)
      assert.has_error(function() export(rows, { key = "time", columns = { "n" } }) end)
   end)

   it("writes stacks as arrays, outermost first, and cuts or refuses deep ones", function()
      local lines = {}
      for i = 1, 5000 do
         lines[i] = ("%d enter f%d"):format(i, i)
      end
      lines[5001] = "6000 leave f5000\n"
      local trace <close> = events.open(table.concat(lines, "\n"))
      local calls = trace:calls { partial = "exclude" }
      local bytes, message, code = export(calls, { columns = { "stack" } })
      assert.same({ nil, "unsupported" }, { bytes, code })
      assert.is_truthy(message:find("row 1 has a stack of 5000 frames", 1, true))
      for _, depth in ipairs { 1, 2, 4999, 5000, 1 << 20 } do
         local stack = rows_of(calls, { columns = { "stack" }, depth = depth })[1][1]
         local expected = {}
         for i = 1, math.min(depth, 5000) do
            expected[i] = "f" .. i
         end
         assert.same(expected, stack)
      end
      assert.has_error(function() export(calls, { depth = 0 }) end)
      assert.same({ { {}, n = 1 } }, rows_of(over({ { "s", "stack" } }, { {} })))
   end)

   it("writes large tables in threads as it writes small ones", function()
      local rows = {}
      for i = 1, 50000 do
         rows[i] = { i, i % 3 ~= 0 and "n" .. i or nil, i % 7 == 0 and ("y"):rep(i % 300) or nil }
      end
      local fields = { { "i", "int" }, { "n", "name" }, { "y", "bytes" } }
      local parts = {}
      for at = 1, #rows, 1000 do
         parts[#parts + 1] = export(over(fields, { table.unpack(rows, at, at + 999) }))
      end
      assert.equal(table.concat(parts), export(over(fields, rows)))
   end)

   it("is written by the command, named after the table or report", function()
      local lines = "1 enter f\n5 leave f\n"
      assert.equal(("<i8Bs1i8Bs1"):pack(1, 0, "enter", 5, 0, "leave"), events.fine(lines,
         "--export", "clickhouse", "--table", "events", "--columns", "time,event"))
      for _, case in ipairs { { "events", "--table", "events" }, { "events", "--where", "time=1" },
         { "statistics", "--report", "statistics" }, { "calls", "--report", "calls" } } do
         local ddl = events.fine(lines, "--export", "clickhouse", "--set", "ddl=true",
            table.unpack(case, 2))
         assert.equal("CREATE TABLE `" .. case[1] .. "` (", ddl:match "^[^\n]*")
      end
      local out, path = command.folder .. "/by.rowbinary", command.file("sink.events",
         "EVENTS\n" .. lines)
      assert.equal(0, cli.main { "export", "--table", "events", "--columns", "time", "-o", out,
         path })
      assert.equal(("<i8i8"):pack(1, 5), command.read(out))
      local _, status, errors = events.command(lines, "--export", "clickhouse", "--set", "key=x")
      assert.equal(2, status)
      assert.is_truthy(errors:find("there is no column 'x'", 1, true))
   end)

   it("does not overwrite what is read, and no old file if a row is refused", function()
      local path = command.file("sink.events", "EVENTS\n1 enter f\n- leave f\n")
      local trace <close> = assert(profio.open(path))
      local rows = trace:table "events"
      assert.has_error(function() rows:export("clickhouse", path) end)
      assert.has_error(function() trace:profile():flat():export("csv", path) end)
      local change = trace:profile() - trace:profile()
      assert.has_error(function() change:flat():export("csv", path) end)
      assert.has_error(function() rows:export("pprof", path .. ".out") end)
      local out = command.file("sink.rowbinary", "old")
      local none = over({ { "time", "int" } }, { { 1 }, {} })
      assert.is_nil((none:export("clickhouse", out)))
      assert.equal("old", command.read(out))
      assert.is_true(none:limit(1):export("clickhouse", out))
      assert.equal(("<i8"):pack(1), command.read(out))
   end)
end)
