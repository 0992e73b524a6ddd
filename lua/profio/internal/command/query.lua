-- --where, --group, --aggregate, --sort and --top as stages over a view.

local failure = require "profio.internal.command.failure"
local later = require "profio.internal.later"
local words = later "profio.internal.command.values"

local query = {}

---Returns whether the command line changes the rows or columns of a report.
---@param given table
---@return boolean
function query.reshapes(given)
   return (given.group or given.aggregate or given.sort or given.columns) ~= nil
end

---Returns whether the command line selects a part of the trace: --from, --to or --lane.
---@param given table
---@return boolean
function query.has_span(given)
   return (given.from or given.to or given.lane) ~= nil
end

---Returns whether --focus, --ignore or --hide name functions.
---@param given table
---@return boolean
function query.names_functions(given)
   return #(given.focus or {}) + #(given.ignore or {}) + #(given.hide or {}) > 0
end

---Returns the view with the conditions of --where.
---@param view profio.View
---@param given table
---@return profio.View
function query.where(view, given)
   given.selected_from = view -- for the hint if nothing is left
   for _, text in ipairs(given.where) do
      view = view:where(words.condition(text, view:fields()))
   end
   return view
end

-- Splits a list and trims its items. bucket(time, 1000) stays one item, since words.split honours
-- parentheses.
local function trimmed(text)
   local list = words.split(text)
   for i, word in ipairs(list) do
      list[i] = word:match "^%s*(.-)%s*$"
   end
   return list
end

---Returns the names of --columns, or nil.
---@param given table
---@return string[]|nil
function query.columns(given)
   return given.columns and trimmed(given.columns)
end

---Returns the view with all stages of the command line.
---@param view profio.View
---@param given table
---@return profio.View
function query.apply(view, given)
   view = query.where(view, given)
   if given.group then
      view = view:group(table.unpack(trimmed(given.group)))
   end
   if given.aggregate then
      view = view:aggregate(trimmed(given.aggregate))
   end
   if given.sort then
      view = view:sort(table.unpack(trimmed(given.sort)))
   end
   return query.top(view, given)
end

---Returns the number of --top, or nil.
---@param given table
---@return integer|nil
function query.count(given)
   local count = given.top and words.number(given.top, "--top")
   if count and count < 0 then
      failure.use("--top must be 0 or more, got %d", count)
   end
   return count
end

---Returns the view cut to the rows of --top.
---@param view profio.View
---@param given table
---@return profio.View
function query.top(view, given)
   local count = query.count(given)
   return count and view:limit(count) or view
end

return query
