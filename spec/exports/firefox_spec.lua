-- Processed profiles of the Firefox profiler, held against a checker of their rules.

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

-- Whole nanoseconds of sums that are milliseconds.
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

   it("weighs other metrics in whole numbers", function()
      local profile = folded.profile "main;f 5\nmain;f 6\nmain 7\n"
      local seen = checked(assert(profile:export("firefox", nil, { metric = "samples" })))
      assert.same({ main = 1, f = 2 }, seen.threads[1].sums.own)
      assert.equal("samples", seen.profile.threads[1].samples.weightType)
   end)

   it("has the calls of a timeline as markers, a thread for each lane", function()
      math.randomseed(32)
      local trace <close> = events.open((events.program(3000)))
      local _, _, sum = expected(trace:profile())
      local seen = checked(assert(trace:export "firefox"))
      assert.equal(sum, math.floor(seen.threads[1].sums.sum * 1e6 + 0.5))
      assert.equal(4, #seen.threads)
      for i = 2, 4 do
         local lane = seen.threads[i]
         local calls = trace:calls():where { lane = lane.name }
         assert.equal(calls:aggregate { "n = count" }:rows()[1].n, lane.pairs)
      end
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
      assert.equal(#names.list + 1, seen.threads[2].pairs)
   end)

   it("tells what was lost", function()
      local text, status = command.run "profio --export firefox cut.gmon"
      assert.equal(3, status)
      local entries = checked(text).profile.meta.extra[1].entries
      assert.equal("Damaged", entries[2].label)
      assert.matches("gmon%-", entries[2].value)
   end)

   it("is whole when there is nothing in it", function()
      local trace <close> = events.open ""
      local seen = checked(assert(trace:export "firefox"))
      assert.equal(0, seen.threads[1].samples)
   end)
end)

describe("the checker of Firefox profiles", function()
   local trace <close> = events.open "0 enter a\n2 enter b\n5 leave b\n6 leave a\n"
   local text = assert(trace:export "firefox")
   local broken = {
      ["is not 60"] = { "Version\":60", "Version\":61" },
      ["rows of"] = { "\"isJS\":%[false,", "\"isJS\":[" },
      ["no index 9"] = { "\"func\":%[0", "\"func\":[9" },
      ["does not stand before it"] = { "\"prefix\":%[null,0", "\"prefix\":[null,1" },
      ["time table after"] = { "\"phase\":%[0,2,2,3,3", "\"phase\":[0,2,2,3,2" },
      ["was not the last to begin"] = { "\"name\":%[0,1,2,2,1", "\"name\":[0,1,2,1,2" },
   }

   it("accepts what is right", function()
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
