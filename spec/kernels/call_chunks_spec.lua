-- Statistics read in chunks equal those of one scan, byte for byte: on timelines of a format whose
-- readers run in threads, with calls across the bounds of all chunks.
--
-- Long: many commands or rows, or programs that are compiled.
-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.

local core = require "profio.core"
local profio = require "profio"
local timelines = require "spec.support.call_timelines"
local traces = require "profio.internal.trace"

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

describe("statistics read in chunks", function()
   it("equal those of one scan, with calls across the bounds of chunks", function()
      math.randomseed(11)
      check { rows = 50000, functions = 400, has_suspends = true, min_depth = 3 }
      check { rows = 50000, functions = 400, min_depth = 3 }
   end)

   it("equal those of one scan with recursive functions and an empty stack at times", function()
      math.randomseed(12)
      check { rows = 50000, functions = 6, has_suspends = true }
      check { rows = 50000, functions = 6 }
   end)

   it("equal those of one scan if events are lost", function()
      math.randomseed(13)
      check { rows = 40000, functions = 30, has_suspends = true, stumbles = 0.0002 }
      check { rows = 40000, functions = 30, stumbles = 0.01 }
   end)

   it("equal those of one scan with lines and states", function()
      math.randomseed(14)
      check { rows = 40000, functions = 30, has_suspends = true, lines = true }
      check { rows = 40000, functions = 30, states = true }
   end)

   it("equal those of one scan if there are fewer rows than chunks", function()
      check { rows = 40, functions = 3 }
   end)

   it("keep the readers of chunks that are closed before", function()
      math.randomseed(16)
      local trace <close> = assert(profio.open({ data = timelines.make { rows = 50000,
         functions = 30 } }, { format = "winidea", bin_version = "1.1" }))
      local part = traces.of(trace).parts[1]
      local function statistics(parts)
         return core.statistics(part:reader "events", { parts = parts, threads = 2,
            rows = trace:row_count "events" })
      end
      local parts = { part:reader "events", part:reader "events" }
      local chunks = statistics(parts)
      for _, reader in ipairs(parts) do
         reader:close()
      end
      part:reader "areas" -- the next memory of this size
      assert.same(core.rows(statistics {}), core.rows(chunks))
   end)

   it("are read in one chunk if the reader cannot be opened twice", function()
      local events = require "spec.support.call_events"
      local trace <close> = events.open(events.of "0 e f; 5 l f")
      assert.equal(5, trace:call_statistics { parts = 7 }:rows()[1].net)
   end)

   local function watched(bytes, interrupt, screen)
      local trace = assert(profio.open({ data = bytes }, { format = "winidea",
         bin_version = "1.1" }))
      trace:watch(function(reader, name)
         return interrupt:watch(reader, trace:row_count(name), screen)
      end)
      return trace
   end

   it("are the same with a progress callback", function()
      math.randomseed(15)
      local bytes = timelines.make { rows = 50000, functions = 30, has_suspends = true }
      local plain <close> = assert(profio.open({ data = bytes }, { format = "winidea",
         bin_version = "1.1" }))
      local interrupt <close> = core.interrupt()
      local trace <close> = watched(bytes, interrupt)
      for _, parts in ipairs { 1, 2, 7 } do
         assert.equal(told(plain, {}, 1), told(trace, {}, parts))
      end
      assert.is_false(interrupt:release())
   end)

   it("stop at Ctrl-C", function()
      math.randomseed(16)
      local bytes = timelines.make { rows = 50000, functions = 30, has_suspends = true }
      for _, parts in ipairs { 1, 2, 7 } do
         local interrupt <close> = core.interrupt()
         local trace <close> = watched(bytes, interrupt)
         assert(io.popen "kill -INT $PPID"):close()
         assert.same({}, trace:call_statistics { parts = parts, threads = 2 }:rows())
         assert.is_true(interrupt:release())
      end
   end)
end)
