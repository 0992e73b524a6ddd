-- Tags: stressed.

local command = require "spec.support.command"
local profio = require "profio"
local verify = require "profio.reports.calls.stated_statistics"

local function text1(parts)
   return ("%s* HANDLE(Functions) %%HANDLE%%,%%NAME%%,%%VALUE%%\n00000000,main,\n00000001,f,\n\z
      * HANDLE(Data) %%HANDLE%%,%%NAME%%,%%VALUE%%\n20000000,mode,\n30000000,,0\n30000000,,1\n%s"
      .. "* TIMELINE %%HANDLE%%,%%EVENT%%,%%VALUE%%,%%TIME%%%s\n%s"):format(
      parts.total and ("* INFO %TOTAL_TIME%\n" .. parts.total .. "\n") or "", parts.statistics,
      parts.context and ",%CONTEXT%" or "", parts.timeline)
end

local function run(parts)
   local trace <close> = assert(profio.open { data = text1(parts) })
   return verify.run(trace)
end

-- f within f: net 20 and 10, gross and call 30 and 10.
local recursive = [[
00000001,E,,0
00000001,E,,10
00000001,X,,20
00000001,X,,30
]]

local function one(columns, values)
   return ("* STATISTICS(Functions) %%HANDLE%%,%%COUNT%%,%s\n00000001,%s\n"):format(columns, values)
end

describe("verify", function()
   it("is content at once when the usual reading agrees", function()
      local result = run { timeline = recursive,
         statistics = one("%T.NET%,%T.GROSS%,%T.CALL.MAX%", "2,30,40,30") }
      assert.equal(1, #result.tried)
      assert.equal(4, result.numbers)
      assert.same({}, result.best.differences)
      assert.equal("partial=include recursion=all edges=exclude", result.best.words)
   end)

   it("finds that recursion is counted in the outermost call only", function()
      local result = run { timeline = recursive,
         statistics = one("%T.NET%,%T.GROSS%,%T.CALL%", "2,30,30,30") }
      assert.same({}, result.best.differences)
      assert.equal("outermost", result.best.options.recursion)
      assert.equal(2, #result.tried[1].differences)
   end)

   it("finds that calls without an end are left out", function()
      local timeline = "00000001,E,,0\n00000001,X,,5\n00000001,E,,10\n00000000,E,,10\n\z
         00000000,X,,20\n"
      local result = run { timeline = timeline, statistics = one("%T.NET%", "1,5") }
      assert.same({}, result.best.differences)
      assert.equal("exclude", result.best.options.partial)
   end)

   it("finds that the time outside is counted from edge to edge", function()
      local timeline = "00000000,E,,0\n00000001,E,,4\n00000001,X,,6\n00000000,X,,20\n"
      local result = run { timeline = timeline, statistics = one("%T.OUTSIDE%", "1,18") }
      assert.same({}, result.best.differences)
      assert.equal("include", result.best.options.edges)
   end)

   it("finds the end of the recording also if the statistics follow the timeline", function()
      local text = text1 { total = 100, statistics = "",
         timeline = "30000000,W,00000001,10\n30000000,W,00000000,40\n" }
      local trace <close> = assert(profio.open { data = text
         .. "* STATISTICS(Data) %HANDLE%,%VALUE%,%COUNT%,%T.NET%\n30000000,1,1,30\n"
         .. "30000000,0,1,60\n" })
      local result = verify.run(trace)
      assert.same({}, result.best.differences)
      assert.matches(" last=100$", result.best.words)
   end)

   it("finds that the last state lasted as long as the recording", function()
      local parts = { total = 100, timeline = "30000000,W,00000001,10\n30000000,W,00000000,40\n",
         statistics = "* STATISTICS(Data) %HANDLE%,%VALUE%,%COUNT%,%T.NET%\n\z
            30000000,1,1,30\n30000000,0,1,60\n" }
      local result = run(parts)
      assert.same({}, result.best.differences)
      assert.equal("stated", result.best.options.recording)
      assert.matches(" last=100$", result.best.words)
      parts.statistics = parts.statistics:gsub("60", "0")
      result = run(parts)
      assert.same({}, result.best.differences)
      assert.equal("events", result.best.options.recording)
   end)

   it("takes a mean that is rounded either way, and a 0 for what is not there", function()
      local timeline = "00000001,E,,0\n00000001,X,,10\n00000001,E,,20\n00000001,X,,31\n"
      for mean, differences in pairs { [9] = 1, [10] = 0, [11] = 0, [12] = 1 } do
         local result = run { timeline = timeline, statistics = one("%T.NET.AVG%", "2," .. mean) }
         assert.equal(differences, #result.best.differences)
      end
      assert.same({}, run { timeline = recursive:match "^.-\n",
         statistics = one("%T.PERIOD.MIN%", "1,0") }.best.differences)
   end)

   it("compares each context with its own", function()
      local timeline = "00000001,E,,0,T1\n00000001,X,,10,T1\n00000001,E,,20,T2\n\z
         00000001,X,,50,T2\n"
      local statistics = one("%T.NET%", "2,40")
         .. "* STATISTICS(Functions) CONTEXT(T1) %HANDLE%,%T.NET%\n00000001,10\n"
         .. "* STATISTICS(Functions) CONTEXT(T2) %HANDLE%,%T.NET%\n00000001,31\n"
      local result = run { timeline = timeline, statistics = statistics, context = true }
      assert.equal(1, #result.best.differences)
      local difference = result.best.differences[1]
      assert.same({ "f", "T2", "net", 31, 30 }, { difference.area, difference.context,
         difference.column, difference.exported, difference.computed })
   end)

   it("tells of areas that have no events", function()
      local result = run { timeline = "00000000,E,,0\n", statistics = one("%T.NET%", "3,7") }
      assert.equal(2, #result.best.differences)
      assert.is_nil(result.best.differences[1].computed)
      assert.equal(8, #result.tried)
   end)
end)

describe("--report verify", function()
   local good = command.file("good.txt", text1 { timeline = recursive,
      statistics = one("%T.GROSS%", "2,30") })
   local bad = command.file("bad.txt", text1 { timeline = recursive,
      statistics = one("%T.NET%,%T.NET.MIN%", "2,30,9") })

   it("says which options agree", function()
      local text, status = command.run("profio --report verify " .. good)
      assert.equal(0, status)
      assert.equal([[
2 numbers in 1 rows of the file's own statistics

differences  options of calls
          1  partial=include recursion=all edges=exclude
          1  partial=exclude recursion=all edges=exclude
          0  partial=include recursion=outermost edges=exclude   all agree
]], text)
   end)

   it("lists every difference", function()
      local text = command.run("profio --report verify " .. bad)
      assert.matches("\n +1  partial=include recursion=all edges=exclude   the best\n", text)
      assert.matches("\ndifferences with partial=include recursion=all edges=exclude \z
         %(times in ns%)\n\z
         column   exported  computed  area\nnet_min         9        10  f\n$", text)
      assert.equal("area,handle,value,context,column,exported,computed,options\n\z
         f,00000001,,,net_min,9,10,partial=include recursion=all edges=exclude\n",
         (command.run("profio --report verify --output csv " .. bad)))
   end)

   it("fits only files that state statistics", function()
      local path = command.file("none.txt", text1 { timeline = recursive, statistics = "" })
      local _, status, errors = command.run("profio --report verify " .. path)
      assert.equal(2, status)
      assert.matches("does not fit this file: it states no statistics", errors)
      path = command.file("still.txt", text1 { timeline = "", statistics = one("%T.NET%", "1,5") })
      _, status, errors = command.run("profio --report verify " .. path)
      assert.equal(2, status)
      assert.matches("does not fit this file: it has no events", errors)
      assert.is_nil((command.run("profio --list-reports " .. path)):find "\ncalls ")
   end)
end)
