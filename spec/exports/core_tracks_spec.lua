-- The page of export html of a trace with cores, losses and calls of which an end is missing.

local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

-- time, event, area, lane, core, flags
local rows = {
   { 0, "enter", "f", "A", 0 },
   { 20, "suspend", "f", "A", 0 },
   { 20, "enter", "h", "B", 0 },
   { 30, "leave", "h", "B", 0 },
   { 30, "resume", "f", "A", 1 },
   { 50, "leave", "f", "A", 1 },
   { 90, "enter", "g", "A", 1, "lost" },
   { 120, "leave", "g", "A", 1 },
   { 120, "leave", "x", "B", 0 }, -- without an enter
   { 130, "enter", "k", "B", 0 }, -- open at the end
   { 140, "end" },
}

local function open()
   profio.register {
      name = "cores", score = function() return 0 end, main = "events",
      tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" },
         { "lane", "name" }, { "core", "int" }, { "flags", "name" } } },
      open = function()
         return { events = function(put)
            for _, row in ipairs(rows) do
               put(table.unpack(row, 1, 6))
            end
         end }
      end,
   }
   return assert(profio.open({ data = "x", path = "run" }, { format = "cores" }))
end

describe("the page of a trace with cores", function()
   local trace, page

   setup(function()
      trace = open()
      page = trace:export "html"
   end)

   teardown(function()
      trace:close()
   end)

   it("says how many calls are guessed", function()
      local said = page:match "<h3>Lost or guessed</h3>(.-)</section>"
      assert.matches("1 call is open at the end of the trace", said)
      assert.matches("1 call has no begin in the trace", said)
      assert.no.matches("no end in the trace", said)
      local flags = {}
      for call in trace:calls():records() do
         for word in (call.flags or ""):gmatch "%a+" do
            flags[word] = (flags[word] or 0) + 1
         end
      end
      assert.same({ 1, 1 }, { flags.open, flags.orphan })
   end)

   it_looks("shows which lane runs on each core, and losses with their width", function()
      local told = viewers.told(page, [==[
         tell('cores', await look(() => page.tracks.cores.map(core => [core.name,
            Array.from(core.columns(0, 140, 14).top, place => place < 0 ? '-' :
               page.tracks.list[place].name).join('')])));
         tell('losses', await look(() => page.data.timeline.losses));
         tell('painted', await look(() => {
            const { places, surface, view } = page.timeline, place = places().find(one =>
               one.track.name === 'A'), pen = surface.canvas.getContext('2d');
            const line = pen.getImageData(0, place.top + place.height - 4, view.width, 1).data;
            let longest = [0, 0];
            for (let x = view.left, begin = x; x < view.width; x++) {
               begin = line[4 * x + 3] > 0 ? begin : x + 1;
               if (x + 1 - begin > longest[1] - longest[0]) { longest = [begin, x + 1]; }
            }
            return longest.map(x => (x - view.left) / (view.width - view.left) * 140);
         }));
         const box = await look(() => {
            const { x, y } = page.timeline.surface.canvas.getBoundingClientRect();
            return { x: x + page.timeline.view.left, y: y + page.timeline.places()[1].top + 10,
               wide: page.timeline.view.width - page.timeline.view.left };
         });
         await tab.mouse.move(box.x + box.wide * 40 / 140, box.y);
         tell('tip', await look(() => document.getElementById('tip').innerText));]==])
      assert.same({ { "core 0", "AABBBBBBBBBB-B" }, { "core 1", "---AA----AAA--" } }, told.cores)
      assert.same({ 50, 90 }, told.losses)
      local from, to = table.unpack(told.painted)
      assert.is_true(math.abs(from - 50) < 1 and math.abs(to - 90) < 1, from .. " to " .. to)
      assert.equal("core 1\n≈ 100 % busy, ≈ most with A", told.tip)
   end)
end)
