-- The units of weights in reports: those of the metric, of times that of the largest one.
--
-- Tags: user.

local command = require "spec.support.command"
local core = require "profio.core"
local gmon = require "spec.support.gmon_builder"

-- A decoder of lines "stack weight" whose metric has a name and a unit.
local function decoder(name, metric, unit)
   return command.file(name .. ".lua", ([[
require("profio").register {
   name = "%s", score = function(bytes) return bytes:find "^%s\n" and 100 or 0 end,
   tables = { samples = { { "stack", "name" }, { "weight", "int" } } },
   profile = { table = "samples", folded = "stack",
      metrics = { { name = "%s", unit = "%s", column = "weight" } } },
   open = function(source)
      return { samples = function(put)
         for line in source:lines() do
            local stack, weight = line:match "^(%%S+) (%%d+)$"
            if stack then
               put(stack, math.tointeger(weight))
            end
         end
      end }
   end }]]):format(name, name, metric, unit))
end

-- Returns the output of a command on a file of a decoder; %s in the line is the file, %o an old
-- one.
local function shown(line, name, metric, unit, weight)
   local load = decoder(name, metric, unit)
   local function file(ending, number)
      return command.file(name .. ending, ("%s\nmain;f %d\nmain 1\n"):format(name, number))
   end
   local files = { s = file(".new", weight), o = file(".old", weight / 2 | 0) }
   local out, status, err = command.run(("profio %s --load %s"):format(line:gsub("%%(%l)", files),
      load))
   assert.equal(0, status, err)
   return out
end

describe("the unit of weights", function()
   local reports = { ["--report flat %s"] = "self", ["--report graph %s"] = "total",
      ["--report tree %s"] = "total", ["--report bottom-up %s"] = "self",
      ["--report diff --diff %o %s"] = "change", ["--report flat --diff %o %s"] = "self" }

   it("is that of the metric, or what it counts", function()
      for line, column in pairs(reports) do
         assert.matches(column .. " %(bytes%)", shown(line, "kilobytes", "space", "bytes", 5000))
         assert.matches(column .. " %(hits%)", shown(line, "hits", "hits", "count", 5000))
         local out = shown(line, "hits", "hits", "count", 5000)
         assert.is_nil(out:find "0%.00000" or out:find "%((n?m?u?s)%)", out)
      end
      for _, line in ipairs { "explain f %s", "compare %o --new %s" } do
         assert.matches("5000 bytes", shown(line, "kilobytes", "space", "bytes", 5000))
      end
      assert.matches("5000 hits", shown("explain f %s", "hits", "hits", "count", 5000))
      assert.matches("change %(hits%).*before %(hits%)  after %(hits%)",
         shown("compare %o --new %s", "hits", "hits", "count", 5000))
   end)

   it("is that of the largest time", function()
      for line, column in pairs(reports) do
         for unit, weight in pairs { ns = 50, us = 5000, ms = 5000000, s = 5000000000 } do
            local out = shown(line, "times", "wall", "ns", weight)
            assert.matches(column .. " %(" .. unit .. "%)", out)
         end
      end
      assert.matches("f +50 +50 ", shown("--report flat %s", "times", "wall", "ns", 50))
      assert.matches("self %(s%)", shown("--report flat --unit s %s", "times", "wall", "ns", 50))
   end)

   it("does not change rows for programs", function()
      assert.equal("function,self\nf,50\nmain,1\n",
         shown("--report flat --output csv --columns function,self %s", "times", "wall", "ns", 50))
   end)

   it("of counts of gmon.out is no second", function()
      local path = command.file("units.out", gmon.new("<", 8):header():histogram { low = 0x1000,
         high = 0x1010, bins = { 50, 0, 20, 0 } }:arc(0x1001, 0x1008, 50):bytes())
      for _, report in ipairs { "flat", "graph" } do
         local out = command.run(("profio --report %s --metric samples %s"):format(report, path))
         assert.matches("self %(samples%)", out)
         assert.not_matches("Flat profile", out)
         assert.matches("Flat profile:", (command.run("profio --report flat " .. path)))
      end
   end)
end)

describe("core.unit", function()
   it("reads the unit from the help of a column", function()
      local rows = core.rows_reader({ { name = "a", type = "int", help = "weights [bytes]" },
         { name = "b", type = "num", help = "a time, in ns" }, { name = "c", type = "int",
            help = "a number" }, { name = "d", type = "name", help = "a name [x]" } }, {})
      local units = {}
      for i, name in ipairs { "a", "b", "c", "d" } do
         units[i] = core.unit(rows, name)
      end
      assert.same({ "bytes", "ns", "", "" }, units)
   end)
end)
