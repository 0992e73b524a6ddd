-- A simulator of an operating system with several cores, and what a profiler of it records: the
-- true durations of all calls, and the events as winIDEA exports them. It shares no code with
-- profio.
--
-- Each core runs one context at a time: a task, an interrupt, or NO_TASK, the idle loop, which all
-- cores may run at once. A context has a stack of functions. Tasks may move to another core while
-- they are not running.

local cores = {}

local FUNCTIONS = 6

-- Adds the time since the last event of a core to the function that runs on it.
local function advance(self, core)
   local stack = core.stack
   local top = stack and stack[#stack]
   if top then
      top.net = top.net + self.time - core.since
   end
   core.since = self.time
end

local function put(self, core, kind, area, value)
   self.events[#self.events + 1] = { time = self.time, core = core.number, kind = kind,
      area = area, value = value, context = core.context }
end

local function call(self, core)
   local stack, name = core.stack, "f" .. self.random(FUNCTIONS)
   advance(self, core)
   if #stack > 0 then
      put(self, core, "S", stack[#stack].name)
   end
   put(self, core, "E", name)
   stack[#stack + 1] = { name = name, start = self.time, net = 0, inner = 0 }
end

-- The sums of a function in a context on a core.
local function sums_of(self, core, name)
   local key = core.context .. "\0" .. core.number .. "\0" .. name
   self.sums[key] = self.sums[key] or { context = core.context, core = core.number, area = name,
      count = 0, net = 0, gross = 0, call = 0 }
   return self.sums[key]
end

local function leave(self, core)
   local stack = core.stack
   advance(self, core)
   local top = table.remove(stack)
   put(self, core, "X", top.name)
   local sums, gross = sums_of(self, core, top.name), top.net + top.inner
   sums.count, sums.net = sums.count + 1, sums.net + top.net
   sums.gross, sums.call = sums.gross + gross, sums.call + self.time - top.start
   if #stack > 0 then
      stack[#stack].inner = stack[#stack].inner + gross
      put(self, core, "R", stack[#stack].name)
   end
end

-- A core stops what it runs and runs another context.
local function switch(self, core, context)
   advance(self, core)
   if core.stack and #core.stack > 0 then
      put(self, core, "S", core.stack[#core.stack].name)
   end
   for _, other in ipairs(self.cores) do
      if other ~= core and other.context == context then
         self.at_once[context] = true
      end
   end
   local place = context == "NO_TASK" and context .. core.number or context
   self.stacks[place] = self.stacks[place] or {}
   core.context, core.stack = context, self.stacks[place]
   put(self, core, "W", "running", context)
   if #core.stack > 0 then
      put(self, core, "R", core.stack[#core.stack].name)
   else
      call(self, core)
   end
end

-- A context that no core runs, or NO_TASK.
local function free_context(self)
   local list = { "NO_TASK" }
   for _, name in ipairs(self.contexts) do
      local is_free = name ~= "NO_TASK"
      for _, core in ipairs(self.cores) do
         is_free = is_free and core.context ~= name
      end
      list[#list + 1] = is_free and name or nil
   end
   return list[self.random(#list)]
end

---Simulates a number of steps. Returns a table with events ({ time=, core=, kind=, area=, value=,
---context= }, kind E S R X or W), contexts (names; their handles count from 0), at_once (set of the
---contexts that ran on two cores at once) and sums ({ context=, core=, area=, count=, net=, gross=,
---call= }; all calls end).
---@param random fun(...): integer
---@param count integer of cores
---@param steps integer
---@return table
function cores.simulate(random, count, steps)
   local self = { random = random, time = 0, events = {}, cores = {}, stacks = {}, sums = {},
      at_once = {}, contexts = { "NO_TASK", "Task_A", "Task_B", "Task_C", "ISR_1" } }
   for i = 1, count do
      self.cores[i] = { number = i - 1, since = 0 }
      switch(self, self.cores[i], free_context(self))
   end
   for _ = 1, steps do
      self.time = self.time + random(0, 5)
      local core, dice = self.cores[random(count)], random(10)
      local depth = #core.stack
      if dice <= 3 and depth < 5 then
         call(self, core)
      elseif dice <= 6 and depth > 0 then
         leave(self, core)
      else
         local context = free_context(self)
         if context ~= core.context then
            switch(self, core, context)
         end
      end
   end
   for _, context in ipairs(self.contexts) do -- the first core ends all tasks, each core its idle
      for i, core in ipairs(self.cores) do
         local is_mine = context == "NO_TASK" or core.context == context
         if is_mine or i == 1 and self.stacks[context] and #self.stacks[context] > 0 then
            self.time = self.time + 1
            if core.context ~= context then
               switch(self, core, context)
            end
            while #core.stack > 0 do
               leave(self, core)
            end
         end
      end
   end
   return self
end

local codes = { X = 0, S = 1, R = 2, E = 3, W = 4 }

local function handle_of(self, event)
   local number = event.area:match "^f(%d+)$"
   if number then
      return tonumber(number), 0
   end
   for i, name in ipairs(self.contexts) do
      if name == event.value then
         return self.is_per_core and 0x20000000 + event.core or 0x20000000, i - 1
      end
   end
end

---The main file of an export: contexts and areas, without a timeline.
---@param self table
---@return string
function cores.mapping(self)
   local lines = { "* CONTEXTS %NAME%,%HANDLE%" }
   for i, name in ipairs(self.contexts) do
      lines[#lines + 1] = ("%s,0x%x"):format(name, i - 1)
   end
   lines[#lines + 1] = "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%"
   for i = 1, FUNCTIONS do
      lines[#lines + 1] = ("%08X,f%d,"):format(i, i)
   end
   lines[#lines + 1] = "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%"
   for i = 0, self.is_per_core and #self.cores - 1 or 0 do
      lines[#lines + 1] = ("%08X,running%s,"):format(0x20000000 + i,
         self.is_per_core and ("[%d]"):format(i) or "")
   end
   return table.concat(lines, "\n") .. "\n"
end

---The binary timeline, version 1.1.
---@param self table
---@param core fun(event: table): integer|nil the core that an event states; default: its own
---@return string
function cores.bin(self, core)
   local records = {}
   for i, event in ipairs(self.events) do
      local handle, value = handle_of(self, event)
      records[i] = ("<I4I4i8i8"):pack(handle, (core and core(event) or event.core) << 4
         | codes[event.kind], value, event.time)
   end
   return table.concat(records)
end

---The export with a timeline in the same file.
---@param self table
---@param has_context boolean whether rows name the context
---@return string
function cores.text(self, has_context)
   local lines = { cores.mapping(self) .. "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%"
      .. (has_context and ",%CONTEXT%" or "") }
   for _, event in ipairs(self.events) do
      local handle, value = handle_of(self, event)
      lines[#lines + 1] = ("%08X,%s,%s,%d"):format(handle, event.kind,
         event.kind == "W" and ("%08X"):format(value) or "", event.time)
         .. (has_context and "," .. event.context or "")
   end
   return table.concat(lines, "\n") .. "\n"
end

---The true sums of each function by lane: a context, with its core if it ran on two at once.
---@param self table
---@param merges boolean|nil the lane is the context in any case
---@return table<string, table> by "lane area"
function cores.truth(self, merges)
   local list = {}
   for _, sums in pairs(self.sums) do
      local is_split = not merges and self.at_once[sums.context]
      local lane = is_split and ("%s (core %d)"):format(sums.context, sums.core) or sums.context
      local key = lane .. " " .. sums.area
      local all = list[key] or { count = 0, net = 0, gross = 0, call = 0 }
      for name in pairs(all) do
         all[name] = all[name] + sums[name]
      end
      list[key] = all
   end
   return list
end

return cores
