-- The bar of long scans, drawn into a file instead of a terminal. The spec measures time.

local command = require "spec.support.command"
local core = require "profio.core"
local profio = require "profio"
local timelines = require "spec.support.call_timelines"

local BATCH = 4096 -- PF_BATCH_ROWS
local blank = "\r" .. (" "):rep(78) .. "\r"

local function bar(full, percent)
   return ("\r[%s%s] %3d%%"):format(("#"):rep(full), (" "):rep(30 - full), percent)
end

-- Reads three batches; `after` is called after the rows of the first and of the second one.
local function drawn(after)
   math.randomseed(1)
   local interrupt <close> = core.interrupt()
   local path = command.file("screen.txt", "")
   local screen = assert(io.open(path, "w"))
   local bytes = timelines.make { rows = 3 * BATCH, functions = 3 }
   local trace <close> = assert(profio.open({ data = bytes }, { format = "winidea",
      bin_version = "1.1" }))
   trace:watch(function(reader)
      return interrupt:watch(reader, 3 * BATCH, screen)
   end)
   local rows = 0
   for _ in trace.timeline:each "time" do
      rows = rows + 1
      if rows % BATCH == 0 then
         after(rows // BATCH)
      end
   end
   screen:close()
   interrupt:release()
   local text = io.open(path):read "a"
   -- The rate and the time left differ from run to run.
   return (text:gsub("  %d+%.%d%d M rows/s, %d+ s left  ", "")), rows
end

describe("the bar of a scan", function()
   it("is drawn after half a second, then for each tenth, and is erased at the end", function()
      local text, rows = drawn(function(batch)
         os.execute(batch == 1 and "sleep 0.6" or "sleep 0.2")
      end)
      assert.equal(3 * BATCH, rows)
      assert.equal(bar(20, 66) .. bar(30, 100) .. blank, text)
   end)

   it("is erased at Ctrl-C, which ends the scan", function()
      local text, rows = drawn(function(batch)
         os.execute "sleep 0.6"
         if batch == 2 then
            assert(io.popen "kill -INT $PPID"):close()
         end
      end)
      assert.equal(2 * BATCH, rows)
      assert.equal(bar(20, 66) .. blank, text)
   end)

   it("is not drawn for a short scan", function()
      local text, rows = drawn(function() end)
      assert.equal(3 * BATCH, rows)
      assert.equal("", text)
   end)
end)
