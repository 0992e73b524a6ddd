-- Statistics read in parts are those of one pass, byte for byte: on timelines of a format whose
-- readers run in threads, with calls across every cut.

local profio = require "profio"
local timelines = require "spec.support.call_timelines"

local function told(trace, options, parts)
   local copy = { parts = parts, threads = 2 }
   for name, value in pairs(options) do
      copy[name] = value
   end
   return trace:call_statistics(copy):write { output = "csv" }
end

local function check(shape)
   local trace <close> = assert(profio.open({ data = timelines.make(shape) }, { format = "winidea",
      bin_version = "1.1" }))
   for _, options in ipairs { {}, { recursion = "outermost", by = "context" },
      { edges = "include", partial = "exclude" }, { max_depth = 8 } } do
      local whole = told(trace, options, 1)
      assert.is_true(#whole > 500)
      for _, parts in ipairs { 2, 7, 64 } do
         assert.equal(whole, told(trace, options, parts), parts .. " parts")
      end
   end
end

describe("statistics in parts", function()
   it("are those of one pass, with calls across each cut", function()
      math.randomseed(11)
      check { rows = 50000, functions = 400, has_suspends = true, least = 3 }
      check { rows = 50000, functions = 400, least = 3 }
   end)

   it("also when functions call themselves, and the stack is empty at times", function()
      math.randomseed(12)
      check { rows = 50000, functions = 6, has_suspends = true }
      check { rows = 50000, functions = 6 }
   end)

   it("also when events are lost", function()
      math.randomseed(13)
      check { rows = 40000, functions = 30, has_suspends = true, stumbles = 0.0002 }
      check { rows = 40000, functions = 30, stumbles = 0.01 }
   end)

   it("also with lines and states", function()
      math.randomseed(14)
      check { rows = 40000, functions = 30, has_suspends = true, lines = true }
      check { rows = 40000, functions = 30, states = true }
   end)

   it("also when there are fewer rows than parts", function()
      check { rows = 40, functions = 3 }
   end)

   it("are read in one part where no second reader can be had", function()
      local events = require "spec.support.call_events"
      local trace <close> = events.open(events.of "0 e f; 5 l f")
      assert.equal(5, trace:call_statistics { parts = 7 }:rows()[1].net)
   end)
end)
