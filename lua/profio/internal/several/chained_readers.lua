-- Readers of the files of a trace, one after the other. Called by internal/table_readers.lua.

local core = require "profio.core"

local chained_readers = {}

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

---Returns a reader of the concatenated parts of a trace. Only the first file has an open reader:
---each of the others is opened when the one before has ended, so that thousands of files need no
---more memory than one.
---@param state table of the trace
---@param name string of a table
---@param parts userdata[]
---@param has_constants boolean with the constant columns, which need a part for each file
---@return profio.core.Reader|nil
---@return string|nil message
---@return string|nil code
function chained_readers.of(state, name, parts, has_constants)
   local constants = has_constants and constants_of(state) or {}
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
   return core.concat(readers, constants, id, used)
end

return chained_readers
