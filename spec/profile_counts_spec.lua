-- Counts of profiles: samples, executions, calls.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local gmon = require "spec.support.gmon_builder"
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

describe("calls that exceed 64 bits", function()
   -- main calls leaf, leaf calls itself; each arc is a caller, a callee and its calls.
   local function trace_of(arcs)
      local bytes = gmon("<", 8):header():bytes()
      for _, arc in ipairs(arcs) do
         bytes = bytes .. ("<Bi8i8i8"):pack(1, table.unpack(arc))
      end
      return assert(profio.open({ data = bytes }, { format = "gmon", counter_bits = 64,
         symbols = command.folder .. "/small.nm" }))
   end

   local large <const> = 1 << 62

   it("are the largest number, with a warning", function()
      local cases = {
         { { 0x1010, 0x1204, large }, { 0x1110, 0x1204, large }, calls = math.maxinteger, own = 0 },
         { { 0x1010, 0x1204, large }, { 0x1210, 0x1204, large }, { 0x1220, 0x1204, large },
            calls = large, own = math.maxinteger },
         { { 0x1010, 0x1204, 5 }, { 0x1210, 0x1204, large }, calls = 5, own = large, fits = true },
         { { 0x1010, 0x1204, large + 1 }, { 0x1210, 0x1204, large }, calls = large + 1, own = large,
            fits = true },
      }
      for _, case in ipairs(cases) do
         local trace <close> = trace_of(case)
         local calls, own
         for name, a, b in assert(trace:profile()):flat():each("function", "calls",
            "recursive_calls") do
            if name == "leaf" then
               calls, own = a, b
            end
         end
         assert.same({ case.calls, case.own }, { calls, own })
         local codes = {}
         for i, warning in ipairs(trace.warnings) do
            codes[i] = warning.code
         end
         assert.same({ not case.fits and "profile-overflow" or nil }, codes)
      end
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
