-- The summary of a timeline (core.overview), compared with the calls and the load of the trace.

local core = require "profio.core"
local events = require "spec.support.events"
local json = require "dkjson"
local page_calls = require "spec.support.page_calls"

local function overview_of(trace, given)
   local options = { first = 0, length = 1000, intervals = 50, most_calls = 1 << 20,
      most_pauses = 1 << 20, most_longest = 2000, most_variables = 10, most_values = 1 << 20 }
   for name, value in pairs(given or {}) do
      options[name] = value
   end
   return assert(core.overview(trace.events:reader(), options))
end

local function open(count)
   local lines, expected = events.program(count)
   return events.open(lines), expected
end

-- Returns the kept calls of a track, in order: { name, start, length, depth }.
local function calls_of(overview, number)
   local list = page_calls.of { packed = core.base64(overview:packed(number)) }
   local names = overview:frames() -- those that the calls have
   for i, call in ipairs(list) do
      list[i] = { names[call.frame + 1].name, call.start, call.length, call.depth }
   end
   return list
end

-- Returns the calls of all lanes, by lane, in the same form and order.
local function expected_calls(trace)
   local lanes = {}
   for call in trace:calls():records() do
      lanes[call.lane] = lanes[call.lane] or {}
      table.insert(lanes[call.lane], { call.area, call.start, call.stop - call.start, call.depth })
   end
   return lanes
end

-- An order of calls: by start, then depth, then the longest first.
local function is_before(a, b)
   if a[2] ~= b[2] then
      return a[2] < b[2]
   elseif a[4] ~= b[4] then
      return a[4] < b[4]
   end
   return a[3] > b[3]
end

-- Sorts calls; those that is_before does not distinguish by name.
local function sorted(list)
   table.sort(list, function(a, b)
      return is_before(a, b) or not is_before(b, a) and a[1] < b[1]
   end)
   return list
end

describe("core.overview", function()
   it("has calls that start together in the order in which they were opened", function()
      local trace <close> = events.open [[
5 enter main one
7 enter short one
7 leave short one
7 enter long one
7 enter inner one
9 leave inner one
12 leave long one
20 leave main one
]]
      local overview <close> = overview_of(trace, { length = 15 })
      assert.same({ { "main", 5, 15, 1 }, { "short", 7, 0, 2 }, { "long", 7, 5, 2 },
         { "inner", 7, 2, 3 } }, calls_of(overview, 1))
   end)

   it("knows the calls that began before, and the files of functions", function()
      local trace <close> = events.open "0 leave late one\n5 enter f one\n8 leave f one\n"
      local overview <close> = overview_of(trace, { length = 8 })
      assert.same({ { "late", 0, 0, 1 }, { "f", 5, 3, 1 } }, calls_of(overview, 1))
      assert.equal("[0]", overview:uncounted(1))
   end)

   it("limits the distances of times that are further apart than 64 bits hold", function()
      local trace <close> = events.open(("%d enter main a\n5 enter f a\n7 leave f a\n"
         .. "%d leave main a\n"):format(math.mininteger, math.maxinteger - 1))
      local overview <close> = overview_of(trace, { first = math.mininteger,
         length = math.maxinteger })
      assert.equal(2, #calls_of(overview, 1))
      assert.equal("[0,9223372036854775807]", overview:column(1, "calls", "start"))
      for frame = 1, 2 do
         local _, start = overview:worst(frame)
         assert.equal(frame == 1 and 0 or math.maxinteger, start)
         assert(overview:heat(frame))
      end
   end)

   it("has all calls of each lane if there is room", function()
      math.randomseed(61)
      for _ = 1, 10 do
         local trace <close> = open(400)
         local overview <close> = overview_of(trace)
         local seen, expected = {}, expected_calls(trace)
         for number, track in ipairs(overview:tracks()) do
            local list = calls_of(overview, number)
            for i = 2, #list do
               assert.is_true(list[i - 1][2] <= list[i][2])
            end
            seen[track.value] = sorted(list)
         end
         for _, list in pairs(expected) do
            sorted(list)
         end
         assert.same(expected, seen)
      end
   end)

   it("says how busy each lane was, as the load of the trace", function()
      math.randomseed(62)
      for _ = 1, 10 do
         local trace <close>, expected = open(600)
         local overview <close> = overview_of(trace, { length = expected.last })
         local width = expected.last // 50 + 1
         for number, track in ipairs(overview:tracks()) do
            local busy = {}
            for i = 1, 50 do
               busy[i] = 0
            end
            for _, span in ipairs(expected.busy) do -- one of the generator: lane, from, to
               for i = 1, 50 do
                  local from, to = (i - 1) * width, i * width
                  busy[i] = busy[i] + (span[1] == track.value
                     and math.max(0, math.min(to, span[3]) - math.max(from, span[2])) or 0)
               end
            end
            for i, share in ipairs(json.decode(overview:intervals(number, "busy"))) do
               assert.is_true(math.abs(share - 1000 * busy[i] / width) < 1,
                  ("%s %d: %d not %g"):format(track.value, i, share, 1000 * busy[i] / width))
            end
         end
      end
   end)

   it("counts a call without an enter as busy before a suspend, but not before a resume", function()
      local function busy(event)
         local trace <close> = events.open(("0 enter x b\n100 leave x b\n0 leave y a\n"
            .. "500 %s f a\n600 leave f a\n1000 leave x b\n"):format(event))
         local overview <close> = overview_of(trace, { intervals = 2, length = 999 })
         for number, track in ipairs(overview:tracks()) do
            if track.value == "a" then
               return json.decode(overview:intervals(number, "busy"))
            end
         end
      end
      local function pauses(lines)
         local trace <close> = events.open(lines)
         local overview <close> = overview_of(trace)
         return overview:column(1, "pauses", "start"), overview:column(1, "pauses", "length"),
            overview:tracks()[1].pauses
      end
      assert.same({ "[0]", "[500]", 1 }, { pauses "0 leave y a\n500 resume f a\n600 leave f a\n" })
      -- the stack was empty twice, of which the last time is known
      assert.same({ "[20]", "[480]", 2 }, { pauses(
         "0 leave y a\n10 enter g a\n20 leave g a\n500 resume f a\n600 leave f a\n") })
      assert.same({ 0, 200 }, busy "resume")
      assert.same({ 1000, 0 }, busy "suspend")
   end)

   it("gives each lane the same room, and keeps its longest calls", function()
      math.randomseed(63)
      local trace <close> = open(3000)
      local expected = expected_calls(trace)
      local overview <close> = overview_of(trace, { most_calls = 90 })
      for number, track in ipairs(overview:tracks()) do
         local lengths, kept = {}, {}
         for i, call in ipairs(expected[track.value]) do
            lengths[i] = call[3]
         end
         table.sort(lengths, function(a, b) return a > b end)
         for i, call in ipairs(calls_of(overview, number)) do
            kept[i] = call[3]
         end
         table.sort(kept, function(a, b) return a > b end)
         assert.same({ 30, #lengths }, { #kept, track.calls })
         assert.same(table.move(lengths, 1, 30, 1, {}), kept)
      end
   end)

   it("leaves what short lanes do not need to the others", function()
      local lines = {}
      for i = 1, 50 do
         lines[i] = ("%d enter f a\n%d leave f a"):format(i * 10, i * 10 + i % 7 + 1)
      end
      lines[51] = "600 enter g b\n700 leave g b"
      local trace <close> = events.open(table.concat(lines, "\n") .. "\n")
      local overview <close> = overview_of(trace, { most_calls = 21 })
      local kept = {}
      for _, track in ipairs(overview:tracks()) do
         kept[track.value] = track.kept
      end
      assert.same({ a = 20, b = 1 }, kept)
   end)

   it("has lengths of at most 2^63-1 if times are damaged", function()
      local trace <close> = events.open(("%d enter f a\n%d leave f a\n"):format(math.mininteger,
         math.maxinteger))
      local overview <close> = overview_of(trace, { first = math.mininteger,
         length = math.maxinteger, intervals = 2 })
      local list = calls_of(overview, 1)
      assert.same({ "f", 0, math.maxinteger, 1 }, list[1])
      -- all later time is in the last interval, 2^63-1 ns of it
      assert.same({ 1000, 2000 }, json.decode(overview:intervals(1, "busy")))
   end)

   it("has no call twice after it was reduced again", function()
      local lines = {}
      for i = 1, 40 do
         lines[i] = ("%d enter f a\n%d leave f a"):format(i * 20, i * 20 + 10)
      end
      lines[41] = "900 enter g a\n901 leave g a"
      for i = 1, 10 do
         lines[41 + i] = ("%d write variable:v - %d"):format(900 + i, i)
      end
      local trace <close> = events.open(table.concat(lines, "\n") .. "\n")
      local overview <close> = overview_of(trace, { most_calls = 40 })
      for _, most in ipairs { 40, 36, 20, 39 } do -- 36: the values go, and leave their share
         overview:trim(most)
         for number, track in ipairs(overview:tracks()) do
            local seen, list = {}, track.kind == "lane" and calls_of(overview, number) or {}
            for _, call in ipairs(list) do
               assert.is_nil(seen[call[2]])
               seen[call[2]] = call[1]
            end
            if track.kind == "lane" then
               assert.equal(#list, track.kept)
               assert.equal(41, track.calls)
               assert.is_true(track.kept < 41)
               assert.equal("g", seen[900])
            end
         end
      end
   end)

   it("has the longest call of each function, also if it is as long as the others", function()
      local lines = {}
      for i = 1, 100 do
         local name = "f" .. i % 5
         lines[i] = ("%d enter %s a\n%d leave %s a"):format(i * 20, name, i * 20 + 10, name)
      end
      local trace <close> = events.open(table.concat(lines, "\n") .. "\n")
      for most = 0, 20 do
         local overview <close> = overview_of(trace, { most_calls = most, length = 2010 })
         local names, starts = {}, {}
         for _, call in ipairs(calls_of(overview, 1)) do
            names[call[1]] = true
            assert.is_nil(starts[call[2]])
            starts[call[2]] = true
         end
         assert.same({ f0 = true, f1 = true, f2 = true, f3 = true, f4 = true }, names)
      end
   end)

   it("knows what ran most in an interval, and the worst call of each function", function()
      local trace <close> = events.open [[
0 enter main one
10 enter f one
30 leave f one
500 enter f one
990 leave f one
1000 leave main one
]]
      local overview <close> = overview_of(trace, { intervals = 2, length = 998 })
      assert.equal("[0,1]", overview:intervals(1, "top"))
      assert.same({ { name = "main" }, { name = "f" } }, overview:frames())
      assert.equal("[2,1]", overview:intervals(1, "begun"))
      assert.same({ { frame = 2, name = "f" }, { frame = 1, name = "main" } },
         overview:heaviest(10))
      assert.same({ 1, 0, 1000, 1 }, { overview:worst(1) })
      assert.same({ 1, 500, 490, 2 }, { overview:worst(2) })
   end)

   it("puts calls without an enter around those since the begin", function()
      local trace <close> = events.open [[
0 enter other two
10 enter f one
20 leave f one
40 leave outer one
90 leave other two
]]
      local overview <close> = overview_of(trace, { length = 90, intervals = 9 })
      local expected = expected_calls(trace)
      assert.same({ { "other", 0, 90, 1 } }, calls_of(overview, 1))
      local list = calls_of(overview, 2)
      assert.equal(#expected.one, #list)
      assert.same({ { "outer", 10, 30, 1 }, { "f", 10, 10, 2 } }, list)
   end)

   it("has suspensions, states and values of variables", function()
      local trace <close> = events.open [[
0 enter f one
5 enter state:mode=1 -
20 suspend f one
30 write variable:rpm - 7
50 resume f one
60 enter state:mode=2 -
70 write variable:rpm - -3
100 leave f one
]]
      local overview <close> = overview_of(trace, { length = 100 })
      local seen = {}
      for number, track in ipairs(overview:tracks()) do
         seen[track.variable or track.value] = { track.kind, track.calls,
            overview:column(number, track.kind == "lane" and "pauses" or "calls", "start"),
            track.kind == "lane" and overview:column(number, "pauses", "length")
               or track.kind == "values" and overview:column(number, "calls", "value") or nil }
      end
      assert.same({ one = { "lane", 1, "[20]", "[30]" }, mode = { "states", 2, "[5,55]" },
         rpm = { "values", 2, "[30,40]", "[7,-3]" } }, seen)
   end)

   it("gives the room of variables whose values do not fit to the lanes", function()
      local lines = {}
      for i = 1, 40 do
         lines[i] = ("%d enter f a\n%d write variable:v - %d\n%d leave f a"):format(i * 10, i * 10,
            i, i * 10 + 5)
      end
      local trace <close> = events.open(table.concat(lines, "\n") .. "\n")
      local overview <close> = overview_of(trace, { most_calls = 30 })
      for number, track in ipairs(overview:tracks()) do
         assert.same({ 40, track.kind == "lane" and 30 or 0 }, { track.calls, track.kept })
         assert.equal(track.kind == "lane", overview:column(number, "calls", "start") ~= "[]")
      end
   end)

   it("merges intervals", function()
      math.randomseed(64)
      local trace <close> = open(2000)
      local fine <close> = overview_of(trace, { intervals = 50, length = 10000 })
      for number in ipairs(fine:tracks()) do
         for _, name in ipairs { "begun", "busy" } do
            local sums = {}
            for i, value in ipairs(json.decode(fine:intervals(number, name))) do
               sums[(i + 6) // 7] = (sums[(i + 6) // 7] or 0) + value
            end
            for i, value in ipairs(json.decode(fine:intervals(number, name, 7))) do
               assert.is_true(name == "begun" and value == sums[i]
                  or name == "busy" and math.abs(value - sums[i] / 7) <= 1)
            end
         end
      end
   end)

   it("can keep fewer calls later", function()
      math.randomseed(65)
      local trace <close> = open(3000)
      local late <close> = overview_of(trace)
      for _, most in ipairs { 900, 300, 90, 0 } do
         late:trim(most)
         local early <close> = overview_of(trace, { most_calls = math.max(most, 1) })
         early:trim(most)
         for number in ipairs(late:tracks()) do
            assert.same(calls_of(early, number), calls_of(late, number))
         end
      end
   end)

   it("counts all calls of each function by time and duration, and knows an example of each cell",
      function()
         math.randomseed(66)
         for _, given in ipairs { { 3000, 4 }, { 40000, 1 } } do
            local trace <close>, expected = open(given[1])
            local length = expected.last // given[2]
            local overview <close> = overview_of(trace, { length = length, most_calls = 10 })
            local lanes, cells, known, width = {}, {}, {}, overview:heat_width()
            for number, track in ipairs(overview:tracks()) do
               lanes[number] = track.value
            end
            local function key_of(area, start, gross)
               local power = math.floor(math.log(math.max(gross, 1), 2) + 1e-12)
               local bucket = gross < 4 and gross
                  or 4 * (power - 1) + (gross >> (power - 2)) % 4
               return ("%s %d %d"):format(area, math.min(start // width, 63), bucket)
            end
            for call in trace:calls():records() do
               local key = key_of(call.area, call.start, call.gross)
               cells[key] = (cells[key] or 0) + 1
               known[("%s %d %s"):format(key, call.start, call.lane)] = true
            end
            local frames = overview:heaviest(1000)
            assert.is_true(#frames > 5)
            local rows = {}
            for row in trace:call_statistics():records() do
               rows[row.area] = row
            end
            for _, one in ipairs(frames) do
               local numbers, column = json.decode(overview:heat(one.frame)), 0
               for i = 1, #numbers, 5 do
                  column = column + numbers[i]
                  local key = ("%s %d %d"):format(one.name, column, numbers[i + 1])
                  assert.equal(cells[key], numbers[i + 2], key)
                  cells[key] = nil
                  local start = column * width + numbers[i + 4]
                  assert.is_true(known[("%s %d %s"):format(key, start, lanes[numbers[i + 3]])])
               end
               local row = rows[one.name]
               for _, duration in ipairs { "net", "gross", "period" } do
                  local told = table.pack(overview:histogram(one.frame, duration))
                  assert.same({ row[duration .. "_p50"], row[duration .. "_p99"],
                     row[duration .. "_max"] }, { table.unpack(told, 2, 4) })
                  for i, name in ipairs { "_p50", "_p99" } do
                     assert.equal((row.about or ""):find(duration .. name, 1, true) ~= nil,
                        told[4 + i])
                  end
               end
            end
            assert.is_nil((next(cells)))
         end
      end)

   it("leaves further variables out", function()
      local lines = { "0 enter f one" }
      for i = 1, 30 do
         lines[i + 1] = ("%d write variable:v%d - %d"):format(i, i, i)
      end
      lines[32] = "40 leave f one"
      local trace <close> = events.open(table.concat(lines, "\n") .. "\n")
      local overview <close> = overview_of(trace)
      local left = 0
      for _, track in ipairs(overview:tracks()) do
         left = left + (track.is_left_out and 1 or 0)
      end
      assert.equal(20, left)
      overview:close()
      assert.has_error(function() overview:tracks() end)
   end)
end)
