-- Explains why the slow calls of a function are slow: reads the groups of calls that
-- csrc/kernels/explain/explain.h describes, and lists the parts of the gap between them.

local call_details = require "profio.internal.calls.call_details"
local calls_view = require "profio.internal.calls"
local core = require "profio.core"
local critical_path = require "profio.internal.explain.critical_path"
local gap_parts = require "profio.internal.explain.gap_parts"
local options = require "profio.internal.options"
local os_states = require "profio.internal.calls.os_states"
local part_sentences = require "profio.internal.explain.part_sentences"
local suggestions = require "profio.internal.suggestions"
local doubts = require "profio.internal.calls.doubts"

local call_groups = {}

---Options of trace:explain.
---@type profio.Option[]
call_groups.options = {
   { name = "quantile", type = "text", default = "p99",
      help = "calls that last longer than this quantile are slow: p0 to p100; at least 5 calls, "
         .. "at most a third" },
   { name = "lane", type = "where", help = "only the calls of these lanes: a value, a list or a "
      .. "condition" },
}

for _, option in ipairs(calls_view.options) do
   if option.name == "from" or option.name == "to" or option.name == "max_depth" then
      table.insert(call_groups.options, option)
   end
end

local LEAST_SHARE = 200 -- parts below 1/200 of the gap are added up
local LONGEST_PATH = 8 -- frames

-- {====== Groups ======

-- Adds a node to its group. Rows come in the order of nodes, callers first.
local function add_node(group, row)
   local above = row.parent and group[row.parent]
   group[row.node] = row
   row.children, row.waits, row.is_wait = {}, {}, row.net == nil
   if above then
      table.insert(row.is_wait and above.waits or above.children, row.node)
   end
end

-- Returns the sums by group: { nodes by id, before = list }. Group path is a list of steps.
local function read(reader)
   local groups = { path = {} }
   for _, row in ipairs(core.rows(reader)) do
      local group = groups[row.group] or { before = {} }
      groups[row.group] = group
      if row.node then
         add_node(group, row)
      elseif row.group == "path" then
         group[#group + 1] = row
      elseif row.net then
         table.insert(group.before, row)
      else
         group.count = row.count
      end
   end
   return groups
end

-- Returns the functions on the way from the area to a node, or to the one that waits.
local function path_of(group, node, area)
   local names, row = {}, group[node]
   row = row.is_wait and group[row.parent] or row
   while row.parent do
      if #names == LONGEST_PATH then
         return "... > " .. table.concat(names, " > ")
      end
      table.insert(names, 1, row.area or "?")
      row = group[row.parent]
   end
   table.insert(names, 1, area)
   return table.concat(names, " > ")
end

-- }======

-- {====== Parts ======

-- A list of parts in which those of one kind and function are one.
local Parts = {}
Parts.__index = Parts

local function new_parts(area, slow, typical)
   return setmetatable({ area = area, slow = slow, typical = typical, by_key = {} }, Parts)
end

local function add_sums(part, prefix, row)
   for _, name in ipairs { "count", "net", "elapsed" } do
      part[prefix .. name] = part[prefix .. name] + (row and row[name] or 0)
   end
end

-- Returns the part of a kind and function; that of a lane which ran, or that of a caller which
-- typical calls do not call the function from, is another one.
function Parts:find(kind, area, runner, caller)
   local key = ("%s\0%s\0%s\0%s"):format(kind, area, runner or "", caller or "")
   local part = self.by_key[key]
   if not part then
      part = { kind = kind, area = area, runner = runner, caller = caller, time = 0, most = -1,
         count = 0, net = 0, elapsed = 0, typical_count = 0, typical_net = 0,
         typical_elapsed = 0 }
      self.by_key[key] = part
      self[#self + 1] = part
   end
   return part
end

-- Adds a part of the split at a node: see gap_parts.split.
function Parts:put(kind, node, time, slow, typical)
   local row = self.slow[node] or self.typical[node]
   kind = kind == "own" and node ~= 0 and "longer" or kind
   local area = kind ~= "suspended" and node ~= 0 and (row.area or "?") or self.area
   local caller = kind == "more" and not self.typical[node]
      and (self.slow[row.parent].area or self.area) or nil
   local part = self:find(kind, area, row.is_wait and tostring(row.runner or "?") or nil, caller)
   part.time = part.time + time
   if kind ~= "suspended" or row.is_wait then
      add_sums(part, "", self.slow[node])
      add_sums(part, "typical_", self.typical[node])
   else
      part.elapsed, part.typical_elapsed = part.elapsed + slow, part.typical_elapsed + typical
   end
   if math.abs(time) > part.most then
      part.most, part.runner_area = math.abs(time), row.is_wait and row.area or nil
      part.path = path_of(self.slow[node] and self.slow or self.typical, node, self.area)
      local example = self.slow[node] or self.slow[0]
      part.start, part.lane = example.start, example.lane
   end
end

-- Returns the sum of the calls that came right after a call of one function, and that of the
-- typical ones, if more than half of the slow calls did and at least twice as many as typical ones.
local function before_of(slow, typical)
   for _, row in ipairs(slow.before) do
      if row.area and row.count >= 3 and 2 * row.count > slow[0].count then -- at most one is
         local usual = { count = 0 }
         for _, other in ipairs(typical.before) do
            usual = other.area == row.area and other or usual
         end
         local is_rarer = row.count / slow[0].count >= 2 * usual.count / typical[0].count
         return is_rarer and row or nil, usual
      end
   end
end

-- Moves the longer own time of calls that came after one function into a part of its own.
local function split_before(parts, own, base)
   local row, usual = before_of(parts.slow, parts.typical)
   local part = own and row and { kind = "before", area = row.area, path = parts.area,
      time = row.net - gap_parts.scaled(base, row.count, parts.slow[0].count),
      count = row.count, net = row.net, typical_count = usual.count,
      typical_net = usual.net or 0, start = own.start, lane = own.lane }
   if part and part.time > 0 then
      own.time = own.time - part.time
      table.insert(parts, part)
   end
end

-- Returns the parts of the calls in `slow`, whose typical time is `base`.
local function parts_of(area, slow, typical, base)
   local parts = new_parts(area, slow, typical)
   local own_base
   gap_parts.split(slow, typical, base, function(kind, node, time, now, usual)
      own_base = own_base or usual
      parts:put(kind, node, time, now, usual)
   end)
   split_before(parts, parts:find("own", area), own_base)
   return parts
end

-- Returns the parts in the order of their times, those below LEAST_SHARE as one. Parts of equal
-- time keep their order.
local function ranked(parts, gap)
   local list, rest = {}, { kind = "rest", time = 0, count = 0 }
   for i, part in ipairs(parts) do
      part.at, part.most = i, nil
      if part.time == 0 then
         goto continue
      elseif math.abs(part.time) < gap // LEAST_SHARE then
         rest.time, rest.count = rest.time + part.time, rest.count + 1
      else
         list[#list + 1] = part
      end
      ::continue::
   end
   table.sort(list, function(a, b)
      if a.time ~= b.time then
         return a.time > b.time
      end
      return a.at < b.at
   end)
   for _, part in ipairs(list) do
      part.at = nil
   end
   if rest.count > 0 then
      list[#list + 1] = rest
   end
   return list
end

-- Returns the part of calls that are the first of their lane; `of` are the parts of its time.
local function first_part(area, first, typical, base)
   local time = first[0].elapsed - base
   return { kind = "first", area = area, path = area, time = time, count = first[0].count,
      net = first[0].net, elapsed = first[0].elapsed, start = first[0].start,
      lane = first[0].lane, of = ranked(parts_of(area, first, typical, base), time) }
end

-- Adds the parts of the gap to an explanation.
local function explain_gap(made, groups)
   local typical, slow, first = groups.typical, groups.slow, groups.first
   local parts, base, gap = {}, typical[0].elapsed, 0
   if first then
      local usual = gap_parts.scaled(base, first[0].count, typical[0].count)
      parts[1] = first_part(made.area, first, typical, usual)
      base, gap = base - usual, parts[1].time
   end
   if slow then
      local others = parts_of(made.area, slow, typical, base)
      table.move(others, 1, #others, #parts + 1, parts)
      gap = gap + slow[0].elapsed - base
   end
   made.gap, made.parts = gap, ranked(parts, gap)
   for _, part in ipairs(made.parts) do
      part.share = gap ~= 0 and part.time / gap or 0.0
   end
end

-- }======

-- {====== Trees ======

-- Returns the nodes below a node: callees, and the lanes that ran while it was suspended.
local function callees_of(node, worst, median)
   local list = {}
   for _, group in ipairs { worst, median } do
      for _, key in ipairs { "waits", "children" } do
         for _, child in ipairs(group[node] and group[node][key] or {}) do
            list[#list + 1] = (group == worst or not worst[child]) and child or nil
         end
      end
   end
   return list
end

-- Returns the nodes of the worst and of the median call, callers first, the longest callees of the
-- worst call first.
local function trees(made, worst, median)
   local list, open = {}, { { node = 0, depth = 1 } }
   while #open > 0 do
      local at = table.remove(open)
      local w, m = worst[at.node], median[at.node]
      local children = callees_of(at.node, worst, median)
      table.sort(children, function(a, b) -- the last one comes next
         local x, y = (worst[a] or {}).elapsed or -1, (worst[b] or {}).elapsed or -1
         if x ~= y then
            return x < y
         end
         return a > b
      end)
      list[#list + 1] = { depth = at.depth, runner = (w or m).runner,
         area = at.node == 0 and made.area or (w or m).area,
         worst_count = w and w.count or 0, worst_elapsed = w and w.elapsed or 0,
         worst_net = w and w.net or 0, median_count = m and m.count or 0,
         median_elapsed = m and m.elapsed or 0, median_net = m and m.net or 0 }
      for _, child in ipairs(children) do
         open[#open + 1] = { node = child, depth = at.depth + 1 }
      end
   end
   return list
end

-- }======

local MOST_LANES = 5 -- that a message names

-- Returns the message for a function without calls in the lanes of the option `lane`.
local function elsewhere(trace, state, area, given)
   local names = {}
   for name, lane in calls_view.statistics(trace, state, { quantiles = "", from = given.from,
      to = given.to, by = "context" }):with_area():each("area", "context")
   do
      names[#names + 1] = name == area and lane ~= nil and tostring(lane) or nil
   end
   local more = #names > MOST_LANES and (" and %d more"):format(#names - MOST_LANES) or ""
   return ("no calls of '%s' in the selected lanes; it has calls in %s%s"):format(area,
      #names == 0 and "no named lane" or table.concat(names, ", ", 1, math.min(#names, MOST_LANES)),
      more)
end

-- Returns why there is nothing to explain: the message.
local function reason(trace, state, made, given)
   if made.calls == 1 then
      return ("'%s' has one call that was recorded from enter to leave: there is nothing to "
         .. "compare it with"):format(made.area)
   elseif made.partial > 0 then
      return ("no call of '%s' was recorded from enter to leave, only parts of %d"):format(
         made.area, made.partial)
   end
   local names, known = {}, {}
   for name, class in calls_view.statistics(trace, state, { quantiles = "", from = given.from,
      to = given.to }):with_area():each("area", "class")
   do
      if name == made.area and given.lane ~= nil then
         return elsewhere(trace, state, name, given)
      elseif name == made.area then
         return ("'%s' is no function but a %s; calls of functions can be explained%s"):format(name,
            class or "value", class == "variable" and os_states.hint(state) or "")
      elseif name and not known[name] then
         known[name] = true
         names[#names + 1] = name
      end
   end
   return ("no calls of '%s'%s"):format(made.area, #names == 0 and ": there are no calls at all"
      or suggestions.known(made.area, names))
end

local function checked(given)
   local mine = options.check(call_groups.options, given or {}, "explain")
   local quantile = mine.quantile or "p99"
   if not core.nearest_rank(quantile, 0) then
      error(("option 'quantile' must be p0 to p100, got '%s'"):format(quantile), 0)
   end
   return mine, quantile
end

-- Returns the lanes that satisfy the condition of the option `lane`.
local function lanes_of(trace, wanted)
   local list = {}
   for lane in trace:table("events"):where { lane = wanted }:group("lane")
      :aggregate { "count = count" }:each("lane")
   do
      list[#list + 1] = lane
   end
   return list
end

-- Returns the facts of a group.
local function facts(row)
   return { calls = row.count, elapsed = row.elapsed, start = row.start, lane = row.lane }
end

-- Adds the slowest and the median call.
local function add_calls(made, groups)
   made.worst, made.median = facts(groups.worst[0]), facts(groups.median[0])
   made.tree = trees(made, groups.worst, groups.median)
   made.path = critical_path.of(groups.path, made.worst.lane)
   if #made.path > 0 then
      made.path_sentence = critical_path.sentence(groups.path, made.worst.elapsed)
   end
end

---Explains the slow calls of a function. See trace:explain.
---@param trace profio.Trace
---@param state table of the trace
---@param area string
---@param given table|nil
---@return table|nil
---@return string|nil message
---@return string|nil code
function call_groups.of_trace(trace, state, area, given)
   local mine, quantile = checked(given)
   local events = calls_view.events(trace, state, mine)
   local groups = read(core.explain(events(), { area = area, quantile = quantile,
      lanes = mine.lane ~= nil and lanes_of(trace, mine.lane) or nil, from = mine.from,
      to = mine.to, max_depth = mine.max_depth,
      counts = doubts.counts(trace) }, events()))
   local made = { area = area, calls = groups.all.count, partial = groups.partial.count,
      quantile = tonumber(quantile:sub(2)) / 100 }
   if made.calls < 2 then
      return nil, reason(trace, state, made, mine), "unsupported"
   end
   local slow, first = groups.slow and groups.slow[0], groups.first and groups.first[0]
   local count = (slow and slow.count or 0) + (first and first.count or 0)
   if not groups.typical or groups.typical[0].count ~= count then
      return nil, "the events were not read to their end a second time: explain them again",
         "unsupported"
   end
   made.slow = { calls = count, elapsed = (slow and slow.elapsed or 0)
      + (first and first.elapsed or 0) }
   made.typical = { calls = count, elapsed = groups.typical[0].elapsed }
   explain_gap(made, groups)
   add_calls(made, groups)
   part_sentences.add(made)
   made.time_unit = state.format.time_unit
   made.by_line = call_details.groups(trace, state.format, area, "line", count, mine)
   made.by_params = call_details.groups(trace, state.format, area, "params", count, mine)
   return made
end

return call_groups
