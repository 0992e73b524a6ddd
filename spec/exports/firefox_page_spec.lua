-- The page of export html in Firefox: it computes the numbers and draws the pictures that it does
-- in Chromium.
--
-- Extra: needs Chromium and Firefox ESR.

local events = require "spec.support.events"
local folded = require "spec.support.folded"
local profio = require "profio"
local sampled = require "spec.support.sampled"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

-- Tells the sums of a range and of a filter, and the colours of the pictures: at fractions of their
-- width in each row.
local program = [==[
   const wide = Math.floor(await look(() => document.querySelector('#flames canvas').clientWidth));
   tell('sums', await look(() => {
      if (page.tracks) { page.set({ range: '10-' + Math.floor(page.tracks.length / 2) }); }
      page.set({ ignore: page.name(page.data.table.function[2]) });
      const { metrics, table } = page.profile;
      return [metrics.map(one => one.total), table.function.map((fn, row) => [page.name(fn),
         table.self.map(list => list[row]), table.total.map(list => list[row])])];
   }));
   await look(() => page.set({ range: '', ignore: '' }));
   for (const name of ['flames', 'timeline', 'call-graph']) {
      await look(id => { const part = document.getElementById(id);
         if (part) { part.scrollIntoView(); } }, name);
      await new Promise(done => setTimeout(done, 300));
      await wait();
      tell(name, await look(id => {
         const canvas = document.querySelector(`#${id} .surface canvas`);
         if (!canvas || canvas.offsetParent === null) { return []; }
         const pen = canvas.getContext('2d'), colors = [];
         for (let y = 4; y < canvas.height; y += 9) {
            for (let part = 1; part < 40; part++) {
               const at = Math.floor(part / 40 * canvas.width);
               colors.push([...pen.getImageData(at, y, 1, 1).data].join(' '));
            }
         }
         return colors;
      }, name));
   }]==]

local inputs = {
   calls = function()
      return events.open((events.program(300)))
   end,
   samples = function()
      return assert(profio.open { data = sampled.br(200) })
   end,
   stacks = function()
      return folded.profile "a::main;b::x 30\na::main;c::y 25\na::main 40\n"
   end,
}

-- Returns the share of points at which two pictures differ: edges of boxes and letters lie a pixel
-- beside each other, and Firefox has a wider scroll bar.
local function difference(a, b)
   local count = math.min(#a, #b)
   local differing = math.abs(#a - #b)
   for i = 1, count do
      differing = differing + (a[i] ~= b[i] and 1 or 0)
   end
   return count == 0 and 0 or differing / count
end

describe("the page in Firefox", function()
   for name, input in pairs(inputs) do
      it_looks("is that in Chromium: " .. name, function()
         if not viewers.has_firefox then
            pending "needs firefox-esr"
            return
         end
         math.randomseed(12)
         local what <close> = input()
         local page, seen = assert(what:export "html"), {}
         for _, browser in ipairs { "chromium", "firefox" } do
            seen[browser] = viewers.told(page, program, { browser = browser })
         end
         assert.same(seen.chromium.sums, seen.firefox.sums)
         for _, part in ipairs { "flames", "timeline", "call-graph" } do
            assert.is_true(#seen.chromium[part] > 0 or part ~= "flames")
            local share = difference(seen.chromium[part], seen.firefox[part])
            assert.is_true(share < 0.15, part .. share)
         end
      end)
   end
end)
