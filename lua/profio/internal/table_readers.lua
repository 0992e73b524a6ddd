-- Readers of the tables of a trace: as its files state them, concatenated, derived from other
-- tables, and with the columns that symbols add.

local core = require "profio.core"
local file_sums = require "profio.internal.several.file_sums"

local tables = {}

-- Returns distinct names for the files: data has no path, and a file may be given twice. The
-- records of a ring continue those of its file as one run, so they have the same name.
local function names_of(paths, goes_on)
   local names, seen = {}, {}
   for i, path in ipairs(paths) do
      path = path or "(data)"
      seen[path] = (seen[path] or 0) + 1
      names[i] = goes_on[i] and names[i - 1]
         or seen[path] == 1 and path or ("%s (%d)"):format(path, seen[path])
   end
   return names
end

-- Returns the constant columns of the files: `file`, and those that the format states.
local function constants_of(state)
   local columns = { { name = "file", values = names_of(state.paths, state.goes_on) } }
   for i, part in ipairs(state.format.constants and state.parts or {}) do
      for c, constant in ipairs(state.format.constants(part)) do
         columns[c + 1] = columns[c + 1] or { name = constant.name, values = {} }
         columns[c + 1].values[i] = constant.value
      end
   end
   return columns
end

-- Returns a reader of the concatenated parts of a trace, with the constant columns. Only the first
-- file has an open reader: each of the others is opened when the one before has ended, so that
-- thousands of files need no more memory than one.
local function chained(state, name, parts, constants)
   local readers, used = table.move(parts, 1, #parts, 1, {}), {}
   for i = 1, state.format.open and #readers or 1 do
      local reader, message, code = readers[i]:reader(name)
      if not reader then
         return nil, message, code
      end
      readers[i] = reader
   end
   local columns = {}
   for _, field in ipairs(readers[1]:fields()) do
      columns[field.name] = true
   end
   for _, constant in ipairs(constants) do -- the table may have a column `file` of its own
      constant.name = (columns[constant.name] and "trace_" or "") .. constant.name
   end
   local id = state.format.ids and state.format.ids(parts[1])
   for i, part in ipairs(columns[id] and parts or {}) do
      used[i] = select(2, state.format.ids(part))
   end
   return core.chain(readers, constants, id, used)
end

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
      reader, message, code = tables.plain(state, state.schema[name].from)
      return reader and made(reader, state.format_options or {}), message, code
   elseif #state.parts == 1 and not state.format.constants then
      reader, message, code = state.parts[1]:reader(name)
   else
      reader, message, code = chained(state, name, state.parts, constants_of(state))
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
   return watched(state, name, chained(state, name, file_sums.parts(state), {}))
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

---Returns a reader of a table with equal keys added up, and with the columns that symbols give for
---addresses.
---@param state table of the trace
---@param name string
---@return profio.core.Reader|nil
---@return string|nil message
---@return string|nil code
function tables.symbolized(state, name)
   local stored = state.stored
   if stored and stored.has(name) and not state.closed then
      local inner, problem, kind = stored.inner()
      if not inner then
         return nil, problem, kind
      end
      inner.watch = state.watch
      return tables.symbolized(inner, name)
   end
   local reader, message, code = summed_reader(state, name)
   local addresses = state.format.addresses and state.format.addresses[name]
   if not reader or not state.symbols or not addresses then
      return reader, message, code
   end
   return core.symbolize(reader, state.symbols.symbols, state.load_bias, addresses)
end

return tables
