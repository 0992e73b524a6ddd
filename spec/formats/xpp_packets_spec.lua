-- Traces in packets, also with lost, duplicate or concatenated packets.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local xpp = require "spec.support.xpp_builder"
local codes = require("spec.support.codes").sorted

local function in_folder(name)
   return command.folder .. "/" .. name
end

-- Writes the packets of the golden trace, 3 entries each, except those in `without`. Returns the
-- path of the header packet.
local function write_packets(name, form, without)
   local list, prv = xpp.packets(xpp.golden, 3, form)
   command.run("rm -f " .. name .. ".PR*")
   for number, packet in ipairs(list) do
      if not (without and without[number - 1]) then
         command.file(name .. ".PRF" .. packet.suffix, packet.bytes)
      end
   end
   if form == "table" then
      command.file(name .. ".PRV", prv)
   end
   return name .. ".PRF", list
end

local function rows_of(path)
   local trace <close> = assert(profio.open(path))
   return trace.entries:rows("thread", "time", "op", "call", "line"), codes(trace), trace.info
end

local golden = {}
for i, row in ipairs(xpp.golden) do
   golden[i] = { thread = row[1], time = row[2] * 1000000, op = row[3], call = row[4],
      line = row[5] }
end

-- Returns whether saving a trace noted that its gaps have no place in the file.
local function has_note(trace)
   for _, warning in ipairs(trace.warnings) do
      if warning.code == "xpp-not-written" and warning.message:find "column 'flags' of table" then
         return true
      end
   end
   return false
end

describe("packets", function()
   it("of text without names may have the calls of several threads", function()
      local rows = { { 1, 0, "i", "MAIN", 10 }, { 2, 0, "i", "WORKER", 50 },
         { 1, 5, "i", "READ", 11 }, { 2, 6, "i", "WRITE", 51 }, { 1, 9, "o", "READ", 11 },
         { 2, 12, "o", "WRITE", 51 }, { 1, 20, "o", "MAIN", 10 }, { 2, 25, "o", "WORKER", 50 } }
      command.run "rm -f threads*.PRF*"
      for _, packet in ipairs(xpp.packets(rows, 3, "text")) do
         command.file("threads.PRF" .. packet.suffix, packet.bytes)
      end
      for _, name in ipairs { "threads.PRF", "threads.PRF.000001", "threads.PRF.000003" } do
         assert.equal(8, #rows_of(in_folder(name)))
      end
      command.file("threads-built.PRF", xpp.text(rows)) -- as `copy` joins them
      assert.equal(8, #rows_of(in_folder "threads-built.PRF"))
   end)

   for _, form in ipairs { "table", "text" } do
      describe("of a " .. form, function()
         it("are one trace, whichever packet is opened", function()
            local path = in_folder(write_packets("whole-" .. form, form))
            for _, suffix in ipairs { "", ".000001", ".000003", ".000005" } do
               local rows, warned, info = rows_of(path .. suffix)
               assert.same(golden, rows)
               assert.same(form == "text" and { "xpp-fields-guessed" } or {}, warned)
               assert.equal(5, info.packets)
            end
            local both <close> = assert(profio.open { path .. ".000002", path, path .. ".000001" })
            assert.equal(#golden, both.entries:count())
            assert(both:save())
            assert.is_false(has_note(both))
         end)

         it("have a gap after one that ends inside a row", function()
            local name, list = write_packets("inside-" .. form, form)
            command.file(name .. ".000002", list[3].bytes:sub(1, -8))
            local trace <close> = assert(profio.open(in_folder(name)))
            local flags = {}
            for i, row in ipairs(trace.entries:rows()) do
               flags[i] = row.flags or ""
            end
            assert.same({ "", "", "", "", "", "gap", "", "", "", "", "", "", "" }, flags)
            assert.equal("xpp-partial-row", codes(trace)[form == "text" and 3 or 2])
         end)

         it("are read with a warning if some are missing", function()
            local path = in_folder(write_packets("gap-" .. form, form, { [3] = true }))
            local trace <close> = assert(profio.open(path))
            local list = {}
            for _, row in ipairs(trace.entries:rows("call", "time", "flags")) do
               list[#list + 1] = row.call .. (row.flags and " " .. row.flags or "")
            end
            assert.same({ "MAIN", "A", "B", "B", "C", "B", "B gap", "B", "C", "A", "MAIN" },
               list)
            local warned = table.concat(codes(trace), " ")
            assert.matches("xpp%-packet%-gap", warned)
            assert.equal(form == "table", warned:find "xpp%-count" ~= nil)
            assert(trace:save())
            assert.is_true(has_note(trace))
            local strict, message = profio.open(path, { strict = true })
            assert.is_nil(strict)
            assert.matches("packet 000003 expected, found 000004", message)
         end)

         it("have a warning for each gap, and a count after a hundred", function()
            local entries, without = {}, {}
            for i = 1, 246 do
               entries[i] = { 1, i, i % 2 == 1 and "I" or "O", "F" .. i, i }
               without[i] = i % 2 == 1
            end
            local list = xpp.packets(entries, 1, form)
            command.run "mkdir -p gaps && rm -f gaps/*"
            for number, packet in ipairs(list) do
               if not without[number - 1] then
                  command.file("gaps/G.PRF" .. packet.suffix, packet.bytes)
               end
            end
            local trace <close> = assert(profio.open(in_folder "gaps/G.PRF"))
            local counts = {}
            for _, warning in ipairs(trace.warnings) do
               if warning.code == "xpp-packet-gap" then
                  counts[#counts + 1] = warning.count
               end
            end
            assert.equal(100, #counts)
            assert.equal(123 - 99, table.remove(counts)) -- of packets 1, 3, 5, ..., 245
            assert.equal(("1"):rep(99), table.concat(counts))
         end)

         it("start with empty stacks after a gap", function()
            local path = in_folder(write_packets("stack-" .. form, form, { [3] = true }))
            local trace <close> = assert(profio.open(path))
            local flags = {}
            for area, flag in trace:calls():each("area", "flags") do
               flags[#flags + 1] = area .. (flag and " " .. flag or "")
            end
            assert.same({ "B", "B gap", "C gap", "A gap", "MAIN gap", "B", "C orphan", "A orphan",
               "MAIN orphan" }, flags)
         end)

         it("are read once if they are duplicate", function()
            local path, list = write_packets("double-" .. form, form)
            command.file(path .. ".0000002", list[3].bytes)
            local rows, warned = rows_of(in_folder(path))
            assert.same(golden, rows)
            assert.matches("xpp%-packet%-double", table.concat(warned, " "))
            command.file(path .. ".000006", list[6].bytes)
            assert.same(golden, (rows_of(in_folder(path))))
         end)

         it("are read once if the header packet is a copy of all", function()
            local path, list = write_packets("built-" .. form, form)
            local all = {}
            for i, packet in ipairs(list) do
               all[i] = packet.bytes
            end
            command.file(path, table.concat(all) .. "\26")
            local rows, warned = rows_of(in_folder(path))
            assert.same(golden, rows)
            assert.matches("xpp%-packet%-double", table.concat(warned, " "))
         end)

         it("are all read if the header packet is a copy of some", function()
            local path, list = write_packets("part-" .. form, form)
            local all = list[1].bytes
            for count = 2, #list - 1 do
               all = all .. list[count].bytes
               command.file(path, all)
               local rows, warned = rows_of(in_folder(path))
               assert.same(golden, rows)
               assert.is_nil(table.concat(warned, " "):find "xpp%-packet%-gap")
            end
         end)
      end)
   end

   it("of text need no header packet", function()
      local path = write_packets("bare", "text", { [0] = true })
      for _, suffix in ipairs { ".000001", ".000004" } do
         assert.same(golden, (rows_of(in_folder(path) .. suffix)))
      end
   end)

   it("of a table need the header packet", function()
      local path = write_packets("lost", "table", { [0] = true })
      assert.is_nil((profio.open(in_folder(path) .. ".000001")))
   end)
end)

-- The result of `copy TEST.PRF + TEST.PRF.000001 ... ALL.PRF` without /b: each file up to its first
-- byte 0x1A.
describe("a copy as text", function()
   local function copied(with_marks)
      local rows = {}
      for i = 1, 40 do
         rows[i] = { 1, i, i % 2 == 1 and "I" or "O", "FUNCTION" .. (i + 1) // 2,
            i == 17 and 26 or 100 + (i % 2) }
      end
      local pieces = {}
      for i, packet in ipairs((xpp.packets(rows, 10, "table"))) do
         pieces[i] = i == 1 and packet.bytes or packet.bytes:match "^[^\26]*"
      end
      return table.concat(pieces, with_marks and "\26" or "") .. "\26"
   end

   it("is read with a warning where records are lost", function()
      for _, with_marks in ipairs { false, true } do
         local trace <close> = assert(profio.open { data = copied(with_marks) })
         local numbers, gaps = {}, {}
         for time, flags in trace.entries:each("time", "flags") do
            numbers[#numbers + 1] = time // 1000000
            gaps[#gaps + 1] = flags and time // 1000000
         end
         -- the byte occurs in the line of the 17th record and in the time of the 26th: each is
         -- lost, with the rest of its packet
         local expected = {}
         for i = 1, 40 do
            expected[#expected + 1] = (i < 17 or (i > 20 and i < 26) or i > 30) and i or nil
         end
         assert.same(expected, numbers)
         assert.same({ 21, 31 }, gaps)
         assert.matches("xpp%-lost%-rows", table.concat(codes(trace), " "))
      end
   end)
end)

describe("damage", function()
   it("by a cut at any byte keeps the complete rows before it", function()
      local prf, prv = xpp.table(xpp.golden)
      local start = #xpp.header(xpp.fields, 0)
      for size = start, #prf - 1 do
         local trace <close> = assert(profio.open({ data = prf:sub(1, size), memo = prv },
            { format = "xpp" }))
         local whole = math.min((size - start) // 38, 14)
         assert.equal(whole, trace.entries:count(), "size " .. size)
         local warned = table.concat(codes(trace), " ")
         assert.equal(whole < 14, warned:find "xpp%-count" ~= nil)
         assert.equal((size - start) % 38 > 0, warned:find "xpp%-partial%-row" ~= nil)
      end
      local text = xpp.text(xpp.golden)
      for size = 100, #text do
         local trace <close> = assert(profio.open({ data = text:sub(1, size) }))
         local whole = select(2, text:sub(1, size):gsub("\n", ""))
         local rest = select(2, text:sub(1, size):match "[^\n]*$":gsub(",", ""))
         assert.equal(whole + (rest == 5 and 1 or 0), trace.entries:count(), "size " .. size)
      end
   end)

   it("of the count in the header is a note", function()
      for _, count in ipairs { 0, 3, 0xffffffff } do
         local prf = xpp.table(xpp.golden, { count = count })
         local trace <close> = assert(profio.open { data = prf })
         assert.equal(14, trace.entries:count())
         assert.same({ count < 14 and "xpp-stale-count" or "xpp-count" }, codes(trace))
         assert.equal(count < 14 and "note" or "damage", trace.warnings[1].kind)
      end
   end)

   it("between and after records is skipped", function()
      local prf, prv = xpp.table(xpp.golden)
      local start = #xpp.header(xpp.fields, 0)
      local hurt = prf:sub(1, start + 38 * 5) .. "garbage" .. prf:sub(start + 38 * 5 + 1)
      local trace <close> = assert(profio.open { data = hurt, memo = prv })
      assert.equal(14, trace.entries:count())
      assert.same({ "xpp-lost-rows" }, codes(trace))
      local behind <close> = assert(profio.open { data = prf .. ("x"):rep(95) })
      assert.equal(14, behind.entries:count())
      assert.matches("xpp%-trailing", table.concat(codes(behind), " "))
   end)

   it("of rows of text is reported", function()
      local function count(text, ...)
         local trace <close> = assert(profio.open({ data = "TID,TIME,OP,MSG,LINE\n" .. text }))
         local rows = trace.entries:count()
         assert.same({ ... }, codes(trace))
         return rows
      end
      local good = '1,4,I,A,10\n1,5,O,A,11\n1,5,I,A,10\n1,6,O,A,11\n1,7,I,A,10\n1,8,O,A,11\n'
         .. '1,9,I,A,10\n1,9,O,A,11\n1,9,I,A,10\n1,9,O,A,11\n'
      assert.equal(10, count(good))
      assert.equal(11, count(good .. "1,9,I,A,10,7\n", "xpp-columns"))
      assert.equal(11, count(good .. "1,9,I,A\n", "xpp-columns"))
      assert.equal(11, count(good .. '1,9,I,"A,10\n', "xpp-open-quote"))
      assert.equal(11, count(good .. '1,9,I,"A"b",10\n', "xpp-odd-quote"))
      assert.equal(11, count(good .. "\0261,9,I,A,10\n\26", "xpp-stray-end"))
   end)

   it("of a packet is reported with the offset in its own file", function()
      local path, list = write_packets("hurt", "table")
      command.file(path .. ".000002", list[3].bytes .. "xyz")
      local trace <close> = assert(profio.open(in_folder(path)))
      assert.equal(14, trace.entries:count())
      local words = {}
      for _, warning in ipairs(trace.warnings) do
         words[#words + 1] = warning.message
      end
      assert.matches("packet 000002: ", table.concat(words, "\n"))
   end)
end)
