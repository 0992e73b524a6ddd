-- Inclusive time and cycles, compared with a slow model that uses neither orders nor stacks.

local core = require "profio.core"
local profiles = require "spec.support.profiles"
local rounds = require "spec.support.rounds"

local make = profiles.of_calls

local function totals(profile, options)
   local result = {}
   for name, row in pairs(profiles.flat(profile, options)) do
      result[name] = row.total
   end
   return result
end

describe("inclusive time", function()
   it("is divided among callers in proportion to their calls", function()
      local profile = make({ 0, 10, 100 }, { { 1, 3, 1 }, { 2, 3, 3 }, { 1, 2, 1 } })
      assert.same({ f2 = 85, f3 = 100 }, totals(profile))
      assert.same({ { callee = "f1", self = 0, total = 110 },
         { caller = "f1", callee = "f2", calls = 1, self = 10, total = 85 },
         { caller = "f1", callee = "f3", calls = 1, self = 25, total = 25 },
         { caller = "f2", callee = "f3", calls = 3, self = 75, total = 75 } },
         core.rows(profile:graph()))
   end)

   it("adds up arcs between the same two functions", function()
      local profile = make({ 0, 8 }, { { 1, 2, 1 }, { 1, 2, 2 }, { 0, 2, 1 } })
      assert.same({ { caller = "f1", callee = "f2", calls = 3, self = 6, total = 6 },
         { callee = "f2", calls = 1, self = 2, total = 2 } },
         core.rows(profile:callers "f2"))
   end)

   it("adds up any number of arcs", function()
      local N, ROWS = 40, 150000
      local selves, calls, sums, of = {}, {}, {}, {}
      for i = 1, N do
         selves[i], of[i] = 1, { calls = 0, recursive = 0 }
      end
      local random = 7
      local function next_random(bound)
         random = (random * 1103515245 + 12345) % 2147483648
         return random // 65536 % bound
      end
      for i = 1, ROWS do
         local from, to, count = next_random(N + 1), 1 + next_random(N), next_random(5)
         local key = ("f%d f%d"):format(from, to):gsub("^f0", "-")
         local kind = from == to and "recursive" or "calls"
         calls[i] = { from, to, count }
         sums[key] = (sums[key] or 0) + count
         of[to][kind] = of[to][kind] + count
      end
      local profile = make(selves, calls)
      local found, rows = {}, profiles.flat(profile)
      for _, row in ipairs(core.rows(profile:graph())) do
         local key = ("%s %s"):format(row.caller or "-", row.callee)
         assert.is_nil(found[key])
         found[key] = row.calls
      end
      assert.same(sums, found)
      for i = 1, N do
         local row = rows["f" .. i]
         assert.same(of[i], { calls = row.calls, recursive = row.recursive_calls })
      end
   end)

   it("counts calls of a function by itself separately", function()
      local profile = make({ 0, 8 }, { { 2, 2, 70 }, { 1, 2, 2 } })
      local row = profiles.flat(profile).f2
      assert.same({ 2, 70, 8 }, { row.calls, row.recursive_calls, row.total })
      assert.same({ { caller = "f1", callee = "f2", calls = 2, self = 8, total = 8 },
         { caller = "f2", callee = "f2", calls = 70 } }, core.rows(profile:callers "f2"))
   end)

   it("treats functions that call each other as one cycle", function()
      local profile = make({ 0, 10, 20, 5 }, -- 1 -> (2 <-> 3) -> 4
         { { 1, 2, 3 }, { 2, 3, 50 }, { 3, 2, 40 }, { 1, 3, 1 }, { 3, 4, 7 } })
      assert.same(1, profile:facts().cycles)
      local row = core.rows(profile:callers "f2", { "caller", "self", "total" })
      assert.same({ { caller = "f1", self = 23, total = 26 }, { caller = "f3" } }, row) -- 22.5
      assert.same({ f2 = 10, f3 = 25, f4 = 5 }, totals(profile))
   end)

   it("shows a cycle without callers outside", function()
      local profile = make({ 10, 20 }, { { 1, 2, 3 }, { 2, 1, 3 } })
      local kinds = profiles.column(profile:graph_listing(), "kind")
      assert.same("cycle_recursive", kinds[1])
      assert.same({ "member_in_cycle", "member_in_cycle", "separator" },
         { table.unpack(kinds, 2, 4) })
   end)

   it("has pseudo functions for code in no symbol, but not for outside callers", function()
      local profile = assert(profiles.make {
         symbols = { { "a", 0x1000, size = 64 }, { "b", 0x1400, size = 64 } },
         arcs = { { 0x1048, 0x1000, 1 }, { 0x2000, 0x1000, 2 }, { 0x1000, 0x1500, 3 },
            { 0, 0x1400, 4 } } })
      local callers = core.rows(profile:callers "a", { "caller", "calls" })
      assert.same({ { caller = nil, calls = 2 }, { caller = "0x1040", calls = 1 } }, callers)
      assert.same({ { callee = "0x1500", calls = 3, caller = "a", self = 0, total = 0 } },
         core.rows(profile:callees "a"))
      assert.same({ { calls = 4, callee = "b", self = 0, total = 0 } },
         core.rows(profile:callers "b"))
   end)
end)

-- {====== Filters ======

describe("filters", function()
   local function chain() -- f1 -> f2 -> f3, f1 -> f4
      return make({ 1, 10, 100, 1000 }, { { 1, 2, 1 }, { 2, 3, 1 }, { 1, 4, 1 } })
   end

   local function entries(profile, options)
      local result = {}
      for _, row in ipairs(core.rows(profile:graph_listing(options), { "kind", "name" })) do
         if row.kind:match "^function" then
            result[#result + 1] = row.name
         end
      end
      table.sort(result)
      return result
   end

   it("show functions and their callees", function()
      assert.same({ "f1", "f2", "f3", "f4" }, entries(chain()))
      assert.same({ "f2", "f3" }, entries(chain(), { include_graph = { "f2" } }))
      assert.same({ "f1", "f3", "f4" }, entries(chain(), { exclude_graph = { "f2" } }))
      assert.same({ "f3" },
         entries(chain(), { include_graph = { "f3" }, exclude_graph = { "f2" } }))
   end)

   it("exclude functions from the flat profile and its sum", function()
      local profile = chain()
      assert.same(1111, profile:facts().total)
      assert.same(111, profile:facts({ exclude_flat = { "f4" } }).total)
      assert.same(10, profile:facts({ include_flat = { "f2" } }).total)
      assert.is_nil(profiles.flat(profile, { exclude_flat = { "f4" } }).f4)
   end)

   it("stop the propagation of time", function()
      local function total_of_f1(options)
         for _, row in ipairs(core.rows(chain():graph_listing(options))) do
            if row.name == "f1" and row.kind == "function" then
               return math.floor((row.self_seconds + row.children_seconds) * 1e9 + 0.5)
            end
         end
      end
      assert.same(1111, total_of_f1())
      assert.same(1001, total_of_f1 { exclude_time = { "f2" } })
      assert.is_nil((total_of_f1 { include_time = { "f3" } })) -- it has no entry any more
   end)

   it("expect numbers of functions, and refuse other values", function()
      local profile = chain()
      assert.same({ 0, 1, 2, 3 }, profiles.column(profile:functions(), "number"))
      assert.same({ "f3" }, entries(profile, { include_graph = { 2 } }))
      assert.error_matches(function() profile:flat { include_graph = { 99 } } end, "number 99")
      assert.error_matches(function() profile:flat { include_graph = "f1" } end, "a list of names")
      assert.error_matches(function() profile:flat { metric = "cycles" } end, "no metric 'cycles'")
      assert.error_matches(function() profile:flat { metric = 5 } end,
         "metric must be a string, got number")
      assert.is_nil(profile:callers "nobody")
   end)
end)

-- }======

-- {====== Comparison with a model ======

local function random_graph()
   local n = math.random(2, 14)
   local selves, calls = {}, {}
   for i = 1, n do
      selves[i] = math.random(0, 3) * 1000
   end
   for i = 1, math.random(0, 3 * n) do
      local from, to = math.random(n), math.random(n)
      if from > to and math.random(4) > 1 then
         from, to = to, from
      end
      calls[i] = { math.random(12) == 1 and 0 or from, to, math.random(0, 9) }
   end
   return selves, calls
end

-- reach[a][b]: a calls b, directly or through others.
local function reachable(n, calls)
   local reach = {}
   for i = 1, n do
      reach[i] = {}
   end
   for _, call in ipairs(calls) do
      if call[1] ~= 0 then
         reach[call[1]][call[2]] = true
      end
   end
   for k = 1, n do
      for i = 1, n do
         for j = 1, n do
            reach[i][j] = reach[i][j] or (reach[i][k] and reach[k][j])
         end
      end
   end
   return reach
end

-- The component of each function: the lowest number in its cycle, or its own.
local function components(n, calls)
   local reach, of = reachable(n, calls), {}
   for i = 1, n do
      of[i] = i
      for j = n, 1, -1 do
         if j ~= i and reach[i][j] and reach[j][i] and j < of[i] then
            of[i] = j
         end
      end
   end
   return of
end

local function model(selves, calls)
   local n = #selves
   local of, self, into, memo = components(n, calls), {}, {}, {}
   for i = 1, n do
      self[of[i]] = (self[of[i]] or 0) + selves[i]
   end
   for _, call in ipairs(calls) do
      if call[1] == 0 or of[call[1]] ~= of[call[2]] then
         into[of[call[2]]] = (into[of[call[2]]] or 0) + call[3]
      end
   end
   local function children(pick) -- time of the callees of the functions that pick() selects
      local sum = 0
      for _, call in ipairs(calls) do
         local to = of[call[2]]
         if call[1] ~= 0 and call[3] > 0 and pick(call[1]) and of[call[1]] ~= to then
            memo[to] = memo[to] or self[to] + children(function(i) return of[i] == to end)
            sum = sum + memo[to] * call[3] / into[to]
         end
      end
      return sum
   end
   local result = {}
   for i = 1, n do
      result[i] = selves[i] + children(function(f) return f == i end)
   end
   return result, of
end

describe("inclusive time of random graphs", function()
   it("agrees with the model", function()
      for case = 1, rounds(300) do
         math.randomseed(case)
         local selves, calls = random_graph()
         local want, of = model(selves, calls)
         local profile = make(selves, calls)
         local got = profiles.flat(profile, { zeros = true })
         for i, total in ipairs(want) do
            assert.is_true(math.abs(got["f" .. i].total - total) <= 1,
               ("case %d: f%d %s, got %s"):format(case, i, total, got["f" .. i].total))
         end
         local members, cycles = {}, {}
         for _, row in ipairs(core.rows(profile:functions { zeros = true })) do
            members[row["function"]] = row.cycle
         end
         for i = 1, #selves do
            for j = 1, #selves do
               local together = i ~= j and of[i] == of[j]
               local found = i ~= j and members["f" .. i] ~= nil
                  and members["f" .. i] == members["f" .. j]
               assert.same(together, found, ("case %d: f%d and f%d"):format(case, i, j))
            end
            cycles[members["f" .. i] or 0] = true
         end
         cycles[0] = nil
         local count = 0
         for _ in pairs(cycles) do
            count = count + 1
         end
         assert.same(count, profile:facts().cycles)
      end
   end)

   -- Rings of functions, some of which call functions of any ring; numbers are shuffled.
   local function rings()
      local numbers, calls, n = {}, {}, 0
      for _ = 1, math.random(2, 6) do
         local first, size = n + 1, math.random(2, 4)
         for i = 1, size do
            calls[#calls + 1] = { first + i - 1, first + i % size, math.random(9) }
         end
         n = n + size + math.random(0, 2) -- some stand alone
      end
      for i = 1, n do
         numbers[i] = i
      end
      for i = n, 2, -1 do
         local other = math.random(i)
         numbers[i], numbers[other] = numbers[other], numbers[i]
      end
      for _ = 1, n // 2 do
         local from, to = math.random(n), math.random(n)
         calls[#calls + 1] = { math.min(from, to), math.max(from, to), math.random(9) }
      end
      local selves = {}
      for i = 1, n do
         selves[i] = math.random(0, 9) * 1000
      end
      for _, call in ipairs(calls) do
         call[1], call[2] = numbers[call[1]], numbers[call[2]]
      end
      return selves, calls
   end

   local function cycles_of(profile, options)
      local result = {}
      for _, row in ipairs(core.rows(profile:graph_listing(options))) do
         if row.kind:match "^cycle" then
            result[#result + 1] = ("%d: %s %s %.6f %.6f"):format(row.cycle, row.count, row.of,
               row.self_seconds * 1e6, row.children_seconds * 1e6)
         end
      end
      table.sort(result)
      return result
   end

   -- A filter needs another order of traversal, even if it selects all functions.
   it("has the same cycles with and without a filter", function()
      for case = 1, rounds(200) do
         math.randomseed(case)
         local profile, all = make(rings()), {}
         for i, number in ipairs(profiles.column(profile:functions { zeros = true }, "number")) do
            all[i] = number
         end
         local function numbers(options)
            return profiles.column(profile:functions(options), "cycle")
         end
         local found = cycles_of(profile)
         assert.same(profile:facts().cycles, #found)
         assert.same(cycles_of(profile, { include_graph = all }), found)
         assert.same(numbers { zeros = true, include_graph = all }, numbers { zeros = true })
      end
   end)
end)

-- }======

describe("graphs with long paths or lists", function()
   -- growth_spec measures their cost.
   it("have the same times as small ones: a chain, one callee of many callers, a ring", function()
      local n = 20000
      local selves, chain, star, ring = {}, {}, {}, {}
      for i = 1, n do
         selves[i] = 1
         chain[i] = { i, i % n + 1, 1 }
         star[i] = { i, 1, 1 }
         ring[i] = chain[i]
      end
      chain[n] = nil
      assert.same(n, profiles.flat(make(selves, chain)).f1.total)
      assert.same(n, #core.rows(make(selves, star):callers "f1"))
      local cycle = make(selves, ring)
      assert.same(1, cycle:facts().cycles)
      assert.same(1 + n + 1 + 4 * n, #core.rows(cycle:graph_listing(), { "kind" }))
   end)
end)
