-- Whether a profile has times of source lines.

local symbols = require "profio.internal.symbols"
local traces = require "profio.internal.trace"

local line_times = {}

---Returns whether a profile of a trace can have times of source lines, or false and why not.
---@param trace profio.Trace
---@return boolean
---@return string|nil reason
function line_times.fit(trace)
   local kind = trace:profile_kind()
   local of_addresses = next(traces.of(trace).format.addresses or {}) ~= nil
   if kind ~= "graph" and not (kind and of_addresses) then
      return kind ~= nil, "no profile is made from its tables"
   end
   if kind == "graph" and (trace.info.sets or 0) == 0 then
      return false, "it has no histogram"
   end
   return symbols.has_lines(traces.of(trace))
end

return line_times
