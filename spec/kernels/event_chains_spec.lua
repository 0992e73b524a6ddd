-- Chains of events, beside a slow model that is written from the definition: AUTOSAR's reaction and
-- age.

local events = require "spec.support.events"

-- {====== The model ======

-- Returns the first event of a step after position `at`, or nil.
local function after(list, at, name)
   for i = at + 1, #list do
      if list[i].step == name then
         return i
      end
   end
end

-- Returns the last event of a step before position `at`, or nil.
local function before(list, at, name)
   for i = at - 1, 1, -1 do
      if list[i].step == name then
         return i
      end
   end
end

-- Returns the instances of a chain of step names: from each stimulus the first response.
local function reactions(list, steps)
   local found, all = {}, {}
   for i, event in ipairs(list) do
      if event.step == steps[1] then
         local at = i
         for k = 2, #steps do
            at = at and after(list, at, steps[k])
         end
         local overlaps = 0
         for _, earlier in ipairs(all) do
            overlaps = overlaps + ((not earlier.at or earlier.at > i) and 1 or 0)
         end
         local one = { start = event.time, stop = at and list[at].time, at = at, first = i,
            overlaps = overlaps }
         all[#all + 1] = one
         found[#found + 1] = one
      end
   end
   table.sort(found, function(a, b)
      local x, y = a.at or #list + 1, b.at or #list + 1
      return x < y or x == y and a.first < b.first
   end)
   return found
end

-- Returns the instances of a chain: from each response back to the latest stimulus.
local function ages(list, steps)
   local found, last = {}, 0
   for i, event in ipairs(list) do
      local at = event.step == steps[#steps] and i
      for k = #steps - 1, 1, -1 do
         at = at and before(list, at, steps[k])
      end
      if at then
         local lost = 0
         for j = last + 1, at - 1 do
            lost = lost + (list[j].step == steps[1] and 1 or 0)
         end
         last = math.max(last, at)
         found[#found + 1] = { start = list[at].time, stop = event.time, lost = lost }
      end
   end
   return found
end

-- }======

local names = { "A", "B", "C" }

-- Returns random events: areas that are entered and left at once, so that each enter is a step.
local function random_events(count)
   local list, lines, time = {}, {}, 0
   for i = 1, count do
      time = time + math.random(0, 9)
      local name = names[math.random(#names)]
      list[i] = { time = time, step = name }
      lines[#lines + 1] = ("%d enter %s L%d"):format(time, name, math.random(2))
      lines[#lines + 1] = ("%d leave %s L%d"):format(time, name, 1)
   end
   return list, table.concat(lines, "\n") .. "\n"
end

local function rows_of(lines, chain)
   local trace <close> = events.open(lines)
   return trace:chains(chain):rows()
end

local function statistics_of(lines, chain)
   local trace <close> = events.open(lines)
   return trace:chain_statistics(chain):rows()
end

describe("chains of events", function()
   setup(function()
      math.randomseed(45)
   end)

   for kind, model in pairs { reaction = reactions, age = ages } do
      it("equal a slow model: " .. kind, function()
         for round = 1, 60 do
            local steps = round % 2 == 0 and { "A", "B" } or { "A", "B", "C" }
            local list, lines = random_events(math.random(0, 80))
            local rows = rows_of(lines, ("%s enter (%s)"):format(table.concat(steps,
               " enter -> "), kind))
            local wanted = model(list, steps)
            assert.equal(#wanted, #rows)
            for i, one in ipairs(wanted) do
               assert.same({ one.start, one.stop, one.overlaps or false, one.lost or false,
                  one.stop and one.stop - one.start }, { rows[i].start, rows[i].stop,
                  rows[i].overlaps or false, rows[i].lost or false, rows[i].duration })
            end
         end
      end)
   end

   -- The instances that events enter and leave, in the order of their starts.
   local function spans_of(rows)
      local open, found = {}, {}
      for row in rows:records() do
         local stack = open[row.lane] or {}
         open[row.lane] = stack
         if row.event == "enter" then
            stack[#stack + 1] = { row.area, row.time }
         else
            local one = table.remove(stack)
            assert.equal(one[1], row.area)
            found[#found + 1] = ("%d %d %s"):format(one[2], row.time, row.area)
         end
      end
      table.sort(found)
      return found
   end

   it("are events in lanes of their own, properly nested", function()
      for round = 1, 40 do
         local _, lines = random_events(math.random(0, 80))
         local text = ("x: A enter -> B enter -> C enter <= 9ns%s\ny: C enter -> A enter"):format(
            round % 2 == 0 and " (age)" or "")
         local trace <close> = events.open(lines)
         local wanted = {}
         for row in trace:chains(text):records() do
            wanted[#wanted + 1] = ("%d %d %s%s"):format(row.start, row.start + row.waited,
               row.chain, row.late == 1 and " (late)" or row.stop and "" or " (no response)")
         end
         table.sort(wanted)
         assert.same(wanted, spans_of(trace:chain_events(text)))
         local both = trace.events:merge(trace:chain_events(text))
         assert.equal(trace.events:count() + 2 * #wanted, both:count())
         assert.same({}, both.warnings)
      end
   end)

   it("have statistics, with violations and the worst case", function()
      local lines = "0 enter A\n10 leave A\n12 enter B\n13 leave B\n20 enter A\n30 leave A\n"
         .. "33 enter A\n35 leave A\n50 enter B\n60 leave B\n70 enter A\n75 leave A\n99 end -\n"
      local row = statistics_of(lines, "c: A leave -> B enter <= 15ns")[1]
      assert.same({ chain = "c", kind = "reaction", count = 3, min = 2, max = 20, max_at = 75,
         mean = 37 / 3, p50 = 15, p99 = 20, bound = 15, late = 2, open = 1, overlapped = 1,
         waited_max = 24 }, row)
      row = statistics_of(lines, "A leave -> B enter (age)")[1]
      assert.same({ "age", 2, 15, 35, 1 }, { row.kind, row.count, row.max, row.max_at, row.lost })
   end)

   it("take writes with conditions, states, lanes and patterns", function()
      local lines = "1 write variable:v main 5\n2 write variable:v main 50\n"
         .. "3 enter f_1 L1\n4 enter f_2 L2\n5 write state:s=3 main 3\n6 write state:s=4 main 4\n"
      local function first(chain)
         local row = rows_of(lines, chain)[1] or {}
         return { row.start, row.stop }
      end
      assert.same({ 2, 3 }, first "v write > 10 -> ~^f enter")
      assert.same({ 1, 4 }, first 'v write -> "f 2" enter')
      assert.same({ 1, 4 }, first "v write <= 5 -> ~^f in L2 enter <= 5ns")
      assert.same({ 2, 6 }, first "v write = 50 -> s state 4")
      assert.same({ 1, 5 }, first "v write -> s write")
      assert.same({}, first "v write > 50 -> s write")
   end)

   it("end where events are missing", function()
      local trace <close> = require("spec.support.call_events").open {
         { time = 0, event = "enter", area = "A", lane = 1 },
         { time = 1, event = "leave", area = "A", lane = 1 },
         { time = 9, event = "enter", area = "B", lane = 1, flags = "gap" },
         { time = 10, event = "leave", area = "B", lane = 1 } }
      local rows = trace:chains("A leave -> B enter <= 5ns"):rows()
      assert.same({ "gap", nil, 0 }, { rows[1].flags, rows[1].stop, rows[1].waited })
   end)

   it("follow a bounded number of stimuli", function()
      local lines = {}
      for i = 1, 65540 do
         lines[i] = ("%d enter A"):format(i)
      end
      local rows = rows_of(table.concat(lines, "\n") .. "\n70000 enter B\n",
         "A enter -> B enter")
      local unfollowed = 0
      for _, row in ipairs(rows) do
         unfollowed = unfollowed + (row.flags == "unfollowed" and 1 or 0)
      end
      assert.same({ 65540, 4 }, { #rows, unfollowed })
   end)

   it("are refused if they are wrong", function()
      local cases = {
         ["A leave"] = "at least two steps",
         ["A jump -> B enter"] = "no event 'jump'",
         ["A leave -> B enter >= 5ms"] = "an upper bound",
         ["A leave -> B enter <= 5"] = "a time with a unit",
         ["A leave -> "] = "the area of a step is missing",
         ["A leave B enter"] = "is expected, got 'B enter'",
         ["A leave -> B enter (aged)"] = "is expected, got '(aged)'",
         ["~( leave -> B enter"] = "is no Lua pattern",
         ["x: A leave -> B enter\nx: A leave -> B leave"] = "two chains have the name 'x'",
         [""] = "give at least one",
      }
      local trace <close> = events.open "0 enter A\n"
      for chain, message in pairs(cases) do
         local ok, found = pcall(trace.chains, trace, chain)
         assert.is_false(ok, chain)
         assert.is_truthy(tostring(found):find(message, 1, true), chain .. ": " .. tostring(found))
      end
   end)
end)
