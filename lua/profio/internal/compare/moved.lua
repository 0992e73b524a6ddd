-- Recognises cost that moved from one function to another: inlined into the caller, renamed, or
-- charged to the caller instead of the callee.
--
-- The rule: one function lost cost (gone or faster) and another one gained (new or slower), and
-- either one calls the other, or one is gone, the other is new, and both have the same caller. If
-- the sum over them is not known to have changed, by the same test as for each function, and its
-- change is at most half of what moved, the cost moved. Beside a function that is gone or new, the
-- verdict of the other one may be unknown, if its change is not small beside that of the first.
--
-- Functions with another name or module are looked for first: one is gone and the other new, with
-- the same last part of the name or, tried after those, with nearly the same cost. Of the others,
-- functions that are connected are summed together first, then in pairs, those with the smallest
-- change of the sum first.

local moved = {}

-- The largest change of the sum, as a part of the cost that moved; with exact weights, in which
-- only the cost of the calls themselves may differ.
local MOST, MOST_EXACT = 0.5, 0.1

local CLOSE = 0.1   -- largest change of a function that has another last part, of its cost
-- Of a caller with more than MANY new callees, only the nearest ones in cost on each side of a gone
-- one are looked at, beside those with its name.
local MANY, NEAREST = 64, 2

local BESIDE = 0.1  -- smallest change of an unknown function, as a part of that of the gone or new

local proven = { gone = true, faster = true, new = true, slower = true }
local structural = { gone = true, new = true }

-- {====== Pairs ======

-- Returns the last part of the name of a function, without modules, classes and parameters.
local function last_part(row)
   return row.name:gsub("[(<].*", ""):match "[^.:/]*$"
end

-- Returns whether a row that is gone or new may belong to one whose verdict is unknown.
local function is_beside(a, b)
   return structural[a.verdict] and b.verdict == "unknown"
      and math.abs(b.change) >= BESIDE * math.abs(a.change)
end

local function may_belong(a, b)
   return proven[a.verdict] and proven[b.verdict] or is_beside(a, b) or is_beside(b, a)
end

-- Returns the sets of callees by the name of a caller.
local function callees_of(callers)
   local callees = {}
   for callee, list in pairs(callers) do
      for caller in pairs(list) do
         callees[caller] = callees[caller] or {}
         callees[caller][callee] = true
      end
   end
   return callees
end

-- The new callees of a caller: their places among the gaining rows, by rising cost, and by the last
-- part of their names.
local function new_callees(names, gaining, places_of)
   local found = { by_cost = {}, by_part = {} }
   for name in pairs(names or {}) do
      for _, place in ipairs(places_of[name] or {}) do
         if gaining[place].verdict == "new" then
            local part = last_part(gaining[place])
            found.by_cost[#found.by_cost + 1] = place
            found.by_part[part] = found.by_part[part] or {}
            table.insert(found.by_part[part], place)
         end
      end
   end
   table.sort(found.by_cost, function(a, b)
      local x, y = gaining[a].change, gaining[b].change
      return x < y or x == y and a < b
   end)
   return found
end

-- Calls a function with the places of the new callees to which the cost of a row that is gone may
-- have moved: all of a caller with few, else those with its name and the nearest ones in cost.
local function each_new_callee(found, row, gaining, f)
   local list, first, last = found.by_cost, 1, #found.by_cost
   if #list > MANY then
      local low, high = 1, #list + 1 -- the first one whose cost is not smaller
      while low < high do
         local middle = (low + high) // 2
         if gaining[list[middle]].change < -row.change then
            low = middle + 1
         else
            high = middle
         end
      end
      first, last = math.max(low - NEAREST, 1), math.min(low + NEAREST - 1, #list)
      for _, place in ipairs(found.by_part[last_part(row)] or {}) do
         f(place)
      end
   end
   for i = first, last do
      f(list[i])
   end
end

-- Returns rows by the sign of their change, and the places of the gaining ones by name.
local function sides_of(rows)
   local losing, gaining, places_of = {}, {}, {}
   for _, row in ipairs(rows) do
      local is_one = proven[row.verdict] or row.verdict == "unknown"
      if is_one and row.change < 0 then
         losing[#losing + 1] = row
      elseif is_one and row.change > 0 then
         gaining[#gaining + 1] = row
         places_of[row.name] = places_of[row.name] or {}
         table.insert(places_of[row.name], #gaining)
      end
   end
   return losing, gaining, places_of
end

-- Returns all pairs { from, to } of related rows, in the order of the rows: one calls the other, or
-- a caller of the gone one calls the new one.
local function pairs_of(rows, callers)
   local losing, gaining, places_of = sides_of(rows)
   local callees, new_of, list = callees_of(callers), {}, {}
   for _, from in ipairs(losing) do
      local is_found, places = {}, {}
      local function add(place)
         if not is_found[place] and may_belong(from, gaining[place]) then
            is_found[place] = true
            places[#places + 1] = place
         end
      end
      for _, names in ipairs { callers[from.name] or {}, callees[from.name] or {} } do
         for name in pairs(names) do
            for _, place in ipairs(places_of[name] or {}) do
               add(place)
            end
         end
      end
      for caller in pairs(from.verdict == "gone" and callers[from.name] or {}) do
         new_of[caller] = new_of[caller] or new_callees(callees[caller], gaining, places_of)
         each_new_callee(new_of[caller], from, gaining, add)
      end
      table.sort(places)
      for _, place in ipairs(places) do
         list[#list + 1] = { from, gaining[place] }
      end
   end
   return list
end

-- Returns the groups of rows that pairs connect, each with its rows in the order of the pairs.
local function connected(list)
   local parent, groups, group_of, has = {}, {}, {}, {}
   local function root_of(row)
      while parent[row] do
         local above = parent[row]
         parent[row] = parent[above] or above
         row = above
      end
      return row
   end
   for _, pair in ipairs(list) do
      local a, b = root_of(pair[1]), root_of(pair[2])
      parent[b] = a ~= b and a or nil
   end
   for _, pair in ipairs(list) do
      local root = root_of(pair[1])
      if not group_of[root] then
         group_of[root] = {}
         groups[#groups + 1] = group_of[root]
      end
      for _, row in ipairs(pair) do
         if not has[row] then
            has[row] = true
            table.insert(group_of[root], row)
         end
      end
   end
   return groups
end

-- }======

-- {====== Sums ======

-- Returns the sum of the weights of rows in each run, as an item for the test.
local function summed(group, key, column)
   local item = { key = key, base = {}, new = {} }
   for _, row in ipairs(group) do
      for _, side in ipairs { "base", "new" } do
         for i, weight in ipairs(row.item[column][side]) do
            item[side][i] = (item[side][i] or 0) + weight
         end
      end
   end
   return item
end

-- Returns whether the sum of a group is unchanged.
local function is_kept(group, sum, is_exact)
   local lost, gained = 0, 0
   for _, row in ipairs(group) do
      lost, gained = lost + math.max(-row.change, 0), gained + math.max(row.change, 0)
   end
   local most = (is_exact and MOST_EXACT or MOST) * math.min(lost, gained)
   return (is_exact or not proven[sum.verdict])
      and math.abs(sum.change) <= most
end

-- Marks the rows of a group as moved, with the names of the functions on the other side.
-- `pairs_from`: the pairs by their losing row.
local function mark(group, pairs_from)
   for _, from in ipairs(group.rows) do
      for _, pair in ipairs(pairs_from[from] or {}) do
         local to = pair[2]
         if group.has[to] then
            from.to, to.from = from.to or {}, to.from or {}
            table.insert(from.to, to.name)
            table.insert(to.from, from.name)
         end
      end
   end
   for _, row in ipairs(group.rows) do
      row.was, row.verdict = row.verdict, "moved"
   end
end

-- }======

-- Returns the pairs of which one function may be the other one with another name or module.
local function renamings(list)
   local found = {}
   for _, pair in ipairs(list) do
      local from, to = pair[1], pair[2]
      local is_named = last_part(from) == last_part(to)
      if from.verdict == "gone" and to.verdict == "new" and (is_named
         or math.abs(from.change + to.change) <= CLOSE * math.min(-from.change, to.change)) then
         found[#found + 1] = { rows = pair, rank = is_named and 1 or 2 }
      end
   end
   return found
end

-- Returns groups of all connected rows, then each pair.
local function groups_of(list)
   local groups = {}
   for i, rows in ipairs(connected(list)) do
      groups[i] = { rows = rows, rank = 1 }
   end
   for _, pair in ipairs(list) do
      groups[#groups + 1] = { rows = pair, rank = 2 }
   end
   return groups
end

-- Returns whether a group is tried before another one.
local function is_before(a, b)
   local x, y = math.abs(a.sum.change), math.abs(b.sum.change)
   if a.rank ~= b.rank then
      return a.rank < b.rank
   elseif x ~= y then
      return x < y
   end
   return a.number < b.number
end

local function is_free(rows)
   for _, row in ipairs(rows) do
      if row.verdict == "moved" then
         return false
      end
   end
   return true
end

-- Tests the sums of groups, and marks those whose sum is unchanged, unless one of their rows is in
-- an earlier group.
local function mark_kept(groups, list, column, is_exact, test)
   local items, number_of = {}, {}
   for number, group in ipairs(groups) do
      group.number, group.has = number, {}
      for _, row in ipairs(group.rows) do
         group.has[row] = true
      end
      items[number] = summed(group.rows, "\0" .. number, column)
      number_of[items[number].key] = number
   end
   for _, sum in ipairs(#items > 0 and test(items) or {}) do
      local group = groups[number_of[sum.key]]
      if group then
         group.sum = sum
      end
   end
   table.sort(groups, is_before)
   local pairs_from = {}
   for _, pair in ipairs(list) do
      local from = pair[1]
      pairs_from[from] = pairs_from[from] or {}
      table.insert(pairs_from[from], pair)
   end
   for _, group in ipairs(groups) do
      if is_free(group.rows) and is_kept(group.rows, group.sum, is_exact) then
         mark(group, pairs_from)
      end
   end
end

---Sets the verdict of rows whose cost moved to "moved", their former verdict as `was`, and lists of
---the names of the functions as `to` or `from`.
---@param rows table[] of a comparison, with their items
---@param callers table<string, table<string, boolean>> by the name of a function
---@param column "self"|"total"
---@param is_exact boolean
---@param test fun(items: table[]): table[] the same test as for the rows: returns a row for each
---item, and perhaps others after these
function moved.mark(rows, callers, column, is_exact, test)
   local list, left = pairs_of(rows, callers), {}
   mark_kept(renamings(list), list, column, is_exact, test)
   for _, pair in ipairs(list) do
      left[#left + 1] = is_free(pair) and pair or nil
   end
   mark_kept(groups_of(left), left, column, is_exact, test)
end

return moved
