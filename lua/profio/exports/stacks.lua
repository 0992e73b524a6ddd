-- Stacks that an export writes frame by frame. Of deep stacks these would grow with the square of
-- their depth, so that they are cut.

local core = require "profio.core"

local stacks = {}

local MOST_FRAMES = 1 << 24 -- of all stacks together
local EACH = 256            -- frames for each context, where that is more

---The option of exports that cut stacks.
---@type profio.Option
stacks.option = { name = "depth", type = "int",
   help = "the most frames of a stack; deeper ones are charged to their callers; without it as "
      .. "many as give 16,777,216 frames in all, or 256 for each context" }

---Contexts whose stacks can be written. What is cut is noted.
---@param contexts profio.core.Contexts
---@param given table depth; notes: what is left out is added
---@return profio.core.Contexts
function stacks.shortened(contexts, given)
   local depth = given.depth or core.stack_depth(contexts, MOST_FRAMES, EACH)
   if not depth then
      return contexts
   elseif not given.depth then
      table.insert(given.notes, ("frames below depth %d are charged to their callers: depth = N " ..
         "writes N of a stack"):format(depth))
   end
   return assert(contexts:shorten(math.max(depth, 1)))
end

return stacks
