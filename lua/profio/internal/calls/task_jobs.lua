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

---Returns the names of states without a meaning, in which jobs end; reads the events once.
---@param trace profio.Trace
---@param state table of the trace
---@param given table|nil from, to, ends
---@return string[] names sorted
function jobs.unknown(trace, state, given)
   local names = {}
   local rows = jobs.of_trace(trace, state, given)
      :where { unknown = conditions.no(conditions.missing) }
   for name in rows:group "unknown":sort "unknown":each "unknown" do
      names[#names + 1] = name
   end
   return names
end

return jobs
