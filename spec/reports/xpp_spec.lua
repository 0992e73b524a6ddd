-- The reports of Xbase++ traces; XppPat's statistics equal the table published by Alaska.
--
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local open = require("profio").open
local xpp = require "spec.support.xpp_builder"

local function write(name, rows)
   local prf, prv = xpp.table(rows)
   command.file(name .. ".PRF", prf)
   command.file(name .. ".PRV", prv)
   return name .. ".PRF"
end

-- Returns the output of the command, which must print nothing on standard error.
local function profio(words)
   local text, status, errors = command.run("profio " .. words)
   assert.equal("", errors)
   assert.equal(0, status)
   return text
end

-- From the documentation's sample: one run of functions A, B, C under MAIN.
local published = [[
CALL  NUMBERS  TIMECLEAR  TIMEGROSS  TIMEMAX  TIMEMIN  TIMECALL  PERCCLEAR
A           1          0        703        0        0         0       0.00
B           3        303        303      101      101       101      42.86
C           2        400        602      200      200       200      56.58
MAIN        1          0        703        0        0         0       0.00
Sum         0          0          0        0        0         0      99.43
]]

local map = "--set map=thread=1,time=2,op=3,call=4,line=5,params=6 "

describe("XppPat's statistics", function()
   it("equal those of Alaska, from a table", function()
      assert.equal(published, profio(write("golden", xpp.golden)))
      assert.equal(published, profio("--report xpppat golden.PRF"))
   end)

   it("are the same from text", function()
      command.file("golden.txt", xpp.text(xpp.golden, { names = { "TID", "TIME", "OP", "MSG",
         "LINE", "PARAMS" } }))
      assert.equal(published, profio "golden.txt")
      command.file("bare.txt", xpp.text(xpp.golden))
      local text, status = command.run "profio bare.txt" -- with a note: fields are guessed
      assert.same({ published, 0 }, { text, status })
      assert.equal(published, (command.run("profio " .. map .. "bare.txt")))
   end)

   it("are the same from packets of 3 entries", function()
      command.run "rm -f pack-*.PR*"
      for _, form in ipairs { "table", "text" } do
         local list, prv = xpp.packets(xpp.golden, 3, form)
         for _, packet in ipairs(list) do
            command.file("pack-" .. form .. ".PRF" .. packet.suffix, packet.bytes)
         end
         command.file("pack-table.PRV", prv)
         for _, suffix in ipairs { "", ".000002" } do
            assert.equal(published, (command.run("profio pack-" .. form .. ".PRF" .. suffix)))
         end
      end
   end)

   it("are rows for programs", function()
      assert.equal("call,numbers,timeclear,timegross,timemax,timemin,timecall,percclear,thread\n"
         .. "A,1,0,703,0,0,0,0,\nB,3,303,303,101,101,101,42.86,\nC,2,400,602,200,200,200,56.58,\n"
         .. "MAIN,1,0,703,0,0,0,0,\nSum,0,0,0,0,0,0,99.43,\n",
         profio "--report xpppat --output csv golden.PRF")
      assert.equal("call\tnumbers\ttimeclear\nB\t3\t303\n",
         profio("--report xpppat --output tsv --columns call,numbers,timeclear "
            .. "--where call=B golden.PRF"))
   end)

   -- F calls itself: 0 to 10, within it 2 to 6.
   it("count calls within calls once, or twice", function()
      local file = write("self", { { 1, 0, "I", "F", 1 }, { 1, 2, "I", "F", 1 },
         { 1, 6, "O", "F", 1 }, { 1, 10, "O", "F", 1 } })
      assert.matches("\nF +2 +10 +10 +6 +4 +5 +100.00\n", profio(file))
      assert.matches("\nF +2 +10 +14 +6 +4 +5 +100.00\n",
         profio("--report xpppat --set recursion=all " .. file))
   end)

   it("have shares of at most 100 % of all threads, also of several runs", function()
      local rows = { { 1, 0, "I", "A", 1 }, { 2, 2, "I", "B", 1 }, { 3, 2, "I", "A", 1 },
         { 3, 6, "O", "A", 1 }, { 2, 10, "O", "B", 1 }, { 1, 20, "O", "A", 1 } }
      local one, again = write("three", rows), write("three-again", rows)
      local function shares(line)
         local list = {}
         for call, clear, share in profio("--report xpppat --output csv --columns "
            .. "call,timeclear,percclear " .. line):gmatch "(%w+),([%d.]+),([%d.]+)\n"
         do
            list[#list + 1] = ("%s %g %g"):format(call, clear, share)
         end
         return list
      end
      -- 36 ms: 20 of thread 1, 10 of thread 2, and 6 of thread 3
      assert.same({ "A 24 66.67", "B 8 22.22", "Sum 0 88.89" }, shares(one))
      assert.same({ "A 48 66.67", "B 16 22.22", "Sum 0 88.89" }, shares(one .. " " .. again))
      assert.same({ "A 4 25", "B 8 50", "Sum 0 75" }, shares("--lane 2,3 " .. one))
      assert.same({ "A 20 100", "Sum 0 100", "B 8 80", "Sum 0 80", "A 4 66.67", "Sum 0 66.67" },
         shares("--set per_thread=true " .. one))
   end)

   it("are shown for each thread by option", function()
      local file = write("two", { { 1, 0, "I", "A", 1 }, { 2, 0, "I", "A", 1 },
         { 2, 4, "O", "A", 1 }, { 1, 8, "O", "A", 1 } })
      assert.matches("\nA +2 +12 +12 +8 +4 +6 +100.00\nSum .* 100.00\n", profio(file))
      assert.equal([[
Thread 1
CALL  NUMBERS  TIMECLEAR  TIMEGROSS  TIMEMAX  TIMEMIN  TIMECALL  PERCCLEAR
A           1          8          8        8        8         8     100.00
Sum         0          0          0        0        0         0     100.00

Thread 2
CALL  NUMBERS  TIMECLEAR  TIMEGROSS  TIMEMAX  TIMEMIN  TIMECALL  PERCCLEAR
A           1          4          4        4        4         4     100.00
Sum         0          0          0        0        0         0     100.00
]], profio("--report xpppat --set per_thread=true " .. file))
      assert.matches("\nA +1 +4 +4 +4 +4 +4 +100.00\n", profio("--lane 2 " .. file))
      assert.equal("CALL  NUMBERS  TIMECLEAR  TIMEGROSS  TIMEMAX  TIMEMIN  TIMECALL  PERCCLEAR\n"
         .. "Sum         0          0          0        0        0         0       0.00\n",
         (command.run("profio --lane 3 " .. file)))
   end)

   -- MAIN 0..100 waits 10..90 in Sleep, which calls TIMER 30..50.
   it("leave out the time in which a thread waits", function()
      local file = write("idle", { { 1, 0, "I", "MAIN", 1 }, { 1, 10, "i", "SLEEP", 1 },
         { 1, 30, "I", "TIMER", 1 }, { 1, 50, "O", "TIMER", 1 }, { 1, 90, "o", "SLEEP", 1 },
         { 1, 100, "O", "MAIN", 1 } })
      assert.equal([[
CALL   NUMBERS  TIMECLEAR  TIMEGROSS  TIMEMAX  TIMEMIN  TIMECALL  PERCCLEAR
MAIN         1         20        100       20       20        20      20.00
SLEEP        1         60         80       60       60        60      60.00
TIMER        1         20         20       20       20        20      20.00
Sum          0          0          0        0        0         0     100.00
]], profio(file))
      assert.equal([[
CALL   NUMBERS  TIMECLEAR  TIMEGROSS  TIMEMAX  TIMEMIN  TIMECALL  PERCCLEAR
MAIN         1         20         40       20       20        20      50.00
SLEEP        1          0         20        0        0         0       0.00
TIMER        1         20         20       20       20        20      50.00
Sum          0          0          0        0        0         0     100.00
]], profio("--set idle=AppEvent,Sleep " .. file))
   end)
end)

-- A main program with a BREAK in C that MAIN recovers from, a built-in function, and a call that is
-- open at the end; all operations.
local unfiltered = {
   { 1, 0, "I", "MAIN", 1 },
   { 1, 1, "i", "A", 11 }, { 1, 2, "I", "A", 20 }, { 1, 3, "i", "LEN", 21 },
   { 1, 4, "o", "LEN", 21 }, { 1, 6, "O", "A", 25 }, { 1, 9, "o", "A", 11 },
   { 1, 10, "i", "B", 12 }, { 1, 10, "I", "B", 30 }, { 1, 11, "i", "C", 31 },
   { 1, 12, "I", "C", 40 },
   { 1, 20, "i", "A", 14 }, { 1, 20, "I", "A", 20 }, { 1, 21, "O", "A", 25 },
   { 1, 22, "o", "A", 14 },
   { 1, 30, "O", "MAIN", 15 },
   { 1, 31, "I", "MAIN", 1, "" },
}
unfiltered[17][6] = nil

describe("other reports", function()
   write("unfiltered", unfiltered)

   it("show the entries", function()
      local text = profio "--report entries --where call=A golden.PRF"
      assert.equal([[
THREAD     TIME (ms)  OP  CALL                       LINE  PARAMETERS
     1             4  I   A                            20
     1           707  O   A                            21
]], text)
      assert.equal("thread,time,op,call,line,params,flags\n1,4000000,I,MAIN,10,,\n",
         profio "--report entries --output csv --top 1 golden.PRF")
   end)

   it("show the execution flow, as text and as intervals", function()
      assert.equal([[
     TIME (ms)  enters > and leaves <
Thread 1
             0  > MAIN
             1     > A
             3        > LEN
             4        < LEN  1 ms
             9     < A  8 ms
            10     > B
            11        > C
            12        < C  1 ms  (unwound)
            12     < B  2 ms  (unwound)
            20     > A
            22     < A  2 ms
            30  < MAIN  30 ms
            31  > MAIN
]], profio "--report flow unfiltered.PRF")
      assert.equal("depth,area,start,stop\n1,MAIN,0,30000000\n2,A,1000000,9000000\n"
         .. "3,LEN,3000000,4000000\n2,B,10000000,12000000\n3,C,11000000,12000000\n"
         .. "2,A,20000000,22000000\n1,MAIN,31000000,31000000\n",
         profio "--report flow --output csv --columns depth,area,start,stop unfiltered.PRF")
      assert.matches("\n +22 +1  +< A  2 ms\n",
         profio "--report flow --set per_thread=false unfiltered.PRF")
   end)

   it("show lines, overhead and incomplete calls", function()
      assert.equal("call,line,numbers,net\nMAIN,1,2,18000000\nA,11,1,7000000\n",
         profio("--report hotspots --output csv --columns call,line,numbers,net --top 2 "
            .. "unfiltered.PRF"))
      assert.equal("call,compiled,numbers,overhead,overhead_mean,overhead_max\n"
         .. "A,true,2,5000000,2500000,4000000\nC,true,1,1000000,1000000,1000000\n"
         .. "B,true,1,0,0,0\nLEN,false,1,0,,\nMAIN,true,2,0,,\n",
         profio "--report overhead --output csv unfiltered.PRF")
      assert.equal("flags,area,start,stop\nunwound,C,11000000,12000000\n"
         .. "unwound,B,10000000,12000000\nopen,MAIN,31000000,31000000\n",
         profio "--report unclosed --output csv --columns flags,area,start,stop unfiltered.PRF")
   end)

   it("report files that they do not fit", function()
      local _, status, errors = command.run "profio --report overhead golden.PRF"
      assert.equal(2, status)
      assert.matches("were filtered", errors)
      _, status, errors = command.run "profio --report xpppat gmon.out"
      assert.equal(2, status)
      assert.matches("traces of Xbase%+%+", errors)
   end)
end)

-- Calls of DBSEEK in MAIN, one after the other: { duration in ms, line, parameters }.
local seeks = { { 10, 120, "KEY1" }, { 10, 120, "KEY1" }, { 100, 200, "KEY2" }, { 10, 120, "KEY2" },
   { 120, 200, "KEY2" }, { 10, 120 } }

local function seek_rows()
   local rows, time = { { 1, 0, "i", "MAIN", 1 } }, 5
   for _, seek in ipairs(seeks) do
      rows[#rows + 1] = { 1, time, "i", "DBSEEK", seek[2], seek[3] }
      time = time + seek[1]
      rows[#rows + 1] = { 1, time, "o", "DBSEEK", seek[2] }
   end
   rows[#rows + 1] = { 1, time, "o", "MAIN", 1 }
   return rows
end

describe("slow calls of Xbase++", function()
   local path = write("seeks", seek_rows())

   it("are listed with line and parameters, in ms", function()
      local text = profio("report calls --where area=DBSEEK --sort -call --top 2 --columns "
         .. "area,start,call,line,params " .. path)
      assert.equal("area    start (ms)  call (ms)  line  params\n"
         .. "DBSEEK     135.000    120.000   200  KEY2\n"
         .. "DBSEEK      25.000    100.000   200  KEY2\n", text)
      assert.matches("caller  line  params  flags\n", profio("report calls " .. path))
      assert.matches(",line,params,flags\n", profio("report calls --output csv " .. path))
   end)

   it("are listed without columns that the file does not have", function()
      local text = command.file("bare.txt", xpp.text(seek_rows(), { columns = 5, names = { "TID",
         "TIME", "OP", "MSG", "LINE" } }))
      local shown = command.run("profio report calls " .. text)
      assert.matches("caller  line  flags\n", shown)
      assert.is_nil(shown:find "params")
   end)

   it("are explained by line and by parameters", function()
      local trace <close> = assert(open(command.folder .. "/" .. path))
      local made = assert(trace:explain "DBSEEK")
      assert.equal(2, made.slow.calls)
      local ms = 1000000
      assert.same({
         { value = 200, caller = "MAIN", calls = 2, slow = 2, elapsed = 220 * ms,
           longest = 120 * ms },
         { value = 120, caller = "MAIN", calls = 4, slow = 0, elapsed = 40 * ms,
           longest = 10 * ms },
      }, made.by_line)
      assert.same({
         { value = "KEY2", calls = 3, slow = 2, elapsed = 230 * ms, longest = 120 * ms },
         { value = "KEY1", calls = 2, slow = 0, elapsed = 20 * ms, longest = 10 * ms },
         { calls = 1, slow = 0, elapsed = 10 * ms, longest = 10 * ms },
      }, made.by_params)
      local part = assert(trace:explain("DBSEEK", { to = 100 * ms }))
      assert.same({ { value = 120, caller = "MAIN", calls = 2, slow = 1, elapsed = 20 * ms,
         longest = 10 * ms } }, part.by_line)
   end)

   it("are explained in text and rows", function()
      local text = profio("explain DBSEEK " .. path)
      assert.is_truthy(text:find(([[

     CALLS        SLOW            MEAN         LONGEST  LINE OF THE CALL
         2           2      110.000 ms      120.000 ms  200 in MAIN
         4           0       10.000 ms       10.000 ms  120 in MAIN

     CALLS        SLOW            MEAN         LONGEST  PARAMETERS
         3           2       76.667 ms      120.000 ms  KEY2
         2           0       10.000 ms       10.000 ms  KEY1
         1           0       10.000 ms       10.000 ms  -
]]), 1, true), text)
      assert.equal("kind,line,params,count,slow,longest\nline,200,,2,2,120000000\n"
         .. "line,120,,4,0,10000000\nparams,,KEY2,3,2,120000000\nparams,,KEY1,2,0,10000000\n"
         .. "params,,,1,0,10000000\n", profio("explain --where kind=line,params --columns "
         .. "kind,line,params,count,slow,longest --output csv DBSEEK " .. path))
   end)
end)

describe("sources of Xbase++", function()
   local main = table.concat({ "* FUNCTION Seek() was here", "PROCEDURE Main()",
      '   ? "FUNCTION Not( // " ;', "     + 'x'", "   Seek()   // FUNCTION Seek()",
      "   /* FUNCTION Seek()", "   FUNCTION Seek() */ Twice()", "RETURN", "", "STATIC ;",
      "   FUNCTION Seek( n ) && of n", "   DBSEEK( n )", "RETURN .T." }, "\r\n") .. "\r\n"

   -- MAIN calls SEEK at line 5, which calls DBSEEK at line 12 for 10, 20 and 30 ms; TWICE at 7.
   local rows, time = { { 1, 0, "i", "MAIN", 0 } }, 0
   for i = 1, 3 do
      table.move({ { 1, time + 1, "i", "SEEK", 5 }, { 1, time + 2, "i", "DBSEEK", 12, "K" .. i },
         { 1, time + 2 + 10 * i, "o", "DBSEEK", 12 }, { 1, time + 4 + 10 * i, "o", "SEEK", 5 } },
         1, 4, #rows + 1, rows)
      time = time + 4 + 10 * i
   end
   table.move({ { 1, time, "i", "TWICE", 7 }, { 1, time + 8, "o", "TWICE", 7 },
      { 1, time + 10, "o", "MAIN", 0 } }, 1, 3, #rows + 1, rows)
   local path, sources = nil, "prg"

   setup(function()
      path = write("sources", rows)
      disk.fresh(command.folder .. "/prg")
      disk.fresh(command.folder .. "/prg/none")
      command.file("prg/Main.PRG", main)
      command.file("prg/a.prg", "function twice\nreturn\n")
      command.file("prg/b.prg", "#define X\nPROC Twice()\n")
   end)

   local function with_source(words)
      local text, status, errors = command.run(("profio %s --source %s %s"):format(words, sources,
         path))
      assert.equal(0, status)
      return text, errors
   end

   local twice = "profio: note: TWICE is defined in prg/a.prg:1 and prg/b.prg:2: no source of it "
      .. "is shown\n"

   it("give files and lines to functions", function()
      assert.same({ "file,line,self,function\n,,60000000,DBSEEK\n"
         .. "prg/Main.PRG,2,5000000,MAIN\nprg/Main.PRG,10,9000000,SEEK\n,,8000000,TWICE\n", twice },
         { with_source("report lines --output csv --columns file,line,self,function --sort "
         .. "function") })
   end)

   it("are annotated with the times of functions and of calls", function()
      assert.same({ "file,line,calls,self,total,function\n"
         .. "prg/Main.PRG,2,1,5000000,82000000,MAIN\nprg/Main.PRG,5,3,0,69000000,SEEK\n"
         .. "prg/Main.PRG,7,1,0,8000000,TWICE\nprg/Main.PRG,10,3,9000000,69000000,SEEK\n"
         .. "prg/Main.PRG,12,3,0,60000000,DBSEEK\n,,3,60000000,60000000,DBSEEK\n"
         .. ",,1,8000000,8000000,TWICE\n", twice }, { with_source("report annotate --output csv "
         .. "--columns file,line,calls,self,total,function") })
      local text = with_source "report annotate"
      assert.is_truthy(text:find("\n         5           82 -> PROCEDURE Main()\n", 1, true))
      assert.is_truthy(text:find("\n                     60 ->    DBSEEK( n )\n", 1, true))
      assert.is_truthy(text:find("\n       68   ms in functions without a source\n", 1, true))
   end)

   it("are shown by explain", function()
      local text, errors = with_source "explain SEEK"
      assert.equal("", errors)
      assert.is_truthy(text:find("\nSeek, prg/Main.PRG:10:\n\n      10  STATIC ;\n"
         .. "      11     FUNCTION Seek( n ) && of n\n      12     DBSEEK( n )\n"
         .. "      13  RETURN .T.\n", 1, true), text)
      assert.is_truthy(text:find("  5 in MAIN                 Seek()   // FUNCTION Seek()\n", 1,
         true), text)
      text, errors = with_source "explain DBSEEK"
      assert.is_truthy(text:find("  12 in SEEK                DBSEEK( n )\n", 1, true), text)
      assert.equal("profio: note: no FUNCTION, PROCEDURE, METHOD or CLASS DBSEEK in 3 *.prg of "
         .. "--source\n", errors)
      assert.equal("line,caller,source\n12,SEEK,DBSEEK( n )\n", (with_source("explain --where "
         .. "kind=line --columns line,caller,source --output csv DBSEEK")))
   end)

   it("are said to be lacking", function()
      local text, _, errors = command.run("profio report annotate " .. path)
      assert.matches("name the folder of the %*%.prg by %-%-source DIR", errors)
      assert.matches("^ +82   ms in functions without a source\n$", text)
      sources = "prg/none"
      _, errors = with_source "report lines"
      sources = "prg"
      assert.matches("no %*%.prg in prg/none: name the folder of the sources", errors)
      command.file("prg/Main.PRG", (main:gsub("\r\n   DBSEEK", "\r\nFUNCTION X\r\n DBSEEK")))
      _, errors = with_source "report annotate"
      assert.matches("the source of SEEK has no line 12, at which it called DBSEEK: it may be "
         .. "another version", errors)
      command.file("prg/Main.PRG", main)
   end)
end)

describe("functions of an Xbase++ source", function()
   local prg_parser = require "profio.formats.xpp.prg_parser"

   -- Returns "kind name first last" of each function.
   local function found(text)
      local list, functions = {}, {}
      for line in text:gmatch "([^\n]*)\n" do
         list[#list + 1] = line
      end
      for i, one in ipairs(prg_parser.functions(list)) do
         functions[i] = ("%s %s %d %d"):format(one.kind, one.name, one.line, one.last)
      end
      return functions
   end

   it("are found in all their forms", function()
      assert.same({ "function A 1 1", "procedure B 2 2", "procedure C 3 3", "function D 4 5",
         "function E 6 6" }, found("FUNCTION A\nstatic procedure B( x )\nINIT PROC C\n"
         .. "Static ;\n  Func D\nFUNCTION E()\n"))
      assert.same({ "class Foo 1 3", "method Foo:Quick 4 6", "method Foo:Run 7 7",
         "method Bar:Other 8 8", "method Foo:Init 9 9", "method Foo:Plain 10 10" },
         found("CLASS Foo FROM Base\n   METHOD Run\n   CLASS METHOD Init\n"
         .. "   INLINE METHOD Quick\n   RETURN self\nENDCLASS\nMETHOD Foo:Run( n )\n"
         .. "METHOD Other( a ) CLASS Bar\nCLASS METHOD Foo:Init()\nMETHOD Plain\n"))
   end)

   it("are not found in comments, strings and expressions", function()
      assert.same({ "function Yes 6 9" }, found("* FUNCTION A\nNOTE FUNCTION B\n// FUNCTION C\n"
         .. "&& FUNCTION D\n/* FUNCTION E\n*/ FUNCTION Yes\n? 'FUNCTION F /*'\n"
         .. "x := ;\n  FUNCTION( y )\n"))
   end)
end)
