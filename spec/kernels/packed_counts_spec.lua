-- Counts by pairs of words, and their packed bytes, against tables of Lua.

local core = require "profio.core"

local dictionary = core.dictionary()

-- Returns counts of rows { a, b, count }.
local function counts_of(rows)
   local counts = core.counts(dictionary)
   assert(counts:read(core.rows_reader({ { "a", "addr" }, { "b", "addr" }, { "n", "int" } }, rows,
      dictionary), { "a", "b", "n" }))
   return counts
end

-- Returns the rows of packed counts, in their order.
local function rows_of(packed, offset)
   local counts, rows = core.counts(dictionary), {}
   assert(counts:add(packed, offset))
   for _, row in ipairs(core.rows(counts:reader({ { "a", "addr" }, { "b", "addr" },
      { "n", "int" } }, dictionary))) do
      rows[#rows + 1] = { row.a, row.b, row.n }
   end
   return rows
end

-- The same sums by tables of Lua, in ascending order.
local function slow_sums(rows)
   local sums, list = {}, {}
   for _, row in ipairs(rows) do
      local key = (">I8I8"):pack(row[1], row[2])
      if not sums[key] then
         list[#list + 1] = key
      end
      sums[key] = (sums[key] or 0) + row[3]
   end
   table.sort(list)
   for i, key in ipairs(list) do
      local a, b = (">I8I8"):unpack(key)
      list[i] = { a, b, sums[key] }
   end
   return list
end

local far = { 0, 1, 2, 127, 128, 1 << 40, (1 << 62) - 1, 1 << 62, math.maxinteger,
   math.mininteger, math.mininteger + 1, -2, -1 }

-- Returns random rows, with few different pairs or with words from all of 64 bits.
local function random_rows(count)
   local rows = {}
   for i = 1, count do
      local is_far = math.random(4) == 1
      rows[i] = { is_far and far[math.random(#far)] or math.random(0, 3),
         is_far and far[math.random(#far)] or 0x401000 + 4 * math.random(200),
         math.random(0, math.random(4) == 1 and 1 << 50 or 9) }
   end
   return rows
end

describe("counts by pairs", function()
   it("are those of the rows, also after packing", function()
      math.randomseed(1)
      for round = 1, 60 do
         local rows = random_rows(round * 7)
         local counts = counts_of(rows)
         local want = slow_sums(rows)
         assert.equal(#want, counts:size())
         assert.same(want, rows_of(counts:pack()))
         assert.equal(0, counts:size())
      end
   end)

   it("are added up in any order and grouping to the same bytes", function()
      math.randomseed(2)
      for _ = 1, 20 do
         local all, packs = {}, {}
         for i = 1, math.random(9) do
            local rows = random_rows(math.random(0, 60))
            table.move(rows, 1, #rows, #all + 1, all)
            packs[i] = counts_of(rows):pack()
         end
         local want = counts_of(all):pack()
         while #packs > 1 do
            local sum = core.counts(dictionary)
            for _ = 1, math.random(2, 3) do
               local one = #packs > 0 and table.remove(packs, math.random(#packs))
               assert(not one or sum:add(one))
            end
            packs[#packs + 1] = sum:pack()
         end
         assert.equal(want, packs[1])
      end
   end)

   it("of a bin that follows the one before take two bytes", function()
      local rows = {}
      for i = 1, 1000 do
         rows[i] = { 0, i, i % 100 }
      end
      assert.is_true(#counts_of(rows):pack() <= 3 + 2 * 1000)
   end)

   it("leave out rows without a value, and zeros if that is wanted", function()
      local function read(omits)
         local counts = core.counts(dictionary)
         assert(counts:read(core.rows_reader({ { "b", "int" }, { "n", "int" } },
            { { 1, 0 }, { 2, 5 }, { 3, nil }, { nil, 7 } }, dictionary), { "b", "n" }, omits))
         return rows_of(counts:pack(), 9)
      end
      assert.same({ { 9, 1, 0 }, { 9, 2, 5 } }, read(false))
      assert.same({ { 9, 2, 5 } }, read(true))
   end)

   it("below 0, and sums of 2^63, are refused", function()
      local counts = core.counts(dictionary)
      local reader = core.rows_reader({ { "b", "int" }, { "n", "int" } }, { { 1, -1 } },
         dictionary)
      local ok, message, code = counts:read(reader, { "b", "n" })
      assert.is_nil(ok)
      assert.equal("unsupported", code)
      assert.matches("cannot be below 0", message)
      local most = counts_of({ { 1, 2, math.maxinteger } }):pack()
      assert(counts:add(most))
      ok, message, code = counts:add(counts_of({ { 1, 2, 1 } }):pack())
      assert.is_nil(ok)
      assert.equal("limit", code)
      assert.matches("2%^63", message)
   end)
end)

describe("damaged packed counts", function()
   it("are refused at each length", function()
      math.randomseed(3)
      local packed = counts_of(random_rows(100)):pack()
      for size = 0, #packed - 1 do
         local ok, _, code = core.counts(dictionary):add(packed:sub(1, size))
         assert.is_nil(ok)
         assert.is_true(code == "format" or code == "truncated")
      end
      assert.is_nil((core.counts(dictionary):add(packed .. "\0")))
   end)

   it("are refused or are other counts", function()
      math.randomseed(4)
      local packed = counts_of(random_rows(40)):pack()
      for at = 1, #packed do
         for _, byte in ipairs { 0, 1, 2, 127, 128, 255 } do
            local changed = packed:sub(1, at - 1) .. string.char(byte) .. packed:sub(at + 1)
            local counts = core.counts(dictionary)
            local ok, message, code = counts:add(changed)
            if ok then
               assert.is_true(counts:size() <= 40)
            else
               assert.matches("^packed counts", message)
               assert.is_true(code == "format" or code == "unsupported" or code == "truncated")
            end
         end
      end
   end)

   it("of another layout, or out of order, are refused", function()
      local function code_of(bytes)
         return select(3, core.counts(dictionary):add(bytes))
      end
      assert.is_nil(code_of "\1\0")
      assert.equal("unsupported", code_of "\2\0")
      assert.is_nil(code_of "\1\2\2\5\2\5")
      assert.equal("format", code_of "\1\2\2\5\0\5") -- the same pair twice
      assert.equal("format", code_of "\1\255\255\255\255\255\255\255\255\127\2\5")
   end)

   it("do not change what a reader of older counts sees after they are closed", function()
      local counts = counts_of { { 1, 2, 3 } }
      local reader = counts:reader({ { "b", "addr" }, { "n", "int" } }, dictionary)
      counts:pack()
      assert.same({}, core.rows(reader))
   end)
end)
