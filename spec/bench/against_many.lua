-- Measures traces of many small files beside gprof and Go's pprof, whole processes in turn.

local disk = require "spec.support.disk"
local timing = require "spec.bench.timing"

local bench = {}

local prefix = timing.folder .. "/installed"
local ours = prefix .. "/bin/profio --no-progress "

local function copies(source, folder, count)
   local file <close> = assert(io.open(source, "rb"))
   local bytes = file:read "a"
   disk.fresh(folder)
   for i = 1, count do
      local copy <close> = assert(io.open(("%s/%06d"):format(folder, i), "wb"))
      copy:write(bytes)
   end
   timing.settle()
   return #bytes
end

local function text_of(result)
   if not result.seconds then
      return ("status %d"):format(result.status)
   end
   return ("%.3f s, %.0f MB"):format(result.seconds, result.megabytes)
end

local function row(label, mine, name, theirs)
   local results = timing.commands { mine, theirs }
   local ratio = results[1].seconds and results[2].seconds
      and ("%.1f x"):format(results[2].seconds / results[1].seconds) or ""
   timing.print("%-28s %18s %18s %8s  %s", label, text_of(results[1]), text_of(results[2]), ratio,
      name)
end

-- Sums of 100,000 files, whose names no command line holds.
local sum = [[lua5.4 -e 'local list = {} for i = 1, %d do list[i] = ("%s/%%06d"):format(i) end
   assert(assert(require("profio").open(list, { exe = "%s" })):profile())']]

--- 1,000 and 20,000 files of one program with 100 functions, as gmon.out and as pprof, by an
--- installed command; the sum of 100,000.
function bench.files()
   local path, folder = timing.make("small", 100, 4096, 100, "graph"), timing.folder .. "/files"
   assert(os.execute(("env -u MAKEFLAGS -u MAKELEVEL make -s install B=%s PREFIX=%s >&2")
      :format(timing.folder:match "^(.*)/bench$", prefix)))
   local pprof = path .. ".pb.gz"
   assert(os.execute(("%s--export pprof -o %s %s.elf %s.gmon"):format(ours, pprof, path, path)))
   local size = copies(path .. ".gmon", folder, 1000)
   timing.print("\n%-28s %18s %18s %8s", "many small files", "profio", "other", "ratio")
   local function of_gmon(label)
      row(label, ("%s--report flat %s.elf %s/*"):format(ours, path, folder), "gprof",
         ("gprof -b -p %s.elf %s/*"):format(path, folder))
   end
   of_gmon(("1,000 gmon.out, %d bytes"):format(size))
   size = copies(pprof, folder, 1000)
   row(("1,000 pprof.gz, %d bytes"):format(size), ("%s--report flat %s/*"):format(ours, folder),
      "go tool pprof", ("go tool pprof -top %s/*"):format(folder))
   copies(path .. ".gmon", folder, 20000)
   of_gmon "20,000 gmon.out"
   copies(path .. ".gmon", folder, 100000)
   local result = timing.commands { sum:format(100000, folder, path .. ".elf") }[1]
   timing.print("%-28s %18s", "100,000 gmon.out, their sum", text_of(result))
   assert(os.execute(("rm -rf %s %s"):format(folder, prefix)))
   os.remove(pprof)
   timing.remove(path)
end

return bench
