-- --where, --group, --aggregate, --sort and --top: stages over a view.

local failure = require "profio.cli.failure"
local words = require "profio.cli.words"

local query = {}

---Whether the command asks for other rows or columns than a report has by itself.
---@param given table
---@return boolean
function query.reshapes(given)
   return (given.group or given.aggregate or given.sort or given.columns) ~= nil
end

---The view behind the conditions of --where.
---@param view profio.View
---@param given table
---@return profio.View
function query.where(view, given)
   given.selected_from = view -- for what is said when nothing is left
   for _, text in ipairs(given.where) do
      view = view:where(words.condition(text, view:fields()))
   end
   return view
end

-- The names of bucket(time, 1000) stay whole: words.split looks at parentheses.
local function trimmed(text)
   local list = words.split(text)
   for i, word in ipairs(list) do
      list[i] = word:match "^%s*(.-)%s*$"
   end
   return list
end

---The names of --columns, or nil.
---@param given table
---@return string[]|nil
function query.columns(given)
   return given.columns and trimmed(given.columns)
end

---The view behind all stages of the command line.
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

---What --top says, or nil.
---@param given table
---@return integer|nil
function query.count(given)
   local count = given.top and words.number(given.top, "--top")
   if count and count < 0 then
      failure.use("--top must be 0 or more, got %d", count)
   end
   return count
end

---The view cut to the rows of --top.
---@param view profio.View
---@param given table
---@return profio.View
function query.top(view, given)
   local count = query.count(given)
   return count and view:limit(count) or view
end

return query
