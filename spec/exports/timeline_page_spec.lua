-- The timeline of the page of export html: what it draws at which zoom, and the numbers that it
-- states, compared with calls and load of the trace.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local core = require "profio.core"
local events = require "spec.support.events"
local json = require "dkjson"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

local look = viewers.told

local tools = [[
   const canvas = async () => look(() => {
      const box = document.querySelector('#timeline .surface canvas');
      document.getElementById('timeline').scrollIntoView();
      const { x, y } = box.getBoundingClientRect();
      return { x, y, left: page.timeline.view.left, width: page.timeline.view.width };
   });
   const span = () => look(() => [page.timeline.view.from, page.timeline.view.to]);
   const focus = () => look(() => document.querySelector('#timeline .surface canvas').focus());
]]

-- A lane of two calls, and one that is suspended.
local small = [[
0 enter main one
100 enter f one
400 leave f one
500 enter g two
600 suspend g two
800 resume g two
900 leave g two
1000 leave main one
]]

-- Returns the times at which calls of a lane begin, from the lines of events.program.
local function starts_of(lines, lane)
   local list = {}
   for time in lines:gmatch("(%d+) enter %S+ " .. lane .. " ") do
      list[#list + 1] = math.tointeger(time)
   end
   return list
end

-- Returns the ns in a span in which a lane was busy, as events.program states, and how many of
-- these calls begin there.
local function truth_of(expected, starts, lane, from, to)
   local busy, calls = 0, 0
   for _, span in ipairs(expected.busy) do
      busy = busy + (span[1] == lane and math.max(0, math.min(to, span[3])
         - math.max(from, span[2])) or 0)
   end
   for _, time in ipairs(starts) do
      calls = calls + (from <= time and (time < to or to == expected.last) and 1 or 0)
   end
   return busy, calls
end

describe("the timeline of a page", function()
   it_looks("moves by keys, wheel and mouse, and says what is under the pointer", function()
      local trace <close> = events.open(small)
      local told = look(assert(trace:export "html"), tools .. [==[
         const box = await canvas(), wide = box.width - box.left;
         const at = time => box.x + box.left + wide * time / 1000;
         const row = async name => box.y + await look(n => page.timeline.places().find(p =>
            p.track.name === n).top, name) + 20 + 4;
         await tab.mouse.move(at(250), await row('one') + 16);
         tell('tip', await look(() => document.getElementById('tip').innerText));
         await tab.mouse.click(at(700), await row('two'));
         tell('clicked', await look(() => page.name(page.selected())));
         await focus();
         await tab.keyboard.press('w');
         tell('zoomed', await span());
         await tab.keyboard.press('d');
         tell('later', await span());
         await tab.keyboard.press('a');
         await tab.keyboard.press('s');
         tell('all', await span());
         await tab.keyboard.down('Control');
         await tab.mouse.move(at(500), await row('one'));
         await tab.mouse.wheel({ deltaY: -100 });
         await tab.keyboard.up('Control');
         tell('wheel', await span());
         await tab.mouse.down();
         await tab.mouse.move(at(600), await row('one'), { steps: 4 });
         await tab.mouse.up();
         tell('dragged', await span());
         await tab.keyboard.press('0');
         await tab.keyboard.down('Shift');
         await tab.mouse.move(at(95), await row('one'));
         await tab.mouse.down();
         await tab.mouse.move(at(600), await row('one'), { steps: 4 });
         await tab.mouse.up();
         await tab.keyboard.up('Shift');
         tell('measured', await look(() => document.getElementById('measure').innerText));
         await tab.keyboard.press('Escape');
         tell('ended', await look(() => document.getElementById('measure').innerText));
         await tab.mouse.click(at(250), await row('one') + 16, { count: 2 });
         tell('fitted', await span());
         await tab.goBack();
         tell('back', await span());]==])
      assert.matches("^f\n300 ns from 0%.000000100 s\none$", told.tip)
      assert.equal("g", told.clicked)
      assert.same({ 250, 750 }, told.zoomed)
      assert.same({ 375, 875 }, told.later)
      assert.same({ 0, 1000 }, told.all)
      local half = 500 * math.exp(-0.5)
      assert.is_true(math.abs(told.wheel[1] - (500 - half)) < 3, told.wheel[1])
      assert.is_true(math.abs(told.wheel[2] - (500 + half)) < 3, told.wheel[2])
      local moved = 100 * (told.wheel[2] - told.wheel[1]) / 1000
      assert.is_true(math.abs(told.wheel[1] - told.dragged[1] - moved) < 3)
      local long, f, busy_g = told.measured:match
         "^Selected (%d+) ns.*one: (%d+) calls?, busy [^\n]*\ntwo: 1 call, busy (%d+) ns"
      assert.is_true(math.abs(tonumber(long) - 505) <= 2)
      assert.equal("1", f)
      assert.is_true(math.abs(tonumber(busy_g) - 100) <= 1)
      assert.equal("", told.ended)
      assert.same({ 70, 430 }, told.fitted)
      assert.same({ 0, 1000 }, told.back)
   end)

   it_looks("states the load of each lane, also where calls are left out", function()
      math.randomseed(81)
      local lines, expected = events.program(8000)
      local trace <close> = events.open(lines)
      for _, size in ipairs { "4M", viewers.page_size(trace, 40000) } do
         local told = look(assert(trace:export("html", nil, { size = size })), [==[
            tell('load', await look(() => page.tracks.list.map(track => [track.name,
               Array.from(track.columns(0, page.tracks.length, 10).busy), track.is_whole,
               ...track.left_in(0, page.tracks.length).map(left => track.kept + left),
               track.calls])));]==])
         local first, last = expected.busy[1][2], expected.last
         local loads = {}
         for _, row in ipairs(core.rows(core.load(trace.events:reader(), { from = first, to = last,
            width = (last - first + 9) // 10 }), { "lane", "load_share" })) do
            loads[row.lane] = loads[row.lane] or {}
            table.insert(loads[row.lane], row.load_share)
         end
         for _, track in ipairs(told.load) do
            assert.equal(size == "4M", track[3])
            assert.same({ track[6], track[6] }, { track[4], track[5] })
            for i, load in ipairs(loads[track[1]]) do
               assert.is_true(math.abs(load - track[2][i]) < 0.03, track[1] .. i)
            end
         end
      end
   end)

   it_looks("states ranges that contain the truth, and only where calls are left out", function()
      math.randomseed(84)
      local lines, expected = events.program(8000)
      local trace <close> = events.open(lines)
      local first, spans = expected.busy[1][2], {}
      local length = expected.last - first
      for i = 1, 60 do
         local from = math.random(0, length - 1)
         spans[i] = { from, math.min(length, from + math.random(1, i * 20)) }
      end
      spans[61], spans[62] = { 0, length }, { 0, 1 }
      local is_exact, is_wide = 0, 0
      for _, size in ipairs { "4M", viewers.page_size(trace, 40000) } do
         local told = look(assert(trace:export("html", nil, { size = size })), ([==[
            tell('lanes', await look(() => page.tracks.list.map(track => [track.name,
               track.is_exact, %s.map(([from, to]) => track.measure(from, to))])));]==]):format(
            json.encode(spans)))
         for _, lane in ipairs(told.lanes) do
            local starts = starts_of(lines, lane[1])
            assert.equal(size == "4M", lane[2])
            for i, span in ipairs(spans) do
               local busy, calls = truth_of(expected, starts, lane[1], span[1] + first,
                  span[2] + first)
               local seen = lane[3][i]
               assert.is_true(seen.calls[1] <= calls and calls <= seen.calls[2])
               assert.is_true(seen.busy[1] - 1e-3 <= busy and busy <= seen.busy[2] + 1e-3)
               if size == "4M" or i == 61 then
                  assert.equal(seen.calls[1], seen.calls[2])
                  assert.is_true(seen.busy[2] - seen.busy[1] <= 0.002 * length)
                  is_exact = is_exact + 1
               elseif seen.calls[1] < seen.calls[2] and seen.busy[1] < seen.busy[2] then
                  is_wide = is_wide + 1
               end
            end
         end
      end
      assert.is_true(is_exact > 150 and is_wide > 20)
   end)

   it_looks("hatches the times in which calls are left out", function()
      math.randomseed(85)
      local lines, expected = events.program(8000)
      local trace <close> = events.open(lines)
      local size = viewers.page_size(trace, 30000)
      local told = look(assert(trace:export("html", nil, { size = size })), [==[
         tell('lanes', await look(() => page.tracks.list.map(track => [track.name,
            Array.from(track.start), track.gaps_in(0, page.tracks.length), track.interval])));]==])
      local first, parts = expected.busy[1][2], 0
      for _, lane in ipairs(told.lanes) do
         local left, inside, gaps = {}, 0, lane[3] -- calls that are left out by start
         for _, time in ipairs(starts_of(lines, lane[1])) do
            left[time - first] = (left[time - first] or 0) + 1
         end
         for _, start in ipairs(lane[2]) do
            left[start] = left[start] - 1
         end
         for i = 1, #gaps, 2 do
            local count = 0
            for start, many in pairs(left) do
               local is_last = start == gaps[i + 1] and start == expected.last - first
               count = count + (gaps[i] <= start and (start < gaps[i + 1] or is_last)
                  and many or 0)
            end
            assert.is_true(count > 0)
            inside, parts = inside + count, parts + 1
         end
         local all = 0
         for _, many in pairs(left) do
            all = all + many
         end
         assert.is_true(all > 0)
         assert.equal(all, inside)
      end
      assert.is_true(parts > #told.lanes)
   end)

   it_looks("draws every call of a short lane, however busy others are", function()
      local lines = { "0 enter task slow" }
      for i = 1, 20000 do
         lines[#lines + 1] = ("%d enter isr fast\n%d leave isr fast"):format(i * 1000,
            i * 1000 + 20)
      end
      lines[#lines + 1] = "20001000 leave task slow\n20002000 enter last slow\n" ..
         "20002050 leave last slow"
      local trace <close> = events.open(table.concat(lines, "\n") .. "\n")
      local told = look(assert(trace:export("html", nil, { size = viewers.page_size(trace,
         60000) })), tools .. [==[
         tell('kept', await look(() => page.tracks.list.map(t => [t.name, t.kept, t.calls])));
         const colors = () => look(() => {
            const { places, surface } = page.timeline, pen = surface.canvas.getContext('2d');
            return places().map(({ track, top }) => {
               const pixels = pen.getImageData(171, top + 28, surface.canvas.width - 172, 1).data;
               let painted = 0;
               for (let i = 3; i < pixels.length; i += 4) { painted += pixels[i] > 0 ? 1 : 0; }
               return [track.name, painted];
            });
         });
         await wait();
         tell('all', await colors());
         await look(() => page.set({ from: 20001900, to: 20002050 }));
         await wait();
         tell('end', await colors());
         tell('width', await look(() => page.timeline.surface.width()));
         tell('said', await look(() => page.tracks.list.map(track =>
            track.left_in(0, page.tracks.length)[1])));]==])
      local kept = {}
      for _, row in ipairs(told.kept) do
         kept[row[1]] = row
      end
      assert.same({ "slow", 2, 2 }, kept.slow)
      assert.is_true(kept.fast[2] > 1000 and kept.fast[2] < 20000)
      local painted = {}
      for _, part in ipairs { "all", "end" } do
         for _, row in ipairs(told[part]) do
            painted[part .. row[1]] = row[2]
         end
      end
      local wide = told.width - 170
      assert.is_true(painted.allslow > 0.95 * wide)
      assert.is_true(painted.allfast > 0.25 * wide)
      assert.is_true(math.abs(painted.endslow - wide / 3) < 12, painted.endslow)
      assert.equal(20000 - kept.fast[2], math.max(told.said[1], told.said[2]))
   end)

   it_looks("leads from a function to its longest call and to its distribution", function()
      math.randomseed(83)
      local trace <close> = events.open((events.program(4000)))
      local told = look(assert(trace:export "html"), [==[
         tell('worst', await look(() => page.data.functions.name.map((name, fn) => {
            const found = page.worst_of(0, fn);
            return found ? [name, found.long] : [name, -1];
         })));
         tell('histograms', await look(() => page.data.timeline.distributions.map(one => {
            const counts = data => data.cells.reduce((sum, n, i) => sum + (i % 4 === 1 ? n : 0), 0);
            return [page.name(one.function), counts(one.net), counts(one.gross), one.gross.p99,
               one.gross.max];
         })));
         await look(() => {
            page.select(page.data.table.function[0]);
            document.querySelector('#distribution button').click();
         });
         tell('shown', await look(() => {
            const worst = page.worst_of(0, page.selected()), { from, to } = page.timeline.view;
            return from <= worst.start && worst.start + worst.long <= to &&
               to - from <= 3 * worst.long + 2;
         }));
         await look(() => document.querySelector('.bucket:not([disabled])').click());
         tell('bars', await look(() => document.querySelectorAll('.bucket').length));]==])
      local worst, rows = {}, {}
      for call in trace:calls():records() do
         worst[call.area] = math.max(worst[call.area] or 0, call.stop - call.start)
      end
      for row in trace:call_statistics():records() do
         rows[row.area] = row
      end
      for _, row in ipairs(told.worst) do
         assert.equal(worst[row[1]], row[2], row[1])
      end
      assert.is_true(#told.histograms > 5)
      for _, row in ipairs(told.histograms) do
         local own = rows[row[1]]
         assert.same({ own.count, own.count, own.gross_p99, own.gross_max },
            { row[2], row[3], row[4], row[5] })
      end
      assert.is_true(told.shown)
      assert.is_true(told.bars > 10)
   end)

   it_looks("shows a call in all parts, and keeps it, folds and order in the address", function()
      local lines = small:gsub("500 enter g", "420 enter f one\n480 leave f one\n%0")
      local trace <close> = events.open(lines)
      local told = look(assert(trace:export "html"), tools .. [==[
         const box = await canvas(), wide = box.width - box.left;
         const at = time => box.x + box.left + wide * time / 1000;
         const row = async name => box.y + await look(n => page.timeline.places().find(p =>
            p.track.name === n).top, name) + 20 + 4;
         const shown = () => look(() => ({ hash: location.hash, folded: page.tracks.list.filter(
            page.timeline.is_folded).map(track => track.name), call: page.chosen_call() &&
            page.call_path().map(page.name) }));
         await tab.mouse.click(at(250), await row('one') + 16);
         tell('call', await shown());
         tell('facts', await look(() => Array.from(document.querySelectorAll('#call dd'),
            one => one.textContent)));
         tell('bars', await look(() => Array.from(document.querySelectorAll('.bucket.here'),
            one => one.title)));
         tell('frames', await look(() => Array.from(page.flames.marked(), one =>
            [one.depth, page.name(one.fn)])));
         await tab.mouse.click(box.x + 20, await row('one') - 10);
         await look(() => document.querySelector('button[value=time]').click());
         tell('folded', await shown());
         await tab.goBack();
         await tab.goBack();
         tell('back', await shown());
         await tab.goForward();
         tell('forward', await shown());
         await focus();
         for (const key of ['f', 'n']) { await tab.keyboard.press(key); }
         tell('keys', await shown());
         await tab.keyboard.press('p');
         await look(() => page.select_call(page.tracks.list[1], 0));
         tell('suspended', await look(() => page.tracks.list[1].durations(0)));
         await look(() => document.querySelectorAll('#call .tools button')[1].click());
         tell('zoomed', await look(() => page.name(page.flames.zoomed().fn)));
         await look(() => document.querySelectorAll('#call .tools button')[0].click());
         tell('span', await span());
         await tab.keyboard.press('Escape');
         tell('none', await look(() => [page.chosen_call(), document.getElementById(
            'details').hidden]));]==])
      assert.same({ "main", "f" }, told.call.call)
      assert.same({ "one", "0.000000100 s", "300 ns", "300 ns", "300 ns" }, told.facts)
      assert.same(2, #told.bars)
      for _, title in ipairs(told.bars) do
         local low, high = title:match "(%d+) ns to (%d+) ns, this call among them$"
         assert.is_true(tonumber(low) <= 300 and 300 < tonumber(high))
      end
      assert.same({ { 1, "main" }, { 2, "f" } }, told.frames)
      assert.same({ "one" }, told.folded.folded)
      assert.matches("&fold=0&lanes=time$", told.folded.hash)
      assert.same({}, told.back.folded)
      assert.equal(told.call.hash, told.back.hash)
      assert.same({ "one" }, told.forward.folded)
      assert.same({ "main", "f" }, told.keys.call)
      assert.matches("&call=0.420.2", told.keys.hash)
      assert.same({}, told.keys.folded)
      local row
      for call in trace:calls():where { area = "g" }:records() do
         row = call
      end
      assert.same({ row.net, row.gross }, { told.suspended.net, told.suspended.gross })
      assert.equal("g", told.zoomed)
      assert.same({ 100, 1000 }, told.span)
      assert.same({ nil, true }, { told.none[1], told.none[2] })
   end)

   it_looks("moves and zooms by touch, as the flame graph does", function()
      local trace <close> = events.open(small)
      local told = look(assert(trace:export "html"), tools .. [==[
         const box = await canvas(), wide = box.width - box.left;
         const pinch = async (left, y, width, check) => {
            const at = share => left + width * share;
            const a = await tab.touchscreen.touchStart(at(0.4), y);
            const b = await tab.touchscreen.touchStart(at(0.6), y);
            await a.move(at(0.3), y);
            await b.move(at(0.7), y);
            await a.end();
            await b.end();
            const zoomed = await check();
            const c = await tab.touchscreen.touchStart(at(0.5), y);
            await c.move(at(0.4), y);
            await c.end();
            return [zoomed, await check()];
         };
         tell('span', await pinch(box.x + box.left, box.y + 50, wide, span));
         const flame = await look(() => {
            const canvas = document.querySelector('#flames canvas');
            canvas.scrollIntoView();
            const { x, y, width } = canvas.getBoundingClientRect();
            return { x, y, width };
         });
         tell('part', await pinch(flame.x, flame.y + 8, flame.width, () =>
            look(() => page.state.part.split('-').map(Number))));
         tell('selected', await look(() => page.selected()));
         await tab.touchscreen.tap(flame.x + 10, flame.y + 19 + 8);
         tell('tapped', await look(() => page.name(page.selected())));]==])
      local function is_about(expected, found, slack)
         for i = 1, 2 do
            assert.is_true(math.abs(expected[i] - found[i]) <= slack, found[i])
         end
      end
      is_about({ 250, 750 }, told.span[1], 2)
      is_about({ 300, 800 }, told.span[2], 2)
      is_about({ 0.25, 0.75 }, told.part[1], 0.002)
      is_about({ 0.3, 0.8 }, told.part[2], 0.002)
      assert.equal(-1, told.selected)
      assert.equal("main", told.tapped)
   end)
end)
