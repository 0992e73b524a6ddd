-- The page of export html for screen readers and for all eyes, in each of its states: axe-core
-- finds nothing, and nothing runs out of the page.
--
-- Extra: needs Chromium.

local events = require "spec.support.events"
local folded = require "spec.support.folded"
local profio = require "profio"
local sampled = require "spec.support.sampled"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

-- The states, one after the other: a selected function, a selected range, filters, the other forms
-- of both graphs, a search, and the help.
local program = [==[
   const found = {}, acts = {
      selected: () => page.select(page.data.table.function[0]),
      range: () => page.tracks && page.set({ range: '10-' + Math.floor(page.tracks.length / 2) }),
      call: () => page.tracks && page.tracks.list[0].start.length && page.select_call(
         page.tracks.list[0], 0),
      filters: () => page.profile.tree && page.set({ filters: 1,
         hide: page.name(page.data.table.function[1]) }),
      around: () => page.set({ graph: 'around', order: 'inverted' }),
      search: () => page.set({ find: page.name(page.data.table.function[0]).slice(0, 2) }),
      help: () => document.querySelector('#keys') && [...document.querySelectorAll('#bar button')]
         .find(one => one.textContent === 'Help').click() };
   for (const [name, act] of Object.entries(acts)) {
      await look(source => { (0, eval)(source)(); }, act.toString());
      await wait();
      found[name] = [await axe(), await look(() =>
         document.documentElement.scrollWidth > window.innerWidth)];
   }
   tell('found', found);
   tell('reached', await look(() => [location.hash.includes('filters=1'),
      location.hash.includes('find='), document.getElementById('keys').open]));]==]

local inputs = {
   ["calls"] = function()
      return events.open((events.program(3000)))
   end,
   ["samples"] = function()
      return assert(profio.open { data = sampled.perf(500) })
   end,
   ["a comparison"] = function()
      return folded.profile "main;f 50\nmain;g;h 20\n" - folded.profile "main;f 20\nmain;g 600\n"
   end,
}

describe("the page for screen readers and all eyes", function()
   for name, input in pairs(inputs) do
      it_looks("has no fault in any state: " .. name, function()
         math.randomseed(72)
         local what <close> = input()
         local page = assert(what:export "html")
         for _, scheme in ipairs { "light", "dark" } do
            for _, width in ipairs { 1280, 390 } do
               local told = viewers.told(page, program, { scheme = scheme, width = width })
               for state, seen in pairs(told.found) do
                  assert.same({ {}, false }, seen, state)
               end
               assert.same({ true, true, true }, told.reached)
            end
         end
      end)
   end
end)
