-- profio.compare: what is refused in place of a result that would be wrong or missing.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local stored = require "spec.support.stored"

-- Returns a trace with the weights of stacks.
local function of(stacks)
   return assert(profio.open { data = stored.pprof(stacks) })
end

describe("comparison:check", function()
   it("takes names with < and > after verdicts, too", function()
      local exact = assert(profio.compare(of { ["main;v<int>"] = 100 },
         of { ["main;v<int>"] = 200 }, { exact = true }))
      for _, condition in ipairs { "slower of v<int>", "slower of ~<int>$",
         "self of v<int> > 5%" } do
         local results = exact:check { condition }
         assert.same({ 1, "v<int>", "failed" }, { #results, results[1].name, results[1].state })
      end
   end)

   it("refuses totals of rows that have none", function()
      local files = assert(profio.compare(of { ["main;f"] = 5 }, of { ["main;f"] = 6 },
         { by = "file" }))
      for _, wrong in ipairs { function() files:check { "total > 1%" } end,
         function() files:rows "total" end } do
         local ok, message = pcall(wrong)
         assert.is_false(ok)
         assert.matches("the rows by file have no total of [%a_]+, only self", message)
      end
      assert.equal(1, files:rows():count())
   end)
end)

describe("profio compare --fail", function()
   it("does not pass for a name that no row has", function()
      local path = command.file("gate.pb.gz", stored.pprof { ["main;heavy"] = 5 })
      for condition, wanted in pairs { ["self of nosuch > +5%"] = 4, ["slower of ~^x"] = 4,
         ["new of nosuch"] = 0, ["self of heavy > +900%"] = 0 } do
         for _, form in ipairs { "text", "junit", "json" } do
            local out, status, err = command.run(("profio compare %s --new %s --output %s "
               .. "--fail '%s'"):format(path, path, form, condition))
            assert.equal(wanted, status, condition .. form)
            assert.equal(wanted == 4, (out .. err):find "no row " ~= nil)
         end
      end
   end)
end)

describe("profio compare --run", function()
   local function file(name, weight)
      return command.file(name, stored.pprof { ["main;f"] = weight })
   end

   setup(function()
      local _, status, err = command.run(("rm -f run.db; for h in a b; do for v in 1 2; do profio "
         .. "store add run.db --label host=$h --label version=$v $h$v.pb.gz || exit; done; done"))
      assert.equal(0, status, err)
   end)

   file("a1.pb.gz", 1000)
   file("a2.pb.gz", 2000)
   file("b1.pb.gz", 4000)
   file("b2.pb.gz", 8000)

   local function means(options)
      local out, status, err = command.run("profio compare " .. options .. " --output csv "
         .. "--columns before,after --where function=f")
      return status == 0 and out:match "\n(.*)\n" or err, status
   end

   it("selects runs of both sides", function()
      assert.equal("2500,5000", means "version=1 run.db --new version=2")
      assert.equal("1000,2000", means "version=1 run.db --new version=2 --run host=a")
      assert.equal("8000,4000", means "version=2 run.db --new version=1 run.db --run host=b")
      assert.equal("4000,2000", means(
         "version=1 run.db --new version=2 --run host=a --diff-run host=b"))
   end)

   it("is named for a word that is no file, as it may be a version", function()
      for _, options in ipairs { "v1 run.db --new version=2", "version=1 run.db --new v1" } do
         local message, status = means(options)
         assert.equal(1, status)
         assert.matches("v1: No such file or directory; runs of a store are selected by a label, "
            .. "as in version=v1", message, 1, true)
      end
   end)

   it("is refused if a side is no store", function()
      local message, status = means "a1.pb.gz --new run.db --run host=a"
      assert.equal(2, status)
      assert.matches("picks runs of a store; these files are traces of format 'pprof'", message)
   end)
end)

describe("profio.compare", function()
   it("says that several functions have the name of option normalise", function()
      profio.register { name = "in-files", score = function() return 0 end,
         tables = { samples = { { "function", "name" }, { "file", "name" } } },
         profile = { table = "samples", ["function"] = "function", file = "file",
            metrics = { { name = "samples", unit = "count" } } },
         open = function()
            return { samples = function(put)
               put("f", "a.c")
               put("f", "b.c")
               put("gamma", "a.c")
            end }
         end }
      local trace = assert(profio.open({ data = "x" }, { format = "in-files" }))
      for name, words in pairs { f = "normalise: more than one function is called 'f'",
         gama = "normalise: no function is called 'gama'; did you mean 'gamma'?" } do
         local ok, message = pcall(profio.compare, trace, trace, { normalise = name })
         assert.is_false(ok)
         assert.equal("compare: " .. words, message:match "compare: .*")
      end
      assert(profio.compare(trace, trace, { normalise = "gamma" }))
   end)

   it("refuses a level that is no probability between 0 and 1", function()
      local trace = of { ["main;f"] = 5 }
      for _, alpha in ipairs { -1, 0, 1, 5, 0 / 0, math.huge } do
         local ok, message = pcall(profio.compare, trace, trace, { alpha = alpha })
         assert.is_false(ok)
         assert.matches("option 'alpha' must be above 0 and below 1, got ", message, 1, true)
      end
      assert(profio.compare(trace, trace, { alpha = 0.999 }))
   end)
end)

describe("comparison:rows", function()
   it("does not export over a file that was compared", function()
      local path = command.file("compared.pb", stored.pprof { ["main;f"] = 5 })
      local trace <close> = assert(profio.open(path))
      local one = assert(profio.compare(trace, trace:profile()))
      assert.equal(path, one:inputs()[1])
      for _, rows in ipairs { one:rows(), one:rows "whole" } do
         assert.is_false((pcall(rows.export, rows, "csv", path)))
         assert.equal(stored.pprof { ["main;f"] = 5 }, command.read(path))
      end
   end)
end)
