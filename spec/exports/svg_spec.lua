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

-- Returns the texts of the tooltips of a picture, one for each frame.
local function titles(svg)
   local list = {}
   for i, frame in ipairs(flames.read(svg)) do
      list[i] = ("%s (%s)"):format(frame.name, frame.told)
   end
   return list
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

describe("--export svg", function()
   it("draws each frame with its share", function()
      local profile = folded.profile "main;parse;read 5000\nmain;parse 3000\nmain 2000\n"
      assert.same({ "all (10.000 us, 100.00%)", "main (10.000 us, 100.00%)",
         "parse (8.000 us, 80.00%)", "read (5.000 us, 50.00%)" },
         titles(assert(profile:export "svg")))
   end)

   it("writes weights with the unit of the metric, if it has one", function()
      for unit, expected in pairs { [""] = "5", B = "5 B", ms = "5 ms" } do
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
         assert.same({ "all (" .. expected .. ", 100.00%)", "f (" .. expected .. ", 100.00%)" },
            titles(assert(trace:export "svg")))
      end
   end)

   it("has colours for the change of the totals, which its tooltips show", function()
      local new = folded.profile "main;f 750\nmain;g 250\nmain;h 100\n"
      local old = folded.profile "main;f 250\nmain;g 700\nmain;h 100\nmain;gone 5\n"
      local svg = assert((new - old):export "svg")
      assert.same({ "all (1.100 us, 100.00%; before 1.055 us, +45 ns)",
         "main (1.100 us, 100.00%; before 1.055 us, +45 ns)",
         "f (750 ns, 68.18%; before 250 ns, +500 ns)",
         "g (250 ns, 22.73%; before 700 ns, -450 ns)",
         "h (100 ns, 9.09%; before 100 ns, +0 ns)" }, titles(svg))
      assert.matches("widths: total time of the new profile; colours: the change of the total", svg)
      local color = {}
      for _, frame in ipairs(flames.read(svg)) do
         color[frame.name] = frame.color
      end
      assert.same({ "#f54b4b", "#5c5cf5", "#f5f5f5" }, { color.f, color.g, color.h })
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
      assert.equal(("f (7 count, 100.00%%; before %d count, +%d count)"):format(math.mininteger,
         math.maxinteger), titles(svg)[2])
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
      assert.matches("<text class=\"note\"[^\n]*damaged: [^\n]*gmon%-", text)
      assert.matches("<desc>damaged: [^\n]*gmon%-[^\n]*</desc>", text)
      if viewers.has_xml then
         assert.same({ true, "" }, { viewers.xml(text) })
      end
   end)

   it("reads no more rows than its picture may have", function()
      local svg = assert(folded.profile(("f;"):rep(300) .. "g 10\n"):export("svg", nil,
         { rows = 20 }))
      assert.equal(20, #titles(svg))
   end)

   -- JavaScript: frame(name); mouse(kind, frame), which moves or clicks in the middle of a frame.
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
      function drawn() {
         var text = '';
         svg.querySelectorAll('.frames path').forEach(function (p) {
            text += p.getAttribute('d');
         });
         return text.split('z').length - 1;
      }
   ]]

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
      assert.equal("2 frames match, 40.00%", seen.told.hits)
      assert.equal(2, seen.told.matched)
      assert.matches("Invalid regular expression", seen.told.wrong)
      assert.same({ "", 0 }, seen.told.none)
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
         function over(name) {
            mouse('mousemove', frame(name));
            return words.querySelector('text').textContent;
         }
         tell('before', words.style.display);
         tell('x', over('x'));
         tell('shown', words.style.display);
         tell('b', over('b'));
         var box = words.getBoundingClientRect();
         tell('inside', box.left >= 0 && box.right <= window.innerWidth && box.top >= 0);
         document.documentElement.dispatchEvent(new MouseEvent('mousemove'));
         tell('after', words.style.display);]])
      assert.same({}, seen.errors)
      assert.same({ "none", "x (30 ns, 30.00%)", "", "none" }, { seen.told.before, seen.told.x,
         seen.told.shown, seen.told.after })
      assert.matches("^b+%.%. %(70 ns, 70.00%%%)$", seen.told.b)
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
         :gsub("var back =", "var back = x.y +")
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
      assert.same({ "all (10 ns, 100.00%)", "main (10 ns, 100.00%)", "f (6 ns, 60.00%)" },
         titles(assert(trace:export "svg")))
   end)
end)
