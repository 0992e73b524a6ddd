-- Body of a profile with sums: self and total of each function and each arc, without the stacks or
-- the propagation behind them. Profiles of functions and arcs are converted to sums before they are
-- added or subtracted, because inclusive times can be added, but not recomputed from the difference
-- of two graphs.
--
-- The sums are contexts of one frame (functions) and of two (arcs), in which the inclusive time is
-- a metric of its own. Its name is that of the metric and a suffix that begins with a control
-- character, because a file may have both a metric "heap" and a metric "heap total".

local core = require "profio.core"
local conditions = require "profio.internal.conditions"
local counts = require "profio.internal.bodies.counts"
local grouped_contexts = require "profio.internal.bodies.grouped_contexts"
local matching = require "profio.internal.bodies.matching"

---@class profio.SumsBody
local Sums = { kind = "sums" }
Sums.__index = Sums

local function new(functions, arcs)
   return setmetatable({ by_function = functions, by_arc = arcs }, Sums)
end

local TOTAL <const> = "\31total"

-- Returns the name of the metric with the inclusive time of a metric.
local function total_of(name)
   return name .. TOTAL
end

-- {====== Construction ======

-- Builds contexts with the self and total values of one metric from the rows of a reader.
-- `is_usual`: it is the metric that views show by default.
local function collected(reader, metric, is_usual, more)
   more.reader, more.usual = reader, is_usual and metric.name or nil
   more.metrics = {
      { name = metric.name, unit = metric.unit, column = "self" },
      { name = total_of(metric.name), unit = metric.unit, column = "total" },
   }
   return assert(core.contexts(more))
end

local function with_calls(reader, more)
   more.reader = reader
   more.metrics = { { name = "calls", unit = "count", column = "calls" } }
   return assert(core.contexts(more))
end

local function of_body(body, given)
   local options = {}
   for name, value in pairs(given or {}) do
      options[name] = value
   end
   options.zeros = true
   local function arc_columns()
      return { ["function"] = "callee", caller = "caller", file = "callee_file",
         caller_file = "caller_file" }
   end
   local usual = body:usual()
   local functions = with_calls(body:flat(options), { ["function"] = "function", file = "file",
      line = "line" })
   local arcs = with_calls(body:graph(options), arc_columns())
   for _, metric in ipairs(body:metrics()) do
      if metric.name ~= "calls" then
         options.metric = metric.name
         local is_usual = metric.name == usual
         functions = assert(functions:merge(collected(body:flat(options), metric, is_usual,
            { ["function"] = "function", file = "file", line = "line" })))
         arcs = assert(arcs:merge(collected(body:graph(options), metric, is_usual,
            arc_columns())))
      end
   end
   return new(functions, arcs)
end

-- Returns the metrics of columns: each one, its inclusive one, or both.
local function stated_metrics(metrics, has_own, has_total)
   local list = {}
   for _, metric in ipairs(metrics) do
      list[#list + 1] = has_own and metric or nil
      list[#list + 1] = has_total and { name = total_of(metric.name), unit = metric.unit,
         column = metric.column } or nil
   end
   return list
end

-- Returns the arcs, with metrics of own costs, which are 0: the files do not state them.
local function with_own(by_arc, metrics)
   local none = {}
   for i, metric in ipairs(metrics) do
      none[i] = { name = metric.name, unit = metric.unit, column = "calls" }
   end
   local own = assert(core.contexts { reader = by_arc:graph { metric = "calls" },
      ["function"] = "callee", file = "callee_file", caller = "caller",
      caller_file = "caller_file", metrics = none })
   return assert(by_arc:merge(assert(own:scale(0))))
end

---Builds the body from a table of costs by line, and one of calls with the costs of all that was
---called. The inclusive cost of a function is its own, and that of its calls of other functions:
---a call of itself is in these already.
---@param costs fun(): profio.core.Reader|nil  with function, file, line, and columns of the metrics
---@param calls fun(): profio.core.Reader|nil  with caller, caller_file, callee, callee_file, line,
---calls, is_recursive, and columns of the metrics
---@param metrics { name: string, unit: string, column: string }[]
---@return profio.SumsBody|nil
---@return string|nil message
---@return string|nil code
local function of_tables(costs, calls, metrics)
   local function others()
      local reader, message, code = calls()
      return reader and core.where(reader, conditions.tests { is_recursive = false }), message, code
   end
   local totals = stated_metrics(metrics, false, true)
   local functions, message, code = grouped_contexts.of(costs, { "function", "file", "line" },
      { ["function"] = "function", file = "file", line = "line", usual = metrics[1].name,
      metrics = stated_metrics(metrics, true, true) })
   if not functions then
      return nil, message, code
   end
   local callers, by_arc
   callers, message, code = grouped_contexts.of(others, { "caller", "caller_file", "line" },
      { ["function"] = "caller", file = "caller_file", line = "line", metrics = totals })
   if not callers then
      return nil, message, code
   end
   local counted = { { name = "calls", unit = "count", column = "calls" } }
   by_arc, message, code = grouped_contexts.of(calls,
      { "caller", "caller_file", "callee", "callee_file" },
      { ["function"] = "callee", file = "callee_file", caller = "caller",
      caller_file = "caller_file", metrics = table.move(totals, 1, #totals, 2, counted) })
   if not by_arc then
      return nil, message, code
   end
   functions = assert(functions:merge(callers))
   if by_arc:count() > 0 then
      functions = assert(functions:merge(with_calls(by_arc:graph { metric = "calls" },
         { ["function"] = "callee", file = "callee_file" })))
   end
   local made = new(functions, with_own(by_arc, metrics))
   made.has_lines = true
   return made
end

-- }======

-- {====== Views ======

-- Raises if there is no metric of a name of which sums have the inclusive time: `calls` is none.
-- `has_metrics` is a profile or its body.
local function check_metric(has_metrics, name)
   local names = {}
   for _, metric in ipairs(has_metrics:metrics()) do
      if metric.name ~= "calls" then
         names[#names + 1] = metric.name
         if metric.name == name then
            return
         end
      end
   end
   error(("no inclusive metric '%s'; there are: %s"):format(name, table.concat(names, ", ")), 0)
end

local function options_of(self, given)
   local metric = given and given.metric or self:usual()
   local options = { metric = metric, zeros = given and given.zeros }
   if metric and metric ~= "calls" then
      check_metric(self, metric)
      options.total_metric = total_of(metric)
   end
   return options
end

function Sums:flat(given)
   return self.by_function:flat(options_of(self, given))
end

function Sums:graph(given)
   return self.by_arc:graph(options_of(self, given))
end

function Sums:callers(func, given)
   return self.by_arc:callers(func, options_of(self, given))
end

function Sums:callees(func, given)
   return self.by_arc:callees(func, options_of(self, given))
end

function Sums:lines(given)
   local wanted = options_of(self, given)
   wanted.count_metric = counts.of(self:metrics(), wanted.metric or self:usual())
   return self.by_function:lines(wanted)
end

-- Of files with costs of lines.
function Sums:annotations(given)
   if not self.has_lines then
      error("annotations needs lines, which a sum or difference of functions and arcs lacks", 0)
   end
   return core.sort(self.by_function:annotations(options_of(self, given)), { { column = "file" },
      { column = "line" } })
end

for _, name in ipairs { "tree", "bottom_up", "graph_listing", "index", "functions" } do
   Sums[name] = function()
      error(name .. " needs stacks or arcs as they were recorded; a sum or difference of such " ..
         "profiles, and costs of functions and calls, have flat, graph, callers and callees", 0)
   end
end


---Returns the metrics without those of totals.
---@return table[]
function Sums:metrics()
   local list = {}
   for _, metric in ipairs(self.by_function:metrics()) do
      if metric.name:sub(-#TOTAL) ~= TOTAL and metric.name ~= "calls" then
         list[#list + 1] = metric
      end
   end
   return list
end

---Returns the name of the metric that views show by default.
---@return string|nil
function Sums:usual()
   local usual, is_stated = self.by_function:usual()
   local first = self:metrics()[1]
   return is_stated and usual or first and first.name
end

function Sums:facts()
   local functions, _, overflowed = self.by_function:count() -- inclusive values have no sum
   return { functions = functions, metrics = self:metrics(),
      overflowed = overflowed or select(3, self.by_arc:count()) }
end

---Returns the name and the total of a function that has clearly more than the whole, of which some
---may be in no function; nil: none has.
---@return string|nil
---@return integer|nil
function Sums:exceeding()
   local whole = counts.whole(self)
   local most = whole + whole // 100 + 1
   if most <= whole then
      return nil -- the whole is limited
   end
   local row = core.rows(core.where(self:flat(), conditions.tests {
      total = conditions.between(most) }))[1]
   return row and row["function"], row and row.total
end

function Sums:frames()
   return self.by_function:frames()
end

-- }======

-- {====== Algebra ======

function Sums:merge(other, sign)
   local a, b = matching.align(self.by_function, other.by_function, true)
   local arcs_a, arcs_b = matching.align(self.by_arc, other.by_arc)
   return new(assert(a:merge(b, sign)), assert(arcs_a:merge(arcs_b, sign)))
end

function Sums:scale(...)
   return new(assert(self.by_function:scale(...)), assert(self.by_arc:scale(...)))
end

-- Returns the frames of arcs that are the same functions, by name and file.
local function same_in_arcs(self, by_number)
   local function key_of(frame)
      return frame["function"] .. "\0" .. (frame.file or "")
   end
   local known, list = {}, {}
   for _, frame in ipairs(self.by_function:frames()) do
      known[key_of(frame)] = by_number[frame.number]
   end
   for _, frame in ipairs(self.by_arc:frames()) do
      list[frame.number] = known[key_of(frame)]
   end
   return list
end

function Sums:rename(frames)
   return new(assert(self.by_function:rename(frames)),
      assert(self.by_arc:rename(same_in_arcs(self, frames))))
end

function Sums:sums()
   return self
end

-- }======

---Returns the functions and the arcs, for exports.
---@return profio.core.Contexts functions
---@return profio.core.Contexts arcs
function Sums:both()
   return self.by_function, self.by_arc
end

function Sums:close()
   self.by_function:close()
   self.by_arc:close()
end

return { of_graph = of_body, of_contexts = of_body, of_tables = of_tables, total_of = total_of,
   check_metric = check_metric }
