-- Recordings of programs whose coroutines are resumed in ways that the recorder does not see, or
-- that fail.
--
-- Tags: user, stressed.

local recorded = require "spec.support.recorded"

local calls, run, trace_of = recorded.calls, recorded.run, recorded.trace

-- A trace of mode calls as PRF, and one as winIDEA's, should say the same.
local ways_of_calls = { "mode=calls,format=winidea", "mode=calls,format=xpp" }

describe("mode calls", function()
   it("keeps the calls of a coroutine that another cannot resume, because it runs", function()
      local source = [[
local main, outer = coroutine.running()
local function leaf() end
local function inner()
   assert(not coroutine.resume(outer))
   assert(not coroutine.resume(main))
   leaf()
   coroutine.yield()
end
local function body()
   coroutine.resume(coroutine.create(inner))
   leaf()
end
outer = coroutine.create(body)
assert(coroutine.resume(outer))
]]
      for _, settings in ipairs(ways_of_calls) do
         local trace <close> = trace_of(source, settings)
         assert.same({ leaf = 2, assert = 3, ["coroutine.create"] = 2, ["coroutine.resume"] = 4,
            ["coroutine.running"] = 1, ["coroutine.yield"] = 1, ["prog.lua"] = 1,
            inner = 1, body = 1 }, calls(trace))
      end
   end)
end)

describe("a program that is sampled", function()
   it("may resume coroutines by functions that the recorder has not replaced", function()
      local path = recorded.path "unseen.out"
      local output, status, errors = run(([[
local resume = coroutine.resume
local recorder = require "profio.recorder"
local kept = setmetatable({}, { __mode = "k" })
local function busy() for _ = 1, 20000 do end end
local function ended(body)
   local co = coroutine.create(body)
   kept[co] = true
   assert(resume(co))
end
local function count()
   collectgarbage()
   local n = 0
   for _ in pairs(kept) do n = n + 1 end
   return n
end
recorder.start { mode = "sampled", path = "%s", interval = "20us" }
recorder.pause()
ended(recorder.resume)
io.write("resumed the recorder: ", count(), "\n")
for i = 1, 200 do
   ended(function() coroutine.wrap(busy)() end)
   if i %% 10 == 0 then collectgarbage() end
end
io.write("resumed others: ", count(), "\n")
coroutine.wrap(busy)()
local info = recorder.stop()
io.write("after the end: ", count(), " ", tostring(info.failure), "\n")
]]):format(path))
      -- a signal may find the last thread that the recorder knows, although it has ended
      assert.same({ "resumed the recorder: 1\nresumed others: 1\nafter the end: 0 nil\n", 0, "" },
         { output, status, errors })
   end)
end)
