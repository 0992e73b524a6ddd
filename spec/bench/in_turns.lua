-- Compares two builds by the lines of the bench, whole cases in turns:
--
--   in_turns.lua without NAME OTHER [CASE...]     this build, and the one in folder OTHER, which
--                                                 lacks a fast path: `make bench WITHOUT=NAME`
--   in_turns.lua against REVISION OTHER CASE...   this checkout, and the one in folder OTHER:
--                                                 `make bench AGAINST=REVISION`
--
-- Prints the medians of both for each line with a time, and how many times as long the other one (a
-- build without a path), or this one (beside a revision), takes.

local timing = require "spec.bench.timing"

local ROUNDS <const> = 3

-- The case of the bench that shows what a path of csrc/model/base/switches.h brings.
local cases_of = {
   calls = "xbase",
   chunks = "counts",
   digits = "xbase",
   events = "calls",
   files = "files",
   fixed = "symbols",
   known = "xbase",
   misses = "symbols",
   records = "timeline",
   rows = "text1",
   shapes = "readers",
   strings = "timeline",
}

local units = { ns = 1e-9, us = 1e-6, ms = 1e-3, s = 1 }

-- Adds the first time of each line that a case prints to `times`, by the text before it and the
-- number of such lines so far. New lines are appended to `order`.
local function run(folder, build, case, times, order)
   local pipe <close> = assert(io.popen(("cd '%s' && env PROFIO_BUILD='%s' LUA_CPATH='%s/?.so;;' "
      .. "lua5.4 spec/bench/run.lua %s 2>/dev/null"):format(folder, build, build, case)))
   local seen = {}
   for line in pipe:lines() do
      local label, number, unit
      for at, digits, word in line:gmatch "()(%f[%d.][%d.]+) (%a+)%f[^%w/]" do
         if not number and units[word] and tonumber(digits) then
            label, number, unit = line:sub(1, at - 1):gsub("%s+", " "), digits, word
         end
      end
      if number then
         seen[label] = (seen[label] or 0) + 1
         local key = label .. (seen[label] > 1 and ("(%d)"):format(seen[label]) or "")
         if not times[key] then
            times[key], order[#order + 1] = {}, key
         end
         table.insert(times[key], tonumber(number) * units[unit])
      end
   end
end

local function compare(case, mine, others, is_without)
   local here, there, order = {}, {}, {}
   for _ = 1, ROUNDS do
      run(mine.folder, mine.build, case, here, order)
      run(others.folder, others.build, case, there, {})
   end
   for _, label in ipairs(order) do
      local this, other = timing.median(here[label]), there[label] and timing.median(there[label])
      local ratio = other and ("%7.2f x"):format(is_without and other / this or this / other) or ""
      timing.print("%-10s %-44s %10.4g s %10s %s", case, label, this,
         other and ("%.4g s"):format(other) or "-", ratio)
   end
end

local mode, name, folder = arg[1], arg[2], arg[3]
local is_without = mode == "without"
if is_without and not cases_of[name] then
   io.stderr:write("no fast path has the name ", name, "\n")
   os.exit(2)
end
local cases = table.move(arg, 4, #arg, 1, {})
if #cases == 0 then
   cases[1] = assert(cases_of[name], "name the cases: CASES=\"calls symbols\"")
end
local here = { folder = ".", build = os.getenv "PROFIO_BUILD" or "build" }
local other = { folder = is_without and "." or folder, build = is_without and folder or "build" }
timing.print("%-10s %-44s %12s %10s %9s", "case", "line", "this", is_without and "without" or name,
   is_without and "brings" or "ratio")
for _, case in ipairs(cases) do
   compare(case, here, other, is_without)
end
