-- Writing Xbase++ traces: the bytes equal those packed by hand, and are read back.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local refused = require "spec.support.refused"
local xpp = require "spec.support.xpp_builder"

local date = "2026-11-21"

local function in_folder(name)
   return command.folder .. "/" .. name
end

-- Entries as records, in ns.
local function records(rows)
   local list = {}
   for i, row in ipairs(rows) do
      list[i] = { thread = row[1], time = row[2] * 1000000, op = row[3], call = row[4],
         line = row[5], params = row[6] }
   end
   return list
end

local function write_all(path, options, rows)
   options.format = "xpp"
   local writer = assert(profio.create(path, options))
   for _, record in ipairs(records(rows)) do
      assert(writer:write(record))
   end
   return assert(writer:close())
end

local function random_rows(seed)
   math.randomseed(seed)
   local rows, time = {}, 0
   local texts = { "", "1", '"a", {b}', "two\r\nlines", 'he said "no"', ";|\t,", "\26", "ä" }
   for i = 1, math.random(0, 60) do
      time = time + math.random(0, 5)
      rows[i] = { math.random(1, 3), time, ("iIoO"):sub(math.random(4)):sub(1, 1),
         "F" .. math.random(99), math.random(0, 70000),
         math.random(3) == 1 and texts[math.random(#texts)] or nil }
   end
   return rows
end

describe("written traces", function()
   it("equal bytes packed by hand", function()
      local rows = table.move(xpp.golden, 1, #xpp.golden, 1, {})
      rows[3] = { 1, 4, "I", "B", 30, "x = 1" }
      local prf, prv = xpp.table(rows)
      local writer = assert(profio.create(nil, { format = "xpp", changed = date }))
      for _, record in ipairs(records(rows)) do
         assert(writer:write(record))
      end
      local bytes, sides = writer:close()
      assert.equal(prf, bytes)
      assert.equal(prv, sides.memo)
      assert.equal((xpp.table(xpp.golden, { fields = xpp.text_fields, version = 3 })),
         (write_all(nil, { layout = "text-fields", params = false, changed = date }, xpp.golden)))
      assert.equal(xpp.text(rows), (write_all(nil, { form = "deldbe" }, rows)))
      assert.equal(xpp.text(rows, { separator = ";", names = { "TID", "TIME", "OP", "MSG", "LINE",
         "PARAMS" } }), (write_all(nil, { form = "deldbe", separator = ";", header_row = true },
         rows)))
   end)

   it("are read back as they were", function()
      for seed = 1, 60 do
         local rows = random_rows(seed)
         for _, options in ipairs { { form = "foxdbe" }, { form = "deldbe", header_row = true },
            { form = "deldbe", header_row = true, separator = "tab" } } do
            local made = { format = "xpp" }
            for name, value in pairs(options) do
               made[name] = value
            end
            local writer = assert(profio.create(nil, made))
            for _, record in ipairs(records(rows)) do
               assert(writer:write(record))
            end
            local bytes, sides = writer:close()
            local trace <close> = assert(profio.open({ data = bytes, memo = sides
               and sides.memo }, { format = "xpp" }))
            local got = trace.entries:rows()
            for _, row in ipairs(got) do
               row.flags = nil
            end
            assert.same(records(rows), got, "seed " .. seed)
            for _, warning in ipairs(trace.warnings) do
               assert.equal("note", warning.kind)
            end
         end
      end
   end)

   it("refuse a step back that would be read as a start of the clock", function()
      local DAYS_25 = 25 * 86400 * 1000000000
      for _, form in ipairs { "foxdbe", "deldbe" } do
         local writer = assert(profio.create(nil, { format = "xpp", form = form }))
         assert(writer:write { thread = 1, time = DAYS_25, op = "I", call = "A" })
         assert.error_matches(function()
            writer:write { thread = 2, time = 1000000, op = "I", call = "A" }
         end, "entry 2: a time of 1 ms after one of 2160000000 ms would be read as")
         local short = assert(profio.create(nil, { format = "xpp", form = form }))
         assert(short:write { thread = 1, time = DAYS_25 - 86400000000000, op = "I", call = "A" })
         assert(short:write { thread = 2, time = 1000000, op = "I", call = "A" })
         assert.is_string((short:close()))
      end
      local text = assert(profio.create(nil, { format = "xpp", form = "deldbe" }))
      assert(text:write { thread = 1, time = DAYS_25, op = "I", call = "A" })
      assert(text:write { thread = 1, op = "O", call = "A" })
      assert.is_string((text:close()))
   end)

   it("can have a missing time only in fields that can be empty", function()
      local entries = {
         { thread = 1, time = 5000000, op = "I", call = "A", line = 1 },
         { thread = 1, op = "O", call = "A", line = 2 },
         { thread = 1, time = 7000000, op = "I", call = "B", line = 3 },
      }
      local refused_in = { { format = "xpp" },
         { format = "xpp", fields = "TID I, TIME Y, OP C(1), MSG C(20)" } }
      for _, options in ipairs(refused_in) do
         local writer = assert(profio.create(nil, options))
         assert(writer:write(entries[1]))
         assert.error_matches(function()
            writer:write(entries[2])
         end, "entry 2 has no time, and the binary field of the time cannot be empty")
      end
      for _, options in ipairs { { layout = "text-fields" }, { form = "deldbe" },
         { fields = "TID I, TIME N(10), OP C(1), MSG C(20), LINE I" },
         { fields = "TID I, TIME I null, OP C(1), MSG C(20), LINE I" } } do
         options.format = "xpp"
         local writer = assert(profio.create(nil, options))
         for _, entry in ipairs(entries) do
            assert(writer:write(entry))
         end
         local trace <close> = assert(profio.open({ data = (writer:close()) }, { format = "xpp" }))
         local times = {}
         for i, row in ipairs(trace.entries:rows()) do
            times[i] = row.time or "missing"
         end
         assert.same({ 5000000, "missing", 7000000 }, times)
         for _, warning in ipairs(trace.warnings) do
            assert.not_equal("xpp-run-begins", warning.code)
         end
      end
   end)

   -- Returns a column of the entries that are read back, or nil and the message of the refusal.
   local function read_back(column, options, entries)
      options.format = "xpp"
      local writer = assert(profio.create(nil, options))
      local ok, message = pcall(function()
         for _, entry in ipairs(entries) do
            assert(writer:write(entry))
         end
      end)
      if not ok then
         return nil, message
      end
      local trace <close> = assert(profio.open({ data = (writer:close()) }, { format = "xpp" }))
      local values = {}
      for i, row in ipairs(trace.entries:rows()) do
         values[i] = row[column] or "missing"
      end
      return values
   end

   it("have 0 for a missing thread or line only in binary fields, which cannot be empty", function()
      local whole = { thread = 3, time = 1000000, op = "I", call = "A", line = 7 }
      local no_thread = { time = 1000000, op = "I", call = "A", line = 7 }
      local no_line = { thread = 3, time = 1000000, op = "I", call = "A" }
      assert.same({ 3, 0 }, read_back("thread", {}, { whole, no_thread }))
      assert.same({ 0, 7 }, read_back("line", {}, { no_line, whole }))
      for _, options in ipairs { { layout = "text-fields" },
         { fields = "TID I null, TIME I, OP C(1), MSG C(9), LINE I null" } } do
         assert.same({ 3, "missing" }, read_back("thread", options, { whole, no_thread }))
         assert.same({ "missing", 7 }, read_back("line", options, { no_line, whole }))
      end
   end)

   it("cannot have an entry without a time in a binary field", function()
      local values, message = read_back("time", {}, { { thread = 3, op = "I", call = "A" } })
      assert.is_nil(values)
      assert.matches("entry 1 has no time, and the binary field of the time cannot", message)
   end)

   it("have whole ms: other times are refused, or rounded", function()
      for _, case in ipairs { { 1499999, 1 }, { 1500000, 2 } } do
         local writer = assert(profio.create(nil, { format = "xpp" }))
         assert.error_matches(function()
            writer:write { thread = 1, time = case[1], op = "I", call = "A" }
         end, "whole milliseconds")
         local emit = writer:emitter("thread", "time", "op", "call")
         assert.error_matches(function()
            emit(1, case[1], "I", "A")
         end, "whole milliseconds")
         local rounded = assert(profio.create(nil, { format = "xpp", round = true }))
         assert(rounded:write { thread = 1, time = case[1], op = "I", call = "A" })
         assert(rounded:write { thread = 1, time = 3000000, op = "O", call = "A" })
         assert.same({ tried = 2, written = 2, lost = 0, rounded = 1 }, rounded:facts())
         local trace <close> = assert(profio.open { data = (rounded:close()) })
         assert.equal(case[2] * 1000000, trace.entries:rows()[1].time)
      end
      local bytes = write_all(nil, { form = "deldbe", header_row = true },
         { { 1, 0.0000005, "I", "A", 1 } } and {})
      assert.equal("TID,TIME,OP,MSG,LINE,PARAMS\r\n", bytes)
      local text = assert(profio.create(nil, { format = "xpp", form = "deldbe",
         header_row = true }))
      text:write { thread = 1, time = 1500001, op = "I", call = "A" }
      local trace <close> = assert(profio.open { data = (text:close()) })
      assert.equal(1500001, trace.entries:rows()[1].time)
   end)

   it("refuse a negative time only in a binary field, where it would be a late one", function()
      local entries = { { thread = 1, time = -5000000, op = "I", call = "A", line = 1 },
         { thread = 1, time = 0, op = "O", call = "A", line = 2 } }
      for _, fields in ipairs { "", "TIME I null, OP C(1), MSG C(9)" } do
         local values, message = read_back("time", { fields = fields }, entries)
         assert.is_nil(values)
         assert.matches("entry 1: a time of %-5 ms .* read as 4294967291 ms", message)
      end
      for _, options in ipairs { { layout = "text-fields" }, { form = "deldbe", header_row = true },
         { fields = "TIME B, OP C(1), MSG C(9)" } } do
         assert.same({ -5000000, 0 }, read_back("time", options, entries))
      end
      assert.same({ 0 }, read_back("time", { round = true },
         { { thread = 1, time = -400000, op = "I", call = "A" } }))
   end)

   it("refuse a time by the number of its entry, also of many that are copied", function()
      local lines = { "TID,TIME,OP,MSG" }
      for i = 1, 5000 do
         lines[#lines + 1] = ("1,%s,I,A"):format(i == 4711 and "4710.5" or i)
      end
      local trace <close> = assert(profio.open { data = table.concat(lines, "\n") .. "\n" })
      local bytes, message = trace:save(nil, { form = "foxdbe" })
      assert.is_nil(bytes)
      assert.matches("entry 4711: the file stores whole milliseconds, not 4710500000 ns", message)
   end)

   it("can have a clock of 32 bits", function()
      local rows = { { 1, 0x7fffffff, "I", "A", 1 }, { 1, 0x80000000, "O", "A", 1 },
         { 1, 0xffffffff, "I", "A", 1 } }
      local trace <close> = assert(profio.open { data = (write_all(nil, {}, rows)) })
      assert.same(records(rows), trace.entries:rows())
   end)

   it("refuse names that do not fit, and fields without a role", function()
      local writer = assert(profio.create(nil, { format = "xpp", symbol_size = 3 }))
      assert.is_nil((refused(writer, { thread = 1, time = 0, op = "I", call = "LONG" })))
      assert.matches("op and call", (select(2, profio.create(nil, { format = "xpp",
         fields = "A I, B C(9)" }))))
      assert.matches("numbers expected for time", (select(2, profio.create(nil, { format = "xpp",
         fields = "TIME C(9), OP C(1), MSG C(9)" }))))
      assert.matches("flush_every", (select(2, profio.create(nil, { format = "xpp",
         packets = true }))))
      assert.is_nil((refused(assert(profio.create(nil, { format = "xpp", packets = true,
         flush_every = 3 })), { thread = 1, time = 0, op = "I", call = "A" })))
   end)

   it("may have the names of the profiler's documents", function()
      local rows = { { 1, 4, "I", "MAIN", 7 }, { 1, 9, "O", "MAIN", 8 } }
      for _, layout in ipairs { "binary", "text-fields" } do
         local bytes = write_all(nil, { names = "doc", layout = layout }, rows)
         local trace <close> = assert(profio.open { data = bytes })
         local names = {}
         for name in trace.structure:each "name" do
            names[#names + 1] = name
         end
         assert.same({ "THREAD_ID", "TIME", "OP", "CALL", "LINE", "PARAMETERS" }, names)
         assert.same(records(rows), trace.entries:rows())
      end
      assert.equal('THREAD_ID,TIME,OP,CALL,LINE,PARAMETERS\r\n1,4,"I","MAIN",7,\r\n'
         .. '1,9,"O","MAIN",8,\r\n',
         (write_all(nil, { names = "doc", form = "text", header_row = true }, rows)))
   end)

   it("may have fields of other names, and more of them", function()
      local writer = assert(profio.create(nil, { format = "xpp", changed = date,
         fields = "T I, OP C(1), MSG C(9), FOO N(5) null, NOTE C(4)", map = "time=T" }))
      assert(writer:write { time = 1000000, op = "I", call = "A", FOO = 7, NOTE = "x" })
      assert(writer:write { time = 2000000, op = "O", call = "A" })
      local trace <close> = assert(profio.open({ data = (writer:close()) }, { format = "xpp",
         map = "time=T" }))
      assert.same({ { time = 1000000, op = "I", call = "A", FOO = 7, NOTE = "x" },
         { time = 2000000, op = "O", call = "A", NOTE = "" } }, trace.entries:rows())
   end)
end)

describe("a field of milliseconds with a fraction", function()
   local function save(time, round)
      local writer = assert(profio.create(nil, { format = "xpp", changed = date, round = round,
         fields = "TIME N(20,6), OP C(1), MSG C(9)" }))
      writer:write { time = time, op = "I", call = "A" }
      return (writer:close())
   end

   it("has the precision of a double, and refuses or counts rounded values", function()
      local trace <close> = assert(profio.open { data = save(1500001) })
      assert.equal(1500001, trace.entries:rows()[1].time)
      assert.error_matches(function()
         save(1763800000123456789)
      end, "cannot represent 1763800000123456789 ns")
      assert.is_string(save(1763800000123456789, true))
   end)
end)

describe("a trace that is recorded through a ring", function()
   it("can be read while it grows, and is whole at the end", function()
      command.run "rm -f live.PR*"
      local path = in_folder "live.PRF"
      local writer = assert(profio.create(path, { format = "xpp", flush_every = 4,
         changed = date }))
      local emit = writer:emitter("thread", "time", "op", "call", "line", "params")
      for i, row in ipairs(xpp.golden) do
         emit(row[1], row[2] * 1000000, row[3], row[4], row[5], "p" .. i)
         if i == 8 then
            writer:flush()
            local trace <close> = assert(profio.open(path))
            assert.equal(8, trace.entries:count())
            assert.equal(8, trace.info.records)
            assert.equal("p8", trace.entries:rows()[8].params)
         end
      end
      assert(writer:close())
      local rows = {}
      for i, row in ipairs(xpp.golden) do
         rows[i] = { row[1], row[2], row[3], row[4], row[5], "p" .. i }
      end
      local prf, prv = xpp.table(rows)
      assert.equal(prf, command.read(path))
      assert.equal(prv, command.read(in_folder "live.PRV"))
   end)
end)

describe("packets that are written", function()
   for _, form in ipairs { "foxdbe", "deldbe" } do
      it("are written in form " .. form, function()
         command.run "rm -f out-*.PR*"
         local path = in_folder("out-" .. form .. ".PRF")
         write_all(path, { form = form, packets = true, flush_every = 3, settings = true,
            changed = date }, xpp.golden)
         local list = xpp.packets(xpp.golden, 3, form == "foxdbe" and "table" or "text")
         for _, packet in ipairs(list) do
            assert.equal(packet.bytes, command.read(path .. packet.suffix))
         end
         assert.is_nil(io.open(path .. ".000006"))
         local trace <close> = assert(profio.open(path .. ".000002"))
         assert.equal(14, trace.entries:count())
         assert.equal("trace flush packets", trace.info.operation)
         assert.equal(3, trace.info.flush_every)
      end)
   end

   -- Returns the numbers of the existing packets.
   local function numbers_of(path)
      local found = {}
      for number = 1, 9 do
         local file <close> = io.open(("%s.%06d"):format(path, number))
         found[#found + 1] = file and number
      end
      return table.concat(found, " ")
   end

   local packets = { packets = true, flush_every = 3, changed = date }
   local few = { table.unpack(xpp.golden, 1, 6) }

   it("replace all packets of an older and longer trace when they are complete", function()
      for _, form in ipairs { "foxdbe", "deldbe" } do
         packets.form = form
         command.run "rm -f short.PR*"
         local path = in_folder "short.PRF"
         write_all(path, packets, xpp.golden)
         assert.equal("1 2 3 4 5", numbers_of(path))
         local old = command.read(path .. ".000004")
         local writer = assert(profio.create(path, { format = "xpp", packets = true,
            flush_every = 3, form = form }))
         assert(writer:write { thread = 1, time = 0, op = "I", call = "A" })
         assert.equal("1 2 3 4 5", numbers_of(path))
         assert.equal(old, command.read(path .. ".000004"))
         assert(writer:close())
         assert.equal("1", numbers_of(path))
         write_all(path, packets, xpp.golden)
         write_all(path, packets, few)
         assert.equal("1 2", numbers_of(path))
         local trace <close> = assert(profio.open(path))
         assert.same(records(few), trace.entries:rows())
         assert.equal(form == "deldbe" and 1 or 0, #trace.warnings) -- text has no names of fields
      end
   end)

   it("replace an older trace at once where they are recorded through a ring", function()
      command.run "rm -f ringed.PR*"
      packets.form = "foxdbe"
      local path = in_folder "ringed.PRF"
      write_all(path, packets, xpp.golden)
      local writer = assert(profio.create(path, { format = "xpp", packets = true,
         flush_every = 3, ring = {} }))
      assert.is_true(#numbers_of(path) <= 1)
      for _, record in ipairs(records(few)) do
         assert(writer:write(record))
      end
      assert(writer:close())
      assert.equal("1 2", numbers_of(path))
      local trace <close> = assert(profio.open(path))
      assert.same(records(few), trace.entries:rows())
   end)

   it("are not mixed with files of another trace", function()
      command.run "rm -f mixed.PR*"
      packets.form = "foxdbe"
      local path = in_folder "mixed.PRF"
      write_all(path, packets, xpp.golden)
      local before = command.read(path)
      local function is_refused(options, file)
         local given = { format = "xpp" }
         for name, value in pairs(options) do
            given[name] = value
         end
         local writer, message, code = profio.create(path, given)
         assert.is_nil(writer)
         assert.matches(file, message, 1, true)
         assert.matches("read as a packet", message)
         assert.equal("io", code)
         assert.equal(before, command.read(path))
      end
      is_refused({}, "mixed.PRF.000001")
      command.run "rm mixed.PRF.000004"
      is_refused(packets, "mixed.PRF.000005")
      assert.equal("1 2 3 5", numbers_of(path))
      command.run "mv mixed.PRF.000005 mixed.PRF.20241121"
      is_refused(packets, "mixed.PRF.20241121")
      local trace <close> = assert(profio.open(path))
      command.run "cp mixed.PRF other.PRF && cp mixed.PRF.000001 other.PRF.20241121"
      local ok, message = trace:save(in_folder "other.PRF")
      assert.is_nil(ok)
      assert.matches("read as a packet", message)
      local _, status, errors = command.run "profio --merge -o other.PRF mixed.PRF"
      command.run "rm other.PRF*"
      assert.equal(1, status)
      assert.matches("read as a packet", errors)
      assert.equal("1 2 3", numbers_of(path))
   end)
end)

describe("merging", function()
   local function merged(form, ...)
      local text, status, errors = command.run("profio --merge -o merged.PRF --set changed=" .. date
         .. " " .. table.concat({ ... }, " "))
      assert.same({ "", 0 }, { text, status }, errors)
      return command.read(in_folder "merged.PRF"), form
   end

   it("writes packets as one file", function()
      command.run "rm -f some-*.PR* merged.PR*"
      for _, form in ipairs { "table", "text" } do
         local list, prv = xpp.packets(xpp.golden, 3, form)
         for _, packet in ipairs(list) do
            command.file("some-" .. form .. ".PRF" .. packet.suffix, packet.bytes)
         end
         command.file("some-table.PRV", prv)
         local expected = form == "table" and xpp.table(xpp.golden) or xpp.text(xpp.golden)
         assert.equal(expected, (merged(form, "some-" .. form .. ".PRF.000002")))
      end
   end)

   it("corrects a file with an outdated header, and one that was copied as text", function()
      local prf, prv = xpp.table(xpp.golden, { count = 3 })
      command.file("stale.PRF", prf:sub(1, -2))
      command.file("stale.PRV", prv)
      assert.equal((xpp.table(xpp.golden)), (merged("table", "stale.PRF")))
      local list = xpp.packets(xpp.golden, 3, "table")
      local pieces = {}
      for i, packet in ipairs(list) do
         pieces[i] = packet.bytes
      end
      command.file("marks.PRF", table.concat(pieces, "\26") .. "\26")
      command.file("marks.PRV", prv)
      assert.equal((xpp.table(xpp.golden)), (merged("table", "marks.PRF")))
   end)

   it("keeps unknown fields, types, deleted records and the code page", function()
      local fields = { { "THREAD", "N", 3 }, { "MS", "N", 9 }, { "OPER", "C", 1 },
         { "PROC", "C", 12 }, { "EXTRA", "C", 5 }, { "MORE", "N", 4 } }
      local rows = { { 1, 2, "I", "MAIN", "a", 7 }, { 1, 3, "O", "MAIN", "", 8, deleted = true },
         { 1, 4, "O", "MAIN", "\xe4", 9 } }
      local prf = xpp.table(rows, { fields = fields, version = 3 })
      local trace <close> = assert(profio.open({ data = prf }, { deleted = "show" }))
      assert.equal(prf, (trace:save(nil, { changed = date })))
   end)

   it("keeps a deleted record that has other flags, too", function()
      local rows = { { 1, 100, "I", "A", 1 }, { 1, 200, "O", "A", 2 },
         { 1, 1, "I", "A", 1, deleted = true }, { 1, 2, "O", "A", 2 } }
      local prf = xpp.table(rows)
      local trace <close> = assert(profio.open({ data = prf }, { deleted = "show" }))
      assert.equal("deleted run", trace.entries:rows()[3].flags)
      assert.equal(prf, (trace:save(nil, { changed = date })))
      local writer = assert(profio.create(nil, { format = "xpp", changed = date }))
      for i, row in ipairs(records(rows)) do
         row.flags = ({ "undeleted", "deletedly", "gap deleted" })[i]
         assert(writer:write(row))
      end
      assert.equal(prf, (writer:close()))
   end)

   it("notes that text has no place for the mark of deleted records", function()
      local rows = { { 1, 1, "I", "A", 1 }, { 1, 2, "I", "B", 1, deleted = true },
         { 1, 3, "O", "A", 1 } }
      local function notes_of(deleted, form)
         local trace <close> = assert(profio.open({ data = (xpp.table(rows)) },
            { deleted = deleted }))
         assert.is_string((trace:save(nil, { form = form })))
         local found = {}
         for _, warning in ipairs(trace.warnings) do
            if warning.code == "xpp-not-written" then
               found[#found + 1] = warning.message
            end
         end
         return found
      end
      for _, form in ipairs { "text", "deldbe" } do
         assert.same({ "column 'flags' of table 'entries' has no place in the written file" },
            notes_of("show", form))
         assert.same({}, notes_of("skip", form))
      end
      assert.same({}, notes_of("show", "foxdbe"))
   end)

   it("states a code page that no table can state in a .cpg file", function()
      local fields = { { "THREAD", "N", 3 }, { "MS", "N", 9 }, { "OPER", "C", 1 },
         { "PROC", "C", 12 } }
      local prf = xpp.table({ { 1, 2, "I", "\xb9A" }, { 1, 3, "O", "\xb9A" } },
         { fields = fields, version = 3 })
      local trace <close> = assert(profio.open({ data = prf }, { code_page = "ISO-8859-2" }))
      assert.equal("šA", trace.entries:rows()[1].call)
      local path, beside = in_folder "latin.prf", in_folder "latin.cpg"
      assert(trace:save(path, { changed = date }))
      assert.equal("ISO-8859-2", command.read(beside))
      assert.equal(prf:sub(1, 29) .. "\0" .. prf:sub(31), command.read(path))
      local again <close> = assert(profio.open(path))
      assert.same({ "ISO-8859-2", {} }, { again.info.code_page, again.warnings })
      assert.same(trace.entries:rows(), again.entries:rows())
      -- A code page that a table states needs no such file; without a path it is refused.
      assert(trace:save(path, { changed = date, code_page = "CP1250" }))
      assert.is_nil((io.open(beside)))
      local _, message = trace:save(nil, { code_page = "ISO-8859-2" })
      assert.matches("only a .cpg file can state code page ISO%-8859%-2", message)
   end)
end)
