-- Files with the names that the pages of help use in their commands; those of README.md are in
-- examples/.

local command = require "spec.support.command"
local programs = require "spec.support.programs"

local page_files = {}

-- The files of the snippets that profio itself writes.
local fixtures = [[
local profio = require "profio"

local xbase = assert(profio.create("TEST.PRF", { format = "xpp" }))
for i = 1, 10 do
   local time = i * 20000000
   xbase:write { thread = 1, time = time, op = "i", call = "MAIN", line = 1 }
   xbase:write { thread = 1, time = time, op = "i", call = "DBSEEK", line = 2, params = "K" .. i }
   xbase:write { thread = 1, time = time + i * 1000000, op = "o", call = "DBSEEK", line = 2 }
   xbase:write { thread = 1, time = time + 12000000, op = "o", call = "MAIN", line = 1 }
end
assert(xbase:close())

local customers = assert(profio.create("customer.dbf", { format = "dbf",
   fields = "NAME C(20), SINCE D, NOTE M" }))
customers:write { NAME = "Ada", SINCE = "1843-07-01", NOTE = "first" }
assert(customers:close())

local business = assert(profio.create("test.br", { format = "br" }))
for line = 1, 5 do
   business:write { module = "main.wb", line = line * 10, spent = line * 1000000 }
end
assert(business:close())

for _, event in ipairs { "cycles", "imiss" } do
   local samples = assert(profio.create(event .. ".dcpi", { format = "dcpi",
      header = "image 19970328081403c0c18b\nepoch 9805191724\nplatform walnut\nevent " .. event
      .. "\nperiod 4096\ncpuspeed 333\ntstart 000120000000\ntsize 65536\npath /usr/bin/prog" }))
   samples:write { address = 0x120000100, count = 900 }
   assert(samples:close())
end

local nightly <close> = assert(profio.store "nightly.db")
for build = 1, 20 do
   for run = 1, 2 do
      local stacks = ("main;parse %d\nmain;read %d\n"):format(build * 7 % 5 + run + (build < 12 and
         500 or 700), 900 + build * 3 % 7 - run)
      local trace <close> = assert(profio.open { data = stacks, format = "folded" })
      assert(nightly:add(trace, { labels = { build = tostring(build) } }))
   end
end
local timeline <close> = assert(profio.open "examples/run.txt")
assert(timeline:save("run.txt", { dialect = "text1", timeline_binary = true }))
assert(timeline:export("pprof", "cpu.pb.gz"))
]]

-- A trace of two tasks and an interrupt on two cores: ten jobs, of which the fifth is preempted.
local function btf()
   local lines = { "#version 2.2.0", "#timescale us" }
   local function add(time, source, area, kind, instance, event)
      lines[#lines + 1] = table.concat({ time, source, 0, kind, area, instance, event }, ",")
   end
   for i = 0, 9 do
      local time, length = i * 10000 + i % 3 * 100, 2000
      add(time, "STI", "Task_10ms", "T", i, "activate")
      add(time + 10, "Core_0", "Task_10ms", "T", i, "start")
      if i == 4 then
         add(time + 1000, "Core_0", "Task_10ms", "T", i, "preempt")
         add(time + 1000, "STI", "ISR_CAN", "I", 0, "activate")
         add(time + 1000, "Core_0", "ISR_CAN", "I", 0, "start")
         add(time + 4000, "Core_0", "ISR_CAN", "I", 0, "terminate")
         add(time + 4000, "Core_0", "Task_10ms", "T", i, "resume")
         length = 5000
      end
      add(time + length, "Core_0", "Task_10ms", "T", i, "terminate")
      add(time + length, "STI", "Task_Out", "T", i, "activate")
      add(time + length + 900, "Core_1", "Task_Out", "T", i, "start")
      add(time + length + 1400, "Core_1", "Task_Out", "T", i, "terminate")
   end
   return table.concat(lines, "\n") .. "\n"
end

-- The source of main.wb, which Lexi numbers 10, 20, ...
local business = "! #Autonumber# 10,10\nlet a=1\nlet b=2\nprint a+b\nstop\n"

local script = "local t = {}\nfor i = 1, 300000 do t[#t + 1] = tostring(i) end\nprint(#t)\n"

---Fills a folder as a checkout is: with the examples alone.
---@param folder string relative to the folder of spec.support.command; it is emptied first
function page_files.fill_as_checkout(folder)
   local path = command.folder .. "/" .. folder
   assert(os.execute(("rm -rf '%s' && mkdir -p '%s' && ln -s '%s/examples' '%s/examples'"):format(
      path, path, command.root, path)))
end

-- Makes the files in a folder, which is emptied first.
local function make(folder)
   page_files.fill_as_checkout(folder)
   local program, files = programs.profiled("pages", "examples/demo.c",
      "-fno-inline -fno-optimize-sibling-calls", 2)
   for name, from in pairs { program = program, ["old-program"] = program,
      ["gmon.out"] = files[1], ["gmon.out.1"] = files[1], ["gmon.out.2"] = files[2] } do
      os.execute(("cp '%s' '%s/%s/%s'"):format(from, command.folder, folder, name))
   end
   command.file(folder .. "/fixtures.lua", fixtures)
   command.file(folder .. "/script.lua", script)
   command.file(folder .. "/rtos.btf", btf())
   command.file(folder .. "/prog.nm", "0000000120000000 T main\n0000000120000200 T other\n")
   os.execute(("mkdir '%s/%s/src'"):format(command.folder, folder))
   command.file(folder .. "/src/main.wb.wbs", business)
   command.file(folder .. "/src/test.prg", "PROCEDURE Main( cKey )\n   DBSEEK( cKey )\nRETURN\n")
   command.file(folder .. "/cut.out", command.trace():sub(1, 41))
   local said, status, errors = command.run(("cd '%s' && %s lua5.4 fixtures.lua"):format(folder,
      command.in_tree))
   assert(status == 0, said .. errors)
end

local is_made = false

---Fills a folder: a program with three profiles, a timeline, a file of each other format, a damaged
---profile, a script, sources, the examples.
---@param folder string relative to the folder of spec.support.command; it is emptied first
function page_files.fill(folder)
   if not is_made then
      make "page-files"
      is_made = true
   end
   assert(os.execute(("cd '%s' && rm -rf '%s' && cp -a page-files '%s'"):format(command.folder,
      folder, folder)))
end

return page_files
