-- profio help: pages, their text, and what mentions a word.
--
-- Tags: user.
-- Long: many commands or rows, or programs that are compiled.
-- Unsanitized: texts, options and files of Lua alone.

local command = require "spec.support.command"
local index = require "profio.cli.help.index"
local markdown = require "profio.cli.help.markdown"
local pages = require "profio.cli.help.pages"

local function fine(line)
   local text, status, errors = command.run(line)
   assert.same({ 0, "" }, { status, errors }, line)
   return text
end

describe("markdown.text", function()
   it("fits paragraphs, lists and code to the width", function()
      assert.equal([[
Title
=====

A **bold** word is
fitted: all of this.

- an item that goes
  on
1. first

   code   stays
]], (markdown.text("# Title\n\nA \\*\\*bold\\*\\* word is **fitted**: `all of` this.\n\n"
         .. "- an item\n  that goes on\n1. first\n\n\n```sh\ncode   stays\n```\n", 20, false)))
   end)

   it("aligns tables and wraps their widest column", function()
      assert.equal([[
name       meaning
self       what a function
           itself took
total | x  all of it
]], markdown.text("| name | meaning |\n|---|---|\n| `self` | what a function itself took |\n"
         .. "| total \\| x | all of it |\n", 26, false))
      assert.equal("a  b\n", markdown.text("| | |\n|---|---|\n| a | b |", 30, false))
   end)

   it("marks headings, bold text and code on a terminal, never over a line end", function()
      local text = markdown.text("## One two\n\n**a b** `c`", 40, true)
      assert.equal("\27[1mOne\27[0m \27[1mtwo\27[0m\n\n\27[1ma\27[0m \27[1mb\27[0m "
         .. "\27[36mc\27[0m\n", text)
      assert.equal("One two\n\na b c\n", markdown.text("## One two\n\n**a b** `c`", 40, false))
   end)

   it("names the pages and addresses of links, and drops comments", function()
      assert.equal("see calls (profio help calls), x (https://x.org) and https://y.org\n",
         markdown.text("<!-- begin: x -->\nsee [calls](calls.md), [x](https://x.org) and "
            .. "<https://y.org>\n<!-- end -->\n", 90, false))
   end)

   it("measures characters, not bytes", function()
      assert.equal("\u{e4}\u{e4} \u{f6}\u{f6}\n", markdown.text("\u{e4}\u{e4}   \u{f6}\u{f6}", 20,
         false))
   end)
end)

describe("profio help", function()
   it("lists the pages and the verbs", function()
      local text = fine "profio help"
      for _, name in ipairs(pages.names()) do
         assert.is_truthy(text:find("\n" .. name:gsub("^format%-", "") .. " ", 1, true), name)
      end
      assert.matches("\nprofio merge +write several files", text)
   end)

   it("prints each page as plain text of at most 100 columns", function()
      for _, name in ipairs(pages.names()) do
         local text = fine("profio help " .. name)
         assert.is_nil(text:find("[\1-\9\27]"), name)
         assert.is_truthy(text:find(pages.title(pages.read(name)), 1, true), name)
      end
   end)

   it("prints a section of a page, with those below it", function()
      local text = fine "profio help lua-api view"
      assert.matches("^view\n\nThe rows of a table.*\nview:reader%(%)\n", text)
      assert.is_nil(text:find("profile:flat", 1, true))
      assert.matches("^Which rows\n.*%-%-where COND", fine "profio help options which rows")
      assert.equal(fine "profio help options export-html", fine "profio help options html")
      assert.matches("^view:each%(...%)\n", fine "profio help lua-api each")
      assert.matches("^Warnings\n", fine "profio help winidea warnings")
   end)

   it("lists the sections if there is none of this name", function()
      local text, status, errors = command.run "profio help lua-api veiw"
      assert.same({ "", 2 }, { text, status })
      assert.matches("page 'lua%-api' has no section 'veiw'; there are: who%-owns%-what, .*, view, "
         .. ".*; did you mean 'view'%?", errors)
   end)

   it("has the cookbook first, and finds sections outside of code only", function()
      assert.matches("\nTopics\n\ncookbook ", fine "profio help")
      assert.same({ "a-title", "b" }, pages.section_names("# x\n## A title (y)\n```\n## c\n```\n"
         .. "### `f(x)`\n## B\n"))
   end)

   it("prints the help of a verb that has no page", function()
      assert.equal(fine "profio tables --help", fine "profio help tables")
   end)

   it("finds what mentions a word, names first", function()
      local text = fine "profio help gross_max"
      assert.matches("\nColumns\n\n+gross_max +winidea, table statistics: [^\n]+\n"
         .. "gross_max +report statistics: ", text)
      assert.matches("%-%-set swap_suspend_resume=bool +format win",
         fine "profio help swap_suspend_resume")
      assert.matches("winidea%-no%-mapping +format winidea", fine "profio help winidea-no-mapping")
      assert.matches("\n%-%-top N +only the first N rows", fine "profio help top")
      assert.matches("\n%-%-export speedscope ", fine "profio help speedscope")
      assert.matches("\nVerbs\n\nprofio tables +the tables", fine "profio help columns")
   end)

   it("finds the page of a topic by its other names, before pages that mention it", function()
      for word, page in pairs { difference = "compare", regression = "compare",
         baseline = "compare", flamegraph = "exports", ["flame graph"] = "exports",
         slow = "explain", cluster = "machines", llm = "assistants" }
      do
         assert.equal(page, fine("profio help " .. word):match "\nPages\n\nprofio help (%S+)")
      end
      assert.is_nil(fine("profio help compare"):find "baseline")
   end)

   it("shows entries of the cookbook with their commands first, without their output", function()
      local text = fine "profio help dbseek"
      assert.matches("^What mentions 'dbseek'\n=+\n\nCookbook\n\n%d+%. I want to know which "
         .. "DBSEEK were slow, [^$]*\n\n   %$ profio explain DBSEEK TEST.PRF\n\nPages\n", text)
      local unused = fine "profio help never called"
      assert.matches("%$ profio report %-%-unused program gmon.out\n\nReports\n\n"
         .. "%-%-report unused ", unused)
      assert.is_nil(unused:find("function  file  line", 1, true))
   end)

   it("answers questions of users with a command of the cookbook", function()
      for question, answer in pairs {
         ["worst response time"] = "report tasks ",
         ["load of each core"] = "report load --set by=core ",
         preempted = "explain Task_10ms ", jitter = "report tasks --columns task,period_min,",
         ["end of task"] = "--chain 'Task_10ms leave -> Task_Out enter <= 5ms' ",
         utilization = "report load --set by=core ", callers = "report bottom-up ",
         ["hot lines"] = "report hotlines ",
         german = "report hotspots --output csv --set spreadsheet=comma ",
         disassembly = "report dcpilist ", ["no samples"] = "report flat ",
         threads = "report flat ",
         ["call graph"] = "export dot ", ["two versions"] = "compare ", odd = "store top ",
         ["which version"] = "store changes ", ["30 days"] = "store ls --run 'time>-30d' ",
         ["older than 90 days"] = "store drop --keep ", gate = "store changes --by build --since ",
         confidential = "anonymise ", ["cpu usage"] = "report load --set by=core ",
         overrun = "report tasks ", combine = "merge -o ", ["call tree"] = "report tree ",
      } do
         local shown = fine("profio help " .. question):match "\nCookbook\n(.*)" or ""
         assert.is_truthy(shown:find("\n   $ profio " .. answer, 1, true), question)
      end
   end)

   it("finds all words of a question, where nothing has it as it is written", function()
      local text = fine "profio help load of each core"
      assert.matches("^What mentions 'load' and 'core'\n.*\nReports\n\n%-%-report load ", text)
      assert.matches("\nPages\n.*\n%-%-set by=lane|core ", text)
      assert.matches("Cookbook\n\n%d+%. I want the hottest lines ", fine "profio help hot lines")
      for _, words in ipairs { "who are which", "load of winidae" } do
         local said, status, errors = command.run("profio help " .. words)
         assert.same({ "", 2 }, { said, status })
         assert.matches("nothing mentions '" .. words .. "'", errors)
      end
   end)

   it("finds words of at most three characters at the begin of words only", function()
      local count, is_topic = pages.mentions("a decimal, CI cities\n<!-- also: CSV, two -->", "ci")
      assert.same({ 2, false }, { count, is_topic })
      assert.is_true(select(2, pages.mentions("<!-- also: CSV, two -->", "csv")))
      assert.equal(1, (pages.mentions("a decimal", "cima")))
      assert.is_nil(fine("profio help ci"):find("decimal", 1, true))
   end)

   it("says that nothing mentions a word, and suggests pages", function()
      local text, status, errors = command.run "profio help winidae"
      assert.same({ "", 2 }, { text, status })
      assert.matches("nothing mentions 'winidae'; did you mean 'winidea'%?", errors)
   end)

   it("finds names of every kind", function()
      local kinds = {}
      for i, entry in ipairs(index.entries()) do
         kinds[entry.kind] = (kinds[entry.kind] or 0) + 1
         assert.matches("%S", entry.form)
         assert.matches("%S", entry.help, entry.form)
         local first = i % 40 == 1 and index.mentioning({ entry.name })[1] or entry
         assert.equal((entry.name:lower():gsub("^%-+", "")), (first.name:lower():gsub("^%-+", "")))
      end
      for _, kind in ipairs { "option", "setting", "column", "warning", "report", "export", "verb",
         "format" } do
         assert.is_true((kinds[kind] or 0) > 5, kind)
      end
   end)
end)

describe("the pager", function()
   if os.execute "command -v script >/dev/null" ~= true then
      return pending "there is no script(1)"
   end

   -- Returns what a terminal gets from a command with these variables.
   local function on_terminal(variables, words)
      command.file("tty.sh", ("%s %s %s\n"):format(variables, command.analyze, words))
      local text = command.run "TERM=xterm script -qec 'sh tty.sh' /dev/null </dev/null"
      return (text:gsub("\r", ""))
   end

   it("is the one of $PAGER, with LESS as git sets it", function()
      command.file("pager", "#!/bin/sh\necho $LESS $1\nsed s/^/-/\n")
      command.run "chmod +x pager"
      assert.matches("^FRX a\n%-", on_terminal("PAGER='./pager a'", "help"))
      assert.matches("^M a\n", on_terminal("LESS=M PAGER='./pager a'", "help"))
   end)

   it("is none if $PAGER is cat or empty, and where it cannot run", function()
      for _, pager in ipairs { "cat", "", "/no/such/pager" } do
         assert.matches("\27%[1mprofio\27%[0m", on_terminal(("PAGER='%s'"):format(pager), "help"))
      end
   end)

   it("gets no escape sequences with NO_COLOR", function()
      assert.is_nil(on_terminal("NO_COLOR=1 PAGER=cat", "help"):find("\27", 1, true))
   end)

   it("gets reports too, but not scripts", function()
      local text = on_terminal("PAGER='sed s/^/-/'", "--report flat gmon.out")
      assert.matches("^%-Flat profile:\n", text)
      command.file("one.lua", "print(1)")
      assert.matches("^1\n", on_terminal("PAGER='sed s/^/-/'", "--script one.lua gmon.out"))
   end)

   it("gets columns that fit, and all of them with --wide", function()
      local words = "--table histogram --top 1 gmon.out"
      local text = on_terminal("COLUMNS=30 PAGER=cat", words)
      assert.matches("profio: columns that did not fit into 30 characters: .*spent.*%-%-wide", text)
      assert.is_nil(text:match "^[^\n]*spent")
      assert.matches("^[^\n]*spent", on_terminal("COLUMNS=30 PAGER=cat", "--wide " .. words))
   end)

   it("may end early", function()
      local text = on_terminal("PAGER='head -n 1'", "help; echo status $?")
      assert.matches("status 0\n$", text)
   end)
end)
