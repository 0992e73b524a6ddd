-- Every stream has a ring: what it writes is what is written without one, and what a killed writer
-- left is all there.
--
-- Costly: many commands, or large inputs.
-- Tags: user, stressed.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"

local build = command.build

local folder = command.folder .. "/streams"

-- Two functions, and every third event writes a variable.
local written = [[i * 100, i % 3 == 0 and "write" or i % 2 == 0 and "leave" or "enter",
   i % 3 == 0 and 0x20000000 or 16 + i % 3, i % 3 == 0 and i or nil]]

local streams = {
   { name = "a.br", given = [[format = "br"]], columns = [["module", "line", "spent"]],
     row = [["M" .. i % 7 .. ".BR", i, i * 10]], shows = { "module", "line", "spent" } },
   { name = "b.prf", given = [[format = "xpp"]],
     columns = [["thread", "time", "op", "call", "line", "params"]],
     row = [[1, i * 1000000, i % 2 == 0 and "o" or "i", "FN" .. i // 2 % 7, i,
        i % 5 == 0 and ("p"):rep(i % 40) or nil]],
     shows = { "time", "op", "call", "line", "params" } },
   { name = "c.prf", given = [[format = "xpp", form = "deldbe", header_row = true]],
     columns = [["thread", "time", "op", "call", "line"]],
     row = [[1, i * 1000000, i % 2 == 0 and "o" or "i", "FN" .. i // 2 % 7, i]],
     shows = { "time", "op", "call", "line" } },
   { name = "d.prf", given = [[format = "xpp", packets = true, flush_every = 300]],
     columns = [["thread", "time", "op", "call", "line", "params"]],
     row = [[1, i * 1000000, i % 2 == 0 and "o" or "i", "FN" .. i // 2 % 7, i,
        i % 5 == 0 and ("p"):rep(i % 40) or nil]],
     shows = { "time", "op", "call", "line", "params" } },
   { name = "e.BIN", given = [[format = "winidea", dialect = "bin"]],
     columns = [["time", "event", "handle", "value"]],
     row = written,
     shows = { "time", "event", "handle", "value" } },
   { name = "f.txt", given = [[format = "winidea", dialect = "text1"]],
     columns = [["time", "event", "handle", "value"]],
     row = written,
     shows = { "time", "event", "handle", "value" } },
   { name = "g.txt", given = [[format = "winidea", dialect = "text1", timeline_binary = true,
     total_time = 100000]],
     columns = [["time", "event", "handle", "value"]],
     row = written,
     shows = { "time", "event", "handle", "value" } },
   { name = "h.txt", given = [[format = "winidea", dialect = "text1", timeline_binary = true]],
     columns = [["time", "event", "area"]],
     row = [[i * 100, i % 2 == 0 and "leave" or "enter", "f" .. i // 2 % 7]],
     shows = { "time", "event", "area" } },
}

-- Run a writer in a process of its own: `ring` in its options, and what it does after each record.
local function run(stream, ring, after, at_last)
   disk.fresh(folder)
   local script = ([[
      package.path = "ROOT/lua/?.lua;ROOT/lua/?/init.lua;" .. package.path
      package.cpath = "BUILD/?.so;" .. package.cpath
      local w = assert(require "profio".create("NAME", { GIVEN RING }))
      local emit = w:emitter(COLUMNS)
      for i = 1, 1000 do
         local _, message = emit(ROW)
         assert(not message, message)
         AFTER
      end
      LAST]]):gsub("%u%u+", { ROOT = command.root, BUILD = build, GIVEN = stream.given,
      NAME = folder .. "/" .. stream.name, RING = ring, COLUMNS = stream.columns,
      ROW = stream.row, AFTER = after, LAST = at_last })
   command.file("stream.lua", script)
   return command.run "lua5.4 stream.lua"
end

local kill = [[os.execute("kill -9 " .. io.open("/proc/self/stat"):read "n")]]

-- Returns the existing files by name.
local function files()
   local found = {}
   for name in lfs.dir(folder) do
      if lfs.attributes(folder .. "/" .. name, "mode") == "file" then
         found[name] = command.read(folder .. "/" .. name)
      end
   end
   return found
end

-- Adds what a writer leaves when it is killed while it writes: the last bytes of each file once
-- more, and in a table also the count of records that come.
local function add_torn_bytes()
   local last
   for name, bytes in pairs(files()) do
      local is_packet = name:match "%d%d%d%d%d%d$"
      if is_packet and (not last or name > last) then
         last = name
      end
      if not name:match "%.ring$" and not is_packet then
         command.file("streams/" .. name, bytes .. bytes:sub(-100))
      end
      if bytes:byte() == 0x30 then
         local file <close> = assert(io.open(folder .. "/" .. name, "r+b"))
         file:seek("set", 4)
         file:write(("<I4"):pack(("<I4"):unpack(bytes, 5) + 3))
      end
   end
   if last then
      local bytes = command.read(folder .. "/" .. last)
      command.file("streams/" .. last, bytes .. bytes:sub(-100))
   end
end

local function rows_of(stream, name)
   local trace <close> = assert(profio.open(folder .. "/" .. (name or stream.name)))
   local codes = {}
   local rows = trace:rows(table.unpack(stream.shows))
   for _, warning in ipairs(trace.warnings) do -- a .BIN alone has no names
      codes[#codes + 1] = warning.code ~= "winidea-no-names" and warning.code or nil
   end
   return rows, codes, trace.info.lost
end

describe("an emitter of each format", function()
   local more = { dbf = { fields = "NAME C(20)" }, dcpi = { header = "image 1\nepoch 9805191724\n"
      .. "platform walnut\nevent cycles\nperiod 4096\ncpuspeed 333" } }

   local function check(path, given)
      local w <close> = assert(profio.create(path, given))
      assert.error_matches(function() w:emitter "nope" end, "no column 'nope'")
      assert.error_matches(function() w:emitter("nope", { "nope" }) end, "no table 'nope'")
   end

   it("refuses a column that its table does not have, before a record comes", function()
      local count = 0
      for _, format in ipairs(profio.formats()) do
         if format.write_options then
            local given = more[format.name] or {}
            given.format = format.name
            check(nil, given)
            count = count + 1
         end
      end
      assert.is_true(count >= 7)
   end)

   it("refuses it through a ring, too", function()
      for _, stream in ipairs(streams) do
         disk.fresh(folder)
         check(folder .. "/" .. stream.name,
            load(("return { %s, ring = { size = '64K' } }"):format(stream.given))())
      end
   end)
end)

describe("the ring of a stream", function()
   for _, stream in ipairs(streams) do
      it("writes the same as without one: " .. stream.given, function()
         local _, status, errors = run(stream, "", "", "assert(w:close())")
         assert.same({ 0, "" }, { status, errors })
         local want = files()
         _, status, errors = run(stream, ', ring = { size = "64K" }',
            "if i % 170 == 0 then assert(w:flush()) end", "assert(w:close())")
         assert.same({ 0, "" }, { status, errors })
         local got = files()
         for name, bytes in pairs(want) do
            assert.is_true(bytes == got[name], name .. " differs")
            got[name] = nil
         end
         assert.same({}, got)
      end)

      it("has all that a killed writer recorded: " .. stream.given, function()
         local _, status = run(stream, "", "", "assert(w:close())")
         assert.equal(0, status)
         local want, notes = rows_of(stream)
         assert.same({ 1000, {} }, { #want, notes })
         _, status = run(stream, ', ring = { size = "64K" }',
            "if i % 250 == 0 and i < 1000 then assert(w:flush()) end", kill)
         assert.equal(137, status)
         add_torn_bytes()
         local got, codes, lost = rows_of(stream)
         assert.same(want, got)
         assert.same({ "ring-recovered" }, codes)
         assert.equal(0, lost)
         for name in pairs(files()) do -- a file beside the main one leads to it
            if name:match "%.BIN$" or name:match "%d%d%d%d%d%d$" then
               assert.same(want, (rows_of(stream, name)))
            end
         end
      end)
   end

   it("says when a file is shorter than it was", function()
      local stream = streams[#streams]
      for _, name in ipairs { stream.name, stream.name .. ".BIN" } do
         run(stream, ', ring = { size = "64K" }', "if i == 500 then assert(w:flush()) end", kill)
         local bytes = command.read(folder .. "/" .. name)
         command.file("streams/" .. name, bytes:sub(1, 24))
         local _, codes = rows_of(stream)
         assert.matches(",ring%-damaged,", "," .. table.concat(codes, ",") .. ",")
      end
   end)

   it("refuses a ring of a format that is written whole", function()
      local stream = streams[#streams]
      run(stream, ', ring = { size = "64K" }', "if i == 500 then assert(w:flush()) end", kill)
      local name = stream.name .. ".ring"
      local ring, count = command.read(folder .. "/" .. name):gsub("winidea\0", "pprof\0a\0", 1)
      assert.equal(1, count)
      command.file("streams/" .. name, ring)
      local trace <close> = assert(profio.open(folder .. "/" .. stream.name))
      local words = {}
      for _, warning in ipairs(trace.warnings) do
         words[#words + 1] = warning.message
      end
      assert.matches("format 'pprof', which no ring serves", table.concat(words, "\n"), 1, true)
   end)

   it("has the areas once that a killed writer recorded", function()
      for _, stream in ipairs { streams[6], streams[#streams] } do
         local given = stream.given
         run({ name = stream.name, given = given, columns = [["time", "event", "area"]],
            row = [[i * 100, i % 2 == 0 and "leave" or "enter", "f" .. i * i // 2 % 7]] },
            ', ring = { size = "64K" }', "if i == 500 then assert(w:flush()) end", kill)
         local trace <close> = assert(profio.open(folder .. "/" .. stream.name))
         local seen = {}
         for area in trace:group("area"):aggregate { "n = count" }:each "area" do
            assert.is_nil(seen[area])
            seen[area] = true
         end
      end
   end)

   it("tries a record before it takes it, also where it goes beside the main file", function()
      local path = command.folder .. "/tried.txt"
      local w <close> = assert(profio.create(path, { format = "winidea", dialect = "text1",
         timeline_binary = true, ring = { size = "64K" } }))
      assert(w:write { time = 1, event = "enter", area = "f" })
      assert.error_matches(function()
         w:write { time = 2, event = "nonsense", area = "f" }
      end, "found nonsense")
      assert(w:write { time = 3, event = "leave", area = "f" })
      w:close()
      local trace <close> = assert(profio.open(path))
      local seen = {}
      for time, event, area in trace:each("time", "event", "area") do
         seen[#seen + 1] = ("%d %s %s"):format(time, event, area)
      end
      assert.same({ "1 enter f", "3 leave f" }, seen)
   end)
end)
