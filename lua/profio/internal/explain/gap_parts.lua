-- Splits the gap between slow and typical calls into parts that sum to it exactly. Called by
-- call_groups.lua.
--
-- A tree of sums (csrc/kernels/explain/explain.h) has for each node the number of its calls, their
-- net time, and their elapsed time (the sum of stop - start). The elapsed time of a node is its net
-- time, the times in which it was suspended while a known lane ran, the other time in which it was
-- suspended (what is left of it), and the elapsed times of its callees. For each node the split
-- starts with `base`: the time that as many calls take typically. Each of these times is compared
-- with its share of the base. The share of a callee is then replaced by the time that its actual
-- number of calls takes typically: this step is the part `more`, and what remains is split further
-- down. A callee that typical calls do not have is `more` with all of its time except the time in
-- which it, or a call below it, was suspended. Shares are rounded to whole ns as differences of
-- rounded sums, so that they sum to the base; nothing else is divided.
--
-- Example: a typical call takes 100 ns, 60 of its own and one call of f of 40. A slow one takes
-- 150, 65 of its own and two calls of f, 85 together. The base is 100, the gap 50: own +5; more
-- calls of f +40 (two take 80 typically, and their share of the base is 40); longer calls of f +5.

local gap_parts = {}

---Returns a * b / c, rounded down, for 0 <= a, 0 <= b and 0 < c, without overflow in between. The
---result must be below 2^63.
---@param a integer
---@param b integer
---@param c integer
---@return integer
function gap_parts.scaled(a, b, c)
   if b == 0 or a <= math.maxinteger // b then
      return a * b // c
   end
   local quotient, rest = 0, 0
   local whole, left = a // c, a % c
   for bit = 62, 0, -1 do
      quotient, rest = 2 * quotient, 2 * rest -- below 2 * c, so below 2^64
      if not math.ult(rest, c) then
         quotient, rest = quotient + 1, rest - c
      end
      if b >> bit & 1 == 1 then
         quotient, rest = quotient + whole, rest + left
         if not math.ult(rest, c) then
            quotient, rest = quotient + 1, rest - c
         end
      end
   end
   return quotient
end

local scaled = gap_parts.scaled

-- Returns base * upto / all, rounded towards 0; upto may be negative. 0 if all is 0.
local function share(base, upto, all)
   if all == 0 then
      return 0
   end
   return upto < 0 and -scaled(base, -upto, all) or scaled(base, upto, all)
end

local none = { count = 0, net = 0, elapsed = 0, children = {}, waits = {} }

-- Returns the time in which the calls of a node were suspended and no lane is known to have run, or
-- less than 0 if some of them were resumed while a callee ran.
local function suspended(tree, sum)
   local time = sum.elapsed - sum.net
   for _, below in ipairs { sum.children, sum.waits } do
      for _, child in ipairs(below) do
         time = time - tree[child].elapsed
      end
   end
   return time
end

-- Returns the nodes in either list, in the order of their ids.
local function nodes_of(slow, typical)
   local list, known = {}, {}
   for _, children in ipairs { slow, typical } do
      for _, child in ipairs(children) do
         if not known[child] then
            known[child] = true
            list[#list + 1] = child
         end
      end
   end
   table.sort(list)
   return list
end

-- Puts the suspended times of a callee that typical calls do not have, and of all calls below it.
-- Returns their sum.
local function put_suspended_below(slow, callee, put)
   local sum, nodes = 0, { slow[callee] and callee }
   while #nodes > 0 do
      local node = table.remove(nodes)
      local row = slow[node]
      local function put_time(at, time)
         put("suspended", at, time, time, 0)
         sum = sum + time
      end
      put_time(node, suspended(slow, row))
      for _, wait in ipairs(row.waits) do
         put_time(wait, slow[wait].elapsed)
      end
      table.move(row.children, 1, #row.children, #nodes + 1, nodes)
   end
   return sum
end

-- Splits a callee; `base` is its share of the base of its caller. Puts the part of its number of
-- calls, and the callee with the rest on the list of nodes that are still to be split.
local function split_callee(slow, typical, node, base, put, to_split)
   local s, t = slow[node] or none, typical[node] or none
   local expected
   if t.count > 0 then
      expected = scaled(s.count, t.elapsed, t.count)
   else
      expected = s.elapsed - put_suspended_below(slow, node, put)
   end
   put("more", node, expected - base)
   if s.count > 0 and t.count > 0 then
      to_split[#to_split + 1] = { node = node, base = expected }
   end
end

---Splits the elapsed time of node 0 of the tree `slow`, minus `base`. The times given to `put` sum
---to that difference.
---@param slow table<integer, table> sums by node: count, net, elapsed, and the lists of nodes
---children (callees) and waits (lanes that ran meanwhile, which have only elapsed)
---@param typical table<integer, table> the same, with a node 0
---@param base integer the time that the slow calls take typically, in ns
---@param put fun(kind: "own"|"suspended"|"more", node: integer, time: integer, slow: integer|nil,
---typical: integer|nil)  "own": slow is the net time, typical its share of the base; "suspended":
---both are the times for which the calls were suspended, of a node in waits while this lane ran, of
---the suspended node itself while no lane is known to have run; "more": neither is given
function gap_parts.split(slow, typical, base, put)
   local to_split = { { node = 0, base = base } }
   while #to_split > 0 do
      local at = table.remove(to_split)
      local s, t = slow[at.node], typical[at.node]
      local upto, shared = 0, 0
      -- Returns the share of the next `time` ns of the typical calls.
      local function next_share(time)
         local before = shared
         upto = upto + time
         shared = share(at.base, upto, t.elapsed)
         return shared - before
      end
      local own = t.elapsed == 0 and at.base or next_share(t.net) -- 0: nothing to take shares of
      local function put_suspended(node, now, before)
         put("suspended", node, now - next_share(before), now, before)
      end
      put("own", at.node, s.net - own, s.net, own)
      put_suspended(at.node, suspended(slow, s), suspended(typical, t))
      for _, wait in ipairs(nodes_of(s.waits, t.waits)) do
         put_suspended(wait, (slow[wait] or none).elapsed, (typical[wait] or none).elapsed)
      end
      for _, child in ipairs(nodes_of(s.children, t.children)) do
         split_callee(slow, typical, child, next_share((typical[child] or none).elapsed), put,
            to_split)
      end
   end
end

return gap_parts
