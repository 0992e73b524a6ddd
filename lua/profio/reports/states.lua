-- The states of variables, tasks and inputs over time: when each began and how long it lasted.

local calls = require "profio.reports.calls"
local conditions = require "profio.conditions"

local states = {
   name = "states",
   help = "states over time: when each began and how long it lasted",
   uses = { "span" },
   columns = {
      { name = "start", help = "when the state was entered" },
      { name = "stop", help = "when it was left" },
      { name = "net", help = "how long it lasted, in ns" },
      { name = "parent", help = "the variable whose state it is" },
      { name = "area", help = "the state" },
      { name = "value", help = "the value that it stands for" },
      { name = "outside", help = "since the state was last left, in ns" },
      { name = "flags", help = "cut gap lost open orphan unwound: what is not whole" },
   },
   options = calls.options,
}

local function has_state(areas)
   return areas:where { class = conditions.match "state$" }:limit(1):count() > 0
end

-- Areas are known from the file's own list, or where it has none from its events.
local function has_states(trace)
   local list = trace.areas
   if list and list:limit(1):count() > 0 then
      return has_state(list)
   end
   return has_state(trace:table "events":group "area":describe())
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
   return context:calls(states):describe():where { class = conditions.match "state$" }:reader()
end

return states
