-- Statistics of the tasks of an operating system: response times, preemptions, load.

local jobs = require "profio.reports.calls.jobs"

local tasks = {
   name = "tasks",
   help = "response time, preemptions, waiting and load of each task of an operating system",
   uses = { "from", "to", "unit" },
   unit = "us",
   narrows = true,
   columns = {
      { name = "task", help = "the task" },
      { name = "count", help = "jobs from activation to termination" },
      { name = "response_max", help = "longest time from activation to termination, in ns" },
      { name = "response_max_at", help = "activation of that job, in ns" },
      { name = "response_mean", help = "mean response time, in ns" },
      { name = "response_p99", help = "99th percentile of the response times, in ns" },
      { name = "response_min", help = "shortest response time, in ns" },
      { name = "delay_max", help = "longest time from activation to start, in ns" },
      { name = "running", help = "sum of the times in which it runs, in ns" },
      { name = "running_max", help = "the longest that a job runs, in ns" },
      { name = "ready", help = "sum of the times in which another task runs instead, in ns" },
      { name = "waiting", help = "sum of the times in which it waits, in ns" },
      { name = "preemptions", help = "how often it stops to run without waiting" },
      { name = "period_min", help = "shortest time between two activations, in ns" },
      { name = "period_max", help = "longest time between two activations, in ns" },
      { name = "incomplete", help = "jobs without a response time: see column flags of jobs" },
      { name = "load_share", help = "running divided by the time of the trace" },
      { name = "period_jitter", help = "largest minus smallest period, in ns" },
   },
   shown = { "task", "count", "response_max", "response_max_at", "response_p99", "delay_max",
      "running", "preemptions", "waiting", "load_share", "incomplete" },
   options = jobs.options,
}

tasks.fits = jobs.fits

---@param context profio.Context
---@return userdata
function tasks.reader(context)
   local options = jobs.options_of(context, tasks)
   return context:kept_rows("tasks", function()
      return context.trace:task_statistics(options)
   end, function(rows)
      jobs.note_missing(context, options, rows)
   end)
end

return tasks
