-- Compares exports with the programs that read them, and a merge of two profiles with Go's pprof.

local core = require "profio.core"
local folded = require "spec.support.folded"
local timing = require "spec.bench.timing"

local bench = {}

local EVENTS, AREAS, DEPTH = 4000000, 2000, 40 -- more than 1,000,000 calls
local STACKS = 440000
local profio = "lua5.4 examples/analyze.lua --no-progress "

local function row(label, mine, other, theirs)
   if not theirs then
      timing.print("%-34s %8.2f s   (no %s)", label, mine, other)
      return
   end
   timing.print("%-34s %8.2f s   %-22s %8.2f s %8.1f x", label, mine, other, theirs, theirs / mine)
end

-- Removes the output before each run, so that each run creates it.
local function seconds(command, written)
   return timing.commands({ "sh -c '" .. command .. " >/dev/null 2>&1'" }, written and function()
      os.remove(written)
   end)[1].seconds
end

-- Returns the time of speedscope's importer, without the start of the program.
local function seconds_of_speedscope(path)
   local command = "node --max-old-space-size=6000 spec/support/speedscope.js " ..
      "build/node/node_modules %s 2>/dev/null | cut -c1-60"
   local pipe <close> = assert(io.popen(command:format(path)))
   return tonumber(pipe:read "a":match '"seconds":([%d.]+),"name"')
end

--- 1,000,000 calls for pprof and speedscope.
function bench.exports()
   local path = timing.folder .. "/calls"
   assert(os.execute(("%s/timeline %s %d %d %d"):format(timing.folder, path, EVENTS, AREAS,
      DEPTH)))
   timing.settle()
   timing.print "\nmore than 1,000,000 calls written, and read by who reads them"
   local pprof, speedscope = path .. ".pb.gz", path .. ".speedscope.json"
   local mine = seconds(profio .. "--export pprof -o " .. pprof .. " " .. path .. ".txt", pprof)
   row("--export pprof", mine, "go tool pprof -top", seconds("go tool pprof -top " .. pprof))
   mine = seconds(profio .. "--export speedscope -o " .. speedscope .. " " .. path .. ".txt",
      speedscope)
   row("--export speedscope", mine, "its importer", seconds_of_speedscope(speedscope))
   for _, ending in ipairs { ".txt", ".txt.BIN", ".pb.gz", ".speedscope.json" } do
      os.remove(path .. ending)
   end
end

-- Distinct stacks of a program in which each function calls a few others, some of them often.
local function make_profile(path, seed)
   local lines, seen = {}, {}
   math.randomseed(seed)
   while #lines < STACKS do
      local stack, at = { "main" }, 1
      for depth = 2, math.random(8, 30) do
         local callee = math.random() < 0.7 and 1 or math.random(6)
         at = (at * 31 + callee * 97) % AREAS
         stack[depth] = "function_" .. at
      end
      local key = table.concat(stack, ";")
      if not seen[key] then
         seen[key], lines[#lines + 1] = true, key .. " " .. math.random(1000)
      end
   end
   assert(folded.profile(table.concat(lines, "\n") .. "\n"):export("pprof", path))
end

--- Two profiles of 440,000 distinct stacks, read, merged and written.
function bench.merge()
   local a, b, out = timing.folder .. "/a.pb.gz", timing.folder .. "/b.pb.gz",
      timing.folder .. "/merged.pb.gz"
   make_profile(a, 1)
   make_profile(b, 2)
   timing.settle()
   timing.print("\ntwo profiles of %d distinct stacks merged, by profio %s", STACKS, core.version)
   row("read, merged and written", seconds(("%s--merge -o %s %s %s"):format(profio, out, a, b)),
      "go tool pprof -proto", seconds(("go tool pprof -proto -output %s %s %s"):format(out, a, b)))
   for _, path in ipairs { a, b, out } do
      os.remove(path)
   end
end

return bench
