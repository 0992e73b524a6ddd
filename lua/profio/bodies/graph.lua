-- A profile's body of functions and arcs, made from histograms and calls between functions; the
-- time of a function reaches its callers by gprof's propagation.

local core = require "profio.core"

---@class profio.GraphBody
local Graph = { kind = "graph" }
Graph.__index = Graph

-- The options that pick functions, by what is done with them.
local places = { "flat", "graph", "time" }

---@param made userdata a profile of the core
---@return profio.GraphBody
local function new(made)
   return setmetatable({ core = made }, Graph)
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

---The metrics there are: { { name =, unit =, total = }, ... }
---@return table[]
function Graph:metrics()
   return self.core:facts({}).metrics
end

---All frames, one per function.
---@return table[]
function Graph:frames()
   return core.rows(self.core:functions {}, { "number", "function", "symbol", "file", "line" })
end

---The options of reports that narrow the profile to what marks say; see contexts:narrow.
---@param marks table<integer, integer> by number of a function: 1 keep, 2 leave out, 4 hide
---@param given table the options so far
---@return profio.GraphBody
---@return table options
function Graph:narrow(marks, given)
   local options = {}
   for name, value in pairs(given) do
      options[name] = value
   end
   local function add(option, number)
      local list = table.move(options[option] or {}, 1, #(options[option] or {}), 1, {})
      list[#list + 1] = number
      options[option] = list
   end
   for number, mark in pairs(marks) do
      for _, place in ipairs(places) do
         if mark & 1 ~= 0 then
            add("include_" .. place, number)
         end
         if mark & 2 ~= 0 then
            add("exclude_" .. place, number)
         end
      end
      if mark & 4 ~= 0 then
         add("exclude_graph", number)
      end
   end
   return self, options
end

---The same numbers as sums, which can be added and taken away.
---@param given table options of reports
---@return profio.SumsBody
function Graph:sums(given)
   return require("profio.bodies.sums").of_graph(self, given)
end

function Graph:close()
   self.core:close()
end

return { new = new }
