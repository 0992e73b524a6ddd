-- Samples of pprof whose locations are encoded in all the ways that a writer may choose. Many
-- consecutive samples have outer locations in common.
--
-- Tags: stressed.

local profio = require "profio"
local protobuf = require "spec.support.protobuf"
local rounds = require "spec.support.rounds"

local number, message = protobuf.number, protobuf.message

-- Ids that end with equal bytes: 1 is 01, 129 is 81 01, 16385 is 81 80 01.
local ids = { 1, 2, 129, 130, 16385, 16386, 257, 3, 1 << 40 | 1, 131 }

local function varint(value, is_long)
   local bytes = {}
   repeat
      local low = value & 0x7f
      value = value >> 7
      bytes[#bytes + 1] = string.char((value > 0 or is_long) and low | 0x80 or low)
   until value == 0
   return table.concat(bytes) .. (is_long and "\0" or "")
end

-- Returns the fields of the locations of a sample, leaf first.
local function locations(list)
   local parts, form = {}, math.random(8)
   if form == 1 then -- not packed
      for i, id in ipairs(list) do
         parts[i] = number(1, id)
      end
      return table.concat(parts)
   end
   local cut = form == 2 and math.random(0, #list) or #list
   for part, range in ipairs { { 1, cut }, { cut + 1, #list } } do
      local bytes = {}
      for i = range[1], range[2] do
         bytes[#bytes + 1] = varint(list[i], math.random(9) == 1)
      end
      if part == 1 or bytes[1] then
         parts[part] = message(1, table.concat(bytes))
      end
   end
   return table.concat(parts)
end

-- Returns random samples as lists of ids, leaf first; most have outer ids of the one before.
local function random_samples(unknown)
   local samples = { { 1 } }
   for i = 2, 60 do
      local before, list = samples[i - 1], {}
      for n = 1, math.random(0, 4) do
         list[n] = ids[math.random(#ids)]
      end
      if unknown and math.random(6) == 1 then
         list[#list + 1] = 77
      end
      samples[i] = table.move(before, math.random(1, #before + 1), #before, #list + 1, list)
   end
   return samples
end

-- Returns a file with the samples, each with the weight of its number. Location i has the frame fi,
-- and for an odd i also gi, which is inlined.
local function encode(samples)
   local parts, names = { message(1, number(1, 1), number(2, 2)) }, { "", "weight", "count" }
   for i, list in ipairs(samples) do
      parts[#parts + 1] = message(2, locations(list), number(2, i))
   end
   for i, id in ipairs(ids) do
      local lines = {}
      for k, letter in ipairs(i % 2 == 1 and { "g", "f" } or { "f" }) do
         names[#names + 1] = letter .. i
         lines[k] = message(4, number(1, #names))
         parts[#parts + 1] = message(5, number(1, #names), number(2, #names - 1))
      end
      parts[#parts + 1] = message(4, number(1, id), table.concat(lines))
   end
   for _, name in ipairs(names) do
      parts[#parts + 1] = message(6, name)
   end
   return table.concat(parts)
end

-- Returns the stack of a sample, outermost first, and how many of its locations are unknown.
local function stack_of(list)
   local names, unknown = {}, 0
   for n = #list, 1, -1 do
      local found
      for i, id in ipairs(ids) do
         if id == list[n] then
            found = true
            names[#names + 1] = "f" .. i
            names[#names + 1] = i % 2 == 1 and "g" .. i or nil
         end
      end
      unknown = unknown + (found and 0 or 1)
   end
   return table.concat(names, ";"), unknown
end

-- Compares the rows and the profile of a file with its samples.
local function check(samples)
   local weights, unknown = {}, 0
   local trace <close> = assert(profio.open({ data = encode(samples) }, { format = "pprof" }))
   local row = 0
   for stack, weight in trace:each("stack", "weight") do
      row = row + 1
      local names = {}
      for i, frame in ipairs(stack and trace:stack(stack) or {}) do
         names[i] = frame.area
      end
      for i = 1, #names // 2 do -- innermost first
         names[i], names[#names + 1 - i] = names[#names + 1 - i], names[i]
      end
      local want, missing = stack_of(samples[row])
      unknown = unknown + (missing > 0 and 1 or 0) -- one warning for each sample
      assert.equal(want, table.concat(names, ";"))
      assert.equal(row, weight)
      weights[want] = (weights[want] or 0) + row
   end
   assert.equal(#samples, row)
   local again <close> = assert(profio.open({ data = encode(samples) }, { format = "pprof" }))
   local found = {}
   for line in assert(again:profile()):export("folded"):gmatch "[^\n]+" do
      local stack, weight = line:match "^(.*) (%d+)$"
      found[stack] = tonumber(weight)
   end
   weights[""] = nil -- the root has no line
   found[""] = nil
   assert.same(weights, found)
   return unknown, again
end

describe("samples of pprof", function()
   it("have the stacks of their locations, however these are encoded", function()
      for seed = 1, rounds(60) do
         math.randomseed(seed)
         assert.equal(0, (check(random_samples(false))))
      end
   end)

   it("lack unknown locations, and the samples that have some are counted", function()
      for seed = 1, rounds(30) do
         math.randomseed(seed)
         local unknown, trace = check(random_samples(true))
         local count = 0
         for _, warning in ipairs(trace.warnings) do
            count = count + (warning.code == "pprof-no-location" and (warning.count or 1) or 0)
         end
         assert.equal(unknown, count)
      end
   end)

   it("end where the ids are damaged", function()
      local good = message(2, message(1, "\1\2\3"), number(2, 1))
      local damaged = message(2, message(1, "\1" .. ("\xff"):rep(11) .. "\1\2\3"), number(2, 1))
      local cut = message(2, message(1, "\2\3\x81"), number(2, 1))
      local rest = encode {}
      local trace <close> = assert(profio.open({ data = good .. damaged .. good .. cut .. good
         .. rest }, { format = "pprof" }))
      local depths = {}
      for stack in trace:each "stack" do
         depths[#depths + 1] = #trace:stack(stack)
      end
      assert.same({ 4, 2, 4, 2, 4 }, depths)
      assert.same({ "pprof-bad-field", 2 }, { trace.warnings[1].code, trace.warnings[1].count })
   end)
end)
