-- Tags: stressed.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local codes = require("spec.support.codes").sorted

local function open(bytes, options)
   options = options or {}
   options.format = "br"
   local data = type(bytes) == "string" and bytes or bytes:bytes()
   return assert(profio.open({ data = data }, options))
end

-- Returns the rows of samples, without the offsets of groups.
local function samples(bytes, options)
   local trace <close> = open(bytes, options)
   local rows = trace.samples:rows("module", "line", "clause", "function", "kind", "spent", "depth")
   return rows, trace
end

-- Returns the row of a line of module 1.
local function one()
   return br():module(1, "A.BR"):line(1, 10, 1):main():time(5):stop()
end

-- The example of the format's documentation, packed by hand.
local golden = (([[ 01 0001 0007 4d454e552e4252   01 0002 0006 4c49422e4252
   03 0002 000004ce 02  07 05 464e544158  04 00000000000005dc  05 0001 00000190 00 08
   05 0001 00000064 00 09  06 ]]):gsub("%s", ""):gsub("..", function(hex)
   return string.char(tonumber(hex, 16))
end))

describe("br", function()
   it("reads the example of the documentation", function()
      local trace <close> = assert(profio.open { data = golden })
      assert.equal("br", trace.format)
      assert.same({ "samples", "frames", "raw" }, trace.tables)
      assert.same({ { module = "LIB.BR", line = 1230, clause = 2, ["function"] = "FNTAX",
         kind = "function", spent = 1500, depth = 3, stack = 2, self = 1500, time = 0,
            offset = 23 } },
         trace.samples:rows())
      assert.same({
         { area = "FNTAX", class = "function", file = "LIB.BR", line = 1230, value = 2 },
         { area = "MENU.BR gosub", class = "gosub", file = "MENU.BR", line = 400, value = 0 },
         { area = "MENU.BR", class = "main", file = "MENU.BR", line = 100, value = 0 },
      }, trace:stack(2))
      assert.same({ format = "br", dialect = "timed", byte_order = "big", records = 1, mappings = 2,
         code_page = "CP437",
         backtrace_order = "inner_first", main_first = 0, main_last = 1, has_backtraces = true,
         backtrace_order_why = "the main routine stands on the last backtrace",
         semantics = "self", semantics_why = "assumed: nothing says otherwise" }, trace.info)
      assert.same({}, trace.warnings)
   end)

   it("has a table with one row for each frame of a group", function()
      local trace <close> = open(golden)
      assert.same({
         { offset = 23, level = 0, frame = "line", module = "LIB.BR", line = 1230, clause = 2,
            ["function"] = "FNTAX", kind = "function", spent = 1500 },
         { offset = 23, level = 1, frame = "caller", module = "MENU.BR", line = 400, clause = 0,
            kind = "gosub" },
         { offset = 23, level = 2, frame = "caller", module = "MENU.BR", line = 100, clause = 0,
            kind = "main" },
      }, trace.frames:rows())
   end)

   it("has a table of records whose bytes add up to the file", function()
      local bytes = golden .. "\0\0rest"
      local trace <close> = open(bytes)
      local kinds, parts = {}, {}
      for r in trace.raw:records() do
         kinds[#kinds + 1], parts[#parts + 1] = r.kind, r.bytes
         assert.equal(#table.concat(parts), r.offset + r.size)
      end
      assert.same({ "module", "module", "line", "function", "time", "backtrace", "gosub",
         "backtrace", "main", "end", "rest" }, kinds)
      assert.equal(bytes, table.concat(parts))
      assert.same({ offset = 23, size = 8, kind = "line", module_number = 2, line = 1230,
         clause = 2, bytes = golden:sub(24, 31) }, trace.raw:rows()[3])
      assert.same({ { spent = 1500 } }, trace.raw:where { kind = "time" }:rows "spent")
      assert.same({ { name = "FNTAX" } }, trace.raw:where { kind = "function" }:rows "name")
   end)

   it("reads samples, which have no times", function()
      local b = br():module(7, "A.BR")
      for i = 1, 5000 do -- more than a batch
         b:line(7, i, 255):back(7, 1, 0):stop()
      end
      local rows, trace = samples(b)
      assert.equal("sampled", trace.info.dialect)
      assert.equal(5000, #rows)
      for i, row in ipairs(rows) do
         assert(row.line == i and row.clause == 255 and row.depth == 2 and not row.spent)
      end
      assert.same({ module = "A.BR", line = 5000, clause = 255, kind = "unknown", depth = 2 },
         rows[5000])
   end)

   it("opens an empty file only if the format is given", function()
      local rows, trace = samples ""
      assert.same({}, rows)
      assert.same({ "empty", 0 }, { trace.info.dialect, trace.info.records })
      assert.is_nil((profio.open { data = "" }))
   end)

   it("detects a file by a mapping and a complete group of the mapped module", function()
      local function format_of(bytes)
         local trace, _, code = profio.open { data = bytes }
         if trace then
            trace:close()
         end
         return trace and trace.format or code
      end
      assert.equal("br", format_of(one():bytes()))
      assert.equal("br", format_of(one():raw "\255":bytes()))
      assert.equal("format", format_of(br():module(1, "A.BR"):bytes()))
      assert.equal("format", format_of(br():module(1, "A.BR"):line(1, 10):bytes()))
      assert.equal("format", format_of(br():module(1, "A.BR"):line(2, 10):stop():bytes()))
      local function odd()
         return br():module(1, "A\0B"):line(1, 10):stop()
      end
      assert.equal("br", format_of(odd():bytes()))
      assert.equal("format", format_of(odd():raw "\255":bytes()))
      assert.equal("format", format_of(br():line(1, 10):stop():bytes()))
   end)

   it("detects a file whose mappings or whose first group take more than 64 KiB", function()
      for _, name in ipairs { "PROGRAM%04d.BR", "return %d\n" } do
         local many = br()
         for i = 1, 6000 do
            many:module(i, name:format(i))
         end
         local deep = br():module(1, name:format(1)):line(1, 10):fn "FNDEEP"
         for i = 1, 10000 do
            deep:back(1, i):fn "FNDEEP"
         end
         for _, b in ipairs { many:line(1, 10), deep } do
            local bytes = b:stop():line(1, 20):stop():bytes()
            local trace <close> = assert(profio.open { data = bytes })
            assert.equal("br", trace.format)
            assert.equal(2, trace.samples:count())
         end
      end
   end)

   it("shows groups before a new mapping under the old name of the module", function()
      local b = br():module(1, "A.BR"):line(1, 10):stop():module(1, "A.BR"):line(1, 20):stop()
         :module(1, "B.BR"):line(1, 30):stop()
      local rows, trace = samples(b)
      assert.same({ "A.BR", "A.BR", "B.BR" }, { rows[1].module, rows[2].module, rows[3].module })
      assert.same({ "br-remapped" }, codes(trace))
   end)

   it("stores equal stacks once", function()
      local b = br():module(1, "A.BR")
      for _, callers in ipairs { { 1, 2 }, { 1, 2 }, { 3, 2 }, { 2 }, {}, { 1, 2 } } do
         b:line(1, 10)
         for _, line in ipairs(callers) do
            b:back(1, line)
         end
         b:stop()
      end
      local trace <close> = open(b)
      local stacks, lines = {}, {}
      for stack in trace.samples:each "stack" do
         stacks[#stacks + 1] = stack
         local of = {}
         for i, frame in ipairs(trace:stack(stack)) do
            of[i] = frame.line
         end
         lines[#lines + 1] = table.concat(of, " ")
      end
      assert.same({ "10 1 2", "10 1 2", "10 3 2", "10 2", "10", "10 1 2" }, lines)
      assert.equal(stacks[1], stacks[2])
      assert.equal(stacks[1], stacks[6])
      assert.not_equal(stacks[1], stacks[3])
   end)
end)

describe("br, following a growing file,", function()
   local core = require "profio.core"

   -- Returns the offsets of rows, to check that they are complete and in order.
   local function offsets(rows)
      local list = {}
      for i, row in ipairs(rows) do
         list[i] = row.offset
      end
      return list
   end

   -- Writes a file in chunks, and after each chunk reads the new rows of all tables.
   local function grow(bytes, piece)
      local path = command.file("grows.br", "")
      local trace <close> = assert(profio.open(path, { live = true, format = "br" }))
      local readers, rows = {}, { samples = {}, frames = {}, raw = {} }
      for name in pairs(rows) do
         readers[name] = trace:table(name):reader()
      end
      for at = 1, #bytes, piece do
         local file <close> = assert(io.open(path, "ab"))
         file:write(bytes:sub(at, at + piece - 1))
         file:close()
         trace:refresh()
         for name, reader in pairs(readers) do
            local new = core.rows(reader)
            table.move(new, 1, #new, #rows[name] + 1, rows[name])
         end
      end
      assert.same({}, trace.warnings)
      return rows
   end

   it("computes self times, and notes the order of backtraces, once they are known", function()
      local path = command.file("empty.br", "")
      local trace <close> = assert(profio.open(path,
         { live = true, format = "br", semantics = "inclusive" }))
      local reader = trace.samples:reader()
      command.file("empty.br", br():module(1, "A.BR"):line(1, 5):time(8):stop()
         :line(1, 30):time(2):back(1, 10):main():back(1, 20):gosub():stop()
         :line(1, 20):gosub():time(5):back(1, 10):main():stop()
         :line(1, 10):main():time(9):stop():bytes())
      trace:refresh()
      local own = {}
      for i, row in ipairs(core.rows(reader)) do
         own[i] = row.self or "?"
      end
      assert.same({ "?", 2, 3, 4 }, own)
      assert.same({ "br-order-contradicts" }, codes(trace))
   end)

   it("reads complete records, whatever the sizes of the chunks", function()
      local b = br():module(1, "A.BR"):module(2, "B.BR")
      for i = 1, 10 do
         b:line(1, i):main():time(5):back(2, i):fn "FNA":back(1, 1):main():stop()
      end
      local whole <close> = open(b:bytes())
      for _, piece in ipairs { 1, 7, 40, 1000 } do
         for name, rows in pairs(grow(b:bytes(), piece)) do
            assert.same(offsets(whole[name]:rows()), offsets(rows))
         end
      end
   end)
end)

describe("br, where the documentation is ambiguous,", function()
   -- Returns a group with MAIN on the backtraces of these numbers.
   local function group(b, backtraces, main)
      b:line(1, 10)
      for i = 1, backtraces do
         b:back(1, 10 * i)
         if i == main then
            b:main()
         end
      end
      return b:stop()
   end

   local function frames(b, options)
      local trace <close> = open(b, options)
      local lines = {}
      for i, frame in ipairs(trace:stack(trace.samples:rows("stack")[1].stack)) do
         lines[i] = frame.line
      end
      return table.concat(lines, " "), trace.info.backtrace_order, codes(trace)
   end

   it("detects the order of backtraces", function()
      local function start()
         return br():module(1, "A.BR")
      end
      assert.same({ "10 10 20 30", "inner_first", {} }, { frames(group(start(), 3, 3)) })
      assert.same({ "10 30 20 10", "outer_first", {} }, { frames(group(start(), 3, 1)) })
      assert.same({ "10 10 20 30", "inner_first", {} }, { frames(group(start(), 3, 2)) })
      assert.same({ "10 10", "inner_first", {} }, { frames(group(start(), 1, 1)) })
      assert.same({ "10 10 20 30", "inner_first", { "br-order-contradicts" } },
         { frames(group(group(start(), 3, 1), 3, 3)) })
      assert.same({ "10 30 20 10", "outer_first", {} },
         { frames(group(start(), 3, 3), { backtrace_order = "outer_first" }) })
      assert.same({ "10 10 20 30", "inner_first", {} },
         { frames(group(start(), 3, 1), { backtrace_order = "inner_first" }) })
   end)

   -- Returns n times a caller with two callees, each of which has one callee.
   local function calls(n, caller, callee, inner)
      local b = br():module(1, "A.BR")
      for _ = 1, n do
         for line = 20, 30, 10 do
            b:line(1, 99):time(inner):back(1, line):back(1, 10):stop()
            b:line(1, line):time(callee):back(1, 10):stop()
         end
         b:line(1, 10):time(caller):stop()
      end
      return b
   end

   local function own(b, options)
      local trace <close> = open(b, options)
      local list = {}
      for _, row in ipairs(trace.samples:limit(5):rows "self") do
         list[#list + 1] = row.self or "?"
      end
      return table.concat(list, " "), trace.info.semantics, trace.info.semantics_why
   end

   it("detects whether times include calls", function()
      assert.same({ "5 3 5 3 1", "inclusive", "each line took at least as long as what it called" },
         { own(calls(4, 17, 8, 5)) })
      assert.same({ "5 8 5 8 1", "self", "some line took less time than what it called" },
         { own(calls(4, 1, 8, 5)) })
      assert.same({ "5 8 5 8 17", "self", "assumed: nothing says otherwise" },
         { own(calls(1, 17, 8, 5)) })
      assert.same({ "5 8 5 8 17", "self", "given" },
         { own(calls(4, 17, 8, 5), { semantics = "self" }) })
      assert.same({ "5 3 5 3 1", "inclusive", "given" },
         { own(calls(1, 17, 8, 5), { semantics = "inclusive" }) })
      assert.same({ "5 3 5 3 1", "inclusive",
         "the sum of all times exceeds the elapsed time" },
         { own(calls(1, 17, 8, 5), { wall = 42 }) }) -- 43 in all
      assert.same({ "5 8 5 8 17", "self", "assumed: nothing says otherwise" },
         { own(calls(1, 17, 8, 5), { wall = 43 }) })
   end)

   it("subtracts the time of a line from its own caller only", function()
      local inclusive = { semantics = "inclusive" }
      -- Line 99 is called by 20, which has no time or one that is too large; 10 calls 20 and 30.
      local function untimed(time)
         local b = br():module(1, "A.BR"):line(1, 99):time(5):back(1, 20):back(1, 10):stop()
         b:line(1, 20)
         b = time and b:time(time) or b
         return b:back(1, 10):stop():line(1, 30):time(10):back(1, 10):stop()
            :line(1, 10):time(30):stop()
      end
      assert.equal("5 ? 10 15", (own(untimed(), inclusive)))
      assert.equal("5 ? 10 15", (own(untimed(-1), inclusive)))
      -- Callees whose times add up to 2^64 + 2 ns.
      local large = br():module(1, "A.BR")
      for _, time in ipairs { math.maxinteger, math.maxinteger, 4 } do
         large:line(1, 20):time(time):back(1, 10):stop()
      end
      local trace <close> = open(large:line(1, 10):time(7):stop(), inclusive)
      assert.equal(0, trace.samples:rows("self")[4].self)
      assert.same({ "br-long-time", "br-not-inclusive" }, codes(trace))
   end)

   it("finds backtraces, and notes their order, after the first megabyte", function()
      local line = br():line(1, 5):time(8):stop():bytes()
      local b = br():module(1, "A.BR"):raw(line:rep(100000))
         :line(1, 30):time(2):back(1, 10):main():back(1, 20):stop()
         :line(1, 20):time(5):back(1, 10):main():stop()
      local trace <close> = open(b, { semantics = "inclusive" })
      assert.same({ { n = 100002, own = 800005 } },
         trace.samples:aggregate { "n = count", "own = sum(self)" }:rows())
      assert.same({}, codes(trace)) -- the scan up to the first backtrace has found the order
      local other <close> = open(b, {})
      assert.equal("inner_first", other.info.backtrace_order)
      assert.equal(100002, #other.samples:rows "self")
      assert.same({ "br-order-contradicts" }, codes(other))
      assert.equal(9 + 100000 * #line, other.warnings[1].offset)
   end)

   it("computes self times below max_depth as above it", function()
      -- Line n is called by the lines before it, and takes 10 ns more than line n + 1.
      local b = br():module(1, "A.BR")
      for line = 5, 1, -1 do
         b:line(1, line):time(10 * (6 - line))
         for caller = line - 1, 1, -1 do
            b:back(1, caller)
         end
         b:stop()
      end
      for depth = 1, 5 do
         local trace <close> = open(b, { semantics = "inclusive", max_depth = depth })
         for _, row in ipairs(trace.samples:rows "self") do
            assert.equal(10, row.self)
         end
         assert.same(depth < 4 and { "br-deep" } or {}, codes(trace))
      end
   end)

   it("computes self times from inclusive times without backtraces", function()
      assert.same({ "? ?", "inclusive", "given" }, { own(
         br():module(1, "A.BR"):line(1, 1):time(5):stop():line(1, 2):time(5):stop(),
         { semantics = "inclusive" }) })
   end)
end)

describe("br, reports:", function()
   -- main calls FNA twice, which calls itself once; then a GOSUB.
   local function program()
      local b = br():module(1, "MENU.BR"):module(2, "LIB.BR")
      for _ = 1, 2 do
         b:line(2, 20):fn "FNA":time(100):back(2, 20):fn "FNA":back(1, 10):main():stop()
         b:line(2, 20):fn "FNA":time(50):back(1, 10):main():stop()
      end
      b:line(1, 500):gosub():time(10):back(1, 30):main():stop()
      b:line(1, 10):main():time(690):stop()
      return b:bytes()
   end

   -- Returns what a command prints; `note` is a pattern for the note on standard error.
   local function report(words, note)
      command.file("run.br", program())
      local text, status, errors = command.run("profio " .. words .. " run.br")
      assert.equal(0, status)
      assert.matches("^" .. (note and "profio: note: " .. note .. "\n" or "") .. "$", errors)
      return text
   end

   it("prints the hot lines", function()
      assert.equal([[
module,line,kind,function,count,self,total,mean,self_share,total_share,source
MENU.BR,10,main,,1,690,990,690,0.69,0.99,
LIB.BR,20,function,FNA,4,300,300,75,0.3,0.3,
MENU.BR,500,gosub,,1,10,10,10,0.01,0.01,
MENU.BR,30,main,,0,0,10,,0,0.01,
]], report("--report hotlines --output csv", "no source lines are shown: .*"))
   end)

   it("prints the hot functions and counts recursive time once", function()
      assert.equal([[
function,kind,module,count,self,total,mean,self_share,total_share
MENU.BR,main,MENU.BR,1,690,1000,690,0.69,1
FNA,function,LIB.BR,4,300,300,75,0.3,0.3
MENU.BR gosub,gosub,MENU.BR,1,10,10,10,0.01,0.01
]], report "--report hotfunctions --output csv")
   end)

   it("shows inclusive times without backtraces as totals of unknown self time", function()
      command.file("inclusive.br", br():module(1, "A.BR"):line(1, 1):time(5):stop():line(1, 2)
         :time(7):stop():line(1, 1):time(5):stop():bytes())
      assert.equal([[
module,line,kind,function,count,self,total,mean,self_share,total_share,source
A.BR,1,unknown,,2,,10,,,,
A.BR,2,unknown,,1,,7,,,,
]], (command.run "profio --report hotlines --output csv --set semantics=inclusive inclusive.br"))
   end)

   it("prints source lines beside the numbers", function()
      command.file("menu.brs", "00010 let fna(2)\n00500 print x !:\n  pause ! wait\n00600 end\n")
      command.file("LIB.BR.TXT", "20 def fna(x)=fna(x-1)\n")
      local sources = {}
      local lacking = "%./menu%.brs has no line 30, which ran: .*"
      for line in report("--report hotlines --output tsv --source .", lacking):gmatch "[^\n]+" do
         sources[#sources + 1] = line:match "[^\t]*$"
      end
      assert.same({ "source", "let fna(2)", "def fna(x)=fna(x-1)", "print x !: pause ! wait", "" },
         sources)
      assert.matches("MENU%.BR +10 +let fna%(2%)\n",
         report("--report hotlines --source .", lacking))
   end)

   -- Lines of \\APP\\MODULE that ran, and what is shown for each; and standard error.
   local function shown(module, ran, words)
      local bytes = br():module(1, "C:\\APP\\" .. module)
      for _, line in ipairs(ran) do
         bytes:line(1, line):time(5):stop()
      end
      command.file("lexi.prf", bytes:bytes())
      local text, status, errors = command.run("profio --format br --report hotlines --sort line "
         .. "--columns line,source --output tsv lexi.prf " .. words)
      assert.equal(0, status)
      return text:gsub("^line\tsource\n", ""), errors
   end

   it("finds sources with the names that editors give them", function()
      command.run "rm -rf names && mkdir names names/wb names/none"
      command.file("names/menu.br.brs", "00010 br.brs\n")
      command.file("names/wb/Menu.WB.wbs", "00010 wb.wbs\n")
      command.file("names/none/menu.br", "\0\1 compiled")
      local function source_of(module, folder)
         return shown(module, { 10 }, "--source " .. folder)
      end
      assert.same({ "10\tbr.brs\n", "" }, { source_of("MENU.BR", "names") })
      assert.same({ "10\twb.wbs\n", "" }, { source_of("MENU.WB", "names/wb") })
      local text, errors = source_of("MENU.BR", "names/none")
      assert.equal("10\t\n", text)
      assert.matches("no source of C:\\APP\\MENU%.BR %(menu%.br%.brs menu%.br%.wbs .*menu%.brs .*"
         .. "menu%.br%.txt menu%.br%) in names/none: in any case of letters, and not below it",
         errors)
      text, errors = shown("MENU.BR", { 10 }, "")
      assert.equal("10\t\n", text)
      assert.matches("note: no source lines are shown: name the folder with the sources, such as "
         .. "menu%.br%.brs, by %-%-source DIR\n$", errors)
      command.file("names/menu.brs", "00010 brs\n")
      text, errors = source_of("MENU.BR", "names")
      assert.equal("10\tbr.brs\n", text)
      assert.matches("names/menu%.br%.brs is read, not names/menu%.brs\n$", errors)
   end)

   it("numbers sources without numbers as Lexi does", function()
      disk.fresh(command.folder .. "/lexi")
      local lines = { "! first", "", "let a=1 !:", "   let b=2", "print a,", "  b", "let c=3",
         "! #autonumber# 1000,10", "MAIN: ! begin", 'print "#Autonumber# 7,7"', "L2000: stop",
         "00500 stop", "end" }
      -- By hand, from the rules of fnApplyLexi: each line of the file adds the increment, but not
      -- those below "!:", and not those with numbers; a statement has the number of its last line.
      local numbers = { [1] = "! first", [2] = "", [3] = "let a=1 !: let b=2", [5] = "print a, b",
         [6] = "let c=3", [1000] = "! #autonumber# 1000,10", [1010] = "MAIN: ! begin",
         [1020] = 'print "#Autonumber# 7,7"', [2000] = "L2000: stop", [500] = "00500 stop",
         [2010] = "end" }
      command.file("lexi/menu.brs", table.concat(lines, "\r\n") .. "\r\n")
      local ran, expected = { 1, 2, 3, 5, 6, 500, 1000, 1010, 1020, 2000, 2010 }, {}
      for i, number in ipairs(ran) do
         expected[i] = ("%d\t%s\n"):format(number, (numbers[number]:gsub("\t", " ")))
      end
      assert.same({ table.concat(expected), "" }, { shown("MENU.BR", ran, "--source lexi") })
   end)

   it("says that lines which ran are not in the source", function()
      command.file("lexi/menu.brs", "let a=1\nlet b=2\n")
      local text, errors = shown("MENU.BR", { 1, 7, 9 }, "--source lexi")
      assert.equal("1\tlet a=1\n7\t\n9\t\n", text)
      assert.matches("lexi/menu%.brs has no line 7 and 1 other, which ran: it may be another "
         .. "version of the source\n$", errors)
      command.file("lexi/menu.brs", "let a=1\n! #Autonumber# 1,10\n")
      errors = select(2, shown("MENU.BR", { 1 }, "--source lexi"))
      assert.matches("#Autonumber# 1 comes after a line with this number", errors)
   end)

   it("counts the lines in tens if only such lines ran", function()
      command.file("lexi/menu.brs", ("let a=1\n"):rep(25) .. "let b=2\n! #Autonumber# 1000,10\n")
      local text, errors = shown("MENU.BR", { 20, 260, 1000 }, "--source lexi")
      assert.equal("20\tlet a=1\n260\tlet b=2\n1000\t! #Autonumber# 1000,10\n", text)
      assert.matches("counted as 10, 20, 30, since only such lines ran before #Autonumber# 1000; "
         .. "write #Autonumber# 10,10 into its first line\n$", errors)
      assert.same({ "20\tlet a=1\n26\tlet b=2\n", "" },
         { shown("MENU.BR", { 20, 26 }, "--source lexi") })
   end)

   it("finds the lines of a program that Lexi has numbered", function()
      local folder = command.root .. "/../shared/cases/br/lexi"
      if not io.open(folder .. "/menu.brs") then
         return pending "needs ../shared/cases"
      end
      assert.equal("20\tlet b=a*2\n1010\tMAIN: ! begin\n1020\tfor i=1 to 10\n",
         (command.run(("profio --report hotlines --sort line --columns line,source --output tsv "
         .. "--source %s %s/menu-profile.br"):format(folder, folder)):gsub("^[^\n]*\n", "")))
   end)

   it("shows sources in the code page of the names, and UTF-8 as it is", function()
      command.file("lexi/menu.brs", "let a$=\"gr\x81n\"\nlet b$=\"gr\u{fc}n\"\n")
      local function both(character, words)
         assert.same({ ("1\tlet a$=\"gr%sn\"\n2\tlet b$=\"gr\u{fc}n\"\n"):format(character), "" },
            { shown("MENU.BR", { 1, 2 }, "--source lexi " .. words) })
      end
      both("\u{fc}", "")
      both("\u{81}", "--set code_page=ISO-8859-1")
   end)

   it("prints a listing by default, and the raw listing", function()
      local listing = report ""
      assert.equal(listing, report "--report listing")
      assert.matches("run%.br: TIMED; backtraces with the innermost frame first %(the main " ..
         "routine stands on the last backtrace%)", listing)
      assert.matches("LIB%.BR +20%.0 +100  function  FNA\n   from LIB%.BR +20%.0 +function +FNA\n"
         .. "   from MENU%.BR +10%.0 +main", listing)
      local raw = report "--report raw"
      assert.matches("\n +0  module +1  MENU%.BR\n", raw)
      assert.matches("\n +%d+     time +690 ns\n", raw)
   end)

   it("prints samples if there are no times", function()
      command.file("s.br", br():module(1, "A.BR"):line(1, 10):stop():line(1, 20):stop():line(1, 20)
         :back(1, 10):stop():bytes())
      local text = command.run "profio --report hotlines --output csv s.br"
      assert.equal([[
module,line,kind,function,count,self,total,mean,self_share,total_share,source
A.BR,20,unknown,,2,2,2,,0.6666666666666666,0.6666666666666666,
A.BR,10,unknown,,1,1,2,,0.3333333333333333,0.6666666666666666,
]], text)
      assert.matches("^s%.br: SAMPLED; backtraces", (command.run "profio --report hotlines s.br"))
   end)
end)

describe("--report tree of Business Rules!", function()
   it("shows the line of each frame beside its function", function()
      local path = command.file("lines.BRP", br():module(1, "A.BR"):line(1, 10, 1):fn "FNF":time(5)
         :back(1, 30, 0):main():stop():line(1, 10, 1):fn "FNF":time(7):back(1, 40, 0):main():stop()
         :bytes())
      local frames = {}
      for line in (command.run("profio --format br --report tree " .. path)):gmatch "[^\n]+" do
         frames[#frames + 1] = line:match "%d%%%s+(%d+%s+%S+)$"
      end
      assert.same({ "40  A.BR", "10    FNF", "30  A.BR", "10    FNF" }, frames)
      for line in (command.run("profio --format br --report bottom-up " .. path)):gmatch "[^\n]+" do
         frames[#frames + 1] = line:match "%d%%%s+(%d+%s+%S+)$"
      end
      assert.same({ "10  FNF", "40    A.BR", "30    A.BR" }, table.move(frames, 5, 7, 1, {}))
   end)
end)
