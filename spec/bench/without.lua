-- The gain of a fast path: `make bench WITHOUT=misses` builds profio without the path
-- into a folder of its own and measures the line of the bench that needs it, in turn
-- with the usual build. Prints the medians of the CPU seconds, and their ratio.

local timing = require "spec.bench.timing"

local RUNS = 7

-- Paths by name (csrc/model/base/switches.h): the lines of the bench (spec/bench/against_*.lua).
local paths = {
   calls = { "xbase", "statistics of calls" },
   digits = { "xbase", "statistics of calls" },
   files = { "files", "20,000 gmon.out" },
   fixed = { "symbols", "flat" },
   known = { "xbase", "statistics of calls" },
   misses = { "symbols", "flat" },
   records = { "timeline", "count and sum of values by area" },
   rows = { "text1", "all columns" },
}

local name, other = arg[1], arg[2]
local line = paths[name]
if not line then
   io.stderr:write("no fast path has the name ", name, "\n")
   os.exit(2)
end

-- The programs of the lines that are no report; %q is the file.
local programs = {
   files = [[
local list = {}
for i = 1, 20000 do list[i] = %q end
assert(assert(require("profio").open(list)):profile())
]],
   timeline = [[
local trace <close> = assert(require("profio").open(%q))
trace.timeline:group("area"):aggregate { "n = count", "s = sum(value)" }:rows()
]],
   xbase = [[
local trace <close> = assert(require("profio").open(%q, { format = "xpp" }))
trace:call_statistics { recursion = "outermost" }:rows("area", "count", "net", "gross")
]],
   text1 = [[
local trace <close> = assert(require("profio").open(%q))
require("profio.core").drain(trace.timeline:reader(), true)
]],
}

local function write_program(text, input)
   local path = timing.folder .. "/without.lua"
   local script <close> = assert(io.open(path, "w"))
   script:write((text:format(input)))
   return path
end

local file, work
if line[1] == "symbols" then
   file = timing.make(line[1], 1000000, 134217728, 1000000, "graph")
   work = ("examples/analyze.lua --no-progress --report %s --symbols %s.nm %s.gmon"):format(line[2],
      file, file)
elseif line[1] == "files" then
   file = timing.make("small", 100, 4096, 100, "graph")
   work = write_program(programs.files, file .. ".gmon")
elseif line[1] == "xbase" then
   file = timing.folder .. "/large"
   require("spec.bench.against_dbf").write_xbase(file .. ".dbf")
   work = write_program(programs.xbase, file .. ".dbf")
else
   local is_text = line[1] == "text1"
   file = timing.folder .. "/" .. line[1]
   assert(os.execute(("%s/timeline %s %d 2000 40 %s"):format(timing.folder, file,
      is_text and 4000000 or 20000000, is_text and "text" or "")))
   timing.settle()
   work = write_program(programs[line[1]], file .. (is_text and ".txt" or ".txt.BIN"))
end

local function command(build)
   return ("env PROFIO_BUILD=%s LUA_CPATH='%s/?.so;;' lua5.4 %s"):format(build, build, work)
end

local usual, without = timing.cpu({ command(os.getenv "PROFIO_BUILD"), command(other) }, RUNS)
timing.print("%s, %s: %.3f s, without %s %.3f s: %.2f x", line[1], line[2], usual, name, without,
   without / usual)
timing.remove(file)
for _, ending in ipairs { ".txt", ".txt.BIN", ".dbf" } do
   os.remove(file .. ending)
end
os.remove(timing.folder .. "/without.lua")
