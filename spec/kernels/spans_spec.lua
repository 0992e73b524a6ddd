-- What opens and closes in each lane, held against the calls that the same events make.

local core = require "profio.core"
local events = require "spec.support.call_events"
local profio = require "profio"
local records = require "spec.support.winidea"
local timelines = require "spec.support.call_timelines"

-- The intervals of a lane: "area start stop", and whether opens and closes nest and time never goes
-- back.
local function intervals(spans, number, names, origin)
   local stack, list, last = {}, {}, math.mininteger
   for kind, time, frame in core.each(spans:reader(number, origin), { "kind", "time", "frame" }) do
      assert.is_true(time >= last)
      last = time
      if kind == "open" then
         stack[#stack + 1] = { names[frame], time }
      else
         local top = assert(table.remove(stack))
         assert.equal(top[1], names[frame])
         list[#list + 1] = ("%s %d %d"):format(top[1], top[2], time)
      end
   end
   assert.equal(0, #stack)
   table.sort(list)
   return list
end

local function names_of(spans)
   local names = {}
   for frame, area in core.each(spans:frames(), { "frame", "area" }) do
      assert.equal(#names + 1, frame)
      names[frame] = area
   end
   return names
end

-- All intervals by lane ("-": none), and the ends.
local function seen(trace, options, origin)
   local spans = assert(core.kept_spans(trace.events:reader(), options))
   local found, names = {}, names_of(spans)
   for number, lane in ipairs(spans:lanes()) do
      local list = intervals(spans, number, names, origin)
      assert.equal(2 * #list, lane.rows)
      found[lane.value or "-"] = #list > 0 and list or nil
   end
   return found, spans
end

-- The same of calls: those of functions whose enter was recorded, or lies before the span.
local function expected(trace, options)
   local found = {}
   for row in trace:calls(options):where { stack = profio.no(profio.missing) }:records() do
      if not (row.flags or ""):find "orphan" then
         local list = found[row.lane or "-"] or {}
         found[row.lane or "-"] = list
         list[#list + 1] = ("%s %d %d"):format(row.area, row.start, row.stop)
      end
   end
   for _, list in pairs(found) do
      table.sort(list)
   end
   return found
end

-- Without what calls know more of: a suspend or resume tells what was entered before the trace, a
-- line that is left ends the functions in it.
local function random_trace(in_order)
   local list = {}
   for _, event in ipairs(events.random(math.random, true)) do
      local is_known = event.event == "suspend" or event.event == "resume"
         or event.area.class == "line"
      list[#list + 1] = not is_known and event or nil
   end
   for i = 2, in_order and #list or 1 do
      list[i].time = math.max(list[i].time, list[i - 1].time)
   end
   return events.open(list)
end

describe("spans", function()
   it("are the calls of functions, lane by lane", function()
      math.randomseed(61)
      for _ = 1, 300 do
         local trace <close> = random_trace()
         assert.same(expected(trace, {}), (seen(trace, {})))
      end
   end)

   it("are cut where the calls of a span are", function()
      math.randomseed(62)
      for _ = 1, 600 do
         local trace <close> = random_trace(true)
         local row = trace.events:aggregate { "low = min(time)", "high = max(time)" }:rows()[1]
         local low, high = row.low or 0, row.high or 0
         local from, to = math.random(low - 2, high + 2), math.random(low, high + 2)
         local options = { from = math.random(3) > 1 and from or nil,
            to = math.random(3) > 1 and math.max(from, to) or nil }
         assert.same(expected(trace, options), (seen(trace, options)),
            ("%s %s"):format(options.from, options.to))
      end
   end)

   -- Binary timelines come as packed events. Suspends and resumes are left out: calls know more by
   -- them where an end was lost.
   it("are the calls of a binary timeline", function()
      math.randomseed(63)
      for round = 1, 8 do
         local _, list = timelines.make { rows = 15000, functions = 5 * round,
            stumbles = round % 2 * 0.003, states = round > 5 }
         local kept = {}
         for _, record in ipairs(list) do
            if record.event ~= "suspend" and record.event ~= "resume" then
               kept[#kept + 1] = records.new(record)
            end
         end
         local trace <close> = assert(profio.open({ data = table.concat(kept) },
            { format = "winidea", bin_version = "1.1" }))
         assert.is_true(#kept > 10000)
         local found, spans = seen(trace, {})
         assert.same(expected(trace, {}), found)
         assert.same({ list[1].time, list[#list].time }, { spans:ends() })
      end
   end)

   it("tell the ends of the events within the span", function()
      local trace <close> = events.open(events.of "5 e f; 20 e g; 30 l g; 40 l f; 50 w v")
      local function ends(options)
         return { select(2, seen(trace, options)):ends() }
      end
      assert.same({ 5, 50 }, ends {})
      assert.same({ 10, 50 }, ends { from = 10 })
      assert.same({ 5, 25 }, ends { to = 25 })
      assert.same({ 10, 25 }, ends { from = 10, to = 25 })
      assert.same({ 0, 0 }, ends { from = 60 })
      assert.same({ 5, 50 }, ends { from = 0, to = 60 })
      local empty <close> = events.open {}
      assert.same({ 0, 0 }, { select(2, seen(empty, {})):ends() })
   end)

   it("have their origin taken off, also where that leaves 64 bits", function()
      local trace <close> = events.open(events.of "5 e f; 20 l f")
      assert.same({ ["-"] = { "f 2 17" } }, (seen(trace, {}, 3)))
      local least = ("%d e f; %d l f"):format(math.mininteger, math.mininteger + 4)
      local low <close> = events.open(events.of(least))
      assert.same({ ["-"] = { "f 0 4" } }, (seen(low, {}, math.mininteger)))
   end)

   it("close all at a gap, where the trace was last heard of", function()
      local list = events.of "0 e f 1; 5 e g 2; 20 e h 1; 30 l h 1"
      list[3].flags = "gap"
      local trace <close> = events.open(list)
      assert.same({ { "f 0 5", "h 20 30" }, { "g 5 5" } }, (seen(trace, {})))
   end)

   it("close all where a file ends", function()
      require "spec.support.events" -- which registers a format
      local trace <close> = assert(profio.open { { data = "EVENTS\n0 enter f a\n5 enter g a\n" },
         { data = "EVENTS\n20 enter h a\n30 leave h a\n40 leave f a\n" } })
      assert.same({ a = { "f 0 5", "g 5 5", "h 20 30" } }, (seen(trace, {})))
      assert.same(expected(trace, {}), (seen(trace, {})))
   end)

   -- More than one piece of a strand, and more strands than have large pieces.
   for lanes, count in pairs { [2] = 60000, [300] = 400000 } do
      it(("are read again from a file where they are many, in %d lanes"):format(lanes), function()
         local list, area = {}, { name = "f", class = "function" }
         for i = 1, count, 2 do
            local lane = i // 2 % lanes
            list[i] = { time = i, event = "enter", area = area, lane = lane }
            list[i + 1] = { time = i + 1, event = "leave", area = area, lane = lane }
         end
         local trace <close> = events.open(list)
         local spans = assert(core.kept_spans(trace.events:reader(), {}))
         for number, lane in ipairs(spans:lanes()) do
            local n, next_one = 0, 2 * lane.value + 1
            for kind, time in core.each(spans:reader(number), { "kind", "time" }) do
               if kind ~= (n % 2 == 0 and "open" or "close") or time ~= next_one + n % 2 then
                  error(("lane %d, row %d: %s at %d"):format(lane.value, n, kind, time))
               end
               n = n + 1
               next_one = n % 2 == 0 and next_one + 2 * lanes or next_one
            end
            assert.equal(lane.rows, n)
         end
      end)
   end

   it("outlive the trace, but not what they are kept in", function()
      local trace = events.open(events.of "5 e f; 20 l f")
      local spans = core.kept_spans(trace.events:reader(), {})
      local reader = spans:reader(1)
      trace:close()
      assert.equal(2, core.drain(reader))
      reader = spans:reader(1)
      getmetatable(spans).__close(spans)
      assert.error_matches(function() core.drain(reader) end, "closed")
      assert.error_matches(function() spans:lanes() end, "closed")
      assert.error_matches(function() spans:reader(1) end, "closed")
   end)

   it("raise where they are used wrongly", function()
      local trace <close> = events.open(events.of "5 e f; 20 l f")
      local spans = core.kept_spans(trace.events:reader(), {})
      assert.error_matches(function() spans:reader(0) end, "no such lane")
      assert.error_matches(function() spans:reader(2) end, "no such lane")
      local none, message, code = core.kept_spans(core.rows_reader({ { "time", "int" } }, {}), {})
      assert.is_nil(none)
      assert.matches("a column \"event\" of type name is needed", message)
      assert.equal("unsupported", code)
   end)
end)
