-- A scheduler of tasks by fixed priorities on several cores, tick by tick, as a source of traces
-- whose response times and loads are known.

local scheduled = {}

-- Returns tasks with periods, execution times and waits that are random, on random cores.
local function random_tasks(random, count, cores)
   local tasks = {}
   for i = 1, count do
      tasks[i] = { name = "T" .. i, priority = i, core = random(0, cores - 1),
         period = random(20, 90), next = random(0, 30), needs = random(1, 12),
         waits_after = random(3) == 1 and random(1, 6) or nil, waits = random(1, 9) }
   end
   return tasks
end

local function job_of(task, time)
   return { task = task.name, activation = time, done = 0, running = 0, ready = 0, waiting = 0,
      preemptions = 0, core = task.core }
end

-- Returns the task of a core that runs in a tick, or nil: the first that is ready.
local function chosen(tasks, core)
   for _, task in ipairs(tasks) do
      if task.job and task.core == core and not task.until_time then
         return task
      end
   end
end

-- Activations, ends of waits and terminations that are due.
local function due(tasks, time, put, ended)
   for _, task in ipairs(tasks) do
      local job = task.job
      if job and job.done == task.needs then
         job.stop = time
         ended[#ended + 1] = job
         task.job, task.runs = nil, false
         put(task, "TERMINATED")
      elseif job and task.until_time and task.until_time <= time then
         task.until_time = nil
         put(task, "READY")
      elseif job and job.done == task.waits_after and not job.has_waited then
         job.has_waited, task.until_time, task.runs = true, time + task.waits, false
         put(task, "WAITING")
      end
      if task.next <= time then
         task.next = task.next + task.period
         if not task.job then
            task.job = job_of(task, time)
            put(task, "ACTIVE")
         end
      end
   end
end

-- Gives each core to a task for a tick, and counts.
local function run(tasks, cores, time, put)
   local runs = {}
   for core = 0, cores - 1 do
      local task = chosen(tasks, core)
      runs[task or false] = true
   end
   for _, task in ipairs(tasks) do
      if task.runs and not runs[task] then
         task.runs, task.job.preemptions = false, task.job.preemptions + 1
         put(task, "READY")
      end
   end
   for _, task in ipairs(tasks) do
      local job = task.job
      if runs[task] and not task.runs then
         task.runs, job.start = true, job.start or time
         put(task, "RUNNING")
      end
      if job then
         local kind = runs[task] and "running" or task.until_time and "waiting" or "ready"
         job[kind] = job[kind] + 1
         job.done = job.done + (runs[task] and 1 or 0)
      end
   end
end

---Runs tasks for a number of ticks of 1 ns.
---@param random fun(low: integer, high: integer|nil): integer
---@param options { tasks: integer, cores: integer, ticks: integer }
---@return { time: integer, task: string, state: string, core: integer }[] changes of state
---@return table[] jobs that have ended: task, activation, start, stop, running, ready, waiting, ...
---@return table<string, integer> ran the time that each task had a core
function scheduled.run(random, options)
   local tasks = random_tasks(random, options.tasks, options.cores)
   local changes, ended, time = {}, {}, 0
   local function put(task, state)
      changes[#changes + 1] = { time = time, task = task.name, state = state, core = task.core }
   end
   for tick = 0, options.ticks do
      time = tick
      due(tasks, time, put, ended)
      run(tasks, options.cores, time, put)
   end
   local ran = {}
   for _, job in ipairs(ended) do
      ran[job.task] = (ran[job.task] or 0) + job.running
   end
   return changes, ended, ran
end

return scheduled
