-- Times as people write them: 1.5ms, 2s, 250; dates: 2026-03-01; ages: 90d.

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

-- {====== Dates ======

local SECOND <const>, DAY <const> = 1000000000, 86400
local FIRST_YEAR <const>, LAST_YEAR <const> = 1678, 2261 -- of which 64 bits of ns have all days

-- Seconds of the units of ages.
local ages = { s = 1, min = 60, h = 3600, d = DAY, w = 7 * DAY }

---The forms of dates, for messages.
times.DATES = "a date or time in UTC (2026-03-01, 2026-03, 2026-03-01T12:30, 2026-03-01T12:30:05), "
   .. "an age (-90d; units s, min, h, d, w), or ns since 1970"

---Converts an age, "90d", to nanoseconds; nil if the text is none, or above 292 years.
---@param text string a whole number with the unit s, min, h, d or w
---@return integer|nil
function times.age(text)
   local digits, unit = text:match "^(%d+)(%a+)$"
   local count, size = integer("", digits or ""), ages[unit]
   if not count or not size or count > math.maxinteger // SECOND // size then
      return nil
   end
   return count * size * SECOND
end

-- Returns the days from 1970-01-01 to a day of the Gregorian calendar; a month after 12 is one of
-- the next year. Years begin in March, so that the day of a leap year is the last one.
local function days_to(year, month, day)
   year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
   year = month <= 2 and year - 1 or year
   local of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
   return year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719468
end

-- Returns the first second since 1970 of a date, and that after it; nil: the calendar does not have
-- it.
local function seconds_of(year, month, day, hour, minute, second)
   if year < FIRST_YEAR or year > LAST_YEAR or month < 1 or month > 12 then
      return nil
   end
   local first, next_month = days_to(year, month, 1), days_to(year, month + 1, 1)
   if not day then
      return first * DAY, next_month * DAY
   elseif day < 1 or day > next_month - first or (hour or 0) > 23 or (minute or 0) > 59
      or (second or 0) > 59
   then
      return nil
   end
   local start = (first + day - 1) * DAY + (hour or 0) * 3600 + (minute or 0) * 60 + (second or 0)
   return start, start + (second and 1 or hour and 60 or DAY)
end

-- Returns year, month, day, hour, minute, second of a text, as far as it has them, and the decimals
-- of the second; nil: it has another form.
local function fields_of(text)
   local date, clock = text:match "^(%d[%d-]*)[T ](%d%d:%d%d[%d:.]*)Z?$"
   local year, month, day = (date or text):match "^(%d%d%d%d)-(%d%d)-(%d%d)$"
   if not clock then
      if not year then
         year, month = text:match "^(%d%d%d%d)-(%d%d)$"
      end
      return tonumber(year), tonumber(month), tonumber(day)
   end
   local hour, minute, rest = clock:match "^(%d%d):(%d%d)(.*)$"
   local second, decimals = rest:match "^:(%d%d)(.*)$"
   decimals = decimals and decimals ~= "" and (decimals:match "^%.(%d+)$" or "x") or nil
   if not year or rest ~= "" and not second or decimals and (decimals == "x" or #decimals > 9) then
      return nil
   end
   return tonumber(year), tonumber(month), tonumber(day), tonumber(hour), tonumber(minute),
      tonumber(second), decimals
end

---Converts a date to its first and its last nanosecond since 1970, in UTC: those of a month, a day,
---a minute, or a second. An age, "-90d", is one instant before now, as is a number, which is in ns
---unless it has a unit.
---@param text string
---@return integer|nil first nil: the text is no date
---@return integer|nil last
function times.date(text)
   local age = text:match "^%-(%d+%a+)$"
   if age then
      local size = times.age(age)
      local instant = size and os.time() * SECOND - size
      return instant, instant
   end
   local year, month, day, hour, minute, second, decimals = fields_of(text)
   if not year then
      local instant = times.parse(text) or times.whole(text)
      return instant, instant
   end
   local start, after = seconds_of(year, month, day, hour, minute, second)
   if not start then
      return nil
   elseif decimals then
      local size = 10 ^ (9 - #decimals) // 1 | 0
      local first = start * SECOND + tonumber(decimals) * size
      return first, first + size - 1
   end
   return start * SECOND, after * SECOND - 1
end

---Formats ns since 1970 as a date in UTC, down to the second: "2026-03-01T12:00:00".
---@param time integer
---@return string
function times.date_text(time)
   return os.date("!%Y-%m-%dT%H:%M:%S", time // SECOND)
end

-- }======

return times
