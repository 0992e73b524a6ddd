-- profio view: the page goes into a private folder, and a browser is started if there is one.
--
-- Tags: user.

local command = require "spec.support.command"

-- Runs a command with a fake xdg-open, which writes down the paths that it gets, and with a folder
-- of its own for temporary files. Returns also that folder.
local function run(words, environment)
   local bin, temporary = command.folder .. "/view-bin", command.folder .. "/view-tmp"
   os.execute(("rm -rf %s %s && mkdir -p %s %s"):format(bin, temporary, bin, temporary))
   command.file("view-bin/xdg-open", '#!/bin/sh\nprintf "%s\\n" "$@" >"$OPENED.part"\n'
      .. 'mv "$OPENED.part" "$OPENED"\n')
   os.execute("chmod +x " .. bin .. "/xdg-open")
   local text, status, errors = command.run(("OPENED=%s/opened TMPDIR=%s PATH=%s:$PATH %s\n"
      .. "export OPENED TMPDIR PATH DISPLAY WAYLAND_DISPLAY\nprofio view %s"):format(bin, temporary,
      bin, environment, words))
   return text, status, errors, temporary
end

local function opened()
   command.run "wait_until 'test -e view-bin/opened'"
   return command.read(command.folder .. "/view-bin/opened")
end

local function count_of(folder)
   return tonumber((command.run("find " .. folder .. " -mindepth 1 | wc -l")))
end

local no_display, display = "DISPLAY= WAYLAND_DISPLAY=", "DISPLAY=:0 WAYLAND_DISPLAY="

describe("profio view", function()
   it("opens a page that only the user can read", function()
      local text, status, errors, folder = run("gmon.out", display)
      assert.same({ "", 0 }, { text, status })
      local path = opened():match "^([^\n]+)\n$"
      assert.matches("^" .. folder:gsub("%p", "%%%0") .. "/profio%-%w+/profio%.html$", path)
      assert.is_truthy(errors:find("the page is " .. path, 1, true))
      assert.equal("700\n", (command.run(("stat -c %%a '%s'"):format(path:match "^(.*)/"))))
      assert.equal(command.run "profio --export html gmon.out", command.read(path))
   end)

   it("prints the path without a display", function()
      local text, status, errors = run("gmon.out", no_display)
      assert.equal(0, status)
      assert.is_nil(errors:find "the page is")
      assert.matches("<html", command.read((text:gsub("\n", ""))))
      local _, missing = io.open(command.folder .. "/view-bin/opened")
      assert.is_string(missing)
   end)

   it("shows a difference", function()
      local text, status = run("--diff gmon.out gmon.out", no_display)
      assert.equal(0, status)
      assert.equal(command.run "profio --export html --diff gmon.out gmon.out",
         command.read((text:gsub("\n", ""))))
   end)

   it("leaves nothing when there is no page, and refuses what it does not use", function()
      for words, expected in pairs { ["missing.out"] = 1, ["--metric nothing gmon.out"] = 2,
         ["-o page.html gmon.out"] = 2, ["--top 3 gmon.out"] = 2 } do
         local text, status, _, folder = run(words, no_display)
         assert.same({ words, "", expected }, { words, text, status })
         assert.equal(0, count_of(folder))
      end
   end)

   it("says so when there is no folder for the page", function()
      local _, status, errors = command.run "TMPDIR=/nowhere profio view gmon.out"
      assert.equal(1, status)
      assert.matches("view: no temporary folder in /nowhere: No such file", errors)
   end)
end)
