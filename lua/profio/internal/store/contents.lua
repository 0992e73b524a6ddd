-- Converts an open trace to a run of a store: the facts by which it is listed and selected, its
-- losses and warnings, and its profile.

local call_sums = require "profio.internal.store.call_sums"
local combined = require "profio.internal.store.combined"
local core = require "profio.core"
local details = require "profio.internal.store.details"
local graphs = require "profio.internal.store.graphs"
local identity = require "profio.internal.store.identity"
local origin = require "profio.internal.bodies.origin"
local problem = require "profio.internal.store.problem"
local profile_parts = require "profio.internal.bodies.profile_parts"
local selecting = require "profio.internal.store.selecting"
local traces = require "profio.internal.trace"

local contents = {}

---Numbers of runs, as engines count them.
---@class profio.RunCounts
---@field runs integer
---@field damaged integer runs with losses
---@field with_calls integer runs with statistics of calls
---@field graphs integer runs with histograms and arcs

---A run as engines store and return it.
---@class profio.StoredRun
---@field hash string 16 bytes; see identity.lua
---@field time integer when it was recorded, ns since 1970
---@field time_from "file"|"modified" the files state the time, or it is the modification time of
---the first file; 0 without one
---@field added integer when it was added, ns since 1970
---@field format string
---@field kind string from what the profile was built: see trace:profile_kind
---@field files integer
---@field bytes integer
---@field losses integer how many losses and damages the files have
---@field call_bytes integer size of its statistics of calls; 0: it has none
---@field path string
---@field profio string version
---@field labels table<string, string>
---@field left_out boolean|nil of a new run: a file has mappings, labels of samples, or costs of
---calls, which are not stored
---@field details string see details.lua: metrics, usual, losses, warnings, heads, mapping
---@field rows integer|nil read from SQLite with details: rows of its profile that the tables have

---The data that engines store for a run beside its facts.
---@class profio.RunContents
---@field contexts profio.core.Contexts|nil its profile, unless it has histograms and arcs
---@field graph table|nil its histograms and arcs: see graphs.lua
---@field calls string|nil the packed sums of its calls: see call_sums.lua

-- Returns the time that the files state (pprof: time_nanos), the earliest one; else nil.
local function stated_time(heads)
   local earliest
   for _, head in ipairs(heads) do
      for _, fact in ipairs(head) do
         if fact.name == "time_nanos" and fact.value ~= 0
            and (not earliest or fact.value < earliest)
         then
            earliest = fact.value
         end
      end
   end
   return earliest
end

local function time_of(state, heads)
   local stated = stated_time(heads)
   if stated then
      return stated, "file"
   end
   local seconds = state.paths[1] and select(2, core.file_state(state.paths[1])) or 0
   return seconds * 1000000000, "modified"
end

-- Returns the header fields of files that a store keeps, by name and value only.
local function plain_heads(heads)
   local list = {}
   for i, head in ipairs(heads) do
      list[i] = {}
      for _, fact in ipairs(head) do
         if combined.head_fields[fact.name] then
            table.insert(list[i], { name = fact.name, value = fact.value })
         end
      end
   end
   return list
end

-- Returns the metrics of contexts, and the one that the files state as default.
local function metrics_of(contexts)
   local list = {}
   for i, metric in ipairs(contexts:metrics()) do
      list[i] = { name = metric.name, unit = metric.unit }
   end
   local usual, is_stated = contexts:usual()
   return list, is_stated and usual or nil
end

-- Returns the warnings of a trace with their paths.
local function warnings_of(trace)
   local list = {}
   for i, warning in ipairs(trace.warnings) do
      list[i] = { code = warning.code, kind = warning.kind, path = warning.path or trace.path,
         offset = warning.offset, count = warning.count, message = warning.message }
   end
   return list
end

---Raises if labels cannot be stored.
---@param labels table<string, string>
---@return table<string, string>
function contents.check_labels(labels)
   for key, value in pairs(labels) do
      if type(key) ~= "string" or type(value) ~= "string" then
         error("labels are texts by name: labels = { version = \"v2\" }", 0)
      elseif key == "" or value == "" then
         error(("label '%s': neither the name nor the value may be empty"):format(key), 0)
      elseif selecting.attribute(key) then
         error(("label '%s': each run has an attribute of this name; choose another"):format(key),
            0)
      end
   end
   return labels
end

-- Returns the contents of a run with stacks, their details, and all header fields.
local function stacks_of(trace)
   local profile = problem.check(trace:profile())
   local contexts, stated = profile_parts.contexts(profile), profile_parts.origin(profile)
   local metrics, usual = metrics_of(contexts)
   return { contexts = contexts }, { metrics = metrics, usual = usual,
      heads = plain_heads(stated.heads), mapping = stated.mapping,
      sampling = stated.sampling[1] and stated.sampling or nil }, stated.heads
end

---Returns the identity and the size of a trace as the beginning of a run, without its profile.
---Raises failures.
---@param trace profio.Trace
---@param labels table<string, string>
---@return profio.StoredRun
function contents.begun(trace, labels)
   local state = traces.of(trace)
   if state.format.is_store then
      problem.raise(trace.path .. ": a store, no trace: profio store merge adds its runs",
         "unsupported")
   end
   local hash, size = identity.of(state)
   return { hash = hash, format = trace.format, files = #state.sources,
      bytes = size, path = trace.path or "(data)", profio = core.version,
      labels = labels }
end

-- Returns whether a trace has more than a profile of stacks has: mappings, addresses of locations
-- with functions, or labels of samples; or inclusive costs of functions and calls.
local function has_more(trace)
   if trace.format ~= "pprof" then
      return trace:profile_kind() == "sums"
   end
   local info = trace.info
   return info.mapping ~= nil or info.addresses ~= nil or trace:row_count "labels" ~= 0
end

---Completes a run with the profile of its trace. Raises failures.
---@param run profio.StoredRun as of contents.begun
---@param trace profio.Trace
---@return profio.RunContents
function contents.complete(run, trace)
   local state, kind = traces.of(trace), trace:profile_kind()
   local kept, more, heads
   if kind == "graph" then
      local stated = origin.of_trace(state)
      kept, more, heads = { graph = graphs.of_trace(state, identity.program(state)) },
         { metrics = {}, heads = plain_heads(stated.heads), mapping = stated.mapping }, stated.heads
   elseif kind then
      kept, more, heads = stacks_of(trace)
   else
      problem.raise(trace.path .. ": no profile is made from its tables", "unsupported")
   end
   run.time, run.time_from = time_of(state, heads)
   kept.calls = call_sums.of_trace(trace, state)
   more.losses, more.warnings = trace:losses(), warnings_of(trace)
   run.kind, run.losses, run.details = kind, #more.losses, details.pack(more)
   run.call_bytes = kept.calls and #kept.calls or 0
   run.left_out = has_more(trace) or nil
   return kept
end

---Converts contents to plain values, which `unpack` converts back in another process.
---@param kept profio.RunContents
---@param sent table<string, boolean> hashes of the programs that were passed on; extended
---@return table packed without the profile
---@return string|nil contexts the profile
function contents.pack(kept, sent)
   local graph = kept.graph and { rows = kept.graph.rows, programs = {} }
   for hash, bytes in pairs(graph and kept.graph.programs or {}) do
      graph.programs[#graph.programs + 1] = { hash = hash, bytes = not sent[hash] and bytes or nil }
      sent[hash] = true
   end
   return { graph = graph, calls = kept.calls }, kept.contexts and kept.contexts:pack()
end

---Returns contents that `pack` has converted.
---@param packed table
---@param contexts string|nil
---@param dictionary profio.core.Dictionary gets the names of the profile
---@param programs table<string, string> by hash: the programs that were received; extended
---@return profio.RunContents
function contents.unpack(packed, contexts, dictionary, programs)
   local graph = packed.graph and { rows = packed.graph.rows, programs = {} }
   for _, program in ipairs(graph and packed.graph.programs or {}) do
      programs[program.hash] = program.bytes or programs[program.hash]
      graph.programs[program.hash] = programs[program.hash]
   end
   return { contexts = contexts and core.unpack_contexts(contexts, dictionary),
      graph = graph, calls = packed.calls }
end

return contents
