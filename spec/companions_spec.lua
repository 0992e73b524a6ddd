-- Unreadable files beside a trace cause a note or an error.
--
-- Tags: user, stressed.
-- Long: many commands or rows, or programs that are compiled.
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"

local folder = command.folder .. "/companions"

-- Root may read everything.
local as_user = os.execute "test $(id -u) = 0"
   and "setpriv --reuid=65534 --regid=65534 --clear-groups " or ""

local function is_user_there()
   return os.execute(as_user .. "test -r '" .. command.root .. "/lua/profio/init.lua' 2>/dev/null")
end

-- Substitutes for a file, as lines of shell. A pipe that the user names is read.
local places = {
   ["a folder"] = "rm -f %s && mkdir %s",
   ["a link to nothing"] = "rm -f %s && ln -s nowhere %s",
   ["a pipe"] = "rm -f %s && mkfifo %s",
   ["a file that may not be read"] = "chmod 000 %s",
}

before_each(function()
   disk.fresh(folder)
   local w = assert(profio.create(folder .. "/t.dbf", { format = "dbf",
      fields = "ID C(4), NOTE M" }))
   w:write { ID = "a", NOTE = ("x"):rep(300) }
   assert(w:close())
   command.file("companions/t.cpg", "CP850")
   w = assert(profio.create(folder .. "/x.prf", { format = "xpp" }))
   for i = 1, 4 do
      w:write { thread = 1, time = i * 1000000, op = "i", call = "A", params = ("p"):rep(300) }
   end
   assert(w:close())
   w = assert(profio.create(folder .. "/w.txt", { format = "winidea", dialect = "text1",
      timeline_binary = true }))
   w:write { time = 0, event = "enter", area = "A" }
   assert(w:close())
   w = assert(profio.create(folder .. "/p.prf", { format = "xpp", packets = true,
      flush_every = 1 }))
   for i = 1, 3 do
      w:write { thread = 1, time = i * 1000000, op = "i", call = "A" }
   end
   assert(w:close())
   command.file("companions/gmon.out", command.trace())
   command.file("companions/small.nm", command.nm)
end)

teardown(function()
   os.execute("chmod -R u+rwX " .. folder .. "; rm -rf " .. folder)
end)

describe("a file beside a trace", function()
   for companion, trace in pairs { ["t.fpt"] = "t.dbf", ["t.cpg"] = "t.dbf", ["x.prv"] = "x.prf",
      ["w.txt.BIN"] = "w.txt", ["w.txt"] = "w.txt.BIN", ["p.prf.000002"] = "p.prf",
      ["small.nm"] = "--symbols small.nm gmon.out", ["gmon.out"] = "--exe gmon.out gmon.out" } do
      for what, line in pairs(places) do
         it(("%s is noted when it is %s"):format(companion, what), function()
            local is_named = trace:find "^%-%-"
            if trace:find "^%-%-exe" then
               os.execute(("cp %s/gmon.out %s/prog"):format(folder, folder))
               companion, trace = "prog", "--exe prog gmon.out"
            end
            if line:find "chmod" and not is_user_there() then
               pending "needs a plain user"
               return
            elseif is_named and what == "a pipe" then
               return
            end
            local prefix = line:find "chmod" and as_user or ""
            os.execute(("cd %s && chmod -R a+rX . && %s"):format(folder,
               (line:gsub("%%s", companion))))
            local _, status, errors = command.run(("cd companions && %stimeout 60 %s %s"):format(
               prefix, command.analyze, trace))
            assert.matches(companion:match "000002" or companion, errors, 1, true)
            assert.is_truthy(status == 0 or status == 1 or status == 3)
            assert.is_nil(errors:find "stack traceback")
         end)
      end
   end
end)

describe("a winIDEA export without one of its halves", function()
   local function notes(words)
      local text, status, errors = command.run("cd companions && profio " .. words)
      assert.equal(0, status, errors)
      return errors, text
   end

   it("is noted", function()
      assert.equal("", (notes "w.txt"))
      assert.equal("", (notes "w.txt.BIN"))
      command.run "cd companions && mv w.txt.BIN moved.bin"
      assert.matches("^profio: w%.txt: note: the file has names, but no timeline and no "
         .. "statistics, and w%.txt%.BIN is not there %[winidea%-no%-timeline%]\n$",
         (notes "w.txt"))
      local errors, text = notes "moved.bin"
      assert.matches("^profio: moved%.bin: note: the main file of this binary timeline is not "
         .. "there: areas are named by their handles %[winidea%-no%-names%]\n$", errors)
      assert.matches("00000000", text)
      assert.matches("%-%-mapping FILE", (select(2, notes "help winidea-no-names")))
      errors, text = notes "moved.bin --mapping w.txt"
      assert.equal("", errors)
      assert.matches("A\n", text)
   end)

   it("is not looked for if there is no file, or if there are statistics", function()
      local text = "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\r\n00000000,A,\r\n"
      local trace <close> = assert(profio.open { data = text })
      assert.same({}, trace.warnings)
      command.file("companions/s.txt", text .. "* STATISTICS(Functions) %HANDLE%,%COUNT%\r\n"
         .. "00000000,1\r\n")
      assert.equal("", (notes "--info s.txt"))
      assert.equal("", (notes "--info - < w.txt"))
   end)
end)
