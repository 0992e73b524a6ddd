-- Tags: user.
-- Costly: many commands.

local command = require "spec.support.command"
local core = require "profio.core"
local elf = require "spec.support.elf"
local folded = require "spec.support.folded"
local json = require "dkjson"

local run = command.run

local function has(name)
   return os.execute("command -v " .. name .. " >/dev/null 2>&1") == true
end

-- Returns the output of a command that must succeed with nothing on standard error.
local function fine(line)
   local text, status, errors = run(line)
   assert.equal("", errors)
   assert.equal(0, status)
   return text
end

local NAMED = "--symbols small.nm"

describe("profio", function()
   describe("without options", function()
      it("reads ./gmon.out and prints what gprof prints first", function()
         local text, status, errors = run "profio"
         assert.equal(0, status)
         assert.matches("gmon.out: note: no executable", errors)
         assert.matches("^Flat profile:\n", text)
         assert.matches("\n\f\n\t\t\tCall graph\n", text)
         assert.matches("\nIndex by function name\n", text)
      end)

      it("prints the flat profile alone in forms for machines", function()
         local rows = assert(json.decode(fine("profio --output json " .. NAMED)))
         assert.equal("work", rows[1]["function"])
         assert.equal(350000000, rows[1].self)
         assert.equal(3, #rows)
      end)

      it("describes a file that has neither samples nor calls", function()
         local empty = command.file("empty.gmon", command.trace():sub(1, 20))
         assert.matches(": gmon\n", fine("profio " .. empty))
      end)
   end)

   describe("files", function()
      it("may be standard input, and packed", function()
         assert.equal("from,to,count\n", fine "profio --table arcs --output csv \z
            --columns from,to,count --top 0 - < gmon.out")
         assert.equal(fine "profio --table arcs gmon.out",
            fine "gzip -c gmon.out | profio --table arcs -")
         assert.equal(fine "profio --table arcs gmon.out",
            fine "gzip -c gmon.out > packed.gz && profio --table arcs packed.gz")
      end)

      it("of one format are one trace", function()
         local one = json.decode(fine("profio --report flat --output json " .. NAMED))
         local two = json.decode(fine(
            "profio gmon.out gmon.out --report flat --output json " .. NAMED))
         assert.equal(2 * one[1].self, two[1].self)
         assert.equal(2 * one[1].calls, two[1].calls)
      end)

      it("may have the executable among them", function()
         command.file("small.elf", elf.build { symbols = {
            { name = "first", value = 0x1000, size = 0x100, type = "func", bind = "global" },
            { name = "second", value = 0x1100, size = 0x200, type = "func", bind = "global" } } })
         local words = " --report flat --output csv --columns function"
         local text = run("profio small.elf gmon.out" .. words)
         assert.equal("function\nsecond\nfirst\n", text)
         assert.equal(text, (run("profio --exe small.elf" .. words)))
         local _, status, errors = run "profio small.elf gmon.out --exe other"
         assert.equal(2, status)
         assert.matches("two executables", errors)
      end)

      it("may begin with - after --", function()
         command.file("-odd", command.trace())
         assert.matches("arcs", fine "profio --info -- -odd")
      end)
   end)

   describe("functions", function()
      local function rows(options)
         return (fine("profio --report flat --output csv --columns function,calls,self,total "
            .. NAMED .. " " .. options):gsub("^[^\n]*\n", ""))
      end

      it("are selected with their callees", function()
         assert.equal("work,5,350000000,500000000\nleaf,20,150000000,150000000\n",
            rows "--focus work")
         assert.equal("main,,100000000,100000000\n", rows "--ignore work")
         assert.equal("leaf,20,150000000,150000000\n", rows "--focus '~^le'")
      end)

      it("may have the form FROM/TO in profiles that are not built from arcs", function()
         command.file("slash.lua", [[require "spec.support.folded"]])
         command.file("slash.folded", "FOLDED\nmain;net/http.Get;read 5\nmain 7\n")
         assert.equal("function,self\nmain,7\n", fine("LUA_PATH=\"$LUA_PATH;" .. command.root
            .. "/?.lua;;\" profio --load slash.lua --report flat --output csv \z
            --columns function,self --ignore net/http.Get slash.folded"))
      end)

      it("may have a / in their name, and a pair FROM/TO that matches no call is named", function()
         command.file("slash.nm", (command.nm:gsub("work", "wo/rk")))
         local line = "profio --report flat --output csv --columns function "
            .. "--symbols slash.nm gmon.out --ignore "
         assert.equal("function\nmain\n", fine(line .. "wo/rk"))
         local text, status, errors = run(line .. "main/nada")
         assert.same({ 0, "function\nwo/rk\nleaf\nmain\n" }, { status, text })
         assert.equal("profio: --ignore: no call from 'main' to 'nada', and no function is "
            .. "'main/nada'\n", errors)
         text, status, errors = run("profio --report flat --output csv --columns function,calls "
            .. NAMED .. " gmon.out --ignore work/leaf")
         assert.same({ 0, "" }, { status, errors })
         assert.matches("\nleaf,\n", text)
      end)

      it("are charged to their callers", function()
         assert.equal("work,5,500000000,500000000\nmain,,100000000,600000000\n",
            rows "--hide leaf")
         assert.equal("main,,450000000,600000000\nleaf,20,150000000,150000000\n",
            rows "--hide work")
      end)

      it("are selected only for reports after flat=, graph= or time=", function()
         assert.equal("leaf,20,150000000,150000000\n", rows "--focus flat=leaf")
         assert.equal("work,5,350000000,350000000\nmain,,100000000,450000000\n",
            rows "--ignore flat=leaf")
      end)
   end)

   describe("rows", function()
      local function arcs(words)
         return fine("profio --table arcs --output csv --columns from,count " .. words)
      end

      it("are chosen by conditions that must all hold", function()
         assert.equal("from,count\n0x1010,5\n0x1110,20\n", arcs "")
         assert.equal("from,count\n0x1110,20\n", arcs "--where count=20")
         assert.equal("from,count\n0x1010,5\n0x1110,20\n", arcs "--where count=20,5")
         assert.equal("from,count\n0x1010,5\n", arcs "--where count!=20")
         assert.equal("from,count\n0x1010,5\n", arcs "--where 'count<20'")
         assert.equal("from,count\n0x1110,20\n",
            arcs "--where 'count>=20' --where 'from>0x1010'")
         assert.equal("from,count\n0x1010,5\n", arcs "--where from=0x1000..0x1010")
         assert.equal("from,count\n", (run "profio --table arcs --output csv --columns from,count \z
            --where count=20 --where from=0x1010"))
         assert.equal("from,count\n0x1010,5\n0x1110,20\n", arcs "--where order=")
         assert.equal("from,count\n0x1110,20\n",
            arcs(NAMED .. " --where 'from_function~^wo' --where to_function=leaf"))
      end)

      it("are sorted and cut, and the option takes a word with a dash", function()
         assert.equal("from,count\n0x1110,20\n", arcs "--sort -count --top 1")
         assert.equal("from,count\n0x1010,5\n", arcs "--sort count --top 1")
      end)

      it("are grouped and added up", function()
         assert.equal("n,t\n2,25\n",
            fine "profio --table arcs --aggregate n=count,'t=sum(count)' --output csv")
         assert.equal("function,samples\nwork,35\nleaf,15\nmain,10\n",
            fine("profio --group function --aggregate 'samples=sum(count)' --sort -samples \z
            --output csv " .. NAMED))
         assert.equal("low,n\n0x1000,128\n0x1200,64\n",
            fine "profio --group 'bucket(low,512)' --aggregate n=count --output csv")
      end)

      it("are aligned in text, with times in the unit of --unit", function()
         assert.equal("   low  spent (ms)\n0x1114     300.000\n",
            fine "profio --columns low,spent --where count=30 --unit ms")
         assert.equal("   low  spent (ns)\n0x1114   300000000\n",
            fine "profio --columns low,spent --where count=30")
      end)

      it("come in every form", function()
         local words = "profio --table arcs --columns from,count --where count=5 --output "
         assert.equal("from,count\n0x1010,5\n", fine(words .. "csv"))
         assert.equal("from\tcount\n0x1010\t5\n", fine(words .. "tsv"))
         assert.equal('[\n{"from":"0x1010","count":5}\n]\n', fine(words .. "json"))
         assert.equal('{"from":"0x1010","count":5}\n', fine(words .. "ndjson"))
         assert.equal("  from  count\n0x1010      5\n", fine(words .. "text"))
      end)

      it("are exported into a file", function()
         assert.equal("", fine "profio --table arcs --export csv -o out.csv --columns count")
         assert.equal("count\n5\n20\n", command.read(command.folder .. "/out.csv"))
         assert.equal('{"count":5}\n{"count":20}\n',
            fine "profio --table arcs --export ndjson --columns count")
         assert.equal("", fine "profio --table arcs -o out.txt --columns count")
         assert.equal("count\n    5\n   20\n", command.read(command.folder .. "/out.txt"))
      end)
   end)

   describe("exit status", function()
      local function fails(status, pattern, line)
         local _, got, errors = run(line)
         assert.equal(status, got, line)
         assert.matches(pattern, errors)
         assert.matches("^profio: ", errors)
         assert.not_matches("stack traceback", errors)
      end

      it("is 1 when nothing can be read or written", function()
         fails(1, "gone: No such file", "profio gone")
         fails(1, "is a directory", "mkdir -p empty && profio empty")
         fails(1, "empty", "profio /dev/null")
         fails(1, "not a trace of a known format.*gmon.*%(byte 0%)", "profio " .. command.folder
            .. "/small.nm")
         fails(1, "No such file", "profio -o no/such/folder --info")
         fails(1, "gone.lua", "profio --script gone.lua")
      end)

      it("is 1 when the disk is full", function()
         if os.execute "test -c /dev/full" then
            fails(1, "No space left", "profio --table histogram > /dev/full")
            fails(1, "No space left", "profio --info > /dev/full")
         end
      end)

      it("is 2 for wrong use", function()
         fails(2, "unknown option '%-%-bogus'", "profio --bogus")
         fails(2, "requires an argument", "profio --table")
         fails(2, "no table 'x'; there are: histogram, arcs", "profio --table x")
         fails(2, "no report 'x'; there are: flat", "profio --report x")
         fails(2, "no column 'x'; there are:", "profio --columns x")
         fails(2, "no column 'x'; there are:", "profio --where x=1")
         fails(2, "no column 'x'; there are:", "profio --sort x")
         fails(2, "no column 'x'; there are:", "profio --group x")
         fails(2, "not of the form", "profio --aggregate 'sum('")
         fails(2, "must be a whole number", "profio --top many")
         fails(2, "0 or more", "profio --table arcs --top -1")
         fails(2, "%-%-output is one of text, csv", "profio --output xml")
         fails(2, "%-%-unit is one of ns", "profio --unit h")
         fails(2, "no export 'x'", "profio --export x")
         fails(2, "do not go together", "profio --info --check")
         fails(2, "%-%-export svg cannot use %-%-where: exports that can: csv, tsv",
            "profio --export svg --where count=1")
         fails(2, "%-%-export html cannot use %-%-info", "profio --export html --info")
         fails(2, "%-%-check cannot use %-%-top: leave it out", "profio --check --top 3")
         fails(2, "%-%-merge cannot use %-%-where",
            "profio --merge --where count=1 -o OUT")
         fails(2, "%-%-table cannot use %-%-focus", "profio --table arcs --focus main")
         fails(2, "no format 'x'; there are: gmon", "profio --format x")
         fails(2, "no option 'x'", "profio --set x=1")
         fails(2, "expects NAME=VALUE", "profio --set x")
         fails(2, "must be a whole number", "profio --load-bias x")
         fails(2, "does not fit", "profio --report lines")
         fails(2, "no metric 'x'", "profio --report flat --metric x")
         fails(2, "%-%-compat is one of gprof; got x", "profio --compat x")
      end)

      it("is 3 when something is damaged, and all before is shown", function()
         local text, status, errors =
            run "profio cut.gmon --table arcs --output csv --columns count"
         assert.equal(3, status)
         assert.equal("count\n5\n", text)
         assert.matches("^profio: cut.gmon: damage: an arc of .*%(byte %d+%) %[gmon%-truncated%]",
            errors)
      end)

      it("is 1 for the same under --strict", function()
         local text, status, errors = run "profio cut.gmon --table arcs --strict"
         assert.equal("", text)
         assert.equal(1, status)
         assert.matches("cut.gmon: gmon: an arc of .*%(byte %d+%)", errors)
      end)

      it("is 0 when the reader of a pipe leaves", function()
         assert.equal("set,low\n0\n", fine "(profio --columns set,low --output csv gmon.out; \z
            echo $? >status) | head -n 1; cat status")
         local many = ("gmon.out "):rep(300)
         assert.equal("set,low\n0\n", fine("(profio --columns set,low --output csv " .. many
            .. "; echo $? >status) | head -n 1; cat status"))
         assert.equal("0\n", fine("(profio --report flat " .. NAMED
            .. "; echo $? >status) | true; cat status"))
         local title = ("x"):rep(100000) -- more than a pipe holds
         assert.equal("0\n", fine("(profio --export svg --set title=" .. title .. " gmon.out"
            .. "; echo $? >status) | true; cat status"))
      end)
   end)

   describe("--info", function()
      it("names format, facts, tables, columns and counts", function()
         local text = fine "profio --info"
         assert.matches("^gmon.out: gmon\n", text)
         assert.matches("\n  address_size +8\n", text)
         assert.matches("\n  low +0x1000\n", text)
         assert.matches("\n  arcs +2  from to count order\n", text)
         assert.matches("\nno warnings; report flat adds notes about its profile, if any\n", text)
      end)

      it("lists warnings", function()
         local text, status = run "profio --info cut.gmon"
         assert.equal(3, status)
         assert.matches("gmon%-truncated: an arc of .* %(damage, byte %d+%)", text)
      end)

      it("is rows for machines", function()
         local rows = json.decode(fine "profio --info --output json")
         assert.same({ part = "file", name = "format", value = "gmon", detail = json.null },
            { part = rows[1].part, name = rows[1].name, value = rows[1].value,
               detail = rows[1].detail or json.null })
      end)
   end)

   it("--check lists all violations", function()
      local text, status = run "profio --check cut.gmon"
      assert.equal(3, status)
      assert.matches("^cut.gmon: damage: .*gmon%-truncated", text)
      assert.equal("gmon.out: nothing is damaged\n", fine "profio --check")
   end)

   it("--list-reports shows the reports that fit", function()
      local text = fine "profio --list-reports"
      assert.matches("\nflat +functions", "\n" .. text)
      assert.not_matches("\nlines ", text)
   end)

   it("--list-formats shows options and warnings", function()
      local text = fine "profio --list-formats"
      assert.matches("\n%-%-export btf: Best Trace Format", text)
      assert.matches("\n   %-%-set interrupts=text ", text)
      assert.matches("\n%-%-report statistics: ", text)
      assert.matches("\ngmon: profiles of gprof", "\n" .. text)
      assert.matches("%-%-set address_size=int", text)
      assert.matches("gmon%-truncated +the file ends", text)
      assert.matches("\n   writes weights +stack metric unit weight\n", text)
   end)

   it("--version and --help", function()
      assert.equal("profio " .. core.version .. "\n", fine "profio --version")
      local help = fine "profio --help"
      for _, option in ipairs { "--info", "--report NAME", "--where COND", "-o OUT",
         "--compat NAME", "--script LUA", "--no-progress" } do
         assert.is_truthy(help:find(option, 1, true), option)
      end
      for line in help:gmatch "[^\n]+" do
         assert.is_true(#line <= 80, line)
      end
   end)

   it("--explain describes the columns", function()
      local text = fine("profio --report flat --explain " .. NAMED)
      assert.matches("\nself +self time, in ns", text)
      assert.matches("\nto +", fine "profio --table arcs --explain")
   end)

   describe("--merge", function()
      it("writes the sum of all files", function()
         assert.equal("", fine "profio --merge gmon.out gmon.out -o sum.gmon")
         assert.equal("count\n10\n40\n",
            fine "profio sum.gmon --table arcs --columns count --output csv")
         assert.equal("s\n120\n", fine "profio sum.gmon --aggregate 's=sum(count)' --output csv")
         assert.equal("", fine "profio --merge gmon.out gmon.out | cmp - sum.gmon")
      end)

      it("converts between kinds", function()
         fine "profio --merge gmon.out --set dialect=4.4bsd --set byte_order=big -o bsd.gmon"
         local text = fine "profio --info bsd.gmon"
         assert.matches("dialect +4.4bsd", text)
         assert.matches("byte_order +big", text)
         assert.equal(fine "profio --table arcs", fine "profio --table arcs bsd.gmon")
      end)
   end)

   describe("scripts", function()
      it("get the trace and the words after --", function()
         command.file("script.lua", [[
            local trace, word, dash = ...
            print(trace.format, word, dash, trace.arcs:count())]])
         assert.equal("gmon\tone\t--info\t2\n", fine "profio --script script.lua -- one --info")
      end)

      it("end with the status they return, and with 1 when they raise", function()
         command.file("four.lua", "return 4")
         local _, status = run "profio --script four.lua"
         assert.equal(4, status)
         command.file("raise.lua", "error 'oh no'")
         local _, raised, errors = run "profio --script raise.lua"
         assert.equal(1, raised)
         assert.matches("raise.lua:1: oh no", errors)
         for _, wrong in ipairs { "256", "-1" } do -- a process would end with 0 and 255
            command.file("wrong.lua", "return " .. wrong)
            _, status, errors = run "profio --script wrong.lua"
            assert.equal(1, status)
            assert.matches("wrong.lua returned " .. wrong .. "; an exit status", errors, 1, true)
         end
      end)

      it("begin with --new-script", function()
         fine "profio --new-script -o new.lua"
         local text = fine "profio --script new.lua gmon.out -- hello"
         assert.matches("gmon\tgmon.out\thello", text)
         assert.matches("\n *set +n +total\n", text)
         -- sums of what can be added up, and of no lines, times and numbers of things
         assert.matches('"total = sum%(count%)"', fine "profio --new-script")
         local prf = require("spec.support.xpp_builder").table { { 1, 4, "I", "MAIN", 10 },
            { 1, 9, "O", "MAIN", 11 } }
         command.file("script.PRF", prf)
         assert.not_matches("sum%(", (run "profio --new-script script.PRF"))
      end)

      it("begin with --new-script for any names of columns and tables", function()
         command.file("names.lua", [[
            require("profio").register { name = "names",
               score = function(bytes) return bytes:find "^NAMES" and 99 or 0 end,
               tables = { ["my rows"] = { { "a-b", "int" }, { "2nd", "int" }, { "not", "int" },
                  { "print", "int" } } },
               open = function()
                  return { ["my rows"] = function(put) put(11, 22, 33, 44) end }
               end }]])
         command.file("a.names", "NAMES\n")
         fine "profio --load names.lua --new-script -o named.lua a.names"
         assert.matches("\n11\t22\t33\t44\n",
            fine "profio --load names.lua --script named.lua a.names")
      end)
   end)

   describe("--load", function()
      it("runs a file that registers a format, before the trace is opened", function()
         command.file("load.lua", [[
            require("profio").register { name = "steps", help = "for this spec",
               score = function(bytes) return bytes:find "^STEPS" and 99 or 0 end,
               tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" } } },
               open = function()
                  return { events = function(put) put(1, "enter", "f") put(9, "leave", "f") end }
               end }]])
         command.file("a.steps", "STEPS\n")
         assert.equal("area,net\nf,8\n", fine "profio --load load.lua --report calls --output csv \z
            --columns area,net a.steps")
         assert.matches("\nsteps: for this spec\n", fine "profio --load load.lua --list-formats")
         local _, status, errors = run "profio a.steps"
         assert.equal(1, status)
         assert.matches("not a trace of a known format", errors)
      end)

      it("ends with status 1 for a file that cannot be run", function()
         command.file("raises.lua", "\nerror 'oh no'")
         for path, message in pairs { ["gone.lua"] = "gone.lua",
            ["raises.lua"] = "raises.lua:2: oh no" } do
            local _, status, errors = run("profio --load " .. path .. " gmon.out")
            assert.equal(1, status)
            assert.is_truthy(errors:find(message, 1, true), errors)
         end
      end)
   end)

   for _, other in ipairs { "lua5.4 -e '_VERSION=[[Lua 5.3]]'", "lua5.1", "lua5.2",
      "lua5.3", "luajit" } do
      it("says so under another Lua, and stops: " .. other, function()
         if not has(other:match "^%S+") then
            return pending("needs " .. other)
         end
         local analyze = command.analyze:gsub("lua5.4", other, 1)
         for _, line in ipairs { analyze .. " --info",
            command.in_tree .. other .. [[ -e 'require "profio"']],
            command.in_tree .. other .. [[ -e 'require "profio.recorder"']] } do
            local _, status, errors = run(line)
            assert.equal(1, status, errors)
            assert.matches("profio needs Lua 5%.4, this is Lua%S* %d%.%d%S*: run it with lua5%.4",
               errors)
         end
      end)
   end
end)

describe("core.interrupt", function()
   local fields = { { "n", "int" } }

   local function numbers(count)
      return core.decoder(fields, function(put)
         for i = 1, count do
            put(i)
         end
      end, core.dictionary(), "test")
   end

   local function press_ctrl_c()
      assert(io.popen "kill -INT $PPID"):close()
   end

   it("ends the passes when there was a Ctrl-C, but not the printing", function()
      local interrupt <close> = core.interrupt()
      press_ctrl_c()
      assert.equal(0, core.drain(interrupt:watch(numbers(10))))
      assert.equal(0, core.drain(interrupt:watch(numbers(10))))
      assert.equal(10, core.drain(interrupt:guard(numbers(10))))
      assert.is_true(interrupt:release())
   end)

   it("ends the printing when there was a first Ctrl-C after the passes", function()
      local interrupt <close> = core.interrupt()
      assert.equal(10, core.drain(interrupt:watch(numbers(10))))
      press_ctrl_c()
      assert.equal(0, core.drain(interrupt:guard(numbers(10))))
   end)

   it("is not lost in an inner one that begins later", function()
      local outer <close> = core.interrupt()
      press_ctrl_c()
      assert.is_true(core.interrupt():release())
      assert.is_true(outer:wait(0))
   end)

   it("ends inverting stacks, which may take long", function()
      local stack = {}
      for i = 1, 200000 do
         stack[i] = "f" .. i % 7
      end
      local profile = folded.profile(table.concat(stack, ";") .. " 1\n")
      local interrupt <close> = core.interrupt()
      press_ctrl_c()
      local ok, message = pcall(function() return profile:bottom_up { depth = 1e6 }:count() end)
      assert.is_false(ok)
      assert.matches("interrupted by Ctrl%-C$", message)
      assert.is_true(interrupt:wait(0))
   end)

   it("has nothing to say without one", function()
      local interrupt = core.interrupt()
      assert.equal(10, core.drain(interrupt:guard(interrupt:watch(numbers(10)))))
      assert.is_false(interrupt:release())
      assert.is_false(interrupt:release())
   end)

   it("gives Ctrl-C back when it is released", function()
      local script = command.file("released.lua", [[
         local core = require "profio.core"
         core.interrupt():release()
         assert(io.popen "kill -INT $PPID"):close()
         io.write "still here"]])
      local text, status = command.run("profio --script " .. script .. " gmon.out")
      assert.equal("", text)
      assert.equal(1, status)
   end)
end)

describe("several FILEs of which one cannot be read", function()
   it("are read without a damaged one, which is named on standard error, with status 1", function()
      local text, status, errors = run("profio --report flat --output csv " .. NAMED
         .. " gmon.out /nonexistent")
      assert.equal(1, status)
      assert.matches("/nonexistent: No such file or directory\n", errors)
      assert.matches("\nwork,", text)
   end)

   it("are not read at all under --strict, or when none can be", function()
      for _, line in ipairs { "--strict gmon.out /nonexistent", "/nonexistent /neither" } do
         local text, status, errors = run("profio --report flat " .. line)
         assert.equal(1, status)
         assert.equal("", text)
         assert.matches("/nonexistent: No such file or directory\n", errors)
      end
   end)
end)
