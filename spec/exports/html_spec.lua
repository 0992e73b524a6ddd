-- Reports as HTML pages: their data, and what Chromium shows of them.
--
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local events = require "spec.support.events"
local folded = require "spec.support.folded"
local gmon = require "spec.support.gmon_builder"
local json = require "dkjson"
local names = require "spec.support.names"
local page_calls = require "spec.support.page_calls"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

-- Functions of the specs for the page: the cells of the table, and those of one column.
local read_table = [[
   const table = () => look(() => Array.from(document.querySelectorAll('#functions tbody tr'),
      row => Array.from(row.cells, cell => cell.textContent)));
   const column = async n => (await table()).map(row => row[n]);
   const press = async key => { await look(key => document.querySelector(
      `#functions thead button[value=${key}]`).click(), key); };
]]

local function report(text, options)
   return assert(folded.profile(text):export("html", nil, options))
end

local function data_of(page)
   return json.decode(page:match 'id="data">(.-)</script>')
end

describe("--export html", function()
   it_looks("shows the functions, sorts and filters them", function()
      local page = report "main;parse;read 5000\nmain;parse 3000000\nmain;print 7000\nmain 2000\n"
      local seen = viewers.browse(page, read_table .. [[
         tell('first', await table());
         await press('name');
         tell('by_name', await column(0));
         await press('total');
         await press('total');
         tell('turned', await column(0));
         await tab.type('#find', 'PR');
         tell('filtered', await column(0));
         tell('count', await look(() => document.getElementById('count').textContent));]])
      assert.same({}, seen.errors)
      local told = seen.told
      assert.equal(4, #told.first)
      assert.same({ "parse", "3 ms", "", "99.54 %", "3.005 ms", "", "99.7 %" },
         told.first[1])
      assert.same({ "main", "parse", "print", "read" }, told.by_name)
      assert.same({ "read", "print", "parse", "main" }, told.turned)
      assert.same({ "print" }, told.filtered)
      assert.equal("0.23 % of self, 0.23 % of total, 1 of 4 functions", told.count) -- 7 of 3014
   end)

   it_looks("shows names that no page likes", function()
      local trace <close> = names.open()
      local seen = viewers.browse(assert(trace:export "html"), [[
         await look(() => page.select(3));
         tell('names', await look(() => Array.from(document.querySelectorAll(
            '#functions tbody tr'), row => page.name(+row.dataset.id))));]])
      assert.same({}, seen.errors)
      assert.same({}, seen.requests)
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
      local page = assert(trace:export "html")
      assert.is_nil(page:find "https?://")
      assert.is_nil(page:find "@import")
      assert.is_nil(page:find "<link")
      assert.is_nil(page:find "<script[^>]+src")
   end)

   it("leaves calls out if they do not fit, and states how many", function()
      math.randomseed(51)
      local trace <close> = events.open((events.program(20000)))
      for _, room in ipairs { 20000, 110000 } do
         local size = viewers.page_size(trace, room)
         local page = assert(trace:export("html", nil, { size = size }))
         assert.is_true(#page <= size, #page)
         for _, track in ipairs(data_of(page).timeline.tracks) do
            local begun = 0
            for _, count in ipairs(track.begun) do
               begun = begun + count
            end
            assert.same({ track.calls, track.kept }, { begun, #page_calls.of(track) })
            assert.is_true(track.kept < track.calls)
         end
      end
   end)

   it("adds up arcs between functions of one name, and states how many are left out", function()
      command.file("twins.nm", "0000000000001000 T main\n0000000000001008 t helper\n"
         .. "0000000000001010 t helper\n0000000000001018 T leaf\n0000000000001020 T last\n")
      local bytes = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1020,
         bins = { 0, 0, 90, 0, 1, 0, 9, 0 } }:arc(0x1004, 0x1008, 5):arc(0x1005, 0x1010, 7)
         :arc(0x100c, 0x1018, 11):bytes()
      local trace <close> = assert(profio.open({ data = bytes },
         { symbols = command.folder .. "/twins.nm" }))
      local function arcs_of(options)
         local data, list = data_of(assert(trace:export("html", nil, options))), {}
         for i, arc in ipairs(data.arcs.list) do
            list[i] = ("%s %s %d"):format(data.functions.name[arc[1] + 1],
               data.functions.name[arc[2] + 1], arc[3])
         end
         return { left = data.arcs.left, table.unpack(list) }
      end
      assert.same({ left = 0, "main helper 12", "helper leaf 11" }, arcs_of {})
      assert.same({ left = 2, "helper leaf 11" }, arcs_of { functions = 2 }) -- without main
   end)

   it("has hot lines with their sources", function()
      local source = command.file("hot.c", "one\ntwo\nthree <b>\nfour\n")
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
      assert.same({ { file = source, line = { 3 }, self = { 5 }, ["function"] = { 0 },
         text = { "one", "two", "three <b>", "four" } } }, data_of(page).lines.list)
      assert.is_nil(page:find("three <b>", 1, true))
   end)

   it_looks("shows a difference by the size of its changes, with their signs", function()
      local new = folded.profile "main;f 50\nmain;g 10\nmain;h 300\n"
      local old = folded.profile "main;f 20\nmain;g 600\nmain;h 290\nmain 1\n"
      local page = assert((new - old):export("html", nil, { functions = 3 }))
      local seen = viewers.browse(page, read_table .. [==[
         tell('first', (await table()).map(row => row.slice(0, 6)));
         tell('costs', await look(() => [...document.querySelectorAll('#costs li')].map(item =>
            item.textContent)));
         await press('self');
         tell('turned', await column(0));
         const widths = side => look(async side => {
            page.set({ side });
            const root = page.flames.root();
            return [root.total, root.children()[0].children().map(f =>
               [page.name(f.fn), f.width, f.total, f.before === undefined ? -1 : f.before])];
         }, side);
         for (const side of ['before', 'after', 'difference']) { tell(side, await widths(side)); }
      ]==])
      assert.same({}, seen.errors)
      -- relative to the weight before
      assert.same({ { "g", "600 ns", "10 ns", "-590 ns", "", "-98.33 %" },
         { "f", "20 ns", "50 ns", "+30 ns", "", "+150 %" },
         { "h", "290 ns", "300 ns", "+10 ns", "", "+3.45 %" } }, seen.told.first)
      assert.same({ "g-590 ns: 600 ns to 10 ns, -98.33 %", "f+30 ns: 20 ns to 50 ns, +150 %",
         "h+10 ns: 290 ns to 300 ns, +3.45 %" }, seen.told.costs)
      assert.same({ "g", "h", "f" }, seen.told.turned)
      assert.same({ 911, { { "g", 600, 600, -1 }, { "h", 290, 290, -1 }, { "f", 20, 20, -1 } } },
         seen.told.before)
      assert.same({ 360, { { "h", 300, 300, -1 }, { "f", 50, 50, -1 }, { "g", 10, 10, -1 } } },
         seen.told.after)
      assert.same({ 360, { { "g", 610, 10, 600 }, { "h", 590, 300, 290 }, { "f", 70, 50, 20 } } },
         seen.told.difference)
   end)

   it("is written for differences and for narrowed profiles", function()
      local new, old = folded.profile "main;f 5\n", folded.profile "main;f 2\nmain 1\n"
      local data = data_of(assert((new - old):export "html"))
      assert.is_true(data.difference)
      assert.same({ "f", "main" }, data.functions.name)
      assert.same({ { 5, 0 }, { 2, 1 } }, data.table.self)
      local narrow = data_of(command.run
         "profio --export html --focus work --symbols small.nm gmon.out")
      assert.same({ "work", "leaf" }, narrow.functions.name) -- not main, which calls work
   end)

   it("reports losses", function()
      local text, status = command.run "profio --export html cut.gmon"
      assert.equal(3, status)
      assert.matches('<li class="damage">.-<code>gmon%-', text)
   end)

   it("has scripts in which eslint finds nothing", function()
      if not viewers.has_pages then
         return pending "needs eslint"
      end
      assert.equal("", viewers.eslint "lua/profio/exports/html/scripts")
      local file = command.file("bad.js", "var unused = 1;\n")
      assert.matches("no%-unused%-vars", viewers.eslint("--no-ignore " .. file:gsub(
         "^" .. command.root:gsub("%p", "%%%0") .. "/", "")))
   end)
end)
