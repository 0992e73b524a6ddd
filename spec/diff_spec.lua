-- --diff: what one run cost more than another.

local builder = require "spec.support.gmon_builder"
local command = require "spec.support.command"

local function file_of(name, count)
   return command.file(name, builder.new("<", 8):header():histogram {
      low = 0x1000, high = 0x1010, bins = { count, 0, 20, 0 } }:arc(0x1001, 0x1008, count):bytes())
end

describe("--diff", function()
   local new, old = file_of("new.out", 50), file_of("old.out", 10)

   it("shows what grew, the largest change first", function()
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

   it("says what is wrong", function()
      local _, status, err = command.run("profio --report diff " .. new)
      assert.matches("give %-%-diff FILE", err)
      assert.equal(2, status)
      _, status, err = command.run("profio --diff /nowhere " .. new)
      assert.matches("/nowhere", err)
      assert.equal(1, status)
   end)
end)
