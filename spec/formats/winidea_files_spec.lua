-- Exports of several files; XML main files.
--
-- Tags: user, stressed.

local disk = require "spec.support.disk"
local profio = require "profio"
local records = require "spec.support.winidea"

local head, mapping = records.head, records.mapping
local timeline, seed, same_events = records.timeline, records.seed, records.events

describe("contexts from the task variable of a core", function()
   local before = "* CONTEXTS %NAME%,%HANDLE%\nA,0x1\nB,0x2\n" ..
      "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%\n20000009,os.running,\n30000009,,1\n30000009,,2\n"
   local events = {
      { handle = 1, event = "enter", core = 0, time = 1 },
      { handle = 0x20000009, event = "write", data = 1, core = 0, time = 2 },
      { handle = 1, event = "enter", core = 0, time = 3 },
      { handle = 1, event = "enter", core = 1, time = 4 },
      { handle = 0x30000009, event = "enter", data = 2, core = 1, time = 5 },
      { handle = 1, event = "leave", core = 1, time = 6 },
      { handle = 0x30000009, event = "leave", data = 1, core = 0, time = 7 },
      { handle = 1, event = "leave", core = 0, time = 8 },
      { handle = 0x20000009, event = "write", data = 77, core = 0, time = 9 },
   }

   it("last until the next write", function()
      local bytes = records.bytes(events, records.new)
      for _, name in ipairs { "os.running", "20000009", "0x30000009" } do
         local trace <close> = assert(profio.open({ data = bytes, mapping = before },
            { context_area = name }))
         local contexts, lanes = {}, {}
         for context in trace.timeline:each "context" do
            contexts[#contexts + 1] = context
         end
         for lane in trace.events:each "lane" do
            lanes[#lanes + 1] = lane
         end
         assert.same({ false, "A", "A", false, "B", "B", "A", "A", false }, contexts)
         assert.same({ "core 0", "A", "A", "core 1", "B", "B", "A", "A", "core 0" }, lanes)
         assert.same(trace:call_statistics { threads = 1 }:rows(),
            trace:call_statistics { parts = 3, threads = 2 }:rows())
      end
   end)

   it("need an existing area", function()
      local trace, message, code = profio.open({ data = before .. timeline },
         { context_area = "no such" })
      assert.is_nil(trace)
      assert.matches("no variable is called no such", message)
      assert.equal("unsupported", code)
   end)
end)

describe("an XML export", function()
   local xml = [[
<?xml version="1.0"?>
<!-- <AREA><NAME>none</NAME><HANDLE>9</HANDLE></AREA> -->
<PROFILER><MAPPING>
  <AREA><NAME>main</NAME><HANDLE>0x00000000</HANDLE></AREA>
  <AREA><NAME>a &lt; b &amp;&amp; c</NAME><HANDLE>10000004</HANDLE><VALUE>59</VALUE></AREA>
  <Area><Name>s</Name><Handle>20000000</Handle><Other/></Area>
  <AREA><NAME></NAME><HANDLE>0x30000000</HANDLE><VALUE>1</VALUE></AREA>
  <AREA><NAME>u</NAME><HANDLE>40000001</HANDLE><VALUE_TYPE>F64</VALUE_TYPE><UNIT>V</UNIT></AREA>
</MAPPING>]]

   it("names the areas of a binary timeline", function()
      local bytes = records.bytes({
         { handle = 0x10000004, event = "enter", time = 1 },
         { handle = 0x30000000, event = "enter", data = 1, time = 2 },
         { handle = 0x40000001, event = "write", data = 2.5, time = 3 } }, records.new)
      for _, what in ipairs { { data = bytes, mapping = xml .. "</PROFILER>" },
         { data = xml .. "</PROFILER>", timeline = bytes } } do
         local trace <close> = assert(profio.open(what))
         assert.same({ { area = "a < b && c" }, { area = "s=1", value = 1 },
            { area = "u", number = 2.5 } }, (function()
            local rows = trace.timeline:rows("area", "value", "number")
            rows[2].number = nil
            return rows
         end)())
         assert.same({ { name = "main" }, { name = "a < b && c", parent = "main" },
            { name = "s" }, { parent = "s" }, { name = "u" } }, trace.areas:rows("name", "parent"))
         assert.same({}, trace.warnings)
      end
   end)

   it("may have names in CDATA sections, and elements with long names", function()
      local trace <close> = assert(profio.open { data = [==[
<P><MAPPING><AREA><NAME>main</NAME><HANDLE>0x0</HANDLE></AREA>
<AREA><NAME><![CDATA[a < b &amp; "c" ]]></NAME><HANDLE><![CDATA[0x1]]></HANDLE>
<UNIT>a&amp;b</UNIT><X><![CDATA[none]]></X>
<THIS_ELEMENT_HAS_A_VERY_LONG_N_NAME>none</THIS_ELEMENT_HAS_A_VERY_LONG_N_NAME>
</AREA></MAPPING></P>]==] })
      assert.same({ { name = "main", handle = 0 }, { name = 'a < b &amp; "c" ', handle = 1,
         unit = "a&b" } }, trace.areas:rows("name", "handle", "unit"))
      assert.same({}, trace.warnings)
   end)

   it("can be cut at any byte", function()
      for cut = 1, #xml do
         local trace = profio.open({ data = xml:sub(1, cut) })
         if trace then
            assert.is_true(#trace.areas:rows() <= 5)
            trace:close()
         end
      end
   end)
end)

describe("the files of an export", function()
   local folder

   setup(function()
      folder = disk.temporary()
      os.remove(folder)
      disk.folder(folder)
   end)

   teardown(function()
      disk.remove(folder)
   end)

   local function write(name, bytes)
      local file <close> = assert(io.open(folder .. "/" .. name, "wb"))
      file:write(bytes)
      return folder .. "/" .. name
   end

   local function area_of(path, options)
      local trace <close> = assert(profio.open(path, options))
      return trace.timeline:rows("area")[1].area, trace
   end

   it("are found by their names, whatever their case", function()
      local bytes = records.bytes(same_events, records.new)
      for i, names in ipairs { { "a.txt", "a.txt.BIN" }, { "b.txt", "b.BIN" },
         { "c.TXT", "c.txt.bin" }, { "D.txt", "d.Bin" }, { "e.xml", "e.xml.BIN" } } do
         local text = i == 5 and "<MAPPING><AREA><NAME>TestStatic1##s_cStatic</NAME>" ..
            "<HANDLE>20000000</HANDLE></AREA></MAPPING>" or head .. mapping
         local main, bin = write(names[1], text), write(names[2], bytes)
         assert.equal("TestStatic1##s_cStatic", (area_of(bin)))
         assert.equal("TestStatic1##s_cStatic", (area_of(main)))
      end
   end)

   it("are read once if all of them are named", function()
      local bytes = records.bytes(same_events, records.new)
      local main, bin = write("both.txt", head .. mapping), write("both.txt.BIN", bytes)
      for _, list in ipairs { { main, bin }, { bin, main } } do
         local trace <close> = assert(profio.open(list))
         assert.equal(5, #trace.timeline:rows())
         assert.equal("TestStatic1##s_cStatic", trace.timeline:rows("area")[1].area)
      end
   end)

   it("can be given by role", function()
      local bytes = records.bytes(same_events, records.new)
      local bin, main = write("alone.BIN", bytes), write("elsewhere.text", head .. mapping)
      assert.equal("20000000", (area_of(bin)))
      assert.equal("TestStatic1##s_cStatic", (area_of(bin, { mapping = main })))
      assert.equal("TestStatic1##s_cStatic", (area_of(main, { timeline = bin })))
      local trace, message, code = profio.open(bin, { mapping = folder .. "/none" })
      assert.is_nil(trace)
      assert.matches("none: No such file", message)
      assert.equal("io", code)
   end)

   it("are recognised by their contents", function()
      local bytes = records.bytes(same_events, records.new)
      local bin = write("other.BIN", bytes)
      write("other.txt", "notes on the measurement\n")
      local area, trace = area_of(bin)
      assert.equal("20000000", area)
      assert.equal("winidea-no-mapping", trace.warnings[1].code)
      -- A main file with a timeline of its own does not need another one.
      local main = write("own.txt", seed)
      write("own.txt.BIN", records.bytes({ same_events[5] }, records.new))
      assert.equal("TestStatic1##s_cStatic", (area_of(main)))
   end)

   it("are noted if a mapping is given for a file that names its areas itself", function()
      local trace <close> = assert(profio.open { data = seed, mapping = mapping })
      assert.equal("winidea-unused-mapping", trace.warnings[1].code)
   end)
end)
