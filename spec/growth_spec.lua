-- The short form of growth.lua: what costs most on inputs that double grows no faster than they do.

local growth = require "spec.bench.growth"

-- Each found growing with the square of its input once, or likely to.
local cases = {
   files = "--info", names = "--report flat", ids = "--check", depth = "--export folded",
   warnings = "--check", cycle = "--report graph", lanes = "--report flow",
}

describe("growth", function()
   for axis, options in pairs(cases) do
      it(("of %s costs no more than a power of 1.2: %s"):format(axis, options), function()
         local steep
         for _ = 1, 3 do -- on a busy machine one measurement may be too high
            steep = growth.run({ [axis] = options }, 0, function() end)
            if #steep == 0 then
               break
            end
         end
         assert.same({}, steep)
      end)
   end
end)
