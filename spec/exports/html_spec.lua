-- Reports as HTML pages, as Chromium shows them.

local command = require "spec.support.command"
local events = require "spec.support.events"
local folded = require "spec.support.folded"
local json = require "dkjson"
local names = require "spec.support.names"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.has_chromium and it or function(name)
   pending(name .. " (needs chromium)")
end

-- Script that returns the contents of the table, and how it is sorted.
local read_table = [[
   function table() {
      return Array.from(document.querySelectorAll('#functions tbody tr')).map(function (row) {
         return Array.from(row.cells).map(function (cell) { return cell.textContent; });
      });
   }
   function column(n) { return table().map(function (row) { return row[n]; }); }
]]

local function report(text, options)
   return assert(folded.profile(text):export("html", nil, options))
end

describe("--export html", function()
   it_looks("shows the functions, sorts and filters them", function()
      local page = report "main;parse;read 5000\nmain;parse 3000000\nmain;print 7000\nmain 2000\n"
      local seen = viewers.look(page, "html", read_table .. [[
         tell('first', table());
         document.querySelectorAll('#functions th button')[0].click();
         tell('by_name', column(0));
         document.querySelectorAll('#functions th button')[3].click();
         tell('by_total', column(0));
         report.sort(5);
         tell('turned', column(0));
         var filter = document.getElementById('filter');
         filter.value = 'PR';
         filter.dispatchEvent(new Event('input'));
         tell('filtered', column(0));
         tell('count', document.getElementById('count').textContent);]])
      assert.same({}, seen.errors)
      local told = seen.told
      assert.equal(4, #told.first)
      assert.same({ "parse", "", "3.000 ms", "99.54 %", "3.005 ms", "99.70 %", "" }, told.first[1])
      assert.same({ "main", "parse", "print", "read" }, told.by_name)
      assert.same({ "main", "parse", "print", "read" }, told.by_total)
      assert.same({ "read", "print", "parse", "main" }, told.turned)
      assert.same({ "print" }, told.filtered)
      assert.equal("1 of 4", told.count)
   end)

   it_looks("has a flame graph that zooms", function()
      local seen = viewers.look(report "main;a;b 30\nmain;c 60\nmain 10\n", "html", [[
         var flames = document.querySelector('svg.flames').flames;
         function frame(name) {
            return flames.frames.find(function (g) { return g.name === name; });
         }
         tell('names', flames.frames.map(function (g) { return g.name; }));
         flames.to(frame('a'));
         tell('gone', flames.box(frame('c')));]])
      assert.same({}, seen.errors)
      assert.same({ "all", "main", "a", "b", "c" }, seen.told.names)
      assert.is_nil(seen.told.gone)
   end)

   it_looks("draws lanes, and says what is under the pointer", function()
      local trace <close> = events.open [[
0 enter main one
100 enter f one
400 leave f one
500 enter g two
900 leave g two
1000 leave main one
]]
      local seen = viewers.look(assert(trace:export "html"), "html", [==[
         var data = JSON.parse(document.getElementById('data').textContent);
         tell('lanes', data.lanes.map(function (l) { return [l.name, l.depth, l.load.length]; }));
         tell('calls', data.calls.map(function (c) {
            return [data.lanes[c[0]].name, data.names[c[4]], c[1], c[2], c[3]]; }));
         var canvas = document.getElementById('timeline'), wide = canvas.clientWidth;
         var row = report.lanes[0].top + 18 + 22;
         function under(x, y) { var c = report.hit(x, y); return c && data.names[c[4]]; }
         tell('hits', [under(wide / 5, row + 4), under(wide / 5, row + 20),
            under(wide / 2, row + 20)]);
         tell('zoomed', report.zoom(100, 400));
         tell('under', under(wide / 2, row + 20));
         tell('span', document.getElementById('span').textContent);
         document.getElementById('all').click();
         tell('all', document.getElementById('span').textContent);
         var pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
         tell('painted', pixels.some(function (value) { return value > 0; }));]==])
      assert.same({}, seen.errors)
      local told = seen.told
      assert.same({ { "one", 2, 1000 }, { "two", 1, 1000 } }, told.lanes)
      assert.same({ { "one", "main", 1, 0, 1000 }, { "two", "g", 1, 500, 400 },
         { "one", "f", 2, 100, 300 } }, told.calls)
      assert.same({ "main", "f" }, { told.hits[1], told.hits[2] })
      assert.is_nil(told.hits[3])
      assert.same({ from = 100, to = 400 }, told.zoomed)
      assert.equal("f", told.under)
      assert.equal("100 ns – 400 ns", told.span)
      assert.equal("0 ns – 1.000 µs", told.all)
      assert.is_true(told.painted)
   end)

   it("has calls in their lanes and states in one for each variable, lanes in order", function()
      local trace <close> = events.open [[
0 enter f task10
1 enter state:mode=1 core
2 write variable:rpm core 7
3 enter g task9
4 enter state:mode=2 core
7 leave f task10
9 leave g task9
]]
      local page = assert(trace:export "html")
      local data = json.decode(page:match 'id="data">(.-)</script>')
      local titles, calls = {}, {}
      for i, lane in ipairs(data.lanes) do
         titles[i] = lane.name
      end
      for i, call in ipairs(data.calls) do
         calls[i] = ("%s in %s: %d %d"):format(data.names[call[5] + 1], titles[call[1] + 1],
            call[3], call[4])
      end
      table.sort(calls)
      assert.same({ "task9", "task10", "mode (states)" }, titles)
      assert.same({ "f in task10: 0 7", "g in task9: 3 6", "mode=1 in mode (states): 1 3",
         "mode=2 in mode (states): 4 5" }, calls)
   end)

   it_looks("shows names that no page likes", function()
      local trace <close> = names.open()
      local seen = viewers.look(assert(trace:export "html"), "html", read_table .. [[
         tell('names', column(0));]])
      assert.same({}, seen.errors)
      local found = {}
      for _, name in ipairs(seen.told.names) do
         found[name] = true
      end
      for _, name in ipairs(names.list) do
         assert.is_true(found[names.utf8(name)], name:sub(1, 40))
      end
   end)

   it("makes no network request", function()
      local trace <close> = names.open()
      local page = assert(trace:export "html"):gsub("http://www.w3.org/2000/svg", "")
      assert.is_nil(page:find "https?://")
      assert.is_nil(page:find "@import")
      assert.is_nil(page:find "<link")
      assert.is_nil(page:find "<script[^>]+src")
   end)

   it("keeps to a few calls, however many there are", function()
      math.randomseed(51)
      local trace <close> = events.open((events.program(20000)))
      local page = assert(trace:export("html", nil, { calls = 50 }))
      local _, count = page:match('"calls":%[\n?(.-)%]%]'):gsub("%[", "")
      assert.equal(50, count)
      assert.matches("The 50 longest of %d+ calls are drawn%.", page)
   end)

   it("shows hot lines with the source around them", function()
      local source = command.file("hot.c", "one\ntwo\nthree <b>\nfour\nfive\nsix\nseven\n")
      profio.register {
         name = "hot", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
         open = function()
            return { events = function(put)
               local area = { name = "f", file = source, line = 3 }
               put(0, "enter", area)
               put(5, "leave", area)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "hot" }))
      local page = assert(trace:export "html")
      assert.matches('<td class="number">3</td><td class="source">three &lt;b&gt;</td>', page)
      assert.matches('<td class="number">5</td><td class="source">five</td>', page)
      assert.is_nil(page:find('<td class="number">6</td>', 1, true))
   end)

   it_looks("shows a difference by the size of its changes, with their signs", function()
      local new = folded.profile "main;f 50\nmain;g 10\nmain;h 300\n"
      local old = folded.profile "main;f 20\nmain;g 600\nmain;h 290\nmain 1\n"
      local page = assert((new - old):export("html", nil, { functions = 3 }))
      local seen = viewers.look(page, "html", read_table .. [==[
         tell('first', table().map(function (row) { return [row[0], row[2], row[3], row[5]]; }));
         report.sort(4);
         tell('turned', column(0));
         report.sort(5);
         tell('by_total', column(0));]==])
      assert.same({}, seen.errors)
      -- of all changes: 590 + 30 + 10 + 1 ns
      assert.same({ { "g", "-590 ns", "-93.50 %", "-93.50 %" },
         { "f", "30 ns", "4.75 %", "4.75 %" }, { "h", "10 ns", "1.58 %", "1.58 %" } },
         seen.told.first)
      assert.same({ "h", "f", "g" }, seen.told.turned)
      assert.same({ "g", "f", "h" }, seen.told.by_total)
      assert.matches("parts of the sum of all changes of self", page)
   end)

   it("is written for differences and for narrowed profiles", function()
      local page = assert((folded.profile "main;f 5\n" - folded.profile "main;f 2\nmain 1\n")
         :export "html")
      assert.matches('%["f",null,null,null,3,3%]', page)
      assert.matches('%["main",null,null,null,%-1,2%]', page)
      local narrow = command.run "profio --export html --focus work --symbols small.nm gmon.out"
      assert.matches('%["work",', narrow)
      assert.is_nil(narrow:find('["main",', 1, true))
   end)

   it("reports losses", function()
      local text, status = command.run "profio --export html cut.gmon"
      assert.equal(3, status)
      assert.matches('<li class="damage">.-<code>gmon%-', text)
   end)
end)
