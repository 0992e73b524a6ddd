-- Limits on a trace as a whole:
--
--    chain sensor: Sample leave -> Filter enter <= 5ms      # profio help chains
--    core 0 load <= 80% per 10ms        # in each interval of this length
--    lane Task_A load <= 30%            # over the whole trace
--    task Task_A response <= 5ms        # profio help tasks

local calls = require "profio.internal.calls"
local chain_texts = require "profio.internal.calls.chain_texts"
local chains = require "profio.internal.calls.event_chains"
local core = require "profio.core"
local times = require "profio.internal.times"
local traces = require "profio.internal.trace"
local views = require "profio.internal.views"
local words = require "profio.internal.requirements.words"

local trace_limits = {}

-- {====== Parsing ======

local function chain_limit(text)
   local chain = chain_texts.one(text)
   if not chain.bound then
      words.wrong("the chain has no bound, such as <= 5ms: '%s'", text)
   end
   return { chain = chain, area = chain.name, column = "chain", operator = "<=",
      bound = chain.bound, unit = chain.unit }
end

local function load_limit(owner, rest)
   local name, after = words.word(rest, "the " .. owner)
   local operator, share, more = after:match "^load%s*(<=?)%s*([%d.]+)%%%s*(.*)$"
   local length = more and more:match "^per%s+(%S+)$"
   local width, unit
   if length then
      width, unit = times.parse(length)
   end
   if not tonumber(share) or (more ~= "" and not (width and unit and width > 0)) then
      words.wrong("'%s %s load <= 80%% per 10ms' is expected, got '%s %s'", owner, name, owner,
         rest)
   elseif owner == "core" and not math.tointeger(tonumber(name)) then
      words.wrong("the number of a core is expected, got '%s'", name)
   end
   return { load_of = owner, area = owner .. " " .. name, name = name, column = "load",
      operator = operator, bound = tonumber(share) / 100, unit = "%", width = width }
end

-- Columns of statistics of tasks, and where the largest value is.
local of_tasks = { response = { "response_max", "response_max_at" }, delay = { "delay_max" },
   running = { "running_max" } }

local function task_limit(rest)
   local name, after = words.word(rest, "the task")
   local column, operator, length = after:match "^(%l+)%s*(<=?)%s*(%S+)$"
   local bound, unit
   if length then
      bound, unit = times.parse(length)
   end
   if not of_tasks[column] or not (bound and unit) then
      words.wrong("'task %s response <= 5ms' is expected, or delay or running, got 'task %s'", name,
         rest)
   end
   return { task = name, area = name, column = column, operator = operator, bound = bound,
      unit = unit }
end

---Parses a limit. Raises by words.wrong.
---@param text string
---@return table|nil limit with is_of_trace; nil: it is none of these
function trace_limits.one(text)
   local kind, rest = text:match "^(%l+)%s+(.*)$"
   local limit
   if kind == "chain" and rest:find("->", 1, true) then
      limit = chain_limit(rest)
   elseif (kind == "core" or kind == "lane") and rest:find "%f[%w]load%s*<" then
      limit = load_limit(kind, rest)
   elseif kind == "task" and rest:find "%s%l+%s*<=?%s*%S+$" then
      limit = task_limit(rest)
   end
   if limit then
      limit.text, limit.is_of_trace = text, true
   end
   return limit
end

-- }======

-- {====== Checking ======

local function result(limit, state, value, at, hint)
   return { line = limit.line, text = limit.text, area = limit.area, column = limit.column,
      operator = limit.operator, bound = limit.bound, unit = limit.unit, state = state,
      value = value, at = at, hint = hint }
end

-- Adds the results of limits on chains, which are read together.
local function add_chains(results, list, trace, span)
   local all = { from = span.from, to = span.to }
   for i, limit in ipairs(list) do
      all[i] = limit.chain
   end
   if #all == 0 then
      return
   end
   for i, row in ipairs(trace:chain_statistics(all):rows()) do
      local limit = list[i]
      local state = row.late > 0 and "exceeded" or row.count + row.open == 0 and "missing" or "ok"
      local unmet = row.count == 0 and chains.unmet(trace, traces.of(trace), { limit.chain }) or {}
      results[limit] = result(limit, state, state == "exceeded" and row.waited_max or row.max,
         row.max_at, unmet[1] and table.concat(unmet, "; "))
   end
end

-- Returns the rows of a load, from the first to the last time.
local function load_rows(limit, trace, span)
   local from, to = span.from, span.to
   if not (from and to) then
      local first, last = calls.ends(trace, function()
         return trace.events
      end)
      from, to = from or first or 0, to or last or 0
   end
   return views.over(function()
      return core.load(trace:table "events":reader(), { from = from, to = to,
         width = limit.width or math.max(1, to - from), by_core = limit.load_of == "core" })
   end, trace)
end

-- Returns the result of a limit on a load: of the interval with the largest one.
local function load_result(limit, trace, span)
   local owner, worst = limit.load_of, nil
   for row in load_rows(limit, trace, span):records() do
      if tostring(row[owner]) == limit.name
         and (not worst or row.load_share > worst.load_share) then
         worst = row
      end
   end
   if not worst then
      return result(limit, "missing", nil, nil, ("no event is of this %s"):format(owner))
   end
   local is_kept = worst.load_share < limit.bound
      or limit.operator == "<=" and worst.load_share == limit.bound
   return result(limit, is_kept and "ok" or "exceeded", worst.load_share, worst.start)
end

-- Adds the results of limits on jobs of tasks, which are read once.
local function add_tasks(results, list, trace, span)
   local rows = {}
   if #list > 0 then
      for row in trace:task_statistics { from = span.from, to = span.to }:records() do
         rows[row.task] = row
      end
   end
   for _, limit in ipairs(list) do
      local names, row = of_tasks[limit.column], rows[limit.task]
      local value = row and row[names[1]]
      local is_kept = value and (value < limit.bound
         or limit.operator == "<=" and value == limit.bound)
      results[limit] = result(limit, not value and "missing" or is_kept and "ok" or "exceeded",
         value, value and row[names[2]], not row and "no task of this name has known states: "
         .. "profio help tasks" or not value and "no job of it is complete: --report jobs" or nil)
   end
end

---Compares limits of this kind with a trace.
---@param list table[] limits
---@param trace profio.Trace with events
---@param span { from: integer|nil, to: integer|nil }|nil
---@return table[] results as of limits.check, in the order of the limits
function trace_limits.check(list, trace, span)
   local of_chains, tasks, results, ordered = {}, {}, {}, {}
   span = span or {}
   for _, limit in ipairs(list) do
      of_chains[#of_chains + 1] = limit.chain and limit or nil
      tasks[#tasks + 1] = limit.task and limit or nil
      results[limit] = limit.load_of and load_result(limit, trace, span) or nil
   end
   add_chains(results, of_chains, trace, span)
   add_tasks(results, tasks, trace, span)
   for i, limit in ipairs(list) do
      ordered[i] = results[limit]
   end
   return ordered
end

-- }======

return trace_limits
