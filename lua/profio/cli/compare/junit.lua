-- The results of a gate, or the steps of functions, as the XML that CI servers read: a test case
-- for each condition. The form is that of the Ant task JUnitReport,
-- https://github.com/testmoapp/junitxml.

local markup = require "profio.internal.markup"

local junit = {}

-- Returns the texts of the results of a condition with a state.
local function texts_of(results, condition, state)
   local list = {}
   for _, result in ipairs(results) do
      if result.condition == condition and result.state == state then
         list[#list + 1] = markup.escaped(result.text)
      end
   end
   return list
end

local function case_of(suite, condition, results)
   local failed = texts_of(results, condition, "failed")
   local unknown = texts_of(results, condition, "unknown")
   local lines = { ('  <testcase classname="%s" name="%s">'):format(suite:gsub(" ", "."),
      markup.escaped(condition)) }
   if #failed > 0 then
      lines[#lines + 1] = ('    <failure message="%s">%s</failure>'):format(failed[1],
         table.concat(failed, "\n"))
   elseif #unknown > 0 then
      lines[#lines + 1] = ('    <skipped message="%s"/>'):format(unknown[1])
   end
   if #unknown > 0 then
      lines[#lines + 1] = "    <system-out>" .. table.concat(unknown, "\n") .. "</system-out>"
   end
   lines[#lines + 1] = "  </testcase>\n"
   return table.concat(lines, "\n"), #failed > 0, #failed == 0 and #unknown > 0
end

---Writes the results.
---@param out profio.Output
---@param suite string the command, "profio compare"
---@param conditions string[] of --fail
---@param results { condition: string, state: string, text: string }[] of comparison:check
---@param summary string
function junit.write(out, suite, conditions, results, summary)
   local cases, failures, skipped = {}, 0, 0
   for i, condition in ipairs(conditions) do
      local text, has_failed, is_skipped = case_of(suite, condition, results)
      cases[i], failures = text, failures + (has_failed and 1 or 0)
      skipped = skipped + (is_skipped and 1 or 0)
   end
   out:write '<?xml version="1.0" encoding="UTF-8"?>\n'
   out:write(('<testsuite name="%s" tests="%d" failures="%d" errors="0" skipped="%d">\n')
      :format(suite, #conditions, failures, skipped))
   out:write(table.concat(cases), "  <system-out>", markup.escaped(summary),
      "</system-out>\n</testsuite>\n")
end

return junit
