-- The counts of the recorder in programs whose truth is known by construction, and that it leaves
-- these programs alone.
--
-- Costly: many commands; the other specs of the recorder run the same C code.
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local recorded = require "spec.support.recorded"

local calls, lines, run, trace_of = recorded.calls, recorded.lines, recorded.run, recorded.trace

local modes = { "timed", "sampled", "calls", "aggregate" }

-- A trace of mode calls as PRF, and one as winIDEA's, should say the same.
local ways_of_calls = { "mode=calls,format=winidea", "mode=calls,format=xpp" }

describe("mode timed", function()
   it("counts each line", function()
      local trace <close> = trace_of([[
local function f(x)
   return x + 1
end
for i = 1, 1000 do
   local a = f(i)
   if i % 10 == 0 then
      a = a + 1
   end
end
local one_line = 0; for i = 1, 50 do one_line = one_line + i end
]], "mode=timed")
      local counts = lines(trace)
      -- a function is made where it ends; a line that loops within itself begins again
      assert.same({ [2] = 1000, [4] = 1001, [5] = 1000, [6] = 1000, [7] = 100,
         [3] = 1, [10] = 50 }, counts)
      assert.equal("timed", trace.info.dialect)
   end)

   it("charges a line with its time after a call", function()
      local trace <close> = trace_of([[
local function quick()
   return 1
end
local function slow() local t = 0; for i = 1, 300000 do t = t + i end return t end
local x = quick() + slow() + #(("x"):rep(1000))
]], "mode=timed")
      local counts, spent = lines(trace)
      assert.equal(1, counts[2])
      assert.equal(1, counts[5])
      assert.equal(300000, counts[4] - 1) -- its definition is a line too
      assert.is_true(spent[4] > 100 * spent[2])
   end)

   it("names functions, C functions and the main chunk", function()
      local trace <close> = trace_of([[
local t = {}
function t.method() return math.floor(1.5) end
t.method()
]], "mode=timed")
      local seen = {}
      for module, line, name, kind in trace:each("module", "line", "function", "kind") do
         seen[#seen + 1] = { module, line, name, kind }
      end
      assert.same({ { "prog.lua", 1, nil, "main" }, { "prog.lua", 2, nil, "main" },
         { "[C]", 0, "math.floor", "function" }, { "prog.lua", 2, "t.method", "function" },
         { "prog.lua", 3, nil, "main" } }, seen)
   end)

   it("has callers if option backtraces is set", function()
      local trace <close> = trace_of([[
local function inner() return 1 end
local function outer()
   local x = inner()
   return x
end
outer()
]], "mode=timed,backtraces=true", { semantics = "self" })
      local found
      for name, stack in trace:each("function", "stack") do
         if name == "inner" then
            found = trace:stack(stack)
         end
      end
      local where = {}
      for _, frame in ipairs(found) do
         where[#where + 1] = frame.area .. ":" .. frame.line
      end
      assert.same({ "inner:1", "outer:3", "prog.lua:6" }, where)
   end)
end)

-- A program of calls of every kind, and how often each function is called.
local every_kind = [[
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
fib(10)
local function tail(n) if n > 0 then return tail(n - 1) end end
tail(100)
local function thrower(n) if n == 0 then error "deep" end thrower(n - 1) end
local function catcher() return pcall(function() thrower(5) end) end
for _ = 1, 10 do catcher() end
local function after() end
after()
local function body(n) for i = 1, n do coroutine.yield(i) end end
local co = coroutine.create(function(n) body(n) end)
while coroutine.resume(co, 3) do end
local function failing() coroutine.yield() error "in coroutine" end
for _ = 1, 4 do
   local f = coroutine.wrap(function() failing() end)
   f()
   pcall(f)
end
local function closer() local c <close> = setmetatable({}, { __close = function() after() end })
   error "closed" end
pcall(function() closer() end)
table.sort({ 3, 1, 2 }, function(a, b) after() return a < b end)
local gone = coroutine.wrap(function() after() coroutine.yield() end)
gone()
]]

local truth = { fib = 177, tail = 101, thrower = 60, catcher = 10, body = 1, failing = 4,
   closer = 1, ["coroutine.yield"] = 8, ["coroutine.create"] = 1, ["coroutine.resume"] = 5,
   ["coroutine.wrap"] = 5, ["table.sort"] = 1, error = 15, pcall = 15 }

local function wanted_of(counts)
   local wanted = {}
   for name in pairs(truth) do
      wanted[name] = counts[name]
   end
   return wanted
end

describe("mode calls", function()
   for _, settings in ipairs(ways_of_calls) do
      it("counts recursion, tail calls, errors and coroutines: " .. settings, function()
         local trace <close> = trace_of(every_kind, settings)
         assert.same(truth, wanted_of(calls(trace)))
         local enters, leaves = 0, 0
         for event in trace:table("events"):each "event" do
            enters = enters + (event == "enter" and 1 or 0)
            leaves = leaves + (event == "leave" and 1 or 0)
         end
         assert.equal(enters, leaves)
      end)
   end

   it("has a lane for each coroutine, with its own time", function()
      local trace <close> = trace_of([[
local function spin(n) local t = 0 for i = 1, n do t = t + i end return t end
local function body() for _ = 1, 3 do spin(50000) coroutine.yield() end end
local one, two = coroutine.wrap(body), coroutine.wrap(body)
for _ = 1, 4 do one() two() spin(50000) end
]], "mode=calls")
      local by_lane, sum, whole = {}, 0, nil
      for lane, area, net, call in trace:calls():each("lane", "area", "net", "call") do
         local counts = by_lane[lane] or {}
         by_lane[lane], counts[area] = counts, (counts[area] or 0) + 1
         sum = sum + net
         whole = area == "prog.lua" and call or whole
      end
      assert.equal(4, by_lane["core 0"].spin)
      assert.equal(3, by_lane["core 1"].spin)
      assert.equal(3, by_lane["core 2"].spin)
      assert.equal(whole, sum) -- no time is counted twice, and none is lost
   end)

   it("distinguishes functions that are called from one place", function()
      local trace <close> = trace_of([[
function none() end function one(a) end function all(...) end
local up = 1
function upvalue() return up end function nested() return function(a)
   return function(a, b) end end end
local list = { none, math.floor, one, tostring, all, upvalue, math.ceil, type }
for i = 1, 800 do list[i * 7 % 8 + 1](i) end
for _ = 1, 30 do local outer = nested() local inner = outer() inner() end
local again = coroutine.wrap(function() while true do none() coroutine.yield() end end)
for _ = 1, 20 do again() one() end
]], "mode=calls")
      local wanted = { none = 120, one = 120, all = 100, upvalue = 100, nested = 30,
         ["function at prog.lua:3"] = 30, ["function at prog.lua:4"] = 30, tostring = 100,
         type = 100, ["math.floor"] = 100, ["math.ceil"] = 100 }
      local counts, found = calls(trace), {}
      for name in pairs(wanted) do
         found[name] = counts[name]
      end
      assert.same(wanted, found)
   end)

   it("knows a chunk from one that lies where it lay", function()
      local trace <close> = trace_of([[
for i = 1, 200 do
   (load("return (function() end)()", ("=%s chunk %d"):format(("x"):rep(i % 50), i)))()
   collectgarbage()
end
]], "mode=calls")
      local counts = calls(trace)
      for i = 1, 200 do
         local name = ("%s chunk %d"):format(("x"):rep(i % 50), i)
         assert.equal(1, counts[("function at %s:1"):format(name)], name)
      end
   end)

   it("cuts names that are too long", function()
      for _, settings in ipairs(ways_of_calls) do
         local trace <close> = trace_of(("local t = {} function t.%s() end t.%s()"):format(
            ("n"):rep(300), ("n"):rep(300)), settings)
         assert.equal(1, calls(trace)["t." .. ("n"):rep(settings:find "xpp" and 78 or 253)])
      end
   end)

   it("gives a lane to another coroutine when one has ended", function()
      local trace <close> = trace_of([[
local function f() coroutine.yield() end
for i = 1, 600 do
   local co = coroutine.create(f)
   coroutine.resume(co)
   if i % 2 == 0 then coroutine.resume(co) else coroutine.close(co) end
end
]], "mode=calls")
      local lanes = {}
      for lane, n in trace:calls():where { area = "f" }:group("lane")
         :aggregate { "n = count" }:each("lane", "n") do
         lanes[#lanes + 1] = { lane, n }
      end
      assert.same({ { "core 1", 600 } }, lanes)
   end)

   it("finds coroutines that were made before", function()
      local trace <close> = trace_of([[
local recorder = require "profio.recorder"
local function old() for _ = 1, 3 do coroutine.yield() end end
local co = coroutine.create(old)
coroutine.resume(co)
recorder.start { mode = "calls", path = "prog.out" }
local function fresh() end
fresh()
coroutine.resume(co)
coroutine.resume(co)
fresh()
print(recorder.stop().lost)
]])
      local counts = calls(trace)
      assert.equal(1, counts.old)
      assert.equal(2, counts.fresh)
      assert.equal(2, counts["coroutine.resume"])
      assert.equal(3, counts["coroutine.yield"]) -- one of them had begun before
   end)

   it("counts a call once that is open while recording pauses", function()
      local trace <close>, output = trace_of([[
local recorder = require "profio.recorder"
local function f() end
recorder.start { mode = "calls", path = "prog.out" }
f()
recorder.pause()
f() f() f()
recorder.resume()
f()
local info = recorder.stop()
print(recorder.is_recording(), info.lost, info.failure)
]])
      local counts = calls(trace)
      assert.equal(2, counts.f)
      assert.equal(1, counts["prog.lua"]) -- it was open all the time
      assert.equal("false\t0\tnil\n", output)
   end)

   it("goes on when the running coroutine has ended while recording pauses", function()
      local trace <close>, output = trace_of([[
local recorder = require "profio.recorder"
local function f() end
local function pausing() f() recorder.pause() end
recorder.start { mode = "calls", path = "prog.out" }
for _ = 1, 100 do
   coroutine.wrap(pausing)()
   coroutine.wrap(string.rep)("x", 500)
   recorder.resume()
   f()
end
print(recorder.stop().lost)
]])
      assert.equal(200, calls(trace).f)
      assert.equal("0\n", output)
   end)
end)

describe("mode aggregate", function()
   it("counts the same as mode calls", function()
      local output = run(([[
local recorder = require "profio.recorder"
recorder.start { mode = "aggregate" }
local function program()
%s
end
program()
local info = recorder.stop()
for name, calls in info.profile:flat { zeros = true }:each("function", "calls") do
   print(name, calls)
end
]]):format(every_kind))
      local counts = {}
      for name, count in output:gmatch "(%S[^\t\n]*)\t(%d+)" do
         counts[name] = math.tointeger(tonumber(count))
      end
      assert.same(truth, wanted_of(counts))
   end)

   it("records callers up to a depth", function()
      local output = run [[
local recorder = require "profio.recorder"
recorder.start { mode = "aggregate", lines = false, depth = 5 }
local function down(n) if n > 0 then down(n - 1) end end
down(1000)
local info = recorder.stop()
for depth, name, calls in info.profile:tree():each("depth", "function", "calls") do
   print(depth, name, calls)
end
]]
      -- main, then down: three deep with one call each, and all the others
      assert.equal("1\tprog.lua\t1\n2\tdown\t1\n3\tdown\t1\n4\tdown\t1\n5\tdown\t998\n",
         output)
   end)

   it("writes pprof", function()
      local trace <close> = trace_of(every_kind, "mode=aggregate")
      assert.equal("pprof", trace.format)
      local found = false
      for name in trace:profile():flat():each "function" do
         found = found or name == "fib"
      end
      assert.is_true(found)
   end)
end)

describe("a recorded program", function()
   -- Its output does not depend on who looks.
   local program = every_kind .. [[
local function show(...)
   local t = table.pack(...)
   for i = 1, t.n do t[i] = tostring(t[i]):gsub("0x%x+", "ADDRESS") end
   print(table.concat(t, " ", 1, t.n))
end
local co
show(pcall(coroutine.wrap(function() error "text" end)))
show(pcall(coroutine.wrap(function() error { 1 } end)))
show(pcall(coroutine.wrap(function() local x = nil + 1 end)))
show(pcall(coroutine.wrap(function() end)))
local dead = coroutine.wrap(function() end) dead()
show(pcall(dead))
show(pcall(coroutine.resume))
show(pcall(coroutine.wrap))
show(pcall(coroutine.create, 1))
co = coroutine.create(function(...) local a, b = ... a, b = coroutine.yield(b, a) error(a) end)
show(coroutine.resume(co, 1, 2)) show(coroutine.status(co)) show(coroutine.resume(co, "x"))
show(coroutine.status(co)) show(coroutine.resume(co)) show(coroutine.close(co))
co = coroutine.wrap(function()
   local c <close> = setmetatable({}, { __close = function(_, e) show("closing", e) end })
   error "with variables" end)
show(pcall(co))
show(coroutine.isyieldable(), coroutine.running())
co = coroutine.create(function() show(coroutine.isyieldable()) show(debug.traceback "here") end)
show(coroutine.resume(co))
show(xpcall(function() error "handled" end, debug.traceback))
co = coroutine.create(function() local c <close> = setmetatable({}, { __close = function()
   error "closing" end }) coroutine.yield() end)
coroutine.resume(co)
show(coroutine.close(co)) show(coroutine.status(co)) show(pcall(coroutine.close))
show(pcall(coroutine.close, (coroutine.running())))
show(select("#", coroutine.resume(coroutine.create(function() return nil, nil end))))
show(pcall(string.rep))
local mt = setmetatable({}, { __gc = function() collected = true end })
mt = nil collectgarbage() show(collected)
for w in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do show(w) end
io.stdout:write("end\n")
]]

   for _, mode in ipairs(modes) do
      it("behaves the same: mode " .. mode, function()
         local plain, plain_status = run(program)
         local output, status, errors = run(program,
            "mode=" .. mode .. ",path=" .. recorded.path "same.out")
         assert.equal(plain_status, status)
         assert.equal("", mode == "sampled" and errors:gsub("^[^\n]*: no samples: [^\n]*\n$", "")
            or errors)
         assert.equal(plain, output)
         assert.is_truthy(plain:find("end\n", 1, true))
      end)
   end

   it("may recurse until the stack overflows", function()
      local recursion = [[
local function down(n) return 1 + down(n + 1) end
local function wide(...) return 1 + wide(1, ...) end -- a frame has its arguments twice
print((select(2, pcall(down, 1)):match "stack overflow"))
print((select(2, pcall(wide, 1)):match "stack overflow"))
]]
      for _, mode in ipairs(modes) do
         local output = run(recursion, "mode=" .. mode .. ",path=" .. recorded.path "deep.out")
         assert.equal("stack overflow\nstack overflow\n", output)
      end
   end)

   it("may end in the middle", function()
      for _, ending in ipairs { "os.exit(7)", "os.exit(7, true)" } do
         local trace <close>, _, status = trace_of([[
local function deep(n) if n == 0 then ]] .. ending .. [[ end deep(n - 1) end
deep(10)
]], "mode=calls")
         assert.equal(7, status)
         assert.equal(11, calls(trace).deep)
         assert.same({}, trace.warnings)
      end
   end)

   it("may fail", function()
      local trace <close>, _, status = trace_of("local function f() error 'x' end\nf()\n",
         "mode=timed")
      assert.equal(1, status)
      assert.equal(2, lines(trace)[1])
   end)

   it("may be killed without losing records", function()
      local trace <close> = trace_of([[
local function f() end
for _ = 1, 1000 do f() end
local stat <close> = io.open "/proc/self/stat"
os.execute("kill -9 " .. stat:read "n")
]], "mode=timed")
      local count = 0
      for name in trace:each "function" do
         count = count + (name == "f" and 1 or 0)
      end
      assert.equal(1000, count)
   end)

   it("has samples that begin with the main chunk, and those of the interpreter that loads it",
      function()
         local trace <close> = recorded.trace(("-- a comment\n"):rep(400000) .. [[
local function busy()
   local sum = 0
   for i = 1, 1e5 do
      sum = sum + i % 7
   end
   return sum
end
for _ = 1, 300 do busy() end
]], "mode=sampled,interval=1ms,backtraces=true")
         local files = {}
         for stack in trace:each "stack" do
            local frames = trace:stack(stack)
            local file = frames[#frames].file
            files[file] = math.max(files[file] or 0, #frames)
         end
         assert.same({ ["prog.lua"] = 2, ["[C]"] = 1 }, files)
      end)

   it("may keep its own hooks while it is sampled", function()
      local output = run([[
local lines = 0
debug.sethook(function() lines = lines + 1 end, "l")
local t = 0
for i = 1, 200000 do
   t = t + i
end
debug.sethook()
print(lines)
]], "mode=sampled,interval=200us,path=" .. recorded.path "hook.out")
      assert.equal("400003\n", output)
   end)

   it("goes on when the file cannot be written", function()
      local path = recorded.path "full.out"
      assert(os.execute("ln -s /dev/full " .. path))
      local output, status, errors = run([[
local t = 0
for i = 1, 300000 do
   t = t + i
end
print(t)
]], "mode=timed,path=" .. path)
      os.remove(path)
      os.remove(path .. ".ring")
      assert.equal("45000150000\n", output)
      assert.equal(0, status)
      assert.is_truthy(errors:find("No space left", 1, true))
   end)
end)

describe("the recorder", function()
   local recorder = require "profio.recorder"

   it("returns an error for a file that cannot be opened", function()
      local started, message, code = recorder.start { path = command.folder .. "/none/x.out" }
      assert.is_nil(started)
      assert.equal("io", code)
      assert.is_truthy(message:find("No such file", 1, true))
      assert.is_false(recorder.is_recording())
   end)

   it("raises at wrong use", function()
      local path = recorded.path "wrong.out"
      for _, wrong in ipairs {
         { mode = "timed" }, { mode = "all", path = path }, { keep = "1 fortnight" },
         { keep = "5s", ring = { size = "1M" } }, { path = path, colour = "red" },
         { path = path, interval = "1 fortnight" }, { path = path, interval = "1ns" },
         { path = path, depth = 0 }, { path = path, format = "xpp" },
         { mode = "aggregate", format = "csv" }, { mode = "aggregate", format = "nothing" },
         { path = path, ring = { colour = "red" } },
      } do
         assert.is_false(pcall(recorder.start, wrong))
         assert.is_false(recorder.is_recording())
      end
      assert.is_false(pcall(recorder.stop))
      assert.is_false(pcall(recorder.pause))
      assert.is_false(pcall(recorder.resume))
   end)

   it("records once at a time, and again", function()
      local path = recorded.path "again.out"
      for _ = 1, 3 do
         assert(recorder.start { mode = "calls", path = path })
         assert.is_false(pcall(recorder.start, { mode = "timed", path = path }))
         local resume = coroutine.resume
         local info = recorder.stop()
         assert.equal("calls", info.mode)
         assert.equal("winidea", info.format)
         assert.equal(0, info.lost)
         assert.is_nil(info.failure)
         assert.is_true(info.events > 0 and info.time > 0)
         assert.is_true(info.overhead.per_call > 0)
         assert.are_not.equal(resume, coroutine.resume)
      end
      local trace <close> = assert(profio.open(path))
      assert.equal("winidea", trace.format)
   end)

   it("refuses a debug hook of somebody else", function()
      debug.sethook(function() end, "l")
      local started, message = pcall(recorder.start, { mode = "timed",
         path = recorded.path "hooked.out" })
      debug.sethook()
      assert.is_false(started)
      assert.is_truthy(message:find("a hook of its own", 1, true))
   end)

   it("counts records lost by the ring", function()
      local output = run [[
local recorder = require "profio.recorder"
assert(recorder.start { mode = "timed", path = "lost.out",
   ring = { size = "64K", full = "overwrite" } })
for i = 1, 10000 do
   local x = i
end
local info = recorder.stop()
local trace <close> = assert(require "profio".open "lost.out")
local rows = 0
for _ in trace:each "line" do rows = rows + 1 end
print(info.lost > 0, info.events == info.lost + rows)
]]
      assert.equal("true\ttrue\n", output)
   end)

   it("reads its options from a text", function()
      assert.same({ mode = "timed", path = "a b.prf", depth = 3, lines = false,
         ring = { size = "1M", full = "drop" } },
         recorder.parse "mode=timed, path=a b.prf,depth=3,lines=no,ring.size=1M,ring.full=drop")
      assert.same({ path = "a,b", depth = 3 }, recorder.parse "path=a\\,b,depth=3")
      assert.is_false(pcall(recorder.parse, "timed"))
      local _, status, errors = run("print(1)", "mode=nonsense")
      assert.equal(1, status)
      assert.is_truthy(errors:find("option 'mode'", 1, true))
   end)
end)
