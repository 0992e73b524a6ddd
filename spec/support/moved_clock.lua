-- Programs whose clock stands still until they move it: spec/c/clock.c. A spec that waits for what
-- happens after some time sees the same on any machine, and need not wait.

local command = require "spec.support.command"

local moved_clock = {}

local library = command.build .. "/c/clock.so"

---Returns whether programs can have such a clock in this build: the library is there, and no
---sanitizer must be loaded before it.
---@return boolean
function moved_clock.is_there()
   local file = io.open(library)
   if file then
      file:close()
   end
   return file ~= nil and os.execute(("LD_PRELOAD='%s' lua5.4 -e '' 2>/dev/null"):format(library))
      == true
end

---Returns the words in front of a command that give it the clock.
---@param step integer|nil ns that a reading of the clock takes, default 0
---@param waits string|nil path of a file that gets a byte for each wait
---@return string
function moved_clock.words(step, waits)
   return ("CLOCK_STEP=%d CLOCK_WAITS='%s' LD_PRELOAD='%s'"):format(step or 0, waits or "", library)
end

---Returns a condition of command.run_in_steps: the command has waited at least so many times since
---the step began.
---@param waits string path of the file of waits
---@param count integer
---@return string
function moved_clock.waited(waits, count)
   return ("touch '%s'; : ${seen:=$(stat -c %%s '%s')}; "
      .. "test $(stat -c %%s '%s') -ge $((seen + %d))"):format(waits, waits, waits, count)
end

return moved_clock
