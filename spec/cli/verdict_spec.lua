-- profio verdict: limits as text, a page, Markdown and JUnit XML.
--
-- Tags: user.

local command = require "spec.support.command"
local events = require "spec.support.events"

local lines = "0 enter A t1\n10 leave A t1\n12 enter B<1> t1\n30 leave B<1> t1\n"

-- Returns the output and the status of the verdict on limits.
local function verdict(limits, ...)
   command.file("bench.limits", limits)
   return events.command(lines, "--limits", command.folder .. "/bench.limits", ...)
end


describe("profio verdict", function()
   it("is the verdict, and the limits that are not kept first", function()
      local text, status = verdict("A count == 1\nA gross_max <= 5ns\n", "--output", "markdown")
      assert.equal(4, status)
      assert.matches("**FAILED: 1 of 2 limits not kept**", text, 1, true)
      assert.matches("| EXCEEDED | A | gross\\_max | 10 ns | &lt;= 5 ns  at 0 ns |\n| ok | A |",
         text, 1, true)
   end)

   it("is JUnit XML with a case for each limit", function()
      local text, status = verdict('A count == 1\n"B<1>" gross_max <= 5ns\n~. count == 1\n',
         "--output", "junit")
      assert.equal(4, status)
      assert.matches('<testsuite name="profio verdict" tests="4" failures="1" errors="0" '
         .. 'skipped="0">', text, 1, true)
      assert.matches('name="&quot;B&lt;1&gt;&quot; gross_max &lt;= 5ns">\n    <failure '
         .. 'message="B&lt;1&gt; gross_max: 18 ns, limit &lt;= 5 ns  at 12 ns">', text, 1, true)
      assert.matches('name="~. count == 1 (A)"', text, 1, true)
   end)

   it("refuses options that the form does not show", function()
      for _, words in ipairs { { "--top", "1" }, { "--columns", "area" },
         { "--where", "area=A" } }
      do
         local _, status, errors = verdict("A count == 1\n", "--output", "junit",
            table.unpack(words))
         assert.equal(2, status)
         assert.matches("--output junit cannot use " .. words[1], errors, 1, true)
      end
   end)

   it("is a page that needs nothing else, with names escaped", function()
      local text, status = verdict('"B<1>" gross_max <= 50ns\n', "--output", "html")
      assert.equal(0, status)
      assert.matches("<p class=\"verdict ok\">PASSED: 1 limit kept</p>", text, 1, true)
      assert.matches("<td>B&lt;1&gt;</td>", text, 1, true)
      assert.is_nil(text:find "<script" or text:find "https?:")
   end)
end)
