-- Messages and tables of the command: misspelt names, options as they are given, widths of tables.
--
-- Tags: user.
-- Costly: many commands.

local command = require "spec.support.command"
local dbf = require "spec.support.dbf_builder"
local disk = require "spec.support.disk"
local profio = require "profio"
local verbs = require "profio.cli.verbs"

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

describe("profio", function()
   it("-h shows usage, verbs and examples on one screen, --help all options", function()
      local text = fine "profio -h"
      local _, lines = text:gsub("[^\n]*\n", function(line)
         assert.is_true(#line <= 81, line)
      end)
      assert.is_true(lines < 24, lines)
      for _, verb in ipairs(verbs.all()) do
         assert.is_truthy(text:find("\n  " .. verb.name .. " +" .. verb.help:sub(1, 10)))
      end
      assert.equal(3, select(2, text:gsub("\n  profio ", "")))
      assert.equal(fine "profio --help", fine "profio -h --help")
      assert.matches("\n   %-%-trust%-paths ", fine "profio --help")
      assert.equal(fine "profio merge --help", fine "profio merge -h")
   end)

   it("-v and -V are short for --version", function()
      assert.equal(fine "profio --version", fine "profio -v")
      assert.equal(fine "profio --version", fine "profio -V")
   end)

   it("says how it is called where there is nothing to read", function()
      local empty = command.folder .. "/../empty"
      disk.folder(empty)
      for _, words in ipairs { "", "--report flat" } do
         local text, status, errors = run("cd " .. empty .. " && DCPIDB= profio " .. words)
         assert.same({ "", 2 }, { text, status })
         assert.equal("profio: no FILE is given, and there is no gmon.out here\n"
            .. "Usage: profio [options] FILE...   (profio --help lists the options)\n", errors)
      end
   end)

   describe("a misspelt name", function()
      -- Returns the suggestion on standard error, after the list of the names that exist.
      local function hint(line)
         local _, status, errors = run("profio " .. line)
         assert.equal(2, status, line)
         return errors:match "; (did you mean [^\n]*)"
      end

      it("is reported with similar names", function()
         assert.equal("did you mean '--report'?", hint "--reprt flat")
         assert.equal("did you mean 'flat'?", hint "--report falt")
         assert.equal("did you mean 'arcs'?", hint "--table arc")
         assert.equal("did you mean 'low'?", hint "--columns lwo")
         assert.equal("did you mean 'count'?", hint "--where cuont=1")
         assert.equal("did you mean 'count'?", hint "--sort cont")
         assert.equal("did you mean 'samples'?", hint "--report flat --metric smples")
         assert.equal("did you mean 'pprof'?", hint "--export ppof")
         assert.equal("did you mean 'gmon'?", hint "--format gmno")
         assert.equal("did you mean 'csv'?", hint "--output cvs")
         assert.equal("did you mean 'address_size'?", hint "--set adress_size=8")
         assert.equal("did you mean 'little'?", hint "--set byte_order=litle")
         assert.equal("did you mean 'packed'?", hint "--export pprof --set paked=no")
         assert.is_nil(hint "--table qqqqqq")
      end)

      it("is reported with only the names that fit the file", function()
         local _, _, errors = run "profio --report falt"
         assert.equal("profio: no report 'falt'; there are: flat, graph, blocks, info, tables, "
            .. "compare, diff, explain; did you mean 'flat'?\n", errors)
         _, _, errors = run "profio --export x"
         assert.not_matches("chrome", errors)
      end)
   end)

   it("names options as on the command line", function()
      local _, _, errors = run "profio --report flat"
      assert.matches("%-%-exe PATH names it", errors)
      _, _, errors = run "profio --set address_size=x"
      assert.equal("profio: --set address_size must be a whole number, got x\n", errors)
      command.file("words.dbf", dbf { version = 0x03, { "NAME", "C", 3 } }:row { "abc" }
         :deleted({ "def" }):bytes())
      _, _, errors = run "profio words.dbf"
      assert.matches("are left out; %-%-set deleted=show shows them", errors)
      local trace <close> = assert(profio.open(command.folder .. "/words.dbf"))
      trace.data:count()
      assert.matches('are left out; deleted = "show" shows them', trace.warnings[1].message)
   end)

   describe("a terminal", function()
      local function on_terminal(line)
         return (run("PAGER=cat script -qec '" .. command.analyze .. " " .. line .. "' /dev/null"))
      end

      it("gets colors, unless NO_COLOR is set; a pipe gets none", function()
         if not has "script" then
            pending "script(1) is not installed"
            return
         end
         assert.matches("\27%[1m", on_terminal "gmon.out --table arcs")
         assert.not_matches("\27", (run("PAGER=cat NO_COLOR=1 script -qec '" .. command.analyze
            .. " gmon.out --table arcs' /dev/null")))
         assert.not_matches("\27", fine "profio --table arcs")
      end)

      it("has tables no wider than its lines, and a file has all", function()
         if not has "script" then
            pending "script(1) is not installed"
            return
         end
         local name = ("long"):rep(40)
         command.file("wide.nm", "0000000000001000 T main\n0000000000001100 T " .. name
            .. "\n0000000000001200 T leaf\n0000000000001300 T etext\n")
         local words = "gmon.out --symbols wide.nm --table arcs"
         local function widest(line)
            local most = 0
            for text in run("PAGER=cat; export PAGER; " .. line):gsub("\27%[%d*m", "")
               :gmatch "[^\r\n]+" do
               most = math.max(most, text:find "^profio: " and 0 or utf8.len(text))
            end
            return most
         end
         local function on(columns, set)
            return widest("script -qec '" .. (set or "") .. "stty cols " .. columns .. "; "
               .. command.analyze .. " " .. words .. "' /dev/null")
         end
         assert.equal(100, on(100))
         assert.equal(98, on(200, "export COLUMNS=98; "))
         assert.is_true(on(250) > 160)
         assert.is_true(widest("COLUMNS=50 profio " .. words) > 160)
         local text = run("PAGER=cat script -qec 'stty cols 80; " .. command.analyze
            .. " gmon.out --symbols wide.nm --info' /dev/null")
         for line in text:gmatch "[^\r\n]+" do
            assert.is_true(utf8.len(line) <= 80, line)
         end
      end)

      it("is not given bytes", function()
         if has "script" then
            assert.matches("give %-o OUT", on_terminal "--merge gmon.out")
         end
      end)
   end)
end)

describe("a mistake in a reader of --load", function()
   local reader = [[
local profio = require "profio"
profio.register { name = "mine", tables = { rows = { { "n", "int" } } },
   score = function(head)
      SCORE
      return head == "MINE" and 100 or 0
   end,
   open = function()
      OPEN
      return { rows = function(put)
         put(1)
         READ
      end }
   end }
]]
   -- Returns the reader with a mistake at one of its places.
   local function with(place, mistake)
      return (reader:gsub(place, mistake):gsub("%f[%u]%u%u%u%u+%f[%s]\n", "\n"))
   end

   local lines = { SCORE = 4, OPEN = 8, READ = 11 }

   it("is named with its file and line, without a traceback through profio", function()
      command.file("mine", "MINE")
      for place, number in pairs(lines) do
         for mistake, message in pairs { ["local x = 1 + nil"] = "attempt to perform arithmetic",
            ["error 'no header'"] = "no header" } do
            command.file("reader.lua", with(place, mistake))
            local _, status, errors = run "profio --load reader.lua --table rows mine"
            assert.equal(1, status, errors)
            assert.matches(("^profio: reader%%.lua:%d: %s[^\n]*\n$"):format(number, message),
               errors)
         end
      end
      for place in pairs(lines) do -- a text without a place, and what is no text
         for mistake, message in pairs { ["error('no header', 0)"] = "no header",
            ["error {}"] = "a table was raised as an error, which says nothing: raise a text" } do
            command.file("reader.lua", with(place, mistake))
            local _, status, errors = run "profio --load reader.lua --table rows mine"
            assert.same({ 1, "profio: " .. message .. "\n" }, { status, errors }, place)
         end
      end
      command.file("reader.lua", with("READ", "put 'x'"))
      local _, status, errors = run "profio --load reader.lua --table rows mine"
      assert.equal(1, status)
      assert.matches("^profio: reader%.lua:11: bad argument #1 to 'put' [^\n]*\n$", errors)
   end)
end)

describe("standard output that cannot be written", function()
   it("is an error of help, completion, scripts and mcp", function()
      if not io.open "/dev/full" then
         return pending "needs /dev/full"
      end
      command.file("prints.lua", "for i = 1, 10000 do print(i) end")
      command.file("gmon.out", command.trace())
      for _, line in ipairs { "profio help options", "profio help", "profio completion bash",
         "profio --version", "profio --script prints.lua gmon.out",
         [[echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | profio mcp .]] } do
         local _, status, errors = run(line .. " >/dev/full")
         assert.equal(1, status, line)
         assert.matches("standard output: write failed", errors, line)
      end
   end)
end)
