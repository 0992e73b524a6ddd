-- Parses values on the command line: conditions, lists, quantities.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local times = require "profio.internal.times"

local words = {}

-- {====== Lists ======

---Splits at commas outside of parentheses; "\," is a comma.
---@param text string
---@return string[]
function words.split(text)
   local list, depth, item = {}, 0, {}
   local i = 1
   while i <= #text do
      local c = text:sub(i, i)
      if c == "\\" and text:sub(i + 1, i + 1) == "," then
         c, i = ",", i + 1
      elseif c == "," and depth == 0 then
         list[#list + 1], item, c = table.concat(item), {}, ""
      elseif c == "(" then
         depth = depth + 1
      elseif c == ")" then
         depth = math.max(0, depth - 1)
      end
      item[#item + 1] = c
      i = i + 1
   end
   list[#list + 1] = table.concat(item)
   return list
end

-- }======

-- {====== Values ======

-- Parses an integer, or a time in ns; nil if the text is neither, or needs more than 64 bits.
local function whole(text)
   local hex = text:match "^0[xX](%x+)$"
   if hex then
      return #hex:gsub("^0+", "") <= 16 and math.tointeger(tonumber("0x" .. hex)) or nil
   end
   local time, unit = times.parse(text)
   if unit then
      return time
   end
   return times.whole(text)
end

local readers = {}

function readers.int(text)
   return whole(text), "a whole number (1000, 0x10, 1.5ms)"
end

function readers.addr(text)
   return whole(text), "an address (0x401000)"
end

-- Hexadecimal, as it is printed; a prefix 0x is allowed.
function readers.handle(text)
   local digits = text:match "^0[xX](%x+)$" or text:match "^%x+$"
   local value = digits and #digits <= 16 and math.tointeger(tonumber("0x" .. digits)) or nil
   return value, "a handle (10000004)"
end

function readers.num(text)
   local share = text:match "^(.*)%%$"
   if share then
      return tonumber(share) and tonumber(share) / 100, "a number"
   end
   return tonumber(text), "a number (0.5, 20%)"
end

function readers.bool(text)
   local truths = { ["true"] = true, yes = true, ["false"] = false, no = false }
   return truths[text], "true or false"
end

-- A day has many values of a column of dates.
function readers.date(text)
   local first, last = times.date(text)
   return first, times.DATES, last
end

-- Converts a text to a value of a column: the first and the last one that it stands for, which are
-- equal but for dates.
local function values_of(text, field)
   local read = readers[core.is_date(field) and "date" or field.type]
   if not read then
      return text, text
   end
   local value, wanted, last = read(text)
   if value == nil then
      failure.use("column '%s' holds %s, got '%s'", field.name, wanted, text)
   end
   return value, last or value
end

-- }======

-- {====== --where ======

local lowest = { int = math.mininteger, num = -math.huge, addr = 0, handle = 0 }
local highest = { int = math.maxinteger, num = math.huge, addr = -1, handle = -1 }

-- Parses lo..hi, where either end may be omitted; nil if it is no range.
local function range_of(text, field)
   local low, high = text:match "^(.-)%.%.(.*)$"
   if not low or not lowest[field.type] then
      return nil
   end
   local first = low == "" and lowest[field.type] or values_of(low, field)
   local last = highest[field.type]
   if high ~= "" then
      last = select(2, values_of(high, field))
   end
   return conditions.between(first, last)
end

local function wanted_of(text, field)
   local range = range_of(text, field)
   if range then
      return range
   elseif text == "" then
      return conditions.missing
   end
   local list = words.split(text)
   for i, item in ipairs(list) do
      local first, last = values_of(item, field)
      if first ~= last and not list[2] then
         return conditions.between(first, last)
      elseif first ~= last then
         failure.use("column '%s': a list has no dates, give a range, %s=%s..%s", field.name,
            field.name, list[1], list[#list])
      end
      list[i] = first
   end
   return #list == 1 and list[1] or list
end

local function field_called(fields, name)
   local names = {}
   for i, field in ipairs(fields) do
      if field.name == name then
         return field
      end
      names[i] = field.name
   end
   failure.use("no column '%s'; there are: %s", name, table.concat(names, ", "))
end

---Splits a condition.
---@param text string
---@return string name of the column
---@return string operator
---@return string value
---@return boolean is_negated
function words.parts(text)
   local name, negated, operator, rest = text:match "^%s*([%w_][%w_.:/-]*)%s*(!?)([=~])(.*)$"
   if not name then
      name, operator, rest = text:match "^%s*([%w_][%w_.:/-]*)%s*([<>]=?)%s*(.*)$"
   end
   if not name then
      failure.use("--where must be col=val, col=a,b, col~pattern, col=lo..hi, col!=val or "
         .. "col>=val (also > <= <), got '%s'", text)
   end
   return name, operator, rest, negated == "!"
end

-- Returns the next larger or smaller value of the column's type; nil if there is none.
local function next_to(value, field, step)
   if field.type == "num" then
      if value ~= value or value == step * math.huge then
         return nil
      end
      local bits = string.unpack("<i8", string.pack("<d", value == 0 and 0.0 or value))
      bits = value == 0 and (step > 0 and 1 or math.mininteger + 1)
         or bits + (value > 0 and step or -step)
      return (string.unpack("<d", string.pack("<i8", bits)))
   end
   local is_signed = field.type == "int"
   local last = step > 0 and (is_signed and math.maxinteger or -1)
      or step < 0 and (is_signed and math.mininteger or 0)
   return value ~= last and value + step or nil
end

-- Returns the condition of a comparison with one of the operators >, >=, < and <=.
local function compared(operator, text, field)
   if not lowest[field.type] then
      failure.use("--where: %s is for numbers and times, column '%s' is of type %s", operator,
         field.name, field.type)
   end
   local value, last = values_of(text, field)
   value = (operator == ">" or operator == "<=") and last or value
   if operator == ">" or operator == "<" then
      value = next_to(value, field, operator == ">" and 1 or -1)
   end
   if value == nil then -- no value lies beyond the last one
      return conditions.between(highest[field.type], lowest[field.type])
   elseif operator:sub(1, 1) == ">" then
      return conditions.between(value, nil)
   end
   return conditions.between(nil, value)
end

---Converts a condition of the command line for view:where.
---@param text string col=val, col=a,b, col~pattern, col=lo..hi, col!=val, col!~pattern, col>=val,
---col>val, col<=val, col<val
---@param fields table[] { name=, type= } of the view's columns
---@return table<string, any>
function words.condition(text, fields)
   local name, operator, rest, is_negated = words.parts(text)
   local field = field_called(fields, name)
   local wanted
   if operator:find "^[<>]" then
      wanted = compared(operator, rest, field)
   elseif operator == "~" then
      wanted = conditions.match(rest)
   else
      wanted = wanted_of(rest, field)
   end
   return { [name] = is_negated and conditions.no(wanted) or wanted }
end

-- }======

---Parses an integer of an option; raises on wrong use.
---@param text string
---@param option string
---@return integer
function words.number(text, option)
   local value = whole(text)
   if not value then
      failure.use("%s must be a whole number, got '%s'", option, text)
   end
   return value
end

---Parses a time of an option: 1.5ms, 2s, a number in --unit (default ns), or 10% of the trace.
---@param text string
---@param unit string|nil unit of numbers without one
---@param option string
---@return integer|nil time in nanoseconds
---@return number|nil percent if it is a part of the trace
function words.time(text, unit, option)
   local percent = tonumber(text:match "^%+?(%d*%.?%d*)%%$")
   if percent and percent <= 100 then
      return nil, percent
   end
   local time = times.parse(text, unit)
   if not time then
      failure.use("%s must be a time (1.5ms, 2s, 1000, or 10%% of the trace), got '%s'", option,
         text)
   end
   return time
end

---Checks that a text is one of some choices; raises on wrong use.
---@param text string
---@param option string
---@param choices string[]
---@return string
function words.choice(text, option, choices)
   for _, choice in ipairs(choices) do
      if choice == text then
         return choice
      end
   end
   failure.use("%s is one of %s; got '%s'", option, table.concat(choices, ", "), text)
end

---Splits name=value of --set.
---@param text string
---@return string name
---@return string value
function words.assignment(text)
   local name, value = text:match "^([%w_]+)=(.*)$"
   if not name then
      failure.use("--set expects NAME=VALUE, got '%s'", text)
   end
   return name, value
end

return words
