-- --diff: differences between the costs of two runs.
--
-- Tags: user.
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local builder = require "spec.support.gmon_builder"
local command = require "spec.support.command"
local profio = require "profio"

local function file_of(name, count)
   return command.file(name, builder.new("<", 8):header():histogram {
      low = 0x1000, high = 0x1010, bins = { count, 0, 20, 0 } }:arc(0x1001, 0x1008, count):bytes())
end

describe("--diff", function()
   local new, old = file_of("new.out", 50), file_of("old.out", 10)

   it("shows changes, the largest first", function()
      local out, status = command.run("profio --diff " .. old .. " --output csv " ..
         "--columns function,self,self_before,change,relative " .. new)
      assert.equal(0, status)
      assert.equal("function,self,self_before,change,relative\n" ..
         "0x1000,500000000,100000000,400000000,4\n0x1008,200000000,200000000,0,0\n" ..
         "0x1001,0,0,0,\n", out)
   end)

   it("goes with the reports of profiles", function()
      local out = command.run("profio --report flat --output csv --columns function,self " ..
         "--diff " .. old .. " " .. new)
      assert.matches("0x1000,400000000\n", out)
      out = command.run("profio --report graph --diff " .. old .. " " .. new)
      assert.matches("caller +callee +calls", out)
   end)

   it("reports errors", function()
      local _, status, err = command.run("profio --report diff " .. new)
      assert.matches("give %-%-diff FILE", err)
      assert.equal(2, status)
      _, status, err = command.run("profio --diff /nowhere " .. new)
      assert.matches("/nowhere", err)
      assert.equal(1, status)
   end)
end)

describe("the files of --diff", function()
   local new, old1, old2 = file_of("new.out", 50), file_of("old1.out", 10), file_of("old2.out", 7)
   local row = " --report diff --output csv --columns function,self,self_before "
      .. "--where function=0x1000"

   local function before(line)
      local out, status, err = command.run("profio" .. row .. " " .. line)
      assert.equal(0, status, err)
      return out:match "0x1000,(%d+,%d+)"
   end

   it("may be several, of which the means of a run are compared if their numbers differ", function()
      assert.equal("500000000,85000000", before("--diff " .. old1 .. " --diff " .. old2 .. " "
         .. new))
      assert.equal("500000000,85000000", before("--diff=" .. old1 .. " --diff=" .. old2 .. " "
         .. new))
      assert.equal("1000000000,170000000", before("--diff=" .. old1 .. " --diff=" .. old2 .. " "
         .. new .. " " .. new))
      assert.equal("500000000,100000000", before("--diff " .. old1 .. " -- " .. new .. " "
         .. new))
      assert.equal("500000000,100000000", before(new .. " " .. new .. " --diff " .. old1))
      local _, _, err = command.run("profio" .. row .. " --diff " .. old1 .. " -- " .. new .. " "
         .. new)
      assert.matches("note: the new side has 2 runs, the old side 1: all numbers are means of a "
         .. "run", err)
   end)

   it("cannot be moved to the other side by a wildcard", function()
      for _, line in ipairs { "--diff old?.out new.out", "new.out --diff old?.out",
         "new.out --diff old?.out --top 3", "--diff old?.out --top 3 new.out",
         "--diff old1.out --diff old2.out new.out new.out" }
      do
         local out, status, err = command.run("profio " .. line)
         assert.equal(2, status, line)
         assert.equal("", out)
         assert.matches("not certain that %S+ is a new run", err)
         assert.matches("%-%-diff=FILE", err)
      end
   end)

   it("stand above the report, as all others", function()
      local out = command.run("profio --diff old1.out --diff old2.out new.out")
      assert.equal("new: new.out\nold: old1.out old2.out\n\n", out:match "^new:.-\n\n")
      out = command.run("profio --report flat --diff old1.out new.out")
      assert.equal("new: new.out\nold: old1.out\n\n", out:match "^new:.-\n\n")
   end)

   it("are opened even if another part of the old side cannot be read, and this is said", function()
      local out, status, err = command.run("profio --diff=old1.out --diff=/nowhere new.out" .. row)
      assert.matches("0x1000,500000000,100000000", out)
      assert.matches("/nowhere", err)
      assert.equal(1, status)
   end)

   it("report their damage", function()
      local _, status, err = command.run("profio --diff cut.gmon new.out")
      assert.matches("cut.gmon: damage: ", err)
      assert.equal(3, status)
   end)

   it("have options of their own, which are for nothing else", function()
      for _, option in ipairs { "--diff-exe", "--diff-symbols", "--diff-mapping",
         "--diff-load-bias" }
      do
         local _, status, err = command.run("profio " .. option .. " 1 new.out")
         assert.equal(2, status)
         assert.matches("give %-%-diff FILE too", err)
      end
   end)

   it("may lack a function that is looked for, if the new ones have it", function()
      local other = command.file("other.out", builder.new("<", 8):header():histogram {
         low = 0x2000, high = 0x2010, bins = { 5, 0, 0, 0 } }:bytes())
      local columns = " --report flat --output csv --columns function,self --focus 0x2000 "
      assert.equal("function,self\n0x2000,50000000\n", command.run("profio --diff " .. old1
         .. columns .. other))
      assert.equal("function,self\n0x2000,-50000000\n", command.run("profio --diff " .. other
         .. columns .. new))
      local text, status, err = command.run("profio --focus nobody --diff " .. old1 .. columns
         .. new)
      assert.equal("function,self\n", text)
      assert.equal(0, status)
      assert.matches("no function of this profile is 'nobody'", err)
   end)

   it("narrow the profiles themselves, or it is said that they do not", function()
      local _, status, err = command.run("profio --diff old1.out --report flat --focus flat=0x1000 "
         .. "new.out")
      assert.equal(2, status)
      assert.matches("without flat=", err)
   end)
end)

describe("--diff of unequal numbers of runs", function()
   local new = file_of("mean-new.out", 40)
   local olds = "--diff " .. file_of("mean-1.out", 30) .. " --diff=" .. file_of("mean-2.out", 50)

   it("shows no change between equal runs in any report", function()
      for _, report in ipairs { "diff", "flat" } do
         local column = report == "diff" and "change" or "self"
         local out, status, err = command.run(("profio --report %s --output csv --columns "
            .. "function,%s %s -- %s"):format(report, column, olds, new))
         assert.equal(0, status, err)
         assert.not_matches(",%-?[1-9]", out)
         assert.matches("means of a run", err)
      end
   end)

   it("knows the error of all samples of both sides", function()
      local out = command.run("profio --report diff --output csv --columns significance "
         .. "--where function=0x1000 --diff " .. file_of("mean-3.out", 100) .. " -- " .. new .. " "
         .. new)
      -- 80 samples in two runs against 100 in one
      local wanted = (80 / 2 - 100) / math.sqrt(80 / 4 + 100)
      assert.is_true(math.abs(tonumber(out:match "\n(%S+)") - wanted) < 1e-9, out)
   end)

   it("has the means of statistics of calls", function()
      local function timeline(name, length)
         local path = command.folder .. "/" .. name
         local trace = assert(profio.create(path, { format = "winidea", dialect = "text1" }))
         trace:write { time = 0, event = "enter", area = "f" }
         trace:write { time = length, event = "leave", area = "f" }
         assert(trace:close())
         return path
      end
      local out, status, err = command.run(("profio --report statistics --diff %s --diff=%s "
         .. "--output csv --columns area,count_change,net,net_before -- %s"):format(
         timeline("mean-1.txt", 1000), timeline("mean-2.txt", 3000), timeline("mean-3.txt", 2000)))
      assert.equal(0, status, err)
      assert.equal("area,count_change,net,net_before\nf,0,2000,2000\n", out)
      assert.matches("means of a run", err)
   end)
end)
