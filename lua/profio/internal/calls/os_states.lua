-- The meanings of names of states of tasks to an operating system.

local texts = require "profio.internal.texts"

local os_states = {}

-- The usual names, in any case. Sources: OSEK/VDX 2.2.3 and AUTOSAR OS (SUSPENDED is what others
-- call terminated); iTCHi of iSYSTEM, "BTF mapping"; BTF 2.3.0.
local usual = {
   active = "ACTIVE ACTIVATED NEW NEW_ISR MK_THS_NEW",
   ready = "READY READY_ASYNC READY_ISR READY_SYNC READY_TASK PREEMPTED DELAYED MK_THS_READY",
   running = "RUNNING RUNNING_ISR MK_THS_RUNNING",
   polling = "POLLING",
   parking = "PARKING",
   waiting = "WAITING WAITING_EVENT WAITING_SEM WAITING_DELAYED BLOCKED",
   terminated = "TERMINATED TERMINATED_TASK TERMINATED_ISR SUSPENDED SUSPENDED_DELAYABLE INVALID "
      .. "QUARANTINED IDLE NO_TASK INVALID_TASK MK_THS_IDLE",
}

local meanings = { "active", "ready", "running", "polling", "parking", "waiting", "terminated" }

local is_usual = {}

for _, names in pairs(usual) do
   for name in names:gmatch "%S+" do
      is_usual[name] = true
   end
end

---Returns whether a text is one of the usual names, in any case.
---@param text string
---@return boolean
function os_states.is_usual(text)
   return is_usual[text:upper()] == true
end

-- Adds names from "NAME=meaning,..." to a list.
local function add_given(list, text)
   for pair in text:gmatch "[^,]+" do
      local name, meaning = pair:match "^%s*(.-)%s*=%s*(%a+)%s*$"
      if not name or not usual[meaning] then
         error(("os_states: expected NAME=MEANING, with one of %s, got '%s'"):format(
            table.concat(meanings, ", "), pair), 0)
      end
      list[#list + 1] = { name, meaning }
   end
end

---Returns the options of core.jobs and core.task_calls. Raises if a text is wrong.
---@param states string|nil "usual", or "NAME=meaning,..." in addition to the usual ones
---@param running string|nil variables, separated by commas, whose state is the task that runs
---@param on_core integer|nil core of tasks of which the trace states none
---@return { states: string[][], running: string[], core: integer|nil }
function os_states.of(states, running, on_core)
   local made = { states = {}, running = {}, core = on_core }
   for _, meaning in ipairs(meanings) do
      for name in usual[meaning]:gmatch "%S+" do
         made.states[#made.states + 1] = { name, meaning }
      end
   end
   if states and states ~= "usual" then
      add_given(made.states, states)
   end
   for name in (running or ""):gmatch "[^,]+" do
      made.running[#made.running + 1] = texts.trim(name)
   end
   return made
end

---Returns the end of a message about a variable that is no function: its values may be the states
---of a task; "" if the trace is read so already.
---@param state table of the trace
---@return string
function os_states.hint(state)
   return state.task_states and "" or "; if its values are the states of a task: "
      .. "--set os_states=usual (profio help tasks)"
end

---Returns the note that cores of tasks are not known, if their states give them lanes, but no
---option says on which core they run; else nil. Whether the trace states cores the caller knows.
---@param state table of the trace
---@return string|nil
function os_states.no_core(state)
   local states = state.task_states
   return states and not states.core and "note: the trace does not state on which core a task "
      .. "runs; if all run on one: --set os_core=0 (profio help tasks)" or nil
end

return os_states
