local call_events = require "spec.support.call_events"
local core = require "profio.core"
local events = require "spec.support.events"
local json = require "dkjson"

local lines = [[
0 enter main a core=0
10 suspend main a core=0
10 enter isr b core=0
20 leave isr b core=0
20 resume main a core=0
35 leave main a core=0
40 enter x c core=1
100 leave x c core=1
]]

local function csv(...)
   return events.fine(lines, "--report", "load", "--output", "csv", ...)
end

describe("--report load", function()
   it("shows the load of each lane by interval", function()
      assert.equal([[
start,stop,lane,busy,load_share
0,50,a,25,0.5
50,100,a,0,0
0,50,b,10,0.2
50,100,b,0,0
0,50,c,10,0.2
50,100,c,50,1
]], csv("--set", "width=50ns"))
   end)

   it("shows the load of cores", function()
      assert.equal([[
start,stop,core,busy,load_share
0,40,0,35,0.875
40,80,0,0,0
80,100,0,0,0
0,40,1,0,0
40,80,1,40,1
80,100,1,20,1
]], csv("--set", "width=40ns", "--set", "by=core"))
   end)

   it("cuts time into as many pieces as are asked for, within --from and --to", function()
      assert.equal([[
start,stop,lane,busy,load_share
15,30,a,10,0.6666666666666666
30,45,a,5,0.3333333333333333
]], csv("--set", "pieces=2", "--from", "15", "--to", "45", "--lane", "a"))
   end)

   it("counts no time between the last event before a gap and the next one of a lane", function()
      local trace <close> = call_events.open({
         { time = 10, event = "enter", area = "f", lane = "a", core = 0 },
         { time = 60, event = "enter", area = "g", lane = "c", core = 1 },
         { time = 100, event = "leave", area = "g", lane = "c", core = 1 },
         { time = 400, event = "enter", area = "h", lane = "b", core = 2, flags = "gap" },
         { time = 450, event = "leave", area = "h", lane = "b", core = 2 },
         { time = 500, event = "enter", area = "f", lane = "a", core = 0 },
         { time = 520, event = "leave", area = "f", lane = "a", core = 0 },
      }, "calls on cores")
      local function busy(by)
         local found = {}
         local rows = core.rows(core.load(trace.events:reader(), { from = 0, to = 600, width = 300,
            by_core = by == "core" }))
         for i, row in ipairs(rows) do
            found[i] = ("%s %d"):format(row[by], row.busy)
         end
         return found
      end
      assert.same({ "a 90", "a 20", "c 40", "c 0", "b 0", "b 50" }, busy "lane")
      assert.same({ "0 90", "0 20", "1 40", "1 0", "2 0", "2 50" }, busy "core")
   end)

   it("draws it as text", function()
      local text = events.fine(lines, "--report", "load", "--set", "width=50ns", "--lane", "a,c")
      assert.equal([[
a
            0 ns   50.00%  ####################
           50 ns    0.00%

c
            0 ns   20.00%  ########
           50 ns  100.00%  ########################################
]], text)
   end)

   it("refuses wrong options", function()
      local function wrong(message, ...)
         local _, status, errors = events.command(lines, "--report", "load", ...)
         assert.equal(2, status)
         assert.is_truthy(errors:find(message, 1, true), errors)
      end
      wrong("must be a time such as 10ms, got 'wide'", "--set", "width=wide")
      wrong("must be 1 or more, got 0", "--set", "pieces=0")
      wrong("--set by is one of lane, core", "--set", "by=task")
   end)

   it("says why there is no load: the trace has states of tasks, but no calls", function()
      local states = "0 write T RUNNING\n10 write T TERMINATED\n"
      for _, by in ipairs { "by=lane", "by=core" } do
         local _, status, errors = events.command(states, "--report", "load", "--set", by)
         assert.equal(0, status)
         assert.matches("note: the trace has no calls, .*%-%-set os_states=usual", errors)
      end
      local _, _, errors = events.command("0 enter f a\n9 leave f a\n", "--report", "load")
      assert.equal("", errors)
   end)

   it("refuses too many intervals", function()
      local _, status, errors = events.command("0 enter f a\n2000000 leave f a\n", "--report",
         "load", "--set", "width=1ns")
      assert.equal(2, status)
      assert.matches("2000000 intervals of time; the maximum is 1048576: state a longer one, such "
         .. "as 10ms", errors)
   end)

   it("accepts any sequence of events", function()
      math.randomseed(22)
      local kinds = { "enter", "leave", "suspend", "resume", "write", "other" }
      for _ = 1, 10 do
         local list = {}
         for i = 1, math.random(300) do
            list[i] = ("%d %s %sf%d lane%d %d core=%d"):format(math.random(-50, 200),
               kinds[math.random(#kinds)], math.random(5) == 1 and "line:" or "", math.random(4),
               math.random(3), i, math.random(-1, 2))
         end
         for _, by in ipairs { "lane", "core" } do
            local rows = json.decode((events.command(table.concat(list, "\n") .. "\n", "--report",
               "load", "--output", "json", "--set", "by=" .. by, "--set", "width=13ns")))
            for _, row in ipairs(rows) do
               assert.is_true(row.busy >= 0 and row.busy <= row.stop - row.start)
            end
         end
      end
   end)

   it("agrees with a slow model", function()
      math.randomseed(21)
      for _ = 1, 8 do
         local text, told = events.program(math.random(2000))
         local width = math.random(1, 60)
         local expected = {}
         for _, busy in ipairs(told.busy) do
            for time = busy[2], busy[3] - 1 do -- one nanosecond after the other
               local key = busy[1] .. " " .. time // width
               expected[key] = (expected[key] or 0) + 1
            end
         end
         local found = {}
         local first = tonumber(text:match "^%d+")
         local rows = json.decode(events.fine(text, "--report", "load", "--output", "json",
            "--from", "0", "--to", tostring(told.last + 1), "--set", "width=" .. width .. "ns"))
         assert.is_true(first >= 0)
         for _, row in ipairs(rows) do
            if row.busy > 0 then
               found[row.lane .. " " .. row.start // width] = row.busy
            end
            assert.equal(row.busy / (row.stop - row.start), row.load_share)
         end
         assert.same(expected, found)
      end
   end)
end)

describe("the load of events without lanes", function()
   it("is that of one lane which has no name", function()
      local reader = core.rows_reader({ { "time", "int" }, { "event", "name" },
         { "area", "name" } }, { { 0, "enter", "f" }, { 400, "leave", "f" } })
      local rows = core.rows(core.load(reader, { from = 0, to = 1000, width = 1 }))
      assert.equal(1000, #rows)
      assert.same({ nil, 1, 0 }, { rows[1].lane, rows[400].busy, rows[401].busy })
   end)
end)
