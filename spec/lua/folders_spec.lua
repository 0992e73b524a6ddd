-- core.look_beside: what the folders of many files may contain, so that not each file must be
-- looked at.
--
-- Tags: stressed.

local command = require "spec.support.command"
local core = require "profio.core"
local disk = require "spec.support.disk"

local folder = command.folder .. "/folders"

-- Makes a folder with so many files and what a shell command adds; returns the paths of the files.
local function files(count, more)
   disk.fresh(folder)
   local paths = {}
   for i = 1, count do
      paths[i] = ("%s/%d"):format(folder, i)
      assert(io.open(paths[i], "w")):close()
   end
   assert(os.execute(("cd %s && %s"):format(folder, more or "true")))
   return paths
end

local function look(paths)
   return { core.look_beside(paths, ".ring") }
end

describe("look_beside", function()
   it("finds a name with the ending, in any letter case", function()
      assert.same({ false, false }, look(files(16, "touch ring 1.rin 2.ringo; mkdir sub")))
      assert.same({ true, false }, look(files(16, "touch 99.ring")))
      assert.same({ true, false }, look(files(16, "mkdir 2.RING")))
      assert.same({ true, true }, look(files(16, "ln -s none 3.ring")))
   end)

   it("finds what is neither a regular file nor a folder", function()
      assert.same({ false, true }, look(files(16, "mkfifo pipe")))
      assert.same({ false, true }, look(files(16, "ln -s 1 link")))
   end)

   it("does not know what is in a folder that it does not list completely", function()
      assert.same({ true, true }, look(files(15)))
      assert.same({ true, true }, look(files(16, "touch $(seq 1000 1240)")))
      local paths = files(16)
      disk.remove(folder)
      assert.same({ true, true }, look(paths))
      assert.same({ true, true }, look { ("a/"):rep(4000) .. "b" })
      assert.same({ false, false }, look {})
   end)

   it("looks into the folder of each path", function()
      local paths = files(16)
      for i = 1, 16 do
         paths[16 + i] = "/dev/" .. i
      end
      assert.is_true(look(paths)[2])
      for i = 1, 16 do
         paths[i] = ("name%d"):format(i) -- in the current folder, which has a pipe then
         paths[16 + i] = nil
      end
      local pipe = disk.temporary():match "[^/]*$"
      assert(os.execute("mkfifo " .. pipe))
      local found = look(paths)[2]
      os.remove(pipe)
      assert.is_true(found)
   end)
end)
