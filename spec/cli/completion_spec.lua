-- profio completion: what lua-argparse writes for shells, with the verbs and their own options.
--
-- Tags: user.
-- Unsanitized: texts, options and files of Lua alone.

local command = require "spec.support.command"

-- Returns what bash offers for the last of these words.
local function offered(...)
   command.file("words.bash", ([[
source ./profio.bash
COMP_WORDS=(%s)
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_profio
printf '%%s ' "${COMPREPLY[@]}"
]]):format('"' .. table.concat({ ... }, '" "') .. '"'))
   return (command.run "bash words.bash")
end

describe("profio completion", function()
   setup(function()
      local _, status = command.run "profio completion bash > profio.bash"
      assert(status == 0)
   end)

   it("offers verbs, and the options of the form without a verb", function()
      assert.equal("report record ", offered("profio", "re"))
      assert.matches("^%-%-report ", offered("profio", "--rep"))
   end)

   it("offers a verb its own options", function()
      assert.matches("%-%-set ", offered("profio", "merge", "--"))
      assert.is_nil(offered("profio", "merge", "--"):find("--top", 1, true))
      assert.matches("%-%-mode ", offered("profio", "record", "--m"))
   end)

   it("offers names of reports, exports and forms", function()
      assert.equal("flat flow ", offered("profio", "--report", "fl"))
      assert.equal("speedscope ", offered("profio", "export", "--export", "sp"))
      assert.equal("csv ", offered("profio", "report", "--output", "cs"))
      assert.equal("sampled ", offered("profio", "record", "--mode", "s"))
   end)

   it("offers topics of profio help, and their sections", function()
      assert.equal("views ", offered("profio", "help", "vie"))
      assert.equal("lua lua-api ", offered("profio", "help", "lua"))
      assert.equal("writer ", offered("profio", "help", "lua-api", "writ"))
      assert.equal("export-html ", offered("profio", "help", "options", "export-ht"))
      assert.equal(" ", offered("profio", "help", "lua-api", "writer", ""))
   end)

   it("writes files that zsh and fish understand", function()
      for shell, option in pairs { zsh = "-n", fish = "-n" } do
         local text, status = command.run("profio completion " .. shell)
         assert.equal(0, status)
         assert.matches("merge", text)
         if os.execute("command -v " .. shell .. " >/dev/null") then
            command.file("profio." .. shell, text)
            local _, checked, errors = command.run(("%s %s profio.%s"):format(shell, option, shell))
            assert.same({ 0, "" }, { checked, errors })
         end
      end
   end)

   it("refuses other shells", function()
      for _, words in ipairs { "", "csh", "bash zsh" } do
         local text, status, errors = command.run("profio completion " .. words)
         assert.same({ "", 2 }, { text, status })
         assert.matches("expects one of bash, zsh, fish", errors)
      end
   end)
end)
