-- Each fast path has a switch, a row in CONTRIBUTING.md, and a case of the bench that shows it.
--
-- Tags: user, stressed.

local function text_of(path)
   local file <close> = assert(io.open(path))
   return file:read "a"
end

-- The sorted captures of a pattern.
local function all(text, pattern)
   local found = {}
   for word in text:gmatch(pattern) do
      found[#found + 1] = word
   end
   table.sort(found)
   return found
end

it("fast paths have a switch, a documented line of the bench, and a case that runs it", function()
   local switches = text_of "csrc/model/base/switches.h"
   local names = all(switches:gsub("PF_FAST_NONE", ""):lower(), "\n  pf_fast_(%l+)")
   assert.is_true(#names > 10)
   local documented = text_of "CONTRIBUTING.md":match "\n| name | what.-\n\n"
   assert.same(names, all(documented, "\n| `(%l+)`"))
   local bench = text_of "spec/bench/in_turns.lua":match "\nlocal cases_of = (%b{})"
   assert.same(names, all(bench, "(%l+) = "))
   local runs = text_of "spec/bench/run.lua"
   for _, case in ipairs(all(bench, '"(%l+)"')) do
      assert.truthy(runs:find(('{ "%s", '):format(case), 1, true), case)
   end
end)
