-- The calls that are computed from the events of a trace, one row each.

local call_details = require "profio.internal.calls.call_details"
local calls_of = require "profio.internal.calls"
local traces = require "profio.internal.trace"

local calls = {
   name = "calls",
   help = "every call: time, duration, lane, caller",
   uses = { "span" },
   columns = {
      { name = "area", help = "the function, line, variable or state" },
      { name = "lane", help = "the thread, task or core" },
      { name = "start", help = "when it was entered" },
      { name = "stop", help = "when it was left" },
      { name = "gross", help = "net and the gross time of its callees, in ns" },
      { name = "net", help = "time in which it was active itself, in ns" },
      { name = "call", help = "stop - start; missing if an end was not recorded" },
      { name = "period", help = "since the last enter of the area in the lane" },
      { name = "outside", help = "since the last leave of the area in the lane" },
      { name = "depth", help = "number of calls on the stack, including this one" },
      { name = "caller", help = "the calling function; missing at the top" },
      { name = "line", help = "line of its enter, if the trace has lines" },
      { name = "params", help = "parameters with their values, if the trace has them" },
      { name = "flags", help = "cut gap lost open orphan unwound: why it is incomplete" },
   },
   options = {},
}

-- Options of trace:calls are given by --set; from and to by --from and --to.
for _, option in ipairs(calls_of.options) do
   if option.name ~= "from" and option.name ~= "to" then
      calls.options[#calls.options + 1] = option
   end
end

---Returns why a trace has no calls: it has no events, but perhaps samples in time.
---@param trace profio.Trace
---@return string
function calls.no_events(trace)
   for _, option in ipairs(traces.of(trace).format.options or {}) do
      if option.name == "timeline" and trace.info.times ~= false then
         return "it has no table of events, unless --set timeline=true makes one of its samples"
      end
   end
   return "it has no table of events"
end

---@param trace profio.Trace
function calls.fits(trace)
   if not trace:has "events" then
      return false, calls.no_events(trace)
   end
   return trace.events:limit(1):count() > 0, "it has no events"
end

---Returns the unit in which the profiler measured, or nil.
---@param trace profio.Trace
---@return string|nil
function calls.unit(trace)
   return traces.of(trace).format.time_unit
end

---Returns the columns, without line and params if the trace has none.
---@param context profio.Context
---@return string[]
function calls.listed(context)
   local names, format = {}, traces.of(context.trace).format
   for _, column in ipairs(calls.columns) do
      local is_detail = column.name == "line" or column.name == "params"
      names[#names + 1] = (not is_detail or call_details.has(context.trace, format, column.name))
         and column.name or nil
   end
   return names
end

---@param context profio.Context
---@return userdata
function calls.reader(context)
   return context:calls(calls):reader()
end

return calls
