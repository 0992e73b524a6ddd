-- The results of a gate as the XML that CI servers read: a test case for each condition. The form
-- is that of the Ant task JUnitReport, https://github.com/testmoapp/junitxml.

local markup = require "profio.internal.markup"

local junit = {}

---@class profio.JunitCase
---@field name string
---@field failed string[] texts of failures
---@field unknown string[] texts of what could not be decided

local function escaped(list)
   local texts = {}
   for i, text in ipairs(list) do
      texts[i] = markup.escaped(text)
   end
   return texts
end

local function case_of(suite, case)
   local failed, unknown = escaped(case.failed), escaped(case.unknown)
   local lines = { ('  <testcase classname="%s" name="%s">'):format(suite:gsub(" ", "."),
      markup.escaped(case.name)) }
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
   return table.concat(lines, "\n")
end

---Writes a suite.
---@param out profio.Output
---@param name string "profio compare"
---@param cases profio.JunitCase[]
---@param text string of the suite
function junit.suite(out, name, cases, text)
   local lines, failures, skipped = {}, 0, 0
   for i, case in ipairs(cases) do
      lines[i] = case_of(name, case)
      failures = failures + (#case.failed > 0 and 1 or 0)
      skipped = skipped + (#case.failed == 0 and #case.unknown > 0 and 1 or 0)
   end
   out:write '<?xml version="1.0" encoding="UTF-8"?>\n'
   out:write(('<testsuite name="%s" tests="%d" failures="%d" errors="0" skipped="%d">\n'):format(
      name, #cases, failures, skipped))
   out:write(table.concat(lines), "  <system-out>", markup.escaped(text),
      "</system-out>\n</testsuite>\n")
end

-- Returns the texts of the results of a condition with a state.
local function texts_of(results, condition, state)
   local list = {}
   for _, result in ipairs(results) do
      if result.condition == condition and result.state == state then
         list[#list + 1] = result.text
      end
   end
   return list
end

---Writes the results of a comparison.
---@param out profio.Output
---@param comparison profio.Comparison
---@param conditions string[] of --fail
---@param results table[] of comparison:check
function junit.write(out, comparison, conditions, results)
   local cases = {}
   for i, condition in ipairs(conditions) do
      cases[i] = { name = condition, failed = texts_of(results, condition, "failed"),
         unknown = texts_of(results, condition, "unknown") }
   end
   junit.suite(out, "profio compare", cases, comparison:text())
end

return junit
