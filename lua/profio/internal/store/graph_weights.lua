-- The weights of functions in runs with histograms and arcs, for trends: those of the profile of
-- each run, as its file and its program give them.

local graphs = require "profio.internal.store.graphs"
local problem = require "profio.internal.store.problem"
local saturated = require "profio.internal.saturated"

local graph_weights = {}

-- Returns the metric of a profile with a name and a unit; nil: it has none.
local function metric_of(profile, wanted)
   for _, metric in ipairs(profile:metrics()) do
      if metric.name == wanted.name and metric.unit == wanted.unit then
         return metric
      end
   end
end

-- Returns self and total of the functions in a profile whose names are accepted, how many these
-- are, and the name of one of them.
local function accepted(profile, metric, accepts)
   local self, total, count, found = 0, 0, 0, nil
   for name, own, all in profile:flat({ metric = metric.name, zeros = true })
      :each("function", "self", "total")
   do
      if accepts(name) then
         self, total, count, found = self + own, total + all, count + 1, name
      end
   end
   return self, total, count, found
end

-- Returns self and total of the functions in a profile whose names are accepted. Several functions
-- become one, so that time which passes through several of them counts once.
local function weights_of(profile, metric, accepts)
   local self, total, count, found = accepted(profile, metric, accepts)
   if count > 1 then
      self, total = accepted(profile:group(function(frame)
         return accepts(frame["function"]) and found or nil
      end), metric, accepts)
   end
   return self, total
end

-- Calls f(hash, profile, metric) for each of the selected runs that has histograms and arcs and the
-- metric.
local function each_profile(compared, wanted, f)
   graphs.each_run(compared.engine, compared.tests, compared.path, compared.given,
      function(hash, trace)
         local profile = problem.check(trace:profile())
         local metric = metric_of(profile, wanted)
         if metric then
            f(hash, profile, metric)
         end
      end)
end

---Sets the weights of runs with histograms and arcs in the weights of all runs.
---@param compared profio.ComparedRuns
---@param metric { name: string, unit: string }
---@param accepts fun(name: string): boolean
---@param rows profio.RunWeights[] of engine:weights, are changed
function graph_weights.add_runs(compared, metric, accepts, rows)
   local by_hash = {}
   for _, row in ipairs(rows) do
      by_hash[row.hash] = row
   end
   each_profile(compared, metric, function(hash, profile, own)
      local row = by_hash[hash]
      row.whole = own.total
      row.self, row.total = weights_of(profile, own, accepts)
   end)
end

---Returns the weights of functions in each group of runs with histograms and arcs; groups without
---such runs are left out.
---@param compared profio.ComparedRuns
---@param metric { name: string, unit: string }
---@param numbers table<string, integer> the group of a run, by its hash
---@return table<integer, profio.GroupWeights>
function graph_weights.of_groups(compared, metric, numbers)
   local groups = {}
   each_profile(compared, metric, function(hash, profile, own)
      local number = numbers[hash]
      groups[number] = groups[number] or { whole = 0, self = {} }
      local one = { whole = own.total, self = {} }
      for name, self in profile:flat({ metric = own.name }):each("function", "self") do
         one.self[name] = (one.self[name] or 0) + self
      end
      graph_weights.add(groups[number], one)
   end)
   return groups
end

---Adds the weights of other runs to those of a group.
---@param group profio.GroupWeights is changed
---@param other profio.GroupWeights
function graph_weights.add(group, other)
   local is_limited
   group.whole, is_limited = saturated.add(group.whole, other.whole)
   group.is_limited = group.is_limited or other.is_limited or is_limited
   for name, weight in pairs(other.self) do
      group.self[name], is_limited = saturated.add(group.self[name] or 0, weight)
      group.is_limited = group.is_limited or is_limited
   end
end

---Adds the metrics of the sums of runs with histograms and arcs to those of runs with stacks.
---@param traces profio.Trace[] the sums; at least one
---@param metrics { name: string, unit: string }[] of the runs with stacks
---@return { name: string, unit: string }[]
---@return string|nil usual the metric that reports of all runs show by default
function graph_weights.metrics(traces, metrics)
   local list, known, usual = table.move(metrics, 1, #metrics, 1, {}), {}, nil
   for _, metric in ipairs(list) do
      known[string.pack("s4s4", metric.name, metric.unit)] = true
   end
   for _, trace in ipairs(traces) do
      local profile = problem.check(trace:profile())
      for _, metric in ipairs(profile:metrics()) do
         local key = string.pack("s4s4", metric.name, metric.unit)
         list[#list + 1] = not known[key] and { name = metric.name, unit = metric.unit } or nil
         known[key] = true
      end
      usual = usual or profile:usual_metric()
   end
   return list, usual
end

return graph_weights
