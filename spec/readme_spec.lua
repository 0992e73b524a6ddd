-- README.md: its snippets run and print what it shows; its lines of make are understood; its links
-- lead to files.
--
-- Tags: user.
-- Long: runs all commands and programs of the texts.
-- Unsanitized: texts, options and files of Lua alone.

local command = require "spec.support.command"
local page_files = require "spec.support.page_files"
local snippets = require "spec.support.snippets"

local text = command.read "README.md"

describe("README.md", function()
   it("has snippets that run", function()
      page_files.fill_as_checkout "readme"
      local failures, count = snippets.run("readme", text)
      assert.equal("", table.concat(failures, "\n"))
      assert.is_true(count > 6)
   end)

   it("has lines of make that make understands", function()
      local count = 0
      for _, block in ipairs(snippets.blocks(text)) do
         for words in (block.language == "" and block.text or ""):gmatch "(make .-)  " do
            local _, status, errors = command.run(words:gsub("^make", "make -n -C "
               .. command.root))
            assert.same({ 0, "" }, { status, errors })
            count = count + 1
         end
      end
      assert.is_true(count >= 5)
   end)

   it("names all pages, exports and folders of the core", function()
      local found <close> = assert(io.popen
         "ls -d lua/profio/help/*.md csrc/*/ csrc/model/*/ csrc/kernels/*/ csrc/lua/*/")
      for path in found:lines() do
         local name = path:match "^csrc/.-([^/]+/)$" or path
         assert.is_truthy(text:find(name, 1, true), path)
      end
      for _, export in ipairs(require "profio.internal.exporting.export_list".all()) do
         local name = export.name == "dot" and "graphviz" or export.name
         assert.is_truthy(text:lower():match "exports: (.-)\n\n":find(name), name)
      end
   end)

   it("can be read in three minutes", function()
      local _, lines = text:gsub("\n", "")
      assert.is_true(lines <= 200)
   end)

   it("has links that lead to files", function()
      for path in text:gmatch "%]%(([^)#]+)%)" do
         assert.is_truthy(path:find "^https:" or io.open(path), path)
      end
   end)
end)
