-- Zones: parts of functions that a program names, as calls in each mode of the recorder.
--
-- Tags: user, stressed.

local recorded = require "spec.support.recorded"

local run, trace_of = recorded.run, recorded.trace

local program = [[
local recorder = require "profio.recorder"
local function busy(n) local t = 0 for i = 1, n do t = t + i end return t end
local function request(n)
   local zone <close> = recorder.zone "request zone"
   busy(n)
   do
      local inner <close> = recorder.zone "inner"
      busy(n)
   end
   busy(n)
end
local function failing() local zone <close> = recorder.zone "failing zone" busy(9) error "x" end
local function frame(n)
   return recorder.zone("frame", function(m) busy(m) coroutine.yield() return m, 2 end, n)
end
local function open(n) local zone = recorder.zone "open" return busy(n) end
for i = 1, 30 do request(%d) end
for i = 1, 20 do pcall(failing) end
coroutine.wrap(function() for i = 1, 10 do assert(select("#", frame(%d)) == 2) end end)()
for i = 1, 5 do open(9) end
local co
co = coroutine.wrap(function() for i = 1, 10 do frame(%d) end end)
for i = 1, 11 do co() end
]]

local function text(n)
   return (program:gsub("%%d", tostring(n)))
end

local hooked = { "mode=calls", "mode=calls,format=xpp", "mode=aggregate",
   "mode=aggregate,lines=false" }

-- Returns the paths "caller;callee" of a profile with the number of calls.
local function paths_of(trace)
   local counts, callers = {}, {}
   for row in trace:profile():tree { metric = "calls", zeros = true }:records() do
      callers[row.depth] = row["function"]
      local path = (callers[row.depth - 1] or "") .. ";" .. row["function"]
      counts[path] = (counts[path] or 0) + row.self
   end
   return counts
end

describe("a zone", function()
   it("is a call in the function in which it begins, however it ends", function()
      for _, settings in ipairs(hooked) do
         local trace <close> = trace_of(text(9), settings .. (settings:find "aggregate"
            and ",format=pprof" or ""))
         local counts = paths_of(trace)
         for path, count in pairs { ["request;request zone"] = 30, ["request zone;inner"] = 30,
            ["inner;busy"] = 30, ["request zone;busy"] = 60, ["failing;failing zone"] = 20,
            ["failing zone;busy"] = 20, ["failing zone;error"] = 20, ["open;open"] = 5 } do
            assert.equal(count, counts[path], settings .. " " .. path)
         end
         assert.is_nil(counts["request;zone"])
         assert.is_nil(counts["request;busy"])
      end
   end)

   it("calls a function, which may yield", function()
      local trace <close> = trace_of(text(9), "mode=calls")
      local counts = paths_of(trace)
      assert.equal(11, counts["frame;frame"])
      assert.equal(11, recorded.calls(trace)["function at prog.lua:14"])
   end)

   -- Where the kernel gives a thread only some ticks, a few dozen samples tell the shares; so they
   -- may be off by chance, but not in each of five recordings.
   local function sampled_shares()
      local trace = trace_of(text(200000), "mode=sampled,interval=100us,clock=cpu")
      local shares, total = {}, 0
      for row in trace:profile():flat():records() do
         shares[row["function"]] = row.total
         total = total + row.self
      end
      return trace, shares["request zone"] / total, shares.inner / shares["request zone"]
   end

   it("is on the stacks of samples, with the current line", function()
      local trace, of_all, of_zone
      for _ = 1, 5 do
         trace, of_all, of_zone = sampled_shares()
         if math.abs(of_all - 90 / 101) <= 0.05 and math.abs(of_zone - 1 / 3) <= 0.1 then
            break
         end
         trace:close()
      end
      assert.is_near(90 / 101, of_all, 0.05)
      assert.is_near(1 / 3, of_zone, 0.1)
      for row in trace:profile():lines():records() do
         if row["function"] == "inner" and row.self > 0 then
            assert.is_true(row.line == 8 or row.line == 7, row.line) -- or the begin of the zone
         end
      end
      trace:close()
   end)

   it("is named without being sampled, in each of many functions", function()
      local output, status, errors = run [[
local recorder = require "profio.recorder"
local list = {}
for i = 1, 1500 do
   list[i] = load(("local recorder = ...\nreturn function() local z <close> = recorder.zone 'z%d' "
      .. "local t = {} for i = 1, 200 do t[1] = i end return t end"):format(i),
      "=part" .. i)(recorder)
end
for _, settings in ipairs { { interval = "20us", clock = "wall" },
   { mode = "memory", bytes = "64" } } do
   assert(recorder.start(settings))
   for _, f in ipairs(list) do f() end
   local info, rows = recorder.stop(), 0
   for name, file in info.profile:flat():each("function", "file") do
      rows = rows + 1
      assert(not (file or ""):find("profio", 1, true), name)
   end
   print(rows > 1)
end
]]
      assert.same({ "true\ntrue\n", 0, "" }, { output, status, errors })
   end)

   it("is nothing without a recording, and raises on wrong use", function()
      local output, status = run [[
local recorder = require "profio.recorder"
do
   local zone <close> = recorder.zone "a"
   print(zone)
   recorder.start { mode = "aggregate" }
end
print(recorder.zone("b", function(...) return select("#", ...), ... end, 1, nil))
recorder.pause()
local paused <close> = recorder.zone "c"
recorder.resume()
print(paused, select(2, pcall(recorder.zone)))
print(select(2, pcall(recorder.zone, "d", error, "inside")))
local late
do
   local zone <close> = recorder.zone "late"
   late = recorder.stop()
   recorder.start { mode = "aggregate" }
   local other <close> = recorder.zone "other"
end
for _, info in ipairs { late, recorder.stop() } do
   for name, calls in info.profile:flat { metric = "calls" }:each("function", "self") do
      if #name == 1 or name == "late" or name == "other" then print(name, calls) end
   end
end
]]
      assert.equal(0, status)
      assert.matches("^nil\n2\t1\tnil\nnil\trecorder.zone expects a name, got no value\n"
         .. "inside\nb\t1\nd\t1\nlate\t1\nother\t1\n$", output)
   end)
end)
