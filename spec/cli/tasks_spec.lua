-- Reports of tasks of an operating system on the command line, options os_..., and limits on tasks.
--
-- Tags: user.

local command = require "spec.support.command"
local events = require "spec.support.events"

local lines = [[
0 write state:A=ACTIVE main - core=0
1 write state:A=RUNNING main - core=0
3 write state:A=READY main - core=0
3 write state:B=RUNNING main - core=0
7 write state:B=TERMINATED main - core=0
7 write state:A=RUNNING main - core=0
10 write state:A=TERMINATED main - core=0
20 write state:B=READY main - core=0
22 write state:B=RUNNING main - core=0
40 write state:B=TERMINATED main - core=0
]]

local function fine(...)
   local text, status, errors = events.command(lines, ...)
   assert.equal(0, status, errors)
   return text, errors
end

describe("--report tasks", function()
   it("shows response times, preemptions and load", function()
      assert.equal("task,count,response_max,response_max_at,delay_max,running,ready,preemptions,"
         .. "incomplete,load_share\nB,1,20,20,2,22,2,0,1,0.55\nA,1,10,0,1,5,5,1,0,0.125\n",
         fine("--report", "tasks", "--output", "csv", "--columns", "task,count,response_max,"
         .. "response_max_at,delay_max,running,ready,preemptions,incomplete,load_share"))
   end)

   it("lists jobs", function()
      assert.equal("task,activation,response,flags\nB,,,orphan\nA,0,10,\nB,20,20,\n",
         fine("--report", "jobs", "--output", "csv", "--columns", "task,activation,response,flags"))
   end)

   it("says which states have no meaning, and that there are none", function()
      local _, errors = fine("--report", "tasks", "--set", "os_states=READY=ready")
      assert.equal("", errors)
      local text
      text, _, errors = events.command("0 write state:A=RUNNING\n1 write state:A=Zzz\n", "--report",
         "tasks")
      assert.truthy(text)
      assert.matches("these states of tasks is not known, and jobs end in them: Zzz; say it: "
         .. "--set os_states=Zzz=waiting", errors, 1, true)
      _, _, errors = events.command("0 write state:A=x\n1 write state:A=y\n", "--report", "tasks")
      assert.matches("no state of a variable is known", errors, 1, true)
      assert.matches("if tasks are functions: --report statistics", errors, 1, true)
      _, _, errors = events.command("0 write state:A=READY\n1 write state:A=RUNNING\n", "--report",
         "jobs")
      assert.matches("--set ends=waiting", errors, 1, true)
   end)

   it("says that a variable which states the running task tells no response times", function()
      local _, status, errors = events.command("0 write state:C=T1\n5 write state:C=T2\n",
         "--report", "tasks", "--set", "os_running=C")
      assert.equal(0, status)
      assert.matches("tells no response times: see --report load and statistics", errors, 1, true)
   end)

   it("is refused for wrong options", function()
      local _, status, errors = events.command(lines, "--report", "tasks", "--set", "os_states=A=b")
      assert.equal(2, status)
      assert.matches("expected NAME=MEANING", errors, 1, true)
      _, status, errors = command.run "profio --set os_states=usual gmon.out"
      assert.equal(1, status)
      assert.matches("it has no table of events, in which os_states finds", errors, 1, true)
   end)
end)

describe("--set os_states", function()
   it("gives loads of tasks and cores", function()
      assert.equal("lane,busy\nA,5\nB,22\n", fine("--set", "os_states=usual", "--report", "load",
         "--set", "pieces=1", "--output", "csv", "--columns", "lane,busy"))
      assert.equal("core,busy\n0,27\n", fine("--set", "os_states=usual", "--report", "load",
         "--set", "pieces=1", "--set", "by=core", "--output", "csv", "--columns", "core,busy"))
   end)

   it("is named where a task is a variable without calls", function()
      local remedy = "; if its values are the states of a task: --set os_states=usual"
      local chain = { "--chain", "A enter -> A leave", "--output", "csv", "--columns", "max" }
      local text, errors = fine(table.unpack(chain))
      assert.equal("max\n\n", text)
      assert.matches("there is no event 'A enter': it is a variable" .. remedy, errors, 1, true)
      text, errors = fine("--set", "os_states=usual", table.unpack(chain))
      assert.same({ "max\n9\n", "" }, { text, errors })
   end)

   it("notes that cores are not known, and what states them", function()
      local states = {}
      local function enter(time, state)
         states[#states + 1] = ("%d write state:%s main\n"):format(time, state)
      end
      for time = 0, 900, 100 do -- B preempts A in the last job
         enter(time, "A=RUNNING")
         if time == 900 then
            enter(905, "A=READY")
            enter(905, "B=RUNNING")
            enter(945, "B=TERMINATED")
            enter(945, "A=RUNNING")
         end
         enter(time == 900 and 950 or time + 10, "A=TERMINATED")
      end
      local function shown(...)
         local text, status, errors = events.command(table.concat(states), "--set",
            "os_states=usual", ...)
         assert.equal(0, status)
         return text:find("B ran", 1, true) or text:find("core 0", 1, true),
            errors:find("note: the trace does not state on which core a task runs; if all run on "
            .. "one: --set os_core=0", 1, true)
      end
      for _, words in ipairs { { "--report", "load", "--set", "by=core" },
         { "--report", "explain", "--set", "area=A" } } do
         local has_core, is_noted = shown(table.unpack(words))
         assert.same({ false, true }, { has_core ~= nil, is_noted ~= nil })
         has_core, is_noted = shown("--set", "os_core=0", table.unpack(words))
         assert.same({ true, false }, { has_core ~= nil, is_noted ~= nil })
      end
   end)

   it("draws tasks in exports of timelines", function()
      local text = fine("--set", "os_states=usual", "--export", "chrome")
      assert.truthy(text:find('"name":"thread_name","pid":1,"tid":1,"args":{"name":"A"}', 1, true))
   end)
end)

describe("limits on tasks", function()
   it("are on response, delay and running time", function()
      command.file("tasks.limits", "task A response <= 10ns\ntask A response < 10ns\n"
         .. "task B delay <= 1ns\ntask B running <= 18ns\ntask C response <= 1ms\n")
      local text, status = events.command(lines, "--limits", command.folder .. "/tasks.limits",
         "--output", "csv", "--columns", "line,value,at,state")
      assert.equal(4, status)
      local found = {}
      for line, rest in text:gmatch "(%d+),([^\n]*)\n" do
         found[math.tointeger(line)] = rest
      end
      assert.same({ "10,0,ok", "10,0,exceeded", "2,,exceeded", "18,,ok", ",,missing" }, found)
   end)

   it("are refused if they are wrong", function()
      command.file("wrong.limits", "task A response <= fast\n")
      local _, status, errors = events.command(lines, "--limits", command.folder .. "/wrong.limits")
      assert.equal(2, status)
      assert.matches("'task A response <= 5ms' is expected", errors, 1, true)
   end)
end)
