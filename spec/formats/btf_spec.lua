-- Format btf: traces of tasks and runnables. The oracles are numbers worked out by hand, the calls
-- of traces before they are exported, and a checker of the format's rules.

local btf = require "spec.support.btf"
local command = require "spec.support.command"
local events = require "spec.support.events"
local preempted = require "spec.support.preempted"
local profio = require "profio"
local timelines = require "spec.support.call_timelines"

local function open(text, given)
   return assert(profio.open({ data = text }, given))
end

-- "code line" of each warning.
local function codes_of(trace, text)
   local list = {}
   for _, warning in ipairs(trace.warnings) do
      local at, code = warning.offset, warning.code:match "^btf%-(.*)"
      local _, number = (text or ""):sub(1, at or 0):gsub("\n", "")
      list[#list + 1] = code and code .. (at and " " .. number + 1 or "")
   end
   return list
end

-- "lane/area start-stop net gross depth flags" of each call of a function, sorted.
local function calls_of(trace, base)
   local list = {}
   for row in trace:calls():with_area():records() do
      if row.class ~= "task state" and row.class ~= "state" and row.class ~= "variable" then
         list[#list + 1] = ("%s/%s %d-%d net %d gross %d depth %d %s"):format(row.lane, row.area,
            row.start - (base or 0), row.stop - (base or 0), row.net, row.gross, row.depth,
            row.flags or "")
      end
   end
   table.sort(list)
   return list
end

local function states_of(trace, task)
   local list = {}
   for row in trace:calls():with_area():where { class = "task state", parent = "state of " .. task }
      :sort "start":records() do
      local state = row.area:sub(#task + 3)
      assert.equal(task .. ": " .. state, row.area)
      list[#list + 1] = ("%s %d-%d"):format(state, row.start, row.stop)
   end
   return list
end

-- Two tasks and an interrupt on one core: A is preempted by B and by the interrupt, and waits.
-- A runs in 1-6, 10-14, 22-30 and 33-40; B in 6-10.
local small = [[
#version 2.2.1
#creator by hand
#creationDate 2024-01-02T03:04:05Z
#timeScale us
# a comment
0,STI_A,0,STI,STI_A,0,trigger
0,STI_A,0,T,A,0,activate
1,Core_1,0,T,A,0,start
2,A,0,R,main,0,start
4,A,0,R,f,0,start
5,A,0,SIG,speed,0,write,88
6,STI_B,0,T,B,0,activate
6,A,0,R,f,0,suspend
6,A,0,R,main,0,suspend
6,Core_1,0,T,A,0,preempt
6,Core_1,0,T,B,0,start
7,B,0,R,g,0,start
8,B,0,SIG,speed,0,read
9,B,0,R,g,0,terminate
10,Core_1,0,T,B,0,terminate
10,Core_1,0,T,A,0,resume
10,A,0,R,main,0,resume
10,A,0,R,f,0,resume
13,A,0,R,f,0,terminate
14,A,0,R,main,0,suspend
14,Core_1,0,T,A,0,wait
20,Core_1,0,T,A,0,release
22,Core_1,0,T,A,0,resume
22,A,0,R,main,0,resume
24,A,0,SIG,speed,0,write,-1.5
30,A,0,R,main,0,suspend
30,Core_1,0,T,A,0,preempt
30,Core_1,0,I,timer,0,start
31,timer,0,R,tick,0,start
32,timer,0,R,tick,0,terminate
33,Core_1,0,I,timer,0,terminate

33,Core_1,0,T,A,0,resume
33,A,0,R,main,0,resume
36,A,0,R,main,0,terminate
40,Core_1,0,T,A,0,terminate
41,Core_1,0,C,Core_1,0,idle
]]

local small_calls = {
   "A/A 1000-40000 net 5000 gross 24000 depth 1 ",
   "A/f 4000-13000 net 5000 gross 5000 depth 3 ",
   "A/main 2000-36000 net 14000 gross 19000 depth 2 ",
   "B/B 6000-10000 net 2000 gross 4000 depth 1 ",
   "B/g 7000-9000 net 2000 gross 2000 depth 2 ",
   "timer/tick 31000-32000 net 1000 gross 1000 depth 2 ",
   "timer/timer 30000-33000 net 2000 gross 3000 depth 1 ",
}

describe("btf", function()
   it("has calls of tasks, interrupts and runnables, with the time in which they ran", function()
      local trace <close> = open(small)
      assert.equal("btf", trace.format)
      assert.same({ "2.2.1", "by hand", "2024-01-02T03:04:05Z", "us" }, { trace.info.version,
         trace.info.creator, trace.info.creation_date, trace.info.time_scale })
      assert.same(small_calls, calls_of(trace))
      assert.same({}, codes_of(trace))
      local classes = {}
      for row in trace.events:group "area":with_area():records() do
         classes[row.area or ""] = row.class
      end
      assert.same({ "task", "isr", "runnable", "variable", "task state" }, { classes.A,
         classes.timer, classes.main, classes.speed, classes["A: Running"] })
   end)

   it("has the same times if only the tasks are suspended, not their runnables", function()
      local text = small:gsub("[^\n]*R,%a+,0,suspend\n", ""):gsub("[^\n]*R,%a+,0,resume\n", "")
      assert.is_nil(text:find ",suspend")
      local trace <close> = open(text)
      assert.same(small_calls, calls_of(trace))
      assert.same({}, codes_of(trace))
      local late <close> = open((small:gsub("(6,A,0,R,f,0,suspend\n6,A,0,R,main,0,suspend\n)"
         .. "(6,Core_1,0,T,A,0,preempt\n)", "%2%1")
         :gsub("(10,Core_1,0,T,A,0,resume\n)(10,A,0,R,main,0,resume\n10,A,0,R,f,0,resume\n)",
         "%2%1")))
      assert.same(small_calls, calls_of(late))
   end)

   it("has the runnables alone without the option tasks", function()
      local trace <close> = open(small, { tasks = false })
      assert.same({ "A/f 4000-13000 net 5000 gross 5000 depth 2 ",
         "A/main 2000-36000 net 14000 gross 19000 depth 1 ",
         "B/g 7000-9000 net 2000 gross 2000 depth 1 ",
         "timer/tick 31000-32000 net 1000 gross 1000 depth 1 " }, calls_of(trace))
      assert.same({}, states_of(trace, "A"))
   end)

   it("has the states of tasks over time", function()
      local trace <close> = open(small)
      assert.same({ "Active 0-1000", "Running 1000-6000", "Ready 6000-10000",
         "Running 10000-14000", "Waiting 14000-20000", "Ready 20000-22000",
         "Running 22000-30000", "Ready 30000-33000", "Running 33000-40000",
         "Terminated 40000-41000" }, states_of(trace, "A"))
      local other <close> = open [[
#timescale ns
0,STI,0,T,A,0,activate
1,C0,0,T,A,0,start
3,C0,0,T,A,0,poll
5,C0,0,T,A,0,run
6,C0,0,T,A,0,poll
7,C0,0,T,A,0,park
8,C0,0,T,A,0,poll_parking
9,C0,0,T,A,0,park
10,C0,0,T,A,0,release_parking
12,C0,0,T,A,0,resume
15,C0,0,T,A,0,terminate
]]
      assert.same({ "A/A 1-15 net 6 gross 6 depth 1 " }, calls_of(other))
      assert.same({ "Active 0-1", "Running 1-3", "Polling 3-5", "Running 5-6", "Polling 6-7",
         "Parking 7-8", "Polling 8-9", "Parking 9-10", "Ready 10-12", "Running 12-15",
         "Terminated 15-15" }, states_of(other, "A"))
      assert.same({}, codes_of(other))
   end)

   it("has the load of tasks and of cores", function()
      command.file("load.btf", small)
      assert.equal("lane,busy\nA,24000\nB,4000\ntimer,3000\n", command.fine
         "profio report load load.btf --set width=41us --columns lane,busy --output csv")
      assert.equal("core,busy\n1,31000\n", command.fine("profio report load load.btf "
         .. "--set width=41us --set by=core --columns core,busy --output csv"))
   end)

   it("has values of signals, lines as they are stated, and all bytes", function()
      local trace <close> = open((small:gsub("\n", "\r\n")))
      local values = trace.events:where { area = "speed" }
      assert.same({ { time = 5000, lane = "A", core = 1, value = 88, number = 88 },
         { time = 24000, lane = "A", core = 1, number = -1.5 } },
         values:rows("time", "lane", "core", "value", "number"))
      assert.same({ { time = 8000, source = "B", source_instance = 0, type = "SIG",
         target = "speed", target_instance = 0, event = "read" } },
         trace.entries:where { event = "read" }:rows())
      assert.same({ { time = 24000, note = "-1.5", number = -1.5 } },
         trace.entries:where { event = "write", time = 24000 }
            :rows("time", "note", "number"))
      local text, kinds = {}, {}
      for kind, line in trace.raw:each("kind", "text") do
         text[#text + 1] = line
         kinds[kind] = (kinds[kind] or 0) + 1
      end
      assert.equal(small:gsub("\n", "\r\n"), table.concat(text))
      assert.same({ header = 4, comment = 1, event = 36, blank = 1 }, kinds)
      assert.same({}, codes_of(trace))
   end)

   it("gives instances that are open at the same time lanes of their own", function()
      local trace <close> = open [[
#timescale ns
0,STI,0,T,A,0,activate
0,C_0,0,T,A,0,start
1,A,0,R,f,0,start
2,STI,1,T,A,1,activate
3,A,0,R,f,0,terminate
4,C_0,0,T,A,0,terminate
4,C_0,0,T,A,1,start
5,A,1,R,f,1,start
6,STI,2,T,A,2,activate
7,C_1,0,T,A,2,start
8,A,2,R,f,2,start
9,A,1,R,f,1,terminate
10,C_0,0,T,A,1,terminate
12,A,2,R,f,2,terminate
13,C_1,0,T,A,2,terminate
]]
      assert.same({ "A (2)/A 7-13 net 2 gross 6 depth 1 ", "A (2)/f 8-12 net 4 gross 4 depth 2 ",
         "A/A 0-4 net 2 gross 4 depth 1 ", "A/A 4-10 net 2 gross 6 depth 1 ",
         "A/f 1-3 net 2 gross 2 depth 2 ", "A/f 5-9 net 4 gross 4 depth 2 " }, calls_of(trace))
      assert.same({ "Active 2-4", "Terminated 4-6", "Active 6-7", "Running 7-13",
         "Terminated 13-13" }, states_of(trace, "A (2)"))
      assert.same({}, codes_of(trace))
   end)

   it("begins in any state", function()
      local trace <close> = open [[
#timescale ns
0,A,4,R,f,7,terminate
2,A,4,R,main,0,suspend
2,C_0,0,T,A,4,preempt
2,C_0,0,T,B,0,resume
2,B,0,R,g,3,resume
5,B,0,R,g,3,suspend
5,C_0,0,T,B,0,preempt
5,C_0,0,T,A,4,resume
5,A,4,R,main,0,resume
6,A,4,R,h,0,start
8,A,4,R,h,0,terminate
9,A,4,R,main,0,terminate
10,C_0,0,T,A,4,terminate
]]
      assert.same({ "A/A 0-10 net 3 gross 7 depth 1 orphan", "A/f 0-0 net 0 gross 0 depth 2 orphan",
         "A/h 6-8 net 2 gross 2 depth 3 ", "A/main 5-9 net 2 gross 4 depth 2 orphan",
         "B/B 2-10 net 0 gross 3 depth 1 open orphan",
         "B/g 2-10 net 3 gross 3 depth 2 open orphan" }, calls_of(trace))
      assert.same({}, codes_of(trace))
   end)

   it("reads files of runnables alone", function()
      local trace <close> = open [[
#timescale ns
0,A,0,R,main,0,start
1,A,0,R,f,0,start
2,A,0,R,f,0,suspend
5,A,0,R,f,0,resume
6,A,0,R,f,0,terminate
7,A,0,R,main,0,terminate
8,A,1,R,main,1,start
9,A,1,R,main,1,terminate
]]
      assert.same({ "A/f 1-6 net 2 gross 2 depth 2 ", "A/main 0-7 net 2 gross 4 depth 1 ",
         "A/main 8-9 net 1 gross 1 depth 1 " }, calls_of(trace))
      assert.same({}, codes_of(trace))
   end)

   it("reads time scales, tables of names and empty instances", function()
      local text = [[
#VERSION: 2.1.5
#timescale: %s
#typeTable
#-0 T
#-1 R
#entityTable
#-0 A
#-1 Core_7
#-2 f g
1000,1,,0,0,,start
2000,0,,1,2,,start
3500,0,,1,2,,terminate
4000,1,,0,0,,terminate
]]
      for scale, factor in pairs { ps = 0.001, ns = 1, us = 1000, ms = 1000000, s = 1000000000 } do
         local trace <close> = open(text:format(scale))
         local function at(time)
            return math.tointeger(time * factor // 1)
         end
         local inner = at(3500) - at(2000)
         assert.same({ ("A/A %d-%d net %d gross %d depth 1 "):format(at(1000), at(4000),
            at(3000) - inner, at(3000)), ("A/f g %d-%d net %d gross %d depth 2 "):format(at(2000),
            at(3500), inner, inner) }, calls_of(trace))
         assert.same({ { core = 7 } }, trace.events:where { event = "enter", area = "A" }
            :rows "core")
         assert.same(scale == "ps" and { "ps 12" } or {}, codes_of(trace, text))
      end
      local other <close> = open "#entityMapping 5 B\n0,C0,0,T,5,0,start\n3,C0,0,T,5,0,terminate\n"
      assert.same({ "B/B 0-3 net 3 gross 3 depth 1 " }, calls_of(other))
      assert.same({ "no-time-scale" }, codes_of(other, ""))
   end)

   it("warns of what it cannot read, and reads the rest", function()
      local text = [[
#timescale days
0,C,0,T,A,0,start
1,A,0,R,f
x,A,0,R,f,0,start
99999999999999999999,A,0,R,f,0,start
5,A,0,R,f,0,jump
6,A,0,XYZ,f,0,start
7,A,a,R,f,0,start
6,A,0,R,f,0,terminate
8,A,9,R,f,0,start
9,C,0,T,B,0,start
10,C,0,T,A,0,resume
11,C,0,T,A,0,wait
12,A,0,R,h,0,start
13,C,0,T,A,0,terminate
14,C,0,T,A,1,mtalimitexceeded]]
      local trace <close> = open(text, { format = "btf", all_warnings = true })
      trace.events:count()
      assert.same({ "time-scale 1", "core-name 2", "line 3", "time 4", "time 5", "event 6",
         "type 7", "instance 8", "time-falls 9", "order 10", "core 11", "order 12", "core 12",
         "order 14", "open 15", "last-line 16" }, codes_of(trace, text))
      assert.matches("^not the seven or eight fields of an event: 1,A,0,R,f$",
         trace.warnings[3].message)
      for _, warning in ipairs(trace.warnings) do
         local strict, message = profio.open({ data = text }, { format = "btf", strict = true })
         assert.is_nil(strict)
         if warning.kind == "damage" then
            assert.matches(warning.message, message, 1, true)
            break
         end
      end
      for line in text:gmatch "\n([13]%d?,[^\n]+)" do
         local bad <close> = open("#timescale ns\n0,C,0,T,A,0,start\n" .. line .. "\n",
            { format = "btf", strict = true, all_warnings = true })
         local ok = pcall(bad.events.count, bad.events)
         assert.equal(line:find "^1[1-4]" ~= nil, ok, line)
      end
   end)

   it("keeps all whole lines of a file that is cut anywhere", function()
      local whole = open(small)
      local rows = whole.entries:count()
      for size = #small, 1, -1 do
         local text = small:sub(1, size)
         local trace = assert(profio.open({ data = text }, { format = "btf" }))
         local _, lines = text:gsub("\n%d[^\n]*", "")
         local count = trace.entries:count()
         assert.is_true(count == lines or count == lines - 1 and text:sub(-1) ~= "\n", size)
         assert.is_true(count <= rows and trace:calls():count() >= 0)
         local last = #text - #text:match "[^\n]*\n?$"
         for _, warning in ipairs(trace.warnings) do
            assert.is_true(warning.code:find "scale" ~= nil and size < small:find "\n0"
               or text:sub(-1) ~= "\n" and warning.offset >= last, size)
         end
         assert.is_true(not text:match("[^\n]*$"):find "^%d" or #trace.warnings > 0, size)
         trace:close()
      end
   end)

   it("is detected by its structure", function()
      for _, text in ipairs { "0,C_0,0,T,A,0,start\n", "#version 2.1\n#timescale ns\n",
         "\n# x\n#version 2.2.1\n-5,A,-1,SIG,s,,write,4,5\n" } do
         assert.equal("btf", open(text).format)
      end
      for _, text in ipairs { "0,C_0,0,T,A,0,begin\n", "0,C_0,0,Q,A,0,start\n",
         "a,b,c,T,A,0,start\n",
         "0,C_0,0,T,A,0\n", "# only\n# comments\n", "#version 2.1\n", "0,C_0,x,T,A,0,start\n" } do
         local trace = profio.open { data = text }
         assert.is_true(not trace or trace.format ~= "btf", text)
      end
   end)

   -- The calls of a trace are those that its export has.
   local function round_trip(trace)
      local text = assert(trace:export "btf")
      local breaches, facts = btf.check(text)
      assert.same({}, breaches)
      local base = trace.events:aggregate { "first = min(time)" }:rows()[1].first
      local back <close> = open(text, { tasks = false })
      assert.equal("btf", back.format)
      assert.same({}, codes_of(back))
      assert.same(calls_of(trace, base), calls_of(back))
      local counts = {}
      for row in back.entries:group("type", "event"):aggregate { "count" }:records() do
         counts[row.type .. " " .. row.event] = row.count
      end
      assert.same(facts.counts, counts)
      local tasks <close> = open(text)
      local own, inner = calls_of(back), {}
      for i, call in ipairs(own) do
         own[i] = call:gsub(" depth.*", "")
      end
      for row in tasks:calls():with_area():where { class = "runnable" }:records() do
         inner[#inner + 1] = ("%s/%s %d-%d net %d gross %d"):format(row.lane, row.area, row.start,
            row.stop, row.net, row.gross)
      end
      table.sort(own)
      table.sort(inner)
      assert.same(own, inner)
      assert.same({}, codes_of(tasks))
   end

   it("reads back what profio exports: preempted tasks on two cores", function()
      for seed = 1, 6 do
         math.randomseed(seed)
         local list = preempted.timeline(math.random)
         local lines = {}
         for i, e in ipairs(list) do
            lines[i] = ("%d %s %s %s core=%d\n"):format(e.time, e.event, (e.area:gsub(" ", "_")),
               e.lane, e.core)
         end
         local trace <close> = events.open(table.concat(lines))
         round_trip(trace)
      end
   end)

   it("reads back what profio exports: tasks that call, return and lose the core", function()
      for seed = 1, 20 do
         math.randomseed(seed)
         local trace <close> = events.open((events.program(400)))
         round_trip(trace)
      end
   end)

   it("reads back what profio exports: a binary timeline, and its signals", function()
      for seed = 1, 5 do
         math.randomseed(seed)
         local trace <close> = open((timelines.make { rows = 3000, functions = 20,
            has_suspends = true }), { format = "winidea" })
         round_trip(trace)
         local back <close> = open((trace:export "btf"), { tasks = false })
         assert.same(trace.events:where { event = "write" }:rows "value",
            back.events:where { event = "write" }:rows "value")
      end
   end)

   it("is exported with the times at which its tasks had the core", function()
      local trace <close> = open(small)
      local text = trace:export "btf"
      assert.same({}, (btf.check(text)))
      local function rows_of(of)
         local list = {}
         for line in of:gmatch "[^\n]+" do
            local time, task, event = line:match "^(%d+),Core_1,0,[TI],(%w+),0,(%w+)"
            if time and event ~= "release" then
               list[#list + 1] = ("%s %s %s"):format(time, task,
                  event == "wait" and "preempt" or event)
            end
         end
         return list
      end
      assert.same(rows_of((small:gsub("\n(%d+,)", function(time)
         return ("\n%d,"):format(time:match "%d+" * 1000)
      end))), rows_of(text))
      assert.is_nil(text:find("state of", 1, true))
   end)

   it("restores names that profio has escaped, and keeps things of one name apart", function()
      local trace <close> = events.open [[
0 enter a,b t%1 core=0
5 enter function:x t%1 core=0
6 leave function:x t%1 core=0
7 enter method:x t%1 core=0
9 leave method:x t%1 core=0
9 leave a,b t%1 core=0
]]
      local text = assert(trace:export "btf")
      assert.matches("a%%2Cb", text)
      assert.matches("x%%:2", text)
      local back <close> = open(text, { tasks = false })
      assert.same(calls_of(trace), calls_of(back))
      assert.equal(3, back.events:where { event = "enter" }:group "area":count())
      local plain <close> = open("#timescale ns\n0,C0,0,R,a%2Cb,0,start\n")
      assert.same({ { area = "a%2Cb" } }, plain.events:where { event = "enter" }:rows "area")
   end)

   it("takes a task for the core on which it ran", function()
      local text = [[
#timescale ns
0,Core_3,0,T,A,0,start
4,Core_3,0,T,A,0,preempt
5,A,0,T,B,0,start
7,B,0,T,A,0,resume
]]
      local trace <close> = open(text)
      assert.same({ { time = 0, core = 3 }, { time = 5, core = 3 } },
         trace.events:where { event = "enter" }:rows("time", "core"))
      assert.same({ "core 5" }, codes_of(trace, text))
   end)

   it("takes a deep stack and many instances, with bounded memory", function()
      local list = { "#timescale ns\n" }
      for i = 1, 5000 do
         list[#list + 1] = ("%d,A,0,R,f%d,0,start\n"):format(i, i % 7)
      end
      for i = 1, 200 do
         list[#list + 1] = ("%d,S,0,T,B,%d,activate\n"):format(5000 + i, i)
      end
      local trace <close> = open(table.concat(list))
      assert.equal(5000, trace:calls():with_area():where { class = "runnable" }:count())
      assert.same({ "depth", "instances" }, (function()
         local codes = {}
         for i, code in ipairs(codes_of(trace, "")) do
            codes[i] = code:match "%S+"
         end
         return codes
      end)())
   end)
end)
