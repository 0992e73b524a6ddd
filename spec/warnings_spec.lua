-- Warnings: one for each kind of damage, with the first place of it and how often it came.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local records = require "spec.support.winidea"

local header = "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n"

-- A Text1 timeline in which each third row is none, and each fifth one is too early.
local function damaged(rows)
   local list = {}
   for i = 1, rows do
      list[i] = i % 3 == 0 and "nothing" or ("1,%s,%d"):format(i % 2 == 1 and "E" or "X",
         i % 5 == 0 and 0 or i)
   end
   return header .. table.concat(list, "\n") .. "\n"
end

-- Returns the warnings that a model expects for a file: the count of bad rows and of falling times,
-- and the byte offset of the first of each.
local function expected(text)
   local bad, falls, first, last, at = 0, 0, {}, nil, #header
   for line in text:sub(#header + 1):gmatch "([^\n]*)\n" do
      local time = tonumber(line:match "(%d+)$")
      if not time then
         bad, first.bad = bad + 1, first.bad or at
      elseif last and time < last then
         falls, first.falls = falls + 1, first.falls or at
      end
      last, at = time or last, at + #line + 1
   end
   return { ["winidea-bad-row"] = { bad, first.bad },
      ["winidea-time-falls"] = { falls, first.falls } }
end

local function found(trace)
   local list = {}
   for _, warning in ipairs(trace.warnings) do
      assert.is_nil(list[warning.code])
      list[warning.code] = { warning.count, warning.offset }
   end
   return list
end

describe("warnings", function()
   it("come once for each kind, with a count and the first byte", function()
      local text = damaged(3000)
      local trace <close> = assert(profio.open { data = text })
      trace.timeline:rows "time"
      assert.same(expected(text), found(trace))
   end)

   it("count a place once, however often it is read", function()
      local text = damaged(700)
      local trace <close> = assert(profio.open { data = text })
      for _ = 1, 3 do
         trace.timeline:rows("time", "area")
         trace:call_statistics():rows()
         trace.events:rows()
      end
      assert.same(expected(text), found(trace))
   end)

   it("are all listed by check", function()
      local text = damaged(900)
      local trace <close> = assert(profio.open { data = text })
      local counts, offsets = {}, {}
      for _, warning in ipairs(trace:check()) do
         counts[warning.code] = (counts[warning.code] or 0) + 1
         assert.is_nil(offsets[warning.offset .. warning.code])
         offsets[warning.offset .. warning.code] = true
      end
      local model = expected(text)
      assert.same({ ["winidea-bad-row"] = model["winidea-bad-row"][1],
         ["winidea-time-falls"] = model["winidea-time-falls"][1] }, counts)
   end)

   it("name the first byte also if a file is read in chunks", function()
      local list = {}
      for i = 1, 40000 do
         list[i] = records.new { handle = 1, event = i % 2 == 1 and "enter" or "leave", time = i,
            core = 0 }
         if i % 1000 == 777 then -- bits that have no meaning
            list[i] = list[i]:sub(1, 6) .. "\1" .. list[i]:sub(8)
         end
      end
      local bytes = table.concat(list)
      for parts = 1, 4 do
         local trace <close> = assert(profio.open({ data = bytes }, { format = "winidea" }))
         trace:call_statistics({ parts = parts, threads = 2 }):rows()
         assert.same({ ["winidea-odd-flags"] = { 40, 776 * 24 + 4 } }, found(trace))
      end
   end)

   it("are a line each", function()
      local path = command.file("damaged.txt", damaged(300))
      local _, status, errors = command.run("profio --table timeline --output csv " .. path)
      assert.equal(3, status)
      local lines = {}
      for line in errors:gmatch "[^\n]+" do
         lines[#lines + 1] = line
      end
      assert.equal(2, #lines)
      assert.matches("%(byte %d+, 100 times%) %[winidea%-bad%-row%]$", lines[1])
      assert.matches("%(byte %d+, %d%d times%) %[winidea%-time%-falls%]$", lines[2])
      local info = command.run("profio --check " .. path)
      assert.is_true(select(2, info:gsub("winidea%-bad%-row", "")) == 100)
   end)
end)
