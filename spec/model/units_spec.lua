-- Parts of the core against plain models, in a program of C: spec/c/units.c.

local command = require "spec.support.command"

-- Runs the program; `make test` has built it, a single spec file builds it here.
local function units(subject)
   local program = command.build .. "/c/units"
   local said, status, errors = command.run(("{ test -x %s || make -s -C %s B=%s %s; } >&2; %s %s")
      :format(program, command.root, command.build, program, program, subject))
   assert.equal(0, status, errors)
   return said
end

describe("units", function()
   it("finds each address in the range of its row, with and without gaps", function()
      assert.equal("ok\n", units "ranges")
   end)

   it("gives equal names, areas and stacks one id, in the order of their occurrence", function()
      assert.equal("ok\n", units "dictionary")
   end)

   it("passes all values to the second thread, though the reader reuses its memory", function()
      assert.equal("ok\n", units "pipeline")
   end)

   it("writes a state whose parents are a chain of a million states", function()
      assert.equal("ok\n", units "parents")
   end)
end)
