-- Selects runs in SQLite by the tests of selecting.lua.

local run = require("profio.internal.store.sqlite.statements").run

local picked_runs = {}

-- Returns the expression for a key of a test, and the table in which it is looked up, as the start
-- of a condition that is true for the runs with such a value.
local function sides_of(test, number)
   if test.is_label then
      return "EXISTS(SELECT 1 FROM labels l WHERE l.run = r.id AND l.key = :key" .. number,
         "l.value", ")"
   end
   local column = test.key == "run" and "hash" or test.key
   return "(1", "r." .. column, ")"
end

-- Adds the condition of a test to `parts`, and its values to `bound`. The values of a set are in
-- the temporary table wanted.
local function add_condition(self, test, number, parts, bound)
   local start, column, finish = sides_of(test, number)
   if test.is_label then
      bound[#bound + 1] = test.key
   end
   if test.op == "in" then
      for _, one in ipairs(test.values) do
         run(self, "INSERT OR IGNORE INTO temp.wanted(test, value) VALUES(?, :value)", number,
            one)
      end
      start = ("%s AND %s IN (SELECT value FROM temp.wanted WHERE test = %d)"):format(start,
         column, number)
   elseif test.op == "prefix" then
      local list = {}
      for i, digits in ipairs(test.values) do -- a range of hashes, so that the index is used
         list[i] = ("%s BETWEEN ? AND ?"):format(column)
         for _, filler in ipairs { "0", "f" } do
            bound[#bound + 1] = (digits .. filler:rep(32 - #digits)):gsub("%x%x", function(pair)
               return string.char(tonumber(pair, 16))
            end)
         end
      end
      start = start .. " AND (" .. (list[1] and table.concat(list, " OR ") or "0") .. ")"
   elseif test.op == "missing" then
      start = test.is_label and start or "(1" -- each run has each attribute
      parts[#parts + 1] = (test.negate and "" or "NOT ") .. start .. finish
      return
   end
   for name, operator in pairs(test.op == "between" and { low = ">=", high = "<=" } or {}) do
      if test[name] ~= nil then -- texts in the order of their bytes, also those that are blobs
         start = ("%s AND %s %s ?"):format(start, type(test[name]) == "string"
            and ("CAST(%s AS BLOB)"):format(column) or column, operator)
         bound[#bound + 1] = test[name]
      end
   end
   parts[#parts + 1] = (test.negate and "NOT " or "") .. start .. finish
end

---Fills the temporary table picked with the runs of a selection.
---@param self profio.SqliteEngine
---@param tests table[]|nil nil: all runs
---@return integer count of runs
function picked_runs.pick(self, tests)
   local parts, bound = { "1" }, {}
   run(self, "CREATE TEMP TABLE IF NOT EXISTS wanted(test INTEGER, value, "
      .. "PRIMARY KEY(test, value)) WITHOUT ROWID")
   run(self, "CREATE TEMP TABLE IF NOT EXISTS picked(id INTEGER PRIMARY KEY)")
   run(self, "DELETE FROM temp.wanted")
   run(self, "DELETE FROM temp.picked")
   for number, test in ipairs(tests or {}) do
      add_condition(self, test, number, parts, bound)
   end
   return run(self, "INSERT INTO temp.picked(id) SELECT r.id FROM runs r WHERE "
      .. table.concat(parts, " AND "), table.unpack(bound))
end

return picked_runs
