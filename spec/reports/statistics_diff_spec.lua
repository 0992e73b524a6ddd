-- --diff with statistics: compares two runs by area and context.
--
-- Tags: stressed.
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local command = require "spec.support.command"
local profio = require "profio"

-- Writes ten turns of 10 us: Task runs 8 us of each and calls Db, which takes `step` ns more each
-- time, and another area for 100 ns. With `cores` every second turn is on another core.
local function run_of(name, step, other, late, cores)
   local path = command.folder .. "/" .. name
   local trace = assert(profio.create(path, { format = "winidea", dialect = "text1",
      timeline_binary = cores ~= nil }))
   for i = 0, 9 do
      local at = i * 10000 + (i == 9 and late or 0)
      for _, event in ipairs { { 0, "enter", "Task" }, { 1000, "enter", "Db" },
         { 1000 + step * (i + 1), "leave", "Db" }, { 7000, "enter", other },
         { 7100, "leave", other }, { 8000, "leave", "Task" } }
      do
         trace:write { time = at + event[1], event = event[2], area = event[3],
            core = cores and i % cores or nil }
      end
   end
   assert(trace:close())
   return path
end

run_of("stat_new.txt", 200, "New", 500)
run_of("stat_old.txt", 100, "Old", 0)
run_of("stat_new2.txt", 200, "New", 500, 2)
run_of("stat_old2.txt", 100, "Old", 0, 2)

local function fine(line)
   local out, status, err = command.run("profio " .. line)
   assert.equal(0, status, err)
   return out
end

local base = "--report statistics --diff stat_old.txt stat_new.txt --set by=area "

describe("statistics of two runs", function()
   it("are compared by area, with the change", function()
      assert.equal("area,count,count_before,count_change,net,net_before,net_change\n"
         .. "Db,10,10,0,11000,5500,5500\nTask,10,10,0,68000,73500,-5500\n"
         .. "New,10,0,10,1000,0,1000\nOld,0,10,-10,0,1000,-1000\n", fine(base .. "--output csv "
         .. "--columns area,count,count_before,count_change,net,net_before,net_change"))
   end)

   it("have the greatest, the quantile and the jitter of both", function()
      local columns = "area,gross_max,gross_max_before,gross_max_change,gross_p99,gross_p99_before,"
         .. "period_jitter,period_jitter_before,period_jitter_change"
      assert.equal(columns .. "\nDb,2000,1000,1000,2000,1000,500,0,500\n"
         .. "New,100,,,100,,500,,\n", fine(base .. "--output csv --where area=Db,New --columns "
         .. columns))
   end)

   it("have the load, the mean period and the start of the worst call of both", function()
      assert.equal("area,load,load_before,period_mean,period_mean_before,gross_max_at,"
         .. "gross_max_at_before\nDb,0.1116751269035533,0.05612244897959184,10055.55555555"
         .. "5555,10000,91500,91000\n", fine(base .. "--output csv --where area=Db --columns "
         .. "area,load,load_before,period_mean,period_mean_before,gross_max_at,"
         .. "gross_max_at_before"))
      local _, _, err = command.run("profio " .. base .. "--columns gross_max_at_change")
      assert.matches("no column", err)
   end)

   it("include areas of only one run", function()
      local function alone(name, suffix)
         local trace <close> = assert(profio.open(command.folder .. "/" .. name))
         local list = {}
         for row in trace:call_statistics { by = "area" }:records() do
            for _, number in ipairs { "count", "net", "gross", "net_max", "gross_max", "net_p99",
               "gross_p99", "period_jitter" }
            do
               list[row.area .. " " .. number .. suffix] = row[number]
            end
         end
         return list
      end
      local columns
      for line in fine(base .. "--output csv"):gmatch "[^\n]+" do
         local fields = {}
         for field in (line .. ","):gmatch "([^,]*)," do
            fields[#fields + 1] = field
         end
         if not columns then
            columns = fields
         else
            for _, side in ipairs { { "stat_new.txt", "" }, { "stat_old.txt", "_before" } } do
               local wanted = alone(side[1], side[2])
               for i, name in ipairs(columns) do
                  local value = wanted[fields[1] .. " " .. name]
                  if value then
                     assert.equal(value, math.tointeger(tonumber(fields[i])), name)
                  end
               end
            end
         end
      end
      assert.equal("area", columns[1])
   end)

   it("have a row for each context too, and one time whole with --metric", function()
      local out = fine("--report statistics --diff stat_old2.txt --metric period --output csv "
         .. "--where area=Db stat_new2.txt")
      assert.matches("^area,value,context,count,count_before,count_change,period,period_before,"
         .. "period_change,period_max,", out)
      assert.matches("period_jitter,period_jitter_before,period_jitter_change,about\n"
         .. "Db,,,10,10,0,", out)
      assert.matches("\nDb,,core 0,5,5,0,", out)
      assert.matches("\nDb,,core 1,5,5,0,", out)
   end)

   it("are three lines for each area in text, below the files of both sides", function()
      local out = fine(base .. "--top 2")
      assert.matches("^new: stat_new%.txt\nold: stat_old%.txt\n\n", out)
      assert.matches("count +net %(us%).* +run +area\n"
         .. " +10 +5%.500 .- old +Db\n +10 +11%.000 .- new +Db\n +0 +5%.500 .- change +Db\n"
         .. " +10 +73%.500 .- old +Task\n +10 +68%.000 .- new +Task\n"
         .. " +0 +%-5%.500 .- change +Task\n$", out)
      out = fine "--report statistics --diff stat_old2.txt stat_new2.txt"
      assert.matches("all contexts\n.*\ncontext core 0\n.*\ncontext core 1\n", out)
   end)

   it("need events on both sides, and are nothing for limits without a base", function()
      local _, status, err = command.run "profio --report statistics --diff gmon.out stat_new.txt"
      assert.equal(2, status)
      assert.matches("does not fit gmon.out", err)
      command.file("stat_limits.txt", "Db count <= 5\n")
      _, status = command.run "profio --limits stat_limits.txt --diff stat_old.txt stat_new.txt"
      assert.equal(2, status)
   end)

   it("are the base of relative limits", function()
      local function checked(line, more)
         command.file("stat_relative.txt", line .. "\n")
         return command.run("profio --limits stat_relative.txt --output csv --columns "
            .. "area,bound,value,state " .. (more or "--diff stat_old.txt stat_new.txt"))
      end
      local out, status = checked "Db gross_max <= base * 1.05"
      assert.equal("area,bound,value,state\nDb,1050,2000,exceeded\n", out)
      assert.equal(4, status)
      assert.equal("area,bound,value,state\nDb,2000,2000,ok\n",
         (checked "Db gross_max <= base + 1us"))
      assert.equal("area,bound,value,state\nNew,,100,missing\n",
         (checked "New gross_max <= base"))
      local _, wrong, err = checked("Db gross_max <= base", "stat_new.txt")
      assert.equal(2, wrong)
      assert.matches("stat_relative.txt:1: the bound is relative to a base: give the older", err)
      out, status = checked("~. self <= base * 2", "--diff gmon.out gmon.out")
      assert.equal(0, status)
      assert.matches("ok\n", out)
   end)
end)
