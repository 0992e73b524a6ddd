-- Format chrome: trace events of Chrome, Node.js, clang and others. The oracles are Perfetto's
-- trace processor, and times that a generator of nested spans knows.

local codes = require "spec.support.codes"
local command = require "spec.support.command"
local events = require "spec.support.events"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local function open(text, given)
   return assert(profio.open({ data = text }, given))
end

-- "net/gross/count" of the functions of each lane, by "lane area".
local function sums(trace)
   local list = {}
   for lane, area, net, gross, n in trace:calls():group("lane", "area")
      :aggregate { net = "sum(net)", gross = "sum(gross)", n = "count" }
      :each("lane", "area", "net", "gross", "n") do
      list[(lane or "-") .. " " .. area] = ("%d/%d/%d"):format(net, gross, n)
   end
   return list
end

local function array(list)
   return "[" .. table.concat(list, ",\n") .. "]"
end

local small = [[
{"displayTimeUnit":"ns","otherData":{"creator":"a program","version":"1"},"traceEvents":[
{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"m\u00e4in \ud83d\ude00 \"x\""}},
{"ph":"X","name":"outer","cat":"c","pid":1,"tid":7,"ts":10,"dur":100.5,"args":{"l":[1,{"x":"}"}]}},
{"ph":"X","name":"inner","pid":1,"tid":7,"ts":20,"dur":30},
{ "args" : { "n" : 1 } , "dur" : 1e1 , "ts" : "60.25" , "tid" : 7 , "pid" : 1 , "name" : "inner" ,
"ph" : "X" },
{"ph":"C","name":"mem","pid":1,"ts":65,"args":{"a":5,"b":1.5}},
{"ph":"C","name":"one","pid":1,"ts":66,"args":{"value":-3}},
{"ph":"B","name":"b1","cat":"k","pid":1,"tid":8,"ts":70},
{"ph":"i","s":"t","name":"tick","pid":1,"tid":8,"ts":71},
{"ph":"E","pid":1,"tid":8,"ts":80},
{"ph":"s","id":5,"name":"flow","pid":1,"tid":8,"ts":80},
{"ph":"b","name":"req","cat":"net","id":"0x1","pid":1,"tid":8,"ts":81},
{"ph":"b","name":"req","cat":"net","id":"0x2","pid":1,"tid":8,"ts":82},
{"ph":"e","name":"req","cat":"net","id":"0x1","pid":1,"tid":8,"ts":90},
{"ph":"e","name":"req","cat":"net","id":"0x2","pid":1,"tid":8,"ts":95}
],"traceName":"after"}
]]

describe("chrome", function()
   it("has calls, counters, instants, and work with an id in lanes of its own", function()
      local trace <close> = open(small)
      assert.equal("chrome", trace.format)
      local main = "mäin 😀 \"x\""
      assert.same({ [main .. " outer"] = "60500/100500/1", [main .. " inner"] = "40000/40000/2",
         ["thread 8 b1"] = "10000/10000/1", ["async req"] = "9000/9000/1",
         ["async (2) req"] = "13000/13000/1", ["- mem.a"] = "0/0/1", ["- mem.b"] = "0/0/1",
         ["- one"] = "0/0/1", ["- tick"] = "0/0/1" }, sums(trace))
      assert.same({}, codes.placed(trace))
      local values = {}
      for area, value, number in trace.events:where { event = "write" }
         :each("area", "value", "number") do
         values[#values + 1] = ("%s %s %s"):format(area, value, number)
      end
      assert.same({ "mem.a 5 5.0", "mem.b nil 1.5", "one -3 -3.0", "tick nil nil" }, values)
      assert.equal("end", trace.events:rows()[trace.events:count()].event)
      assert.equal("a program", trace.info.creator)
   end)

   it("has args of calls, and each event as the file has it", function()
      local trace <close> = open(small)
      local calls = {}
      for area, start, params in trace:calls():where { lane = profio.match "^m" }
         :sort("start"):each("area", "start", "params") do
         calls[#calls + 1] = ("%s %d %s"):format(area, start, params)
      end
      assert.same({ 'outer 10000 {"l":[1,{"x":"}"}]}', "inner 20000 nil",
         'inner 60250 { "n" : 1 }' }, calls)
      assert.same({ { time = 80000, phase = "s", name = "flow", pid = "1", tid = "8", id = "5" } },
         trace.entries:where { phase = "s" }:rows())
      local outer = trace.entries:where { name = "outer" }:rows()[1]
      assert.same({ "c", 100500 }, { outer.category, outer.duration })
      local parts = {}
      for text in trace.raw:each "text" do
         parts[#parts + 1] = text
      end
      assert.equal(small, table.concat(parts))
   end)

   it("tells categories, threads of one name and processes apart", function()
      local function event(pid, tid, name, more)
         return ('{"ph":"X","pid":%s,"tid":%s,"name":"%s","ts":1,"dur":1%s}'):format(pid, tid, name,
            more or "")
      end
      local function named(kind, pid, tid, name)
         return ('{"ph":"M","name":"%s","pid":%s,"tid":%s,"args":{"name":"%s"}}'):format(kind, pid,
            tid, name)
      end
      local trace <close> = open(array { event(1, 1, "f", ',"cat":"a"'), event(1, 2, "f",
         ',"cat":"b"'), event(1, 3, "f"), named("thread_name", 1, 1, "w"),
         named("thread_name", 1, 2, "w") })
      assert.same({ ["w (1 1) f"] = "1000/1000/1", ["w (1 2) f"] = "1000/1000/1",
         ["thread 3 f"] = "1000/1000/1" }, sums(trace))
      assert.equal(3, #trace:calls():group("area"):aggregate { "n = count" }:rows())
      local two <close> = open(array { event(1, 1, "f"), event(2, '"stream 7"', "f"),
         '{"ph":"C","name":"mem","pid":2,"ts":1,"args":{"v":1}}',
         '{"ph":"C","name":"mem","pid":1,"ts":1,"args":{"v":1}}',
         named("process_name", 2, 0, "gpu/0") })
      assert.same({ ["process 1/thread 1 f"] = "1000/1000/1", ["gpu/0/thread stream 7 f"] =
         "1000/1000/1", ["- process 1/mem"] = "0/0/1", ["- gpu/0/mem"] = "0/0/1" }, sums(two))
   end)

   it("adds a member of args to names", function()
      local text = array { '{"ph":"X","pid":1,"tid":1,"name":"Source","ts":0,"dur":5,'
         .. '"args":{"detail":"a\\u002eh"}}', '{"ph":"X","pid":1,"tid":1,"name":"Other","ts":6,'
         .. '"dur":5,"args":{}}' }
      local trace <close> = open(text, { detail = "detail" })
      assert.same({ ["thread 1 Source a.h"] = "5000/5000/1", ["thread 1 Other"] = "5000/5000/1" },
         sums(trace))
   end)
end)

-- {====== Order ======

-- Adds nested spans to a list, and their net and gross times to sums by name.
local function nest(list, truth, tid, start, stop, depth)
   local name, inner, at = "f" .. math.random(5), 0, start
   local number = #list + 1
   list[number] = { tid = tid, name = name, start = start, stop = stop, depth = depth }
   while depth < 6 and at < stop and math.random(3) > 1 do
      local from = math.random(at, stop)
      local to = math.random(from, stop)
      nest(list, truth, tid, from, to, depth + 1)
      inner, at = inner + to - from, to
   end
   local key = ("thread %d %s"):format(tid, name)
   local sum = truth[key] or { 0, 0, 0 }
   truth[key] = { sum[1] + stop - start - inner, sum[2] + stop - start, sum[3] + 1 }
end

local function made()
   local list, truth = {}, {}
   for tid = 1, 3 do
      local at = 0
      for _ = 1, 40 do
         local stop = at + math.random(1, 4000)
         nest(list, truth, tid, at, stop, 1)
         at = stop + math.random(0, 2)
      end
   end
   for key, sum in pairs(truth) do
      truth[key] = ("%d/%d/%d"):format(sum[1], sum[2], sum[3])
   end
   return list, truth
end

local function us(time)
   return ("%d.%03d"):format(time // 1000, time % 1000)
end

local function span(s)
   return ('{"ph":"X","pid":1,"tid":%d,"name":"%s","ts":%s,"dur":%s}'):format(s.tid, s.name,
      us(s.start), us(s.stop - s.start))
end

-- The spans as text, in the order of a comparison.
local function written(list, is_before)
   local texts = {}
   if is_before then
      table.sort(list, is_before)
   end
   for i, s in ipairs(list) do
      texts[i] = span(s)
   end
   return array(texts)
end

describe("the order of events", function()
   local function by_start(a, b)
      if a.start ~= b.start then
         return a.start < b.start
      elseif a.stop ~= b.stop then
         return a.stop > b.stop
      end
      return a.depth < b.depth
   end

   local function by_end(a, b)
      if a.stop ~= b.stop then
         return a.stop < b.stop
      elseif a.start ~= b.start then
         return a.start > b.start
      end
      return a.depth > b.depth
   end

   it("does not matter: by start, by end, by thread, or none", function()
      math.randomseed(7)
      for _ = 1, 10 do
         local list, truth = made()
         local trace <close> = open(written(list, by_start))
         assert.same(truth, sums(trace))
         local ends <close> = open(written(list, by_end))
         assert.same(truth, sums(ends))
         local threads <close> = open(written(list, function(a, b)
            if a.tid ~= b.tid then
               return a.tid > b.tid
            end
            return by_start(a, b)
         end))
         assert.same(truth, sums(threads))
      end
   end)

   it("is that of the file where spans are equal; by end, the later one is outside", function()
      local function text(...)
         local list = {}
         for i, one in ipairs { ... } do
            list[i] = span { tid = 1, name = one[1], start = one[2], stop = one[3] }
         end
         return array(list)
      end
      local function callers(trace)
         return trace:calls():where { area = "in" }:rows()[1].caller
      end
      local starts <close> = open(text({ "out", 0, 9 }, { "in", 0, 9 }, { "other", 10, 11 }))
      assert.equal("out", callers(starts))
      local ends <close> = open(text({ "leaf", 1, 2 }, { "in", 0, 9 }, { "out", 0, 9 }))
      assert.equal("out", callers(ends))
   end)

   it("is made in a file if there are many events, with a note", function()
      local list, count = {}, 300000
      for i = count, 1, -1 do
         list[#list + 1] = span { tid = i % 2, name = "f" .. i % 3, start = i * 10,
            stop = i * 10 + 7 }
      end
      local trace <close> = open(array(list))
      local rows = trace:calls():group("area"):aggregate { n = "count", net = "sum(net)" }
         :sort("area"):rows()
      assert.same({ { area = "f0", n = 100000, net = 700000 }, { area = "f1", n = 100000,
         net = 700000 }, { area = "f2", n = 100000, net = 700000 } }, rows)
      assert.same({ "chrome-order:" }, codes.placed(trace))
      local times = {}
      for time in trace.events:each "time" do
         times[#times + 1] = time
      end
      for i = 2, #times do
         assert(times[i - 1] <= times[i])
      end
      -- In order, they are read twice instead.
      local reversed = {}
      for i = count, 1, -1 do
         reversed[#reversed + 1] = list[i]
      end
      local ordered <close> = open(array(reversed))
      assert.same(rows, ordered:calls():group("area"):aggregate { n = "count", net = "sum(net)" }
         :sort("area"):rows())
      assert.same({}, codes.placed(ordered))
   end)

   it("lets begins and ends lie in spans, and spans in them", function()
      local trace <close> = open(array {
         '{"ph":"X","pid":1,"tid":1,"name":"a","ts":0,"dur":10}',
         '{"ph":"B","pid":1,"tid":1,"name":"b","ts":2}',
         '{"ph":"X","pid":1,"tid":1,"name":"c","ts":3,"dur":7}',
         '{"ph":"E","pid":1,"tid":1,"name":"b","ts":10}',
         '{"ph":"X","pid":1,"tid":1,"name":"d","ts":10,"dur":0}' })
      assert.same({ ["thread 1 a"] = "2000/10000/1", ["thread 1 b"] = "1000/8000/1",
         ["thread 1 c"] = "7000/7000/1", ["thread 1 d"] = "0/0/1" }, sums(trace))
      assert.equal("", trace:calls():rows()[1].flags or "")
   end)

   it("puts what overlaps beside its thread, and cuts what only rounding lets overlap", function()
      local trace <close> = open(array {
         '{"ph":"X","pid":1,"tid":1,"name":"a","ts":0,"dur":10.5}',
         '{"ph":"X","pid":1,"tid":1,"name":"b","ts":5,"dur":10}',
         '{"ph":"X","pid":1,"tid":1,"name":"c","ts":6,"dur":20}' })
      assert.same({ ["thread 1 a"] = "10500/10500/1", ["thread 1 (2) b"] = "10000/10000/1",
         ["thread 1 (3) c"] = "20000/20000/1" }, sums(trace))
      assert.matches("^chrome%-overlap:", codes.placed(trace)[1])
      local rounded <close> = open(array {
         '{"ph":"X","pid":1,"tid":1,"name":"a","ts":10,"dur":4}',
         '{"ph":"X","pid":1,"tid":1,"name":"b","ts":11,"dur":4}' })
      assert.same({ ["thread 1 a"] = "1000/4000/1", ["thread 1 b"] = "3000/3000/1" },
         sums(rounded))
      assert.same({ "chrome-rounded:56" }, codes.placed(rounded))
   end)

   it("is found although times are rounded: to digits, or as doubles since 1970", function()
      math.randomseed(11)
      local function rounded(time, step)
         return (time + step // 2) // step * step
      end
      for _, step in ipairs { 10, 100, 1000, 250 } do
         local list, truth = made()
         local base = step == 250 and 1700000000000000000 or 0
         for i, s in ipairs(list) do
            local dur = (s.stop - s.start) * 50
            local start = base + rounded(s.start * 50, step)
            dur = step == 250 and dur or rounded(dur, step)
            list[i] = { tid = s.tid, name = s.name, start = start, stop = start + dur }
         end
         local trace <close> = open(written(list))
         for key, sum in pairs(sums(trace)) do
            assert.falsy(key:find "%(2%)", key)
            local net, gross, n = sum:match "(%d+)/(%d+)/(%d+)"
            local true_net, true_gross, true_n = truth[key]:match "(%d+)/(%d+)/(%d+)"
            assert.equal(tonumber(true_n), tonumber(n))
            -- Each event, and those in it, may be off by some steps.
            assert.near(true_net * 50, tonumber(net), 12 * step * n)
            assert.near(true_gross * 50, tonumber(gross), 4 * step * n)
         end
      end
   end)

   it("keeps ends without a begin: a call that began before, unless it has no name", function()
      local trace <close> = open(array { '{"ph":"i","pid":1,"tid":1,"name":"t","ts":0}',
         '{"ph":"E","pid":1,"tid":1,"ts":4}', '{"ph":"E","pid":1,"tid":1,"name":"f","ts":5}' })
      assert.equal("orphan", trace:calls():where { area = "f" }:rows()[1].flags)
      assert.matches("^chrome%-unmatched:", codes.placed(trace)[1])
      local work <close> = open(array { '{"ph":"b","pid":1,"id":1,"name":"a","ts":0}',
         '{"ph":"e","pid":1,"id":1,"name":"a","ts":4}',
         '{"ph":"e","pid":1,"id":2,"name":"a","ts":9}' })
      assert.same({ ["async a"] = "4000/4000/1" }, sums(work))
      assert.matches("^chrome%-unmatched:", codes.placed(work)[1])
   end)

   it("has counters by their ids, numbers in quotes, and no samples of a profiler", function()
      local trace <close> = open(array {
         '{"ph":"C","pid":1,"id":7,"name":"m","ts":0,"args":{"v":"1"}}',
         '{"ph":"C","pid":1,"id":8,"name":"m","ts":1,"args":{"v":"2.5"}}',
         '{"ph":"P","pid":1,"name":"ProfileChunk","ts":2}' })
      local seen = {}
      for area, number in trace.events:where { event = "write" }:each("area", "number") do
         seen[#seen + 1] = area .. "=" .. number
      end
      assert.same({ "m 7=1.0", "m 8=2.5" }, seen)
      assert.same({ "chrome-samples:" }, codes.placed(trace))
   end)
end)

-- }======

-- {====== Damage ======

describe("damage", function()
   local one = '{"ph":"X","pid":1,"tid":1,"name":"f","ts":0,"dur":2}'

   it("costs only the events that it is in", function()
      for text, expected in pairs {
         ["[" .. one .. ",\n" .. one] = { 2, "chrome-cut:107" },
         ["[" .. one .. ",\n" .. one .. ",\n"] = { 2, "chrome-cut:109" },
         ["[" .. one .. ',\n{"ph":"X","pid'] = { 1, "chrome-truncated:55" },
         ["[" .. one .. " " .. one .. "]"] = { 2, "chrome-syntax:53" },
         ["[" .. one .. ',{"ph":"X",,},' .. one .. "]"] = { 2, "chrome-syntax:54" },
         ["[" .. one .. ',{"ph":"X","ts":"x"},' .. one .. "]"] = { 2, "chrome-event:54" },
         ["[" .. one .. ',{"ts":1},{},' .. one .. "]"] = { 2, "chrome-event:54" },
         ["[" .. one .. ',{"ph":"X","name":"a","ts":1,"dur":-1},' .. one .. "]"] =
            { 2, "chrome-event:54" },
         ["[" .. one .. ',{"ph":"X","name":"a","ts":1},' .. one .. "]"] = { 2, "chrome-event:54" },
         ["[" .. one .. ',{"ph":"i","ts":9999999999999999},' .. one .. "]"] =
            { 2, "chrome-event:54" },
         ["[" .. one .. ',{"ph":"X","ts":1,"dur":NaN},' .. one .. "]"] = { 2, "chrome-event:54" },
         ["[" .. one .. ',7,' .. one .. "]"] = { 2, "chrome-event:54" },
      } do
         local trace <close> = open(text, { format = "chrome" })
         assert.equal(expected[1], trace.entries:count(), text)
         table.remove(expected, 1)
         assert.same(expected, codes.placed(trace), text)
         local strict <close> = open(text, { format = "chrome", strict = true })
         local is_damage = not expected[1]:find "cut"
         assert.equal(not is_damage, (pcall(strict.entries.count, strict.entries)), text)
      end
   end)

   it("keeps all whole events of a file that is cut anywhere", function()
      local complete <close> = open(small)
      local ends = {}
      for offset, size, kind in complete.raw:each("offset", "size", "kind") do
         if kind == "event" then
            ends[#ends + 1] = offset + #small:sub(offset + 1, offset + size):match "^.*}"
         end
      end
      for size = 0, #small - 1 do
         local trace = profio.open({ data = small:sub(1, size) }, { format = "chrome" })
         if trace then
            local whole = 0
            for _, stop in ipairs(ends) do
               whole = whole + (stop <= size and 1 or 0)
            end
            assert.equal(whole, trace.entries:count(), size)
            trace.events:count()
            trace:close()
         end
      end
   end)

   it("is no reason to read a file twice for each bad event", function()
      local text = "[" .. ('{"ph":"X","args":{"a":[{"b":\n'):rep(20000)
      local trace <close> = open(text, { format = "chrome" })
      assert.equal(0, trace.entries:count())
   end)

   it("shows the beginning of a line, also if the line is the whole file", function()
      local list = {}
      for i = 1, 100000 do
         list[i] = ('{"ph":"e","pid":1,"id":%d,"name":"f","ts":%d}'):format(i, i)
      end
      local trace <close> = open("[" .. table.concat(list, ",") .. "]")
      assert.equal(0, trace:calls():count())
      assert.matches("left out: {\"ph\":\"e\",", trace.warnings[1].message)
   end)

   it("does not hide that a text is of no format", function()
      for _, text in ipairs { "[]", "[1,2]", '{"a":1}', "[{}]", '[{"a":1}]', "{}", "[" } do
         local trace, problem = profio.open { data = text }
         assert.equal(nil, trace, text)
         assert(problem)
      end
   end)
end)

-- }======

-- {====== Other programs ======

describe("files of other programs", function()
   local function it_with(program, name, body)
      if os.execute("command -v " .. program .. " >/dev/null 2>&1") and viewers.has_perfetto then
         it(name, body)
      else
         pending(name .. " (needs " .. program .. " and Perfetto)")
      end
   end

   -- Compares counts and durations of all names with Perfetto's.
   local function compare(path)
      local rows, problems = viewers.perfetto(path, [[SELECT coalesce(name, '') AS name,
         count(*) AS n, sum(dur) AS total FROM slice WHERE dur > 0 GROUP BY name]],
         "SELECT name FROM stats WHERE value > 0 AND severity != 'info'")
      assert.same({}, problems)
      local trace <close> = assert(profio.open(path))
      assert.equal("chrome", trace.format)
      local seen, expected = {}, {}
      local counts, totals = {}, {}
      for name, start, stop in trace:calls():each("area", "start", "stop") do
         if stop > start then
            counts[name] = (counts[name] or 0) + 1
            totals[name] = (totals[name] or 0) + stop - start
         end
      end
      for name, n in pairs(counts) do
         seen[name] = ("%d %d"):format(n, totals[name])
      end
      for _, row in ipairs(rows) do
         expected[row.name] = ("%d %d"):format(row.n, row.total)
      end
      assert(next(seen))
      assert.same(expected, seen)
      assert.same({}, codes.placed(trace))
   end

   it_with("clang", "clang -ftime-trace", function()
      local source = command.file("traced.c", "#include <stdio.h>\n#include <stdlib.h>\n"
         .. ("int f%d(int x) { return x * %d; }\n"):rep(3):gsub("%%d", "1", 2):gsub("%%d", "2", 2)
            :gsub("%%d", "3"))
      local object = command.folder .. "/traced.o"
      assert(os.execute(("clang -O2 -ftime-trace -ftime-trace-granularity=0 -c %s -o %s"):format(
         source, object)))
      compare(command.folder .. "/traced.json")
   end)

   it_with("node", "node --trace-events-enabled", function()
      local script = command.file("traced.js", [[
const fs = require('fs');
function work(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i); return s; }
fs.writeFileSync(process.argv[2], 'x');
fs.readFile(process.argv[2], () => work(1e5));
setTimeout(() => work(1e5), 2);]])
      local folder = command.folder
      assert(os.execute(("cd %s && node --trace-event-categories v8,node.fs %s %s/x"):format(folder,
         script, folder)))
      compare(folder .. "/node_trace.1.log")
   end)
end)

-- }======

describe("what profio writes as chrome", function()
   it("is read back as the same calls", function()
      math.randomseed(5)
      local trace <close> = events.open((events.program(3000)))
      local again <close> = open(assert(trace:export "chrome"))
      local function rows(one)
         local list = {}
         for lane, area, start, stop, depth in one:calls():each("lane", "area", "start", "stop",
            "depth") do
            list[#list + 1] = ("%s %s %d %d %d"):format(lane, area, start, stop, depth)
         end
         table.sort(list)
         return list
      end
      assert.same(rows(trace), rows(again))
      assert.same({}, codes.placed(again))
   end)
end)
