-- Dates in the selections of stores, in --where and in what they show. The expected numbers are
-- from `date -u -d TEXT +%s`.
--
-- Tags: user.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-dates"
local SECOND <const>, DAY <const> = 1000000000, 86400

-- Times of the runs in s since 1970, by name: the ends of two days.
local times = { before = 1772323199, first = 1772323200, noon = 1772366400, last = 1772409599,
   after = 1772409600 } -- 2026-03-01T00:00:00 is 1772323200

-- Creates a store with a run for each of these times; each has its last nanosecond if it is the
-- last second of a day.
local function fill(path, seconds)
   local store <close> = assert(profio.store(path))
   for name, second in pairs(seconds) do
      local ns = second * SECOND + (second % DAY == DAY - 1 and SECOND - 1 or 0)
      local trace <close> = assert(profio.open { data = stored.pprof({ ["main;" .. name] = 1 },
         { time_nanos = ns }) })
      assert(store:add(trace, { labels = { name = name } }))
   end
end

setup(function()
   disk.fresh(folder)
   fill(folder .. "/days.db", times)
end)

-- Runs a command of profio store, whose errors and status are as expected; returns its output.
local function run(line, status, message)
   local text, found, errors = command.run("cd store-dates && profio store " .. line)
   assert.matches(message or "^$", errors)
   assert.equal(status or 0, found)
   return text
end

-- Returns the names of the runs that a condition selects, in the order of their times.
local function selected(option, condition)
   local names = {}
   for name in run(("ls %s '%s' --sort time --columns labels --output csv days.db"):format(option,
      condition)):gmatch "name=(%w+)" do
      names[#names + 1] = name
   end
   return table.concat(names, " ")
end

describe("a date in a condition", function()
   it("stands for the whole day", function()
      for condition, expected in pairs {
         ["time=2026-03-01"] = "first noon last",
         ["time!=2026-03-01"] = "before after",
         ["time<2026-03-01"] = "before",
         ["time<=2026-03-01"] = "before first noon last",
         ["time>2026-03-01"] = "after",
         ["time>=2026-03-01"] = "first noon last after",
         ["time=2026-03-01..2026-03-02"] = "first noon last after",
         ["time=..2026-02-28"] = "before",
         ["time=2026-03-02.."] = "after",
         ["time=2026-02"] = "before",
         ["time=2026-03"] = "first noon last after",
         ["time=2026-03-01T12:00"] = "noon",
         ["time=2026-03-01 12:00:00"] = "noon",
         ["time=2026-03-01T12:00:00Z"] = "noon",
         ["time>2026-03-01T12:00"] = "last after",
         ["time>2026-03-01T23:59:59.5"] = "last after",
         ["time=2026-03-01T23:59:59.999999999"] = "last",
         ["time=1772366400s"] = "noon",
         ["time=1772366400000000000,1772323200s"] = "first noon",
      } do
         for _, option in ipairs { "--run", "--where" } do
            assert.same({ condition, expected }, { condition, selected(option, condition) })
         end
      end
   end)

   it("has one of the forms that an error names", function()
      for _, text in ipairs { "2026-02-29", "2026-13-01", "2026-3-1", "yesterday", "01.03.2026",
         "2026-03-01T24:00", "2026-03-01T12", "2026-03-01T12:00+02:00", "-3x", "1500-01-01",
         "-99999999999999999999d", "-300000w" } do
         for _, option in ipairs { "--run", "--where" } do
            run(("ls %s 'time<%s' days.db"):format(option, text), 2, "column 'time' holds a date "
               .. "or time in UTC %(2026%-03%-01.*an age %(%-90d; .*, or ns since 1970, got")
         end
      end
      run("ls --run time=2026-03-01,2026-03-02 days.db", 2, "a list has no dates, give a range, "
         .. "time=2026%-03%-01%.%.2026%-03%-02")
      run("ls --where 'files<2026-03-01' days.db", 2, "column 'files' holds a whole number")
   end)

   it("is a text in Lua", function()
      local store <close> = assert(profio.store(folder .. "/days.db", { mode = "read" }))
      assert.equal(3, #store:runs { time = "2026-03-01" })
      assert.equal(2, #store:runs { time = profio.no "2026-03-01" })
      assert.equal(4, #store:runs { time = profio.between("2026-03-01", "2026-03-02") })
      assert.equal(5, #store:runs { added = profio.between "-1h" })
      assert.equal(0, #store:runs { added = profio.between(nil, "-1h") })
      assert.has_error(function()
         store:runs { time = "soon" }
      end, "run: time is a date or time in UTC (2026-03-01, 2026-03, 2026-03-01T12:30, "
         .. "2026-03-01T12:30:05), an age (-90d; units s, min, h, d, w), or ns since 1970, got "
         .. "'soon'")
      assert.has_error(function()
         store:runs { time = { "2026-03-01", "2026-03-02" } }
      end, "run: time: a list has no dates: give profio.between(first, last)")
   end)
end)

describe("profio store ls", function()
   it("shows dates in UTC, in any time zone, and ns in other forms of rows", function()
      local expected = "         time (UTC)\n2026-02-28 23:59:59\n2026-03-01 00:00:00\n"
         .. "2026-03-01 12:00:00\n2026-03-01 23:59:59\n2026-03-02 00:00:00\n"
      assert.equal(expected, run "ls --columns time --sort time days.db")
      assert.equal(expected, (command.run("cd store-dates && TZ=Asia/Tokyo profio store ls "
         .. "--columns time --sort time days.db")))
      assert.equal("time\n1772366400000000000\n", run("ls --columns time --output csv "
         .. "--run name=noon days.db"))
      assert.equal("         time (s)\n1772366400.000000\n", run("ls --columns time --unit s "
         .. "--run name=noon days.db"))
   end)

   it("names the dates that there are if none is selected", function()
      run("ls --where time=2025-01-01 days.db", 0, "column 'time' has: 2026%-02%-28T23:59:59 to "
         .. "2026%-03%-02T00:00:00")
   end)
end)

describe("profio store drop --keep", function()
   it("drops the runs that are older", function()
      fill(folder .. "/old.db", { a = 1000000000, b = 1500000000, c = 1600000000, -- up to 2020
         coming = 4102444800 }) -- 2100
      assert.equal("old.db: 1 run dropped\n", run "drop --keep 90d --run name=c old.db")
      assert.equal("old.db: 0 runs dropped\n", run "drop --keep 10000w old.db")
      assert.equal("old.db: 2 runs dropped\n", run "drop --keep 90d old.db")
      assert.equal("old.db: 0 runs dropped\n", run "drop --keep 0s old.db")
      assert.equal("name=coming", (run("ls --columns labels --output csv --run 'time>-90d' old.db")
         :match "name=%w+"))
   end)

   it("refuses what is no age, and --all beside it", function()
      for _, text in ipairs { "90", "d", "-90d", "1.5d", "90 days", "9999999999w" } do
         run(("drop --keep='%s' days.db"):format(text), 2, "%-%-keep expects an age, a whole "
            .. "number with s, min, h, d or w %(90d%), got")
      end
      run("drop --keep 90d --all days.db", 2, "%-%-all removes all runs, %-%-keep only old ones")
      run("drop days.db", 2, "expects %-%-run COND, %-%-keep AGE or %-%-all")
   end)
end)
