-- trace:explain on small timelines whose parts are known, report explain and verb explain.
--
-- Tags: stressed.
-- Long: many commands or rows, or programs that are compiled.
-- Costly: many commands.

local command = require "spec.support.command"
local events = require "spec.support.call_events"
local gmon = require "spec.support.gmon_builder"
local records = require "spec.support.winidea"
local timelines = require "spec.support.events"

-- Returns the explanation of f for calls of these lengths, 100 ns apart. An action makes the events
-- of a call from its start and its length.
local function explained(lengths, action, options)
   local lines, time = {}, 0
   for i, length in ipairs(lengths) do
      lines[#lines + 1] = action(time, length, i)
      time = time + length + 100
   end
   local trace <close> = events.open(events.of(table.concat(lines, "; ")))
   return trace:explain("f", options or { quantile = "p80" })
end

local function plain_call(time, length)
   return ("%d e f; %d l f"):format(time, time + length)
end

-- Returns the parts as a list of "kind area time".
local function parts_of(made)
   local list = {}
   for i, part in ipairs(made.parts) do
      list[i] = ("%s %s %d"):format(part.kind, part.area or "-", part.time)
   end
   return list
end

local lengths = { 10, 20, 30, 10, 20, 30, 10, 20, 100 }

describe("trace:explain", function()
   it("compares the slowest calls with as many around the median", function()
      local made = assert(explained(lengths, plain_call))
      assert.same({ 9, 0, 3, 3 }, { made.calls, made.partial, made.slow.calls,
         made.typical.calls })
      assert.equal(30 + 30 + 100, made.slow.elapsed)
      assert.equal(20 * 3, made.typical.elapsed)
      assert.same({ "own f 100" }, parts_of(made))
      assert.same({ 100, 950 }, { made.worst.elapsed, made.worst.start })
      assert.equal(20, made.median.elapsed)
      assert.equal("f has 9 calls. The slowest 3 took 53.3 ns on average, and typical calls 20 ns: "
         .. "the gap is 33.3 ns.", made.sentence)
      assert.equal("33.3 ns (100.0%): f itself ran longer: 53.3 ns in each call instead of 20 ns; "
         .. "for example at 950 ns.",
         made.parts[1].sentence)
   end)

   it("counts each call once if typical calls take no time", function()
      local part = assert(explained({ 0, 0, 0, 0, 0, 0, 0, 50, 100 }, plain_call)).parts[1]
      assert.same({ "own", 150, 3, 150, 150, 3, 0 }, { part.kind, part.time, part.count, part.net,
         part.elapsed, part.typical_count, part.typical_elapsed })
   end)

   it("says that there is no gap", function()
      local made = assert(explained({ 10, 10, 10, 10 }, plain_call))
      assert.equal("f has 4 calls. The slowest took 10 ns, and typical calls 10 ns: there is no "
         .. "gap to explain.", made.sentence)
      assert.same({ 0, 0 }, { made.gap, #made.parts })
   end)

   it("names a function that only slow calls call", function()
      local made = assert(explained(lengths, function(time, length)
         return length == 100 and ("%d e f; %d e g; %d l g; %d l f"):format(time, time + 5,
            time + 85, time + 100) or plain_call(time, length)
      end))
      assert.same({ "more g 80", "own f 20" }, parts_of(made))
      assert.matches("calls of g, which typical calls do not make: 0.333 in each on average",
         made.parts[1].sentence)
      assert.equal(950, made.parts[1].start)
   end)

   it("keeps calls apart that typical calls do not make from that caller", function()
      local made = assert(explained(lengths, function(time, length)
         local inner = length == 100 and ("%d e g; %d l g; "):format(time + 12, time + 82) or ""
         return ("%d e f; %d e g; %d l g; %d e h; %s%d l h; %d l f"):format(time, time, time + 1,
            time + 2, inner, time + length - 2, time + length)
      end))
      assert.same({ "more", "g", "h" }, { made.parts[1].kind, made.parts[1].area,
         made.parts[1].caller })
      assert.matches("calls of g by h, which typical calls do not make: 0.333 in each on average;",
         made.parts[1].sentence, 1, true)
   end)

   it("separates more calls from longer calls, and goes further down", function()
      local made = assert(explained({ 30, 30, 30, 30, 30, 75 }, function(time, length, i)
         local calls, at = {}, time
         for _ = 1, i == 6 and 3 or 2 do
            local long = i == 6 and 10 or 5
            calls[#calls + 1] = ("%d e g; %d e h; %d l h; %d l g"):format(at, at + 2,
               at + 2 + long, at + 5 + long)
            at = at + 5 + long
         end
         return ("%d e f; %s; %d l f"):format(time, table.concat(calls, "; "), time + length)
      end, { quantile = "p100" }))
      assert.equal(2, made.slow.calls)
      -- One call of g more takes 10 typically; h runs 5 longer in each of 3 calls; f: 30 - 10.
      assert.same({ "own f 20", "longer h 15", "more g 10" }, parts_of(made))
   end)

   it("knows suspended time, also within callees", function()
      local made = assert(explained(lengths, function(time, length)
         return length == 100 and ("%d e f; %d e g; %d s g; %d r g; %d l g; %d l f"):format(time,
            time, time + 10, time + 90, time + 90, time + 100)
            or ("%d e f; %d e g; %d l g; %d l f"):format(time, time, time + length - 5,
            time + length)
      end))
      assert.equal("suspended", made.parts[1].kind)
      assert.is_true(made.parts[1].time > 70)
   end)

   it("knows suspended time within callees that typical calls do not have", function()
      local made = assert(explained(lengths, function(time, length)
         return length == 100 and ("%d e f; %d e g; %d e h; %d s h; %d r h; %d l h; %d l g; %d l f")
            :format(time, time + 5, time + 10, time + 15, time + 85, time + 90, time + 95,
            time + 100) or plain_call(time, length)
      end))
      -- g and h themselves run for 20 of the 100 ns, f for 10 instead of 20 on average.
      assert.same({ "suspended f 70", "more g 20", "own f 10" }, parts_of(made))
      assert.equal("f > g > h", made.parts[1].path)
   end)

   it("says that a slow call is the first one, and why that is slow", function()
      local made = assert(explained({ 100, 10, 20, 30, 10, 20, 30, 10, 20 },
         function(time, length)
            return length == 100 and ("%d e f; %d e init; %d l init; %d l f"):format(time, time,
               time + 60, time + 100) or plain_call(time, length)
         end))
      assert.same({ "first f 80", "own f 20" }, parts_of(made))
      assert.same({ "more init 60", "own f 20" }, parts_of { parts = made.parts[1].of })
      assert.equal("26.7 ns (80.0%): 1 of 3 slow calls is the first of its lane; for example at "
         .. "0 ns.", made.parts[1].sentence)
      assert.equal("60 ns (75.0%): calls of init, which typical calls do not make: 1 in each; for "
         .. "example at 0 ns.", made.parts[1].of[1].sentence)
   end)

   it("says what came before", function()
      local made = assert(explained({ 10, 100, 20, 30, 100, 20, 30, 100, 10, 20, 20 },
         function(time, length)
            return length == 100 and ("%d e flush; %d l flush; %s"):format(time - 50, time - 10,
               plain_call(time, length)) or plain_call(time, length)
         end))
      assert.same({ "before flush 230" }, parts_of(made))
      assert.matches("right after flush: 100 ns in each of these calls instead of 23.3 ns; it came "
         .. "before 3 of 3 slow calls and 0 of 3 typical", made.parts[1].sentence, 1, true)
   end)

   it("takes the outermost of recursive calls", function()
      local made = assert(explained(lengths, function(time, length)
         return ("%d e f; %d e f; %d l f; %d l f"):format(time, time + 2, time + length - 2,
            time + length)
      end))
      assert.equal(9, made.calls)
      assert.same({ "longer f 100" }, parts_of(made))
   end)

   it("shows the slowest call beside the median one", function()
      local made = assert(explained(lengths, function(time, length)
         local inner = length == 100 and "slow" or "usual"
         return ("%d e f; %d e %s; %d l %s; %d l f"):format(time, time + 1, inner,
            time + length - 1, inner, time + length)
      end))
      local list = {}
      for i, node in ipairs(made.tree) do
         list[i] = ("%d %s %d %d"):format(node.depth, node.area, node.worst_elapsed,
            node.median_elapsed)
      end
      assert.same({ "1 f 100 20", "2 slow 98 0", "2 usual 0 18" }, list)
   end)
end)

-- Events with lanes of one letter and cores: "10 e f a0" is an enter of f in lane a on core 0.
local function on_cores(text)
   local list = events.of(text)
   local i = 0
   for lane, core in text:gmatch "%d+ %a %S+ (%a)(%d?)" do
      i = i + 1
      list[i].lane, list[i].core = lane, math.tointeger(tonumber(core)) or -1
   end
   return list
end

-- Returns the steps of the critical path of f.
local function path_of(text)
   local trace <close> = events.open(on_cores(text), "calls on cores")
   local made, steps = assert(trace:explain("f", { quantile = "p100" })), {}
   for i, step in ipairs(made.path) do
      steps[i] = ("%s %s %d"):format(step.lane or "-", step.area or "-", step.elapsed)
   end
   return steps, made
end

-- Returns the parts as a list of "kind runner time".
local function runners_of(made)
   local list = {}
   for i, part in ipairs(made.parts) do
      list[i] = ("%s %s %d"):format(part.kind, part.runner or "-", part.time)
   end
   return list
end

local short = "0 e f a0; 10 l f a0; 20 e f a0; 30 l f a0; "

describe("trace:explain on cores", function()
   it("divides suspended time by the lanes that ran, and leaves a rest", function()
      local _, made = path_of(short .. "40 e f a0; 45 s f a0; 50 e g b0; 60 s g b0; 60 e h c0; "
         .. "75 l h c0; 75 r g b0; 80 l g b0; 90 r f a0; 100 l f a0")
      assert.same({ "suspended - 15", "suspended b 15", "suspended c 15", "own - 5" },
         runners_of(made))
      assert.matches("f did not run: it was suspended for 15 ns instead of 0 ns while b ran on its "
         .. "core, mostly g;", made.parts[2].sentence, 1, true)
      assert.matches("suspended for 15 ns instead of 0 ns while no lane is known to have "
         .. "run on its core;",
         made.parts[1].sentence, 1, true)
      assert.equal("The slowest call took 60 ns. On its critical path are 15 ns in a (mostly f), "
         .. "15 ns in b (mostly g), 15 ns in c (mostly h), 15 ns in which nothing is known to have "
         .. "run.", made.path_sentence)
   end)

   it("names the function that ran longest in each lane, over all its steps", function()
      local _, made = path_of(short .. "40 e f a0; 45 s f a0; 45 e g b0; 51 l g b0; 51 e h b0; "
         .. "61 l h b0; 61 e g b0; 67 l g b0; 67 r f a0; 100 l f a0")
      assert.equal("The slowest call took 60 ns. On its critical path are 38 ns in a (mostly f), "
         .. "22 ns in b (mostly g).", made.path_sentence)
   end)

   it("adds up the lanes that a sentence does not name", function()
      local text = short .. "40 e f a0; 41 s f a0; "
      for i = 1, 5 do
         text = text .. ("%d e g %s0; %d l g %s0; "):format(40 + i, ("bcdeh"):sub(i, i), 41 + i,
            ("bcdeh"):sub(i, i))
      end
      local _, made = path_of(text .. "46 r f a0; 100 l f a0")
      assert.matches("1 ns in 1 more lane.", made.path_sentence, 1, true)
   end)

   it("knows what ran while a callee that typical calls do not have was suspended", function()
      local _, made = path_of(short .. "40 e f a0; 45 e g a0; 50 s g a0; 50 e h b0; 90 l h b0; "
         .. "90 r g a0; 95 l g a0; 100 l f a0")
      assert.same({ "suspended b 40", "more - 10" }, runners_of(made))
      assert.equal("h", made.parts[1].runner_area)
   end)

   it("follows the lane on another core that ends a wait", function()
      assert.same({ "a f 5", "b g 35", "a f 20" }, (path_of(short
         .. "38 e g b1; 40 e f a0; 45 s f a0; 80 l g b1; 80 r f a0; 100 l f a0")))
   end)

   it("follows nothing that other cores do while a lane has no call open", function()
      assert.same({ "a f 5", "- - 5", "b g 10", "a f 40" }, (path_of(short
         .. "40 e f a0; 45 s f a0; 47 e x c1; 48 l x c1; 50 e g b0; 60 l g b0; 60 r f a0; "
         .. "100 l f a0")))
   end)

   it("counts lanes of unknown cores as those of one", function()
      local steps, made = path_of(short .. "40 e f a; 45 s f a; 45 e g b; 60 l g b; 60 e h c; "
         .. "75 l h c; 75 r f a; 100 l f a")
      assert.same({ "a f 5", "b g 15", "c h 15", "a f 25" }, steps)
      assert.same({ "suspended - 30", "own - 20" }, runners_of(made))
   end)

   it("knows that a lane has gone to another core, and forgets what was before a gap", function()
      local _, made = path_of(short .. "40 e g b0; 41 e f a0; 45 s f a0; 46 r g b0; 50 s g b0; "
         .. "50 r g b1; 60 r f a0; 100 l f a0")
      assert.same({ "own - 34", "suspended - 11", "suspended b 4" }, runners_of(made))
      local list = on_cores(short .. "40 e g b0; 41 e f a0; 42 s f a0; 44 e f a0; 46 s f a0; "
         .. "60 r f a0; 100 l f a0")
      list[8].flags = "gap"
      local trace <close> = events.open(list, "calls on cores")
      made = assert(trace:explain("f", { quantile = "p100" }))
      assert.same({ 1, 0 }, { made.partial, #made.path })
      assert.is_nil(table.concat(runners_of(made), ","):match "suspended b")
   end)

   it("forgets what waited before a gap that is at a write", function()
      local list = on_cores(short .. "40 e f b0; 45 s f b0; 50 e g a0; 100 w v c1; 110 e f b0; "
         .. "120 s f b0; 130 r f b0; 300 l f b0")
      list[8].flags = "gap"
      local trace <close> = events.open(list, "calls on cores")
      local made = assert(trace:explain("f", { quantile = "p100" }))
      assert.same({ "own - 170", "suspended - 10" }, runners_of(made))
   end)

   it("does not follow a function that was open before a gap", function()
      local list = on_cores(short .. "500 e g a0; 0 e x a0; 5 l x a0; 100 e f b0; 110 s f b0; "
         .. "150 e h a0; 190 l h a0; 200 r f b0; 300 l f b0")
      list[6].flags = "gap"
      local trace <close> = events.open(list, "calls on cores")
      local steps = {}
      for i, step in ipairs(assert(trace:explain("f", { quantile = "p100" })).path) do
         steps[i] = ("%s %s %d"):format(step.lane or "-", step.area or "-", step.elapsed)
      end
      assert.same({ "b f 10", "- - 40", "a h 40", "- - 10", "b f 100" }, steps)
   end)

   it("compares the calls of some lanes", function()
      local text = "0 e f a0; 10 l f a0; 20 e f a0; 40 l f a0; 40 e f b0; 90 l f b0; 90 e f b0; "
         .. "190 l f b0"
      local trace <close> = events.open(on_cores(text), "calls on cores")
      assert.equal(10, assert(trace:explain("f", { lane = "a" })).gap)
      assert.equal(50, assert(trace:explain("f", { lane = { "b", "c" } })).gap)
      assert.equal(4, assert(trace:explain("f", { lane = require "profio".match "[ab]" })).calls)
      assert.equal("no calls of 'f' in the selected lanes; it has calls in a, b",
         select(2, trace:explain("f", { lane = "c" })))
   end)
end)

describe("trace:explain has nothing to explain", function()
   local function message_of(text, area)
      local trace <close> = events.open(events.of(text))
      local made, message, code = trace:explain(area)
      assert.is_nil(made)
      assert.equal("unsupported", code)
      return message
   end

   it("and says why", function()
      assert.equal("no calls of 'main': there are no calls at all", message_of("", "main"))
      assert.equal("no calls of 'mian'; did you mean 'main'?",
         message_of("1 e main; 2 l main", "mian"))
      assert.equal("no calls of 'DBSEEK'; there are: a, main",
         message_of("1 e a; 2 l a; 3 e main; 4 l main", "DBSEEK"))
      assert.equal("'f' has one call that was recorded from enter to leave: there is nothing to "
         .. "compare it with", message_of("1 e f; 2 l f; 3 l f; 4 e f", "f"))
      assert.equal("no call of 'f' was recorded from enter to leave, only parts of 2",
         message_of("1 e main; 2 l f; 3 e f", "f"))
   end)

   it("for a line, and refuses a wrong option", function()
      local bytes = records.bytes({ { handle = 0x10000001, event = "enter", time = 1 },
         { handle = 0x10000002, event = "enter", time = 3 },
         { handle = 0, event = "enter", time = 5 } }, records.new)
      local profio = require "profio"
      local trace <close> = assert(profio.open({ data = bytes }, { format = "winidea",
         bin_version = "1.1" }))
      local line = trace.events:rows()[1].area
      assert.matches("is no function but a line", select(2, trace:explain(line)))
      assert.has_error(function() trace:explain("x", { quantile = "99" }) end)
      assert.has_error(function() trace:explain() end)
   end)
end)

describe("profio explain", function()
   -- Nine calls of function 1, of which the last one calls function 2 for long.
   local list, time = {}, 0
   for i = 1, 9 do
      for _, step in ipairs { { "enter", 1, 10 }, { "enter", 2, i == 9 and 900 or 50 },
         { "leave", 2, 5 }, { "leave", 1, 100 } } do
         list[#list + 1] = { event = step[1], handle = step[2], time = time, core = 0 }
         time = time + step[3]
      end
   end
   command.file("calls.BIN", records.bytes(list, records.new))
   local given = "--format winidea --set bin_version=1.1 calls.BIN"

   it("does not deny calls of functions that it has not tried", function()
      -- Each of a to e calls the next one, twice around; the last one calls leaf twice.
      local lines, areas = {}, { "a", "b", "c", "d", "e", "a", "b", "c", "d", "e" }
      local function add(event, area)
         lines[#lines + 1] = ("%d %s %s\n"):format(10 * #lines, event, area)
      end
      for i = 1, #areas do
         add("enter", areas[i])
      end
      for _, event in ipairs { "enter", "leave", "enter", "leave" } do
         add(event, "leaf")
      end
      for i = #areas, 1, -1 do
         add("leave", areas[i])
      end
      assert.equal("None of the 5 functions with the longest calls has two calls outside of each "
         .. "other that were recorded from enter to leave: name another function.\n",
         timelines.fine(table.concat(lines), "--report", "explain"))
   end)

   it("shows the parts and the trees", function()
      local text, status = command.run("profio explain 00000001 " .. given)
      assert.equal(0, status)
      assert.matches("00000001 has 9 calls. The slowest 3 took", text)
      assert.matches("%- 283.3 ns %(100.0%%%): 00000002 itself ran longer: 333.3 ns for each of "
         .. "its calls instead of 50 ns; for example at 1.320 us %(core 0%)", text)
      assert.matches("915 ns +65 ns  00000001\n +900 ns +50 ns    00000002\n", text)
   end)

   it("has the same as rows", function()
      assert.equal("kind,area,time,start\ngap,00000001,850,1320\nlonger,00000002,850,1320\n",
         (command.run("profio explain --where kind=gap,longer --columns kind,area,time,start "
            .. "--output csv 00000001 " .. given)))
      assert.matches('"kind":"longer","area":"00000002","path":"00000001 > 00000002","time":850,',
         (command.run("profio explain --output json 00000001 " .. given)), 1, true)
   end)

   it("shows the parts of first calls, also as rows", function()
      local firsts, at = {}, 0
      for i = 1, 9 do
         for _, event in ipairs { "enter", "leave" } do
            firsts[#firsts + 1] = { event = event, handle = 1, time = at, core = 0 }
            at = at + (i == 1 and 500 or 50)
         end
      end
      command.file("first.BIN", records.bytes(firsts, records.new))
      local line = "--format winidea --set bin_version=1.1 00000001 first.BIN"
      assert.matches("1 of 3 slow calls is the first of its lane; for example at 0 ns (core 0).\n"
         .. "  - 450 ns (100.0%): 00000001 itself ran longer: 500 ns in each call instead of 50 ns",
         (command.run("profio explain " .. line)), 1, true)
      assert.equal("kind,time\ngap,450\nfirst,450\nfirst own,450\n", (command.run(
         "profio explain --where kind!=tree --columns kind,time --output csv " .. line)))
   end)

   it("takes the function with the longest call, as a report without one", function()
      assert.matches("00000001 has 9 calls", (command.run("profio --report explain " .. given)))
      assert.matches("00000001 has 9 calls", (command.run("profio --report explain --lane 0 "
         .. given)))
   end)

   it("takes a part of the time and of the lanes", function()
      assert.matches("00000001 has 3 calls. .* 1 call was not recorded from enter to leave",
         (command.run("profio explain --lane 0 --from 0 --to 500ns 00000001 " .. given)))
      local _, status, errors = command.run("profio explain --lane 7 00000001 " .. given)
      assert.equal(1, status)
      assert.matches("no calls of '00000001' in the selected lanes; it has calls in core 0",
         errors, 1, true)
   end)

   it("refuses what it cannot do", function()
      local _, status, errors = command.run "profio explain"
      assert.equal(2, status)
      assert.matches("the function is missing", errors)
      _, status, errors = command.run("profio explain 00000003 " .. given)
      assert.equal(1, status)
      assert.matches("no calls of '00000003'", errors, 1, true)
   end)
end)

describe("profio explain of a profile", function()
   it("shows callers and callees, and what changed", function()
      command.file("a.nm", command.nm)
      local text = command.run "profio explain work --symbols a.nm gmon.out"
      assert.matches("The cost of work is 500.000 ms with its callees, 350.000 ms of it itself.",
         text, 1, true)
      assert.matches("150.000 ms goes to calls of leaf, 20 calls (30.0%).", text, 1, true)
      assert.matches("500.000 ms comes through calls by main, 5 calls (100.0%).", text, 1, true)
      assert.matches("No cost has changed.", (command.run
         "profio --report explain --diff gmon.out --symbols a.nm gmon.out"), 1, true)
      local _, status, errors = command.run "profio explain wrok --symbols a.nm gmon.out"
      assert.equal(1, status)
      assert.matches("no function 'wrok'; did you mean 'work'?", errors, 1, true)
   end)
end)

describe("profio explain of a recording without call stacks", function()
   it("says that callers are not known, and what the function itself costs", function()
      command.file("alone.nm", "1000 T a\n1020 T b\n1040 T etext\n")
      command.file("alone.gmon", gmon.new("<", 8):header():histogram { low = 0x1000,
         high = 0x1040, bins = { 3, 0, 0, 0, 0, 0, 0, 0, 5 } }:bytes())
      assert.equal("The cost of a is 30.000 ms with its callees, 30.000 ms of it itself. Callers "
         .. "and callees are not known: no function of this profile has any, as in a recording "
         .. "without call stacks.\n\n- 30.000 ms is self cost of a (100.0%).\n- 30.000 ms comes "
         .. "through no known caller (100.0%).\n",
         (command.run "profio explain a --symbols alone.nm alone.gmon"))
   end)

   it("has callers if the recorder stored them", function()
      command.file("work.lua", "local function leaf() for _ = 1, 1e4 do end end\n"
         .. "local function work() for _ = 1, 9 do leaf() end end\nwork()\n")
      for words, said in pairs { [""] = "Callers and callees are not known",
         ["--set backtraces=true"] = "comes through calls by work" }
      do
         assert.equal(0, select(2, command.run(("profio record --mode timed -o alone.br %s "
            .. "work.lua"):format(words))))
         assert.matches(said, (command.run "profio explain leaf alone.br"), 1, true)
      end
   end)
end)

-- A run of four functions of 16 bytes, which call later ones only, with random samples and arcs.
local function random_run(random)
   local bins = {}
   for i = 1, 32 do
      bins[i] = i % 8 == 1 and random(0, 50) or 0
   end
   local run = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1080, bins = bins }
   for caller = 0, 2 do
      for callee = caller + 1, 3 do
         if random(3) > 1 then
            run:arc(0x1004 + 32 * caller, 0x1000 + 32 * callee, random(20))
         end
      end
   end
   return run:bytes()
end

-- Returns the time and the calls of each part by kind and function, and the sums of both sides.
local function parts_by_key(line)
   local parts, sums = {}, { cost = 0, callee = 0, caller = 0 }
   local sides = { cost = "cost", self = "callee", callee = "callee", elsewhere = "callee",
      caller = "caller", uncalled = "caller" }
   for kind, area, time, count in command.run("profio explain --output tsv --columns "
      .. "kind,area,time,count " .. line):gmatch "(%l+)\t([^\t\n]*)\t(%-?%d+)\t(%-?%d*)\n"
   do
      parts[kind .. " " .. area] = { math.tointeger(time), math.tointeger(count) or 0 }
      sums[sides[kind]] = sums[sides[kind]] + math.tointeger(time)
   end
   return parts, sums
end

-- Returns the parts of a run minus those of another one.
local function change_of(new, old)
   local change = {}
   for sign, parts in pairs { [1] = new, [-1] = old } do
      for key, part in pairs(parts) do
         change[key] = change[key] or { 0, 0 }
         change[key][1] = change[key][1] + sign * part[1]
         change[key][2] = change[key][2] + sign * part[2]
      end
   end
   return change
end

describe("profio explain --diff", function()
   it("shows the parts of a run minus those of the other one, which sum to the change", function()
      local random, compared = math.random, 0
      math.randomseed(3)
      command.file("d.nm", "1000 T a\n1020 T b\n1040 T c\n1060 T d\n1080 T etext\n")
      for _ = 1, 6 do
         command.file("new.gmon", random_run(random))
         command.file("old.gmon", random_run(random))
         for _, area in ipairs { "a", "b", "c", "d" } do
            local line = area .. " --symbols d.nm "
            local change, sums = parts_by_key(line .. "--diff old.gmon new.gmon")
            local expected = change_of(parts_by_key(line .. "new.gmon"),
               (parts_by_key(line .. "old.gmon")))
            for key, part in pairs(change) do
               compared = compared + 1
               assert.same(expected[key], part, key)
            end
            if sums.cost ~= 0 then
               assert.same({ sums.cost, sums.cost }, { sums.callee, sums.caller })
            end
         end
      end
      assert.is_true(compared > 50, compared)
   end)

   it("writes what changed in words", function()
      local function run_of(count, calls)
         return gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1040,
            bins = { 10, 0, 0, 0, 0, 0, 0, 0, count, 0, 0, 0, 0, 0, 0, 0 } }
            :arc(0x1004, 0x1020, calls):bytes()
      end
      command.file("w.nm", "1000 T a\n1020 T b\n1040 T etext\n")
      command.file("new.gmon", run_of(50, 3))
      command.file("old.gmon", run_of(20, 5))
      assert.equal("new: w.nm new.gmon\nold: w.nm old.gmon\n\n"
         .. "The cost of b changed by +300.000 ms with its callees, +300.000 ms of it itself.\n\n"
         .. "- +300.000 ms is self cost of b (100.0%).\n"
         .. "- +300.000 ms comes through calls by a, -2 calls (100.0%).\n",
         (command.run "profio explain b --symbols w.nm --diff old.gmon new.gmon"))
      local _, status, errors = command.run
         "profio explain b --symbols w.nm --diff new.gmon new.gmon"
      assert.equal(1, status)
      assert.matches("the cost of 'b' did not change", errors, 1, true)
   end)
end)
