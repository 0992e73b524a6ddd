-- A slow model of the definitions in csrc/kernels/calls/call.h: each lane has a list of open calls,
-- and each call a list of the intervals in which it was active; everything is found by linear
-- search. It shares no code with the kernel, which is compared with it.
--
-- An event is { time =, event =, area =, lane =, flags = } where area is { name =, class =,
-- parent =, value = }, with a name or an area as the parent, and lane a value or nil. A call is a
-- table with the columns of a calls view; what is missing is absent; path has the names of its
-- stack with semicolons between.

local slow = {}

local words = { "cut", "gap", "lost", "open", "orphan", "unwound" }
local partial = { "cut", "gap", "open", "orphan", "unwound" }

local function has(flags, list)
   for _, word in ipairs(list) do
      if flags[word] then
         return true
      end
   end
   return false
end

local function text_of(flags)
   local list = {}
   for _, word in ipairs(words) do
      list[#list + 1] = flags[word] and word or nil
   end
   return #list > 0 and table.concat(list, " ") or nil
end

local function kind_of(area)
   local class = area.class or ""
   if class:match "line$" then
      return "line"
   elseif class:match "state$" then
      return "state"
   elseif class:match "variable$" or class:match "aux$" or class:match "inspector$" then
      return "value"
   end
   return "function"
end

local function parent_name(area)
   return type(area.parent) == "table" and area.parent.name or area.parent
end

-- Returns the key of an area; place_of returns that of the lane in which its calls are.
local function key_of(area)
   return ("%s|%s|%s|%s"):format(area.name, area.class, parent_name(area), area.value)
end

local function place_of(event)
   local kind = kind_of(event.area)
   if kind == "state" then
      return "state of " .. tostring(parent_name(event.area))
   elseif kind == "value" then
      return "value of " .. key_of(event.area)
   end
   return "lane " .. tostring(event.lane)
end

local Model = {}
Model.__index = Model

local function new_lane(self, place, event, time)
   local is_code = place:match "^lane"
   local lane = { place = place, value = is_code and event.lane or nil, open = {},
      is_code = is_code ~= nil, areas = {} }
   time = is_code and time or math.max(time, self.first)
   local since = (is_code or self.gaps > 0) and time or self.first
   lane.last = time
   lane.before = { since = since, from = since, spent = {}, calls = 0 }
   self.lanes[#self.lanes + 1], self.lanes[place] = lane, lane
   return lane
end

local function area_in(lane, area)
   local key = key_of(area)
   lane.areas[key] = lane.areas[key] or { area = area }
   return lane.areas[key]
end

local function total(slices)
   local sum = 0
   for _, slice in ipairs(slices) do
      sum = sum + slice.to - slice.from
   end
   return sum
end

local function begin_slice(call, time)
   call.from = call.from or time
end

local function end_slice(call, time)
   if call.from then
      call.spent[#call.spent + 1] = { from = call.from, to = time }
      call.from = nil
   end
end

local function emit(self, row)
   if not (self.options.partial == "exclude" and has(row.bits, partial)) then
      row.flags, row.bits = text_of(row.bits), nil
      self.rows[#self.rows + 1], self.gaps_before[row] = row, self.gaps
   end
end

-- Returns how many functions are around the call at position i.
local function depth_at(lane, i)
   local depth = 1
   for k = 1, i - 1 do
      depth = depth + (lane.open[k].kind == "function" and 1 or 0)
   end
   return depth
end

local function caller_at(lane, i)
   for k = i - 1, 1, -1 do
      if lane.open[k].kind == "function" then
         return lane.open[k].area.name
      end
   end
end

-- The functions around position i, and the call itself if it is one of a function.
local function path_at(lane, i, area)
   if kind_of(area) ~= "function" then
      return nil
   end
   local names = {}
   for k = 1, i - 1 do
      names[#names + 1] = lane.open[k].kind == "function" and lane.open[k].area.name or nil
   end
   names[#names + 1] = area.name
   return table.concat(names, ";")
end

-- Returns what is charged with the time of the function at position i: the function around it, and
-- the line of that function which is between them.
local function payers(lane, i)
   local list = {}
   local below = lane.open[i - 1]
   if not below then
      return { lane.before }
   end
   list[1] = below
   if below.kind ~= "function" then
      list[2] = lane.open[i - 2] or lane.before
   end
   return list
end

local function pause(call, time)
   if call.from then
      end_slice(call, time)
      call.is_paused = true
   end
end

local function run_again(call, time)
   if call.is_paused then
      call.is_paused = nil
      begin_slice(call, time)
   end
end

-- The position of the innermost function, or 0.
local function innermost(lane)
   local top = lane.open[#lane.open]
   return top and top.kind ~= "function" and #lane.open - 1 or #lane.open
end

-- Applies a function to the function that was resumed below suspended calls, and to its line.
local function with_resumed(lane, act, time)
   for i, call in ipairs(lane.open) do
      if call == lane.resumed then
         act(call, time)
         if lane.open[i + 1] and lane.open[i + 1].kind == "line" then
            act(lane.open[i + 1], time)
         end
      end
   end
end

local function ended(self, lane, i, time, flags)
   local call = lane.open[i]
   end_slice(call, time)
   local bits = {}
   for _, some in ipairs { call.flags, flags } do
      for word in pairs(some) do
         bits[word] = true
      end
   end
   bits.lost = bits.lost or self.losses > call.losses or nil
   local net = total(call.spent)
   local is_inner = false
   for k = 1, i - 1 do
      is_inner = is_inner or key_of(lane.open[k].area) == key_of(call.area)
   end
   local gross = net + call.calls
   local hidden = is_inner and self.options.recursion == "outermost"
   emit(self, { area = call.area.name, lane = lane.value, start = call.start, stop = time,
      net = net, gross = not hidden and gross or nil,
      call = not hidden and not has(bits, partial) and time - call.start or nil,
      period = call.period, outside = call.outside, depth = depth_at(lane, i),
      caller = caller_at(lane, i), bits = bits, count = call.count, path = call.path })
   if call.kind == "function" then
      for _, payer in ipairs(payers(lane, i)) do
         payer.calls = payer.calls + gross
      end
   end
   table.remove(lane.open, i)
   if call.kind == "function" then
      for _, payer in ipairs(payers(lane, i)) do
         run_again(payer, time)
      end
   end
   local inner = lane.open[innermost(lane)]
   if lane.resumed and (lane.open[#lane.open] == lane.resumed or call == lane.resumed) then
      lane.resumed = nil
   elseif lane.resumed and not inner.from then
      with_resumed(lane, run_again, time)
   end
   local known = area_in(lane, call.area)
   known.left = time
   if not lane.is_code then
      lane.before = { from = time, since = time, spent = {}, calls = 0 }
   end
end

local function find(lane, area)
   for i = #lane.open, 1, -1 do
      if key_of(lane.open[i].area) == key_of(area) then
         return i
      end
   end
end


local function make(event, kind, losses)
   return { area = event.area, kind = kind, start = event.time, spent = {}, calls = 0, count = 1,
      flags = event.bits, losses = losses }
end

local function end_sibling(self, lane, time, flags)
   local top = lane.open[#lane.open]
   if top and top.kind ~= "function" then
      ended(self, lane, #lane.open, time, flags)
   end
end

local function limit(self, lane, time)
   if #lane.open == self.options.max_depth then
      ended(self, lane, #lane.open, time, { lost = true, unwound = true })
   end
end

local function enter(self, lane, event, kind, sibling)
   limit(self, lane, event.time)
   if kind == "function" then
      for _, payer in ipairs(payers(lane, #lane.open + 1)) do
         pause(payer, event.time)
      end
      with_resumed(lane, pause, event.time)
   else
      end_sibling(self, lane, event.time, sibling)
   end
   local known, call = area_in(lane, event.area), make(event, kind, self.losses)
   call.period = known.entered and event.time - known.entered or nil
   if not find(lane, event.area) then
      local from = known.left or
         (self.options.edges == "include" and self.gaps == 0 and self.first) or nil
      call.outside = from and math.max(event.time - from, 0) or nil
   end
   known.entered = event.time
   lane.busy_since = #lane.open == 0 and self.number or lane.busy_since
   call.path = path_at(lane, #lane.open + 1, event.area)
   lane.open[#lane.open + 1] = call
   begin_slice(call, event.time)
end

-- Returns the time so far of the code that ran before the trace began, and begins a new sum.
local function take_before(lane, time)
   local before = lane.before
   local was_running = before.from ~= nil
   end_slice(before, time)
   lane.before = { since = before.since, spent = {}, calls = 0, from = was_running and time or nil }
   return before
end

local function leave_orphan(self, lane, event, kind)
   local net, gross, start = 0, 0, event.time
   local depth, caller = depth_at(lane, #lane.open + 1), caller_at(lane, #lane.open + 1)
   if #lane.open == 0 and kind ~= "line" then
      local before = take_before(lane, event.time)
      start, net = before.since, total(before.spent)
      gross = net + before.calls
      if kind == "function" then
         lane.before.calls = gross
      else
         lane.before = { from = event.time, since = event.time, spent = {}, calls = 0 }
      end
   end
   event.bits.orphan = true
   local known = area_in(lane, event.area)
   known.left = event.time
   emit(self, { area = event.area.name, lane = lane.value, start = start, stop = event.time,
      net = net, gross = gross, depth = depth, caller = caller, bits = event.bits, count = 0,
      path = path_at(lane, #lane.open + 1, event.area) })
end

-- A suspend or resume of a call whose enter was not seen.
local function appear(self, lane, event, kind)
   local only = #lane.open == 1 and lane.open[1].kind == "line"
   local is_resume = event.event == "resume"
   if kind ~= "function" and kind ~= "line" then
      return
   elseif not is_resume and #lane.open > 0 and not (only and kind == "function") then
      return
   end
   limit(self, lane, event.time)
   local call = make(event, kind, self.losses)
   call.flags.orphan, call.count = true, 0
   local is_first = #lane.open == 0
   if kind == "line" then
      end_sibling(self, lane, event.time, { unwound = true })
      is_first = #lane.open == 0
   elseif only or is_first then
      local before = take_before(lane, event.time)
      call.calls = before.calls
      if not is_resume then
         call.spent = before.spent
      end
      pause(lane.before, event.time)
   else
      for _, payer in ipairs(payers(lane, #lane.open + 1)) do
         pause(payer, event.time)
      end
      with_resumed(lane, pause, event.time)
   end
   if is_first or (only and kind == "function") then
      call.start = lane.before.since
   end
   if is_resume then
      begin_slice(call, event.time)
   end
   lane.busy_since = #lane.open == 0 and self.number or lane.busy_since
   call.path = path_at(lane, only and 1 or #lane.open + 1, event.area)
   table.insert(lane.open, (only and kind == "function") and 1 or #lane.open + 1, call)
end

local function write(self, lane, event, kind)
   if kind == "state" then
      if not find(lane, event.area) then
         enter(self, lane, event, kind, {})
      end
      return
   end
   local known = area_in(lane, event.area)
   emit(self, { area = event.area.name, lane = lane.value, start = event.time, stop = event.time,
      net = 0, gross = 0, call = 0, period = known.entered and event.time - known.entered or nil,
      depth = 1, bits = event.bits, count = 1 })
   known.entered = event.time
end

local act = { write = write }

act.enter = function(self, lane, event, kind)
   enter(self, lane, event, kind, kind == "state" and {} or { unwound = true })
end

act.leave = function(self, lane, event, kind)
   local i = find(lane, event.area)
   if not i then
      leave_orphan(self, lane, event, kind)
      return
   end
   while #lane.open > i do
      ended(self, lane, #lane.open, event.time, { unwound = true })
   end
   ended(self, lane, i, event.time, event.bits)
end

act.suspend = function(self, lane, event, kind)
   local i = find(lane, event.area)
   if not i then
      appear(self, lane, event, kind)
      return
   end
   local call = lane.open[i]
   if call == lane.resumed then
      with_resumed(lane, pause, event.time)
      lane.resumed = nil
   end
   end_slice(call, event.time)
   call.is_paused = nil
   for word in pairs(event.bits) do
      call.flags[word] = true
   end
end

-- Whether a function above position i is active.
local function is_covered(lane, i)
   for k = i + 1, #lane.open do
      if lane.open[k].kind == "function" and lane.open[k].from then
         return true
      end
   end
   return false
end

-- Time belongs to the innermost function that runs: one that is resumed waits for those above it,
-- and those below it wait for it.
local function run(lane, i, time)
   local call, inner = lane.open[i], innermost(lane)
   local at = call.kind == "function" and i or i - 1
   local waits = is_covered(lane, i)
   if call.kind ~= "function" then
      waits = at < inner and not (lane.open[at] or lane.before).from
   end
   if waits then
      call.is_paused = not call.from or nil
      return
   end
   for k = 1, at - 1 do
      pause(lane.open[k], time)
   end
   call.is_paused = nil
   begin_slice(call, time)
   lane.resumed = at < inner and lane.open[at] or nil
end

act.resume = function(self, lane, event, kind)
   local i = find(lane, event.area)
   if not i then
      appear(self, lane, event, kind)
      return
   end
   run(lane, i, event.time)
   for word in pairs(event.bits) do
      lane.open[i].flags[word] = true
   end
end

-- All lanes with open calls, the one that opened last first.
local function gap(self)
   local busy = {}
   for _, lane in ipairs(self.lanes) do
      if #lane.open > 0 then
         busy[#busy + 1] = lane
      end
   end
   table.sort(busy, function(a, b) return a.busy_since > b.busy_since end)
   for _, lane in ipairs(busy) do
      for i = #lane.open, 1, -1 do
         ended(self, lane, i, self.last, { gap = true })
      end
   end
   for _, lane in ipairs(self.lanes) do
      lane.is_fresh = true
      lane.areas = {}
   end
   self.gaps = self.gaps + 1
end

-- After a gap a time before the last one belongs to another run.
local function begin_anew(self)
   self.first, self.last = nil, nil
   for _, lane in ipairs(self.lanes) do
      lane.last = math.mininteger
   end
end

-- The lane of a place at a time that is not before its last one.
local function lane_at(self, place, event, time)
   local lane = self.lanes[place] or new_lane(self, place, event, time)
   lane.last = math.max(lane.last, time)
   if lane.is_fresh then
      lane.is_fresh = nil
      lane.before = { since = lane.last, from = lane.last, spent = {}, calls = 0 }
   end
   return lane
end

-- A state that is entered or written is a write to its variable.
local function write_variable(self, event, time)
   local parent = event.area.parent
   if (event.event ~= "enter" and event.event ~= "write") or kind_of(event.area) ~= "state"
      or type(parent) ~= "table" or kind_of(parent) ~= "value" then
      return
   end
   local written = { area = parent, lane = event.lane, bits = {} }
   local lane = lane_at(self, place_of(written), written, time)
   written.time = lane.last
   write(self, lane, written, "value")
end

function Model:take(event)
   local bits = {}
   for word in (event.flags or ""):gmatch "%a+" do
      bits[word] = true
   end
   if bits.gap and self.first then
      local falls = event.time < self.last
      gap(self)
      if falls then
         begin_anew(self)
      end
   end
   self.losses = self.losses + (bits.lost and 1 or 0)
   bits.gap, bits.lost = nil, nil
   self.first = self.first or event.time
   self.last = math.max(self.last or event.time, event.time)
   local place, named = place_of(event), "lane " .. tostring(event.lane)
   if not self.named[named] then
      self.named[#self.named + 1], self.named[named] = named, true
   end
   local lane = lane_at(self, place, event, event.time)
   self.number = self.number + 1
   act[event.event](self, lane, { time = lane.last, event = event.event, area = event.area,
      bits = bits }, kind_of(event.area))
   write_variable(self, event, lane.last)
end

local function tails(self)
   local list = {}
   for _, lane in ipairs(self.lanes) do
      for _, known in pairs(lane.areas) do
         if known.left and not list[known] and not find(lane, known.area) then
            list[known] = true
            list[#list + 1] = { area = known.area.name, lane = lane.value, start = known.left,
               stop = self.last, outside = self.last - known.left, depth = 1, count = 0,
               is_tail = true }
         end
      end
   end
   return list
end

-- The lanes of code in the order in which any event named them, then those of variables.
local function in_order(self)
   local list = {}
   for _, place in ipairs(self.named) do
      list[#list + 1] = self.lanes[place]
   end
   for _, lane in ipairs(self.lanes) do
      list[#list + 1] = not lane.is_code and lane or nil
   end
   return list
end

---Returns the calls of a list of events.
---@param list table[]
---@param options table recursion, partial, edges, max_depth
---@return table[] calls in order of stop
---@return table[] rows of the time outside that remains, with edges = "include"; unordered
---@return table<table, integer> gaps before the end of each call
function slow.calls(list, options)
   local model = setmetatable({ options = options, rows = {}, lanes = {}, named = {}, losses = 0,
      gaps = 0, gaps_before = {}, number = 0 }, Model)
   for _, event in ipairs(list) do
      model:take(event)
   end
   local rest = options.edges == "include" and tails(model) or {}
   for _, lane in ipairs(in_order(model)) do
      for i = #lane.open, 1, -1 do
         ended(model, lane, i, model.last, { open = true })
      end
   end
   return model.rows, rest, model.gaps_before
end

---Returns the expected path of a call of the kernel.
---@param trace profio.Trace
---@param stack integer|nil
---@return string|nil
function slow.path_of(trace, stack)
   local names = {}
   for _, frame in ipairs(stack and trace:stack(stack) or {}) do
      table.insert(names, 1, frame.area)
   end
   return stack and table.concat(names, ";")
end

return slow
