-- Jobs of tasks, and tasks as calls in lanes, beside a scheduler that knows the truth.

local profio = require "profio"
local scheduled = require "spec.support.scheduled"

require "spec.support.events"

-- Returns changes of state as lines of the format of spec/support/events.lua.
local function lines_of(changes, names, has_core)
   local lines = {}
   for i, one in ipairs(changes) do
      lines[i] = ("%d write state:%s=%s main%s"):format(one.time, one.task,
         names and names[one.state] or one.state, has_core and " - core=" .. one.core or "")
   end
   return table.concat(lines, "\n") .. "\n"
end

local function open(lines, options)
   return assert(profio.open({ data = "EVENTS\n" .. lines }, options))
end

local columns = { "task", "activation", "start", "stop", "running", "ready", "waiting",
   "preemptions", "core" }

local function cells(row)
   local list = {}
   for i, name in ipairs(columns) do
      list[i] = tostring(row[name])
   end
   return table.concat(list, " ")
end

describe("jobs of tasks", function()
   it("equal those of a scheduler of 1 to 5 cores", function()
      math.randomseed(71)
      for round = 1, 25 do
         local changes, ended = scheduled.run(math.random, { tasks = math.random(2, 9),
            cores = 1 + round % 5, ticks = 600 })
         local trace <close> = open(lines_of(changes, nil, true))
         local found, expected = {}, {}
         for row in trace:jobs():where { response = profio.no(profio.missing) }:records() do
            found[#found + 1] = cells(row)
            assert.equal(row.response, row.running + row.ready + row.waiting)
            assert.equal(row.delay, row.start - row.activation)
         end
         for i, job in ipairs(ended) do
            expected[i] = cells(job)
         end
         table.sort(found)
         table.sort(expected)
         assert.same(expected, found)
      end
   end)

   it("have statistics by task: longest response and where, load, jitter", function()
      math.randomseed(72)
      local changes, ended, ran = scheduled.run(math.random, { tasks = 5, cores = 2, ticks = 2000 })
      local trace <close> = open(lines_of(changes))
      local longest, counts = {}, {}
      for _, job in ipairs(ended) do
         local response = job.stop - job.activation
         counts[job.task] = (counts[job.task] or 0) + 1
         if not longest[job.task] or response > longest[job.task][1] then
            longest[job.task] = { response, job.activation }
         end
      end
      local last = math.huge
      for row in trace:task_statistics():records() do
         assert.same({ counts[row.task], longest[row.task] },
            { row.count, { row.response_max, row.response_max_at } })
         assert.is_true(row.response_max <= last)
         assert.is_true(row.running >= ran[row.task] and row.running <= ran[row.task] + 12)
         local length = changes[#changes].time - changes[1].time
         assert.near(row.running / length, row.load_share, 1e-12)
         last = row.response_max
      end
   end)

   it("tell why there is no response", function()
      local trace <close> = open [[
0 write state:a=RUNNING
5 write state:a=TERMINATED
6 write state:a=READY
7 write state:a=RUNNING
8 write state:a=ACTIVE
9 write state:a=RUNNING
10 write state:a=Sleeping
11 write state:a=RUNNING
12 write state:b=READY
20 enter f main
]]
      local rows = {}
      for row in trace:jobs():records() do
         rows[#rows + 1] = ("%s %s %s %s"):format(row.task, row.activation, row.response, row.flags)
      end
      assert.same({ "a nil nil orphan", "a 6 nil unwound", "a 8 nil unknown", "a nil nil open",
         "b 12 nil open" }, rows)
   end)

   it("are those of two variables of one name that are two in the file", function()
      local data = { data = [[
* INFO %TOTAL_TIME%
100
* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%
20000000,Task,
30000000,TERMINATED,0
30000000,READY,1
30000000,RUNNING,2
20000001,Task,
30000001,TERMINATED,0
30000001,READY,1
30000001,RUNNING,2
* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%
20000000,W,00000001,0
20000000,W,00000002,10
20000001,W,00000001,20
20000001,W,00000002,25
20000000,W,00000000,30
20000001,W,00000000,70
]] }
      local trace <close> = assert(profio.open(data))
      local tasks <close> = assert(profio.open(data, { os_states = "usual" }))
      local list = {}
      for task, response in trace:jobs():each("task", "response") do
         list[#list + 1] = task .. " " .. response
      end
      assert.same({ "Task 30", "Task 50" }, list)
      list = {}
      for row in tasks.events:where { event = { "enter", "leave" } }:records("lane", "event",
         "time")
      do
         list[#list + 1] = ("%s %s %d"):format(row.lane, row.event, row.time)
      end
      assert.same({ "Task enter 10", "Task (2) enter 25", "Task leave 30", "Task (2) leave 70" },
         list)
   end)

   it("may end when a task waits", function()
      local trace <close> = open [[
0 write state:a=READY
2 write state:a=RUNNING
5 write state:a=WAITING
20 write state:a=READY
21 write state:a=RUNNING
24 write state:a=WAITING
]]
      local list = {}
      for activation, response, waiting in trace:jobs { ends = "waiting" }:each("activation",
         "response", "waiting")
      do
         list[#list + 1] = { activation, response, waiting }
      end
      assert.same({ { 0, 5, 0 }, { 20, 4, 0 } }, list)
      assert.equal(0, trace:jobs():where { response = profio.no(profio.missing) }:count())
   end)

   it("are of names that users give a meaning", function()
      local names = { ACTIVE = "on", READY = "queued", RUNNING = "busy", WAITING = "asleep",
         TERMINATED = "off" }
      math.randomseed(73)
      local changes, ended = scheduled.run(math.random, { tasks = 3, cores = 1, ticks = 300 })
      local trace <close> = open(lines_of(changes, names), {
         os_states = "on=active, Queued=ready,busy=running,asleep=waiting,off=terminated" })
      assert.equal(#ended, trace:jobs():where { response = profio.no(profio.missing) }:count())
      assert.error_matches(function()
         open("0 enter f main\n", { os_states = "on=sleeping" })
      end, "expected NAME=MEANING, with one of active, ready", 1, true)
   end)
end)

describe("tasks as calls in lanes of their own", function()
   it("have the times of a scheduler", function()
      math.randomseed(74)
      for round = 1, 10 do
         local changes, ended, ran = scheduled.run(math.random, { tasks = 4, cores = 1 + round % 3,
            ticks = 500 })
         local spans, counts = {}, {}
         for _, job in ipairs(ended) do
            spans[job.task] = (spans[job.task] or 0) + job.stop - job.start
            counts[job.task] = (counts[job.task] or 0) + 1
         end
         local trace <close> = open(lines_of(changes, nil, true), { os_states = "usual" })
         for row in trace:calls():with_area():where { class = "task", flags = profio.missing }
            :group "area":aggregate { "n = count", "net = sum(net)", "call = sum(call)" }:records()
         do
            assert.same({ counts[row.area], ran[row.area], spans[row.area] },
               { row.n, row.net, row.call })
            counts[row.area] = nil
         end
         assert.same({}, counts)
      end
   end)

   it("come from a variable that states which task runs on a core", function()
      local trace <close> = open([[
0 write state:Core0.task=T1
10 write state:Core0.task=T2
12 write state:Core1.task=T3
30 write state:Core0.task=IDLE
40 write state:Core0.task=T1
44 write state:Core1.task=T1
50 write state:Core0.task=T2
60 enter f main
]], { os_running = "Core0.task, Core1.task" })
      local list = {}
      for row in trace.events:where { lane = { "T1", "T2", "T3" } }:records("time", "event", "lane",
         "core")
      do
         list[#list + 1] = ("%d %s %s %s"):format(row.time, row.event, row.lane, row.core)
      end
      assert.same({ "0 enter T1 0", "10 leave T1 0", "10 enter T2 0", "12 enter T3 1",
         "30 leave T2 0", "40 enter T1 0", "44 leave T3 1", "44 enter T1 1", "50 leave T1 1",
         "50 enter T2 0" }, list)
   end)

   it("have no jobs if only a variable states which task runs", function()
      local lines = {}
      for i = 1, 300 do
         lines[i] = ("%d write state:Core0.task=T%d"):format(i, i)
      end
      local trace <close> = open(table.concat(lines, "\n") .. "\n", { os_running = "Core0.task" })
      assert.equal(0, trace:jobs():count())
      assert.equal(0, trace:task_statistics():count())
   end)

   it("let explain name what preempted a task", function()
      local lines = {}
      for i = 0, 20 do
         local at = i * 1000
         lines[#lines + 1] = ("%d write state:low=ACTIVE\n%d write state:low=RUNNING")
            :format(at, at)
         if i == 7 then
            lines[#lines + 1] = ("%d write state:low=READY\n%d write state:high=ACTIVE\n%d write "
               .. "state:high=RUNNING\n%d write state:high=TERMINATED\n%d write state:low=RUNNING")
               :format(at + 10, at + 10, at + 10, at + 400, at + 400)
         end
         lines[#lines + 1] = ("%d write state:low=TERMINATED"):format(at + (i == 7 and 490 or 100))
      end
      local trace <close> = open(table.concat(lines, "\n") .. "\n", { os_states = "usual",
         os_core = 0 })
      local made = trace:explain("low", { quantile = "p95" })
      assert.same({ "suspended", "high" }, { made.parts[1].kind, made.parts[1].runner })
      assert.equal(390, made.parts[1].time)
   end)
end)
