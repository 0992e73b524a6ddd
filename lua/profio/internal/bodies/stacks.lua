-- Profiles of traces that have a table with stacks, or with columns of functions.

local core = require "profio.core"
local later = require "profio.internal.later"
local grouped_contexts = later "profio.internal.bodies.grouped_contexts"
local tables = require "profio.internal.table_readers"

local stacks = {}

---Returns the format's description of the table from which profiles are built, or nil. Some formats
---find it in the opened file; then it is nil once the trace is closed.
---@param state table of the trace
---@param part userdata|nil default: the first one
---@return table|nil
function stacks.wanted(state, part)
   local wanted = state.format.profile
   if type(wanted) ~= "function" then
      return wanted
   elseif state.closed or part or (state.options or {}).live then -- a file that grows may change it
      return not state.closed and wanted(part or state.first, state) or nil
   end
   if state.wanted == nil then
      state.wanted = wanted(state.first, state) or false
   end
   return state.wanted or nil
end

-- Returns whether the files of a trace have a table, but with different columns.
local function differs(state, name)
   return (state.differs or {})[name] or false
end

---@param state table of the trace
---@return boolean
function stacks.has(state)
   local wanted = stacks.wanted(state)
   return wanted ~= nil and (state.schema[wanted.table] ~= nil or differs(state, wanted.table))
end

-- Returns whether the samples of all files have times.
local function are_timed(state)
   for _, part in ipairs(state.closed and {} or state.parts) do
      local wanted = stacks.wanted(state, part)
      if not (wanted and wanted.timed) then
         return false
      end
   end
   return true
end

---Returns the format's description of a table of samples with times, or nil: that of `wanted`, with
---its field `timed` (table, metrics: if they are others; lanes: a column; lasts: the metric that is
---the time for which a sample stands).
---@param state table of the trace
---@return table|nil
function stacks.timed(state)
   local wanted = not state.stored and stacks.wanted(state)
   local own = wanted and wanted.timed
   local name = own and (own.table or wanted.table)
   if not name or not state.schema[name] or not are_timed(state) then
      return nil
   end
   local timed = {}
   for _, fields in ipairs { wanted, own } do
      for key, value in pairs(fields) do
         timed[key] = value
      end
   end
   timed.timed = nil
   return timed
end

-- Builds contexts from the rows of a table.
local function contexts_of(wanted, given, reader, message, code)
   if not reader then
      return nil, message, code
   end
   reader = wanted.shape and wanted.shape(reader) or reader
   return core.contexts {
      reader = reader, stack = wanted.stack, folded = wanted.folded,
      ["function"] = wanted["function"], fallback = wanted.fallback, caller = wanted.caller,
      file = wanted.file,
      line = given.lines ~= false and wanted.line or nil, metrics = wanted.metrics,
      usual = wanted.usual,
   }
end

-- Adds up the profiles of files whose tables differ: the sum has the metrics of all.
local function sum_of_parts(state, given)
   local sum
   for _, part in ipairs(state.parts) do
      local wanted = stacks.wanted(state, part)
      local one, message, code = contexts_of(wanted, given, part:reader(wanted.table))
      if not one then
         return nil, message, code
      end
      sum = sum and assert(sum:merge(one)) or one
   end
   return sum
end

-- Whether no metric counts the rows.
local function has_columns(metrics)
   for _, metric in ipairs(metrics) do
      if not metric.column then
         return false
      end
   end
   return true
end

---Builds the contexts of a trace that has such a table.
---@param state table of the trace
---@param given table options of a profile: lines, samples
---@return profio.core.Contexts|nil
---@return string|nil message
---@return string|nil code
function stacks.contexts(state, given)
   local wanted, stored = stacks.wanted(state), state.stored
   if stored then
      return stored.contexts(state.dictionary)
   elseif given.samples then
      return contexts_of(stacks.timed(state) or wanted, given, given.samples:reader())
   elseif differs(state, wanted.table) then
      return sum_of_parts(state, given)
   end
   if wanted.folded and has_columns(wanted.metrics) then
      return grouped_contexts.of(function()
         return tables.symbolized(state, wanted.table)
      end, { wanted.folded }, { folded = wanted.folded, metrics = wanted.metrics,
         usual = wanted.usual })
   end
   return contexts_of(wanted, given, tables.symbolized(state, wanted.table))
end

return stacks
