-- The size of report bottom-up of a large trace is bounded.
--
-- Tags: stressed.

local events = require "spec.support.events"

describe("--report bottom-up of many functions", function()
   -- 150 functions, the heaviest last, each below the one before: 150 levels of callers.
   local lines, time = {}, 0
   for i = 1, 150 do
      lines[#lines + 1] = ("%d enter f%03d"):format(time, i)
      time = time + i
   end
   for i = 150, 1, -1 do
      lines[#lines + 1] = ("%d leave f%03d"):format(time, i)
   end
   local text = table.concat(lines, "\n") .. "\n"

   local function rows(...)
      local out, status, errors = events.command(text, "--report", "bottom-up", "--output", "csv",
         "--columns", "depth,function", ...)
      assert.equal(0, status)
      local counts = {}
      for depth in out:gmatch "\n(%d+)," do
         counts[tonumber(depth)] = (counts[tonumber(depth)] or 0) + 1
      end
      return counts, errors, out
   end

   it("shows the heaviest, and says what is left out", function()
      local counts, errors, out = rows()
      assert.equal(100, counts[1])
      assert.equal(20, #counts)
      assert.matches("^depth,function\n1,f150\n", out)
      assert.equal("profio: 50 functions with less time are left out: --set functions=N shows N, 0 "
         .. "all\nprofio: callers beyond 20 levels are left out: --set levels=N shows N, 0 all\n",
         errors)
   end)

   it("shows what is asked for", function()
      local counts, errors = rows("--set", "functions=0", "--set", "levels=0")
      assert.same({ 150, 150, "" }, { counts[1], #counts, errors })
      counts = rows("--set", "functions=3", "--set", "levels=2")
      assert.same({ 3, 3 }, counts)
      counts, errors = rows("--where", "function=f001", "--where", "depth=1")
      assert.same({ 1, "" }, { counts[1], errors })
   end)
end)
