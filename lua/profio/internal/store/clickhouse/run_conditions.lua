-- Conditions of ClickHouse for the tests of selecting.lua. Values are rows of temporary tables,
-- which are sent with the query.

local row_binary = require "profio.internal.store.clickhouse.row_binary"
local selecting = require "profio.internal.store.selecting"

local run_conditions = {}

---Returns the month of a time in UTC, by which runs are in partitions: 202603.
---@param time integer ns since 1970
---@return integer
function run_conditions.month(time)
   return math.tointeger(tonumber(os.date("!%Y%m", time // 1000000000)))
end

-- Returns a query for the only value in a new temporary table.
local function scalar(tables, is_text, value)
   local name = tables:add(is_text and "v String" or "v Int64",
      row_binary.pack(is_text and "s" or "i", value))
   return ("(SELECT v FROM %s)"):format(name)
end

-- Returns a condition for an expression that a test compares.
local function compared(tables, test, expression, is_text)
   local parts = {}
   if test.op == "in" then
      local rows = {}
      for i, value in ipairs(test.values) do
         rows[i] = row_binary.pack(is_text and "s" or "i", value)
      end
      return ("%s IN %s"):format(expression, tables:add(is_text and "v String" or "v Int64",
         table.concat(rows)))
   end
   for name, operator in pairs { low = ">=", high = "<=" } do
      if test[name] ~= nil then
         parts[#parts + 1] = ("%s %s %s"):format(expression, operator,
            scalar(tables, is_text, test[name]))
      end
   end
   return parts[1] and table.concat(parts, " AND ") or "1"
end

-- Returns the condition for the first digits of a hash; a whole hash uses the index.
local function by_digits(tables, values)
   local by_size, parts = {}, {}
   for _, digits in ipairs(values) do
      by_size[#digits] = by_size[#digits] or {}
      table.insert(by_size[#digits], digits)
   end
   for size, list in pairs(by_size) do
      local rows = {}
      for i, digits in ipairs(list) do
         rows[i] = size < 32 and row_binary.pack("s", digits) or digits:gsub("%x%x", function(pair)
            return string.char(tonumber(pair, 16))
         end)
      end
      local name = tables:add(size < 32 and "v String" or "v FixedString(16)", table.concat(rows))
      parts[#parts + 1] = size == 32 and "hash IN " .. name
         or ("substring(lower(hex(hash)), 1, %d) IN %s"):format(size, name)
   end
   return parts[1] and table.concat(parts, " OR ") or "0"
end

-- Returns a condition for a label of a run.
local function of_label(tables, test)
   local key = scalar(tables, true, test.key)
   if test.op == "missing" then
      return ("NOT has(keys, %s)"):format(key)
   end
   return ("has(keys, %s) AND %s"):format(key, compared(tables, test,
      ("values[indexOf(keys, %s)]"):format(key), true))
end

-- Returns a condition that only looks into partitions with times of a test, or nil.
local function of_months(test)
   local parts = {}
   for name, operator in pairs(test.key == "time" and test.op == "between" and not test.negate
      and { low = ">=", high = "<=" } or {})
   do
      parts[#parts + 1] = test[name] and ("month %s toInt64('%d')"):format(operator,
         run_conditions.month(test[name]))
   end
   return parts[1] and table.concat(parts, " AND ")
end

local function of_test(tables, test)
   if test.is_label then
      return of_label(tables, test)
   elseif test.op == "prefix" then
      return by_digits(tables, test.values)
   elseif test.op == "missing" then
      return "0"
   end
   return compared(tables, test, ("`%s`"):format(test.key),
      selecting.attribute(test.key).type == "name")
end

---Returns the condition for rows of the table runs that pass all tests; nil: there are no tests.
---@param tests table[]|nil
---@param tables profio.ClickHouseTables gets the values
---@param has_months boolean the month of a run is that of its time
---@return string|nil
function run_conditions.of(tests, tables, has_months)
   local parts = {}
   for _, test in ipairs(tests or {}) do
      parts[#parts + 1] = ("%s(%s)"):format(test.negate and "NOT " or "", of_test(tables, test))
      parts[#parts + 1] = has_months and of_months(test) or nil
   end
   return parts[1] and table.concat(parts, " AND ")
end

return run_conditions
