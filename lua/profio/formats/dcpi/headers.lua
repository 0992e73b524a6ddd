--- Header lines of the encoder: their syntax, and the merged header of several profiles. They fit
--- into one file if image, label, platform, code range and clock are equal; the earliest epoch is
--- kept. The decoder's rules are in csrc/formats/dcpi/header_line.c.

local epoch_order = require "profio.formats.dcpi.epoch_order"

local headers = {}

---The words that a file may state, in the order in which their values are checked, with the syntax
---of their values. A binary file begins with the first nine.
headers.words = { { "version" }, { "image", "digits" }, { "epoch" }, { "platform", "text" },
   { "event" }, { "period", 10 }, { "tstart" }, { "tsize", 10 }, { "cpuspeed", 10 },
   { "cpuamask", "mask" }, { "cpuimplv", 10 }, { "cpucount", 10 }, { "path", "text" },
   { "name", "text" }, { "label", "text" }, { "text_start" }, { "text_size" } }

---The place of each word in the list.
---@type table<string, integer>
headers.place = {}
for i, word in ipairs(headers.words) do
   headers.place[word[1]] = i
end

---Ends the encoder: the file cannot hold what it is given.
---@param text string of string.format
function headers.refuse(text, ...)
   error { message = text:format(...), code = "unsupported" }
end

local refuse = headers.refuse

-- {====== Syntax ======

---Returns the number that a text is, as an integer of 64 bits; nil, and whether it has the form of
---a number, which is then too large.
---@param text string
---@param base 10|16
---@return integer|nil
---@return boolean|nil
function headers.number(text, base)
   local digits = text:match(base == 16 and "^0*(%x+)$" or "^0*(%d+)$")
   if not digits or base == 16 then
      return digits and #digits <= 16 and tonumber(digits, 16) or nil, digits ~= nil
   elseif #digits > 20 or #digits == 20 and digits > "18446744073709551615" then
      return nil, true
   end
   return tonumber("0" .. digits:sub(1, -11)) * 10000000000 + tonumber(digits:sub(-10))
end

---Returns the decimal digits of an integer without a sign.
---@param number integer
---@return string
function headers.decimal(number)
   if number >= 0 then
      return tostring(number)
   end
   local tens = (number >> 1) // 5
   return ("%d%d"):format(tens, number - tens * 10)
end

---Returns whether a text is not empty and has no control byte except tabs.
function headers.is_printable(text)
   return text ~= "" and not text:find "[\0-\8\10-\31]"
end

---Returns whether a text can be read back as a value: it must not begin with blanks.
function headers.is_value(text)
   return headers.is_printable(text) and not text:find "^[ \t]"
end

---Splits a line into its word and its value.
---@param line string
---@return string word
---@return string value
function headers.split(line)
   local word, rest = line:match "^([^ \t]*)[ \t]*(.*)$"
   return word:match "^(.-)[ \t\r]*$", rest:match "^(.-)[ \t\r]*$"
end

---Returns the last component of a path without leading blanks: the name of an image.
function headers.base_name(path)
   return path:match "([^/]*)$":match "^[ \t]*(.*)$"
end

local days = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

-- Returns the key by which epochs are ordered, or nil if the digits are not a valid time.
local function epoch_key(epoch)
   local key = epoch_order.key(epoch)
   if key:sub(1, 1) == "~" then
      return nil
   end
   local year, month, day = key:match "(%d%d%d%d)(%d%d)(%d%d)"
   year, month, day = tonumber(year), tonumber(month), tonumber(day)
   local hour, minute, second = key:match("(%d%d)(%d%d)(%d%d)", 9)
   local is_leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
   local last = month == 2 and is_leap and 29 or days[month] or 0
   local is_valid = day >= 1 and day <= last and hour < "24" and minute < "60" and second < "60"
   return is_valid and key or nil
end

local checks = {
   digits = function(text) return text:find "^%x+$" end,
   mask = function(text) return headers.number(text:gsub("^0[xX]", ""), 16) end,
   text = headers.is_value,
   [10] = function(text) return headers.number(text, 10) end,
}

---Refuses values of the merged header that cannot be written.
---@param values table<string, string>
function headers.check(values)
   for _, word in ipairs(headers.words) do
      local value = values[word[1]]
      if value and word[2] and not checks[word[2]](value) then
         refuse("%s cannot be written as \"%s\"", word[1], value:sub(1, 40))
      end
   end
end

-- }======

-- {====== The merged header ======

-- Returns the start or the size of the code, from the word of the binary form or the one of
-- dcpicat; or nil.
local function parse_range(values, word, in_text)
   local value, base = values[word], word == "tstart" and 16 or 10
   if not value then
      value, base = values[in_text], 16
   end
   local number = value and headers.number(base == 16 and value:gsub("^0[xX]", "") or value, base)
   if value and not number then
      refuse("%s: a number expected, found \"%s\"", word, value:sub(1, 40))
   end
   return number
end

-- Returns start and size of the code, 0 if nothing states them.
local function ranges_of(values)
   return parse_range(values, "tstart", "text_start"), parse_range(values, "tsize", "text_size")
end

-- Compares a profile with the merged header.
local function check_same(merged, values)
   for _, word in ipairs { "image", "platform", "label", "cpuspeed" } do
      local one, other = merged.values[word] or "", values[word] or ""
      if merged.values[word] ~= values[word] then
         refuse("one file holds one %s, here are \"%s\" and \"%s\"; a directory (DATABASE/) holds "
            .. "more", word, one:sub(1, 60), other:sub(1, 60))
      end
   end
   local start, size = ranges_of(values)
   start, size = start or merged.start or 0, size or merged.size or 0
   if start ~= (merged.start or 0) or size ~= (merged.size or 0) then
      refuse("one file holds one range of code, here are 0x%x, %s bytes, and 0x%x, %s bytes",
         merged.start or 0, headers.decimal(merged.size or 0), start, headers.decimal(size))
   end
end

---Merges the values of all profiles.
---@param profiles { values: table<string, string> }[]
---@return { values: table<string, string>, start: integer|nil, size: integer|nil }
function headers.merged(profiles)
   local merged, earliest = { values = {} }, nil
   for i, profile in ipairs(profiles) do
      local values = profile.values
      if i == 1 then
         for word, value in pairs(values) do
            merged.values[word] = value
         end
         merged.values.epoch = nil
         merged.start, merged.size = ranges_of(values)
      else
         check_same(merged, values)
         for _, word in ipairs { "cpuamask", "cpuimplv", "cpucount" } do
            merged.values[word] = merged.values[word] or values[word]
         end
      end
      local key = values.epoch and epoch_key(values.epoch)
      if values.epoch and not key then
         refuse("epoch: a time as YYMMDDHHMM expected, found \"%s\"", values.epoch:sub(1, 40))
      elseif key and (not earliest or key < earliest) then
         earliest, merged.values.epoch = key, values.epoch
      end
   end
   return merged
end

-- }======

return headers
