-- Rows as the command writes them: UTF-8, or the bytes of the trace.

local events = require "spec.support.events"

describe("csv and tsv", function()
   local lines = "0 enter gr\xfc\xdf a\n5 leave gr\xfc\xdf a\n"

   it("are UTF-8, or raw, with --output and --export and of reports and tables", function()
      for _, what in ipairs { { "--report", "calls" }, { "--table", "events" } } do
         for _, how in ipairs { "--output", "--export" } do
            for _, form in ipairs { "csv", "tsv" } do
               local words = { what[1], what[2], how, form }
               local text = events.fine(lines, table.unpack(words))
               assert.is_truthy(utf8.len(text))
               assert.is_truthy(text:find("gr\u{fffd}\u{fffd}", 1, true))
               words[5], words[6] = "--set", "raw=true"
               assert.is_truthy(events.fine(lines, table.unpack(words)):find("gr\xfc\xdf", 1, true))
            end
         end
      end
   end)

   it("are the only forms that have bytes as they are", function()
      for _, form in ipairs { "json", "ndjson", "text" } do
         local _, status, errors = events.command(lines, "--report", "calls", "--output", form,
            "--set", "raw=true")
         assert.equal(2, status)
         assert.is_truthy(errors:find("no option 'raw'", 1, true))
      end
   end)
end)
