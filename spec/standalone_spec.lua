-- Extra: builds the single file.

local command = require "spec.support.command"
local disk = require "spec.support.disk"

local folder = command.folder .. "/standalone"

-- Builds the program; returns its path.
local function built()
   local _, status, errors = command.run(("cd '%s' && make -s B='%s' standalone 2>&1"):format(
      command.root, command.build))
   assert.equal(0, status, errors)
   return command.build .. "/standalone/profio"
end

local program = built()

describe("the single file", function()
   before_each(function()
      disk.fresh(folder)
   end)

   -- Runs a line of shell in the folder, without what an installed Lua finds.
   local function run(line)
      return command.run(("cd standalone && LUA_PATH=none LUA_CPATH=none %s"):format(line))
   end

   it("answers as the command of the checkout does", function()
      command.file("gmon.out", command.trace())
      for _, words in ipairs { "--version", "--help", "-h", "help", "help tutorial",
         "report flat gmon.out", "--info gmon.out", "export html gmon.out", "tables gmon.out",
         "completion bash", "--list-formats" }
      do
         local text, status = command.run(program .. " " .. words)
         local expected, expected_status = command.run(command.analyze .. " " .. words)
         assert.same({ words, expected, expected_status }, { words, text, status })
      end
   end)

   it("is the interpreter of scripts, which find the module", function()
      command.file("standalone/script.lua", [[
         local profio = require "profio"
         print(profio._VERSION, #arg, arg[0], ...)]])
      local version = command.run "profio --version":match "(%S+)\n"
      assert.equal(version .. "\t2\tscript.lua\ta\tb c\n", (run(program
         .. " lua script.lua a 'b c'")))
      assert.equal("3\n", (run(program .. " lua -e 'print(1 + 2)'")))
      assert.equal("5\n", (run("echo 'print(2 + 3)' | " .. program .. " lua -")))
      local _, status, errors = run(program .. " lua -e 'error \"planted\"'")
      assert.equal(1, status)
      assert.matches("planted\nstack traceback", errors)
      assert.equal(7, select(2, run(program .. " lua -e 'os.exit(7)'")))
   end)

   it("records scripts, and adds runs to a store in several processes", function()
      command.file("standalone/script.lua", "for i = 1, 1000 do math.sin(i) end\n")
      for i = 1, 4 do
         local _, status, errors = run(("%s record --mode aggregate -o %d.pb.gz script.lua"):format(
            program, i))
         assert.equal(0, status, errors)
      end
      assert.matches("script.lua", (run(program .. " report flat 1.pb.gz")))
      assert.matches("4 runs added", (run(program .. " store add --jobs 2 a.db *.pb.gz")))
   end)

   it("unpacks the module for another Lua", function()
      local text, status, errors = run(program .. " unpack 'a b'")
      assert.equal(0, status, errors)
      assert.matches("LUA_PATH='/.-/a b/%?%.lua;", text)
      assert.matches("^%d", (run(('eval "$(%s unpack "a b")"; lua5.4 -e \'print(require("profio")'
         .. "._VERSION)'"):format(program))))
   end)

   it("says that stores in ClickHouse need an installed profio", function()
      local _, status, errors = run(program .. " store ls clickhouse://localhost/none")
      assert.equal(1, status)
      assert.matches("no libcurl", errors)
   end)

   it("has the same bytes when it is built again", function()
      local sums = command.run("cksum " .. program)
      os.remove(program)
      built()
      assert.equal(sums, (command.run("cksum " .. program)))
   end)
end)
