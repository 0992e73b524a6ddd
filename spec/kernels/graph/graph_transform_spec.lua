-- Graphs computed from graphs: keep, drop, hide and group, compared with a model that follows
-- every path from the roots.

local core = require "profio.core"
local profiles = require "spec.support.profiles"

local KEEP, DROP, HIDE = "focus", "ignore", "hide"
local make = profiles.of_calls

-- Narrows by marks, all of one kind, by name of a function.
local function narrow(profile, marks)
   local chosen, kind = {}, HIDE
   for _, row in ipairs(core.rows(profile:functions {}, { "number", "function" })) do
      chosen[row.number] = marks[row["function"]] ~= nil
      kind = marks[row["function"]] or kind
   end
   return assert(profile:narrow(kind, chosen))
end

local function told(profile)
   local result = {}
   for name, row in pairs(profiles.flat(profile)) do
      result[name] = { row.self, row.total }
   end
   return result
end

-- {====== The model ======

-- The parts of a function's self time along every path from the roots.
local function each_path(selves, calls, visit)
   local incoming = {}
   for f = 1, #selves do
      incoming[f] = { list = {}, sum = 0 }
   end
   for _, call in ipairs(calls) do
      local into = incoming[call[2]]
      into.list[#into.list + 1] = call
      into.sum = into.sum + call[3]
   end
   local function climb(f, path, share, weight)
      if incoming[f].sum == 0 then
         visit(path, weight * share)
      end
      for _, call in ipairs(incoming[f].list) do
         climb(call[1], { call[1], table.unpack(path) }, share * call[3] / incoming[f].sum, weight)
      end
   end
   for f, weight in ipairs(selves) do
      climb(f, { f }, 1, weight)
   end
end

-- The self time of each function that is left.
local function model(selves, calls, marks)
   local has_kept, own = false, {}
   for f = 1, #selves do
      own[f], has_kept = 0, has_kept or marks[f] == KEEP
   end
   each_path(selves, calls, function(path, weight)
      local is_kept, payer = not has_kept, nil
      for _, f in ipairs(path) do
         is_kept = is_kept or marks[f] == KEEP
         is_kept = is_kept and marks[f] ~= DROP
         payer = marks[f] ~= HIDE and f or payer
      end
      payer = payer or path[1]
      own[payer] = own[payer] + (is_kept and weight or 0)
   end)
   return own
end

-- }======

describe("a narrowed graph", function()
   -- f1 calls f2 and f3, which both call f4.
   local selves = { 10, 20, 30, 90 }
   local calls = { { 1, 2, 1 }, { 1, 3, 2 }, { 2, 4, 2 }, { 3, 4, 1 } }

   it("keeps the time of functions and their callees", function()
      local graph = narrow(make(selves, calls), { f2 = KEEP })
      assert.same({ f2 = { 20, 80 }, f4 = { 60, 60 } }, told(graph))
      assert.same({ { callee = "f2", calls = 1, self = 20, total = 80 },
         { caller = "f2", callee = "f4", calls = 2, self = 60, total = 60 } },
         core.rows(graph:graph()))
   end)

   it("drops functions and their share of their callees", function()
      assert.same({ f1 = { 10, 70 }, f3 = { 30, 60 }, f4 = { 30, 30 } },
         told(narrow(make(selves, calls), { f2 = DROP })))
   end)

   it("moves time and calls of hidden functions to their callers", function()
      local graph = narrow(make(selves, calls), { f4 = HIDE })
      assert.same({ f1 = { 10, 150 }, f2 = { 80, 80 }, f3 = { 60, 60 } }, told(graph))
      graph = narrow(make(selves, calls), { f2 = HIDE })
      assert.same({ f1 = { 30, 150 }, f3 = { 30, 60 }, f4 = { 90, 90 } }, told(graph))
      assert.same({ { caller = "f1", callee = "f4", calls = 2, self = 60, total = 60 },
         { caller = "f3", callee = "f4", calls = 1, self = 30, total = 30 } },
         core.rows(graph:callers "f4"))
   end)

   it("keeps hidden functions without callers", function()
      assert.same({ f1 = { 10, 150 }, f3 = { 30, 60 }, f2 = { 20, 80 }, f4 = { 90, 90 } },
         told(narrow(make(selves, calls), { f1 = HIDE })))
   end)

   it("keeps recursive functions together, and hides one of them", function()
      local graph = make({ 0, 10, 20, 5 },
         { { 1, 2, 3 }, { 2, 3, 50 }, { 3, 2, 40 }, { 1, 3, 1 }, { 3, 4, 7 } })
      assert.same({ f2 = 10, f3 = 20, f4 = 5 }, (function()
         local own = {}
         for name, row in pairs(told(narrow(graph, { f3 = KEEP }))) do
            own[name] = row[1]
         end
         return own
      end)())
      local hidden = narrow(graph, { f3 = HIDE })
      assert.is_nil(told(hidden).f3)
      assert.same({ { caller = "f2", callee = "f4", calls = 7, self = 5, total = 5 },
         { caller = "f2", callee = "f2", calls = 39 }, { callee = "f1", self = 0, total = 35 },
         { caller = "f1", callee = "f2", calls = 4, self = 30, total = 35 } },
         core.rows(hidden:graph()))
   end)

   it("can be closed before the profile computed from it", function()
      local graph = make(selves, calls)
      local kept = narrow(graph, { f2 = KEEP })
      graph:close()
      collectgarbage()
      assert.same({ f2 = { 20, 80 }, f4 = { 60, 60 } }, told(kept))
      assert.error_matches(function() graph:narrow("hide", {}) end, "closed")
   end)

   it("agrees with a model that follows all paths", function()
      math.randomseed(11)
      local kinds = { KEEP, DROP, HIDE }
      for round = 1, 400 do
         local n, own, list = math.random(2, 7), {}, {}
         for f = 1, n do
            own[f] = math.random(0, 1000000)
            for to = f + 1, n do
               if math.random(2) == 1 then
                  list[#list + 1] = { f, to, math.random(1, 1000000) }
               end
            end
         end
         local marks, named = {}, {}
         for f = 1, n do
            marks[f] = math.random(3) == 1 and kinds[round % 3 + 1] or nil
            named["f" .. f] = marks[f]
         end
         local wanted, found = model(own, list, marks), told(narrow(make(own, list), named))
         for f = 1, n do
            local self = found["f" .. f] and found["f" .. f][1] or 0
            assert(math.abs(self - wanted[f]) <= 3,
               ("round %d, f%d: %d, expected %.1f"):format(round, f, self, wanted[f]))
         end
      end
   end)
end)

describe("a graph of groups", function()
   it("counts the time of each group once", function()
      local graph = make({ 10, 20, 30, 90 },
         { { 1, 2, 1 }, { 1, 3, 2 }, { 2, 4, 2 }, { 3, 4, 1 } })
      local groups, wanted = {}, { f1 = 1, f2 = 2, f3 = 1, f4 = 2 }
      for _, row in ipairs(core.rows(graph:functions {}, { "number", "function" })) do
         groups[row.number] = wanted[row["function"]]
      end
      local grouped = graph:regroup(groups, { "one", "two" })
      assert.same({ one = { 40, 150 }, two = { 110, 110 } }, told(grouped))
      assert.same({ { caller = "one", callee = "two", calls = 2, self = 110, total = 110 },
         { caller = "one", callee = "one", calls = 2 } }, core.rows(grouped:callees "one"))
      assert.error_matches(function() graph:regroup({}, { "one" }) end, "a function has no group")
   end)
end)
