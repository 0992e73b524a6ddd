-- The methods of traces that compute something from events: calls, their statistics, chains, loads.

local later = require "profio.internal.later"
local call_groups = later "profio.internal.explain.call_groups"
local calls = later "profio.internal.calls"
local chains = later "profio.internal.calls.event_chains"
local task_jobs = later "profio.internal.calls.task_jobs"
local raise = require "profio.internal.raise"

local event_methods = {}
local methods = {}

-- Returns the state of a trace; raises if it is closed.
local alive

---Returns the methods.
---@param state_of fun(trace: profio.Trace): table returns the state of a trace, which is open
---@return table<string, function>
function event_methods.with(state_of)
   alive = state_of
   return methods
end

---Returns the calls that are computed from the events of the trace, in order of stop: area, lane,
---start, stop, gross, net, call, period, outside, depth, caller, flags, count, stack. Raises if
---there are no events.
---@param options table|nil recursion = "all" | "outermost", partial = "include" | "exclude",
---edges = "exclude" | "include", from, to, last, max_depth; see profio.calls
---@return profio.View
function methods:calls(options)
   return calls.of_trace(self, alive(self), options)
end

---Returns statistics of the calls, one row for each area, in order of names: area, handle, value,
---context, count; net, gross, call, period and outside, each plain (the sum) and with _min, _max,
---_mean, _stddev, _p50, _p99; net_max_at, gross_max_at, call_max_at, period_jitter; without callers
---last_stop. The numbers equal an aggregate of calls, but memory does not grow with the calls. The
---rows of all contexts come first, then those of each one by its value; areas with a parent (states
---of variables) come after the others. With order = "first" areas are in the order in which they
---are first used.
---@param options table|nil by = "area" | "context" | "caller", quantiles = "p50,p99", order =
---"name" | "first", and the options of calls
---@return profio.View
function methods:call_statistics(options)
   return calls.statistics(self, alive(self), options)
end

---Returns how long it takes from an event over others to a last one, a row for each stimulus (or
---response, of a chain with "(age)"), in order of stop: chain, start, stop, duration, waited, lane,
---event_2 ..., bound, late, overlaps, lost, longest_at, flags; see profio help chains. Raises if
---there are no events, or if a chain is wrong.
---@param options string|table "A leave -> B enter <= 5ms", several lines of them, or a list of such
---texts with from, to
---@return profio.View
function methods:chains(options)
   return chains.of_trace(self, alive(self), options)
end

---Returns the instances of chains as events that enter and leave them: time, event, area (of class
---chain: "NAME", "NAME (late)", "NAME (no response)"), lane ("chain NAME"; those that overlap lie
---in "chain NAME (2)" and so on). trace.events:merge(trace:chain_events(...)) has both.
---@param options string|table as for trace:chains
---@return profio.View
function methods:chain_events(options)
   return chains.events(self, alive(self), options)
end

---Returns statistics of chains, a row for each: chain, kind, count, min, max, max_at, mean, p50,
---p99, bound, late, open, overlapped, lost, waited_max.
---@param options string|table as for trace:chains
---@return profio.View
function methods:chain_statistics(options)
   return chains.statistics(self, alive(self), options)
end

---Returns the jobs of tasks of an operating system, in the order in which they end: task,
---activation, start, stop, response, delay, running, ready, waiting, preemptions, period, core,
---longest_at, unknown, flags; see profio help tasks. They come from states that tasks enter, whose
---meaning option os_states of profio.open tells. Raises if there are no events.
---@param options table|nil from, to; ends = "terminated" | "waiting"
---@return profio.View
function methods:jobs(options)
   return task_jobs.of_trace(self, alive(self), options)
end

---Returns statistics of the jobs of each task, the longest response first: task, count,
---response_max, response_max_at, response_mean, response_p99, response_min, delay_max, running,
---running_max, ready, waiting, preemptions, period_min, period_max, incomplete, load_share,
---period_jitter.
---@param options table|nil as for trace:jobs
---@return profio.View
function methods:task_statistics(options)
   return task_jobs.statistics(self, alive(self), options)
end

---Explains why the slow calls of a function are slow: the gap between them and as many typical
---calls is split into parts that sum to it. All times are sums over these calls, in ns. The result
---has: area, calls, partial (calls that were not recorded from enter to leave, and are left out),
---sentence; slow and typical, { calls =, elapsed = }; gap; parts, the largest first: { kind =,
---area =, path =, time =, share =, count =, typical_count =, start =, lane =, sentence = } with the
---kinds own, before, longer, more, suspended, first, rest (profio help explain); first has parts of
---its own in `of`; more has caller if typical calls do not call the function there; suspended has
---runner and runner_area, if a lane is known to have run on the core meanwhile, and its function;
---worst and median, each { start =, lane =, elapsed = }; tree, these two calls and their callees: {
---depth =, area =, worst_count =, worst_elapsed =, worst_net =, median_count =, median_elapsed =,
---median_net = }, or with runner the lane that ran while the function above was suspended; path,
---the critical path if the worst call waited for other lanes: { start =, elapsed =, lane =, area =
---}, without lane and area where nothing is known to run; path_sentence; by_line and by_params, if
---the trace has lines and parameters: the calls by these, those with most slow calls first, each {
---value = (nil: missing), calls =, slow =, elapsed =, longest =, and of lines caller = }. Raises
---without events.
---@param area string name of the function
---@param options table|nil quantile = "p99", lane (value, list or condition), from, to, max_depth
---@return table|nil
---@return string|nil message  if there are not two calls to compare
---@return string|nil code
function methods:explain(area, options)
   return call_groups.of_trace(self, alive(self),
      raise.expect(area, "string", "explain: the area"), options)
end

return event_methods
