-- The short form of `make torture`.

local command = require "spec.support.command"
local lfs = require "lfs"

local build = os.getenv "PROFIO_BUILD" or "build"
build = build:sub(1, 1) == "/" and build or command.root .. "/" .. build

describe("writers that are killed at any moment", function()
   it("lose no record, of no stream and in no mode", function()
      if not lfs.attributes(build .. "/c/processes.so") then
         return pending("no " .. build .. "/c/processes.so: make test builds it")
      end
      local folder = command.folder .. "/torture"
      lfs.mkdir(folder)
      local text, status, errors = command.run(([[LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua;;' \
         LUA_CPATH='%s/?.so;%s/c/?.so;;' lua5.4 %s/spec/support/torture.lua %s 250 %d]]):format(
         command.root, command.root, build, build, command.root, folder, os.time() % 100000))
      assert.same({ 0, "" }, { status, errors })
      assert.matches("kills, no record lost, doubled, moved or invented\n$", text)
   end)
end)
