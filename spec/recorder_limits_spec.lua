-- Cases that a recorder could miss: coroutines that others resume, hooks of the program, short
-- pieces between pauses, more coroutines than a file has cores.
--
-- Tags: user, stressed.

local profio = require "profio"
local recorded = require "spec.support.recorded"

local run, trace_of = recorded.run, recorded.trace

local hooked = { "mode=timed", "mode=aggregate", "mode=calls", "mode=calls,format=xpp" }

-- Returns the number of calls of each function, in any mode that counts them.
local function counts(trace)
   local list = {}
   for row in trace:profile():flat { zeros = true }:records() do
      list[row["function"]] = row.calls
   end
   return list
end

describe("a program of short lines", function()
   it("has a note that its times by line are mostly what hooks cost, and no other has", function()
      -- On a busy machine the lines may take more than hooks did when their cost was measured.
      local source = [[
local recorder = require "profio.recorder"
for _, settings in ipairs { { mode = "aggregate" }, { mode = "aggregate", lines = false },
   { mode = "aggregate", subtract = false } } do
   local notes
   for _ = 1, settings.lines == nil and settings.subtract == nil and 10 or 1 do
      recorder.start(settings)
      local t = 0
      for i = 1, 6000000 do
         t = t + i % 3
      end
      notes = recorder.stop().notes
      if notes[1] then
         break
      end
   end
   print(#notes, notes[1])
end
]]
      assert.matches("^1\tthe cost of %d+ hooks was subtracted, [^\n]*\n0\tnil\n0\tnil\n$",
         (run(source)))
   end)
end)

describe("a program that sets hooks", function()
   it("is recorded on if it removes a hook that is not there", function()
      local source = [[
local function work() return debug.gethook() end
work()
debug.sethook()
debug.sethook((coroutine.running()))
print(work(), work(), work())
]]
      for _, settings in ipairs(hooked) do
         local trace <close>, output = trace_of(source, settings)
         assert.equal("nil\tnil\tnil\n", output)
         if settings == "mode=timed" then
            assert.equal(5, (recorded.lines(trace)[1])) -- and its definition
         else
            assert.equal(4, counts(trace).work, settings)
         end
      end
   end)

   it("is not recorded while it has one of its own, and a note says how long", function()
      local path = recorded.path "own.out"
      local output, status, errors = run([[
local function work() end
work()
local n, hook = 0, nil
debug.sethook(function() n = n + 1 end, "c")
work()
hook = debug.gethook()
debug.sethook()
work() work()
print(n, type(hook), debug.gethook())
]], "mode=aggregate,path=" .. path .. ".pb.gz")
      assert.same({ "3\tfunction\tnil\n", 0 }, { output, status })
      assert.matches("^profio.recorder: the program set a hook of its own after [%d.]+ s: [%d.]+ s "
         .. "without it are not recorded\n", errors)
      local trace <close> = assert(profio.open(path .. ".pb.gz"))
      local calls = {}
      for row in trace:profile():flat { metric = "calls" }:records() do
         calls[row["function"]] = row.self
      end
      assert.equal(3, calls.work)
   end)

   it("has no time after Ctrl-C has removed the recorder's hook, and a note says so", function()
      local path = recorded.path "interrupted.out"
      local _, status, errors = run([[
local function work() for _ = 1, 100000 do end end
local stat = io.open "/proc/self/stat"
local id = stat:read "n"
assert(not pcall(function() io.popen("kill -INT " .. id):close() for _ = 1, 300 do work() end end))
for _ = 1, 10 do work() end
]], "mode=aggregate,path=" .. path .. ".pb.gz")
      assert.equal(0, status)
      assert.matches("^profio.recorder: another hook replaced that of the recorder %(Ctrl%-C, or a "
         .. "library%) after [%d.]+ s: [%d.]+ s without it are not recorded\n", errors)
   end)
end)

describe("a program that is sampled", function()
   it("has samples of coroutines that C code creates and resumes", function()
      local path = recorded.path "foreign.out"
      local output, status, errors = run(([[
local create, resume, yield = coroutine.create, coroutine.resume, coroutine.yield
local recorder = require "profio.recorder"
local function busy() for _ = 1, 200000 do end end
recorder.start { mode = "sampled", path = "%s", interval = "100us", clock = "cpu" }
local list = {}
for i = 1, 20 do -- by functions that the recorder does not see
   list[i] = create(function() for _ = 1, 20 do busy() yield() end end)
end
for _ = 1, 20 do
   for i = 1, 20 do resume(list[i]) end
   collectgarbage()
end
local info = recorder.stop()
print(info.failure)
]]):format(path))
      assert.same({ "nil\n", 0, "" }, { output, status, errors })
      local trace <close> = assert(profio.open(path, { format = "br" }))
      local sums, all = {}, 0
      for row in trace:profile():flat():records() do
         sums[row["function"]], all = row.self, all + row.self
      end
      assert.is_true(sums.busy > 0.8 * all, ("%d of %d"):format(sums.busy, all))
   end)

   -- The kernel's own timers of CPU time look only every 4 ms.
   it("has samples at each interval of CPU time, not several at once", function()
      local trace <close> = trace_of([[
local list = {}
for i = 1, 50 do
   list[i] = load("return function() local t = 0 for i = 1, 20000 do t = t + i end end",
      "=f" .. i)()
end
for i = 1, 2000 do list[i % 50 + 1]() end
]], "mode=sampled,interval=1ms,clock=cpu")
      local count, changes, last = 0, 0, nil
      for stack in trace.samples:each "stack" do
         count, changes, last = count + 1, changes + (stack ~= last and 1 or 0), stack
      end
      assert.is_true(changes > count / 2, changes .. " of " .. count)
   end)

   it("has all samples, however short the pieces between pauses are", function()
      local path = recorded.path "pieces.out"
      local output = run(([[
local recorder = require "profio.recorder"
local function busy() for _ = 1, 20000 do end end
recorder.start { mode = "sampled", path = "%s", interval = "1ms" }
for _ = 1, 300 do busy() recorder.pause() recorder.resume() end
local info = recorder.stop()
print(info.events, info.time // 1000000)
]]):format(path))
      local events, milliseconds = output:match "(%d+)\t(%d+)"
      assert.is_true(tonumber(events) >= tonumber(milliseconds) * 0.9 - 2, output)
   end)
end)

describe("a program with more coroutines than cores", function()
   it("has a lane for each, and no call lasts longer than the program", function()
      local trace <close> = trace_of([[
local function body() for _ = 1, 3 do coroutine.yield() end end
local list = {}
for i = 1, 600 do list[i] = coroutine.create(body) end
for _ = 1, 4 do for i = 1, 600 do assert(coroutine.resume(list[i])) end end
]], "mode=calls,format=winidea")
      local lanes, first, last, count = {}, math.maxinteger, math.mininteger, 0
      for row in trace:calls():records() do
         if row.area == "body" then
            lanes[row.lane] = (lanes[row.lane] or 0) + 1
            count = count + row.count
            assert.is_nil(row.flags)
         end
         first, last = math.min(first, row.start), math.max(last, row.stop)
      end
      local lanes_used = 0
      for _, calls in pairs(lanes) do
         assert.equal(1, calls)
         lanes_used = lanes_used + 1
      end
      assert.same({ 600, 600 }, { count, lanes_used })
      local gross = 0
      for row in trace:call_statistics { quantiles = "" }:records() do
         gross = math.max(gross, row.gross)
      end
      assert.is_true(gross <= last - first)
   end)
end)
