-- Selections without rows: the header is printed, the existing values are printed on standard
-- error, and the status is 0. In Lua such a selection is an empty view.
--
-- Tags: user.

local command = require "spec.support.command"
local events = require "spec.support.events"
local profio = require "profio"
local xpp = require "spec.support.xpp_builder"

local lines = [[
1000000 enter main cpu0
2000000 enter leaf cpu0
2500000 enter state:mode=1 cpu1
3000000 leave leaf cpu0
4000000 leave state:mode=1 cpu1
5000000 leave main cpu0
]]

-- Returns the output and the standard error of the command for a selection that leaves no rows.
local function nothing(...)
   local text, status, errors = events.command(lines, ...)
   assert.equal(0, status, errors)
   return text, errors
end

local function run(line)
   local text, status, errors = command.run(line)
   assert.equal(0, status, errors)
   return text, errors
end

describe("a condition that no row satisfies", function()
   it("is reported with the values of its column and the nearest one", function()
      local text, errors = nothing("--table", "events", "--where", "event=entr")
      assert.equal("time (ns)  event  area  lane  value  core\n", text)
      assert.equal("profio: --where event=entr leaves no rows; column 'event' has: enter, leave; "
         .. "did you mean 'enter'?\n", errors)
   end)

   it("says how a value with a comma is written", function()
      local text, status, errors = events.command("1000000 enter a<b,c> cpu0\n", "--table",
         "events", "--where", "area=a<b,c>")
      assert.same({ 0, "time (ns)  event  area  lane  value  core\n" }, { status, text })
      assert.equal("profio: --where area=a<b,c> leaves no rows; column 'area' has: a<b,c>; "
         .. "a comma in a value is written \\,: 'a<b\\,c>'\n", errors)
   end)

   it("is the first of several without rows", function()
      local _, errors = nothing("--table", "events", "--where", "event=enter", "--where",
         "lane=cpu1", "--where", "area=main")
      assert.equal("profio: --where area=main leaves no rows; column 'area' has: mode=1\n", errors)
   end)

   it("is reported with the range of numbers", function()
      local _, errors = nothing("--table", "events", "--where", "time=7")
      assert.equal("profio: --where time=7 leaves no rows; column 'time' has: 1000000 to 5000000\n",
         errors)
   end)

   it("is reported also for aggregates, which have a row anyway", function()
      local text, errors = nothing("--aggregate", "n=count", "--where", "area=maim")
      assert.equal("n\n0\n", text)
      assert.matches("did you mean 'main'%?\n$", errors)
   end)

   it("prints the header of every report and form", function()
      for _, report in ipairs { "statistics", "calls", "histogram", "flat", "tree" } do
         local column = (report == "flat" or report == "tree") and "function" or "area"
         local where = column .. "=nosuch"
         local text, errors = nothing("--report", report, "--where", where)
         assert.matches("^[^\n]+\n$", text)
         assert.is_truthy(errors:find("--where " .. where .. " leaves no rows", 1, true), errors)
         text = nothing("--report", report, "--where", where, "--output", "csv")
         assert.matches("^[%w_,]+\n$", text)
      end
   end)

   it("is reported for columns with the name of an aggregate", function()
      local _, errors = run "profio --table arcs --where count=99 gmon.out"
      assert.equal("profio: --where count=99 leaves no rows; column 'count' has: 5, 20\n", errors)
   end)

   it("is not reported if rows are left, or there were none before", function()
      assert.equal("", (select(2, nothing("--table", "events", "--where", "event=enter"))))
      assert.equal("", (select(2, nothing("--table", "events", "--top", "0"))))
      local text, _, errors = events.command("", "--table", "events", "--where", "event=entr")
      assert.same({ "time (ns)  event  area  lane  value  core\n", "" }, { text, errors })
   end)
end)

describe("a span without events", function()
   it("is reported with the time span of the trace, in every report", function()
      for _, words in ipairs { { "--from", "1s" }, { "--to", "1us" }, { "--from", "1s", "--to",
         "2s" } } do
         for _, report in ipairs { "statistics", "calls", "flat", "tree", "histogram", "states" } do
            local argv = table.move(words, 1, #words, 3, { "--report", report })
            local text, errors = nothing(table.unpack(argv))
            assert.matches("^[^\n]+\n$", text)
            assert.is_truthy(errors:find(table.concat(words, " ")
               .. " leaves nothing: the trace lasts from 1.000 ms to 5.000 ms\n", 1, true), errors)
         end
      end
      assert.equal("", (select(2, nothing("--from", "2.1ms", "--to", "2.2ms"))))
   end)

   it("is reported with the names of the lanes", function()
      for _, words in ipairs { { "--report", "calls" }, { "--export", "chrome" },
         { "--table", "events" }, {}, { "--report", "load" } } do
         local argv = table.move(words, 1, #words, 3, { "--lane", "cpu7" })
         local text, errors = nothing(table.unpack(argv))
         assert.matches("^[^\n]", text)
         assert.equal("profio: --lane: no lane is 'cpu7'; there are: cpu0, cpu1; did you mean "
            .. "'cpu0' or 'cpu1'?\n", errors)
      end
   end)

   it("is reported for lanes that are numbers", function()
      command.file("nothing.PRF", (xpp.table(xpp.golden)))
      for _, lane in ipairs { "77", "nosuch" } do
         local text, errors = run("profio --report entries --lane " .. lane .. " nothing.PRF")
         assert.matches("^THREAD [^\n]*\n$", text)
         assert.is_truthy(errors:find("profio: --lane: no lane is '" .. lane .. "'; there are: 1\n",
            1, true), errors)
      end
   end)
end)

describe("unknown functions", function()
   it("are reported for a profile of contexts", function()
      local text, errors = nothing("--report", "flat", "--focus", "maim")
      assert.matches("^function[^\n]*\n$", text)
      assert.equal("profio: --focus: no function of this profile is 'maim'; did you mean 'main'?\n",
         errors)
      for _, word in ipairs { "--ignore", "--hide" } do
         text, errors = nothing("--report", "flat", word, "zzz")
         assert.matches("\nmain ", text)
         assert.equal("profio: " .. word .. ": no function of this profile is 'zzz'; there are: "
            .. "main, leaf\n", errors)
      end
   end)

   it("are reported for a graph, also in gprof's arithmetic", function()
      for _, words in ipairs { "", "--compat gprof " } do
         for _, focus in ipairs { "nosuch", "flat=nosuch" } do
            local text, errors = run("profio --symbols small.nm --report flat " .. words
               .. "--focus " .. focus .. " gmon.out")
            assert.matches("name    \n*$", text)
            assert.matches("^profio: %-%-focus: no function of this profile is '" .. focus, errors)
         end
      end
      local text = run "profio --symbols small.nm --report flat --focus nosuch --focus leaf \z
         --compat gprof gmon.out"
      assert.matches("  leaf\n", text)
   end)

   it("are reported once for two files, and not if one has them", function()
      local new = command.file("nothing_new.events", "EVENTS\n" .. lines)
      local _, errors = nothing("--diff", new, "--focus", "zzz")
      assert.equal(1, select(2, errors:gsub("zzz", "")))
      local only = command.file("nothing_old.events", "EVENTS\n" .. lines:gsub("leaf", "twig"))
      _, errors = nothing("--diff", only, "--focus", "twig")
      assert.equal("", errors)
   end)
end)

describe("in Lua an empty selection", function()
   it("is an empty view or profile", function()
      local trace <close> = events.open(lines)
      assert.equal(0, trace.events:where { event = "entr" }:count())
      assert.equal(0, trace.events:range(1 << 40):count())
      assert.equal(0, trace:calls { from = 1 << 40 }:count())
      assert.equal(0, trace:profile { lane = "nosuch" }:flat():count())
      local profile = trace:profile()
      for _, pick in ipairs { "nosuch", profio.match "^nosuch", { "a", "b" } } do
         assert.equal(0, profile:focus(pick):flat():count())
         assert.equal(0, profile:focus(pick):tree():count())
         assert.equal(profile:flat():count(), profile:ignore(pick):flat():count())
      end
      local gmon <close> = assert(profio.open(command.folder .. "/gmon.out"))
      for _, compat in ipairs { "exact", "gprof" } do
         local sum = 0
         for own in gmon:profile { compat = compat }:focus "nosuch":flat():each "self" do
            sum = sum + (own or 0)
         end
         assert.equal(0, sum)
      end
   end)
end)
