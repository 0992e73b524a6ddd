-- --follow with files that do not exist yet, and with a report.
--
-- Tags: user.

local command = require "spec.support.command"
local moved_clock = require "spec.support.moved_clock"
local wait = require "spec.support.wait"
local xpp = require "spec.support.xpp_builder"

local said = command.said
local waits = command.folder .. "/waits"

local prf = xpp.table(xpp.golden, { fields = xpp.text_fields, version = 3 })
local start = #xpp.header(xpp.text_fields, 0, 3)

-- The command with a clock of its own, so that it looks at the files again at once.
local words = moved_clock.is_there() and "env " .. moved_clock.words(0, waits) .. " "
   .. command.analyze

describe("--follow", function()
   if not words then
      pending "needs spec/c/clock.c"
      return
   end

   it("waits for a file that is not there, and says so", function()
      os.remove(command.folder .. "/later.PRF")
      command.file("later.whole", prf)
      local text, status, errors = command.run_in_steps(words .. " --follow --unfilter "
         .. "--output csv --columns event,call --top 3 later.PRF", {
         { said "waiting for later.PRF", ": >later.PRF" },
         { moved_clock.waited(waits, 2), "cat later.whole >later.PRF" } }) -- empty is not there
      assert.same({ "event,call\nenter,MAIN\nenter,A\nenter,B\n", 0 }, { text, status })
      assert.equal("profio: waiting for later.PRF\n", errors)
   end)

   it("ends with Ctrl-C while it waits", function()
      local text, _, errors = command.run_in_steps(command.analyze .. " --follow never.PRF",
         { { said "waiting for never.PRF", "kill -INT $pid" } })
      assert.same({ "", "profio: waiting for never.PRF\n" }, { text, errors })
   end)
end)

describe("--follow of a writer that is killed", function()
   local shows = " --follow --table samples --columns line --output csv killed.br"

   -- A command that follows the rows of a writer, of which three are in the file for sure; it goes
   -- on when the shell has made a file, and kills itself.
   local function writer(full)
      command.file("killed.lua", ([[
         local profio = require "profio"
         local w = assert(profio.create("killed.br",
            { format = "br", ring = { size = "64K", full = "%s" } }))
         local function write(from, to)
            for i = from, to do
               assert(w:write { module = "m", line = i, spent = i, kind = "main" })
            end
         end
         write(1, 3)
         if "%s" == "block" then w:flush() end
         io.open("killed.begun", "w"):close()
         require "spec.support.wait".until_true(function() return io.open "killed.goes_on" end)
         write(4, 700)
         os.execute("kill -9 " .. io.open "/proc/self/stat":read "n")]]):format(full, full))
      os.execute(("cd '%s' && rm -f killed.br killed.br.ring killed.begun killed.goes_on")
         :format(command.folder))
      command.file("killed.sh", ("%s\n%s lua5.4 killed.lua &\nwait_until '[ -e killed.begun ]'\n"
         .. "exec %s%s\n"):format(wait.shell, command.in_tree, command.analyze, shows))
      return "sh killed.sh"
   end

   for full, first in pairs { block = said "3", overwrite = said "waiting for killed.br" } do
      it("shows all that a plain read shows, and ends: " .. full, function()
         local text, status, errors = command.run_in_steps(writer(full),
            { { first, ": >killed.goes_on" } })
         local expected = { "line" }
         for i = 1, 700 do
            expected[i + 1] = tostring(i)
         end
         assert.equal(table.concat(expected, "\n") .. "\n", text)
         assert.equal(0, status)
         assert.matches("its writer has not closed it: .* %[ring%-recovered%]", errors)
         -- and so does a follower that begins later
         local later, later_status = command.run(command.analyze .. shows)
         assert.same({ text, 0 }, { later, later_status })
         os.execute(("cd '%s' && rm -f killed.*"):format(command.folder))
      end)
   end
end)

describe("--follow with a report", function()
   local options = " --follow --report xpppat --output csv --columns call,numbers grown.PRF"

   it("shows it again when the file has grown, as blocks where there is no terminal", function()
      command.file("grown.PRF", prf:sub(1, start + 100))
      command.file("grown.rest", prf:sub(start + 101))
      local text, _, errors = command.run_in_steps(command.analyze .. options, {
         { said "A,1", "cat grown.rest >> grown.PRF" }, { said "C,2", "kill -INT $pid" } })
      local blocks = {}
      for block in (text .. "\n"):gmatch "(.-\n)\n" do
         blocks[#blocks + 1] = block
      end
      assert.equal("", errors)
      assert.equal(2, #blocks)
      assert.matches("^call,numbers\nA,1\n", blocks[1])
      assert.equal("call,numbers\nA,1\nB,3\nC,2\nMAIN,1\nSum,0\n", blocks[2])
   end)

   it("shows it in place on a terminal", function()
      if not words or os.execute "command -v script >/dev/null 2>&1" ~= true then
         pending "needs script(1) and spec/c/clock.c"
         return
      end
      command.file("grown.PRF", prf)
      command.file("follow.sh", "echo $$ >pid\nexec " .. words
         .. " --follow --report xpppat grown.PRF\n")
      local text = command.run_in_steps("script -qec 'sh follow.sh' /dev/null", {
         { said "Sum", ":" }, { moved_clock.waited(waits, 3), "kill -INT $(cat pid)" } })
      assert.matches("^\27%[H\27%[2J", text)
      assert.matches("CALL +NUMBERS", text)
      assert.equal(1, select(2, text:gsub("\27%[2J", "")))
   end)

   it("is refused where a report only grows", function()
      command.file("grown.PRF", prf)
      for _, report in ipairs { "entries", "calls", "info" } do
         local _, status, errors = command.run("profio --follow --report " .. report
            .. " grown.PRF")
         assert.equal(2, status)
         assert.matches("report '" .. report .. "' cannot use %-%-follow: reports that can: ",
            errors)
      end
      for _, words_of in ipairs { "--limits grown.PRF", "--info", "--export svg" } do
         local _, status, errors = command.run("profio --follow " .. words_of .. " grown.PRF")
         assert.equal(2, status)
         assert.matches("cannot use %-%-", errors)
      end
   end)
end)
