-- Flame graphs: as XML, and as Chromium shows them.

local command = require "spec.support.command"
local events = require "spec.support.events"
local folded = require "spec.support.folded"
local names = require "spec.support.names"
local viewers = require "spec.support.viewers"

local it_looks = viewers.has_chromium and it or function(name)
   pending(name .. " (needs chromium)")
end

-- The frames of a picture: { name, words about it }.
local function titles(svg)
   local list = {}
   for title in svg:gmatch "<title>(.-)</title>" do
      list[#list + 1] = title
   end
   return list
end

describe("--export svg", function()
   it("draws each frame with its share", function()
      local profile = folded.profile "main;parse;read 5000\nmain;parse 3000\nmain 2000\n"
      assert.same({ "all (10.000 us, 100.00%)", "main (10.000 us, 100.00%)",
         "parse (8.000 us, 80.00%)", "read (5.000 us, 50.00%)" },
         titles(assert(profile:export "svg")))
   end)

   it("tells how a difference grew and shrank", function()
      local new = folded.profile "main;f 750\nmain;g 250\n"
      local old = folded.profile "main;f 250\nmain;g 750\n"
      local svg = assert((new - old):export "svg")
      assert.matches("<title>f %(750 ns, 75.00%%; before 250 ns, %+50.00 points%)", svg)
      assert.matches("<title>g %(250 ns, 25.00%%; before 750 ns, %-50.00 points%)", svg)
      assert.matches("widths: the new profile", svg)
      local blue, red = svg:match '<title>g .-fill="(#%x+)"', svg:match '<title>f .-fill="(#%x+)"'
      assert.same({ "#4b4bf5", "#f54b4b" }, { blue, red })
   end)

   it("is XML, whatever names there are", function()
      local trace <close> = names.open()
      local svg = assert(trace:export("svg", nil, { title = "a <b> & c" }))
      if viewers.has_xml then
         assert.same({ true, "" }, { viewers.xml(svg) })
         assert.is_false((viewers.xml((svg:gsub("&lt;", "<", 1)))))
      end
      assert.is_truthy(svg:find("<title>semi;colon;s (30 ns", 1, true))
      assert.is_truthy(svg:find("a &lt;b&gt; &amp; c", 1, true))
   end)

   it("tells what was lost", function()
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

   it_looks("zooms into a frame and back", function()
      local svg = assert(folded.profile "main;a;b 30\nmain;c 60\nmain 10\n":export "svg")
      local seen = viewers.look(svg, "svg", [[
         var f = document.documentElement.flames;
         function frame(name) { return f.frames.find(function (g) { return g.name === name; }); }
         function width(name) { return +frame(name).querySelector('rect').getAttribute('width'); }
         tell('before', [width('main'), width('a'), width('c')]);
         frame('a').querySelector('rect').dispatchEvent(
            new MouseEvent('click', { bubbles: true }));
         tell('zoomed', [width('main'), width('a'), frame('c').classList.contains('gone'),
            frame('main').classList.contains('above'),
            getComputedStyle(frame('c')).display]);
         window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
         tell('after', [width('main'), width('a'), width('c')]);]])
      assert.same({}, seen.errors)
      assert.same({ 1180, 354, 708 }, seen.told.before)
      assert.same({ 1180, 1180, true, true, "none" }, seen.told.zoomed)
      assert.same(seen.told.before, seen.told.after)
   end)

   it_looks("searches by a regular expression, and counts no time twice", function()
      local svg = assert(folded.profile "read;readline 40\nmain 60\n":export "svg")
      local seen = viewers.look(svg, "svg", [[
         var f = document.documentElement.flames;
         var hits = document.querySelector('.hits');
         f.search('^read');
         tell('hits', hits.textContent);
         tell('matched', document.querySelectorAll('.match').length);
         f.search('(');
         tell('wrong', hits.textContent);
         f.search('');
         tell('none', [hits.textContent, document.querySelectorAll('.match').length]);]])
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

   it_looks("notices a script that fails", function()
      local svg = assert(folded.profile "main 1\n":export "svg")
         :gsub("var back =", "var back = x.y +")
      local seen = viewers.look(svg, "svg", "")
      assert.matches("x is not defined", seen.errors[1])
   end)

   it("is made of timelines too", function()
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
