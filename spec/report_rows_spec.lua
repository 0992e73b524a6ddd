-- trace:report, and the methods of traces that have the names of reports.
--
-- Tags: user.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local events = require "spec.support.events"
local profio = require "profio"
local reports = require "profio.reports"

local lines = [[
0 enter main a core=0
1000 enter leaf a core=0
3000 leave leaf a core=0
4000 enter isr b core=1
5000 leave isr b core=1
9000 leave main a core=0
]]

-- Returns how many rows the command shows.
local function rows_of_command(path, name)
   local text, status, errors = command.run(("%s --report %s --output csv %s"):format(
      command.analyze, name, path))
   assert.is_true(status == 0, name .. ": " .. errors)
   return select(2, text:gsub("\n", "")) - 1
end

describe("trace:report", function()
   it("has the rows of each report that fits", function()
      command.file("run.txt", command.read "examples/run.txt")
      for _, name in ipairs { "run.txt", "gmon.out" } do
         local path = command.folder .. "/" .. name
         local trace <close> = assert(profio.open(path))
         local count = 0
         for _, report in ipairs(reports.all()) do
            if not report.compares and not report.needs and report.fits(trace)
               and not ("annotate explain info"):find(report.name, 1, true) then
               local view = trace:report(report.name)
               assert.equal(rows_of_command(path, report.name), view:count(), report.name)
               count = count + 1
            end
         end
         assert.is_true(count >= 5)
      end
   end)

   it("takes the options of the report and of the command", function()
      local trace <close> = events.open(lines)
      local loads = {}
      for row in trace:load { pieces = 2, from = 0, to = 8000, by = "core" }:records() do
         loads[#loads + 1] = { row.core, row.start, row.load_share }
      end
      assert.same({ { 0, 0, 1 }, { 0, 4000, 1 }, { 1, 0, 0 }, { 1, 4000, 0.25 } }, loads)
      assert.same({ { 2000, 1 } }, (function()
         local list = {}
         for row in trace:histogram { of = "gross" }:where { area = "leaf" }:records() do
            list[#list + 1] = { row.total, row.count }
         end
         return list
      end)())
      assert.equal(2, #trace:load({ pieces = 2, lane = "b" }):rows())
      assert.equal(3000, trace:report("chain-statistics",
         { chain = { "main enter -> leaf leave" } }):rows()[1].max)
      assert.equal(4, #trace:bottom_up():rows()) -- main, leaf and its caller, isr
   end)

   it("reads sources", function()
      local bytes = br():module(1, "ROWS.BR"):line(1, 20):main():time(100):stop():bytes()
      command.file("rows.br", bytes)
      command.file("rows.br.brs", "00010 print 1\n00020 let x=2\n")
      local trace <close> = assert(profio.open(command.folder .. "/rows.br"))
      local rows = trace:hotlines { source = command.folder }:rows()
      assert.same({ 20, "let x=2" }, { rows[1].line, rows[1].source })
   end)

   it("is refused as the command refuses it", function()
      local trace <close> = events.open(lines)
      local cases = {
         ["no report 'nosuch'"] = { "nosuch" },
         ["does not fit this trace"] = { "xpppat" },
         ["compares two traces"] = { "diff" },
         ["has no option 'piece'"] = { "load", { piece = 2 } },
         ["cannot use option 'focus'"] = { "load", { focus = "main" } },
         ["needs option 'chain'"] = { "chains" },
      }
      for message, arguments in pairs(cases) do
         local ok, found = pcall(trace.report, trace, table.unpack(arguments))
         assert.is_false(ok)
         assert.is_truthy(tostring(found):find(message, 1, true), tostring(found))
      end
   end)
end)
