-- Files with the names that README.md and the pages of help use in their commands.

local command = require "spec.support.command"
local programs = require "spec.support.programs"

local page_files = {}

-- The files of the snippets that profio itself writes.
local fixtures = [[
local profio = require "profio"

local timeline = assert(profio.create("run.txt", { format = "winidea", dialect = "text1",
   timeline_binary = true }))
for i = 0, 299 do
   local at = i * 10000000
   for _, event in ipairs { { 0, "enter", "Task_10ms" }, { 1000000, "enter", "Db_Read" },
      { 1200000, "leave", "Db_Read" }, { 2000000, "leave", "Task_10ms" } } do
      timeline:write { time = at + event[1], event = event[2], area = event[3] }
   end
end
assert(timeline:close())

local xbase = assert(profio.create("TEST.PRF", { format = "xpp" }))
for i = 1, 10 do
   xbase:write { thread = 1, time = i * 2000000, op = "i", call = "MAIN" }
   xbase:write { thread = 1, time = i * 2000000 + 1000000, op = "o", call = "MAIN" }
end
assert(xbase:close())

local customers = assert(profio.create("customer.dbf", { format = "dbf",
   fields = "NAME C(20), SINCE D, NOTE M" }))
customers:write { NAME = "Ada", SINCE = "1843-07-01", NOTE = "first" }
assert(customers:close())
]]

local script = "local t = {}\nfor i = 1, 300000 do t[#t + 1] = tostring(i) end\nprint(#t)\n"


-- Makes the files in a folder, which is emptied first.
local function make(folder)
   local path = command.folder .. "/" .. folder
   os.execute(("rm -rf '%s' && mkdir -p '%s' && ln -s '%s/examples' '%s/examples'"):format(
      path, path, command.root, path))
   local program, files = programs.profiled("pages", "examples/demo.c",
      "-fno-inline -fno-optimize-sibling-calls", 2)
   for name, from in pairs { program = program, ["old-program"] = program,
      ["gmon.out"] = files[1], ["gmon.out.1"] = files[1], ["gmon.out.2"] = files[2] } do
      os.execute(("cp '%s' '%s/%s'"):format(from, path, name))
   end
   command.file(folder .. "/fixtures.lua", fixtures)
   command.file(folder .. "/script.lua", script)
   command.file(folder .. "/cut.out", command.trace():sub(1, 41))
   local said, status, errors = command.run(("cd '%s' && %s lua5.4 fixtures.lua"):format(folder,
      command.in_tree))
   assert(status == 0, said .. errors)
end

local is_made = false

---Fills a folder: a program with three profiles, a timeline, a trace of Xbase++, a table of dBASE,
---a damaged profile, a script, the examples.
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
