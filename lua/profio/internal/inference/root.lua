-- Roots of functions: false position in the form of Illinois (Dowell and Jarratt 1971), which never
-- leaves what contains the root and needs few evaluations.

local MOST_STEPS <const> = 200

---Returns where a function is 0, to 13 digits.
---@param f fun(x: number): number
---@param a number
---@param b number where f has the other sign, or is 0
---@return number
local function root(f, a, b)
   local at_a, at_b = f(a), f(b)
   for _ = 1, MOST_STEPS do
      if at_a == 0 then
         return a
      elseif at_b == 0 or math.abs(b - a) <= 1e-13 * math.abs(b) then
         return b
      end
      local c = (a * at_b - b * at_a) / (at_b - at_a)
      local at_c = f(c)
      if (at_c < 0) ~= (at_b < 0) then
         a, at_a = b, at_b
      else
         at_a = at_a / 2
      end
      if math.abs(c - b) <= 1e-13 * math.abs(c) then
         return c
      end
      b, at_b = c, at_c
   end
   return b
end

return root
