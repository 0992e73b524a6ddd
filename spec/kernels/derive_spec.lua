-- Tags: stressed.
-- Costly: many commands, or large inputs.

local command = require "spec.support.command"
local core = require "profio.core"
local dbf = require "spec.support.dbf_builder"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local view = require "profio.view"
local xpp = require "spec.support.xpp_builder"

-- A view over rows of { name, type } columns.
local function over(fields, rows)
   return view.over(function()
      return core.rows_reader(fields, rows)
   end)
end

local fields = { { "i", "int" }, { "x", "num" }, { "b", "bool" }, { "e", "name" },
   { "odd name", "int" } }

local rows = {
   { 6, 1.5, true, "cycles", 1 }, { -4, 0.0, false, "imiss", 2 }, { nil, 2.25, true, "cycles", 3 },
   { 10, nil, nil, "cycles", 4 }, { 0, -4.0, true, nil, 5 },
}

-- The values of a formula, "-" for missing ones.
local function values(formula)
   local list = {}
   local derived = over(fields, rows):derive { "y = " .. formula }
   for i, row in ipairs(derived:rows()) do
      list[i] = row.y == nil and "-" or row.y
   end
   local columns = derived:fields()
   return list, columns[#columns].type
end

describe("derive", function()
   it("computes, and propagates missing values", function()
      for _, case in ipairs {
         { "i", "int", { 6, -4, "-", 10, 0 } },
         { "i + 1", "int", { 7, -3, "-", 11, 1 } },
         { "i + x", "num", { 7.5, -4.0, "-", "-", -4.0 } },
         { "i - 2 * 3 - 1", "int", { -1, -11, "-", 3, -7 } },
         { "(i - 2) * 3", "int", { 12, -18, "-", 24, -6 } },
         { "i / 4", "num", { 1.5, -1.0, "-", 2.5, 0.0 } },
         { "6 / x", "num", { 4.0, "-", 6 / 2.25, "-", -1.5 } },
         { "b + 1", "int", { 2, 1, 2, "-", 2 } },
         { "-i", "int", { -6, 4, "-", -10, 0 } },
         { "abs(i - 5)", "int", { 1, 9, "-", 5, 5 } },
         { "sqrt(x)", "num", { math.sqrt(1.5), 0.0, 1.5, "-", "-" } },
         { "min(i, 2, x)", "num", { 1.5, -4.0, "-", "-", -4.0 } },
         { "max(i, 2)", "int", { 6, 2, "-", 10, 2 } },
         { "i < 5", "int", { 0, 1, "-", 0, 1 } },
         { "running(i)", "int", { 6, 2, "-", 12, 12 } },
         { "total(i)", "int", { 12, 12, 12, 12, 12 } },
         { "i / total(i)", "num", { 0.5, -4 / 12, "-", 10 / 12, 0.0 } },
         { "total(x) + 1e2", "num", { 99.75, 99.75, 99.75, 99.75, 99.75 } },
         { "[odd name] * 2", "int", { 2, 4, 6, 8, 10 } },
         { "9007199254740992 + 0", "int", { 1 << 53, 1 << 53, 1 << 53, 1 << 53, 1 << 53 } },
         { "1e300 * 1e300", "num", { "-", "-", "-", "-", "-" } },
      } do
         local list, type = values(case[1])
         assert.same({ case[1], case[2], case[3] }, { case[1], type, list })
      end
   end)

   it("refuses invalid formulas with a message", function()
      for formula, words in pairs {
         ["i +"] = "a value is missing", ["(i"] = "'%)' is missing", ["i i"] = "'i' stands where",
         ["none + 1"] = "no column 'none'", ["e + 1"] = "columns of numbers only",
         ["cube(i)"] = "no function 'cube'", ["sqrt(i, x)"] = "takes one value",
         ["total(1)"] = "total takes a column", ["i $ 2"] = "cannot be read",
         ["1-(1-(1-(1-(1-(1-(1-(1-(1-(1-(1-(1-(1-(1-(1-(1-(1-1))))))))))))))))"] = "too deep",
      } do
         assert.error_matches(function()
            values(formula)
         end, words)
      end
      assert.error_matches(function()
         over(fields, rows):derive { "i = x" }:rows()
      end, "there is a column 'i' already")
      assert.error_matches(function()
         over(fields, rows):derive "i"
      end, "derive expects formulas")
      assert.error_matches(function()
         over(fields, rows):derive { "sum" }:rows()
      end, "derive expects \"name = formula\"")
   end)

   it("continues over many batches", function()
      local many, sum = {}, 0
      for i = 1, 10000 do
         many[i] = { i % 7 }
         sum = sum + i % 7
      end
      local numbers = over({ { "n", "int" } }, many)
      local last, running = nil, 0
      for n, so_far, share in numbers:derive { "so_far = running(n)", "share = n / total(n)" }
         :each("n", "so_far", "share") do
         running = running + n
         assert.equal(running, so_far)
         assert.equal(n / sum, share)
         last = so_far
      end
      assert.equal(sum, last)
      -- only requested columns are computed, and conditions may use them
      assert.equal(1428, numbers:derive { "odd = abs(n - 3)" }:where { odd = 3, n = 0 }:count())
   end)

   it("keeps the texts of many batches that have totals", function()
      local texts, sum = {}, 0
      local table_of = dbf { mark = 0x02, { "WORD", "C", 20 }, { "N", "N", 6 } }
      for i = 1, 10000 do -- each text is converted from code page 850
         texts[i] = i % 9 == 0 and "" or "tönt " .. i * 7919 % 5000
         table_of:row { (texts[i]:gsub("ö", "\x94")), i }
         sum = sum + i
      end
      local trace <close> = assert(profio.open { data = table_of:bytes() })
      local i = 0
      for text, n, share in trace.data:derive { "share = N / total(N)" }
         :each("WORD", "N", "share") do
         i = i + 1
         assert.same({ texts[i], i, i / sum }, { text or "", n, share })
      end
      assert.equal(10000, i)
   end)

   it("keeps the parameters of calls that have totals", function()
      local w = assert(profio.create(nil, { format = "xpp" }))
      for i = 1, 10000 do
         w:write { thread = 1, time = i * 2 * 1000000, op = "I", call = "F", params = "of " .. i }
         w:write { thread = 1, time = (i * 2 + 1) * 1000000, op = "o", call = "F" }
      end
      local data, sides = assert(w:close())
      local trace <close> = assert(profio.open { data = data, memo = sides.memo })
      local i = 0
      for params, share in trace:calls():derive { "share = net / total(net)" }
         :each("params", "share") do
         i = i + 1
         assert.same({ "of " .. i, 1 / 10000 }, { params, share })
      end
      assert.equal(10000, i)
   end)
end)

-- Opens half of a file of 6,000 rows live. Returns the rows with their shares, those after the
-- second half was added, and those after that.
local function grown()
   local list = {}
   for i = 1, 6000 do
      list[i] = { 1, i, "I", "F" .. i % 50, i }
   end
   local bytes = xpp.table(list, { fields = xpp.text_fields, version = 3 })
   local path = command.file("derived.PRF", bytes:sub(1, #bytes // 2))
   local trace <close> = assert(profio.open(path, { live = true, format = "xpp" }))
   local reader = trace.entries:derive { "share = line / total(line)" }:reader()
   local columns = { "line", "share", "call" }
   local before = core.rows(reader, columns)
   local file <close> = assert(io.open(path, "ab"))
   file:write(bytes:sub(#bytes // 2 + 1))
   file:close()
   trace:refresh()
   return before, core.rows(reader, columns), core.rows(reader, columns)
end

describe("totals", function()
   it("may be of a column with remainders that is requested without them", function()
      local bytes = gmon.new("<", 8):header()
         :histogram { low = 0x1000, high = 0x1010, bins = { 1, 2, 3, 4 } }:bytes()
      local trace <close> = assert(profio.open { data = bytes })
      local formula = { "share = spent / total(spent)" }
      local bins, groups = {}, {}
      for spent, low in trace.histogram:derive(formula):each("spent", "low") do
         bins[#bins + 1] = { low, spent }
      end
      assert.same({ { 0x1000, 10000000 }, { 0x1004, 20000000 }, { 0x1008, 30000000 },
         { 0x100c, 40000000 } }, bins)
      local grouped = trace.histogram:group "high":aggregate { "spent = sum(spent)" }
      for spent in grouped:derive(formula):each "spent" do
         groups[#groups + 1] = spent
      end
      table.sort(groups)
      assert.same({ 10000000, 20000000, 30000000, 40000000 }, groups)
   end)

   it("of a live file include the rows that it has when they are read", function()
      local before, after, none = grown()
      assert.is_true(#before > 2500 and #before < 3500)
      assert.equal(6000, #before + #after)
      assert.same({}, none)
      local sum = 0
      for i = 1, 6000 do
         sum = sum + i
         local row = before[i] or after[i - #before]
         local count = i <= #before and #before or 6000
         local total = count * (count + 1) // 2
         assert.same({ i, i / total, "F" .. i % 50 }, { row.line, row.share, row.call })
      end
   end)
end)

describe("pivot", function()
   it("lays values side by side", function()
      local pivoted = over(fields, rows):pivot("e", "i", { "imiss",
         { name = "cycles", column = "c" } })
      local list = {}
      for imiss, c in pivoted:each("imiss", "c") do
         list[#list + 1] = { imiss, c or "-" }
      end
      assert.same({ { 0, 6 }, { -4, 0 }, { 0, "-" }, { 0, 10 }, { 0, 0 } }, list)
      local second = {} -- alone: its key and value are read for it, too
      for c in pivoted:each "c" do
         second[#second + 1] = c
      end
      assert.same({ 6, 0, false, 10, 0 }, second)
      assert.same({ { b = true, imiss = 0, c = 6 } }, pivoted:where { b = true }:group "b"
         :aggregate { "imiss = sum(imiss)", "c = sum(c)" }:rows())
   end)

   it("expects a column of names and one of whole numbers", function()
      assert.error_matches(function()
         over(fields, rows):pivot("i", "i", { "a" }):rows()
      end, "pivot expects a column of names")
      assert.error_matches(function()
         over(fields, rows):pivot("e", "none", { "a" }):rows()
      end, "none")
   end)
end)
