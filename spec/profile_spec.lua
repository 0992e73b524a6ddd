-- The profile as scripts use it: made from stacks or from a graph, narrowed, added, taken away.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local gmon = require "spec.support.gmon_builder"

-- A format of folded stacks, as a user would register it.
profio.register {
   name = "folded-lines",
   score = function() return 0 end,
   tables = { samples = { { "stack", "name" }, { "spent", "int" } } },
   profile = { table = "samples", folded = "stack", metrics = {
      { name = "time", unit = "ns", column = "spent" },
      { name = "samples", unit = "count" },
   } },
   open = function(source)
      return { samples = function(put)
         for line in source:lines() do
            local stack, spent = line:match "^(.*) (%d+)$"
            put(stack, math.tointeger(spent))
         end
      end }
   end,
}

local function profile_of(text)
   local trace <close> = assert(profio.open({ data = text }, { format = "folded-lines" }))
   return assert(trace:profile())
end

local old = "main;parse;read 10\nmain;parse 5\nmain;print 7\nmain;parse;read;parse 2\n"
local new = "main;parse;read 30\nmain;print 7\nmain;draw 1\n"

local function flat(profile, options)
   local rows = {}
   for name, self, total in profile:flat(options):each("function", "self", "total") do
      rows[name] = self .. "/" .. total
   end
   return rows
end

describe("a profile of stacks", function()
   it("has no arcs of a function that is not there, and says so", function()
      local file = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1010,
         bins = { 1, 2, 3, 4 } }:arc(0x1000, 0x1008, 7):bytes()
      local trace <close> = assert(profio.open({ data = file }, { symbols = command.file("arcs.nm",
         "0000000000001000 T main\n0000000000001008 T parse\n") }))
      local stacks, graph = profile_of(old), assert(trace:profile())
      for _, profile in ipairs { stacks, graph, stacks - profile_of(new), graph + graph } do
         for _, name in ipairs { "callers", "callees" } do
            local rows = profile[name](profile, "prase")
            assert.same({}, rows:rows())
            assert.equal(0, rows:sort "-self":limit(3):count())
            assert.same(profile[name](profile, "main"):fields(), rows:fields())
            local found = false
            for _, warning in ipairs(rows.warnings) do
               found = found or (warning.code == "no-function" and warning.message == name ..
                  ": no function is called 'prase'; did you mean 'parse'?")
            end
            assert.is_true(found)
         end
      end
      assert.same({}, profile_of(old):callees "print".warnings)
   end)

   it("has flat, graph, callers, callees, tree and bottom_up, and outlives its trace", function()
      local profile = profile_of(old)
      assert.equal("contexts", profile:kind())
      assert.same({ main = "0/24", parse = "7/17", read = "10/12", print = "7/7" }, flat(profile))
      assert.same({ main = "0/4", parse = "2/3", read = "1/2", print = "1/1" },
         flat(profile, { metric = "samples" }))
      assert.same({ { caller = "main", callee = "parse", self = 5, total = 17 },
         { caller = "read", callee = "parse", self = 2, total = 2 } },
         profile:callers "parse":rows())
      assert.same({ { caller = "main", callee = "parse", self = 5, total = 17 },
         { caller = "main", callee = "print", self = 7, total = 7 } },
         profile:callees "main":rows())
      local tree = {}
      for depth, name, total in profile:tree():each("depth", "function", "total") do
         tree[#tree + 1] = (" "):rep(depth) .. name .. total
      end
      assert.same({ " main24", "  parse17", "   read12", "    parse2", "  print7" }, tree)
      tree = {}
      for depth, name, total in profile:bottom_up():each("depth", "function", "total") do
         tree[#tree + 1] = (" "):rep(depth) .. name .. total
      end
      assert.same({ " read10", "  parse10", "   main10", " parse7", "  main5", "  read2",
         "   parse2", "    main2", " print7", "  main7" }, tree)
   end)

   it("shows functions with self time and their callers, bottom up", function()
      local self_of, sum = {}, 0
      for depth, name, self, total in profile_of(old):bottom_up():each("depth", "function",
         "self", "total") do
         assert.equal(depth == 1 and total or 0, self)
         self_of[name], sum = (self_of[name] or 0) + self, sum + self
      end
      assert.same({ main = 0, parse = 7, read = 10, print = 7 }, self_of)
      assert.equal(24, sum)
   end)

   it("says from the bottom up how often a function was called by whom", function()
      local events = { 0, "enter", "main", 1, "enter", "a", 3, "enter", "c", 6, "leave", "c", 7,
         "leave", "a", 8, "enter", "c", 18, "leave", "c", 20, "enter", "c", 21, "leave", "c", 30,
         "leave", "main" }
      profio.register {
         name = "bottoms",
         score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" } } },
         open = function()
            return { events = function(put)
               for i = 1, #events, 3 do
                  put(events[i], events[i + 1], events[i + 2])
               end
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "-" }, { format = "bottoms" }))
      local rows = {}
      for depth, name, calls, self, total in trace:profile():bottom_up():each("depth", "function",
         "calls", "self", "total") do
         rows[#rows + 1] = ("%d %s %d %d/%d"):format(depth, name, calls, self, total)
      end
      assert.same({ "1 c 3 14/14", "2 main 2 0/11", "2 a 1 0/3", "3 main 1 0/3", "1 main 1 13/13",
         "1 a 1 3/3", "2 main 1 0/3" }, rows)
   end)

   it("is narrowed and grouped", function()
      local profile = profile_of(old)
      assert.same({ main = "0/12", parse = "2/12", read = "10/12" }, flat(profile:focus "read"))
      assert.same({ main = "0/12", parse = "5/5", print = "7/7" }, flat(profile:ignore "read"))
      assert.same({ main = "0/24", parse = "17/17", print = "7/7" },
         flat(profile:hide(profio.match "^re")))
      assert.same({ p = "24/24" }, flat(profile:group(function() return "p" end)))
      assert.same({}, flat(profile:focus "nobody"))
      assert.same({ main = "7/24", parse = "5/17", read = "12/12" }, flat(profile:prune(0.3)))
   end)

   it("is added, taken away, scaled and normalised", function()
      local a, b = profile_of(new), profile_of(old)
      local sum = a + b
      assert.same({ main = "0/62", parse = "7/47", read = "40/42", print = "14/14",
         draw = "1/1" }, flat(sum))
      assert.same(flat(a), flat(sum - b))
      assert.same({ main = "0/14", parse = "-7/13", read = "20/18", draw = "1/1" }, flat(a - b))
      assert.same({ main = "0/48", parse = "14/34", read = "20/24", print = "14/14" },
         flat(b:scale(2)))
      assert.equal(38, b:normalise(a):metrics()[1].total)
      local most = (1 << 60) + 1 -- neither this nor its ratio to 24 is a double
      assert.equal(most, b:normalise(most):metrics()[1].total)
      assert.equal(24, b:normalise(most):normalise(b):metrics()[1].total)
      assert.same({ { ["function"] = "read", change = 20, relative = 2.0 },
         { ["function"] = "parse", change = -7, relative = -1.0 },
         { ["function"] = "draw", change = 1 },
         { ["function"] = "print", change = 0, relative = 0.0 },
         { ["function"] = "main", change = 0 } },
         a:diff(b):rows("function", "change", "relative"))
      assert.error_matches(function() return a + 1 end, "added to")
      assert.error_matches(function() b:scale "x" end, "scale expects a number")
   end)
end)

describe("a profile of calls", function()
   require "spec.support.events"

   it("counts no calls of functions merged into a caller", function()
      local trace <close> = assert(profio.open { data = "EVENTS\n0 enter main a\n1 enter f a\n"
         .. "3 leave f a\n4 enter f a\n6 leave f a\n9 leave main a\n" })
      local function calls(profile)
         local rows = {}
         for name, count, self in profile:flat():each("function", "calls", "self") do
            rows[name] = { count, self }
         end
         return rows
      end
      local profile = trace:profile()
      assert.same({ main = { 1, 5 }, f = { 2, 4 } }, calls(profile))
      assert.same({ main = { 1, 9 } }, calls(profile:hide "f"))
      assert.same({ main = { 1, 9 } }, calls(profile:prune(0.5)))
      assert.same({ all = { 1, 9 } }, calls(profile:group(function() return "all" end)))
      assert.same({ f = { 2, 4 }, main = { 1, 5 } }, calls(profile:hide "main"))
   end)
end)

describe("a difference", function()
   it("that shrank is not shown where there is nothing below 0", function()
      local grown, shrunk = profile_of(new) - profile_of(old), profile_of(old) - profile_of(new)
      for _, change in ipairs { grown, shrunk } do
         local bytes, message, code = change:export "speedscope"
         assert.same({ nil, "unsupported" }, { bytes, code })
         assert.matches("below 0", message)
      end
      assert.is_string((profile_of(old) - profile_of("main;print 7\n")):export "speedscope")
      assert.matches("main;parse;read 10 30\n", (grown:export "folded"))
   end)
end)

describe("a profile of functions and arcs", function()
   local function graph_profile(count, from)
      local trace <close> = assert(profio.open { data = gmon.new("<", 8):header():histogram {
         low = 0x1000, high = 0x1010, bins = { count, 0, 2 * count, 0 } }
         :arc(from or 0x1001, 0x1008, count):bytes() })
      return assert(trace:profile())
   end

   it("becomes sums when it is added or taken away", function()
      local a, b = graph_profile(5), graph_profile(2)
      assert.equal("graph", a:kind())
      local change = a - b
      assert.equal("sums", change:kind())
      local zeros = { zeros = true }
      assert.same(flat(graph_profile(3), zeros), flat(change, zeros))
      assert.same(flat(graph_profile(7), zeros), flat(a + b, zeros))
      assert.same(flat(a, zeros), flat(a + b - b, zeros))
      assert.same(graph_profile(3):graph():rows("caller", "callee", "calls", "self", "total"),
         change:graph():rows("caller", "callee", "calls", "self", "total"))
      assert.error_matches(function() change:tree():print() end, "tree needs stacks")
      assert.error_matches(function() a:tree():print() end, "no stacks")
   end)

   it("is pruned of no large function that has the name of a small one", function()
      command.file("twins.nm", "0000000000001000 T main\n0000000000001008 t helper\n"
         .. "0000000000001010 t helper\n0000000000001018 T last\n")
      local bytes = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1018,
         bins = { 0, 0, 90, 0, 1, 0 } }:arc(0x1004, 0x1008, 5):arc(0x1004, 0x1010, 7):bytes()
      local trace <close> = assert(profio.open({ data = bytes },
         { symbols = command.folder .. "/twins.nm" }))
      local list = {}
      for name, self in trace:profile():prune(0.05):flat():each("function", "self") do
         list[#list + 1] = ("%s %d"):format(name, self)
      end
      assert.same({ "helper 900000000", "helper 10000000" }, list)
   end)

   it("is narrowed, grouped and pruned, and stays one", function()
      local profile = graph_profile(10, 0x1000) -- which has 100 ms, and calls 0x1008 with 200
      assert.same({ ["0x1000"] = "100000000/300000000", ["0x1008"] = "200000000/200000000" },
         flat(profile))
      assert.same({ ["0x1008"] = "200000000/200000000" }, flat(profile:focus "0x1008"))
      assert.same({ ["0x1000"] = "100000000/300000000", ["0x1008"] = "200000000/200000000" },
         flat(profile:focus "0x1000"))
      assert.same({ ["0x1000"] = "100000000/100000000" }, flat(profile:ignore "0x1008"))
      assert.same({ ["0x1000"] = "300000000/300000000" }, flat(profile:hide "0x1008"))
      assert.same({ ["0x1000"] = "300000000/300000000" }, flat(profile:prune(0.7)))
      assert.same(flat(profile), flat(profile:prune(0.6)))
      assert.same({ all = "300000000/300000000" }, flat(profile:group(function() return "all" end)))
      assert.same({ ["0x1000"] = "100000000/300000000", other = "200000000/200000000" },
         flat(profile:group(function(frame)
            return frame["function"] == "0x1008" and "other" or nil
         end)))
      for _, made in ipairs { profile:focus "0x1000", profile:hide "0x1008",
         profile:group "file", profile:prune(0.7) }
      do
         assert.equal("graph", made:kind())
      end
      assert.same({ ["0x1000"] = "300000000/300000000" },
         flat(profile:hide "0x1008":focus "0x1000"))
   end)

   it("is compared function by function", function()
      local rows = {}
      for row in graph_profile(5):diff(graph_profile(2)):records() do
         rows[row["function"]] = row
      end
      assert.equal(100000000, rows["0x1008"].self)
      assert.equal(40000000, rows["0x1008"].self_before)
      assert.equal(60000000, rows["0x1008"].change)
      assert.equal(1.5, rows["0x1008"].relative)
      assert.equal(60000000, rows["0x1001"].total_change)
      assert.is_true(math.abs(rows["0x1008"].significance - 6 / 14 ^ 0.5) < 1e-12)
   end)

   it("goes together with one of stacks", function()
      local both = graph_profile(5) + profile_of(old)
      local rows = flat(both)
      assert.equal("10/12", rows.read)
   end)
end)
