local gmon = require "spec.support.gmon_builder"
local profio = require "profio"

-- Report each warning, not only the first one of each kind.
local function one_by_one(options)
   options = options or {}
   options.all_warnings = true
   return options
end

-- Reads bytes without option strict. Returns the counts of bins, arcs and blocks, and the warnings
-- of damage; or nil, message, code.
local function read(bytes, options)
   local trace <close>, message, code = profio.open({ data = bytes }, one_by_one(options))
   if not trace then
      return nil, message, code
   end
   local found = { bins = {}, arcs = {}, blocks = {}, damage = {} }
   for count in trace.histogram:each "count" do
      table.insert(found.bins, count)
   end
   for from, to, count in trace.arcs:each("from", "to", "count") do
      table.insert(found.arcs, { from, to, count or "none" })
   end
   for address, count in trace.blocks:each("address", "count") do
      table.insert(found.blocks, { address, count or "none" })
   end
   for _, table_name in ipairs(trace.tables) do
      trace[table_name]:count()
   end
   for _, warning in ipairs(trace.warnings) do
      if warning.kind == "damage" then
         table.insert(found.damage, { warning.code, warning.offset })
      end
   end
   return found
end

-- Returns the first n values of a list.
local function first(list, n)
   return table.move(list, 1, math.max(0, math.min(n, #list)), 1, {})
end

-- { start, size of head, items, size of an item } of a record
local function items_in(record, length)
   if length < record.start + record.head then
      return 0
   end
   return math.min(record.count, (length - record.start - record.head) // record.size)
end

-- Reads the bytes cut at every length, and compares the results with their layout.
local function check(bytes, layout, options, minimum)
   for length = minimum, #bytes do
      local found = assert(read(bytes:sub(1, length), options))
      local want = { bins = first(layout.bins.list, items_in(layout.bins, length)),
         arcs = first(layout.arcs.list, items_in(layout.arcs, length)),
         blocks = {}, damage = {} }
      if layout.blocks then
         want.blocks = first(layout.blocks.list, items_in(layout.blocks, length))
      end
      -- inside a record: one warning that names its first byte
      for _, record in ipairs(layout.records) do
         if record[1] < length and length < record[2] then
            want.damage = { { "gmon-truncated", record[1] } }
         end
      end
      assert.same({ length, want }, { length, found })
   end
end

describe("gmon, cut at every byte", function()
   local bins = { 1, 2, 3, 65535 }

   it("keeps the complete records of GNU files, and states the offset of the cut", function()
      for b, _, width in gmon.each() do
         b:header()
         local start = b:size()
         b:histogram { low = 0x1000, high = 0x1010, bins = bins }
         local arcs_at = b:size()
         b:arc(0x1000, 0x1008, 7):arc(0x1004, 0x100c, 70000)
         local blocks_at = b:size()
         b:blocks { { 0x1000, 5 }, { 0x1008, 6 } }
         local bytes = b:bytes()
         local arc = 5 + 2 * width
         check(bytes, {
            bins = { start = start, head = arcs_at - start - 8, count = 4, size = 2, list = bins },
            arcs = { start = arcs_at, head = 0, count = 2, size = arc,
               list = { { 0x1000, 0x1008, 7 }, { 0x1004, 0x100c, 70000 } } },
            blocks = { start = blocks_at, head = 5, count = 2, size = 2 * width,
               list = { { 0x1000, 5 }, { 0x1008, 6 } } },
            records = { { start, arcs_at }, { arcs_at, arcs_at + arc },
               { arcs_at + arc, blocks_at }, { blocks_at, #bytes } },
         }, nil, 20)
      end
   end)

   it("keeps the complete records of 4.4BSD files", function()
      for b, _, width in gmon.each() do
         b:bsd { low = 0x1000, high = 0x1010, bins = bins }
         local arcs_at = b:size()
         b:bsd_arc(0x1000, 0x1008, 7):bsd_arc(0x1004, 0x100c, 70000)
         local bytes = b:bytes()
         local header, arc = 2 * width + 24, 3 * width
         check(bytes, {
            bins = { start = 0, head = header, count = 4, size = 2, list = bins },
            arcs = { start = arcs_at, head = 0, count = 2, size = arc,
               list = { { 0x1000, 0x1008, 7 }, { 0x1004, 0x100c, 70000 } } },
            records = { { 0, arcs_at }, { arcs_at, arcs_at + arc }, { arcs_at + arc, #bytes } },
         }, nil, header)
      end
   end)

   it("reads any beginning of the other dialects", function()
      local samples = gmon(">", 4):bsd { low = 0, high = 16, bins = bins }
      local files = {
         gmon(">", 4):pack("I4", 0xbeefbabe):piece(4, gmon(">", 4):pack("I4Az", 1, 1, "a.so"))
            :piece(1, samples):piece(3, gmon(">", 4):pack("AAI4I4", 5, 6, 7, 8)):bytes(),
         gmon("<", 8):header(0x1ffff):pack("I4", 0)
            :histogram_body { low = 0, high = 16, bins = bins }
            :arc_table({ { 0, 0x10, 2 }, { 0x20, 0x30, 4 } }, 2):bytes(),
         gmon("<", 8):header():blocks({ { 0x401000, 5 }, { 0x402000, 6 } }, 8):bytes(),
      }
      for _, bytes in ipairs(files) do
         local rows = 0
         for length = 4, #bytes do
            local found, message, code = read(bytes:sub(1, length))
            if found then
               local now = #found.bins + #found.arcs + #found.blocks
               assert.is_true(now >= rows)
               rows = now
            else
               assert.matches("%d", message)
               assert.is_true(code == "truncated" or code == "format")
            end
         end
         assert.is_true(rows > 0)
      end
   end)

   it("returns a cut as an error with strict", function()
      local bytes = gmon("<", 8):header():histogram { low = 0, high = 8, bins = { 1, 2 } }:bytes()
      assert.is_table(read(bytes, { strict = true }))
      local trace, message, code = profio.open({ data = bytes:sub(1, -2), path = "cut.out" },
         { strict = true })
      assert.is_nil(trace)
      assert.equal("truncated", code)
      assert.matches("^cut.out", message)
      assert.matches("2 bins", message)
      assert.matches("byte 20", message)
   end)
end)

describe("gmon, damaged", function()
   it("keeps the records before a bad tag", function()
      local bytes = gmon("<", 4):header():histogram { low = 0, high = 8, bins = { 1, 2 } }
         :arc(1, 2, 3):raw("\7"):arc(4, 5, 6):bytes()
      local found = read(bytes)
      assert.same({ 1, 2 }, found.bins)
      assert.same({ { 1, 2, 3 } }, found.arcs)
      assert.same({ { "gmon-bad-tag", 20 + 33 + 4 + 13 } }, found.damage)
      local _, message, code = read(bytes, { strict = true })
      assert.equal("format", code)
      assert.matches("found 7", message)
   end)

   it("refuses files that are too short or of another format", function()
      for _, case in ipairs {
         { "", "empty" },
         { "gmon", "header of 20 bytes expected, the file has 4" },
         { "gmon\1\0\0\0", "the file has 8" },
         { "\255\216\255\224\0\16JFIF", "\"gmon\".*found bytes ff d8 ff e0" },
         { "gmon\2\0\0\0" .. ("\0"):rep(12), "version.*found 2" },
      } do
         local trace, message = profio.open({ data = case[1], path = "x" }, { format = "gmon" })
         assert.is_nil(trace)
         assert.matches(case[2], message)
         assert.matches("byte", message)
      end
      local _, message, code = profio.open({ data = "gmon\2\0\0\0" .. ("\0"):rep(12) })
      assert.equal("unsupported", code)
      assert.matches("byte 4", message)
   end)

   it("refuses other dialects than that of the option", function()
      local gnu = gmon("<", 8):header():histogram { low = 0, high = 8, bins = { 1, 2 } }:bytes()
      local bsd = gmon("<", 8):bsd { low = 0, high = 8, bins = { 1, 2 } }:bytes()
      for dialect, words in pairs { ["4.4bsd"] = "0x00051879", apple = "0xbeefbabe",
         ["ld-profile"] = "0x1ffff" } do
         local trace, message = profio.open({ data = gnu }, { format = "gmon", dialect = dialect })
         assert.is_nil(trace)
         assert.matches(words, message)
      end
      local trace, message = profio.open({ data = bsd }, { format = "gmon", dialect = "gnu" })
      assert.is_nil(trace)
      assert.matches('"gmon"', message)
   end)

   it("keeps histograms with an empty range or an invalid header", function()
      local found = read(gmon("<", 8):header()
         :histogram { low = 0x2000, high = 0x1000, bins = { 1, 2 } }:bytes())
      assert.same({ 1, 2 }, found.bins)
      assert.same({ { "gmon-reversed-range", 20 } }, found.damage)
      local bytes = gmon("<", 8):header():histogram { low = 0, high = 8, bins = { 1, 2 } }
         :histogram { low = 0, high = 8, bins = { 3, 4 }, rate = 0x40000000 }:bytes()
      found = read(bytes)
      assert.same({ 1, 2, 3, 4 }, found.bins)
      assert.same({ { "gmon-odd-histogram", 20 + 41 + 4 } }, found.damage)
   end)

   it("shows a count of 2^63 or more as missing, with a warning at its offset", function()
      local bytes = gmon(">", 8):header():histogram { low = 0, high = 8, bins = { 1, 2 } }
         :blocks({ { 16, -1 }, { 32, 7 } }):bytes()
      local found = read(bytes)
      assert.same({ { 16, "none" }, { 32, 7 } }, found.blocks)
      assert.same({ { "gmon-count-too-large", 20 + 45 + 5 + 8 } }, found.damage)
      local trace <close> = assert(profio.open({ data = bytes }, { strict = true }))
      assert.error_matches(function() trace.blocks:count() trace.blocks:rows() end, "2%^63")
   end)

   it("stops at unknown pieces of Apple files", function()
      local apple = gmon("<", 4):pack("I4", 0xbeefbabe)
         :piece(9, gmon("<", 4):raw "what is this")
         :piece(2, gmon("<", 4):pack("AAI4", 1, 2, 3):raw "xx")
         :piece(1, gmon("<", 4):raw "short"):bytes()
      local found = read(apple)
      assert.same({ { 1, 2, 3 } }, found.arcs)
      assert.same({ { "gmon-bad-piece", 4 }, { "gmon-bad-piece", 44 }, { "gmon-bad-piece", 46 } },
         found.damage)
   end)

   it("refuses blocks of version 0", function()
      local bytes = gmon("<", 8):header(0):histogram { low = 0, high = 8, bins = { 1, 2 } }
         :blocks({ { 1, 2 } }):bytes()
      local found = read(bytes)
      assert.same({}, found.blocks)
      assert.same({ { "gmon-old-blocks", 65 } }, found.damage)
   end)
end)

-- Sets every 1, 2, 4 and 8 bytes of a file to all ones: a failure must be a reported error.
local function flood(bytes, options)
   for size = 0, 3 do
      local width = 1 << size
      for at = 1, #bytes - width + 1 do
         local flooded = bytes:sub(1, at - 1) .. ("\255"):rep(width) .. bytes:sub(at + width)
         local found, message, code = read(flooded, options)
         if not found then
            assert.is_string(message)
            assert.is_true(code == "format" or code == "truncated" or code == "unsupported")
         end
      end
   end
end

describe("gmon, sizes and counts at their limits", function()
   it("reads files with all ones at any place", function()
      for b in gmon.each() do
         flood(b:header():histogram { low = 0x1000, high = 0x1010, bins = { 1, 2, 3, 4 } }
            :arc(0x1000, 0x1008, 7):blocks({ { 0x1000, 5 } }):bytes())
      end
      flood(gmon("<", 8):bsd { low = 0, high = 16, bins = { 1, 2, 3, 4 } }:bsd_arc(1, 2, 3):bytes())
      flood(gmon(">", 4):bsd { low = 0, high = 16, bins = { 1, 2, 3, 4 } }:bsd_arc(1, 2, 3):bytes())
      flood(gmon("<", 4):bsd { low = 0, high = 16, bins = { 1, 2, 3, 4 }, old = true }
         :bsd_arc(1, 2, 3):bytes(),
         { format = "gmon", dialect = "bsd", address_size = 4, byte_order = "little" })
      flood(gmon(">", 8):pack("I4", 0xbeefbabf)
         :piece(4, gmon(">", 8):pack("I4Az", 1, 1, "a.so"))
         :piece(1, gmon(">", 8):bsd { low = 0, high = 16, bins = { 1, 2 } }):bytes())
      flood(gmon("<", 8):header(0x1ffff):pack("I4", 0)
         :histogram_body { low = 0, high = 16, bins = { 1 } }
         :arc_table({ { 0, 0x10, 2 } }, 2):bytes())
   end)

   it("keeps the existing bins if the header states 2^32 - 1", function()
      for b in gmon.each() do
         local found = read(b:header()
            :histogram { low = 0, high = 1 << 31, nbins = 0xffffffff, bins = { 5, 6, 7 } }:bytes())
         assert.same({ 5, 6, 7 }, found.bins)
         assert.same({ { "gmon-truncated", 20 } }, found.damage)
      end
   end)

   it("keeps the existing blocks if the record states 2^32 - 1", function()
      for b in gmon.each() do
         b:header():histogram { low = 0, high = 4, bins = { 1 } }
         local at = b:size()
         local found = read(b:pack("BI4", 2, 0xffffffff):pack("AA", 16, 3):bytes())
         assert.same({ { 16, 3 } }, found.blocks)
         assert.same({ { "gmon-truncated", at } }, found.damage)
      end
   end)

   it("keeps the largest values", function()
      for b, _, width in gmon.each() do
         local top = width == 8 and -1 or 0xffffffff
         local found = read(b:header():histogram { low = 0, high = top, bins = { 65535 } }
            :arc(top, top, 0xffffffff):bytes())
         assert.same({ 65535 }, found.bins)
         assert.same({ { top, top, 0xffffffff } }, found.arcs)
         assert.same({}, found.damage)
      end
   end)
end)
