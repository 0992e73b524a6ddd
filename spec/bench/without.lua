-- The gain of a fast path: `make bench WITHOUT=names` builds profio without the path
-- into a folder of its own and measures the line of the bench that needs it, in turn
-- with the usual build. Prints the medians of the CPU seconds, and their ratio.

local timing = require "spec.bench.timing"

local RUNS = 7

-- Paths by name (csrc/model/base/switches.h): the lines of the bench (spec/bench/against_*.lua).
local paths = {
   arcs = { "symbols", "flat" },
   entries = { "symbols", "graph" },
   fixed = { "symbols", "flat" },
   names = { "symbols", "flat" },
   ranks = { "symbols", "graph" },
   slots = { "symbols", "flat" },
}

local name, other = arg[1], arg[2]
local line = paths[name]
if not line then
   io.stderr:write("no fast path has the name ", name, "\n")
   os.exit(2)
end

local file = timing.make(line[1], 1000000, 134217728, 1000000, "graph")

local function command(build)
   return ("env PROFIO_BUILD=%s LUA_CPATH='%s/?.so;;' lua5.4 examples/analyze.lua --no-progress "
      .. "--report %s --symbols %s.nm %s.gmon"):format(build, build, line[2], file, file)
end

local usual, without = timing.cpu({ command(os.getenv "PROFIO_BUILD"), command(other) }, RUNS)
timing.print("%s, %s: %.3f s, without %s %.3f s: %.2f x", line[1], line[2], usual, name, without,
   without / usual)
timing.remove(file)
