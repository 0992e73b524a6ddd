-- The methods of views that add columns: computed from others, of other rows, or of another view.

local core = require "profio.core"
local formulas = require "profio.internal.views.formulas"
local lazy_view = require "profio.internal.views.lazy_view"
local raise = require "profio.internal.raise"
local view_warnings = require "profio.internal.views.view_warnings"

local with, names_given = lazy_view.with, lazy_view.names_given

local methods = {}

-- Adds the column of a formula with prev or next to a reader.
local function with_lag(reader, lag)
   for _, field in ipairs(reader:fields()) do
      if field.name == lag.name then
         error(("derive: there is a column '%s' already"):format(lag.name), 0)
      end
   end
   return core.lag(reader, lag)
end

---Add columns computed from others, in C: view:derive { "share = count / total(count)" }, or
---view:derive { "before = prev(time) by lane", "gap = time - before" }, in which columns of prev
---and next come first. internal/views/formulas.lua defines formulas. Whole numbers of more than 64
---bits are missing, and view.warnings (also trace.warnings) tells in how many rows.
---@param wanted string[]
---@return profio.View
function methods:derive(wanted)
   if type(wanted) ~= "table" or #wanted == 0 then
      error("derive expects formulas: derive { \"name = formula\" }", 2)
   end
   local lags, texts = {}, {}
   for _, text in ipairs(wanted) do
      local lag = formulas.lag(raise.expect(text, "string", "derive: a formula"))
      if lag then
         lags[#lags + 1] = lag
      else
         texts[#texts + 1] = text
      end
   end
   return with(self, function(reader)
      for _, lag in ipairs(lags) do
         reader = with_lag(reader, lag)
      end
      local fields, compiled = reader:fields(), {}
      for i, text in ipairs(texts) do
         compiled[i] = formulas.compile(text, fields)
         compiled[i].overflows = view_warnings.counter(self.pin or self.open, text)
      end
      return #texts > 0 and core.derive(reader, compiled) or reader
   end)
end

---Add one column for each of `names`: it holds the number in column `value` in rows whose column
---`key` has that name, and 0 in all other rows. Grouping the rows and summing these columns gives
---the values side by side, as a pivot table does.
---@param key string a column of names
---@param value string a column of whole numbers
---@param names (string|{ name: string, column: string })[] `column` names the new column
---@return profio.View
function methods:pivot(key, value, names)
   raise.expect(key, "string", "pivot: the column of names")
   raise.expect(value, "string", "pivot: the column of values")
   local columns = {}
   for i, name in ipairs(raise.expect(names, "table", "pivot: the names")) do
      columns[i] = type(name) == "table" and name or { name = name, column = name }
      raise.expect(columns[i].name, "string", "pivot: a name")
      raise.expect(columns[i].column, "string", "pivot: the column of a name")
   end
   return with(self, function(reader)
      return core.pivot(reader, key, value, columns)
   end)
end

-- Raises unless a value is a view.
local function view_given(what, value)
   if not lazy_view.is_one(value) then
      error(("%s expects a view, got %s"):format(what, type(value)), 0)
   end
   return value
end

-- Returns the counter of the rows of two views that are not in order.
local function disorder_of(self, what, column)
   return view_warnings.disorder(self.pin or self.open, what, column)
end

---The rows of two views in the order of a column of whole numbers; of equal ones those of this
---view come first. Both must be in that order: view.warnings tells how many rows are not. Columns
---with the same name are one column; those of one view only are missing in the rows of the other.
---A column of whole numbers or areas that is one of names in the other view becomes one of names.
---@param other profio.View of the same trace
---@param column string|nil default: time
---@return profio.View
function methods:merge(other, column)
   local right = view_given("merge", other)
   column = raise.expect(column, "string?", "merge: the column") or "time"
   return with(self, function(reader)
      return core.merge(reader, lazy_view.run(right), column, disorder_of(self, "merge", column))
   end)
end

-- Returns a list of columns from one or several names.
local function columns_of(value, what)
   if type(value) == "string" then
      return { value }
   end
   return names_given(what, table.unpack(raise.expect(value or {}, "table", what))) or {}
end

local asof_options = { on = true, by = true, columns = true, within = true }

---Adds to each row the columns of the latest row of another view that is not later, and equal in
---columns `by`: view:join_asof(states, { by = "lane", columns = { "state" } }). Without such a row
---they are missing. A column whose name this view has already gets the suffix "_right". Both views
---must be in the order of the column `on`: view.warnings tells how many rows are not.
---@param other profio.View of the same trace
---@param options table|nil on = "time"; by, a column or a list; columns, a column or a list
---(default: all that are not in on and by); within, the longest difference
---@return profio.View
function methods:join_asof(other, options)
   local right = view_given("join_asof", other)
   local given = raise.expect(options or {}, "table", "join_asof: the options")
   for name in pairs(given) do
      if not asof_options[name] then
         error(("join_asof: there is no option '%s'; there are on, by, columns, within"):format(
            tostring(name)), 0)
      end
   end
   local on = raise.expect(given.on, "string?", "join_asof: on") or "time"
   local by = columns_of(given.by, "join_asof: by")
   local within = given.within and math.tointeger(given.within)
   if given.within and (not within or within < 0) then
      error("join_asof: within must be a whole number, 0 or more", 0)
   end
   return with(self, function(reader)
      local source, names = lazy_view.run(right), given.columns
      if not names then
         local is_known = { [on] = true }
         for _, name in ipairs(by) do
            is_known[name] = true
         end
         names = {}
         for _, field in ipairs(source:fields()) do
            names[#names + 1] = not is_known[field.name] and field.name or nil
         end
      end
      return core.join_asof(reader, source, { on = on, by = by, within = within,
         columns = columns_of(names, "join_asof: columns") },
         disorder_of(self, "join_asof", on))
   end)
end

return methods
