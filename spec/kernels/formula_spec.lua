local core = require "profio.core"
local disk = require "spec.support.disk"
local slow = require "spec.support.slow_formulas"
local view = require "profio.view"

-- A view over rows of { name, type } columns.
local function over(fields, rows)
   return view.over(function()
      return core.rows_reader(fields, rows)
   end)
end

-- The type and the values of a formula over columns a and b, "-" where one is missing.
local function computed(fields, rows, formula)
   local derived = over(fields, rows):derive { "y = " .. formula }
   local list, columns = {}, derived:fields()
   for i, row in ipairs(derived:rows()) do
      list[i] = row.y == nil and "-" or row.y
   end
   return columns[#columns].type, list, derived.warnings
end

local start = 1763800000123456789
local most, least = math.maxinteger, math.mininteger

describe("whole numbers of a formula", function()
   it("are computed in 64 bits", function()
      local fields, rows = { { "a", "int" }, { "b", "int" } }, { { start, start + 7 },
         { (1 << 52) + 1, (1 << 53) + 1 }, { most, least }, { least, -1 } }
      for _, case in ipairs {
         { "b - a", 7, (1 << 52), "-", most },
         { "a + 0", start, (1 << 52) + 1, most, least },
         { "a - 1 + 1", start, (1 << 52) + 1, most, "-" },
         { "a * 3", 5291400000370370367, 3 * ((1 << 52) + 1), "-", "-" },
         { "a // 10", 176380000012345678, 450359962737049, 922337203685477580,
            -922337203685477581 },
         { "a % 10", 9, 7, 7, 2 }, { "a % -10", -1, -3, -3, -8 }, { "a // b", 0, 0, -1, "-" },
         { "a % b", start, (1 << 52) + 1, -1, 0 }, { "-a", -start, -(1 << 52) - 1, -most, "-" },
         { "abs(-a)", start, (1 << 52) + 1, most, "-" }, { "a < b", 1, 1, 0, 1 },
         { "a == b - 7", 1, 0, "-", 0 }, { "min(a, b)", start, (1 << 52) + 1, least, least },
         { "max(a, b)", start + 7, (1 << 53) + 1, most, -1 },
         { "9223372036854775807 - a", most - start, most - (1 << 52) - 1, 0, "-" },
         { "-9223372036854775808 + 0", least, least, least, least },
      } do
         local type, list = computed(fields, rows, case[1])
         assert.same({ case[1], "int", table.unpack(case, 2) }, { case[1], type,
            table.unpack(list) })
      end
   end)

   it("are compared with floating-point numbers exactly", function()
      local fields = { { "a", "int" }, { "x", "num" } }
      local rows = { { (1 << 53) + 1, 2.0 ^ 53 }, { most, 2.0 ^ 63 }, { least, -2.0 ^ 63 },
         { 3, 3.5 }, { -3, -3.5 }, { 5, 1e300 }, { 5, -1e300 }, { 5 } }
      assert.same({ 0, 1, 0, 1, 0, 1, 0, "-" }, (select(2, computed(fields, rows, "a < x"))))
      assert.same({ 1, 0, 0, 0, 1, 0, 1, "-" }, (select(2, computed(fields, rows, "a > x"))))
      assert.same({ 1, 0, 0, 0, 1, 0, 1, "-" }, (select(2, computed(fields, rows, "x < a"))))
      assert.same({ 0, 0, 1, 0, 0, 0, 0, "-" }, (select(2, computed(fields, rows, "x == a"))))
      assert.same({ 1, 1, 0, 1, 1, 1, 1, "-" }, (select(2, computed(fields, rows, "a ~= x"))))
   end)

   it("have the type of the operation", function()
      local fields = { { "i", "int" }, { "x", "num" }, { "a", "addr" }, { "h", "handle" },
         { "b", "bool" } }
      for formula, type in pairs {
         ["i + b"] = "int", ["i / i"] = "num", ["i + x"] = "num", ["a + i"] = "addr",
         ["i + a"] = "addr", ["a - a"] = "int", ["a - i"] = "addr", ["i - a"] = "int",
         ["a // i"] = "addr", ["i // a"] = "int", ["a % i"] = "int", ["i % a"] = "addr",
         ["h * i"] = "handle", ["h + a"] = "addr", ["h - h"] = "int", ["-a"] = "int",
         ["abs(h)"] = "handle", ["min(a, i)"] = "addr", ["a < h"] = "int", ["a / i"] = "num",
         ["a + x"] = "num", ["total(a)"] = "addr", ["running(i)"] = "int", ["total(x)"] = "num",
         ["sqrt(i)"] = "num", ["0x7fffffffffffffff"] = "int", ["0x8000000000000000"] = "addr",
         ["1e3"] = "num", ["1.0 * i"] = "num", ["b"] = "int", ["x // 2"] = "num",
      } do
         assert.same({ formula, type }, { formula, (computed(fields, {}, formula)) })
      end
   end)

   it("are unsigned as addresses", function()
      local fields = { { "a", "addr" }, { "i", "int" } }
      local rows = { { 0xffffffff81000040, 64 }, { 0x10, -32 }, { -1, 1 } }
      for _, case in ipairs {
         { "a + i", -0x7effff80, "-", "-" }, { "a - i", -0x7f000000, 0x30, -2 },
         { "a // 4096 * 4096", 0xffffffff81000000, 0, 0xfffffffffffff000 },
         { "a % 4096", 0x40, 0x10, 0xfff }, { "a - 0xffffffff81000000", 0x40, "-", 0x7effffff },
         { "a < 0x8000000000000000", 0, 1, 0 }, { "i < a", 1, 1, 1 },
         { "a * a", "-", 0x100, "-" }, { "-a", "-", -16, "-" },
      } do
         local _, list = computed(fields, rows, case[1])
         assert.same(case, { case[1], table.unpack(list) })
      end
   end)

   it("are missing if they overflow, with one warning", function()
      local rows = {}
      for i = 1, 10000 do
         rows[i] = { i % 10 == 0 and most or i }
      end
      local derived = over({ { "a", "int" } }, rows):derive { "twice = a * 2 + 0 * a" }
      assert.same({}, derived.warnings)
      for _ = 1, 2 do
         assert.equal(9000, derived:where { twice = require("profio.internal.conditions").no(
            require("profio.internal.conditions").missing) }:count())
      end
      local message = "derive: in 1000 rows 'twice = a * 2 + 0 * a' is missing, because a number "
         .. "is too large for its type"
      assert.same({ { code = "derive-overflow", kind = "note", message = message } },
         derived.warnings)
   end)

   it("add the warning to the trace of the rows", function()
      local profio = require "profio"
      require "spec.support.events"
      local trace <close> = assert(profio.open { data = "EVENTS\n1 enter f\n5 leave f\n" })
      assert.same({}, trace.warnings)
      assert.same({}, trace:derive { "t = time * 2" }.warnings)
      assert.equal(2, trace:derive { "t = time * 9223372036854775807 + 9" }
         :where { time = { 1, 5 } }:count())
      assert.same({}, trace.warnings) -- the column was not requested
      trace:derive { "t = time * 9223372036854775807 + 9" }:rows()
      assert.equal("derive-overflow", trace.warnings[1].code)
      trace:close()
      assert.equal(1, #trace.warnings)
   end)
end)

describe("sums and shares of a formula", function()
   it("are exact where a sum of doubles is not", function()
      local fields = { { "a", "int" } }
      local rows = { { most }, { most }, { 1 }, { least }, { least }, { 4 } }
      local type, list, warnings = computed(fields, rows, "running(a)")
      assert.same({ "int", { most, "-", "-", most, -1, 3 }, 1 }, { type, list, #warnings })
      assert.same({ 3, 3, 3, 3, 3, 3 }, (select(2, computed(fields, rows, "total(a)"))))
      rows[4] = { most }
      assert.same({ "-", "-", "-", "-", "-", "-" }, (select(2, computed(fields, rows, "total(a)"))))
      -- a ratio may have a sum beyond 64 bits
      assert.equal(most / (2.0 * most), select(2, computed(fields, rows, "a / total(a)"))[1])
   end)

   it("are the nearest double", function()
      local python = io.popen("python3 -c 'print(1)' 2>/dev/null")
      if not python or python:read "a" ~= "1\n" then
         pending "python3 is not there"
         return
      end
      python:close()
      local rows, script = {}, { "n = [" }
      local near = { 1 << 52, 1 << 53, 1 << 62, most, least, 3, start }
      for i = 1, 600 do
         local a, b = near[math.random(#near)], near[math.random(#near)]
         a = (i % 3 == 0 and a >> math.random(0, 60) or a) ~ math.random(0, 1 << math.random(0, 40))
         b = b ~ math.random(0, 1 << math.random(0, 40))
         rows[i] = { a, b == 0 and 1 or b }
         script[#script + 1] = ("(%d, %d),"):format(a, rows[i][2])
      end
      script[#script + 1] = "]\nt = sum(a for a, b in n); r = 0\nfor a, b in n:\n r += a\n"
         .. " print((a / b).hex(), (a / t).hex(), (r / t).hex())\n"
      local path = disk.temporary()
      local file <close> = assert(io.open(path, "w"))
      file:write(table.concat(script, "\n"))
      file:close()
      local answers = assert(io.popen("python3 " .. path))
      local derived = over({ { "a", "int" }, { "b", "int" } }, rows):derive { "x = a / b",
         "share = a / total(a)", "so_far = running(a) / total(a)" }
      for x, share, so_far in derived:each("x", "share", "so_far") do
         local expected = { answers:read("l"):match "(%S+) (%S+) (%S+)" }
         assert.same({ tonumber(expected[1]), tonumber(expected[2]), tonumber(expected[3]) },
            { x, share, so_far })
      end
      answers:close()
      os.remove(path)
   end)
end)

-- {====== Random formulas ======

local near = { 0, 1 << 52, 1 << 53, 1 << 62, most, least, -(1 << 53), -(1 << 62) }

local function some_whole()
   local value = near[math.random(#near)] + math.random(-3, 3)
   return math.random(3) == 1 and math.random(-9, 9) or value
end

local function some_num()
   return math.random(2) == 1 and math.random(-40, 40) / 8 or near[math.random(#near)] * 1.0
end

local binary = { "+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "~=", "min", "max" }
local unary = { "sqrt", "abs", "negate" }

-- A tree of operations. Only columns of whole numbers have sums, and 0 is added to each, so that it
-- has 64 bits before something is divided.
local function some_tree(depth)
   local dice = math.random(12)
   if depth == 0 or dice == 1 then
      return { "column", ({ "i", "j", "x" })[math.random(3)] }
   elseif dice == 2 then
      return { "number", math.random(2) == 1 and some_whole() or math.random(-40, 40) / 8 }
   elseif dice == 3 then
      local sum = math.random(2) == 1 and { "running", { "column", "i" } } or { "total", "i" }
      return { "+", sum, { "number", 0 } }
   elseif dice == 4 then
      return { unary[math.random(#unary)], some_tree(depth - 1) }
   end
   return { binary[math.random(#binary)], some_tree(depth - 1), some_tree(depth - 1) }
end

describe("random formulas", function()
   it("agree with a slow model", function()
      math.randomseed(91)
      for round = 1, 400 do
         local rows, named = {}, {}
         for i = 1, 20 do
            local i_value = math.random(8) > 1 and some_whole() or nil
            local x = math.random(8) > 1 and some_num() or nil
            rows[i] = { i_value, some_whole(), x }
            named[i] = { i = i_value, j = rows[i][2], x = x }
         end
         local tree = some_tree(math.random(4))
         local text = "y = " .. slow.text(tree)
         local derived = over({ { "i", "int" }, { "j", "int" }, { "x", "num" } }, rows)
            :derive { text }
         local list, expected = {}, {}
         local values, overflows = slow.values(tree, named)
         for i, row in ipairs(derived:rows()) do
            list[i] = row.y == nil and "-" or row.y
            expected[i] = values[i] == nil and "-" or values[i]
         end
         assert.same({ round, text, expected }, { round, text, list })
         local warning = derived.warnings[1]
         assert.same({ text, overflows }, { text, warning
            and math.tointeger(warning.message:match "in (%d+) rows") or 0 })
      end
   end)

   it("with errors are refused with the position of the error", function()
      local fields = { { "i", "int" }, { "x", "num" } }
      for formula, words in pairs {
         ["i +"] = "a value is missing at the end of 'y = i +'",
         ["(i"] = "')' is missing at the end of",
         ["i i"] = "'i' stands where nothing is expected at character 7 of",
         ["none"] = "there is no column 'none' at character 5 of",
         ["cube(i)"] = "there is no function 'cube' at character 5 of",
         ["sqrt(i, x)"] = "sqrt takes one value at character 5 of",
         ["i + total(1)"] = "total takes a column at character 15 of",
         ["i $ 2"] = "character 7 of 'y = i $ 2' cannot be read",
         ["9223372036854775808"] = "has more than 64 bits; 9223372036854775808.0 is a num at",
         ["0x10000000000000000"] = "has more than 64 bits",
         [("("):rep(101) .. "i"] = "nested deeper than 100 at character 105",
      } do
         local ok, message = pcall(computed, fields, {}, formula)
         assert.is_false(ok)
         assert.is_truthy(message:find(words, 1, true), message)
      end
   end)

   it("of random words are computed, or refused with the position of the error", function()
      math.randomseed(92)
      local words = { "i", "x", "(", ")", "+", "-", "*", "/", "//", "%", "<", "<=", "==", "=", ",",
         "min(", "max(", "running(", "total(", "sqrt(", "abs(", "1", "2.5", "0x1f", "1e2", "[i]",
         "[", "]", "~", "$", "\0", "none", "9223372036854775807", "0xffffffffffffffff" }
      for _ = 1, 3000 do
         local formula = {}
         for n = 1, math.random(12) do
            formula[n] = words[math.random(#words)]
         end
         local text = table.concat(formula, math.random(2) == 1 and " " or "")
         local ok, message = pcall(computed, { { "i", "int" }, { "x", "num" } }, { { 5, 2.5 } },
            text)
         assert.is_truthy(ok or message:find "at character %d+ of" or message:find "at the end of"
            or message:find "derive: character %d+ of", ("%s: %s"):format(text, message))
      end
   end)
end)

-- }======
