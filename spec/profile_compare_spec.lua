-- Profiles of different programs beside each other: which functions are the same, and what is left
-- when a sum or difference is narrowed.
--
-- Tags: user, stressed.

local core = require "profio.core"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"
local protobuf = require "spec.support.protobuf"

-- Rows "function file spent" as frames of one function each; "-" is no file.
profio.register {
   name = "placed",
   score = function() return 0 end,
   tables = { samples = { { "function", "name" }, { "file", "name" }, { "spent", "int" } } },
   profile = { table = "samples", ["function"] = "function", file = "file", metrics = {
      { name = "time", unit = "ns", column = "spent" } } },
   open = function(source)
      return { samples = function(put)
         for line in source:lines() do
            local name, file, spent = line:match "^(%S+) (%S+) (%d+)$"
            put(name, file ~= "-" and file or nil, math.tointeger(spent))
         end
      end }
   end,
}

local function placed(lines)
   local trace <close> = assert(profio.open({ data = table.concat(lines, "\n") .. "\n" },
      { format = "placed" }))
   return assert(trace:profile())
end

-- "function file self/before" of each row of a comparison.
local function told(new, old)
   local list = {}
   for row in placed(new):diff(placed(old)):records() do
      list[#list + 1] = ("%s %s %d/%d"):format(row["function"], row.file or "-", row.self,
         row.self_before)
   end
   table.sort(list)
   return list
end

describe("functions of two profiles", function()
   it("are the same by name, whatever folder the program was built in", function()
      assert.same({ "main /b/m.c 5/3", "work /b/w.c 7/9" },
         told({ "main /b/m.c 5", "work /b/w.c 7" }, { "main /a/m.c 3", "work /a/w.c 9" }))
      assert.same({ "main /b/m.c 5/3" }, told({ "main /b/m.c 5" }, { "main /b/other.c 3" }))
   end)

   it("are matched by name if one side has no files", function()
      assert.same({ "main m.c 5/3" }, told({ "main m.c 5" }, { "main - 3" }))
      assert.same({ "main m.c 5/3" }, told({ "main - 5" }, { "main m.c 3" }))
   end)

   it("are distinguished by file if a name is not unique", function()
      assert.same({ "init /b/x.c 1/10", "init /b/y.c 2/20", "main /b/m.c 5/50" },
         told({ "init /b/x.c 1", "init /b/y.c 2", "main /b/m.c 5" },
            { "init /a/y.c 20", "init /a/x.c 10", "main /a/m.c 50" }))
      assert.same({ "init /b/lib/x.c 1/10", "init /b/src/x.c 2/20" },
         told({ "init /b/lib/x.c 1", "init /b/src/x.c 2" },
            { "init /a/src/x.c 20", "init /a/lib/x.c 10" }))
   end)

   it("stay separate if the match is ambiguous", function()
      assert.same({ "init /a/x.c 0/10", "init /b/y.c 1/0", "init /b/z.c 2/0" },
         told({ "init /b/y.c 1", "init /b/z.c 2" }, { "init /a/x.c 10" }))
      assert.same({ "init - 0/10", "init /b/y.c 1/0", "init /b/z.c 2/0" },
         told({ "init /b/y.c 1", "init /b/z.c 2" }, { "init - 10" }))
   end)

   it("are matched in sums and differences too", function()
      local new, old = placed { "main /b/m.c 5", "f /b/f.c 2" }, placed { "main /a/m.c 3" }
      local list = {}
      for name, file, self in (new - old):flat():each("function", "file", "self") do
         list[name] = file .. " " .. self
      end
      assert.same({ main = "/b/m.c 2", f = "/b/f.c 2" }, list)
      assert.equal(2, (new + old):flat():count())
   end)

   it("keep recursion when files are renamed", function()
      local function recursive(module)
         local w = assert(profio.create(nil, { format = "br" }))
         local frame = { area = "FNR", class = "function", file = module, line = 10 }
         w:write { module = module, line = 10, kind = "function", ["function"] = "FNR",
            stack = w:stack { frame, frame, frame } }
         local trace <close> = assert(profio.open({ data = assert(w:close()) }, { format = "br" }))
         return assert(trace:profile())
      end
      local new, old = recursive "B.BR", recursive "A.BR"
      assert.equal(3, new:tree():count())
      local depths = {}
      for depth, total in (new + old):tree():each("depth", "total") do
         depths[depth] = total
      end
      assert.same({ 2, 2, 2 }, depths)
   end)
end)

-- Two functions of a graph: main calls f `calls` times; `main` and `f` are their samples.
local function graph_profile(main, f, calls)
   local bins = { main, f }
   local trace <close> = assert(profio.open { data = gmon.new("<", 8):header():histogram {
      low = 0x1000, high = 0x1008, bins = bins }:arc(0x1000, 0x1004, calls):bytes() })
   return assert(trace:profile())
end

local function shares(profile)
   local list = {}
   for name, self, total, share in profile:flat():each("function", "self", "total",
      "total_share")
   do
      list[name] = { self // 10000000, total // 10000000, share }
   end
   return list
end

describe("a difference of graphs", function()
   local new, old = graph_profile(4, 30, 5), graph_profile(3, 10, 5)

   it("is that of the narrowed graphs when it is narrowed", function()
      assert.same({ ["0x1000"] = { 1, 21, 1.0 }, ["0x1004"] = { 20, 20, 20 / 21 } },
         shares((new - old):focus "0x1000"))
      assert.same({ ["0x1004"] = { 20, 20, 1.0 } }, shares((new - old):focus "0x1004"))
      assert.same({ ["0x1000"] = { 1, 1, 1.0 } }, shares((new - old):ignore "0x1004"))
      assert.same({ ["0x1000"] = { 21, 21, 1.0 } }, shares((new - old):hide "0x1004"))
      assert.same({ all = { 21, 21, 1.0 } },
         shares((new - old):group(function() return "all" end)))
      assert.same({ ["0x1000"] = { 21, 21, 1.0 } },
         shares((new - old):focus "0x1000":hide "0x1004"))
   end)

   it("is narrowed so when it was scaled or shown by another metric", function()
      assert.same({ ["0x1004"] = { 40, 40, 1.0 } },
         shares((new - old):scale(2):focus "0x1004"))
      assert.same({ ["0x1004"] = { 12, 12, 1.0 } },
         shares(new:normalise(130000000 + 6000000):focus "0x1004"))
      assert.equal(20, (new - old):with { metric = "samples" }:focus "0x1004":flat()
         :rows("self")[1].self)
   end)

   it("may be narrowed to a function that only one side has", function()
      local only = placed { "only - 7" }
      assert.same({ { ["function"] = "only", self = 7 } },
         (new + only):focus "only":flat():rows("function", "self"))
      assert.same({}, (new - old):focus "nobody":flat():rows())
   end)

   it("is pruned by inclusive values, of functions that are charged to their callers", function()
      assert.same({ ["0x1000"] = { 1, 21, 1.0 }, ["0x1004"] = { 20, 20, 20 / 21 } },
         shares((new - old):prune(0.5))) -- the self value of 0x1000 is a twentieth
      assert.same({ ["0x1000"] = { 21, 21, 1.0 } }, shares((new - old):prune(0.97)))
      assert.same({ ["0x1000"] = { -21, -21, 1.0 } }, shares((old - new):prune(0.97)))
      assert.same({ ["0x1000"] = { 47, 47, 1.0 } }, shares((new + old):prune(0.9, "samples")))
      assert.same({ ["0x1000"] = { 21, 21, 1.0 } },
         shares((new - old):prune(0.97):focus "0x1000"))
      assert.same(shares(new - new), shares((new - new):prune(1)))
   end)

   it("says why one with gprof's numbers is not narrowed", function()
      local trace <close> = assert(profio.open { data = gmon.new("<", 8):header():histogram {
         low = 0x1000, high = 0x1008, bins = { 1, 2 } }:bytes() })
      local profile = trace:profile { compat = "gprof" }
      for _, change in ipairs { function() profile:prune(0.1) end,
         function() profile:group("file"):focus "0x1004" end } do
         assert.error_matches(change, "prune those from which it was made, without gprof's numbers")
      end
   end)
end)

describe("stacks of two profiles", function()
   it("are kept apart if names have a semicolon", function()
      local message, number, packed = protobuf.message, protobuf.number, protobuf.packed
      local strings, bytes = { "", "a;b", "c", "a", "b;c", "time", "ns" }, ""
      for _, text in ipairs(strings) do
         bytes = bytes .. message(6, text)
      end
      for i = 1, 4 do -- functions and locations have the numbers of their names
         bytes = bytes .. message(4, number(1, i), message(4, number(1, i)))
            .. message(5, number(1, i), number(2, i))
      end
      bytes = bytes .. message(1, number(1, 5), number(2, 6))
         .. message(2, packed(1, { 2, 1 }), packed(2, { 1000 }))
         .. message(2, packed(1, { 4, 3 }), packed(2, { 500 }))
      local trace <close> = assert(profio.open { data = bytes })
      local weights = {}
      for _, row in ipairs(assert(profio.compare(trace, trace, { by = "stack" })):rows():rows()) do
         weights[#weights + 1] = ("%s %d"):format(row.stack, row.before)
      end
      table.sort(weights)
      assert.same({ "a;b;c 1000", "a;b;c 500" }, weights)
   end)
end)

describe("options of a report", function()
   local profile = placed { "main;f - 5" }

   it("are refused if there is none of the name", function()
      for _, name in ipairs { "flat", "graph", "graph_listing", "index", "lines", "annotations",
         "functions", "tree", "bottom_up", "with" } do
         assert.error_matches(function() profile[name](profile, { metrc = "time" }) end,
            name .. " has no option 'metrc'; there are: .*metric.*; did you mean 'metric'%?$")
      end
      for _, name in ipairs { "callers", "callees" } do
         assert.error_matches(function() profile[name](profile, "f", { zeroes = true }) end,
            name .. " has no option 'zeroes'; .*; did you mean 'zeros'%?$")
      end
   end)

   it("are those of bottom_up only there, and in with", function()
      assert.error_matches(function() profile:tree { depth = 1 } end, "tree has no option 'depth'")
      assert.equal(1, profile:bottom_up({ depth = 1 }):count())
      assert.equal(1, profile:with({ depth = 1 }):bottom_up():count())
   end)
end)

describe("a profile beyond 64 bits", function()
   local function notes(profile)
      return #profile:notes()
   end

   it("says so once, and only then", function()
      local big = placed { "main - " .. (1 << 62), "f - 5" }
      assert.equal(0, notes(big))
      assert.equal(1, notes(big + big))
      assert.equal(1, notes(big + big + big))
      assert.equal(1, notes((big + big):scale(0.5)))
      assert.equal(0, notes(big))
      assert.same({ 0, 0 }, { notes(big - big), notes(big:scale(0.5)) })
      assert.matches("more than 64 bits", (big + big):notes()[1])
   end)

   it("is not made by a factor", function()
      local big = placed { "main - " .. (1 << 62), "f - 5" }
      for _, factor in ipairs { 3, -2.5, 1e30, 1e300 } do
         assert.error_matches(function() big:scale(factor) end,
            "weights times .* are more than 64 bits hold")
      end
      assert.error_matches(function() big:normalise(1e30) end, "more than 64 bits hold")
      assert.equal(-(1 << 62) - 5, big:scale(-1):metrics()[1].total)
      assert.equal(1, notes((big + big):scale(3)))
      for _, factor in ipairs { 0 / 0, 1 / 0, -1 / 0 } do
         assert.error_matches(function() big:scale(factor) end, "scale expects a finite number")
      end
   end)

   it("is a sum of graphs of which a weight is, not of inclusive values", function()
      local one = graph_profile(4, 30, 5)
      local half = one:scale(((1 << 62) + 0.0) / 340000000)
      assert.equal(0, notes(half))
      assert.equal(0, notes(half + one))
      assert.equal(1, notes(half + half + half))
   end)
end)

describe("a hidden root", function()
   it("keeps its self cost", function()
      local rows = { { "main", 5 }, { "main;f", 7 }, { "main;main", 1 }, { "g", 2 },
         { "main;f;main", 3 }, { nil, 4 } }
      local made = assert(core.contexts { reader = core.rows_reader({ { name = "s", type = "name" },
         { name = "n", type = "int" } }, rows), folded = "s",
         metrics = { { name = "time", unit = "ns", column = "n" } } })
      local marks = {}
      for _, frame in ipairs(made:frames()) do
         marks[frame.number] = frame["function"] == "main"
      end
      local hidden, list = made:narrow("hide", marks), {}
      for _, row in ipairs(core.rows(hidden:tree())) do
         list[#list + 1] = row.label .. " " .. row.self .. "/" .. row.total
      end
      assert.same({ "f 10/10", "main 6/6", "g 2/2" }, list)
      assert.equal(made:metrics()[1].total, hidden:metrics()[1].total)
   end)
end)
