-- Processed profiles of the Firefox profiler, compared with a checker of their rules.

local command = require "spec.support.command"
local events = require "spec.support.events"
local firefox = require "spec.support.firefox"
local folded = require "spec.support.folded"
local names = require "spec.support.names"
local profio = require "profio"

local function checked(text)
   local breaches, seen = firefox.check(text)
   assert.same({}, breaches)
   return seen
end

-- Rounds sums in milliseconds to whole nanoseconds.
local function whole(list)
   local result = {}
   for name, value in pairs(list) do
      local ns = math.floor(value * 1e6 + 0.5)
      result[name] = ns ~= 0 and ns or nil
   end
   return result
end

local function expected(profile, named)
   local own, total, sum = {}, {}, 0
   for _, row in ipairs(profile:flat():rows("function", "self", "total")) do
      local name = named and named(row["function"]) or row["function"]
      own[name] = row.self ~= 0 and row.self or nil
      total[name] = row.total ~= 0 and row.total or nil
      sum = sum + row.self
   end
   return own, total, sum
end

describe("--export firefox", function()
   it("has the samples of a profile", function()
      math.randomseed(31)
      local profile = folded.profile(folded.random(2000))
      local own, total, sum = expected(profile)
      local thread = checked(assert(profile:export "firefox")).threads[1]
      assert.equal(sum, math.floor(thread.sums.sum * 1e6 + 0.5))
      assert.same(own, whole(thread.sums.own))
      assert.same(total, whole(thread.sums.total))
   end)

   it("has other metrics as integer weights", function()
      local profile = folded.profile "main;f 5\nmain;f 6\nmain 7\n"
      local seen = checked(assert(profile:export("firefox", nil, { metric = "samples" })))
      assert.same({ main = 1, f = 2 }, seen.threads[1].sums.own)
      assert.equal("samples", seen.profile.threads[1].samples.weightType)
   end)

   it("has a thread for each lane of a timeline: calls as markers, stacks as samples", function()
      math.randomseed(32)
      local trace <close> = events.open((events.program(3000)))
      local info = trace.events:aggregate { "first = min(time)", "last = max(time)" }:rows()[1]
      local seen = checked(assert(trace:export "firefox"))
      assert.equal(3, #seen.threads)
      for i, lane in ipairs(seen.threads) do
         assert.equal("task" .. i, lane.name)
         local calls = trace:calls():where { lane = lane.name }
         local own = {}
         for area, net in calls:group("area"):aggregate { "net = sum(net)" }:each("area", "net") do
            own[area] = net ~= 0 and net or nil
         end
         assert.equal(calls:count(), lane.pairs)
         assert.same(own, whole(lane.sums.own))
         assert.same({ 0, (info.last - info.first) / 1e6 }, { lane.first, lane.last })
      end
   end)

   it("shows the times at which stacks ran, and nothing where none did", function()
      local trace <close> = events.open [[
1000000 enter f a
1500000 suspend f a
1700000 resume f a
2000000 enter g a
4000000 leave g a
4000000 leave f a
9000000 enter h b
10000000 leave h b
]]
      local seen = checked(assert(trace:export "firefox"))
      local samples, shared = seen.profile.threads[1].samples, seen.profile.shared
      local list = {}
      for row = 1, samples.length do
         local stack = samples.stack[row]
         local frame = type(stack) == "number" and shared.stackTable.frame[stack + 1]
         local name = frame and shared.stringArray[shared.funcTable.name[frame + 1] + 1] or "-"
         list[row] = ("%s %g %g"):format(name, samples.time[row], samples.weight[row])
      end
      assert.same({ "f 0 0.5", "f 0.5 0", "- 0.5 0", "- 0.7 0", "f 0.7 0.3", "f 1 0", "g 1 2",
         "g 3 0", "- 3 0", "- 9 0", "- 9 0" }, list)
      assert.equal("tracing-ms", samples.weightType)
   end)

   it("has all calls of a sparse trace in the range that viewers show", function()
      local lines = {}
      for i = 0, 99 do
         lines[#lines + 1] = ("%d enter fa A\n%d leave fa A\n"):format(i * 100000000,
            i * 100000000 + 1000000)
      end
      local trace <close> = events.open(table.concat(lines))
      local seen = checked(assert(trace:export "firefox"))
      local lane = seen.threads[1]
      assert.same({ 100, 0, 9901 }, { lane.pairs, lane.first, lane.last })
      assert.equal(100, math.floor(lane.sums.own.fa + 0.5))
      assert.is_true(seen.profile.meta.interval <= lane.last / 1000)
   end)

   it("has the states and the values of variables as threads", function()
      local trace <close> = events.open [[
0 enter state:mode=1
2 write variable:rpm - 7
4 enter state:mode=2
5 write variable:rpm - 8
9 enter f a
]]
      local threads = {}
      for i, thread in ipairs(checked(assert(trace:export "firefox")).threads) do
         threads[i] = { thread.name, thread.pairs, whole(thread.sums.own) }
      end
      assert.same({ { "a", 1, {} }, { "mode (states)", 2, { ["mode=1"] = 4, ["mode=2"] = 5 } },
         { "rpm (values)", 2, { ["rpm=7"] = 3, ["rpm=8"] = 4 } } }, threads)
   end)

   it("knows files and lines", function()
      profio.register {
         name = "lined", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
         open = function()
            return { events = function(put)
               local area = { name = "f", file = "a.c", line = 12 }
               put(0, "enter", area)
               put(5, "leave", area)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "lined" }))
      local shared = checked(assert(trace:profile():export "firefox")).profile.shared
      assert.equal("a.c", shared.stringArray[shared.sources.filename[1] + 1])
      assert.same({ 0, 12 }, { shared.funcTable.source[1], shared.frameTable.line[1] })
   end)

   it("keeps names as they are", function()
      local trace <close> = names.open()
      local own = expected(trace:profile(), names.utf8)
      local seen = checked(assert(trace:export "firefox"))
      assert.same(own, whole(seen.threads[1].sums.own))
      assert.equal(#names.list + 1, seen.threads[1].pairs)
   end)

   it("reports losses", function()
      local text, status = command.run "profio --export firefox cut.gmon"
      assert.equal(3, status)
      local entries = checked(text).profile.meta.extra[1].entries
      assert.equal("Damaged", entries[2].label)
      assert.matches("gmon%-", entries[2].value)
   end)

   it("is valid without events", function()
      local trace <close> = events.open ""
      local seen = checked(assert(trace:export "firefox"))
      assert.same({ 1, 0, 0 }, { seen.threads[1].samples, seen.threads[1].pairs,
         seen.threads[1].last })
   end)
end)

describe("the checker of Firefox profiles", function()
   local trace <close> = events.open "0 enter a\n2 enter b\n5 leave b\n6 leave a\n"
   local text = assert(trace:export "firefox")
   local broken = {
      ["sample 2: time 2e-06"] = { "\"time\":%[0.000000,0.000002", "\"time\":[0.000000,0.002" },
      ["is not 60"] = { "Version\":60", "Version\":61" },
      ["rows of"] = { "\"isJS\":%[false,", "\"isJS\":[" },
      ["no index 9"] = { "\"func\":%[0", "\"func\":[9" },
      ["does not stand before it"] = { "\"prefix\":%[null,0", "\"prefix\":[null,1" },
      ["time table after"] = { "\"phase\":%[2,2,3,3", "\"phase\":[2,2,3,2" },
      ["was not the last to begin"] = { "\"name\":%[0,1,1,0", "\"name\":[0,1,0,1" },
   }

   it("accepts valid output", function()
      checked(text)
   end)

   for breach, change in pairs(broken) do
      it("refuses a profile: " .. breach, function()
         local changed, count = text:gsub(change[1], change[2])
         assert.equal(1, count)
         local list = firefox.check(changed)
         assert.is_truthy(table.concat(list, "\n"):find(breach, 1, true), table.concat(list, "\n"))
      end)
   end
end)
