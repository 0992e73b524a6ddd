-- The errors that the first differential flame graph of CPython had (python/cpython#154032, 154062,
-- 154085, and 154087 to 154090): wrong scales at two rates and durations, self time counted once
-- for each line, other files in another folder, numbers and cost of stacks that vanished, unknown
-- losses shown as none, and times of the processor compared with those of a clock.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local dcpi = require "spec.support.dcpi_builder"
local flames = require "spec.support.flames"
local folded = require "spec.support.folded"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local stored = require "spec.support.stored"

local facts -- of the next trace of the format "lines"

-- Rows "function file line ns" as frames of one function each.
profio.register {
   name = "lines",
   score = function() return 0 end,
   tables = { samples = { { "function", "name" }, { "file", "name" }, { "line", "int" },
      { "spent", "int" } } },
   profile = { table = "samples", ["function"] = "function", file = "file", line = "line",
      metrics = { { name = "time", unit = "ns", column = "spent" } } },
   open = function(source)
      return { info = facts, samples = function(put)
         for text in source:lines() do
            local name, file, line, spent = text:match "^(%S+) (%S+) (%d+) (%d+)$"
            put(name, file, math.tointeger(line), math.tointeger(spent))
         end
      end }
   end,
}

local function of_lines(text)
   return assert(profio.open({ data = text }, { format = "lines" }))
end

-- Returns a list of as many equal runs.
local function three(open, ...)
   return { open(...), open(...), open(...) }
end

-- Returns "before after verdict" by name, and the sums of before and after.
local function told(comparison)
   local list, before, after = {}, 0, 0
   for row in comparison:rows():records() do
      local name = row[comparison.by] .. (comparison.by == "line" and ":" .. row.line or "")
      assert.is_nil(list[name])
      list[name] = ("%d %d %s"):format(row.before, row.after, row.verdict)
      before, after = before + row.before, after + row.after
   end
   return list, before, after
end

describe("profio.compare, unlike others,", function()
   -- Functions a and b with 2 s and 1 s in samples at a rate.
   local function at_rate(rate)
      return assert(profio.open({ data = gmon.new("<", 8):header():histogram { low = 0x1000,
         high = 0x1040, rate = rate, bins = { 2 * rate, 0, 0, 0, 0, 0, 0, 0, rate } }:bytes() },
         { symbols = command.file("rates.nm", "1000 T a\n1020 T b\n1040 T etext\n") }))
   end

   it("takes times at two rates as equal, and refuses to compare their counts", function()
      local comparison = assert(profio.compare(three(at_rate, 1000), three(at_rate, 100)))
      assert.same({ a = "2000000000 2000000000 unknown", b = "1000000000 1000000000 unknown" },
         (told(comparison)))
      assert.matches("another rate", table.concat(comparison.warnings, "\n"))
      local _, message = profio.compare(three(at_rate, 1000), three(at_rate, 100),
         { metric = "samples" })
      assert.matches("another rate", message)
   end)

   it("warns of times from two clocks", function()
      local function measured()
         return of_lines "a a.c 1 2000000000\nb b.c 1 1000000000\n"
      end
      local comparison = assert(profio.compare(three(at_rate, 1000), three(measured)))
      assert.matches("^another clock: the times of .* 1000 samples a second; .* states no samples, "
         .. "and 2 more runs$", comparison.warnings[1])
      comparison = assert(profio.compare(three(measured), three(at_rate, 100)))
      assert.matches("another clock: .* 100 samples a second",
         table.concat(comparison.warnings, "\n"))
      assert.same({}, assert(profio.compare(three(measured), three(measured))).warnings)
      assert.same({}, assert(profio.compare(three(at_rate, 100), three(at_rate, 100))).warnings)
   end)

   it("warns of machines with another clock rate", function()
      local function at_speed(mhz)
         return assert(profio.open { data = dcpi():header { cpuspeed = mhz }:chunk(0x40, { 30, 10 })
            :footer():bytes() })
      end
      local comparison = assert(profio.compare(three(at_speed, "333"), three(at_speed, "500")))
      assert.matches("another clock: .* 333 MHz, .* 500 MHz, and 2 more runs",
         table.concat(comparison.warnings, "\n"))
      comparison = assert(profio.compare(three(at_speed, "333"), three(at_speed, "333")))
      assert.same({}, comparison.warnings)
   end)

   -- A pprof file of functions f and g whose samples were taken every `period` milliseconds.
   local function with_period(period, metric, unit)
      return stored.pprof({ ["main;f"] = 4000 // period, ["main;g"] = 3000 // period },
         { period = period * 1000000, period_type = "cpu", period_unit = unit or "nanoseconds" },
         metric)
   end

   it("refuses counts of samples of pprof files with two periods", function()
      local function of(...)
         return assert(profio.open { data = with_period(...) })
      end
      assert.is_truthy(profio.compare(three(of, 10), three(of, 10)))
      local result, message, code = profio.compare(three(of, 10), three(of, 2))
      assert.same({ nil, "unsupported" }, { result, code })
      assert.matches("another rate: .* 100 samples a second, .* 500 samples a second", message)
      local comparison = assert(profio.compare(three(of, 10), three(of, 2), { anyway = true }))
      assert.matches("another rate", comparison.warnings[1])
      -- estimates of events do not depend on the period
      comparison = assert(profio.compare(three(of, 10, "alloc_objects"),
         three(of, 2, "alloc_objects")))
      assert.matches("another rate", comparison.warnings[1])
      result, message = profio.compare(three(of, 10, nil, "bytes"), three(of, 2, nil, "bytes"))
      assert.is_nil(result)
      assert.matches("a sample every 10000000 bytes, .* a sample every 2000000 bytes", message)
   end)

   it("refuses them also with --diff, as a gate, and in a store", function()
      local old, new = command.file("p10.pb.gz", with_period(10)),
         command.file("p2.pb.gz", with_period(2))
      for _, line in ipairs { "compare %s %s --new %s %s --fail 'self > +5%%'",
         "report diff --diff=%s --diff=%s %s %s", "report flat --diff=%s --diff=%s %s %s" }
      do
         local out, status, err = command.run("profio " .. line:format(old, old, new, new))
         assert.equal(1, status, out)
         assert.matches("must not be compared.*another rate: .* 500 samples a second", err)
      end
      local out, status, err = command.run(("rm -f rates.db; profio store add rates.db --label v=1 "
         .. "%s && profio store add rates.db --label v=2 %s && profio compare v=1 rates.db --new "
         .. "v=2"):format(old, new))
      assert.equal(1, status, out)
      assert.matches("another rate: .* 500 samples a second", err)
   end)

   it("refuses counts of events of DCPI with two periods, also in a store", function()
      local function bytes(period)
         return dcpi():header { period = period }:chunk(0x40, { 30, 10 }):footer():bytes()
      end
      local function of(period)
         return assert(profio.open { data = bytes(period) })
      end
      assert.is_truthy(profio.compare(three(of, "63488"), three(of, "4096"), { metric = "time" }))
      local result, message = profio.compare(three(of, "63488"), three(of, "4096"),
         { metric = "cycles" })
      assert.is_nil(result)
      assert.matches("a sample every 63488 cycles, .* a sample every 4096 cycles", message)
      local _, status, err = command.run(("rm -f dcpi.db; profio store add dcpi.db --label v=1 %s "
         .. "&& profio store add dcpi.db --label v=2 %s && profio compare v=1 dcpi.db --new v=2 "
         .. "--metric cycles"):format(
         command.file("p1.dcpi", bytes "63488"), command.file("p2.dcpi", bytes "4096")))
      assert.equal(1, status)
      assert.matches("another rate: .* a sample every %d+ cycles", err)
   end)

   it("takes the precision of the lower of two rates", function()
      local base, new = three(at_rate, 1000), three(at_rate, 100)
      local found = {}
      for i, sides in ipairs { { base, new }, { new, base } } do
         local comparison = assert(profio.compare(sides[1], sides[2], { method = "poisson" }))
         for row in comparison:rows():where { ["function"] = "b" }:records() do
            found[i] = { ("%.9g"):format(row.low), ("%.9g"):format(row.high) }
         end
      end
      assert.same(found[1], found[2]) -- an interval of the ratio of 300 samples to 300
   end)

   it("does not scale the base to the duration of the new runs", function()
      assert.same({ f = "500 1500 slower", g = "1000 1000 unchanged" }, (told(assert(profio.compare(
         three(of_lines, "f x.lua 1 500\ng x.lua 9 1000\n"),
         three(of_lines, "f x.lua 1 1500\ng x.lua 9 1000\n"))))))
   end)

   it("counts the self time of a function once, however many lines it has", function()
      local text = "f x.lua 3 500\nf x.lua 4 500\ng x.lua 9 200\n"
      for by, rows in pairs { ["function"] = 2, line = 3, file = 1, stack = 2 } do
         local comparison = assert(profio.compare(three(of_lines, text), three(of_lines, text),
            { by = by, profiles = true }))
         local list, before, after = told(comparison)
         local count = 0
         for name, row in pairs(list) do
            count = count + 1
            assert.matches("^(%d+) %1 unchanged$", row, name)
         end
         assert.same({ rows, 1200, 1200 }, { count, before, after }, by)
      end
      local compared = assert(profio.compare(three(of_lines, text), three(of_lines, text),
         { profiles = true }))
      local width = 0
      for _, frame in ipairs(flames.read(compared:difference():export "svg")) do
         width = width + (frame.name == "f" and frame.width or 0)
      end
      assert.is_true(math.abs(width - 1000 / 1200) < 1e-5, width)
   end)

   it("has a row for each stack that vanished, not for its callers", function()
      local comparison = assert(profio.compare(three(folded.profile, "main;old_mid;old_leaf 1000\n"
         .. "main;old_tiny 1\nmain 9000\n"), three(folded.profile, "main 9000\n"),
         { by = "stack", profiles = true }))
      assert.same({ main = "9000 9000 unknown", ["main;old_mid;old_leaf"] = "1000 0 unknown",
         ["main;old_tiny"] = "1 0 unknown" }, (told(comparison))) -- each line is one sample
      local drawn = {}
      for _, frame in ipairs(flames.read(comparison:difference():export("svg", nil,
         { widths = "both" })))
      do
         drawn[frame.name] = frame.width
      end
      assert.is_true(drawn.old_leaf > 0 and drawn.old_mid > 0)
   end)

   it("knows functions, files, lines and stacks of another folder", function()
      for _, by in ipairs { "function", "line", "file", "stack" } do
         local list = told(assert(profio.compare(
            three(of_lines, "f /old/src/x.lua 3 500\ng /old/src/y.lua 4 300\n"),
            three(of_lines, "f /new/src/x.lua 3 500\ng /new/src/y.lua 4 300\n"), { by = by })))
         local count = 0
         for name, row in pairs(list) do
            count = count + 1
            assert.matches("^(%d+) %1 unchanged$", row, by .. " " .. name)
         end
         assert.equal(2, count, by)
      end
   end)

   it("refuses to compare times of the processor with those of a clock", function()
      local function of(metric)
         return assert(profio.open { data = stored.pprof({ ["main;f"] = 500, main = 300 }, nil,
            metric) })
      end
      assert.is_truthy(profio.compare(three(of, "cpu"), three(of, "cpu")))
      local result, message = profio.compare(three(of, "cpu"), three(of, "wall"))
      assert.is_nil(result)
      assert.matches("another metric: .* has cpu .*, .* has wall", message)
   end)

   it("states no losses of files that do not record them", function()
      local text = "f x.lua 3 500\ng x.lua 9 200\n"
      local function page_of(info)
         facts = info
         local trace <close> = of_lines(text)
         facts = nil
         return (trace:export "html":gsub("<script.-</script>", ""):gsub("<style.-</style>", ""))
      end
      assert.matches("[Ll]ost", page_of { lost = 3, records = 100 })
      assert.not_matches("[Ll]ost", page_of { records = 100 })
      assert.not_matches("[Ll]ost", page_of(nil))
      local comparison = assert(profio.compare(three(of_lines, text), three(of_lines, text)))
      assert.same({}, comparison.warnings)
      assert.not_matches("lost", comparison:text())
   end)
end)
