-- Rows without a stack are in the total of a profile: exports have them as samples without a frame,
-- or say that they are left out.

local command = require "spec.support.command"
local firefox = require "spec.support.firefox"
local json = require "dkjson"
local profio = require "profio"
local protobuf = require "spec.support.protobuf"
local viewers = require "spec.support.viewers"

local message, number, packed = protobuf.message, protobuf.number, protobuf.packed

-- A profile of two functions with 7000 and 20 ns, and 100 ns without a stack.
local bytes = table.concat { message(1, number(1, 1), number(2, 2)),
   message(2, packed(1, { 1 }), packed(2, { 7000 })), message(2, packed(2, { 100 })),
   message(2, packed(1, { 2, 1 }), packed(2, { 20 })),
   message(4, number(1, 1), number(3, 16)), message(4, number(1, 2), number(3, 32)),
   message(6, ""), message(6, "spent"), message(6, "ns") }

local function exported(kind)
   local trace <close> = assert(profio.open { data = bytes })
   return assert(trace:profile():export(kind))
end

describe("rows without a stack", function()
   it("are an empty stack of speedscope", function()
      local text = exported "speedscope"
      local profile = assert(json.decode(text)).profiles[1]
      assert.equal(7120, profile.endValue)
      local found = {}
      for i, stack in ipairs(profile.samples) do
         found[#stack] = profile.weights[i]
      end
      assert.same({ [0] = 100, 7000, 20 }, found)
      if viewers.has_speedscope then
         local seen = viewers.speedscope(command.file("unstacked.speedscope.json", text))
         assert.equal(7120, seen.profiles[1].total)
      end
   end)

   it("are time of the root of cpuprofile", function()
      local object = assert(json.decode(exported "cpuprofile"))
      local found = {}
      for i = 1, #object.samples - 1 do
         found[object.samples[i]] = object.timeDeltas[i + 1]
      end
      assert.same({ 0.1, 7, 0.02 }, found) -- the root is node 1
      assert.equal(7.12, object.endTime)
      assert.equal(100, object.nodes[1].hitCount)
   end)

   it("are samples without a stack of firefox", function()
      local breaches, seen = firefox.check(exported "firefox")
      assert.same({}, breaches)
      local samples = seen.profile.threads[1].samples
      local sum = 0
      for i, stack in ipairs(samples.stack) do
         assert.equal(stack == json.null, samples.weight[i] == 0.0001)
         sum = sum + samples.weight[i]
      end
      assert.equal(3, #samples.stack)
      assert.is_true(math.abs(sum - 0.00712) < 1e-12)
   end)

   it("are left out of folded, callgrind and dot, which say so", function()
      command.file("unstacked.pprof", bytes)
      local note = "rows without a stack are left out: their spent is 100"
      for kind, is_in_text in pairs { folded = false, callgrind = true, dot = true } do
         local text, _, errors = command.run("profio --export " .. kind .. " unstacked.pprof")
         assert.matches("100 of metric 'spent' have no stack", errors, 1, true)
         assert.equal(is_in_text, text:find(note, 1, true) ~= nil)
      end
      assert.equal("0x10 7000\n0x10;0x20 20\n", exported "folded")
   end)

   it("are no note of a profile that has none", function()
      command.file("stacked.pprof", (bytes:gsub(message(2, packed(2, { 100 })), "")))
      for _, kind in ipairs { "folded", "callgrind", "dot" } do
         local text, _, errors = command.run("profio --export " .. kind .. " stacked.pprof")
         assert.is_nil((text .. errors):find "without a stack")
      end
   end)
end)
