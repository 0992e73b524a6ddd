-- Traces of the Xbase++ profiler: both forms, roles, settings. Bytes are packed by hand
-- (spec/support/xpp_builder.lua).
--
-- Tags: stressed.

local dbf = require "spec.support.dbf_builder"
local profio = require "profio"
local xpp = require "spec.support.xpp_builder"
local codes = require("spec.support.codes").sorted

-- Warnings one by one, and not the first of each kind only.
local function one_by_one(options)
   options = options or {}
   options.all_warnings = true
   return options
end

local function open(input, options)
   if type(input) == "string" then
      input = { data = input }
   end
   return assert(profio.open(input, one_by_one(options)))
end

-- Rows in the units of the table: what the builder was given.
local function expected(rows, with_line)
   local list = {}
   for i, row in ipairs(rows) do
      list[i] = { thread = row[1], time = row[2] and row[2] * 1000000, op = row[3], call = row[4],
         line = with_line ~= false and row[5] or nil, params = row[6] }
   end
   return list
end

local with_params = {
   { 1, 0, "I", "MAIN", 1, "" }, { 2, 0, "i", "LEN", 12, '"a,b", {1, 2}' },
   { 2, 1, "o", "LEN", 12, "line\r\nend \"quoted\"" }, { 1, 1, "O", "MAIN", 9 },
}
with_params[1][6] = nil

describe("xpp", function()
   it("reads a table of Visual FoxPro with its memo file", function()
      local prf, prv = xpp.table(with_params)
      local trace <close> = open { data = prf, memo = prv }
      assert.equal("xpp", trace.format)
      assert.same({ "entries", "events", "structure", "raw" }, trace.tables)
      assert.same({}, codes(trace))
      assert.same(expected(with_params), trace.entries:rows())
      assert.same({ format = "xpp", dialect = "foxdbe", byte_order = "little", version = 0x30,
         code_page_mark = 3, code_page = "CP1252", records = 4, record_size = 38,
         symbol_size = 20, filtering = "on",
         fields = "thread=TID time=TIME op=OP call=MSG line=LINE params=PARAMS" }, trace.info)
   end)

   it("reads a table whose fields are all text", function()
      local trace <close> = open((xpp.table(xpp.golden, { fields = xpp.text_fields, version = 3 })))
      assert.same({}, codes(trace))
      assert.same(expected(xpp.golden), trace.entries:rows())
   end)

   it("reads text with any separator, line end and names", function()
      local names = { "THREAD_ID", "Time", "operation", "Call", "LINE NUMBER", "Params" }
      for _, separator in ipairs { ",", ";", "\t", "|" } do
         for _, line_end in ipairs { "\r\n", "\n" } do
            local given = { separator = separator, line_end = line_end, names = names }
            local trace <close> = open(xpp.text(with_params, given))
            assert.same({}, codes(trace))
            assert.same(expected(with_params), trace.entries:rows())
            assert.equal(separator == "\t" and "tab" or separator, trace.info.separator)
            assert.is_true(trace.info.header_row)
            local bare <close> = open(xpp.text(xpp.golden, { separator = separator,
               line_end = line_end, columns = 5 }) .. "\26")
            assert.same({ "xpp-fields-guessed" }, codes(bare))
            assert.is_false(bare.info.header_row)
            assert.same(expected(xpp.golden), bare.entries:rows())
         end
      end
   end)

   it("lets the user say the separator and the form", function()
      local text = "1,4,I,A|b\n1,5,O,A|b\n"
      local trace <close> = open(text, { separator = ",", form = "deldbe" })
      assert.same({ "A|b", "A|b" }, { trace.entries:rows()[1].call, trace.entries:rows()[2].call })
      local _, message, code = profio.open({ data = text }, { form = "foxdbe", format = "xpp" })
      assert.equal("truncated", code)
      assert.matches("xpp", message)
   end)

   it("gives back every byte through raw", function()
      local prf, prv = xpp.table(with_params)
      local files = { prf, xpp.text(with_params) .. "\26", xpp.text(with_params):sub(1, -7),
         "\n\n" .. xpp.text(with_params) .. "\n", prf .. "garbage", prf:sub(1, -30) }
      for _, bytes in ipairs(files) do
         local trace <close> = open { data = bytes, memo = prv }
         local all, at = {}, 0
         for offset, size, piece in trace.raw:each("offset", "size", "bytes") do
            assert.equal(at, offset)
            assert.equal(size, #piece)
            at = at + size
            all[#all + 1] = piece
         end
         assert.equal(bytes, table.concat(all))
      end
      local trace <close> = open { data = prf, memo = prv }
      assert.same({ "offset", "size", "kind", "packet", "TID", "TIME", "OP", "MSG", "LINE",
         "PARAMS", "bytes" }, trace.raw.columns)
      assert.same({ "header", "entry", "entry", "entry", "entry", "end" }, (function()
         local kinds = {}
         for kind in trace.raw:each "kind" do
            kinds[#kinds + 1] = kind
         end
         return kinds
      end)())
   end)
end)

describe("the fields of a trace", function()
   -- The roles that are found for fields of these names.
   local function fields_of(fields, options)
      local rows = { { 1, 4, "I", "MAIN" }, { 1, 5, "O", "MAIN" } }
      for _, row in ipairs(fields[5] and rows or {}) do
         row[5] = fields[5][2] == "C" and "x" or 10
      end
      local trace <close> = open((xpp.table(rows, { fields = fields })),
         options or { format = "xpp" })
      return trace.info.fields, codes(trace), trace
   end

   it("are known by many names", function()
      assert.equal("thread=THREAD_ID time=TIMELINE op=OPERATION call=CALL line=LINENUMBER",
         (fields_of { { "THREAD_ID", "I", 4 }, { "TIMELINE", "I", 4 }, { "OPERATION", "C", 1 },
            { "CALL", "C", 10 }, { "LINENUMBER", "I", 4 } }))
      assert.equal("thread=thread time=ms op=oper call=ProcName line=LineNr",
         (fields_of { { "thread", "N", 4 }, { "ms", "N", 8 }, { "oper", "C", 1 },
            { "ProcName", "C", 10 }, { "LineNr", "N", 6 } }))
   end)

   it("go by exact names first, and the first of two", function()
      local found, warned = fields_of { { "TID", "I", 4 }, { "TIME", "I", 4 }, { "OP", "C", 1 },
         { "MSG", "C", 9 }, { "NAME", "C", 9 } }
      assert.equal("thread=TID time=TIME op=OP call=MSG", found)
      assert.same({ "xpp-two-fields" }, warned)
      local other = fields_of { { "TID", "I", 4 }, { "TIME", "I", 4 }, { "OP", "C", 1 },
         { "NAME", "C", 9 }, { "MSG", "C", 9 } }
      assert.equal("thread=TID time=TIME op=OP call=MSG", other)
   end)

   it("are detected by their values", function()
      local found, warned = fields_of { { "A", "N", 4 }, { "B", "N", 8 }, { "C", "C", 1 },
         { "D", "C", 12 }, { "E", "N", 6 } }
      assert.equal("thread=A time=B op=C call=D line=E", found)
      assert.same({ "xpp-fields-guessed" }, warned)
   end)

   it("can be said", function()
      local fields = { { "A", "N", 4 }, { "B", "N", 8 }, { "C", "C", 1 }, { "D", "C", 12 },
         { "E", "N", 6 } }
      assert.equal("thread=E time=B op=C call=D line=A", (fields_of(fields,
         { format = "xpp", map = "thread=e, time=2,op=C,call=D,line=A" })))
      local _, message, code = profio.open({ data = (xpp.table({}, { fields = fields })) },
         { format = "xpp", map = "op=X" })
      assert.matches("no field 'X'", message)
      assert.equal("format", code)
      assert.matches("ROLE=FIELD", (select(2, profio.open({ data = (xpp.table {}) },
         { map = "opera=X" }))))
   end)

   it("that are unknown follow the others", function()
      local trace <close> = open((xpp.table({ { 1, 2, "I", "A", "x ", 7 } }, { fields = {
         { "TID", "I", 4 }, { "TIME", "I", 4 }, { "OP", "C", 1 }, { "MSG", "C", 9 },
         { "EXTRA", "C", 3 }, { "MORE", "I", 4 } } })))
      assert.same({ { thread = 1, time = 2000000, op = "I", call = "A", MORE = 7,
         EXTRA = "x" } }, trace.entries:rows())
   end)

   it("may omit fields that the profiler omits", function()
      local trace <close> = open((xpp.table({ { 1, "I", "A" }, { 1, "O", "A" } }, { fields = {
         { "TID", "I", 4 }, { "OP", "C", 1 }, { "MSG", "C", 9 } } })))
      assert.same({ { thread = 1, op = "I", call = "A" },
         { thread = 1, op = "O", call = "A" } }, trace.entries:rows())
   end)

   it("show by doubled entries that nothing is filtered, also with decimals", function()
      for _, thread in ipairs { { "TID", "N", 4 }, { "TID", "N", 4, 1 }, { "TID", "C", 4 } } do
         local builder = dbf { thread, { "TIME", "N", 4 }, { "OP", "C", 1 }, { "MSG", "C", 9 } }
            :row { " 2.0", 1, "i", "F" }:row { " 3.0", 2, "I", "F" }
         local filtered <close> = open(builder:bytes())
         assert.equal("on", filtered.info.filtering)
         local doubled <close> = open(builder:row { " 3.0", 3, "O", "F" }
            :row { " 3.0", 4, "o", "F" }:bytes())
         assert.equal("off", doubled.info.filtering)
      end
   end)

   it("that say nothing leave table raw", function()
      local fields = { { "A", "C", 4 }, { "B", "N", 8 } }
      local trace <close> = open((xpp.table({ { "x", 1 } }, { fields = fields })),
         { format = "xpp" })
      assert.same({ "structure", "raw" }, trace.tables)
      assert.same({ "xpp-no-roles" }, codes(trace))
   end)

   it("have no role that needs text if they are numbers", function()
      local fields = { { "TID", "I", 4 }, { "TIME", "I", 4 }, { "OP", "C", 1 }, { "PROC", "N", 5 },
         { "WORDS", "C", 9 }, { "PARAMS", "I", 4 } }
      local bytes = xpp.table({ { 1, 0, "I", 12, "Main", 7 }, { 1, 1, "I", 13, "Sub", 8 },
         { 1, 2, "O", 14, "Sub", 9 }, { 1, 3, "O", 15, "Main", 10 } }, { fields = fields })
      local trace <close> = open(bytes)
      assert.equal("xpp", trace.format)
      assert.same({ "xpp-fields-guessed" }, codes(trace))
      assert.same({ thread = 1, time = 0, op = "I", call = "Main", line = 12, PARAMS = 7 },
         trace.entries:rows()[1])
      for _, wrong in ipairs { "op=TIME", "call=PROC", "params=6" } do
         local role, field = wrong:match "(.*)=(.*)"
         local none, message, code = profio.open({ data = bytes }, { format = "xpp", map = wrong })
         assert.is_nil(none)
         assert.matches(("map: a field of text expected for %s, found '%s'"):format(role, field),
            message)
         assert.equal("format", code)
      end
      local numbers = xpp.table({ { "I", 12 }, { "O", 12 } },
         { fields = { { "OP", "C", 1 }, { "PROC", "N", 5 } } })
      local other <close> = open(numbers, { format = "xpp" })
      assert.same({ "xpp-no-roles" }, codes(other))
   end)

   it("do not make a trace of any table or text", function()
      local other = xpp.table({ { "I", "Bob" }, { "O", "Ann" }, { "X", "Tom" } },
         { fields = { { "OP", "C", 1 }, { "NAME", "C", 9 } } })
      local trace <close> = open(other)
      assert.equal("dbf", trace.format)
      for _, text in ipairs { "a,b,c\n1,2,3\n", "I,am,not\nO,no,trace\nX,y,z\n", "plain text\n" } do
         assert.is_nil((profio.open { data = text }))
      end
   end)
end)

describe("values of a trace", function()
   it("are read up to the limits of 64 bits; larger ones are reported", function()
      local line = {}
      for number in ("9223372036854775807 9223372036854775808 -9223372036854775808 "
         .. "-9223372036854775809 18446744073709551616 99999999999999999999"):gmatch "%S+" do
         line[#line + 1] = "1;1;I;A;" .. number
      end
      local trace <close> = open("TID;TIME;OP;MSG;LINE\n" .. table.concat(line, "\n")
         .. "\n1;9223372036854.775807;O;A;1\n1;9223372036854.775808;O;A;1\n")
      local found = {}
      for number, time in trace.entries:each("line", "time") do
         found[#found + 1] = number
         found[#found + 1] = number == 1 and (time or "none") or nil
      end
      assert.same({ math.maxinteger, false, math.mininteger, false, false, false,
         1, math.maxinteger, 1, "none" }, found)
      assert.same({ "xpp-bad-number", "xpp-bad-number" }, codes(trace)) -- a field each
   end)

   it("may be damaged times, of which no sum exceeds 64 bits", function()
      local far <close> = open "TID,TIME,OP,MSG\n1,9000000000000,I,A\n1,-9000000000000,O,A\n"
      local last
      for time in far.entries:each "time" do
         last = time
      end
      assert.equal(-9000000000000 * 1000000 + (1000000 << 32), last)
      assert.equal("xpp-clock-wrapped", codes(far)[1])
      -- The clock starts again so often that the sum of its ranges exceeds 64 bits.
      local rows, most = {}, math.maxinteger // (1000000 << 32)
      for i = 1, most + 100 do
         rows[2 * i - 1], rows[2 * i] = { 1, 0, "I", "A", 1 }, { 1, -1, "O", "A", 1 }
      end
      local often <close> = assert(profio.open { data = (xpp.table(rows)) })
      local minimum = 0
      for time in often.entries:each "time" do
         minimum = math.min(minimum, time)
      end
      assert.equal(0, minimum)
      for _, warning in ipairs(often.warnings) do
         assert.is_true(warning.code ~= "xpp-clock-wrapped" or warning.count == most)
      end
   end)

   it("are whole numbers of ns, also from fractions and an unsigned clock", function()
      local trace <close> = open "TID;TIME;OP;MSG\n1;1,5;I;A\n1;0002.000001;O;A\n1;x;O;A\n"
      local times = {}
      for time in trace.entries:each "time" do
         times[#times + 1] = time
      end
      assert.same({ 1500000, 2000001, false }, times)
      assert.same({ "xpp-bad-number" }, codes(trace))
      local clock <close> = open((xpp.table { { 1, 0x7fffffff, "I", "A", 1 },
         { 1, -0x80000000, "O", "A", 1 }, { 1, -1, "I", "A", 1 }, { 1, 3, "O", "A", 1 } }))
      times = {}
      for time in clock.entries:each "time" do
         times[#times + 1] = time // 1000000
      end
      assert.same({ 0x7fffffff, 0x80000000, 0xffffffff, 0x100000003 }, times)
      assert.same({ "xpp-clock-wrapped" }, codes(clock))
   end)

   it("are noticed where a thread goes back in time, or the operation is unknown", function()
      local trace <close> = open((xpp.table { { 1, 9, "I", "A", 1 }, { 2, 3, "I", "B", 1 },
         { 1, 8, "?", "A", 1 }, { 2, 4, "O", "B", 1 } }))
      assert.equal(4, trace.entries:count())
      assert.same({ "I", "I", "?", "O" }, (function()
         local list = {}
         for op in trace.entries:each("op", "time") do
            list[#list + 1] = op
         end
         return list
      end)())
      assert.same({ "xpp-time-back", "xpp-unknown-op" }, codes(trace))
      assert.equal("damage", trace.warnings[1].kind)
   end)

   it("show names that were cut", function()
      local trace <close> = open((xpp.table({ { 1, 0, "I", "LONGNAME" },
         { 1, 1, "O", "LONGNAMES" } }, { fields = { { "TID", "I", 4 }, { "TIME", "I", 4 },
         { "OP", "C", 1 },
         { "MSG", "C", 8 } } })))
      trace.entries:count()
      assert.same({}, codes(trace))
      for _ in trace.entries:each "call" do end
      assert.same({ "xpp-symbol-cut" }, codes(trace))
   end)

   it("show names that were cut in fields of any size and type", function()
      local function noted(size, name, type, flags)
         local builder = dbf { version = 0x32, mark = 3, { "TID", "N", 2 }, { "TIME", "N", 4 },
            { "OP", "C", 1 }, { "MSG", type or "C", size, 0, flags },
            { "_NullFlags", "0", 1, 0, 5 } }
            :row { 1, 0, "I", name, "\0" }
         local trace <close> = open(builder:bytes())
         for _ in trace.entries:each "call" do end
         local cut = trace.warnings[1] -- the only one
         return cut and cut.code .. cut.message:match " %d+ bytes" or false
      end
      for _, size in ipairs { 2, 7, 8, 9, 248, 249, 254 } do
         local whole = ("n"):rep(size)
         local note = ("xpp-symbol-cut %d bytes"):format(size)
         assert.equal(note, noted(size, whole))
         assert.equal(note, noted(size, whole, "C", 2))
         assert.equal(note, noted(size, whole, "V"))
         for _, type in ipairs { "C", "V" } do
            assert.is_false(noted(size, whole:sub(2) .. " ", type))
            assert.is_false(noted(size, "\xc4" .. whole:sub(3) .. " ", type)) -- longer in UTF-8
         end
      end
   end)

   -- Bit 0 of the flags says that the last byte of MSG is its length, bit 1 that it is null.
   it("of equal bytes are missing where the record says so", function()
      local builder = dbf { version = 0x32, { "TID", "N", 2 }, { "TIME", "N", 4 },
         { "OP", "C", 1 }, { "MSG", "V", 9, 0, 2 }, { "_NullFlags", "0", 1, 0, 5 } }
         :row { 1, 0, "I", "MAIN    \4", "\1" }:row { 1, 1, "I", "MAIN    \4", "\3" }
         :row { 1, 2, "O", "        \0", "\3" }:row { 1, 3, "O", "        \0", "\1" }
      local trace <close> = open(builder:bytes())
      local calls = {}
      for call in trace.entries:each "call" do
         calls[#calls + 1] = call
      end
      assert.same({ "MAIN", false, false, "" }, calls)
   end)

   it("leave deleted records out, or flag them", function()
      local bytes = xpp.table { { 1, 0, "I", "A", 1 }, { 1, 1, "I", "B", 1, deleted = true },
         { 1, 2, "O", "A", 1 } }
      local trace <close> = open(bytes)
      assert.equal(2, #trace.entries:rows())
      assert.same({ "xpp-deleted" }, codes(trace))
      local all <close> = open(bytes, { deleted = "show" })
      local rows = all.entries:rows()
      assert.same({ [2] = "deleted" }, { rows[1].flags, rows[2].flags, rows[3].flags })
   end)

   it("of deleted records with an unknown operation are left out too", function()
      local rows = {}
      for i = 1, 30 do
         rows[i] = { 1, i, "I", "A", 1 }
      end
      rows[25] = { 1, 25, "?", "GONE", 1, deleted = true }
      local trace <close> = open((xpp.table(rows)))
      assert.equal(29, trace.entries:count())
      local all <close> = open((xpp.table(rows)), { deleted = "show" })
      assert.equal("deleted", all.entries:rows()[25].flags)
   end)

   it("pass through without a code page, and an unknown one is refused", function()
      local text = "TID;OP;MSG;TIME\n1;I;F\148;0\n1;O;F\148;5\n"
      for _, page in ipairs { "auto", "raw", "" } do
         local trace <close> = assert(profio.open({ data = text },
            { format = "xpp", code_page = page }))
         assert.same({}, trace.warnings)
         assert.equal("F\148", trace.entries:rows()[1].call)
      end
      for _, page in ipairs { "no such page", ("x"):rep(40) } do
         local trace, message = profio.open({ data = text }, { format = "xpp", code_page = page })
         assert.is_nil(trace)
         assert.matches("knows no code page " .. page, message)
      end
   end)

   it("of memos that the table marks as no text are converted by a given code page", function()
      local prf, prv = xpp.table { { 1, 0, "I", "MAIN", 10, "\xe4\xf6\xfc" },
         { 1, 1, "O", "MAIN", 10 } }
      local flag_at = 32 + 5 * 32 + 18 -- of PARAMS
      local flagged = prf:sub(1, flag_at) .. "\4" .. prf:sub(flag_at + 2)
      local function params(bytes, page)
         local trace <close> = assert(profio.open({ data = bytes, memo = prv },
            { code_page = page }))
         return trace.entries:rows()[1].params
      end
      assert.equal("äöü", params(prf)) -- the table states CP1252
      assert.equal("\xe4\xf6\xfc", params(flagged))
      assert.equal("\xe4\xf6\xfc", params(flagged, "auto"))
      assert.equal("\xe4\xf6\xfc", params(flagged, "raw"))
      assert.equal("äöü", params(flagged, "CP1252"))
      assert.equal("дць", params(flagged, "CP1251"))
   end)

   it("without names are recognised if the calls of each thread nest", function()
      local rows = { { 1, 0, "i", "MAIN", 10 }, { 2, 0, "i", "WORKER", 50 },
         { 1, 5, "i", "READ", 11 }, { 2, 6, "i", "WRITE", 51 }, { 1, 9, "o", "READ", 11 },
         { 2, 12, "o", "WRITE", 51 }, { 1, 20, "o", "MAIN", 10 }, { 2, 25, "o", "WORKER", 50 } }
      for _, bytes in ipairs { xpp.text(rows), (xpp.table(rows, { fields = { { "A", "N", 4 },
         { "B", "N", 10 }, { "C", "C", 1 }, { "D", "C", 20 }, { "E", "N", 7 } } })) } do
         local trace <close> = assert(profio.open { data = bytes })
         assert.equal("xpp", trace.format)
         assert.same({ 1, 2, 1, 2 }, { trace.entries:rows()[1].thread,
            trace.entries:rows()[2].thread, trace.entries:rows()[7].thread,
            trace.entries:rows()[8].thread })
         assert.equal(4, trace:calls():count())
         assert.same({}, trace:calls():where { flags = profio.match "orphan" }:rows())
      end
      -- each leaves what the other one entered: no calls of threads
      for i, row in ipairs { 6, 5, 8, 7 } do
         rows[4 + i][4], rows[4 + i][5] = ({ "READ", "WRITE", "MAIN", "WORKER" })[row - 4], i
      end
      assert.is_nil((profio.open { data = xpp.text(rows) }))
   end)

   it("refuse a separator that is no single character", function()
      local text = "TID;OP;MSG;TIME\n1;I;F;0\n1;O;F;5\n"
      for _, separator in ipairs { ";;", "abc", "\"", "1", "\n" } do
         for _, format in ipairs { "open", "create" } do
            local trace, message, code = profio[format](format == "open" and { data = text } or nil,
               { format = "xpp", form = "deldbe", separator = separator })
            assert.same({ nil, "unsupported" }, { trace, code })
            assert.matches("separator: tab or one character", message)
         end
      end
   end)

   it("come in UTF-8 when a code page is known", function()
      local names = { "TID", "TIME", "OP", "MSG" }
      local trace <close> = open(xpp.text({ { 1, 0, "I", "M\x84R" }, { 1, 1, "O", "M\x84R" } },
         { names = names, columns = 4 }), { code_page = "CP850" })
      assert.equal("MäR", trace.entries:rows()[1].call)
      local raw <close> = open(xpp.text({ { 1, 0, "I", "M\x84R" } }, { names = names,
         columns = 4 }))
      assert.equal("M\x84R", raw.entries:rows()[1].call)
   end)
end)

describe("settings", function()
   local pri = "; by hand\r\n[TRACE]\r\nOPERATIONMODE=5145\r\noutflushevery = 100\r\nODD\r\n"

   it("are read beside a trace, and alone", function()
      for _, input in ipairs { { data = pri }, { data = xpp.text(xpp.golden), pri = pri } } do
         local trace <close> = open(input)
         assert.equal(5145, trace.info.operation_mode)
         assert.equal("trace unfiltered flush 16", trace.info.operation)
         assert.equal(100, trace.info.flush_every)
         local rows = trace.settings:rows("section", "key", "value", "meaning")
         assert.same({ {}, { section = "TRACE" }, { section = "TRACE", key = "OPERATIONMODE",
            value = "5145", meaning = trace.info.operation },
            { section = "TRACE", key = "outflushevery", value = "100" }, { section = "TRACE" },
         }, rows)
         local lines = {}
         for line in trace.settings:each "line" do
            lines[#lines + 1] = line
         end
         assert.equal(pri, table.concat(lines))
      end
   end)

   it("of fields of text depend on the settings of the profiler", function()
      local text = "1,I,A,10\n1,I,B,20\n1,O,B,30\n1,O,A,40\n"
      local trace <close> = open(text)
      assert.equal("thread=field1 time=field4 op=field2 call=field3", trace.info.fields)
      local told <close> = open { data = text, pri = "OPERATIONMODE=1\nTIMELINE=0\n" }
      assert.equal("thread=field1 op=field2 call=field3 line=field4", told.info.fields)
      for settings, fields in pairs {
         ["TIMELINE=0\nLINENUMBERS=1"] = "thread=field1 op=field2 call=field3 line=field4",
         ["TIMELINE=0\nLINENUMBERS=0"] = "thread=field1 op=field2 call=field3",
         ["TIMELINE=1\nLINENUMBERS=0"] = "thread=field1 time=field4 op=field2 call=field3",
      } do
         local asked <close> = open { data = text, pri = "OPERATIONMODE=1\n" .. settings .. "\n" }
         assert.equal(fields, asked.info.fields)
      end
      local long = '1,I,A,10,7,"x = 1"\n1,I,B,20,8,"y = 2"\n1,O,B,30,8,""\n1,O,A,40,9,""\n'
      for setting, params in pairs { ["PARAMLIST=1"] = " params=field6", ["PARAMLIST=0"] = "" } do
         local asked <close> = open { data = long, pri = "OPERATIONMODE=1\n" .. setting .. "\n" }
         assert.equal("thread=field1 time=field4 op=field2 call=field3 line=field5" .. params,
            asked.info.fields)
      end
   end)
end)
