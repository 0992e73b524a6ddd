-- A program that has set a locale with a decimal comma gets the same files.
--
-- Extra: needs locales.

local dcpi = require "spec.support.dcpi_builder"
local folded = require "spec.support.folded"
local locales = require "spec.support.locales"

local KINDS <const> = { "dot", "svg", "firefox", "html", "speedscope", "cpuprofile", "callgrind",
   "folded", "pprof" }

describe("a locale with a decimal comma", function()
   it("changes no export", function()
      local stacks = "main;f 1234567\nmain 7654321\n"
      local text = locales.run_with_commas(([[
         local folded = require "spec.support.folded"
         local profile = folded.profile %q
         for kind in ("%s"):gmatch "%%S+" do
            local text = profile:export(kind)
            io.write(string.pack("s4", text or ""))
         end]]):format(stacks, table.concat(KINDS, " ")))
      if not text then
         return pending "no locale can be compiled here"
      end
      local at, profile, found = 1, folded.profile(stacks), 0
      for _, kind in ipairs(KINDS) do
         local got, after = string.unpack("s4", text, at)
         assert.equal(profile:export(kind), got)
         at, found = after, found + (#got > 0 and 1 or 0)
      end
      assert.equal(#text + 1, at)
      assert.is_true(found >= 9)
   end)

   it("changes no number in formulas of reports", function()
      local text = locales.run_with_commas(([[
         local profio = require "profio"
         local cli = require "profio.cli"
         local disk = require "spec.support.disk"
         local path = disk.temporary()
         local file = assert(io.open(path, "wb"))
         file:write(%q)
         file:close()
         local status = cli.main({ "--report", "dcpitopcounts", "--keep", "12.5", "--output", "csv",
            path }, io.stdout)
         os.remove(path)
         print(status)]]):format(dcpi.golden()))
      if not text then
         return pending "no locale can be compiled here"
      end
      assert.matches("0\n$", text)
      assert.matches("^[%w_,]+\n", text)
   end)
end)
