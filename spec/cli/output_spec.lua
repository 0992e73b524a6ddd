-- Output of -o: a complete file or nothing, never over an input; only regular files are replaced.
--
-- Tags: user.
-- Long: many commands.
-- Costly: many commands.

local command = require "spec.support.command"
local elf = require "spec.support.elf"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local rounds = require "spec.support.rounds"
local winidea = require "spec.support.winidea"

local run, read = command.run, command.read

local folder = command.folder .. "/output"

-- Runs a line of shell in an empty folder of its own.
local function here(line)
   return run("cd output && " .. line)
end

local function file(name, bytes)
   return command.file("output/" .. name, bytes)
end

local function bytes_of(name)
   return read(folder .. "/" .. name)
end

local function names()
   return table.concat(command.names(folder), " ")
end

local function is_root()
   return (run "id -u") == "0\n"
end

before_each(function()
   disk.fresh(folder)
   file("gmon.out", command.trace())
   file("small.nm", command.nm)
end)

after_each(function()
   disk.remove(folder) -- other specs read the folder above as a database
end)

-- Command lines that write a file, without its name.
local ways = {
   "--export folded gmon.out", "--export pprof gmon.out", "--table arcs --output csv gmon.out",
   "gmon.out", "--report flat gmon.out", "--info gmon.out", "--check gmon.out",
   "--table arcs gmon.out", "--export json gmon.out", "--export html gmon.out",
   "--export svg gmon.out", "--list-reports gmon.out", "--new-script gmon.out",
   "--merge gmon.out gmon.out",
}

-- One command line for each kind of writer in the code: the core's rows, reports, exports,
-- encoders.
local few = {
   "--merge gmon.out gmon.out", "--report flat gmon.out", "--table arcs --output csv gmon.out",
   "--export html gmon.out", "--export pprof gmon.out",
}

-- With sanitizers fewer of them: all writers share the C code that opens and replaces files.
ways = { table.unpack(ways, 1, rounds(#ways)) }
few = { table.unpack(few, 1, rounds(#few)) }

describe("an output that is also an input", function()
   -- Status 2, a message with both names, and the file as it was.
   local function is_refused(line, name)
      local before, all = bytes_of(name), names()
      local _, status, errors = here(line)
      assert.equal(2, status, line .. "\n" .. errors)
      assert.matches("write into another file", errors)
      assert.equal(before, bytes_of(name), line)
      assert.equal(all, names())
   end

   it("is refused in each way to write", function()
      for _, way in ipairs(ways) do
         is_refused("profio -o gmon.out " .. way, "gmon.out")
      end
   end)

   it("is refused under each of its names", function()
      here "ln gmon.out hard && ln -s gmon.out soft && ln -s soft softer && mkdir sub"
      for _, way in ipairs(few) do
         for _, name in ipairs { "hard", "soft", "softer", "./gmon.out", "sub/../gmon.out" } do
            is_refused(("profio -o %s %s"):format(name, way), "gmon.out")
         end
         is_refused("profio -o gmon.out " .. way:gsub("gmon.out", "softer"), "gmon.out")
      end
   end)

   it("is refused when it comes through standard input, or is appended to", function()
      is_refused("profio --table arcs -o gmon.out - < gmon.out", "gmon.out")
      is_refused("profio --merge -o gmon.out - < gmon.out", "gmon.out")
      is_refused("profio --table arcs gmon.out >> gmon.out", "gmon.out")
      is_refused("profio --table arcs gmon.out -o /dev/fd/1 >> gmon.out", "gmon.out")
   end)

   it("may be any file that a trace is read with", function()
      file("prog", elf.build { symbols = {
         { name = "f", value = 0x1000, size = 0x300, type = "func", bind = "global" } } })
      file("limits", "f self <= 1s\n")
      file("script.lua", "return 0")
      file("format.lua", "")
      file("old.out", command.trace())
      is_refused("profio -o prog prog gmon.out", "prog")
      is_refused("profio -o prog --exe prog gmon.out", "prog")
      is_refused("profio -o prog --merge prog gmon.out", "prog")
      is_refused("profio -o small.nm --symbols small.nm gmon.out", "small.nm")
      is_refused("profio -o limits --limits limits --symbols small.nm gmon.out", "limits")
      is_refused("profio -o format.lua --load format.lua gmon.out", "format.lua")
      is_refused("profio -o old.out --diff old.out gmon.out", "old.out")
      is_refused("profio -o old.out --merge gmon.out old.out", "old.out")
      is_refused("profio --export folded -o old.out --diff old.out gmon.out", "old.out")
      is_refused("profio -o small.nm --export svg gmon.out --diff old.out --symbols small.nm",
         "small.nm")
   end)

   it("may be a file that stands beside it", function()
      file("run.txt", winidea.mapping .. "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n")
      file("run.txt.BIN", winidea.bytes({ { handle = 0, event = "enter", time = 100 },
         { handle = 0, event = "leave", time = 300 } }, winidea.new))
      is_refused("profio --table timeline -o run.txt run.txt.BIN", "run.txt")
      is_refused("profio --export chrome -o run.txt run.txt.BIN", "run.txt")
      is_refused("profio --merge -o run.txt run.txt.BIN", "run.txt")
      here "cp run.txt map.txt"
      is_refused("profio -o map.txt --mapping map.txt run.txt.BIN", "map.txt")
   end)

   it("may be a memo file, or a packet", function()
      here [[profio --script /dev/stdin gmon.out <<'END'
local profio = require "profio"
local w <close> = profio.create("t.dbf", { format = "dbf", fields = "ID C(4), NOTE M" })
w:write { ID = "a", NOTE = ("x"):rep(300) }
local p <close> = profio.create("p.prf", { format = "xpp", packets = true, flush_every = 1 })
p:write { thread = 1, time = 1000000, op = "i", call = "A", params = "one" }
p:write { thread = 1, time = 2000000, op = "o", call = "A", params = "two" }
END]]
      is_refused("profio --table records -o t.fpt t.dbf", "t.fpt")
      is_refused("profio --export json -o t.fpt t.dbf", "t.fpt")
      is_refused("profio --merge -o t.fpt t.dbf", "t.fpt")
      is_refused("profio --merge --set memo=t.fpt -o u.dbf t.dbf", "t.fpt")
      is_refused("profio --merge --set memo=t.dbf -o u.dbf t.dbf", "t.dbf")
      is_refused("profio --table entries -o p.prf.000002 p.prf", "p.prf.000002")
      is_refused("profio --merge -o p.prv p.prf", "p.prv")
   end)

   it("may be a source", function()
      here [[mkdir src && printf 'int main(void) {\n   return 0;\n}\n' > src/m.c &&
         cc -g -o prog src/m.c]]
      local source = bytes_of "src/m.c"
      local low = (here "nm prog"):match "(%x+) T main\n"
      assert.is_truthy(low)
      low = tonumber(low, 16)
      local gmon = require "spec.support.gmon_builder"
      file("run.out", gmon("<", 8):header():histogram { low = low, high = low + 8,
         bins = { 5, 5, 0, 0 } }:bytes())
      for _, way in ipairs { "--report annotate --source .", "--export html --set source=." } do
         local _, status, errors = here("profio -o src/m.c prog run.out " .. way)
         assert.equal(2, status, errors)
         assert.matches("m%.c", errors)
         assert.equal(source, bytes_of "src/m.c")
      end
   end)
end)

describe("an output of a run that fails", function()
   -- Lines that end with status 1 or 2 before, while or after rows are written.
   local function leaves_all(line, wanted)
      for _, old in ipairs { "", "old" } do
         here "rm -f out"
         if old ~= "" then
            file("out", old)
         end
         local all = names()
         local _, status, errors = here(line)
         assert.equal(wanted, status, line .. "\n" .. errors)
         assert.equal(all, names(), line)
         assert.equal(old, old ~= "" and bytes_of "out" or "")
      end
   end

   it("stays as it was, and none is made", function()
      command.file("output/cut.out", command.trace():sub(1, -5))
      for line, status in pairs {
         ["profio --export btf -o out gmon.out"] = 2,
         ["profio --export chrome -o out gmon.out"] = 2,
         ["profio --export nosuch -o out gmon.out"] = 2,
         ["profio --report nosuch -o out gmon.out"] = 2,
         ["profio --report dcpiprof -o out gmon.out"] = 2,
         ["profio --report flat --from 1ms -o out gmon.out"] = 2,
         ["profio --table nosuch -o out gmon.out"] = 2,
         ["profio --table arcs --where nosuch=1 -o out gmon.out"] = 2,
         ["profio --report flat -o out missing"] = 1,
         ["profio --report flat --strict -o out cut.out"] = 1,
         ["profio --export json --strict -o out cut.out"] = 1,
         ["profio --merge --strict -o out cut.out"] = 1,
         ["profio --merge --set dialect=nosuch -o out gmon.out"] = 2,
         ["profio --merge -o out gmon.out missing"] = 1,
         ["profio --merge -o out missing gmon.out"] = 1,
         ["profio --report flat -o out gmon.out missing"] = 1,
         ["profio --export json -o out gmon.out missing"] = 1,
         ["profio --diff missing -o out gmon.out"] = 1,
      } do
         leaves_all(line, status)
      end
   end)

   it("stays as it was when the disk is full", function()
      local arcs = {}
      for i = 1, 4000 do
         arcs[i] = ("<c1 I8 I8 I4"):pack("\1", 0x1000 + i % 256, 0x1100 + i % 97, i)
      end
      file("many.out", command.trace() .. table.concat(arcs))
      for _, way in ipairs { "--table arcs --output csv", "--export json", "--merge",
         "--export ndjson" } do
         file("out", "old")
         local all = names()
         local _, status, errors = here(("(trap '' XFSZ; ulimit -f 8; " ..
            "profio %s -o out many.out 2>&1 >/dev/null) | cat >&2"):format(way))
         assert.is_number(status)
         assert.matches("out: write failed: File too large", errors)
         assert.equal("old", bytes_of "out")
         assert.equal(all, names())
      end
   end)

   it("is named by the message", function()
      -- as root a device of our own: what replaced /dev/full would harm the machine
      local made = here "mknod full c 1 7 2>&1 && { echo x > full; } 2>&1"
      local name = made:find "No space" and "full" or not is_root() and "/dev/full"
      for _, way in ipairs(name and ways or {}) do
         local _, status, errors = here(("profio -o %s %s"):format(name, way))
         assert.equal(1, status, way)
         assert.matches(name .. ": write failed: No space left on device", errors)
      end
      local _, status, errors = here "profio --table arcs gmon.out > /dev/full"
      assert.equal(1, status)
      assert.matches("standard output: write failed: No space left on device", errors)
   end)

   it("is written where something was lost, or a limit is exceeded", function()
      command.file("output/cut.out", command.trace():sub(1, -5))
      file("limits", "work self <= 1ms\n")
      local _, status = here "profio --report flat -o out cut.out"
      assert.equal(3, status)
      assert.matches("^Flat profile", bytes_of "out")
      _, status = here "profio --limits limits --symbols small.nm -o out gmon.out"
      assert.equal(4, status)
      assert.matches("EXCEEDED", bytes_of "out")
   end)
end)

describe("an output that is no regular file", function()
   local function written(line)
      local text, status, errors = here(line)
      assert.equal(0, status, line .. "\n" .. errors)
      return text
   end

   it("is written, and stays what it is", function()
      written "mkfifo pipe && ln -s pipe link"
      for _, way in ipairs(few) do
         written("profio -o plain " .. way)
         for _, name in ipairs { "pipe", "link" } do
            written(("{ timeout 20 cat pipe > got & }; profio -o %s %s; wait"):format(name, way))
            assert.equal(bytes_of "plain", bytes_of "got", way)
         end
      end
      assert.equal("named pipe", lfs.attributes(folder .. "/pipe", "mode"))
      assert.equal("link", lfs.symlinkattributes(folder .. "/link", "mode"))
      assert.equal("gmon.out got link pipe plain small.nm", names())
   end)

   it("may be a device", function()
      local _, status = here "mknod null c 1 3 2>&1 && echo x > null"
      if status ~= 0 then
         return pending "no rights to make a device"
      end
      written "ln -s null link"
      for _, way in ipairs(few) do
         assert.equal("", written("profio -o null " .. way))
         assert.equal("", written("profio -o link " .. way))
      end
      assert.equal("char device", lfs.attributes(folder .. "/null", "mode"))
      assert.equal("link", lfs.symlinkattributes(folder .. "/link", "mode"))
   end)

   it("may be a descriptor, at its position", function()
      written "ln -s /dev/stdout out && ln -s /proc/self/fd link"
      for _, way in ipairs(few) do
         local plain = "a\n" .. written("profio -o plain " .. way .. " && cat plain")
         for _, name in ipairs { "out", "/dev/fd/1", "/proc/self/fd/1", "link/1",
            "/proc/self/fd/../fd/1", not is_root() and "/dev/stdout" or nil } do
            written(("{ echo a; profio -o %s %s; } > got"):format(name, way))
            assert.equal(plain, bytes_of "got", way)
            assert.equal(plain, written(("{ echo a; profio -o %s %s; } | cat"):format(name, way)))
            written(("echo a > got; profio -o %s %s >> got"):format(name, way))
            assert.equal(plain, bytes_of "got", way)
         end
         written(("{ echo a; profio -o /dev/fd/7 %s; } 7>&1 >/dev/null > got"):format(way))
         written(("exec 7> got; echo a >&7; profio -o /dev/fd/7 %s"):format(way))
         assert.equal(plain, bytes_of "got", way)
      end
      assert.equal("link", lfs.symlinkattributes(folder .. "/out", "mode"))
   end)

   it("has no side files", function()
      here [[profio --script /dev/stdin gmon.out <<'END'
local profio = require "profio"
local w <close> = profio.create("t.dbf", { format = "dbf", fields = "ID C(4)" })
w:write { ID = "a" }
local p <close> = profio.create("p.prf", { format = "xpp" })
p:write { thread = 1, time = 1000000, op = "i", call = "A" }
END
mkfifo pipe]]
      local all = names()
      for _, name in ipairs { "t.dbf", "p.prf" } do
         here(("{ timeout 20 cat pipe > got & }; profio --merge -o pipe %s; wait; rm got"):format(
            name))
         assert.equal(all, names())
      end
   end)

   it("ends the command quietly when its reader leaves", function()
      local _, status, errors = here [[mkfifo pipe; { head -c 1 pipe > /dev/null & };
         profio --export html -o pipe gmon.out --symbols small.nm]]
      assert.equal("", errors)
      assert.equal(0, status)
   end)
end)

describe("the file of -o", function()
   local function fine(line)
      local text, status, errors = here(line)
      assert.equal(0, status, line .. "\n" .. errors)
      return text
   end

   it("follows links, and leaves them", function()
      fine "mkdir sub && echo old > sub/target && ln -s sub/target link && ln -s nosuch dangling"
      for _, way in ipairs(few) do
         fine("profio -o plain " .. way)
         fine("profio -o link " .. way)
         fine("rm -f nosuch; profio -o dangling " .. way)
         assert.equal(bytes_of "plain", bytes_of "sub/target")
         assert.equal(bytes_of "plain", bytes_of "nosuch")
      end
      assert.equal("link", lfs.symlinkattributes(folder .. "/link", "mode"))
      assert.equal("link", lfs.symlinkattributes(folder .. "/dangling", "mode"))
      assert.equal("dangling gmon.out link nosuch plain small.nm sub", names())
   end)

   it("has the permissions of the file it replaces, or those of the umask", function()
      for _, way in ipairs(few) do
         fine("rm -f new; umask 027; profio -o new " .. way)
         assert.equal("rw-r-----", lfs.attributes(folder .. "/new", "permissions"))
         fine("echo old > old; chmod 705 old; umask 077; profio -o old " .. way)
         assert.equal("rwx---r-x", lfs.attributes(folder .. "/old", "permissions"))
      end
   end)

   it("keeps its owner", function()
      if not is_root() then
         return pending "only root may give files away"
      end
      fine "echo old > old; chown 12:34 old; profio -o old gmon.out"
      assert.equal(12, lfs.attributes(folder .. "/old", "uid"))
      assert.equal(34, lfs.attributes(folder .. "/old", "gid"))
   end)

   it("may have a name as long as the system allows", function()
      local name = ("n"):rep(255)
      fine("profio -o " .. name .. " gmon.out")
      fine("profio --merge -o " .. name .. " gmon.out")
      assert.equal(#command.trace(), lfs.attributes(folder .. "/" .. name, "size"))
   end)

   it("is refused with the reason for a wrong name", function()
      here "mkdir sub"
      local all = names()
      local function says(name, wanted, pattern)
         for _, way in ipairs(few) do
            local _, status, errors = here(("profio -o %s %s"):format(name, way))
            assert.equal(wanted, status, errors)
            assert.matches(pattern, errors)
         end
      end
      says("''", 2, "%-o expects the name of a file, got an empty one")
      says("sub", 1, "profio: sub: is a folder: name a file in it")
      says("sub/", 1, "profio: sub/: is a folder: name a file in it")
      says(".", 1, "is a folder: name a file in it")
      says("nosuch/", 1, "profio: nosuch/: the name of a file does not end with /")
      says("nosuch/out", 1, "profio: nosuch/out: cannot be written: its folder: No such file")
      says("gmon.out/out", 1, "profio: gmon.out/out: cannot be written: .*Not a directory")
      says(("n"):rep(256), 1, "cannot be written: .*File name too long")
      assert.equal(all, names())
      local _, status, errors = here "profio --script x.lua -o out gmon.out"
      assert.equal(2, status)
      assert.matches("%-%-script cannot use %-o", errors)
   end)

   it("needs a folder in which files can be made, and a file that may be written", function()
      local as = is_root() and "setpriv --reuid=65534 --regid=65534 --clear-groups " or ""
      local place = disk.temporary()
      os.remove(place)
      run(("mkdir -p %s/open && cd %s && cp %s/gmon.out . && echo old > locked && chmod 444 locked "
         .. "&& cp locked open && chmod 777 open && chmod 555 ."):format(place, place, folder))
      local function fails(name, pattern)
         for _, way in ipairs { "--table arcs", "--export json", "--merge" } do
            local _, status, errors = run(("cd %s && %s%s %s -o %s gmon.out"):format(place, as,
               command.analyze, way, name))
            assert.equal(1, status, errors)
            assert.matches(pattern, errors)
         end
      end
      if (run(as .. "lua5.4 -e 'print(1)'")) == "1\n" and (run(("%stest -r %s && echo 1"):format(as,
         command.root .. "/lua/profio/init.lua"))) == "1\n" then
         assert.equal("555", run(("stat -c %%a %s"):format(place)):sub(1, 3))
         fails("new", "new: cannot be written: its folder: Permission denied")
         fails("locked", "locked: cannot be replaced: .*Permission denied")
         fails("open/locked", "open/locked: cannot be replaced: Permission denied")
         assert.equal("old\n", read(place .. "/locked"))
         assert.equal("old\n", read(place .. "/open/locked"))
      end
      os.execute("chmod -R u+w " .. place .. "; rm -r " .. place)
   end)

   it("is made also where no /proc is mounted", function()
      if not is_root() or os.execute "unshare -m true 2>/dev/null" ~= true then
         return pending "no rights to hide /proc"
      elseif command.build:find("asan", 1, true) then
         return pending "LeakSanitizer needs /proc"
      end
      local hidden = "unshare -m sh -c 'mount -t tmpfs none /proc && "
         .. command.analyze .. " %s'"
      for _, way in ipairs(few) do
         fine("profio -o plain " .. way .. "; echo old > out; chmod 604 out")
         fine(hidden:format("-o out " .. way))
         assert.equal(bytes_of "plain", bytes_of "out")
         assert.equal("rw----r--", lfs.attributes(folder .. "/out", "permissions"))
      end
      local _, status = here(hidden:format "--export btf -o out gmon.out")
      assert.equal(2, status)
      assert.equal("gmon.out out plain small.nm", names())
   end)
end)
