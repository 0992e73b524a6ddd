-- Which files are traces, and which are not.
--
-- Costly: many commands.

local claims = require "spec.support.claims"
local command = require "spec.support.command"
local lfs = require "lfs"
local look_alikes = require "spec.support.look_alikes"
local profio = require "profio"

-- The files in a folder and in those below: { path, name }.
local function files_below(folder, list)
   list = list or {}
   for name in lfs.dir(folder) do
      local path = folder .. "/" .. name
      local mode = lfs.attributes(path, "mode")
      if mode == "directory" and name:sub(1, 1) ~= "." then
         files_below(path, list)
      elseif mode == "file" then
         list[#list + 1] = { path = path, name = name }
      end
   end
   return list
end

local function is_refused(bytes)
   assert.equal("refused", (claims.outcome { data = bytes }))
end

-- A file that is not read further still says whose it is.
local function claimed_by(path)
   local trace <close>, message = profio.open(path)
   return trace and trace.format or message:match "^[^:]*: (%w+): " or message
end

describe("detection", function()
   for _, class in ipairs(look_alikes.classes) do
      it("refuses files of the class " .. class, function()
         for bytes in look_alikes.of(class, 1, 300) do
            local outcome, code, message = claims.outcome { data = bytes }
            assert.equal("refused", outcome, ("%s: %q"):format(code, bytes:sub(1, 200)))
            assert.equal("format", code, message)
            assert.matches(#bytes == 0 and "empty" or "format = NAME", message)
         end
      end)
   end

   it("says what converts older profiles of pprof, and that its reports are none", function()
      local function message_of(bytes)
         local trace, message, code = profio.open { data = bytes, path = "x.prof" }
         assert.is_nil(trace)
         assert.equal("format", code)
         return message
      end
      local older = { "heap profile:    1: 40 [     2: 80] @ heap/1048576\n 1: 40 [2: 80] @ 0x40\n",
         "goroutine profile: total 2\n1 @ 0x43a0b6\n", "threadcreate profile: total 7\n7 @\n",
         "--- contention:\ncycles/second = 1\n", "--- mutex:\ncycles/second=1\n",
         "--- contentionz 1 ---\ncycles/second = 1\n" }
      for _, form in ipairs { "<I4", ">I4", "<I8", ">I8" } do
         older[#older + 1] = form:rep(8):pack(0, 3, 0, 10000, 0, 5, 1, 0x401000)
      end
      for _, bytes in ipairs(older) do
         assert.matches("go tool pprof %-proto %-output=x.pb.gz PROGRAM x.prof converts it",
            message_of(bytes))
      end
      for _, text in ipairs { "File: prog\nType: cpu\nShowing nodes accounting for 7, 100% of 7\n",
         "PeriodType: cpu nanoseconds\nPeriod: 10000000\nSamples:\n",
         "File: prog\nType: cpu\n-----------+------------\n      7   leaf\n",
         "--- symbol\nbinary=/bin/x\n---\n--- heap\n", "--- heapprofile\n" }
      do
         assert.matches("the profile from which it was made.*go tool pprof %-proto",
            message_of(text))
      end
      assert.matches("not a trace of a known format", message_of "--- heap.c\n+++ heap.c\n")
   end)

   it("refuses this project's own texts and sources", function()
      local pipe <close> = assert(io.popen
         "ls *.md Makefile csrc/*/*/*.c csrc/*/*.h lua/profio/*.lua")
      for path in pipe:lines() do
         assert.equal("refused", (claims.outcome(path)), path)
      end
      if lfs.attributes("../shared/formats", "mode") == "directory" then
         for _, file in ipairs(files_below("../shared/formats", files_below "../shared/seeds")) do
            assert.equal("refused", (claims.outcome(file.path)), file.path)
         end
      end
   end)

   it("claims the seeds of the fuzzers", function()
      -- a text without times has no name either; the others are cut in their first record
      local unclaimed = { ["br/odd"] = true, ["xpp/text-no-times"] = true,
         ["xpp/settings-alone"] = true,
         ["winidea/bin-live-cut"] = true }
      local others = { ["xpp/foxdbe-other-names"] = "dbf" } -- nothing in it is told by its name
      local count = 0
      for _, format in ipairs { "br", "dbf", "dcpi", "folded", "gmon", "pprof", "winidea",
         "xpp" } do
         for _, file in ipairs(files_below("spec/fuzz/corpus/" .. format)) do
            local is_found = file.name:match "^%x+$" and #file.name == 40 -- by a fuzzer: any bytes
            if not is_found and not unclaimed[format .. "/" .. file.name] then
               assert.equal(others[format .. "/" .. file.name] or format, claimed_by(file.path),
                  file.path)
               count = count + 1
            end
         end
      end
      assert.is_true(count > 50)
   end)

   it("claims the corpus", function()
      if lfs.attributes("../shared/corpus", "mode") ~= "directory" then
         pending "no ../shared/corpus here"
         return
      end
      local expected = { dbf = "dbf", gmon = "gmon", out = "gmon", sum = "gmon" }
      local count = 0
      for _, file in ipairs(files_below("../shared/corpus", files_below "../shared/cases")) do
         local format = expected[file.name:match "%.(%w+)$"]
            or file.name:match "^winidea%-.*%.txt$" and "winidea"
         if format then
            assert.equal(format, claimed_by(file.path), file.path)
            count = count + 1
         end
      end
      assert.is_true(count > 100)
   end)
end)

describe("a format that is named", function()
   it("is used if no format is recognised", function()
      local rows = "7,I,clk\n8,I,rst\n9,O,led\n"
      is_refused(rows)
      local trace <close> = assert(profio.open({ data = rows }, { format = "xpp" }))
      assert.same({ { op = "I", call = "clk" }, { op = "I", call = "rst" },
         { op = "O", call = "led" } }, trace.entries:rows("op", "call"))
   end)

   it("reads a trace after other text", function()
      local text = "exported\n* INFO %TOTAL_TIME%\n10\n* TIMELINE %HANDLE%,%EVENT%,%TIME%\n1,E,5\n"
      is_refused(text)
      local trace <close> = assert(profio.open({ data = text }, { format = "winidea" }))
      assert.equal(1, trace.timeline:count())
      local xml = "<a><AREA><NAME>f</NAME><HANDLE>1</HANDLE></AREA></a>"
      is_refused(xml)
      local areas <close> = assert(profio.open({ data = xml }, { format = "winidea" }))
      assert.equal("f", areas.areas:rows()[1].name)
   end)

   it("is proposed by the command", function()
      command.file("pins.csv", "7,I,clk\n8,I,rst\n9,O,led\n")
      local _, status, errors = command.run "profio pins.csv"
      assert.equal(1, status)
      assert.matches("pins.csv: not a trace of a known format .*%-%-format NAME", errors)
      _, status = command.run "profio --format xpp --table entries pins.csv"
      assert.equal(0, status)
   end)
end)

describe("check-detection", function()
   it("counts files taken for a trace, and fails if one is opened", function()
      command.run "rm -rf tree && mkdir tree && cp gmon.out tree/a.bin && echo text > tree/b.txt"
      local function run(arguments)
         local pipe = assert(io.popen("lua5.4 -e 'package.path = \"./?.lua;lua/?.lua;" ..
            "lua/?/init.lua;\" .. package.path package.cpath = \"" ..
            (os.getenv "PROFIO_BUILD" or "build") .. "/?.so;\" .. package.cpath' " ..
            "spec/support/check_detection.lua " .. arguments))
         local text = pipe:read "a"
         return text, select(3, pipe:close())
      end
      local text, status = run("100 7 " .. command.folder .. "/tree")
      assert.equal(1, status)
      assert.matches("clean as gmon: .*a.bin\n", text)
      assert.matches("seed 7: 2 files of 2 suffixes; false claims: 1 opened without damage, 0",
         text)
      command.run "rm tree/a.bin"
      text, status = run("100 7 " .. command.folder .. "/tree")
      assert.equal(0, status)
      assert.matches("false claims: 0 opened without damage, 0 with damage", text)
   end)
end)
