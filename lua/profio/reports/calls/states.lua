-- States of variables, tasks and inputs over time, with start and duration.

local calls = require "profio.reports.calls.calls"
local conditions = require "profio.internal.conditions"

local states = {
   name = "states",
   help = "states over time: start and duration",
   uses = { "span", "follow" },
   columns = {
      { name = "start", help = "when the state was entered" },
      { name = "stop", help = "when it was left" },
      { name = "net", help = "its duration, in ns" },
      { name = "parent", help = "the variable whose state it is" },
      { name = "area", help = "the state" },
      { name = "value", help = "the value of the variable in this state" },
      { name = "outside", help = "time since the state was last left, in ns" },
      { name = "flags", help = "cut gap lost open orphan unwound: why it is incomplete" },
   },
   options = calls.options,
}

local function has_any(areas, condition)
   return areas:where(condition):limit(1):count() > 0
end

local is_state = { class = conditions.match "state$" }

-- Returns whether the trace has states: in the file's list of areas, or else in its events. A
-- variable may have states that the list does not name.
local function has_states(trace)
   local list = trace:has "areas" and trace.areas
   if not list or list:limit(1):count() == 0 then
      return has_any(trace:table "events":group "area":with_area(), is_state)
   end
   local has_column = table.concat(list.columns, " "):find "%f[%w]states%f[%W]"
   return has_any(list, is_state)
      or has_column ~= nil and has_any(list, { states = conditions.no(conditions.missing) })
end

---@param trace profio.Trace
function states.fits(trace)
   local fits, reason = calls.fits(trace)
   if not fits then
      return false, reason
   end
   return has_states(trace), "none of its areas is a state"
end

---@param context profio.Context
---@return userdata
function states.reader(context)
   return context:calls(states):with_area():where(is_state):reader()
end

return states
