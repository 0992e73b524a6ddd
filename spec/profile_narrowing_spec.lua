-- Focus, ignore, hide and group give the same numbers for the three bodies of a profile: of stacks,
-- of functions and arcs, and of the sums of two such profiles.
--
-- Tags: user.

local command = require "spec.support.command"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"

profio.register { name = "folded-narrowing",
   score = function() return 0 end,
   tables = { samples = { { "stack", "name" }, { "weight", "int" } } },
   main = "samples",
   open = function(source)
      return { samples = function(put)
         for line in source:lines() do
            local stack, weight = line:match "^(.*) (%d+)$"
            put(stack, math.tointeger(weight))
         end
      end }
   end,
   profile = { table = "samples", folded = "stack",
      metrics = { { name = "time", unit = "ns", column = "weight" } } } }

-- One program: main (4 samples) calls a (6) once and c (10) once; b runs for 10 samples in each of
-- its calls, one by a and three by c, so that the calls divide its time as the stacks do.
local TICK <const> = 10000000 -- ns of a sample

local function stacks()
   local lines = {}
   for stack, samples in pairs { main = 4, ["main;a"] = 6, ["main;a;b"] = 10, ["main;c"] = 10,
      ["main;c;b"] = 30 } do
      lines[#lines + 1] = ("%s %d\n"):format(stack, samples * TICK)
   end
   local trace <close> = assert(profio.open({ data = table.concat(lines) },
      { format = "folded-narrowing" }))
   return assert(trace:profile())
end

local function graph()
   local bytes = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1020,
      bins = { 4, 0, 6, 0, 40, 0, 10, 0 } }:arc(0x1001, 0x1008, 1):arc(0x1001, 0x1018, 1)
      :arc(0x1009, 0x1010, 1):arc(0x1019, 0x1010, 3):bytes()
   local trace <close> = assert(profio.open({ data = bytes }, { symbols = command.file(
      "narrowing.nm", "0000000000001000 T main\n0000000000001008 T a\n0000000000001010 T b\n"
      .. "0000000000001018 T c\n0000000000001020 T last\n") }))
   return assert(trace:profile())
end

-- The self and total time of each function that has any, in samples.
local function told(profile, divisor)
   local rows = {}
   for name, self, total in profile:flat():each("function", "self", "total") do
      if total ~= 0 then
         rows[name] = { self // (divisor * TICK), total // (divisor * TICK) }
      end
   end
   return rows
end

-- Checks what a change leaves of each body.
local function check(expected, change)
   for _, body in ipairs { { stacks(), 1, "contexts" }, { graph(), 1, "graph" },
      { stacks() + stacks(), 2, "contexts" }, { graph() + graph(), 2, "sums" } } do
      local profile, divisor, kind = table.unpack(body)
      assert.equal(kind, profile:kind())
      local found = told(change(profile), divisor)
      for name, row in pairs(found) do
         -- A graph has no function above those in focus, whose self time is 0.
         assert.same(expected[name], row, kind .. ": " .. name)
      end
      for name, row in pairs(expected) do
         assert.is_true(found[name] ~= nil or row[1] == 0, kind .. ": " .. name)
      end
   end
end

describe("the bodies of a profile", function()
   it("have the same totals", function()
      check({ main = { 4, 60 }, a = { 6, 16 }, b = { 40, 40 }, c = { 10, 40 } },
         function(profile) return profile end)
   end)

   it("focus on the same time", function()
      local of_a = { main = { 0, 16 }, a = { 6, 16 }, b = { 10, 10 } }
      for _, wanted in ipairs { "a", { "a" }, profio.match "^a$",
         function(frame) return frame["function"] == "a" end } do
         check(of_a, function(profile) return profile:focus(wanted) end)
      end
      check({ main = { 0, 40 }, a = { 0, 10 }, b = { 40, 40 }, c = { 0, 30 } },
         function(profile) return profile:focus "b" end)
      check({ main = { 0, 56 }, a = { 6, 16 }, b = { 40, 40 }, c = { 10, 40 } },
         function(profile) return profile:focus { "a", "c" } end)
      check({}, function(profile) return profile:focus "nobody" end)
   end)

   it("ignore the same time", function()
      check({ main = { 4, 20 }, a = { 6, 6 }, c = { 10, 10 } },
         function(profile) return profile:ignore "b" end)
      check({ main = { 4, 20 }, a = { 6, 16 }, b = { 10, 10 } },
         function(profile) return profile:ignore "c" end)
      check({}, function(profile) return profile:ignore "main" end)
      check({ main = { 4, 60 }, a = { 6, 16 }, b = { 40, 40 }, c = { 10, 40 } },
         function(profile) return profile:ignore "nobody" end)
   end)

   it("charge the same time to callers", function()
      check({ main = { 4, 60 }, a = { 16, 16 }, c = { 40, 40 } },
         function(profile) return profile:hide "b" end)
      check({ main = { 10, 60 }, b = { 40, 40 }, c = { 10, 40 } },
         function(profile) return profile:hide "a":hide "nobody" end)
      check({ main = { 60, 60 } }, function(profile)
         return profile:hide(profio.match "^[abc]$")
      end)
   end)

   it("group the same time", function()
      check({ all = { 60, 60 } }, function(profile)
         return profile:group(function() return "all" end)
      end)
      check({ main = { 4, 60 }, callers = { 16, 56 }, b = { 40, 40 } }, function(profile)
         return profile:group(function(frame)
            return frame["function"]:find "^[ac]$" and "callers" or nil
         end)
      end)
      check({ ["(no file)"] = { 60, 60 } }, function(profile) return profile:group "file" end)
   end)

   it("combine narrowings in the same way", function()
      check({ main = { 0, 16 }, a = { 16, 16 } },
         function(profile) return profile:focus "a":hide "b" end)
      check({ c = { 40, 40 }, main = { 0, 40 } },
         function(profile) return profile:ignore "a":hide "b":focus "c" end)
   end)
end)
