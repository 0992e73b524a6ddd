-- The calls of a function by line and by parameters on the page of export html.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local lfs = require "lfs"
local profio = require "profio"
local viewers = require "spec.support.viewers"
local xpp = require "spec.support.xpp_builder"

local it_looks = viewers.it_browses(it, pending)

-- Calls of SEEK, one after the other: { duration in ms, line, parameters }.
local seeks = { { 10, 120, "KEY1" }, { 10, 120, "KEY1" }, { 100, 200, "</script><b>" },
   { 10, 120, "KEY1" }, { 120, 200, "</script><b>" }, { 15, 120 } }

local function seek_trace()
   local rows, time = { { 1, 0, "i", "MAIN", 1 } }, 5
   for _, seek in ipairs(seeks) do
      rows[#rows + 1] = { 1, time, "i", "SEEK", seek[2], seek[3] }
      time = time + seek[1]
      rows[#rows + 1] = { 1, time, "o", "SEEK", seek[2] }
   end
   rows[#rows + 1] = { 1, time, "o", "MAIN", 1 }
   local path = command.file("values.txt", xpp.text(rows, {}))
   return assert(profio.open(path))
end

describe("the page of calls with lines and parameters", function()
   it_looks("shows both for the selected function", function()
      local trace <close> = seek_trace()
      local told = viewers.told(assert(trace:export "html"), [==[
         await look(() => page.select(page.data.call_values.map(one =>
            one.function).find(fn => page.name(fn) === 'SEEK')));
         tell('tables', await look(() => [...document.querySelectorAll('#values table')].map(t =>
            [...t.rows].map(r => [...r.cells].map(c => c.innerText).join('|')))));
         tell('heads', await look(() => [...document.querySelectorAll('#values h3')].map(h =>
            h.innerText)));
         await look(() => document.querySelector('#values button').click());
         tell('selected', await look(() => page.name(page.selected())));]==])
      assert.same({ "By line of the call", "By parameters" }, told.heads)
      assert.same({
         { "From|Calls|Time|Longest", "MAIN, line 200|2|220 ms|120 ms",
            "MAIN, line 120|4|45 ms|15 ms" },
         { "Parameters|Calls|Time|Longest", "</script><b>|2|220 ms|120 ms",
            "KEY1|3|30 ms|10 ms", "(none)|1|15 ms|15 ms" },
      }, told.tables)
      assert.equal("MAIN", told.selected)
   end)

   it_looks("shows the source of the lines, from the folder of --source", function()
      local lines = {}
      for i = 1, 210 do
         lines[i] = i == 1 and "PROCEDURE MAIN" or i == 120 and '   DBSEEK( "<key>" )' or "*"
      end
      lfs.mkdir(command.folder .. "/seek_prg")
      command.file("seek_prg/main.prg", table.concat(lines, "\n") .. "\n")
      local trace <close> = seek_trace()
      local told = viewers.told(assert(trace:export("html", nil, {
         source = command.folder .. "/seek_prg" })), [==[
         await look(() => page.select(page.data.call_values.map(one =>
            one.function).find(fn => page.name(fn) === 'SEEK')));
         tell('rows', await look(() => [...document.querySelector('#values table').rows].map(r =>
            r.cells[0].innerText)));]==])
      assert.same({ "From", "MAIN, line 200: *", 'MAIN, line 120: DBSEEK( "<key>" )' }, told.rows)
   end)

   it("says nothing about traces without them", function()
      local trace <close> = assert(profio.open "examples/run.txt")
      assert.is_nil(assert(trace:export "html"):find('"call_values":', 1, true))
   end)
end)
