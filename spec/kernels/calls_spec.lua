local events = require "spec.support.call_events"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local slow = require "spec.support.slow_calls"

-- The calls, as "area start..stop gross net call period outside depth caller flags".
local function told(text, options, columns)
   local trace <close> = events.open(events.of(text), "calls of names")
   local list = {}
   for r in trace:calls(options):records() do
      local words = {}
      for i, column in ipairs(columns or { "area", "start", "stop", "gross", "net", "call", "depth",
         "caller", "flags" }) do
         words[i] = tostring(r[column] or "-")
      end
      list[#list + 1] = table.concat(words, " ")
   end
   return list
end

describe("calls", function()
   it("are intervals whose net time excludes the calls in them", function()
      assert.same({
         "f 10 15 5 5 5 2 main -",
         "f 22 25 3 3 3 3 g -",
         "g 20 30 10 7 10 2 main -",
         "main 0 40 40 25 40 1 - -",
      }, told "0 e main; 10 e f; 15 l f; 20 e g; 22 e f; 25 l f; 30 l g; 40 l main")
   end)

   it("have these columns and types", function()
      local trace <close> = events.open(events.of "0 e main 3; 5 l main 3")
      local calls = trace:calls()
      assert.same({ "area", "lane", "start", "stop", "gross", "net", "call", "period", "outside",
         "depth", "caller", "flags", "count", "stack" }, calls.columns)
      assert.same({ { area = "main", lane = 3, start = 0, stop = 5, gross = 5, net = 5, call = 5,
         depth = 1, count = 1, stack = 0 } }, calls:rows())
      assert.equal("area", calls:fields()[1].type)
   end)

   it("exclude suspended time, except from the call time", function()
      assert.same({ "f 10 50 20 20 40 2 main -", "main 0 60 40 20 60 1 - -" },
         told "0 e main; 10 s main; 10 e f; 20 s f; 40 r f; 50 l f; 50 r main; 60 l main")
   end)

   it("accept a suspension of a caller that is not recorded, or recorded late", function()
      local expected = { "f 10 50 40 40 40 2 main -", "main 0 60 60 20 60 1 - -" }
      assert.same(expected, told "0 e main; 10 e f; 50 l f; 60 l main")
      assert.same(expected, told "0 e main; 10 e f; 10 s main; 50 l f; 50 r main; 60 l main")
      assert.same(expected, told "0 e main; 10 s main; 10 e f; 50 r main; 50 l f; 60 l main")
   end)

   it("run again one after the other: time belongs to the innermost one that runs", function()
      local suspended = "0 e t; 0 e f; 1000 s f; 1000 s t; "
      assert.same({ "f 0 3000 2000 2000 3000 2 t -", "t 0 3000 2000 0 3000 1 - -" },
         told(suspended .. "2000 r t; 2000 r f; 3000 l f; 3000 l t"))
      assert.same({ "f 0 3000 1900 1900 3000 2 t -", "t 0 3000 2000 100 3000 1 - -" },
         told(suspended .. "2000 r t; 2100 r f; 3000 l f; 3000 l t"))
      assert.same({ "f 0 2900 1900 1900 2900 2 t -", "t 0 3000 2000 100 3000 1 - -" },
         told(suspended .. "2000 r f; 2100 r t; 2900 l f; 3000 l t"))
      assert.same({ "g 2100 2300 200 200 200 3 f -", "f 0 3000 1700 1500 3000 2 t -",
         "t 0 3000 2000 300 3000 1 - -" },
         told(suspended .. "2000 r t; 2100 e g; 2300 l g; 2500 r f; 3000 l f; 3000 l t"))
   end)

   it("are separate for each lane", function()
      assert.same({ "1 f 10 15 5", "2 f 0 20 20", "1 main 5 30 20" },
         told("0 e f 2; 5 e main 1; 10 e f 1; 15 l f 1; 20 l f 2; 30 l main 1", {},
            { "lane", "area", "start", "stop", "net" }))
   end)

   -- The machine finds areas by an array for each lane while these have 4 Mi elements in all, else
   -- by a table. With 35 lanes that know area 110000, an array for 200000 is too long, one for
   -- 120000 is not, and gets the double of 110000 elements.
   it("are found after the array of their lane has grown", function()
      local list = {}
      for i = 0, 200000 do
         list[i + 1] = { time = 0, event = "other", area = "n" .. i }
      end
      local function add(time, event, area, lane)
         list[#list + 1] = { time = time, event = event, area = area, lane = lane }
      end
      for lane = 1, 35 do
         add(1, "enter", "n110000", lane)
         add(2, "leave", "n110000", lane)
      end
      add(3, "enter", "n200000", 35)
      add(4, "enter", "n120000", 35)
      add(10, "leave", "n200000", 35)
      local trace <close> = events.open(list, "calls of names")
      local found = {}
      for r in trace:calls():records() do
         found[#found + 1] = r.start >= 3 and ("%s %d %s"):format(r.area, r.net, r.flags) or nil
      end
      assert.same({ "n120000 6 unwound", "n200000 1 nil" }, found)
   end)

   it("without a leave end with the call around them", function()
      assert.same({
         "h 20 40 20 20 - 3 g unwound", "g 10 40 30 10 - 2 main unwound",
         "main 0 40 40 10 40 1 - -",
      }, told "0 e main; 10 e g; 20 e h; 40 l main")
   end)

   it("that were entered before the trace have the time since its beginning", function()
      assert.same({ "c 10 10 0 0 - 1 - orphan", "b 10 20 10 10 - 1 - orphan",
         "d 25 30 5 5 5 1 - -", "a 10 40 30 15 - 1 - orphan" },
         told "10 l c; 20 l b; 25 e d; 30 l d; 40 l a")
      assert.same({ "f 20 20 0 0 - 2 main orphan", "main 0 30 30 30 30 1 - -" },
         told "0 e main; 20 l f; 30 l main")
   end)

   it("that are open at the end last until the end of all lanes", function()
      assert.same({ "f 5 5 0 0 0 2 main -", "f 10 30 20 20 - 2 main open",
         "main 0 30 30 10 - 1 - open", "other 8 30 22 22 - 1 - open" },
         told "0 e main 1; 5 e f 1; 5 l f 1; 8 e other 2; 10 e f 1; 30 o x 3")
   end)

   it("that are open last until the end of the recording, if that is known", function()
      assert.same({ "f 5 40 35 35 - 1 - open" }, told("5 e f; 30 o x", { last = 40 }))
      assert.same({ "f 5 30 25 25 - 1 - open" }, told("5 e f; 30 o x", { last = 20 }))
      assert.same({ "f 5 12 7 7 - 1 - cut" }, told("5 e f; 30 o x", { last = 40, to = 12 }))
   end)

   it("are cut at a bound of a range between the last event and the end", function()
      local text = "0 e main; 5 e f; 30 o x"
      local function at(from, to)
         return told(text, { last = 40, from = from, to = to })
      end
      assert.same({ "f 5 35 30 30 - 2 main cut", "main 0 35 35 5 - 1 - cut" }, at(nil, 35))
      assert.same({ "f 35 40 5 5 - 2 main cut open", "main 35 40 5 0 - 1 - cut open" }, at(35))
      assert.same({ "f 32 38 6 6 - 2 main cut", "main 32 38 6 0 - 1 - cut" }, at(32, 38))
      assert.same({ "f 5 40 35 35 - 2 main open", "main 0 40 40 5 - 1 - open" }, at(nil, 41))
      assert.same({}, at(41))
   end)

   it("have the time since the last enter and leave of the area in the lane", function()
      assert.same({ "f 10 - -", "f 30 20 18", "g 40 - -", "f 35 2 -", "f 33 3 2" },
         told("10 e f; 12 l f; 30 e f; 31 l f; 33 e f; 35 e f; 40 e g; 41 l g; 42 l f; 43 l f",
            {}, { "area", "start", "period", "outside" }))
   end)

   it("count in the outermost call of a recursion on request", function()
      local text = "0 e f; 10 e g; 20 e f; 30 l f; 40 l g; 50 l f"
      assert.same({ "f 10 10 10 1", "g 30 20 30 1", "f 50 20 50 1" },
         told(text, {}, { "area", "gross", "net", "call", "count" }))
      assert.same({ "f - 10 - 1", "g 30 20 30 1", "f 50 20 50 1" },
         told(text, { recursion = "outermost" }, { "area", "gross", "net", "call", "count" }))
   end)

   it("that are incomplete are left out on request", function()
      assert.same({ "f 5 6 1 1 1 2 main -" },
         told("0 l x; 0 e main; 5 e f; 6 l f; 7 e g", { partial = "exclude" }))
   end)

   it("have the time outside up to the ends of the trace on request", function()
      assert.same({ "f 10 10 5", "main 0 0 20", "x 35 - 0", "main 20 15 -", "f 15 20 -" },
         told("0 e main; 10 e f; 15 l f; 20 l main; 35 w x",
            { edges = "include" }, { "area", "start", "outside", "call" }))
   end)

   it("are cut at the bounds of a range of time", function()
      local text = "0 e main; 10 e f; 20 l f; 30 e g; 40 l g; 50 l main"
      assert.same({ "f 15 20 5 5 - 2 main cut", "g 30 35 5 5 - 2 main cut",
         "main 15 35 20 10 - 1 - cut" }, told(text, { from = 15, to = 35 }))
      assert.same(told(text), told(text, { from = -5, to = 51 }))
      assert.same({}, told(text, { from = 60 }))
      assert.same({}, told(text, { to = 0 }))
   end)

   it("are cut at the end of a range, whatever comes after it", function()
      assert.same({ "f 5 8 3 3 - 1 - cut" }, told("5 e f; 9 o x; 20 o x gap", { to = 8 }))
   end)

   it("end at a gap that has no time, and do not begin another run", function()
      local list = events.of "10 e f; 0 o x gap; 5 e g; 12 l g"
      list[2].time = nil
      local trace <close> = events.open(list, "calls of names")
      local found = {}
      for area, start, stop, flags in trace:calls():each("area", "start", "stop", "flags") do
         found[#found + 1] = ("%s %d %d %s"):format(area, start, stop, flags)
      end
      assert.same({ "f 10 10 gap", "g 10 12 nil" }, found)
   end)

   it("end at a gap, and are marked if events are lost in them", function()
      assert.same({ "f 5 8 3 3 - 2 main gap", "main 0 8 8 5 - 1 - gap", "g 20 25 5 5 5 1 - -",
         "main 20 30 10 5 - 1 - orphan" },
         told "0 e main; 5 e f; 8 o x; 20 e g gap; 25 l g; 30 l main")
      assert.same({ "f 5 9 4 4 4 2 main lost", "g 20 25 5 5 5 2 main -",
         "main 0 30 30 21 30 1 - lost" },
         told "0 e main; 5 e f; 9 l f lost; 20 e g; 25 l g; 30 l main")
   end)

   it("beyond the maximum depth end the call around them", function()
      assert.same({ "b 1 2 1 1 - 2 a lost unwound", "c 2 3 1 1 1 2 a -", "b 4 4 0 0 - 2 a orphan",
         "a 0 5 5 3 5 1 - -" }, told("0 e a; 1 e b; 2 e c; 3 l c; 4 l b; 5 l a", { max_depth = 2 }))
   end)

   it("are in the order of time in each lane", function()
      assert.same({ "f 10 10 0 0 0 2 main -", "main 0 20 20 20 20 1 - -" },
         told "0 e main; 10 e f; 5 l f; 20 l main")
   end)

   it("extend from the first to the last possible time", function()
      assert.same({ "f 9223372036854775807 9223372036854775807 0 0 0",
         "main -9223372036854775808 9223372036854775807 - - -" },
         told([[-9223372036854775808 e main; 9223372036854775807 e f; 9223372036854775807 l f;
            9223372036854775807 l main]], {}, { "area", "start", "stop", "gross", "net", "call" }))
   end)

   it("refuse other tables and unknown options", function()
      profio.register {
         name = "no events", score = function() return 0 end,
         tables = { other = { { "time", "int" } }, events = { { "time", "num" } } },
         open = function() return { other = print, events = print } end,
      }
      local trace <close> = events.open({}, "no events")
      assert.error_matches(function() trace:calls():rows() end,
         'a column "time" of type int is needed in a table of events')
      assert.error_matches(function() trace:calls { recursion = "some" } end,
         "option 'recursion' is one of all, outermost; got some")
      assert.error_matches(function() trace:calls { depth = 1 } end, "calls has no option 'depth'")
      assert.error_matches(function() trace:calls { max_depth = 1 } end, "2 to 16777216, got 1")
      local gmon <close> = assert(profio.open "spec/fuzz/corpus/gmon/gnu-w8-le")
      assert.error_matches(function() gmon:calls() end,
         "no table 'events', which calls are made from; there are: histogram")
   end)
end)

-- {====== Lines, states and variables ======

local function line(number, of)
   return { name = "line " .. number, class = "line", parent = of, value = number }
end

local function state(value, of)
   return { name = of .. "=" .. value, class = "state", parent = of, value = value }
end

local function rows_of(list, options, columns)
   local trace <close> = events.open(list)
   return trace:calls(options):rows(table.unpack(columns))
end

describe("calls of lines, states and variables", function()
   it("lie in their functions, whose net time includes them", function()
      -- the rows of the vendor's example: the line ran for 133 ns, once
      assert.same({
         { area = "f", net = 40, gross = 40, caller = "main", depth = 2 },
         { area = "line 51", net = 138, gross = 178, caller = "main", depth = 2 },
         { area = "main", net = 138, gross = 178, depth = 1 },
      }, rows_of({
         { time = 4469, event = "enter", area = "main" },
         { time = 4469, event = "enter", area = line(51, "main") },
         { time = 4602, event = "suspend", area = line(51, "main") },
         { time = 4602, event = "suspend", area = "main" },
         { time = 4602, event = "enter", area = "f" },
         { time = 4642, event = "leave", area = "f" },
         { time = 4642, event = "resume", area = "main" },
         { time = 4642, event = "resume", area = line(51, "main") },
         { time = 4647, event = "leave", area = line(51, "main") },
         { time = 4647, event = "leave", area = "main" },
      }, {}, { "area", "net", "gross", "caller", "depth" }))
   end)

   it("may begin in a line whose enter is not in the trace", function()
      assert.same({
         { area = "f", net = 3, depth = 2, caller = "main" },
         { area = "line 5", net = 2, depth = 2, caller = "main", flags = "orphan" },
         { area = "main", net = 2, depth = 1, flags = "orphan" },
      }, rows_of({
         { time = 10, event = "suspend", area = line(5, "main") },
         { time = 10, event = "suspend", area = "main" },
         { time = 10, event = "enter", area = "f" },
         { time = 13, event = "leave", area = "f" },
         { time = 13, event = "resume", area = "main" },
         { time = 13, event = "resume", area = line(5, "main") },
         { time = 15, event = "leave", area = line(5, "main") },
         { time = 15, event = "leave", area = "main" },
      }, {}, { "area", "net", "depth", "caller", "flags" }))
   end)

   it("follow each other in a variable, in any lane", function()
      -- 3491 and 7521 ns, as in the vendor's example
      assert.same({
         { area = "v=1", start = 4336, stop = 7827, net = 3491, count = 1 },
         { area = "v=0", start = 7827, stop = 15348, net = 7521, flags = "open", count = 1 },
      }, rows_of({
         { time = 4336, event = "write", area = state(1, "v"), lane = 0 },
         { time = 5000, event = "write", area = state(1, "v"), lane = 1 },
         { time = 7827, event = "write", area = state(0, "v"), lane = 1 },
         { time = 15348, event = "other", area = "main", lane = 0 },
      }, {}, { "area", "lane", "start", "stop", "net", "flags", "count" }))
   end)

   it("have an enter and a leave, and last from the beginning if there is no enter", function()
      assert.same({
         { area = "v=1", start = 0, stop = 10, outside = nil, flags = "orphan", count = 0 },
         { area = "v=0", start = 10, stop = 30, count = 1 },
         { area = "v=1", start = 30, stop = 50, outside = 20, flags = "open", count = 1 },
      }, rows_of({
         { time = 0, event = "other", area = "main" },
         { time = 10, event = "leave", area = state(1, "v") },
         { time = 10, event = "enter", area = state(0, "v") },
         { time = 30, event = "leave", area = state(0, "v") },
         { time = 30, event = "enter", area = state(1, "v") },
         { time = 50, event = "other", area = "main" },
      }, {}, { "area", "start", "stop", "outside", "flags", "count" }))
   end)

   it("are writes without a duration for variables", function()
      local v = { name = "v", class = "variable", handle = 0x20000001 }
      assert.same({
         { area = "v", start = 5, stop = 5, net = 0, gross = 0, call = 0, count = 1 },
         { area = "v", start = 9, stop = 9, net = 0, gross = 0, call = 0, period = 4, count = 1 },
      }, rows_of({
         { time = 5, event = "write", area = v, lane = 1 },
         { time = 9, event = "write", area = v, lane = 2 },
      }, {}, { "area", "lane", "start", "stop", "net", "gross", "call", "period", "count" }))
   end)
end)

-- }======

describe("the profile of calls", function()
   it("has their contexts, with time and calls", function()
      local trace <close> = events.open(events.of [[0 e main 1; 10 e f 1; 12 e g 1; 15 l g 1;
         15 e g 2; 20 l f 1; 20 e g 1; 25 l g 1; 30 l main 1; 35 l g 2]])
      assert.same({
         { depth = 1, ["function"] = "main", calls = 1, self = 15, total = 30 },
         { depth = 2, ["function"] = "f", calls = 1, self = 7, total = 10 },
         { depth = 3, ["function"] = "g", calls = 1, self = 3, total = 3 },
         { depth = 2, ["function"] = "g", calls = 1, self = 5, total = 5 },
         { depth = 1, ["function"] = "g", calls = 1, self = 20, total = 20 },
      }, trace:profile():tree():rows("depth", "function", "calls", "self", "total"))
   end)

   it("distinguishes lines, states and variables", function()
      local trace <close> = events.open {
         { time = 0, event = "enter", area = "main" },
         { time = 0, event = "enter", area = line(1, "main") },
         { time = 3, event = "write", area = state(1, "v") },
         { time = 9, event = "leave", area = line(1, "main") },
         { time = 9, event = "leave", area = "main" },
      }
      assert.same({ { ["function"] = "main", calls = 1, self = 9, total = 9 } },
         trace:profile():flat():rows("function", "calls", "self", "total"))
   end)
end)

-- {====== Random traces ======

local function ordered(rows)
   local list = {}
   for i, r in ipairs(rows) do
      list[i] = ("%s %s %d %d %s"):format(r.area, r.lane, r.start, r.stop, r.outside)
   end
   table.sort(list)
   return list
end

-- Remove rows at the end that have only time outside.
local function without_tails(rows, count)
   local list = table.move(rows, #rows - count + 1, #rows, 1, {})
   for i = 1, count do
      rows[#rows] = i and nil
   end
   return list
end

-- Recurring calls in two lanes, some of them suspended for a while.
local function fitting_events(random)
   local list, stacks, time = {}, { {}, {} }, random(100)
   for _ = 1, 80 do
      local lane = random(2)
      local stack = stacks[lane]
      local top = stack[#stack]
      time = time + random(5) - 1
      local event = { time = time, lane = lane, event = "enter", area = ("abcdef"):sub(random(6)) }
      if top and top.is_suspended then
         event.event, event.area, top.is_suspended = "resume", top.area, nil
      elseif top and random(4) == 1 then
         event.event, event.area, top.is_suspended = "suspend", top.area, true
      elseif top and random(2) == 1 then
         event.event, event.area = "leave", table.remove(stack).area
      else
         stack[#stack + 1] = { area = event.area }
      end
      list[#list + 1] = event
   end
   return list
end

-- Net time and number of calls by area.
local function totals(trace, options)
   local sums = {}
   for area, net, count in trace:calls(options):each("area", "net", "count") do
      sums[area] = (sums[area] or 0) + net
      sums[area .. " count"] = (sums[area .. " count"] or 0) + count
   end
   return sums
end

describe("calls cut at a time", function()
   it("have the same sums as the whole call", function()
      math.randomseed(8)
      for round = 1, rounds(150) do
         local list = fitting_events(math.random)
         local trace <close> = events.open(list)
         local at = math.random(list[1].time - 3, list[#list].time + 3)
         local sums, after = totals(trace, { to = at }), totals(trace, { from = at })
         for area, value in pairs(after) do
            sums[area] = (sums[area] or 0) + value
         end
         assert.same(totals(trace), sums, "round " .. round)
      end
   end)
end)

describe("calls of random events", function()
   it("agree with a slow model", function()
      math.randomseed(20090613)
      for round = 1, rounds(2000) do
         local list = events.random(math.random)
         local options = events.random_options(math.random)
         local expected, tails = slow.calls(list, options)
         local trace <close> = events.open(list)
         local rows = trace:calls(options):rows()
         assert.equal(#expected + #tails, #rows, "round " .. round)
         assert.same(ordered(tails), ordered(without_tails(rows, #tails)), "round " .. round)
         for i, row in ipairs(expected) do
            rows[i].stack, rows[i].path = nil, slow.path_of(trace, rows[i].stack)
            assert.same(row, rows[i], "round " .. round)
         end
      end
   end)

   -- A task whose whole stack is suspended and resumed, call by call, in either order.
   local function preempted(random)
      local list, stack, time, busy = {}, {}, 0, 0
      local function put(event, name)
         list[#list + 1] = { time = time, event = event, area = { name = name }, lane = 1 }
      end
      local function put_all(event)
         local is_outward = random(2) == 1
         for i = 1, #stack do
            put(event, stack[is_outward and #stack + 1 - i or i])
            -- the task has the core from its first resume on
            local wait = event == "resume" and i < #stack and random(3) - 1 or 0
            time, busy = time + wait, busy + wait
         end
      end
      for _ = 1, 20 do
         local dice = random(4)
         if dice == 1 and #stack > 0 then
            put("leave", table.remove(stack))
         elseif dice == 2 and #stack > 0 then
            put_all "suspend"
            time = time + random(20)
            put_all "resume"
         else
            stack[#stack + 1] = "f" .. #stack
            put("enter", stack[#stack])
         end
         local step = random(10)
         time, busy = time + step, busy + (#stack > 0 and step or 0)
      end
      while #stack > 0 do
         put("leave", table.remove(stack))
      end
      return list, busy
   end

   it("add up to the time in which the lane was active, however it is resumed", function()
      math.randomseed(7)
      for round = 1, rounds(300) do
         local list, busy = preempted(math.random)
         local trace <close> = events.open(list)
         local sum = 0
         for net, gross, call in trace:calls():each("net", "gross", "call") do
            sum = sum + net
            assert.is_true(net <= gross and gross <= call, "round " .. round)
         end
         assert.equal(busy, sum, "round " .. round)
      end
   end)

   -- So many rows that only advance time that the events around them come in different
   -- batches, of which some have flags, and some have none.
   local function put_in_batches(list, cuts)
      local padded = {}
      for i, event in ipairs(list) do
         padded[#padded + 1] = event
         for _ = 1, cuts[i] and 4096 or 0 do
            padded[#padded + 1] = { time = event.time, event = "other", area = event.area,
               lane = event.lane }
         end
      end
      return padded
   end

   local function calls_of(list, options)
      local trace <close> = events.open(list)
      return trace:calls(options):rows("area", "lane", "start", "stop", "gross", "net", "call",
         "period", "outside", "depth", "caller", "flags", "count")
   end

   it("are the same in one batch and in several", function()
      math.randomseed(41)
      for round = 1, rounds(30) do
         local list = events.random(math.random)
         local options = { recursion = round % 2 == 0 and "outermost" or "all" }
         local padded = put_in_batches(list, { [math.random(#list)] = true,
            [math.random(#list)] = true })
         assert.same(calls_of(list, options), calls_of(padded, options), "round " .. round)
      end
   end)

   it("are marked if events are lost in a later batch than that in which they begin", function()
      local list = events.of "0 e main; 1 e f; 2 l f; 3 e f; 4 e g lost; 5 l g; 6 l f; 7 l main"
      local rows = calls_of(put_in_batches(list, { [4] = true, [6] = true }))
      assert.same(calls_of(list), rows)
      assert.equal("lost", rows[3].flags)
   end)
end)
