-- A model of formulas for comparison with view:derive: trees that are computed row by row with the
-- numbers of Lua. A value is a number, or nil where it is missing; `overflows` counts rows as
-- view.warnings does.

local slow = {}

-- {====== Sums of any size: high * 2^32 + low ======

local function added(sum, value)
   local low = sum.low + (value & 0xffffffff)
   return { low = low & 0xffffffff, high = sum.high + (value >> 32 | -(value >> 63) << 32)
      + (low >> 32) }
end

local function whole(sum)
   local fits = sum.high >= -0x80000000 and sum.high < 0x80000000
   return fits and (sum.high << 32 | sum.low) or nil
end

-- }======

-- {====== Operations ======

-- The double nearest to a / b, by long division of their sizes.
local function ratio(a, b)
   if math.abs(a) <= 1 << 53 and math.abs(b) <= 1 << 53 and a ~= math.mininteger then
      return a / b
   end
   local is_negative = (a < 0) ~= (b < 0)
   local divisor = b < 0 and -b or b
   local size = a < 0 and -a or a
   local quotient, rest, power = 0, 0, 0
   local bit = 63
   while bit >= 0 or quotient < 1 << 58 and rest ~= 0 do
      rest = rest << 1 | (bit >= 0 and size >> bit & 1 or 0)
      quotient = quotient << 1
      power = bit < 0 and power - 1 or power
      if not math.ult(rest, divisor) then
         rest, quotient = rest - divisor, quotient | 1
      end
      bit = bit - 1
   end
   quotient = rest ~= 0 and quotient | 1 or quotient -- below all bits that a double keeps
   local value = quotient + 0.0 -- rounds once
   if quotient < 0 then -- it is 2^63
      value = 2.0 ^ 63
   end
   return (is_negative and -value or value) * 2.0 ^ power
end

local OVER = {} -- what overflows

local operations = {}

operations["+"] = function(a, b)
   local sum = a + b
   return ((b >= 0 and sum < a) or (b < 0 and sum > a)) and OVER or sum
end

operations["-"] = function(a, b)
   local difference = a - b
   return ((b >= 0 and difference > a) or (b < 0 and difference < a)) and OVER or difference
end

operations["*"] = function(a, b)
   local product = a * b
   local is_wrong = b ~= 0 and (product // b ~= a or (b == -1 and a == math.mininteger)
      or (a == -1 and b == math.mininteger))
   return is_wrong and OVER or product
end

operations["//"] = function(a, b)
   if b == 0 then
      return nil
   end
   return a == math.mininteger and b == -1 and OVER or a // b
end

operations["%"] = function(a, b)
   return b ~= 0 and a % b or nil
end

operations["/"] = function(a, b)
   return b ~= 0 and ratio(a, b) or nil
end

local nums = {
   ["+"] = function(a, b) return a + b end,
   ["-"] = function(a, b) return a - b end,
   ["*"] = function(a, b) return a * b end,
   ["/"] = function(a, b) return b ~= 0 and a / b or nil end,
   ["//"] = function(a, b) return b ~= 0 and a // b or nil end,
   ["%"] = function(a, b) return b ~= 0 and math.fmod(a, b) or nil end,
}

local comparisons = {
   ["<"] = function(a, b) return a < b end, ["<="] = function(a, b) return a <= b end,
   [">"] = function(a, b) return a > b end, [">="] = function(a, b) return a >= b end,
   ["=="] = function(a, b) return a == b end, ["~="] = function(a, b) return a ~= b end,
}

local function of_two(operator, a, b)
   if a == nil or b == nil then
      return nil
   elseif comparisons[operator] then
      return comparisons[operator](a, b) and 1 or 0
   elseif operator == "min" or operator == "max" then
      local best = operator == "min" and math.min(a, b) or math.max(a, b)
      return math.type(a) == math.type(b) and best or best + 0.0
   elseif math.type(a) == "integer" and math.type(b) == "integer" then
      return operations[operator](a, b)
   end
   local result = nums[operator](a + 0.0, b + 0.0)
   if operator == "%" and result and result * b < 0 then
      result = result + b
   end
   return result == result and result or nil
end

local function of_one(operator, a)
   if a == nil then
      return nil
   elseif operator == "sqrt" then
      return a >= 0 and math.sqrt(a) or nil
   elseif math.type(a) == "integer" and a == math.mininteger then
      return OVER
   elseif operator == "abs" then
      return math.abs(a)
   end
   return -a
end

-- }======

-- {====== Trees: { "number", n }, { "column", name }, { "total", name }, { operator, a, b } ======

local function total(rows, name)
   local sum = { high = 0, low = 0 }
   for _, row in ipairs(rows) do
      sum = row[name] and added(sum, row[name]) or sum
   end
   return whole(sum) or OVER
end

local function run(tree, value)
   tree.sum = tree.sum or { high = 0, low = 0 }
   tree.sum = value and added(tree.sum, value) or tree.sum
   return value and (whole(tree.sum) or OVER)
end

-- Returns the value of a tree in a row; sets state.over if a number overflows.
local function value_of(tree, row, state)
   local kind, value = tree[1]
   if kind == "number" then
      return tree[2]
   elseif kind == "column" then
      return row[tree[2]]
   elseif kind == "total" then
      value = total(state.rows, tree[2])
   elseif kind == "running" then
      value = run(tree, value_of(tree[2], row, state))
   elseif tree[3] then
      value = of_two(kind, value_of(tree[2], row, state), value_of(tree[3], row, state))
   else
      value = of_one(kind, value_of(tree[2], row, state))
   end
   state.over = state.over or value == OVER
   return value ~= OVER and value or nil
end

---Returns the values of a tree in all rows.
---@param tree table
---@param rows table<string, number>[]
---@return table<integer, number> values  nil if missing
---@return integer overflows rows in which a number is too large
function slow.values(tree, rows)
   local list, overflows = {}, 0
   for i, row in ipairs(rows) do
      local state = { rows = rows }
      local value = value_of(tree, row, state)
      if value == math.huge or value == -math.huge then
         value, state.over = nil, true
      end
      list[i] = value
      overflows = overflows + (state.over and 1 or 0)
   end
   return list, overflows
end

---Returns a tree as the text of a formula.
---@param tree table
---@return string
function slow.text(tree)
   local kind = tree[1]
   if kind == "number" then
      return math.type(tree[2]) == "integer" and ("%d"):format(tree[2]) or ("%.3f"):format(tree[2])
   elseif kind == "column" then
      return tree[2]
   elseif kind == "total" then
      return "total(" .. tree[2] .. ")"
   elseif kind == "negate" then
      return "-(" .. slow.text(tree[2]) .. ")"
   elseif not tree[3] then
      return kind .. "(" .. slow.text(tree[2]) .. ")"
   elseif kind == "min" or kind == "max" then
      return ("%s(%s, %s)"):format(kind, slow.text(tree[2]), slow.text(tree[3]))
   end
   return ("(%s) %s (%s)"):format(slow.text(tree[2]), kind, slow.text(tree[3]))
end

-- }======

return slow
