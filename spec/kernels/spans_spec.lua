-- The spans on each track, compared with the calls that are built from the same events.

local core = require "profio.core"
local events = require "spec.support.call_events"
local profio = require "profio"
local records = require "spec.support.winidea"
local rounds = require "spec.support.rounds"
local timelines = require "spec.support.call_timelines"

-- A call as text, from its area, start, stop, net time and flags.
local function words(area, start, stop, net, flags)
   return ("%s %d %d %s %s"):format(area, start, stop, net, flags)
end

-- The spans of a track as text; opens and closes must nest, and time must not decrease.
local function spans_of(spans, number, origin)
   local stack, list, last = {}, {}, math.mininteger
   for kind, time, name, net, flags in core.each(spans:reader(number, origin),
      { "kind", "time", "name", "net", "flags" }) do
      assert.is_true(time >= last)
      last = time
      if kind == "open" then
         stack[#stack + 1] = { name, time }
      elseif kind == "close" then
         local top = assert(table.remove(stack))
         assert.equal(top[1], name)
         list[#list + 1] = words(name, top[2], time, net, flags)
      end
   end
   assert.equal(0, #stack)
   return list
end

local function check_frames(spans)
   local count = 0
   for frame in core.each(spans:frames(), { "frame" }) do
      assert.equal(count, frame)
      count = count + 1
   end
end

-- All spans by lane ("-": none) or variable, in order; several runs are concatenated.
local function seen(trace, options, origin)
   local spans = assert(core.store_spans(trace.events:reader(), options))
   local found = {}
   check_frames(spans)
   for number, track in ipairs(spans:tracks()) do
      local key = track.kind == "lane" and track.value or track.variable or "-"
      local list = spans_of(spans, number, origin)
      assert.equal(2 * #list, track.rows)
      if track.kind ~= "values" or options.values then
         found[key] = table.move(list, 1, #list, #(found[key] or {}) + 1, found[key] or {})
      end
   end
   for _, list in pairs(found) do
      table.sort(list)
   end
   return found, spans
end

-- All calls of functions, lines and states as text, by lane ("-": none) or variable, in order.
local function expected(trace, options)
   local found = {}
   local rows = trace:calls({ from = options.from, to = options.to, last = options.last })
      :with_area()
      :filter(function(area, class)
         class = class or ""
         return area and class ~= "variable" and (options.variables or not class:find "state$")
            and (options.lines or class ~= "line")
      end, "area", "class")
   for row in rows:records() do
      local key = (row.class or ""):find "state$" and row.parent or row.lane or "-"
      found[key] = found[key] or {}
      table.insert(found[key], words(row.area, row.start, row.stop, row.net, row.flags))
   end
   for _, list in pairs(found) do
      table.sort(list)
   end
   return found
end

local function random_trace(in_order)
   local list = events.random(math.random, true)
   for i = 2, in_order and #list or 1 do
      list[i].time = math.max(list[i].time, list[i - 1].time)
   end
   return events.open(list)
end

local function random_options()
   return { lines = math.random(2) == 1, variables = math.random(2) == 1,
      idle = math.random(2) == 1 }
end

describe("spans", function()
   it("agree with the calls of each lane and variable", function()
      math.randomseed(61)
      for _ = 1, rounds(500) do
         local trace <close> = random_trace()
         local options = random_options()
         assert.same(expected(trace, options), (seen(trace, options)))
      end
   end)

   it("of values last from one write to the next, or until the end", function()
      local list = {}
      for line in ("5 write 7;9 enter f;20 write 7;22 write;30 leave f;35 write -8;40 other f")
         :gmatch "[^;]+" do
         local time, event, rest = line:match "^(%d+) (%a+) ?(.*)$"
         list[#list + 1] = { math.tointeger(time), event, rest == "f" and "f" or
            { name = "v", class = "variable" }, math.tointeger(rest) }
      end
      profio.register {
         name = "values", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" },
            { "value", "int" } } },
         open = function()
            return { events = function(put)
               for _, event in ipairs(list) do
                  put(table.unpack(event, 1, 4))
               end
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "values" }))
      assert.same({ ["-"] = { "f 9 30 21 nil" },
         v = { "v 22 35 13 nil", "v=-8 35 40 5 nil", "v=7 20 22 2 nil", "v=7 5 20 15 nil" } },
         (seen(trace, { variables = true, values = true })))
      assert.same({ ["-"] = { "f 9 30 21 nil" } }, (seen(trace, {})))
   end)

   it("are cut where calls in a range of time are cut", function()
      math.randomseed(62)
      for _ = 1, rounds(300) do
         local trace <close> = random_trace(true)
         local row = trace.events:aggregate { "low = min(time)", "high = max(time)" }:rows()[1]
         local low, high = row.low or 0, row.high or 0
         local from, to = math.random(low - 2, high + 2), math.random(low, high + 2)
         local options = random_options()
         options.from = math.random(3) > 1 and from or nil
         options.to = math.random(3) > 1 and math.max(from, to) or nil
         options.last = math.random(2) > 1 and high + math.random(-2, 4) or nil
         assert.same(expected(trace, options), (seen(trace, options)),
            ("%s %s %s"):format(options.from, options.to, options.last))
      end
   end)

   it("agree with the calls of a binary timeline", function()
      math.randomseed(63)
      for round = 1, rounds(8) do
         local _, list = timelines.make { rows = 15000, functions = 5 * round,
            stumbles = round % 2 * 0.003, states = round % 3 == 0 }
         local kept = {}
         for _, record in ipairs(list) do
            kept[#kept + 1] = records.new(record)
         end
         local trace <close> = assert(profio.open({ data = table.concat(kept) },
            { format = "winidea", bin_version = "1.1" }))
         assert.is_true(#kept > 10000)
         local found, spans = seen(trace, {})
         assert.same(expected(trace, {}), found)
         assert.same({ list[1].time, list[#list].time }, { spans:ends() })
      end
   end)

   it("have the first and last time of the events in the range", function()
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

   it("are relative to the origin, also if the difference exceeds 64 bits", function()
      local trace <close> = events.open(events.of "5 e f; 20 l f")
      assert.same({ ["-"] = { "f 2 17 15 nil" } }, (seen(trace, {}, 3)))
      local least = ("%d e f; %d l f"):format(math.mininteger, math.mininteger + 4)
      local low <close> = events.open(events.of(least))
      assert.same({ ["-"] = { "f 0 4 4 nil" } }, (seen(low, {}, math.mininteger)))
   end)

   it("end at a gap, at the time of the last event before it", function()
      local list = events.of "0 e f 1; 5 e g 2; 20 e h 1; 30 l h 1"
      list[3].flags = "gap"
      local trace <close> = events.open(list)
      assert.same({ { "f 0 5 5 gap", "h 20 30 10 nil" }, { "g 5 5 0 gap" } }, (seen(trace, {})))
   end)

   it("end at the end of a file", function()
      require "spec.support.events" -- which registers a format
      local trace <close> = assert(profio.open { { data = "EVENTS\n0 enter f a\n5 enter g a\n" },
         { data = "EVENTS\n20 enter h a\n30 leave h a\n40 leave f a\n" } })
      assert.same({ a = { "f 0 5 5 open", "f 20 40 10 orphan", "g 5 5 0 open", "h 20 30 10 nil" } },
         (seen(trace, {})))
      assert.same(expected(trace, {}), (seen(trace, {})))
   end)

   -- More than one block of a spill buffer, and more buffers than have large blocks.
   for lanes, count in pairs { [2] = 60000, [300] = 400000 } do
      it(("are read back from a file if there are many, in %d lanes"):format(lanes), function()
         local list, area = {}, { name = "f", class = "function" }
         for i = 1, count, 2 do
            local lane = i // 2 % lanes
            list[i] = { time = i, event = "enter", area = area, lane = lane }
            list[i + 1] = { time = i + 1, event = "leave", area = area, lane = lane }
         end
         local trace <close> = events.open(list)
         local spans = assert(core.store_spans(trace.events:reader(), {}))
         for number, lane in ipairs(spans:tracks()) do
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

   it("outlive the trace, but not their container", function()
      local trace = events.open(events.of "5 e f; 20 l f")
      local spans = core.store_spans(trace.events:reader(), {})
      local reader = spans:reader(1)
      trace:close()
      assert.equal(2, core.drain(reader))
      reader = spans:reader(1)
      getmetatable(spans).__close(spans)
      assert.error_matches(function() core.drain(reader) end, "closed")
      assert.error_matches(function() spans:tracks() end, "closed")
      assert.error_matches(function() spans:reader(1) end, "closed")
   end)

   it("raise an error for wrong use", function()
      local trace <close> = events.open(events.of "5 e f; 20 l f")
      local spans = core.store_spans(trace.events:reader(), {})
      assert.error_matches(function() spans:reader(0) end, "no such track")
      assert.error_matches(function() spans:reader(2) end, "no such track")
      local none, message, code = core.store_spans(core.rows_reader({ { "time", "int" } }, {}), {})
      assert.is_nil(none)
      assert.matches("a column \"event\" of type name is needed", message)
      assert.equal("unsupported", code)
   end)
end)
