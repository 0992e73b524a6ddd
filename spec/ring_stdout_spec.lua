-- Writers through a ring on standard output: the ring has no name then.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local disk = require "spec.support.disk"

-- Run Lua in a process of its own: with redirections, and after a line of shell.
local function run_lua(script, redirections, before)
   return command.run(("%s %s lua5.4 -e '%s' %s"):format(before or "", command.in_tree, script,
      redirections or ""))
end

describe("a writer through a ring", function()
   it("writes to standard output", function()
      local text, status = run_lua [[
         local w = require "profio".create("-", { format = "br", ring = {} })
         w:write { module = "A.BR", line = 10 }
         w:close()]]
      assert.same({ "\1\0\1\0\4A.BR\3\0\1\0\0\0\10\0\6", 0 }, { text, status })
   end)

   it("has its ring in TMPDIR, which programs do not inherit", function()
      local tmp = ("long"):rep(50)
      tmp = command.folder .. "/" .. tmp .. "/" .. tmp
      disk.folder(tmp)
      local text, status, errors = run_lua([[
         local w = require "profio".create("-", { format = "br", ring = {} })
         w:write { module = "A.BR", line = 10 }
         local pipe <close> = io.popen "ls -l /proc/self/fd"
         local seen = pipe:read "a"
         io.stderr:write(require "lfs".attributes("/proc/self/fd", "mode") or "", " ",
            select(2, seen:gsub("profio%-", "")), "\n")
         w:close()]], nil, "TMPDIR=" .. tmp)
      assert.same({ "\1\0\1\0\4A.BR\3\0\1\0\0\0\10\0\6", 0 }, { text, status })
      if errors:match "^directory" then
         assert.equal("directory 0\n", errors)
      end
   end)

   local both = { "-", "link" } -- standard output, and a link to /dev/stdout
   local old_lines = ("as it was\n"):rep(50000)

   it("keeps what standard output has before", function()
      os.execute("ln -sf /dev/stdout " .. command.folder .. "/link")
      for _, path in ipairs(both) do
         local old = command.file("log", "as it was\n")
         local _, status = run_lua(([[
            local w = require "profio".create("%s", { format = "br", ring = {} })
            w:write { module = "A.BR", line = 10 }
            w:close()]]):format(path), ">>log")
         assert.same({ 0, "as it was\n\1\0\1\0\4A.BR\3\0\1\0\0\0\10\0\6" },
            { status, command.read(old) })
      end
   end)

   -- A file may have 1,000 blocks, which are 512 bytes or 1,024, as the shell counts.
   it("keeps what standard output has before, also when writing fails", function()
      os.execute("ln -sf /dev/stdout " .. command.folder .. "/link")
      for _, path in ipairs(both) do
         local old = command.file("log", old_lines)
         local said = run_lua(([[
            local w = require "profio".create("%s", { format = "br", ring = { size = "64K" } })
            local emit = w:emitter("module", "line")
            for i = 1, 100000 do emit("A.BR", i) end
            io.stderr:write(select(3, w:close()), "\n")]]):format(path), "2>&1 >>log",
            "ulimit -f 1000; trap '' XFSZ;")
         assert.equal("io\n", said)
         assert.equal(old_lines, command.read(old):sub(1, #old_lines))
      end
   end)

   it("refuses to change a count that standard output has already", function()
      local old = command.file("log", "")
      local said = run_lua([[
         io.stdout:write("as it was\n"):flush()
         local w = require "profio".create("-", { format = "dbf", fields = "ID C(4)", ring = {} })
         w:write { ID = "a" }
         w:flush()
         w:write { ID = "b" }
         io.stderr:write(select(3, w:close()), "\n")]], "2>&1 >log")
      assert.same({ "io\n", "as it was\n" }, { said, command.read(old):sub(1, 10) })
   end)
end)
