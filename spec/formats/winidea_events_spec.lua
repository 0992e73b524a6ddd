-- Events of binary timelines: common sets of columns, decoded in one pass over the records, and
-- column by column.

local profio = require "profio"
local rounds = require "spec.support.rounds"

local plain = { 0x00000001, 0x00000002, 0x0000ffff, 0x10000004, 0x20000001, 0x40000002, 0x60000001 }
local handles = table.move({ 0x30000001, 0x50000003, 0xffffffff }, 1, 3, #plain + 1,
   table.move(plain, 1, #plain, 1, {}))

-- Returns records of version 1.1 or, if `old`, of 1.0. `odd` has the shares of anomalies: new areas
-- (then with states and events without area), invalid words, and times that go back.
local function records(count, old, odd, layout)
   local list, time = {}, 0
   local among = odd.areas > 0 and handles or plain
   for i = 1, count do
      time = time + math.random(0, 50)
      local handle = among[math.random(math.random() < 0.9 and 2 or #among)]
      if math.random() < odd.areas then
         handle = math.random(0, 0x7fffffff)
      end
      local kind, core = math.random(0, 3), ({ 0, 1, 0xff })[math.random(3)]
      local word = old and kind << 24 or core << 4 | kind
      if math.random() < odd.words then
         local of_type = (old and 24 or 0) + math.random(0, 3)
         word = word ~ 1 << (math.random(2) == 1 and of_type or math.random(0, 31))
      end
      local at = math.random() < odd.times and time - 100000 or time
      list[i] = layout:pack(handle, word, math.random(0, 3), at)
   end
   return table.concat(list)
end

local anomalies = { { areas = 0, words = 0, times = 0 }, { areas = 0, words = 0.0003, times = 0 },
   { areas = 0, words = 0, times = 0.0003 }, { areas = 0.2, words = 0.2, times = 0.2 } }

-- The sets of columns that are decoded in one pass. With column `core` in addition they are not.
local sets = { { "area" }, { "time", "area" }, { "value", "area" }, { "time", "event", "area" },
   { "time", "event", "area", "lane" } }

-- Returns the values of columns, row by row (false where missing), and the warnings of the trace.
local function values(bytes, options, columns)
   local trace <close> = assert(profio.open({ data = bytes }, options))
   local list, width = {}, #columns
   for _, row in ipairs(trace.events:rows(table.unpack(columns))) do
      for i = 1, width do
         list[#list + 1] = row[columns[i]] or false
      end
   end
   return list, trace.warnings
end

local function compare(bytes, options)
   for _, set in ipairs(sets) do
      local together, warnings = values(bytes, options, set)
      local apart = table.move(set, 1, #set, 1, {})
      apart[#apart + 1] = "core"
      local expected, expected_warnings = values(bytes, options, apart)
      local n, width = 0, #set
      for i, value in ipairs(expected) do
         if i % (width + 1) ~= 0 then
            n = n + 1
            if together[n] ~= value then
               assert.same({ set, n, value }, { set, n, together[n] })
            end
         end
      end
      assert.equal(#together, n)
      assert.same(expected_warnings, warnings)
   end
end

describe("events of a binary timeline", function()
   it("are the same in one pass and column by column", function()
      for seed = 1, rounds(16) do
         math.randomseed(seed)
         local odd = anomalies[seed // 2 % #anomalies + 1]
         local old, short = seed % 2 == 0, seed % 5 == 0
         compare(records(9000, old, odd, short and "<I4I4i4i8" or "<I4I4i8i8"),
            { format = "winidea", bin_version = old and "1.0" or "1.1",
               record_size = short and 20 or 24, input_type = seed % 3 == 0 and "F64" or "I64" })
      end
   end)
end)
