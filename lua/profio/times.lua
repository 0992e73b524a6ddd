-- Times as people write them: 1.5ms, 2s, 250.

local times = {}

-- Digits behind the point that whole nanoseconds leave in a unit.
local digits_of = { ns = 0, us = 3, ms = 6, s = 9 }

-- A decimal number in a unit as whole nanoseconds, rounded; no float is in between. nil: too large.
local function scaled(sign, whole, fraction, digits)
   fraction = fraction .. ("0"):rep(digits + 1 - #fraction)
   local value = math.tointeger(tonumber(whole .. fraction:sub(1, digits)))
   if not value then
      return nil
   end
   value = value + (fraction:byte(digits + 1) >= 53 and 1 or 0)
   return sign == "-" and -value or value
end

---A time in nanoseconds, or nil when the text is none.
---@param text string
---@param unit string|nil of numbers without one: ns, us, ms or s; default ns
---@return integer|nil time
---@return string|nil unit that the text names
function times.parse(text, unit)
   local sign, whole, point, fraction, own = text:match "^([-+]?)(%d*)(%.?)(%d*)(%a*)$"
   local digits = digits_of[own ~= "" and own or unit or "ns"]
   if not whole or whole .. fraction == "" or not digits or (point == "" and fraction ~= "") then
      return nil
   end
   return scaled(sign, whole == "" and "0" or whole, fraction, digits), own ~= "" and own or nil
end

---The unit in which a time is shown best.
---@param time integer in nanoseconds
---@return string unit
function times.unit(time)
   local size = math.abs(time)
   return size >= 1000000000 and "s" or size >= 1000000 and "ms" or size >= 1000 and "us" or "ns"
end

---A time for people: "1.500 ms".
---@param time number in nanoseconds
---@param unit string ns, us, ms or s
---@return string
function times.show(time, unit)
   local digits = digits_of[unit]
   if digits == 0 then
      return ("%s ns"):format(math.tointeger(time) or ("%.1f"):format(time))
   end
   return ("%.3f %s"):format(time / 10 ^ digits, unit)
end

return times
