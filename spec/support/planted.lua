-- Random timelines in which some calls of function A are slow for a planted reason, and random
-- times of everything else.

local planted = {}

-- Adds events one after the other.
local Maker = {}
Maker.__index = Maker

function Maker:put(event, area)
   self.list[#self.list + 1] = { time = self.time, event = event, area = area, lane = self.lane }
end

-- Lets about `time` ns pass.
function Maker:pass(time)
   self.time = self.time + time + self.random(0, time // 20)
end

function Maker:enter(area)
   self.open[#self.open + 1] = area
   self:put("enter", area)
end

function Maker:leave()
   self:put("leave", table.remove(self.open))
end

-- The call on top is suspended.
function Maker:preempt(time)
   local top = self.open[#self.open]
   self:pass(5)
   self:put("suspend", top)
   self:pass(time)
   self:put("resume", top)
end

-- A call of a leaf function.
function Maker:leaf(area, time)
   self:enter(area)
   self:pass(time)
   self:leave()
end

-- A call of B, which calls E; `slow` is the planted reason or nil.
local function call_b(maker, slow)
   maker:enter "B"
   maker:pass(100)
   maker:leaf("E", slow and slow.area == "E" and 200 + slow.time or 200)
   if slow and slow.kind == "suspended" and slow.area == "B" then
      maker:preempt(slow.time)
   end
   maker:pass(slow and slow.kind == "longer" and slow.area == "B" and slow.time or 40)
   maker:leave()
end

-- A call of A. All calls but those with a reason take about 1,500 ns.
local function call_a(maker, slow)
   local kind = slow and slow.kind
   maker:enter "A"
   maker:pass(kind == "first" and 300 + slow.time or kind == "own" and 300 + slow.time or 300)
   call_b(maker, slow)
   for _ = 1, 2 + (kind == "more" and slow.time // 150 or 0) do
      maker:leaf("C", 150)
   end
   if kind == "suspended" and slow.area == "A" then
      maker:preempt(slow.time)
   elseif kind == "suspended" and slow.area == "F" then -- which other calls do not have
      maker:enter "F"
      maker:enter "G"
      maker:preempt(slow.time)
      maker:leave()
      maker:leave()
   end
   maker:leaf("D", 300)
   maker:leave()
end

local reasons = {
   { kind = "longer", area = "B", expected = "B" },
   { kind = "longer", area = "E", expected = "E" },
   { kind = "more", expected = "C" },
   { kind = "suspended", area = "A", expected = "A" },
   { kind = "suspended", area = "B", expected = "A" },
   { kind = "suspended", area = "F", expected = "A" },
   { kind = "first", expected = "A" },
   { kind = "own", expected = "A" },
}

---A random timeline.
---@param random fun(...): integer
---@return table[] events
---@return table reason  kind and area of the expected first part
function planted.timeline(random)
   local reason = reasons[random(#reasons)]
   local lanes, calls = random(2), random(40, 90)
   local slow = { kind = reason.kind, area = reason.area, time = random(600, 6000) }
   local maker = setmetatable({ list = {}, open = {}, time = random(0, 1000), random = random },
      Maker)
   local at = random(2, 6)
   for i = 1, calls do
      maker.lane = i % lanes + 1
      maker:pass(50)
      maker:leaf("Idle", 20)
      local is_slow = reason.kind == "first" and i <= lanes
         or reason.kind ~= "first" and i > lanes and i % 12 == at
      call_a(maker, is_slow and slow or nil)
   end
   return maker.list, { kind = reason.kind, area = reason.expected }
end

return planted
