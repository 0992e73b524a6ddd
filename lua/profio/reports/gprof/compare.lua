-- Differences between gprof's numbers and the exact ones, with the reasons.
--
-- Functions are paired by address. gprof attributes the time of an exact function without a
-- partner to the symbol before it. The profile with gprof's numbers has, beside gprof's samples
-- (ticks), the samples if parts added up (even_ticks) and if also the bins lay where they are
-- (right_ticks): each step that changes the number is a reason.

local core = require "profio.core"
local profile_parts = require "profio.internal.bodies.profile_parts"

local compare = {
   name = "compare",
   help = "where gprof's numbers differ from the exact ones, and why",
   unit = "auto",
   columns = {
      { name = "function", help = "the function" },
      { name = "exact_self", help = "self time, in ns" },
      { name = "gprof_self", help = "the same as gprof computes it; missing: gprof has no such "
         .. "function" },
      { name = "exact_calls", help = "calls by other functions" },
      { name = "gprof_calls", help = "the same as gprof counts it" },
      { name = "why", help = "reason for the difference" },
   },
}

---@param trace profio.Trace
function compare.fits(trace)
   if trace.format ~= "gmon" then
      return false, "gprof does not read it"
   end
   return (trace.info.sets or 0) > 0, "it has no histogram"
end

-- Returns the last of some functions, in the order of addresses, that begins at or before an
-- address; nil: none.
local function owner_of(functions, address)
   local low, high = 1, #functions + 1
   while low < high do
      local middle = (low + high) // 2
      if math.ult(address, functions[middle].address) then
         high = middle
      else
         low = middle + 1
      end
   end
   return functions[low - 1]
end

-- Sets the partner of each function; for gprof's functions also `absorbed`, the first exact one
-- that it absorbs, and `samples`, those of all that it absorbs.
local function pair_up(exact, gprof)
   for _, e in ipairs(exact) do
      local g = owner_of(gprof, e.address)
      if g and g.address == e.address and not e.is_pseudo then
         e.partner, g.partner = g, e
      elseif g and e.is_used then
         g.samples, g.absorbed = (g.samples or 0.0) + e.samples, g.absorbed or e
      end
   end
end

local function differ(left, right) -- by more than the rounding of floats
   return math.abs(left - right) > 1e-6 * (1 + math.abs(left) + math.abs(right))
end

local function reason_without_partner(e)
   return not e and "not a function" -- a symbol that only gprof counts
      or e.is_pseudo and "outside symbols" -- addresses in no symbol
      or e.is_local and e.symbol:find(".", 1, true) and "local suffix dropped"
      or "symbol dropped"
end

-- Returns the reasons for the difference of a pair. `facts`: of the exact profile; `last`: gprof's
-- last symbol, to which it attributes nothing.
local function reasons_of(row, facts, last)
   local e, g, list = row.exact, row.gprof, {}
   local function add(applies, reason)
      list[#list + 1] = applies and reason or nil
   end
   local absorbed, samples = g.absorbed, g.samples or 0.0
   local absorbs = absorbed and (absorbed.is_pseudo and "absorbs a gap"
      or ("absorbs " .. absorbed["function"]):sub(1, 299))
   if row.size > 1 then
      add(not g.is_in_flat, "excluded") -- one of the profiler's own functions
      add(g.is_in_flat and differ(g.ticks, g.even_ticks),
         g == last and "last symbol" or "credit not conserved")
      add(differ(g.even_ticks, g.right_ticks), "bin drift") -- gprof divides the range evenly
      add(samples ~= 0, absorbs)
      -- Exact profiles have whole numbers of a bin over several functions, gprof's have fractions.
      add(differ(g.right_ticks, e.samples + samples), "bin shared")
      add(not facts.same_rates and facts.per_unit ~= 1
         and math.abs(e.weight - e.samples / facts.rate * facts.per_unit) > 1, "different rates")
   end
   if e.calls ~= g.calls then
      add(e.is_called_outside, "caller outside") -- from outside all symbols, which gprof drops
      add(samples == 0, absorbs)
   end
   return list[1] and table.concat(list, ", ") or "not explained"
end

-- Returns the pairs and single functions whose times differ by more than 1, or whose calls differ.
-- `scaled` converts gprof's samples to the unit of the exact profile.
local function differences_of(exact, gprof, scaled)
   local list = {}
   local function add(e, g)
      local right = g and scaled(g.is_in_flat and g.ticks or 0.0)
      local size = math.abs((e and e.weight or 0) + 0.0 - (right or 0.0))
      size = size == size and size or 0.0 -- no sampling rate is known
      if size > 1 or (e and e.calls or 0) ~= (g and g.calls or 0) then
         list[#list + 1] = { exact = e, gprof = g, self = right, size = size, at = #list }
      end
   end
   for _, e in ipairs(exact) do
      add(e, e.partner)
   end
   for _, g in ipairs(gprof) do
      if not g.partner then
         add(nil, g)
      end
   end
   table.sort(list, function(a, b)
      return a.size > b.size or a.size == b.size and a.at < b.at
   end)
   return list
end

-- Returns the nearest integer, halves away from 0; nil: it exceeds 64 bits, or is not known.
local function rounded(number)
   local size = math.abs(number)
   if size < 0x1p63 then
      local below = math.floor(size)
      below = size - below >= 0.5 and below + 1 or below
      return number < 0 and -below or below
   end
end

-- Returns all functions of a profile with their weights.
local function functions_of(profile)
   local list = core.rows(profile:functions { zeros = true }, { "function", "symbol", "address",
      "calls", "is_local", "is_pseudo" })
   profile:add_weights(list)
   return list
end

---Returns a reader of the functions whose times differ by more than 1 ns (or unit of the metric),
---or whose calls differ, the largest difference of times first. The profiles are of the same files.
---@param exact userdata a profile of the core
---@param gprof userdata the same with gprof's numbers
---@return profio.core.Reader
function compare.differences(exact, gprof)
   local facts, gprof_facts = exact:facts {}, gprof:facts {}
   assert(not facts.compat, "not an exact profile")
   assert(gprof_facts.compat, "not a compat profile")
   local mine, theirs = functions_of(exact), functions_of(gprof)
   pair_up(mine, theirs)
   local per_unit = facts.per_unit == 1 and gprof_facts.per_unit or facts.per_unit
   local rows = {}
   for i, row in ipairs(differences_of(mine, theirs, function(ticks)
      return ticks / gprof_facts.per_unit * per_unit
   end)) do
      local e, g = row.exact or {}, row.gprof or {}
      rows[i] = { e["function"] or g["function"], e.weight, row.self and rounded(row.self),
         e.calls, g.calls, row.exact and row.gprof and reasons_of(row, facts, theirs[#theirs])
         or reason_without_partner(row.exact) }
   end
   local metric = facts.has_time and facts.metrics[2] or facts.metrics[1]
   local help = metric.unit ~= "ns" and core.help_of_weight("in the unit of the metric",
      metric.name, metric.unit)
   return core.rows_reader({ { "function", "name", help = "the function" },
      { name = "exact_self", type = "int", help = help or "exact, ns" },
      { name = "gprof_self", type = "int", help = help or "as gprof computes it, ns" },
      { name = "exact_calls", type = "int", help = "exact" },
      { name = "gprof_calls", type = "int", help = "as gprof counts them" },
      { name = "why", type = "name", help = "the reasons for the difference" } }, rows)
end

---@param context profio.Context
---@return userdata
function compare.reader(context)
   local exact = context:profile_as "exact"
   local gprof = context:profile_as "gprof"
   return compare.differences(profile_parts.handle(exact), profile_parts.handle(gprof))
end

return compare
