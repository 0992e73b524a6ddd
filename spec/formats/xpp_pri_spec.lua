-- Settings of the Xbase++ profiler, changed and written.
--
-- Tags: stressed.

local command = require "spec.support.command"
local pri = require "profio.formats.xpp.pri"
local profio = require "profio"

local text = "; by hand\r\n[TRACE]\r\nOPERATIONMODE=1\r\n  Unknown Key = a = b \r\n[MORE]\r\n"
   .. "outflushevery=5\r\nlast=1"

describe("settings", function()
   it("keep everything that is not changed", function()
      local settings = pri.parse(text)
      assert.equal(text, settings:text())
      assert.equal("1", settings:get "operationmode")
      assert.equal("a = b", settings:get "UNKNOWN KEY")
      assert.is_nil(settings:get "by hand")
      settings:set("OutFlushEvery", 1000):set("unknown key", ""):set("NEW", "x y")
      assert.equal((text:gsub("outflushevery=5", "outflushevery=1000"):gsub("a = b ", " "))
         .. "\r\nNEW=x y\r\n", settings:text())
      assert.equal("NEW=1\r\n", pri.parse "":set("NEW", 1):text())
      assert.equal("A=1\nB=2\n", pri.parse "A=1\n":set("B", 2):text())
      assert.equal("A=1\nA=3\n", pri.parse "A=1\nA=2\n":set("a", 3):text())
   end)

   it("are not read from a folder", function()
      assert.same({ nil, "/tmp: Is a directory" }, { pri.read "/tmp" })
   end)

   it("name the bits of OPERATIONMODE", function()
      local settings = pri.parse(text)
      assert.same({ trace = true }, settings:mode())
      settings:set_mode { unfiltered = true, flush = true, [16] = true }
      assert.equal("5145", settings:get "OPERATIONMODE")
      assert.same({ trace = true, unfiltered = true, flush = true, [16] = true }, settings:mode())
      assert.equal("3072", settings:set_mode { trace = false, unfiltered = false, packets = true,
         [16] = false }:get "OPERATIONMODE")
      assert.same({ [8] = true, [64] = true }, pri.parse "OPERATIONMODE=72":mode())
      assert.error_matches(function()
         settings:set_mode { fast = true }
      end, "no bit 'fast'")
      assert.error_matches(function()
         settings:set("A", "b\nC=1")
      end, "one line")
   end)

   it("are used by traces", function()
      local path = command.folder .. "/written.PRI"
      assert(pri.parse(text):set_mode { packets = true, flush = true }:write(path))
      assert.equal("a = b", assert(pri.read(path)):get "unknown key")
      local trace <close> = assert(profio.open(path))
      assert.equal("xpp", trace.format)
      assert.equal("trace flush packets", trace.info.operation)
      assert.is_nil((pri.read(command.folder .. "/no.PRI")))
   end)
end)
