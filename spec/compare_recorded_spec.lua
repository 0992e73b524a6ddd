-- profio compare of two versions of a Lua program, recorded by profio.recorder: one function is
-- slower, one is renamed, one is inlined into its caller, one is in another module.
--
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local command = require "spec.support.command"
local moved_clock = require "spec.support.moved_clock"
local recorded = require "spec.support.recorded"

local RUNS <const> = 5

-- A function that calls another one as many times as its argument says. Each reading of the clock
-- takes 100 ns (spec/c/clock.c), and each call reads it, so the time of a function is known.
local function work(name)
   return ("function %s(n) for i = 1, n do math.abs(i) end end\n"):format(name)
end

-- Returns the module and the main program of a version. In the new one `heavy` does three times as
-- much, `old_name` is `new_name`, the loop of `leaf` is in `parent`, and `moves` is in the module.
-- The work of a call differs by some per cent, in each run in another way.
local function program(is_new, number)
   local named = is_new and "new_name" or "old_name"
   local module = "local module = {}\n" .. work "module.stays"
      .. (is_new and work "module.moves" or "") .. "return module\n"
   local loop = "for i = 1, n do math.abs(i) end "
   local parent = "local function parent(n) for i = 1, n // 4 do math.abs(i) end "
      .. (is_new and loop or "leaf(n) ") .. "end\n"
   return module, "local other = require 'compared_module'\nlocal here = {}\n"
      .. (is_new and "" or work "here.moves") .. "local " .. work "heavy" .. "local " .. work(named)
      .. (is_new and "" or "local function leaf(n) " .. loop .. "end\n") .. parent
      .. ("local state = %d\nlocal function some(n) "
      .. "state = state * 1103515245 + 12345 & 0x7fffffff "
      .. "return n + (state >> 16) %% (n // 10) end\n"):format(number * 7919)
      .. ("for _ = 1, 30 do heavy(some(%d)) %s(some(400)) parent(some(200)) %s.moves(some(200)) ")
      :format(is_new and 600 or 200, named, is_new and "other" or "here")
      .. "other.stays(some(200)) end\n"
end

-- Records one run of a version into a timeline of calls; returns the path.
local function record(is_new, number)
   local module, main = program(is_new, number)
   local path = recorded.path(("compared-%s-%d.txt"):format(is_new and "new" or "old", number))
   command.file("compared_module.lua", module)
   local _, status, errors = recorded.run(main, "mode=calls,subtract=false,path=" .. path, 100)
   assert(status == 0, errors)
   return path
end

-- Returns the rows of profio compare by function.
local function compare(base, new, ...)
   local text, status, errors = command.run("profio compare " .. table.concat(base, " ")
      .. " --new " .. table.concat(new, " ") .. " --output csv --columns function,verdict,moved "
      .. table.concat({ ... }, " "))
   assert.equal(0, status, errors)
   local rows = {}
   for name, verdict, to in text:gmatch "([^,\n]*),([^,\n]*),([^,\n]*)\n" do
      rows[name] = { verdict = verdict, moved = to }
   end
   return rows
end

-- Returns the recordings of both versions.
local function versions()
   local old, new = {}, {}
   for i = 1, RUNS do
      old[i], new[i] = record(false, i), record(true, RUNS + i)
   end
   return old, new
end

describe("profio compare of recorded Lua programs", function()
   if not moved_clock.is_there() then
      pending "needs spec/c/clock.c"
      return
   end

   it("finds what was planted", function()
      local rows = compare(versions())
      assert.equal("slower", rows.heavy.verdict)
      for from, to in pairs { old_name = "new_name", leaf = "parent",
         ["here.moves"] = "module.moves" } do
         assert.equal("moved", rows[from].verdict, from)
         assert.equal("to " .. to, rows[from].moved)
         assert.equal("from " .. from, rows[to].moved)
      end
      assert.equal("unchanged", rows["module.stays"].verdict)
   end)

   it("finds no difference between runs of one version", function()
      local sides = { {}, {} }
      for i = 1, 8 do
         table.insert(sides[(i + i // 4) % 2 + 1], record(false, i))
      end
      for name, row in pairs(compare(sides[1], sides[2], "--alpha", "0.001")) do
         assert.is_true(name == "function" or row.verdict == "unchanged"
            or row.verdict == "unknown", name .. " is " .. row.verdict)
      end
   end)
end)
