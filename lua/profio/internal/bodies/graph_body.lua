-- Body of a profile with functions and arcs, from histograms and calls between functions. The time
-- of a function is charged to its callers by gprof's propagation.

local later = require "profio.internal.later"
local core = require "profio.core"
local sums_body = later "profio.internal.bodies.sums_body"

---@class profio.GraphBody
local Graph = { kind = "graph" }
Graph.__index = Graph

---@param made userdata a profile of the core
---@param is_part boolean|nil what other functions had is left out, or functions are merged
---@return profio.GraphBody
local function new(made, is_part)
   return setmetatable({ core = made, is_part = is_part }, Graph)
end

for _, name in ipairs { "flat", "graph", "graph_listing", "index", "lines", "annotations",
   "functions", "callers", "callees", "facts" } do
   Graph[name] = function(self, ...)
      return self.core[name](self.core, ...)
   end
end

function Graph.tree()
   error("this profile knows functions and arcs, no stacks: it has graph, callers and callees", 0)
end

Graph.bottom_up = Graph.tree

---Returns the metrics: { { name =, unit =, total = }, ... }
---@return table[]
function Graph:metrics()
   return self.core:facts({}).metrics
end

---Returns the name of the metric that views show by default: time, else the first.
---@return string|nil
function Graph:usual()
   local list = self:metrics()
   for _, metric in ipairs(list) do
      if metric.name == "time" then
         return "time"
      end
   end
   return list[1] and list[1].name
end

---Returns all frames, one per function.
---@return table[]
function Graph:frames()
   return core.rows(self.core:functions {}, { "number", "function", "symbol", "file", "line" })
end

-- By narrowing: the options of reports that select functions as it does.
local selecting = {
   focus = { "include_flat", "include_graph", "include_time" },
   ignore = { "exclude_flat", "exclude_graph", "exclude_time" },
   hide = { "exclude_graph" },
}

-- Narrows only the reports, since gprof's numbers are always those of all functions.
local function narrow_reports(self, narrowing, chosen, given)
   local options = {}
   for name, value in pairs(given) do
      options[name] = value
   end
   if narrowing == "focus" and next(chosen) == nil then -- an empty list would include all
      narrowing = "ignore"
      for _, frame in ipairs(self:frames()) do
         chosen[frame.number] = true
      end
   end
   for _, option in ipairs(selecting[narrowing]) do
      local list = table.move(options[option] or {}, 1, #(options[option] or {}), 1, {})
      for number in pairs(chosen) do
         list[#list + 1] = number
      end
      options[option] = #list > 0 and list or nil
   end
   return self, options
end

---Returns the body without what a narrowing leaves out (csrc/kernels/base/selection.h).
---@param narrowing "focus"|"ignore"|"hide"
---@param chosen table<integer, boolean> the functions, by number
---@param given table the options of reports so far
---@return profio.GraphBody
---@return table options
function Graph:narrow(narrowing, chosen, given)
   if self:is_compat() then
      return narrow_reports(self, narrowing, chosen, given)
   end
   return new(assert(self.core:narrow(narrowing, chosen)), true), given
end

---Returns whether its numbers are gprof's.
---@return boolean
function Graph:is_compat()
   return self.core:facts({}).compat
end

---Renames functions: those that get the same name are merged.
---@param frames table<integer, { function: string }> by id; a function without one stays
---@return profio.GraphBody
function Graph:rename(frames)
   local groups, names, known = {}, {}, {}
   for _, frame in ipairs(self:frames()) do
      local renamed = frames[frame.number]
      local name = renamed and renamed["function"] or frame["function"]
      local group = renamed and known[name]
      if not group then
         names[#names + 1], group = name, #names + 1
      end
      groups[frame.number], known[name] = group, renamed and group or known[name]
   end
   return new(self.core:regroup(groups, names), true)
end

---Returns the same numbers as sums, which can be added and subtracted.
---@param given table options of reports
---@return profio.SumsBody
function Graph:sums(given)
   return sums_body.of_graph(self, given)
end

function Graph:close()
   self.core:close()
end

return { new = new }
