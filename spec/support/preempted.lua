-- Random timelines of two cores on which tasks preempt each other, and what really ran: function A
-- of task Worker is slow because one task preempts it for long. The truth is written down while the
-- time passes and shares no code with the kernel.

local preempted = {}

local priorities = { Net = 1, Timer = 2, Isr = 3 }
local tasks = { "Net", "Timer", "Isr" }

-- One core.
local Core = {}
Core.__index = Core

function Core:put(task, event, area)
   self.list[#self.list + 1] = { time = self.time, event = event, area = area, lane = task.lane,
      core = self.number }
end

function Core:enter(task, area)
   table.insert(task.open, area)
   self:put(task, "enter", area)
end

function Core:leave(task)
   self:put(task, "leave", table.remove(task.open))
end

-- Lets time pass in which a task runs, or in which nothing does that is recorded.
function Core:pass(task, time)
   if time > 0 then
      table.insert(self.ran, { lane = task and task.lane, area = task and task.open[#task.open],
         from = self.time, to = self.time + time })
   end
   self.time = self.time + time
end

-- Suspends a task: its innermost function, or all, as recorders differ. Returns how many.
function Core:suspend(task)
   local count = self.is_all and #task.open or 1
   for i = 0, count - 1 do
      self:put(task, "suspend", task.open[#task.open - i])
   end
   return count
end

function Core:resume(task, count)
   for i = count - 1, 0, -1 do
      self:put(task, "resume", task.open[#task.open - i])
   end
end

-- A task with a higher priority runs a handler for `time`, perhaps after another one.
function Core:preempt(task, other, time)
   local count = self:suspend(task)
   self:pass(nil, self.random(0, 3))
   for _, name in ipairs(self.random(4) == 1 and { tasks[self.random(3)], other } or { other }) do
      if priorities[name] > (priorities[task.name] or 0) then
         local by = { name = name, lane = name .. self.number, open = {} }
         self:enter(by, "handler of " .. name)
         self:work(by, name == other and time or self.random(10, 60))
         self:leave(by)
         self:pass(nil, self.random(0, 3))
      end
   end
   self:resume(task, count)
end

-- A task works for `time`, during which others may preempt it for short.
function Core:work(task, time)
   while time > 0 do
      local step = math.min(time, self.random(50, 400))
      self:pass(task, step)
      time = time - step
      local other = tasks[self.random(3)]
      if self.random(6) == 1 and priorities[other] > (priorities[task.name] or 0) then
         self:preempt(task, other, self.random(10, 60))
      end
   end
end

-- A call of A, which calls B; a slow one is preempted in A, in B, or in a function that only slow
-- calls have.
function Core:call(task, slow)
   local call = { start = self.time, core = self.number }
   self:enter(task, "A")
   self:work(task, self.random(300, 320))
   self:enter(task, "B")
   self:work(task, self.random(200, 220))
   if slow and slow.place == 1 then
      self:preempt(task, slow.by, slow.time)
   end
   self:leave(task)
   if slow and slow.place > 1 then
      if slow.place == 3 then
         self:enter(task, "Retry")
      end
      self:preempt(task, slow.by, slow.time)
      if slow.place == 3 then
         self:leave(task)
      end
   end
   self:work(task, self.random(100, 120))
   self:leave(task)
   call.stop = self.time
   table.insert(self.calls, call)
end

local function new_core(number, random)
   local core = setmetatable({ number = number, random = random, time = random(0, 500), list = {},
      ran = {}, calls = {}, is_all = random(2) == 1 }, Core)
   local slow = { by = tasks[random(3)], time = random(2000, 9000), place = random(3) }
   local task = { name = "Worker", lane = "Worker" .. number, open = {} }
   local at = random(2, 6)
   for i = 1, random(40, 60) do
      core:pass(nil, random(10, 40))
      core:call(task, i % 12 == at and slow or nil)
   end
   core.reason = slow.by .. number
   return core
end

-- Returns the times for which others ran on the core during a call, by lane.
local function waits_of(core, call)
   local waits = {}
   for _, piece in ipairs(core.ran) do
      local time = math.min(piece.to, call.stop) - math.max(piece.from, call.start)
      if time > 0 and piece.lane and piece.lane ~= "Worker" .. core.number then
         waits[piece.lane] = (waits[piece.lane] or 0) + time
      end
   end
   return waits
end

---A random timeline.
---@param random fun(...): integer
---@return table[] events of the format "calls on cores"
---@return table[] cores  each with its calls { start =, stop =, waits = }, in order; `ran`, a list
---of { lane =, area =, from =, to = }; and `reason`, the lane that makes calls of its Worker slow
function preempted.timeline(random)
   local list, cores = {}, {}
   for number = 0, 1 do
      local core = new_core(number, random)
      cores[number + 1] = core
      for _, call in ipairs(core.calls) do
         call.waits = waits_of(core, call)
      end
      for _, event in ipairs(core.list) do
         list[#list + 1] = event
         event.at = #list
      end
   end
   table.sort(list, function(a, b)
      if a.time ~= b.time then
         return a.time < b.time
      end
      return a.at < b.at
   end)
   return list, cores
end

return preempted
