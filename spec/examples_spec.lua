-- Each example runs, copied to another folder, and prints the expected output.
--
-- Tags: user.
-- Long: runs all commands and programs of the texts.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"
local lfs = require "lfs"

-- The words after the name of an example, and what it prints then.
local shows = {
   ["01-read.lua"] = { "gmon.out", "format\tgmon\n", "\n0x1110 calls 0x1204 20 times\n",
      "\nmost samples, 30, between 0x1114 and 0x1118\n" },
   ["02-where-and-group.lua"] = { "gmon.out", "\n0x1114  0x1118     30    0.300\n",
      "\n0x1100       35    0\n" },
   ["03-profile.lua"] = { "gmon.out", "60 samples", "\n0x1114,300000000\n" },
   ["04-register.lua"] = { "", "lines\tallocations raw\n", "\nmalloc   3   4160\n",
      "\n250 calloc 16\n" },
   ["05-merge.lua"] = { "m.gmon gmon.out gmon.out gmon.out", "3 traces, 6 arcs\n",
      "\nread again\t4.4bsd\t2 arcs\n", "\n0x1110  0x1204     60\n" },
   ["07-compare.lua"] = { "gmon.out gmon.out", "all changes, the largest first:\n",
      "\n0x1114    300000000         300000000            0     0.000 " },
   ["11-xbase.lua"] = { "", "\nMAIN           1    26000000    40000000\n",
      "\nunwound  ORDERS     2000000   10000000\n", "\nORDERS   true      1        1000000\n",
      "\nas a table: 945 bytes, 704 of parameters\n" },
   ["10-dcpi.lua"] = { "", "(small cycles)\twalnut\t7 addresses",
      "\n129.032  17.668      80    160 ",
      "\nprog    0.264\n" },
   ["06-limits.lua"] = { "", "ok\tread_sensor\tgross_max\t1400000\t<=\t1500000\n",
      "0 of 3 limits are not kept\n" },
   ["09-winidea.lua"] = { "", "\nread_sensor            enter    1        1000\n",
      "\nBattery  2  12.500  12.750\n",
      "\n10000000  value = filter(a, b);  line   read_sensor    52\n",
      "\nas a binary timeline: 240 bytes, 10 records of 24\n" },
   ["12-recorder.lua"] = { "", " ns a line taken off for the hooks\n", "\nrounds > round\t3\n",
      "\nmode calls\t3 rounds\n" },
   ["13-viewers.lua"] = { "",
      "\nparse              21000                  15652              5348     0.342 ",
      "\nflush                  0                   3354             -3354    -1.000 " },
   ["08-ring.lua"] = { "", "20000 records, the last ",
      "ring-alive\tthe others are counted as lost\n",
      "\nLIB.BR   1230    300.000" },
}

-- analyze.lua is the command; demo.lua is a program to be recorded; recorder_dump_spec runs the
-- server.
local skipped = { ["analyze.lua"] = true, ["demo.lua"] = true, ["14-server.lua"] = true }

-- Runs a copy of an example, which finds the module as `make env` says.
local function example(words)
   return command.run(("cp -f '%s'/examples/*.lua . && eval $(make -s -C '%s' B='%s' env) && "
      .. "lua5.4 %s"):format(command.root, command.root, command.build, words))
end

describe("examples", function()
   for name in lfs.dir "examples" do
      if name:match "%.lua$" and not skipped[name] then
         it(name, function()
            local wanted = assert(shows[name], "say here what it shows")
            local text, status, errors = example(name .. " " .. wanted[1])
            assert.equal("", errors)
            assert.equal(0, status)
            for _, words in ipairs { table.unpack(wanted, 2) } do
               assert.is_truthy(text:find(words, 1, true), words .. "\nin\n" .. text)
            end
         end)
         it("say with which formats they work: " .. name, function()
            local text = command.read("examples/" .. name)
            assert.is_truthy(text:find "\n%-%- Works with " or name:find "^0[14]%-"
               or name:find "^08" or name:find "^12", name)
         end)
      end
   end

   it("read a file that is named", function()
      command.file("alloc.txt", "100 f 8\n")
      assert.matches("f +1 +8", (example "04-register.lua alloc.txt"))
      command.file("strict.txt", "g gross_max < 5ns\n")
      command.file("run.txt", "* HANDLE(Functions) %HANDLE%,%NAME%\n1,g\n"
         .. "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n1,E,0\n1,X,7\n")
      local told, failed = example "06-limits.lua run.txt strict.txt"
      assert.matches("exceeded\tg\tgross_max\t7\t<\t5\n1 of 1 limits", told)
      assert.equal(4, failed)
      assert.matches("dialect +4.4bsd", (command.run "profio --info m.gmon"))
   end)
end)
