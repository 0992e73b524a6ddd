-- Unusual files: if gprof reads them, --compat gprof prints the same text.
--
-- Costly: large inputs, beside models in Lua.

local programs = require "spec.support.programs"

-- gprof prints nothing for these files; profio reports their contents.
local apart = { empty = true, ["bb-w8-le-count4"] = true }

describe("--compat gprof on odd files", function()
   local names, folder = programs.corpus("gmon/synthetic", ".gmon")
   local exe = "../shared/corpus/gmon/made/x86_64-native-no-pie.elf"

   if #names == 0 or not programs.has "gprof" then
      pending "the corpus or gprof is not there"
      return
   end

   for _, name in ipairs(names) do
      local file = folder .. "/" .. name .. ".gmon"
      local read = os.execute(("gprof -b %s %s >/dev/null 2>&1"):format(exe, file))
      if read and not apart[name] then
         it("prints the same for " .. name, function()
            local text = programs.analyze("--compat", "gprof", exe, file)
            assert.equal(programs.output("gprof -b %s %s", exe, file), text)
         end)
      end
   end

   it("refuses what gprof refuses, with its words", function()
      for name, words in pairs { abbr = "dimension abbreviation changed",
         overlap = "overlapping histogram records", scale = "different scales" } do
         local _, status, errors = programs.analyze("--compat", "gprof", exe,
            folder .. "/" .. name .. ".gmon")
         assert.equal(1, status)
         assert.matches(words, errors)
      end
   end)
end)
