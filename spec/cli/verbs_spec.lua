-- The verbs of the command: each is a short form of options that also exist without it.
--
-- Tags: user.
-- Long: many commands or rows, or programs that are compiled.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"
local declarations = require "profio.cli.declarations"
local verbs = require "profio.cli.verbs"

local fine = command.fine

describe("a verb", function()
   it("takes the name of an export, also where a folder is called so", function()
      assert.equal(fine "profio export csv gmon.out",
         fine "mkdir -p named/csv && cd named && profio export csv ../gmon.out")
   end)

   it("gives what its options give without it", function()
      for words, flat in pairs {
         ["report gmon.out"] = "gmon.out",
         ["report flat --top 2 gmon.out"] = "--report flat --top 2 gmon.out",
         ["report --report graph gmon.out"] = "--report graph gmon.out",
         ["report --list-reports gmon.out"] = "--list-reports gmon.out",
         ["info gmon.out"] = "--info gmon.out",
         ["check gmon.out"] = "--check gmon.out",
         ["merge gmon.out gmon.out"] = "--merge gmon.out gmon.out",
         ["export csv gmon.out"] = "--export csv gmon.out",
         ["export folded gmon.out"] = "--export folded gmon.out",
         ["tables --table arcs --output csv gmon.out"] = "--table arcs --output csv gmon.out",
         ["tables gmon.out"] = "--report tables gmon.out",
      } do
         assert.equal(fine("profio " .. flat), fine("profio " .. words), words)
      end
   end)

   it("is not a verb if a file has this name", function()
      local word = "merge"
      fine "cp gmon.out merge"
      local text = fine("profio --info " .. word)
      local of_word, first, first_of_word = fine("profio info " .. word), fine "profio gmon.out",
         fine("profio " .. word)
      os.remove(command.folder .. "/" .. word)
      assert.equal(text, of_word)
      assert.equal(first, first_of_word)
   end)

   it("is only the first word", function()
      local _, status, errors = command.run "profio --top 3 report gmon.out"
      assert.equal(1, status)
      assert.matches("report: No such file", errors)
   end)

   it("is named if the first word is none, and no file", function()
      for words, hint in pairs {
         ["diff gmon.out gmon.out"] = "; did you mean %-%-diff FILE%?",
         ["statistics --top 3 gmon.out"] = "; did you mean profio report statistics%?",
         ["pprof gmon.out"] = "; did you mean profio export pprof%?",
         ["focus gmon.out"] = "; did you mean %-%-focus P%?",
         ["infos gmon.out"] = "; did you mean profio info%?",
         ["wxyz gmon.out"] = "; the verbs are: report, view, compare, ",
      } do
         local text, status, errors = command.run("profio " .. words)
         assert.same({ "", 2 }, { text, status }, words)
         assert.matches("no verb '" .. words:match "%a+" .. "', and no file of this name" .. hint,
            errors)
      end
   end)

   it("report and export name a report or kind that is none, and no file", function()
      for words, said in pairs {
         ["report hotspot gmon.out"] = "report: no report 'hotspot', and no file of this name; "
            .. "did you mean 'hotspots'%?",
         ["report wxyz gmon.out"] = "report: no report 'wxyz', and no file of this name; there "
            .. "are: flat, ",
         ["export speedscop -o x.json gmon.out"] = "export: no kind 'speedscop', and no file of "
            .. "this name; did you mean 'speedscope'%?",
      } do
         local text, status, errors = command.run("profio " .. words)
         assert.same({ "", 2 }, { text, status }, words)
         assert.matches(said, errors)
      end
      local _, status, errors = command.run "profio report hotspot"
      assert.equal(1, status)
      assert.matches("hotspot: No such file", errors)
   end)

   it("may be missing before a path", function()
      for _, words in ipairs { "./diff gmon.out", "diff.out gmon.out", "diff", "-- diff gmon.out",
         "diff -- gmon.out" }
      do
         local _, status, errors = command.run("profio " .. words)
         assert.same({ 1, false }, { status, errors:find "no verb" ~= nil }, words)
      end
   end)

   it("has only its own options", function()
      local _, status, errors = command.run "profio merge --top 3 gmon.out"
      assert.equal(2, status)
      assert.matches("profio merge has no option %-%-top; profio without a verb has it, and: rep",
         errors)
      assert.matches("%(profio merge %-%-help lists the options%)", errors)
      _, status, errors = command.run "profio check --formt gmon gmon.out"
      assert.equal(2, status)
      assert.matches("unknown option '%-%-formt'; did you mean '%-%-format'", errors)
   end)

   it("has the exit status of the form without it", function()
      local _, status = command.run "profio check cut.gmon"
      assert.equal(3, status)
      _, status = command.run "profio info missing.out"
      assert.equal(1, status)
   end)

   it("reads the default file", function()
      assert.equal(fine "profio", fine "profio report")
   end)
end)

describe("--help of a verb", function()
   for _, verb in ipairs(verbs.every()) do
      local title = verbs.title(verb)

      it(title .. " is one screen with two examples", function()
         local text = fine(("profio %s --help"):format(title))
         local _, lines = text:gsub("\n", "\n")
         assert.is_true(lines <= 40, lines .. " lines")
         for line in text:gmatch "[^\n]+" do
            assert.is_true(utf8.len(line) <= 80, line)
         end
         for _, example in ipairs(verb.examples) do
            assert.is_truthy(text:find("\n   " .. example[1] .. "\n", 1, true), example[1])
         end
      end)

      it(title .. " shows and accepts declared options only", function()
         local own = {}
         for _, option in ipairs(verbs.options(verb)) do
            assert.is_nil(own[option[1]], option[1] .. " is there twice")
            own[option[1]] = true
            assert.matches("%S", option[3])
         end
         assert.is_true(own["--help"])
         for _, name in ipairs(verb.more or {}) do
            assert.is_truthy(declarations.find(name))
         end
         for word in fine(("profio %s --help"):format(title)):gmatch "%-%-[%l-]+" do
            assert.is_truthy(own[word] or declarations.find(word), word)
         end
      end)
   end

   it("is mentioned by the command's own", function()
      local text = fine "profio --help"
      for _, verb in ipairs(verbs.all()) do
         assert.matches("Verbs, .*" .. verb.name .. ".*Exit status", text)
      end
   end)
end)

it("some verb accepts each option, except those that are verbs or need none", function()
   local none = { ["--info"] = true, ["--check"] = true, ["--merge"] = true, ["--version"] = true,
      ["--list-formats"] = true, ["--script"] = true, ["--new-script"] = true }
   declarations.each(function(option)
      local is_accepted = none[option[1]]
      for _, verb in ipairs(verbs.all()) do
         is_accepted = is_accepted or verbs.accepts(verb, option[1])
      end
      assert.is_true(is_accepted, option[1])
   end)
end)

describe("profio export", function()
   it("finds the kind by the extension of -o", function()
      fine "profio export -o kind.svg --symbols small.nm gmon.out"
      assert.matches("<svg", command.read(command.folder .. "/kind.svg"))
      fine "profio export --symbols small.nm -o kind.folded gmon.out"
      assert.equal(fine "profio --export folded --symbols small.nm gmon.out",
         command.read(command.folder .. "/kind.folded"))
   end)

   it("lists the kinds if none is given, and refuses two", function()
      assert.equal(fine "profio export csv gmon.out", fine "profio export --to csv gmon.out")
      local _, status, errors = command.run "profio export gmon.out"
      assert.equal(2, status)
      assert.matches("the kind is missing.*there are: csv", errors)
      _, status, errors = command.run "profio export csv --export tsv gmon.out"
      assert.equal(2, status)
      assert.matches("two kinds, csv and %-%-export tsv", errors)
   end)
end)

describe("profio report", function()
   it("refuses two reports", function()
      local _, status, errors = command.run "profio report flat --report graph gmon.out"
      assert.equal(2, status)
      assert.matches("two reports, flat and %-%-report graph", errors)
   end)
end)

describe("profio tables", function()
   it("lists tables and columns", function()
      local text = fine "profio tables gmon.out"
      assert.matches("^histogram %(192 rows%)\n", text)
      assert.matches("\n   count +int +samples\n", text)
      assert.matches("\narcs,from,addr,[^\n]+\n", fine "profio tables --output csv gmon.out")
   end)
end)
