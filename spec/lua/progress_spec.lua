-- The bar of long scans, drawn into a file instead of a terminal, of a program that moves its clock
-- between the batches (spec/c/clock.c).
--
-- Unsanitized: a clock that is preloaded, before the sanitizer.

local command = require "spec.support.command"
local moved_clock = require "spec.support.moved_clock"

local BATCH <const> = 4096 -- PF_BATCH_ROWS
local blank = "\r" .. (" "):rep(78) .. "\r"

local function bar(full, percent)
   return ("\r[%s%s] %3d%%"):format(("#"):rep(full), (" "):rep(30 - full), percent)
end

-- Reads three batches, and moves the clock after the rows of each by so many ms; Ctrl-C comes after
-- one of them.
local program = [[
local clock, core, profio = require "clock", require "profio.core", require "profio"
local timelines = require "spec.support.call_timelines"
local after, interrupted_after = { %s }, %d
local BATCH <const> = 4096
math.randomseed(1)
local interrupt = core.interrupt()
local screen = assert(core.file("screen.txt", "w"))
local bytes = timelines.make { rows = 3 * BATCH, functions = 3 }
local trace = assert(profio.open({ data = bytes }, { format = "winidea", bin_version = "1.1" }))
trace:watch(function(reader) return interrupt:watch(reader, 3 * BATCH, screen) end)
local rows = 0
for _ in trace.timeline:each "time" do
   rows = rows + 1
   if rows %% BATCH == 0 then
      local batch = rows // BATCH
      clock.advance((after[batch] or 0) * 1000000)
      if batch == interrupted_after then
         assert(io.popen "kill -INT $PPID"):close()
      end
   end
end
screen:close()
print(rows, interrupt:release())
]]

-- Returns the number of rows that were read, whether Ctrl-C came, and what the screen got.
local function drawn(after, interrupted_after)
   command.file("draws.lua", program:format(table.concat(after, ","), interrupted_after or 0))
   local text, status, errors = command.run(command.in_tree .. moved_clock.words()
      .. " lua5.4 draws.lua")
   assert.same({ 0, "" }, { status, errors })
   local rows, is_interrupted = text:match "^(%d+)\t(%a+)\n$"
   return tonumber(rows), is_interrupted == "true", command.read(command.folder .. "/screen.txt")
end

if not moved_clock.is_there() then
   pending "the bar of a scan (needs spec/c/clock.c)"
   return
end

describe("the bar of a scan", function()
   it("is drawn after half a second, then for each tenth, and is erased at the end", function()
      local rows, is_interrupted, text = drawn { 600, 200, 200 }
      assert.same({ 3 * BATCH, false }, { rows, is_interrupted })
      -- the clock moves between the rows only, so the rates are known
      assert.equal(bar(20, 66) .. "  0.01 M rows/s, 0 s left  " .. bar(30, 100)
         .. "  0.02 M rows/s, 0 s left  " .. blank, text)
   end)

   it("is drawn again only after a tenth of a second", function()
      local _, _, text = drawn { 600, 99, 0 }
      assert.equal(bar(20, 66) .. "  0.01 M rows/s, 0 s left  " .. blank, text)
   end)

   it("is erased at Ctrl-C, which ends the scan", function()
      local rows, is_interrupted, text = drawn({ 600, 600 }, 2)
      assert.same({ 2 * BATCH, true }, { rows, is_interrupted })
      assert.equal(bar(20, 66) .. "  0.01 M rows/s, 0 s left  " .. blank, text)
   end)

   it("is not drawn for a scan of less than half a second", function()
      local rows, _, text = drawn { 200, 200, 99 }
      assert.same({ 3 * BATCH, "" }, { rows, text })
   end)
end)
