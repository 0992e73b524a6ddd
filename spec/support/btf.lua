-- A checker of the Best Trace Format, written from the rules of the format (2.2/2.3: types STI T I
-- R SIG SCHED) and independent of the writer. It keeps the state of each instance of each entity
-- and lists every breach with its line.

local btf = {}

local scales = { ps = true, ns = true, us = true, ms = true, s = true }

-- event = { states in which it may happen = state after it }; at its first event a process or a
-- runnable may be in any state.
local process = {
   activate = { terminated = "active" },
   start = { active = "running" },
   preempt = { running = "ready" },
   resume = { ready = "running" },
   terminate = { running = "terminated" },
   poll = { running = "polling" },
   run = { polling = "running" },
   park = { polling = "parking" },
   poll_parking = { parking = "polling" },
   release_parking = { parking = "ready" },
   wait = { running = "waiting" },
   release = { waiting = "ready" },
}

local runnable = {
   start = { terminated = "running" },
   suspend = { running = "suspended" },
   resume = { suspended = "running" },
   terminate = { running = "terminated" },
}

-- {====== The state of the checker ======

local Checker = {}
Checker.__index = Checker

local function new()
   return setmetatable({ breaches = {}, time = 0, processes = {}, runnables = {}, cores = {},
      instances = {}, parameters = {}, stacks = {}, events = 0, counts = {}, stimuli = {} },
      Checker)
end

function Checker:breach(message, ...)
   self.breaches[#self.breaches + 1] = ("line %d: "):format(self.line) .. message:format(...)
end

-- Changes the state of an entity by the table of its kind; its first state may be any.
function Checker:move(machine, states, key, event, what)
   local move = machine[event]
   if not move then
      self:breach("%s has no event '%s'", what, event)
      return nil
   end
   local before = states[key]
   if not before then
      before = next(move)
   end
   if not move[before] then
      self:breach("%s %s: '%s' while %s", what, key, event, before)
      return nil
   end
   states[key] = move[before]
   return before
end

-- Instances are numbered without gaps: 0 or the next one.
function Checker:new_instance(name, instance, what)
   local expected = self.instances[name] or 0
   if instance ~= expected then
      self:breach("%s %s: instance %d, expected %d", what, name, instance, expected)
   end
   self.instances[name] = math.max(expected, instance + 1)
end

-- }======

-- {====== Events by the type of their target ======

local handle = {}

-- The calls that are open in a process, the outermost first.
function Checker:stack_of(key)
   self.stacks[key] = self.stacks[key] or {}
   return self.stacks[key]
end

local function gains_core(event)
   return event == "start" or event == "resume" or event == "run"
end

local function loses_core(event)
   return event == "preempt" or event == "terminate" or event == "wait" or event == "park"
end

-- A process leaves the core only when its runnables are suspended, and ends when they have ended.
function Checker:check_left(key, event)
   for _, call in ipairs(self:stack_of(key)) do
      local state = self.runnables[call]
      if event == "terminate" then
         self:breach("process %s terminates before its runnable %s", key, call)
      elseif state ~= "suspended" then
         self:breach("process %s leaves the core while its runnable %s is %s", key, call, state)
      end
   end
end

function handle:process(r)
   local key = r.type .. " " .. r.target .. " " .. r.target_instance
   if r.event == "activate" then
      if not self.stimuli[r.source .. " " .. r.source_instance] then
         self:breach("process %s is activated by %s, which was not triggered", key, r.source)
      end
      self.processes[key] = self.processes[key] or "terminated"
      self:new_instance(r.type .. " " .. r.target, r.target_instance, "process")
   elseif r.source_instance ~= 0 then
      self:breach("instance of core %s is %d", r.source, r.source_instance)
   end
   local before = self:move(process, self.processes, key, r.event, "process")
   if not before then
      return
   end
   if gains_core(r.event) then
      if self.cores[r.source] and self.cores[r.source] ~= key then
         self:breach("core %s runs %s and gets %s", r.source, self.cores[r.source], key)
      end
      self.cores[r.source] = key
   elseif loses_core(r.event) then
      self:check_left(key, r.event)
      if self.cores[r.source] ~= key then
         self:breach("%s leaves core %s, which it does not have", key, r.source)
      end
      self.cores[r.source] = nil
   end
end

-- Runnables have events only while their process runs.
function handle:runnable(r)
   local owner
   for _, type in ipairs { "T", "I" } do
      local key = type .. " " .. r.source .. " " .. r.source_instance
      owner = owner or (self.processes[key] and key)
   end
   local key = r.target .. " " .. r.target_instance
   if not owner then
      return self:breach("runnable %s: no process %s", key, r.source)
   elseif self.processes[owner] ~= "running" then
      self:breach("runnable %s: '%s' while its process is %s", key, r.event,
         self.processes[owner])
   end
   if r.event == "start" then
      self.runnables[key] = self.runnables[key] or "terminated"
      self:new_instance("R " .. r.target, r.target_instance, "runnable")
   elseif not self.runnables[key] then
      return self:breach("runnable %s: '%s' before it starts", key, r.event)
   end
   if self:move(runnable, self.runnables, key, r.event, "runnable") then
      self:nest(self:stack_of(owner), key, r.event)
   end
end

-- Sub-runnables start after, and end and suspend before, the one around them.
function Checker:nest(stack, key, event)
   if event == "start" then
      local around = stack[#stack]
      if around and self.runnables[around] ~= "running" then
         self:breach("runnable %s starts inside %s, which is %s", key, around,
            self.runnables[around])
      end
      stack[#stack + 1] = key
   elseif event == "terminate" then
      if stack[#stack] ~= key then
         self:breach("runnable %s terminates before %s inside it", key, tostring(stack[#stack]))
      end
      stack[#stack] = nil
   else
      self:check_order(stack, key, event)
   end
end

-- suspend: inner runnables are suspended before; resume: outer ones run already.
function Checker:check_order(stack, key, event)
   local inside = false
   for _, other in ipairs(stack) do
      if other == key then
         inside = true
      elseif event == "suspend" and inside and self.runnables[other] ~= "suspended" then
         self:breach("runnable %s is suspended before %s inside it", key, other)
      elseif event == "resume" and not inside and self.runnables[other] ~= "running" then
         self:breach("runnable %s resumes before %s around it", key, other)
      end
   end
end

function handle:stimulus(r)
   if r.event ~= "trigger" then
      self:breach("stimulus %s: '%s'", r.target, r.event)
   end
   self.stimuli[r.target .. " " .. r.target_instance] = true
end

function handle:signal(r)
   if r.event ~= "read" and r.event ~= "write" then
      self:breach("signal %s: '%s'", r.target, r.event)
   end
   if r.note and not tonumber(r.note) then
      self:breach("signal %s: its value '%s' is no number", r.target, r.note)
   end
end

local by_type = { T = handle.process, I = handle.process, R = handle.runnable,
   STI = handle.stimulus, SIG = handle.signal,
   SCHED = function() end }

-- }======

-- {====== Lines ======

local once = { version = true, timescale = true, creator = true, creationdate = true }

function Checker:parameter(line)
   local keyword, value = line:match "^#(%a+) (.+)$"
   if not keyword then
      return self:breach("neither a comment nor a parameter: %s", line)
   end
   keyword = keyword:lower()
   if once[keyword] and (self.parameters[keyword] or self.events > 0) then
      self:breach("#%s a second time, or behind events", keyword)
   elseif keyword == "version" and self.line ~= 1 then
      self:breach("#version is not the first line")
   elseif keyword == "timescale" and not scales[value] then
      self:breach("no time scale '%s'", value)
   end
   self.parameters[keyword] = value
end

local function integer(text)
   return text:match "^%-?%d+$" and math.tointeger(tonumber(text))
end

local function fields_of(line)
   local fields = {}
   for field in (line .. ","):gmatch "([^,]*)," do
      fields[#fields + 1] = field
   end
   return fields
end

function Checker:event(line)
   local f = fields_of(line)
   if #f ~= 7 and #f ~= 8 then
      return self:breach("%d fields, expected 7 or 8: %s", #f, line)
   end
   local r = { time = integer(f[1]), source = f[2], source_instance = integer(f[3]), type = f[4],
      target = f[5], target_instance = integer(f[6]), event = f[7], note = f[8] }
   if not r.time or not r.source_instance or not r.target_instance or r.source == ""
      or r.target == "" or r.note == "" then
      return self:breach("a field is empty or no number: %s", line)
   elseif r.time < self.time then
      self:breach("time %d after %d", r.time, self.time)
   end
   if not by_type[r.type] then
      return self:breach("no type '%s'", r.type)
   end
   self.time, self.events = r.time, self.events + 1
   local kind = r.type .. " " .. r.event
   self.counts[kind] = (self.counts[kind] or 0) + 1
   by_type[r.type](self, r)
end

-- }======

---Check a text.
---@param text string
---@return string[] breaches empty: the text is valid
---@return table facts events, counts = { ["T start"] = 1, ... }, parameters, runnables
function btf.check(text)
   local checker = new()
   checker.line = 0
   for line in (text:gsub("\n$", "") .. "\n"):gmatch "(.-)\n" do
      checker.line = checker.line + 1
      if line:find "[\0-\31\127-\255]" then
         checker:breach("a byte that is no printable ASCII")
      elseif line:sub(1, 2) == "# " then
         checker.comments = (checker.comments or 0) + 1
      elseif line:sub(1, 1) == "#" then
         checker:parameter(line)
      else
         checker:event(line)
      end
   end
   for _, keyword in ipairs { "version", "timescale" } do
      if not checker.parameters[keyword] then
         checker:breach("no #%s", keyword)
      end
   end
   return checker.breaches, checker
end

return btf
