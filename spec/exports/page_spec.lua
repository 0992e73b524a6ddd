-- The page of export html as a person uses it: mouse, keys and address in Chromium, and the numbers
-- that it shows, compared with those of reports.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local core = require "profio.core"
local folded = require "spec.support.folded"
local gmon = require "spec.support.gmon_builder"
local json = require "dkjson"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

local look = viewers.told

-- Functions of the programs: where an element is, and the state in the address.
local tools = [[
   const address = () => look(() => decodeURIComponent(location.hash));
   const chosen = () => look(() => page.selected() < 0 ? '' : page.name(page.selected()));
   const place = selector => look(s => {
      const box = document.querySelector(s);
      box.scrollIntoView();
      const { x, y, width, height } = box.getBoundingClientRect();
      return { x, y, width, height };
   }, selector);
]]

local stacks = "main;a;b 30\nmain;c;b 60\nmain 10\nmain;c;d 5\n"

describe("the page", function()
   it_looks("has one search, selection and address for all parts", function()
      local told = look(assert(folded.profile(stacks):export "html"), tools .. [==[
         await tab.keyboard.press('/');
         await tab.keyboard.type('b');
         tell('focus', await look(() => document.activeElement.id));
         tell('found', await look(() => [document.getElementById('count').textContent,
            Array.from(page.hits())]));
         await tab.keyboard.press('Enter');
         tell('next', await chosen());
         tell('address', await address());
         await tab.keyboard.press('Escape');
         tell('empty', [await address(), await chosen()]);
         await tab.goBack();
         tell('back', [await chosen(), await look(() => page.state.find)]);
         await tab.goForward();
         tell('forward', await chosen());
         const told_count = find => look(value => {
            page.set({ find: value, pattern: 1 });
            return document.getElementById('count').textContent;
         }, find);
         tell('pattern', await told_count('[ac]'));
         tell('wrong', await told_count('('));
         tell('names', await look(() => page.data.functions.name));]==])
      assert.equal("find", told.focus)
      assert.equal("85.71 % of self, 85.71 % of total, 1 of 5 functions", told.found[1])
      for i, name in ipairs(told.names) do
         assert.equal(name == "b" and 1 or 0, told.found[2][i])
      end
      assert.equal("b", told.next)
      assert.equal("#find=b&select=b", told.address)
      assert.same({ "", "" }, told.empty)
      assert.same({ "b", "b" }, told.back)
      assert.equal("", told.forward)
      -- a, c, and main, which has an a and is below all others
      assert.equal("9.52 % of self, 100 % of total, 3 of 5 functions", told.pattern)
      assert.equal("a ) is missing", told.wrong)
   end)

   it_looks("ends the search for a pattern that would take for ever", function()
      local program = assert(folded.profile(("a"):rep(400) .. "b 1\n"):export "html")
      local told = look(program, [==[
         const tried = pattern => look(find => {
            page.set({ find, pattern: 1 });
            return [document.getElementById('count').textContent, page.hits() &&
               Array.from(page.hits())];
         }, pattern);
         for (const pattern of ['.-.-.-.-.-x', '^a*a*a*a*a*c', '(a*)*b', 'a+']) {
            tell(pattern, await tried(pattern));
         }]==])
      assert.equal("this pattern takes too long", told[".-.-.-.-.-x"][1])
      assert.equal("this pattern takes too long", told["^a*a*a*a*a*c"][1])
      assert.same({ 0 }, told["(a*)*b"][2]) -- * is a letter after a group
      assert.same({ 1 }, told["a+"][2])
   end)

   it_looks("finds what string.find finds", function()
      math.randomseed(73)
      local parts = { "a", "b", ".", "%a", "%D", "%w", "%s", "%%", "[ab]", "[^a%d]", "[%w_-]",
         "[]]", "[a-c-]", "(", ")", "()", "%1", "%2", "%bxy", "%b()", "%f[%w]", "%f[^b]", "$", "^",
         "é", "[é]", "%", "[", "-", "*", "+" }
      local letters = { "a", "b", "x", "y", "1", "_", " ", "(", ")", "é", "]", "-", "%" }
      local asks, truth = {}, {}
      local function random(list, most)
         local text = {}
         for i = 1, math.random(0, most) do
            text[i] = list[math.random(#list)]
         end
         return text
      end
      for i = 1, 3000 do
         local pattern = random(parts, 6)
         for n = 1, #pattern do
            pattern[n] = pattern[n] .. ({ "", "", "*", "+", "-", "?" })[math.random(6)]
         end
         asks[i] = { table.concat(pattern), table.concat(random(letters, 10)) }
         local compiled, problem = core.pattern(asks[i][1])
         truth[i] = compiled and compiled:find(asks[i][2]) ~= nil or problem or false
      end
      local told = look(assert(folded.profile "a 1\n":export "html"), [==[
         tell('found', await look(list => list.map(([pattern, text]) => {
            try { return page.pattern(pattern)(text); } catch (error) { return error.message; }
         }), ]==] .. json.encode(asks) .. "));")
      for i, found in ipairs(told.found) do
         assert.equal(truth[i], found, asks[i][1] .. " in " .. asks[i][2])
      end
   end)

   it_looks("shortens names of templates, and keeps what distinguishes them", function()
      local names = { ["Matrix<double> multiply<double>(Matrix<double>&, Matrix<double>&)"] =
            { "Matrix<double> multiply<double>(Matrix<double>&, Matrix<double>&)",
               "multiply<double>" },
         ["std::vector<float, std::allocator<float> >::operator[](unsigned long)"] =
            { "std::vector<float\u{2026}>::operator[](unsigned long)",
               "std::vector<float\u{2026}>::operator[]" },
         ["std::map<std::basic_string<char>, int>::find(int) const"] =
            { "std::map<std::basic_string\u{2026}>::find(int) const",
            "std::map<std::basic_string\u{2026}>::find" },
         ["encoding/json.(*decodeState).object"] = { "encoding/json.(*decodeState).object",
            "encoding/json.(*decodeState).object" } }
      local lines = "f" .. ("< "):rep(2400) .. "() 1\n"
      for name in pairs(names) do
         lines = lines .. name .. " 1\n"
      end
      local told = look(assert(folded.profile(lines):export "html"), [==[
         tell('names', await look(() => page.data.functions.name.map((name, fn) =>
            [name, page.short(fn), page.brief(fn, 20)])));]==])
      local found = 0
      for _, row in ipairs(told.names) do
         if names[row[1]] then
            found = found + 1
            assert.same(names[row[1]], { row[2], row[3] })
         end
      end
      assert.equal(4, found)
   end)

   it_looks("shows what a link states", function()
      local told = look(assert(folded.profile(stacks):export "html"), [==[
         tell('all', await look(() => [page.name(page.selected()), page.state.order,
            page.name(page.flames.zoomed().fn), page.data.metrics[page.metric()].name,
            document.querySelector('.crumbs').textContent,
            !document.getElementById('details').hidden]));]==],
         { fragment = "#select=c&metric=samples&order=inverted&zoom=0" })
      assert.same({ "c", "inverted", "b", "samples", "allb", true }, told.all)
   end)

   it_looks("has a flame graph that mouse and keys zoom, also on a phone", function()
      for _, width in ipairs { 1280, 390 } do
         local told = look(assert(folded.profile(stacks):export "html"), tools .. [==[
            const box = await place('#flames canvas');
            tell('wide', Math.round(box.width));
            await tab.mouse.click(box.x + box.width * 0.3, box.y + 19 * 2 + 8); // c: 65 of 105
            tell('clicked', [await chosen(), await look(() => page.name(page.flames.zoomed().fn))]);
            await look(() => document.querySelector('#flames canvas').focus());
            await tab.keyboard.press('ArrowDown');
            await tab.keyboard.press('ArrowRight');
            tell('said', await look(() => document.getElementById('spoken').textContent));
            await tab.keyboard.press('Enter');
            tell('entered', await chosen());
            await tab.keyboard.press('Backspace');
            await look(() => document.querySelector('.crumbs button').click());
            tell('out', await look(() => page.flames.zoomed().fn));]==], { width = width })
         assert.is_true(told.wide > (width < 1200 and width - 80 or width - 520), told.wide)
         assert.same({ "c", "c" }, told.clicked)
         assert.matches("^d, self 5 ns, total 5 ns, 7%.69 %% of its parent, 4%.76 %% of all",
            told.said)
         assert.equal("d", told.entered)
         assert.equal(-1, told.out)
      end
   end)

   it_looks("shows the tree of calls and the trees of callers as the reports do", function()
      math.randomseed(71)
      local profile = folded.profile(folded.random(300))
      local told = look(assert(profile:export "html"), [==[
         tell('tree', await look(() => {
            const rows = (frame, depth) => frame.children().filter(c => c.total).flatMap(child =>
               [[depth, page.name(child.fn), child.self, child.total].join(' '),
                  ...rows(child, depth + 1)]);
            return rows(page.root({ metric: 0 }), 1);
         }));
         tell('up', await look(() => {
            const rows = (frame, depth) => frame.children().filter(c => c.total).flatMap(child =>
               [[depth, page.name(child.fn), child.total].join(' '), ...rows(child, depth + 1)]);
            return rows(page.root({ metric: 0, up: true }), 1);
         }));
         tell('callers', await look(() => page.data.functions.name.map((name, fn) =>
            [name, page.function_frame(fn, { metric: 0 }).total])));
         tell('metric', await look(() => {
            page.set({ metric: 'samples' });
            return Array.from(document.querySelectorAll('#functions tbody tr'), row =>
               [row.cells[0].textContent, row.cells[1].textContent]);
         }));]==])
      local tree, up, flat = {}, {}, {}
      for depth, name, self, total in profile:tree():each("depth", "function", "self", "total") do
         tree[#tree + 1] = ("%d %s %d %d"):format(depth, name, self, total)
      end
      for depth, name, total in profile:bottom_up():each("depth", "function", "total") do
         up[#up + 1] = ("%d %s %d"):format(depth, name, total)
      end
      for _, list in ipairs { tree, up, told.tree, told.up } do
         table.sort(list) -- frames of equal weight have no order
      end
      assert.same(tree, told.tree)
      assert.same(up, told.up)
      for name, total in profile:flat { zeros = true }:each("function", "total") do
         flat[name] = total
      end
      for _, row in ipairs(told.callers) do
         assert.equal(flat[row[1]], row[2], row[1])
      end
      local samples = {}
      for name, self in profile:flat { metric = "samples" }:each("function", "self") do
         samples[name] = ("%d"):format(self)
      end
      for _, row in ipairs(told.metric) do
         assert.equal(samples[row[1]], row[2])
      end
   end)

   it_looks("estimates the callers of gmon from the shares of its arcs, and says so", function()
      local bytes = gmon("<", 8):header():histogram { low = 0x1000, high = 0x1300,
         bins = { 0, 30, 60 } }:arc(0x1010, 0x1100, 1):arc(0x1010, 0x1200, 3)
         :arc(0x1110, 0x1200, 1):bytes()
      local trace <close> = assert(profio.open({ data = bytes }, { symbols =
         command.file("page.nm", "0000000000001000 T main\n0000000000001100 T a\n" ..
         "0000000000001200 T b\n") }))
      local profile = assert(trace:profile())
      local told = look(assert(profile:export "html"), [==[
         tell('kind', await look(() => page.data.kind));
         tell('tree', await look(() => page.root({ metric: page.data.usual }).children().map(
            frame => [page.name(frame.fn), frame.total, frame.children().map(child =>
               [page.name(child.fn), child.total])])));
         tell('said', await look(() => document.body.textContent.includes('no stacks')));]==])
      local totals, arcs = {}, {}
      for name, total in profile:flat { zeros = true }:each("function", "total") do
         totals[name] = total
      end
      for caller, callee, total in profile:graph():each("caller", "callee", "total") do
         arcs[(caller or "") .. ">" .. callee] = total
      end
      assert.is_true(told.said)
      for _, root in ipairs(told.tree) do
         assert.equal(totals[root[1]], root[2])
         for _, child in ipairs(root[3]) do
            assert.equal(arcs[root[1] .. ">" .. child[1]], child[2])
         end
      end
      assert.same("main", told.tree[1][1])
   end)
end)
