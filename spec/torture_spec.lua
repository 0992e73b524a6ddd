-- The short form of `make torture`.
--
-- Extra: writers are killed and the power fails some hundred times.
-- Unsanitized: AddressSanitizer may stay locked in a copy of a process with threads.

local command = require "spec.support.command"
local lfs = require "lfs"

local build = command.build

local function has_disk()
   return lfs.attributes(build .. "/c/disk.so") or pending("no disk.so: make test builds it")
end

-- Runs a script with `processes` and `disk` in its path; returns its output.
local function run(script, count)
   if not has_disk() then
      return
   end
   local folder = command.folder .. "/torture"
   lfs.mkdir(folder)
   local text, status, errors = command.run(("%s lua5.4 %s/spec/support/%s.lua %s %d 1"):format(
      command.in_tree, command.root, script, folder, count))
   assert.same({ 0, "" }, { status, errors })
   return text
end

describe("writers that are killed at any moment", function()
   it("lose no record, of no stream and in no mode", function()
      assert.matches("kills, no record lost, doubled, moved or invented\n$", run("torture", 250))
   end)
end)

describe("writers at a power failure", function()
   it("lose no record that was promised", function()
      assert.matches("no record lost that was promised\n$", run("power", 100))
   end)
end)

describe("a writer that ends", function()
   it("removes its empty packet before another writer can have the path", function()
      if not has_disk() then
         return
      end
      command.file("ends.lua", [[
         local w = assert(require "profio".create(os.getenv "DISK_FOLDER" .. "/a.prf", {
            format = "xpp", packets = true, ring = { size = "64K" }, flush_every = 1 }))
         for i = 1, 2 do
            w:write { thread = 1, time = i * 1000000, op = "i", call = "A" }
         end
         assert(w:close())]])
      local _, status = command.run(([[rm -rf ends ends.log && mkdir ends && \
         %s DISK_FOLDER="$PWD/ends" DISK_LOG="$PWD/ends.log" LD_PRELOAD='%s/c/disk.so' \
         lua5.4 ends.lua]]):format(command.in_tree, build))
      assert.equal(0, status)
      local log = command.read(command.folder .. "/ends.log")
      local packet = log:find("remove %d+ [^\n]*a%.prf%.%d+\n")
      local ring = log:find("remove %d+ [^\n]*a%.prf%.ring\n")
      assert.is_true(packet and ring and packet < ring)
   end)
end)
