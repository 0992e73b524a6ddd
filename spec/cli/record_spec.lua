-- profio record: programs in all forms, what is told at the end, and exports by an ending.
--
-- Tags: user.
-- Long: many commands or rows, or programs that are compiled.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"
local disk = require "spec.support.disk"

local fine = command.fine

command.file("script.lua", [[
local function work(n)
   local t = {}
   for i = 1, n do t[i] = tostring(i) end
   return #t
end
print(work(3000), ...)
os.exit(tonumber((...)) or 0)
]])

command.file("busy.lua", [[
local function inner(n) local t = 0 for i = 1, n do t = t + i % 3 end return t end
local function outer() for i = 1, 40 do inner(200000) end end
outer()
]])

describe("profio record", function()
   it("runs a script with its arguments, and passes on its status", function()
      local text, status, errors =
         command.run "profio record --mode timed -o rec.prf script.lua 5 -o x --help"
      assert.same({ "3000\t5\t-o\tx\t--help\n", 5 }, { text, status })
      assert.matches("recorded in rec%.prf: profio view rec%.prf shows it\n$", errors)
      assert.matches("script%.lua", fine "profio report hotfunctions rec.prf")
   end)

   it("takes any path", function()
      local name = "it's, \\a rec.prf"
      fine(([[profio record --mode timed -o "%s" script.lua]]):format(name))
      assert.is_truthy(command.read(command.folder .. "/" .. name):find("script.lua", 1, true))
      os.remove(command.folder .. "/" .. name)
   end)

   it("records in each mode", function()
      local text = fine "profio record --mode calls -o rec.txt script.lua"
      assert.equal("3000\n", text)
      assert.matches("work", fine "profio report statistics rec.txt")
      fine "profio record --mode aggregate -o rec.svg script.lua"
      assert.matches("<svg", command.read(command.folder .. "/rec.svg"))
      fine "profio record --mode sampled --interval 100us --set depth=5 script.lua"
      assert.matches("mode sampled", fine "profio info profio.out")
   end)

   it("writes to standard output in each mode", function()
      command.file("quiet.lua", "for i = 1, 30000 do local _ = { tostring(i) } end")
      for mode, format in pairs { sampled = "br", timed = "br", calls = "winidea",
         aggregate = "pprof", memory = "pprof" } do
         fine(("profio record --mode %s -o - --set %s quiet.lua > rec.all"):format(mode,
            mode == "memory" and "bytes=1K" or "depth=9"))
         assert.matches("^rec%.all: " .. format, fine "profio info rec.all")
      end
      assert.is_nil(io.open(command.folder .. "/-"))
   end)

   it("leaves the script the arg of Lua alone", function()
      local shown = "print(arg[0], arg[1], arg[-2], (arg[-1]:match '[^/\\\\]*$'))"
      command.file("args.lua", shown)
      assert.equal(fine "lua5.4 args.lua a", fine "profio record --mode timed args.lua a")
   end)

   it("names pages and pictures after the script", function()
      for _, ending in ipairs { "html", "svg", "json" } do
         fine("profio record -o named." .. ending .. " busy.lua")
         assert.matches("busy%.lua", command.read(command.folder .. "/named." .. ending):match
            (ending == "json" and '"name":"[^"]*"' or ending == "svg" and 'class="head"[^<]*'
            or "<title>[^<]*"))
      end
   end)

   it("tells at the end where the time went, in seconds, with file and line", function()
      local text, status, errors = command.run "profio record busy.lua"
      assert.same({ "", 0 }, { text, status })
      local total, samples = errors:match "^\n(%d+%.%d+) s in (%d+) samples, one each 1 ms\n"
      assert.matches("\n   self s   total s   self%%  function\n", errors)
      assert.equal(math.tointeger(samples), math.tointeger((tonumber(total) * 1000 + 0.5) // 1))
      assert.matches("\n +%d+%.%d+ +%d+%.%d+ +%d+%.%d%%  inner  busy%.lua:1\n", errors)
      assert.matches("profio: recorded in profio%.out: profio view profio%.out shows it\n$", errors)
   end)

   for mode, kinds in pairs {
      sampled = { "svg", "html", "json", "folded", "pb.gz", "cpuprofile", "pftrace" },
      timed = { "folded" }, calls = { "json", "pftrace", "html" },
      aggregate = { "folded", "pb.gz" } }
   do
      it("exports by the ending of -o: " .. mode, function()
         for _, ending in ipairs(kinds) do
            local _, status, errors = command.run(("profio record --mode %s --interval 200us "
               .. "-o ending.%s busy.lua"):format(mode, ending))
            assert.equal(0, status, errors)
            assert.matches("inner  busy%.lua:1", errors)
            local bytes = command.read(command.folder .. "/ending." .. ending)
            bytes = ending == "pb.gz" and fine "profio report flat ending.pb.gz" or bytes
            assert.is_truthy(bytes:find("inner", 1, true), ending)
            os.remove(command.folder .. "/ending." .. ending)
         end
         assert.equal("", (command.run "ls -d ending* 2>/dev/null"))
      end)
   end

   it("opens the page, or prints its path without a browser", function()
      disk.folder(command.folder .. "/bin")
      command.file("bin/xdg-open", "#!/bin/sh\necho \"$1\" >opened\n")
      for words, wanted in pairs {
         ["busy.lua"] = "/profio%-%w+/profio%.html\n$",
         ["-o shown.svg busy.lua"] = "/profio%-%w+/profio%.html\n$",
         ["-o shown.html busy.lua"] = "^shown%.html\n$" }
      do
         local _, status, errors = command.run("rm -f opened; chmod +x bin/xdg-open\n"
            .. "PATH=$PWD/bin:$PATH DISPLAY=:0\nexport PATH DISPLAY\nprofio record --open " .. words
            .. "; status=$?; wait_until 'test -s opened'; (exit $status)")
         assert.equal(0, status, errors)
         assert.matches(wanted, command.read(command.folder .. "/opened"))
      end
      assert.matches("/profio%.html\n$",
         fine "DISPLAY= WAYLAND_DISPLAY= profio record --open busy.lua")
      assert.equal("", (command.run "ls -d shown.recording* 2>/dev/null"))
   end)

   it("keeps a recording that cannot be exported, and replaces none that is in the way", function()
      local _, status, errors = command.run
         "mkdir -p taken.svg && profio record -o taken.svg busy.lua; s=$?; rmdir taken.svg; exit $s"
      assert.equal(1, status)
      assert.matches("the recording is taken%.recording\n$", errors)
      assert.matches("inner", fine "profio report flat taken.recording")
      _, status, errors = command.run "profio record -o taken.svg busy.lua"
      assert.equal(1, status)
      assert.matches("taken%.recording is in the way", errors)
      os.remove(command.folder .. "/taken.recording")
   end)

   it("tells of calls in each format", function()
      local _, status, errors = command.run
         "profio record --mode calls --set format=xpp -o calls.prf busy.lua"
      assert.equal(0, status)
      assert.matches("inner.*recorded in calls%.prf", errors)
      _, status, errors = command.run
         "profio record --mode aggregate --set format=folded -o sums.folded busy.lua"
      assert.same({ 0, "profio: written to sums.folded\n" }, { status, errors })
      assert.matches("inner", command.read(command.folder .. "/sums.folded"))
   end)

   it("runs code, modules and standard input", function()
      command.file("part.lua", "loaded = ...\n")
      assert.equal("part\t0\n3000\n",
         fine "profio record -l part -e 'print(loaded, #arg)' script.lua")
      assert.equal("=1\n", fine "profio record -e 'print \"=1\"'")
      assert.equal("piped\n", fine "echo 'print(\"piped\")' | profio record -")
   end)

   it("runs an empty script, and one from a pipe", function()
      command.file("empty.lua", "")
      assert.equal("", fine "profio record empty.lua")
      if not os.getenv "PROFIO_PROGRAM" then
         local text, status = command.run "echo 'print(\"piped\")' | profio record /dev/stdin"
         assert.same({ "piped\n", 0 }, { text, status })
      end
   end)

   it("records Lua that a script of the shell starts", function()
      if os.getenv "PROFIO_PROGRAM" then
         return pending "the single file has no module for another Lua"
      end
      command.file("wrapper", "#!/bin/sh\nX=1 exec lua5.4 -e 'given = 5' busy.lua \"$@\"\n")
      local _, status, errors = command.run "profio record -o wrapped.out wrapper a"
      assert.equal(0, status)
      assert.matches("inner  busy%.lua:1", errors)
   end)

   it("passes on what asks it to end, and tells what was recorded until then", function()
      command.file("endless.lua", [[
local function turn() local t = 0 for i = 1, 100000 do t = t + i end return t end
for _ = 1, 300 do turn() end
io.open("begun", "w"):close()
for _ = 1, 100000 do turn() end
]])
      for signal, wanted in pairs { TERM = 143, INT = 1 } do -- nohup ignores SIGHUP
         os.remove(command.folder .. "/begun")
         local _, status, errors = command.run_in_steps(command.analyze
            .. " record -o ended.out endless.lua", { { "test -e begun", "kill -" .. signal
            .. " $pid" } })
         assert.equal(wanted, status, signal .. errors)
         assert.matches("turn  endless%.lua:1", errors)
      end
   end)

   it("says so where a script asks for another Lua", function()
      command.file("other.lua", "#!/usr/bin/env luajit\nprint(_VERSION)\n")
      local text, _, errors = command.run "profio record other.lua"
      assert.equal("Lua 5.4\n", text)
      assert.matches("the first line of other%.lua asks for luajit; it is run and recorded with "
         .. "Lua 5%.4", errors)
   end)

   it("runs nothing, and says why in one line, where it cannot record", function()
      local text, status, errors = command.run "profio record -o absent/x.out script.lua"
      assert.same({ "", 1 }, { text, status })
      assert.equal("profio.recorder: absent/x.out.ring: cannot be written: its folder: "
         .. "No such file or directory\n", errors)
      text, status, errors = command.run "PROFIO_RECORD=mode=none profio record script.lua"
      assert.equal(0, status, errors)
      assert.equal("3000\n", text)
   end)

   it("refuses wrong use before it replaces a file", function()
      command.file("kept.prf", "kept")
      for words, message in pairs {
         ["-o kept.prf"] = "the script is missing",
         ["-o kept.prf none.lua"] = "none.lua: No such file",
         ["--mode slow -o kept.prf script.lua"] = "option 'mode' is one of",
         ["--set nothing=1 -o kept.prf script.lua"] = "no option 'nothing'",
         ["-o kept.foo script.lua"] = "nothing is written as '.foo'; use .svg",
         ["-o kept.csv script.lua"] = "nothing is written as '.csv'; use .svg",
         ["-o kept-%p.svg script.lua"] = "several processes cannot be exported",
         ["-o kept.db script.lua"] = "export 'sqlite' takes no profile",
      } do
         local text, status, errors = command.run("profio record " .. words)
         assert.equal("", text)
         assert.is_true(status == 2 or status == 1 and message:find "No such" ~= nil, words)
         assert.is_truthy(errors:find(message, 1, true), errors)
      end
      assert.equal("kept", command.read(command.folder .. "/kept.prf"))
   end)

   it("shows a report on a terminal", function()
      if os.execute "command -v script >/dev/null" ~= true then
         return pending "there is no script(1)"
      end
      command.file("tty.sh", command.analyze .. " record --mode timed -o tty.prf script.lua\n")
      local text = command.run "script -qec 'sh tty.sh' /dev/null </dev/null"
      assert.matches("3000\r?\n.*self%%.*work.*recorded in tty%.prf", text)
   end)
end)
