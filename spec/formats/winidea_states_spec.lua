-- States of variables in all forms of exports: as writes to the variable (TimelineStates off), as
-- events of the state's handle, in Text1 and in binary timelines; and the end of the last state.

local profio = require "profio"
local locales = require "spec.support.locales"
local records = require "spec.support.winidea"

local function open(what, options)
   return assert(profio.open(type(what) == "string" and { data = what } or what, options))
end

-- Returns a Text1 file of a variable `mode` with the states OFF, ON and FAIL.
local function text1(timeline, parts)
   parts = parts or {}
   return (parts.total and records.lines("* INFO %TOTAL_TIME%", parts.total) or "")
      .. (parts.mapping or records.lines("* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%",
         "20000000,mode,", "30000000,OFF,0", "30000000,ON,1", "30000000,FAIL,2"))
      .. records.lines("* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%", table.unpack(timeline))
end

-- Returns the rows of calls as lines.
local function told(trace, options)
   local list = {}
   for row in trace:calls(options):records() do
      list[#list + 1] = ("%s %d-%d%s"):format(row.area, row.start, row.stop,
         row.flags and " " .. row.flags or "")
   end
   return list
end

local function statistics(trace, options)
   local list = {}
   for area, count, net in trace:call_statistics(options):each("area", "count", "net") do
      list[area] = { count, net }
   end
   return list
end

-- Returns the same writes in four forms.
local function spellings(writes)
   local off, enters, both, states = {}, {}, {}, {}
   for i, write in ipairs(writes) do
      local value, time = ("%08X"):format(write[2]), write[1]
      off[i] = ("20000000,W,%s,%d"):format(value, time)
      states[i] = ("30000000,W,%s,%d"):format(value, time)
      if not writes[i - 1] or writes[i - 1][2] ~= write[2] then
         enters[#enters + 1] = ("30000000,E,%s,%d"):format(value, time)
         if writes[i - 1] then
            both[#both + 1] = ("30000000,X,%08X,%d"):format(writes[i - 1][2], time)
         end
         both[#both + 1] = enters[#enters]
      end
   end
   return { off = off, enters = enters, both = both, states = states }
end

local example = { { 1000, 0 }, { 3000, 1 }, { 5000, 2 }, { 7000, 0 } }
local answer = { mode = { 4, 0 }, ["mode=OFF"] = { 2, 5000 }, ["mode=ON"] = { 1, 2000 },
   ["mode=FAIL"] = { 1, 2000 } }

describe("states of a variable", function()
   it("are derived in the same way if they are listed after the timeline", function()
      local text = text1(spellings(example).off, { total = "10000", mapping =
         records.lines("* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%", "20000000,mode,") })
         .. records.lines("* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%", "30000000,OFF,0",
            "30000000,ON,1", "30000000,FAIL,2")
      local trace <close> = open(text)
      for _ = 1, 2 do -- the first reader, and one after it
         assert.same(answer, statistics(trace))
      end
      local other <close> = open(text)
      other.areas:rows()
      assert.same(answer, statistics(other))
   end)

   it("are the same in each form of Text1", function()
      local expected
      for name, timeline in pairs(spellings(example)) do
         local trace <close> = open(text1(timeline, { total = 10000 }))
         assert.same(answer, statistics(trace), name)
         local calls = told(trace)
         table.sort(calls)
         expected = expected or calls
         assert.same(expected, calls, name)
         assert.equal(#timeline, trace.timeline:count())
      end
   end)

   it("of several variables are apart, and are written back with their own names", function()
      local text = records.lines("* INFO %TOTAL_TIME%", "90",
         "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%", "20000000,Task_A,", "30000000,READY,1",
         "30000000,RUNNING,2", "20000001,Task_B,", "30000001,READY,1", "30000001,RUNNING,2",
         "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%", "20000000,W,00000002,10",
         "20000001,W,00000001,20", "20000000,W,00000001,30", "20000001,W,00000002,50")
      local trace <close> = open(text)
      assert.same({ Task_A = { 2, 0 }, Task_B = { 2, 0 }, ["Task_A=RUNNING"] = { 1, 20 },
         ["Task_A=READY"] = { 1, 60 }, ["Task_B=READY"] = { 1, 30 },
         ["Task_B=RUNNING"] = { 1, 40 } }, statistics(trace))
      local names = {}
      for name, area in trace.areas:each("name", "area") do
         names[#names + 1] = name .. " " .. tostring(area)
      end
      assert.equal("RUNNING Task_B=RUNNING", names[6])
      local copy = assert(trace:save(nil, { line_end = "lf" }))
      assert.equal((text:gsub("\r", "")), (copy:gsub("\r", "")))
   end)

   it("are those of a variable of a binary timeline whose main file is missing", function()
      local trace <close> = open({ data = records.bytes({
         { handle = 0x20000005, event = "write", data = 1, time = 1 },
         { handle = 0x30000005, event = "enter", data = 1, time = 2 },
         { handle = 0x20000006, event = "write", data = 1, time = 3 } }, records.new) },
         { format = "winidea" })
      local states = {}
      for handle, list in trace.areas:each("handle", "states") do
         states[handle] = list or false
      end
      assert.same({ [0x20000005] = 0x30000005, [0x30000005] = false, [0x20000006] = false }, states)
   end)

   it("do not change the table timeline", function()
      local trace <close> = open(text1(spellings(example).off, { total = 10000 }))
      assert.same({ "mode", "mode", "mode", "mode" }, (function()
         local list = {}
         for area in trace.timeline:each "area" do
            list[#list + 1] = area
         end
         return list
      end)())
      local events = trace.events:rows("time", "event", "area", "value")
      assert.same({ time = 3000, event = "write", area = "mode=ON", value = 1 }, events[2])
      assert.same({ time = 10000, event = "end" }, events[5])
      assert.equal(5, #events)
   end)

   it("are read from binary timelines of both versions, with Text1 and XML", function()
      local list = {}
      for i, write in ipairs(example) do
         list[i] = { handle = 0x20000000, event = "write", data = write[2], time = write[1] }
      end
      local main = text1({}, { total = 10000 }):gsub("%* TIMELINE.*", "")
      local xml = [[<PROFILER><MAPPING>
<AREA><NAME>mode</NAME><HANDLE>0x20000000</HANDLE></AREA>
<AREA><NAME>OFF</NAME><HANDLE>0x30000000</HANDLE><VALUE>0</VALUE></AREA>
<AREA><NAME>ON</NAME><HANDLE>0x30000000</HANDLE><VALUE>1</VALUE></AREA>
<AREA><NAME>FAIL</NAME><HANDLE>0x30000000</HANDLE><VALUE>2</VALUE></AREA>
</MAPPING></PROFILER>]]
      for _, pack in ipairs { records.new, records.old } do
         local options = { format = "winidea",
            bin_version = pack == records.new and "1.1" or "1.0" }
         local bytes = records.bytes(list, pack)
         local twin <close> = open({ data = bytes, mapping = main }, options)
         assert.same(answer, statistics(twin))
         assert.equal(5, twin:row_count "events")
         assert.equal(5, twin.events:count())
         assert.same({ { event = "end" } }, twin.events:sort("-time"):limit(1):rows "event")
         local named <close> = open({ data = bytes, mapping = xml }, options)
         assert.same({ mode = { 4, 0 }, ["mode=OFF"] = { 2, 2000 }, ["mode=ON"] = { 1, 2000 },
            ["mode=FAIL"] = { 1, 2000 } },
            statistics(named))
         local other <close> = open({ data = xml, timeline = bytes }, options)
         assert.same(statistics(named), statistics(other))
      end
   end)

   it("are found by the handle that HANDLE.STATE names, by HANDLE.PARENT and by NAME.PARENT",
      function()
         local timeline = { "20000005,W,00000001,100", "20000005,W,00000000,300",
            "20000005,W,00000001,400" }
         for _, mapping in ipairs {
            { "%HANDLE%,%HANDLE.STATE%,%VALUE%,%NAME%", "20000005,30000009,,mode",
               "30000009,,0,OFF", "30000009,,1,ON" },
            { "%HANDLE%,%HANDLE.STATE%,%VALUE%,%NAME%,%HANDLE.PARENT%",
               "30000009,,0,OFF,", "30000009,,1,ON,", "20000005,30000009,,mode," },
            { "%HANDLE%,%VALUE%,%NAME%,%HANDLE.PARENT%", "20000005,,mode,",
               "30000009,0,OFF,20000005", "30000009,1,ON,20000005" },
            { "%HANDLE%;%VALUE%;%NAME%;%NAME.PARENT%", "20000004;;other;", "20000005;;mode;",
               "30000009;0;OFF;mode", "30000009;1;ON;mode" },
         } do
            mapping[1] = "* HANDLE(Data) " .. mapping[1]
            local trace <close> = open(text1(timeline,
               { mapping = records.lines(table.unpack(mapping)) }))
            assert.same({ mode = { 3, 0 }, ["mode=ON"] = { 2, 200 }, ["mode=OFF"] = { 1, 100 } },
               statistics(trace), mapping[1])
            for name, parent, states in trace.areas:each("name", "parent", "states") do
               assert.equal(name ~= "mode" and name ~= "other" and "mode" or nil, parent)
               assert.equal(name == "mode" and 0x30000009 or nil, states)
            end
            -- a value without a row in the mapping
            local more <close> = open(text1({ "20000005,W,00000007,1", "30000009,E,00000008,3",
               "20000005,W,00000001,4" }, { mapping = records.lines(table.unpack(mapping)) }))
            assert.same({ mode = { 3, 0 }, ["mode=7"] = { 1, 2 }, ["mode=8"] = { 1, 1 },
               ["mode=ON"] = { 1, 0 } }, statistics(more))
         end
      end)

   it("are found by the handle that the row of a variable states", function()
      local trace <close> = open(text1({ "20000001,W,00000003,5", "20000001,W,00000004,9",
         "20000002,W,00000004,9" }, { mapping = records.lines(
         "* HANDLE(Data) %HANDLE%,%HANDLE.STATE%,%NAME%", "20000001,30000007,gear",
         "20000002,00000000,rpm") }))
      assert.same({ gear = { 2, 0 }, ["gear=3"] = { 1, 4 }, ["gear=4"] = { 1, 0 },
         rpm = { 1, 0 } }, statistics(trace))
   end)

   it("have values of 32 bits, with or without a sign, or doubles", function()
      local mapping = records.lines("* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%,%VALUE.TYPE%",
         "20000000,mode,,I64", "30000000,BAD,-1,", "30000000,GOOD,1,",
         "* HANDLE(AUX) %HANDLE%,%NAME%,%VALUE%,%VALUE.TYPE%", "40000000,level,,F64",
         "50000000,LOW,1,", "50000000,HIGH,2,")
      local trace <close> = open(text1({ "20000000,W,FFFFFFFF,1", "20000000,W,00000001,4",
         "20000000,W,FFFFFFFFFFFFFFFF,6", "40000000,W,1.0,7", "40000000,W,4000000000000000,9",
         "40000000,W,2.5,10", "20000000,W,,10" }, { mapping = mapping }))
      assert.same({ mode = { 4, 0 }, ["mode=BAD"] = { 2, 7 }, ["mode=GOOD"] = { 1, 2 },
         level = { 3, 0 }, ["level=LOW"] = { 1, 2 }, ["level=HIGH"] = { 1, 1 } },
         statistics(trace))
   end)

   it("have a point in each locale when they are written and read", function()
      local text = locales.run_with_commas [[
         local profio = require "profio"
         local w = assert(profio.create(nil, { format = "winidea" }))
         assert(w:write { area = { name = "level", class = "variable" }, event = "write", time = 1,
            number = 2.5 })
         local bytes = assert(w:close())
         print(bytes:match "W,([^,]*),1")
         local trace <close> = assert(profio.open { data = bytes })
         print(trace.events:rows()[1].number == 2.5, #trace.warnings)]]
      if not text then
         return pending "no locale can be compiled here"
      end
      assert.equal("2.5\ntrue\t0\n", text)
   end)

   it("are missing if the mapping has no states", function()
      local mapping = records.lines("* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%", "20000000,mode,",
         "2FFFFFF0,high,")
      local trace <close> = open(text1({ "20000000,W,00000001,1", "2FFFFFF0,W,00000000,4",
         "2FFFFFF0,W,00000001,4" }, { mapping = mapping }))
      assert.same({ mode = { 1, 0 }, high = { 2, 0 } }, statistics(trace))
      local high <close> = open(text1({ "2FFFFFF0,W,00000000,1", "2FFFFFF0,W,,3",
         "2FFFFFF0,W,00000001,4" }, { mapping = mapping .. "3FFFFFF0,ZERO,0\n" }))
      assert.same({ high = { 3, 0 }, ["high=ZERO"] = { 1, 3 }, ["high=1"] = { 1, 0 } },
         statistics(high))
   end)

   -- By definition, a state lasts from a write of its value to the next write of another value, and
   -- the last state to the end.
   it("are equal to those of a slow model", function()
      math.randomseed(7)
      for round = 1, 200 do
         local writes, time, expected = {}, 0, { mode = { 0, 0 } }
         for i = 1, math.random(12) do
            time = time + math.random(0, 4)
            writes[i] = { time, math.random(0, 3) }
         end
         local total = time + math.random(0, 9)
         local names = { [0] = "mode=OFF", "mode=ON", "mode=FAIL", "mode=3" }
         for i, write in ipairs(writes) do
            local name = names[write[2]]
            local state = expected[name] or { 0, 0 }
            expected[name], expected.mode[1] = state, expected.mode[1] + 1
            if not writes[i - 1] or writes[i - 1][2] ~= write[2] then
               state[1] = state[1] + 1
            end
            state[2] = state[2] + (writes[i + 1] and writes[i + 1][1] or total) - write[1]
         end
         local all = spellings(writes)
         for _, name in ipairs { "off", "states" } do
            local trace <close> = open(text1(all[name], { total = total }))
            assert.same(expected, statistics(trace), name .. round)
         end
         expected.mode = nil
         for _, name in ipairs { "enters", "both" } do
            local trace <close> = open(text1(all[name], { total = total }))
            local found = statistics(trace)
            found.mode = nil
            assert.same(expected, found, name .. round)
         end
      end
   end)
end)

describe("the end that INFO states", function()
   local timeline = { "00000001,E,,0", "20000000,W,00000001,40", "00000002,E,,60",
      "00000002,X,,80", "20000000,W,00000000,90" }
   local mapping = records.lines("* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%", "00000001,main,",
      "00000002,f,", "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%", "20000000,mode,", "30000000,OFF,0",
      "30000000,ON,1")

   it("ends all open calls, in all tables", function()
      local trace <close> = open(text1(timeline, { total = 100, mapping = mapping }))
      assert.same({ "mode 40-40", "f 60-80", "mode=ON 40-90", "mode 90-90", "main 0-100 open",
         "mode=OFF 90-100 open" }, told(trace))
      assert.same({ main = { 1, 80 }, f = { 1, 20 }, mode = { 2, 0 }, ["mode=ON"] = { 1, 50 },
         ["mode=OFF"] = { 1, 10 } }, statistics(trace))
      local self = {}
      for name, spent in trace:profile():flat():each("function", "self") do
         self[name] = spent
      end
      assert.same({ main = 80, f = 20 }, self)
      assert.matches("main 80", (trace:export "folded"))
      assert.same({ "mode 40-40", "f 60-80", "mode=ON 40-90", "mode 90-90", "main 0-90 open",
         "mode=OFF 90-90 open" }, told(trace, { recording = "events" }))
      assert.same({ "mode 40-40", "f 60-80", "mode=ON 40-90", "mode 90-90", "main 0-95 cut",
         "mode=OFF 90-95 cut" }, told(trace, { to = 95 }))
   end)

   it("applies to its own file", function()
      local first = text1(timeline, { total = 100, mapping = mapping })
      local second = text1({ "20000000,W,00000000,5" }, { total = 30, mapping = mapping })
      local trace <close> = open({ { data = first }, { data = second }, { data = first } })
      assert.same({ main = { 2, 160 }, f = { 2, 40 }, mode = { 5, 0 }, ["mode=ON"] = { 2, 100 },
         ["mode=OFF"] = { 3, 45 } }, statistics(trace))
   end)

   it("is relative to the first event if that is before the trigger", function()
      local trace <close> = open(text1({ "20000000,W,00000001,-30", "20000000,W,00000000,50" },
         { total = 100, mapping = mapping }))
      assert.same({ mode = { 2, 0 }, ["mode=ON"] = { 1, 80 }, ["mode=OFF"] = { 1, 20 } },
         statistics(trace))
   end)

   it("is ignored if events are later", function()
      local trace <close> = open(text1(timeline, { total = 70, mapping = mapping }))
      assert.equal(5, trace.events:count())
      assert.same({ 1, 0 }, statistics(trace)["mode=OFF"])
      local empty <close> = open(text1({}, { total = 70, mapping = mapping }))
      assert.equal(0, empty.events:count())
   end)

   it("is the same for any number of chunks of a binary timeline", function()
      local list = {}
      for i = 1, 10000 do
         list[i] = { handle = 1, event = i % 2 == 1 and "enter" or "leave", time = 3 * i, core = 0 }
      end
      list[10001] = { handle = 1, event = "enter", time = 40000, core = 0 }
      local main = text1({}, { total = 50000, mapping = mapping }):gsub("%* TIMELINE.*", "")
      local trace <close> = open { data = records.bytes(list, records.new), mapping = main }
      local whole = statistics(trace)
      assert.same({ 5001, 25000 }, whole.main)
      for parts = 2, 3 do
         assert.same(whole, statistics(trace, { parts = parts, threads = 2 }))
      end
   end)
end)

describe("writing without events of states", function()
   it("reads back with the same result", function()
      for name, timeline in pairs(spellings(example)) do
         local trace <close> = open(text1(timeline, { total = 10000 }))
         local bytes = assert(trace:save(nil, { timeline_states = false }))
         assert.is_nil(bytes:find "\n30000000,[EXW],")
         local again <close> = open(bytes)
         assert.same(answer, statistics(again), name)
      end
   end)

   it("writes to the variable that the state belongs to", function()
      local mapping = records.lines("* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%,%HANDLE.PARENT%",
         "20000005,mode,,", "30000009,OFF,0,20000005", "30000009,ON,1,20000005")
      local trace <close> = open(text1({ "30000009,E,00000001,1", "30000009,E,00000000,4" },
         { mapping = mapping, total = 9 }))
      for _, options in ipairs { {}, { handle_format = "%HANDLE%,%NAME%,%VALUE%" } } do
         options.timeline_states = false
         local bytes = assert(trace:save(nil, options))
         assert.matches("\n20000005,W,00000001,1\r\n20000005,W,00000000,4\r\n$", bytes)
         local again <close> = open(bytes)
         assert.same(statistics(trace), statistics(again))
         assert.same(trace.areas:rows("name", "parent"), again.areas:rows("name", "parent"))
      end
   end)

   it("assigns states handles that match the handle of their variable", function()
      local w = assert(profio.create(nil, { format = "winidea", timeline_states = false,
         total_time = 10 }))
      local mode = { name = "mode", class = "variable" }
      for i, name in ipairs { "ON", "mode=OFF", "ON" } do
         w:write { time = 2 * i, event = "enter",
            area = { name = name, class = "state", parent = mode,
               value = name == "ON" and 1 or 0 } }
      end
      local trace <close> = open((w:close()))
      assert.same({ mode = { 3, 0 }, ["mode=ON"] = { 2, 6 }, ["mode=OFF"] = { 1, 2 } },
         statistics(trace))
   end)

   it("refuses states that writes cannot express", function()
      for words, timeline in pairs {
         ["time without a state of variable 20000000 at 4"] =
            { "30000000,E,00000001,1", "30000000,X,00000001,4", "30000000,E,00000002,5" },
         ["a suspended state of variable 20000000 at 2"] =
            { "30000000,E,00000001,1", "30000000,S,00000001,2" },
         ["time without a state of variable 20000000 at 3"] =
            { "30000000,E,00000001,1", "30000000,X,00000001,3" },
         ["a state entered again of variable 20000000 at 5"] =
            { "30000000,E,00000001,1", "30000000,E,00000001,5" },
         ["a state entered again of variable 20000000 at 6"] = { "30000000,E,00000001,1",
            "30000000,X,00000001,6", "30000000,E,00000001,6" },
      } do
         local trace <close> = open(text1(timeline, { total = 10 }))
         local bytes, message, code = trace:save(nil, { timeline_states = false })
         assert.is_nil(bytes)
         assert.equal("unsupported", code)
         assert.matches(words, message, 1, true)
      end
   end)
end)

describe("parents of areas", function()
   it("are the same when a binary timeline is saved as Text1", function()
      local bytes = records.bytes({ { handle = 1, event = "enter", time = 1 },
         { handle = 0x10000004, event = "enter", time = 2 },
         { handle = 0x30000002, event = "enter", data = 1, time = 3 },
         { handle = 2, event = "enter", time = 4 } }, records.new)
      local trace <close> = open({ data = bytes }, { format = "winidea" })
      local text = assert(trace:save(nil, { dialect = "text1" }))
      local again <close> = open(text)
      assert.same(trace.areas:rows("handle", "parent", "class"),
         again.areas:rows("handle", "parent", "class"))
      assert.same({}, again.warnings)
      assert.same(trace.timeline:rows("time", "event", "area"),
         again.timeline:rows("time", "event", "area"))
   end)

   it("are written if the order of the rows would imply other parents", function()
      local text = records.lines("* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%HANDLE.PARENT%",
         "00000001,f,,", "00000002,g,,", "10000001,a,1,00000001", "10000002,b,2,00000002",
         "10000003,c,3,")
      local trace <close> = open(text)
      local usual = assert(trace:save(nil,
         { handle_format = "%HANDLE%,%NAME%,%VALUE%", line_end = "lf" }))
      assert.equal(records.lines("* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%", "00000001,f,",
         "00000002,g,", "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%HANDLE.PARENT%",
         "10000001,a,1,00000001", "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%", "10000002,b,2",
         "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%HANDLE.PARENT%", "10000003,c,3,"), usual)
      local again <close> = open(usual)
      assert.same(trace.areas:rows("name", "parent"), again.areas:rows("name", "parent"))
   end)
end)

describe("the cases", function()
   local folder = "../shared/cases/"
   for _, name in ipairs { "states-off", "states-on-a", "states-on-b", "states-on-c" } do
      it("of " .. name .. " agree with the statistics of the file", function()
         local file = io.open(folder .. "winidea-" .. name .. ".txt", "rb")
         if not file then
            pending "the shared cases are not here"
            return
         end
         local trace <close> = open(file:read "a")
         file:close()
         local found = require("profio.reports.calls.stated_statistics").run(trace)
         assert.same({}, found.tried[1].differences)
      end)
   end
end)
