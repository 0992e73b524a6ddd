-- Exports as their viewers read them: numbers of samples and calls, the sum of self and the totals
-- of functions equal profio's; a broken file is refused.
--
-- Extra: needs Go, valgrind, NYTProf and speedscope.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local events = require "spec.support.events"
local folded = require "spec.support.folded"
local names = require "spec.support.names"
local profio = require "profio"
local programs = require "spec.support.programs"
local viewers = require "spec.support.viewers"

local function needs(what)
   return viewers["has_" .. what] and it or function(name)
      pending(name .. " (needs " .. what .. ")")
   end
end

-- Returns self and total of each function in profio, by name.
local function expected(profile, named)
   local own, total, sum = {}, {}, 0
   for _, row in ipairs(profile:flat():rows("function", "self", "total")) do
      local name = named and named(row["function"]) or row["function"]
      own[name] = (own[name] or 0) + row.self
      total[name] = (total[name] or 0) + row.total
      sum = sum + row.self
   end
   return own, total, sum
end

local function without_zeros(list)
   local kept = {}
   for name, value in pairs(list) do
      kept[name] = value ~= 0 and value or nil
   end
   return kept
end

-- Returns the number of contexts with a weight: samples that are exported.
local function contexts_of(profile)
   local count = 0
   for _, row in ipairs(profile:tree():rows "self") do
      count = count + (row.self ~= 0 and 1 or 0)
   end
   return count
end

local function random_profile()
   math.randomseed(21)
   return folded.profile(folded.random(3000))
end

local function replaced(text, what, by)
   local at, last = assert(text:find(what))
   return text:sub(1, at - 1) .. by .. text:sub(last + 1)
end

describe("speedscope", function()
   local it_looks = needs "speedscope"

   local function import(text)
      return viewers.speedscope(command.file("a.speedscope.json", text))
   end

   local function numbers(imported)
      local own, total = {}, {}
      for _, frame in ipairs(imported.frames) do
         own[frame.name] = (own[frame.name] or 0) + frame.self
         total[frame.name] = (total[frame.name] or 0) + frame.total
      end
      return own, total
   end

   it_looks("sees the samples and times of a profile", function()
      local profile = random_profile()
      local own, total, sum = expected(profile)
      local seen = assert(import(assert(profile:export "speedscope")).profiles)[1]
      local seen_own, seen_total = numbers(seen)
      assert.equal(contexts_of(profile), seen.samples)
      assert.equal(sum, seen.total)
      assert.same({ "time", "nanoseconds" }, { seen.name, seen.unit })
      assert.same(without_zeros(own), without_zeros(seen_own))
      assert.same(without_zeros(total), without_zeros(seen_total))
   end)

   it_looks("sees the calls of a timeline, lane by lane", function()
      math.randomseed(22)
      local trace <close> = events.open((events.program(4000)))
      local seen = import(assert(trace:export "speedscope"))
      assert.equal(3, #seen.profiles)
      for _, lane in ipairs(seen.profiles) do
         -- none of those that took no time
         local n = trace:calls():where { lane = lane.name }:filter(function(start, stop)
            return stop > start
         end, "start", "stop"):aggregate { "n = count" }:rows()[1].n
         assert.is_true(n > 300)
         assert.equal(n, lane.calls)
      end
   end)

   it_looks("shows names as they are", function()
      local trace <close> = names.open()
      local own, total = expected(trace:profile(), names.utf8)
      local as_profile, as_timeline = viewers.speedscope(
         command.file("a.speedscope.json", assert(trace:profile():export "speedscope")),
         command.file("b.speedscope.json", assert(trace:export "speedscope")))
      local seen_own, seen_total = numbers(as_profile.profiles[1])
      assert.same(own, seen_own)
      assert.same(total, seen_total)
      seen_own = numbers(as_timeline.profiles[1])
      for _, name in ipairs(names.list) do
         assert.equal(own[names.utf8(name)], seen_own[names.utf8(name)])
      end
   end)

   it_looks("knows the files and lines of a timeline", function()
      local area = { name = "f", file = "a.c", line = 12 }
      profio.register {
         name = "filed", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
         open = function()
            return { events = function(put)
               put(0, "enter", area)
               put(2, "enter", "g")
               put(5, "leave", "g")
               put(9, "leave", area)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "filed" }))
      local text = assert(trace:export "speedscope")
      assert.is_truthy(text:find('{"name":"f","file":"a.c","line":12}', 1, true))
      assert.is_nil(import(text).error)
      assert.equal(9, import(text).profiles[1].total)
   end)

   it_looks("shows that something was lost", function()
      local _, status = command.run "profio --export speedscope cut.gmon -o cut.speedscope.json"
      assert.equal(3, status)
      local trace <close> = events.lossy()
      local cut, timeline = viewers.speedscope(command.folder .. "/cut.speedscope.json",
         command.file("lossy.speedscope.json", assert(trace:export "speedscope")))
      assert.matches("^cut%.gmon %(damaged: cut%.gmon: .* %(gmon%-truncated%)%)$", cut.name)
      assert.equal("run (damaged: run: 3 records were lost)", timeline.name)
      assert.matches('"exporter":"profio [%d.]+; run: 3 records were lost"',
         (trace:export "speedscope"))
   end)

   it_looks("refuses what is broken", function()
      local text = assert(folded.profile("a;b 3\na 4\n"):export "speedscope")
      assert.is_nil(import(text).error)
      local cut = replaced(text, '"weights":%[4,', '"weights":[')
      assert.matches("samples.length", import(cut).error)
      local trace <close> = events.open "0 enter a\n5 leave a\n"
      local timeline = assert(trace:export "speedscope")
      assert.is_nil(import(timeline).error)
      assert.matches("Failed to load", import(replaced(timeline, ',\n{"type":"C"[^\n]*', "")).error)
   end)

   it_looks("reads Chrome's trace events and folded stacks too", function()
      local trace <close> = names.open()
      local own, _, sum = expected(trace:profile(), names.utf8)
      local chrome, stacks = viewers.speedscope(
         command.file("a.json", assert(trace:export "chrome")),
         command.file("a.collapsedstack.txt", assert(trace:export "folded")))
      local seen = {}
      for name, value in pairs((numbers(chrome.profiles[1]))) do
         -- it shows the arguments of an event behind its name
         seen[name:match "^(.*) {.-}$" or name] = math.floor(value * 1000 + 0.5)
      end
      assert.equal(own.main, seen.main)
      assert.equal(own.plain, seen.plain)
      assert.equal(own["semi;colon;s"], seen["semi;colon;s"])
      assert.equal(sum, stacks.profiles[1].total)
      assert.equal(#names.list + 1, stacks.profiles[1].samples)
   end)
end)

describe("callgrind_annotate", function()
   local it_looks = needs "callgrind"

   local function annotate(text)
      return viewers.callgrind(command.file("callgrind.out", text))
   end

   it_looks("sees the times of a profile", function()
      local profile = random_profile()
      local own, _, sum = expected(profile)
      local seen = annotate(assert(profile:export "callgrind"))
      assert.equal(sum, seen.total)
      assert.same(without_zeros(own), seen.self)
   end)

   it_looks("sees totals of what does not call itself", function()
      local profile = folded.profile "main;parse;read 5\nmain;parse 7\nmain;print 11\nmain 1\n"
      local own, total, sum = expected(profile)
      local seen = annotate(assert(profile:export "callgrind"))
      assert.equal(sum, seen.total)
      assert.same(own, seen.self)
      assert.same(total, seen.inclusive)
   end)

   it_looks("sees what is no time, too", function()
      local seen = annotate(assert(profio.open { data = table.concat {
         "name a\nimage 00\nepoch 199805191724\nplatform p\ntext_start 0x1000\n",
         "text_size 0x1000\nevent 7 imiss:4096:10000\n0x000000001000 3\n0x000000001004 4\n" } })
         :export "callgrind")
      assert.equal(7, seen.total)
      assert.same({ a = 7 }, seen.self)
   end)

   it_looks("sees each metric of a profile", function()
      profio.register { name = "many metrics", score = function() return 0 end,
         tables = { rows = { { "stack", "name" }, { "a", "int" }, { "b", "int" },
            { "c", "int" } } },
         profile = { table = "rows", folded = "stack", metrics = {
            { name = "alloc space", unit = "bytes", column = "a" },
            { name = "time", unit = "ns", column = "b" },
            { name = "misses", unit = "count", column = "c" } } },
         open = function()
            return { rows = function(put)
               put("main;f", 7, 100, 1)
               put("main;g", 0, 20, 0)
               put("main", 5, 0, 2)
            end }
         end }
      local trace <close> = assert(profio.open({ data = "-" }, { format = "many metrics" }))
      local path = command.file("callgrind.out", assert(trace:export "callgrind"))
      for event, wanted in pairs {
         alloc_space = { 12, { f = 7, main = 5 }, { f = 7, main = 12 } },
         time = { 120, { f = 100, g = 20 }, { f = 100, g = 20, main = 120 } },
         misses = { 3, { f = 1, main = 2 }, { f = 1, main = 3 } },
      } do
         local seen = viewers.callgrind(path, event)
         assert.same(wanted, { seen.total, without_zeros(seen.self),
            without_zeros(seen.inclusive) })
      end
      local text = assert(trace:profile():export("callgrind", nil, { metric = "misses" }))
      assert.matches("\nevents: misses\nsummary: 3\n", text)
   end)

   it_looks("names the files of functions, in costs and in calls", function()
      local source = programs.source("files.c", [[
         #include <time.h>
         int twice(int x) {
            volatile int i, s = 0;
            for (i = 0; i < 20000000; i++) s += x;
            return s;
         }
         int main(void) { while (clock() < CLOCKS_PER_SEC / 5) twice(1); return 0; }]])
      local exe, files = programs.profiled("files", source, "")
      local trace <close> = assert(profio.open(files[1], { exe = exe }))
      local text = assert(trace:export "callgrind")
      local file = text:match "\nfl=%(%d+%) ([^\n]*files%.c)\nfn=%(%d+%) twice\n"
      assert.is_truthy(file, text)
      assert.is_nil(text:match "fl=%?%?%?\nfn=%(%d+%) main\n")
      local own, _, sum = expected(trace:profile())
      local seen = annotate(text)
      assert.equal(sum, seen.total)
      assert.same({ own.twice, own.twice }, { seen.self.twice, seen.inclusive.main })
   end)

   it("names events, with their units", function()
      local text = assert(folded.profile "main;f 5\n":export "callgrind")
      assert.matches("\nevent: time : time, ns\nevent: samples : samples\nevents: time samples\n",
         text)
   end)

   it_looks("knows functions whose names are blanks", function()
      local seen = annotate(assert(folded.profile " \t 3\nf 5\n":export "callgrind"))
      assert.same({ "", 8, 3 }, { seen.errors, seen.total, seen.self["(blank)"] })
   end)

   it_looks("keeps names apart", function()
      local trace <close> = names.open()
      local text = assert(trace:export "callgrind")
      local _, _, sum = expected(trace:profile())
      local seen = annotate(text)
      assert.equal("", seen.errors)
      assert.equal(sum, seen.total)
      for i, name in ipairs(names.list) do
         assert.equal(10 * i, seen.self[(names.plain(name))], names.plain(name):sub(1, 40))
      end
   end)

   it_looks("comes to another total where a file is broken", function()
      local text = assert(folded.profile("main;parse 7\nmain 1\n"):export "callgrind")
      assert.equal(8, annotate(text).total)
      local broken = text:gsub("\nsummary: [%d ]+", ""):gsub("\ntotals: [%d ]+", "")
         :gsub("\n0 7 1\n", "\n", 1)
      assert.not_equal(8, annotate(broken).total)
   end)

   it("reports losses", function()
      local _, status = command.run "profio --export callgrind cut.gmon -o lost.callgrind"
      assert.equal(3, status)
      local text = command.read(command.folder .. "/lost.callgrind")
      assert.matches("\ndesc: Damaged: [^\n]*gmon%-", text)
   end)
end)

describe("flamegraph.pl", function()
   local it_looks = needs "flamegraph"

   local function draw(text)
      return viewers.flamegraph(command.file("stacks.folded", text))
   end

   it_looks("draws every stack", function()
      local profile = random_profile()
      local _, total, sum = expected(profile)
      local seen = draw(assert(profile:export "folded"))
      assert.same({ sum, 0 }, { seen.total, seen.ignored })
      local drawn = 0
      for number in seen.svg:gmatch "<title>main %(([%d,]+) samples" do
         drawn = math.max(drawn, tonumber((number:gsub(",", ""))))
      end
      assert.is_true(drawn > 0 and drawn <= total.main)
   end)

   it_looks("draws names so that the picture is XML", function()
      local trace <close> = names.open()
      local seen = draw(assert(trace:export "folded"))
      local whole = names.times()
      assert.same({ whole, 0 }, { seen.total, seen.ignored })
      if viewers.has_xml then
         assert.same({ true, "" }, { viewers.xml(seen.svg) })
      end
      for i, name in ipairs { "plain", "with spaces in it", "semi:colon:s", "com,ma" } do
         local title = ("<title>%s (%d samples"):format(name, 10 * i)
         assert.is_truthy(seen.svg:find(title, 1, true), name)
      end
   end)

   it_looks("reads both columns of a difference", function()
      local new = folded.profile "main;f 750\nmain;g 250\n"
      local old = folded.profile "main;f 250\nmain;g 700\nmain;gone 5\n"
      local text = assert((new - old):export "folded")
      assert.equal("main;f 250 750\nmain;g 700 250\nmain;gone 5 0\n", text)
      local seen = draw(text)
      assert.same({ 1000, 0 }, { seen.total, seen.ignored })
      assert.is_truthy(seen.svg:find("f (750 samples, 75.00%; +50", 1, true))
      assert.equal("main;f 500\n", ((new - old):export("folded", nil, { increases = true })))
   end)

   it("holds no weights below 0", function()
      local change = folded.profile "main;f 1\n" - folded.profile "main;f 2\nmain;g 4\n"
      local bytes, message, code = change:scale(2):export "folded"
      assert.is_nil(bytes)
      assert.matches("cannot show weights below 0", message)
      assert.equal("unsupported", code)
   end)

   it_looks("leaves out lines that are broken, and the picture is not XML", function()
      local text = assert(folded.profile("main;parse 7\nmain 1\n"):export "folded")
      assert.equal(1, draw(text:gsub("parse 7", "parse -7")).ignored)
      if viewers.has_xml then
         assert.is_false((viewers.xml(draw((text:gsub("parse", "p\xff"))).svg)))
      end
   end)
end)

describe("go tool pprof", function()
   local it_looks = os.execute "command -v go >/dev/null 2>&1" and it or pending

   it_looks("sees names as they are", function()
      local trace <close> = names.open()
      assert(trace:export("pprof", command.folder .. "/names.pb.gz"))
      local text = command.run "go tool pprof -raw names.pb.gz"
      local function time_of(name)
         local at = text:find((" M=1 %s :0 s=0"):format(name), 1, true)
         local id = at and text:sub(1, at - 1):match "(%d+): 0x0$"
         return id and tonumber(text:match("%s1%s+(%d+): " .. id .. " 1 \n"))
      end
      for i, name in ipairs { "plain", "with spaces in it", "semi;colon;s", "com,ma",
         "quo\"te'd" } do
         assert.equal(10 * i, time_of(name))
      end
      assert.equal(10 * #names.list, time_of(names.list[#names.list]))
   end)

   it_looks("says of all that was lost how much that is", function()
      local function lossy(count)
         local made = folded.profile "main 1\n"
         for i = 1, count do
            table.insert(made:notes(), "loss " .. i)
         end
         assert(made:export("pprof", command.folder .. "/lossy.pb.gz"))
         return (command.run "go tool pprof -raw lossy.pb.gz")
      end
      assert.is_truthy(lossy(8):find("loss 8", 1, true))
      local text = lossy(12)
      assert.is_truthy(text:find("loss 7", 1, true) and text:find("and 5 more", 1, true))
      assert.is_nil(text:find("loss 8", 1, true))
   end)
end)
