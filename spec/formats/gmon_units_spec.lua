-- Histograms in units other than seconds, and in several; basic blocks of several records and
-- files.
--
-- Tags: stressed.

local builder = require "spec.support.gmon_builder"
local command = require "spec.support.command"
local profio = require "profio"
local programs = require "spec.support.programs"

local nm = "0000000000001000 T alpha\n0000000000001100 T beta\n"
command.file("units.nm", nm)

local function set(bins, dimension, rate)
   return { low = 0x1000, high = 0x1400, bins = bins, dimension = dimension, rate = rate,
      abbreviation = dimension and dimension:sub(1, 1) }
end

local function file_of(name, ...)
   local b = builder.new("<", 8):header()
   for _, one in ipairs { ... } do
      b:histogram(one)
   end
   return command.file(name, b:arc(0x1010, 0x1110, 5):bytes())
end

-- At 100 samples per second, alpha has 60 samples and beta 20. Of misses, alpha has 500 and beta 0.
local misses = file_of("misses.out", set({ 500, 0, 0, 0 }, "i-cache misses", 1))
local both = file_of("both.out", set { 60, 20, 0, 0 }, set({ 500, 0, 0, 0 }, "i-cache misses", 1))
local seconds = file_of("seconds.out", set { 60, 20, 0, 0 })
local hundreds = file_of("hundreds.out", set({ 500, 0, 0, 0 }, "i-cache misses", 100))

local function open(...)
   return assert(profio.open({ ... }, { symbols = command.folder .. "/units.nm" }))
end

local function flat(profile, metric)
   local list = {}
   for name, self, total in profile:flat { metric = metric, zeros = true }:each("function",
      "self", "total")
   do
      list[name] = { self, total }
   end
   return list
end

describe("export pprof", function()
   -- Returns the period of an exported file, as its reader states it.
   local function period(...)
      local trace <close> = open(...)
      local info = assert(profio.open { data = assert(trace:profile():export "pprof") }).info
      return { info.period, info.period_type, info.period_unit }
   end

   it("states the sampling period", function()
      assert.same({ 10000000, "time", "nanoseconds" }, period(seconds))
      local fast = file_of("fast.out", set({ 1, 2, 3, 4 }, "seconds", 1024))
      assert.same({ 976563, "time", "nanoseconds" }, period(fast))
      assert.same({ 10000000, "time", "nanoseconds" }, period(seconds, fast))
      assert.same({ 1, "i-cache misses", "i-cache misses" }, period(misses))
      local two = file_of("two.out", set { 1, 2, 3, 4 },
         { low = 0x2000, high = 0x2010, bins = { 1, 2, 3, 4 } })
      assert.same({ 10000000, "time", "nanoseconds" }, period(two))
   end)

   it("states no period if there is none, or more than one", function()
      for _, path in ipairs { both, hundreds, file_of("ticks.out", set({ 1, 2, 3, 4 }, nil, 0)) } do
         assert.same({}, period(path))
      end
      assert.same({}, period(seconds, misses))
   end)

   it("states the period of a run in a store", function()
      local path = command.folder .. "/units.db"
      local store <close> = assert(profio.store(path))
      assert(store:add(open(seconds)))
      local exported = assert(profio.open { data = assert(store:profile():export "pprof") })
      assert.equal(10000000, exported.info.period)
   end)
end)

describe("a histogram of misses", function()
   it("gives a profile of misses", function()
      local trace <close> = open(misses)
      local profile = trace:profile()
      assert.same({ { name = "i-cache misses", unit = "i-cache misses", total = 500,
         dimension = "i-cache misses" } }, profile:metrics())
      assert.same({ alpha = { 500, 500 }, beta = { 0, 0 } }, flat(profile))
      assert.same({}, trace.warnings)
   end)

   it("is printed as gprof prints it", function()
      local out, status = command.run("profio --symbols units.nm " .. misses)
      assert.equal(0, status)
      assert.matches("Each sample counts as 1 i%-cache misses%.", out)
      assert.matches("100%.00    500%.00   500%.00                             alpha", out)
      assert.matches("for 0%.20%% of 500%.00 i%-cache misses", out)
      if programs.has "gprof" and programs.has "gcc" then
         local exe = programs.profiled("units", programs.source("units.c",
            "int main(void) { return 0; }\n"), "")
         local said = programs.output("gprof -b -p -S %s/units.nm %s %s", command.folder, exe,
            misses)
         local flat_part = command.run("profio --report flat --symbols units.nm " .. misses)
         assert.equal(said:gsub("%s+$", ""), (flat_part:gsub("%s+$", "")))
         assert.equal(flat_part, (command.run(
            "profio --compat gprof --report flat --symbols units.nm " .. misses)))
      end
   end)

   it("has rows in its own unit", function()
      local rows = " --columns function,self,self_seconds --symbols units.nm "
      assert.equal("function,self,self_seconds\nalpha,500,500\nbeta,0,0\n",
         (command.run("profio --report flat --output csv" .. rows .. misses)))
      assert.matches("function +self %(i%-cache misses%) +self_seconds\nalpha +500 +500",
         (command.run("profio --report flat" .. rows .. misses)))
      assert.equal("function,self\nalpha,500\nbeta,0\n", (command.run("profio --compat gprof "
         .. "--report flat --output csv --columns function,self --symbols units.nm " .. misses)))
   end)

   it("is divided by its rate in text", function()
      local trace <close> = open(hundreds)
      assert.equal("i-cache misses / 100", trace:profile():metrics()[1].unit)
      local out = command.run("profio --report flat --symbols units.nm " .. hundreds)
      assert.matches("counts as 0%.01 i%-cache misses", out)
      assert.matches("100%.00      5%.00     5%.00 +alpha", out)
   end)
end)

describe("histograms in two units", function()
   it("are never added up", function()
      for _, files in ipairs { { both }, { seconds, misses }, { misses, seconds } } do
         local trace <close> = open(table.unpack(files))
         local profile = trace:profile()
         assert.same({ alpha = { 60, 80 }, beta = { 20, 20 } }, flat(profile, "samples"))
         assert.same({ alpha = { 600000000, 800000000 }, beta = { 200000000, 200000000 } },
            flat(profile))
         assert.same({ alpha = { 500, 500 }, beta = { 0, 0 } }, flat(profile, "i-cache misses"))
         assert.equal("gmon-several-units", trace.warnings[1].code)
      end
   end)

   it("are shown one after another", function()
      local out, status, err = command.run("profio --symbols units.nm " .. both)
      assert.equal(0, status)
      local first = assert(out:find("counts as 0.01 seconds", 1, true))
      local second = assert(out:find("counts as 1 i-cache misses", 1, true))
      assert.is_true(first < second)
      assert.matches("75%.00      0%.60     0%.60", out)
      assert.matches("100%.00    500%.00   500%.00", out)
      assert.matches("1%.25%% of 0%.80 seconds", out)
      assert.matches("0%.20%% of 500%.00 i%-cache misses", out)
      assert.matches("gmon%-several%-units", err)
      assert.matches("the others: %-%-metric ", err) -- in the words of the command
      assert.equal("function,self\nalpha,500\n", (command.run("profio --report flat --metric "
         .. "'i-cache misses' --output csv --columns function,self --where self=500 "
         .. "--symbols units.nm " .. both)))
   end)

   it("are exported, each in its unit", function()
      local trace <close> = open(both)
      local profile = trace:profile()
      local text = profile:export "callgrind"
      assert.matches("events: [^\n]*i%-cache_misses", text)
      assert.matches("i%-cache misses", (profile:export("html", nil,
         { metric = "i-cache misses" })))
      assert.matches("alpha 500\n", (profile:export("folded", nil,
         { metric = "i-cache misses" })))
      local again <close> = assert(profio.open({ data = profile:export "pprof" }))
      assert.same({ alpha = { 500, 500 }, beta = { 0, 0 } },
         flat(again:profile(), "i-cache misses"))
   end)

   it("are separate in a written file", function()
      local trace <close> = open(both, misses)
      local again <close> = assert(profio.open({ data = assert(trace:save()) }))
      local counts = {}
      for dimension, number in again:table "sets":each("dimension", "set") do
         counts[dimension] = 0
         for count in again.histogram:where { set = number }:each "count" do
            counts[dimension] = counts[dimension] + count
         end
      end
      assert.same({ seconds = 80, ["i-cache misses"] = 1000 }, counts)
   end)

   it("are refused with --compat gprof, as by gprof", function()
      local _, status, err = command.run("profio --compat gprof --symbols units.nm " .. both)
      assert.equal(1, status)
      assert.matches("dimension unit changed", err)
   end)

   it("may have different rates", function()
      local trace <close> = open(misses, hundreds)
      local profile = trace:profile()
      assert.same({ alpha = { 500, 500 }, beta = { 0, 0 } }, flat(profile, "i-cache misses"))
      assert.same({ alpha = { 500, 500 }, beta = { 0, 0 } },
         flat(profile, "i-cache misses / 100"))
   end)

   it("above the maximum number are refused", function()
      local sets = {}
      for i = 1, 9 do
         sets[i] = set({ i, 0, 0, 0 }, "unit " .. i, 1)
      end
      local trace <close> = open(file_of("many.out", table.unpack(sets)))
      local profile, message, code = trace:profile()
      assert.same({ nil, "limit" }, { profile, code })
      assert.matches("more than %d units", message)
   end)
end)

describe("the inputs with expected results", function()
   local folder = "../shared/cases/"
   if not io.open(folder .. "gmon-misses.nm") then
      pending "they are not there"
      return
   end

   it("have these results", function()
      local trace <close> = assert(profio.open(folder .. "gmon-misses.out",
         { symbols = folder .. "gmon-misses.nm" }))
      assert.same({ alpha = { 500, 500 }, beta = { 0, 0 } }, flat(trace:profile()))
      local two <close> = assert(profio.open(folder .. "gmon-two-units.out"))
      local profile, totals = two:profile(), {}
      for _, metric in ipairs(profile:metrics()) do
         totals[metric.name] = metric.total
      end
      assert.same({ samples = 20, time = 200000000, ["i-cache misses"] = 20 }, totals)
   end)
end)

describe("basic blocks", function()
   local one = command.file("blocks1.out", builder.new("<", 8):header()
      :blocks { { 0x1000, 5 }, { 0x1010, 6 } }:blocks { { 0x1010, 1 }, { 0x1020, 2 } }:bytes())
   local two = command.file("blocks2.out", builder.new("<", 8):header()
      :blocks { { 0x1000, 50 } }:bytes())

   it("of several records are summed", function()
      local trace <close> = assert(profio.open(one))
      assert.same({ { address = 0x1000, count = 5 }, { address = 0x1010, count = 7 },
         { address = 0x1020, count = 2 } }, trace.blocks:rows())
   end)

   it("of several files are summed, in tables, reports and written files", function()
      local wanted = "address,count\n0x1000,55\n0x1010,7\n0x1020,2\n"
      for _, words in ipairs { "--table blocks", "--report blocks" } do
         assert.equal(wanted, (command.run("profio " .. words .. " --output csv "
            .. "--columns address,count " .. one .. " " .. two)))
      end
      assert.matches("55 executions\n", (command.run("profio --report blocks --symbols units.nm "
         .. one .. " " .. two)))
      local trace <close> = assert(profio.open { one, two })
      local again <close> = assert(profio.open { data = assert(trace:save()) })
      assert.same(trace.blocks:rows(), again.blocks:rows())
   end)
end)

-- Returns count / rate in nanoseconds, rounded once with halves up.
local function nanoseconds(count, rate)
   return (2 * count * 1000000000 + rate) // (2 * rate)
end

describe("formulas over times of samples", function()
   local bins = { 1, 1, 5, 2, 1, 0, 7, 1 }
   local thirds = builder.new("<", 8):header():histogram({ low = 0x1000, high = 0x1010, bins = bins,
      rate = 3 }):bytes()

   it("add up counts and round once, in any order", function()
      local trace <close> = open(command.file("thirds.out", thirds))
      for _, order in ipairs { "low", "-low", "count", "-count" } do
         local sum = 0
         for _, row in ipairs(trace.histogram:sort(order):derive { "ns = running(spent)",
            "s = running(seconds)", "all = total(spent)", "share = spent / total(spent)",
            "share_s = seconds / total(seconds)", "upto = running(spent) / total(spent)",
            "upto_s = running(seconds) / total(seconds)", "all_s = total(seconds)",
            "same = spent + 0", "same_s = seconds + 0" }:rows()) do
            sum = sum + row.count
            assert.same({ nanoseconds(sum, 3), sum / 3, 6000000000, row.count / 18,
               row.count / 18, sum / 18, sum / 18, 6.0, row.spent, row.seconds },
               { row.ns, row.s, row.all, row.share, row.share_s, row.upto, row.upto_s, row.all_s,
                  row.same, row.same_s })
         end
      end
   end)

   it("round the sum of a group once", function()
      local trace <close> = open(command.file("thirds.out", thirds))
      local rows = trace.histogram:group("count"):aggregate { "t = sum(spent)",
         "s = sum(seconds)", "n = sum(count)", "mean = mean(spent)" }:sort "-n"
      assert.same({ "count", "t", "s", "n", "mean" }, rows.columns)
      local sum = 0
      for _, row in ipairs(rows:derive { "upto = running(t)", "share = t / total(t)",
         "share_s = s / total(s)", "all = total(t)" }:rows()) do
         sum = sum + row.n
         assert.same({ nanoseconds(row.n, 3), nanoseconds(sum, 3), row.n / 18, row.n / 18,
            6000000000 }, { row.t, row.upto, row.share, row.share_s, row.all })
      end
      assert.same({ t = 6000000000, s = 6.0 },
         rows:group():aggregate { "t = sum(t)", "s = sum(s)" }:rows()[1])
   end)

   it("round once for files of several rates", function()
      local sevenths = builder.new("<", 8):header():histogram({ low = 0x1000, high = 0x1010,
         bins = bins, rate = 7 }):bytes()
      local trace <close> = open(command.file("thirds.out", thirds),
         command.file("sevenths.out", sevenths))
      local rows = trace.histogram:derive { "s = running(seconds)", "all = total(seconds)",
         "share = seconds / total(seconds)" }:rows()
      local thirds_so_far, sevenths_so_far = 0, 0
      for i, row in ipairs(rows) do
         local is_third = i <= #bins
         thirds_so_far = thirds_so_far + (is_third and row.count or 0)
         sevenths_so_far = sevenths_so_far + (is_third and 0 or row.count)
         assert.same({ (thirds_so_far * 7 + sevenths_so_far * 3) / 21, 18 * 10 / 21,
            row.count * (is_third and 7 or 3) / 180 }, { row.s, row.all, row.share })
      end
   end)
end)
