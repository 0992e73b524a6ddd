-- Each example runs and prints the expected output.

local command = require "spec.support.command"
local lfs = require "lfs"

local shows = {
   ["01-read.lua"] = { "format\tgmon\n", "\n0x1150 calls 0x1200 3000 times\n",
      "\nmost samples, 150, between 0x1140 and 0x1150\n" },
   ["02-where-and-group.lua"] = { "\n0x1140  0x1150    150    1.500\n",
      "\n0x1100      181    4\n" },
   ["03-profile.lua"] = { "276 samples", "\n0x1140       12  1500000000 ",
      "\n0x1140,1500000000\n" },
   ["04-register.lua"] = { "lines\tallocations raw\n", "\nmalloc   3   4160\n" },
   ["05-merge.lua"] = { "2 traces, 4 arcs\n", "\nread again\t4.4bsd\t2 arcs\n",
      "\n0x1150  0x1200   6000\n" },
   ["11-xbase.lua"] = { "\nLOOKUP         1    25000000    31000000\n",
      "\nunwound  ORDERS     2000000   40000000\n", "\nORDERS   true      1        1000000\n",
      "\nas a table: 945 bytes, 704 of parameters\n" },
   ["10-dcpi.lua"] = { "(small cycles)\twalnut\t7 addresses", "\n129.032  17.668      80    160 ",
      "\nprog    0.264\n" },
   ["06-limits.lua"] = { "ok\tread_sensor\tgross_max\t1400000\t<=\t1500000\n",
      "0 of 3 limits are not kept\n" },
   ["09-winidea.lua"] = { "\nread_sensor            enter    1        1000\n",
      "\nBattery  2  12.500  12.750\n",
      "\n10000000  value = filter(a, b);  line   read_sensor    52\n",
      "\nas a binary timeline: 240 bytes, 10 records of 24\n" },
   ["12-recorder.lua"] = { "words, most often 'the'; ", "\nround            3 ",
      "\nmain chunk > round\t3\n", "\nmode calls\t3 rounds, 3 of them counted\n" },
   ["13-viewers.lua"] = {
      "\nparse         21000             15652         5348     0.342       26000 ",
      "\nflush             0              3354        -3354    -1.000 " },
   ["08-ring.lua"] = { "20000 records, the last ", "ring-alive\tthe others are counted as lost\n",
      "\nLIB.BR   1230    300.000" },
}

-- demo.lua is a program to be recorded: the recorder's example does that.
local skipped = { ["analyze.lua"] = true, ["here.lua"] = true, ["demo.lua"] = true }

local function example(words)
   return command.run("lua5.4 " .. command.root .. "/examples/" .. words)
end

describe("examples", function()
   for name in lfs.dir "examples" do
      if name:match "%.lua$" and not skipped[name] then
         it(name, function()
            local text, status, errors = example(name)
            assert.equal("", errors)
            assert.equal(0, status)
            for _, words in ipairs(assert(shows[name], "say here what it shows")) do
               assert.is_truthy(text:find(words, 1, true), words .. "\nin\n" .. text)
            end
         end)
      end
   end

   it("read a file that is named", function()
      for _, name in ipairs { "01-read.lua", "02-where-and-group.lua", "03-profile.lua" } do
         local text, status = example(name .. " gmon.out")
         assert.equal(0, status)
         assert.is_truthy(text:find "0x1114" or text:find "0x1110", text)
      end
      command.file("alloc.txt", "100 f 8\n")
      assert.matches("f +1 +8", (example "04-register.lua alloc.txt"))
      command.file("strict.txt", "g gross_max < 5ns\n")
      command.file("run.txt", "* HANDLE(Functions) %HANDLE%,%NAME%\n1,g\n"
         .. "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n1,E,0\n1,X,7\n")
      local told, failed = example "06-limits.lua run.txt strict.txt"
      assert.matches("exceeded\tg\tgross_max\t7\t<\t5\n1 of 1 limits", told)
      assert.equal(4, failed)
      local merged = example "05-merge.lua m.gmon gmon.out gmon.out gmon.out"
      assert.matches("0x1204 +60", merged)
      assert.matches("dialect +4.4bsd", (command.run "profio --info m.gmon"))
   end)
end)
