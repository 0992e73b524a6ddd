-- luacheck: no max string line length
--
-- Tags: stressed.
local events = require "spec.support.events"
local json = require "dkjson"

-- By hand: main runs 0..100 in lane a; f is called at 10 (5 long), 30 (9 long, of which 2 in h), 60
-- (7 long); isr takes the core from 70 to 74 in lane b.
local lines = [[
0 enter main a
10 enter f a
15 leave f a
30 enter f a
33 enter h a
35 leave h a
39 leave f a
60 enter f a
67 leave f a
70 suspend main a
70 enter isr b
74 leave isr b
74 resume main a
100 leave main a
]]

local function rows(...)
   local list, by = json.decode(events.fine(lines, "--report", "statistics", "--output", "json",
      ...)), {}
   for _, row in ipairs(list) do
      by[row.area .. "/" .. (row.context or "all")] = row
   end
   return by, list
end

local function near(expected, value)
   assert.is_true(math.abs(expected - value) < 1e-9, ("%s, expected %s"):format(value, expected))
end

describe("--report statistics", function()
   it("has count and sums, least and greatest, mean and deviation, quantiles", function()
      local f = rows()["f/all"]
      assert.equal(3, f.count)
      -- gross 5 9 7, net 5 7 7
      assert.same({ 21, 5, 9, 7, 7, 9 },
         { f.gross, f.gross_min, f.gross_max, f.gross_mean, f.gross_p50, f.gross_p99 })
      near(math.sqrt((4 + 4 + 0) / 3), f.gross_stddev)
      assert.same({ 19, 5, 7 }, { f.net, f.net_min, f.net_max })
      near(19 / 3, f.net_mean)
      assert.same({ 21, 5, 9 }, { f.call, f.call_min, f.call_max })
      -- enters at 10 30 60, leaves at 15 39
      assert.same({ 50, 20, 30, 25, 10 },
         { f.period, f.period_min, f.period_max, f.period_mean, f.period_jitter })
      assert.same({ 36, 15, 21 }, { f.outside, f.outside_min, f.outside_max })
   end)

   it("says when the worst call began", function()
      local f = rows()["f/all"]
      assert.same({ 30, 30, 30 }, { f.net_max_at, f.gross_max_at, f.call_max_at })
   end)

   it("counts the time in other contexts in call alone", function()
      local main = rows()["main/all"]
      assert.same({ 75, 96, 100 }, { main.net, main.gross, main.call })
   end)

   it("has rows for all contexts together, then for each", function()
      local by, list = rows()
      assert.equal(8, #list)
      for i = 1, 4 do
         assert.is_nil(list[i].context)
      end
      assert.same({ "a", "a", "a", "b" }, { by["main/a"].context, by["f/a"].context,
         by["h/a"].context, by["isr/b"].context })
      assert.equal(4, by["isr/b"].gross)
   end)

   it("has only rows for all contexts if --columns leaves out what distinguishes them", function()
      local function count(...)
         return #json.decode(events.fine(lines, "--report", "statistics", "--output", "json", ...))
      end
      assert.equal(4, count("--columns", "area,count"))
      assert.equal(8, count("--columns", "area,context,count"))
      assert.equal(8, count("--columns", "area,count", "--sort", "-context"))
      assert.equal(8, count("--columns", "area,count", "--set", "by=context"))
      assert.equal(1, count("--columns", "area,count", "--lane", "b"))
   end)

   it("takes --lane, --from and --to", function()
      local _, list = rows("--lane", "b")
      assert.equal(1, #list)
      assert.equal("isr", list[1].area)
      local by = rows("--from", "12", "--to", "32")
      assert.same({ 5, 1 }, { by["f/all"].gross, by["f/all"].count })
      assert.is_nil(by["isr/all"])
   end)

   it("takes the options of calls, and other groups", function()
      local _, list = rows("--set", "by=area")
      assert.equal(4, #list)
      local _, called = rows("--set", "by=caller")
      local found = {}
      for i, row in ipairs(called) do
         found[i] = row.area .. " of " .. (row.caller or "nobody")
      end
      table.sort(found)
      assert.same({ "f of main", "h of f", "isr of nobody", "main of nobody" }, found)
      local p90 = events.fine(lines, "--report", "statistics", "--set", "quantiles=p90",
         "--columns", "area,gross_p90", "--output", "csv", "--where", "area=f", "--set", "by=area")
      assert.equal("area,gross_p90\nf,9\n", p90)
   end)

   it("is wrong use where options do not go together", function()
      local function wrong(message, ...)
         local _, status, errors = events.command(lines, "--report", "statistics", ...)
         assert.equal(2, status)
         assert.is_truthy(errors:find(message, 1, true), errors)
      end
      wrong("statistics by caller tell of all lanes", "--set", "by=caller", "--lane", "a")
      wrong("--metric is one of net, gross", "--metric", "time")
      wrong("--set by is one of context, area, caller", "--set", "by=lane")
   end)

   it("prints a page for all contexts and one for each, most time first", function()
      local text = events.fine(lines, "--report", "statistics", "--unit", "ns")
      assert.equal([[
times in ns
all contexts
count  call_max  call_max_at  gross_max  net  call_p99  net_mean  gross_mean  period_jitter  gross_stddev  area
    1       100            0         96   75       100    75.000      96.000                        0.000  main
    3         9           30          9   19         9     6.333       7.000             10         1.633  f
    1         4           70          4    4         4     4.000       4.000                        0.000  isr
    1         2           33          2    2         2     2.000       2.000                        0.000  h

context a
count  call_max  call_max_at  gross_max  net  call_p99  net_mean  gross_mean  period_jitter  gross_stddev  area
    1       100            0         96   75       100    75.000      96.000                        0.000  main
    3         9           30          9   19         9     6.333       7.000             10         1.633  f
    1         2           33          2    2         2     2.000       2.000                        0.000  h

context b
count  call_max  call_max_at  gross_max  net  call_p99  net_mean  gross_mean  period_jitter  gross_stddev  area
    1         4           70          4    4         4     4.000       4.000                        0.000  isr
]], text)
   end)

   it("prints all of one time with --metric, and one page when there is one context", function()
      assert.equal([[
times in ns
count  period  period_min  period_mean  period_stddev  period_p50  period_p99  period_max  period_jitter  area
    3      50          20       25.000          5.000          20          30          30             10  f
]], events.fine(lines, "--report", "statistics", "--unit", "ns", "--metric", "period", "--where",
         "area=f"))
   end)

   it("prints callers beside the functions they call", function()
      local text = events.fine(lines, "--report", "statistics", "--unit", "ns", "--set",
         "by=caller", "--top", "2", "--metric", "net")
      assert.matches("area%s+caller\n", text)
      assert.matches("\n +3 +19 .* f +main\n$", text)
   end)
end)

describe("--limits", function()
   local command = require "spec.support.command"

   local function check(limits, ...)
      local path = command.file("limits.txt", limits)
      return events.command(lines, "--limits", path, ...)
   end

   it("sets the status, and shows each limit", function()
      local text, status, errors = check("f gross_max <= 9ns\nmain count == 1\n")
      assert.same({ 0, "" }, { status, errors })
      assert.equal([[
ok  f     gross_max  9 ns  <= 9 ns
ok  main  count         1  == 1
2 limits: 2 kept, 0 exceeded, 0 without a value
]], text)
   end)

   it("is 4 when one is exceeded, and says when it was", function()
      local text, status = check("f gross_max < 9ns\nh net_mean <= 0.5us\n")
      assert.equal(4, status)
      assert.equal([[
EXCEEDED  f  gross_max      9 ns  < 9 ns  at 30 ns
ok        h  net_mean   0.002 us  <= 0.500 us
2 limits: 1 kept, 1 exceeded, 0 without a value
]], text)
   end)

   it("takes names of any length, and aligns them by characters", function()
      local long = ("x"):rep(150)
      local two = lines .. "900 enter " .. long .. "\n901 leave " .. long .. "\n"
         .. "902 enter \u{c4}\n903 leave \u{c4}\n"
      local path = command.file("limits.txt", long .. " net <= 9ns\n\u{c4} net <= 9ns\n")
      local text = events.fine(two, "--limits", path)
      assert.equal("ok  " .. long .. "  net  1 ns  <= 9 ns\n"
         .. "ok  \u{c4}" .. (" "):rep(149) .. "  net  1 ns  <= 9 ns\n",
         (text:gsub("2 limits.*", "")))
   end)

   it("is 4 when an area did not run", function()
      local text, status = check "gone gross_max < 9ns\n"
      assert.equal(4, status)
      assert.matches("^MISSING +gone +gross_max +none +< 9 ns\n", text)
      assert.equal(0, select(2, check "gone count <= 3\n"))
   end)

   it("takes contexts, patterns, quantiles and spans", function()
      assert.equal(0, select(2, check "isr in b net <= 4ns\n"))
      assert.equal(4, select(2, check "~. net_p10 <= 10ns\n"))
      assert.equal(0, select(2, check("~. net_p10 <= 10ns\n", "--from", "28", "--to", "40")))
      assert.equal(4, select(2, check "f gross >= 22\n"))
   end)

   it("can be written as rows", function()
      local text, status = check("f gross_max < 9ns\ngone net < 1us\n", "--output", "csv")
      assert.equal(4, status)
      assert.equal([[
line,area,context,column,operator,bound,value,state,at,about
1,f,,gross_max,<,9,9,exceeded,30,
2,gone,,net,<,1000,,missing,,
]], text)
      assert.equal("area\nf\n", (check("f gross_max < 9ns\nh net < 1us\n", "--output", "csv",
         "--where", "state!=ok", "--columns", "area")))
   end)

   it("names the line of an error", function()
      local function wrong(limits, message)
         local _, status, errors = check(limits)
         assert.equal(2, status)
         assert.is_truthy(errors:find(message, 1, true), errors)
      end
      wrong("# nothing\n\n", "limits.txt: there is no limit in it")
      wrong("# fine\nf gross_max 9\n", "limits.txt:2: 'area column <= bound' is expected")
      wrong("f nett < 9\n", "limits.txt:1: no column 'nett'; there are: value, count, net,")
      wrong("\n\nf count < 9ms\n", "limits.txt:3: column 'count' is no time")
      local _, status, errors = events.command(lines, "--limits", "/nowhere/limits.txt")
      assert.equal(1, status)
      assert.matches("/nowhere/limits.txt: No such file", errors)
      _, status, errors = events.command(lines, "--limits", "/tmp")
      assert.equal(1, status)
      assert.matches("/tmp: Is a directory", errors)
   end)

   it("compares functions of a profile where there are no events", function()
      local path = command.file("flat.limits", "work self <= 0.4s\nleaf calls < 20\n")
      local text, status = command.run("profio --symbols small.nm --limits " .. path)
      assert.equal(4, status)
      assert.equal([[
EXCEEDED  leaf  calls       20  < 20
ok        work  self   0.350 s  <= 0.400 s
2 limits: 1 kept, 1 exceeded, 0 without a value
]], text)
   end)
end)
