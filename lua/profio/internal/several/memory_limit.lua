-- Lets files of a trace sleep while they are not read, if all of them take too much memory.

local memory_limit = {}

-- The most bytes of the files of a trace that stay in memory while they are not read. A file that
-- is mapped counts as MAPPED bytes, since the system limits the number of mappings.
local AWAKE, MAPPED = 128 << 20, 32768

---Lets a part sleep if the parts so far take too much memory.
---@param state table of the trace or its opening
---@param part userdata
---@param source userdata its file
---@param mine table options of profio.open
function memory_limit.hold(state, part, source, mine)
   local held = source:memory()
   state.awake = state.awake + (held > 0 and held or MAPPED)
   if state.awake > AWAKE and part.sleep and not mine.live then
      part:sleep()
   end
end

return memory_limit
