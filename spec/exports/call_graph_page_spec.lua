-- The call graph on the page of export html: its layout, and its weights, which equal those of
-- reports.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local folded = require "spec.support.folded"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

local look = viewers.told

-- Functions of the programs. `lay_out` returns what is wrong with a layout of graphs of pairs of
-- numbers, and the arcs that close a cycle: `reaches` decides independently if an arc does.
local tools = [==[
   const name = id => page.name(id);
   const show = async () => {
      await look(() => document.getElementById('call-graph').scrollIntoView());
      await tab.waitForFunction(() => page.call_graph.plan() !== null);
      await wait();
   };
   const lay_out = (count, pairs, wide) => look((count, pairs, wide) => {
      const nodes = Array.from({ length: count }, (_, i) => ({ id: i, w: 80 + i * 37 % 50, h: 40,
         size: count - i }));
      const arcs = pairs.map(([a, b], i) => ({ from: nodes[a], to: nodes[b], size: 1 + i % 7 }));
      page.lay_out_graph(nodes, arcs, 1); // leaves nothing behind
      const size = page.lay_out_graph(nodes, arcs, wide), wrong = [];
      nodes.forEach((a, i) => nodes.slice(i + 1).forEach(b => {
         if (Math.abs(a.x - b.x) < (a.w + b.w) / 2 && Math.abs(a.y - b.y) < 40) {
            wrong.push(`${a.id} and ${b.id} overlap`);
         }
      }));
      for (const a of nodes) {
         const is_inside = a.x - a.w / 2 > -1e-6 && a.x + a.w / 2 < size.width + 1e-6 &&
            a.y >= 0 && a.y + a.h <= size.height;
         if (!is_inside) { wrong.push(`${a.id} is outside`); }
         if (nodes.filter(b => b.layer === a.layer).length > wide) { wrong.push('wide layer'); }
      }
      const reaches = (from, to, seen) => from === to || (!seen.has(from) && seen.add(from) &&
         arcs.some(arc => arc.from === from && reaches(arc.to, to, seen)));
      for (const arc of arcs.filter(one => one.from !== one.to)) {
         const steps = arc.points.slice(1).map((point, i) => point[1] - arc.points[i][1]);
         const is_right = arc.back ? steps.every(step => step < 0) && reaches(arc.to, arc.from,
            new Set()) : steps.every(step => step > 0);
         if (!is_right) { wrong.push(`${arc.from.id} > ${arc.to.id}`); }
         const [begin] = arc.points, end = arc.points[arc.points.length - 1];
         const at = (node, point, y) => Math.abs(point[0] - node.x) < node.w / 2 && point[1] === y;
         if (!at(arc.from, begin, arc.from.y + (arc.back ? 0 : 40)) ||
            !at(arc.to, end, arc.to.y + (arc.back ? 40 : 0))) { wrong.push('end of an arc'); }
      }
      return [wrong, arcs.filter(arc => arc.back).map(arc => [arc.from.id, arc.to.id]),
         nodes.map(node => node.layer)];
   }, count, pairs, wide);
]==]

local stacks = "main;a;b 30\nmain;c;b 60\nmain 10\nmain;c;d 5\n"

-- Returns the totals of the arcs of a profile by names, and those of its functions.
local function expected_of(profile, metric)
   local arcs, functions = {}, {}
   for caller, callee, total in profile:graph { metric = metric, zeros = true }:each("caller",
      "callee", "total") do
      if caller then
         arcs[caller .. ">" .. callee] = total or 0 -- in a cycle only the calls are known
      end
   end
   for name, self, total in profile:flat { metric = metric, zeros = true }:each("function", "self",
      "total") do
      functions[name] = ("%d %d"):format(self, total)
   end
   return { arcs, functions }
end

local read_graph = [==[
   const read = () => look(() => {
      const { nodes, arcs } = page.call_graph.graph_of();
      return [Object.fromEntries(arcs.map(arc => [`${page.name(arc.from.fn)}>` +
         page.name(arc.to.fn), arc.total[0]])), Object.fromEntries([...nodes.values()].map(node =>
         [page.name(node.fn), `${node.self[0]} ${node.total[0]}`])),
         arcs.every(arc => arc.size <= Math.min(arc.from.size, arc.to.size))];
   });
]==]

describe("the call graph of a page", function()
   it_looks("is laid out in layers, without overlaps, its arcs downwards", function()
      local told = look(assert(folded.profile(stacks):export "html"), tools .. [==[
         tell('chain', await lay_out(4, [[0, 1], [1, 2], [2, 3]], 9));
         tell('diamond', await lay_out(4, [[0, 1], [0, 2], [1, 3], [2, 3], [0, 3]], 9));
         tell('cycle', await lay_out(4, [[0, 1], [1, 2], [2, 3], [3, 1]], 9));
         tell('self', await lay_out(2, [[0, 1], [1, 1]], 9));
         tell('two', await lay_out(4, [[0, 1], [2, 3]], 9));
         tell('star', await lay_out(60, Array.from({ length: 59 }, (_, i) => [0, i + 1]), 8));
         let seed = 7;
         const random = most => (seed = (seed * 16807) % 2147483647) % most;
         const wrong = [];
         for (let n = 0; n < 20; n++) {
            const count = 10 + random(51);
            const pairs = Array.from({ length: count * 2 }, () => [random(count), random(count)]);
            wrong.push(...(await lay_out(count, pairs, 3 + random(8)))[0]);
         }
         tell('random', wrong);]==])
      assert.same({ {}, {}, { 0, 1, 2, 3 } }, told.chain)
      assert.same({ {}, {}, { 0, 1, 1, 2 } }, told.diamond)
      assert.same({ {}, { { 3, 1 } }, { 0, 1, 2, 3 } }, told.cycle)
      assert.same({ {}, {}, { 0, 1 } }, told.self)
      assert.same({ {}, {}, { 0, 1, 0, 1 } }, told.two)
      assert.same({}, told.star[1])
      assert.same({}, told.random)
   end)

   it_looks("has the weights of the reports, also of recursive functions", function()
      math.randomseed(81)
      local profile = folded.profile(folded.random(300))
      local told = look(assert(profile:export "html"), read_graph .. [==[
         tell('time', await read());
         await look(() => { page.set({ metric: 'samples' }); });
         tell('samples', await read());]==])
      for _, metric in ipairs { "time", "samples" } do
         assert.is_true(table.remove(told[metric]))
         assert.same(expected_of(profile, metric), told[metric])
      end
   end)

   it_looks("has the weights of functions that the table leaves out", function()
      math.randomseed(82)
      local profile = folded.profile(folded.random(100))
      local told = look(assert(profile:export("html", nil, { functions = 2 })), read_graph ..
         "tell('graph', await read()); tell('rows', await look(() => page.data.table.left));")
      table.remove(told.graph)
      assert.same(expected_of(profile, "time"), told.graph)
      assert.equal(5, told.rows)
   end)

   it_looks("has the arcs of gmon, whose weights are estimates of gprof's kind", function()
      local bytes = gmon("<", 8):header():histogram { low = 0x1000, high = 0x1300,
         bins = { 0, 30, 60 } }:arc(0x1010, 0x1100, 1):arc(0x1010, 0x1200, 3)
         :arc(0x1110, 0x1200, 1):arc(0x1210, 0x1100, 2):bytes()
      local trace <close> = assert(profio.open({ data = bytes }, { symbols =
         command.file("call_graph.nm", "0000000000001000 T main\n0000000000001100 T a\n" ..
         "0000000000001200 T b\n") }))
      local profile = assert(trace:profile())
      local told = look(assert(profile:export "html"), tools .. read_graph .. [==[
         await show();
         tell('graph', await read());
         tell('back', await look(() => page.call_graph.plan().arcs.filter(arc =>
            arc.back).length));
         tell('calls', await look(() => page.call_graph.graph_of().arcs.map(arc =>
            arc.calls)));]==])
      table.remove(told.graph)
      assert.same(expected_of(profile), told.graph)
      assert.equal(1, told.back) -- a and b call each other
      table.sort(told.calls)
      assert.same({ 1, 1, 2, 3 }, told.calls)
   end)

   it_looks("shows calls if nothing has a time", function()
      local bytes = gmon("<", 8):header():arc(0x1010, 0x1100, 5):arc(0x1110, 0x1200, 7)
         :arc(0x1210, 0x1300, 3):bytes()
      local trace <close> = assert(profio.open({ data = bytes }, { symbols =
         command.file("call_graph.nm", "0000000000001000 T main\n0000000000001100 T a\n" ..
         "0000000000001200 T b\n0000000000001300 T c\n") }))
      local told = look(assert(trace:export "html"), tools .. [==[
         await show();
         tell('arcs', await look(() => page.call_graph.plan().arcs.map(arc => arc.size)));]==])
      assert.same({ 7, 3 }, told.arcs) -- the page does not have main: nothing calls it
   end)

   it_looks("draws the 60 functions with the largest totals, and states it", function()
      local lines, totals = {}, {}
      for i = 1, 5000 do
         lines[i] = ("main;g%d;f%d %d"):format(i % 7, i, i)
         totals[i] = ("f%d"):format(i)
      end
      local told = look(assert(folded.profile(table.concat(lines, "\n") .. "\n"):export "html"),
         tools .. [==[
         await show();
         tell('names', await look(() => page.call_graph.plan().nodes.map(node =>
            page.name(node.fn))));
         tell('note', await look(() => document.querySelector('#call-graph .note').textContent));
         tell('time', await look(() => page.call_graph.plan().arcs.length));]==])
      local expected = { "main", "g0", "g1", "g2", "g3", "g4", "g5", "g6",
         table.unpack(totals, 5000 - 51) }
      table.sort(expected)
      table.sort(told.names)
      assert.same(expected, told.names)
      assert.matches("^60 of 5,008 functions are drawn, those with the largest total%.", told.note)
      assert.equal(59, told.time)
   end)

   it_looks("states which arcs are left out", function()
      local lines = {}
      for a = 1, 20 do
         for b = 1, 20 do
            lines[#lines + 1] = ("main;a%d;b%d %d"):format(a, b, a * 100 + b)
         end
      end
      local told = look(assert(folded.profile(table.concat(lines, "\n") .. "\n"):export "html"),
         tools .. [==[
         await show();
         tell('kept', await look(() => page.call_graph.plan().arcs.map(arc => [arc.size,
            page.name(arc.to.fn)])));
         tell('note', await look(() => document.querySelector('#call-graph .note').textContent));
      ]==])
      local into, least = {}, math.huge
      for _, arc in ipairs(told.kept) do
         into[arc[2]] = true
         least = math.min(least, arc[1])
      end
      for i = 1, 20 do
         assert.is_true(into["a" .. i] and into["b" .. i])
      end
      local left = 420 - #told.kept
      assert.is_true(left > 0)
      assert.matches(("^41 of 41 functions are drawn; %d arcs between them, of at most "):format(
         left), told.note)
   end)

   it_looks("is drawn when it is seen, and not for a flat profile", function()
      local deep = ("f;"):rep(200) .. "g 5\nmain;h 1\n"
      for i = 1, 12 do -- their colours are named above the call graph
         deep = deep .. ("a_long_name_of_a_module_%d::f 1\n"):format(i)
      end
      local told = look(assert(folded.profile(deep):export "html"), tools .. [==[
         tell('first', await look(() => [page.call_graph.plan() !== null,
            document.getElementById('call-graph').getBoundingClientRect().top > 1000]));
         await show();
         tell('then', await look(() => page.call_graph.plan() !== null));]==], { width = 390 })
      assert.same({ false, true }, told.first)
      assert.is_true(told["then"])
      told = look(assert(folded.profile "a 5\nb 6\n":export "html"), [==[
         tell('hidden', await look(() => [document.getElementById('call-graph').hidden,
            document.getElementById('contents').textContent.includes('Call graph')]));]==])
      assert.same({ true, false }, told.hidden)
   end)

   it_looks("selects by mouse and keys, and shows what is around the selection", function()
      for _, width in ipairs { 1280, 390 } do
         local told = look(assert(folded.profile(stacks .. "main;c;d;e;f;g 7\n"):export "html"),
            tools .. [==[
            await show();
            const place = word => look(word => {
               const { view, plan, surface } = page.call_graph, box = surface.canvas;
               const node = plan().nodes.find(one => page.name(one.fn) === word);
               const rect = box.getBoundingClientRect();
               return [rect.x + (node.x - view.x) * view.scale, rect.y + (node.y + 28) *
                  view.scale - surface.box.scrollTop];
            }, word);
            const chosen = () => look(() => page.name(page.selected()));
            await tab.mouse.move(...await place('c'));
            tell('tip', await look(() => Array.from(document.getElementById('tip').children, row =>
               row.textContent)));
            await tab.mouse.click(...await place('c'));
            tell('clicked', await chosen());
            await look(() => page.call_graph.surface.canvas.focus());
            await tab.keyboard.press('ArrowUp');
            tell('said', await look(() => document.getElementById('spoken').textContent));
            await tab.keyboard.press('ArrowDown');
            await tab.keyboard.press('ArrowDown');
            await tab.keyboard.press('Enter');
            tell('entered', await chosen());
            await look(() => document.querySelector('#call-graph .switch').lastChild.click());
            tell('around', await look(() => [location.hash, page.call_graph.plan().nodes.map(node =>
               page.name(node.fn)).sort().join(' ')]));
            await look(() => page.select(page.data.functions.name.indexOf('e')));
            tell('next', await look(() => page.call_graph.plan().nodes.map(node =>
               page.name(node.fn)).sort().join(' ')));
            await tab.mouse.move(1, 1);
            tell('axe', await axe());]==], { width = width })
         assert.same({ "c", "self 0 ns", "total 72 ns 64.29 %", "called by main (72 ns 64.29 %)" },
            told.tip)
         assert.equal("c", told.clicked)
         assert.matches("^main, self 10 ns 8%.93 %%, total 112 ns 100 %%", told.said)
         assert.equal("b", told.entered)
         assert.same({ "#select=b&graph=around", "a b c main" }, told.around)
         assert.equal("c d e f g", told.next)
         assert.same({}, told.axe)
      end
   end)

   it_looks("zooms and moves by wheel, drag and keys", function()
      local profile = folded.profile(stacks .. "main;c;d;e;f;g 7\n")
      local told = look(assert(profile:export "html"), tools .. [==[
         await show();
         const view = () => look(() => ({ ...page.call_graph.view }));
         const box = await look(() => {
            const { x, y } = page.call_graph.surface.canvas.getBoundingClientRect();
            return { x, y };
         });
         await look(() => page.call_graph.surface.canvas.focus());
         const first = await view();
         await tab.keyboard.press('+');
         await tab.keyboard.press('+');
         const zoomed = await view();
         tell('zoomed', zoomed.scale / first.scale);
         for (let i = 0; i < 8; i++) { await tab.keyboard.press('+'); }
         await wait();
         const before = await view(), scroll = () => look(() =>
            page.call_graph.surface.box.scrollTop), top = await scroll();
         await tab.mouse.move(box.x + 300, box.y + 100);
         await tab.mouse.down();
         await tab.mouse.move(box.x + 280, box.y + 60, { steps: 4 });
         await tab.mouse.up();
         await wait();
         const after = await view();
         tell('moved', [before.scale, Math.round((after.x - before.x) * after.scale),
            await scroll() - top]);
         tell('chosen', await look(() => page.selected()));
         await tab.keyboard.down('Control');
         await tab.mouse.wheel({ deltaY: 200 });
         await tab.keyboard.up('Control');
         await tab.waitForFunction(() => page.call_graph.view.scale < 2);
         tell('wheel', (await view()).scale);
         await tab.keyboard.press('0');
         tell('all', (await view()).scale === first.scale);
         await tab.setViewport({ width: 1300, height: 900 });
         await wait();
         await wait();
         tell('middle', await look(() => {
            const { plan, view, surface } = page.call_graph;
            return (plan().width / 2 - view.x) * view.scale - surface.width() / 2;
         }));]==], { width = 500 })
      assert.is_true(math.abs(told.zoomed - 1.5625) < 1e-9)
      assert.same({ 2, 20, 40 }, told.moved)
      assert.equal(-1, told.chosen)
      assert.is_true(math.abs(told.wheel - 2 / math.exp(1)) < 1e-9)
      assert.is_true(told.all)
      assert.is_true(math.abs(told.middle) < 1)
   end)

   it_looks("shows a difference by the larger side", function()
      local new = folded.profile "main;f 50\nmain;g 10\nmain;h 300\n"
      local old = folded.profile "main;f 20\nmain;g 600\nmain;h 290\nmain 1\n"
      local told = look(assert((new - old):export "html"), tools .. [==[
         await show();
         tell('nodes', await look(() => page.call_graph.plan().nodes.map(node =>
            [page.name(node.fn), ...node.total])));
         tell('words', await look(() => page.call_graph.words(page.call_graph.plan().nodes[1])));
         tell('arcs', await look(() => page.call_graph.plan().arcs.map(arc => arc.total)));]==])
      assert.same({ { "main", 360, 911 }, { "g", 10, 600 }, { "h", 300, 290 }, { "f", 50, 20 } },
         told.nodes)
      assert.same({ { 10, 600 }, { 300, 290 }, { 50, 20 } }, told.arcs)
      assert.same({ "g", "self before 600 ns, after 10 ns", "total before 600 ns, after 10 ns",
         "called by main (before 600 ns, after 10 ns)" }, told.words)
   end)
end)
