-- Lua patterns that people give, beside string.find: their faults, where they are found, and their
-- end by Ctrl-C.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local core = require "profio.core"
local rounds = require "spec.support.rounds"

-- Most parts of patterns, so that a random sequence of them often is one.
local PARTS <const> = { "a", "b", ".", "%a", "%d", "%W", "%.", "[ab]", "[^a]", "[%w_]", "[a-c]",
   "[]]", "[a-]", "[^%]-]", "*", "+", "-", "?", "(", ")", "()", "%1", "%2", "%b()", "%f[%a]",
   "%f[^b]", "^", "$", "\0", "%z", "\255", "%" }
local LETTERS <const> = { "a", "b", "c", "(", ")", "]", "-", ".", "1", "_", "%", "\0", "\255" }

local function random_parts(parts, most)
   local list = {}
   for i = 1, math.random(0, most) do
      list[i] = parts[math.random(#parts)]
   end
   return table.concat(list)
end

local function problem_of(text)
   return (select(2, core.pattern(text)))
end

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
         ["((a)"] = "a ) is missing", [("()"):rep(33)] = "it has more than 32 captures",
         [("a*"):rep(201)] = "it has more than 200 of * + - ?" }
      for pattern, fault in pairs(faults) do
         assert.equal(fault, problem_of(pattern))
      end
      for _, pattern in ipairs { "", "^a$", "[]]", "[^]]", "[%]]", "(a)%1", "(()a)%2", "%f[%w]x",
         "%b()", "a-", "]", "%%", "[a-]", "[[]", ("()"):rep(32), "*", "^*" } do
         assert.is_nil(problem_of(pattern))
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
            assert(problem_of(pattern), pattern)
         end
      end
      assert.is_true(found > 1000)
   end)

   it("is found where string.find finds it", function()
      math.randomseed(7)
      local compared = 0
      for case = 1, rounds(60000) do
         local text, words = random_parts(LETTERS, 9), random_parts(PARTS, 6)
         local pattern, problem = core.pattern(words)
         if pattern then
            compared = compared + 1
            local first, last = string.find(text, words)
            assert.same({ first, last }, { pattern:find(text) }, "case " .. case)
         else
            assert.is_string(problem)
         end
      end
      assert.is_true(compared > rounds(20000), compared)
   end)

   it("is searched for from its begin to the end of a long text", function()
      local text = ("ab"):rep(1e5) .. "c"
      assert.same({ 1, #text }, { core.pattern(".-c$"):find(text) })
      assert.same({ #text, #text }, { core.pattern("[^ab]"):find(text) })
      assert.is_nil(core.pattern("^b"):find(text))
      assert.same({ 1, 0 }, { core.pattern(""):find "" })
   end)

   it("may have 200 repetitions one after the other", function()
      local pattern = core.pattern("^" .. ("a?"):rep(200) .. "$")
      assert.same({ 1, 200 }, { pattern:find(("a"):rep(200)) })
      assert.is_nil(pattern:find "b")
   end)

   it("that would be searched for for ever ends at Ctrl-C", function()
      command.file("evil.lua", [[
local core = require "profio.core"
local interrupt <close> = core.interrupt()
local pattern = core.pattern(("(.-)"):rep(30) .. "$x")
io.popen("kill -INT $PPID"):close()
print(pcall(pattern.find, pattern, ("ab"):rep(40)))
print(interrupt:wait(0))
]])
      assert.equal("false\tinterrupted by Ctrl-C\ntrue\n", (command.run(
         "timeout 100 env " .. command.in_tree .. "lua5.4 evil.lua")))
   end)
end)
