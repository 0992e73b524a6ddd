-- Command lines are parsed without argparse: as argparse parses them, or not at all.

local command_line = require "profio.cli.command_line"
local declarations = require "profio.cli.declarations"
local verbs = require "profio.cli.verbs"

local files = { "gmon.out", "-", "a b", "x=1" }
local values = { "flat", "3", "a=b", "", "-5", "--strict" }

local function one_of(list)
   return list[math.random(#list)]
end

-- Returns random words for a verb (nil: the flat form), of which some are wrong.
local function random_words(verb)
   local list, words = verb and verbs.options(verb) or {}, {}
   if not verb then
      declarations.each(function(option)
         list[#list + 1] = option
      end)
   end
   for _ = 1, math.random(0, 6) do
      local option, kind = one_of(list), math.random(10)
      if kind <= 3 then
         words[#words + 1] = one_of(files)
      elseif kind == 4 then
         words[#words + 1] = one_of { "--wrong", "--top=3", "-v", "--out=x", "-ox", "--strict=1",
            "--=", "--repor" }
      else
         words[#words + 1] = option[1]
         words[#words + 1] = option[2] and one_of(values) or nil
      end
   end
   return words
end

local function check(verb)
   local taken = 0
   for _ = 1, 100 do
      local words = random_words(verb)
      local joined = command_line.join(words, verb)
      if verb then
         table.insert(joined, 1, verb.name)
      end
      local given, all = command_line.take(joined, verb), command_line.parse_all(joined, verb)
      if given then
         taken = taken + 1
         for _, result in ipairs { given, all } do
            result[verb and verb.name or 1] = nil -- argparse also names the verb; prepare does
         end
         assert.same(all, given, table.concat(words, " "))
      end
   end
   assert.is_true(taken > 10, taken)
end

it("options of the flat form", function()
   check(nil)
end)

it("options of verbs", function()
   for _, verb in ipairs(verbs.every()) do
      check(verb)
   end
end)

it("a wrong command line is explained", function()
   for words, message in pairs { ["--strict=1"] = "'--strict' does not take arguments",
      ["--repor x"] = "unknown option '--repor'", ["--unit"] = "'--unit' requires an argument" }
   do
      local list = {}
      for word in words:gmatch "%S+" do
         list[#list + 1] = word
      end
      local given, problem = command_line.parse(list)
      assert.is_nil(given)
      assert.matches(message, problem, 1, true)
   end
end)
