-- The commands and scripts of the pages of help run, and print what the pages show.
--
-- Extra: runs each command of the pages of help; readme_spec and cookbook_spec run those of
-- README.md and of the cookbook.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"
local page_files = require "spec.support.page_files"
local page_names = require "profio.cli.help.pages"
local snippets = require "spec.support.snippets"

local pages = "lua/profio/help"

describe("the pages of help", function()
   for _, name in ipairs(page_names.names()) do
      it("have snippets that run: " .. name, function()
         page_files.fill "page"
         local failures = snippets.run("page", command.read(pages .. "/" .. page_names.file(name)))
         assert.equal("", table.concat(failures, "\n"))
      end)
   end

   it("cannot show what a command does not print", function()
      local said = "a  1.5 s\nb  2 s\nc  3 s\n"
      assert.is_nil(snippets.missing({ "a  9.25 s", "b 2 s", "c  3 s" }, said))
      assert.is_nil(snippets.missing({ "...", "c  3 s" }, said))
      assert.is_nil(snippets.missing({ "a 1.5 s", "..." }, said))
      for _, shown in ipairs { { "a  1.5 s", "b  2 s" }, { "b  2 s", "..." },
         { "...", "b  3 s", "..." }, { "c  3 s", "..." } } do
         assert.is_string(snippets.missing(shown, said))
      end
   end)
end)
