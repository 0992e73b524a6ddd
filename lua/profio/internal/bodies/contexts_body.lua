-- Body of a profile with calling contexts: a tree of stacks with integer weights.

local core = require "profio.core"
local counts = require "profio.internal.bodies.counts"
local matching = require "profio.internal.bodies.matching"
local sums_body = require "profio.internal.bodies.sums_body"

---@class profio.ContextsBody
local Contexts = { kind = "contexts" }
Contexts.__index = Contexts

---@param made profio.core.Contexts
---@return profio.ContextsBody
local function new(made)
   return setmetatable({ core = made }, Contexts)
end

local function options_of(given)
   return { metric = given and given.metric, zeros = given and given.zeros }
end

for _, name in ipairs { "flat", "graph", "tree" } do
   Contexts[name] = function(self, given)
      return self.core[name](self.core, options_of(given))
   end
end

-- Returns the options of a view of lines, which have a count.
local function with_count(self, given)
   local wanted = options_of(given)
   wanted.count_metric = counts.of(self:metrics(), wanted.metric or self:usual())
   return wanted
end

function Contexts:lines(given)
   return self.core:lines(with_count(self, given))
end

function Contexts:annotations(given)
   return core.sort(self.core:annotations(with_count(self, given)), { { column = "file" },
      { column = "line" } })
end

for _, name in ipairs { "callers", "callees" } do
   Contexts[name] = function(self, func, given)
      return self.core[name](self.core, func, options_of(given))
   end
end

for _, name in ipairs { "graph_listing", "index", "functions" } do
   Contexts[name] = function()
      error(name .. " is of profiles made from a histogram and arcs; this one has flat, graph, " ..
         "tree, bottom_up, callers, callees, lines and annotations", 0)
   end
end

-- The number of caller levels grows with the square of the depth of stacks, so at most this many
-- contexts are built, or this many for each existing context.
local MOST_CALLERS, CALLERS_EACH = 1 << 20, 24

---@param given table|nil depth: the most levels of callers; default: levels with at most 1,048,576
---contexts, or 24 for each existing one
function Contexts:bottom_up(given)
   local depth = given and given.depth or nil
   if not self.inverted or self.depth ~= depth then
      local cut = not depth and core.stack_depth(self.core, MOST_CALLERS, CALLERS_EACH, true) or nil
      self.inverted, self.depth = assert(self.core:invert(depth or cut)), depth
      self.left_out = cut
         and ("bottom_up shows %d levels of callers: depth = N shows N"):format(cut)
   end
   return self.inverted:bottom_up(options_of(given))
end

function Contexts:facts()
   local contexts, overflowed = self.core:count()
   local usual = self.core:usual()
   return { contexts = contexts, overflowed = overflowed, metrics = self:metrics(),
      unstacked = usual and self.core:unstacked(usual) or 0 }
end

for _, name in ipairs { "metrics", "frames" } do
   Contexts[name] = function(self)
      return self.core[name](self.core)
   end
end

---Returns the name of the metric that views show by default; nil: there are no metrics.
---@return string|nil
---@return boolean is_stated  the file states it
function Contexts:usual()
   return self.core:usual()
end

-- {====== Algebra ======

for _, name in ipairs { "scale", "prune", "rename" } do
   Contexts[name] = function(self, ...)
      return new(assert(self.core[name](self.core, ...)))
   end
end

function Contexts:merge(other, sign)
   local a, b = matching.align(self.core, other.core)
   return new(assert(a:merge(b, sign)))
end

function Contexts:narrow(narrowing, chosen, given)
   return new(assert(self.core:narrow(narrowing, chosen))), given
end

---Returns the same numbers without the stacks.
---@return profio.SumsBody
function Contexts:sums()
   return sums_body.of_contexts(self)
end

-- }======

function Contexts:close()
   self.core:close()
end

---Returns calling contexts of one frame for each function.
---@param metrics { name: string, unit: string }[]
---@param flat fun(metric: string): profio.core.Reader
---@return profio.core.Contexts|nil  nil without metrics
local function of_functions(metrics, flat)
   local made
   for _, metric in ipairs(metrics) do
      local one = assert(core.contexts {
         reader = flat(metric.name), ["function"] = "function", file = "file", line = "line",
         metrics = { { name = metric.name, unit = metric.unit, column = "self" } },
      })
      made = made and assert(made:merge(one)) or one
   end
   return made
end

return { of_functions = of_functions, new = new }
