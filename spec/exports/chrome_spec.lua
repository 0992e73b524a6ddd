-- Chrome trace events: the calls of each thread must nest, to the nanosecond.

local builder = require "spec.support.gmon_builder"
local events = require "spec.support.events"
local json = require "dkjson"
local lanes = require "profio.exports.lanes"
local names = require "spec.support.names"
local profio = require "profio"

-- Nanoseconds of a text of microseconds with three digits.
local function ns_of(text)
   local us, rest = text:match "^(%-?%d+)%.(%d%d%d)$"
   return math.tointeger(us) * 1000 + math.tointeger(rest)
end

-- The complete events of a text by thread, with their times as whole nanoseconds; and the names of
-- threads.
local function threads_of(text)
   local decoded = assert(json.decode(text))
   local threads, titles, times = {}, {}, {}
   for ts, dur in text:gmatch '"ts":([^,]*),"dur":([^,]*),' do
      times[#times + 1] = { ns_of(ts), ns_of(dur) }
   end
   local at = 0
   for _, event in ipairs(decoded.traceEvents) do
      if event.ph == "X" then
         at = at + 1
         local list = threads[event.tid] or {}
         threads[event.tid] = list
         list[#list + 1] = { name = event.name, start = times[at][1],
            stop = times[at][1] + times[at][2], net = event.args.net }
      elseif event.name == "thread_name" then
         titles[event.tid] = event.args.name
      end
   end
   return threads, titles, decoded
end

-- Whether intervals nest; those that begin together begin with the longest.
local function nests(list)
   table.sort(list, function(a, b)
      return a.start < b.start or a.start == b.start and a.stop > b.stop
   end)
   local stack = {}
   for _, one in ipairs(list) do
      while #stack > 0 and stack[#stack].stop <= one.start do
         stack[#stack] = nil
      end
      if #stack > 0 and one.stop > stack[#stack].stop then
         return false
      end
      stack[#stack + 1] = one
   end
   return true
end

describe("--export chrome", function()
   it("has the calls of each lane, and they nest", function()
      math.randomseed(41)
      local trace <close> = events.open((events.program(6000)))
      local threads, titles = threads_of(assert(trace:export "chrome"))
      assert.equal(3, #threads)
      for tid, list in ipairs(threads) do
         local calls = trace:calls():where { lane = titles[tid] }
         local row = calls:aggregate { "n = count", "own = sum(net)" }:rows()[1]
         local own = 0
         for _, one in ipairs(list) do
            own = own + one.net
         end
         assert.same({ row.n, row.own }, { #list, own })
         assert.is_true(nests(list))
      end
   end)

   it("is the same where lanes are numbers", function()
      profio.register {
         name = "numbered", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" },
            { "lane", "int" } } },
         open = function()
            return { events = function(put)
               put(0, "enter", "f", 7)
               put(3, "enter", "g", 9)
               put(1005, "leave", "f", 7)
               put(1006, "leave", "g", 9)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "numbered" }))
      local threads, titles = threads_of(assert(trace:export "chrome"))
      assert.same({ "7", "9" }, titles)
      assert.same({ { name = "f", start = 0, stop = 1005, net = 1005 } }, threads[1])
      assert.same({ { name = "g", start = 3, stop = 1006, net = 1003 } }, threads[2])
   end)

   it("shows names as they are", function()
      local trace <close> = names.open()
      local threads = threads_of(assert(trace:export "chrome"))
      local seen = {}
      for _, one in ipairs(threads[1]) do
         seen[one.name] = one.net
      end
      for i, name in ipairs(names.list) do
         assert.equal(10 * i, seen[names.utf8(name)])
      end
   end)

   it("tells what was lost", function()
      local whole = builder.new("<", 8):header():arc(0x1000, 0x2000, 7):bytes()
      local trace <close> = assert(profio.open { data = whole })
      assert.equal("", lanes.losses(trace))
      local cut <close> = assert(profio.open { data = whole:sub(1, -3), path = "cut.out" })
      local losses = json.decode("{" .. lanes.losses(cut):sub(2) .. "}").losses
      assert.equal(1, #losses)
      assert.matches("^cut%.out: .* %(gmon%-truncated%)$", losses[1])
   end)

   it("does not pass for nested where it is broken", function()
      assert.is_true(nests { { start = 0, stop = 9 }, { start = 2, stop = 9 } })
      assert.is_false(nests { { start = 0, stop = 9 }, { start = 2, stop = 10 } })
      assert.is_nil((json.decode '{"traceEvents":[{"ph":"X"},'))
   end)
end)
