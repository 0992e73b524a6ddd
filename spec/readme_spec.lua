-- The snippets of README.md run as they stand: each line of shell by itself, each block of Lua as a
-- script, in a folder with the files that they name.

local command = require "spec.support.command"
local programs = require "spec.support.programs"

local folder = command.folder .. "/readme"
local environment = ("LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua;;' LUA_CPATH='%s/?.so;;' "):format(
   command.root, command.root, command.build)

-- A line of shell in the folder: output, status, errors. `profio` in it is the command, and the
-- checkout's examples stand beside it.
local function run(line)
   return command.run(("cd readme && export %s\n%s"):format(environment, line))
end

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

-- The blocks of README.md: { language =, line =, text = }.
local function blocks()
   local list, block, number = {}, nil, 0
   for line in (command.read "README.md"):gmatch "([^\n]*)\n" do
      number = number + 1
      local language = line:match "^```(.*)$"
      if language and block then
         list[#list + 1], block = block, nil
      elseif language then
         block = { language = language, line = number, text = "" }
      elseif block then
         block.text = block.text .. line .. "\n"
      end
   end
   return list
end

-- Returns the command of a line, without the explanation after two blanks.
local function command_of(line)
   return (line:gsub("%s%s+.*$", ""))
end

local statuses = { ["--limits"] = 4 } -- some limits of README.md are of functions that never ran

-- How a line is run: what would go on is interrupted, and make only says what it would do.
local function runnable(line)
   if line:find("--follow", 1, true) then
      return "timeout --foreground -s INT 3 " .. command.analyze .. line:match "^profio(.*)$"
   elseif line:match "^make" then
      return line:gsub("^make", "make -n -C " .. command.root)
   end
   return line
end

-- First words of the shell lines that are run here.
local programs_known = { make = true, profio = true, ["lua5.4"] = true, export = true }

describe("README.md", function()
   setup(function()
      os.execute(("rm -rf '%s' && mkdir -p '%s' && ln -s '%s/examples' '%s/examples'"):format(
         folder, folder, command.root, folder))
      local program, files = programs.profiled("readme", "examples/demo.c",
         "-fno-inline -fno-optimize-sibling-calls", 2)
      for name, path in pairs { program = program, ["old-program"] = program,
         ["gmon.out"] = files[1], ["gmon.out.1"] = files[1], ["gmon.out.2"] = files[2] } do
         os.execute(("cp '%s' '%s/%s'"):format(path, folder, name))
      end
      command.file("readme/fixtures.lua", fixtures)
      command.file("readme/script.lua", script)
      local whole = command.trace()
      command.file("readme/cut.out", whole:sub(1, 41))
      local said, status, errors = run "lua5.4 fixtures.lua"
      assert(status == 0, said .. errors)
   end)

   for _, block in ipairs(blocks()) do
      local where = " in line " .. block.line
      if block.language == "lua" then
         it("has Lua that runs" .. where, function()
            command.file("readme/snippet.lua", block.text)
            local _, status, errors = run "lua5.4 snippet.lua"
            assert.same({ 0, "" }, { status, errors })
         end)
      end
      if block.text:find("gross_max", 1, true) and block.language == "" then
         it("has limits that are understood" .. where, function()
            command.file("readme/limits.txt", block.text)
            local said, status, errors = run "profio --limits limits.txt run.txt"
            assert.same({ 4, "" }, { status, errors })
            assert.matches("Db_Read +gross_max", said)
         end)
      end
   end

   it("has lines of shell that run", function()
      local limits
      for _, block in ipairs(blocks()) do
         limits = block.text:find("gross_max", 1, true) and block.language == "" and block.text
            or limits
      end
      command.file("readme/limits.txt", limits)
      local count, export = 0, ""
      for _, block in ipairs(blocks()) do
         for line in (block.language == "" and block.text or ""):gmatch "[^\n]+" do
            local words = command_of(line)
            if programs_known[words:match "^%S+"] then
               local said, status, errors = run(export .. runnable(words))
               local wanted = statuses[words:match "%-%-%l+" or ""] or 0
               local place = ("line '%s': %s%s"):format(words, said:sub(1, 300), errors)
               if words:find("--follow", 1, true) then
                  assert.matches("MAIN", said)
               else
                  assert.equal(wanted, status, place)
               end
               export = words:match "^export" and words .. "\n" or export
               count = count + 1
            end
         end
      end
      assert.is_true(count > 15, "only " .. count .. " lines were recognised")
   end)
end)
