-- The page of a comparison of two timelines: both below each other in one scale.
--
-- Extra: needs Chromium.

local command = require "spec.support.command"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

-- Writes a timeline of two calls of f with g inside, which takes `times` ns.
local function write(name, times)
   os.remove(command.folder .. "/" .. name)
   local out = assert(profio.create(command.folder .. "/" .. name, { format = "winidea",
      dialect = "text1" }))
   for i, time in ipairs(times) do
      local at = i * 1000
      for _, event in ipairs { { 0, "enter", "f" }, { 20, "enter", "g" },
         { 20 + time, "leave", "g" }, { 40 + time, "leave", "f" } } do
         out:write { time = at + event[1], event = event[2], area = event[3] }
      end
   end
   assert(out:close())
end

local program = [==[
   tell('tracks', await look(() => page.tracks.list.map(track => [track.name, track.calls,
      Array.from(track.stop)[0]])));
   tell('worst', await look(() => page.tracks.runs.map((_, run) => Object.fromEntries(
      page.data.functions.name.map((name, fn) => [name, page.worst_of(run, fn).long])))));
   tell('sums', await look(() => page.tracks.runs.map(told => told.distributions.map(one =>
      [page.name(one.function), one.gross.max]))));
   const jump = async n => look(i => {
      const row = Array.from(document.querySelectorAll('#functions tbody tr')).find(one =>
         page.name(+one.dataset.id) === 'g');
      row.querySelectorAll('.jump')[i].click();
      const { track, call } = page.chosen_call();
      return [track.name, track.start[call], track.stop[call], location.hash.includes('call=')];
   }, n);
   tell('before', await jump(0));
   tell('after', await jump(1));
   tell('titles', await look(() => Array.from(document.querySelectorAll('#distribution h3'),
      one => one.textContent)));]==]

describe("the page of two timelines", function()
   it_looks("has the tracks of both runs, and the longest calls of both", function()
      write("before.txt", { 100, 300 })
      write("after.txt", { 200, 100, 50 })
      for _, line in ipairs { "--diff before.txt after.txt",
         "compare before.txt --new after.txt" } do
         local told = viewers.told(command.run("profio " .. line .. " --export html"), program)
         assert.same({ { "core ? · before", 4, 140 }, { "core ? · after", 6, 240 } }, told.tracks)
         assert.same({ { f = 240, g = 200 }, { f = 340, g = 300 } }, told.worst)
         assert.same({ "core ? · before", 1020, 1320, true }, told.before)
         assert.same({ "core ? · after", 20, 220, true }, told.after)
         assert.same({ "Durations before", "Durations after" }, told.titles)
         for run, name in ipairs { "after", "before" } do
            local trace <close> = assert(profio.open(command.folder .. "/" .. name .. ".txt"))
            local most = {}
            for row in trace:call_statistics():records() do
               most[row.area] = row.gross_max
            end
            for _, pair in ipairs(told.sums[run]) do
               assert.equal(most[pair[1]], pair[2])
            end
         end
      end
   end)

   it("needs one timeline on each side", function()
      write("before.txt", { 100 })
      write("again.txt", { 100 })
      local page = command.run "profio compare before.txt again.txt --new before.txt --export html"
      assert.is_truthy(page:find('"difference":true', 1, true))
      assert.is_nil(page:find('"timeline":', 1, true))
   end)

   it("has the words of the comparison", function()
      local line = "profio compare before.txt again.txt --new before.txt again.txt"
      write("before.txt", { 100 })
      write("again.txt", { 120 })
      local words = assert(command.run(line):match "The whole[^\n]+")
      local page = command.run(line .. " --export html")
      assert.equal(words, page:match "<p>(The whole[^<]+)</p>")
   end)
end)
