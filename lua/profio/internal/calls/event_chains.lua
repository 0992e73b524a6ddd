-- Chains of events: how long it takes from one event over others to a last one.
-- csrc/kernels/chains/chains.h defines them.

local calls = require "profio.internal.calls"
local chain_texts = require "profio.internal.calls.chain_texts"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local options = require "profio.internal.options"
local os_states = require "profio.internal.calls.os_states"
local raise = require "profio.internal.raise"
local suggestions = require "profio.internal.suggestions"
local views = require "profio.internal.views"

local chains = {}

---Options of trace:chains beside the chains.
---@type profio.Option[]
chains.options = {
   { name = "from", type = "int", help = "only chains that begin at this time or later" },
   { name = "to", type = "int", help = "only chains that begin before this time" },
}

-- Raises unless the names of chains differ.
local function check_names(list)
   local known = {}
   for _, chain in ipairs(list) do
      if known[chain.name] then
         error(("two chains have the name '%s'"):format(chain.name), 0)
      end
      known[chain.name] = true
   end
   return list
end

---Returns chains from texts, each with one chain in a line. Raises if one is wrong.
---@param given (string|profio.Chain)[]
---@return profio.Chain[]
function chains.of(given)
   local list = {}
   for _, one in ipairs(given) do
      if type(one) == "table" then
         list[#list + 1] = one
      else
         raise.expect(one, "string", "chains: a chain")
         local found, message, line = chain_texts.parse(one)
         if not found then
            error(("chain%s: %s"):format(one:find "\n" and ", line " .. line or "", message), 0)
         end
         table.move(found, 1, #found, #list + 1, list)
      end
   end
   if #list == 0 then
      error("chains: give at least one, such as 'A leave -> B enter'", 0)
   end
   return check_names(list)
end

-- Returns the chains and the other options.
local function split(given)
   local mine, list = {}, {}
   if type(given) == "string" then
      return mine, chains.of { given }
   end
   raise.expect(given, "table", "chains: the options")
   for name, value in pairs(given) do
      if math.type(name) == "integer" then
         list[name] = value
      else
         mine[name] = value
      end
   end
   return options.check(chains.options, mine, "chains"), chains.of(list)
end

local function rows_of(trace, state, mine, list)
   local events = calls.events(trace, state, mine)
   return views.over(function()
      return core.chains(events(), { chains = list, from = mine.from, to = mine.to })
   end, trace)
end

---Returns the instances of chains in a trace. See trace:chains.
---@param trace profio.Trace
---@param state table of the trace
---@param given string|table chains, and from, to
---@return profio.View
function chains.of_trace(trace, state, given)
   local mine, list = split(given)
   return rows_of(trace, state, mine, list)
end

---Returns the instances of chains as events in lanes of their own. See trace:chain_events.
---@param trace profio.Trace
---@param state table of the trace
---@param given string|table chains, and from, to
---@return profio.View
function chains.events(trace, state, given)
   local rows = chains.of_trace(trace, state, given):sort("start", "-waited")
   return views.over(function()
      return core.chain_spans(rows:reader())
   end, trace):where { event = conditions.no "end" }
end

-- {====== Statistics ======

local aggregates = { "count = count(duration)", "duration = sum(duration)",
   "min = min(duration)", "max = max(duration)", "mean = mean(duration)",
   "p50 = p50(duration)", "p99 = p99(duration)", "waited_max = max(waited)",
   "max_at = last(longest_at)", "late = sum(late)", "instances = count",
   "overlapped = sum(overlapped)", "lost = sum(lost)" }

local fields = { { "chain", "name" }, { "kind", "name" } }

for name in ("count min max max_at mean p50 p99 bound late open overlapped lost waited_max")
   :gmatch "[%w_]+"
do
   local is_count = name == "count" or name == "late" or name == "open" or name == "overlapped"
      or name == "lost"
   fields[#fields + 1] = { name = name, type = name == "mean" and "num" or "int",
      help = is_count and "a number of instances" or "a time, ns" }
end

---Returns statistics of chains in a trace, a row for each in the order given. See
---trace:chain_statistics.
---@param trace profio.Trace
---@param state table of the trace
---@param given string|table chains, and from, to
---@return profio.View
function chains.statistics(trace, state, given)
   local mine, list = split(given)
   local rows = rows_of(trace, state, mine, list)
   return views.over(function()
      local found = {}
      for row in rows:derive { "overlapped = overlaps > 0" }:group "chain":aggregate(aggregates)
         :records() do
         found[row.chain] = row
      end
      local result = {}
      for i, chain in ipairs(list) do
         local r = found[chain.name] or { count = 0, instances = 0 }
         result[i] = { chain.name, chain.age and "age" or "reaction", r.count, r.min, r.max,
            r.max_at, r.mean, r.p50, r.p99, chain.bound, chain.bound and (r.late or 0) or nil,
            r.instances - r.count, not chain.age and (r.overlapped or 0) or nil,
            chain.age and (r.lost or 0) or nil, r.waited_max }
      end
      return core.rows_reader(fields, result)
   end, trace)
end

-- }======

-- {====== Steps that never happen ======

-- Returns a step as it was written, as in 'A leave'.
local function shown(step)
   local event = step.state and "state " .. step.state
      or step.event .. (step.test and (" %s %g"):format(step.test, step.operand) or "")
   return (step.pattern and "~" or "") .. step.area .. (step.lane and " in " .. step.lane or "")
      .. " " .. event
end

-- Returns "; did you mean ...?", if areas have names that are similar to that of a step, else the
-- names that exist; of a variable, which has no calls, how states of a task become calls.
local function hint_of(trace, state, step)
   if step.pattern then
      return ""
   end
   local names, is_of_calls = {}, step.event == "enter" or step.event == "leave"
   for name, class in trace.events:group "area":with_area():each("area", "class") do
      local is_state = is_of_calls and (class or ""):find "state$"
      if is_state and name and name:sub(1, #step.area + 1) == step.area .. "=" then
         return ": it is a variable" .. os_states.hint(state)
      end
      names[#names + 1] = not is_state and name or nil
   end
   return suggestions.known(step.area, names)
end

---Returns the steps of chains of which there is no event in a trace, as a text for each: such a
---chain has no instance. Reads the events once.
---@param trace profio.Trace
---@param state table of the trace
---@param given string|table as for trace:chains
---@return string[]
function chains.unmet(trace, state, given)
   local mine, list = split(given)
   local pairs_of, steps = {}, {}
   for _, chain in ipairs(list) do
      for _, step in ipairs(chain.steps) do
         local name = tostring(#pairs_of + 1)
         pairs_of[#pairs_of + 1] = { name = name, steps = { step, step } }
         steps[name] = { chain = chain, step = step }
      end
   end
   for row in rows_of(trace, state, mine, pairs_of):group "chain":aggregate { "n = count" }
      :records() do
      steps[row.chain] = nil
   end
   local texts = {}
   for i = 1, #pairs_of do
      local missing = steps[tostring(i)]
      texts[#texts + 1] = missing and ("chain '%s': there is no event '%s'%s"):format(
         missing.chain.name, shown(missing.step), hint_of(trace, state, missing.step)) or nil
   end
   return texts
end

-- }======

return chains
