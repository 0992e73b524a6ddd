-- Samples by time in the page of export html: in each range of time it has the numbers that
-- `--from` and `--to` of the command say, in all metrics.
--
-- Extra: needs Chromium.

local command = require "spec.support.command"
local json = require "dkjson"
local profio = require "profio"
local sampled = require "spec.support.sampled"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

local RANGES = 20

-- Asks the page for each range, which it may widen.
local asked = [==[
   tell('ranges', await look(list => list.map(([from, to]) => {
      page.set({ range: from + '-' + to });
      const { metrics, table, about } = page.profile, range = page.selected_range();
      return { from: range.from, to: range.to, about, totals: metrics.map(one => one.total),
         functions: table.function.map((fn, row) => [page.name(fn), table.self.map(list =>
         list[row]), table.total.map(list => list[row])]) };
   }), %s));]==]

local function ends_of(trace)
   local ends = trace.samples:aggregate { "a = min(time)", "b = max(time)" }:rows()[1]
   return ends.a, ends.b
end

local function ranges_of(trace)
   local first, last = ends_of(trace)
   local length, list = last - first, {}
   for i = 1, RANGES do
      local from = math.random(0, length - 1)
      list[i] = { from, math.min(length + 1, from + math.random(1, length // (1 + i % 7))) }
   end
   list[#list + 1] = { 0, length + 1 }
   return list
end

-- Compares what the page says of a range with the profile of that part.
local function compare(said, trace, first)
   local profile <close> = assert(trace:profile { from = first + said.from, to = first + said.to })
   local by_name, totals = {}, {}
   for m, metric in ipairs(profile:metrics()) do
      totals[m] = metric.total
      for row in profile:flat { metric = metric.name }:records() do
         local sum = by_name[row["function"]] or { self = {}, total = {} }
         by_name[row["function"]] = sum
         sum.self[m], sum.total[m] = row.self, row.total
      end
   end
   assert.same(totals, said.totals)
   assert.equal("", said.about)
   for _, one in ipairs(said.functions) do
      local known = by_name[one[1]] or { self = {}, total = {} }
      for m = 1, #totals do
         assert.same({ known.self[m] or 0, known.total[m] or 0 }, { one[2][m], one[3][m] }, one[1])
      end
      by_name[one[1]] = nil
   end
   for name, sum in pairs(by_name) do
      for m = 1, #totals do
         assert.equal(0, sum.total[m] or 0, name)
      end
   end
end

local kinds = { "perf", "v8", "br" }

describe("samples by time in a page", function()
   before_each(function()
      math.randomseed(46)
   end)

   for _, kind in ipairs(kinds) do
      it_looks("have the numbers of the command in a range: " .. kind, function()
         local trace <close> = assert(profio.open { data = sampled[kind](800) })
         local told = viewers.told(assert(trace:export "html"),
            asked:format(json.encode(ranges_of(trace))))
         for _, said in ipairs(told.ranges) do
            compare(said, trace, (ends_of(trace)))
         end
      end)

      it_looks("are summed where they do not fit, and ranges widened: " .. kind, function()
         local trace <close> = assert(profio.open { data = sampled[kind](3000) })
         local page = assert(trace:export("html", nil,
            { size = viewers.page_size(trace, 60000) }))
         local width = math.tointeger(page:match '"width":(%d+)')
         assert.is_true(width > 1)
         assert.is_true(#page < viewers.page_size(trace, 64000))
         local told = viewers.told(page, asked:format(json.encode(ranges_of(trace))))
         local first = ends_of(trace) // width * width
         for _, said in ipairs(told.ranges) do
            compare(said, trace, first)
         end
      end)
   end

   it_looks("are estimates where the innermost functions of stacks have no room", function()
      local trace <close> = assert(profio.open { data = sampled.perf(3000) })
      local page = assert(trace:export("html", nil, { size = viewers.page_size(trace, 20000) }))
      local told = viewers.told(page, asked:format(json.encode { { 0, 900000000 } }))
      local said, width = told.ranges[1], math.tointeger(page:match '"width":(%d+)')
      assert.matches("no room for the innermost functions of some stacks", said.about)
      local first = ends_of(trace) // width * width
      local profile <close> = assert(trace:profile { from = first + said.from,
         to = first + said.to })
      for m, metric in ipairs(profile:metrics()) do
         assert.equal(metric.total, said.totals[m])
         for _, one in ipairs(said.functions) do
            if one[1] == "main" then
               assert.equal(metric.total, one[3][m])
            end
         end
      end
   end)

   it_looks("are in a range that begins or ends at one of them, also after a day", function()
      local trace <close> = assert(profio.open { data = sampled.perf(200, 500000) })
      local first, times = ends_of(trace), {}
      for time in trace.samples:each "time" do
         times[#times + 1] = time - first
      end
      table.sort(times)
      local ranges = {}
      for i = 1, 20 do
         ranges[i] = { times[i * 9], times[i * 9 + i % 5 + 1] }
      end
      local told = viewers.told(assert(trace:export "html"), asked:format(json.encode(ranges)) ..
         [==[ tell('all', await look(() => { page.set_range(0, page.tracks.length);
            return [page.profile.metrics.map(one => one.total), page.data.metrics.map(one =>
            one.total), page.tracks.list.every(track => track.stop.every(stop =>
            stop <= page.tracks.length))]; }));]==])
      for _, said in ipairs(told.ranges) do
         compare(said, trace, first)
      end
      assert.same(told.all[2], told.all[1])
      assert.is_true(told.all[3])
   end)

   it_looks("are drawn in order if they are long and summed, as long as they last", function()
      local nodes = {}
      for id = 1, 9 do
         nodes[id] = ('{"id":%d,"callFrame":{"functionName":"f%d","url":"a.js","lineNumber":%d,'
            .. '"columnNumber":0}}'):format(id, id, id)
      end
      local samples, deltas, sum = {}, {}, 0
      for i = 1, 6000 do
         samples[i], deltas[i] = math.random(9), math.random(50) == 1 and 900000 or 100
         sum = sum + deltas[i]
      end
      local trace <close> = assert(profio.open { data = ('{"nodes":[%s],"startTime":0,"endTime":%d,'
         .. '"samples":[%s],"timeDeltas":[%s]}'):format(table.concat(nodes, ","), sum + 900000,
         table.concat(samples, ","), table.concat(deltas, ",")) })
      local page = assert(trace:export("html", nil,
         { size = viewers.page_size(trace, 60000) }))
      assert.is_true(math.tointeger(page:match '"width":(%d+)') > 1)
      local told = viewers.told(page, [==[
         tell('seen', await look(() => { const track = page.tracks.list[0];
            return [track.start.every((start, i) => i === 0 || start >= track.start[i - 1]),
               track.columns(0, page.tracks.length, 1).busy[0] > 0.9,
            page.tracks.length + page.range_step]; }));]==])
      assert.same({ true, true }, { told.seen[1], told.seen[2] })
      local first = ends_of(trace)
      assert.is_true(told.seen[3] >= (sum + 900000) * 1000 - first, told.seen[3])
   end)

   it("are not shown by time if that has more than 64 bits, which a note says", function()
      command.file("far.cpuprofile", '{"nodes":[{"id":1,"callFrame":{"functionName":"f","url":"",'
         .. '"lineNumber":1,"columnNumber":0}}],"startTime":-9000000000000000,"endTime":'
         .. '9000000000000000,"samples":[1,1,1],"timeDeltas":[0,9000000000000000,'
         .. '9000000000000000]}')
      local page, status, errors = command.run "profio export html far.cpuprofile"
      assert.equal(0, status, errors)
      assert.is_nil(page:find('"samples":{', 1, true))
      assert.matches("more than 292 years apart", errors)
   end)

   it("have lanes with the paths of files of one name", function()
      os.execute(("mkdir -p %s/a %s/b"):format(command.folder, command.folder))
      command.file("a/p.perf", sampled.perf(40))
      command.file("b/p.perf", sampled.perf(40))
      local trace <close> = assert(profio.open { command.folder .. "/a/p.perf",
         command.folder .. "/b/p.perf" })
      local page, seen = assert(trace:export "html"), {}
      for title in page:gmatch '"name":"([^"]*work[^"]*)","count"' do
         assert.is_nil(seen[title])
         seen[title] = true
      end
      assert.is_truthy(next(seen))
      page = assert(trace:export("html", nil, { lanes = 0 }))
      assert.matches('"drawn":1,"few":"the lane with most samples of 4 is drawn"', page)
   end)

   it("are summed over times that have a sample on average, not over a few ns", function()
      -- Times with many digits take more bytes than is estimated.
      local trace <close> = assert(profio.open { data = sampled.br(3000, 1 << 40) })
      local first, last = ends_of(trace)
      local base, is_whole = viewers.page_size(trace, 0), false
      for room = 100000, 300000, 10000 do
         local page = assert(trace:export("html", nil, { size = base + room }))
         local width = math.tointeger(page:match '"width":(%d+)')
         assert.is_true(width == 1 or width * 3000 >= last - first, width)
         is_whole = is_whole or width == 1
      end
      assert.is_true(is_whole)
   end)

   it("are drawn without event chains, which a note says", function()
      command.file("chained.perf", sampled.perf(100))
      local page, status, errors = command.run("profio export html --set timeline=true --chain "
         .. "'main enter -> f1 enter' chained.perf")
      assert.equal(0, status, errors)
      assert.is_nil(page:find('"timeline":{', 1, true))
      assert.matches("event chains are not drawn", errors)
   end)

   it_looks("are in no range if their time is missing, and end no lane", function()
      local text = sampled.perf(100)
      local late = text:gsub("work1 7/11 %[000%] %d+%.", "work1 7/11 [000] 99999999999999.", 1)
      assert.not_equal(text, late)
      local trace <close> = assert(profio.open { data = late })
      assert.equal(1, (trace.samples:count() - trace.samples:aggregate { "n = count(time)" }
         :rows()[1].n))
      local told = viewers.told(assert(trace:export "html"),
         asked:format(json.encode { { 0, 60000000 } }))
      compare(told.ranges[1], trace, (ends_of(trace)))
   end)

   it_looks("are lanes of files and threads, with calls that a model sees", function()
      command.file("one.perf", sampled.perf(200))
      command.file("two.perf", sampled.perf(200))
      local paths = { command.folder .. "/one.perf", command.folder .. "/two.perf" }
      local trace <close> = assert(profio.open(paths))
      local told = viewers.told(assert(trace:export "html"), [==[
         tell('tracks', await look(() => page.tracks.list.map(track => [track.name, track.calls,
            [...track.start], [...track.stop], [...track.depth], Array.from(track.start, (_, i) =>
            page.name(track.fn(i)))])));
         tell('gutter', await look(() => { page.set({ range: '0-90000000' });
            return document.getElementById('measure').innerText; }));]==])
      local names = {}
      for _, track in ipairs(told.tracks) do
         local name, calls, start, stop, depth, fn = table.unpack(track)
         names[#names + 1] = name
         local file, thread = name:match "^(.*): (.*)$"
         local samples, count = {}, 0
         for row in trace.samples:where { thread = thread }:sort "time":records() do
            if row.file:match "[^/]*$" == file then
               samples[#samples + 1], count = row, count + 1
            end
         end
         assert.equal(count, calls)
         -- Each sample lies in a call of each frame of its stack.
         local first = math.maxinteger
         for _, path in ipairs(paths) do
            local one <close> = assert(profio.open(path))
            first = math.min(first, (ends_of(one)))
         end
         local open = {}
         for i = 1, #start do
            open[("%d %s"):format(depth[i], fn[i])] = open[("%d %s"):format(depth[i], fn[i])] or {}
            table.insert(open[("%d %s"):format(depth[i], fn[i])], { start[i], stop[i] })
         end
         for _, sample in ipairs(samples) do
            local frames = trace:stack(sample.stack)
            for level, frame in ipairs(frames) do
               local found = 0
               for _, call in ipairs(open[("%d %s"):format(#frames - level + 1, frame.area)] or {})
               do
                  local at = sample.time - first
                  found = found + (call[1] <= at and at < call[2] and 1 or 0)
               end
               assert.equal(1, found)
            end
         end
      end
      table.sort(names)
      assert.same({ "one.perf: work1 11", "one.perf: work2 12", "two.perf: work1 11",
         "two.perf: work2 12" }, names)
      assert.matches("one%.perf: work%d %d+: %d+ samples, \u{2248} busy ", told.gutter)
   end)

   it_looks("have the numbers of both runs of a comparison", function()
      for i, name in ipairs { "old.perf", "new.perf" } do
         command.file(name, sampled.perf(200 * i))
      end
      local page, status, errors = command.run(
         "profio --diff old.perf new.perf --metric cpu-clock --export html")
      assert.equal(0, status, errors)
      local told = viewers.told(page, asked:format(
         json.encode { { 0, 40000000 }, { 30000000, 100000000 } }))
      local narrow = command.run("profio --diff old.perf new.perf --metric cpu-clock --export html "
         .. "--set size=232K")
      local widths = {}
      for width in narrow:gmatch '"width":(%d+)' do
         widths[#widths + 1] = math.tointeger(width)
      end
      assert.is_true(#widths == 2 and widths[1] % widths[2] == 0 or widths[2] % widths[1] == 0)
      for _, said in ipairs(told.ranges) do
         for run, name in ipairs { "new.perf", "old.perf" } do
            local trace <close> = assert(profio.open(command.folder .. "/" .. name))
            local first = ends_of(trace)
            local profile <close> = assert(trace:profile { from = first + said.from,
               to = first + said.to })
            local known = {}
            for row in profile:flat { metric = "cpu-clock" }:records() do
               known[row["function"]] = { row.self, row.total }
            end
            for _, one in ipairs(said.functions) do
               local truth = known[one[1]] or { 0, 0 }
               assert.same(truth, { one[2][run], one[3][run] }, name .. one[1])
            end
         end
      end
   end)
end)
