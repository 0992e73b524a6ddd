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

-- Counts of calls, for each trace.
local call_counts = setmetatable({}, { __mode = "k" })

---Returns the counts that each computation of the calls of a trace sets, its option `counts`.
---@param trace profio.Trace
---@return profio.core.CallCounts
function warnings.call_counts(trace)
   call_counts[trace] = call_counts[trace] or core.call_counts()
   return call_counts[trace]
end

-- Formats with a rule of their own: winIDEA records where each call ends, so one that ends before
-- those in it is enough for a note; functions that a BREAK of Xbase++ leaves have no leave.
local is_crossing, is_breaking = { winidea = true }, { xpp = true }

-- Adds notes that the calls of a trace may lie on the wrong stacks: more than 5 % of them have no
-- enter or no leave, or some began while another one of their lane ran, or after it was suspended,
-- although most callers are suspended at the time of the call.
local function add_doubts(list, trace)
   local calls, unmatched, crossed, nested, late, running = call_counts[trace]:values()
   local function add(code, message, ...)
      list[#list + 1] = { code = code, kind = "note", message = message:format(...)
         .. ": several tasks or cores on one lane?" }
   end
   if is_breaking[trace.format] then
      unmatched = unmatched - crossed
   end
   if unmatched * 20 > calls or is_crossing[trace.format] and crossed > 0 then
      add("calls-unmatched", "%d of %d calls (%.1f %%) have no enter or no leave", unmatched, calls,
         unmatched / calls * 100)
   end
   if late + running > 0 and late + running < nested / 2 then
      add("calls-overlap", "%d calls began or were resumed in a call that did not make them",
         running + late)
   end
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
   if call_counts[owner] then
      add_doubts(list, owner)
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
