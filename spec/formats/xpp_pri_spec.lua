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

   it("keep the end mark of the file at its end", function()
      for _, mark in ipairs { "\26", "\r\n\26", " \26\26" } do
         local settings = pri.parse("OPERATIONMODE=4105" .. mark)
         assert.same({ trace = true, unfiltered = true }, settings:mode())
         settings:set_mode { flush = true }
         assert.equal("OPERATIONMODE=5129" .. mark, settings:text())
         assert.equal("5129", settings:get "OPERATIONMODE")
         settings:set("NEW", 1)
         assert.equal("1", pri.parse(settings:text()):get "NEW")
         assert.matches("^OPERATIONMODE=5129 ?\r\nNEW=1\r\n\26+$", settings:text())
      end
      assert.equal("A=1\r\n\26", pri.parse "\26":set("A", 1):text())
   end)

   it("have numbers in decimal digits only, and keep a mode that is none", function()
      for _, value in ipairs { "0x1009", "4105.0", "-3", "+4105", "1e3", "99999999999999999999" } do
         local settings = pri.parse("OPERATIONMODE=1\r\nOPERATIONMODE=" .. value .. "\r\n")
         assert.same({}, settings:mode())
         assert.is_nil(settings:number "OPERATIONMODE")
         assert.error_matches(function()
            settings:set_mode { flush = true }
         end, "and no number: set it to one first")
         assert.is_nil((profio.open({ data = settings:text() }, { format = "xpp" })))
      end
   end)

   it("are the same for a trace, in facts and in table settings", function()
      local bytes = "; by hand\n[TRACE]\r\noperationmode = 5145 \r\nOUTFLUSHEVERY=5\r\n"
         .. "OUTMSGSIZE=x\r\nODD\r\n\26"
      local alone <close> = assert(profio.open { data = bytes })
      assert.same({ "pri", 5145, "trace unfiltered flush 16", 5 }, { alone.info.dialect,
         alone.info.operation_mode, alone.info.operation, alone.info.flush_every })
      assert.is_nil(alone.info.symbol_size_set)
      assert.same({
         { line = "; by hand\n" },
         { section = "TRACE", line = "[TRACE]\r\n" },
         { section = "TRACE", key = "operationmode", value = "5145",
            meaning = "trace unfiltered flush 16", line = "operationmode = 5145 \r\n" },
         { section = "TRACE", key = "OUTFLUSHEVERY", value = "5", line = "OUTFLUSHEVERY=5\r\n" },
         { section = "TRACE", key = "OUTMSGSIZE", value = "x", line = "OUTMSGSIZE=x\r\n" },
         { section = "TRACE", line = "ODD\r\n" },
         { section = "TRACE", line = "\26" },
      }, alone.settings:rows())
      local beside <close> = assert(profio.open { data = "TID,TIME,OP,MSG\n1,0,I,A\n1,4,O,A\n",
         pri = bytes })
      assert.same(alone.settings:rows(), beside.settings:rows())
      assert.equal(alone.info.operation, beside.info.operation)
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
