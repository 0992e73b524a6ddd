-- Following exports of winIDEA while they grow: binary timelines, Text1, and the main file beside a
-- timeline.
--
-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.
-- Tags: user.

local command = require "spec.support.command"
local core = require "profio.core"
local moved_clock = require "spec.support.moved_clock"
local profio = require "profio"
local records = require "spec.support.winidea"

local function in_folder(name)
   return command.folder .. "/" .. name
end

local function append(name, bytes)
   local file <close> = assert(io.open(in_folder(name), "ab"))
   file:write(bytes)
end

local columns = { "time", "event", "area", "value" }

-- Writes a file in chunks that end at `steps`. Returns the new rows after each chunk.
local function grow(name, bytes, steps, options, table_name)
   options.live, options.format = true, "winidea"
   command.run("rm -f " .. name:match "^[^.]+" .. ".*")
   command.file(name, bytes:sub(1, steps[1]))
   local trace <close> = assert(profio.open(in_folder(name), options))
   local reader = trace:table(table_name or "timeline"):reader()
   local all = {}
   for i = 1, #steps + 1 do
      local rows = core.rows(reader, columns)
      table.move(rows, 1, #rows, #all + 1, all)
      if i <= #steps then
         append(name, bytes:sub(steps[i] + 1, steps[i + 1] or #bytes))
         trace:refresh()
      end
   end
   return all, trace.warnings
end

local function random_steps(size, first, most)
   local steps, at = {}, first
   while at < size do
      steps[#steps + 1] = at
      at = at + math.random(0, most)
   end
   return steps
end

-- Functions and a variable; the variable has states.
local function random_events(count)
   local list, time, stack = {}, 0, {}
   for i = 1, count do
      time = time + math.random(0, 3)
      if math.random(4) == 1 then
         list[i] = { handle = 0x20000001, event = "write", data = math.random(0, 2), time = time }
      elseif #stack == 0 or math.random(2) == 1 then
         stack[#stack + 1] = math.random(0, 2)
         list[i] = { handle = stack[#stack], event = "enter", time = time }
      else
         list[i] = { handle = table.remove(stack), event = "leave", time = time }
      end
   end
   return list
end

local letters = { enter = "E", leave = "X", write = "W" }

local function text_of(list)
   local lines = {}
   for i, e in ipairs(list) do
      lines[i] = ("%08X,%s,%s,%d\n"):format(e.handle, letters[e.event],
         e.data and ("%08X"):format(e.data) or "", e.time)
   end
   return table.concat(lines)
end

local mapping = records.lines("* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%", "00000000,main,",
   "00000001,f,", "00000002,g,", "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%", "20000001,mode,",
   "30000001,OFF,0", "30000001,ON,1")
local header = "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%\n"

-- Returns the rows of a table of the complete file.
local function whole(what, name, version)
   local trace <close> = assert(profio.open(what, { format = "winidea", bin_version = version }))
   return trace:table(name or "timeline"):rows(table.unpack(columns))
end

describe("a live binary timeline", function()
   it("gives complete records as they are written, in both versions", function()
      for seed = 1, 20 do
         math.randomseed(seed)
         local pack = seed % 2 == 0 and records.old or records.new
         local bytes = records.bytes(random_events(200), pack)
         local rows, warnings = grow("grow.BIN", bytes, random_steps(#bytes, 24 * 20, 100),
            { mapping = { data = mapping } }, seed > 10 and "events")
         assert.same(whole({ data = bytes, mapping = mapping }, seed > 10 and "events",
            seed % 2 == 0 and "1.0" or "1.1"), rows)
         assert.same({}, warnings)
      end
   end)

   it("is saved with the records that it has by then", function()
      for seed = 1, 2 do
         math.randomseed(seed)
         local pack = seed == 1 and records.old or records.new
         local bytes = records.bytes(random_events(5000), pack)
         local size = #bytes // 5000
         command.run "rm -f grow.* saved.*"
         command.file("grow.BIN", bytes:sub(1, 4500 * size + 7))
         local trace <close> = assert(profio.open(in_folder "grow.BIN", { live = true,
            format = "winidea", mapping = { data = mapping } }))
         for _, complete in ipairs { 4500, 5000 } do
            assert.equal(complete * size, trace:save(in_folder "saved.BIN"))
            assert.is_true(bytes:sub(1, complete * size) == command.read(in_folder "saved.BIN"))
            append("grow.BIN", bytes:sub(4500 * size + 8))
            trace:refresh()
         end
      end
   end)

   it("waits until its version can be detected", function()
      for _, pack in ipairs { records.old, records.new } do
         local list = { { handle = 0, event = "leave", time = 1 }, -- an all-zero word
            { handle = 1, event = "enter", time = 2, core = 0 },
            { handle = 1, event = "leave", time = 3, core = 0 } }
         list[1].core = 0
         local bytes = records.bytes(list, pack)
         local rows, warnings = grow("late.BIN", bytes, { 0, 10, 24, 30, 48, 71 }, {})
         assert.same({ "leave", "enter", "leave" }, { rows[1].event, rows[2].event,
            rows[3].event })
         assert.same({}, warnings)
      end
   end)

   it("has names as soon as they are in the main file beside it", function()
      command.run "rm -f named.*"
      local list = {}
      for i = 1, 40 do
         list[i] = { handle = i % 3, event = "enter", time = i, core = 0 }
      end
      local bytes = records.bytes(list, records.new)
      command.file("named.txt.BIN", bytes:sub(1, 240))
      local trace <close> = assert(profio.open(in_folder "named.txt.BIN", { live = true }))
      local reader = trace.timeline:reader()
      local function areas()
         local names = {}
         for _, row in ipairs(core.rows(reader, { "area" })) do
            names[row.area] = true
         end
         return names
      end
      assert.same({ ["00000000"] = true, ["00000001"] = true, ["00000002"] = true }, areas())
      command.file("named.txt", mapping:sub(1, 60)) -- main, and a part of f
      append("named.txt.BIN", bytes:sub(241, 480))
      assert.is_true(trace:refresh())
      assert.same({ main = true, ["00000001"] = true, ["00000002"] = true }, areas())
      append("named.txt", mapping:sub(61))
      append("named.txt.BIN", bytes:sub(481))
      assert.is_true(trace:refresh())
      assert.same({ main = true, f = true, g = true }, areas())
      assert.same({}, trace.warnings)
      assert.is_false(trace:refresh())
   end)
end)

describe("the areas of a live export", function()
   -- Opens a binary timeline without a main file, and returns a function that writes more of it.
   local function growing(name, list)
      command.run("rm -f " .. name:match "^[^.]+" .. ".*")
      local bytes = records.bytes(list, records.new)
      command.file(name .. ".BIN", bytes:sub(1, 24))
      local trace = assert(profio.open(in_folder(name .. ".BIN"), { live = true,
         bin_version = "1.1" }))
      local reader, at = trace.events:reader(), 24
      assert(core.rows(reader, { "area" }))
      return trace, function(main, text)
         if main then
            append(main, text)
         end
         append(name .. ".BIN", bytes:sub(at + 1, at + 24))
         at = at + 24
         assert.is_true(trace:refresh())
         local rows = core.rows(reader, { "area" })
         return rows[1] and rows[1].area
      end
   end

   it("keep the functions of lines that come later", function()
      local trace, more = growing("lined", { { handle = 1, event = "enter", time = 1 },
         { handle = 1, event = "leave", time = 2 }, { handle = 1, event = "enter", time = 3 } })
      more("lined.txt", "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\n00000001,f,\n")
      more("lined.txt", "10000001,x = 1;,5\n")
      local parents = {}
      for row in trace.areas:records() do
         parents[row.name] = row.parent or "none"
      end
      assert.same({ f = "none", ["x = 1;"] = "f" }, parents)
      trace:close()
   end)

   it("have states that an event had before the mapping", function()
      local list = {}
      for i, value in ipairs { 5, 5, 9 } do
         list[i] = { handle = 0x30000001, event = "enter", data = value, time = i }
      end
      local trace, more = growing("stated", list)
      more("stated.txt", "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%\n20000001,mode,\n"
         .. "30000001,FIVE,5\n30000001,SEVEN,7\n")
      assert.equal("mode=9", more())
      trace:close()
   end)

   it("come from an XML file once it is complete", function()
      local list = {}
      for i = 1, 4 do
         list[i] = { handle = 1, event = "enter", time = i }
      end
      local trace, more = growing("later.xml", list)
      local xml = "<?xml version='1.0'?>\n<P><MAPPING><AREA><NAME>f</NAME><HANDLE>0x1</HANDLE>"
         .. "</AREA></MAPPING></P>\n"
      assert.equal("00000001", more("later.xml", xml:sub(1, 55)))
      assert.equal("00000001", more(nil))
      assert.equal("f", more("later.xml", xml:sub(56)))
      assert.same({}, trace.warnings)
      trace:close()
   end)
end)

describe("a live XML export", function()
   it("gives its rows once it is complete", function()
      for seed = 1, 10 do
         local trace = records.random(seed)
         local xml = records.xml(trace, "core")
         local name = seed > 5 and "events" or "timeline"
         local rows, warnings = grow("rows.xml", xml, random_steps(#xml, 100, #xml // 3), {}, name)
         local expected <close> = assert(profio.open { data = xml })
         local list = expected:table(name):rows(table.unpack(columns))
         list[#list] = list[#list].event ~= "end" and list[#list] or nil
         assert.same(list, rows)
         assert.same({}, warnings)
      end
   end)
end)

describe("a live Text1 file", function()
   it("gives complete rows as they are written, whatever sections follow", function()
      for seed = 1, 30 do
         math.randomseed(seed)
         local list = random_events(120)
         local first, rest = table.move(list, 1, 60, 1, {}), table.move(list, 61, 120, 1, {})
         local text = mapping .. header .. text_of(first)
            .. (seed % 3 == 0 and "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\n00000009,late,\n"
               or "") .. (seed % 3 == 0 and header or "") .. text_of(rest)
         if seed % 2 == 0 then
            text = text:gsub("\n", "\r\n")
         end
         local rows, warnings = grow("rows.txt", text, random_steps(#text, #mapping // 2, 60),
            {}, seed > 15 and "events")
         assert.same(whole({ data = text }, seed > 15 and "events"), rows)
         assert.same({}, warnings)
      end
   end)

   it("gives the rows of a binary timeline that is created later", function()
      for seed = 1, 8 do
         math.randomseed(seed)
         command.run "rm -f main.*"
         local bytes = records.bytes(random_events(200), seed % 2 == 0 and records.old or
            records.new)
         local is_cut = seed > 4 -- areas come with the records
         command.file("main.txt", is_cut and mapping:sub(1, 60) or mapping)
         local trace <close> = assert(profio.open(in_folder "main.txt", { live = true }))
         for _, name in ipairs { "timeline", "events" } do
            assert.is_truthy(trace:table(name))
         end
         local name = seed % 4 < 2 and "timeline" or "events"
         local reader, all = trace:table(name):reader(), {}
         assert.same({}, core.rows(reader, columns))
         for at = 0, #bytes, 700 do
            append("main.txt.BIN", bytes:sub(at + 1, at + 700))
            if is_cut and at == 0 then
               append("main.txt", mapping:sub(61))
            end
            assert.is_true(trace:refresh())
            local rows = core.rows(reader, columns)
            table.move(rows, 1, #rows, #all + 1, all)
         end
         local expected = whole(in_folder "main.txt", name)
         assert.equal(200, #expected)
         assert.same(expected, all)
         assert.same(expected, trace:table(name):rows(table.unpack(columns)))
         assert.same({}, trace.warnings)
         assert.equal(seed % 2 == 0 and "1.0" or "1.1", trace.info.version)
      end
   end)

   it("gives the rows of its sections as they are written", function()
      local text = "* CONTEXTS %NAME%,%HANDLE%\nidle,0x0\nmain task,0x1\n" .. mapping
         .. "* STATISTICS(Functions) %HANDLE%,%VALUE%,%COUNT%\n00000000,,11\n00000001,,22\n"
         .. header .. text_of(random_events(4))
         .. "* STATISTICS(Functions) CONTEXT(idle) %HANDLE%,%VALUE%,%COUNT%\n00000002,,333\n"
         .. "* CONTEXTS %NAME%,%HANDLE%\nlate,0x2\n"
      command.run "rm -f sections.*"
      command.file("sections.txt", text:sub(1, 60))
      local trace <close> = assert(profio.open(in_folder "sections.txt", { live = true }))
      local statistics, contexts = trace.statistics:reader(), trace.contexts:reader()
      local found = {}
      for at = 60, #text + 7, 7 do -- most steps end within a line
         for _, row in ipairs(core.rows(statistics, { "handle", "count" })) do
            found[#found + 1] = ("%x %d"):format(row.handle, row.count)
         end
         for _, row in ipairs(core.rows(contexts, { "name" })) do
            found[#found + 1] = row.name
         end
         append("sections.txt", text:sub(at + 1, at + 7))
         trace:refresh()
      end
      assert.same({ "idle", "main task", "0 11", "1 22", "2 333", "late" }, found)
      assert.same({}, trace.warnings)
   end)

   it("gives the raw lines as they are written", function()
      local text = mapping .. header .. text_of(random_events(30))
      command.run "rm -f raw.*"
      command.file("raw.txt", text:sub(1, 100))
      local trace <close> = assert(profio.open(in_folder "raw.txt", { live = true }))
      local reader, parts = trace.raw:reader(), {}
      for at = 100, #text, 37 do
         for _, row in ipairs(core.rows(reader, { "bytes" })) do
            parts[#parts + 1] = row.bytes
         end
         append("raw.txt", text:sub(at + 1, math.min(at + 37, #text)))
         trace:refresh()
      end
      for _, row in ipairs(core.rows(reader, { "bytes" })) do
         parts[#parts + 1] = row.bytes
      end
      assert.equal(text, table.concat(parts))
   end)
end)

-- A program that records in another process. Through a ring it writes ten events, and the next ten
-- when the follower has written these and the names of the columns into the file `shown`. Without a
-- ring the file gets its name when it is complete.
local function writer(name, options)
   return command.file("writer.lua", ([[
      package.path = "%s/lua/?.lua;%s/lua/?/init.lua;%s/?.lua;" .. package.path
      package.cpath = "%s/?.so;" .. package.cpath
      local profio = require "profio"
      local wait = require "spec.support.wait"
      local has_ring = %s
      local function lines_shown()
         local count = 0
         for _ in io.lines "%s" do
            count = count + 1
         end
         return count
      end
      local w = assert(profio.create("%s", { format = "winidea", line_end = "lf", %s }))
      for i = 1, 60 do
         w:write { time = i, event = i %% 2 == 1 and "enter" or "leave", area = "work", core = 0 }
         if i %% 10 == 0 then
            w:flush()
            assert(not has_ring or i == 60
               or wait.until_true(function() return lines_shown() > i end))
         end
      end
      w:close()
   ]]):format(command.root, command.root, command.root, command.build,
      options:find "ring" ~= nil, in_folder "shown", in_folder(name), options))
end

describe("--follow of a winIDEA export", function()
   local clock = moved_clock.is_there() and "env " .. moved_clock.words() or ""

   for what, ring in pairs { ["without a ring"] = "",
      ["with a ring"] = "ring = { size = 65536 }," } do
      for dialect, name in pairs { bin = "w.BIN", text1 = "w.txt" } do
         it(("shows the rows of a %s writer %s"):format(dialect, what), function()
            command.run "rm -f w.* && : >shown"
            local script = writer(name, ring .. (" dialect = '%s'"):format(dialect))
            local text, status, errors = command.run(("lua5.4 %s & "
               .. "wait_until '[ -s %s ] || ! kill -0 '$!; timeout 600 %s %s --follow --format "
               .. "winidea --table timeline --output csv --columns time,event --top 60 %s >shown; "
               .. "s=$?; wait; cat shown; exit $s"):format(script, name, clock, command.analyze,
               name))
            assert.same({ 0, "" }, { status, errors })
            local expected = { "time,event" }
            for i = 1, 60 do
               expected[i + 1] = ("%d,%s"):format(i, i % 2 == 1 and "enter" or "leave")
            end
            assert.equal(table.concat(expected, "\n") .. "\n", text)
         end)
      end
   end
end)
