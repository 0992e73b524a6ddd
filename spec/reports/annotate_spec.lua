-- Reports annotate and hotlines of profiles with stacks, and the sources in the page: the lines of
-- recorded Lua programs with their times, from the files that ran.
--
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local csv = require "spec.support.csv"
local disk = require "spec.support.disk"

local fine, run = command.fine, command.run
local project = command.folder .. "/annotated"

local function write(name, text)
   disk.folder((project .. "/" .. name):match "^(.*)/")
   command.file("annotated/" .. name, text)
end

local run_lua = [[
local a = require "a"
local b = require "b"
a(b)
]]
local a_lua = "return function(f)\n\tf()\nend\n"
local b_lua = "-- the other one\nreturn function()\n   local t = 0\n   return t end\n"

-- Three samples: b:3 twice, called by a:2 and run.lua:3; run.lua:1 once; b:4 called by b:3 once.
local function recording()
   local function below(builder, line)
      return builder:back(2, line, 0):main()
   end
   local built = br():module(1, "profio.recorder: mode sampled, clock cpu, interval 500000 ns")
      :module(2, "run.lua"):module(3, "./a/init.lua"):module(4, "./b/init.lua")
   for _ = 1, 2 do
      below(built:line(4, 3):fn "b":back(3, 2):fn "a", 3):stop()
   end
   built:line(2, 1):main():stop()
   return below(built:line(4, 4):fn "c":back(4, 3):fn "b":back(3, 2):fn "a", 3):stop():bytes()
end

local function touch(name, time)
   fine(("touch -d '%s' annotated/%s"):format(time, name))
end

-- Writes the program and its recording, which is newer.
local function write_all()
   disk.fresh(project)
   write("run.lua", run_lua)
   write("a/init.lua", a_lua)
   write("b/init.lua", b_lua)
   write("run.prf", recording())
   if package.config:sub(1, 1) == "\\" then
      return -- the specs want a shell, and are pending
   end
   fine "touch -d 2020-01-01 annotated/*.lua annotated/*/*.lua"
   touch("run.prf", "2020-01-02")
end

describe("report annotate of stacks", function()
   before_each(write_all)
   teardown(function()
      disk.remove(project)
   end)

   it("shows self and total of each line in its file, in the unit of the interval", function()
      local text = fine "cd annotated && profio run.prf --report annotate"
      assert.is_truthy(text:find([[
*** File ./b/init.lua:
   self us     total us
                           -- the other one
                           return function()
  1000.000     1500.000 ->    local t = 0
   500.000      500.000 ->    return t end

]], 1, true), text)
      assert.is_truthy(text:find([[
*** File ./a/init.lua:
   self us     total us
                           return function(f)
               1500.000 -> ]] .. "\tf()\n" .. [[
                           end

]], 1, true), text)
      assert.matches("\n *500%.000 +500%.000 %-> local a = require \"a\"\n", text)
      assert.matches("\n +1500%.000 %-> a%(b%)\n", text)
      assert.matches("Top 10 Lines:\n\n     Line    self us     total us\n\n"
         .. "        3   1000%.000     1500%.000\n        4    500%.000      500%.000\n", text)
      assert.matches("        2   Lines with time\n 1500%.000   us in this file\n", text)
   end)

   it("states the sum of the lines that are shown if some are selected", function()
      local text = fine "profio report annotate --where 'line=3' annotated/run.prf"
      assert.matches(" 1000%.000   us in the lines that are shown\n", text)
      assert.falsy(text:find("in this file", 1, true))
   end)

   it("has the same values as rows", function()
      local text = fine "profio report annotate --output csv annotated/run.prf"
      assert.equal([[
file,line,count,self,total,function
./a/init.lua,2,0,0,1500000,a
./b/init.lua,3,2,1000000,1500000,b
./b/init.lua,4,1,500000,500000,c
run.lua,1,1,500000,500000,run.lua
run.lua,3,0,0,1500000,run.lua
]], text)
   end)

   it("finds sources beside the recording, from any folder", function()
      local text = fine "cd / && profio report annotate \"$OLDPWD\"/annotated/run.prf"
      assert.matches("\n  1000%.000     1500%.000 %->    local t = 0\n", text)
      assert.matches("\n +1500%.000 %-> \tf%(%)\n", text)
   end)

   it("finds sources in the current folder and in those of --source", function()
      fine "mkdir -p annotated/out && mv annotated/run.prf annotated/out"
      assert.matches("1500%.000 %-> \tf%(%)\n", fine(
         "cd annotated && profio report annotate out/run.prf"))
      assert.matches("1500%.000 %-> \tf%(%)\n", fine(
         "cd / && profio report annotate --source \"$OLDPWD/annotated\" "
         .. "\"$OLDPWD/annotated/out/run.prf\""))
   end)

   it("takes the file with the longest part of the path, of all folders", function()
      fine "mkdir -p annotated/else/one annotated/else/two && mv annotated/a annotated/else/two"
      write("else/one/init.lua", "-- a file of the same name\n\twrong()\n")
      os.remove(project .. "/run.lua")
      local text = fine("cd / && profio report annotate --source \"$OLDPWD/annotated/else/one\" "
         .. "--source \"$OLDPWD/annotated/else/two\" \"$OLDPWD/annotated/run.prf\"")
      assert.matches("1500%.000 %-> \tf%(%)\n", text)
      assert.matches("File ./b/init.lua:", text)
   end)

   it("says that a source is not found, and what helps", function()
      os.remove(project .. "/b/init.lua")
      local text = fine "profio report annotate annotated/run.prf"
      assert.matches("%*%*%* File %./b/init%.lua:\n   %(the source is not found: name its folder "
         .. "with %-%-source%)\n[^\n]*\n  1000%.000     1500%.000 %-> line 3, b\n", text)
      assert.matches("1500%.000 %-> \tf%(%)\n", text)
   end)

   it("says that a source is newer than the recording", function()
      touch("b/init.lua", "2020-01-03")
      local text, status, errors = run "profio report annotate annotated/run.prf"
      local said = "annotated/./b/init.lua is newer than annotated/run.prf: lines may have moved; "
         .. "record again"
      assert.equal(0, status)
      assert.is_truthy(text:find("*** File ./b/init.lua:\n   (" .. said .. ")\n", 1, true), text)
      assert.is_truthy(errors:find(said .. "\n", 1, true), errors)
      assert.equal(1, select(2, (text .. errors):gsub("a/init.lua is newer", "")) + 1)
   end)

   it("tells of lines that a source does not have", function()
      write("b/init.lua", "short\n")
      touch("b/init.lua", "2020-01-01")
      assert.matches("\n  1000%.000     1500%.000 %-> line 3, which the file does not have\n",
         (fine "profio report annotate annotated/run.prf"))
   end)

   it("reads an absolute path only where it may", function()
      local path = os.tmpname()
      local file <close> = assert(io.open(path, "w"))
      file:write "the secret\n"
      file:flush()
      write("run.prf", br():module(1, "profio.recorder: mode timed, clock wall"):module(2, path)
         :line(2, 1):main():time(7):stop():bytes())
      local text = fine "profio report annotate annotated/run.prf"
      assert.matches("the source is left out: [^\n]*%-%-trust%-paths", text)
      assert.is_nil(text:find("the secret", 1, true))
      text = fine "profio report annotate --trust-paths annotated/run.prf"
      os.remove(path)
      assert.matches("\n         7            1 %-> the secret\n", text)
   end)

   it("does not take lines of Business Rules! for lines of a file", function()
      write("basic.prf", br():module(2, "run.lua"):line(2, 1):main():time(5):stop():bytes())
      local _, status, errors = run "profio report annotate annotated/basic.prf"
      assert.equal(2, status)
      assert.matches("its lines have numbers of their own, which report hotlines finds", errors)
   end)

   it("counts a line once that calls itself or another function of the line", function()
      write("run.prf", br():module(1, "profio.recorder: mode timed, clock wall")
         :module(2, "run.lua"):line(2, 1):fn "g":time(3):back(2, 1):fn "f":back(2, 1):fn "f"
         :back(2, 3):main():stop():bytes())
      assert.equal("file,line,count,self,total,function\nrun.lua,1,1,3,3,f\n"
         .. "run.lua,3,0,0,3,run.lua\n",
         fine "profio report annotate --output csv annotated/run.prf")
   end)
end)

describe("report hotlines of a recording", function()
   before_each(write_all)
   teardown(function()
      disk.remove(project)
   end)

   -- Returns the module, line and source of each row, and the messages.
   local function sources_of(words)
      local text, status, errors = run("profio report hotlines --output csv " .. words)
      assert.equal(0, status)
      local list = {}
      for i, row in ipairs(csv.parse(text)) do
         list[#list + 1] = i > 1 and ("%s:%s %s"):format(row[1], row[2], row[#row]) or nil
      end
      table.sort(list)
      return list, errors
   end

   local all = { "./a/init.lua:2 f()", "./b/init.lua:3 local t = 0",
      "./b/init.lua:4 return t end", 'run.lua:1 local a = require "a"', "run.lua:3 a(b)" }

   it("shows the line of each file, of two with one name too", function()
      fine "mkdir -p annotated/out && mv annotated/run.prf annotated/out"
      local found, errors = sources_of "--source annotated annotated/out/run.prf"
      assert.same({ all, "" }, { found, errors })
   end)

   it("finds them beside the recording, and says that one is newer", function()
      assert.same(all, (sources_of "annotated/run.prf"))
      touch("b/init.lua", "2020-01-03")
      local found, errors = sources_of "annotated/run.prf"
      assert.same(all, found)
      assert.is_truthy(errors:find("note: annotated/./b/init.lua is newer than annotated/run.prf: "
         .. "lines may have moved; record again\n", 1, true), errors)
   end)
end)

describe("sources in the page of a recording", function()
   before_each(write_all)
   teardown(function()
      disk.remove(project)
   end)

   -- Returns what the page says about a file.
   local function file_of(page, name)
      return page:match('{"file":"' .. name:gsub("%p", "%%%0") .. '".-}')
   end

   it("are found beside it", function()
      fine "cd / && profio export html \"$OLDPWD/annotated/run.prf\" -o \"$OLDPWD/page.html\""
      local page = command.read(command.folder .. "/page.html")
      assert.is_truthy(file_of(page, "./b/init.lua"):find('"line":[3,4],"self":[1000000,500000]', 1,
         true), page:match '"lines":.-\n"files"')
      assert.is_truthy(file_of(page, "./b/init.lua"):find('"text":["-- the other one",', 1, true))
   end)

   it("may be newer or missing, which the page says", function()
      touch("b/init.lua", "2020-01-03")
      os.remove(project .. "/run.lua")
      local _, _, errors = run "profio export html annotated/run.prf -o page.html"
      local page = command.read(command.folder .. "/page.html")
      local said = "annotated/./b/init.lua is newer than annotated/run.prf: lines may have moved; "
         .. "record again"
      assert.is_truthy(file_of(page, "./b/init.lua"):find('"reason":"' .. said .. '"', 1, true))
      assert.is_truthy(file_of(page, "./b/init.lua"):find('"text":["-- the other one",', 1, true))
      assert.is_truthy(file_of(page, "run.lua"):find(
         '"reason":"Not shown: the source is not found: --source names its folder"', 1, true))
      assert.is_truthy(errors:find(said, 1, true), errors)
   end)
end)

describe("report annotate of a recorded program", function()
   local slow = 'local function slow(n)\n   local t = 0\n   for i = 1, n do t = t + i % 7 end\n'
      .. '   return t\nend\n'

   setup(function()
      disk.fresh(project)
      write("lib/one/work.lua", slow .. "return slow\n")
      write("lib/two/work.lua", "-- moved by a line\n" .. slow .. "return slow\n")
      write("main.lua", 'package.path = "lib/?.lua;" .. package.path\n'
         .. 'local one, two = require "one.work", require "two.work"\none(2000)\ntwo(3000000)\n')
   end)
   teardown(function()
      disk.remove(project)
   end)

   -- Returns { ["file:line"] = row } of a recording.
   local function lines_of(name)
      local lines = {}
      local rows = csv.parse(fine("cd annotated && profio report annotate --output csv " .. name))
      for i = 2, #rows do
         local row = {}
         for column, title in ipairs(rows[1]) do
            row[title] = rows[i][column]
         end
         lines[row.file .. ":" .. (row.line or "")] = row
      end
      return lines
   end

   it("has most time on the slow line, also of files with one base name", function()
      for mode, name in pairs { sampled = "s.prf", timed = "t.prf", aggregate = "a.pb.gz" } do
         fine(("cd annotated && profio record --mode %s -o %s main.lua"):format(mode, name))
         local lines, heaviest = lines_of(name), nil
         for place, row in pairs(lines) do
            heaviest = math.tointeger(row.self) > math.tointeger(heaviest
               and lines[heaviest].self or -1) and place or heaviest
         end
         assert.equal("lib/two/work.lua:4", heaviest, name)
         assert.matches("%-> +for i = 1, n do t = t %+ i %% 7 end\n", fine(
            "cd annotated && profio report annotate --where file=lib/two/work.lua " .. name))
         assert.is_true(mode == "timed" or math.tointeger(lines["main.lua:4"].total)
            >= math.tointeger(lines[heaviest].self), name)
      end
   end)

   it("counts each execution of a line in mode timed", function()
      fine "cd annotated && profio record --mode timed -o t.prf main.lua"
      local lines = lines_of "t.prf"
      assert.equal("1", lines["lib/one/work.lua:2"].count)
      assert.equal("1", lines["lib/two/work.lua:3"].count)
      assert.equal("1", lines["main.lua:4"].count)
      assert.matches("\n +self %w+ +count\n.*\n +[%d.]+ +1 %-> two%(3000000%)\n",
         fine "cd annotated && profio report annotate t.prf")
   end)
end)
