-- Counts of profiles: samples, executions, calls.

local profio = require "profio"

-- A profile of BR's lines: { line, ns } of each sample, or { line } where it has no times.
local function br_profile(samples)
   local w = assert(profio.create(nil, { format = "br" }))
   for _, sample in ipairs(samples) do
      w:write { module = "A.BR", line = sample[1], kind = "main", spent = sample[2] }
   end
   local trace <close> = assert(profio.open({ data = assert(w:close()) }, { format = "br" }))
   return assert(trace:profile())
end

local function lines_of(profile, options)
   local list = {}
   for line, count, self in profile:lines(options):each("line", "count", "self") do
      list[line] = { count = count, self = self }
   end
   return list
end

describe("lines of a profile", function()
   it("have the number of their executions beside their times", function()
      assert.same({ [100] = { count = 3, self = 60 }, [200] = { count = 1, self = 5 } },
         lines_of(br_profile { { 100, 10 }, { 100, 20 }, { 200, 5 }, { 100, 30 } }))
   end)

   it("have the number of their samples", function()
      assert.same({ [100] = { count = 2, self = 2 }, [200] = { count = 1, self = 1 } },
         lines_of(br_profile { { 100 }, { 200 }, { 100 } }))
   end)

   it("of a difference have the change of both", function()
      local change = br_profile { { 100, 10 }, { 100, 20 }, { 200, 5 } } - br_profile { { 100, 7 } }
      assert.same({ [100] = { count = 1, self = 23 }, [200] = { count = 1, self = 5 } },
         lines_of(change))
   end)

   it("have counts of the metric that is nearest to the one shown", function()
      local counts = require "profio.internal.bodies.counts"
      local metrics = { { name = "alloc_objects", unit = "count" },
         { name = "alloc_space", unit = "bytes" }, { name = "inuse_objects", unit = "count" },
         { name = "inuse_space", unit = "bytes" } }
      assert.equal("inuse_objects", counts.of(metrics, "inuse_space"))
      assert.equal("alloc_objects", counts.of(metrics, "alloc_space"))
      assert.equal("alloc_objects", counts.of(metrics, "alloc_objects"))
      assert.is_nil(counts.of_samples({ { name = "time", unit = "ns" },
         { name = "calls", unit = "count" } }))
   end)
end)

describe("the significance of a difference", function()
   local function significance_of(new, old, metric)
      return new:diff(old, metric):rows("significance")[1].significance
   end

   it("is that of samples", function()
      local new, old = br_profile { { 1 }, { 1 }, { 1 }, { 1 } }, br_profile { { 1 } }
      assert.is_true(math.abs(significance_of(new, old) - 3 / 5 ^ 0.5) < 1e-12)
   end)

   it("is missing if there are times without samples", function()
      local new, old = br_profile { { 1, 900 }, { 1, 900 } }, br_profile { { 1, 10 } }
      assert.is_nil(significance_of(new, old))
      assert.equal(1790, new:diff(old):rows("change")[1].change)
   end)

   it("is missing if one side has no samples", function()
      local timed, sampled = br_profile { { 1, 900 } }, br_profile { { 1 } }
      assert.is_nil(significance_of(timed, sampled))
      assert.is_nil(significance_of(sampled, timed))
   end)
end)
