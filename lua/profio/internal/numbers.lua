-- Durations, sizes, counts and shares as pages and pictures show them: "10.5 µs", "1.25 MiB",
-- "12,345", "41.2 %". The scripts of pages write the same texts by exports/html/scripts/texts.js;
-- spec/exports/numbers_spec.lua compares both. Reports, whose columns have one unit, use times.lua.

local numbers = {}

-- Units from small to large: { size, text, least value that is shown in it }.
local durations = { { 1, " ns" }, { 1e3, " µs", 1e3 }, { 1e6, " ms", 1e6 }, { 1e9, " s", 1e9 },
   { 60e9, " min", 1200e9 }, { 3600e9, " h", 7200e9 }, { 86400e9, " d", 172800e9 } }
local sizes = { { 1, " B" } }
for i, name in ipairs { " KiB", " MiB", " GiB", " TiB", " PiB", " EiB" } do
   sizes[i + 1] = { 1024.0 ^ i, name, 1024.0 ^ i }
end

-- Counts that a double does not state exactly, or nearly so.
local LARGE <const> = 1e15
local large_counts = { { 1e15, "e15" }, { 1e18, "e18", 1e18 } }

-- Returns a size in `parts` of its unit, rounded. Scripts compute with doubles, so Lua does, too.
local function rounded(size, parts, unit)
   return math.floor(size * parts / unit + 0.5)
end

-- Returns the text of a number of 1/parts, without zeros at the end.
local function decimals(number, parts)
   local whole = math.floor(number / parts)
   local rest = ("%.0f"):format(number % parts)
   rest = (("0"):rep(#("%d"):format(parts) - 1 - #rest) .. rest):gsub("0+$", "")
   return ("%.0f"):format(whole) .. (rest ~= "" and "." .. rest or "")
end

local function sign_of(value, number)
   return value < 0 and number > 0 and "-" or ""
end

-- Returns a value with at most three decimals of the unit that suits it once it is rounded.
local function scaled(value, units)
   local size, i = math.abs(value + 0.0), 1
   while units[i + 1]
      and rounded(size, 1000, units[i][1]) * units[i][1] >= units[i + 1][3] * 1000
   do
      i = i + 1
   end
   local number = rounded(size, 1000, units[i][1])
   return sign_of(value, number) .. decimals(number, 1000) .. units[i][2]
end

---Formats a duration: "999 ns", "10.5 µs", "2.307 h".
---@param ns number
---@return string
function numbers.time(ns)
   return scaled(ns, durations)
end

---Formats a number of bytes: "512 B", "1.25 MiB".
---@param value number
---@return string
function numbers.bytes(value)
   return scaled(value, sizes)
end

---Formats a whole number, others rounded: "12,345"; from 1e15 on "1.234e15".
---@param value number
---@return string
function numbers.count(value)
   local number = rounded(math.abs(value + 0.0), 1, 1)
   if number >= LARGE then
      return scaled(value, large_counts)
   end
   local text = ("%.0f"):format(number):reverse():gsub("(%d%d%d)", "%1,"):reverse()
   return sign_of(value, number) .. text:gsub("^,", "")
end

---Formats a share with at most two decimals: "41.2 %"; "" if the whole is 0.
---@param part number
---@param whole number
---@return string
function numbers.percent(part, whole)
   if whole == 0 then
      return ""
   end
   local share = (part + 0.0) / whole
   local number = rounded(math.abs(share), 10000, 1)
   return (number >= LARGE and numbers.count(100 * share)
      or sign_of(share, number) .. decimals(number, 100)) .. " %"
end

---Formats a weight of a metric with its unit.
---@param value number
---@param unit string of the metric: "ns", "bytes", "count", "", or another one
---@return string
function numbers.weight(value, unit)
   if unit == "ns" then
      return numbers.time(value)
   elseif unit == "bytes" then
      return numbers.bytes(value)
   end
   return numbers.count(value) .. (unit ~= "" and unit ~= "count" and " " .. unit or "")
end

return numbers
