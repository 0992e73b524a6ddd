-- Jobs of the tasks of an operating system: from the activation to the termination of a task.
-- csrc/kernels/tasks/jobs.h defines them.

local calls = require "profio.internal.calls"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local options = require "profio.internal.options"
local os_states = require "profio.internal.calls.os_states"
local views = require "profio.internal.views"

local jobs = {}

---Options of trace:jobs.
---@type profio.Option[]
jobs.options = {
   { name = "from", type = "int", help = "only jobs that are activated at this time or later" },
   { name = "to", type = "int", help = "only jobs that are activated before this time" },
   { name = "ends", type = "choice", choices = { "terminated", "waiting" }, default = "terminated",
      help = "what ends a job; waiting: for tasks that never terminate, from release to wait" },
}

---Returns the jobs of a trace. See trace:jobs.
---@param trace profio.Trace
---@param state table of the trace
---@param given table|nil from, to, ends
---@return profio.View
function jobs.of_trace(trace, state, given)
   local mine = options.check(jobs.options, given or {}, "jobs")
   local states = state.task_states or os_states.of()
   local events = calls.events(trace, state, mine)
   return views.over(function()
      return core.jobs(events(), { states = states.states, running = states.running,
         from = mine.from, to = mine.to, until_wait = mine.ends == "waiting" })
   end, trace)
end

local aggregates = { "count = count(response)", "response_max = max(response)",
   "response_max_at = last(longest_at)", "response_mean = mean(response)",
   "response_p99 = p99(response)", "response_min = min(response)", "delay_max = max(delay)",
   "running = sum(running)", "running_max = max(running)", "ready = sum(ready)",
   "waiting = sum(waiting)", "preemptions = sum(preemptions)", "period_min = min(period)",
   "period_max = max(period)", "incomplete = count(flags)" }

---Returns statistics of the tasks of a trace. See trace:task_statistics.
---@param trace profio.Trace
---@param state table of the trace
---@param given table|nil from, to, ends
---@return profio.View
function jobs.statistics(trace, state, given)
   local mine = options.check(jobs.options, given or {}, "task_statistics")
   local length = math.max(calls.length(trace, mine.from, mine.to), 1)
   return jobs.of_trace(trace, state, mine):group "task":aggregate(aggregates)
      :derive { "load_share = running / " .. length, "period_jitter = period_max - period_min" }
      :sort("-response_max", "task")
end

---Returns the states of tasks whose names have no meaning, so that jobs end in them; reads the
---events once.
---@param trace profio.Trace
---@param state table of the trace
---@return string[] names sorted
function jobs.unknown(trace, state)
   local states = state.task_states or os_states.of()
   local is_known = {}
   for _, one in ipairs(states.states) do
      is_known[one[1]:upper()] = true
   end
   local found, tasks = {}, {}
   for area in trace.events:where { event = "write" }:group "area":with_area()
      :where { parent = conditions.no(conditions.missing) }:each "area"
   do
      local task, name = area:match "^(.*)=([^=]*)$"
      if not task then
         task, name = area:match "^(.*): (.-)$"
      end
      if name and is_known[name:upper()] then
         tasks[task] = true
      elseif name then
         found[#found + 1] = { task, name }
      end
   end
   local names, listed = {}, {}
   for _, one in ipairs(found) do
      if tasks[one[1]] and not listed[one[2]] then
         listed[one[2]] = true
         names[#names + 1] = one[2]
      end
   end
   table.sort(names)
   return names
end

return jobs
