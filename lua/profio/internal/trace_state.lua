-- What the object of a trace hides: its state.

local trace_state = {}

---Returns the object of a trace with a state, without a metatable.
---@param state table
---@return table
function trace_state.object(state)
   return { [trace_state] = state }
end

---Returns the state of a trace.
---@param self profio.Trace
---@return table
function trace_state.of(self)
   return rawget(self, trace_state)
end

---Returns the state of a trace; raises if it is closed.
---@param self profio.Trace
---@return table
function trace_state.alive(self)
   local state = trace_state.of(self)
   if state.closed then
      error("trace is closed", 3)
   end
   return state
end

return trace_state
