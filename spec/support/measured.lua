-- Checks of times that were measured. Other programs of a machine may slow down some runs of a
-- program and not others, so that even exact statistics give another verdict now and then.

local measured = {}

local MOST <const> = 3

---Calls a function that measures and checks; if it raises, again, at most twice. It is passed
---whether it is called again.
---@param check fun(is_again: boolean)
function measured.again(check)
   for i = 1, MOST do
      local ok, message = pcall(check, i > 1)
      if ok then
         return
      end
      if i == MOST then
         error(message, 0)
      end
   end
end

return measured
