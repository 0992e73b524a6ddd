-- Lanes in the timeline of the page of export html: the search finds them, and they are pinned,
-- hidden, filtered and put below the cores on which they run most.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local events = require "spec.support.events"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

local look = viewers.told

local tools = [[
   const names = () => look(() => page.timeline.places().map(place => place.track.name).join(' '));
   const address = () => look(() => decodeURIComponent(location.hash));
   const spoken = () => look(() => document.getElementById('spoken').textContent);
   const focus = () => look(() => document.querySelector('#timeline .surface canvas').focus());
   const keys = async (...list) => {
      for (const key of list) { await tab.keyboard.press(key); }
   };
]]

-- Lane a runs for 100 ns on core 0 and for 300 ns on core 1; b and c run on core 0 only, c for
-- longer; d runs on core 2.
local cores = [[
0 enter f a core=0
100 leave f a core=0
200 enter f a core=1
500 leave f a core=1
200 enter g b core=0
220 leave g b core=0
250 enter g c core=0
400 leave g c core=0
0 enter h d core=2
600 leave h d core=2
]]

-- Returns a trace of many lanes, each with one call.
local function many(count)
   local list = {}
   for i = 1, count do
      list[i] = ("%d enter f lane%03d\n%d leave f lane%03d\n"):format(i, i, i + 10, i)
   end
   return events.open(table.concat(list))
end

describe("lanes in a page", function()
   it_looks("are below the cores on which they run most", function()
      local trace <close> = events.open(cores)
      local told = look(assert(trace:export "html"), tools .. [==[
         tell('all', await names());
         await look(() => page.set({ lanes: 'core' }));
         tell('grouped', await names());
         await look(() => page.set({ pin: page.tracks.list.find(t => t.name === 'd').place }));
         tell('pinned', await names());
         await look(() => page.set({ pin: '', lane: 'c' }));
         tell('filtered', await names());]==])
      assert.equal("core 0 core 1 core 2 a b c d", told.all)
      assert.equal("core 0 c b core 1 a core 2 d", told.grouped)
      assert.equal("d core 0 c b core 1 a core 2", told.pinned)
      assert.equal("core 0 c core 1 core 2", told.filtered) -- the names of cores have a c
   end)

   it_looks("are pinned, hidden and ordered by keys, and the address keeps it", function()
      local trace <close> = events.open(cores)
      local told = look(assert(trace:export "html"), tools .. [==[
         await focus();
         await keys('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 't');
         tell('pinned', [await names(), await spoken(), await address()]);
         await keys('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'h');
         tell('hidden', [await names(), await spoken(), await address()]);
         tell('list', await look(() => document.getElementById('hidden-lanes').innerText));
         await keys('g', 'g');
         tell('order', [await spoken(), await address()]);
         await keys('u');
         tell('shown', [await spoken(), await address()]);
         await keys('l');
         await tab.keyboard.type('C');
         tell('field', [await names(), await look(() => document.activeElement.id)]);
         await tab.goBack();
         await tab.goBack();
         tell('back', await address());]==])
      assert.same({ "b core 0 core 1 core 2 a c d", "b stays on top", "#pin=1" }, told.pinned)
      assert.same({ "b core 0 core 1 core 2 c d", "a is hidden, 1 lane hidden", "#pin=1&hidden=0" },
         told.hidden)
      assert.matches("^1 hidden: show", told.list)
      assert.same({ "lanes by core", "#pin=1&hidden=0&lanes=core" }, told.order)
      assert.same({ "all 4 lanes shown", "#pin=1&lanes=core" }, told.shown)
      assert.same({ "b core 0 c core 1 core 2", "filter-lanes" }, told.field)
      assert.equal("#pin=1&hidden=0&lanes=time", told.back)
   end)

   it_looks("stay on top while others scroll", function()
      local trace <close> = many(200)
      local page = assert(trace:export("html", nil, { lanes = 200 }))
      local told = look(page, tools .. [==[
         const box = '#timeline .surface';
         tell('over', await look(s => document.querySelector(s).scrollTop = 1500, box));
         await wait();
         const place = await look(s => {
            document.getElementById('timeline').scrollIntoView();
            const { x, y } = document.querySelector(s + ' canvas').getBoundingClientRect();
            return { x, y };
         }, box);
         tell('below', await look(() => page.timeline.at_point(300, 30 + 1500).track.name));
         await tab.mouse.move(place.x + 20, place.y + 30);
         await wait();
         await tab.mouse.click(place.x + 170 - 30, place.y + await look(() => 6 +
            page.timeline.places().find(one => one.track ===
            page.timeline.at_point(300, 1530).track).top - 1500));
         tell('pinned', await look(() => page.lanes.ordered()[0].name));
         tell('now', await look(() => page.timeline.at_point(300, 30 + 1500).track.name));
         tell('address', await address());
         await tab.mouse.click(place.x + 170 - 10, place.y + 24 + 6);
         tell('hidden', await address());
         tell('found', await look(() => {
            page.set({ find: 'lane07' });
            return document.getElementById('count').textContent;
         }));
         await look(() => document.getElementById('next').click());
         tell('next', await spoken());
         await look(() => page.set({ lane: 'lane00' }));
         tell('few', [await names(), await look(() =>
            document.querySelector('#filter-lanes + output').textContent)]);
         await look(() => page.show_call({ track: 99, start: 99, long: 10, depth: 1 }, 0));
         tell('shown', (await names()).includes('lane100'));]==])
      assert.equal(1500, told.over)
      assert.matches("^lane[01]%d%d$", told.below)
      assert.equal(told.below, told.pinned)
      assert.equal(told.below, told.now)
      assert.equal("#pin=" .. tonumber(told.below:match "%d+") - 1, told.address)
      assert.equal("#hidden=" .. tonumber(told.below:match "%d+") - 1, told.hidden)
      assert.equal("0 % of self, 0 % of total, 0 of 1 function, 10 of 200 lanes", told.found)
      assert.equal("lane070", told.next)
      assert.equal("lane001 lane002 lane003 lane004 lane005 lane006 lane007 lane008 lane009",
         told.few[1])
      assert.equal("9 of 200 lanes", told.few[2])
      assert.is_true(told.shown)
   end)

   it_looks("suit screen readers and all eyes", function()
      local trace <close> = events.open(cores)
      local page = assert(trace:export "html")
      for _, scheme in ipairs { "light", "dark" } do
         for _, width in ipairs { 1280, 390 } do
            local told = look(page, [==[
               await look(() => document.getElementById('hidden-lanes').open = true);
               await wait();
               tell('axe', await axe());
               tell('over', await look(() =>
                  document.documentElement.scrollWidth > window.innerWidth));]==],
               { scheme = scheme, width = width,
                  fragment = "#find=b&pin=1&hidden=0.2&lanes=core" })
            assert.same({}, told.axe)
            assert.is_false(told.over)
         end
      end
   end)
end)
