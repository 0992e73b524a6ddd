-- The jobs of tasks of an operating system, one row each.

local calls = require "profio.reports.calls.calls"
local conditions = require "profio.internal.conditions"
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

---Notes why jobs are missing: there are no states of tasks, their names mean nothing, or tasks
---never terminate.
---@param context profio.Context
---@param options table of trace:jobs
function jobs.note_missing(context, options)
   local trace = context.trace
   local state, names = traces.of(trace), task_jobs.unknown(trace, traces.of(trace))
   if #names > 0 then
      context:note(("note: the meaning of these states of tasks is not known, and jobs end in "
         .. "them: %s; say it: --set os_states=%s=waiting (profio help tasks)"):format(
         table.concat(names, ", "), names[1]))
   end
   local rows = trace:jobs(options)
   if rows:limit(1):count() == 0 then
      context:note("note: no state of a variable is known as that of a task; if states have other "
         .. "names: --set os_states=RUN=running,... (profio help tasks)" .. (state.task_states
         and state.task_states.running[1] and "; a variable that states the running task tells "
         .. "no response times: see --report load and statistics" or ""))
   elseif options.ends ~= "waiting"
      and rows:where { response = conditions.no(conditions.missing) }:limit(1):count() == 0
   then
      context:note("note: no job is in the trace from its activation to its termination; for tasks "
         .. "that never terminate --set ends=waiting counts from release to wait")
   end
end

---@param context profio.Context
---@return userdata
function jobs.reader(context)
   local options = jobs.options_of(context, jobs)
   jobs.note_missing(context, options)
   return context.trace:jobs(options):reader()
end

return jobs
