-- A slow model of csrc/kernels/explain/explain.h: groups of the calls of a function and the sums of
-- what lies within them, from the calls of spec/support/slow_calls.lua. It shares no code with the
-- kernel, which is compared with it.

local slow_calls = require "spec.support.slow_calls"

local groups = {}

local partial = { "cut", "gap", "open", "orphan", "unwound" }

local function is_whole(call)
   for _, word in ipairs(partial) do
      if (call.flags or ""):find(word) then
         return false
      end
   end
   return true
end

-- Returns the path from the first function of the name on, or nil.
local function path_below(path, name)
   local at = (";" .. (path or "") .. ";"):find(";" .. name .. ";", 1, true)
   return at and path:sub(at) or nil
end

-- Returns the calls of the function that lie in no other one, with the sums of what they contain by
-- path, and how many more were not recorded as a whole. gaps: for each call, the number of gaps
-- before its end.
local function instances(list, gaps, name)
   local open, found, lost, before, seen = {}, {}, 0, {}, 0
   for _, call in ipairs(list) do
      if gaps[call] > seen then
         before, seen = {}, gaps[call]
      end
      local lane = tostring(call.lane)
      local path = path_below(call.path, name)
      if path then
         open[lane] = open[lane] or {}
         local sum = open[lane][path] or { count = 0, net = 0, elapsed = 0 }
         open[lane][path] = sum
         sum.count, sum.net = sum.count + 1, sum.net + call.net
         sum.elapsed = sum.elapsed + call.stop - call.start
      end
      if path == name then
         local made = { sums = open[lane], start = call.start, lane = lane, net = call.net,
            time = call.stop - call.start, at = #found + 1, before = before[lane] or "-" }
         if is_whole(call) then
            found[#found + 1] = made
         else
            lost = lost + 1
         end
      end
      if call.path and (not path or path == name) then
         before[lane], open[lane] = call.area, nil
      end
   end
   return found, lost
end

-- Drops all but the 12 highest bits of a time.
local function rounded(time)
   local unit = 1
   while time // unit >= 4096 do
      unit = unit * 2
   end
   return time // unit * unit
end

local function by_rank(found)
   local list = table.move(found, 1, #found, 1, {})
   table.sort(list, function(a, b)
      local x, y = rounded(a.time), rounded(b.time)
      if x ~= y then
         return x < y
      end
      return a.at < b.at
   end)
   return list
end

-- Returns whether a call is the first of its lane, and all others there are shorter.
local function is_first(call, found)
   local others = 0
   for _, other in ipairs(found) do
      if other ~= call and other.lane == call.lane then
         others = others + 1
         if other.at < call.at or other.time >= call.time then
            return false
         end
      end
   end
   return others > 0
end

local function add(made, group, call)
   made[group] = made[group] or { sums = {}, before = {} }
   for path, sum in pairs(call.sums) do
      local to = made[group].sums[path] or { count = 0, net = 0, elapsed = 0 }
      made[group].sums[path] = to
      for key, value in pairs(sum) do
         to[key] = to[key] + value
      end
   end
   local before = made[group].before
   before[call.before] = before[call.before] or { count = 0, net = 0 }
   before[call.before].count = before[call.before].count + 1
   before[call.before].net = before[call.before].net + call.net
end

---Returns the calls of each group: typical, slow, first, median, worst.
---@param found table[] all calls in order of stop: { time =, lane =, at = index }
---@param percent integer the quantile
---@return table<string, table[]>
function groups.chosen(found, percent)
   local ranked, all = by_rank(found), #found
   local n = all - (percent * all + 99) // 100
   n = math.max(1, math.min(math.max(n, 5), all // 3))
   local made = { typical = {}, slow = {}, first = {}, worst = { found[1] },
      median = { ranked[(all - 1) // 2 + 1] } }
   for i = 1, n do
      table.insert(made.typical, ranked[(all - n) // 2 + i])
      local call = ranked[all - n + i]
      table.insert(is_first(call, found) and made.first or made.slow, call)
   end
   for _, call in ipairs(found) do
      made.worst[1] = call.time > made.worst[1].time and call or made.worst[1]
   end
   return made
end

---Returns the groups of a list of events by name: { sums = by path, before = by function }.
---@param list table[] events
---@param name string
---@param percent integer the quantile
---@return table groups
---@return integer all
---@return integer partial
function groups.of(list, name, percent)
   local calls, _, gaps = slow_calls.calls(list, { max_depth = 65536 })
   local found, lost = instances(calls, gaps, name)
   local made = {}
   for group, chosen in pairs(#found > 0 and groups.chosen(found, percent) or {}) do
      for _, call in ipairs(chosen) do
         add(made, group, call)
      end
   end
   return made, #found, lost
end

return groups
