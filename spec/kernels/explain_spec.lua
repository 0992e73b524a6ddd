-- core.explain against a slow model, and trace:explain on timelines with a planted reason.
--
-- Long: many commands or rows, or programs that are compiled.

local core = require "profio.core"
local events = require "spec.support.call_events"
local planted = require "spec.support.planted"
local preempted = require "spec.support.preempted"
local rounds = require "spec.support.rounds"
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
local function groups_of(trace, area, percent)
   local made, counts, paths = {}, {}, {}
   for _, row in ipairs(core.rows(core.explain(trace.events:reader(), { area = area,
      quantile = "p" .. percent }, trace.events:reader())))
   do
      local group = row.group
      if row.node and row.net then
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
      for seed = 1, rounds(250) do
         local list = events.random(generator(seed), true)
         local expected = { slow_groups.of(list, "b", seed % 10 * 10) }
         local trace <close> = events.open(list)
         assert.same(expected, { groups_of(trace, "b", seed % 10 * 10) }, "seed " .. seed)
      end
   end)

   it("gives the sums of a slow model for timelines with many calls", function()
      for seed = 1, rounds(15) do
         local list = planted.timeline(generator(seed))
         for _, area in ipairs { "A", "B", "C", "Idle" } do
            local trace <close> = events.open(list, "calls of names")
            local expected = { slow_groups.of(of_areas(list), area, 90) }
            assert.same(expected, { groups_of(trace, area, 90) }, area .. seed)
         end
      end
   end)
end)

describe("core.explain", function()
   local fields = { { "time", "int" }, { "event", "name" }, { "area", "name" } }

   it("fails again when it is read again after a failure", function()
      local dictionary = core.dictionary()
      local function reader(stops)
         return core.decoder(fields, function(put)
            put(0, "enter", "f")
            put(10, "leave", "f")
            if stops then
               error "the events end here"
            end
         end, dictionary, "events")
      end
      for _, stops in ipairs { 1, 2 } do
         local rows = core.explain(reader(stops == 1), { area = "f", quantile = "p50" },
            reader(stops == 2))
         assert.error_matches(function() core.rows(rows) end, "the events end here")
         assert.is_false((pcall(core.rows, rows)))
      end
   end)

   it("counts the slow calls by nearest rank", function()
      local list, dictionary = {}, core.dictionary()
      for i = 1, 10000 do
         list[2 * i - 1], list[2 * i] = { i * 20000, "enter", "f" }, { i * 20001, "leave", "f" }
      end
      for quantile, slow in pairs { p99 = 100, ["p99.9"] = 10, ["p99.91"] = 9, p70 = 3000 } do
         local rows = core.rows(core.explain(core.rows_reader(fields, list, dictionary),
            { area = "f", quantile = quantile }, core.rows_reader(fields, list, dictionary)))
         for _, row in ipairs(rows) do
            if row.group == "slow" then
               assert.same({ quantile, slow }, { quantile, row.count })
            end
         end
      end
   end)

   it("has no slowest call if the first reader has none", function()
      local dictionary = core.dictionary()
      local rows = core.rows(core.explain(core.rows_reader(fields, {}, dictionary), { area = "f",
         quantile = "p50" }, core.rows_reader(fields, { { 0, "enter", "f" }, { 9, "leave", "f" } },
         dictionary)))
      assert.same({ { group = "all", count = 0 }, { group = "partial", count = 0 } }, rows)
   end)
end)

-- Returns the time for which each lane ran while calls of a group were suspended.
local function waits_of(trace, lane)
   local made = {}
   for _, row in ipairs(core.rows(core.explain(trace.events:reader(), { area = "A",
      quantile = "p95", lanes = { lane } }, trace.events:reader())))
   do
      if row.runner then
         local waits = made[row.group] or {}
         made[row.group] = waits
         waits[row.runner] = (waits[row.runner] or 0) + row.elapsed
         assert(row.area == "handler of " .. row.runner:match "%a+", row.area)
      end
   end
   return made
end

-- Returns the same from what really ran.
local function true_waits(calls)
   local made = {}
   for i, call in ipairs(calls) do
      call.time, call.lane, call.at = call.stop - call.start, "", i
   end
   for group, list in pairs(slow_groups.chosen(calls, 95)) do
      for _, call in ipairs(list) do
         for lane, time in pairs(call.waits) do
            made[group] = made[group] or {}
            made[group][lane] = (made[group][lane] or 0) + time
         end
      end
   end
   return made
end

-- Returns what ran on a core from one time to another, without functions: { lane, time } by turns.
local function true_path(ran, from, to)
   local list, last = {}, nil
   for _, piece in ipairs(ran) do
      local time = math.min(piece.to, to) - math.max(piece.from, from)
      local lane = piece.lane or "-"
      if time > 0 and last and last[1] == lane then
         last[2] = last[2] + time
      elseif time > 0 then
         last = { lane, time }
         list[#list + 1] = last
      end
   end
   return list
end

describe("core.explain on cores", function()
   it("gives the times for which others ran, as the maker of the timeline knows them", function()
      for seed = 1, rounds(50) do
         local list, cores = preempted.timeline(generator(seed))
         local trace <close> = events.open(list, "calls on cores")
         for _, on in ipairs(cores) do
            assert.same(true_waits(on.calls), waits_of(trace, "Worker" .. on.number), seed)
         end
      end
   end)
end)

describe("trace:explain on cores", function()
   it("ranks the task first that preempts the slow calls, and follows it", function()
      local right, all = 0, 0
      for seed = 1, rounds(100) do
         local list, cores = preempted.timeline(generator(seed))
         local trace <close> = events.open(list, "calls on cores")
         for _, on in ipairs(cores) do
            local made = assert(trace:explain("A", { quantile = "p95",
               lane = "Worker" .. on.number }))
            assert.equal(made.gap, sum_of(made.parts))
            all = all + 1
            right = right + (made.parts[1].runner == on.reason and 1 or 0)
            local path = {}
            for i, step in ipairs(made.path) do
               path[i] = { step.lane or "-", step.elapsed }
            end
            assert.same(true_path(on.ran, made.worst.start, made.worst.start + made.worst.elapsed),
               path, seed)
         end
      end
      assert.equal(2 * rounds(100), all)
      assert.is_true(right >= 0.95 * all, right)
   end)
end)

describe("trace:explain", function()
   it("ranks the planted reason first, and its parts sum to the gap", function()
      local right, wrong = 0, {}
      for seed = 1, rounds(1000) do
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
      assert.is_true(right >= 0.95 * rounds(1000), table.concat(wrong, "\n"))
   end)

   it("splits the gap of random events exactly", function()
      local explained = 0
      for seed = 1, rounds(1000) do
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
      assert.is_true(explained > rounds(1000) / 10, explained)
   end)
end)
