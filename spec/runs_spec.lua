-- Several files as one trace: each is a separate run, whose clock may start again.
--
-- Tags: user, stressed.

local profio = require "profio"

require "spec.support.events"

local one = "0 enter main a\n10 enter f a\n14 leave f a\n20 leave main a\n"
local two = "2 enter main a\n5 enter f a\n8 leave f a\n" -- main does not end

local function open(...)
   local list = {}
   for i, lines in ipairs { ... } do
      list[i] = { data = "EVENTS\n" .. lines }
   end
   return assert(profio.open(list))
end

-- The rows of calls as lines.
local function told(calls)
   local list = {}
   for r in calls:records() do
      list[#list + 1] = ("%s %d-%d net %d%s"):format(r.area, r.start, r.stop, r.net,
         r.flags and " " .. r.flags or "")
   end
   return list
end

describe("the calls of several files", function()
   it("are those of each file, whatever its clock says", function()
      local trace <close> = open(one, two, one)
      assert.same({ "f 10-14 net 4", "main 0-20 net 16", "f 5-8 net 3", "main 2-8 net 3 open",
         "f 10-14 net 4", "main 0-20 net 16" }, told(trace:calls()))
   end)

   it("have the sums of all files", function()
      local trace <close> = open(one, two, one)
      local rows = {}
      for r in trace:call_statistics { by = "area" }:records() do
         rows[r.area] = { r.count, r.net, r.gross, r.net_max, r.period_max }
      end
      assert.same({ main = { 3, 35, 46, 16 }, f = { 3, 11, 11, 4 } }, rows)
      local flat = {}
      for name, self, total in trace:profile():flat():each("function", "self", "total") do
         flat[name] = { self, total }
      end
      assert.same({ main = { 35, 46 }, f = { 11, 11 } }, flat)
   end)

   it("have the latest stop of all files", function()
      local trace <close> = open(one, two)
      local expected, stops = {}, {}
      for r in trace:calls():group("area"):aggregate { "stop = max(stop)" }:records() do
         expected[r.area] = r.stop
      end
      assert.same({ main = 20, f = 14 }, expected)
      for area, stop in trace:call_statistics():each("area", "last_stop") do
         stops[area] = stop
      end
      assert.same(expected, stops)
   end)

   it("lie in a span of time of each file", function()
      local trace <close> = open(one, two, one)
      assert.same({ "f 10-12 net 2 cut", "main 6-12 net 4 cut", "f 6-8 net 2 cut",
         "main 6-8 net 0 cut open", "f 10-12 net 2 cut", "main 6-12 net 4 cut" },
         told(trace:calls { from = 6, to = 12 }))
      local net = {}
      for r in trace:call_statistics { by = "area", from = 6, to = 12 }:records() do
         net[r.area] = r.net
      end
      assert.same({ main = 8, f = 6 }, net)
      local self = {}
      for name, spent in trace:profile { from = 6, to = 12 }:flat():each("function", "self") do
         self[name] = spent
      end
      assert.same({ main = 8, f = 6 }, self)
   end)

   it("begin again also if one file continues the other", function()
      local trace <close> = open("0 enter f a\n", "5 leave f a\n6 enter g a\n9 leave g a\n")
      assert.same({ "f 0-0 net 0 open", "f 5-5 net 0 orphan", "g 6-9 net 3" },
         told(trace:calls()))
   end)

   it("are those of a file alone, also of states that were not entered in it", function()
      local states = "0 enter main a\n2 leave state:v=1 -\n5 leave main a\n"
      local alone <close> = open(states)
      assert.same({ "v=1 0-2 net 2 orphan", "main 0-5 net 5" }, told(alone:calls()))
      for _, first in ipairs { one, states, "7 enter state:v=1 -\n" } do
         local before <close> = open(first)
         local both <close> = open(first, states)
         local expected = told(before:calls())
         table.move(told(alone:calls()), 1, 2, #expected + 1, expected)
         assert.same(expected, told(both:calls()))
      end
   end)

   it("have the edges and the end of each file", function()
      local trace <close> = open(one, two, one)
      local function outside(options)
         options.edges = "include"
         for r in trace:call_statistics(options):records() do
            if r.area == "f" then
               return { r.outside, r.outside_min, r.outside_max, r.last_stop }
            end
         end
      end
      -- 10 and 6 in the first and third file, 3 and 0 in the second
      assert.same({ 35, 0, 10, 14 }, outside {})
      assert.same({ 10 + 16 + 3 + 22 + 10 + 16, 3, 22, 14 }, outside { last = 30 })
      assert.same({ "f 10-14 net 4", "main 0-20 net 16", "f 5-8 net 3", "main 2-30 net 25 open",
         "f 10-14 net 4", "main 0-20 net 16" }, told(trace:calls { last = 30 }))
   end)

   it("lie in the span of time also if another file begins after it", function()
      local trace <close> = open("30 enter f a\n40 leave f a\n", one)
      assert.same({ "f 10-12 net 2 cut", "main 0-12 net 10 cut" },
         told(trace:calls { to = 12 }))
      assert.same({ "f 10-12 net 2 cut", "main 6-12 net 4 cut" },
         told(trace:calls { from = 6, to = 12 }))
   end)

   it("know a file that is given twice", function()
      local trace <close> = open(one, one)
      local files = {}
      for file in trace.events:group("file"):each "file" do
         files[#files + 1] = file
      end
      assert.same({ "(data)", "(data) (2)" }, files)
   end)
end)

describe("timelines of several files", function()
   it("are none where the runs overlap", function()
      local trace <close> = open(one, two)
      for _, kind in ipairs { "chrome", "btf" } do
         local bytes, message, code = trace:export(kind)
         assert.same({ nil, "unsupported" }, { bytes, code })
         assert.matches("runs whose times overlap", message)
      end
      local text = assert(trace:export "speedscope")
      assert.matches('"type":"sampled"', text)
      assert.matches('"name":"[^"]*%(without the timeline: its files are runs', text)
      assert.matches('"Left out"[^}]*without the timeline', (trace:export "firefox"))
      local page = assert(trace:export "html")
      assert.is_nil(page:find('"timeline":', 1, true))
      assert.matches("This page is without the timeline: its files are runs", page)
   end)

   it("go on where they do not", function()
      local later = one:gsub("%f[%d](%d+)", function(time) return tostring(time + 100) end)
      local trace <close> = open(one, later)
      assert.matches('"type":"evented"', (trace:export "speedscope"))
      assert.matches('"traceEvents"', (trace:export "chrome"))
   end)
end)

describe("tables of several files", function()
   it("keep a column file of their own", function()
      local text = { data = "* HANDLE(Functions) %HANDLE%,%NAME%,%FILE%,%VALUE%\n1,f,/a.c,\n" }
      local trace <close> = assert(profio.open { text, text })
      assert.same({ { area = "f", file = "/a.c", trace_file = "(data)" },
         { area = "f", file = "/a.c", trace_file = "(data) (2)" } },
         trace.areas:rows("area", "file", "trace_file"))
   end)
end)

describe("XppPat's table of several files", function()
   it("adds them up, shares included", function()
      local command = require "spec.support.command"
      local paths = {}
      for i = 1, 2 do
         local w = assert(profio.create(nil, { format = "xpp", params = false }))
         for _, entry in ipairs { { 4, "I", "MAIN" }, { 4, "I", "A" }, { 105, "O", "A" },
            { 200, "O", "MAIN" } } do
            w:write { thread = 1, time = entry[1] * 1000000, op = entry[2], call = entry[3] }
         end
         paths[i] = command.file("run" .. i .. ".prf", (w:close()))
      end
      local function rows(...)
         return (command.run("profio --report xpppat --output csv --columns "
            .. "call,numbers,timeclear,percclear " .. table.concat({ ... }, " ")))
      end
      assert.equal("call,numbers,timeclear,percclear\nA,1,101,50.5\nMAIN,1,95,47.5\nSum,0,0,98\n",
         rows(paths[1]))
      assert.equal("call,numbers,timeclear,percclear\nA,2,202,50.5\nMAIN,2,190,47.5\nSum,0,0,98\n",
         rows(paths[1], paths[2]))
      assert.equal("call,numbers,timeclear,percclear\nA,2,192,96\nMAIN,2,0,0\nSum,0,0,96\n",
         rows("--to 100ms", paths[1], paths[2]))
   end)
end)
