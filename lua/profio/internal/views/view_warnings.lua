-- Warnings that views collect while they read rows. The owner is the trace or profile that they
-- pin, or else the function that opens the view.

local core = require "profio.core"

local warnings = {}

-- Counters of overflows by formula, for each owner. A view and the views derived from it share
-- them.
local counters = setmetatable({}, { __mode = "k" })

-- Other warnings, as codes by message, for each owner.
local notes = setmetatable({}, { __mode = "k" })

---Returns the counter of the rows in which a formula overflows.
---@param owner any what the views pin
---@param formula string
---@return userdata
function warnings.counter(owner, formula)
   counters[owner] = counters[owner] or {}
   counters[owner][formula] = counters[owner][formula] or core.counter()
   return counters[owner][formula]
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
---@return profio.Warning[] list  one for each formula with overflows, and those of note
function warnings.of(owner)
   local list = {}
   for message, code in pairs(notes[owner] or {}) do
      list[#list + 1] = { code = code, kind = "note", message = message }
   end
   for _, source in ipairs(sources) do
      source(owner, list)
   end
   for formula, counter in pairs(counters[owner] or {}) do
      if counter:value() > 0 then
         list[#list + 1] = { code = "derive-overflow", kind = "note",
            message = ("derive: in %d rows '%s' is missing, because a number is too large for its "
               .. "type"):format(counter:value(), formula) }
      end
   end
   table.sort(list, function(a, b)
      return a.message < b.message
   end)
   return list
end

return warnings
