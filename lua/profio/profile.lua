-- Profiles: the cost of functions and of calls between them. A profile owns its numbers and
-- outlives the trace from which it was built. Its body is one of three (internal/bodies): a graph
-- of functions and arcs, a tree of calling contexts, or sums of either. Methods return new ones.

local later = require "profio.internal.later"
local contexts_body = later "profio.internal.bodies.contexts_body"
local core = require "profio.core"
local counts = later "profio.internal.bodies.counts"
local making = require "profio.internal.bodies.build"
local matching = later "profio.internal.bodies.matching"
local origin = require "profio.internal.bodies.origin"
local picks = later "profio.internal.bodies.picks"
local raise = require "profio.internal.raise"
local titles = require "profio.internal.bodies.titles"
local view = require "profio.view"
local view_warnings = require "profio.internal.view_warnings"

local profile = { kind = making.kind, has_callers = making.has_callers }

---@class profio.Profile
---@field facts table<string, any> totals and properties: metrics, samples, rate, functions, ...
local Profile = { __name = "profio.profile" }
local methods = {}

-- {====== Construction ======

local function new(body, given, pin, notes)
   return setmetatable({ [profile] = { body = body, given = given, pin = pin,
      notes = notes or {}, inputs = {} } }, Profile)
end

local function of(self)
   return rawget(self, profile)
end

-- Builds a profile from another one, with the same title, header fields, inputs and losses.
local function derived(self, body, given, pin)
   local state = of(self)
   local made = new(body, given, pin, state.notes)
   of(made).title, of(made).inputs, of(made).origin = state.title, state.inputs, state.origin
   return made
end

---Returns a profile of calling contexts that do not come from a trace.
---@param made profio.core.Contexts
---@param title string name of the profile in exports
---@return profio.Profile
function profile.of_contexts(made, title)
   local made_profile = new(contexts_body.new(made), {})
   of(made_profile).title = title
   return made_profile
end

---Build the profile of a trace; see trace:profile.
---@param trace profio.Trace
---@param state table of the trace
---@param given table compat, lines, by_line, demangle, arcs, calls, from, to, lane
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
   of(made).title, of(made).origin = trace.path, origin.of_trace(state)
   of(made).inputs = require("profio.internal.inputs").paths_of(state) -- no export overwrites them
   return made
end

-- }======

-- {====== Views ======

-- Options of reports: metric, zeros, include_flat, exclude_flat, include_graph, exclude_graph,
-- include_time, exclude_time (lists of names or ids of functions). Given options (`more`) override
-- those that were set by profile:with (`given`).
local function merged(given, more)
   local result = {}
   raise.expect(more, "table?", "options of a report")
   for _, some in ipairs { given, more or {} } do
      for name, value in pairs(some) do
         result[name] = value
      end
   end
   return result
end

-- Returns a function that returns the view `flat` of a metric, with functions without cost.
local function flat_of(self)
   return function(metric)
      return of(self).body:flat(merged(of(self).given, { metric = metric, zeros = true }))
   end
end

local function listing(name)
   return function(self, more)
      local state = of(self)
      local all = merged(state.given, more)
      return view.over(function()
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
---Source lines by time: file, line, count, self, self_share, function. Needs lines = true.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.lines = listing "lines"
---Source lines in order of file and line, with calls and time. Needs lines = true.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.annotations = listing "annotations"
---All functions with their numbers.
---@type fun(self: profio.Profile, options: table|nil): profio.View
methods.functions = listing "functions"
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
      local state, all = of(self), merged(of(self).given, more)
      return view.over(function()
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
   local made = derived(self, state.body, merged(state.given, more), state.pin)
   of(made).compared, of(made).again = state.compared, state.again
   return made
end

---Returns totals and properties, computed with options of reports.
---@param more table|nil
---@return table<string, any>
function methods:facts_with(more)
   local state = of(self)
   return state.body:facts(merged(state.given, more))
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

---Returns the object of the core, for reports and exports; nil for a profile of sums.
---@return userdata|nil
function methods:handle()
   return of(self).body.core
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

---Returns its name in exports: the path of its trace; a sum has up to three, or the first of many.
---@return string
function methods:title()
   return titles.of(of(self))
end

---Returns the header fields of the profile's files, for export pprof: a list with those of each
---file, and the executable as a mapping.
---@return { heads: table[], mapping: table|nil }
function methods:origin()
   return of(self).origin or { heads = {} }
end

---Returns the new and the old profile of a difference, else nil.
---@return profio.Profile|nil new
---@return profio.Profile|nil old
function methods:compared()
   local both = of(self).compared or {}
   return both[1], both[2]
end

---Returns the metric that views show by default: the one that the file states, else time, else the
---first one. For pprof: default_sample_type, else the last one.
---@return string|nil
function methods:usual_metric()
   return of(self).body:usual()
end

---Returns its functions and arcs as sums, for exports; see internal/bodies/sums_body.lua.
---@param keeps_files boolean|nil functions of one name in several files stay apart
---@return profio.core.Contexts functions
---@return profio.core.Contexts arcs
function methods:sums(keeps_files)
   return of(self).body:sums(of(self).given):both(keeps_files or self:kind() == "contexts")
end

---Returns its calling contexts, for exports: those it has, or one of one frame for each function.
---@return profio.core.Contexts
function methods:contexts()
   local state = of(self)
   if state.body.kind == "contexts" then
      return state.body.core
   end
   return contexts_body.of_functions(state.body:metrics(), flat_of(self))
end

-- {====== Algebra ======

local function is_profile(value)
   return type(value) == "table" and rawget(value, profile) ~= nil
end

-- Converts two bodies to the same kind: contexts stay contexts, all others become sums.
local function alike(a, b)
   local left, right = of(a), of(b)
   if left.body.kind == "contexts" and right.body.kind == "contexts" then
      return left.body, right.body
   end
   return left.body:sums(left.given), right.body:sums(right.given)
end

local function joined(a, b)
   return table.move(b, 1, #b, #a + 1, table.move(a, 1, #a, 1, {}))
end

-- Adds or subtracts two profiles. Sums do not know paths of more than one step, so a profile of
-- sums is narrowed by narrowing its operands: `again(change)` builds it from the changed operands;
-- nil: the operands are not known any more.
local function combine(a, b, sign)
   if not is_profile(a) or not is_profile(b) then
      error("profiles are added to and taken away from profiles; p:scale(x) multiplies", 3)
   end
   local left, right = alike(a, b)
   local made = new(left:merge(right, sign), {}, nil, joined(of(a).notes, of(b).notes))
   of(made).title, of(made).summed = titles.of_both(of(a), of(b), sign)
   of(made).compared = sign < 0 and { a, b } or nil
   of(made).origin = origin.of_both(of(a).origin, of(b).origin)
   of(made).again = function(change)
      return combine(change(a), change(b), sign)
   end
   of(made).inputs = joined(of(a).inputs, of(b).inputs)
   return made
end

---a + b: the cost of both.
function Profile.__add(a, b)
   return combine(a, b, 1)
end

---a - b: positive where a costs more.
function Profile.__sub(a, b)
   return combine(a, b, -1)
end

-- Returns a body that can be scaled: a graph becomes sums.
local function plain_body(self)
   local state = of(self)
   return state.body.kind == "graph" and state.body:sums(state.given) or state.body
end

-- Returns the body itself if it can be grouped and pruned exactly, else its sums. A graph can,
-- unless it is gprof's or options narrow its reports.
local function exact_body(self)
   local state = of(self)
   local is_exact = state.body.kind ~= "graph"
      or not state.body:is_compat() and next(state.given) == nil
   return is_exact and state.body or plain_body(self)
end

---Compare with an older profile, one row for each function, the largest change first: function,
---self, self_before, change, relative, total, total_before, total_change, significance, file,
---line. The formats may differ. Functions are matched by name, and by file if a profile has the
---name in several files. The significance is missing if one of them has no samples, since the
---precision of its times is unknown.
---@param old profio.Profile
---@param metric string|nil
---@return profio.View
function methods:diff(old, metric)
   if not is_profile(old) then
      error("diff expects a profile, got " .. type(old), 2)
   end
   return view.over(function()
      local mine, theirs = matching.align(
         matching.functions(of(self).body, flat_of(self), metric, ""),
         matching.functions(of(old).body, flat_of(old), metric, " before"), true)
      return assert(mine:merge(theirs)):diff()
   end, { self, old })
end

-- Multiplies all weights by a factor, or by factor / whole.
local function scaled(self, ...)
   local ratio = table.pack(...)
   local made = derived(self, plain_body(self):scale(...), of(self).given)
   of(made).again = function(change)
      return scaled(change(self), table.unpack(ratio, 1, ratio.n))
   end
   return made
end

---Multiply all weights. They stay integers; the sum of each metric is the rounded product.
---@param factor number
---@return profio.Profile
function methods:scale(factor)
   if type(factor) ~= "number" then
      error("scale expects a number, got " .. type(factor), 2)
   end
   return scaled(self, factor)
end

---Scale so that the total of a metric equals that of another profile, or a number. This makes runs
---of different length comparable.
---@param to profio.Profile|number
---@param metric string|nil default: the metric that views show
---@return profio.Profile
function methods:normalise(to, metric)
   local wanted = is_profile(to) and counts.whole(of(to).body, metric) or to
   if type(wanted) ~= "number" then
      error("normalise expects a profile or a number", 2)
   end
   local whole = counts.whole(of(self).body, metric)
   if whole == 0 then
      error("normalise: the whole of this profile is 0", 2)
   end
   if math.type(wanted) ~= "integer" then
      return self:scale(wanted / whole)
   elseif whole < 0 then
      wanted, whole = -wanted, -whole
   end
   return scaled(self, wanted, whole)
end

-- Marks of functions, as contexts:narrow of the core expects them.
local KEEP, LEAVE_OUT, HIDE = 1, 2, 4

local function marked(self, is_wanted, mark)
   local state, marks, frames = of(self), {}, of(self).body:frames()
   for _, frame in ipairs(frames) do
      marks[frame.number] = is_wanted(frame) and mark or nil
   end
   if mark == KEEP and next(marks) == nil then -- no function is in focus: leave out all
      for _, frame in ipairs(frames) do
         marks[frame.number] = LEAVE_OUT
      end
   end
   local body, given = state.body:narrow(marks, state.given)
   return derived(self, body, given, state.pin)
end

-- Narrows a profile of sums: narrows the profiles from which it was built and builds it again.
local function marked_sums(self, is_wanted, mark)
   local state = of(self)
   if not state.again then
      error("a pruned sum or difference of profiles of functions and arcs does not know who called "
         .. "whom: narrow the profiles first", 3)
   end
   return state.again(function(part)
      local narrow = of(part).body.kind == "sums" and marked_sums or marked
      return narrow(part, is_wanted, mark)
   end):with(state.given)
end

local function narrowed(mark)
   return function(self, wanted)
      local narrow = of(self).body.kind == "sums" and marked_sums or marked
      return narrow(self, picks.of(wanted), mark)
   end
end

---Only the cost of these functions and of all that they call.
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.focus = narrowed(KEEP)
---Leaves out all stacks with these functions (in a graph: the functions and their share of
---callees).
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.ignore = narrowed(LEAVE_OUT)
---Charges the cost of these functions to their callers. A function without a caller keeps its self
---cost.
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.hide = narrowed(HIDE)

---Merge functions: by "file", or by the names that a function returns for frames (nil: unchanged).
---@param by "file"|fun(frame: { function: string, file: string|nil, line: integer|nil }): string
---@return profio.Profile
function methods:group(by)
   if by ~= "file" and type(by) ~= "function" then
      error('group expects "file" or a function of a frame', 2)
   end
   if of(self).body.kind == "sums" and of(self).again then
      return of(self).again(function(part)
         return part:group(by)
      end):with(of(self).given)
   end
   local body = exact_body(self)
   return derived(self, body:rename(picks.groups(body:frames(), by)), of(self).given)
end

---Merge contexts whose total is below a share of the whole into their callers.
---@param share number 0.01 is one per cent
---@param metric string|nil
---@return profio.Profile
function methods:prune(share, metric)
   if type(share) ~= "number" or not (share >= 0 and share <= 1) then
      error(("prune: the share must be a number from 0 to 1, got %s"):format(tostring(share)), 0)
   end
   raise.expect(metric, "string?", "prune: the metric")
   return derived(self, exact_body(self):prune(share, metric), of(self).given)
end

-- }======

---Export the profile for another program. The file appears when it is complete. Raises if the path
---is a file from which the profile was built.
---@param kind string "pprof", "folded", "callgrind", ...
---@param path string|nil nil: return the bytes
---@param given table|nil options of the export
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function methods:export(kind, path, given)
   return require("profio.exports").run(kind, "profile", self, given, path, of(self).inputs)
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
      return methods.facts_with(self)
   end
   return methods[key]
end

return profile
