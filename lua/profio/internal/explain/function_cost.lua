-- Explains the cost of a function in a profile: through which callers it comes, and into which
-- callees it goes. In the difference of two profiles, what changed.

local core = require "profio.core"
local distinguished = require "profio.internal.naming.distinguished"
local suggestions = require "profio.internal.suggestions"
local times = require "profio.internal.times"

local function_cost = {}

-- Returns the rows of arcs with the other functions, the largest change first: { area, file, time,
-- count }. An arc between functions of the name is none.
local function arcs_of(rows, other, func)
   local list, known = {}, {}
   for name, file, total, calls in rows:each(other, other .. "_file", "total", "calls") do
      if name and name ~= func then
         local key = name .. "\0" .. (file or "")
         local arc = known[key]
         if not arc then
            arc = { area = name, file = file, time = 0, count = 0, at = #list }
            known[key], list[#list + 1] = arc, arc
         end
         arc.time, arc.count = arc.time + (total or 0), arc.count + (calls or 0)
      end
   end
   table.sort(list, function(a, b)
      if math.abs(a.time) ~= math.abs(b.time) then
         return math.abs(a.time) > math.abs(b.time)
      end
      return a.at < b.at
   end)
   distinguished.by_file(list, "area")
   return list
end

-- Returns the sums of the rows of the functions of a name, or nil, the names of all, and whether
-- any of them has cost of callees. `files` of the sums: { file, total } of each of them.
local function sums_of(rows, func)
   local sum, names, has_callees = nil, {}, false
   for name, self, total, file in rows:each("function", "self", "total", "file") do
      has_callees = has_callees or self ~= total
      names[#names + 1] = name or nil
      if name == func then
         sum = sum or { self = 0, total = 0, files = {} }
         sum.files[#sum.files + 1] = { file = file, total = total or 0 }
         sum.self, sum.total = sum.self + (self or 0), sum.total + (total or 0)
      end
   end
   return sum, names, has_callees
end

-- Returns the parts in which the total is split, with the rest that has no arc.
local function parts_of(kind, arcs, total, rest_kind)
   local parts, rest = {}, total
   for _, arc in ipairs(arcs) do
      rest = rest - arc.time
      parts[#parts + 1] = { kind = kind, area = arc.area, time = arc.time, count = arc.count }
   end
   if rest ~= 0 then
      parts[#parts + 1] = { kind = rest_kind, time = rest }
   end
   return parts
end

local words = {
   self = "%s is self cost of %s",
   callee = "%s goes to calls of %s",
   caller = "%s comes through calls by %s",
   elsewhere = "%s goes to what no arc shows",
   uncalled = "%s comes through no known caller",
}

-- Returns the sentence of a part.
local function sentence(part, made, show)
   local area = part.kind == "self" and made.area or part.area
   local is_cycle = not made.is_change and part.time < 0 and not part.area
   local text = (is_cycle and "%s: these calls cost more, as they belong to a cycle of recursive "
      .. "calls" or words[part.kind]):format(show(part.time), area)
   local share = made.total ~= 0 and (" (%.1f%%)"):format(100 * part.share) or ""
   return ("%s%s%s."):format(text, part.count and part.count ~= 0 and (", %s%d call%s"):format(
      made.is_change and part.count > 0 and "+" or "", part.count,
      math.abs(part.count) == 1 and "" or "s") or "", share)
end

-- Returns a function that formats a cost in a unit, as of core.unit.
local function shower(unit, is_change)
   return function(cost)
      local text = unit == "ns" and times.show(cost, times.unit(math.tointeger(cost) or 0))
         or tostring(cost) .. (unit ~= "" and " " .. unit or "")
      return (is_change and cost > 0 and "+" or "") .. text
   end
end

-- Returns the view `flat` with functions without cost, which may have calls.
local function flat_of(profile, options)
   local given = { zeros = true }
   for name, value in pairs(options) do
      given[name] = value
   end
   return profile:flat(given)
end

-- Returns a sentence about the functions that a name stands for; an empty text if it is one.
local function several(func, files, show)
   if #files < 2 then
      return ""
   end
   local list = {}
   for i, one in ipairs(files) do
      list[i] = ("%s of %s"):format(show(one.total), one.file or "no known file")
   end
   return (" It is the sum of %d functions called %s: %s."):format(#files, func,
      table.concat(list, ", "))
end

local function has_cost(parts)
   for _, part in ipairs(parts) do
      if part.time ~= 0 then
         return true
      end
   end
   return false
end

---Explains the cost of a function. The parts of each side sum to `total`: the kinds self, callee
---and elsewhere, and the kinds caller and uncalled.
---@param profile profio.Profile
---@param func string
---@param options table options of the views: metric
---@param is_change boolean the profile is a difference
---@return table|nil { area, total, self, is_change, sentence, parts }
---@return string|nil message
---@return string|nil code
function function_cost.of(profile, func, options, is_change)
   local flat = flat_of(profile, options)
   local sum, names, has_callees = sums_of(flat, func)
   if not sum then
      return nil, ("no function '%s'%s"):format(func, suggestions.hint(func, names)), "unsupported"
   end
   local made = { area = func, total = sum.total, self = sum.self, is_change = is_change }
   made.parts = parts_of("callee", arcs_of(profile:callees(func, options), "callee", func),
      sum.total - sum.self, "elsewhere")
   table.insert(made.parts, 1, { kind = "self", area = func, time = sum.self })
   local callers = parts_of("caller", arcs_of(profile:callers(func, options), "caller", func),
      sum.total, "uncalled")
   table.move(callers, 1, #callers, #made.parts + 1, made.parts)
   if not has_cost(made.parts) then
      return nil, (is_change and "the cost of '%s' did not change" or "'%s' has no cost")
         :format(func), "unsupported"
   end
   local show = shower(core.unit(flat:reader(), "self"), is_change)
   for _, part in ipairs(made.parts) do
      part.share = sum.total ~= 0 and part.time / sum.total or 0.0
      part.sentence = sentence(part, made, show)
   end
   made.sentence = ("The cost of %s %s %s with its callees, %s of it itself."):format(func,
      is_change and "changed by" or "is", show(sum.total), show(sum.self))
      .. several(func, sum.files, show)
   if not has_callees and #made.parts == 2 then -- self and uncalled
      made.sentence = made.sentence .. " Callers and callees are not known: no function of this "
         .. "profile has any, as in a recording without call stacks."
   end
   return made
end

return function_cost
