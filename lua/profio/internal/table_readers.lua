-- Readers of the tables of a trace: as its files state them, concatenated, derived from other
-- tables, and with the columns that symbols add.

local core = require "profio.core"
local file_sums = require "profio.internal.several.file_sums"
local later = require "profio.internal.later"
local chained_readers = later "profio.internal.several.chained_readers"

local tables = {}

-- Passes on the results of opening a reader of a table; progress and Ctrl-C watch it.
local function watched(state, name, reader, ...)
   return reader and state.watch and state.watch(reader, name) or reader, ...
end

---Returns a reader of a table as the file states it.
---@param state table of the trace
---@param name string
---@return profio.core.Reader|nil
---@return string|nil message
---@return string|nil code
function tables.plain(state, name)
   if state.closed then
      error("trace is closed", 0)
   end
   local made = state.schema[name].stage
   local reader, message, code
   if made then
      local from = state.schema[name].from
      reader, message, code = tables.plain(state, from)
      return reader and made(reader, state.format_options or {}, state, function()
         return tables.plain(state, from)
      end), message, code
   elseif #state.parts == 1 and not state.format.constants then
      reader, message, code = state.parts[1]:reader(name)
   else
      reader, message, code = chained_readers.of(state, name, state.parts, true)
   end
   return watched(state, name, reader, message, code)
end

---Returns a reader of rows whose sums by all columns but the counts are those of a table: that of
---sums of files if the trace has them. They have no column `file`.
---@param state table of the trace
---@param name string
---@return profio.core.Reader|nil
---@return string|nil message
---@return string|nil code
function tables.addends(state, name)
   if state.closed or not state.sums then
      return tables.plain(state, name)
   end
   return watched(state, name, chained_readers.of(state, name, file_sums.parts(state), false))
end

-- Like tables.plain, but adds up rows with equal keys, if the format says that they are parts of
-- one.
local function summed_reader(state, name)
   local reader, message, code = tables.plain(state, name)
   local summed = state.format.summed and state.format.summed(name, state.parts)
   if not reader or not summed then
      return reader, message, code
   end
   return core.group(reader, { { column = summed.key, name = summed.key } },
      { { fn = "sum", column = summed.sum, name = summed.sum } })
end

-- Returns a reader of a table with equal keys added up, and with the columns that symbols give for
-- addresses.
local function symbolized(state, name)
   local stored = state.stored
   if stored and stored.has(name) and not state.closed then
      local inner, problem, kind = stored.inner()
      if not inner then
         return nil, problem, kind
      end
      inner.watch = state.watch
      return symbolized(inner, name)
   end
   local reader, message, code = summed_reader(state, name)
   local addresses = state.format.addresses and state.format.addresses[name]
   if not reader or not state.symbols or not addresses then
      return reader, message, code
   end
   return core.symbolize(reader, state.symbols.symbols, state.load_bias, addresses)
end

---Returns a reader of a table with equal keys added up, with the columns that symbols give for
---addresses, and if the trace has os_states with the calls of tasks.
---@param state table of the trace
---@param name string
---@return profio.core.Reader|nil
---@return string|nil message
---@return string|nil code
function tables.symbolized(state, name)
   local reader, message, code = symbolized(state, name)
   if not reader or name ~= "events" or not state.task_states then
      return reader, message, code
   end
   local again
   again, message, code = symbolized(state, name)
   if not again then
      return nil, message, code
   end
   return core.merge(reader, core.task_calls(again, state.task_states), "time")
end

return tables
