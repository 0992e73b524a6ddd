-- Compares profio with gprof: the same traces and the same reports, with all text written.

local disk = require "spec.support.disk"
local timing = require "spec.bench.timing"

local bench = {}

local ours = "lua5.4 examples/analyze.lua --no-progress "

local function seconds(result)
   if result.seconds then
      return ("%8.3f s %5.0f MB"):format(result.seconds, result.megabytes)
   elseif result.status > 128 then
      return ("crashes, signal %d"):format(result.status - 128)
   end
   return ("fails, status %d"):format(result.status)
end

local function ratio(mine, theirs)
   if mine.seconds and theirs.seconds then
      return ("%6.1f x"):format(theirs.seconds / mine.seconds)
   end
   return "      -"
end

local function heading(text)
   timing.print("\n%s", text)
   timing.print("%-22s %19s %19s %8s", "", "profio", "gprof", "ratio")
end

local function row(label, mine, theirs)
   timing.print("%-22s %19s %19s %8s", label, seconds(mine), seconds(theirs),
      ratio(mine, theirs))
end

local function compare(label, mine, theirs)
   local results = timing.commands { ours .. mine, theirs }
   row(label, results[1], results[2])
end

-- Returns the text of a program in C of so many static functions, of which each calls some others
-- and has a few statements on lines of their own.
local function source_of(functions)
   local parts = { "static volatile long sum;\n" }
   for i = 1, functions do
      parts[#parts + 1] = ("static int f%d (int n) {\n  int i, m = n + %d;\n"):format(i, i)
      for line = 1, 12 do
         parts[#parts + 1] = ("  for (i = 0; i < n; i++)\n    sum += m * %d + i;\n"):format(line)
      end
      for _, other in ipairs { i // 2, i // 3, i // 5 } do
         parts[#parts + 1] = other > 0 and ("  if (n > 1) m += f%d(n / 2);\n"):format(other) or ""
      end
      parts[#parts + 1] = "  return m;\n}\n"
   end
   parts[#parts + 1] = "int main (void) {\n  long m = 0;\n"
   for i = 1, functions do
      parts[#parts + 1] = ("  m += f%d(%d);\n"):format(i, i % 7)
   end
   parts[#parts + 1] = "  return m == 1;\n}\n"
   return table.concat(parts)
end

-- Programs compiled with -g -pg: of the size of sqlite, and a small one.
local function with_lines()
   local folder = timing.folder .. "/lines"
   for _, functions in ipairs { 2500, 50 } do
      disk.fresh(folder)
      local file <close> = assert(io.open(folder .. "/program.c", "w"))
      file:write(source_of(functions))
      file:close()
      assert(os.execute(("cd %s && cc -g -pg -O1 -o program program.c && ./program")
         :format(folder)), "cannot make a program with -pg")
      local files = ("%s/program %s/gmon.out"):format(folder, folder)
      heading(("a program of %d functions with lines (-g -pg)"):format(functions))
      compare("flat", "--report flat " .. files, "gprof -b -p " .. files)
      compare("graph", "--report graph " .. files, "gprof -b -q " .. files)
   end
   disk.remove(folder)
end

--- 40,000 functions of an executable without line information; and programs with it.
function bench.executable()
   with_lines()
   local path = timing.make("executable", 40000, 4000000, 100000, "graph")
   local files = path .. ".elf " .. path .. ".gmon"
   heading "40,000 functions of an executable, 100,000 arcs"
   compare("flat", "--report flat " .. files, "gprof -b -p " .. files)
   compare("graph", "--report graph " .. files, "gprof -b -q " .. files)
   timing.remove(path)
end

--- A million symbols as nm prints them.
function bench.symbols()
   local path = timing.make("symbols", 1000000, 134217728, 1000000, "graph")
   local mine = "--symbols " .. path .. ".nm " .. path .. ".gmon"
   local theirs = ("-S %s.nm %s.elf %s.gmon"):format(path, path, path)
   heading "1,000,000 symbols as nm text, 1,000,000 arcs, a histogram of 64 MiB"
   compare("flat", "--report flat " .. mine, "gprof -b -p " .. theirs)
   compare("graph", "--report graph " .. mine, "gprof -b -q " .. theirs)
   timing.remove(path)
end

-- One shape at growing sizes; gprof only up to `bound`, because its time is not linear.
local function grow(shape, sizes, bound)
   for _, size in ipairs(sizes) do
      local path = timing.make(shape, size, size * 32, size - 1, shape)
      local label = ("%d"):format(size)
      local mine = ours .. ("--report graph --symbols %s.nm %s.gmon"):format(path, path)
      local theirs = ("gprof -b -q -S %s.nm %s.elf %s.gmon"):format(path, path, path)
      if size <= bound then
         local results = timing.commands { mine, theirs }
         row(label, results[1], results[2])
      else
         local results = timing.commands { mine }
         timing.print("%-22s %19s %19s", label, seconds(results[1]), "not run")
      end
      timing.remove(path)
   end
end

--- One callee with many callers, and a deep chain of calls.
function bench.shapes()
   heading "one callee, so many callers: graph"
   grow("callers", { 20000, 40000, 80000, 160000 }, 40000)
   heading "a chain of calls, so deep: graph"
   grow("chain", { 100000, 200000, 400000 }, 200000)
end

return bench
