-- Profiles of a recording that goes on, and samples of the last time.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local moved_clock = require "spec.support.moved_clock"
local profio = require "profio"
local recorded = require "spec.support.recorded"

local run = recorded.run
local it_moves = moved_clock.is_there() and it or pending

-- Functions that compute for some milliseconds; the clock of the program moves by so many.
local prelude = [[
local recorder = require "profio.recorder"
local profio = require "profio"
local moved, clock = pcall(require, "clock")
local function busy(ms)
   if moved then clock.advance(ms * 1000000) end
   local n = 0
   for i = 1, 3000000 do n = n + i end
   return n
end
local function early(ms) return busy(ms) + 1 end
local function late(ms) return busy(ms) + 1 end
local function totals_of(profile)
   local totals = {}
   for name, total in profile:flat { metric = "time" }:each("function", "total") do
      totals[name] = total / 1e9
   end
   return totals
end
local function dumped(given)
   local bytes
   assert(recorder.dump(function(all) bytes = all end, given))
   return totals_of(profio.open { data = bytes }:profile())
end
]]

describe("a dump", function()
   it("has what was sampled so far, without itself, and the recording goes on", function()
      local path = recorded.path "goes-on.br"
      local output, status = run(prelude .. ([[
assert(recorder.start { mode = "sampled", path = %q, clock = "cpu" })
early(100)
local first = dumped()
late(100)
local second = dumped()
print(first.early > 0, first.late, second.early == first.early, second.late > 0)
print(first["recorder.dump"], first["profile.export"])
print(recorder.stop().profile)
]]):format(path))
      assert.same({ "true\tnil\ttrue\ttrue\nnil\tnil\nnil\n", 0 }, { output, status })
      local trace <close> = assert(profio.open(path))
      assert.is_true(trace:profile():flat():where { ["function"] = "late" }:rows()[1].total > 0)
   end)

   it_moves("has the samples of the last time, if they are kept", function()
      local output, status = run(prelude .. [[
assert(recorder.start { mode = "sampled", keep = "150ms", clock = "wall" })
early(100)
late(100)
local all, last = dumped(), dumped { last = "50ms" }
early(200)
local now = dumped()
print(("%.2f %.2f %s %.2f %.2f %s"):format(all.early, all.late, last.early, last.late, now.early,
   now.late)) -- a sample may be in main
local info = recorder.stop()
print(info.failure, info.lost, totals_of(info.profile).late)
]], nil, 0)
      assert.same({ "0.10 0.10 nil 0.10 0.20 nil\nnil\t0\tnil\n", 0 }, { output, status })
   end)

   it("has the open calls of sums with their time, and counts each call once", function()
      local output, status = run(prelude .. [[
assert(recorder.start { mode = "aggregate", lines = false })
local function whole()
   local inside
   early(50)
   busy(50)
   recorder.dump(function(bytes) inside = profio.open { data = bytes }:profile() end)
   recorder.dump(function(bytes) inside = profio.open { data = bytes }:profile() end)
   return inside
end
local inside = whole()
local stopped = recorder.stop().profile
print(totals_of(inside).whole > totals_of(inside).early,
   totals_of(inside).whole < totals_of(stopped).whole)
for _, profile in ipairs { inside, stopped } do
   for name, calls in profile:flat { metric = "calls" }:each("function", "self") do
      if name == "whole" or name == "early" then print(name, calls) end
   end
end
]])
      assert.equal(0, status)
      assert.matches("^true\ttrue\n", output)
      assert.same({ 2, 2 }, { select(2, output:gsub("whole\t1\n", "")),
         select(2, output:gsub("early\t1\n", "")) })
   end)

   it("has the memory of the moment", function()
      local output, status = run [[
local recorder = require "profio.recorder"
local profio = require "profio"
local keep = {}
assert(recorder.start { mode = "memory", exact = true })
local function make() for i = 1, 1000 do keep[i] = { i } end end
local function alive()
   local bytes
   recorder.dump(function(all) bytes = all end)
   for name, own in profio.open { data = bytes }:profile():flat { metric = "inuse_objects" }
      :each("function", "self") do
      if name == "make" then return own end
   end
end
make()
local before = alive()
keep = {}
collectgarbage()
print(before, alive())
]]
      assert.same({ "2001\n", 0 }, { output, status })
   end)

   it("is a file with the export of its ending; wrong use raises", function()
      local path = recorded.path "dump.folded"
      local output = run(prelude .. ([[
print(pcall(recorder.dump, "x.svg"))
assert(recorder.start { mode = "sampled" })
early(20)
recorder.pause()
print(recorder.dump(%q))
early(20)
print(pcall(recorder.dump))
print(pcall(recorder.dump, "x.svg", { last = "5s" }))
print(pcall(recorder.dump, "x.svg", { lats = "5s" }))
print(recorder.dump "missing/x.svg")
recorder.stop()
recorder.start { mode = "timed", path = "x.br" }
print(pcall(recorder.dump, "x.svg"))
print(select(2, pcall(recorder.start, { mode = "timed", keep = "5s" })))
]]):format(path))
      for _, what in ipairs { "nothing is recorded\ntrue\n", "expects a path or a function\n",
         "'last' must be a time of at most", "did you mean 'last'",
         "missing/x.svg: cannot be written",
         "mode timed is read while it is written: profio --follow\n" } do
         assert.is_truthy(output:find(what, 1, true), what .. "\n" .. output)
      end
      assert.matches("early;busy %d+\n", command.read(path))
   end)
end)

describe("a server that is recorded", function()
   local has_socket = pcall(require, "socket")
   local test = has_socket and os.execute "command -v go >/dev/null 2>&1" and it or pending

   test("gives its profile to go tool pprof", function()
      local socket = require "socket"
      local probe = assert(socket.bind("127.0.0.1", 0))
      local _, port = probe:getsockname()
      probe:close()
      local output, status = command.run(([[
%s lua5.4 '%s/examples/14-server.lua' %d & server=$!
mkdir -p home && export HOME=$PWD/home
lua5.4 -e 'local connect, c = require("socket").connect, nil
   for _ = 1, 1000000 do c = c or connect("127.0.0.1", %d) end
   os.exit(c:send "GET / HTTP/1.0\r\n\r\n" and #c:receive "*a" > 1000)' && echo answered
go tool pprof -top 'http://127.0.0.1:%d/debug/pprof/profile?seconds=1'; status=$?
kill $server
exit $status]]):format(command.in_tree, command.root, port, port, port))
      assert.equal(0, status)
      assert.matches("^answered\n.*Type: time\n", output)
      assert.matches("tcp{%w+}:accept\n", output)
   end)
end)
