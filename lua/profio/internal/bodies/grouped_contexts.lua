-- Contexts of rows that are added up by their keys first, which is faster than adding each row to
-- contexts. Where a sum exceeds 64 bits the rows are added one by one, since contexts limit sums.

local core = require "profio.core"

local grouped_contexts = {}

---Builds contexts from rows with equal keys.
---@param open fun(): profio.core.Reader|nil, string|nil, string|nil  a new reader of the rows
---@param keys string[] its columns that tell contexts apart
---@param more table as of core.contexts, without reader; each metric has a column
---@return profio.core.Contexts|nil
---@return string|nil message
---@return string|nil code
function grouped_contexts.of(open, keys, more)
   local by, sums, known = {}, {}, {}
   for i, key in ipairs(keys) do
      by[i] = { column = key, name = key }
   end
   for _, metric in ipairs(more.metrics) do
      if not known[metric.column] then
         known[metric.column] = true
         sums[#sums + 1] = { fn = "sum", column = metric.column, name = metric.column }
      end
   end
   local reader, message, code = open()
   if not reader then
      return nil, message, code
   end
   more.reader = core.group(reader, by, sums)
   local made
   made, message, code = core.contexts(more)
   if made or code ~= "limit" then
      return made, message, code
   end
   more.reader, message, code = open()
   if not more.reader then
      return nil, message, code
   end
   return core.contexts(more)
end

return grouped_contexts
