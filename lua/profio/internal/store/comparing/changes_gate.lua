-- Conditions under which the steps of a store fail a gate: those of comparison:check.

local gate = require "profio.internal.compare.gate"
local sentences = require "profio.internal.compare.sentences"
local steps = require "profio.internal.inference.steps"
local texts = require "profio.internal.texts"

local changes_gate = {}

-- Raises for a condition that no step can meet, as such a gate would check nothing.
local function check_condition(result, column, condition)
   local why
   if column == "total" then
      why = "steps are those of self"
   elseif condition.verdict == "moved" or condition.verdict == "unknown" then
      why = ("no step is %s"):format(condition.verdict)
   elseif result.is_share and condition.column == "whole" then
      why = "the whole has no steps, as it is what shares are of"
   elseif result.is_share and condition.change then
      why = "shares have bounds in per cent"
   end
   if why then
      error(("'%s': %s"):format(condition.text, why), 0)
   end
end

-- Returns the step of a row in the form of a row of a comparison.
local function row_of(step)
   local before, after = step.before or step.before_share, step.after or step.after_share
   local verdict = before == 0 and "new" or after == 0 and "gone" or after > before and "slower"
      or "faster"
   return { name = step["function"] or "the whole", before = before, after = after,
      change = after - before, relative = step.relative, verdict = verdict,
      said = ("%s from %s on"):format(verdict, step.by) }
end

---Returns the function that formats weights, or shares.
---@param result profio.ChangesResult
---@return fun(value: number): string
function changes_gate.formatter(result)
   return result.is_share and function(share)
      return ("%.2f %%"):format(100 * share)
   end or sentences.formatter(result.metric)
end

---Checks conditions of a gate: "self > +5%", "whole > +3%", "slower of main", "new". Raises for a
---condition that steps cannot meet.
---@param conditions string[]
---@param result profio.ChangesResult
---@return { condition: string, name: string, state: string, text: string }[] results one for each
---step that fails (state = "failed"), and for each name that no tested function has ("failed");
---"unknown" if there are too few versions for a step
function changes_gate.check(conditions, result)
   local items, rows, wholes = {}, {}, {}
   for _, one in ipairs(result.tested) do
      items[#items + 1] = one.name and { name = one.name } or nil
   end
   for _, step in ipairs(result.rows) do
      local into = step["function"] and rows or wholes
      into[#into + 1] = row_of(step)
   end
   local list = gate.check(conditions, { metric = result.metric, items = items,
      shown = changes_gate.formatter(result) }, function(column, _, condition)
      check_condition(result, column, condition)
      return { rows = rows, wholes = wholes }
   end)
   for _, condition in ipairs(#result.versions < steps.FEWEST and conditions or {}) do
      list[#list + 1] = { condition = condition, name = "versions", state = "unknown",
         text = ("not known: %s, and no step can be found in fewer than %d"):format(texts.counted(
            #result.versions, "version"), steps.FEWEST) }
   end
   return list
end

return changes_gate
