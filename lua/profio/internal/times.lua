-- Times as people write them: 1.5ms, 2s, 250.

local times = {}

-- Number of decimals that whole nanoseconds have in a unit.
local digits_of = { ns = 0, us = 3, ms = 6, s = 9 }

-- Converts decimal digits to an integer; nil if it needs more than 64 bits.
local function integer(sign, digits)
   local value = tonumber(sign .. digits)
   return math.type(value) == "integer" and value or nil
end

-- Converts a decimal number in a unit to whole nanoseconds, rounded, without a float in between;
-- nil: too large.
local function scaled(sign, whole, fraction, digits)
   fraction = fraction .. ("0"):rep(digits + 1 - #fraction)
   local value = integer(sign, whole .. fraction:sub(1, digits))
   if not value or fraction:byte(digits + 1) < 53 then
      return value
   end
   local next = sign == "-" and value - 1 or value + 1
   return (next < value) == (sign == "-") and next or nil
end

---Converts a decimal text ("1000", "1e3", "2.50e2") to an integer, without a float in between; nil
---if the text is no number, has a fraction, or needs more than 64 bits.
---@param text string
---@return integer|nil
function times.whole(text)
   local sign, whole, point, fraction, power = text:match
      "^%s*([-+]?)(%d*)(%.?)(%d*)([eE]?[-+]?%d*)%s*$"
   power = power == "" and 0 or power and math.tointeger(power:match "^[eE]([-+]?%d+)$")
   if not power or whole .. fraction == "" or (point == "" and fraction ~= "") or power > 20 then
      return nil
   end
   local digits = whole .. fraction
   local places = #whole + power -- digits before the point
   local rest = digits:sub(math.max(places, 0) + 1)
   if rest:find "[^0]" then
      return nil
   end
   digits = digits:sub(1, math.max(places, 0)) .. ("0"):rep(places - #digits)
   return integer(sign, digits == "" and "0" or digits)
end

---Converts a time to nanoseconds; nil if the text is no time.
---@param text string
---@param unit string|nil unit of a number without one: ns, us, ms or s; default ns
---@return integer|nil time
---@return string|nil unit the unit in the text
function times.parse(text, unit)
   local sign, whole, point, fraction, own = text:match "^([-+]?)(%d*)(%.?)(%d*)(%a*)$"
   local digits = digits_of[own ~= "" and own or unit or "ns"]
   if not whole or whole .. fraction == "" or not digits or (point == "" and fraction ~= "") then
      return nil
   end
   return scaled(sign, whole == "" and "0" or whole, fraction, digits), own ~= "" and own or nil
end

---Returns the unit that suits a time.
---@param time integer in nanoseconds
---@return string unit
function times.unit(time)
   local size = math.abs(time)
   return size >= 1000000000 and "s" or size >= 1000000 and "ms" or size >= 1000 and "us" or "ns"
end

---Formats a time: "1.500 ms".
---@param time number in nanoseconds
---@param unit string ns, us, ms or s
---@return string
function times.show(time, unit)
   local digits = digits_of[unit]
   if digits == 0 then
      return ("%s ns"):format(math.tointeger(time) or ("%.1f"):format(time))
   end
   local whole = math.tointeger(time)
   if not whole or whole == math.mininteger then
      return ("%.3f %s"):format(time / 10 ^ digits, unit)
   end
   local thousandth = 10 ^ (digits - 3) // 1 | 0
   local size = math.abs(whole)
   local shown = size // thousandth + (size % thousandth * 2 >= thousandth and 1 or 0)
   return ("%s%d.%03d %s"):format(whole < 0 and "-" or "", shown // 1000, shown % 1000, unit)
end

return times
