-- Tags: user.
-- Unsanitized: texts, options and files of Lua alone.

local options = require "profio.cli.command_line"
local function_spec = require "profio.cli.function_spec"
local words = require "profio.internal.command.values"

describe("options.parted", function()
   -- Returns the options, the files and the rest, each as a text.
   local function parted(...)
      local list, files, rest = options.parted { ... }
      return table.concat(list, " "), table.concat(files, " "), rest and table.concat(rest, " ")
   end

   local function check(expected, ...)
      assert.same(expected, { parted(...) })
   end

   it("gives an option that takes a value the next word, whatever that begins with", function()
      check({ "--sort=-t", "x" }, "--sort", "-t", "x")
      check({ "--where=--info --info", "" }, "--where", "--info", "--info")
      check({ "--sort=--", "x" }, "--sort", "--", "x")
      check({ "--out=-o", "" }, "-o", "-o")
   end)

   it("leaves flags and joined words alone", function()
      check({ "--info --sort=-t", "x" }, "--info", "x", "--sort=-t")
      check({ "--out=file", "" }, "-ofile")
      check({ "--top", "" }, "--top")
   end)

   it("cuts at --", function()
      check({ "", "a", "-b --info" }, "a", "--", "-b", "--info")
   end)

   it("takes a dash and an empty word for files", function()
      check({ "--info", "a -  b" }, "a", "-", "--info", "", "b")
   end)
end)

describe("options.parse", function()
   it("takes words after -- as files, unless a script gets it", function()
      assert.same({ "a", "-b" }, options.parse({ "a", "--", "-b" }).files)
      local given = options.parse { "a", "--script", "x.lua", "--", "-b" }
      assert.same({ "a" }, given.files)
      assert.same({ "-b" }, given.rest)
   end)

   it("collects options that may be repeated", function()
      assert.same({ "a=1", "b=2" }, options.parse({ "--where", "a=1", "--where", "b=2" }).where)
      assert.same({}, options.parse({}).where)
   end)

   it("returns a message for wrong use", function()
      local given, message = options.parse { "--bogus" }
      assert.is_nil(given)
      assert.matches("unknown option '%-%-bogus'", message)
   end)
end)

describe("words.split", function()
   it("cuts at commas outside parentheses", function()
      assert.same({ "a", "bucket(time,10)", "c" }, words.split "a,bucket(time,10),c")
      assert.same({ "" }, words.split "")
      assert.same({ "f(int, char)", "g" }, words.split "f(int, char),g")
   end)

   it("takes an escaped comma as one", function()
      assert.same({ "a,b", "c" }, words.split "a\\,b,c")
   end)
end)

describe("words.condition", function()
   local fields = { { name = "n", type = "int" }, { name = "a", type = "addr" },
      { name = "x", type = "num" }, { name = "s", type = "name" }, { name = "b", type = "bool" } }

   local function condition(text)
      return words.condition(text, fields)
   end

   it("parses values by the type of the column", function()
      assert.same({ n = 12 }, condition "n=12")
      assert.same({ n = -3 }, condition "n=-3")
      assert.same({ n = 1500000 }, condition "n=1.5ms")
      assert.same({ n = 2000000000 }, condition "n=2s")
      assert.same({ n = 1763800000123456789 }, condition "n=1763800000.123456789s")
      assert.same({ n = 9007199254740993 }, condition "n=9007199254740993.0")
      assert.same({ n = math.mininteger }, condition "n=-9223372036854775808")
      assert.same({ a = 0x401000 }, condition "a=0x401000")
      assert.same({ a = -1 }, condition "a=0xffffffffffffffff")
      assert.same({ x = 0.05 }, condition "x=5%")
      assert.same({ s = "12" }, condition "s=12")
      assert.same({ s = "a..b" }, condition "s=a..b")
      assert.same({ b = true }, condition "b=yes")
   end)

   it("reads lists", function()
      assert.same({ n = { 1, 2 } }, condition "n=1,2")
      assert.same({ s = { "a,b", "c" } }, condition "s=a\\,b,c")
   end)

   it("reads ranges, with either end left out", function()
      local between = condition("n=3..0x10").n
      assert.equal(3, between.low)
      assert.equal(16, between.high)
      assert.equal(math.maxinteger, condition("n=3..").n.high)
      assert.equal(math.mininteger, condition("n=..3").n.low)
      assert.equal(-1, condition("a=0x10..").a.high)
   end)

   it("compares numbers and times", function()
      local function ends(text, column)
         local between = condition(text)[column or "n"]
         return { between.op, between.low, between.high }
      end
      assert.same({ "between", 3, nil }, ends "n>=3")
      assert.same({ "between", 4, nil }, ends "n>3")
      assert.same({ "between", nil, 1500000 }, ends "n<=1.5ms")
      assert.same({ "between", nil, 1499999 }, ends "n < 1.5ms")
      assert.same({ "between", math.maxinteger, math.mininteger }, ends("n>" .. math.maxinteger))
      assert.same({ "between", math.maxinteger, math.mininteger }, ends("n<" .. math.mininteger))
      assert.same({ "between", 0x11, nil }, ends("a>0x10", "a"))
      assert.same({ "between", -1, 0 }, ends("a>0xffffffffffffffff", "a"))
      assert.same({ "between", 0.5, nil }, ends("x>=50%", "x"))
      for _, number in ipairs { 0.5, -0.5, 0.0, 1e300, -3.0 } do
         local low, high = ends("x>" .. number, "x")[2], ends("x<" .. number, "x")[3]
         assert.is_true(low > number and high < number)
         assert.equal(number, (low + high) / 2)
      end
      assert.has_error(function() condition "s>=a" end)
      assert.has_error(function() condition "b<true" end)
   end)

   it("reads patterns, negations and what is missing", function()
      local found = condition("s~^Db").s.pattern
      assert.equal(1, (found:find "Dbx"))
      assert.is_nil((found:find "xDb"))
      assert.equal(5, condition("n!=5").n.inner)
      assert.equal(2, (condition("s!~x").s.inner.pattern:find "ax"))
      assert.equal("missing", condition("s=").s.op)
      assert.equal("no", condition("s!=").s.op)
   end)

   it("reports errors", function()
      local cases = { ["n=abc"] = "holds a whole number", ["n=1.5"] = "holds a whole number",
         ["n=9223372036854775808"] = "holds a whole number", ["n=9223372037s"] = "a whole number",
         ["q=1"] = "no column 'q'; there are: n, a",
         ["n"] = "must be col=val",
         ["s>a"] = "> is for numbers and times, column 's'",
         ["b=perhaps"] = "holds true or false", ["x=y"] = "holds a number",
         ["a=0x10000000000000000"] = "holds an address" }
      for text, message in pairs(cases) do
         local ok, failure = pcall(condition, text)
         assert.is_false(ok)
         assert.equal(2, failure.status)
         assert.is_truthy(failure.message:find(message, 1, true), failure.message)
      end
   end)
end)

describe("words.time", function()
   local function time(text, unit)
      return (words.time(text, unit, "--from"))
   end

   it("reads a number with its unit, exactly", function()
      assert.equal(1500000, time "1.5ms")
      assert.equal(2000000000, time "2s")
      assert.equal(-5000, time "-5us")
      assert.equal(17, time "+17ns")
      assert.equal(250, time ".25us")
      assert.equal(3000, time "3.us")
      assert.equal(9007199254740993, time "9007199254740993")
      assert.equal(9007199254740993, time "9007199.254740993s")
      assert.equal(2, time "1.5ns")
      assert.equal(1, time "1.49ns")
   end)

   it("reads a number without one in that of --unit", function()
      assert.equal(12, time "12")
      assert.equal(12500000, time("12.5", "ms"))
      assert.equal(12, time("12ns", "ms"))
   end)

   it("reads parts of the trace", function()
      assert.same({ nil, 10 }, { words.time("10%", nil, "--to") })
      assert.same({ nil, 0.5 }, { words.time(".5%", nil, "--to") })
   end)

   it("reports errors", function()
      for _, text in ipairs { "", "ms", "1.5m", "1,5", "1e3", "-10%", "101%", "%", ".", "0x10",
         "1 ms", "99999999999s" } do
         local ok, failure = pcall(time, text)
         assert.is_false(ok, text)
         assert.equal(2, failure.status)
         assert.is_truthy(failure.message:find("--from must be a time", 1, true))
      end
   end)
end)

describe("symspec", function()
   local functions = {
      { number = 0, ["function"] = "main", symbol = "main", file = "/src/a.c", line = 10 },
      { number = 1, ["function"] = "read", symbol = "read", file = "/src/io.c", line = 20 },
      { number = 2, ["function"] = "read", symbol = "read", file = "/src/net.c", line = 30 },
      { number = 3, ["function"] = "A::f(int)", symbol = "_ZN1A1fEi" },
   }

   local function find(text)
      return function_spec.find(text, functions)
   end

   it("names functions as gprof does", function()
      assert.same({ 0 }, find "main")
      assert.same({ 1, 2 }, find "read")
      assert.same({ 1 }, find "io.c")
      assert.same({ 1 }, find "src/io.c")
      assert.same({ 2 }, find "net.c:read")
      assert.same({ 2 }, find "net.c:30")
      assert.same({ 3 }, find "A::f(int)")
      assert.same({ 3 }, find "_ZN1A1fEi")
   end)

   it("finds names by pattern", function()
      assert.same({ 0, 1, 2 }, find "~^[mr]")
   end)

   it("finds nothing, or is wrong use when the pattern is none", function()
      for _, text in ipairs { "gone", "io.c:main", "o.c" } do
         assert.same({}, find(text))
      end
      local ok, failure = pcall(find, "~%")
      assert.is_false(ok)
      assert.equal(2, failure.status)
   end)

   it("splits off the part of the reports", function()
      assert.same({ "graph", "main" }, { function_spec.place "graph=main" })
      assert.same({ nil, "x=main" }, { function_spec.place "x=main" })
   end)

   it("parses pairs", function()
      assert.same({ "a", "b" }, { function_spec.pair "a/b" })
      assert.is_nil(function_spec.pair "~a/b")
      assert.is_nil(function_spec.pair "a/b/c")
   end)
end)
