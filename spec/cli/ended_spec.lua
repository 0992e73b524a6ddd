-- Runs that are ended while they write, by Ctrl-C or a kill at any moment: the file of -o is the
-- old one or a complete new one, and no other file is left.

local command = require "spec.support.command"
local lfs = require "lfs"
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

-- All names in the folder, sorted: temporary files show here.
local function names()
   local list = {}
   for name in lfs.dir(folder) do
      list[#list + 1] = name ~= "." and name ~= ".." and name or nil
   end
   table.sort(list)
   return table.concat(list, " ")
end

before_each(function()
   os.execute("rm -rf " .. folder .. " && mkdir -p " .. folder)
   file("gmon.out", command.trace())
end)

after_each(function()
   os.execute("rm -rf " .. folder)
end)

describe("an output of a run that is ended", function()
   -- Enough events that each way takes some tenths of a second.
   local function write_large()
      local parts = {}
      for i = 0, 4999 do
         parts[2 * i + 1] = winidea.new { handle = i % 3, event = "enter", time = 20 * i }
         parts[2 * i + 2] = winidea.new { handle = i % 3, event = "leave", time = 20 * i + 10 }
      end
      file("large.BIN", table.concat(parts):rep(150))
   end

   local large_ways = { "--table timeline --output csv", "--export json", "--export ndjson",
      "--table timeline --sort -handle", "--merge" }

   local clock = "date +%s%N"

   -- Runs each mode with signals at several moments of its duration; returns how often the old file
   -- stayed, and the messages.
   local function ended(signal, moments)
      local stayed, said = 0, {}
      for _, way in ipairs(large_ways) do
         local line = "profio --no-progress " .. way
         local times = here(("rm -f whole out; %s; %s -o whole large.BIN; %s"):format(clock, line,
            clock))
         local from, to = times:match "(%d+)\n(%d+)"
         local whole = bytes_of "whole"
         for _, moment in ipairs(moments) do
            file("out", "old")
            local line_of_end = ("timeout --foreground --preserve-status -s %s %.3f "):format(
               signal, moment * (to - from) / 1e9)
            local _, status, errors = here(line_of_end .. command.analyze .. " " .. way ..
               " -o out large.BIN")
            local out = bytes_of "out"
            -- Between a link and a rename the complete file has a temporary name.
            local temporary = signal == "KILL" and names():match "^%.profio%-%x+"
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
               assert.is_true(status == 0 or status == 3 or signal == "KILL", errors)
            end
         end
      end
      return stayed, said
   end

   it("stays as it was after a Ctrl-C at any moment", function()
      write_large()
      local stayed, said = ended("INT", { 0.2, 0.4, 0.6, 0.8 })
      assert.is_true(stayed >= 5, stayed .. " were ended in time")
      local interrupted = 0
      for _, one in ipairs(said) do
         interrupted = interrupted + (one.status == 1 and one.errors:find(
            "out[^\n]*interrupted: it is as it was\n") and 1 or 0) + (one.status == 1 and
            one.errors:find "interrupted: out is as it was\n" and 1 or 0)
      end
      assert.is_true(interrupted >= 4, interrupted .. " say so")
   end)

   it("stays as it was, or is complete, after a kill at any moment", function()
      write_large()
      assert.is_true(ended("KILL", { 0.3, 0.5, 0.7, 0.9 }) >= 5)
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
