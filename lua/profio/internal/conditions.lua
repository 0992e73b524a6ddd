-- Conditions of view:where: values, lists, between, match, no and missing, converted to the tests
-- that the core evaluates.

local patterns = require "profio.internal.later" "profio.internal.patterns"

local conditions = {}

local Condition = { __name = "profio.condition" }
Condition.__index = Condition

local function condition(op, fields)
   fields.op = op
   return setmetatable(fields, Condition)
end

---Values from low to high, including both ends. nil leaves an end open.
---@param low number|string|nil
---@param high number|string|nil
function conditions.between(low, high)
   if low == nil and high == nil then
      error("between: one end must be given: between(low, high), between(low), between(nil, high)",
         0)
   end
   for _, value in ipairs { low or high, high or low } do
      if type(value) ~= "number" and type(value) ~= "string" then
         error("between: an end must be a number or a text, got " .. type(value), 0)
      end
   end
   return condition("between", { low = low, high = high })
end

---Texts in which a Lua pattern is found. Each name is tested once, not once per record.
---@param pattern string
function conditions.match(pattern)
   if type(pattern) ~= "string" then
      error("match expects a Lua pattern, got " .. type(pattern), 2)
   end
   local compiled, problem = patterns.of(pattern)
   if not compiled then
      error(problem, 2)
   end
   return condition("match", { pattern = compiled })
end

---Returns the pattern of a match; nil for anything else.
---@param wanted any
---@return profio.core.Pattern|nil
function conditions.pattern(wanted)
   local is_match = getmetatable(wanted) == Condition and wanted.op == "match"
   return is_match and wanted.pattern or nil
end

---All values except x: a value, a list, or another condition. A missing value is not x.
---@param x any
function conditions.no(x)
   return condition("no", { inner = x })
end

---The value is missing.
conditions.missing = condition("missing", {})

---Converts a condition of one column to a test for the core.
---@param column string
---@param wanted any value, list or condition
---@return table test
local function test_of(column, wanted)
   if getmetatable(wanted) == Condition then
      if wanted.op == "no" then
         local test = test_of(column, wanted.inner)
         test.negate = not test.negate or nil
         return test
      end
      return { column = column, op = wanted.op, low = wanted.low, high = wanted.high,
         pattern = wanted.pattern }
   elseif type(wanted) == "table" then
      return { column = column, op = "in", values = wanted }
   elseif wanted == nil then
      error("where: no value for column '" .. tostring(column) .. "'", 0)
   end
   return { column = column, op = "eq", value = wanted }
end

---Converts a where table to tests, in order of column name, so that runs are reproducible.
---@param wanted table<string, any>
---@return table[] tests
function conditions.tests(wanted)
   local columns, tests = {}, {}
   for column in pairs(wanted) do
      if type(column) ~= "string" then
         error("where expects columns by name: where { column = value }", 0)
      end
      columns[#columns + 1] = column
   end
   table.sort(columns)
   for i, column in ipairs(columns) do
      tests[i] = test_of(column, wanted[column])
   end
   return tests
end

return conditions
