-- The jobs of tasks of an operating system, one row each.

local calls = require "profio.reports.calls.calls"
local span = require "profio.internal.command.selection"
local task_jobs = require "profio.internal.calls.task_jobs"
local traces = require "profio.internal.trace"

local jobs = {
   name = "jobs",
   help = "every job of each task: activation, start, termination, response time",
   uses = { "from", "to", "unit" },
   narrows = true,
   columns = {
      { name = "task", help = "the task" },
      { name = "activation", help = "time of its activation; missing: not in the trace" },
      { name = "start", help = "time at which it first runs" },
      { name = "stop", help = "time of its termination; missing: not in the trace" },
      { name = "response", help = "stop - activation: running + ready + waiting, in ns" },
      { name = "delay", help = "start - activation, in ns" },
      { name = "running", help = "time in which it runs, in ns" },
      { name = "ready", help = "time in which it could run, and another task does, in ns" },
      { name = "waiting", help = "time in which it waits for an event or a resource, in ns" },
      { name = "preemptions", help = "how often it stops to run without waiting" },
      { name = "period", help = "time since the activation before, in ns" },
      { name = "core", help = "core on which it first runs" },
      { name = "longest_at", help = "activation of the longest response of the task so far" },
      { name = "unknown", help = "the state without a meaning in which it has ended" },
      { name = "flags", help = "orphan unwound gap open unknown: why there is no response" },
   },
   shown = { "task", "activation", "start", "stop", "response", "delay", "running", "ready",
      "waiting", "preemptions", "core", "flags" },
   options = { task_jobs.options[3] },
}

jobs.fits = calls.fits

---Returns the options of trace:jobs.
---@param context profio.Context
---@param report table
---@return table
function jobs.options_of(context, report)
   local options = { ends = context:report_options(report).ends }
   options.from, options.to = span.of(context.trace, context.given)
   return options
end

-- Notes states of tasks without a meaning, in which jobs end.
local function note_unknown(context, options)
   local names = task_jobs.unknown(context.trace, traces.of(context.trace), options)
   if #names > 0 then
      context:note(("note: the meaning of these states of tasks is not known, and jobs end in "
         .. "them: %s; say it: --set os_states=%s=waiting (profio help tasks)"):format(
         table.concat(names, ", "), names[1]))
   end
end

---Notes why jobs are missing: there are no states of tasks, their names mean nothing, or tasks
---never terminate.
---@param context profio.Context
---@param options table of trace:jobs
---@param rows table[] of trace:task_statistics
function jobs.note_missing(context, options, rows)
   local count, incomplete = 0, 0
   for _, row in ipairs(rows) do
      count, incomplete = count + row.count, incomplete + row.incomplete
   end
   if incomplete > 0 then
      note_unknown(context, options)
   end
   if #rows == 0 then
      local states = traces.of(context.trace).task_states
      context:note("note: no state of a variable is known as that of a task; if states have other "
         .. "names: --set os_states=RUN=running,... (profio help tasks); if tasks are functions: "
         .. "--report statistics, call_max and period_jitter" .. (states
         and states.running[1] and "; a variable that states the running task tells no response "
         .. "times: see --report load and statistics" or ""))
   elseif options.ends ~= "waiting" and count == 0 then
      context:note("note: no job is in the trace from its activation to its termination; for tasks "
         .. "that never terminate --set ends=waiting counts from release to wait")
   end
end

---@param context profio.Context
---@return userdata
function jobs.reader(context)
   local options = jobs.options_of(context, jobs)
   jobs.note_missing(context, options, context.trace:task_statistics(options):rows())
   return context.trace:jobs(options):reader()
end

return jobs
