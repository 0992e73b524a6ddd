-- core.explain against a slow model, and trace:explain on timelines with a planted reason.

local core = require "profio.core"
local events = require "spec.support.call_events"
local planted = require "spec.support.planted"
local slow_groups = require "spec.support.slow_groups"

-- A generator of its own, so that a seed always gives the same timeline.
local function generator(seed)
   local state = seed * 7919 + 17
   return function(low, high)
      if not high then
         low, high = 1, low
      end
      state = (state * 6364136223846793005 + 1442695040888963407) & math.maxinteger
      return low + (state >> 24) % (high - low + 1)
   end
end

-- Returns the groups of the kernel in the form of the model.
local function groups_of(trace, area, quantile)
   local made, counts, paths = {}, {}, {}
   for _, row in ipairs(core.rows(core.explain(trace.events:reader(), { area = area,
      quantile = quantile }, trace.events:reader())))
   do
      local group = row.group
      if row.node then
         made[group] = made[group] or { sums = {}, before = {} }
         paths[row.node] = row.parent and paths[row.parent] .. ";" .. row.area or area
         made[group].sums[paths[row.node]] = { count = row.count, net = row.net,
            elapsed = row.elapsed }
      elseif row.net then
         made[group].before[row.area or "-"] = { count = row.count, net = row.net }
      else
         counts[group] = row.count
      end
   end
   return made, counts.all, counts.partial
end

local function sum_of(parts)
   local sum = 0
   for _, part in ipairs(parts) do
      sum = sum + part.time
   end
   return sum
end

-- Returns events of names as events of functions, which the model expects.
local function of_areas(list)
   local made = {}
   for i, event in ipairs(list) do
      made[i] = { time = event.time, event = event.event, lane = event.lane,
         area = { name = event.area } }
   end
   return made
end

describe("core.explain", function()
   it("gives the sums of a slow model for random events", function()
      for seed = 1, 500 do
         local list = events.random(generator(seed), true)
         local expected = { slow_groups.of(list, "b", seed % 10 / 10) }
         local trace <close> = events.open(list)
         assert.same(expected, { groups_of(trace, "b", seed % 10 / 10) }, "seed " .. seed)
      end
   end)

   it("gives the sums of a slow model for timelines with many calls", function()
      for seed = 1, 30 do
         local list = planted.timeline(generator(seed))
         for _, area in ipairs { "A", "B", "C", "Idle" } do
            local trace <close> = events.open(list, "calls of names")
            local expected = { slow_groups.of(of_areas(list), area, 0.9) }
            assert.same(expected, { groups_of(trace, area, 0.9) }, area .. seed)
         end
      end
   end)
end)

describe("trace:explain", function()
   it("ranks the planted reason first, and its parts sum to the gap", function()
      local right, wrong = 0, {}
      for seed = 1, 1000 do
         local list, reason = planted.timeline(generator(seed))
         local trace <close> = events.open(list, "calls of names")
         local made = assert(trace:explain("A", { quantile = "p95" }))
         assert.equal(made.gap, sum_of(made.parts))
         assert.equal(made.gap, made.slow.elapsed - made.typical.elapsed)
         local first = made.parts[1]
         if first.kind == reason.kind and first.area == reason.area then
            right = right + 1
         else
            wrong[#wrong + 1] = ("%d: %s %s"):format(seed, reason.kind, first.sentence)
         end
      end
      assert.is_true(right >= 950, table.concat(wrong, "\n"))
   end)

   it("splits the gap of random events exactly", function()
      local explained = 0
      for seed = 1, 1000 do
         local list = events.random(generator(seed), true)
         local trace <close> = events.open(list)
         for _, area in ipairs { "a", "b", "c", "d" } do
            local made, message = trace:explain(area, { quantile = "p50" })
            if made then
               explained = explained + 1
               assert.equal(made.gap, sum_of(made.parts), seed)
               for _, part in ipairs(made.parts) do
                  assert.is_true(not part.of or sum_of(part.of) == part.time, seed)
               end
            else
               assert.matches("call", message)
            end
         end
      end
      assert.is_true(explained > 100, explained)
   end)
end)
