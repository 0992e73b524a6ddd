-- The page of export html copies what is selected, and saves files.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local csv = require "spec.support.csv"
local events = require "spec.support.events"
local folded = require "spec.support.folded"
local profio = require "profio"
local sampled = require "spec.support.sampled"
local viewers = require "spec.support.viewers"
local xpp = require "spec.support.xpp_builder"

local it_looks = viewers.it_browses(it, pending)

local look = viewers.told

-- Functions of the programs: copied() returns what was copied last, saved() the last file as its
-- name and text, or for a picture its name, size and colour of the first pixel.
local tools = [==[
   await look(() => {
      window.copied = null;
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => {
         window.copied = text;
      } } });
      const create = URL.createObjectURL;
      URL.createObjectURL = blob => {
         window.blob = blob;
         return create.call(URL, blob);
      };
      HTMLAnchorElement.prototype.click = function () { window.file = this.download; };
   });
   const copied = () => look(async () => {
      await new Promise(done => setTimeout(done));
      return [window.copied, document.getElementById('spoken').textContent,
         document.getElementById('stated').textContent];
   });
   const saved = () => look(async () => [window.file, window.blob.type, await window.blob.text()]);
   const copy = async () => {
      await tab.keyboard.down('Control');
      await tab.keyboard.press('c');
      await tab.keyboard.up('Control');
      return copied();
   };
   const press = (section, text) => look((section, text) => {
      for (const one of document.querySelectorAll(`#${section} button`)) {
         if (one.textContent === text) { one.click(); return; }
      }
      throw new Error(text);
   }, section, text);
]==]

-- Returns the records of a csv text; lines end as RFC 4180 states.
local function rows_of(text)
   assert(not text:gsub("\r\n", ""):find "[\r\n]" and text:find "\r\n$")
   return csv.parse((text:gsub("\r\n", "\n")))
end

-- Returns the lines of a text in alphabetical order: functions of equal weight have no order.
local function sorted(text)
   local lines = {}
   for line in text:gmatch "[^\r\n]+" do
      lines[#lines + 1] = line
   end
   table.sort(lines)
   return lines
end

local stacks = "main;a;b 30\nmain;c;b 60\nmain 10\nmain;c;d 5\n"

describe("the page", function()
   it_looks("copies the selected frame, the table with the focus, or the function", function()
      local told = look(assert(folded.profile(stacks):export "html"), tools .. [==[
         tell('nothing', await copy());
         await look(() => page.select(page.data.functions.name.indexOf('c')));
         tell('function', await copy());
         await look(() => document.querySelector('#functions .wide').focus());
         tell('table', await copy());
         await look(() => document.querySelector('#flames canvas').focus());
         await tab.keyboard.press('ArrowDown');
         await tab.keyboard.press('ArrowDown');
         tell('frame', await copy());
         await press('flames', 'Copy stack');
         tell('stack', await copied());
         await look(() => document.getElementById('find').focus());
         await look(() => { window.copied = 'before'; });
         tell('field', await copy());
         await look(() => document.activeElement.blur());
         await look(() => getSelection().selectAllChildren(document.querySelector('h1')));
         tell('text', await copy());]==])
      assert.is_nil(told.nothing[1])
      assert.same({ "c\nself: 0 ns, 0 %\ntotal: 65 ns, 61.9 %", "Copied the function",
         "Copied the function" }, told["function"])
      assert.same({ "a\t\t\t\t0\t0\t30\t1", "b\t\t\t\t90\t2\t90\t2", "c\t\t\t\t0\t0\t65\t2",
         "d\t\t\t\t5\t1\t5\t1", "function\tfile\tline\tcalls\tself time (ns)\tself samples\t"
         .. "total time (ns)\ttotal samples", "main\t\t\t\t10\t1\t105\t4" },
         sorted(told.table[1]))
      assert.equal("Copied functions", told.table[2])
      assert.equal("c\nself 0 ns, total 65 ns\n61.9 % of its parent, 61.9 % of all",
         told.frame[1])
      assert.same({ "main\nc", "Copied a stack of 2", "Copied a stack of 2" }, told.stack)
      assert.equal("before", told.field[1])
      assert.equal("before", told.text[1])
   end)

   it_looks("copies where pages have no clipboard, and the address with its state", function()
      local told = look(assert(folded.profile(stacks):export "html"), tools .. [==[
         await look(() => {
            Object.defineProperty(navigator, 'clipboard', { value: undefined });
         }).catch(() => {});
         await look(() => {
            document.execCommand = word => {
               window.copied = word + ' ' + document.activeElement.value;
               return true;
            };
            navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
            page.set({ order: 'inverted' });
            page.set({ find: 'b' }, true);
         });
         await press('bar', 'Copy link');
         tell('link', await copied());
         tell('rest', await look(() => document.querySelectorAll('textarea').length));]==])
      assert.matches("^copy file:///.*%.html#find=b&order=inverted$", told.link[1])
      assert.equal("Copied the address", told.link[2])
      assert.equal(0, told.rest)
   end)

   it_looks("saves the functions and their callers as csv, all rows with exact numbers", function()
      math.randomseed(83)
      local lines = { 'operator"", [x];main 7\n' }
      for i = 1, 100 do
         lines[#lines + 1] = ("main;f%d %d\n"):format(i, i * 1000003)
      end
      local profile = folded.profile(table.concat(lines))
      local told = look(assert(profile:export "html"), tools .. [==[
         await press('functions', 'CSV');
         tell('functions', await saved());
         await look(() => page.select(page.data.functions.name.indexOf('main')));
         await press('details', 'Callers: CSV');
         tell('callers', await saved());
         await press('details', 'Callees: CSV');
         tell('callees', await saved());]==])
      assert.matches("functions%.csv$", told.functions[1])
      assert.equal("text/csv", told.functions[2])
      assert.matches('\r\n"operator"""", [x]",,,,0,0,7,1\r\n', told.functions[3], 1, true)
      local rows = rows_of(told.functions[3])
      assert.same({ "function", "file", "line", "calls", "self time (ns)", "self samples",
         "total time (ns)", "total samples" }, rows[1])
      local totals = {}
      for name, self, total in profile:flat { zeros = true }:each("function", "self", "total") do
         totals[name] = self .. " " .. total
      end
      assert.equal(103, #rows)
      for i = 2, #rows do
         assert.equal(totals[rows[i][1]], rows[i][5] .. " " .. rows[i][7])
      end
      assert.equal('function,file,line,total time (ns)\r\n"operator"""", [x]",,,7\r\n',
         told.callers[3])
      assert.equal(101, #rows_of(told.callees[3]))
      assert.equal("100000300", rows_of(told.callees[3])[2][4])
   end)

   it_looks("saves the longest calls of a timeline, which samples do not have", function()
      local trace <close> = events.open "10 enter f\n20 enter g\n35 leave g\n50 leave f\n"
      local save = tools .. "await press('functions', 'CSV'); tell('csv', await saved());"
      local rows = rows_of(look(assert(trace:export "html"), save).csv[3])
      assert.same({ "function", "longest call (ns)" }, { rows[1][1], rows[1][#rows[1]] })
      local longest = {}
      for i = 2, #rows do
         longest[rows[i][1]] = rows[i][#rows[i]]
      end
      assert.same({ f = "40", g = "15" }, longest)
      local samples <close> = assert(profio.open { data = sampled.perf(20) })
      local told = look(assert(samples:export "html"), save .. [==[
         tell('heads', await look(() => document.querySelector('#functions thead').innerText));]==])
      assert.is_nil(told.csv[3]:find("longest", 1, true))
      assert.is_nil(told.heads:find("Longest", 1, true))
   end)

   it_looks("saves both sides of a difference", function()
      local new, old = folded.profile "main;f 50\n", folded.profile "main;f 20\nmain;g 600\n"
      local told = look(assert((new - old):export "html"), tools .. [==[
         await press('functions', 'CSV');
         tell('functions', await saved());
         await look(() => page.select(page.data.functions.name.indexOf('main')));
         await press('details', 'Callees: CSV');
         tell('callees', await saved());]==])
      assert.same({ "f,,,,50,20,50,20", "function,file,line,calls,self after (ns),"
         .. "self before (ns),total after (ns),total before (ns)", "g,,,,0,600,0,600",
         "main,,,,0,0,50,620" }, sorted(told.functions[3]))
      assert.same({ "f,,,20,50", "function,file,line,total before (ns),total after (ns)",
         "g,,,600,0" }, sorted(told.callees[3]))
   end)

   it_looks("saves hot lines, and the calls by line and by parameters", function()
      local source = command.file("copied.c", 'one\ntwo\n  a, "b"\n')
      profio.register {
         name = "copied", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
         open = function()
            return { events = function(put)
               local area = { name = "f", file = source, line = 3 }
               put(0, "enter", area)
               put(5, "leave", area)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "copied" }))
      local told = look(assert(trace:export "html"), tools .. [==[
         await press('lines', 'CSV');
         tell('lines', await saved());]==])
      assert.same({ { "file", "line", "function", "self (ns)", "source" },
         { source, "3", "f", "5", '  a, "b"' } }, rows_of(told.lines[3]))
      local calls <close> = assert(profio.open(command.file("copied.txt", xpp.text({
         { 1, 0, "i", "MAIN", 1 }, { 1, 5, "i", "SEEK", 120, "KEY,1" }, { 1, 15, "o", "SEEK", 120 },
         { 1, 20, "o", "MAIN", 1 } }, {}))))
      told = look(assert(calls:export "html"), tools .. [==[
         await look(() => page.select(page.data.functions.name.indexOf('SEEK')));
         await look(() => document.querySelectorAll('#values button').forEach(one => {
            if (one.textContent === 'CSV') { one.click(); window.all = [...(window.all || []),
               window.blob]; }
         }));
         tell('values', await look(async () => Promise.all(window.all.map(one => one.text()))));
      ]==])
      assert.same({
         "line,caller,source,calls,time (ns),longest (ns)\r\n120,MAIN,,1,10000000,10000000\r\n",
         'parameters,calls,time (ns),longest (ns)\r\n"KEY,1",1,10000000,10000000\r\n' },
         told.values)
   end)

   it_looks("copies a selected call and its stack", function()
      local trace <close> = events.open("0 enter main t\n100 enter a t\n300 leave a t\n" ..
         "1000 leave main t\n")
      local told = look(assert(trace:export "html"), tools .. [==[
         await look(() => {
            const track = page.tracks.list[0];
            page.select_call(track, Array.from(track.start).indexOf(100));
         });
         tell('call', await copy());
         await press('call', 'Copy stack');
         tell('stack', await copied());]==])
      assert.matches("^a\nlane: t\nbegin: .*\nfrom begin to end: 200 ns\n", told.call[1])
      assert.equal("Copied the call", told.call[2])
      assert.equal("main\na", told.stack[1])
   end)

   it_looks("saves pictures", function()
      math.randomseed(84)
      local trace <close> = events.open((events.program(300)))
      local told = look(assert(trace:export "html"), tools .. [==[
         await look(() => document.getElementById('call-graph').scrollIntoView());
         await tab.waitForFunction(() => page.call_graph.plan() !== null);
         for (const [section, surface] of [['flames', 'flames'], ['call-graph', 'call_graph'],
            ['timeline', 'timeline']]) {
            await look(() => { window.blob = null; });
            await press(section, 'PNG');
            await tab.waitForFunction(() => window.blob && window.file.endsWith('png'));
            tell(section, await look(async surface => {
               const image = await createImageBitmap(window.blob);
               const pen = new OffscreenCanvas(image.width, image.height).getContext('2d');
               pen.drawImage(image, 0, 0);
               const colors = new Set();
               const all = pen.getImageData(0, 0, image.width, image.height).data;
               for (let i = 0; i < all.length; i += 4) { colors.add(all.slice(i, i + 4).join()); }
               return [window.file, image.width / page[surface].surface.width(),
                  image.height - 2 * Math.ceil(page[surface].surface.height), colors.size > 8];
            }, surface));
         }]==])
      for section, name in pairs { flames = "flame-graph", ["call-graph"] = "call-graph",
         timeline = "timeline" } do
         assert.matches(name .. ".png", told[section][1], 1, true)
         assert.same({ 2, 0, true }, { table.unpack(told[section], 2) })
      end
   end)

   it_looks("saves the flame graph and the call graph as svg with their texts", function()
      local profile = folded.profile('main;a<"&> 30\nmain;\1b 60\n')
      local told = look(assert(profile:export "html"), tools .. [==[
         await look(() => document.getElementById('call-graph').scrollIntoView());
         await tab.waitForFunction(() => page.call_graph.plan() !== null);
         for (const section of ['flames', 'call-graph']) {
            await press(section, 'SVG');
            tell(section, await saved());
         }]==])
      for _, section in ipairs { "flames", "call-graph" } do
         local name, kind, text = table.unpack(told[section])
         assert.matches("%.svg$", name)
         assert.equal("image/svg+xml", kind)
         assert.matches(">a&#60;&#34;&#38;&#62;</text>", text, 1, true)
         assert.matches(">main</text>", text, 1, true)
         assert.is_nil(text:find("hsl", 1, true))
         if viewers.has_xml then
            assert.is_true(viewers.xml(text))
         end
         local shown = viewers.look(text, "svg", [[
            tell('texts', Array.from(document.querySelectorAll('text'), one => one.textContent));
            tell('wide', Array.from(document.querySelectorAll('rect'), one =>
               one.getBoundingClientRect().width > 0).every(Boolean));]])
         assert.same({}, shown.errors)
         assert.is_true(shown.told.wide and #shown.told.texts >= 4)
      end
      assert.matches(">30 ns</text>", told["call-graph"][3], 1, true)
   end)

   it_looks("has buttons that screen readers and narrow windows suit", function()
      local trace <close> = events.open "0 enter main t\n1000 leave main t\n"
      for _, width in ipairs { 1280, 390 } do
         local told = look(assert(trace:export "html"), [==[
            await look(() => page.select(0));
            tell('axe', await axe());
            tell('over', await look(() =>
               document.documentElement.scrollWidth > window.innerWidth));]==], { width = width })
         assert.same({}, told.axe)
         assert.is_false(told.over)
      end
   end)
end)
