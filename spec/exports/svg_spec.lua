-- Flame graphs: as XML, and as Chromium shows them.
--
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local events = require "spec.support.events"
local flames = require "spec.support.flames"
local folded = require "spec.support.folded"
local names = require "spec.support.names"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

-- Returns the frames of a picture: "name total self", and the total before of a difference.
local function titles(svg)
   local list = {}
   for i, frame in ipairs(flames.read(svg)) do
      list[i] = table.concat({ frame.name, frame.total, frame.self, frame.before }, " ")
   end
   return list
end

-- Returns the text below the frames.
local function foot(svg)
   return (svg:match '<text class="note foot"[^>]*>(.-)</text>':gsub("<[^>]*>", ""))
end

-- Stacks of so many different frames, 100 on each.
local function wide(frames)
   local lines = {}
   for i = 1, frames // 100 do
      local stack = {}
      for depth = 1, 100 do
         stack[depth] = ("f%d_%d"):format(i, depth)
      end
      lines[i] = table.concat(stack, ";") .. " 100\n"
   end
   return assert(folded.profile(table.concat(lines)):export "svg")
end

-- JavaScript: frame(name); mouse(kind, frame), which moves or clicks in the middle of a frame;
-- over(name) is the tip of a frame; press(key, ...).
local tools = [[
   var svg = document.documentElement, f = svg.flames;
   function frame(name) {
      return f.frames.find(function (g) { return g.name === name; }) ||
         f.frames.find(function (g) { return g.name.startsWith(name); });
   }
   function mouse(kind, g) {
      var b = f.box(g), p = svg.createSVGPoint();
      p.x = b.x + b.w / 2;
      p.y = b.y + b.h / 2;
      p = p.matrixTransform(svg.getScreenCTM());
      svg.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX: p.x, clientY: p.y }));
   }
   function over(name) {
      mouse('mousemove', frame(name));
      return svg.querySelector('.words text').textContent;
   }
   function press(...keys) {
      for (const key of keys) {
         window.dispatchEvent(new KeyboardEvent('keydown', { key: key, cancelable: true }));
      }
   }
   function shown(selector) { return svg.querySelector(selector).style.display === ''; }
   function drawn() {
      var text = '';
      svg.querySelectorAll('.frames path').forEach(function (p) {
         text += p.getAttribute('d');
      });
      return text.split('z').length - 1;
   }
]]

describe("--export svg", function()
   it("draws each frame with its share", function()
      local profile = folded.profile "main;parse;read 5000\nmain;parse 3000\nmain 2000\n"
      assert.same({ "all 10000 0", "main 10000 2000", "parse 8000 3000", "read 5000 5000" },
         titles(assert(profile:export "svg")))
   end)

   it_looks("shows weights with the unit of the metric, if it has one", function()
      for unit, expected in pairs { [""] = "5", ["<B>"] = "5 <B>", ms = "5 ms", count = "5",
         bytes = "5 B" } do
         profio.register { name = "weighed", score = function() return 0 end,
            tables = { rows = { { "name", "name" }, { "weight", "int" } } },
            profile = { table = "rows", ["function"] = "name",
               metrics = { { name = "weight", unit = unit, column = "weight" } } },
            open = function()
               return { rows = function(put)
                  put("f", 5)
               end }
            end }
         local trace <close> = assert(profio.open({ data = "-" }, { format = "weighed" }))
         assert.equal("f (" .. expected .. ", 100 %)", viewers.look(assert(trace:export "svg"),
            "svg", tools .. "tell('f', over('f'));").told.f)
      end
   end)

   it("has colours for the change of the totals, which its tooltips show", function()
      local new = folded.profile "main;f 750\nmain;g 250\nmain;h 100\n"
      local old = folded.profile "main;f 250\nmain;g 700\nmain;h 100\nmain;gone 5\n"
      local svg = assert((new - old):export "svg")
      assert.same({ "all 1100 0 1055", "main 1100 0 1055", "f 750 750 250", "g 250 250 700",
         "h 100 100 100" }, titles(svg))
      assert.matches("widths: total time of the new profile; colours: the change of the total", svg)
      local color = {}
      for _, frame in ipairs(flames.read(svg)) do
         color[frame.name] = frame.color
      end
      assert.same({ "#f54b4b", "#5c96f5", "#f5f5f5" }, { color.f, color.g, color.h })
      if viewers.has_pages then
         assert.same({ "main (1.1 µs, 100 %; before 1.055 µs, +45 ns)",
            "g (250 ns, 22.73 %; before 700 ns, -450 ns)" }, viewers.look(svg, "svg", tools .. [[
            tell('list', [over('main'), over('g')]);]]).told.list)
      end
   end)

   it("limits a change to 64 bits", function()
      local function profile_of(weight)
         local w = assert(profio.create(nil, { format = "pprof" }))
         w:write { stack = w:stack { { area = "f", class = "function" } }, metric = "spent",
            unit = "count", weight = weight }
         local trace <close> = assert(profio.open { data = w:close() })
         return trace:profile()
      end
      local svg = assert((profile_of(7) - profile_of(math.mininteger)):export "svg")
      assert.equal(("f 7 7 %d"):format(math.mininteger), titles(svg)[2])
   end)

   it("is XML, whatever names there are", function()
      local trace <close> = names.open()
      local svg = assert(trace:export("svg", nil, { title = "a <b> & c" }))
      if viewers.has_xml then
         assert.same({ true, "" }, { viewers.xml(svg) })
         assert.is_false((viewers.xml((svg:gsub("&lt;", "<", 1)))))
      end
      assert.is_truthy(svg:find("\nsemi;colon;s\n", 1, true))
      assert.is_truthy(svg:find("a &lt;b&gt; &amp; c", 1, true))
   end)

   it("reports losses", function()
      local text, status = command.run "profio --export svg cut.gmon"
      assert.equal(3, status)
      assert.matches("^damaged: [^\n]*gmon%-", foot(text))
      assert.matches("<desc>damaged: [^\n]*gmon%-[^\n]*</desc>", text)
      if viewers.has_xml then
         assert.same({ true, "" }, { viewers.xml(text) })
      end
   end)

   it("reads no more rows than its picture may have", function()
      local svg = assert(folded.profile(("f;"):rep(300) .. "g 10\n"):export("svg", nil,
         { rows = 20 }))
      assert.equal(20, #titles(svg))
      assert.equal("not drawn: 282 contexts below row 20, 100 % of the whole (--set rows=302 "
         .. "draws all rows)", foot(svg))
      assert.equal("", foot(assert(folded.profile(("f;"):rep(300) .. "g 10\n"):export("svg", nil,
         { rows = 302 }))))
   end)

   it_looks("zooms into a frame and back", function()
      local svg = assert(folded.profile "main;a;b 30\nmain;c 60\nmain 10\n":export "svg")
      local seen = viewers.look(svg, "svg", tools .. [[
         function width(name) { var b = f.box(frame(name)); return b && Math.round(b.w); }
         var whole = svg.getBoundingClientRect().width - 20;
         tell('before', [width('main') - whole, Math.round(width('a') / whole * 10), drawn()]);
         mouse('click', frame('a'));
         tell('zoomed', [width('main') - whole, width('a') - whole, drawn()]);
         tell('gone', f.box(frame('c')) === null);
         tell('above', svg.querySelector('.above').getAttribute('d').split('z').length - 1);
         window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
         tell('after', [width('main') - whole, Math.round(width('a') / whole * 10), drawn()]);]])
      assert.same({}, seen.errors)
      assert.same({ 0, 3, 5 }, seen.told.before)
      assert.same({ 0, 0, 4 }, seen.told.zoomed)
      assert.is_true(seen.told.gone)
      assert.equal(2, seen.told.above)
      assert.same(seen.told.before, seen.told.after)
   end)

   it_looks("takes the width of the window, also when that changes", function()
      local svg = assert(folded.profile "main;a 30\nmain 70\n":export "svg")
      assert.matches(' width="1200" ', svg)
      local page = "<html><head></head><body style='margin:0'><div style='width:500px'>"
         .. svg:gsub("^<%?xml[^\n]*\n", "") .. "</div></body></html>"
      local seen = viewers.look(page, "html", [[
         var svg = document.querySelector('svg'), f = svg.flames;
         function look() {
            var label = svg.querySelector('.labels').lastChild;
            var drawn = svg.querySelector('.frames').getBoundingClientRect();
            return [svg.getBoundingClientRect().width, f.box(f.frames[0]).w, f.box(f.frames[2]).x,
               +label.getAttribute('x'), label.textContent, Math.round(drawn.left),
               Math.round(drawn.width)];
         }
         tell('narrow', look());
         svg.parentNode.style.width = '1020px';
         window.dispatchEvent(new Event('resize'));
         tell('wide', look());
         f.to(f.frames[1]); // main, which is as wide as all
         svg.parentNode.style.width = '620px';
         window.dispatchEvent(new Event('resize'));
         tell('zoomed', look());
         tell('above', Math.round(svg.querySelector('.above').getBoundingClientRect().width));]])
      assert.same({}, seen.errors)
      assert.same({ 500, 480, 10, 13, "a", 10, 480 }, seen.told.narrow)
      assert.same({ 1020, 1000, 10, 13, "a", 10, 1000 }, seen.told.wide)
      assert.same({ 620, 600, 10, 13, "a", 10, 600 }, seen.told.zoomed)
      assert.equal(600, seen.told.above)
   end)

   it_looks("searches by a regular expression, and counts no time twice", function()
      local svg = assert(folded.profile "read;readline 40\nmain 60\n":export "svg")
      local seen = viewers.look(svg, "svg", [[
         var f = document.documentElement.flames;
         var hits = document.querySelector('.hits');
         f.search('^read');
         tell('hits', hits.textContent);
         function matches() {
            return document.querySelector('path.matched').getAttribute('d').split('z').length - 1;
         }
         tell('matched', matches());
         f.search('(');
         tell('wrong', hits.textContent);
         f.search('');
         tell('none', [hits.textContent, matches()]);]])
      assert.same({}, seen.errors)
      assert.equal("40 % of self, 40 % of total, 2 of 3 functions", seen.told.hits)
      assert.equal(2, seen.told.matched)
      assert.matches("Invalid regular expression", seen.told.wrong)
      assert.same({ "", 0 }, seen.told.none)
   end)

   it_looks("states self and total of what is found, functions once", function()
      local svg = assert(folded.profile("read;readline;read 40\nmain;read 10\nmain;x 25\n"
         .. "other 25\n"):export "svg")
      local seen = viewers.look(svg, "svg", [[
         var f = document.documentElement.flames, hits = document.querySelector('.hits');
         tell('list', ['^read$', 'readline', 'x|y', 'e', '.', 'none'].map(function (pattern) {
            f.search(pattern);
            return hits.textContent;
         }));]])
      assert.same({}, seen.errors)
      assert.same({ "50 % of self, 50 % of total, 1 of 5 functions",
         "0 % of self, 40 % of total, 1 of 5 functions",
         "25 % of self, 25 % of total, 1 of 5 functions",
         "75 % of self, 75 % of total, 3 of 5 functions",
         "100 % of self, 100 % of total, 5 of 5 functions",
         "0 % of self, 0 % of total, 0 of 5 functions" }, seen.told.list)
   end)

   it_looks("has a field for the search in the picture, for keys and mouse", function()
      local svg = assert(folded.profile "read;readline 40\nmain;x 60\n":export "svg")
      local told = viewers.told(svg, [==[
         await look(() => { window.prompt = () => { throw new Error('asked'); }; });
         const state = async name => tell(name, await look(() => {
            const field = document.querySelector('.field');
            return [field.style.display === '' ? field.textContent : 'closed',
               document.querySelector('.find').style.display === '' ? 'button' : '',
               document.querySelector('.hits').textContent];
         }));
         await state('before');
         await tab.keyboard.press('/');
         await tab.keyboard.type('^readx/');
         await state('typed');
         await tab.keyboard.press('Backspace');
         await tab.keyboard.press('Backspace');
         await state('shorter');
         await tab.keyboard.press('Enter');
         await state('entered');
         const { x, y } = await look(() => {
            const { left, top } = document.querySelector('.find').getBoundingClientRect();
            return { x: left + 5, y: top + 5 };
         });
         await tab.mouse.click(x, y);
         await state('clicked');
         const box = await look(() => {
            const { left, right, top } = document.querySelector('.field').getBoundingClientRect();
            return left >= 0 && right <= window.innerWidth && top >= 0;
         });
         tell('inside', box);
         await tab.keyboard.press('Escape');
         await state('escaped');]==], { ending = "svg" })
      local found = "40 % of self, 40 % of total, 2 of 4 functions"
      assert.same({ before = { "closed", "button", "" },
         typed = { "/^readx/▏", "", "0 % of self, 0 % of total, 0 of 4 functions" },
         shorter = { "/^read▏", "", found }, entered = { "closed", "button", found },
         clicked = { "/^read▏", "", found }, inside = true,
         escaped = { "closed", "button", "" } }, told)
   end)

   it_looks("zooms out to the caller by Backspace, and the field keeps its keys", function()
      local svg = assert(folded.profile "main;a;b 30\nmain;c 60\nmain 10\n":export "svg")
      local seen = viewers.look(svg, "svg", tools .. [[
         function top() { return f.frames.filter(function (g) {
            var b = f.box(g);
            return b && b.w >= svg.getBoundingClientRect().width - 20.001;
         }).map(function (g) { return g.name; }).join(' '); }
         mouse('click', frame('b'));
         var list = [top()];
         press('/', 'c', 'Backspace', 'Enter');
         list.push(top());
         press('Backspace');
         list.push(top());
         press('Backspace');
         list.push(top());
         press('Backspace', 'Backspace');
         list.push(top());
         tell('list', list);]])
      assert.same({}, seen.errors)
      assert.same({ "all main a b", "all main a b", "all main a b", "all main", "all main" },
         seen.told.list)
   end)

   it_looks("searches both pictures of a pair at once", function()
      local new, old = folded.profile "main;f 750\nmain;g 250\n", folded.profile "main;f 500\n"
      local told = viewers.told(assert((new - old):export("svg", nil, { pair = true })), [==[
         await tab.keyboard.press('/');
         await tab.keyboard.type('f');
         tell('hits', await look(() => Array.from(document.querySelectorAll('.hits'),
            hits => hits.textContent)));
         await tab.keyboard.press('Escape');
         await tab.keyboard.press('Escape');
         tell('none', await look(() => Array.from(document.querySelectorAll('.hits'),
            hits => hits.textContent)));]==], { ending = "svg" })
      assert.same({ hits = { "100 % of self, 100 % of total, 1 of 2 functions",
         "75 % of self, 75 % of total, 1 of 3 functions" }, none = { "", "" } }, told)
   end)

   it_looks("gives both pictures of a pair the width of the window", function()
      local new, old = folded.profile(("f;"):rep(30) .. "g 750\n"), folded.profile "main;f 500\n"
      local told = viewers.told(assert((new - old):export("svg", nil, { pair = true, rows = 3 })),
         [==[
         const boxes = () => look(() => Array.from(document.querySelectorAll('.flames'), svg => {
            const page = svg.querySelector('.page').getBoundingClientRect();
            const root = svg.querySelector('.frames').getBoundingClientRect();
            const button = svg.querySelector('.find').getBoundingClientRect();
            const foot = svg.querySelector('.foot').getBoundingClientRect();
            return [page.left, page.right, root.left >= 10, root.right <= page.right - 10,
               Math.abs(button.right - page.right + 10) < 1, page.top, page.bottom,
               foot.bottom <= page.bottom];
         }));
         tell('narrow', await boxes());
         await tab.setViewport({ width: 900, height: 600 });
         await wait();
         tell('wide', await boxes());]==], { ending = "svg", width = 400 })
      for width, boxes in pairs { [400] = told.narrow, [900] = told.wide } do
         local first, second = boxes[1], boxes[2]
         for _, box in ipairs(boxes) do
            assert.same({ 0, width, true, true, true, true }, { box[1], box[2], box[3], box[4],
               box[5], box[8] })
         end
         assert.equal(0, first[6])
         assert.equal(first[7], second[6])
      end
   end)

   it("cuts names in the middle, and draws borders where there is space", function()
      local name = "aé<" .. ("x"):rep(400) .. "&zü"
      local svg = assert(folded.profile(("%s 100\nf 99900\n"):format(name)):export("svg", nil,
         { width = 32000 }))
      -- 31980 pixels, of which the function has a thousandth: 25 after the edges, 3 letters of 7.3
      assert.matches(">aé&lt;</text>", svg)
      svg = assert(folded.profile(("%s 200\nf 99800\n"):format(name)):export("svg", nil,
         { width = 32000 })) -- 57 pixels, 7 letters
      assert.matches(">aé…x&amp;zü</text>", svg)
      svg = assert(folded.profile "f 500\ng 499\nh 1\n":export("svg", nil, { width = 1020 }))
      local widths = {}
      for width in svg:gmatch "h([%d.]+)v" do
         widths[#widths + 1] = tonumber(width)
      end
      table.sort(widths)
      assert.same({ 1, 498.5, 499.5, 999.5 }, widths)
      flames.read(svg)
   end)

   it_looks("cuts names in the middle when it draws again", function()
      local name = ("aé%sz"):format(("x"):rep(4000))
      local seen = viewers.look(assert(folded.profile(name .. " 1\n"):export "svg"), "svg", tools
         .. [[tell('label', svg.querySelector('.labels').lastChild.textContent);]])
      assert.same({}, seen.errors)
      assert.matches("^aéx+…x+z$", seen.told.label)
   end)

   it("says which contexts are not drawn, and what to do", function()
      -- Of 1200 - 20 pixels 0.1 are a part of 1 / 11800.
      local text = "main;f 999960\nmain;g;x 20\nmain;g;y 10\nmain;h 10\n"
      local svg = assert(folded.profile(text):export "svg")
      assert.equal(3, #titles(svg))
      assert.equal("not drawn: 4 contexts narrower than 0.1 pixels, less than 0.01 % of the whole "
         .. "(--set width=12000 draws more)", foot(svg))
      local lines = { "m;f;deep 99850\n" } -- of 1000 pixels 5 of 100,000 are 0.05
      for i = 1, 30 do
         lines[i + 1] = ("m;g%d 5\n"):format(i)
      end
      assert.equal("not drawn: 30 contexts narrower than 0.1 pixels, 0.15 % of the whole (--set "
         .. "width=10200 draws more); 1 context below row 3, 99.85 % of the whole (--set rows=4 "
         .. "draws all rows)", foot(assert(folded.profile(table.concat(lines)):export("svg", nil,
         { width = 1020, rows = 3 }))))
      assert.equal("", foot(assert(folded.profile(text):export("svg", nil, { width = 120000 }))))
      assert.equal("nothing to draw: no context has any weight",
         foot(assert(folded.profile "f 0\n":export "svg")))
   end)

   it_looks("breaks the lines below the frames for the width", function()
      local svg = assert(folded.profile(("f;"):rep(30) .. "g 10\n"):export("svg", nil,
         { rows = 3 }))
      local told = viewers.told(svg, [[
         tell('foot', await look(() => Array.from(document.querySelectorAll('.foot tspan'),
            line => line.getBoundingClientRect()).map(box => [box.left >= 0, box.right <= 300,
               box.bottom <= document.documentElement.getBoundingClientRect().bottom])));
         tell('text', await look(() => document.querySelector('.foot').textContent));]],
         { ending = "svg", width = 300 })
      assert.equal(foot(svg), told.text)
      assert.is_true(#told.foot >= 2)
      for _, line in ipairs(told.foot) do
         assert.same({ true, true, true }, line)
      end
   end)

   -- JavaScript: contrast(a, b) of two colours, which are lists of red, green and blue;
   -- rgb(element); over(color, element), what a colour is below a translucent element.
   local contrasts = [[
      function light(c) {
         var v = c.map(function (part) {
            part /= 255;
            return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
         });
         return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
      }
      function contrast(a, b) {
         var x = light(a) + 0.05, y = light(b) + 0.05;
         return Math.max(x / y, y / x);
      }
      function rgb(element) {
         return getComputedStyle(element).fill.match(/\d+/g).map(Number);
      }
      function below(color, element) {
         var part = +getComputedStyle(element).opacity;
         return rgb(element).map(function (c, i) { return c * part + color[i] * (1 - part); });
      }
      function made(kind, name, parent) {
         var e = document.createElementNS('http://www.w3.org/2000/svg', kind);
         e.setAttribute('class', name);
         return parent.appendChild(e);
      }
   ]]

   it_looks("has texts of high contrast in light and in dark pictures", function()
      local lines, before = {}, {}
      for i = 1, 1500 do
         lines[i] = ("function_%d %d\n"):format(i, i)
         before[i] = ("function_%d %d\n"):format(i, 1501 - i)
      end
      local plain = folded.profile(table.concat(lines))
      for _, profile in ipairs { plain, plain - folded.profile(table.concat(before)) } do
         local pages = {}
         for _, scheme in ipairs { "light", "dark" } do
            local told = viewers.told(assert(profile:export "svg"), ([==[
               const found = await look(() => {
                  %s
                  const svg = document.documentElement, find = name => svg.querySelector(name);
                  const labels = find('.labels'), paths = svg.querySelectorAll('.frames path');
                  const text = rgb(made('text', '', labels));
                  const upper = rgb(made('text', 'upper', labels)), page = rgb(find('.page'));
                  let least = Infinity;
                  const take = (a, b) => { least = Math.min(least, contrast(a, b)); };
                  for (const path of paths) {
                     take(text, rgb(path));
                     take(upper, below(rgb(path), find('.above')));
                  }
                  take(rgb(made('text', 'matched', labels)), rgb(find('path.matched')));
                  for (const name of ['.head', '.note', '.find', '.back', '.foot', '.hits']) {
                     take(rgb(find(name)), page);
                  }
                  for (const name of ['.words', '.field']) {
                     take(rgb(find(name + ' text')), rgb(find(name + ' rect')));
                  }
                  return { least, page, paths: paths.length,
                     root: getComputedStyle(svg).backgroundColor.match(/\d+/g).map(Number) };
               });
               tell('found', found);]==]):format(contrasts), { ending = "svg", scheme = scheme })
            assert.is_true(told.found.least >= 4.5, scheme .. " " .. told.found.least)
            assert.is_true(told.found.paths > 100)
            assert.same(told.found.page, told.found.root)
            pages[scheme] = told.found.page[1]
         end
         assert.is_true(pages.light > 200 and pages.dark < 50)
      end
   end)

   it_looks("runs no script of a name", function()
      local hostile = { "</script><script>hacked()</script>", "]]><script>hacked()</script>",
         "\"onload=\"hacked()", "'onload='hacked()", "</metadata><script>hacked()</script>",
         "<image href=x onerror=hacked()>", "${hacked()}", "\\u003cscript\\u003e", "__proto__",
         "constructor" }
      local lines = {}
      for i, name in ipairs(hostile) do
         lines[i] = ("%s 100\n"):format(name)
      end
      local svg = assert(folded.profile(table.concat(lines)):export("svg", nil,
         { title = hostile[2] .. hostile[3], width = 100000 }))
      if viewers.has_xml then
         assert.same({ true, "" }, { viewers.xml(svg) })
      end
      local told = viewers.told(svg, [==[
         await look(() => { window.count = 0; window.hacked = () => { window.count++; }; });
         await tab.keyboard.press('/');
         await tab.keyboard.type('"onload="hacked()|<script>|]]>');
         await tab.mouse.move(200, 60);
         tell('found', await look(() => ({ count: window.count, scripts:
            document.querySelectorAll('script').length, images:
            document.querySelectorAll('image').length, handlers: Array.from(
            document.querySelectorAll('*')).filter(e => e.hasAttribute('onload')).length,
            names: document.documentElement.flames.frames.map(f => f.name).slice(1) })));]==],
         { ending = "svg" })
      table.sort(hostile)
      table.sort(told.found.names)
      assert.same({ count = 0, scripts = 1, images = 0, handlers = 0, names = hostile }, told.found)
   end)

   it("has a script in which eslint finds nothing", function()
      if not viewers.has_pages then
         return pending "needs eslint"
      end
      assert.equal("", viewers.eslint "lua/profio/exports/svg/*.js")
   end)

   it_looks("shows names that are hard to draw without an error", function()
      local trace <close> = names.open()
      local seen = viewers.look(assert(trace:export "svg"), "svg", [[
         var f = document.documentElement.flames;
         tell('names', f.frames.map(function (g) { return g.name; }));]])
      assert.same({}, seen.errors)
      local found = {}
      for _, name in ipairs(seen.told.names) do
         found[name] = true
      end
      for _, name in ipairs(names.list) do
         assert.is_true(found[(names.utf8(name):gsub("%c", "\u{fffd}"))], name:sub(1, 40))
      end
   end)

   it_looks("tells of the frame under the pointer, in one element", function()
      local svg = assert(folded.profile(("main;x 30\nmain;%s 70\n"):format(("b"):rep(3000)))
         :export "svg")
      local _, count = svg:gsub("<title", "")
      assert.equal(0, count)
      local seen = viewers.look(svg, "svg", tools .. [[
         var words = document.querySelector('.words');
         tell('before', words.style.display);
         tell('x', over('x'));
         tell('shown', words.style.display);
         tell('b', over('b'));
         var box = words.getBoundingClientRect();
         tell('inside', box.left >= 0 && box.right <= window.innerWidth && box.top >= 0);
         document.documentElement.dispatchEvent(new MouseEvent('mousemove'));
         tell('after', words.style.display);]])
      assert.same({}, seen.errors)
      assert.same({ "none", "x (30 ns, 30 %)", "", "none" }, { seen.told.before, seen.told.x,
         seen.told.shown, seen.told.after })
      assert.matches("^b+…b+ %(70 ns, 70 %%%)$", seen.told.b)
      assert.is_true(seen.told.inside)
   end)

   it_looks("is read in a time that grows with its frames", function()
      local function seconds(frames)
         local svg = wide(frames)
         assert.equal(frames + 1, #titles(svg))
         local seen = viewers.look(svg, "svg", [[
            tell('frames', document.documentElement.flames.frames.length);
            tell('seconds', performance.now() / 1000);]])
         assert.same({}, seen.errors)
         assert.equal(frames + 1, seen.told.frames)
         return seen.told.seconds
      end
      local small, large = seconds(25000), seconds(100000)
      assert.is_true(large < 8 * small + 1, ("%.2f s, then %.2f s"):format(small, large))
   end)

   it_looks("notices a script that fails", function()
      local svg = assert(folded.profile "main 1\n":export "svg")
         :gsub("const back =", "const wrong = x.y, back =")
      local seen = viewers.look(svg, "svg", "")
      assert.matches("x is not defined", seen.errors[1])
   end)

   it("is written for timelines too", function()
      local trace <close> = events.open [[
0 enter main a
2 enter f a
8 leave f a
10 leave main a
]]
      assert.same({ "all 10 0", "main 10 4", "f 6 6" }, titles(assert(trace:export "svg")))
   end)
end)
