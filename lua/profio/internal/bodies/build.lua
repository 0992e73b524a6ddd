-- Builds the bodies of profiles from the tables of a trace: a graph from its histogram and arcs, or
-- contexts from its stacks or calls.

local later = require "profio.internal.later"
local calls = later "profio.internal.calls"
local contexts_body = later "profio.internal.bodies.contexts_body"
local core = require "profio.core"
local graph_body = require "profio.internal.bodies.graph_body"
local object = require "profio.internal.bodies.profile_object"
local options = require "profio.internal.options"
local stacks = require "profio.internal.bodies.stacks"
local sums_body = later "profio.internal.bodies.sums_body"
local tables = require "profio.internal.table_readers"
local trace_symbols = require "profio.internal.bodies.trace_symbols"

local making = {}

-- Options of trace:profile.
local declared = {
   { name = "compat", type = "choice", choices = { "gprof", "exact" },
      help = "compute as gprof 2.40 does, or exactly; default: as the trace was opened" },
   { name = "lines", type = "bool", default = false, help = "also attribute time to source lines" },
   { name = "by_line", type = "bool", default = false,
      help = "treat each source line as a function, as with gprof's -l" },
   { name = "demangle", type = "bool", default = true, help = "show C++ names demangled" },
   { name = "arcs", type = "view", help = "use these arcs instead of table arcs" },
   { name = "calls", type = "view", help = "use these calls instead of all calls of the events" },
   { name = "samples", type = "view", help = "use these samples instead of all of them" },
   { name = "from", type = "int", help = "of events or samples with times: only from this time" },
   { name = "to", type = "int", help = "of events or samples with times: only before this time" },
   { name = "lane", type = "where", help = "of events, or samples with a thread: only this lane" },
}

-- {====== Kinds ======

---Returns the kind of tables from which a profile of the trace is built: "stacks" (a table with
---stacks, or of functions), "sums" (costs of functions and of their calls), "graph" (histogram and
---arcs), "calls" (events); nil if there is none.
---@param state table of the trace
---@return string|nil
function making.kind(state)
   local stored = state.stored
   if stored and stored.has "histogram" then
      return "graph"
   elseif stacks.has(state) then
      return not stored and stacks.wanted(state).call_costs and "sums" or "stacks"
   end
   if state.schema.histogram or state.schema.arcs then
      return "graph"
   end
   return state.schema.events and "calls" or nil
end

---Returns the table from which a profile of a part of the time is built: "events", or one of
---samples with times; nil if there is none.
---@param state table of the trace
---@return string|nil
function making.span_table(state)
   local kind = making.kind(state)
   local timed = kind == "stacks" and stacks.timed(state)
   return kind == "calls" and "events" or timed and timed.table or nil
end

---Returns whether a profile of the trace knows callers, to which the cost of functions can be
---charged.
---@param trace profio.Trace
---@param state table of the trace
---@return boolean
function making.has_callers(trace, state)
   local kind, wanted = making.kind(state), stacks.wanted(state)
   if kind == "sums" then
      return trace:row_count(wanted.call_costs) ~= 0
   elseif kind == "stacks" then
      return (wanted.stack or wanted.folded or wanted.caller) ~= nil
   end
   return kind == "calls"
      or kind == "graph" and state.schema.arcs ~= nil and trace:row_count "arcs" ~= 0
end

-- }======

-- {====== Contexts ======

local function body_of(made, message, code)
   if not made then
      return nil, message, code
   end
   return contexts_body.new(made)
end

---Returns a profile of calling contexts that do not come from a trace.
---@param made profio.core.Contexts
---@param title string name of the profile in exports
---@return profio.Profile
function making.of_contexts(made, title)
   local made_profile = object.new(contexts_body.new(made), {})
   object.of(made_profile).title = title
   return made_profile
end

---Returns the samples with times of a span and a lane, of those given or of all; nil: there are
---none.
---@param trace profio.Trace
---@param state table of the trace
---@param given table samples, from, to, lane
---@return profio.View|nil
---@return table|nil timed their description: see stacks.timed
function making.timed_samples(trace, state, given)
   local timed = stacks.timed(state)
   if not timed then
      return nil
   end
   local rows = given.samples or trace:table(timed.table)
   rows = (given.from or given.to) and rows:range(given.from, given.to) or rows
   if given.lane ~= nil and not timed.lanes then
      error(trace.path .. ": its samples are of no lanes", 0)
   end
   rows = given.lane ~= nil and rows:where { [timed.lanes] = given.lane } or rows
   return rows, timed
end

-- The kinds of profiles that rows can be given for.
local KINDS_OF = { arcs = "graph", calls = "calls", samples = "stacks" }

-- Raises if rows are given that are not what the profile is made from.
local function check_rows(trace, given, kind)
   for name, wanted in pairs(KINDS_OF) do
      if given[name] and kind and kind ~= wanted then
         error(("%s: its profile is not made from %s"):format(trace.path, name), 0)
      end
   end
end

local function is_part(given)
   return (given.from or given.to or given.lane) ~= nil
end

-- From a table with stacks or with columns of functions.
local function of_stacks(trace, state, given)
   given.samples = is_part(given) and making.timed_samples(trace, state, given)
      or given.samples
   return body_of(stacks.contexts(state, given))
end

-- Adds a warning to the trace, unless it has one of this code.
local function note_once(state, code, kind, message)
   for _, note in ipairs(state.notes) do
      if note.code == code then
         return
      end
   end
   state.notes[#state.notes + 1] = { code = code, kind = kind, message = message }
end

-- Notes functions with more than the whole: they call each other in a circle.
local function note_cycles(state, body)
   local name, total = body:exceeding()
   if name then
      note_once(state, state.format.name .. "-cycle", "note", ("%s has a total of %d %s, more than "
         .. "the whole: it and other functions call each other in a circle, and calls in it are "
         .. "counted several times"):format(name, total, body:usual()))
   end
end

-- From a table of costs by line, and one of calls with inclusive costs.
local function of_sums(state, wanted)
   local body, message, code = sums_body.of_tables(function()
      return tables.plain(state, wanted.table)
   end, function()
      return tables.plain(state, wanted.call_costs)
   end, wanted.metrics)
   if body then
      note_cycles(state, body)
   end
   return body, message, code
end

-- From calls: those given, or those of a span and a lane.
local function of_calls(trace, given)
   local rows = given.calls or trace:calls { from = given.from, to = given.to }
   rows = given.lane ~= nil and rows:where { lane = given.lane } or rows
   return body_of(calls.contexts(rows))
end

-- }======

-- {====== Graphs ======

-- Returns readers of the tables from which a graph is built.
local function graph_readers(state, arcs, is_compat)
   local read = is_compat and tables.plain or tables.addends
   local readers = {}
   for _, name in ipairs { "histogram", "arcs", "sets" } do
      if state.schema[name] then
         readers[name] = assert(read(state, name))
      end
   end
   readers.arcs = arcs and arcs:reader() or readers.arcs
   return readers
end

-- Views show one metric: if histograms are in several units, a note names the others, once.
local function note_units(state, body)
   local others, usual = {}, body:usual()
   for _, metric in ipairs(body:metrics()) do
      if metric.dimension and metric.name ~= usual then
         others[#others + 1] = ('metric = "%s"'):format(metric.name)
      end
   end
   if #others > 0 and not state.noted_units then
      state.noted_units = true
      state.notes[#state.notes + 1] = { code = state.format.name .. "-several-units",
         kind = "note", message = ("the histograms are in several units, which are not added up: "
            .. "rows show '%s'; the others: %s"):format(usual, table.concat(others, ", ")) }
   end
end

-- Adds the notes of the format about what a profile lacks. Selected arcs are not all calls, and
-- gprof's arithmetic is for comparing.
local function note_lacks(state, body, given, symbols)
   local facts = body:facts()
   if not state.format.profile_notes or given.arcs or given.by_line or facts.compat then
      return
   end
   local notes = state.format.profile_notes(body, facts, state.first,
      symbols and state.dictionary or nil)
   for _, note in ipairs(notes) do
      note_once(state, note.code, "note", note.message)
   end
end

-- Returns the body, and adds a warning if a sum was limited to the integer range, or if weights
-- have no stack.
local function noting_losses(state, body, ...)
   local facts = body and body:facts() or {}
   if facts.overflowed then
      note_once(state, "profile-overflow", "damage", object.OVERFLOW)
   end
   if (facts.unstacked or 0) ~= 0 then
      note_once(state, "profile-no-stack", "note", ("%d of metric '%s' have no stack: only the "
         .. "whole contains them, to which shares refer"):format(facts.unstacked, body:usual()))
   end
   return body, ...
end

-- From a histogram and arcs; the symbols must live as long as the body.
local function of_graph(state, given)
   local is_compat = (given.compat or state.options.compat) == "gprof"
   local symbols = trace_symbols.picked(state, is_compat, given.by_line)
   local readers = graph_readers(state, given.arcs, is_compat)
   local made, message, code = core.profile {
      histogram = readers.histogram, arcs = readers.arcs, sets = readers.sets,
      symbols = symbols and symbols.symbols, bias = state.load_bias, compat = is_compat,
      lines = given.lines or false, demangle = given.demangle ~= false,
      dictionary = state.dictionary,
   }
   if not made then
      return nil, message, code
   end
   local body = graph_body.new(made)
   note_units(state, body)
   note_lacks(state, body, given, symbols)
   return noting_losses(state, body, nil, nil, symbols)
end

-- }======

-- Returns the sum of the profiles of a store's runs with histograms and arcs, one for each program,
-- and of its runs with stacks.
local function of_stored(state, stored, given)
   local list, message, code = stored.traces(state.notes)
   local sum, made
   for _, inner in ipairs(list or {}) do
      made, message, code = inner:profile(given)
      if not made then
         return nil, message, code
      end
      sum = sum and sum + made or made
   end
   if list and stored.has_stacks then
      made, message, code = stored.contexts(state.dictionary)
      sum = made and sum + making.of_contexts(made, state.paths[1])
   end
   if sum then
      stored.note_kinds(sum:usual_metric(), sum:metrics())
   end
   return sum and { kind = "profile", profile = sum }, message, code
end

---Builds the body of a trace's profile; raises if the trace has no suitable table.
---@param trace profio.Trace
---@param state table of the trace
---@param given table compat, lines, by_line, demangle, arcs, calls, samples, from, to, lane
---@return table|nil body, or { kind = "profile", profile = the profile }
---@return string|nil message
---@return string|nil code
---@return any pin a value that must live as long as the body
function making.body(trace, state, given)
   given = options.check(declared, given, "profile")
   local stored, kind = state.stored, making.kind(state)
   check_rows(trace, given, kind)
   if stored and stored.has_graphs then
      return of_stored(state, stored, given)
   end
   if kind and is_part(given) and not making.span_table(state) then
      error(trace.path .. ": its profile is of the whole: from, to and lane are for events, and "
         .. "samples with times", 0)
   elseif kind == "sums" then
      return noting_losses(state, of_sums(state, stacks.wanted(state)))
   elseif kind == "stacks" then
      local body, message, code, pin = noting_losses(state, of_stacks(trace, state, given))
      if body and stored then
         stored.note_kinds(body:usual(), body:metrics())
      end
      return body, message, code, pin
   elseif kind == "calls" then
      return noting_losses(state, of_calls(trace, given))
   elseif not kind then
      error(("%s: no table that a profile is made from; there are: %s"):format(trace.path,
         table.concat(trace.tables, ", ")), 0)
   end
   return of_graph(state, given)
end

return making
