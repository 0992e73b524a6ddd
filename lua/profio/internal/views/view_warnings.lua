-- Warnings that views collect while they read rows. The owner is the trace or profile that they
-- pin, or else the function that opens the view.

local core = require "profio.core"

local warnings = {}

-- Counters by what they count, for each owner: formulas with overflows, and joins of rows that are
-- not in order. A view and the views derived from it share them.
local counters = setmetatable({}, { __mode = "k" })

-- Other warnings, as codes by message, for each owner.
local notes = setmetatable({}, { __mode = "k" })

-- Returns a counter; `message` has a place for the number of rows.
local function counter_of(owner, key, code, message)
   counters[owner] = counters[owner] or {}
   counters[owner][key] = counters[owner][key]
      or { counter = core.counter(), code = code, message = message }
   return counters[owner][key].counter
end

-- Returns a text for string.format that becomes itself.
local function literal(text)
   return (text:gsub("%%", "%%%%"))
end

---Returns the counter of the rows in which a formula overflows.
---@param owner any what the views pin
---@param formula string
---@return userdata
function warnings.counter(owner, formula)
   return counter_of(owner, formula, "derive-overflow", "derive: in %d rows '" .. literal(formula)
      .. "' is missing, because a number is too large for its type")
end

---Returns the counter of the rows of two views that are not in the order of a column.
---@param owner any what the views pin
---@param what string the method that needs the order
---@param column string
---@return userdata
function warnings.disorder(owner, what, column)
   return counter_of(owner, what .. " " .. column, "rows-unordered", what .. ": rows that are not "
      .. "in the order of '" .. literal(column) .. "': %d; rows may be joined wrongly")
end

-- Functions that add warnings of an owner to a list.
local sources = {}

---Adds a function that adds further warnings of an owner to a list.
---@param source fun(owner: any, list: profio.Warning[])
function warnings.add_source(source)
   sources[#sources + 1] = source
end

---Adds a warning to the views over a trace or profile, once.
---@param owner any what the views pin
---@param code string
---@param message string
function warnings.note(owner, code, message)
   notes[owner] = notes[owner] or {}
   notes[owner][message] = code
end

---Returns the warnings that views over a trace or profile have collected while they read rows.
---@param owner any what the views pin
---@return profio.Warning[] list  one for each counter above 0, and those of note
function warnings.of(owner)
   local list = {}
   for message, code in pairs(notes[owner] or {}) do
      list[#list + 1] = { code = code, kind = "note", message = message }
   end
   for _, source in ipairs(sources) do
      source(owner, list)
   end
   for _, one in pairs(counters[owner] or {}) do
      local rows = one.counter:value()
      if rows > 0 then
         list[#list + 1] = { code = one.code, kind = "note", message = one.message:format(rows) }
      end
   end
   table.sort(list, function(a, b)
      return a.message < b.message
   end)
   return list
end

return warnings
