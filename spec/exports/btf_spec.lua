local btf = require "spec.support.btf"
local events = require "spec.support.events"
local profio = require "profio"

local function export(lines, options)
   local trace <close> = events.open(lines)
   return assert(trace:export("btf", nil, options))
end

-- The lines of events, without parameters and comments.
local function body(text)
   local list = {}
   for line in text:gmatch "[^\n]+" do
      if line:sub(1, 1) ~= "#" then
         list[#list + 1] = line
      end
   end
   return table.concat(list, "\n")
end

local function checked(lines, options)
   local text = export(lines, options)
   local breaches, facts = btf.check(text)
   assert.same({}, breaches)
   return text, facts
end

describe("--export btf", function()
   it("writes calls as runnables: a caller stays running", function()
      local text = checked([[
100 enter main a core=0
110 suspend main a core=0
110 enter f a core=0
120 leave f a core=0
120 resume main a core=0
130 leave main a core=0
]])
      assert.equal([[
0,STI_a,0,STI,STI_a,0,trigger
0,STI_a,0,T,a,0,activate
0,Core_0,0,T,a,0,start
0,a,0,R,main,0,start
10,a,0,R,f,0,start
20,a,0,R,f,0,terminate
30,a,0,R,main,0,terminate]], body(text))
      assert.matches("^#version 2%.2%.1\n#creator profio [%d.]+\n#timescale ns\n# from ", text)
   end)

   it("recognises a call also if the suspend of its caller is late, or its leave early", function()
      local text = checked([[
0 enter main a core=0
1 enter f a core=0
1 suspend main a core=0
2 resume main a core=0
2 leave f a core=0
3 leave main a core=0
]], { stimuli = false })
      assert.equal([[
0,Core_0,0,T,a,0,start
0,a,0,R,main,0,start
1,a,0,R,f,0,start
2,a,0,R,f,0,terminate
3,a,0,R,main,0,terminate]], body(text))
   end)

   it("resumes each call of a stack at its own event", function()
      local text = checked([[
0 enter main a core=0
0 enter f a core=0
10 suspend f a core=0
10 suspend main a core=0
20 resume main a core=0
25 resume f a core=0
30 leave f a core=0
40 leave main a core=0
]], { stimuli = false })
      assert.equal([[
0,Core_0,0,T,a,0,start
0,a,0,R,main,0,start
0,a,0,R,f,0,start
10,a,0,R,f,0,suspend
10,a,0,R,main,0,suspend
10,Core_0,0,T,a,0,preempt
20,Core_0,0,T,a,0,resume
20,a,0,R,main,0,resume
25,a,0,R,f,0,resume
30,a,0,R,f,0,terminate
40,a,0,R,main,0,terminate]], body(text))
   end)

   it("suspends the whole stack when the core is taken, the innermost first", function()
      local text = checked([[
0 enter main a core=0
5 suspend main a core=0
5 enter f a core=0
10 suspend f a core=0
10 enter isr irq core=0
15 leave isr irq core=0
15 resume f a core=0
20 leave f a core=0
]], { stimuli = false })
      assert.equal([[
0,Core_0,0,T,a,0,start
0,a,0,R,main,0,start
5,a,0,R,f,0,start
10,a,0,R,f,0,suspend
10,a,0,R,main,0,suspend
10,Core_0,0,T,a,0,preempt
10,Core_0,0,T,irq,0,start
10,irq,0,R,isr,0,start
15,irq,0,R,isr,0,terminate
15,Core_0,0,T,irq,0,preempt
15,Core_0,0,T,a,0,resume
15,a,0,R,main,0,resume
15,a,0,R,f,0,resume
20,a,0,R,f,0,terminate]], body(text))
   end)

   it("ends a task with its call, if the trace has calls of tasks", function()
      local text = checked("0 enter task:A a core=0\n5 leave task:A a core=0\n"
         .. "8 enter isr:B b core=0\n9 leave isr:B b core=0\n", { stimuli = false })
      assert.same({ "5,Core_0,0,T,a,0,terminate", "9,Core_0,0,T,b,0,terminate" },
         { text:match "(5,Core[^\n]+)", text:match "(9,Core[^\n]+)" })
   end)

   it("takes cores that are not known as core 0", function()
      local text = checked "0 enter f a core=-1\n1 enter g b core=2\n"
      assert.matches("Core_0,0,T,a,0,start", text)
      assert.matches("Core_2,0,T,b,0,start", text)
   end)

   it("moves a task that turns up on another core", function()
      local text = checked "0 enter f a core=0\n5 enter g a core=1\n"
      assert.matches("5,a,0,R,f,0,suspend\n5,Core_0,0,T,a,0,preempt\n5,Core_1,0,T,a,0,resume\n\z
         5,a,0,R,f,0,resume\n5,a,0,R,g,0,start\n", text)
   end)

   it("shifts times so that the first is 0, and says by how much", function()
      local text = checked "-500 enter f a\n-499 leave f a\n"
      assert.matches("minus %-500 ns", text)
      assert.matches("\n0,a,0,R,f,0,start\n1,a,0,R,f,0,terminate\n", text)
   end)

   it("begins where a function is first seen, and leaves out ends without a beginning", function()
      local text = checked [[
0 leave lost a
5 resume main a
9 leave main a
]]
      assert.equal([[
5,STI_a,0,STI,STI_a,0,trigger
5,STI_a,0,T,a,0,activate
5,Core_0,0,T,a,0,start
5,a,0,R,main,0,start
9,a,0,R,main,0,terminate]], body(text))
      assert.matches("\n# 1 ends of calls that began before are left out\n", text)
   end)

   it("ends calls whose leave is lost when their caller resumes", function()
      local text = checked [[
0 enter main a
1 enter f a
2 enter g a
3 leave main a
]]
      assert.matches("3,a,0,R,g,0,terminate\n3,a,0,R,f,0,terminate\n3,a,0,R,main,0,terminate\n$",
         text)
   end)

   it("leaves open calls open, or ends them by option", function()
      local lines = "0 enter main a core=0\n3 enter f a core=0\n4 enter isr b core=0\n"
      local _, facts = checked(lines)
      assert.is_nil(facts.counts["R terminate"])
      local text, closed = checked(lines, { close = true })
      assert.equal(closed.counts["R start"], closed.counts["R terminate"])
      assert.equal(closed.counts["T start"], closed.counts["T terminate"])
      assert.matches("4,b,0,R,isr,0,terminate\n4,Core_0,0,T,b,0,terminate\n$", text)
   end)

   it("numbers the instances of runnables over all tasks", function()
      local text = checked [[
0 enter f a
1 leave f a
2 enter f b
3 enter f b
]]
      assert.matches("\n2,b,0,R,f,1,start\n3,b,0,R,f,2,start\n", text)
   end)

   it("writes variables as signals, with their value", function()
      local text, facts = checked [[
0 enter f a core=0
5 write speed a -7 core=0
6 write x a core=0
]]
      assert.equal(2, facts.counts["SIG write"])
      assert.matches("\n5,a,0,SIG,speed,0,write,%-7\n6,a,0,SIG,x,0,write\n", text)
   end)

   it("writes a variable when one of its states is entered, and leaves lines out", function()
      local lines = [[
0 enter f a core=0
1 enter line:x a core=0
2 enter state:mode=3 a core=0
4 leave state:mode=3 a core=0
4 enter state:mode=4 a core=0
5 write variable:mode a 4 core=0
6 leave line:x a core=0
7 leave f a core=0
]]
      local text = checked(lines, { stimuli = false })
      assert.equal([[
0,Core_0,0,T,a,0,start
0,a,0,R,f,0,start
2,a,0,SIG,mode,0,write,3
4,a,0,SIG,mode,0,write,4
5,a,0,SIG,mode,0,write,4
7,a,0,R,f,0,terminate]], body(text))
      local _, facts = checked(lines, { lines = true })
      assert.equal(2, facts.counts["R start"])
   end)

   it("keeps areas of one name apart", function()
      local text = checked "0 enter f a\n1 enter task:f a\n2 enter f a\n"
      assert.matches("\n0,a,0,R,f,0,start\n1,a,0,R,f%%:2,0,start\n2,a,0,R,f,1,start\n", text)
   end)

   it("names cores as the file numbers them", function()
      local command = require "spec.support.command"
      local winidea = require "spec.support.winidea"
      local path = command.file("core.BIN", winidea.bytes({
         { handle = 1, event = "enter", core = 3, time = 5 },
         { handle = 1, event = "leave", core = 3, time = 9 } }, winidea.new))
      local text = command.run("profio --export btf " .. path)
      assert.same({}, (btf.check(text)))
      assert.matches("\n0,Core_3,0,T,core 3,0,start\n", text)
   end)

   it("knows interrupts by the names of their lanes", function()
      local text, facts = checked([[
0 enter main a core=0
5 enter tick isr_1 core=0
6 leave tick isr_1 core=0
6 resume main a core=0
]], { interrupts = "^isr", close = true })
      assert.matches("\n5,STI_isr_1,0,I,isr_1,0,activate\n5,Core_0,0,I,isr_1,0,start\n", text)
      assert.equal(1, facts.counts["T start"])
      assert.equal(1, facts.counts["I terminate"])
      assert.matches(",I,isr_1,", events.fine("0 enter f isr_1\n", "--export", "btf", "--set",
         "interrupts=isr"))
   end)

   local twice = [[
0 enter main a core=0
5 suspend main a core=0
5 enter tick isr_1 core=0
6 leave tick isr_1 core=0
6 resume main a core=0
7 write v a 3 core=0
8 leave main a core=0
10 enter tick isr_1 core=0
11 leave tick isr_1 core=0
12 enter main a core=0
]]

   it("gives each activation an instance by option", function()
      local text, facts = checked(twice, { interrupts = "^isr", activations = true, close = true })
      assert.equal([[
0,STI_a,0,STI,STI_a,0,trigger
0,STI_a,0,T,a,0,activate
0,Core_0,0,T,a,0,start
0,a,0,R,main,0,start
5,a,0,R,main,0,suspend
5,Core_0,0,T,a,0,preempt
5,STI_isr_1,0,STI,STI_isr_1,0,trigger
5,STI_isr_1,0,I,isr_1,0,activate
5,Core_0,0,I,isr_1,0,start
5,isr_1,0,R,tick,0,start
6,isr_1,0,R,tick,0,terminate
6,Core_0,0,I,isr_1,0,terminate
6,Core_0,0,T,a,0,resume
6,a,0,R,main,0,resume
7,a,0,SIG,v,0,write,3
8,a,0,R,main,0,terminate
8,Core_0,0,T,a,0,terminate
10,STI_isr_1,1,STI,STI_isr_1,1,trigger
10,STI_isr_1,1,I,isr_1,1,activate
10,Core_0,0,I,isr_1,1,start
10,isr_1,1,R,tick,1,start
11,isr_1,1,R,tick,1,terminate
11,Core_0,0,I,isr_1,1,terminate
12,STI_a,1,STI,STI_a,1,trigger
12,STI_a,1,T,a,1,activate
12,Core_0,0,T,a,1,start
12,a,1,R,main,1,start
12,a,1,R,main,1,terminate
12,Core_0,0,T,a,1,terminate]], body(text))
      assert.equal(2, facts.counts["T activate"])
   end)

   it("counts activations from the start of a span", function()
      local text = checked(twice, { activations = true, from = 7, stimuli = false })
      assert.matches("\n0,Core_0,0,T,a,0,start\n", text)
      assert.matches("\n3,Core_0,0,T,isr_1,0,start\n", text)
      assert.matches("\n5,Core_0,0,T,a,1,start\n", text)
   end)

   it("ends the innermost call when calls are deeper than anybody writes them", function()
      local list = {}
      for i = 1, 4100 do
         list[i] = i .. " enter f a\n"
      end
      local trace <close> = events.open(table.concat(list))
      local text = assert(trace:export "btf")
      local _, starts = text:gsub(",start\n", "")
      local _, ends = text:gsub(",terminate\n", "")
      assert.same({ 4100 + 1, 4100 - 4096 }, { starts, ends })
      assert.matches("\n4096,a,0,R,f,4095,terminate\n4096,a,0,R,f,4096,start\n", text)
   end)

   it("keeps time from running back, and says so", function()
      local text = checked "10 enter f a\n12 leave f a\n11 enter g a\n"
      assert.matches("\n2,a,0,R,g,0,start\n", text)
      assert.matches("\n# 1 events stand at the time of the one before them", text)
   end)

   it("takes --from and --to of the command line", function()
      local lines = "0 enter f a\n5 leave f a\n9 enter g a\n"
      local text = events.fine(lines, "--export", "btf", "--from", "60%", "--set", "stimuli=no")
      assert.equal("0,Core_0,0,T,a,0,start\n0,a,0,R,f,0,start", body(
         events.fine(lines, "--export", "btf", "--to", "5ns", "--set", "stimuli=no")))
      assert.equal("0,Core_0,0,T,a,0,start\n3,a,0,R,g,0,start", body(text))
      assert.is_nil(events.fine(lines .. "9 enter h b\n", "--export", "btf", "--lane", "b")
         :find("R,f", 1, true))
   end)

   it("takes a span of the trace", function()
      local text = checked("0 enter f a\n5 leave f a\n9 enter g a\n", { from = 4, to = 9,
         stimuli = false })
      assert.equal("0,Core_0,0,T,a,0,start\n0,a,0,R,f,0,start\n1,a,0,R,f,0,terminate",
         body(text))
      assert.matches("minus 4 ns", text)
   end)

   it("begins with suspended calls, then with running ones", function()
      local text = checked([[
0 enter main a core=0
5 suspend main a core=0
5 enter isr irq core=0
20 leave isr irq core=0
20 resume main a core=0
30 leave main a core=0
]], { from = 10, stimuli = false })
      assert.equal([[
0,Core_0,0,T,a,0,start
0,a,0,R,main,0,start
0,a,0,R,main,0,suspend
0,Core_0,0,T,a,0,preempt
0,Core_0,0,T,irq,0,start
0,irq,0,R,isr,0,start
10,irq,0,R,isr,0,terminate
10,Core_0,0,T,irq,0,preempt
10,Core_0,0,T,a,0,resume
10,a,0,R,main,0,resume
20,a,0,R,main,0,terminate]], body(text))
   end)

   it("ends calls at the event before a gap", function()
      local call_events = require "spec.support.call_events"
      local trace <close> = call_events.open({
         { time = 0, event = "enter", area = "f", lane = "a", core = 0 },
         { time = 5, event = "enter", area = "g", lane = "a", core = 0 },
         { time = 7, event = "enter", area = "h", lane = "b", core = 0 },
         { time = 50, event = "enter", area = "f", lane = "a", core = 0, flags = "gap" },
         { time = 60, event = "leave", area = "f", lane = "a", core = 0 },
      }, "calls on cores")
      local text = assert(trace:export("btf", nil, { stimuli = false }))
      assert.same({}, (btf.check(text)))
      local rows = body(text)
      for _, row in ipairs { "7,a,0,R,g,0,terminate", "7,a,0,R,f,0,terminate",
         "7,b,0,R,h,0,terminate", "50,a,0,R,f,1,start", "60,a,0,R,f,1,terminate" } do
         assert.is_truthy(("\n" .. rows .. "\n"):find("\n" .. row .. "\n", 1, true), row)
      end
   end)

   it("knows classes as the calls do, and takes no names for lines that are left out", function()
      local text = checked [[
0 enter f a core=0
1 enter line:x a core=0
2 write variable:x a 4 core=0
3 enter statement:s a core=0
4 leave statement:s a core=0
5 write auxvariable:y a 4 core=0
]]
      assert.matches("\n2,a,0,SIG,x,0,write,4\n3,a,0,R,s,0,start\n4,a,0,R,s,0,terminate\n"
         .. "5,a,0,SIG,y,0,write,4$", body(text))
   end)

   it("reports losses", function()
      profio.register {
         name = "lossy", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" } } },
         open = function()
            return { events = function(put) put(0, "enter", "f") end, info = { lost = 7 } }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "lossy" }))
      local text = assert(trace:export "btf")
      assert.matches("\n# damaged: [^\n]*7 records were lost\n", text)
      assert.same({}, (btf.check(text)))
   end)
end)

describe("the rows of BTF", function()
   local core = require "profio.core"

   it("have notes where something is written, of either kind of number", function()
      local rows = core.rows(core.btf(core.rows_reader({ { "time", "int" }, { "event", "name" },
         { "area", "area" }, { "value", "int" }, { "number", "num" } }, {
         { 1, "write", { name = "n", class = "variable" }, 5, 5.0 },
         { 2, "write", { name = "x", class = "aux" }, nil, 1.25 },
         { 3, "enter", { name = "", class = "" } },
      }), {}), { "kind", "target", "event", "note", "number" })
      assert.same({
         { kind = "event", target = "Task", event = "start" },
         { kind = "write", target = "n", event = "write", note = 5 },
         { kind = "number", target = "x", event = "write", number = 1.25 },
         { kind = "event", target = "?", event = "start" },
      }, rows)
   end)

   it("are written with their notes", function()
      local trace <close> = events.open "1 write variable:n a 5\n"
      assert.matches(",SIG,n,0,write,5\n", (trace:export "btf"))
   end)
end)

describe("names in BTF", function()
   -- Events of areas that a text of words cannot name.
   profio.register {
      name = "named", score = function() return 0 end,
      tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" },
         { "lane", "int" } } },
      options = { { name = "names", type = "text" } },
      open = function(_, options)
         return { events = function(put)
            local time, lane = 0, 7
            for name in (options.names or ""):gmatch "([^\1]*)\1" do
               lane = math.tointeger(name:match "^lane (%d+)$") or lane
               put(time, name:find "^lane" and "none" or "enter", name, lane)
               time = time + 1
            end
         end }
      end,
   }

   local function names_of(list)
      local trace <close> = assert(profio.open({ data = "x" },
         { format = "named", names = table.concat(list, "\1") .. "\1" }))
      local text = assert(trace:export "btf")
      assert.same({}, (btf.check(text)))
      local found = {}
      for name in text:gmatch ",R,([^,]*),0,start\n" do
         found[#found + 1] = name
      end
      return found, text
   end

   local function read_back(name)
      return (name:gsub("%%:%d+$", ""):gsub("%%(%x%x)", function(digits)
         return string.char(tonumber(digits, 16))
      end))
   end

   it("are made safe so that they can be read back", function()
      local list = { "plain", "f(int, char)", "100%", "a\nb", "\"x.c\"#f", " blank ", "gr\xfc\xdf",
         "%41", "a%2Cb", "#hash" }
      local found = names_of(list)
      assert.equal("f(int%2C char)", found[2])
      for i, name in ipairs(list) do
         assert.equal(name, read_back(found[i]))
      end
   end)

   it("call a lane that is only a number by it", function()
      local _, text = names_of { "f" }
      assert.matches("\n0,Core_0,0,T,Task_7,0,start\n", text)
   end)

   it("give each lane a core if the events have no cores", function()
      local _, text = names_of { "f", "lane 9", "g", "lane 7", "h" }
      assert.matches("\n2,Core_1,0,T,Task_9,0,start\n2,Task_9,0,R,g,0,start\n\z
         4,Task_7,0,R,h,0,start\n$", text)
   end)
end)

describe("BTF of random events", function()
   local kinds = { "enter", "leave", "suspend", "resume", "write" }

   -- Events without any sense.
   local function noise(count)
      local list = {}
      for i = 1, count do
         list[i] = ("%d %s f%d lane%d %d core=%d"):format(i // 2, kinds[math.random(#kinds)],
            math.random(5), math.random(4), i, math.random(-1, 2))
      end
      return table.concat(list, "\n") .. "\n"
   end

   it("is valid for any sequence", function()
      math.randomseed(11)
      for _ = 1, 25 do
         checked(noise(math.random(200)), { close = math.random(2) == 1,
            stimuli = math.random(2) == 1, activations = math.random(2) == 1 })
      end
   end)

   it("equals the actions of the program, also across batches", function()
      math.randomseed(12)
      for _, count in ipairs { 10, 100, 1000, 9000 } do
         local lines, told = events.program(count)
         local _, facts = checked(lines, { close = false })
         assert.equal(told.starts, facts.counts["R start"])
         assert.equal(told.ends, facts.counts["R terminate"] or 0)
         -- a suspend at the very end, or of a task that goes on at once, is one as well; a task
         -- that returned from its outermost call runs until another one comes
         assert.is_true(facts.counts["T preempt"] >= told.preempts)
      end
   end)
end)

describe("the checker of BTF", function()
   local head = "#version 2.2.1\n#timescale ns\n"
   local started = "0,STI_a,0,STI,STI_a,0,trigger\n0,STI_a,0,T,a,0,activate\n"
      .. "0,Core_0,0,T,a,0,start\n"

   it("accepts valid output", function()
      assert.same({}, (btf.check(head .. started .. "# note\n1,a,0,R,f,0,start\n"
         .. "2,a,0,R,g,0,start\n2,a,0,R,g,0,suspend\n2,a,0,R,f,0,suspend\n"
         .. "2,Core_0,0,T,a,0,preempt\n"
         .. "3,Core_1,0,T,a,0,resume\n3,a,0,R,f,0,resume\n3,a,0,R,g,0,resume\n"
         .. "4,a,0,SIG,s,0,write,-1.5\n5,a,0,R,g,0,terminate\n5,a,0,R,f,0,terminate\n"
         .. "5,Core_1,0,T,a,0,terminate\n6,STI_a,0,T,a,1,activate\n")))
   end)

   local broken = {
      ["no #version"] = "#timescale ns\n",
      ["no #timescale"] = "#version 2.2.1\n",
      ["not the first line"] = "#timescale ns\n#version 2.2.1\n",
      ["no time scale 'min'"] = "#version 2.2.1\n#timescale min\n",
      ["a second time"] = head .. "#version 2.2.1\n",
      ["neither a comment"] = head .. "#\n",
      ["9 fields"] = head .. started .. "1,a,0,R,f(int, char),0,start,1\n",
      ["a field is empty"] = head .. started .. "1,a,0,R,f,,start\n",
      ["is empty or no number"] = head .. started .. "1.5,a,0,R,f,0,start\n",
      ["time 1 after 2"] = head .. started .. "2,a,0,R,f,0,start\n1,a,0,R,f,0,terminate\n",
      ["time -1 after 0"] = head .. "-1,STI_a,0,STI,STI_a,0,trigger\n",
      ["no type 'X'"] = head .. "1,a,0,X,f,0,start\n",
      ["has no event 'suspend'"] = head .. started .. "1,Core_0,0,T,a,0,suspend\n",
      ["'start' while running"] = head .. started .. "1,Core_0,0,T,a,0,start\n",
      ["which was not triggered"] = head .. "0,STI_b,0,T,a,0,activate\n",
      ["instance 1, expected 0"] = head .. started .. "1,a,0,R,f,1,start\n",
      ["instance 0, expected 1"] = head .. started
         .. "1,a,0,R,f,0,start\n1,a,0,R,f,0,terminate\n1,a,0,R,f,0,start\n",
      ["core Core_0 runs T a 0 and gets T b 0"] = head .. started .. "1,Core_0,0,T,b,0,start\n",
      ["which it does not have"] = head .. started .. "1,Core_1,0,T,a,0,preempt\n",
      ["while its runnable f 0 is running"] = head .. started
         .. "1,a,0,R,f,0,start\n1,Core_0,0,T,a,0,preempt\n",
      ["terminates before its runnable"] = head .. started
         .. "1,a,0,R,f,0,start\n1,Core_0,0,T,a,0,terminate\n",
      ["while its process is ready"] = head .. started
         .. "1,Core_0,0,T,a,0,preempt\n1,a,0,R,f,0,start\n",
      ["before it starts"] = head .. started .. "1,a,0,R,f,0,terminate\n",
      ["terminates before g 0 inside it"] = head .. started
         .. "1,a,0,R,f,0,start\n1,a,0,R,g,0,start\n1,a,0,R,f,0,terminate\n",
      ["is suspended before g 0 inside it"] = head .. started
         .. "1,a,0,R,f,0,start\n1,a,0,R,g,0,start\n1,a,0,R,f,0,suspend\n",
      ["resumes before f 0 around it"] = head .. started .. "1,a,0,R,f,0,start\n"
         .. "1,a,0,R,g,0,start\n1,a,0,R,g,0,suspend\n1,a,0,R,f,0,suspend\n1,a,0,R,g,0,resume\n",
      ["no process b"] = head .. started .. "1,b,0,R,f,0,start\n",
      ["its value 'high' is no number"] = head .. started .. "1,a,0,SIG,s,0,write,high\n",
      ["no printable ASCII"] = head .. started .. "1,a,0,R,\xfc,0,start\n",
   }

   for breach, text in pairs(broken) do
      it("refuses a file: " .. breach, function()
         local list = btf.check(text)
         assert.is_true(#list > 0)
         assert.is_truthy(table.concat(list, "\n"):find(breach, 1, true), table.concat(list, "\n"))
      end)
   end
end)
