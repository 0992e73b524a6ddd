-- Pauses of the recorder, and the files that it writes: paths, programs that a recorded one starts,
-- and the report that the command shows first.
--
-- Tags: user, stressed.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local disk = require "spec.support.disk"
local moved_clock = require "spec.support.moved_clock"
local profio = require "profio"
local recorded = require "spec.support.recorded"

local sampling = require "profio.internal.bodies.sampling"

local run = recorded.run
local it_moves = moved_clock.is_there() and it or pending

-- For the sanitizers: what an export makes while Lua closes its state is not freed, as the process
-- ends.
local unfreed = "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"

describe("a pause", function()
   local program = [[
local recorder = require "profio.recorder"
local clock = require "clock"
local function wait() clock.advance(50000000) end
local function f() clock.advance(1000000) end
local function work()
   f()
   recorder.pause() wait() f() f()
   recorder.resume()
   f()
end
recorder.start { mode = "%s", format = %s, path = %s, lines = %s }
work()
local again = coroutine.wrap(function()
   f() coroutine.yield() f()
end)
again()
recorder.pause()
again()
recorder.resume()
f()
local info = recorder.stop()
local profile = info.profile or assert(require "profio".open(info.path)):profile()
for name, calls, total in profile:flat { zeros = true }:each("function", "calls", "total") do
   print(name, calls, total)
end
print("time", info.lost, info.time)
]]

   -- Calls and time by function.
   local function recorded_with(...)
      local output, _, errors = run(program:format(...), nil, 0)
      local counts, time = {}, {}
      for name, count, ns in output:gmatch "(%S[^\t\n]*)\t(%S+)\t(%d+)\n" do
         counts[name], time[name] = math.tointeger(tonumber(count)), math.tointeger(tonumber(ns))
      end
      assert(time.time, errors)
      return counts, time
   end

   it_moves("counts a call once that is open all the time, and takes no time", function()
      for _, given in ipairs { { "calls", '"winidea"', '"pause.out"', "true" },
         { "calls", '"xpp"', '"pause.out"', "true" },
         { "aggregate", "nil", "nil", "true" }, { "aggregate", "nil", "nil", "false" } } do
         local name = table.concat(given, " ")
         local counts, time = recorded_with(table.unpack(given))
         assert.same({ 1, 4 }, { counts.work, counts.f }, name)
         assert.is_nil(counts.wait, name)
         assert.same({ 2000000, 4000000, 4000000 }, { time.work, time.f, time.time }, name)
      end
   end)

   it("ends with the open calls when recording is stopped inside of them", function()
      local output = run [[
local recorder = require "profio.recorder"
local function f() end
recorder.start { mode = "aggregate" }
local function work() f() recorder.pause() end
work()
local info = recorder.stop()
for name, calls in info.profile:flat { zeros = true }:each("function", "calls") do
   print(name, calls)
end
]]
      assert.matches("work\t1\n", output)
      assert.matches("f\t1\n", output)
   end)
end)

describe("a recorded file", function()
   it("says once that it gets large", function()
      local source = "local t = 0\nfor i = 1, 300000 do\n   t = t + i\nend\n"
      local path = recorded.path "large.br"
      local _, status, errors = run(source, "mode=timed,warn_at=1M,path=" .. path)
      assert.equal(0, status)
      assert.matches("^profio.recorder: the recording has %d+.%d+ GB after %d+.%d s, and goes on "
         .. "to grow; mode sampled writes some KB, aggregate only sums\n$", errors)
      assert.equal("", (select(3, run(source, "mode=timed,path=" .. path))))
   end)

   it("is written also if the program looks for modules elsewhere", function()
      local path = recorded.path "elsewhere.svg"
      command.file("prog.lua", [[
package.path, package.cpath = "/nowhere/?.lua", "/nowhere/?.so"
for i = 1, 100 do tostring(i) end
]])
      local _, status, errors = command.run(("%s PROFIO_RECORD='mode=aggregate,path=%s' %s lua5.4 "
         .. "-lprofio.recorder prog.lua"):format(unfreed, path, command.in_tree))
      assert.same({ 0, "" }, { status, errors })
      assert.matches("tostring", command.read(path))
   end)

   it("says that it is of a Lua program, and shows where the time went", function()
      run("local t = 0\nfor i = 1, 1000 do\n   t = t + i\nend\n", "mode=timed,path="
         .. recorded.path "own.prf")
      local shown, status, errors = command.run "profio own.prf"
      assert.same({ 0, "" }, { status, errors })
      assert.matches("^own%.prf: a Lua program, recorded by profio %(mode timed, clock wall%)",
         shown)
      assert.matches("hook costs", shown)
      assert.matches("main +prog%.lua", shown)
      assert.matches("\n[^\n]*prog%.lua +3 ", shown)
      assert.is_nil(shown:find("Business", 1, true))
      assert.is_true(select(2, shown:gsub("\n", "\n")) < 60)
      local trace <close> = assert(profio.open(command.folder .. "/own.prf"))
      assert.same({ "profio.recorder: mode timed, clock wall", "self" },
         { trace.info.recorded_by, trace.info.semantics })
      local copy = command.folder .. "/copy.prf"
      assert(trace:save(copy))
      assert.equal(command.read(command.folder .. "/own.prf"), command.read(copy))
   end)

   it_moves("states the interval of samples, which stand for time", function()
      run([[
local recorder = require "profio.recorder"
local clock = require "clock"
local function work() clock.advance(7000000) end
recorder.start { mode = "sampled", interval = "500us", clock = "cpu", path = "samples.br" }
for i = 1, 30 do work() end
recorder.stop()
]], nil, 0)
      local trace <close> = assert(profio.open(command.folder .. "/samples.br"))
      assert.same({ "profio.recorder: mode sampled, clock cpu, interval 500000 ns", 500000 },
         { trace.info.recorded_by, trace.info.interval })
      local profile = trace:profile()
      assert.same({ "time", "samples" }, { profile:metrics()[1].name, profile:metrics()[2].name })
      assert.equal(trace:count() * 500000, profile:metrics()[1].total)
      assert.equal("2000 samples a second", sampling.of(profile, profile:metrics()[1]).text)
   end)

   it("has no interval if its name is not as the recorder writes it", function()
      for said, interval in pairs { [", interval 500 ns"] = 500, [", interval 0 ns"] = false,
         [", interval ns"] = false, ["interval 5 ns"] = false, [", interval 5 us"] = false,
         [", interval 99999999999 ns"] = false, [", interval 99999999999999999999999 ns"] = false,
         ["5 ns"] = false, [" ns"] = false } do
         local bytes = br():module(0, "profio.recorder" .. said):module(1, "a"):line(1, 1):stop()
            :bytes()
         local trace <close> = assert(profio.open { data = bytes })
         assert.equal(interval or nil, trace.info.interval, said)
         assert.same({ interval or nil }, { trace.samples:rows()[1].self }, said)
      end
   end)

   it("has the number of the process in its path", function()
      local output = run([[
local recorder = require "profio.recorder"
local numbers = io.open("/proc/self/stat"):read "n"
recorder.start { mode = "aggregate", path = "of%%-%p.folded" }
local function f() end
for i = 1, 10000 do f() end
local path = recorder.stop().path
print(path == ("of%%-%d.folded"):format(numbers), io.open(path):read "l")
os.remove(path)
]])
      assert.matches("^true\t[^\n]*prog%.lua[^\n]* %d+\n$", output)
   end)

   it("is of the kind that the ending of its path says", function()
      for name, start in pairs { ["end.svg"] = "^<%?xml", ["end.html"] = "^<!DOCTYPE html",
         ["end.pb.gz"] = "^\x1f\x8b", ["callgrind.out.7"] = "^# callgrind format",
         ["end.speedscope.json"] = '"%$schema"', ["end.other"] = "^\x1f\x8b" } do
         local path = recorded.path(name)
         run("local t = 0\nfor i = 1, 20000 do\n   t = t + i\nend\n", "mode=aggregate,path="
            .. path)
         assert.matches(start, command.read(path):sub(1, 300))
         os.remove(path)
      end
   end)

   it("is left alone by programs that a recorded one starts", function()
      command.file("child.lua", "local t = 0\nfor i = 1, 1000 do\n   t = t + i\nend\nprint(t)\n")
      local parent = "print(os.getenv 'PROFIO_RECORD' or 'nothing')\nlocal t = 0\n"
         .. "os.execute 'lua5.4 -lprofio.recorder child.lua'\n"
         .. "for i = 1, 500 do\n   t = t + i\nend\n"
      local path = recorded.path "family.prf"
      local output, _, errors = run(parent, "mode=timed,path=" .. path)
      assert.same({ "nothing\n500500\n", "" }, { output, errors })
      local counts = recorded.lines(assert(profio.open(path)))
      assert.equal(500, counts[5])
      os.remove(path)
      -- with %p each has a file of its own
      os.execute("rm -f " .. command.folder .. "/family-*.prf")
      run(parent, "mode=timed,path=family-%p.prf")
      local pipe <close> = assert(io.popen("ls " .. command.folder .. "/family-*.prf | wc -l"))
      assert.equal(2, pipe:read "n")
      os.execute("rm -f " .. command.folder .. "/family-*.prf")
   end)

   it("is as it was if no recording can begin", function()
      local path = command.file("older.br", "an older recording")
      local output = run([[
local recorder = require "profio.recorder"
debug.sethook(function() end, "", 1000)
print(select(2, pcall(recorder.start, { mode = "timed", path = "older.br" })))
debug.sethook()
]])
      assert.matches("the program has a hook of its own", output)
      assert.equal("an older recording", command.read(path))
      command.file("no-timer.lua", [[
print(require "profio.recorder".start { mode = "sampled", path = "older.br" })
]])
      output = command.run("prlimit --sigpending=0 env " .. command.in_tree
         .. " lua5.4 no-timer.lua")
      assert.matches("cannot create a timer for samples", output)
      assert.equal("an older recording", command.read(path))
      os.remove(path)
   end)

   it("stays in its folder when the program leaves that", function()
      local folder, below = command.folder .. "/left", command.folder .. "/left/below"
      for _, name in ipairs { "mode=timed,path=a.br", "mode=calls,format=xpp,path=a.prf",
         "mode=calls,format=winidea,path=a.txt", "mode=aggregate,path=a.folded" } do
         os.execute(("rm -rf '%s' && mkdir -p '%s'"):format(folder, below))
         command.file("left/prog.lua", 'require "lfs".chdir "below"\n'
            .. "local function f() end\nfor i = 1, 1000 do f() end\n")
         local _, status, errors = command.run(("cd '%s' && PROFIO_RECORD='%s' %s %s lua5.4 "
            .. "-lprofio.recorder prog.lua"):format(folder, name, unfreed, command.in_tree))
         assert.same({ 0, "" }, { status, errors })
         local pipe <close> = assert(io.popen(("cd '%s' && ls -A . below | grep -c '%s'"):format(
            folder, name:match "path=(.*)")))
         local list <close> = assert(io.popen(("cd '%s' && ls -A below; ls -A | grep ring")
            :format(folder)))
         assert.is_true(pipe:read "n" >= 1, name)
         assert.equal("", list:read "a", name)
      end
      disk.remove(folder)
   end)

   it("without samples is told as such", function()
      local path = recorded.path "short.br"
      local _, status, errors = run("return 1\n", "mode=sampled,interval=10s,path=" .. path)
      assert.same({ 0, "profio.recorder: no samples: it computed less than 10 s\n" },
         { status, errors })
      os.remove(path)
   end)
end)
