-- Format cpuprofile: profiles of V8. The oracles are speedscope and sums that are worked out by
-- hand.

local codes = require "spec.support.codes"
local command = require "spec.support.command"
local profiles = require "spec.support.profiles"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local seeds = "spec/fuzz/corpus/cpuprofile/"

local function open(text, given)
   return assert(profio.open({ data = text }, given))
end

local function seed(name)
   return command.read(seeds .. name)
end

describe("cpuprofile", function()
   it("has samples, each of which lasts until the next one, and the last until the end", function()
      local trace <close> = open(seed "times")
      assert.equal("cpuprofile", trace.format)
      local list = {}
      for time, duration, node in trace.samples:each("time", "duration", "node") do
         list[#list + 1] = ("%d %d %d"):format(time, duration, node)
      end
      assert.same({ "1010000 20000 2", "1030000 5000 3", "1035000 10500 3", "1045500 4500 4",
         "1050000 30000 3", "1080000 20000 5" }, list)
      local profile <close> = trace:profile()
      assert.same({ main = "20000/70000", ["(anonymous):10"] = "45500/45500",
         ["get:21"] = "4500/4500", ["get:31"] = "20000/20000" }, profiles.totals(profile))
      assert.same({ main = "1/5", ["(anonymous):10"] = "3/3", ["get:21"] = "1/1",
         ["get:31"] = "1/1" }, profiles.totals(profile, "samples"))
      assert.same({}, codes.placed(trace))
   end)

   it("has lines, which get the time of their function by their ticks", function()
      local trace <close> = open(seed "times")
      local profile <close> = trace:profile()
      local list = {}
      for line, name, own in profile:lines():each("line", "function", "self") do
         list[#list + 1] = own > 0 and ("%s %s %d"):format(name, line or "nil", own) or nil
      end
      table.sort(list)
      assert.same({ "(anonymous):10 11 30333", "(anonymous):10 12 15167", "get:21 nil 4500",
         "get:31 nil 20000", "main 7 20000" }, list)
   end)

   it("has calls that samples show, on request", function()
      local none <close> = open(seed "times")
      assert.same({ "samples", "stacks", "raw" }, none.tables)
      local _, status, errors = command.run("profio report calls " .. command.root .. "/" .. seeds
         .. "times")
      assert.equal(2, status)
      assert.matches("unless %-%-set timeline=true makes one", errors)
      local trace <close> = open(seed "times", { timeline = true })
      local list = {}
      for area, start, stop, net, depth in trace:calls():each("area", "start", "stop", "net",
         "depth") do
         list[#list + 1] = ("%s %d-%d %d %d"):format(area, start, stop, net, depth)
      end
      assert.same({ "(anonymous):10 1030000-1045500 15500 2", "get:21 1045500-1050000 4500 2",
         "(anonymous):10 1050000-1080000 30000 2", "main 1010000-1080000 20000 1",
         "get:31 1080000-1100000 20000 1" }, list)
      assert.same({ "cpuprofile-timeline:" }, codes.placed(trace))
   end)

   it("has allocations of the heap", function()
      local trace <close> = open(seed "heap")
      local profile <close> = trace:profile()
      assert.same({ main = "100/4196", ["gröw"] = "4096/4096", ["(BYTECODE_COMPILER)"] = "32/32" },
         profiles.totals(profile))
      assert.same({ main = "1/3", ["gröw"] = "2/2", ["(BYTECODE_COMPILER)"] = "1/1" },
         profiles.totals(profile, "samples"))
      assert.equal(4236, trace.samples:aggregate { "s = sum(size)" }:rows()[1].s)
      trace.stacks:count()
      assert.same({}, codes.placed(trace)) -- V8 drops nodes, but not their samples
   end)

   it("has the bytes of the file in table raw", function()
      for _, name in ipairs { "times", "heap" } do
         local text, parts, kinds = seed(name), {}, {}
         local trace <close> = open(text)
         for kind, part in trace.raw:each("kind", "text") do
            kinds[#kinds + 1], parts[#parts + 1] = kind, part
         end
         assert.equal(text, table.concat(parts))
         assert.equal("head", kinds[1])
         assert.equal(name == "times" and "nodes" or "head", kinds[2])
      end
   end)

   it("has the nodes of writers that state parents, and paths of files", function()
      local text = seed "times":gsub(',"children":%b[]', "")
      for child, parent in pairs { [2] = 1, [3] = 2, [4] = 2, [5] = 1 } do
         text = text:gsub(('"id":%d,'):format(child),
            ('"id":%d,"parent":%d,'):format(child, parent))
      end
      local trace <close> = open(text)
      local profile <close> = trace:profile()
      local given <close> = open(seed "times"):profile()
      assert.same(profiles.totals(given), profiles.totals(profile))
      assert.equal("/a.js", profile:flat():where { ["function"] = "main" }:rows()[1].file)
   end)

   it("reads stacks of any depth", function()
      local list, depth = {}, 5000
      for i = 1, depth do
         list[i] = ('{"callFrame":{"functionName":"f%d"},"selfSize":1,"id":%d,"children":[')
            :format(i, i)
      end
      local trace <close> = open('{"head":' .. table.concat(list) .. ("]}"):rep(depth) .. "}")
      local profile <close> = trace:profile()
      assert.equal("1/5000", profiles.totals(profile).f1)
      assert.equal("1/1", profiles.totals(profile).f5000)
   end)

   it("shows samples without times as samples", function()
      local text = seed "times"
      local without = text:gsub(',"timeDeltas":%b[]', "")
      local trace <close> = open(without)
      local profile <close> = trace:profile()
      assert.same({ main = "1/5", ["(anonymous):10"] = "3/3", ["get:21"] = "1/1",
         ["get:31"] = "1/1" }, profiles.totals(profile))
      local hits = without:gsub('"samples":%b[]', '"x":1')
      local counted <close> = open(hits)
      local same <close> = counted:profile()
      assert.same(profiles.totals(profile), profiles.totals(same))
   end)
end)

describe("damage", function()
   it("of times, ids and children has a warning", function()
      local text = seed "times"
      for _, case in ipairs {
         { "10,20,5,10.5,4.5,30%]", "10,20,5]", "cpuprofile-times:" },
         { "10,20,5,", "10,20,-25,", "cpuprofile-time-falls:%d+" },
         { "10,20,5,", "10,9e15,9e15,", nil },
         { '"startTime":1000', '"startTime":-9e15', nil },
         { "%[2,3,3,4", "[2,3,99,4", "cpuprofile-no-node:%d+" },
         { '"id":3', '"id":2', "cpuprofile-id:" },
         { '"children":%[3,4%]', '"children":[3,4,1]', "cpuprofile-circle:" },
         { '"children":%[2,5%]', '"children":[5]', nil },
         { '"hitCount":1}\n', '"hitCount":1,"children":[5]}\n', nil },
         { '{"id":4', '{"id":4!', "cpuprofile-node:%d+" },
      } do
         local changed, n = text:gsub(case[1], case[2], 1)
         assert.equal(1, n)
         local trace <close> = open(changed)
         local profile <close> = trace:profile()
         assert.is_true(next(profiles.totals(profile)) ~= nil)
         if case[3] then
            assert.matches("^" .. case[3]:gsub("%-", "%%-") .. "$", codes.placed(trace)[1], case[2])
         else
            assert.same({}, codes.placed(trace), case[2])
         end
      end
   end)

   it("of a circle of nodes does not hide their samples", function()
      local text = seed "times":gsub('"children":%[2,5%]', '"children":[5]')
         :gsub('"hitCount":1},\n', '"hitCount":1,"children":[2]},\n', 1)
      local trace <close> = open(text)
      local profile <close> = trace:profile()
      assert.same({ "cpuprofile-circle:" }, codes.placed(trace))
      assert.equal(90000, trace.samples:aggregate { "s = sum(duration)" }:rows()[1].s)
      local sum = 0
      for own in profile:flat():each "self" do
         sum = sum + own
      end
      assert.equal(90000, sum)
   end)

   it("of a file that is cut anywhere leaves what is before it", function()
      for _, name in ipairs { "times", "heap" } do
         local text = seed(name):gsub("%s+$", "")
         for size = 1, #text - 1 do
            local trace = profio.open({ data = text:sub(1, size) }, { format = "cpuprofile" })
            if trace then
               assert.matches("cpuprofile%-truncated", table.concat(codes.placed(trace), " "))
               trace.samples:count()
               local profile = trace:profile()
               if profile then
                  profile:flat():count()
                  profile:close()
               end
               trace:close()
               local strict = profio.open({ data = text:sub(1, size) },
                  { format = "cpuprofile", strict = true })
               assert.equal(nil, strict)
            end
         end
      end
   end)
end)

describe("files of Node.js", function()
   local has_node = os.execute "command -v node >/dev/null 2>&1" and viewers.has_speedscope
   local it_compares = has_node and it or function(name)
      pending(name .. " (needs node and speedscope)")
   end

   local script = [[
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const keep = [];
const work = [function () { return fib(22); },
  () => { for (let i = 0; i < 2e4; i++) { keep.push({ i, s: 'x'.repeat(20) + i }); } }];
class A { get() { let s = 0; for (let i = 0; i < 2e5; i++) { s += Math.sqrt(i); } return s; } }
class B { get() { let s = 0; for (let i = 0; i < 4e5; i++) { s += Math.sqrt(i); } return s; } }
for (let i = 0; i < 10; i++) { work.forEach(f => f()); new A().get(); new B().get(); }]]

   -- The self weight of functions by their names in the file.
   local function compare(path, factor)
      local seen, expected = {}, {}
      local function plain(name)
         return (name:gsub("^%(anonymous.*", "(anonymous)"):gsub(":%d+:?%d*$", ""))
      end
      local function add(sums, name, own)
         sums[plain(name)] = (sums[plain(name)] or 0) + own
      end
      for _, frame in ipairs(viewers.speedscope(path).profiles[1].frames) do
         if frame.self > 0 then
            add(expected, frame.name, math.tointeger(frame.self * factor) or frame.self * factor)
         end
      end
      local trace <close> = assert(profio.open(path))
      local profile <close> = trace:profile()
      for name, own in profile:flat():each("function", "self") do
         if own > 0 and name ~= "(idle)" then -- which speedscope leaves out
            add(seen, name, own)
         end
      end
      assert(next(seen))
      if factor > 1 then -- its last sample lasts no time
         local rows = trace.samples:rows()
         local last = rows[#rows]
         local name = last.stack and plain(trace:stack(last.stack)[1].area)
         local left = (seen[name or ""] or 0) - last.duration
         seen[name or ""] = left > 0 and left or nil
      end
      assert.same(expected, seen)
   end

   local function run(option, name)
      local path = command.file("profiled.js", script)
      assert(os.execute(("cd %s && node %s-name=%s %s %s"):format(command.folder, option, name,
         option, path)))
      return command.folder .. "/" .. name
   end

   it_compares("have the times that speedscope shows", function()
      compare(run("--cpu-prof", "n.cpuprofile"), 1000)
   end)

   it_compares("have the sizes that speedscope shows", function()
      compare(run("--heap-prof-interval=4096 --heap-prof", "n.heapprofile"), 1)
   end)
end)

describe("what profio writes as cpuprofile", function()
   it("is read back as the same profile, with its lines", function()
      local trace <close> = open(seed "times")
      local profile <close> = trace:profile()
      local again <close> = open(assert(profile:export "cpuprofile"))
      local same <close> = again:profile()
      assert.same(profiles.totals(profile), profiles.totals(same))
      local function lines(one)
         local list = {}
         for line, name, own in one:lines():each("line", "function", "self") do
            list[#list + 1] = ("%s %s %d"):format(name, line, own)
         end
         table.sort(list)
         return list
      end
      assert.same(lines(profile), lines(same))
      local folded <close> = open "main;a;b 7\nmain;a 3\nmain;c;c 5\n"
      local first <close> = folded:profile()
      local back <close> = open(assert(first:export "cpuprofile")):profile()
      local seen = profiles.totals(back)
      assert.same({ main = "0/15000", a = "3000/10000", b = "7000/7000", c = "5000/5000" }, seen)
   end)
end)
