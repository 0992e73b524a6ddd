local events = require "spec.support.events"

local lines = [[
100 enter main a
150 enter f b
200 enter g a
300 leave g a
1100 leave f b
1099 write v a 7
]]

local function times(...)
   local text = events.fine(lines, "--table", "events", "--columns", "time", "--output", "csv", ...)
   return (text:gsub("^time\n", ""):gsub("\n", " "))
end

describe("--from and --to", function()
   it("take from <= time < to", function()
      assert.equal("150 200 ", times("--from", "150", "--to", "300"))
      assert.equal("150 200 ", times("--from", "0.15us", "--to", "0.3us"))
      assert.equal("150 200 ", times("--from", ".15", "--to", ".3", "--unit", "us"))
      assert.equal("300 1100 1099 ", times("--from", "300ns"))
      assert.equal("100 150 200 ", times("--to", "300"))
      assert.equal("", times("--from", "-5ms", "--to", "-1ms"))
   end)

   it("take parts of the trace: from the first to just behind the last", function()
      -- 100 to 1100 are 1001 nanoseconds
      assert.equal("100 150 ", times("--to", "10%"))
      assert.equal("200 300 1100 1099 ", times("--from", "10%"))
      assert.equal("100 150 200 300 1100 1099 ", times("--from", "0%", "--to", "100%"))
      assert.equal("1100 ", times("--from", "99.95%"))
   end)

   it("believe the header when it tells first and last", function()
      local function of(...)
         return events.fine("EVENTS 0 999\n" .. lines, "--table", "events", "--columns", "time",
            "--output", "csv", ...)
      end
      assert.equal("time\n100\n150\n", of("--to", "20%"))
   end)

   it("stand among the other options", function()
      assert.equal("area,n\ng,2\n", events.fine(lines, "--from", "200", "--to", "301", "--group",
         "area", "--aggregate", "n=count", "--output", "csv"))
   end)

   it("are wrong use where they mean nothing", function()
      local function wrong(message, ...)
         local _, status, errors = events.command(lines, ...)
         assert.equal(2, status)
         assert.is_truthy(errors:find(message, 1, true), errors)
      end
      wrong("--from wants a time", "--from", "soon")
      wrong("--to wants a time", "--to", "1 ms")
      wrong("--from 2 lies behind --to 1", "--table", "events", "--from", "2", "--to", "1")
      wrong("these rows have no column 'time'", "--table", "raw", "--from", "1")
      wrong("report 'info' tells of the whole trace", "--report", "info", "--from", "1")
      wrong("--info takes the whole trace", "--info", "--to", "1")
      wrong("--check takes the whole trace", "--lane", "1", "--check")
   end)
end)

describe("--lane", function()
   it("keeps the rows of a lane, or of several", function()
      assert.equal("150 1100 ", times("--lane", "b"))
      assert.equal("100 150 200 300 1100 1099 ", times("--lane", "a,b"))
      assert.equal("200 ", times("--lane", "a", "--from", "150", "--to", "300"))
   end)

   it("is wrong use where there are no lanes", function()
      local _, status, errors = events.command(lines, "--table", "raw", "--lane", "a")
      assert.equal(2, status)
      assert.is_truthy(errors:find("--lane: these rows have no lanes; there are: offset", 1, true))
   end)
end)
