-- Faults in Lua patterns, beside string.find.
--
-- Tags: user, stressed.

local patterns = require "profio.internal.patterns"

local function random_text(letters, most)
   local list = {}
   for i = 1, math.random(0, most) do
      local at = math.random(#letters)
      list[i] = letters:sub(at, at)
   end
   return table.concat(list)
end

describe("a pattern", function()
   it("is named with its fault, wherever that is", function()
      local faults = { ["%a%d["] = "a ] is missing", ["[]"] = "a ] is missing",
         ["[^]"] = "a ] is missing", ["[%]"] = "a ] is missing", ["ab%"] = "it ends with %",
         ["x%bq"] = "two characters are missing after %b", ["x%fa"] = "[ is missing after %f",
         ["%f[a"] = "a ] is missing", ["(a%1)"] = "there is no capture %1 before it",
         ["%2"] = "there is no capture %2 before it", ["a)"] = "a ( is missing",
         ["((a)"] = "a ) is missing", [("()"):rep(33)] = "it has more than 32 captures" }
      for pattern, fault in pairs(faults) do
         assert.equal(fault, patterns.problem(pattern))
      end
      for _, pattern in ipairs { "", "^a$", "[]]", "[^]]", "[%]]", "(a)%1", "(()a)%2", "%f[%w]x",
         "%b()", "a-", "]", "%%", "[a-]", "[[]", ("()"):rep(32), "*", "^*" } do
         assert.is_nil(patterns.problem(pattern))
      end
   end)

   it("has a fault if string.find refuses it for any text", function()
      math.randomseed(28)
      local found = 0
      local texts = {}
      for i = 1, 300 do
         texts[i] = random_text("abf1()[]^%", 12)
      end
      for _ = 1, 4000 do
         local pattern = random_text("ab1f%%[]()^-*", 7)
         local takes_all = true
         for _, text in ipairs(texts) do
            takes_all = takes_all and pcall(string.find, text, pattern)
         end
         if not takes_all then
            found = found + 1
            assert(patterns.problem(pattern), pattern)
         end
      end
      assert.is_true(found > 1000)
   end)
end)
