-- Text1 files: their sections, with any format of rows that a header can state.

local profio = require "profio"
local records = require "spec.support.winidea"

-- Report each warning, not only the first one of each kind.
local function one_by_one(options)
   options = options or {}
   options.all_warnings = true
   return options
end

local function open(text, options)
   return assert(profio.open({ data = text }, one_by_one(options)))
end

local function codes_of(trace)
   local list = {}
   for i, warning in ipairs(trace.warnings) do
      list[i] = warning.code .. "@" .. (warning.offset or "")
   end
   return list
end

local lines, head, mapping = records.lines, records.head, records.mapping
local statistics, timeline, seed = records.statistics, records.timeline, records.seed
local same_events = records.events

-- Reads a timeline of one format with rows of text.
local function rows_of(format, text, options, before)
   local trace <close> = open((before or "") .. "* TIMELINE " .. format .. "\n" .. text, options)
   return trace.timeline:rows(), codes_of(trace)
end

describe("the examples of winidea's page", function()
   it("are read as printed", function()
      local trace <close> = open(seed)
      assert.same({ format = "winidea", dialect = "text1", total_time = 7962907051, first = 4336,
         last = 4602, info_format = "%TOTAL_TIME%", contexts_format = "%NAME%,%HANDLE%",
         handle_format = "%HANDLE%,%NAME%,%VALUE%",
         statistics_format = "%HANDLE%,%VALUE%,%COUNT%,%T.NET%",
         timeline_format = "%HANDLE%,%EVENT%,%VALUE%,%TIME%" }, trace.info)
      assert.same({ "timeline", "events", "areas", "statistics", "contexts", "raw" },
         trace.tables)
      assert.same({
         { time = 4336, event = "write", handle = 0x20000000, core = -1, value = 1, number = 1.0,
           area = "TestStatic1##s_cStatic" },
         { time = 4469, event = "resume", handle = 0, core = -1, area = "main" },
         { time = 4469, event = "enter", handle = 0x10000004, core = -1, area = "TestStatic1();" },
         { time = 4602, event = "suspend", handle = 0x10000004, core = -1,
           area = "TestStatic1();" },
         { time = 4602, event = "suspend", handle = 0, core = -1, area = "main" },
      }, trace.timeline:rows())
      assert.same({ { name = "ID_TASK_1MS", handle = 0 },
         { name = "ID_TASK_3MS_PHigh", handle = 1 },
         { name = "ID_TASK_10MS", handle = 2 }, { name = "ID_TASK_100MS", handle = 3 },
         { name = "ID_TASK_3MS_PLow", handle = 4 } }, trace.contexts:rows())
      assert.same({ "winidea-no-contexts@" }, codes_of(trace))
   end)

   it("have their areas, lines in functions and states of variables", function()
      local trace <close> = open(seed)
      local areas = trace.areas:rows()
      assert.equal(19, #areas)
      assert.same({ handle = 0, name = "main", class = "function", area = "main" }, areas[1])
      assert.same({ handle = 0x10000004, name = "TestStatic1();", class = "line", parent = "main",
         value = 59, line = 59, area = "TestStatic1();" }, areas[6])
      assert.same({ handle = 0x10000007, name = "{", class = "line", value = 6, line = 6,
         parent = '"TestStatic1.c"#StaticFunc', area = "{" }, areas[10])
      assert.same({ handle = 0x30000000, class = "state", parent = "TestStatic1##s_cStatic",
         value = 1, area = "TestStatic1##s_cStatic=1" }, areas[15])
      assert.same({ handle = 0x30000002, class = "state", parent = "TestStatic2##s_cStatic",
         value = 2, area = "TestStatic2##s_cStatic=2" }, areas[19])
   end)

   it("have their statistics, by context", function()
      local trace <close> = open(seed)
      local rows = trace.statistics:rows("area", "handle", "value", "context", "count", "net")
      assert.equal(15, #rows)
      assert.same({ area = "main", handle = 0, count = 0, net = 267 }, rows[1])
      assert.same({ area = "TestStatic1();", handle = 0x10000004, value = 59, count = 1,
         net = 133 }, rows[6])
      assert.same({ area = "TestStatic1##s_cStatic=0", handle = 0x30000000, value = 0, count = 1,
         net = 7521 }, rows[8])
      assert.same({ area = "00000014", handle = 0x14, context = "TSK: extendedTaskFirst",
         count = 196, net = 1686446 }, rows[12])
      assert.same({ area = "0000000D", handle = 0xd, context = "TSK: extendedTaskSecond",
         count = 1, net = 757304 }, rows[14])
   end)

   it("name the areas of a binary timeline beside them", function()
      local bytes = records.bytes(same_events, records.new)
      local of_text <close> = open(seed)
      local wanted = of_text.timeline:rows()
      for _, opened in ipairs {
         assert(profio.open { data = bytes, mapping = head .. mapping }),
         assert(profio.open { data = head .. mapping, timeline = bytes }),
      } do
         local trace <close> = opened
         local rows = trace.timeline:rows()
         assert.same(wanted, rows)
         assert.same({ "timeline", "events", "areas", "statistics", "contexts", "raw" },
            trace.tables)
      end
   end)

   it("read the same with CR LF, a byte order mark, blank lines and no last line end", function()
      local plain <close> = open(seed)
      local mark = "\239\187\191"
      for _, text in ipairs { seed:gsub("\n", "\r\n"), mark .. seed, seed:sub(1, -2),
         (seed:gsub("\n", "\n\n")), (mark .. seed):gsub("\n", "\r\n\r\n"),
         (seed:gsub("%* HANDLE%(Data%)", "* HANDLE(DATA)")),
         (seed:gsub("%* (%u+)", function(word) return "* " .. word:lower() end)) } do
         local trace <close> = open(text)
         assert.same({ "winidea-no-contexts@" }, codes_of(trace))
         for _, name in ipairs { "timeline", "areas", "statistics", "contexts" } do
            assert.same(plain[name]:rows(), trace[name]:rows())
         end
         local parts = {}
         for part in trace.raw:each "bytes" do
            parts[#parts + 1] = part
         end
         assert.equal(text, table.concat(parts))
      end
   end)

   it("read the same in any order of sections", function()
      local plain <close> = open(seed)
      local trace <close> = open(timeline .. statistics .. mapping .. head)
      for _, name in ipairs { "timeline", "areas", "statistics", "contexts" } do
         local rows = trace[name]:rows()
         assert.same(plain[name]:rows(), rows)
      end
      assert.same({}, trace.warnings)
   end)
end)

describe("the rows of a Text1 file", function()
   it("are read by the format of their header", function()
      local wanted = { { time = 5, event = "enter", handle = 0x12, core = -1, area = "00000012" } }
      for format, text in pairs {
         ["%HANDLE%;%EVENT%;%VALUE%;%TIME%"] = "00000012;E;;5",
         ["%TIME%\t%EVENT%\t%HANDLE%"] = "5\tE\t00000012",
         ["[%TIME%] %EVENT%: <%HANDLE%>"] = "[5] E: <12>",
         ["%EVENT%%HANDLE% %TIME%"] = "E12 5",
         ["%HANDLE%%EVENT% %TIME% ns"] = "0x00000012x 5 ns",
         ["%handle%,%Event%,%VALUE%,%TIME%"] = "00000012,e,,5",
         ["%TIME%% %HANDLE%,%EVENT%"] = "5% 12,E",
      } do
         if format:find("HANDLE%%%%EVENT", 1) then
            wanted[1].event = "leave"
         end
         local rows, codes = rows_of(format, text .. "\n")
         assert.same(wanted, rows, format)
         assert.same({}, codes)
         wanted[1].event = "enter"
      end
   end)

   it("may have per cent signs outside of macros", function()
      local rows, codes = rows_of("5% of 10%: %HANDLE%,%EVENT%,%(x)%,%TIME%",
         "5% of 10%: 12,E,%(x)%,5\n")
      assert.same({}, codes)
      assert.same({ { time = 5, event = "enter", handle = 0x12, core = -1, area = "00000012" } },
         rows)
   end)

   it("may have contexts with many similar names", function()
      local text, wanted = {}, {}
      for round = 1, 2 do
         for c = 0x21, 0x7e do -- only the second byte differs
            wanted[#wanted + 1] = "T" .. string.char(c) .. "_task"
            text[#text + 1] = ("1,%s,%s,%d\n"):format(round == 1 and "E" or "X", wanted[#wanted],
               #wanted)
         end
      end
      local trace <close> = open("* TIMELINE %HANDLE%,%EVENT%,%CONTEXT%,%TIME%\n"
         .. table.concat(text))
      local contexts = {}
      for context in trace.timeline:each "context" do
         contexts[#contexts + 1] = context
      end
      assert.same(wanted, contexts)
   end)

   it("may have a context", function()
      local format = "%HANDLE%,%EVENT%,%CONTEXT%,%TIME%"
      local text = "12,E,TSK: a, b,1\n12,X,,2\n13,E,ISR (1),3\n12,X,TSK: a, b,4\n"
      local trace <close> = open("* TIMELINE " .. format .. "\n" .. text)
      local contexts, lanes = {}, {}
      for context in trace.timeline:each "context" do
         contexts[#contexts + 1] = context
      end
      for lane in trace.events:each "lane" do
         lanes[#lanes + 1] = lane
      end
      assert.same({ "TSK: a, b", false, "ISR (1)", "TSK: a, b" }, contexts)
      assert.same({ "TSK: a, b", "core ?", "ISR (1)", "TSK: a, b" }, lanes)
   end)

   it("distinguish an empty value from 0", function()
      local rows = rows_of("%HANDLE%,%EVENT%,%VALUE%,%TIME%",
         "20000001,W,,1\n20000001,W,0,2\n20000001,W,00000000,3\n00000001,E,,4\n")
      assert.same({ nil, 0, 0, nil }, { rows[1].value, rows[2].value, rows[3].value,
         rows[4].value })
      assert.is_nil(rows[1].number)
      assert.equal(0.0, rows[2].number)
   end)

   it("have values in base 16 or 10", function()
      local format, text = "%HANDLE%,%EVENT%,%VALUE%,%TIME%",
         "20000001,W,00000010,1\n20000001,W,10,2\n20000001,W,0x10,3\n20000001,W,FFFFFFFF,4\n" ..
         "20000001,W,-3,5\n20000001,W,FFFFFFFFFFFFFFFD,6\n20000001,W,1f,7\n"
      local function values(base)
         local list = {}
         for i, row in ipairs(rows_of(format, text, { timeline_base = base })) do
            list[i] = row.value
         end
         return list
      end
      assert.same({ 16, 10, 16, 0xffffffff, -3, -3, 31 }, values "auto")
      assert.same({ 16, 16, 16, 0xffffffff, -3, -3, 31 }, values "16")
      local rows, codes = rows_of(format, "20000001,W,00000010,1\n20000001,W,1f,2\n",
         { timeline_base = "10" })
      assert.same({ 10 }, { rows[1].value })
      assert.same({ "winidea-bad-row@65" }, codes)
   end)

   it("have values of inputs of type F64", function()
      local before = "* HANDLE(AUX) %HANDLE%,%NAME%,%VALUE.TYPE%,%VALUE.UNIT%\n" ..
         "40000001,Voltage,F64,V\n40000002,Pin,I64,\n"
      local rows, codes = rows_of("%HANDLE%,%EVENT%,%VALUE%,%TIME%",
         "40000001,W,400A000000000000,1\n40000001,W,3.25,2\n40000001,W,,3\n" ..
         "40000002,W,00000001,4\n40000001,W,0x400A000000000000,5\n" ..
         "40000001,W,-100000000000000,6\n40000002,W,0x400A000000000000,7\n", nil, before)
      assert.same({}, codes)
      local areas = {}
      for i, row in ipairs(rows) do
         areas[i] = { row.area, row.value or false, row.number or false }
      end
      assert.same({ { "Voltage", false, 3.25 }, { "Voltage", false, 3.25 },
         { "Voltage", false, false }, { "Pin", 1, 1.0 }, { "Voltage", false, 3.25 },
         { "Voltage", false, -1e14 }, { "Pin", 0x400A000000000000, 0x400A000000000000 * 1.0 } },
         areas)
      -- The same bits in a binary timeline.
      local bytes = records.bytes({
         { handle = 0x40000001, event = "write", data = 3.25, time = 1 },
         { handle = 0x40000002, event = "write", data = 1, time = 2 } }, records.new)
      local trace <close> = assert(profio.open { data = bytes, mapping = before })
      assert.same({ { area = "Voltage", number = 3.25 },
         { area = "Pin", value = 1, number = 1.0 } },
         trace.timeline:rows("area", "value", "number"))
      assert.same({ { name = "Voltage", type = "F64", unit = "V", class = "aux" },
         { name = "Pin", type = "I64", class = "aux" } },
         trace.areas:rows("name", "type", "unit", "class"))
   end)

   it("have negative times and times above 2^32", function()
      local rows, codes = rows_of("%HANDLE%,%EVENT%,%VALUE%,%TIME%",
         "1,E,,-1500\n1,X,,0\n1,E,,7962907051\n1,X,,9223372036854775807\n")
      assert.same({}, codes)
      assert.same({ -1500, 0, 7962907051, math.maxinteger },
         { rows[1].time, rows[2].time, rows[3].time, rows[4].time })
   end)

   it("are warned of if a time exceeds 64 bits", function()
      local rows, codes = rows_of("%HANDLE%,%EVENT%,%TIME%",
         "1,E,-9223372036854775808\n1,X,9223372036854775808\n1,X,18446744073709551617\n"
         .. "1,X,-9223372036854775809\n")
      assert.same({ math.mininteger }, { rows[1].time, #rows > 1 and rows[2].time or nil })
      assert.same({ "winidea-bad-row", "winidea-bad-row", "winidea-bad-row" },
         { codes[1]:match "^[%a-]+", codes[2]:match "^[%a-]+", codes[3]:match "^[%a-]+" })
   end)

   it("distinguish states of one handle in any format of the timeline", function()
      local before = "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%\n20000002,var,\n30000002,OFF,0\n" ..
         "30000002,,2\n30000002,,16\n20000003,one,\n30000003,,7\n"
      local text = "30000002,E,00000002,1\n30000002,X,00000002,2\n30000002,E,00000010,3\n" ..
         "30000002,E,00000000,4\n30000003,E,,5\n30000002,E,,6\n20000002,W,00000005,7\n" ..
         "30000002,E,00000005,8\n"
      local rows = rows_of("%HANDLE%,%EVENT%,%VALUE%,%TIME%", text, nil, before)
      local areas = {}
      for i, row in ipairs(rows) do
         areas[i] = { row.area, row.value }
      end
      assert.same({ { "var=2", 2 }, { "var=2", 2 }, { "var=16", 16 }, { "var=OFF", 0 },
         { "one=7", 7 }, { "var=OFF", 0 }, { "var", 5 }, { "var=5", 5 } }, areas)
   end)

   it("keep the order of events at one time", function()
      local text = {}
      for i = 1, 5000 do
         text[i] = ("%08X,%s,,77\n"):format(i % 10, i % 2 == 0 and "E" or "X")
      end
      local rows = rows_of("%HANDLE%,%EVENT%,%VALUE%,%TIME%", table.concat(text))
      for i = 1, 5000 do
         assert(rows[i].handle == i % 10)
      end
   end)

   it("without separators have handles of at most 8 digits", function()
      for _, value in ipairs { "00000005", "5" } do
         local rows, codes = rows_of("%HANDLE%%VALUE%,%EVENT%,%TIME%", "00000000" .. value
            .. ",E,7\n20000000" .. value .. ",W,8\n")
         assert.same({ 0, 0x20000000, 5 }, { rows[1].handle, rows[2].handle, rows[2].value })
         assert.same({}, codes)
      end
   end)

   it("are read from all sections of a timeline", function()
      local trace <close> = open(lines("* TIMELINE %HANDLE%,%EVENT%,%TIME%", "1,E,1", "1,X,2",
         "* INFO %TOTAL_TIME%", "77", "* TIMELINE %TIME%;%HANDLE%;%EVENT%", "0;2;E"))
      assert.same({ { handle = 1, time = 1 }, { handle = 1, time = 2 }, { handle = 2, time = 0 } },
         trace.timeline:rows("handle", "time"))
      assert.equal(77, trace.info.total_time)
      assert.same({}, trace.warnings)
   end)
end)

describe("the first and last time of a Text1 file", function()
   local rows = { "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%", "00000000,E,,5", "00000000,X,,90" }

   -- The facts after these further lines.
   local function facts(...)
      local text = table.move({ ... }, 1, select("#", ...), #rows + 1, { table.unpack(rows) })
      local trace <close> = open(lines(table.unpack(text)))
      return { trace.info.first, trace.info.last }
   end

   it("are those of its rows", function()
      assert.same({ 5, 90 }, facts())
      assert.same({ 5, 95 }, facts("", rows[1], "00000000,E,,95", ""))
      local many = {}
      for i = 1, 2000 do
         many[i] = ("%08X,%s,,%d"):format(i // 2 % 9, i % 2 == 0 and "X" or "E", 100 + i)
      end
      assert.same({ 5, 2100 }, facts(table.unpack(many)))
   end)

   it("are not taken from other sections", function()
      assert.same({ 5 }, facts("* STATISTICS(Functions) %HANDLE%,%VALUE%,%COUNT%,%T.NET%",
         "10000004,51,1,133"))
      for _, name in ipairs { "a", "x" } do
         assert.same({ 5 }, facts("* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%HANDLE.PARENT%",
            "10000001," .. name .. ",1,00000001"))
      end
      assert.same({ 5 }, facts("* TIMELINE %HANDLE%,%EVENT%,%TIME%,%VALUE%",
         "00000000,E,95,00000001"))
      local many = { "* STATISTICS(Functions) %HANDLE%,%VALUE%,%COUNT%,%T.NET%" }
      for i = 1, 2000 do
         many[i + 1] = ("10000004,%d,1,133"):format(i)
      end
      assert.same({ 5 }, facts(table.unpack(many)))
      assert.same({ 5 }, facts(rows[1]))
   end)
end)

describe("the areas of a Text1 file without a mapping", function()
   it("are not listed, so that a copy is the same before and after the events are read", function()
      local text = lines("* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%", "00000002,E,,1",
         "30000007,E,00000005,3", "00000002,X,,4")
      local trace <close> = open(text)
      for _ = 1, 2 do
         assert.same({}, trace.areas:rows())
         assert.equal(text, trace:save(nil, { line_end = "lf" }))
         assert.equal(3, #trace.timeline:rows())
      end
   end)
end)

describe("the names in a Text1 file", function()
   local function names(format, text, options)
      local trace <close> = open("* HANDLE(Functions) " .. format .. "\n" .. text, options)
      local list = {}
      for name in trace.areas:each "name" do
         list[#list + 1] = name
      end
      return list, codes_of(trace), trace.areas:rows()
   end

   it("may hold commas, quotes, per cent signs and stars", function()
      local list, codes = names("%HANDLE%,%NAME%,%VALUE%",
         '00000000,operator,(int, int),\n10000000,printf("%d,%HANDLE%", 1);,5\n' ..
         "10000001,* p = 0;,6\n10000002,,7\n10000003,  x, ,8\n")
      assert.same({ "operator,(int, int)", 'printf("%d,%HANDLE%", 1);', "* p = 0;", false,
         "  x, " }, list)
      assert.same({}, codes)
   end)

   it("may be first in a row, in which a star does not begin a header", function()
      local list, codes = names("%NAME%,%HANDLE%,%VALUE%",
         "main,0,\n* p = 0;,10000000,5\n* INFOS, 1,10000001,6\n* HANDLE = 3;,10000002,7\n")
      assert.same({ "main", "* p = 0;", "* INFOS, 1", "* HANDLE = 3;" }, list)
      assert.same({}, codes)
   end)

   it("may be beside the names of files", function()
      local list, codes, rows = names("%HANDLE%,%NAME%,%FILE%,%VALUE%",
         "00000000,f(a, b),C:\\src\\a,b.c,\n10000000,x = y, z;,/src/main.c,12\n" ..
         "10000001,a, b,main.c,13\n")
      assert.same({ "f(a, b)", "x = y, z;", "a, b" }, list)
      assert.same({ "C:\\src\\a,b.c", "/src/main.c", "main.c" },
         { rows[1].file, rows[2].file, rows[3].file })
      -- The last could end elsewhere too.
      assert.same({ "winidea-ambiguous-row@116" }, codes)
   end)

   it("may be around numbers", function()
      local list, codes, rows = names("%NAME%,%VALUE%,%FILE%,%HANDLE%",
         "a, b,12,x.c,10000000\n(1, 2, c),13,/x.c,10000001\n")
      assert.same({ "a, b", "(1, 2, c)" }, list)
      assert.same({ 12, 13 }, { rows[1].value, rows[2].value })
      assert.same({}, codes)
   end)

   it("may be among all columns of a row", function()
      local _, _, rows = names("%HANDLE%|%NAME%|%HANDLE.PARENT%|%NAME.PARENT%|%HANDLE.STATE%|"
         .. "%VALUE.TYPE%|%VALUE.UNIT%|%PATH%|%CLASS%|%FILE%",
         "20000000|v|||30000000|I64|V|a/b|Data|x.c\n30000000|s|20000000|v||I64||||\n")
      assert.same({
         { area = "v", handle = 0x20000000, name = "v", class = "variable", type = "I64",
            unit = "V", path = "a/b", file = "x.c",
            states = 0x30000000 },
         { area = "v=s", handle = 0x30000000, name = "s", class = "state", type = "I64",
            parent = "v" },
      }, rows)
   end)

   it("may include the parents that rows state", function()
      local _, codes, rows = names("%HANDLE%,%HANDLE.PARENT%,%NAME%,%PATH%",
         "10000000,00000001,x,/a/b\n00000000,,f,\n00000001,,g,\n")
      assert.same({}, codes)
      assert.same({ "g", nil, nil }, { rows[1].parent, rows[2].parent, rows[3].parent })
      assert.equal("/a/b", rows[1].path)
   end)

   it("are read for all kinds of areas", function()
      local text = {}
      for kind = 0, 9 do
         text[#text + 1] = ("%X0000001,n%d,%s"):format(kind, kind, kind % 2 == 1 and "4" or "")
      end
      local _, _, rows = names("%HANDLE%,%NAME%,%VALUE%", table.concat(text, "\n"))
      local classes = {}
      for i, row in ipairs(rows) do
         classes[i] = row.class
      end
      assert.same({ "function", "line", "variable", "state", "aux", "aux state", "inspector",
         "inspector state", "unknown", "unknown" }, classes)
   end)
end)

describe("the statistics of a Text1 file", function()
   it("may have all macros, with blanks around dots", function()
      local macros, values = { "%HANDLE%" }, { "1" }
      local wanted = { area = "00000001", handle = 1 }
      for k, category in ipairs { "NET", "GROSS", "CALL", "PERIOD", "OUTSIDE" } do
         for j, criterion in ipairs { "", ".MIN", ".MAX", ".AVG" } do
            if category ~= "PERIOD" or criterion ~= "" then
               macros[#macros + 1] = "%T. " .. category .. criterion .. "%"
               values[#values + 1] = k * 10 + j
               wanted[category:lower() .. ({ "", "_min", "_max", "_mean" })[j]] = k * 10 + j
            end
         end
      end
      local trace <close> = open("* STATISTICS(Functions) " .. table.concat(macros, ";") .. "\n" ..
         table.concat(values, ";") .. "\n")
      assert.same({ wanted }, trace.statistics:rows())
      assert.same({}, trace.warnings)
      assert.equal("areas", trace.tables[1])
   end)

   it("may have contexts with brackets in their names", function()
      local trace <close> = open(lines(
         "* STATISTICS(Functions) CONTEXT(ISR (1): a) %HANDLE%,%COUNT%", "1,2",
         "* STATISTICS(Functions) CONTEXT(b) %HANDLE% (%NAME%) %COUNT%", "1 (x) y) 3",
         "* STATISTICS(Functions) CONTEXT() %HANDLE%,%COUNT%", "1,4",
         "* STATISTICS(Functions) %HANDLE%,%CONTEXT%,%COUNT%", "1,of the, row,5"))
      assert.same({ { context = "ISR (1): a", count = 2 },
         { context = "b", count = 3, name = "x) y" }, { context = "", count = 4 },
         { context = "of the, row", count = 5 } },
         trace.statistics:rows("context", "count", "name"))
   end)
end)

describe("a damaged Text1 file", function()
   it("warns of rows that do not fit their header, and reads on", function()
      local text = lines("* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%", "00000000,main,",
         "nonsense", "0000000x,y,", "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%", "00000000,E,,1",
         "00000000,Q,,2", "00000000,X,,x", "00000000,X,,3", "00000000,E,,99999999999999999999")
      local trace <close> = open(text)
      assert.same({ { event = "enter", time = 1 }, { event = "leave", time = 3 } },
         trace.timeline:rows("event", "time"))
      local offsets = {}
      for _, wanted in ipairs { "nonsense", "0000000x", "00000000,Q", "00000000,X,,x",
         "00000000,E,,9999" } do
         offsets[#offsets + 1] = "winidea-bad-row@" .. text:find(wanted, 1, true) - 1
      end
      assert.same(offsets, codes_of(trace))
      local strict, message, code = profio.open({ data = text }, { strict = true })
      assert.is_nil(strict)
      assert.matches("an area as the header says expected, found nonsense %(byte 59%)", message)
      assert.equal("format", code)
   end)

   it("warns of a time that goes back", function()
      local _, codes = rows_of("%HANDLE%,%EVENT%,%TIME%", "1,E,5\n1,X,4\n1,E,6\n")
      assert.same({ "winidea-time-falls@" .. 35 + 6 }, codes)
   end)

   it("warns of headers without a format", function()
      local trace <close> = open(seed .. "* TIMELINE\n1,2,3\n* CONTEXTS " .. ("%TIME%"):rep(60) ..
         "\nx\n")
      assert.equal(5, #trace.timeline:rows())
      assert.equal(5, #trace.contexts:rows())
      local codes = codes_of(trace)
      assert.same({ "winidea-no-contexts@", "winidea-bad-header@" .. #seed,
         "winidea-bad-header@" .. #seed + 17 }, codes)
   end)

   it("keeps the rows before each cut", function()
      local whole <close> = open(seed)
      local wanted = whole.timeline:rows "time"
      for cut = 1, #seed - 1 do
         local trace = profio.open({ data = seed:sub(1, cut) }, { format = "winidea" })
         if trace and trace.info.dialect == "text1" then
            local n = 0
            for _, name in ipairs(trace.tables) do
               local rows = trace[name]:rows()
               n = name == "timeline" and #rows or n
            end
            assert.is_true(n <= #wanted)
         end
         if trace then
            trace:close()
         end
      end
   end)

   it("is not detected in other texts", function()
      for _, text in ipairs { "* a list\n* of things\n", "* TIMELINE of the war\n", "INFO %x%\n",
         "<html><body>*</body></html>" } do
         assert.is_nil((profio.open { data = text }))
      end
   end)
end)
