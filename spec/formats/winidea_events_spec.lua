-- Table events of binary timelines: read all at once, as calls read it, and column by column.

local profio = require "profio"

local handles = { 0x00000001, 0x00000002, 0x0000ffff, 0x10000004, 0x20000001, 0x30000001,
   0x40000002, 0x50000003, 0x60000001, 0xffffffff }

-- Records of version 1.1 and, when `old`, of 1.0; with areas not met before, states, odd words and
-- times that fall, as often as `odd` says.
local function records(count, old, odd)
   local list, time = {}, 0
   for i = 1, count do
      time = time + math.random(0, 50)
      local handle = handles[math.random(math.random() < 0.9 and 2 or #handles)]
      if math.random() < odd then
         handle = math.random(0, 0x7fffffff)
      end
      local kind, core = math.random(0, 3), ({ 0, 1, 0xff })[math.random(3)]
      local word = old and kind << 24 or core << 4 | kind
      if math.random() < odd then
         word = math.random(0, 0xffffffff)
      end
      local at = math.random() < odd and time - 100000 or time
      list[i] = ("<I4I4i8i8"):pack(handle, word, math.random(0, 3), at)
   end
   return table.concat(list)
end

local columns = { "time", "event", "area", "lane" }

local function compare(bytes, version)
   local options = { format = "winidea", bin_version = version }
   local trace <close> = assert(profio.open({ data = bytes }, options))
   local together = trace.events:rows(table.unpack(columns))
   for _, column in ipairs(columns) do
      local again <close> = assert(profio.open({ data = bytes }, options))
      local n = 0
      for value in again.events:each(column) do
         n = n + 1
         if (together[n][column] or false) ~= value then
            assert.same({ n, column, value }, { n, column, together[n][column] })
         end
      end
      assert.equal(#together, n)
   end
end

describe("events of a binary timeline", function()
   it("are the same in one look as column by column", function()
      for seed = 1, 12 do
         math.randomseed(seed)
         local odd = ({ 0, 0.001, 0.2 })[seed % 3 + 1]
         compare(records(9000, seed % 2 == 0, odd), seed % 2 == 0 and "1.0" or "1.1")
      end
   end)
end)
