-- Statistics read in parts are those of one pass, byte for byte: on timelines of a format whose
-- readers run in threads, with calls across every cut.

local profio = require "profio"
local records = require "spec.support.winidea"

-- One event behind the other, with the stack of each core.
local Maker = {}
Maker.__index = Maker

function Maker:put(event, handle)
   self.list[#self.list + 1] = records.new { handle = handle, event = event, core = self.core,
      data = 0, time = self.time }
end

-- A callee's enter behind its caller's suspend; some recorders leave the latter out.
function Maker:call(handle)
   local stack = self.stacks[self.core]
   if #stack > 0 and self.has_suspends then
      self:put("suspend", stack[#stack])
   end
   stack[#stack + 1] = handle
   self:put("enter", handle)
end

function Maker:leave()
   local stack = self.stacks[self.core]
   self:put("leave", table.remove(stack))
   if #stack > 0 and self.has_suspends then
      self:put("resume", stack[#stack])
   end
end

-- Something that does not fit: an end is lost, an enter, or a suspend comes alone.
function Maker:stumble()
   local stack = self.stacks[self.core]
   local dice = math.random(4)
   if dice == 1 then
      table.remove(stack)
   elseif dice == 2 then
      stack[#stack + 1] = math.random(self.functions)
   else
      self:put(dice == 3 and "suspend" or "resume", math.random(self.functions))
   end
end

local function step(maker, shape)
   local depth = #maker.stacks[maker.core]
   maker.time = maker.time + math.random(0, 20)
   if math.random(40) == 1 then
      maker.core = 1 - maker.core
   elseif math.random() < (shape.stumbles or 0) then
      maker:stumble()
   elseif shape.lines and depth > 0 and math.random(5) == 1 then
      maker:put("enter", 0x10000000 + math.random(9))
   elseif math.random(10) == 1 then
      maker:put("write", (shape.states and 0x30000000 or 0x20000000) + math.random(3))
   elseif depth < (shape.least or 0) or depth < 12 and math.random() < (12 - depth) / 20 then
      maker:call(math.random(maker.functions))
   elseif depth > 0 then
      maker:leave()
   end
end

local function timeline(shape)
   local maker = setmetatable({ list = {}, stacks = { [0] = {}, {} }, core = 0, time = -500,
      functions = shape.functions, has_suspends = shape.has_suspends }, Maker)
   while #maker.list < shape.rows do
      step(maker, shape)
   end
   return table.concat(maker.list)
end

local function told(trace, options, parts)
   local copy = { parts = parts, threads = 2 }
   for name, value in pairs(options) do
      copy[name] = value
   end
   return trace:call_statistics(copy):write { output = "csv" }
end

local function check(shape)
   local trace <close> = assert(profio.open({ data = timeline(shape) }, { format = "winidea",
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
