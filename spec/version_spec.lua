-- The version is defined once, in csrc/profio.h; all other places must agree.
--
-- Tags: user.
-- Unsanitized: texts, options and files of Lua alone.

local profio = require "profio"

local function first_version(path, pattern)
   for line in io.lines(path) do
      local version = line:match(pattern)
      if version then
         return version
      end
   end
end

describe("the version", function()
   it("of the module is that of profio.h", function()
      assert.equal(first_version("csrc/profio.h", '^#define PF_VERSION +"([^"]+)"'),
         profio._VERSION)
      assert.equal(profio._VERSION, profio.version)
   end)

   it("is at the top of CHANGELOG.md", function()
      assert.equal(profio._VERSION, first_version("CHANGELOG.md", "^## ([%d.]+)"))
   end)
end)
