-- Contexts as bytes for another process: they come back as they were, and damaged bytes raise.
--
-- Tags: stressed.

local cells = require "spec.support.cells"
local core = require "profio.core"

local function unpacked(bytes)
   return core.unpack_contexts(bytes, core.dictionary())
end

-- Returns contexts with two metrics, and with files and lines.
local function sample()
   local contexts = cells.contexts({ { "main;f;g", 5, 0 }, { "main;f", -7, 2 },
      { "other", math.maxinteger, 0 }, { "main", math.mininteger, 3 }, { "", 9, 9 } },
      { { name = "time", unit = "ns" }, { name = "samples", unit = "count" } })
   for _, frame in ipairs(contexts:frames()) do
      if frame["function"] == "g" then
         contexts = assert(contexts:rename { [frame.number] = { ["function"] = "\0\xff",
            file = "", line = -1 } })
      elseif frame["function"] == "other" then
         contexts = assert(contexts:rename { [frame.number] = {
            ["function"] = ("x"):rep(70000), file = "a.c", line = math.maxinteger } })
      end
   end
   return contexts
end

describe("packed contexts", function()
   it("come back as they were", function()
      for _, contexts in ipairs { sample(), cells.contexts {}, cells.contexts { { "a", 1 } } } do
         local bytes = contexts:pack()
         local back = unpacked(bytes)
         assert.same(contexts:metrics(), back:metrics())
         assert.same({ contexts:count() }, { back:count() })
         assert.same({ contexts:usual() }, { back:usual() })
         assert.is_true(table.concat(cells.lines(contexts)) == table.concat(cells.lines(back)))
         assert.is_true(bytes == back:pack())
      end
   end)

   it("share the names of a dictionary", function()
      local dictionary, bytes = core.dictionary(), sample():pack()
      local first = core.unpack_contexts(bytes, dictionary)
      local second = core.unpack_contexts(cells.contexts({ { "main;f", 1, 1 } }, {
         { name = "time", unit = "ns" }, { name = "samples", unit = "count" } }):pack(), dictionary)
      assert.is_true(bytes == first:pack())
      assert.equal(2, second:count())
   end)

   it("raise if they are damaged, or are contexts still", function()
      local bytes = cells.contexts({ { "main;f;g", 5 }, { "main;f", -700 } }):pack()
      for size = 0, #bytes - 1 do
         assert.has_error(function() unpacked(bytes:sub(1, size)) end)
      end
      assert.has_error(function() unpacked(bytes .. "\0") end)
      math.randomseed(70)
      for _ = 1, 3000 do
         local at = math.random(#bytes)
         local damaged = bytes:sub(1, at - 1) .. string.char(math.random(0, 255))
            .. bytes:sub(at + 1)
         local done, contexts = pcall(unpacked, damaged)
         if done then
            assert.is_table(contexts:metrics())
            assert.is_string(contexts:pack())
         else
            assert.matches("packed contexts: ", contexts)
         end
      end
   end)
end)
