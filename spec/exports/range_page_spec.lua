-- A range of time in the page of export html: everything that the page computes for it equals what
-- `--from` and `--to` of the command say, if the page has all calls.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local events = require "spec.support.events"
local json = require "dkjson"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

local look = viewers.told

local RANGES = 20

-- Returns events of two lanes in which calls begin before the first event, never end, last no time,
-- call themselves, and are left together with the calls in them.
local function damaged(count)
   local list, stacks, time = {}, { one = {}, two = {} }, 0
   for _ = 1, count do
      local lane = math.random(2) == 1 and "one" or "two"
      local stack, area = stacks[lane], "f" .. math.random(5)
      time = time + math.random(0, 4)
      if math.random(100) == 1 then
         list[#list + 1] = ("%d leave late%s %s"):format(time, area, lane)
      elseif #stack > 0 and (math.random(9) < 5 or #stack > 8) then
         local at = math.random(15) == 1 and math.random(#stack) or #stack
         list[#list + 1] = ("%d leave %s %s"):format(time, stack[at], lane)
         for i = #stack, at, -1 do
            stack[i] = nil
         end
      else
         stack[#stack + 1] = area
         list[#list + 1] = ("%d enter %s %s"):format(time, area, lane)
      end
   end
   return table.concat(list, "\n") .. "\n"
end

-- Returns random ranges of a trace: its first time, and pairs of ns from there on.
local function ranges_of(trace)
   local ends = trace.events:aggregate { "first = min(time)", "last = max(time)" }:rows()[1]
   local length, list = ends.last - ends.first, {}
   for i = 1, RANGES do
      local from = math.random(0, length - 1)
      list[i] = { from, math.min(length + 1, from + math.random(1, length // (1 + i % 7))) }
   end
   list[#list + 1] = { 0, length + 1 }
   return ends.first, list
end

-- Asks the page for each range: totals, functions and durations.
local asked = [==[
   tell('ranges', await look(list => list.map(([from, to]) => {
      page.set({ range: from + '-' + to });
      const { metrics, table, about } = page.profile;
      const durations = fn => Object.fromEntries(Object.entries(page.durations_in(fn,
         page.tracks.runs[0], { from, to })).map(([kind, calls]) =>
         [kind, calls.map(call => call.value).sort((a, b) => a - b)]));
      const totals = metrics.map(one => one.total);
      return { totals, about, functions: table.function.map((fn, row) => ({ name: page.name(fn),
         self: table.self.map(list => list[row]), total: table.total.map(list => list[row]),
         calls: table.calls[row], ...durations(fn) })) };
   }), %s));]==]

local function ranked(list, share)
   return list[math.max(1, math.ceil(share * #list))]
end

-- Compares what the page says of a range with the profile and the statistics of calls.
local function compare(said, trace, from, to)
   local profile <close> = assert(trace:profile { from = from, to = to })
   local flat, count = {}, 0
   for row in profile:flat():records() do
      flat[row["function"]], count = row, count + 1
   end
   for i, metric in ipairs(profile:metrics()) do
      assert.equal(metric.total, said.totals[i], metric.name)
   end
   local durations = {}
   for row in trace:call_statistics { from = from, to = to }:records() do
      durations[row.area] = row
   end
   for _, one in ipairs(said.functions) do
      local row = flat[one.name] or { self = 0, total = 0, calls = 0 }
      count = count - (flat[one.name] and 1 or 0)
      assert.same({ row.self, row.total, row.calls }, { one.self[1], one.total[1], one.calls },
         one.name)
      for _, kind in ipairs { "net", "gross", "period" } do
         local truth, list = durations[one.name], one[kind]
         if #list > 0 then
            assert.same({ truth[kind .. "_p50"], truth[kind .. "_p99"], truth[kind .. "_max"] },
               { ranked(list, 0.5), ranked(list, 0.99), list[#list] }, one.name .. kind)
         end
      end
   end
   assert.equal(0, count)
end

describe("a range of time in a page", function()
   local function compares(name, lines)
      it_looks("has the numbers of the command: " .. name, function()
         math.randomseed(91)
         local trace <close> = events.open(lines())
         local first, list = ranges_of(trace)
         local told = look(assert(trace:export "html"), asked:format(json.encode(list)))
         for i, range in ipairs(list) do
            assert.equal("", told.ranges[i].about)
            compare(told.ranges[i], trace, first + range[1], first + range[2])
         end
      end)
   end

   compares("tasks that lose the core", function()
      return (events.program(4000))
   end)

   compares("calls that are damaged", function()
      return damaged(4000)
   end)

   it_looks("distinguishes functions of one name in two files", function()
      profio.register { name = "filed", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
         open = function()
            return { events = function(put)
               for i, file in ipairs { "a.lua", "b.lua" } do
                  put(i * 100, "enter", { name = "f", file = file })
                  put(i * 110, "leave", { name = "f", file = file })
               end
            end }
         end }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "filed" }))
      local told = look(assert(trace:export "html"), [==[
         tell('seen', await look(() => ['', '0-50', '50-200'].map(range => {
            page.set({ range });
            const { table } = page.profile;
            return Object.fromEntries(table.function.map((fn, row) =>
               [page.file(fn), [table.self[0][row], table.calls[row]]]));
         })));]==])
      assert.same({ { ["a.lua"] = { 10, 1 }, ["b.lua"] = { 20, 1 } }, { ["a.lua"] = { 10, 1 } },
         { ["b.lua"] = { 20, 1 } } }, told.seen)
   end)

   it_looks("is said to be an estimate where calls are left out", function()
      math.randomseed(92)
      local trace <close> = events.open((events.program(8000)))
      local size = viewers.page_size(trace, 40000)
      local told = look(assert(trace:export("html", nil, { size = size })), [==[
         await look(() => page.set({ range: '100-900' }));
         tell('about', await look(() => page.profile.about));
         tell('measure', await look(() => document.getElementById('measure').innerText));
         tell('cost', await look(() => document.querySelector('#costs li').innerText));
         tell('fact', await look(() => document.querySelector('[data-metric="0"]').innerText));
         tell('link', await look(() => location.hash));
         await look(() => document.querySelector('#measure button').click());
         tell('all', await look(() => [page.profile.about, location.hash,
            document.querySelector('[data-metric="0"]').innerText]));]==])
      assert.matches("^the page has the [%d,]+ longest of [%d,]+ calls", told.about)
      assert.matches("\n\u{2248}: the page has the ", told.measure)
      assert.matches("\u{2248} ", told.cost)
      assert.matches("range=100%-900", told.link)
      assert.equal(told.all[3], told.fact:match "^\u{2248} [%d.]+ %S+ of (.*)$")
      assert.same({ "", "" }, { told.all[1], told.all[2] })
   end)

   it_looks("has the numbers of both runs of a comparison", function()
      local list, paths = { { 0, 500 }, { 40, 61 }, { 20, 900 } }, { "before.txt", "after.txt" }
      local told
      for i, path in ipairs(paths) do
         os.remove(command.folder .. "/" .. path)
         local out = assert(profio.create(command.folder .. "/" .. path, { format = "winidea",
            dialect = "text1" }))
         for at = 0, 900, 100 do
            out:write { time = at, event = "enter", area = "f" }
            out:write { time = at + 20, event = "enter", area = "g" }
            out:write { time = at + 20 + 10 * i, event = "leave", area = "g" }
            out:write { time = at + 60, event = "leave", area = "f" }
         end
         assert(out:close())
      end
      local page, status, errors = command.run(
         "profio compare before.txt --new after.txt --export html")
      assert.equal(0, status, errors)
      told = look(page, ([==[
         tell('seen', await look(list => list.map(([from, to]) => {
            page.set({ range: from + '-' + to });
            const { table } = page.profile;
            return Object.fromEntries(table.function.map((fn, row) => [page.name(fn),
               [table.self[1][row], table.self[0][row], table.total[1][row],
               table.total[0][row]]]));
         }), %s));]==]):format(json.encode(list)))
      for i, range in ipairs(list) do
         for n, path in ipairs(paths) do
            local trace <close> = assert(profio.open(command.folder .. "/" .. path))
            local profile <close> = assert(trace:profile { from = range[1], to = range[2] })
            for name, self, total in profile:flat():each("function", "self", "total") do
               assert.same({ self, total }, { told.seen[i][name][n], told.seen[i][name][n + 2] },
                  path)
            end
         end
      end
   end)
end)
