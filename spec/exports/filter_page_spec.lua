-- Filters in the page of export html: its numbers equal those of --focus, --ignore and --hide of
-- the command and of profile:prune, if the page has all contexts.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local context_tree = require "profio.exports.context_tree"
local events = require "spec.support.events"
local folded = require "spec.support.folded"
local gmon = require "spec.support.gmon_builder"
local json = require "dkjson"
local profile_parts = require "profio.internal.bodies.profile_parts"
local profiles = require "profio.internal.bodies.profile_methods"
local profio = require "profio"
local protobuf = require "spec.support.protobuf"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

local look = viewers.told

local ROUNDS = 60

-- Asks the page for the totals and the table of functions of each list of filters.
local asked = [==[
   tell('filtered', await look(list => list.map(given => {
      page.filters.clear();
      page.set(given);
      const { metrics, table, about } = page.profile, rows = {};
      const totals = metrics.map(({ total }) => total);
      table.function.forEach((fn, row) => {
         rows[page.name(fn)] = { self: table.self.map(list => list[row]),
            total: table.total.map(list => list[row]), calls: table.calls[row] };
      });
      return { totals, rows, about, problems: page.filters.problems };
   }), %s));]==]

local function pick(list)
   return list[math.random(#list)]
end

-- Returns random filters: as fields of the page's state, and as a function of a profile. A function
-- is named, or found by a pattern.
local function random_filters(names, patterns, with_drop)
   local fields, changes = {}, {}
   for _, word in ipairs { "focus", "ignore", "hide" } do
      local texts = {}
      for i = 1, math.random(0, word == "hide" and 3 or 1) do
         local pattern = math.random(3) == 1 and pick(patterns)
         texts[i] = pattern and "~" .. pattern or pick(names)
         local wanted = pattern and profio.match(pattern) or texts[i]
         changes[#changes + 1] = function(profile)
            return profile[word](profile, wanted)
         end
      end
      fields[word] = table.concat(texts, "\n")
   end
   local share = with_drop and pick { "", "0.5", "1", "5", "20" } or ""
   fields.drop = share
   return fields, function(profile)
      for _, change in ipairs(changes) do
         profile = change(profile)
      end
      return share == "" and profile or profile:prune(tonumber(share) / 100)
   end
end

-- Compares what the page says with a profile: totals of metrics, and self, total and calls of each
-- function.
local function compare(said, profile)
   assert.equal("", said.about)
   local left = {}
   for name, row in pairs(said.rows) do
      left[name] = row
   end
   for m, metric in ipairs(profile:metrics()) do
      assert.equal(metric.total, said.totals[m], metric.name)
      for row in profile:flat { metric = metric.name, zeros = true }:records() do
         local name = row["function"]
         local one = said.rows[name] or { self = {}, total = {} }
         left[name] = nil
         assert.same({ row.self, row.total }, { one.self[m] or 0, one.total[m] or 0 }, name)
         if metric.name == "calls" then
            assert.equal(row.calls, one.calls or 0, name)
         end
      end
   end
   assert.same({}, left)
end

-- Returns the profile of random samples as Go writes them: functions with files, lines of calls,
-- and functions that are inlined.
local function go_like()
   local text, parts, number, message = protobuf.texts(), {}, protobuf.number, protobuf.message
   local names = { "main.main", "main.(*T).work", "runtime.mallocgc", "runtime.gc", "main.walk" }
   local lines = {}
   for _, metric in ipairs { { "samples", "count" }, { "cpu", "nanoseconds" } } do
      parts[#parts + 1] = message(1, number(1, text(metric[1])), number(2, text(metric[2])))
   end
   for id = 1, 12 do
      lines[id] = { number(1, math.random(#names)), number(2, 10 * id) }
      local inner = message(4, table.concat(lines[id]))
      local outer = id > 9 and message(4, table.concat(lines[id - 9])) or ""
      parts[#parts + 1] = message(4, number(1, id), number(3, 0x1000 + id), inner, outer)
   end
   for i, name in ipairs(names) do
      parts[#parts + 1] = message(5, number(1, i), number(2, text(name)), number(3, text(name)),
         number(4, text(name:match "^%a+" .. ".go")), number(5, i))
   end
   for _ = 1, 300 do
      local stack = {}
      for i = 1, math.random(8) do
         stack[i] = math.random(12)
      end
      local count = math.random(9)
      parts[#parts + 1] = message(2, protobuf.packed(1, stack),
         protobuf.packed(2, { count, count * 10000000 }))
   end
   local bytes = table.concat(parts) .. text.fields()
   local trace <close> = assert(profio.open({ data = bytes }, { format = "pprof" }))
   return assert(trace:profile()), names
end

-- Returns folded stacks without recursion: a function that is called again goes back to its first
-- frame.
local function without_recursion(text)
   return (text:gsub("([^\n]*) (%d+)\n", function(stack, weight)
      local list, place = {}, {}
      for name in stack:gmatch "[^;]+" do
         for i = #list, place[name] or #list + 1, -1 do
            place[list[i]], list[i] = nil, nil
         end
         list[#list + 1] = name
         place[name] = #list
      end
      return table.concat(list, ";") .. " " .. weight .. "\n"
   end))
end

-- Compares random filters of a page with those of a profile.
local function compare_random(profile, page, names, patterns, with_drop)
   local asks, changes = {}, {}
   for i = 1, ROUNDS do
      asks[i], changes[i] = random_filters(names, patterns, with_drop)
   end
   local told = look(page, asked:format(json.encode(asks)))
   for i, change in ipairs(changes) do
      compare(told.filtered[i], change(profile))
   end
end

describe("filters of a page", function()
   it_looks("have the numbers of profile:focus, ignore, hide and prune: folded stacks", function()
      math.randomseed(101)
      local profile = folded.profile(folded.random(300))
      compare_random(profile, assert(profile:export "html"), { "main", "parse", "read", "print",
         "operator new(unsigned long)", "a.b:c", "Zoë", "no such function" },
         { "^pr", "n", "[(:]", "^Zo..$", "e.d$", "%u" }, true)
   end)

   it_looks("merge recursion into the outermost frame", function()
      assert.equal("a;c 1\nmain;a 2\na 3\n", without_recursion "a;b;a;c 1\nmain;a;b;a;a 2\na;a 3\n")
      math.randomseed(104)
      local lines = folded.random(300)
      local told = look(assert(folded.profile(lines):export "html"), asked:format(json.encode {
         { merge = "1" }, { merge = "1", drop = "5" } }))
      local truth = folded.profile(without_recursion(lines))
      compare(told.filtered[1], truth)
      compare(told.filtered[2], truth:prune(0.05))
   end)

   it_looks("have them for a profile as Go writes it", function()
      math.randomseed(102)
      local profile, names = go_like()
      compare_random(profile, assert(profile:export "html"), names, { "^main%.", "gc$", "%(" })
      -- The page drops the frames that it shows: those of a function under one caller together.
      local shown = profiles.of_contexts(context_tree.by_function(profile_parts.contexts(profile)))
      compare_random(shown, assert(profile:export "html"), names, { "^main%." }, true)
   end)

   it_looks("have them for a trace of events, and in a range of it", function()
      math.randomseed(103)
      local trace <close> = events.open((events.program(3000)))
      local profile, names = assert(trace:profile()), {}
      for name in profile:flat():each "function" do
         names[#names + 1] = name
      end
      local page = assert(trace:export "html")
      compare_random(profile, page, names, { "%d$", "^" .. names[1]:sub(1, 1) }, true)
      local ends = trace.events:aggregate { "first = min(time)", "last = max(time)" }:rows()[1]
      local middle = (ends.last - ends.first) // 2
      local told = look(page, asked:format(json.encode { { range = "0-" .. middle,
         hide = names[1] }, { range = "", focus = names[2] } }))
      local said = look(page, ([==[
         await look(range => page.set({ range }), '0-%d');
         await look(name => page.set({ focus: name }), '%s');
         tell('measure', await look(() => document.querySelector('#measure').innerText));
         tell('amount', await look(() => page.amount(page.profile.metrics[0].total,
            0)));]==]):format(
         middle, names[1]))
      assert.matches("s time " .. said.amount:gsub("%p", "%%%0") .. ",.* with filters All times",
         said.measure)
      compare(told.filtered[1], assert(trace:profile { from = ends.first,
         to = ends.first + middle }):hide(names[1]))
      compare(told.filtered[2], profile:focus(names[2]))
   end)

   it_looks("are those of the options of the command", function()
      math.randomseed(105)
      command.file("filters.folded", folded.random(200))
      local page = command.fine "profio --export html filters.folded"
      local options = { { { focus = "parse", hide = "read" }, "--focus parse --hide read" },
         { { ignore = "~^pr\nread", hide = "~n$" }, "--ignore '~^pr' --ignore read --hide '~n$'" } }
      local told = look(page, asked:format(json.encode { options[1][1], options[2][1] }))
      for i, one in ipairs(options) do
         local text = command.fine("profio --report flat --output json " .. one[2]
            .. " filters.folded")
         local rows = json.decode(text)
         assert.is_true(#rows > 2)
         for _, row in ipairs(rows) do
            local said = told.filtered[i].rows[row["function"]]
            assert.same({ row.self, row.total }, { said.self[1], said.total[1] })
         end
      end
   end)

   it_looks("are set by buttons, keys, text and a link, and taken back", function()
      local stacks = "main;a;b 30\nmain;c;b 60\nmain 10\n~T;c 5\ntime=1;a 3\n"
      local told = look(assert(folded.profile(stacks):export "html"), [==[
         const address = () => look(() => decodeURIComponent(location.hash));
         const row = () => look(() => document.getElementById('filters').innerText);
         const click = (selector, word) => look((s, w) => Array.from(document.querySelectorAll(s))
            .find(button => button.textContent === w).click(), selector, word);
         tell('closed', await look(() => document.getElementById('filters').hidden));
         await look(() => page.select(page.data.functions.name.indexOf('c')));
         await click('.filter-by button', 'Focus');
         tell('focus', [await address(), await row(),
            await look(() => page.profile.metrics[0].total)]);
         await look(() => document.querySelector('.chips button').click());
         tell('removed', await address());
         await tab.goBack();
         tell('back', await address());
         await look(() => page.filters.clear());
         await look(() => page.set({ select: '' }));
         await look(() => document.querySelector('#flames canvas').focus());
         for (const key of ['ArrowDown', 'ArrowDown', 'h']) { await tab.keyboard.press(key); }
         tell('hidden', [await address(), await look(() =>
            document.getElementById('spoken').textContent)]);
         await look(() => page.filters.clear());
         tell('cleared', await look(() => document.getElementById('filters').hidden));
         await look(() => document.getElementById('filter').click());
         tell('active', await look(() => document.activeElement.id));
         await tab.keyboard.type('^[ab]$');
         await tab.keyboard.press('Enter');
         tell('typed', await address());
         await tab.keyboard.type('~(');
         await tab.keyboard.press('Enter');
         tell('wrong', await row());
         await look(() => page.filters.clear());
         for (const name of ['~T', 'time=1']) {
            await look(fn => page.filters.add_function('ignore',
               page.data.functions.name.indexOf(fn)), name);
         }
         tell('tilde', [await look(() => page.state.ignore), await look(() =>
            page.profile.metrics[0].total)]);]==])
      assert.is_true(told.closed)
      assert.equal("#select=c&focus=c", told.focus[1])
      assert.matches("focus: c", told.focus[2], 1, true)
      assert.matches("65 ns of time", told.focus[2], 1, true)
      assert.equal(65, told.focus[3])
      assert.equal("#select=c", told.removed)
      assert.equal("#select=c&focus=c", told.back)
      assert.same({ "#hide=c", "hide c: 108 ns of time" }, told.hidden)
      assert.is_true(told.cleared)
      assert.equal("filtered", told.active)
      assert.equal("#focus=~^[ab]$&filters=1", told.typed)
      assert.matches("focus: ~(: a ) is missing", told.wrong, 1, true)
      assert.same({ "~^~T$\n~^time=1$", 100 }, told.tilde)
   end)

   it_looks("have the numbers of both sides of a comparison", function()
      math.randomseed(108)
      local new = folded.profile(folded.random(100) .. "main;rare 1\n")
      local old = folded.profile(folded.random(100) .. "main;rare 90000\n")
      local told = look(assert((new - old):export "html"), asked:format(json.encode {
         { focus = "parse", hide = "read\n~^pr" }, { drop = "5" } }) .. [==[
         await look(() => page.set({ drop: '', find: 'rare' }));
         tell('found', await look(() => document.getElementById('count').textContent));]==])
      for i, side in ipairs { new, old } do
         side = side:focus("parse"):hide("read"):hide(profio.match "^pr")
         for name, self, total in side:flat():each("function", "self", "total") do
            local row = told.filtered[1].rows[name]
            assert.same({ self, total }, { row.self[i], row.total[i] }, name)
         end
         assert.equal(side:metrics()[1].total, told.filtered[1].totals[i])
      end
      assert.same({ 1, 90000 }, told.filtered[2].rows.rare.self) -- small on one side only
      assert.matches("^self 90 µs → 1 ns %(%-100 %%%), total 90 µs → 1 ns %(%-100 %%%), 1 of",
         told.found)
   end)

   it_looks("leave what the search says of the total of functions", function()
      math.randomseed(109)
      local profile = folded.profile(folded.random(300))
      local whole = profile:metrics()[1].total
      local told = look(assert(profile:export "html"), [==[
         tell('found', await look(() => ['^pr', 'n', 'e.d$', '%u', '^main$'].map(find => {
            page.set({ find, pattern: 1 });
            return [find, document.getElementById('count').textContent];
         })));]==])
      for _, row in ipairs(told.found) do
         local share = profile:focus(profio.match(row[1])):metrics()[1].total / whole
         local said = row[2]:match "([%d.]+) %% of total"
         assert.is_true(math.abs(tonumber(said) - 100 * share) < 0.0051, row[2])
      end
   end)

   it_looks("say that they are estimates where contexts are left out", function()
      math.randomseed(106)
      local profile = folded.profile(folded.random(2000))
      local size = #assert(profile:export("html", nil, { size = 1 })) + 20000
      local page = assert(profile:export("html", nil, { size = size }))
      local told = look(page, asked:format(json.encode { { focus = "parse" }, { hide = "read" },
         { drop = "" } }) .. [==[
         await look(() => page.set({ hide: 'read' }));
         tell('row', await look(() => document.getElementById('filters').innerText));
         await look(() => page.set({ hide: '', find: 'parse' }));
         tell('found', await look(() => document.getElementById('count').textContent));]==])
      for i = 1, 2 do
         assert.matches("^the page leaves out [%d,]+ small contexts", told.filtered[i].about)
      end
      assert.equal("", told.filtered[3].about)
      assert.matches("\u{2248}: the page leaves out", told.row, 1, true)
      assert.matches("at least [%d.]+ %% of total", told.found)
   end)

   it_looks("are not offered without stacks, and the page says so", function()
      local bytes = gmon("<", 8):header():histogram { low = 0x1000, high = 0x1200,
         bins = { 10, 30 } }:arc(0x1010, 0x1100, 1):bytes()
      local trace <close> = assert(profio.open({ data = bytes }, { symbols =
         command.file("page.nm", "0000000000001000 T main\n0000000000001100 T a\n") }))
      local told = look(assert(trace:export "html"), [==[
         await look(() => page.set({ find: 'main', focus: 'main' }));
         tell('seen', await look(() => [document.getElementById('filter') === null,
            document.getElementById('flames').innerText,
            page.profile.metrics[page.data.usual].total,
            document.getElementById('count').textContent]));]==])
      assert.is_true(told.seen[1])
      assert.matches("has no stacks, so this page cannot focus", told.seen[2], 1, true)
      assert.equal(400000000, told.seen[3])
      assert.equal("25 % of self, 1 of 2 functions", told.seen[4])
   end)

   it_looks("suit screen readers and all eyes", function()
      math.randomseed(107)
      local page = assert(folded.profile(folded.random(200)):export "html")
      for _, scheme in ipairs { "light", "dark" } do
         for _, width in ipairs { 1280, 390 } do
            local told = look(page, [==[
               await look(() => document.querySelector('#filters details').open = true);
               await wait();
               tell('axe', await axe());
               tell('over', await look(() =>
                  document.documentElement.scrollWidth > window.innerWidth));]==],
               { scheme = scheme, width = width, fragment = "#find=pr&select=parse&hide=read%0A~x"
                  .. "&focus=parse&merge=1&drop=0.5" })
            assert.same({}, told.axe)
            assert.is_false(told.over)
         end
      end
   end)
end)
