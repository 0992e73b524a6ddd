-- XML exports of winIDEA: one trace in all forms, files with numbers worked out by hand, damage.
--
-- Tags: user, stressed.

local profio = require "profio"
local records = require "spec.support.winidea"

-- Opens a file and returns the rows of a table; missing values are false.
local function rows_of(trace, name)
   local list = {}
   for _, row in ipairs(trace[name]:rows()) do
      list[#list + 1] = row
   end
   return list
end

-- Whether the trace has a table.
local function has_table(trace, name)
   return table.concat(trace.tables, " "):find(name, 1, true) ~= nil
end

local tables = { "timeline", "events", "areas", "statistics", "contexts" }

local function assert_same_tables(expected, found, what)
   for _, name in ipairs(tables) do
      assert.same(rows_of(expected, name), rows_of(found, name), what .. ", table " .. name)
   end
   assert.same(expected:calls():rows(), found:calls():rows(), what)
   assert.same(expected.info.total_time, found.info.total_time)
end

-- The codes of all warnings after all tables have been read.
local function codes_of(trace)
   for _, name in ipairs(trace.tables) do
      trace[name]:rows()
   end
   local list = {}
   for i, warning in ipairs(trace.warnings) do
      list[i] = warning.code
   end
   return table.concat(list, " ")
end

local small = [[
<?xml version="1.0"?>
<PROFILER>
<INFO><TOTAL_TIME>9000</TOTAL_TIME></INFO>
<CONTEXTS>
  <CONTEXT><NAME>A</NAME><HANDLE>0x1</HANDLE></CONTEXT><CONTEXT NAME="B" HANDLE="0x2"/>
</CONTEXTS>
<MAPPING>
  <AREA><NAME>main</NAME><HANDLE>0x00000000</HANDLE></AREA>
  <AREA><NAME>a &lt; b</NAME><HANDLE>10000004</HANDLE><VALUE>59</VALUE></AREA>
  <AREA><NAME>v</NAME><HANDLE>20000000</HANDLE></AREA>
</MAPPING>
<STATISTICS>
  <CONTEXT NAME="B">
    <AREA><HANDLE>0x0</HANDLE><COUNT>1</COUNT><NET>267</NET><NET_MIN>3</NET_MIN>
      <GROSS><TOTAL>5</TOTAL><MAX>9</MAX></GROSS></AREA>
  </CONTEXT>
  <AREA HANDLE="20000000" T.NET.AVG="8"/>
</STATISTICS>
<TIMELINE>
<T><TIME>4336</TIME><EVENT>W</EVENT><HANDLE>20000000</HANDLE><VALUE>00000010</VALUE><CORE>-1</CORE>
</T>
<T><TIME>4469</TIME><EVENT>E</EVENT><HANDLE>0</HANDLE><VALUE/><CORE>2</CORE><CONTEXT>A</CONTEXT></T>
<T><TIME>0x1200</TIME><EVENT>X</EVENT><HANDLE>0</HANDLE><CORE>1</CORE></T>
</TIMELINE>
</PROFILER>
]]

describe("an XML export of winIDEA", function()
   it("says the same as Text1 and .BIN of the same trace", function()
      for seed = 1, 60 do
         local trace = records.random(seed)
         local text <close> = assert(profio.open { data = records.text1(trace) })
         local xml <close> = assert(profio.open { data = records.xml(trace, "context") })
         assert.equal("xml", xml.info.dialect)
         assert_same_tables(text, xml, "Text1, seed " .. seed)
         local bin <close> = assert(profio.open { data = records.text1(trace, true),
            timeline = records.bytes(trace.events, records.new) })
         local cores <close> = assert(profio.open { data = records.xml(trace, "core") })
         assert_same_tables(bin, cores, ".BIN, seed " .. seed)
         local both <close> = assert(profio.open { data = records.xml(trace, "none"),
            timeline = records.bytes(trace.events, records.new) })
         assert_same_tables(bin, both, ".BIN beside XML, seed " .. seed)
         local main <close> = assert(profio.open { mapping = records.xml(trace, "none"),
            data = records.bytes(trace.events, records.new) }, { context_area = "" })
         assert_same_tables(bin, main, "XML beside .BIN, seed " .. seed)
      end
   end)

   it("has these numbers", function()
      local trace <close> = assert(profio.open { data = small })
      assert.same({ { time = 4336, event = "write", handle = 0x20000000, core = -1, value = 16,
         area = "v", number = 16.0 },
         { time = 4469, event = "enter", handle = 0, core = 2, area = "main", context = "A" },
         { time = 4608, event = "leave", handle = 0, core = 1, area = "main" } },
         rows_of(trace, "timeline"))
      assert.same({ { name = "A", handle = 1 }, { name = "B", handle = 2 } },
         rows_of(trace, "contexts"))
      assert.same({ { area = "main", handle = 0, context = "B", count = 1, net = 267, net_min = 3,
         gross = 5, gross_max = 9 }, { area = "v", handle = 0x20000000, net_mean = 8 } },
         rows_of(trace, "statistics"))
      assert.same({ { area = "main" }, { area = "a < b", parent = "main", line = 59 },
         { area = "v" } }, trace.areas:rows("area", "parent", "line"))
      assert.same({ { lane = "core ?" }, { lane = "A" }, { lane = "core 1" }, { lane = "core 1" } },
         trace.events:rows "lane")
      assert.equal(9000, trace.info.total_time)
      assert.equal(4336, trace.info.first)
      assert.equal("", codes_of(trace))
   end)

   it("has values in the base of the options", function()
      local data = small:gsub("00000010", "12"):gsub("<VALUE>59", "<VALUE>00000059")
      local expected = { auto = { 12, 0x59 }, ["10"] = { 12, 59 }, ["16"] = { 18, 0x59 } }
      for base, values in pairs(expected) do
         local trace <close> = assert(profio.open({ data = data },
            { timeline_base = base, mapping_base = base }))
         assert.equal(values[1], rows_of(trace, "timeline")[1].value)
         assert.equal(values[2], rows_of(trace, "areas")[2].value)
      end
   end)

   it("is joined again from table raw, also if it is one line", function()
      for _, data in ipairs { small, (small:gsub("\n", "\r\n")), (small:gsub("\n", "")),
         small:gsub("\n", "") .. (" "):rep(200000) .. "\n" } do
         local trace <close> = assert(profio.open { data = data })
         local list = {}
         for bytes in trace.raw:each "bytes" do
            list[#list + 1] = bytes
         end
         assert.equal(data, table.concat(list))
      end
   end)

   it("gives areas that follow the timeline, or notes that they are not read", function()
      local head, mapping, tail = small:match "^(.-)(<MAPPING>.*</MAPPING>)(.*)</PROFILER>"
      local later = head .. tail .. mapping .. "</PROFILER>"
      local expected <close> = assert(profio.open { data = small })
      local trace <close> = assert(profio.open { data = later })
      assert.same(rows_of(expected, "timeline"), rows_of(trace, "timeline"))
      assert.equal("", codes_of(trace))
      local twice <close> = assert(profio.open { data = head .. mapping .. tail ..
         "<MAPPING><AREA><NAME>x</NAME><HANDLE>7</HANDLE></AREA></MAPPING></PROFILER>" })
      assert.equal("winidea-xml-late", codes_of(twice))
   end)

   it("has statistics after the timeline, too", function()
      local head, statistics, tail = small:match "^(.-)(<STATISTICS>.*</STATISTICS>)(.*)</PROFILER>"
      local expected <close> = assert(profio.open { data = small })
      local trace <close> = assert(profio.open {
         data = head .. tail .. statistics .. "</PROFILER>" })
      assert.same(rows_of(expected, "statistics"), rows_of(trace, "statistics"))
   end)
end)

describe("the encoding of an XML export", function()
   -- UTF-8 as UTF-16; all characters are in the basic plane.
   local function utf16(text, format, mark)
      local list = { mark }
      for _, code in utf8.codes(text) do
         list[#list + 1] = format:pack(code)
      end
      return table.concat(list)
   end

   local text = small:gsub("a &lt; b", "Größe €")

   it("is UTF-8, UTF-16 or ISO-8859-1", function()
      local utf = text:gsub(' version="1.0"', '%0 encoding="UTF-16"')
      local latin = small:gsub("a &lt; b", "Gr\xf6\xdfe"):gsub(' version="1.0"',
         '%0 encoding="ISO-8859-1"')
      for data, name in pairs { [text] = "Größe €", ["\xef\xbb\xbf" .. text] = "Größe €",
         [utf16(utf, "<I2", "\xff\xfe")] = "Größe €",
         [utf16(utf, ">I2", "\xfe\xff")] = "Größe €",
         [latin] = "Größe" } do
         local trace <close> = assert(profio.open { data = data })
         assert.equal("winidea", trace.format)
         assert.equal(name, rows_of(trace, "areas")[2].name)
         assert.equal(3, #rows_of(trace, "timeline"))
         assert.equal("", codes_of(trace))
      end
   end)

   it("is refused with words if it is another", function()
      local data = small:gsub(' version="1.0"', '%0 encoding="KOI8-R"')
      local trace <close> = assert(profio.open({ data = data }, { format = "winidea" }))
      assert.equal("winidea-xml-refused", codes_of(trace))
      assert.matches("found an unknown encoding", trace.warnings[1].message)
      local none, message, code = profio.open({ data = data },
         { format = "winidea", strict = true })
      assert.is_nil(none)
      assert.matches("found an unknown encoding", message)
      assert.equal("unsupported", code)
   end)
end)

describe("damage in an XML export", function()
   it("is noted at its byte, and all before it is kept", function()
      for data, want in pairs {
         [small:gsub("</CONTEXT>\n  <AREA HANDLE", "</CONTEX>\n  <AREA HANDLE")] =
            { "mismatched tag", "</CONTEX>", 0, 1 },
         [small:gsub("<VALUE/>", "<VALUE>&none;</VALUE>")] = { "undefined entity", "&none;", 1, 2 },
         [small:match "^.*</T>\n"] = { "ends before its first element", false, 3, 2 },
      } do
         local trace <close> = assert(profio.open { data = data })
         assert.equal(want[3], has_table(trace, "timeline") and #rows_of(trace, "timeline") or 0)
         assert.equal(want[4], #rows_of(trace, "statistics"))
         assert.equal(3, #rows_of(trace, "areas"))
         local warning = trace.warnings[1]
         assert.equal("winidea-xml-damage", warning.code)
         assert.matches(want[1], warning.message, 1, true)
         if want[2] then
            assert.equal(data:find(want[2], 1, true) - 1 + (want[2]:find "^</" and 2 or 0),
               warning.offset)
         end
      end
   end)

   it("of numbers is noted, and the other rows are read", function()
      for from, to in pairs { ["<TIME>4469"] = "<TIME>now", ["<HANDLE>0</HANDLE><VALUE/>"] =
         "<HANDLE>x</HANDLE><VALUE/>", ["<EVENT>E"] = "<EVENT>EE", ["<CORE>2"] = "<CORE>-2" } do
         local data = small:gsub(from, to)
         local trace <close> = assert(profio.open { data = data })
         local rows = trace.timeline:rows()
         assert.same({ 4336, 4608 }, { rows[1].time, rows[2].time })
         assert.matches("^winidea%-bad%-row", codes_of(trace))
         assert.equal(data:find("<T><TIME>[n4][o4]") - 1, trace.warnings[1].offset)
         local strict <close> = assert(profio.open({ data = data }, { strict = true }))
         assert.has_error(function()
            strict.timeline:rows()
         end)
      end
      local data = small:gsub("<COUNT>1", "<COUNT>one"):gsub('HANDLE="0x2"', 'HANDLE="y"')
      local trace <close> = assert(profio.open { data = data })
      assert.equal(1, #rows_of(trace, "statistics"))
      assert.equal(1, #rows_of(trace, "contexts"))
      assert.equal("winidea-bad-row winidea-bad-row", codes_of(assert(profio.open({ data = data },
         { all_warnings = true }))))
   end)

   it("can be a cut at any byte", function()
      local whole <close> = assert(profio.open { data = small })
      local expected = rows_of(whole, "timeline")
      for cut = 0, #small do
         local trace = profio.open({ data = small:sub(1, cut) }, { format = "winidea" })
         if trace and trace.info.dialect == "xml" then
            local rows = has_table(trace, "timeline") and rows_of(trace, "timeline") or {}
            assert.same(table.move(expected, 1, #rows, 1, {}), rows)
            local is_whole = cut >= #small - 1
            assert.equal(not is_whole, codes_of(trace):find "damage" ~= nil, cut)
            if #rows > 0 then -- a recording that is cut ends with its last event
               local all = trace.events:rows()
               assert.equal(is_whole and "end" or rows[#rows].event, all[#all].event, cut)
            end
         end
         if trace then
            trace:close()
         end
      end
   end)

   it("has limits", function()
      local function codes(data)
         local trace <close> = assert(profio.open({ data = data }, { format = "winidea" }))
         return codes_of(trace)
      end
      local mapping = "<P><MAPPING><AREA><NAME>f</NAME><HANDLE>1</HANDLE></AREA></MAPPING>"
      assert.equal("winidea-xml-refused", codes(mapping .. ("<x>"):rep(100000)))
      assert.equal("winidea-xml-refused",
         codes(mapping .. "<!--" .. ("x"):rep(3000000) .. "--></P>"))
      assert.equal("winidea-xml-refused", codes(mapping:gsub(">f<", function()
         return ">" .. ("f"):rep(1100000) .. "<"
      end) .. "</P>"))
      assert.equal("winidea-xml-refused", codes([[<!DOCTYPE P [<!ENTITY a "aaaaaaaaaa">
         <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>]] .. mapping .. "&b;</P>"))
      assert.equal("", codes(mapping .. "<!--" .. ("x"):rep(500000) .. "--></P>"))
   end)

   it("is told from rows whose names are unknown", function()
      local trace <close> = assert(profio.open {
         data = small:gsub("<TIMELINE>.*", function(timeline)
            return timeline:gsub("(</?)T>", "%1ROW>"):gsub("HANDLE>", "ID>")
         end) })
      assert.equal("winidea-xml-unknown", codes_of(trace))
      assert.matches("section TIMELINE has elements", trace.warnings[1].message, 1, true)
   end)
end)

describe("the detection of an XML export", function()
   it("takes files with an area or an event of winIDEA only", function()
      local function format_of(data)
         local trace <close> = profio.open { data = data }
         return trace and trace.format
      end
      local area = "<AREA><NAME>f</NAME><HANDLE>1</HANDLE></AREA>"
      assert.equal("winidea", format_of("<P><MAPPING>" .. area .. "</MAPPING></P>"))
      assert.equal("winidea", format_of("<P><TIMELINE><T><TIME>1</TIME><EVENT>E</EVENT>" ..
         "<HANDLE>1</HANDLE></T></TIMELINE></P>"))
      for _, data in ipairs { "<P>" .. area .. "</P>", "<P><MAPPING><AREA><NAME>f</NAME></AREA>",
         "<P><MAPPING><X><NAME>f</NAME><HANDLE>1</HANDLE></X></MAPPING></P>",
         "<P><TIMELINE><T><TIME>1</TIME><EVENT>Q</EVENT><HANDLE>1</HANDLE></T></TIMELINE></P>",
         "<P></Q><MAPPING>" .. area .. "</MAPPING></P>",
         "<html><body>MAPPING AREA</body></html>" } do
         assert.is_nil(format_of(data), data)
      end
   end)
end)
