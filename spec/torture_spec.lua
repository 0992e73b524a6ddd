-- The short form of `make torture`.

local command = require "spec.support.command"
local lfs = require "lfs"

local build = os.getenv "PROFIO_BUILD" or "build"
build = build:sub(1, 1) == "/" and build or command.root .. "/" .. build

-- Run a script with `processes` and `disk` in its path; what it prints.
local function run(script, count)
   if not lfs.attributes(build .. "/c/disk.so") then
      return pending("no " .. build .. "/c/disk.so: make test builds it")
   end
   local folder = command.folder .. "/torture"
   lfs.mkdir(folder)
   local text, status, errors = command.run(([[ \
      LUA_PATH='%s/?.lua;%s/lua/?.lua;%s/lua/?/init.lua;;' \
      LUA_CPATH='%s/?.so;%s/c/?.so;;' lua5.4 %s/spec/support/%s.lua %s %d %d]]):format(command.root,
      command.root, command.root, build, build, command.root, script, folder, count,
      os.time() % 100000))
   assert.same({ 0, "" }, { status, errors })
   return text
end

describe("writers that are killed at any moment", function()
   it("lose no record, of no stream and in no mode", function()
      assert.matches("kills, no record lost, doubled, moved or invented\n$", run("torture", 250))
   end)
end)

describe("writers onto the disk whose power fails", function()
   it("lose no record that was promised", function()
      assert.matches("no record lost that was promised\n$", run("power", 100))
   end)
end)
