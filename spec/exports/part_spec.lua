-- Exports of a part of a trace (--from, --to and --lane), compared with the calls of that part.

local btf = require "spec.support.btf"
local events = require "spec.support.events"
local firefox = require "spec.support.firefox"
local flames = require "spec.support.flames"
local json = require "dkjson"
local page_calls = require "spec.support.page_calls"
local profio = require "profio"

local function program()
   math.randomseed(71)
   return events.open((events.program(4000)))
end

local part = { from = 700, to = 1600 }

-- Returns number and net time of the calls of each lane.
local function calls_of(trace, options, lane)
   local counts, own = {}, 0
   local rows = trace:calls { from = options.from, to = options.to }
   if lane then
      rows = rows:where { lane = lane }
   end
   for row in rows:records() do
      counts[row.lane] = (counts[row.lane] or 0) + 1
      own = own + row.net
   end
   return counts, own
end

local function with(lane)
   return { from = part.from, to = part.to, lane = lane }
end

describe("exports of a part", function()
   for _, lane in ipairs { "all", "task2" } do
      local wanted = lane ~= "all" and lane or nil

      it("by chrome: calls, lane " .. lane, function()
         local trace <close> = program()
         local counts, own = calls_of(trace, part, wanted)
         local seen, net, titles = {}, 0, {}
         local decoded = json.decode(assert(trace:export("chrome", nil, with(wanted))))
         for _, event in ipairs(decoded.traceEvents) do
            if event.name == "thread_name" then
               titles[event.tid] = event.args.name
            elseif event.ph == "E" then
               seen[titles[event.tid]] = (seen[titles[event.tid]] or 0) + 1
               net = net + event.args.net
            end
            local ns = event.ts and event.ts * 1000
            assert.is_true(not ns or ns >= part.from - 0.5 and ns <= part.to + 0.5)
         end
         assert.same({ counts, own }, { seen, net })
      end)

      it("by firefox: samples and markers, lane " .. lane, function()
         local trace <close> = program()
         local counts, own = calls_of(trace, part, wanted)
         local breaches, seen = firefox.check(assert(trace:export("firefox", nil, with(wanted))))
         assert.same({}, breaches)
         local pairs_of, sum = {}, 0
         for _, thread in ipairs(seen.threads) do
            pairs_of[thread.name] = thread.pairs
            sum = sum + thread.sums.sum
            assert.same({ 0, (part.to - part.from) / 1e6 }, { thread.first, thread.last })
         end
         assert.same(counts, pairs_of)
         assert.equal(own, math.floor(sum * 1e6 + 0.5))
      end)

      it("by speedscope: what opens and closes, lane " .. lane, function()
         local trace <close> = program()
         local counts = calls_of(trace, part, wanted)
         local decoded = json.decode(assert(trace:export("speedscope", nil, with(wanted))))
         local seen = {}
         for _, profile in ipairs(decoded.profiles) do
            local depth, last = 0, 0
            for _, event in ipairs(profile.events) do
               depth = depth + (event.type == "O" and 1 or -1)
               assert.is_true(depth >= 0 and event.at >= last)
               last = event.at
            end
            assert.same({ 0, part.to - part.from }, { depth, profile.endValue })
            seen[profile.name] = #profile.events // 2
         end
         assert.same(counts, seen)
      end)

      it("by html: functions, calls and strips, lane " .. lane, function()
         local trace <close> = program()
         local counts, own = calls_of(trace, part, wanted)
         local page = assert(trace:export("html", nil, with(wanted)))
         assert.is_truthy(page:find("<dt>from</dt><dd>700 ns</dd>", 1, true))
         local data = json.decode(page:match 'id="data">(.-)</script>')
         local seen, sum, total = {}, 0, 0
         for _, track in ipairs(data.timeline.tracks) do
            local list = page_calls.of(track)
            for i, call in ipairs(list) do
               assert.is_true(i == 1 or list[i - 1].start <= call.start)
               assert.is_true(call.start + call.length <= data.timeline.length)
            end
            seen[track.name] = #list
            total = total + #list
         end
         for _, self in ipairs(data.table.self[1]) do
            sum = sum + self
         end
         assert.equal("time", data.metrics[1].name)
         assert.same({ counts, own, part.to - part.from }, { seen, sum, data.timeline.length })
         assert.is_true(total > 50)
         assert.equal(wanted and 1 or 3, #data.timeline.tracks)
      end)

      it("by folded, callgrind, pprof and svg: their profile, lane " .. lane, function()
         local trace <close> = program()
         local _, own = calls_of(trace, part, wanted)
         local sum = 0
         for weight in trace:export("folded", nil, with(wanted)):gmatch " (%d+)\n" do
            sum = sum + weight
         end
         assert.equal(own, sum)
         local text = trace:export("callgrind", nil, with(wanted))
         assert.matches("\nsummary: " .. own .. "\n", text)
         assert.equal(own, flames.read(assert(trace:export("svg", nil, with(wanted))))[1].total)
         text = trace:export("pprof", nil, with(wanted))
         local again <close> = assert(profio.open { data = text })
         for _, metric in ipairs(again:profile():metrics()) do
            assert.is_true(metric.name ~= "time" or metric.total == own)
         end
      end)
   end

   it("by btf: open calls begin with the selected time", function()
      local trace <close> = program()
      local text = assert(trace:export("btf", nil, with()))
      local breaches, facts = btf.check(text)
      assert.same({}, breaches)
      assert.is_true(facts ~= nil)
      assert.is_nil(text:find("that began before are left out", 1, true))
      local open, starts = 0, 0
      for row in trace:calls { from = part.from, to = part.to }:records() do
         open = open + ((row.flags or ""):find "cut" and row.start == part.from and 1 or 0)
      end
      for line in text:gmatch "[^\n]+" do
         starts = starts + (line:find "^0,.*,R,.*,start$" and 1 or 0)
      end
      assert.is_true(open > 0)
      assert.equal(open, starts)
      text = assert(trace:export("btf", nil, with "task2"))
      assert.same({}, (btf.check(text)))
      assert.is_nil(text:find("task1", 1, true))
   end)

   it("by the command, where parts of the whole and lanes have their words", function()
      local lines = [[
0 enter program a
10 enter f a
30 leave f a
40 enter isr b
45 leave isr b
60 leave program a
]]
      local text = events.fine(lines, "--export", "speedscope", "--from", "20", "--to", "35")
      assert.same({ "a" }, { json.decode(text).profiles[1].name, json.decode(text).profiles[2] })
      text = events.fine(lines, "--export", "chrome", "--lane", "b")
      assert.is_nil(text:find("program", 1, true))
      text = events.fine(lines, "--export", "html", "--lane", "a,b", "--to", "50%")
      assert.is_truthy(text:find('"length":30,', 1, true))
      text = events.fine(lines, "--export", "btf", "--lane", "b", "--set", "stimuli=no")
      assert.is_nil(text:find("program", 1, true))
      local _, status, errors = events.command("", "--export", "firefox", "--lane", "nobody")
      assert.same({ 0, "" }, { status, errors })
      for _, kind in ipairs { "chrome", "svg" } do
         _, status, errors = events.command(lines, "--export", kind, "--lane", "nobody")
         assert.equal(0, status)
         assert.is_truthy(errors:find("no lane is 'nobody'; there are: a, b", 1, true))
      end
   end)

   it("are wrong use where there are no events", function()
      local command = require "spec.support.command"
      for _, kind in ipairs { "svg", "html", "speedscope", "folded" } do
         local _, status, errors = command.run("profio --export " .. kind .. " --from 1ms gmon.out")
         assert.equal(2, status)
         assert.matches("select from events or samples with times, and gmon.out has neither",
            errors)
      end
      local trace <close> = assert(profio.open(command.folder .. "/gmon.out"))
      assert.error_matches(function() trace:export("folded", nil, { from = 5 }) end,
         "its profile is of the whole")
   end)
end)
