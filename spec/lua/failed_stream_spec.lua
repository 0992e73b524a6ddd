-- A stream that cannot be opened releases its files at once, not when it is collected.
--
-- Tags: stressed.

local command = require "spec.support.command"
local profio = require "profio"

local path = command.folder .. "/failed_stream.prf"

local function size_of(name)
   local file <close> = io.open(name, "rb")
   return file and file:seek "end"
end

describe("a stream that cannot be opened", function()
   before_each(function()
      os.remove(path)
      os.remove(path .. ".ring")
   end)
   after_each(function()
      collectgarbage "restart"
      os.remove(path)
   end)

   it("unlocks an old file, which keeps its contents and can be opened again", function()
      command.file("failed_stream.prf", "old contents")
      collectgarbage "stop"
      local writer, message = profio.create(path, { format = "br", ring = {},
         code_page = "no such page" })
      assert.is_nil(writer)
      assert.matches("no such page", message)
      assert.equal(12, size_of(path))
      local second <close> = assert(profio.create(path, { format = "br", ring = {} }))
      second:close()
      assert.equal(0, size_of(path))
   end)

   it("removes a new file", function()
      assert.is_nil((profio.create(path, { format = "br", ring = {},
         code_page = "no such page" })))
      assert.is_nil(size_of(path))
   end)
end)
