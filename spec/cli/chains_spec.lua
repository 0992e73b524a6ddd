-- --chain: chains of events on the command line, and limits on chains and loads.
--
-- Tags: user.

local command = require "spec.support.command"
local events = require "spec.support.events"

local lines = [[
0 enter A t1 core=0
10 leave A t1 core=0
12 enter B t2 core=0
30 leave B t2 core=0
40 enter A t1 core=0
50 leave A t1 core=0
80 enter B t2 core=0
90 leave B t2 core=0
99 enter Z t3
100 leave Z t3
]]

local function fine(...)
   local text, status, errors = events.command(lines, ...)
   assert.equal(0, status, errors)
   return text, errors
end

local function refused(...)
   local _, status, errors = events.command(lines, ...)
   assert.equal(2, status)
   return errors
end

describe("--chain", function()
   it("shows the statistics of chains", function()
      assert.equal("chain,count,max,max_at,bound,late,open\nA leave -> B enter,2,30,50,10,1,0\n",
         fine("--chain", "A leave -> B enter <= 10ns", "--output", "csv", "--columns",
         "chain,count,max,max_at,bound,late,open"))
   end)

   it("takes several chains, also of a file", function()
      command.file("list.chains", "# two chains\na: A leave -> B enter\nb: B leave -> A enter\n")
      assert.equal("chain,count\na,2\nb,1\nc,2\n", fine("--chain", "@" .. command.folder
         .. "/list.chains", "--chain", "c: A enter -> B leave", "--output", "csv", "--columns",
         "chain,count"))
   end)

   it("lists instances with the events between", function()
      assert.equal("chain,start,event_2,stop,duration\nx,0,10,12,12\nx,40,50,80,40\n",
         fine("--report", "chains", "--chain", "x: A enter -> A leave -> B enter", "--output",
         "csv", "--columns", "chain,start,event_2,stop,duration"))
   end)

   it("takes the chains that begin in a range of time", function()
      assert.equal("chain,count\nx,1\n", fine("--chain", "x: A leave -> B enter", "--from", "20ns",
         "--output", "csv", "--columns", "chain,count"))
   end)

   it("notes a step that never happens", function()
      for _, report in ipairs { "chains", "chain-statistics" } do
         local _, errors = fine("--report", report, "--chain", "x: A leave -> Bee enter")
         assert.matches("'x': there is no event 'Bee enter'; there are: A, B", errors, 1, true)
      end
   end)

   it("gives chains lanes of their own in exports of timelines", function()
      for _, kind in ipairs { "chrome", "firefox", "speedscope", "perfetto", "html" } do
         local text = fine("--chain", "x: A leave -> B enter <= 10ns", "--export", kind)
         assert.truthy(text:find("chain x", 1, true), kind)
         assert.truthy(text:find("x (late)", 1, true), kind)
         text = fine("--chain", "x: A leave -> B enter", "--lane", "t3", "--export", kind)
         assert.truthy(text:find("chain x", 1, true), kind)
         assert.falsy(text:find('"t1"', 1, true), kind)
      end
      assert.truthy(fine("--chain", "x: A leave -> B enter", "--export", "html"):find(
         '"name":"chain x","calls":2,"kept":2,"pauses":0,"chain":true', 1, true))
      assert.matches("cannot use --chain", refused("--chain", "A leave -> B enter", "--export",
         "btf"), 1, true)
   end)

   it("is refused for a file without events", function()
      local _, status, errors = command.run("profio --chain 'A leave -> B enter' gmon.out")
      assert.equal(2, status)
      assert.matches("'chain-statistics' does not fit this file: it has no table of events", errors,
         1, true)
   end)

   it("is refused if it is wrong, or for other reports", function()
      assert.matches("at least two steps", refused("--chain", "A leave"), 1, true)
      assert.matches("needs --chain", refused("--report", "chains"), 1, true)
      assert.matches("cannot use --chain", refused("--report", "calls", "--chain",
         "A leave -> B enter"), 1, true)
   end)
end)

describe("limits on a trace as a whole", function()
   local function limits(text, ...)
      command.file("whole.limits", text)
      return events.command(lines, "--limits", command.folder .. "/whole.limits", ...)
   end

   it("are on chains", function()
      local text, status = limits("chain s: A leave -> B enter <= 10ns\n"
         .. "chain t: A leave -> B enter <= 30ns\nA count == 2\n")
      assert.equal(4, status)
      assert.matches("EXCEEDED  s  chain  30 ns  <= 10 ns  at 50 ns", text, 1,
         true)
      assert.matches("3 limits: 2 kept, 1 exceeded", text, 1, true)
   end)

   it("fail for a chain that has no instance, with the step that is missing", function()
      local text, status = limits "chain s: C leave -> B enter <= 10ns\n"
      assert.equal(4, status)
      assert.matches("MISSING  s .* there is no event 'C leave'", text)
   end)

   it("are on the load of cores, lanes and areas", function()
      -- Core 0 is busy for 38 and for 10 of 50 ns, the lane t1 for 20 and for none.
      local text, status = limits("core 0 load <= 76% per 50ns\ncore 0 load <= 49%\n"
         .. "lane t1 load <= 40% per 50ns\nlane t1 load < 20%\nA load <= 20%\nB load <= 25%\n",
         "--output", "csv", "--columns", "line,value,state")
      assert.equal(4, status)
      local found = {}
      for line, value, state in text:gmatch "(%d+),([%d.]+),(%a+)" do
         found[math.tointeger(line)] = { tonumber(value), state }
      end
      assert.same({ { 0.76, "ok" }, { 0.48, "ok" }, { 0.4, "ok" }, { 0.2, "exceeded" },
         { 0.2, "ok" }, { 0.28, "exceeded" } }, found)
   end)

   it("are refused if they are wrong", function()
      for text, message in pairs {
         ["chain s: A leave -> B enter\n"] = "the chain has no bound",
         ["core x load <= 5%\n"] = "the number of a core is expected",
         ["core 0 load <= 5\n"] = "load <= 80% per 10ms' is expected",
         ["core 0 load <= 5% each 10ms\n"] = "load <= 80% per 10ms' is expected",
         ["A gross_max <= 5%\n"] = "is no share of the time",
         ["A load <= 5\n"] = "the bound of load is in per cent",
      } do
         local _, status, errors = limits(text)
         assert.equal(2, status)
         assert.matches(message, errors, 1, true)
      end
   end)
end)

describe("an option of --set", function()
   it("is that of the report or export, if other formats have one of its name", function()
      local page, errors = fine("--export", "html", "--set", "lanes=2")
      assert.matches("the 2 lanes with most events of 3 are drawn", page)
      assert.matches("%-%-set lanes=N", errors)
      fine("--report", "calls", "--set", "max_depth=8")
      local _, status, message = events.command(lines, "--report", "flat", "--set", "lanes=2")
      assert.equal(2, status)
      assert.matches("no option 'lanes'", message)
   end)
end)
