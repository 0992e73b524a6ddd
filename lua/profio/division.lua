-- In how many parts a table is read, and by how many threads.

local core = require "profio.core"

local division = {}

local most_threads = 8
local batch = 4096 -- rows; parts begin where batches do
local rows_per_part = 262144 -- at least: to put parts together costs something

---How many rows a table has, when it can be read in parts: it is of one file, of a format whose
---readers run in threads, with nothing written in Lua between; else nil.
---@param trace profio.Trace
---@param state table of the trace
---@param name string
---@param watched boolean|nil a pass that is watched can be read so, too
---@return integer|nil
function division.rows(trace, state, name, watched)
   local part = state.parts[1]
   if #state.parts ~= 1 or state.format.constants or state.watch and not watched
      or not part.parallel or not part:parallel() then
      return nil
   end
   return trace:row_count(name)
end

---@param rows integer
---@param threads integer|nil how many at most
---@param parts integer|nil how many exactly, if there are as many rows
---@return integer threads
---@return integer parts
function division.of(rows, threads, parts)
   threads = threads or math.min(core.processors(), most_threads)
   parts = parts or math.min(threads, rows // rows_per_part)
   return math.max(threads, 1), math.max(math.min(parts, rows, 4096), 1)
end

---Readers that have all rows of a table between them, in their order.
---@param part profio.core.Part
---@param name string
---@param rows integer
---@param count integer
---@return profio.core.Parts
function division.readers(part, name, rows, count)
   local parts, from = { part = part }, 0
   for i = 1, count do
      local behind = i == count and rows or rows * i // count // batch * batch
      parts[i] = assert(part:reader(name, from, behind - from))
      from = behind
   end
   return parts
end

return division
