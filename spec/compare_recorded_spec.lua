-- profio compare of two versions of a Lua program, recorded by profio.recorder: one function is
-- slower, one is renamed, one is inlined into its caller, one is in another module.

local command = require "spec.support.command"
local measured = require "spec.support.measured"
local recorded = require "spec.support.recorded"

local RUNS <const> = 5

-- A function that sums up as many numbers as its argument says.
local function work(name, divisor)
   return ("function %s(n) local x = 0 for i = 1, n do x = x + i %% %d end return x end\n"):format(
      name, divisor)
end

local moves = work("module.moves", 5)

-- Returns the module and the main program of a version. In the new one `heavy` does three times as
-- much, `old_name` is `new_name`, the loop of `leaf` is in `parent`, and `moves` is in the module.
local function program(is_new)
   local named = is_new and "new_name" or "old_name"
   local module = "local module = {}\n" .. work("module.stays", 3) .. (is_new and moves or "")
      .. "return module\n"
   local leaf = "for i = 1, n do x = x + i % 7 end "
   local parent = "local function parent(n) local x = 0 for i = 1, n // 4 do x = x + i % 9 end "
      .. (is_new and leaf .. "return x end\n" or "return x + leaf(n) end\n")
   return module, "local other = require 'compared_module'\nlocal module = {}\n"
      .. (is_new and "" or moves) .. "local " .. work("heavy", 11) .. "local " .. work(named, 13)
      .. (is_new and "" or "local function leaf(n) local x = 0 " .. leaf .. "return x end\n")
      .. parent .. ("for _ = 1, 200 do heavy(%d) %s(4000) parent(2000) %s.moves(2000) "):format(
      is_new and 6000 or 2000, named, is_new and "other" or "module") .. "other.stays(2000) end\n"
end

-- Records one run of a version into a timeline of calls; returns the path.
local function record(is_new, number)
   local module, main = program(is_new)
   local path = recorded.path(("compared-%s-%d.txt"):format(is_new and "new" or "old", number))
   command.file("compared_module.lua", module)
   local _, status, errors = recorded.run(main, "mode=calls,clock=cpu,path=" .. path)
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
   for i = 1, RUNS do -- in turns, since the speed of a machine changes
      old[i], new[i] = record(false, i), record(true, i)
   end
   return old, new
end

local function check_planted()
   local rows = compare(versions())
   assert.equal("slower", rows.heavy.verdict)
   for from, to in pairs { old_name = "new_name", leaf = "parent",
      moves = "compared_module.moves" } do
      assert.equal("moved", rows[from].verdict, from)
      assert.equal("to " .. to, rows[from].moved)
      assert.equal("from " .. from, rows[to].moved)
   end
   local stays = rows["compared_module.stays"].verdict
   assert.is_true(stays == "unchanged" or stays == "unknown")
end

local function check_equal()
   local runs = {}
   for i = 1, 8 do
      runs[i] = record(false, i)
   end
   local mixed = { {}, {} }
   for i, run in ipairs(runs) do
      table.insert(mixed[(i + i // 4) % 2 + 1], run)
   end
   for name, row in pairs(compare(mixed[1], mixed[2], "--alpha", "0.001")) do
      assert.is_true(name == "function" or row.verdict == "unchanged"
         or row.verdict == "unknown", name .. " is " .. row.verdict)
   end
end

describe("profio compare of recorded Lua programs", function()
   it("finds what was planted", function()
      measured.again(check_planted)
   end)

   it("finds no difference between runs of one version", function()
      measured.again(check_equal)
   end)
end)
