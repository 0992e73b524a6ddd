-- The commands profio store trend and profio store top.
--
-- Tags: user.
-- Long: many commands or rows, or programs that are compiled.
-- Costly: many commands.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-trend"
local DAY <const> = 86400

-- Creates fleet.db: a run on each of four days, of two hosts; half of the weight of h2 is in slow.
setup(function()
   disk.fresh(folder)
   local store <close> = assert(profio.store(folder .. "/fleet.db"))
   for day = 0, 3 do
      local host = day % 2 == 0 and "h1" or "h2"
      local stacks = host == "h1" and { ["main;parse"] = 90, ["main;slow"] = 10 }
         or { ["main;parse"] = 25, ["main;slow"] = 25 + day - 1, ["main;slow;<&x"] = 25 }
      local trace <close> = assert(profio.open { data = stored.pprof(stacks,
         { time_nanos = (1700000000 + day * DAY) * 1000000000 }, "hit") })
      assert(store:add(trace, { labels = { host = host } }))
   end
end)

-- Runs a command of profio store, whose errors and status are as expected; returns its output.
local function run(line, status, message)
   local text, found, errors = command.run("cd store-trend && profio store " .. line)
   assert.matches(message or "^$", errors)
   assert.equal(status or 0, found)
   return text
end

describe("profio store trend", function()
   it("shows shares with bars", function()
      assert.equal("by          runs  self (hit)  total (hit)  self share  total share     p10"
         .. "     p50     p90\n"
         .. "2023-11-14     1          10           10      10.00%       10.00%  10.00%  10.00%"
         .. "  10.00%  ####\n"
         .. "2023-11-15     1          25           50      33.33%       66.67%  66.67%  66.67%"
         .. "  66.67%  ########################\n"
         .. "2023-11-16     1          10           10      10.00%       10.00%  10.00%  10.00%"
         .. "  10.00%  ####\n"
         .. "2023-11-17     1          27           52      35.06%       67.53%  67.53%  67.53%"
         .. "  67.53%  ########################\n", run "trend slow fleet.db")
      assert.equal("by  runs  self (hit)  total (hit)  self share  total share     p10     p50"
         .. "     p90\nh2     2         102          102      67.11%       67.11%  66.67%  66.67%"
         .. "  67.53%  ########################\n",
         run "trend '~^[<s]' --by host --top 1 --where by=h2 fleet.db")
   end)

   it("has rows in the other forms", function()
      assert.equal("by,runs,self,total\nh1,2,180,180\nh2,2,50,50\n",
         run "trend parse --by host --output csv --columns by,runs,self,total fleet.db")
      assert.equal("by  total_share\nh2       32.89%\nh1       90.00%\n",
         run "trend parse --by host --columns by,total_share --sort total_share fleet.db")
      assert.matches("^%[?%s*{\"by\":\"2023%-11\",\"runs\":4,\"self\":230,",
         run "trend parse --by month --output json fleet.db")
      assert.equal(run "trend parse --by host --output csv fleet.db", (command.run(
         "cd store-trend && profio report trend --set function=parse --set by=host --output csv "
         .. "fleet.db")))
      assert.matches("p90_share +the same for nine tenths", run "trend main --explain fleet.db")
   end)

   it("draws a chart, which is well-formed", function()
      assert.equal("", run "trend '~<&x' --by day -o chart.svg fleet.db")
      local text, status = command.run([[cd store-trend && python3 -c "
import xml.etree.ElementTree as tree
root = tree.parse('chart.svg').getroot()
tag = '{http://www.w3.org/2000/svg}'
print(root.tag, len(root.findall(tag + 'circle')), root.find(tag + 'text').text)
print([len(root.find(tag + name).get('points').split()) for name in ('polyline', 'polygon')])"]])
      assert.equal(0, status)
      assert.equal("{http://www.w3.org/2000/svg}svg 4 ~<&x by day\n[4, 8]\n", text)
      run("trend slow --explain -o chart.svg fleet.db", 2, "%-%-explain is for text")
   end)

   it("has an axis that shows a step of 5 %", function()
      local store <close> = assert(profio.store(folder .. "/step.db"))
      for i, weight in ipairs { 4000, 4010, 4200 } do
         local trace <close> = assert(profio.open { data = stored.pprof({ ["main;parse"] = weight,
            ["main;read"] = 10000 - weight }, nil, "hit") })
         assert(store:add(trace, { labels = { v = tostring(i) } }))
      end
      local heads, first, _, third = run("trend parse --by v step.db"):match
         "^([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n"
      assert.matches("  39%.50%% to 42%.00%%$", heads) -- a quarter of the range below 40 %
      assert.equal("#####", first:match "#+") -- 0.5 / 2.5 of 24
      assert.equal(("#"):rep(24), third:match "#+")
      run "trend parse --by v -o step.svg step.db"
      local text = command.read(folder .. "/step.svg")
      assert.matches("the axis begins at 39%.5%%<", text)
      assert.matches('<circle cx="%S+" cy="248.0" r="3" [^\n]*1: 40.00%%', text)
      assert.matches('<circle cx="%S+" cy="40.0" r="3" [^\n]*3: 42.00%%', text)
      assert.not_matches("the axis begins", (run "trend slow -o whole.svg fleet.db")
         .. command.read(folder .. "/whole.svg"))
   end)

   it("refuses wrong use", function()
      run("trend fleet.db", 2, "expects a FUNCTION and one STORE, got fleet.db")
      run("trend nobody fleet.db", 1,
         "fleet.db: no function of the store has such a name; there are: ")
      run("trend mian fleet.db", 1, "such a name; did you mean 'main'%?")
      run("trend main --by color fleet.db", 2, "no label 'color'; there are: hour, day, .*, host")
      run("trend '~[' fleet.db", 2, "'%[' is no Lua pattern")
      run("trend main --metric color fleet.db", 2, "no metric 'color'; there are: hit")
      run("trend main --run host=h9 fleet.db", 1, "no run of the store is selected")
      run("trend main --focus x fleet.db", 2, "no option %-%-focus")
      local _, status, errors = command.run(
         "cd store-trend && profio report trend fleet.db")
      assert.matches("expects %-%-set function=NAME", errors)
      assert.equal(2, status)
      _, status, errors = command.run "profio report trend gmon.out"
      assert.equal(2, status)
      assert.matches("it is no store of runs", errors)
   end)
end)

describe("profio store top", function()
   it("shows what differs most from the rest", function()
      assert.equal([[
by  runs  whole (hit)  distance  function  function_share  others_share
h1     2          200     0.571  parse             90.00%        32.89%
h2     2          152     0.571  parse             32.89%        90.00%
]], run "top --by host fleet.db")
      assert.equal(1 + 2, select(2, run("top --top 2 --output csv fleet.db"):gsub("\n", "")))
      assert.matches("^by,distance\n%x+,", run "top --columns by,distance --output csv fleet.db")
      run("top a b fleet.db", 2, "expects one STORE")
   end)
end)
