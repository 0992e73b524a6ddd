-- profio compare of timelines: areas and contexts, the statistics of their calls, and limits.
--
-- Tags: user, stressed.
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local command = require "spec.support.command"
local profio = require "profio"
local stored = require "spec.support.stored"

local random, begin = require "spec.support.uniform"()

-- Returns the rows of a comparison by name.
local function by_name(comparison)
   local list = {}
   for row in comparison:rows():records() do
      list[row[comparison.by]] = row
   end
   return list
end

local written = 0 -- timelines

-- Writes a timeline of two cores: `read` is the mean length of a call of Db_Read in core 1.
local function timeline(read)
   written = written + 1
   local path = ("%s/compared-%d-%d.txt"):format(command.folder, read, written)
   local trace = assert(profio.create(path, { format = "winidea", dialect = "text1",
      timeline_binary = true }))
   local now = 0
   for _ = 1, 60 do
      for core = 0, 1 do
         for _, call in ipairs { { "Db_Read", core == 1 and read or 10000 }, { "Task", 20000 } } do
            trace:write { time = now, event = "enter", area = call[1], core = core }
            now = now + math.floor(call[2] * (0.9 + 0.2 * random()))
            trace:write { time = now, event = "leave", area = call[1], core = core }
            now = now + 100
         end
      end
   end
   assert(trace:close())
   return assert(profio.open(path))
end

describe("profio.compare of timelines", function()
   it("compares areas, alone and in each context", function()
      begin(1)
      local sides = { {}, {} }
      for i = 1, 4 do
         sides[1][i], sides[2][i] = timeline(10000), timeline(15000)
      end
      for by, wanted in pairs {
         ["function"] = { Db_Read = "slower" }, area = { Db_Read = "slower" },
         context = { ["Db_Read in core 1"] = "slower", ["Db_Read in core 0"] = "unchanged" } } do
         local comparison = assert(profio.compare(sides[1], sides[2], { by = by }))
         local found, change = by_name(comparison), 0
         for name, verdict in pairs(wanted) do
            assert.equal(verdict, found[name].verdict, by .. name)
         end
         for _, row in pairs(found) do
            change = change + row.change
         end
         assert.is_true(math.abs(change - comparison.whole.change) < 10, by)
      end
      local _, message = pcall(profio.compare, sides[1], sides[2], { by = "line" })
      assert.matches("no lines are known", message)
   end)
end)

-- Returns the calls of areas in the lanes of timelines: { { run =, area =, lane =, start =, gross =
-- }, ... }.
local function calls_of(traces)
   local list = {}
   for number, trace in ipairs(traces) do
      for call in trace:calls():records("area", "lane", "start", "gross") do
         call.run, list[#list + 1] = number, call
      end
   end
   return list
end

describe("statistics of calls in a comparison of timelines", function()
   local sides, paths = {}, {}

   setup(function()
      begin(1)
      for side, read in pairs { base = 10000, new = 15000 } do
         sides[side], paths[side] = {}, {}
         for i = 1, side == "base" and 3 or 2 do
            sides[side][i] = timeline(read)
            paths[side][i] = sides[side][i].path
         end
      end
   end)

   -- Returns the count of calls, the longest ones, and the 99th percentile by the nearest rank.
   local function expected(side, area, lane)
      local grosses, longest = {}, {}
      for _, call in ipairs(calls_of(sides[side])) do
         if call.area == area and (lane == nil or call.lane == lane) then
            grosses[#grosses + 1] = call.gross
            longest = call.gross > (longest[1] or call).gross and {} or longest
            longest[#longest + 1] = call.gross >= (longest[1] or call).gross and call or nil
         end
      end
      table.sort(grosses)
      return #grosses / #sides[side], longest, grosses[math.ceil(0.99 * #grosses)]
   end

   it("divides the net time by the length of all files of a run", function()
      local function file(name, length)
         local path = command.folder .. "/" .. name
         local trace = assert(profio.create(path, { format = "winidea", dialect = "text1",
            timeline_binary = true }))
         for i, row in ipairs { { "enter", "f" }, { "leave", "f" }, { "enter", "g" },
            { "leave", "g" } }
         do
            trace:write { time = ({ 0, length, length, 1000 })[i], event = row[1], area = row[2],
               core = 0 }
         end
         assert(trace:close())
         return path
      end
      local both = { file("load-1.txt", 500), file("load-2.txt", 600) }
      local trace <close> = assert(profio.open(both))
      local comparison = assert(profio.compare(trace, trace, { by = "area" }))
      assert.equal(1100 / 2000, by_name(comparison).f.load)
      for _, of in ipairs { { "", "0.55" }, { "--from 0 --to 500", "1" } } do
         local text, status = command.run("profio --report statistics " .. of[1] .. " --output csv "
            .. "--columns area,load --where area=f load-1.txt load-2.txt --diff load-1.txt")
         assert.equal(0, status)
         assert.equal("area,load\nf," .. of[2] .. "\n", text)
      end
   end)

   it("are those of all calls of both sides", function()
      for by, lanes in pairs { area = { "" }, context = { " in core 0", " in core 1" } } do
         local found = {}
         for row in assert(profio.compare(sides.base, sides.new, { by = by })):rows():records() do
            found[row[by]] = row
         end
         for _, area in ipairs { "Db_Read", "Task" } do
            for _, lane in ipairs(lanes) do
               local row = found[area .. lane]
               for side, suffix in pairs { base = "_before", new = "" } do
                  local count, longest, p99 = expected(side, area, lane:match "core %d")
                  assert.equal(count, row["count" .. suffix])
                  assert.equal(longest[1].gross, row["gross_max" .. suffix])
                  local starts = {}
                  for _, call in ipairs(longest) do
                     starts[call.run .. " " .. call.start] = true
                  end
                  assert.is_true(starts[row["gross_max_run" .. suffix] .. " "
                     .. row["gross_max_at" .. suffix]])
                  assert.is_true(math.abs(row["gross_p99" .. suffix] - p99) <= p99 / 100)
               end
               assert.equal(row.gross_max - row.gross_max_before, row.gross_max_change)
               assert.is_true(math.abs(row.net - row.after) <= 1)
            end
         end
      end
   end)

   it("are shown in all outputs", function()
      local words = ("profio compare --by context %s --new %s "):format(
         table.concat(paths.base, " "), table.concat(paths.new, " "))
      local longest = select(2, expected("new", "Db_Read", "core 1"))[1]
      local start = ("%.3f us"):format(longest.start / 1000)
      assert.matches("\n *60 +.* " .. start:match "[%d.]+" .. " +" .. longest.run
         .. " .* new +Db_Read in core 1\n", (command.run(words)))
      assert.matches('"gross_max_at":' .. longest.start .. ',',
         (command.run(words .. "--output json")))
      local at = longest.start < 1000000 and start or ("%.3f ms"):format(longest.start / 1e6)
      assert.matches("| Db\\_Read in core 1 | 60 → 60 |.* → " .. at .. " |",
         (command.run(words .. "--output markdown")))
   end)

   it("are compared with limits, which may be relative to the base", function()
      local longest = select(2, expected("base", "Db_Read", "core 1"))[1]
      command.file("compared.limits", 'Db_Read in "core 1" gross_max <= base * 1.05\n'
         .. "Task count == base\nTask gross_max < 1s # always\nNone gross_max < 1s\n")
      local words = ("profio compare %s --new %s --limits compared.limits "):format(
         table.concat(paths.base, " "), table.concat(paths.new, " "))
      local text, status = command.run(words)
      assert.equal(4, status)
      assert.matches("FAILED +Db_Read in .* limit <= " .. ("%.3f us"):format(longest.gross * 1.05
         / 1000):gsub("%.", "%%."), text)
      assert.matches("FAILED +None gross_max < 1s: None: none", text)
      assert.equal(2, select(2, text:gsub("FAILED", "")))
      assert.matches('tests="4" failures="2"', (command.run(words .. "--output junit")))
      command.file("compared.limits", "Db_Read nothing < 3\n")
      assert.equal(2, select(2, command.run(words)))
      assert.has_error(function()
         assert(profio.compare(sides.base, sides.new)):limits "Task count == base"
      end)
      local results = assert(profio.compare(sides.new, sides.base, { calls = true }))
         :limits "Db_Read gross_max <= base"
      assert.equal("ok", results[1].state)
   end)

   it("need a trace with calls", function()
      local profile = assert(profio.open { data = stored.pprof { ["main;f"] = 7 } })
      local _, message = pcall(profio.compare, profile, profile, { calls = true })
      assert.matches("has none", message)
   end)
end)
