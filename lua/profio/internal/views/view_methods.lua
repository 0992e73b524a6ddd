-- A view: a table seen through stages. It is lazy and immutable: every method returns a new view,
-- and nothing is read before each, records, rows, print or write.

local column_methods = require "profio.internal.views.column_methods"
local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local exporting = require "profio.internal.exporting"
local lazy_view = require "profio.internal.views.lazy_view"
local raise = require "profio.internal.raise"
local row_export = require "profio.internal.exporting.row_export"
local times = require "profio.internal.times"

local run, staged, with = lazy_view.run, lazy_view.staged, lazy_view.with
local names_given = lazy_view.names_given

local view = { over = lazy_view.over }

-- Returns the chunks of a view under its stages, or nil.
local function parts_of(self)
   local parts = self.parts and self.parts()
   for i = 1, parts and #parts or 0 do
      parts[i] = staged(self, parts[i])
   end
   return parts
end

local methods = {}

for name, method in pairs(column_methods) do
   methods[name] = method
end

---Returns the columns: { name=, type=, help= } each.
---@return profio.Field[] fields
function methods:fields()
   return run(self):fields()
end

---Rows that satisfy all conditions; the conditions are evaluated in C.
---@param wanted table<string, any> column = value | list | profio.between/match/no/missing
---@return profio.View
function methods:where(wanted)
   if type(wanted) ~= "table" then
      error("where expects a table: where { column = value }", 2)
   end
   local tests = conditions.tests(wanted)
   return with(self, function(reader)
      return core.where(reader, tests)
   end, true)
end

---Rows for which a Lua function of some columns returns a true value.
---@param f fun(...): any
---@param ... string the columns whose values f gets
---@return profio.View
function methods:filter(f, ...)
   local columns = names_given("filter", ...) or {}
   if type(f) ~= "function" or #columns == 0 then
      error("filter expects a function and the columns it gets: filter(f, \"time\", ...)", 2)
   end
   return with(self, function(reader)
      return core.filter(reader, f, columns)
   end)
end

---At most n rows, after the first `skip` rows.
---@param n integer
---@param skip integer|nil
---@return profio.View
function methods:limit(n, skip)
   for _, count in ipairs { n == nil and "nil" or n, skip } do
      if math.type(count) == nil or not math.tointeger(count) or count < 0 then
         error(("limit: the number of rows must be a whole number, 0 or more, got %s"):format(
            type(count) == "string" and n ~= nil and ('"%s"'):format(count) or tostring(count)), 0)
      end
   end
   local most, left_out = math.tointeger(n), math.tointeger(skip or 0)
   return with(self, function(reader)
      return core.limit(reader, most, left_out)
   end)
end

---Rows with from <= time < to, in nanoseconds; nil leaves an end open. If records have a fixed
---size, the first row is found by bisection, and rows are assumed to be in order of time unless
---some are seen that are not.
---@param from integer|nil
---@param to integer|nil
---@param column string|nil default: time
---@return profio.View
function methods:range(from, to, column)
   local first = from and math.tointeger(from)
   local after = to and math.tointeger(to)
   if (from and not first) or (to and not after) then
      error("range expects whole numbers of nanoseconds: range(from, to)", 2)
   end
   raise.expect(column, "string?", "range: the column")
   return with(self, function(reader)
      return core.range(reader, column or "time", first, after)
   end)
end

---Add the columns class, handle, value, parent, file and line of the area in a column. A column
---that the rows have already is not added.
---@param column string|nil default: area
---@return profio.View
function methods:with_area(column)
   raise.expect(column, "string?", "with_area: the column")
   return with(self, function(reader)
      return core.with_area(reader, column or "area")
   end)
end

---Sort rows by columns, "-column" descending; stable, missing values last. Of a trace that is
---opened live the rows are sorted that it has when they are read.
---@param ... string
---@return profio.View
function methods:sort(...)
   local keys = {}
   for i, word in ipairs(names_given("sort", ...) or {}) do
      local sign, column = word:match "^(%-?)(.+)$"
      if not column then
         error("sort expects names of columns, got an empty one", 2)
      end
      keys[i] = { column = column, descending = sign == "-" }
   end
   if #keys == 0 then
      error("sort expects at least one column", 2)
   end
   return with(self, function(reader)
      return core.sort(reader, keys)
   end)
end

---Converts entries of calls (columns op and call) to enters and leaves: i and I become one enter, O
---and o one leave. Adds the columns event, overhead and compiled, and the leaves that the trace
---does not have, with the flags unwound, gap and open. A leave without a call has the flag orphan.
---@return profio.View
function methods:unfilter()
   return with(self, function(reader)
      return core.unfilter(reader, core.line_ranges(self:reader(), false))
   end)
end

---The inverse of unfilter: from entries with both operations of each pair, keeps those that a
---filtering profiler would have written.
---@return profio.View
function methods:refilter()
   return with(self, core.refilter)
end

-- {====== group and aggregate ======

-- A key: "column", "bucket(column, width)", "octave(column)", a function of the whole record, or
-- { function, "column", ..., name = "key", type = "int" }.
local function key_of(word, number)
   if type(word) == "function" then
      return { fn = word, name = number == 1 and "key" or "key" .. number }
   elseif type(word) == "table" then
      raise.expect(word[1], "function", "group: the first of { function, columns ... }")
      local columns = table.move(word, 2, #word, 1, {})
      return { fn = word[1], columns = #columns > 0 and columns or nil, type = word.type,
         name = word.name or (number == 1 and "key" or "key" .. number) }
   elseif type(word) ~= "string" then
      error("group expects columns, bucket(column, width), octave(column) or functions, got "
         .. type(word), 0)
   end
   local column, width = word:match "^%s*bucket%(%s*([%w_]+)%s*,%s*(%S+)%s*%)%s*$"
   if column then
      width = times.whole(width) or tonumber(width)
      if not width or width <= 0 then
         error("bucket expects a width above 0: bucket(column, width)", 0)
      end
      return { column = column, bucket = math.tointeger(width) or width }
   end
   local doubling = word:match "^%s*octave%(%s*([%w_]+)%s*%)%s*$"
   return { column = doubling or word, octave = doubling ~= nil }
end

-- "name = function(column)", "name = count", "count" -> { name=, fn=, column= }
local function aggregate_of(name, text)
   local fn, column = text:match "^%s*([%w_.]+)%s*%(%s*([%w_]*)%s*%)%s*$"
   fn = fn or text:match "^%s*([%w_.]+)%s*$"
   if not fn then
      error(("aggregate '%s' is not of the form function(column)"):format(text), 0)
   end
   if column == "" then
      column = nil
   end
   return { name = name or (column and fn .. "_" .. column or fn), fn = fn, column = column }
end

local function aggregates_of(wanted)
   local list = {}
   for _, text in pairs(wanted) do
      raise.expect(text, "string", "aggregate: what is kept of a group")
   end
   for _, text in ipairs(wanted) do
      local name, rest = text:match "^%s*([%w_]+)%s*=%s*(.-)%s*$"
      list[#list + 1] = aggregate_of(name, rest or text)
   end
   local names = {}
   for name in pairs(wanted) do
      if type(name) == "string" then
         names[#names + 1] = name
      end
   end
   table.sort(names)
   for _, name in ipairs(names) do
      list[#list + 1] = aggregate_of(name, wanted[name])
   end
   if #list == 0 then
      error("aggregate expects at least one aggregate, such as \"n = count\"", 0)
   end
   return list
end

-- Gives function keys without columns the whole record.
local function with_record_columns(keys, reader)
   local ready = {}
   for i, key in ipairs(keys) do
      ready[i] = key
      if key.fn and not key.columns then
         local columns = {}
         for c, field in ipairs(reader:fields()) do
            columns[c] = field.name
         end
         local fn = key.fn
         ready[i] = { name = key.name, type = key.type, columns = columns, fn = function(...)
            local record = {}
            for c, column in ipairs(columns) do
               record[column] = (select(c, ...))
            end
            return fn(record)
         end }
      end
   end
   return ready
end

-- Returns a view with one row for each group of rows of `self`.
local function grouped(self, keys, aggregates)
   return with(self, function(reader)
      return core.group(reader, with_record_columns(keys, reader), aggregates, parts_of(self))
   end)
end

---Group rows with equal keys; `aggregate` then computes columns of each group. Without it the rows
---are counted.
---@param ... string|function|table columns, "bucket(column, width)" (rounded down to a multiple),
---"octave(column)" (rounded down to a power of two), functions, or { function, "column", ...,
---name = "key", type = "int" | "num" | "bool" | "name" }. Without columns the function gets the
---record. Without a type the values decide; without values the column has no type of its own. Of a
---trace that is opened live the rows are grouped that it has when the groups are read
---@return profio.View
function methods:group(...)
   local keys = {}
   for i = 1, select("#", ...) do
      keys[i] = key_of((select(i, ...)), i)
   end
   local counted = grouped(self, keys, { { name = "count", fn = "count" } })
   counted.grouping, counted.ungrouped = keys, self
   return counted
end

---Compute columns of each group (without a group before: of all rows): { "n = count",
---"total = sum(value)" } in that order, or { n = "count", ... } in order of name.
---@param wanted table
---@return profio.View
function methods:aggregate(wanted)
   if type(wanted) ~= "table" then
      error("aggregate expects a table: aggregate { \"n = count\" }", 2)
   end
   -- replaces the group that only counts
   return grouped(self.ungrouped or self, self.grouping or {}, aggregates_of(wanted))
end

-- }======

-- {====== Output ======

---Iterate over values of columns (default: all): for a, b in view:each("a", "b").
---A missing value is nil; in the first column false, because nil would end the loop.
---@param ... string
---@return fun(): ...
function methods:each(...)
   local columns = names_given("each", ...)
   return core.each(run(self), columns)
end

---Iterate over records: a new table each, without missing values.
---@param ... string only these columns
---@return fun(): table
function methods:records(...)
   local columns = names_given("records", ...)
   return core.records(run(self), columns)
end

---Returns all records as an array.
---@param ... string only these columns
---@return table[]
function methods:rows(...)
   local columns = names_given("rows", ...)
   return core.rows(run(self), columns)
end

---Counts the rows by reading them.
---@return integer
function methods:count()
   return core.drain(run(self))
end

---Write the rows: as an aligned table, or as csv, tsv, json or ndjson.
---@param options table|nil { output = "text", columns = {...}, unit = "ms", ... }; for csv and tsv
---also raw = true: keep bytes that are not UTF-8, instead of writing U+FFFD; no_formulas = true;
---decimal = ","; bom = true; for csv delimiter = ";", and spreadsheet = "comma" for these three
---@param out file*|nil nil: return the text
---@return string|nil
function methods:write(options, out)
   return row_export.write(run(self), raise.expect(options or {}, "table", "write: options"), out)
end

-- Returns the files that were read for what a view pins: a trace, a profile, a list of them.
local function inputs_of(pin)
   local list = {}
   for _, one in ipairs(pin and pin.inputs and { pin } or pin or {}) do
      table.move(one:inputs(), 1, #one:inputs(), #list + 1, list)
   end
   return list
end

---Export the rows for another program. The file appears when it is complete. Raises if the path is
---a file that was read for the rows.
---@param kind string "csv", "clickhouse", "sqlite", ...
---@param path string|nil nil: return the bytes; "-": standard output
---@param options table|nil options of the export, and columns: only these, in this order
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function methods:export(kind, path, options)
   return exporting.run(kind, "rows", run(self), options, path,
      inputs_of(self.pin))
end

---Print an aligned table on standard output.
---@param ... string only these columns
function methods:print(...)
   local columns = names_given("print", ...)
   row_export.write(run(self), { columns = columns,
      width = core.terminal_width(io.stdout) }, io.stdout)
end

---Returns a new reader of the core, as reports and exports use it.
---@return userdata
function methods:reader()
   return run(self)
end

-- }======

raise.publish_methods(methods, "view", lazy_view.is_one)
view.methods = methods
lazy_view.take_methods(view)

return view
