-- Profiles: what functions cost, and who called whom. A profile owns its numbers and outlives the
-- trace it was made from. Its body is one of three (lua/profio/bodies): a graph of functions and
-- arcs, a tree of calling contexts, or sums of either. What changes a profile makes another.

local conditions = require "profio.conditions"
local contexts_body = require "profio.bodies.contexts"
local core = require "profio.core"
local counts = require "profio.bodies.counts"
local making = require "profio.bodies.making"
local matching = require "profio.bodies.matching"
local near = require "profio.near"
local origin = require "profio.bodies.origin"
local raise = require "profio.raise"
local view = require "profio.view"

local profile = { kind = making.kind, has_callers = making.has_callers }

---@class profio.Profile
---@field facts table<string, any> numbers of the whole: metrics, samples, rate, functions, ...
local Profile = { __name = "profio.profile" }
local methods = {}

-- {====== Making ======

local function new(body, given, pin, notes)
   return setmetatable({ [profile] = { body = body, given = given, pin = pin,
      notes = notes or {}, inputs = {} } }, Profile)
end

local function of(self)
   return rawget(self, profile)
end

-- A profile made of another one: what it is called, what its files state and what was lost stay
-- with it.
local function derived(self, body, given, pin)
   local state = of(self)
   local made = new(body, given, pin, state.notes)
   of(made).title, of(made).inputs, of(made).origin = state.title, state.inputs, state.origin
   return made
end

-- Exports say what a profile was made from, and replace none of these files.
local function titled(made, trace, stated)
   of(made).title, of(made).origin = trace.path, stated
   of(made).inputs = require("profio.inputs").paths_of(require("profio.trace").of(trace))
   return made
end

---The profile of calling contexts that were not made from a trace.
---@param made profio.core.Contexts
---@param title string what exports call it
---@return profio.Profile
function profile.of_contexts(made, title)
   local made_profile = new(contexts_body.new(made), {})
   of(made_profile).title = title
   return made_profile
end

---Make the profile of a trace; see trace:profile.
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
   return titled(new(body, {}, pin, trace:losses()), trace, origin.of_trace(state))
end

-- }======

-- {====== Views ======

-- Reports take options: metric, zeros, include_flat, exclude_flat, include_graph, exclude_graph,
-- include_time, exclude_time (lists of names or numbers of functions). Those that the profile was
-- narrowed by stand below those given.
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
methods.flat = listing "flat"
---Arcs: caller, callee, calls, self, total.
methods.graph = listing "graph"
---The call graph as gprof prints it, a row for each line.
methods.graph_listing = listing "graph_listing"
---The index by function name, a row for each cell.
methods.index = listing "index"
---Source lines by time: file, line, count, self, self_share, function. Wants lines = true.
methods.lines = listing "lines"
---Source lines in order of file and line, with calls and time. Wants lines = true.
methods.annotations = listing "annotations"
---All functions with their numbers.
methods.functions = listing "functions"
---Stacks from the top down, the heaviest callees first: depth, function, calls, self, total,
---self_share, total_share, file, line, node, label (the name, indented).
methods.tree = listing "tree"
---The functions that spent something, below each those that called it: as tree, but self is what
---the function of the first level spent, and its callers have none; total and calls say what of it
---came from there.
methods.bottom_up = listing "bottom_up"

-- No arcs, and a note: a name that no function has leaves nothing, like any other selection.
local function no_arcs(self, name, func, all)
   local body, names, is_known = of(self).body, {}, false
   for i, frame in ipairs(body:frames()) do
      names[i], is_known = frame["function"], is_known or frame["function"] == func
   end
   if not is_known then -- one without arcs has no row in sums
      view.note(self, "no-function", ("%s: no function is called '%s'%s"):format(name, func,
         near.hint(func, names)))
   end
   return core.limit(body:graph(all), 0, 0)
end

local function arcs_of(name)
   return function(self, func, more)
      raise.expect(func, "string", name .. ": the function")
      local state = of(self)
      local all = merged(state.given, more)
      return view.over(function()
         return state.body[name](state.body, func, all) or no_arcs(self, name, func, all)
      end, self)
   end
end

---Who called a function, and what they got of its time: as graph. Of a function that is not there
---no rows, and view.warnings says so.
methods.callers = arcs_of "callers"
---Whom a function called: as graph.
methods.callees = arcs_of "callees"

-- }======

---The same profile seen with other options of reports: metric, include_graph, ...
---@param more table
---@return profio.Profile
function methods:with(more)
   local state = of(self)
   local made = derived(self, state.body, merged(state.given, more), state.pin)
   of(made).compared, of(made).again = state.compared, state.again
   return made
end

---The numbers of headings, with options of reports taken into account.
---@param more table|nil
---@return table<string, any>
function methods:facts_with(more)
   local state = of(self)
   return state.body:facts(merged(state.given, more))
end

---What is counted: { { name =, unit =, total = }, ... }
---@return { name: string, unit: string, total: integer }[]
function methods:metrics()
   return of(self).body:metrics()
end

---What its body is: "graph", "contexts" or "sums".
---@return string
function methods:kind()
   return of(self).body.kind
end

---The object of the core, for reports and exports; a profile of sums has none.
---@return userdata|nil
function methods:handle()
   return of(self).body.core
end

---What was lost of the traces it was made from, in words.
---@return string[]
function methods:notes()
   return of(self).notes
end

---What it is called in exports: the path of the trace it was made from.
---@return string
function methods:title()
   return of(self).title or "profile"
end

---Returns the facts that the files of the profile state beside their records, for export pprof: a
---list with those of each file, and the executable as a mapping.
---@return { heads: table[], mapping: table|nil }
function methods:origin()
   return of(self).origin or { heads = {} }
end

---The two profiles a difference was made from: the new one and the old one; else nil.
---@return profio.Profile|nil new
---@return profio.Profile|nil old
function methods:compared()
   local both = of(self).compared or {}
   return both[1], both[2]
end

---The metric that views show when none is named: the one that the file states, else time, else the
---first. Of pprof: default_sample_type, else the last.
---@return string|nil
function methods:usual_metric()
   return of(self).body:usual()
end

---Its functions and arcs as sums, for exports; see bodies/sums.lua.
---@return profio.core.Contexts functions
---@return profio.core.Contexts arcs
function methods:sums()
   local state = of(self)
   local sums = state.body:sums(state.given)
   return sums.by_function, sums.by_arc
end

---Its calling contexts, for exports: those it has, or a context of one frame for each function.
---@return profio.core.Contexts
function methods:contexts()
   local state = of(self)
   if state.body.kind == "contexts" then
      return state.body.core
   end
   local made
   for _, metric in ipairs(state.body:metrics()) do
      local one = assert(core.contexts {
         reader = state.body:flat(merged(state.given, { metric = metric.name, zeros = true })),
         ["function"] = "function", file = "file", line = "line",
         metrics = { { name = metric.name, unit = metric.unit, column = "self" } },
      })
      made = made and assert(made:merge(one)) or one
   end
   return made
end

-- {====== Algebra ======

local function is_profile(value)
   return type(value) == "table" and rawget(value, profile) ~= nil
end

-- Two bodies of one kind: contexts stay contexts, everything else becomes sums.
local function alike(a, b)
   local left, right = of(a), of(b)
   if left.body.kind == "contexts" and right.body.kind == "contexts" then
      return left.body, right.body
   end
   return left.body:sums(left.given), right.body:sums(right.given)
end

-- Sums do not say who called whom over more than one step, so a profile of sums is narrowed by
-- narrowing what it was made of: `again(change)` makes it of the changed profiles. nil: that is not
-- known any more.
local function combine(a, b, sign)
   if not is_profile(a) or not is_profile(b) then
      error("profiles are added to and taken away from profiles; p:scale(x) multiplies", 3)
   end
   local left, right = alike(a, b)
   local notes = table.move(of(a).notes, 1, #of(a).notes, 1, {})
   local made = new(left:merge(right, sign), {}, nil,
      table.move(of(b).notes, 1, #of(b).notes, #notes + 1, notes))
   of(made).title = a:title() .. " and " .. b:title()
   of(made).origin = origin.of_both(of(a).origin, of(b).origin)
   of(made).again = function(change)
      return combine(change(a), change(b), sign)
   end
   of(made).inputs = table.move(of(b).inputs, 1, #of(b).inputs, #of(a).inputs + 1,
      table.move(of(a).inputs, 1, #of(a).inputs, 1, {}))
   if sign < 0 then
      of(made).compared = { a, b }
      of(made).title = a:title() .. " less " .. b:title()
   end
   return made
end

---a + b: what both spent.
function Profile.__add(a, b)
   return combine(a, b, 1)
end

---a - b: positive where a spent more.
function Profile.__sub(a, b)
   return combine(a, b, -1)
end

-- The body that can be scaled and pruned: a graph becomes sums.
local function plain_body(self)
   local state = of(self)
   return state.body.kind == "graph" and state.body:sums(state.given) or state.body
end

-- The same where a graph can be changed itself: not gprof's, nor one whose reports are narrowed.
local function exact_body(self)
   local state = of(self)
   local is_exact = state.body.kind ~= "graph"
      or not state.body:is_compat() and next(state.given) == nil
   return is_exact and state.body or plain_body(self)
end

-- What a profile says of each function, as a profile of single frames whose metrics have the names
-- that contexts:diff wants.
local function functions_of(self, metric, suffix)
   local state = of(self)
   local columns = { ["function"] = "function", file = "file" }
   local function collected(wanted, metrics)
      columns.reader = state.body:flat(merged(state.given, { metric = wanted, zeros = true }))
      columns.metrics = metrics
      return assert(core.contexts(columns))
   end
   local made = collected(metric, {
      { name = "self" .. suffix, unit = "", column = "self" },
      { name = "total" .. suffix, unit = "", column = "total" } })
   local counted = counts.of_samples(state.body:metrics(), metric or state.body:usual())
   return counted and assert(made:merge(collected(counted,
      { { name = "count" .. suffix, unit = "", column = "self" } }))) or made
end

---This profile beside an older one, a row for each function, the largest change first: function,
---self, self_before, change, relative, total, total_before, total_change, significance, file,
---line. Profiles of any two formats go together. Functions are matched by name, and by file where
---a profile has a name in several files. The significance is missing where either of them
---has no samples: how exact its times are is not known.
---@param old profio.Profile
---@param metric string|nil
---@return profio.View
function methods:diff(old, metric)
   if not is_profile(old) then
      error("diff expects a profile, got " .. type(old), 2)
   end
   return view.over(function()
      local mine, theirs = matching.align(functions_of(self, metric, ""),
         functions_of(old, metric, " before"), true)
      return assert(mine:merge(theirs)):diff()
   end, { self, old })
end

-- All weights multiplied by a factor, or by factor / whole.
local function scaled(self, ...)
   local ratio = table.pack(...)
   local made = derived(self, plain_body(self):scale(...), of(self).given)
   of(made).again = function(change)
      return scaled(change(self), table.unpack(ratio, 1, ratio.n))
   end
   return made
end

---All weights multiplied. They stay whole; the sum of each metric is the rounded product.
---@param factor number
---@return profio.Profile
function methods:scale(factor)
   if type(factor) ~= "number" then
      error("scale expects a number, got " .. type(factor), 2)
   end
   return scaled(self, factor)
end

-- The whole of one metric.
local function whole_of(body, metric)
   local wanted = metric or body:usual()
   for _, known in ipairs(body:metrics()) do
      if known.name == wanted then
         return known.total
      end
   end
   if metric then
      error(("no metric '%s'"):format(metric), 3)
   end
   return 0
end

---Scaled so that the whole of a metric is that of another profile, or a number: what two runs of
---different length are compared by.
---@param to profio.Profile|number
---@param metric string|nil default: what the file shows first
---@return profio.Profile
function methods:normalise(to, metric)
   local wanted = is_profile(to) and whole_of(of(to).body, metric) or to
   if type(wanted) ~= "number" then
      error("normalise expects a profile or a number", 2)
   end
   local whole = whole_of(of(self).body, metric)
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

---What picks functions: a name, profio.match "pattern", a list of those, or a function of a frame.
---@alias profio.Pick string|table|fun(frame: table): boolean

local function picker(wanted)
   if type(wanted) == "function" then
      return wanted
   elseif type(wanted) == "string" then
      return function(frame)
         return frame["function"] == wanted or frame.symbol == wanted
      end
   elseif conditions.pattern(wanted) then
      local pattern = conditions.pattern(wanted)
      return function(frame)
         return frame["function"]:find(pattern) ~= nil
      end
   elseif type(wanted) ~= "table" or #wanted == 0 then
      error("functions are picked by a name, profio.match, a list of those or a function", 3)
   end
   local list = {}
   for i, one in ipairs(wanted) do
      list[i] = picker(one)
   end
   return function(frame)
      for _, is_wanted in ipairs(list) do
         if is_wanted(frame) then
            return true
         end
      end
      return false
   end
end

-- Marks of functions; see contexts:narrow of the core.
local KEEP, LEAVE_OUT, HIDE = 1, 2, 4

local function marked(self, is_wanted, mark)
   local state, marks, frames = of(self), {}, of(self).body:frames()
   for _, frame in ipairs(frames) do
      marks[frame.number] = is_wanted(frame) and mark or nil
   end
   if mark == KEEP and next(marks) == nil then -- the focus is on nothing
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
      return narrow(self, picker(wanted), mark)
   end
end

---Only what these functions and all they call cost.
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.focus = narrowed(KEEP)
---Without the stacks that these are on (of a graph: without them and their part of what they call).
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.ignore = narrowed(LEAVE_OUT)
---Charges the cost of these functions to their callers. A function keeps its self cost where it has
---no caller.
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.hide = narrowed(HIDE)

---Bring functions together: by "file", or by what a function of their frames answers (nil: as it
---is).
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
   local body, frames = exact_body(self), {}
   for _, frame in ipairs(body:frames()) do
      local name
      if by == "file" then
         name = frame.file or "(no file)"
      else
         name = by(frame)
      end
      if name ~= nil then
         frames[frame.number] = { ["function"] = tostring(name) }
      end
   end
   return derived(self, body:rename(frames), of(self).given)
end

---Contexts whose total is below a share of the whole are folded into their callers.
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

---Hand the profile to another program. The file appears when it is complete; a path that is a file
---which the profile was made from raises.
---@param kind string "pprof", "folded", "callgrind", ...
---@param path string|nil nil: the bytes are returned
---@param given table|nil options of the export
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function methods:export(kind, path, given)
   return require("profio.exports").run(kind, "profile", self, given, path,
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
      return methods.facts_with(self)
   end
   return methods[key]
end

return profile
