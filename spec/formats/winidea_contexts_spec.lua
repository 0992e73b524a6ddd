local cores = require "spec.support.cores"
local profio = require "profio"
local records = require "spec.support.winidea"
local rounds = require "spec.support.rounds"

local codes = require("spec.support.codes").listed

-- The sums of each function by lane, as cores.truth returns them.
local function sums(trace)
   local list = {}
   for row in trace:call_statistics { by = "context", quantiles = "" }:records() do
      if row.context and row.area:match "^f%d" then
         list[row.context .. " " .. row.area] = { count = row.count, net = row.net,
            gross = row.gross, call = row.call }
      end
   end
   return list
end

local function opened(data, options, mapping)
   options = options or {}
   options.format = "winidea"
   return assert(profio.open({ data = data, mapping = mapping }, options))
end

local function random_run(round)
   math.randomseed(round)
   local count = math.random(5)
   return cores.simulate(math.random, count, math.random(50, 300)), count
end

describe("a simulated system of one to five cores", function()
   it("has the true statistics of each context as .BIN", function()
      for round = 1, rounds(200) do
         local run = random_run(round)
         run.is_per_core = round % 2 == 0
         local trace <close> = opened(cores.bin(run), { context_area = "running*" },
            cores.mapping(run))
         assert.same(cores.truth(run), sums(trace), "round " .. round)
         assert.same({}, codes(trace), "round " .. round)
      end
   end)

   it("has them also if the writes of the variables state no core", function()
      for round = 1, rounds(60) do
         local run = random_run(round)
         run.is_per_core = true
         local data = cores.bin(run, function(event)
            return event.kind == "W" and 0xff or nil
         end)
         local trace <close> = opened(data, { context_area = "running*" }, cores.mapping(run))
         assert.same(cores.truth(run), sums(trace), "round " .. round)
      end
   end)

   it("has them as Text1 with contexts, or a note", function()
      local exact = 0
      for round = 1, rounds(200) do
         local run = random_run(round)
         local trace <close> = opened(cores.text(run, true))
         local computed = sums(trace)
         if #codes(trace) == 0 then
            exact = exact + 1
            assert.same(cores.truth(run, true), computed, "round " .. round)
         end
      end
      assert.is_true(exact > 0)
   end)

   it("has them as Text1 without contexts, or a note", function()
      for round = 1, rounds(50) do
         local run = random_run(round)
         local trace <close> = opened(cores.text(run, false))
         local computed = sums(trace)
         assert.is_true(#computed == 0 or #codes(trace) > 0, "round " .. round)
         assert.same("winidea-no-contexts", codes(trace)[1])
      end
   end)
end)

describe("contexts of a timeline", function()
   local mapping = "* CONTEXTS %NAME%,%HANDLE%\nNO_TASK,0x0\nTask,0x1\nISR,0x2\n"
      .. "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\n00000001,f,\n"
      .. "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%\n20000000,run[0],\n20000001,run[1],\n"
      .. "20000002,state,\n30000002,Init,0\n30000002,Main,1\n"

   local function run(core, value, time, variable)
      return { handle = variable or 0x20000000, event = "write", core = core, data = value,
         time = time }
   end

   local function f(event, core, time)
      return { handle = 1, event = event, core = core, time = time }
   end

   -- The lanes in which f was called, with its net time, and the codes of warnings.
   local function lanes_of(list, area, main)
      local trace <close> = opened(records.bytes(list, records.new), { context_area = area },
         main or mapping)
      local found = {}
      for lane, name, net in trace:calls():each("lane", "area", "net") do
         if name == "f" then
            found[#found + 1] = ("%s %d"):format(lane, net)
         end
      end
      return table.concat(found, ", "), table.concat(codes(trace), " ")
   end

   it("have a lane for each core only if two run them at once", function()
      local idle = { run(0, 0, 0), f("enter", 0, 0), run(1, 0, 1), f("enter", 1, 1),
         f("leave", 0, 5), f("leave", 1, 9) }
      assert.equal("NO_TASK (core 0) 5, NO_TASK (core 1) 8", (lanes_of(idle, "run[0]")))
      local moves = { run(0, 1, 0), f("enter", 0, 0), f("suspend", 0, 2), run(0, 2, 2),
         run(1, 1, 4), f("resume", 1, 4), f("leave", 1, 9) }
      assert.equal("Task 7", (lanes_of(moves, "run[0]")))
   end)

   it("come from one variable per core", function()
      local list = { run(0, 1, 0), f("enter", 0, 0), run(1, 2, 1, 0x20000001), f("enter", 1, 1),
         f("leave", 0, 5), f("leave", 1, 9) }
      for _, area in ipairs { "run[0],run[1]", "run*", "20000000, 0x20000001" } do
         assert.equal("Task 5, ISR 8", (lanes_of(list, area)))
      end
   end)

   it("of writes without a core are those of the only core, or of the variable's", function()
      assert.equal("Task 5", (lanes_of({ run(0xff, 1, 0), f("enter", 0, 0), f("leave", 0, 5) },
         "run*")))
      assert.equal("Task 5, ISR 8", (lanes_of({ run(0xff, 1, 0), f("enter", 0, 0),
         run(0xff, 2, 1, 0x20000001), f("enter", 1, 1), f("leave", 0, 5), f("leave", 1, 9) },
         "run*")))
      local _, warned = lanes_of({ run(0xff, 1, 0), f("enter", 0, 0), f("enter", 1, 1),
         f("leave", 0, 5), f("leave", 1, 9) }, "run[1],state")
      assert.matches("winidea%-no%-context", warned)
      _, warned = lanes_of({ run(0xff, 1, 0, 0x20000002), f("enter", 0, 0), f("enter", 1, 1),
         f("leave", 0, 5), f("leave", 1, 9) }, "state")
      assert.matches("winidea%-unknown%-core", warned)
   end)

   it("are named by the states of the variable, or by its value", function()
      local list = { run(0, 1, 0, 0x20000002), f("enter", 0, 0), f("leave", 0, 5),
         run(0, 7, 6, 0x20000002), f("enter", 0, 6), f("leave", 0, 8) }
      local bare = mapping:gsub("^.-(%* HANDLE)", "%1")
      assert.equal("Main 5, state=7 2", (lanes_of(list, "state", bare)))
   end)

   it("are named by CONTEXTS also if a row states a handle", function()
      local trace <close> = opened(mapping .. "* TIMELINE %HANDLE%,%EVENT%,%TIME%,%CONTEXT%\n"
         .. "1,E,0,0x1\n1,X,5,0x1\n1,E,6,Task\n1,X,7,00000002\n1,E,8,9\n"
         .. "* STATISTICS(Functions) CONTEXT(0x2) %HANDLE%,%COUNT%\n00000001,1\n"
         .. "* STATISTICS(Functions) %HANDLE%,%COUNT%,%CONTEXT%\n00000001,1,0x1\n")
      local list = {}
      for context in trace.timeline:each "context" do
         list[#list + 1] = context
      end
      assert.same({ "Task", "Task", "Task", "ISR", "9" }, list)
      assert.equal("ISR", trace.statistics:rows()[1].context)
      assert.equal("Task", trace.statistics:rows()[2].context)
   end)

   it("are missed with a note", function()
      local rows = "00000001,E,,0\n00000001,X,,5\n"
      for text, code in pairs {
         [mapping .. "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%\n" .. rows] =
            "winidea-no-contexts",
         [mapping .. "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%%CONTEXT%\n" .. rows] =
            "winidea-no-context",
      } do
         local trace <close> = opened(text)
         assert.equal(2, #trace.events:rows())
         assert.same({ code }, codes(trace))
      end
      local _, warned = lanes_of({ f("enter", 0, 0), f("leave", 0, 5) }, "run[0]")
      assert.equal("winidea-no-context", warned)
      local plain <close> = opened(records.bytes({ f("enter", 0, 0) }, records.new), {}, mapping)
      assert.same({ "winidea-no-contexts" }, codes(plain))
   end)
end)

describe("a trace with many calls without an enter or a leave", function()
   local events = require "spec.support.call_events"

   it("has a note, once calls are computed", function()
      local text = ""
      for i = 1, 10 do
         text = text .. ("%d e f; %d l f; "):format(i, i)
      end
      local trace <close> = events.open(events.of(text .. "20 e g; 21 l x; 22 l g"))
      assert.same({}, trace.warnings)
      assert.equal(12, #trace:calls():rows())
      assert.matches("^1 of 12 calls %(8.3 %%%) have no enter or no leave: several tasks or cores",
         trace.warnings[1].message)
      assert.equal("calls-unmatched", trace:check()[1].code)
      local good <close> = events.open(events.of(text))
      assert.same({}, good:check())
   end)
end)
