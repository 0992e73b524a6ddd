-- Tags: user.

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
      assert.equal("time\n", (events.command(lines, "--table", "events", "--columns", "time",
         "--output", "csv", "--from", "-5ms", "--to", "-1ms")))
   end)

   it("take parts of the trace: from the first to just behind the last", function()
      -- 100 to 1100 are 1001 nanoseconds
      assert.equal("100 150 ", times("--to", "10%"))
      assert.equal("200 300 1100 1099 ", times("--from", "10%"))
      assert.equal("100 150 200 300 1100 1099 ", times("--from", "0%", "--to", "100%"))
      assert.equal("1100 ", times("--from", "99.95%"))
      -- 2^62 ns and 10.5 %: 484227031934875729.9
      local long = ("0 enter f a\n%d enter g a\n%d leave g a\n%d leave f a\n"):format(
         484227031934875728, 484227031934875729, (1 << 62) - 1)
      local text = events.fine(long, "--table", "events", "--columns", "time", "--output", "csv",
         "--to", "10.5%")
      assert.equal("time\n0\n484227031934875728\n", text)
   end)

   it("use the first and last time of the header", function()
      local function of(...)
         return events.fine("EVENTS 0 999\n" .. lines, "--table", "events", "--columns", "time",
            "--output", "csv", ...)
      end
      assert.equal("time\n100\n150\n", of("--to", "20%"))
   end)

   it("mean all files of a trace", function()
      local command = require "spec.support.command"
      local other = command.file("other.events",
         "EVENTS 900 1000\n900 enter x a\n1000 leave x a\n")
      local text = events.fine("EVENTS 0 100\n0 enter f a\n100 leave f a\n", other, "--table",
         "events", "--columns", "time", "--output", "csv", "--from", "50%")
      assert.equal("time\n900\n1000\n", text)
   end)

   it("may be given among other options", function()
      assert.equal("area,n\ng,2\n", events.fine(lines, "--from", "200", "--to", "301", "--group",
         "area", "--aggregate", "n=count", "--output", "csv"))
   end)

   it("are refused if they are wrong or have no effect", function()
      local function wrong(message, ...)
         local _, status, errors = events.command(lines, ...)
         assert.equal(2, status)
         assert.is_truthy(errors:find(message, 1, true), errors)
      end
      wrong("--from must be a time", "--from", "soon")
      wrong("--to must be a time", "--to", "1 ms")
      wrong("--from 2 is after --to 1", "--table", "events", "--from", "2", "--to", "1")
      wrong("these rows have no column 'time'", "--table", "raw", "--from", "1")
      wrong("report 'info' cannot use --from: reports that", "--report", "info", "--from", "1")
      wrong("--info cannot use --to: leave it out", "--info", "--to", "1")
      wrong("--check cannot use --lane: leave it out", "--lane", "1", "--check")
   end)
end)

describe("the profile of events", function()
   local program = [[
0 enter main a
10 enter f a
30 leave f a
40 enter isr b
45 leave isr b
60 leave main a
]]

   local function flat(...)
      return events.fine(program, "--report", "flat", "--output", "csv", "--columns",
         "function,calls,self,total", ...)
   end

   it("is limited by --from and --to", function()
      assert.equal("function,calls,self,total\nmain,1,40,60\nf,1,20,20\nisr,1,5,5\n", flat())
      assert.equal("function,calls,self,total\nf,0,10,10\nmain,0,5,15\n",
         flat("--from", "20", "--to", "35"))
   end)

   it("is limited by --lane", function()
      assert.equal("function,calls,self,total\nisr,1,5,5\n", flat("--lane", "b"))
   end)

   it("is exported with these limits", function()
      assert.equal("main 5\nmain;f 10\n", events.fine(program, "--export", "folded", "--from", "20",
         "--to", "35"))
   end)

   it("is compared with these limits", function()
      local command = require "spec.support.command"
      local old = command.file("old.events", "EVENTS\n" .. program:gsub("30 leave", "26 leave"))
      assert.equal("function,change\nf,4\nmain,-4\n", events.fine(program, "--diff", old,
         "--report", "diff", "--output", "csv", "--columns", "function,change", "--to", "35",
         "--where", "change!=0"))
   end)
end)

describe("--lane", function()
   it("keeps the rows of a lane, or of several", function()
      assert.equal("150 1100 ", times("--lane", "b"))
      assert.equal("100 150 200 300 1100 1099 ", times("--lane", "a,b"))
      assert.equal("200 ", times("--lane", "a", "--from", "150", "--to", "300"))
   end)

   it("takes a core by its number", function()
      local command = require "spec.support.command"
      local records = require "spec.support.winidea"
      local bytes = ""
      for time, core in ipairs { 1, 11, 2, 1 } do
         bytes = bytes .. records.new { handle = 7, event = "enter", core = core, time = time }
      end
      local text = command.run("profio --table events --columns time --output csv --lane 1 "
         .. command.file("cores.BIN", bytes))
      assert.equal("time\n1\n4\n", text)
   end)

   it("is a usage error without lanes", function()
      local _, status, errors = events.command(lines, "--table", "raw", "--lane", "a")
      assert.equal(2, status)
      assert.is_truthy(errors:find("--lane: these rows have no lanes; there are: offset", 1, true))
   end)
end)
