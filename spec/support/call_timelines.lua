-- Random binary timelines of calls on two cores.

local records = require "spec.support.winidea"

local timelines = {}

-- Adds events one after the other, with a stack for each core.
local Maker = {}
Maker.__index = Maker

function Maker:put(event, handle)
   local record = { handle = handle, event = event, core = self.core, data = 0, time = self.time }
   self.records[#self.records + 1] = record
   self.list[#self.list + 1] = records.new(record)
end

-- Adds the suspend of the caller and the enter of the callee; some recorders omit the suspend.
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

-- Adds an inconsistency: a lost leave, a lost enter, or a suspend without a call.
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
   elseif depth < (shape.min_depth or 0) or depth < 12 and math.random() < (12 - depth) / 20 then
      maker:call(math.random(maker.functions))
   elseif depth > 0 then
      maker:leave()
   end
end

---A binary timeline of version 1.1.
---@param shape table rows, functions; has_suspends, stumbles (how often), lines, states, min_depth
---@return string
---@return table[] its records: handle, event, core, time
function timelines.make(shape)
   local maker = setmetatable({ list = {}, records = {}, stacks = { [0] = {}, {} }, core = 0,
      time = -500, functions = shape.functions, has_suspends = shape.has_suspends }, Maker)
   while #maker.list < shape.rows do
      step(maker, shape)
   end
   return table.concat(maker.list), maker.records
end

return timelines
