-- Written files are read back unchanged, and have the bytes that the vendor's documents state.
--
-- Tags: user.

local disk = require "spec.support.disk"
local profio = require "profio"
local records = require "spec.support.winidea"
local write_refused = require "spec.support.refused"

local tables = { "timeline", "areas", "statistics", "contexts" }

local function open(what, options)
   return assert(profio.open(type(what) == "string" and { data = what } or what, options))
end

-- Returns the rows of all tables of a trace.
local function rows_of(trace, but)
   local rows = {}
   for _, name in ipairs(trace.tables) do
      if name ~= "raw" and name ~= "events" then
         rows[name] = trace[name]:rows()
         for _, row in ipairs(rows[name]) do
            row[but or "none"] = nil
         end
      end
   end
   return rows
end

local events = {
   { handle = 0x20000000, event = "write", data = 1, time = -5, core = 0 },
   { handle = 0, event = "resume", time = 4469, core = 0 },
   { handle = 0x10000004, event = "enter", time = 4469, core = 1 },
   { handle = 0x10000004, event = "suspend", time = 4602, core = 254 },
   { handle = 0x30000002, event = "enter", data = 7, time = 4603 },
   { handle = 0x30000002, event = "leave", data = -1, time = 4604 },
   { handle = 0x40000001, event = "write", data = 1 << 40, time = 4605, core = 3 },
   { handle = 0x12, event = "leave", time = math.maxinteger },
}

describe("winidea binary timelines", function()
   it("are saved unchanged", function()
      for _, pack in ipairs { records.new, records.old } do
         local bytes = records.bytes(events, pack)
         local trace <close> = open(bytes)
         assert.equal(bytes, trace:save())
      end
   end)

   it("can be saved in the other version, which may lose the cores", function()
      local new, old = records.bytes(events, records.new), records.bytes(events, records.old)
      local trace <close> = open(new)
      assert.equal(old, trace:save(nil, { bin_version = "1.0" }))
      for _, event in ipairs(events) do
         event.core, event.was = nil, event.core
      end
      local other <close> = open(old)
      assert.equal(records.bytes(events, records.new), other:save(nil, { bin_version = "1.1" }))
      for _, event in ipairs(events) do
         event.core = event.was
      end
   end)

   it("are written by single records", function()
      local w = assert(profio.create(nil, { format = "winidea", dialect = "bin" }))
      assert(w:write { handle = 0x20000000, event = "write", value = 1, time = 4336, core = 0 })
      assert(w:write { handle = 0x12, event = "enter", time = 1000000, core = 2 })
      assert(w:write { handle = 0x40000001, event = "write", number = 3.25, time = -1500 })
      assert.equal(records.hex [[
         00 00 00 20 | 04 00 00 00 | 01 00 00 00 00 00 00 00 | f0 10 00 00 00 00 00 00
         12 00 00 00 | 23 00 00 00 | 00 00 00 00 00 00 00 00 | 40 42 0f 00 00 00 00 00
         01 00 00 40 | f4 0f 00 00 | 00 00 00 00 00 00 0a 40 | 24 fa ff ff ff ff ff ff ]],
         w:close())
   end)

   it("refuse values that they cannot hold", function()
      local function refused(row, words)
         local w = assert(profio.create(nil, { format = "winidea", dialect = "bin" }))
         local ok, message, code = write_refused(w, row)
         assert.is_nil(ok)
         assert.matches(words, message)
         assert.equal("unsupported", code)
      end
      refused({ event = "enter", time = 1 }, "no handle and no area")
      refused({ handle = 1, time = 1 }, "no event")
      refused({ handle = 1, event = "enter", time = 1, value = 5 }, "00000001 has no value")
      refused({ handle = 1 << 28, event = "enter", time = 1, number = 1.5 }, "has no value")
      refused({ handle = 1, event = "enter" }, "no time")
      refused({ handle = 1, event = "call", time = 1 }, "found call")
      refused({ handle = 1 << 32, event = "enter", time = 1 }, "a handle of 32 bits")
      refused({ handle = 1, event = "enter", time = 1, core = 255 }, "a core of %-1 to 254")
   end)
end)

describe("winidea Text1 files", function()
   it("are saved unchanged", function()
      local trace <close> = open(records.seed)
      assert.equal(records.seed, trace:save(nil, { line_end = "lf" }))
      local other <close> = open(trace:save())
      assert.same(rows_of(trace), rows_of(other))
   end)

   it("keep all values for which their formats have macros", function()
      local text = records.lines(
         "* CONTEXTS %HANDLE% %NAME%", "0x1F a, b", "0x2 c",
         "* HANDLE(AUX) %HANDLE%;%HANDLE.PARENT%;%VALUE%;%VALUE.TYPE%;%NAME%;%VALUE.UNIT%",
         "40000001;;;F64;U, in;mV", "50000001;40000001;3;I64;high;",
         "* HANDLE(Data) %HANDLE%;%HANDLE.PARENT%;%VALUE%;%VALUE.TYPE%;%NAME%;%VALUE.UNIT%",
         "30000001;;00BC614E;;;",
         "* STATISTICS(AUX) CONTEXT(a) b) %HANDLE%,%VALUE%,%T.NET%,%T.PERIOD.MIN%,%NAME%",
         "40000001,,-3,,x,y", "50000001,3,,4,",
         "* TIMELINE %TIME% %EVENT%%HANDLE%[%CONTEXT%] %VALUE%",
         "-7 W40000001[a, ] b] 3.25", "-6 E00000001[] ", "8 E50000001[c] 00000003",
         "9 W40000001[c] -inf", "10 W40000001[c] 1e+22", "11 W40000001[c] 2.0",
         "12 W20000001[c] FFFFFFFFFFFFFFFF", "13 W20000001[c] ")
      local trace <close> = open(text)
      assert.same({}, trace.warnings)
      assert.equal(text, trace:save(nil, { line_end = "lf" }))
   end)

   it("can be written with any formats", function()
      local trace <close> = open(records.seed)
      for _, formats in ipairs {
         { timeline_format = "%TIME%;%EVENT%;%HANDLE%;%VALUE%" },
         { handle_format = "%NAME%|%VALUE%|%HANDLE%", contexts_format = "%HANDLE% %NAME%" },
         { statistics_format = "%T.NET%\t%COUNT%\t%HANDLE%\t%VALUE%\t%CONTEXT%" },
         { timeline_format = "at %TIME% ns %EVENT%%HANDLE%=%VALUE%",
           info_format = "%TOTAL_TIME% ns" },
      } do
         local other <close> = open(trace:save(nil, formats))
         assert.equal("winidea-no-contexts", other.warnings[1].code)
         assert.is_nil(other.warnings[2])
         assert.same(rows_of(trace), rows_of(other))
         assert.equal(7962907051, other.info.total_time)
      end
   end)

   it("can have their timeline in a second file", function()
      local trace <close> = open(records.seed)
      local main, sides = trace:save(nil, { timeline_binary = true })
      assert.equal(records.bytes(records.events, records.new), sides.timeline)
      assert.is_nil(main:find "TIMELINE")
      local other <close> = open { data = main, timeline = sides.timeline }
      assert.same(rows_of(trace), rows_of(other))
      local path = disk.temporary()
      finally(function() os.remove(path) os.remove(path .. ".BIN") end)
      assert(trace:save(path, { timeline_binary = true, bin_version = "1.0" }))
      local found <close> = open { path }
      assert.same(rows_of(trace), rows_of(found))
      assert.equal("1.0", found.info.version)
      local bin <close> = open { path .. ".BIN" }
      assert.same(rows_of(trace), rows_of(bin))
   end)

   it("can be written with writes of variables instead of states", function()
      local text = records.lines("* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%",
         "30000002,E,00000005,1", "30000002,X,00000005,4", "30000002,E,00000006,4",
         "00000001,E,,5")
      local trace <close> = open(text)
      assert.equal(records.lines("* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%",
         "20000002,W,00000005,1", "20000002,W,00000006,4", "00000001,E,,5"),
         trace:save(nil, { timeline_states = false, line_end = "lf" }))
   end)

   it("refuse writes of variables instead of states that were not entered", function()
      for _, value in ipairs { "00000000", "00000005" } do
         local trace <close> = open(records.lines("* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%",
            "30000002,X," .. value .. ",4", "30000002,E,00000006,4", "30000002,X,00000006,9",
            "30000002,E,00000007,9"))
         local text, message = trace:save(nil, { timeline_states = false })
         assert.is_nil(text)
         assert.matches("a state without a begin", message)
      end
   end)

   it("assign handles to areas without one", function()
      local w = assert(profio.create(nil, { format = "winidea", line_end = "lf",
         handle_format = "%HANDLE%,%NAME%,%FILE%,%VALUE%" }))
      assert(w:write { area = "main", event = "enter", time = 1 })
      assert(w:write { area = { name = "speed", class = "variable" }, event = "write", value = 5,
         time = 2 })
      assert(w:write { area = { name = "f", file = "/src/f.c" }, event = "enter", time = 3 })
      assert(w:write { area = "main", event = "leave", time = 4 })
      assert.equal(records.lines("* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%", "00000000,E,,1",
         "20000000,W,00000005,2", "00000001,E,,3", "00000000,X,,4",
         "* HANDLE(Functions) %HANDLE%,%NAME%,%FILE%,%VALUE%", "00000000,main,,",
         "* HANDLE(Data) %HANDLE%,%NAME%,%FILE%,%VALUE%", "20000000,speed,,",
         "* HANDLE(Functions) %HANDLE%,%NAME%,%FILE%,%VALUE%", "00000001,f,/src/f.c,"),
         w:close())
   end)

   it("give new areas other handles than areas before them have", function()
      local w = assert(profio.create(nil, { format = "winidea" }))
      assert(w:write { area = { name = "main", handle = 0 }, event = "enter", time = 1 })
      assert(w:write { area = { name = "f", handle = 7 }, event = "enter", time = 2 })
      assert(w:write { area = "new", event = "enter", time = 3 })
      local trace <close> = open(w:close())
      local handles = {}
      for handle in trace.timeline:each "handle" do
         assert.is_nil(handles[handle])
         handles[handle] = true
      end
   end)

   it("refuse two areas with one handle", function()
      local w = assert(profio.create(nil, { format = "winidea" }))
      assert(w:write("areas", { handle = 0, name = "main" }))
      local ok, message = write_refused(w, { area = "foo", event = "enter", time = 2 })
      assert.is_nil(ok)
      assert.matches("area foo would get handle 00000000, which another row has", message)
      local other = assert(profio.create(nil, { format = "winidea" }))
      assert(other:write { area = "foo", event = "enter", time = 2 })
      ok, message = write_refused(other, "areas", { handle = 0, name = "main" })
      assert.is_nil(ok)
      assert.matches("handle 00000000 has been given to area foo", message)
   end)

   it("keep the function of a line", function()
      local function line(name, func)
         return { name = name, class = "line", value = 1, parent = func }
      end
      local function parents(write)
         local w = assert(profio.create(nil, { format = "winidea" }))
         write(w)
         local trace <close> = open(w:close())
         local found = {}
         for row in trace.areas:records() do
            if row.class == "line" then
               found[row.name] = row.parent
            end
         end
         return found
      end
      assert.same({ ["x = 1;"] = "g" }, parents(function(w)
         assert(w:write { area = "f", event = "enter", time = 1 })
         assert(w:write { area = line("x = 1;", { name = "g", class = "function" }),
            event = "enter", time = 2 })
      end))
      assert.same({ ["x = 1;"] = "f" }, parents(function(w)
         local f, g = { name = "f", handle = 1 }, { name = "a\nb", handle = 2 }
         assert(w:write("areas", { area = f, handle = 1, name = "f" }))
         assert.is_nil((write_refused(w, "areas", { area = g, handle = 2, name = "a\nb" })))
         local first = line("x = 1;", f)
         first.handle = 1 << 28
         assert(w:write("areas", { area = first, name = first.name, value = 1, parent = f }))
      end))
   end)

   it("refuse rows that would be read differently", function()
      local function refused(options, name, row, words)
         options.format = "winidea"
         local w = assert(profio.create(nil, options))
         local ok, message = write_refused(w, name, row)
         assert.is_nil(ok)
         assert.matches(words or "could not be read back", message)
      end
      refused({}, "areas", { handle = 1, name = "a\nb" })
      refused({ handle_format = "%NAME%,%FILE%,%HANDLE%" }, "areas",
         { handle = 1, name = "a,b", file = "c,d.c" })
      refused({ handle_format = "%NAME% %HANDLE%" }, "areas",
         { handle = 1, name = "* INFO %" })
      refused({ contexts_format = "%NAME%%HANDLE%" }, "contexts", { handle = 1, name = "a1" })
      refused({}, "statistics", { handle = 1, context = "a\nb" }, "has a line end")
      refused({}, "contexts", { name = "x" }, "no handle")
      refused({ timeline_format = "%HANDLE%%EVENT%%VALUE%%TIME%" }, "timeline",
         { handle = 0x20000000, event = "write", value = 5, time = 7 })
      refused({ statistics_format = "%HANDLE%,%COUNT%%T.NET%" }, "statistics",
         { handle = 1, count = 5, net = 7 })
   end)

   it("stay readable when a row with an invalid context was refused", function()
      local path = disk.temporary()
      local w = assert(profio.create(path, { format = "winidea", line_end = "lf" }))
      assert(w:write("statistics", { handle = 1, count = 5, context = "good" }))
      for _ = 1, 2 do
         local ok, message = write_refused(w, "statistics",
            { handle = 2, count = 6, context = "a\nb" })
         assert.is_nil(ok)
         assert.matches("has a line end", message)
      end
      assert(w:write("statistics", { handle = 3, count = 7, context = "good" }))
      assert(w:close())
      local trace <close> = open { path }
      assert.same({ { handle = 1, count = 5, context = "good", area = "00000001" },
         { handle = 3, count = 7, context = "good", area = "00000003" } }, trace.statistics:rows())
      assert.same({}, trace.warnings)
      os.remove(path)
   end)

   it("refuse invalid formats", function()
      for _, format in ipairs { "%HANDLE%,%EVENT%", "nothing", "%TIME%\n%HANDLE%,%EVENT%" } do
         local w, message, code = profio.create(nil,
            { format = "winidea", timeline_format = format })
         assert.is_nil(w)
         assert.matches("timeline_format: one line with HANDLE", message)
         assert.equal("unsupported", code)
      end
      assert.error_matches(function()
         profio.create("-", { format = "winidea", timeline_binary = true })
      end, "there can be no file beside standard output")
   end)

   it("hold random rows", function()
      math.randomseed(7)
      local names = { "a", "b, c", '"f.c"#g', "100%", "* x = 1;", "%NAME%", "ä" }
      for _ = 1, 30 do
         local w = assert(profio.create(nil, { format = "winidea",
            timeline_format = "%CONTEXT%,%HANDLE%,%EVENT%,%VALUE%,%TIME%" }))
         local wanted, time = {}, math.random(-1000, 0)
         for i = 1, math.random(0, 200) do
            local kind = math.random(0, 3)
            time = time + math.random(0, 1 << math.random(1, 40))
            wanted[i] = { handle = kind << 28 | math.random(0, 300), time = time, core = -1,
               event = kind == 2 and "write" or
                  ({ "enter", "leave", "suspend", "resume" })[math.random(4)],
               context = math.random(3) > 1 and names[math.random(#names)] or nil,
               value = kind > 1 and math.random(0) >> math.random(0, 63) or nil }
            assert(w:write(wanted[i]))
         end
         local trace <close> = open(w:close(), { format = "winidea" })
         local rows = #wanted == 0 and {} or
            trace.timeline:rows("handle", "time", "core", "event", "context", "value")
         assert.same(wanted, rows)
      end
   end)

   it("warn of columns that they cannot hold", function()
      local function notes(data, options)
         local trace <close> = open { data = data }
         trace:save(nil, options)
         local list = {}
         for _, warning in ipairs(trace.warnings) do
            list[#list + 1] = warning.message:match "^column '(%a+)'"
         end
         return list
      end
      local on_core = records.new { handle = 1, event = "enter", core = 2, time = 1 }
      local nowhere = records.new { handle = 1, event = "enter", time = 1 }
      local text = "* TIMELINE %HANDLE%,%EVENT%,%CONTEXT%,%TIME%\n1,E,T,5\n"
      assert.same({ "core" }, notes(nowhere .. on_core, { dialect = "text1" }))
      assert.same({ "core" }, notes(on_core, { bin_version = "1.0" }))
      assert.same({}, notes(on_core, {}))
      assert.same({}, notes(nowhere, { dialect = "text1" }))
      assert.same({ "context" }, notes(text, { dialect = "bin" }))
      assert.same({ "context" }, notes(text, { timeline_format = "%TIME% %EVENT% %HANDLE%" }))
      assert.same({}, notes(text, {}))
   end)

   it("can be written from binary timelines", function()
      local bytes = records.bytes(events, records.new)
      local trace <close> = open { data = bytes, mapping = records.head .. records.mapping }
      local other <close> = open(trace:save(nil, { dialect = "text1" }))
      local wanted, found = rows_of(trace, "core"), rows_of(other, "core")
      for _, name in ipairs(tables) do
         assert.same(wanted[name], found[name])
      end
   end)
end)
