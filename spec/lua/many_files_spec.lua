-- Traces of many files: the memory of a reader does not grow with their number, and a failure names
-- the file in which it is.
--
-- Extra: inputs of hundreds of megabytes, or of thousands of files.
-- Unsanitized: limits of memory, which the sanitizers change.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"
local records = require "spec.support.winidea"
local xpp = require "spec.support.xpp_builder"

local kinds = {
   winidea = records.bytes({ { handle = 1, event = "enter", core = 0, time = 1 },
      { handle = 2, event = "enter", core = 0, time = 2 },
      { handle = 2, event = "leave", core = 0, time = 5 },
      { handle = 1, event = "leave", core = 0, time = 9 } }, records.new),
   xpp = (xpp.table { { 1, 4, "i", "MAIN", 10 }, { 1, 5, "I", "MAIN", 10 },
      { 1, 8, "O", "MAIN", 11 }, { 1, 10, "o", "MAIN", 12 } }),
}

-- Writes `count` equal files and returns a pattern of the shell for them.
local function files(kind, count)
   local folder = ("%s/many_%s_%d"):format(command.folder, kind, count)
   disk.fresh(folder)
   for i = 1, count do
      local file <close> = assert(io.open(("%s/f%04d"):format(folder, i), "wb"))
      file:write(kinds[kind])
   end
   return folder .. "/f*"
end

-- Runs the command and prints the most memory of its process, in KB, as the last line.
local child = [[
   local status = require("profio.cli").main(arg, io.stderr)
   for line in io.lines "/proc/self/status" do
      local most = line:match "^VmHWM:%s*(%d+)"
      if most then io.stderr:write(most, "\n") end
   end
   os.exit(status)
]]

local function peak(kind, count, mode)
   local program = command.file("many_files.lua", child)
   local _, status, errors = command.run(("%s lua5.4 %s %s --format %s %s >/dev/null")
      :format(command.in_tree, program, mode, kind:match "^%l+", files(kind, count)))
   assert.equal(0, status, errors)
   return tonumber(errors:match "(%d+)%s*$")
end

for kind in pairs(kinds) do
   for _, report in ipairs { "calls", "statistics" } do
      it(("--report %s opens the files of %s one after the other"):format(report, kind), function()
         local mode = "--output csv --report " .. report
         local each = (peak(kind, 400, mode) - peak(kind, 50, mode)) / 350
         assert.is_true(each < 50, ("%.0f KB for each further file"):format(each))
      end)
   end
end

it("a profile of gmon files takes memory for their names", function()
   kinds.gmon = require("spec.support.gmon_builder").new("<", 8):header():histogram { low = 0x1000,
      high = 0x1010, bins = { 7, 1, 0, 0 } }:bytes()
   local each = (peak("gmon", 2400, "--report flat") - peak("gmon", 400, "--report flat")) / 2000
   assert.is_true(each < 1.5, ("%.1f KB for each further file"):format(each))
end)

it("a trace of packed files takes memory for 128 MiB of what is unpacked", function()
   local list = {}
   for i = 1, 40000 do
      list[i] = { handle = 1, event = i % 2 == 1 and "enter" or "leave", core = 0, time = i }
   end
   local plain = command.file("many_packed", records.bytes(list, records.new))
   kinds.winidea_packed = command.run("gzip -1 <" .. plain)
   local size = lfs.attributes(plain, "size")
   assert.is_true(size > 800000 and size < 1 << 20)
   local mode = "--table timeline --columns time --top 3"
   local each = (peak("winidea_packed", 300, mode) - peak("winidea_packed", 200, mode)) / 100
   assert.is_true(each < 50, ("%.0f KB for each further file"):format(each))
end)

it("a merge of pprof files takes memory for what is in them", function()
   local trace <close> = assert(profio.open({ data = kinds.winidea }, { format = "winidea" }))
   kinds.pprof = assert(trace:export "pprof")
   local mode = ("--merge -o %s/many_merged.pb.gz"):format(command.folder)
   local each = (peak("pprof", 1200, mode) - peak("pprof", 200, mode)) / 1000
   assert.is_true(each < 20, ("%.0f KB for each further file"):format(each))
end)

it("a note that many files have is shown for ten of them, and in whole by a check", function()
   for count = 10, 12 do
      local pattern = files("winidea", count)
      local _, status, errors = command.run("profio --report statistics " .. pattern)
      local _, lines = errors:gsub("note: the main file .- %[winidea%-no%-names%]\n", "")
      assert.same({ 0, 10 }, { status, lines })
      assert.equal(({ [11] = "1 more file, ", [12] = "2 more files, " })[count],
         errors:match "\nprofio: this note also applies to (.*)which %-%-check lists %[[%l-]+%]\n$")
      local _, listed = command.run("profio --check " .. pattern):gsub("%[winidea%-no%-names%]", "")
      assert.equal(count, listed)
   end
end)

it("files that were not read yet are not read after close", function()
   local list = {}
   for i = 1, 3 do
      list[i] = { data = kinds.winidea }
   end
   local trace = assert(profio.open(list, { format = "winidea" }))
   local rows = 0
   local ok, message = pcall(function()
      for _ in trace.events:each "time" do
         rows = rows + 1
         trace:close()
      end
   end)
   assert.is_false(ok)
   assert.matches("trace is closed", message)
   assert.equal(4, rows)
end)

it("a small file is read as it was when it was opened", function()
   local pattern = files("winidea", 2)
   local list = { (pattern:gsub("f%*$", "f0001")), (pattern:gsub("f%*$", "f0002")) }
   local trace <close> = assert(profio.open(list, { format = "winidea" }))
   assert(io.open(list[2], "wb")):close()
   assert.equal(8, trace.timeline:count())
end)

it("a failure names the file in which it is", function()
   files("winidea", 3)
   local list = {}
   for i = 1, 3 do
      list[i] = ("%s/many_winidea_3/f%04d"):format(command.folder, i)
   end
   local file <close> = assert(io.open(list[2], "wb"))
   file:write(kinds.winidea:rep(1000)) -- of smaller files the trace has a copy
   file:flush()
   local trace <close> = assert(profio.open(list, { format = "winidea" }))
   assert(io.open(list[2], "wb")):close()
   local ok, message = pcall(trace.events.count, trace.events)
   assert.is_false(ok)
   assert.matches("f0002: winidea: the file shrank", message)
end)

describe("of a trace of more files than stay mapped", function()
   local gmon = require "spec.support.gmon_builder"
   local folder = command.folder .. "/many_sleeping"
   local list = {}

   local COUNT, CUT = 4200, 4150
   local BINS = 8200 -- smaller files are copied, not mapped

   -- Writes the files; number CUT ends inside a record.
   lazy_setup(function()
      disk.fresh(folder)
      local bins = {}
      for i = 1, BINS do
         bins[i] = i % 2
      end
      local histogram = gmon.new("<", 8):header()
         :histogram({ low = 0x1000, high = 0x1000 + 4 * BINS, bins = bins }):bytes()
      for i = 1, COUNT do
         local bytes = histogram .. gmon.new("<", 8):arc(0x1000, 0x1008, i):bytes()
         list[i] = ("%s/gmon.%d"):format(folder, i)
         local file <close> = assert(io.open(list[i], "wb"))
         file:write(i == CUT and bytes .. "\1\2\3" or bytes)
      end
   end)

   local function mapped()
      local count = 0
      for line in io.lines "/proc/self/maps" do
         count = count + (line:find("/many_sleeping/", 1, true) and 1 or 0)
      end
      return count
   end

   it("only some are mapped, before and after all are read", function()
      local trace <close> = assert(profio.open(list))
      assert.is_true(mapped() <= 4096, mapped())
      local rows, counts, last = 0, 0, nil
      for count, file in trace.arcs:each("count", "file") do
         rows, counts, last = rows + 1, counts + count, file
      end
      assert.equal(COUNT, rows)
      assert.equal(COUNT * (COUNT + 1) // 2, counts)
      assert.equal(list[COUNT], last)
      assert.is_true(mapped() <= 4096, mapped())
   end)

   it("header fields, sizes, schemas and warnings are known as of few files", function()
      local trace <close> = assert(profio.open(list))
      assert.equal(COUNT, trace.info.arcs)
      assert.equal(COUNT, trace:row_count "arcs")
      assert.equal(COUNT, #trace:facts())
      local warnings = trace:check()
      assert.equal(1, #warnings)
      assert.equal("gmon-truncated", warnings[1].code)
      assert.equal(list[CUT], warnings[1].path)
      assert.equal(1, #trace.warnings)
   end)

   it("each can be read several times, also while it is read", function()
      local trace <close> = assert(profio.open(list))
      local rows = 0
      for _ in trace.arcs:each "count" do
         rows = rows + 1
         if rows % 2000 == 0 then
            assert.equal(COUNT * BINS, trace.histogram:count())
         end
      end
      assert.equal(COUNT, rows)
   end)

   it("a file that changes between opening and reading is an error", function()
      local trace <close> = assert(profio.open(list))
      local file <close> = assert(io.open(list[COUNT], "ab"))
      file:write "\1"
      file:close()
      local ok, message = pcall(trace.arcs.count, trace.arcs)
      assert.is_false(ok)
      assert.matches("gmon.4200: gmon: the file has changed since it was opened", message, 1, true)
   end)
end)
