-- The page `cookbook` of help: its commands run, and it has entries for all formats. The page
-- `recipes` has its entries; pages_spec runs them.
--
-- Tags: user.
-- Long: runs all commands of the page.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"
local page_files = require "spec.support.page_files"
local profio = require "profio"
local snippets = require "spec.support.snippets"

local text = command.read "lua/profio/help/cookbook.md"
local recipes = command.read "lua/profio/help/recipes.md"

describe("the cookbook", function()
   it("has commands that run", function()
      page_files.fill "cookbook"
      local failures, count = snippets.run("cookbook", text)
      assert.equal("", table.concat(failures, "\n"))
      assert.is_true(count >= 28)
   end)

   it("has at least 25 numbered entries, each with a command", function()
      local count = 0
      for number, commands in text:gmatch "\n(%d+)%. I want [^\n]*\n\n```console\n(.-)```\n" do
         count = count + 1
         assert.equal(count, math.tointeger(number))
         assert.matches("%$ profio ", commands)
      end
      assert.is_true(count >= 25)
   end)

   it("has an entry for each format", function()
      local formats = {}
      for path in text:gmatch " ([%w_.]+%.?[%w.]*)" do
         local whole = command.folder .. "/cookbook/" .. path
         local trace <close> = path ~= "program" and profio.open(whole) or nil
         formats[trace and trace.format or ""] = true
      end
      for _, format in ipairs { "gmon", "br", "winidea", "dcpi", "dbf", "xpp", "pprof" } do
         assert.is_true(formats[format], format)
      end
   end)
end)

describe("the recipes", function()
   it("are ten numbered questions with commands, and no entries of the cookbook", function()
      local count = 0
      for section in (recipes:gsub("\n## ", "\n\0") .. "\0"):gmatch "\0(%d[^\0]*)" do
         count = count + 1
         assert.equal(count, math.tointeger(section:match "^(%d+)%. [^\n]*%?\n"))
         assert.matches("\n```console\n%$ ", section)
         for typed in section:gmatch "\n(%$ profio [^\n]*)" do
            assert.is_nil(text:find("\n" .. typed .. "\n", 1, true), typed)
         end
      end
      assert.equal(10, count)
      assert.matches("%(cookbook%.md%)", recipes)
      assert.matches("%(recipes%.md%)", text)
   end)
end)
