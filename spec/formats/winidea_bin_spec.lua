-- Binary timelines: detection, versions and records.
--
-- Tags: stressed.

local profio = require "profio"
local records = require "spec.support.winidea"
local traces = require "profio.internal.trace"

local function open(bytes, options)
   return assert(profio.open({ data = bytes }, options))
end

local function rows_of(bytes, options, ...)
   local trace <close> = open(bytes, options)
   return trace.timeline:rows(...)
end

local function codes_of(trace)
   local list = {}
   for i, warning in ipairs(trace.warnings) do
      list[i] = warning.code .. "@" .. warning.offset
   end
   return list
end

local events = {
   { handle = 0x20000000, event = "write", data = 1, time = 4336, core = 0 },
   { handle = 0, event = "resume", time = 4469, core = 0 },
   { handle = 0x10000004, event = "enter", time = 4469, core = 0 },
   { handle = 0x10000004, event = "suspend", time = 4602, core = 1 },
   { handle = 0, event = "suspend", time = 4602, core = 0 },
   { handle = 0x12, event = "leave", time = 1000000, core = 0xff },
}

local function without_core(rows)
   for _, row in ipairs(rows) do
      row.core = nil
   end
   return rows
end

describe("winidea binary timeline", function()
   it("reads the records of the documents", function()
      local bytes = records.hex [[
         00 00 00 20 | 04 00 00 00 | 01 00 00 00 00 00 00 00 | f0 10 00 00 00 00 00 00
         00 00 00 00 | 02 00 00 00 | 00 00 00 00 00 00 00 00 | 75 11 00 00 00 00 00 00
         04 00 00 10 | 03 00 00 00 | 00 00 00 00 00 00 00 00 | 75 11 00 00 00 00 00 00
         04 00 00 10 | 01 00 00 00 | 00 00 00 00 00 00 00 00 | fa 11 00 00 00 00 00 00
         12 00 00 00 | 23 00 00 00 | 00 00 00 00 00 00 00 00 | 40 42 0f 00 00 00 00 00 ]]
      local trace <close> = open(bytes)
      assert.same({ format = "winidea", dialect = "bin", version = "1.1", byte_order = "little",
         record_size = 24, records = 5, first = 4336, last = 1000000 }, trace.info)
      assert.same({}, trace.warnings)
      assert.same({
         { time = 4336, event = "write", handle = 0x20000000, core = 0, value = 1, number = 1.0,
           area = "20000000" },
         { time = 4469, event = "resume", handle = 0, core = 0, area = "00000000" },
         { time = 4469, event = "enter", handle = 0x10000004, core = 0, area = "10000004" },
         { time = 4602, event = "suspend", handle = 0x10000004, core = 0, area = "10000004" },
         { time = 1000000, event = "enter", handle = 0x12, core = 2, area = "00000012" },
      }, trace.timeline:rows())
   end)

   it("reads doubles, times before the trigger and unknown cores", function()
      local bytes = records.hex
         "01 00 00 40 | f4 0f 00 00 | 00 00 00 00 00 00 0a 40 | 24 fa ff ff ff ff ff ff"
      assert.same({ { time = -1500, event = "write", handle = 0x40000001, core = -1,
         number = 3.25, area = "40000001" } }, rows_of(bytes, { input_type = "F64" }))
      assert.same({ { value = 0x400a000000000000 } }, rows_of(bytes, nil, "value"))
   end)

   it("decodes equal records of both versions alike, except the core", function()
      local new = records.bytes(events, records.new)
      local old = records.bytes(events, records.old)
      local from_new, from_old = rows_of(new), rows_of(old)
      for i, row in ipairs(from_new) do
         local core = events[i].core
         assert.equal(core == 0xff and -1 or core, row.core)
         assert.equal(-1, from_old[i].core)
         assert.equal(events[i].event, row.event)
      end
      assert.same(without_core(from_new), without_core(from_old))
   end)

   it("detects the version from the event words", function()
      local trace <close> = open(records.bytes(events, records.old))
      assert.equal("1.0", trace.info.version)
      -- Version 1.1 has a type for writes: without one it is 1.0.
      local writes = records.old { handle = 0x20000001, event = "write", data = 7, time = 1 }
      local other <close> = open(writes, { format = "winidea" })
      assert.equal("1.0", other.info.version)
      assert.same({}, other.warnings)
      -- Exits on core 0 are the same in both.
      local exits = records.new { handle = 1, event = "leave", core = 0, time = 1 }
      local guessed <close> = open(exits, { format = "winidea" })
      assert.equal("1.1", guessed.info.version)
      assert.same({ "winidea-version-guessed@4" }, codes_of(guessed))
      local forced <close> = open(exits, { format = "winidea", bin_version = "1.0" })
      assert.equal("1.0", forced.info.version)
      assert.same({}, forced.warnings)
   end)

   it("decides between the versions by the last records", function()
      local list = {}
      for i = 1, 3000 do
         list[i] = { handle = i, event = "leave", core = 0, time = i }
      end
      list[3001] = { handle = 1, event = "enter", time = 4000 }
      local trace <close> = open(records.bytes(list, records.old), { format = "winidea" })
      assert.equal("1.0", trace.info.version)
   end)

   it("opens an empty file as a timeline without events if the format is given", function()
      local trace <close> = open("", { format = "winidea" })
      assert.same({}, trace.timeline:rows())
      assert.is_nil(profio.open { data = "" })
   end)

   it("reads records of 20 bytes with option record_size", function()
      local bytes = ("<I4I4I4i8"):pack(0x20000000, 4, 0xffffffff, 5) ..
         ("<I4I4I4i8"):pack(1, 3, 0, 6)
      assert.same({ { time = 5, value = 0xffffffff, event = "write" },
         { time = 6, event = "enter" } },
         rows_of(bytes, { format = "winidea", record_size = 20 }, "time", "value", "event"))
      local trace, message, code = profio.open({ data = bytes },
         { format = "winidea", record_size = 16 })
      assert.is_nil(trace)
      assert.matches("record_size 24 or 20 expected, found 16", message)
      assert.equal("unsupported", code)
   end)

   it("swaps suspend and resume with an option", function()
      local bytes = records.bytes(events, records.new)
      local plain = rows_of(bytes, nil, "event")
      local swapped = rows_of(bytes, { swap_suspend_resume = true }, "event")
      local other = { suspend = "resume", resume = "suspend" }
      for i, row in ipairs(plain) do
         assert.equal(other[row.event] or row.event, swapped[i].event)
      end
   end)

   it("notes when suspend and resume look swapped", function()
      local list = {}
      for i = 0, 9 do
         for j, event in ipairs { "enter", "suspend", "resume", "leave" } do
            list[#list + 1] = { handle = i % 3, event = event, time = 10 * i + j, core = 0 }
         end
      end
      local right <close> = open(records.bytes(list, records.new))
      assert.same({}, right.warnings)
      local other = { suspend = "resume", resume = "suspend" }
      for _, r in ipairs(list) do
         r.event = other[r.event] or r.event
      end
      for _, pack in ipairs { records.new, records.old } do
         local wrong <close> = open(records.bytes(list, pack))
         assert.same({ "winidea-swapped@4" }, codes_of(wrong))
         assert.equal("note", wrong.warnings[1].kind)
         local told <close> = open(records.bytes(list, pack), { swap_suspend_resume = true })
         assert.same({}, told.warnings)
         assert.same(right.timeline:rows("event", "time"), told.timeline:rows("event", "time"))
      end
   end)

   it("has a table of events with a lane for each core", function()
      local trace <close> = open(records.bytes(events, records.new))
      local lanes = {}
      for lane in trace.events:each "lane" do
         lanes[#lanes + 1] = lane
      end
      assert.same({ "core 0", "core 0", "core 0", "core 1", "core 0", "core ?" }, lanes)
      assert.same({ time = 4336, event = "write", area = "20000000", lane = "core 0", value = 1,
         number = 1.0, core = 0 }, trace.events:rows()[1])
   end)

   it("lists the areas that have records", function()
      local trace <close> = open(records.bytes(events, records.new))
      assert.same({
         { handle = 0x20000000, class = "variable" }, { handle = 0, class = "function" },
         { handle = 0x10000004, class = "line" }, { handle = 0x12, class = "function" },
      }, trace.areas:rows("handle", "class", "name"))
   end)

   it("distinguishes states of one handle by their value", function()
      local bytes = records.bytes({
         { handle = 0x30000002, event = "enter", data = 7, time = 1 },
         { handle = 0x30000002, event = "leave", data = 7, time = 2 },
         { handle = 0x30000002, event = "enter", data = -1, time = 3 },
         { handle = 0x70000002, event = "enter", data = 0, time = 4 },
      }, records.new)
      assert.same({ { area = "30000002=7", value = 7 }, { area = "30000002=7", value = 7 },
         { area = "30000002=-1", value = -1 }, { area = "70000002=0", value = 0 } },
         rows_of(bytes, nil, "area", "value"))
   end)

   it("finds the variable of a state in earlier and later records, and lists it first", function()
      local bytes = records.bytes({
         { handle = 0x30000002, event = "enter", data = 7, time = 1 },
         { handle = 0x30000003, event = "enter", data = 1, time = 2 },
         { handle = 0x20000003, event = "write", data = 1, time = 3 },
         { handle = 0x30000003, event = "enter", data = 2, time = 4 },
      }, records.new)
      for _, first in ipairs { 0, 2 } do
         local trace <close> = open(bytes)
         local part = traces.of(trace).parts[1]
         require("profio.core").rows(part:reader("timeline", first, 4), { "area" })
         assert.same({ { area = "20000002" }, { area = "30000002=7", parent = "20000002" },
            { area = "20000003" }, { area = "30000003=1", parent = "20000003" },
            { area = "30000003=2", parent = "20000003" } }, trace.areas:rows("area", "parent"))
      end
   end)

   it("reads handles far apart, and the invalid handle", function()
      local list = {}
      for i, handle in ipairs { 0x0fffffff, 0x00100000, 0x000fffff, 0xffffffff, 0x90000000 } do
         list[i] = { handle = handle, event = "enter", time = i }
         list[i + 5] = { handle = handle, event = "leave", time = i + 5 }
      end
      local rows = rows_of(records.bytes(list, records.new), { bin_version = "1.1",
         format = "winidea" }, "handle", "area")
      for i, row in ipairs(rows) do
         assert.equal(list[i].handle, row.handle)
         local name = ("%08X"):format(row.handle)
         assert.equal(name ~= "FFFFFFFF" and name or nil, row.area)
      end
   end)

   it("has raw rows whose bytes add up to the file", function()
      local bytes = records.bytes(events, records.new) .. "abc"
      local trace <close> = open(bytes)
      local parts = {}
      for offset, size, part in trace.raw:each("offset", "size", "bytes") do
         assert.equal(#table.concat(parts), offset)
         assert.equal(#part, size)
         parts[#parts + 1] = part
      end
      assert.equal(bytes, table.concat(parts))
      assert.same({ offset = 24, size = 24, kind = "record", handle = 0, flags = 2, data = 0,
         time = 4469, bytes = bytes:sub(25, 48) }, trace.raw:rows()[2])
      assert.same({ offset = 144, size = 3, kind = "rest", bytes = "abc" }, trace.raw:rows()[7])
   end)

   it("reads any range of many records", function()
      local list = {}
      for i = 1, 10000 do
         list[i] = { handle = (i % 3 == 0 and 0x20000000 or 0) + i % 7, event = "enter",
            data = i % 3 == 0 and -i or 0, time = i * 10, core = i % 4 }
      end
      local bytes = records.bytes(list, records.new)
      local trace <close> = open(bytes)
      local i = 0
      for time, core, value, area in trace.timeline:each("time", "core", "value", "area") do
         i = i + 1
         local wanted = list[i]
         assert(time == wanted.time and core == wanted.core, i)
         assert(value == (i % 3 == 0 and -i or nil), i)
         assert(area == ("%08X"):format(wanted.handle), i)
      end
      assert.equal(10000, i)
      local late = trace.timeline:where { time = profio.between(50000, 50020) }:rows "time"
      assert.same({ { time = 50000 }, { time = 50010 }, { time = 50020 } }, late)
   end)
end)

describe("a damaged winidea binary timeline", function()
   it("states the offset of a cut record", function()
      local bytes = records.bytes(events, records.new)
      for cut = 1, #bytes - 1 do
         local trace, message, code = profio.open({ data = bytes:sub(1, cut) },
            { format = "winidea" })
         if cut < 24 then
            assert.is_nil(trace)
            assert.matches("a record of 24 bytes expected", message)
            assert.equal("truncated", code)
         else
            local wanted = cut % 24 == 0 and {} or { "winidea-truncated@" .. cut // 24 * 24 }
            assert.equal(cut // 24, #trace.timeline:rows "time")
            assert.same(wanted, codes_of(trace))
            trace:close()
         end
      end
      local trace, _, code = profio.open({ data = bytes:sub(1, -2) }, { strict = true })
      assert.is_nil(trace)
      assert.equal("truncated", code)
   end)

   it("warns of a time that goes back, and reads on", function()
      local list = {}
      for i = 1, 9000 do
         list[i] = { handle = 1, event = "enter", time = i == 5000 and 1 or i }
      end
      local trace <close> = open(records.bytes(list, records.new))
      assert.equal(9000, #trace.timeline:rows "time")
      assert.same({ "winidea-time-falls@" .. 4999 * 24 + 16 }, codes_of(trace))
      assert.matches("a time of 4999 or later expected, found 1", trace.warnings[1].message)
      local strict <close> = open(records.bytes(list, records.new), { strict = true })
      assert.error_matches(function() strict.timeline:rows() end, "byte 119992")
   end)

   it("warns of unknown events and flags", function()
      local bytes = records.bytes(events, records.new) ..
         ("<I4I4i8i8"):pack(1, 7, 0, 2000000) .. ("<I4I4i8i8"):pack(1, 0x1003, 0, 2000001)
      local trace <close> = open(bytes)
      local rows = trace.timeline:rows("event", "time")
      assert.same({ { time = 2000000 }, { time = 2000001, event = "enter" } },
         { rows[7], rows[8] })
      assert.same({ "winidea-bad-event@148", "winidea-odd-flags@172" }, codes_of(trace))
   end)

   it("warns of unknown events of variables, but for version 1.0, which has none", function()
      local bytes = records.bytes(events, records.new)
         .. ("<I4I4i8i8"):pack(0x20000001, 9, 0, 2000000)
      local trace <close> = open(bytes, { format = "winidea", bin_version = "1.1" })
      assert.same({ time = 2000000 }, trace.timeline:rows("event", "time")[7])
      assert.same({ "winidea-bad-event@148" }, codes_of(trace))
      local old <close> = open(("<I4I4i8i8"):pack(0x20000001, 9 << 24, 0, 2000000),
         { format = "winidea", bin_version = "1.0" })
      assert.same({ { event = "write" } }, old.timeline:rows "event")
   end)

   it("is not detected in other files", function()
      local noise = {}
      for i = 1, 400 do
         noise[i] = ("<I8"):pack(i * 0x9e3779b97f4a7c15)
      end
      for _, bytes in ipairs { table.concat(noise), ("\0"):rep(4800), ("text, text\n"):rep(100) } do
         assert.is_nil((profio.open { data = bytes }))
      end
   end)
end)
