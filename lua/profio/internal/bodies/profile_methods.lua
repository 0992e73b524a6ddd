-- Profiles: the cost of functions and of calls between them. A profile owns its numbers and
-- outlives the trace from which it was built. Its body is one of three (internal/bodies): a graph
-- of functions and arcs, a tree of calling contexts, or sums of either. Methods return new ones.

local later = require "profio.internal.later"
local algebra = later "profio.internal.bodies.algebra"
local core = require "profio.core"
local exporting = later "profio.internal.exporting"
local inputs = require "profio.internal.opening.inputs"
local making = require "profio.internal.bodies.build"
local object = require "profio.internal.bodies.profile_object"
local origin = require "profio.internal.bodies.origin"
local picks = later "profio.internal.bodies.picks"
local profile_parts = require "profio.internal.bodies.profile_parts"
local raise = require "profio.internal.raise"
local uncalled = later "profio.internal.bodies.uncalled"
local view_warnings = require "profio.internal.views.view_warnings"
local views = require "profio.internal.views"

local profile = { kind = making.kind, has_callers = making.has_callers,
   span_table = making.span_table, timed_samples = making.timed_samples,
   of_contexts = making.of_contexts }

local Profile, new, of, derived = object.Profile, object.new, object.of, object.derived
local is_profile = object.is_one

-- The methods that compute other profiles are in algebra.lua.
local methods = setmetatable({}, { __index = function(_, name)
   return algebra.methods[name]
end })

-- {====== Construction ======

---Build the profile of a trace; see trace:profile.
---@param trace profio.Trace
---@param state table of the trace
---@param given table compat, lines, by_line, demangle, arcs, calls, samples, from, to, lane
---@return profio.Profile|nil
---@return string|nil message
---@return string|nil code
function profile.of_trace(trace, state, given)
   local body, message, code, pin = making.body(trace, state, given)
   if not body then
      return nil, message, code
   end
   local made = body.kind == "profile" and body.profile or new(body, {}, pin)
   of(made).notes = trace:losses()
   of(made).title, of(made).origin = trace.path, origin.of_trace(state, body)
   of(made).inputs = inputs.paths_of(state) -- no export overwrites them
   of(made).runs = origin.run_count(state)
   return made
end

-- }======

-- {====== Views ======

local function listing(name)
   return function(self, more)
      local state = of(self)
      local all = object.merged(state.given, more, name)
      return views.over(function()
         local reader = state.body[name](state.body, all)
         if state.body.left_out then
            table.insert(state.notes, state.body.left_out)
            state.body.left_out = nil
         end
         return reader
      end, self)
   end
end

---Functions by time: function, calls, self, total, self_share, total_share, file, line.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.flat = listing "flat"
---Arcs of the call graph: caller, callee, calls, self, total.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.graph = listing "graph"
---The call graph as gprof prints it, one row for each line.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.graph_listing = listing "graph_listing"
---The index by function name, one row for each cell.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.index = listing "index"
---Source lines by time: file, line, count, self, self_share, function; a function without lines is
---a row without a line. A profile of stacks has total too, the time with all that the line called,
---and rows of lines that only called others; one of addresses needs lines = true.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.lines = listing "lines"
---Source lines in order of file and line, with time; a profile of addresses, which needs lines =
---true, has calls, one of stacks has total, the time with all that the line called, and also a row
---without a line for each function without lines.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.annotations = listing "annotations"
---Functions with their numbers: those that ran, with zeros = true all of the program. Its columns
---have function, file, line, symbol, address, calls and is_used.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.functions = listing "functions"

---The functions of the program that were never called, as far as the profile knows: they have no
---sample, and no call of them or by them was counted. Columns as in functions, in order of file,
---line and address; those without a file are last. Notes in view.warnings say which of them may
---have run all the same. Raises for a profile that is not made from a histogram and arcs, or of
---which a part is left out or merged.
---@return profio.View
function methods:unused()
   local body = of(self).body
   if body.kind ~= "graph" or body.is_part then
      error("unused is of a whole profile of histogram and arcs: take it of trace:profile(), "
         .. "before focus, ignore, hide, group, sums and differences", 2)
   end
   return uncalled.view(self)
end

---Call tree, callers first and the heaviest callees first: depth, function, calls, self, total,
---self_share, total_share, file, line, node, label (the name, indented).
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.tree = listing "tree"
---Bottom-up tree: the functions with self time, and below each its callers. Columns as in tree, but
---self is only set on the first level; total and calls of a caller are the part of the function's
---cost that came through it.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.bottom_up = listing "bottom_up"

-- Returns no arcs, and adds a note if no function has the name.
local function no_arcs(self, name, func, all)
   local unknown = picks.unknown(of(self).body:frames(), func)
   if unknown then -- in sums a function without arcs has no row
      view_warnings.note(self, "no-function", name .. ": " .. unknown)
   end
   return core.limit(of(self).body:graph(all), 0, 0)
end

local function arcs_of(name)
   return function(self, func, more)
      raise.expect(func, "string", name .. ": the function")
      local state, all = of(self), object.merged(of(self).given, more, name)
      return views.over(function()
         return state.body[name](state.body, func, all) or no_arcs(self, name, func, all)
      end, self)
   end
end

---The callers of a function and the time that it charges to each: columns as in graph. For an
---unknown function there are no rows, and a note in view.warnings.
---@type fun(self: profio.Profile, func: string, options: table|nil): profio.View
methods.callers = arcs_of "callers"
---The callees of a function: columns as in graph.
---@type fun(self: profio.Profile, func: string, options: table|nil): profio.View
methods.callees = arcs_of "callees"

-- }======

---Returns the same profile with other options of reports: metric, include_graph, ...
---@param more table
---@return profio.Profile
function methods:with(more)
   local state = of(self)
   local made = derived(self, state.body, object.merged(state.given, more, "with"), state.pin)
   of(made).compared, of(made).again = state.compared, state.again
   return made
end

---Returns the metrics: { { name =, unit =, total = }, ... }
---@return { name: string, unit: string, total: integer }[]
function methods:metrics()
   return of(self).body:metrics()
end

---Returns the kind of its body: "graph", "contexts" or "sums".
---@return string
function methods:kind()
   return of(self).body.kind
end

---Returns the losses of the traces from which it was built, as texts.
---@return string[]
function methods:notes()
   return of(self).notes
end

---Returns the paths of the files from which it was built; no export overwrites them.
---@return string[]
function methods:inputs()
   return of(self).inputs
end

---Returns the metric that views show by default: the one that the file states, else time, else the
---first one. For pprof: default_sample_type, else the last one.
---@return string|nil
function methods:usual_metric()
   return of(self).body:usual()
end

---a + b: the cost of both.
function Profile.__add(a, b)
   return algebra.combine(a, b, 1)
end

---a - b: positive where a costs more.
function Profile.__sub(a, b)
   return algebra.combine(a, b, -1)
end

---Export the profile for another program. The file appears when it is complete. Raises if the path
---is a file from which the profile was built.
---@param kind string "pprof", "folded", "callgrind", ...
---@param path string|nil nil: return the bytes; "-": standard output
---@param given table|nil options of the export
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function methods:export(kind, path, given)
   return exporting.run(kind, "profile", self, given, path,
      of(self).inputs)
end

---Free its numbers. Using it afterwards raises.
function methods:close()
   of(self).body:close()
end

raise.publish_methods(methods, "profile", is_profile)
Profile.__add, Profile.__sub = raise.public(Profile.__add), raise.public(Profile.__sub)

Profile.__close = methods.close

function Profile:__index(key)
   if key == "facts" then
      return profile_parts.facts(self)
   end
   return methods[key]
end

return profile
