-- .cpuprofile: read by speedscope's importer, and by the rules of V8's protocol, which say that a
-- sample lasts until the next one. Both see the self and total times of each function.

local builder = require "spec.support.gmon_builder"
local command = require "spec.support.command"
local folded = require "spec.support.folded"
local json = require "dkjson"
local names = require "spec.support.names"
local profio = require "profio"
local viewers = require "spec.support.viewers"

-- Returns self and total of each function, in ns, and the object. Raises if it is no profile.
local function read(text)
   local object = assert(json.decode(text))
   local nodes, parents, own = {}, {}, {}
   for _, node in ipairs(object.nodes) do
      assert(not nodes[node.id], "an id occurs twice")
      nodes[node.id], own[node.id] = node, 0
      for _, child in ipairs(node.children or {}) do
         parents[child] = node.id
      end
   end
   assert(#object.samples == #object.timeDeltas, "samples and times differ in number")
   for i = 1, #object.samples - 1 do
      local id = object.samples[i]
      assert(nodes[id], "a sample has no node")
      own[id] = own[id] + object.timeDeltas[i + 1] * 1000
   end
   local by_name, total = {}, {}
   for id, weight in pairs(own) do
      local at, known = id, {}
      local name = nodes[id].callFrame.functionName
      by_name[name] = (by_name[name] or 0) + weight
      while at do
         name = nodes[at].callFrame.functionName
         total[name] = (total[name] or 0) + (known[name] and 0 or weight)
         known[name] = true
         at = parents[at]
      end
   end
   for _, list in ipairs { by_name, total } do
      list["(root)"] = nil
      for name, weight in pairs(list) do
         list[name] = math.floor(weight + 0.5)
      end
   end
   return by_name, total, object
end

local function expected(profile, named)
   local own, total, sum = {}, {}, 0
   for _, row in ipairs(profile:flat():rows("function", "self", "total")) do
      local name = named and named(row["function"]) or row["function"]
      own[name], total[name] = row.self, row.total
      sum = sum + row.self
   end
   return own, total, sum
end

describe("--export cpuprofile", function()
   it("has the self and total times of each function, exact to the nanosecond", function()
      math.randomseed(24)
      local profile = folded.profile(folded.random(3000))
      local own, total, sum = expected(profile)
      local seen_own, seen_total, object = read(assert(profile:export "cpuprofile"))
      assert.same({ own, total }, { seen_own, seen_total })
      assert.equal(sum, math.floor((object.endTime - object.startTime) * 1000 + 0.5))
   end)

   it("has metrics without times as whole numbers", function()
      local profile = folded.profile "main;f 5\nmain;f 5\nmain 1\n"
      local _, _, object = read(assert(profile:export("cpuprofile", nil, { metric = "samples" })))
      assert.same({ 0, 1, 2 }, object.timeDeltas)
   end)

   it("has files and lines, which count from 0", function()
      profio.register { name = "with lines", score = function() return 0 end,
         tables = { rows = { { "name", "name" }, { "file", "name" }, { "line", "int" },
            { "weight", "int" } } },
         profile = { table = "rows", ["function"] = "name", file = "file", line = "line",
            metrics = { { name = "time", unit = "ns", column = "weight" } } },
         open = function()
            return { rows = function(put)
               put("f", "a.js", 7, 3)
            end }
         end }
      local trace <close> = assert(profio.open({ data = "-" }, { format = "with lines" }))
      local _, _, object = read(assert(trace:export "cpuprofile"))
      assert.same({ functionName = "f", scriptId = "0", url = "a.js", lineNumber = 6,
         columnNumber = -1 }, object.nodes[2].callFrame)
   end)

   it("shows names as they are", function()
      local trace <close> = names.open()
      local own = expected(trace:profile(), names.utf8)
      assert.same(own, (read(assert(trace:profile():export "cpuprofile"))))
   end)

   it("writes stacks of any depth in a size that grows with it", function()
      local text = assert(folded.profile(("f;"):rep(50000) .. "g 10\n"):export "cpuprofile")
      assert.is_true(#text < 50000 * 200)
      assert.equal(50002, select(2, text:gsub('"id":', "")))
   end)

   it("refuses weights below 0, and reports losses", function()
      local change = folded.profile "main;f 1\n" - folded.profile "main;f 2\n"
      local bytes, message, code = change:export "cpuprofile"
      assert.is_nil(bytes)
      assert.matches("cannot show weights below 0", message)
      assert.equal("unsupported", code)
      local cut <close> = assert(profio.open { path = "cut.out",
         data = builder.new("<", 8):header():arc(0x1000, 0x2000, 7):bytes():sub(1, -3) })
      local _, _, object = read(assert(cut:profile():export "cpuprofile"))
      assert.matches("^cut%.out: .*gmon%-truncated", object.profio.losses[1])
   end)

   it("is refused by the reader of this spec where it is broken", function()
      local text = assert(folded.profile "main;f 5\nmain 1\n":export "cpuprofile")
      for message, change in pairs {
         ["a sample has no node"] = { '"samples":%[2', '"samples":[99' },
         ["differ in number"] = { '"timeDeltas":%[0,', '"timeDeltas":[' },
         ["occurs twice"] = { '"id":3', '"id":2' },
      } do
         local broken, count = text:gsub(change[1], change[2], 1)
         assert.equal(1, count)
         assert.error_matches(function() read(broken) end, message)
      end
   end)

   local it_looks = viewers.has_speedscope and it or function(name)
      pending(name .. " (needs speedscope)")
   end

   local function import(text)
      return viewers.speedscope(command.file("a.cpuprofile", text))
   end

   it_looks("is read by speedscope", function()
      math.randomseed(25)
      local profile = folded.profile(folded.random(3000))
      local own, total, sum = expected(profile)
      local imported = import(assert(profile:export "cpuprofile"))
      local seen_own, seen_total = {}, {}
      for _, frame in ipairs(imported.profiles[1].frames) do
         seen_own[frame.name] = math.floor(frame.self * 1000 + 0.5)
         seen_total[frame.name] = math.floor(frame.total * 1000 + 0.5)
      end
      assert.equal("microseconds", imported.profiles[1].unit)
      assert.equal(sum, math.floor(imported.profiles[1].total * 1000 + 0.5))
      assert.same({ own, total }, { seen_own, seen_total })
   end)

   it_looks("has another self time in speedscope where a time is wrong", function()
      local text = assert(folded.profile "main;f 5000\nmain 1000\n":export "cpuprofile")
      local function time_of_f(from)
         for _, frame in ipairs(import(from).profiles[1].frames) do
            if frame.name == "f" then
               return frame.self
            end
         end
      end
      assert.equal(5, time_of_f(text))
      assert.equal(4, time_of_f((text:gsub(",5%.000%]", ",4.000]"))))
   end)
end)
