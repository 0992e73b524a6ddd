-- Notes that the calls of a trace may lie on the wrong stacks, from counts that the call machine
-- keeps (csrc/kernels/calls/call_counts.h).

local core = require "profio.core"
local registry = require "profio.internal.opening.registry"
local view_warnings = require "profio.internal.views.view_warnings"

local doubts = {}

-- Counts of calls, for each trace.
local counts = setmetatable({}, { __mode = "k" })

---Returns the counts that each computation of the calls of a trace sets, its option `counts`.
---@param trace profio.Trace
---@return profio.core.CallCounts
function doubts.counts(trace)
   counts[trace] = counts[trace] or core.call_counts()
   return counts[trace]
end

-- Adds notes of the last computation of calls: more than 5 % of them have no enter or no leave, or
-- some began while another one of their lane ran, or after it was suspended, although most callers
-- are suspended at the time of the call. A format says what is usual: records_ends, one call that
-- ends before those in it is enough; has_breaks, calls that another one unwound do not count.
view_warnings.add_source(function(owner, list)
   if not counts[owner] then
      return
   end
   local format = registry.named(owner.format)
   local calls, unmatched, crossed, nested, late, running = counts[owner]:values()
   local function add(code, message, ...)
      list[#list + 1] = { code = code, kind = "note", message = message:format(...)
         .. ": several tasks or cores on one lane?" }
   end
   unmatched = format.has_breaks and unmatched - crossed or unmatched
   if unmatched * 20 > calls or format.records_ends and crossed > 0 then
      add("calls-unmatched", "%d of %d calls (%.1f %%) have no enter or no leave", unmatched, calls,
         unmatched / calls * 100)
   end
   if late + running > 0 and late + running < nested / 2 then
      add("calls-overlap", "%d calls began or were resumed in a call that did not make them",
         running + late)
   end
end)

return doubts
