-- The short form of growth.lua: what costs most on inputs that double grows no faster than they do.
--
-- Tags: counted.
-- Extra: needs the build of `make counted`.
-- Unsanitized: they run in the build of `make counted`.

local counted = require "spec.support.counted"
local growth = require "spec.bench.growth"

if not counted.counter() then
   pending "growth (its steps are counted by make test-all)"
   return
end

-- Each found growing with the square of its input once, or likely to.
local cases = {
   files = "--info", names = "--report flat", ids = "--check", depth = "--export folded",
   warnings = "--check", cycle = "--report graph", lanes = "--report flow",
   versions = "compare", limits = "", where = "--report flat", store = "store add",
}

describe("growth", function()
   for axis, options in pairs(cases) do
      it(("of %s costs no more than a power of 1.2: %s"):format(axis, options), function()
         assert.same({}, growth.run({ [axis] = options }, 0, function() end))
      end)
   end
end)
