-- The reports calls, states and histogram.
--
-- Tags: stressed.

local events = require "spec.support.events"

local lines = [[
0 enter main a
10 suspend main a
10 enter f a
14 leave f a
14 resume main a
20 enter f a
29 leave f a
30 enter isr b
35 leave isr b
40 leave main a
]]

describe("--report calls", function()
   it("has a row for each call", function()
      assert.equal([[
area,lane,start,stop,gross,net,call,period,outside,depth,caller,flags
f,a,10,14,4,4,4,,,2,main,
f,a,20,29,9,9,9,10,6,2,main,
isr,b,30,35,5,5,5,,,1,,
main,a,0,40,40,27,40,,,1,,
]], events.fine(lines, "--report", "calls", "--output", "csv"))
   end)

   it("cuts calls at --from and --to, and takes --lane", function()
      assert.equal([[
area,lane,start,stop,gross,net,call,period,outside,depth,caller,flags
f,a,12,14,2,2,,,,2,main,cut
main,a,12,20,8,6,,,,1,,cut
]], events.fine(lines, "--report", "calls", "--output", "csv", "--from", "12", "--to", "20"))
      assert.equal("area,start\nisr,30\n", events.fine(lines, "--report", "calls", "--output",
         "csv", "--lane", "b", "--columns", "area,start"))
   end)

   it("takes the options of calls", function()
      assert.equal("area,flags\nf,\n", events.fine("0 enter main a\n1 enter f a\n2 leave f a\n",
         "--report", "calls", "--output", "csv", "--columns", "area,flags", "--set",
         "partial=exclude"))
      local _, status, errors = events.command(lines, "--report", "calls", "--set",
         "recursion=some")
      assert.equal(2, status)
      assert.matches("%-%-set recursion is one of all, outermost; got some", errors)
   end)

   it("prints an aligned table, and sorts and groups like any other", function()
      assert.equal("area  net (ns)\nmain        27\nf            9\n", events.fine(lines,
         "--report", "calls",
         "--sort", "-net", "--top", "2", "--columns", "area,net"))
      assert.equal("area,n\nf,2\n", events.fine(lines, "--report", "calls", "--where", "depth=2",
         "--group", "area", "--aggregate", "n=count", "--output", "csv"))
   end)
end)

local switches = [[
0 enter state:mode=1 x
5 enter f a
10 leave state:mode=1 x
10 enter state:mode=2 x
25 leave state:mode=2 x
25 enter state:mode=1 x
30 leave f a
40 leave state:mode=1 x
]]

describe("--report states", function()
   it("has a row for each time a state was taken", function()
      assert.equal([[
start,stop,net,parent,area,value,outside,flags
0,10,10,mode,mode=1,1,,
10,25,15,mode,mode=2,2,,
25,40,15,mode,mode=1,1,15,
]], events.fine(switches, "--report", "states", "--output", "csv"))
   end)

   it("cuts states at --from and --to", function()
      assert.equal([[
start,stop,area,flags
5,10,mode=1,cut
10,20,mode=2,cut
]], events.fine(switches, "--report", "states", "--output", "csv", "--from", "5", "--to", "20",
         "--columns", "start,stop,area,flags"))
   end)

   it("fits only where there are states", function()
      local _, status, errors = events.command(lines, "--report", "states")
      assert.equal(2, status)
      assert.matches("report 'states' does not fit this file: none of its areas is a state", errors)
      assert.matches("\nstates ", events.fine(switches, "--list-reports"))
      assert.is_nil(events.fine(lines, "--list-reports"):find "\nstates ")
   end)
end)

-- 8 calls of f with durations 1 to 8, one of g with 100.
local function many()
   local list, time = {}, 0
   for i = 1, 8 do
      list[#list + 1] = ("%d enter f a\n%d leave f a\n"):format(time, time + i)
      time = time + 2 * i
   end
   list[#list + 1] = ("%d enter g a\n%d leave g a\n"):format(time, time + 100)
   return table.concat(list)
end

describe("--report histogram", function()
   it("counts calls between powers of two, the areas that took most first", function()
      assert.equal([[
area,low,high,count,count_share,total
g,64,128,1,1,100
f,1,2,1,0.125,1
f,2,4,2,0.25,5
f,4,8,4,0.5,22
f,8,16,1,0.125,8
]], events.fine(many(), "--report", "histogram", "--output", "csv"))
   end)

   it("tells of other times of a call", function()
      assert.equal([[
area,low,high,count,count_share,total
f,2,4,1,0.14285714285714285,2
f,4,8,2,0.2857142857142857,10
f,8,16,4,0.5714285714285714,44
]], events.fine(many(), "--report", "histogram", "--output", "csv", "--set", "of=period",
         "--where", "area=f"))
   end)

   it("draws bars, each area in its own scale", function()
      assert.equal([[
f
            1 ns           1   12.50%  ##########
            2 ns           2   25.00%  ####################
            4 ns           4   50.00%  ########################################
            8 ns           1   12.50%  ##########
]], events.fine(many(), "--report", "histogram", "--where", "area=f"))
      local text = events.fine(many(), "--report", "histogram", "--top", "1", "--unit", "us")
      assert.equal("g\n        0.064 us           1  100.00%  " .. ("#"):rep(40)
         .. "\n\n1 more areas; --top N shows N of them, --where 'area=NAME' one\n", text)
   end)

   it("keeps areas of one name apart", function()
      local text = events.fine("0 enter line:x a\n3 leave line:x a\n9 enter x a\n12 leave x a\n",
         "--report", "histogram", "--output", "csv", "--columns", "area,low,count")
      assert.equal("area,low,count\nx,2,1\nx,2,1\n", text)
      -- The one with the longer calls comes last.
      local text_of_calls = "0 enter line:x a\n9 leave line:x a\n"
      for time = 10, 50, 10 do
         text_of_calls = ("%s%d enter x a\n%d leave x a\n"):format(text_of_calls, time, time + 3)
      end
      local bar = ("#"):rep(40)
      assert.equal("x\n            2 ns           5  100.00%  " .. bar
         .. "\n\nx\n            8 ns           1  100.00%  " .. bar .. "\n",
         events.fine(text_of_calls, "--report", "histogram"))
   end)

   it("says nothing of calls that have no such time", function()
      assert.equal("area,low\n", events.fine("0 enter f a\n", "--report", "histogram", "--set",
         "of=call", "--output", "csv", "--columns", "area,low"))
   end)
end)

describe("an export without a timeline", function()
   local command = require "spec.support.command"

   it("shows the statistics that it states, and of their columns those it has", function()
      local path = command.file("stated.txt", "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\n"
         .. "00000001,main,\n10000001,x = 1;,7\n"
         .. "* STATISTICS(Functions) %HANDLE%,%VALUE%,%COUNT%,%T.NET%\n1,,2,30\n10000001,7,0,0\n"
         .. "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%\n")
      local text, status, errors = command.run("profio " .. path)
      assert.same({ 0, "" }, { status, errors })
      assert.equal("area      handle  value  count  net (ns)\n"
         .. "main    00000001             2        30\n"
         .. "x = 1;  10000001      7      0         0\n", text)
      assert.equal("area,net\nmain,30\n", (command.run("profio --report rows --output csv "
         .. "--where count=1..9 --columns area,net " .. path)))
      assert.equal(2, select(2, command.run("profio --report rows gmon.out")))
   end)
end)
