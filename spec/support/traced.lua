-- Commands that are traced: one of their system calls fails, or a signal comes before it
-- (spec/c/faults.c). So a kill comes at a chosen call, not after a chosen time.

local command = require "spec.support.command"

local traced = {}

local program = command.build .. "/c/faults"
local report = command.folder .. "/../traced" -- beside the folder, where nobody lists it

---Returns the words in front of a command that trace it.
---@param folder string calls count as soon as one names a path in it
---@param fault string EIO, ..., SHORT, SIGINT, SIGKILL or NONE
---@param number integer of the call, from 1
---@return string
function traced.words(folder, fault, number)
   return ("'%s' '%s' '%s' %s %d"):format(program, report, folder, fault, number)
end

---Returns how many calls the last traced command made, and the name of the one that failed or was
---met by the signal, or "none".
---@return integer|nil calls
---@return string|nil name
function traced.calls()
   local file = io.open(report)
   if not file then
      return nil
   end
   local calls, name = file:read "a":match "^(%d+) (%S+)"
   file:close()
   os.remove(report)
   return math.tointeger(tonumber(calls)), name
end

---Returns nil if commands can be traced here, else the reason why not.
---@return string|nil
function traced.missing()
   if (os.getenv "PROFIO_PROGRAM" or ""):find "^wine " then
      return "a program of Windows gets no signals"
   end
   if not io.open(program) then
      os.execute(("make -s B=%s %s >/dev/null 2>&1"):format(command.build, program))
   end
   local status = select(3, os.execute((traced.words("/", "NONE", 0)
      .. " true >/dev/null 2>&1")))
   os.remove(report)
   return status ~= 0 and "programs cannot be traced here" or nil
end

return traced
