-- Tables for specs of the kernels: random ones (from a seed), readers over them, tables from
-- readers, and comparison.

local core = require "profio.core"

local tables = {}

-- {====== Random tables ======

local words = { "", "a", "b", "ab", "aa", "zebra", "Db_open", "Db_close", "main", "\0", "a\0b",
   "\xff", "~", "A" }

local function word()
   return words[math.random(#words)]
end

-- Random values of each type, few enough that groups have several rows.
local make = {
   int = function()
      return math.random(10) == 1 and math.random(-1 << 40, 1 << 40) or math.random(-6, 6)
   end,
   num = function()
      return math.random(10) == 1 and (math.random() - 0.5) * 1e6 or math.random(-8, 8) * 0.25
   end,
   addr = function()
      return math.random(4) == 1 and math.random(0) or math.random(0, 9)
   end,
   bool = function()
      return math.random(2) == 1
   end,
   stack = function()
      return math.random(0, 7)
   end,
   name = word,
   area = word,
   bytes = word,
}

tables.fields = {
   { "i", "int" }, { "time", "int" }, { "x", "num" }, { "address", "addr" }, { "flag", "bool" },
   { "name", "name" }, { "area", "area" }, { "stack", "stack" }, { "text", "bytes" },
}

---Returns a random value of this type.
function tables.value(type)
   return make[type]()
end

---Returns a random table of n rows with a share `missing` (0 to 1) of missing values.
function tables.random(n, missing)
   local rows = {}
   for r = 1, n do
      local row = {}
      for i, field in ipairs(tables.fields) do
         if math.random() >= missing then
            row[i] = make[field[2]]()
         end
      end
      rows[r] = row
   end
   return { fields = tables.fields, rows = rows }
end

---Sizes and shares of missing values: none, few, several batches.
function tables.any(case)
   math.randomseed(case)
   local n = case % 101 == 100 and math.random(4000, 9000) or math.random(0, 40)
   return tables.random(n, ({ 0, 0, 0.1, 0.5, 1 })[math.random(5)])
end

---One of the values of a list.
function tables.pick(list)
   return list[math.random(#list)]
end

-- }======

---A reader of the core over a table.
function tables.reader(tab, dictionary)
   return core.rows_reader(tab.fields, tab.rows, dictionary)
end

---Returns all rows of a reader as such a table.
function tables.take(reader)
   local tab = { fields = {}, rows = {} }
   for i, field in ipairs(reader:fields()) do
      tab.fields[i] = { field.name, field.type }
   end
   for r, record in ipairs(core.rows(reader)) do
      local row = {}
      for i, field in ipairs(tab.fields) do
         row[i] = record[field[1]]
      end
      tab.rows[r] = row
   end
   return tab
end

---An aggregate of a list of values.
---@param fn string
---@param type string
---@param values any[]
---@return any
function tables.aggregate(fn, type, values)
   local rows = {}
   for i = 1, #values do
      rows[i] = { values[i] }
   end
   local reader = core.group(core.rows_reader({ { "v", type } }, rows), {},
      { { name = "a", fn = fn, column = "v" } })
   return core.rows(reader)[1].a
end

-- {====== Comparison ======

local function same_value(a, b, nearly)
   if a == nil or b == nil or type(a) ~= "number" then
      return a == b
   elseif math.type(a) ~= math.type(b) then
      return false
   elseif nearly then
      return math.abs(a + 0.0 - b) <= nearly * math.max(1, math.abs(a), math.abs(b))
   end
   return a == b or (a ~= a and b ~= b)
end

-- Returns the first difference as text, or nil.
local function difference(want, got, nearly)
   if #want.fields ~= #got.fields then
      return ("%d columns, got %d"):format(#want.fields, #got.fields)
   end
   for i, field in ipairs(want.fields) do
      if field[1] ~= got.fields[i][1] or field[2] ~= got.fields[i][2] then
         return ("column %s %s, got %s %s"):format(field[1], field[2], got.fields[i][1],
            got.fields[i][2])
      end
   end
   for r = 1, math.max(#want.rows, #got.rows) do
      local a, b = want.rows[r], got.rows[r]
      if not a or not b then
         return ("%d rows, got %d"):format(#want.rows, #got.rows)
      end
      for i, field in ipairs(want.fields) do
         if not same_value(a[i], b[i], nearly and nearly[field[1]]) then
            return ("row %d, %s: %q, got %q"):format(r, field[1], a[i], b[i])
         end
      end
   end
end

---Fails with the first difference. `nearly` has the tolerance of columns with rounded numbers.
function tables.assert_same(want, got, what, nearly)
   local words_of = difference(want, got, nearly)
   if words_of then
      error(("%s: expected %s"):format(what, words_of), 2)
   end
end

-- }======

return tables
