-- Labels of recordings: columns, outermost frames, labels of pprof.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local recorded = require "spec.support.recorded"

local program = [[
local recorder = require "profio.recorder"
local function busy() local t = 0 for i = 1, 2000000 do t = t + i end return t end
local function handle(route) recorder.label("route", route) busy() end
recorder.label("host", "h1")
handle "/login"
handle "/report?a=b"
recorder.label("route")
busy()
coroutine.wrap(function()
   recorder.label("user", 7)
   busy()
   coroutine.yield()
end)()
busy()
]]

-- Returns the sums of a profile below the labels, by "label;label".
local function sums_of(profile, metric)
   local sums, path = {}, {}
   for row in profile:tree { metric = metric, zeros = true }:records() do
      path[row.depth] = row.file == "profio.label" and row["function"] or ""
      if row.self > 0 then
         local labels = table.concat(path, ";", 1, row.depth):gsub(";+$", "")
         sums[labels] = (sums[labels] or 0) + row.self
      end
   end
   return sums
end

local function keys_of(map)
   local keys = {}
   for key in pairs(map) do
      keys[#keys + 1] = key
   end
   table.sort(keys)
   return keys
end

describe("labels", function()
   it("are a column of samples, a key of group, and the outermost frames", function()
      for _, settings in ipairs { "mode=sampled,interval=200us", "mode=timed,backtraces=true" } do
         local trace <close> = recorded.trace(program, settings)
         assert.same({}, trace.warnings)
         local counts = {}
         for labels, n in trace.samples:group("labels"):aggregate { "n = count" }
            :each("labels", "n") do
            counts[labels or ""] = n
         end
         counts[""] = nil -- before the first label
         assert.same({ "host=h1", "host=h1,route=/login", "host=h1,route=/report?a=b",
            "host=h1,user=7" }, keys_of(counts))
         local sums = sums_of(trace:profile(), settings:find "timed" and "lines" or "time")
         assert.is_true(sums["host=h1;route=/login"] > 0)
         assert.is_true(trace:profile():focus("user=7"):metrics()[1].total > 0)
      end
   end)

   it("are in sums, and labels of pprof", function()
      local bytes_of = { aggregate = "calls", memory = "alloc_objects" }
      for mode, metric in pairs(bytes_of) do
         local path = recorded.path("labels-" .. mode .. ".pb.gz")
         local _, status, errors = recorded.run(program:gsub("t = t %+ i", "t = { i }"),
            ("mode=%s,path=%s%s"):format(mode, path, mode == "memory" and ",bytes=4K" or ""))
         assert.equal(0, status, errors)
         local trace <close> = assert(profio.open(path))
         local sums = sums_of(trace:profile(), metric)
         for _, labels in ipairs { "host=h1;route=/login", "host=h1;user=7", "host=h1" } do
            assert.is_true((sums[labels] or 0) > 0, mode .. labels)
         end
         local found = {}
         for key, text in trace.labels:each("key", "text") do
            found[key .. "=" .. text] = true
         end
         assert.same({ "host=h1", "route=/login", "route=/report?a=b", "user=7" }, keys_of(found))
      end
   end)

   it("are read by go tool pprof", function()
      if not os.execute "command -v go >/dev/null 2>&1" then
         return pending "go"
      end
      recorded.run(program, "mode=sampled,interval=200us,path=" .. recorded.path "go.br")
      local tags, status = command.run
         "profio export pprof -o go.pb.gz go.br && go tool pprof -tags go.pb.gz 2>/dev/null"
      assert.equal(0, status)
      assert.matches("route: Total [%d.]+ms", tags)
      assert.matches("100%%?%): h1\n", tags)
      local raw = command.run "go tool pprof -raw go.pb.gz 2>/dev/null"
      assert.matches("user:%[7%]", raw)
   end)

   it("change what follows, and cost nothing without a recording", function()
      local output, status = recorded.run [[
local recorder = require "profio.recorder"
recorder.label("a", "b")
recorder.start { mode = "aggregate", lines = false }
local function f() end
f()
recorder.label("a", "1") f() f()
recorder.label("a", "2") f()
recorder.label("a", nil) f()
recorder.pause()
recorder.label("a", "3")
recorder.resume()
f()
local profile = recorder.stop().profile
local path = {}
for row in profile:tree { metric = "calls", zeros = true }:records() do
   path[row.depth] = row["function"]
   if row["function"] == "f" then print(path[1], row.calls) end
end
]]
      assert.equal(0, status)
      local lines = {}
      for line in output:gmatch "[^\n]+" do
         lines[#lines + 1] = line
      end
      table.sort(lines)
      assert.same({ "a=1\t2", "a=2\t1", "a=3\t1", "prog.lua\t2" }, lines)
   end)
end)
