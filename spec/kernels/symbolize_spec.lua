-- Tags: stressed.

local core = require "profio.core"
local elf = require "spec.support.elf"

local corpus = "../shared/corpus/gmon/made/"

-- A gmon.out with one bin of 4 bytes per count from `low` on, and arcs { from, to }.
local function gmon(low, counts, arcs)
   local parts = { "gmon", ("<I4"):pack(1), ("\0"):rep(12),
      ("<Bi8i8I4I4c15c1"):pack(0, low, low + 4 * #counts, #counts, 100, "seconds", "s") }
   for _, count in ipairs(counts) do
      parts[#parts + 1] = ("<I2"):pack(count)
   end
   for _, arc in ipairs(arcs or {}) do
      parts[#parts + 1] = ("<Bi8i8I4"):pack(1, arc[1], arc[2], 1)
   end
   return table.concat(parts)
end

local function source(bytes)
   return assert(core.source_data(bytes, "data"))
end

local function open(bytes, dictionary)
   return assert(core.open(core.opening("gmon", {}, false, dictionary), source(bytes)))
end

-- first at 0x1000, _Z6secondv at 0x1008, a gap from 0x1010.
local function program(dictionary)
   return assert(core.symbols_elf(source(elf.build { symbols = {
      { name = "first", value = 0x1000, size = 8 },
      { name = "_Z6secondv", value = 0x1008, size = 8 } } }), nil, "exact", dictionary))
end

local function column(reader, name)
   local values = {}
   for value in core.each(reader, { name }) do
      values[#values + 1] = value
   end
   return values
end

local dictionary, part, symbols

local function fresh()
   dictionary = core.dictionary()
   part = open(gmon(0xffc, { 1, 1, 1, 1, 1, 1 }, { { 0x1001, 0x1009 }, { 0, 0x1001 } }),
      dictionary)
   symbols = program(dictionary)
end

local function over(name, ...)
   return core.symbolize(assert(part:reader(name)), symbols, ...)
end

describe("columns computed from addresses", function()
   before_each(fresh)

   it("adds the demangled function of an address, missing if there is none", function()
      local reader = over("histogram", 0, { { column = "low" } })
      assert.same({ false, "first", "first", "second()", "second()", false },
         column(reader, "function"))
   end)

   it("gives symbols without demangling on request", function()
      local reader = over("histogram", 0, { { column = "low", prefix = "" } }, true)
      assert.same({ false, "first", "first", "_Z6secondv", "_Z6secondv", false },
         column(reader, "function"))
   end)

   it("subtracts the bias from addresses", function()
      local reader = over("histogram", 8, { { column = "low" } })
      assert.same({ false, false, false, "first", "first", "second()" },
         column(reader, "function"))
      reader = over("histogram", -4, { { column = "low" } })
      assert.equal("first", column(reader, "function")[1])
   end)

   it("adds columns for several addresses after those of the input", function()
      local reader = over("arcs", 0, { { column = "from", prefix = "from_" },
         { column = "to", prefix = "to_" } })
      local names = {}
      for i, field in ipairs(reader:fields()) do
         names[i] = field.name .. ":" .. field.type
      end
      local count = #names
      assert.same({ "from_function:name", "from_file:name", "from_line:int", "to_function:name",
         "to_file:name", "to_line:int" }, table.move(names, count - 5, count, 1, {}))
      local rows = core.rows(reader, { "from_function", "to_function", "to_line", "count" })
      assert.same({ { from_function = "first", to_function = "second()", count = 1 },
         { to_function = "first", count = 1 } }, rows)
   end)

   it("computes only requested columns, and keeps all columns of the input", function()
      local reader = over("histogram", 0, { { column = "low" } })
      assert.same({ 1, 1, 1, 1, 1, 1 }, column(reader, "count"))
   end)

   it("renames columns that the input has already", function()
      local inner = over("histogram", 0, { { column = "low" } })
      local reader = core.symbolize(inner, symbols, 0, { { column = "high" } })
      assert.same({ "first", "first", "second()", "second()", false, false },
         column(reader, "source_function"))
   end)
end)

describe("a reader with symbols", function()
   before_each(fresh)

   it("raises an error for columns without addresses, and symbols of another trace", function()
      assert.error_matches(function() over("histogram", 0, { { column = "nope" } }) end,
         "no column 'nope'")
      assert.error_matches(function() over("histogram", 0, { { column = "count" } }) end,
         "only a column of addresses")
      assert.error_matches(function()
         over("histogram", 0, { { column = "low", prefix = ("x"):rep(60) } })
      end, "too long")
      assert.error_matches(function()
         core.symbolize(assert(part:reader "histogram"), program(core.dictionary()), 0,
            { { column = "low" } })
      end, "another trace")
   end)

   it("keeps working after the symbols are closed and collected", function()
      local reader = over("histogram", 0, { { column = "low" } })
      symbols:close()
      assert.error_matches(function() over("histogram", 0, { { column = "low" } }) end,
         "symbols are closed")
      symbols = nil
      collectgarbage()
      collectgarbage()
      assert.equal("first", column(reader, "function")[2])
   end)

   it("adds files and lines", function()
      local exe = core.source(corpus .. "x86_64-native-pie.elf")
      if not exe then
         pending "no corpus"
         return
      end
      symbols = assert(core.symbols_elf(exe, nil, "exact", dictionary))
      local bias = 0x555555554000
      part = open(gmon(bias + 0x11ac, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }), dictionary)
      local rows = core.rows(over("histogram", bias, { { column = "low" } }),
         { "low", "function", "file", "line" })
      assert.equal(10, #rows)
      for _, row in ipairs(rows) do
         local file, line = symbols:line(row.low - bias)
         assert.same({ low = row.low, file = file, line = line,
            ["function"] = symbols:find(row.low - bias).name }, row)
      end
      assert.matches("t1%.c$", rows[10].file)
      assert.equal("leaf", rows[10]["function"])
   end)
end)
