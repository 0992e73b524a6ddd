-- A simple model of where, group, aggregate, sort and limit. The specs compare the kernels with it,
-- so it shares no code and no algorithm with them.
--
-- A table is { fields = { { name, type }, ... }, rows = { { value, ... }, ... } }; a missing value
-- is nil. No function changes its arguments.

local model = {}

local function column_of(tab, name)
   for i, field in ipairs(tab.fields) do
      if field[1] == name then
         return i, field[2]
      end
   end
   error("no column " .. name)
end

-- {====== Order ======

local function bytes_before(a, b)
   for i = 1, math.min(#a, #b) do
      if a:byte(i) ~= b:byte(i) then
         return a:byte(i) < b:byte(i)
      end
   end
   return #a < #b
end

-- Returns whether a sorts before b in a column of this type.
local function before(type, a, b)
   if type == "name" or type == "bytes" then
      return bytes_before(a, b)
   elseif type == "addr" then
      return math.ult(a, b)
   elseif type == "bool" then
      return not a and b
   end
   return a < b
end

-- }======

-- {====== where ======

local holds = {}

function holds.eq(value, test)
   return value == test.value
end

holds["in"] = function(value, test)
   for _, one in ipairs(test.values) do
      if value == one then
         return true
      end
   end
   return false
end

function holds.between(value, test, type)
   return not (test.low ~= nil and before(type, value, test.low))
      and not (test.high ~= nil and before(type, test.high, value))
end

function holds.match(value, test)
   return value:find(test.words) ~= nil
end

-- A missing value only satisfies the test `missing`; `negate` inverts any result.
local function test_holds(value, test, type)
   local answer
   if value == nil then
      answer = test.op == "missing"
   else
      answer = test.op ~= "missing" and holds[test.op](value, test, type)
   end
   return answer ~= (test.negate or false)
end

---Returns the rows for which all tests hold.
function model.where(tab, tests)
   local rows = {}
   for _, row in ipairs(tab.rows) do
      local all = true
      for _, test in ipairs(tests) do
         local i, type = column_of(tab, test.column)
         all = all and test_holds(row[i], test, type)
      end
      if all then
         rows[#rows + 1] = row
      end
   end
   return { fields = tab.fields, rows = rows }
end

---Returns the rows for which f(values of the columns) is true.
function model.filter(tab, f, columns)
   local rows = {}
   for _, row in ipairs(tab.rows) do
      local values = {}
      for k, name in ipairs(columns) do
         values[k] = row[column_of(tab, name)]
      end
      if f(table.unpack(values, 1, #columns)) then
         rows[#rows + 1] = row
      end
   end
   return { fields = tab.fields, rows = rows }
end

-- }======

---Returns at most n rows (nil: all) after the first `skip`.
function model.limit(tab, n, skip)
   local rows = {}
   for i, row in ipairs(tab.rows) do
      if i > (skip or 0) and (n == nil or #rows < n) then
         rows[#rows + 1] = row
      end
   end
   return { fields = tab.fields, rows = rows }
end

-- {====== sort ======

---Returns the rows in the order of the keys; the sort is stable, missing values come last.
function model.sort(tab, keys)
   local order = {}
   for i = 1, #tab.rows do
      order[i] = i
   end
   local function earlier(a, b)
      for _, key in ipairs(keys) do
         local i, type = column_of(tab, key.column)
         local x, y = tab.rows[a][i], tab.rows[b][i]
         if (x == nil) ~= (y == nil) then
            return y == nil
         elseif x ~= nil then
            if before(type, x, y) then
               return not key.descending
            elseif before(type, y, x) then
               return key.descending or false
            end
         end
      end
      return a < b
   end
   table.sort(order, earlier)
   local rows = {}
   for i, number in ipairs(order) do
      rows[i] = tab.rows[number]
   end
   return { fields = tab.fields, rows = rows }
end

-- }======

-- {====== group ======

local function bucket_of(value, type, width)
   if type == "num" then
      return math.floor(value / width) * width + 0.0
   end
   return value - value % width
end

-- The value of a key in a row, and the key's column name and type.
local function key_of(tab, row, key)
   if key.fn then
      local values = {}
      for k, name in ipairs(key.columns) do
         values[k] = row[column_of(tab, name)]
      end
      return (key.fn(table.unpack(values, 1, #key.columns))), key.name, key.type
   end
   local i, type = column_of(tab, key.column)
   local value = row[i]
   if key.bucket and value ~= nil then
      value = bucket_of(value, type, key.bucket)
   end
   return value, key.name or key.column, type
end

local compute = {}

function compute.count(values)
   return #values
end

function compute.sum(values, type)
   local sum = type == "num" and 0.0 or 0
   for _, value in ipairs(values) do
      sum = sum + value
   end
   return sum
end

function compute.min(values, type)
   local best = values[1]
   for _, value in ipairs(values) do
      if before(type, value, best) then
         best = value
      end
   end
   return best
end

function compute.max(values, type)
   local best = values[1]
   for _, value in ipairs(values) do
      if before(type, best, value) then
         best = value
      end
   end
   return best
end

function compute.mean(values, type)
   if #values > 0 then
      return compute.sum(values, type) / #values
   end
end

-- The root of the mean square of the distances from the mean.
function compute.stddev(values, type)
   if #values > 0 then
      local mean, squares = compute.mean(values, type), 0.0
      for _, value in ipairs(values) do
         squares = squares + (value - mean) ^ 2
      end
      return math.sqrt(squares / #values)
   end
end

function compute.first(values)
   return values[1]
end

function compute.last(values)
   return values[#values]
end

function compute.distinct(values)
   local seen, count = {}, 0
   for _, value in ipairs(values) do
      if not seen[value] then
         seen[value] = true
         count = count + 1
      end
   end
   return count
end

-- The quantile by nearest rank: the smallest value that at least p per cent do not exceed.
local function quantile(values, percent)
   local sorted = table.move(values, 1, #values, 1, {})
   table.sort(sorted)
   local whole, part = percent:match "^(%d+)%.?(%d*)$"
   local scale = 100 * 10 ^ #part // 1 | 0
   local rank = (tonumber(whole .. part) * #sorted + scale - 1) // scale
   return sorted[math.max(rank, 1)]
end

-- The present values of a column in rows; of no column, one for each row.
local function values_of(tab, rows, column)
   if not column then
      return rows
   end
   local i, type = column_of(tab, column)
   local values = {}
   for _, row in ipairs(rows) do
      if row[i] ~= nil then
         values[#values + 1] = row[i]
      end
   end
   return values, type
end

local result_types = { count = "int", distinct = "int", mean = "num", stddev = "num" }

local function aggregate_of(tab, rows, aggregate)
   local values, type = values_of(tab, rows, aggregate.column)
   local percent = aggregate.fn:match "^p([%d.]+)$"
   if percent then
      return quantile(values, percent)
   end
   return compute[aggregate.fn](values, type)
end

-- A text that is equal for equal values only.
local function mark_of(value)
   if type(value) == "number" and math.tointeger(value) then
      value = math.tointeger(value)
   end
   return type(value) == "string" and "s" .. #value .. ":" .. value or tostring(value)
end

-- The groups in order of their first rows: { keys = { ... }, rows = { ... } }.
local function groups_of(tab, keys)
   local groups, by_mark = {}, {}
   for _, row in ipairs(tab.rows) do
      local values, marks = {}, {}
      for k, key in ipairs(keys) do
         values[k] = key_of(tab, row, key)
         marks[k] = mark_of(values[k])
      end
      local mark = table.concat(marks, "|")
      local group = by_mark[mark]
      if not group then
         group = { keys = values, rows = {} }
         by_mark[mark] = group
         groups[#groups + 1] = group
      end
      group.rows[#group.rows + 1] = row
   end
   if #keys == 0 and #groups == 0 then
      groups[1] = { keys = {}, rows = {} }
   end
   return groups
end

---Returns a row for each combination of keys: the keys, then the aggregates.
function model.group(tab, keys, aggregates)
   local fields, rows = {}, {}
   for k, key in ipairs(keys) do
      local _, name, type = key_of(tab, {}, key)
      fields[k] = { name, type }
   end
   for a, aggregate in ipairs(aggregates) do
      local type = aggregate.column and select(2, column_of(tab, aggregate.column)) or "int"
      fields[#keys + a] = { aggregate.name, result_types[aggregate.fn] or type }
   end
   for g, group in ipairs(groups_of(tab, keys)) do
      local row = table.move(group.keys, 1, #keys, 1, {})
      for a, aggregate in ipairs(aggregates) do
         row[#keys + a] = aggregate_of(tab, group.rows, aggregate)
      end
      rows[g] = row
   end
   return { fields = fields, rows = rows }
end

-- }======

return model
