-- Runs that are ended while they write, by Ctrl-C or a kill at any moment: the file of -o is the
-- old one or a complete new one, and no other file is left.
--
-- Long: commands are ended at many of their system calls.
-- Unsanitized: it kills whole commands.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local folded = require "spec.support.folded"
local traced = require "spec.support.traced"
local winidea = require "spec.support.winidea"

local run, read = command.run, command.read

local folder = command.folder .. "/ended"

-- Runs a line of shell in a folder of its own.
local function here(line)
   return run("cd ended && " .. line)
end

local function file(name, bytes)
   return command.file("ended/" .. name, bytes)
end

local function bytes_of(name)
   return read(folder .. "/" .. name)
end

local function names()
   return table.concat(command.names(folder), " ")
end

before_each(function()
   disk.fresh(folder)
   file("gmon.out", command.trace())
end)

after_each(function()
   disk.remove(folder)
end)

describe("an output of a run that is ended", function()
   -- Enough events that each way writes more than once.
   local function write_large()
      local parts = {}
      for i = 0, 4999 do
         parts[2 * i + 1] = winidea.new { handle = i % 3, event = "enter", time = 20 * i }
         parts[2 * i + 2] = winidea.new { handle = i % 3, event = "leave", time = 20 * i + 10 }
      end
      file("large.BIN", table.concat(parts):rep(5))
   end

   local large_ways = { "--table timeline --output csv", "--export json", "--export ndjson",
      "--table timeline --sort -handle", "--merge" }

   -- Runs each mode with a signal at several of its system calls, as parts of their number; returns
   -- how often the old file stayed, and the messages.
   local function ended(signal, moments)
      local stayed, said = 0, {}
      for _, way in ipairs(large_ways) do
         local function traced_line(fault, number, out)
            return traced.words(folder, fault, number) .. " " .. command.analyze
               .. " --no-progress " .. way .. (" -o '%s/%s' '%s/large.BIN'"):format(folder, out,
               folder)
         end
         here("rm -f whole; " .. traced_line("NONE", 0, "whole"))
         local whole, calls = bytes_of "whole", traced.calls()
         for _, moment in ipairs(moments) do
            file("out", "old")
            local _, status, errors = here(traced_line(signal, 1 + moment * calls // 1, "out"))
            local out = bytes_of "out"
            -- Between a link and a rename the complete file has a temporary name.
            local temporary = signal == "SIGKILL" and names():match "^%.profio%-%x+"
            if temporary then
               assert.is_true(bytes_of(temporary) == whole, way .. ": a part of it")
               os.remove(folder .. "/" .. temporary)
            end
            assert.equal("gmon.out large.BIN out whole", names(), way)
            assert.is_true(out == "old" or out == whole, way .. ": a part of it")
            if out == "old" then
               stayed = stayed + 1
               said[stayed] = { way = way, status = status, errors = errors }
            else
               assert.is_true(status == 0 or status == 3 or signal == "SIGKILL", errors)
            end
         end
      end
      return stayed, said
   end

   local missing = traced.missing()
   local it_ends = missing and function(name) pending(name .. ": " .. missing) end or it

   it_ends("stays as it was after a Ctrl-C at any moment", function()
      write_large()
      local stayed, said = ended("SIGINT", { 0.2, 0.5, 0.8 })
      assert.is_true(stayed >= 9, stayed .. " were ended in time")
      for _, one in ipairs(said) do
         assert.equal(1, one.status, one.way)
         assert.is_truthy(one.errors:find "^profio: interrupted: nothing was read or written\n$"
            or one.errors:find "^profio: interrupted: [^\n]*/out is as it was\n$"
            or one.errors:find "^profio: [^\n]*/out: interrupted: it is as it was\n$", one.errors)
      end
   end)

   it("names no module that is missing if Ctrl-C comes while it is loaded", function()
      os.execute(("mkdir -p '%s/modules'"):format(folder))
      for name, words in pairs { argparse = "gmon.out", dkjson = "mcp ." } do
         file("modules/" .. name .. ".lua", 'io.popen "kill -INT $PPID":close()\n'
            .. "for _ = 1, 1000000 do end\n")
         local _, status, errors = here(("LUA_PATH='modules/?.lua;;' %s %s"):format(
            command.analyze, words))
         assert.same({ 1, "profio: interrupted: nothing was read or written\n" },
            { status, errors }, name)
         os.remove(folder .. "/modules/" .. name .. ".lua")
      end
   end)

   it("ends while a pattern is matched that would take for ever", function()
      file("evil.lua", [[
         local core = require "profio.core"
         local compile = core.pattern
         function core.pattern(text)
            local pattern = compile(text)
            return { find = function(_, name)
               io.popen "kill -INT $PPID":close()
               return pattern:find(name)
            end }
         end
         local interrupt = core.interrupt()
      ]])
      file("long.pb.gz", folded.profile(("ab"):rep(40) .. " 1\n"):export "pprof")
      local _, status, errors = here(("timeout 100 %s --load evil.lua --focus '~%s$x' long.pb.gz")
         :format(command.analyze, ("(.-)"):rep(30)))
      assert.same({ 1, "profio: interrupted: nothing was read or written\n" }, { status, errors })
   end)

   it("ends at once by a second Ctrl-C, whatever it does", function()
      file("busy.lua", [[
         local core = require "profio.core"
         local hold = core.interrupt
         function core.interrupt()
            local interrupt = hold()
            for _ = 1, 2 do
               io.popen "kill -INT $PPID":close()
               io.stderr:write "pressed "
            end
            while true do end
         end
      ]])
      file("out", "old")
      local _, status, errors = here(("timeout 100 %s --load busy.lua -o out gmon.out"):format(
         command.analyze))
      assert.same({ 130, "pressed " }, { status, errors:match "^pressed " })
      assert.is_nil(errors:find("pressed pressed", 1, true))
      assert.equal("old", bytes_of "out")
   end)

   it_ends("stays as it was, or is complete, after a kill at any moment", function()
      write_large()
      assert.is_true(ended("SIGKILL", { 0.3, 0.6, 0.9, 0.97 }) >= 10)
   end)

   it("has the rows so far of --follow, which Ctrl-C ends", function()
      here [[profio --script /dev/stdin gmon.out <<'END'
local w <close> = require("profio").create("p.prf", { format = "xpp", form = "text" })
w:write { thread = 1, time = 1000000, op = "i", call = "A" }
END]]
      -- what was read is in the file that has no name yet
      local _, status = command.run_in_steps(command.analyze .. " --follow --table entries " ..
         "--columns time,call --output csv -o ended/out ended/p.prf",
         { { "stat -Lc %s /proc/$pid/fd/* | grep -qx 20", "kill -INT $pid" } })
      assert.equal(0, status)
      assert.equal("time,call\n1000000,A\n", bytes_of "out")
   end)
end)
