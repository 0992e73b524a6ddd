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
