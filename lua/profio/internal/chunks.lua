-- Decides in how many chunks a table is read, and by how many threads.

local core = require "profio.core"

local chunks = {}

local most_threads = 8
local batch = 4096 -- rows; chunks begin at multiples of it
local rows_per_part = 262144 -- the minimum, since merging chunks takes time

---Returns the number of rows of a table that can be read in chunks: a table of one file, of a
---format whose readers run in threads, without stages in Lua; else nil.
---@param trace profio.Trace
---@param state table of the trace
---@param name string
---@param watched boolean|nil a stage that shows the progress is allowed
---@return integer|nil
function chunks.rows(trace, state, name, watched)
   local part = state.parts[1]
   if #state.parts ~= 1 or state.format.constants or state.task_states
      or state.watch and not watched or not part.parallel or not part:parallel(name) then
      return nil
   end
   return trace:row_count(name)
end

---Returns the number of threads and of chunks for a table.
---@param rows integer
---@param threads integer|nil the most threads; default: the processors, up to 8
---@param parts integer|nil exact number of chunks, if there are as many rows
---@return integer threads
---@return integer parts
function chunks.of(rows, threads, parts)
   threads = threads or math.min(core.processors(), most_threads)
   parts = parts or math.min(threads, rows // rows_per_part)
   return math.max(threads, 1), math.max(math.min(parts, rows, 4096), 1)
end

---Returns readers that together have all rows of a table, in order.
---@param part profio.core.Part
---@param name string
---@param rows integer
---@param count integer
---@return profio.core.Parts
function chunks.readers(part, name, rows, count)
   local parts, from = { part = part }, 0
   for i = 1, count do
      local after = i == count and rows or rows * i // count // batch * batch
      parts[i] = assert(part:reader(name, from, after - from))
      from = after
   end
   return parts
end

return chunks
