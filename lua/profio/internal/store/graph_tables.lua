-- The part of a store that is opened as a trace for its runs with histograms and arcs: their sums
-- are traces of gmon, one for each program. If all runs are of one program, the trace of the store
-- has the tables of its sum; else the sums are computed when a profile needs them.

local graphs = require "profio.internal.store.graphs"
local origin = require "profio.internal.bodies.origin"
local problem = require "profio.internal.store.problem"
local traces = require "profio.internal.trace"

local graph_tables = {}

-- Returns the sums as traces. Raises failures.
local function sums_of(state)
   if not state.traces then
      local unused
      state.traces, unused = graphs.opened(state.engine, state.tests, state.source:path(),
         state.given)
      if unused then
         state.source:warn(unused .. " is not used: it is not the program of these runs",
            { code = "store-executable-unused", kind = "note" })
      end
   end
   return state.traces
end

-- Adds up the histograms and arcs. Returns whether they can be tables: they are not damaged, and of
-- one program. Else a profile reports the failure, or a check.
local function check(state)
   local given = state.given
   local list, message, code = problem.caught(sums_of, state)
   if not list and state.source.part.all_warnings then
      state.source:warn(message, { code = "store-damaged" })
   elseif not list and (given.exe or given.symbols or given.compat) then
      problem.raise(message, code) -- the program that is given may not be readable
   end
   return list ~= nil and #list == 1
end

-- Adds what other files of profio ask a stored trace for.
local function add_functions(state, stored, detailed)
   ---Returns the sums of the runs with histograms and arcs, as traces that add their notes to the
   ---list; or nil, message, code.
   function stored.traces(notes)
      return problem.caught(function()
         detailed(state)
         for _, trace in ipairs(sums_of(state)) do
            traces.of(trace).notes = notes or traces.of(trace).notes
         end
         return state.traces
      end)
   end

   ---Returns the state of the trace that has the tables of histograms and arcs, or nil, message,
   ---code.
   function stored.inner()
      local list, message, code = stored.traces()
      if list and #list > 1 then
         return nil, state.source:path() .. ": the runs are of several programs, whose addresses "
            .. "are not added up: select those of one with --run", "unsupported"
      end
      return list and traces.of(list[1]), message, code
   end

   ---Returns the symbols of the programs.
   function stored.symbols()
      local list = {}
      for _, trace in ipairs(stored.has_graphs and problem.caught(sums_of, state) or {}) do
         list[#list + 1] = traces.of(trace).symbols
      end
      return list
   end
end

---Adds to a stored trace: has_graphs and has_stacks (whether runs have histograms and arcs, or
---stacks), tables (those of histograms and arcs, as part:tables returns them), has(name), origin(),
---traces(notes), inner() and symbols(); and to info the numbers of sets, bins, arcs and blocks.
---Raises failures.
---@param state table of the part
---@param stored table
---@param info table
---@param detailed fun(state: table): table[], table reads the details of the runs
function graph_tables.add(state, stored, info, detailed)
   local known, counts = {}, state.counts
   stored.has_graphs, stored.has_stacks = counts.graphs > 0, counts.graphs < counts.runs
   local has_tables = stored.has_graphs and not stored.has_stacks and check(state)
   stored.tables = has_tables and graphs.tables() or {}
   for _, described in ipairs(stored.tables) do
      known[described.name] = true
   end
   for _, name in ipairs(has_tables and { "sets", "bins", "arcs", "blocks" } or {}) do
      info[name] = state.traces[1].info[name]
   end

   ---Returns whether the store has a table of histograms and arcs: all its runs have them.
   function stored.has(name)
      return known[name] or false
   end

   ---Returns the header fields of the runs' files, and their executable: that which is given for
   ---reading, else that of the runs.
   function stored.origin()
      local _, all = detailed(state)
      local first = state.given.exe and state.traces and state.traces[1]
      local mapping = first and origin.of_trace(traces.of(first)).mapping
      return { heads = all.heads, mapping = mapping or all.mapping, sampling = all.sampling }
   end

   add_functions(state, stored, detailed)
end

---Closes the sums.
---@param state table of the part
function graph_tables.close(state)
   for _, trace in ipairs(state.traces or {}) do
      trace:close()
   end
end

return graph_tables
