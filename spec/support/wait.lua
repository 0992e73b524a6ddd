-- Waits for what another process or thread does: a condition is looked at again and again. Only
-- what never happens reaches the limit, so a busy machine changes no verdict.

local wait = {}

-- How often a condition is looked at, and the seconds between two looks.
local LOOKS <const>, PAUSE <const> = 6000, 0.01

---Waits until a function returns a true value, which it returns; nil after a minute.
---@param condition fun(): any
---@return any
function wait.until_true(condition)
   for _ = 1, LOOKS do
      local result = condition()
      if result then
         return result
      end
      os.execute("sleep " .. PAUSE)
   end
   return nil
end

---Defines the function wait_until of a shell: `wait_until CONDITION` waits until a line of shell
---succeeds; its status is 1 after a minute.
wait.shell = ([[wait_until () { looks=0
  until eval "$1"; do
    sleep %g; looks=$((looks + 1)); [ $looks -lt %d ] || return 1
  done 2>/dev/null; }
]]):format(PAUSE, LOOKS)

return wait
