-- Calls that a BREAK left: they have no leave in the trace. The lines of the rows show when they
-- were left (csrc/formats/xpp/operations/line_ranges.h), if no other function has the lines of a
-- function.

local core = require "profio.core"

local breaks = {}

---Returns the ranges of lines of the functions of a trace, which are found by reading it once; of a
---trace that grows, they are extended by each row that is read.
---@param state table of the trace
---@param open fun(): profio.core.Reader|nil opens a reader of the entries
---@return profio.core.LineRanges|nil
function breaks.ranges(state, open)
   if not state.line_ranges then
      local is_live = state.options and state.options.live or false
      local reader = open()
      state.line_ranges = reader and core.line_ranges(reader, is_live)
   end
   return state.line_ranges
end

-- Returns why the times at which calls were left are not exact, or nil.
local function reason(functions, overlaps, has_calls, is_live)
   if functions == 0 then
      return "the trace has no lines of functions (I and O with LINE)"
   elseif not has_calls then
      return "the trace has no lines of callers (i and o)"
   elseif overlaps > 0 then
      return ("%d of %d functions have lines that others have, too, as in several source files")
         :format(overlaps, functions)
   elseif is_live then
      return "the trace is followed, and lines are known only so far"
   end
   return nil
end

---Returns the note of a trace whose calls were left at times that are not exact, or nil.
---@param state table of the trace
---@return profio.Warning|nil
function breaks.note(state)
   local ranges = state.line_ranges
   if not ranges then
      return nil
   end
   local functions, overlaps, has_calls, left, after, total = ranges:values()
   local why = reason(functions, overlaps, has_calls, state.options.live)
   if left == 0 or not why then
      return nil
   end
   return { code = "xpp-break", kind = "note",
      message = ("BREAK left %d calls; %.1f %% of the time is after them and may belong to other "
         .. "functions: %s"):format(left, math.min(after / math.max(total, 1), 1) * 100, why) }
end

return breaks
