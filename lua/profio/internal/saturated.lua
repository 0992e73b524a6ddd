-- Sums and differences of integers that stop at the limits of 64 bits.

local saturated = {}

---Returns a + b.
---@param a integer
---@param b integer
---@return integer
---@return boolean is_limited it exceeds 64 bits
function saturated.add(a, b)
   local sum = a + b
   if (a ~ sum) & (b ~ sum) < 0 then
      return a < 0 and math.mininteger or math.maxinteger, true
   end
   return sum, false
end

---Returns a - b.
---@param a integer
---@param b integer
---@return integer
function saturated.subtract(a, b)
   local difference = a - b
   if (a ~ b) & (a ~ difference) < 0 then
      return a < 0 and math.mininteger or math.maxinteger
   end
   return difference
end

return saturated
