-- Limits the depth of stacks that an export writes frame by frame: the size would grow with the
-- square of their depth.

local core = require "profio.core"

local stacks = {}

local MOST_FRAMES = 1 << 24 -- of all stacks together
local EACH = 256            -- frames for each context, if that is more

---The option of exports that cut stacks.
---@type profio.Option
stacks.option = { name = "depth", type = "int",
   help = "most frames of a stack; deeper ones are charged to their callers; default: a depth "
      .. "with at most 16,777,216 frames in all, or 256 for each context" }

---Returns contexts whose stacks can be written. Adds a note if stacks are cut.
---@param contexts profio.core.Contexts
---@param given table depth; notes: the omissions are appended
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
