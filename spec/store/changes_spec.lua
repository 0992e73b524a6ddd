-- Which version of a store slowed what: series of runs whose weights are known, of which one
-- function has a step.
--
-- Tags: user.
-- Long: stores with many runs.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-changes"
local DAY <const>, START <const> = 86400, 1700000000

local function normal()
   return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
end

-- Adds the runs of versions to a store: { name =, day =, runs =, weights = { name = mean } } each,
-- with 5 % of noise.
local function fill(path, versions, key)
   os.remove(path)
   local store <close>, list = assert(profio.store(path)), {}
   for _, version in ipairs(versions) do
      local names = {}
      for name in pairs(version.weights) do
         names[#names + 1] = name
      end
      table.sort(names) -- so that the weights are the same in each process
      for run = 1, version.runs do
         local stacks = {}
         for _, name in ipairs(names) do
            stacks["main;" .. name] = math.floor(version.weights[name] * (1 + 0.05 * normal())
               + 0.5)
         end
         local trace <close> = assert(profio.open { data = stored.pprof(stacks,
            { time_nanos = (START + version.day * DAY + run) * 1000000000 }, "hit") })
         list[#list + 1] = assert(store:prepare(trace, { labels = { [key or "version"] =
            version.name, bench = version.bench } }))
      end
   end
   assert(store:write(list))
   return path
end

-- Returns versions v1, v2, ... with so many runs; `fast` has the factor of a version.
local function versions_of(count, runs, factor_of)
   local versions = {}
   for i = 1, count do
      versions[i] = { name = "v" .. i, day = i, runs = runs, weights = {
         parse = 100000 * factor_of(i), read = 300000, write = 600000, tiny = 50 } }
   end
   return versions
end

-- Returns the steps of a store as texts, and the notes.
local function changes(path, options)
   local store <close> = assert(profio.store(path, { mode = "read" }))
   local view, result = assert(store:changes(options))
   local list = {}
   for row in view:records() do
      list[#list + 1] = ("%s %s"):format(row["function"] or "whole", row.by)
   end
   return list, result.notes, view:rows(table.unpack(view.columns)), result
end

setup(function()
   disk.fresh(folder)
end)

describe("store:changes", function()
   it("finds the step of a function, and its size, in the order of the numbers in names", function()
      math.randomseed(1)
      local path = fill(folder .. "/one.db", versions_of(24, 8, function(i)
         return i < 12 and 1.0 or 1.3
      end))
      local list, notes, rows, result = changes(path)
      assert.equal("parse v12", list[#list])
      assert.same({ "1 function with less than 0.1 % of the whole in each version not tested" },
         notes)
      local row = rows[#rows]
      assert.same({ "v11", 88, 104, 11, 13 }, { row.previous, row.runs_before, row.runs_after,
         row.versions_before, row.versions_after })
      assert.is_true(row.low < 0.3 and row.high > 0.3 and row.high - row.low < 0.1)
      assert.is_true(math.abs(row.before / 100000 - 1) < 0.02)
      assert.is_true(math.abs(row.after / 130000 - 1) < 0.02)
      assert.is_true(math.abs(row.relative - (row.after / row.before - 1)) < 1e-9)
      assert.equal("v24", result.versions[24].name)
      assert.same({ "parse v12" }, { (changes(path, { since = "v12" }))[#list] })
      assert.same({}, (changes(path, { since = "v13" })))
      local by_share = changes(path, { normalise = "total" })
      assert.is_truthy(table.concat(by_share, ","):find("parse v12", 1, true))
      assert.is_nil(table.concat(by_share, ","):find("whole", 1, true))
      assert.same(list, (changes(path, { by = "day", since = "2023-11-26" })) and list)
   end)

   it("goes by the time of the runs if it is told to, and says if names may be wrong", function()
      math.randomseed(2)
      local versions = versions_of(24, 8, function(i)
         return i < 12 and 1.0 or 1.3
      end)
      for i, version in ipairs(versions) do
         version.name = ("%x"):format(i * 7919 % 251)
      end
      local path = fill(folder .. "/hashes.db", versions)
      local list, notes = changes(path, { order = "time" })
      assert.equal("parse " .. versions[12].name, list[#list])
      assert.not_matches("%-%-order", table.concat(notes))
      notes = select(2, changes(path))
      assert.matches("the order of the names of 'version' is not that of the times of their runs; "
         .. "%-%-order time", table.concat(notes))
   end)

   it("finds nothing where nothing changes", function()
      math.randomseed(3)
      local list = changes(fill(folder .. "/none.db", versions_of(30, 4, function()
         return 1.0
      end)))
      assert.same({}, list)
   end)

   it("says if versions ran in different places", function()
      local versions = versions_of(8, 3, function()
         return 1
      end)
      for i, version in ipairs(versions) do
         version.bench = i < 5 and "a" or "b"
      end
      local path = fill(folder .. "/benches.db", versions)
      local _, notes = changes(path)
      assert.matches("label 'bench' is a in v1 and b in v5: a step may be one between these; "
         .. "%-%-run bench=VALUE", table.concat(notes))
      notes = select(2, changes(path, { where = { bench = "a" } }))
      assert.not_matches("label 'bench'", table.concat(notes))
   end)

   it("says why so few versions or runs show nothing, and what is left out", function()
      math.randomseed(4)
      local function double(i)
         return i < 3 and 1.0 or 2.0
      end
      local list, notes = changes(fill(folder .. "/few.db", versions_of(4, 3, double)))
      assert.same({}, list)
      assert.matches("4 versions: no step can be found in fewer than 5; profio compare", notes[1])
      notes = select(2, changes(fill(folder .. "/single.db", versions_of(12, 1, double))))
      assert.matches("each version has one run", notes[1])
      local store <close> = assert(profio.store(folder .. "/single.db"))
      assert(store:label({ version = false }, { version = "v3" }))
      notes = select(2, changes(folder .. "/single.db"))
      assert.matches("1 run without label 'version' left out", notes[1])
   end)

   it("tells that the last version differs", function()
      math.randomseed(5)
      local versions = versions_of(20, 8, function(i)
         return i < 20 and 1.0 or 1.5
      end)
      for k = 1, 30 do
         for _, version in ipairs(versions) do
            version.weights["f" .. k] = 20000
         end
      end
      local list, notes = changes(fill(folder .. "/last.db", versions))
      assert.same({}, list)
      assert.matches("v20, the last version, differs from those before it in %d rows?, most in "
         .. "parse %(%+%d%d%.%d %%%); one version is no step yet", table.concat(notes))
   end)

   it("follows functions that are named by their positions", function()
      math.randomseed(6)
      local versions = versions_of(20, 4, function()
         return 1.0
      end)
      for i, version in ipairs(versions) do
         version.weights[("function at p.lua:%d"):format(i < 9 and 3 or 7)] = 90000
      end
      assert.same({}, (changes(fill(folder .. "/moved.db", versions))))
   end)

   it("refuses wrong options", function()
      local store <close> = assert(profio.store(folder .. "/none.db"))
      for message, options in pairs {
         ["changes: order is label or time, got 'x'"] = { order = "x" },
         ["changes: normalise is none or total, got 'x'"] = { normalise = "x" },
         ["changes: alpha must be above 0 and below 1, got 2"] = { alpha = 2 },
         ["since: no version 'v99'; the last one is v30"] = { since = "v99" },
         ["by: no label 'color'; there are: hour, day, week, month, run, version"] =
            { by = "color" },
      } do
         assert.has_error(function()
            store:changes(options)
         end, message)
      end
      assert.has_error(function()
         store:changes { wrong = 1 }
      end)
   end)
end)

describe("profio store changes", function()
   local function run(line, status, message)
      local text, found, errors = command.run("cd store-changes && profio store changes " .. line)
      assert.matches(message or "not tested", errors)
      assert.equal(status or 0, found)
      return text
   end

   it("shows the steps in text", function()
      local text = run "one.db"
      assert.matches("^ *change +interval +before +after +runs +p +from +function\n", text)
      assert.matches("\n *%+[23]%d%.%d %%  %+%d+%.%d %% %.%. %+%d+%.%d %% +%d+%.%d +%d+%.%d +88, "
         .. "104 +%S+  v12 +parse\n", text)
      assert.matches("steps? in 3 functions and the whole over 24 values of 'version', v1 to v24, "
         .. "with 192 runs, at a level of 2 %%%.\n$", text)
      assert.matches("^0 steps in 3 functions and the whole", run "--since v13 one.db")
      assert.not_matches("parse\n", run "--where function=read one.db")
   end)

   it("has rows, Markdown, and test cases for a CI server", function()
      assert.equal("function,by,previous\nparse,v12,v11\n", run("--columns function,by,previous "
         .. "--where function=parse --output csv one.db"))
      assert.matches("| v12 | parse |\n.*\nNote: 1 function with less", run(
         "--output markdown one.db", 0, "^$"))
      local text = run "--output junit one.db"
      assert.matches('<testsuite name="profio store changes" tests="4" failures="[12]" ', text)
      assert.matches('<testcase classname="profio.store.changes" name="parse">\n'
         .. '    <failure message="parse at v12: %+%d+', text)
      assert.matches('<testcase classname="profio.store.changes" name="read">\n  </testcase>', text)
      run("--output junit --sort by one.db", 2, "%-%-output junit cannot use %-%-sort")
      run("--order x one.db", 2, "order is label or time")
      run("--alpha x one.db", 2, "option 'alpha' must be a number, got x")
      run("one.db none.db", 2, "expects one STORE")
   end)
end)

describe("the gate of store changes", function()
   local function run(line, status)
      local text, found, errors = command.run("cd store-changes && profio store changes " .. line)
      assert.equal(status, found, text .. errors)
      return text, errors
   end

   setup(function() -- parse +30 % at v12, read -40 % at v8, late is new at v12, early gone
      math.randomseed(11)
      local versions = versions_of(24, 8, function(i)
         return i < 12 and 1.0 or 1.3
      end)
      for i, version in ipairs(versions) do
         local weights = version.weights
         weights.read = i < 8 and 300000 or 180000
         weights[i < 12 and "early" or "late"] = 200000
      end
      fill(folder .. "/gate.db", versions)
      fill(folder .. "/gate-few.db", { table.unpack(versions, 1, 4) })
   end)

   it("ends with status 4 if a step meets a condition", function()
      for condition, status in pairs {
         ["self > +5%"] = 4, ["self of parse > +20%"] = 4, ["self of parse > +40%"] = 0,
         ["self of read > +1%"] = 0, ["self of read < -30%"] = 4, ["self of read < -50%"] = 0,
         ["self of ~^pa > +20000"] = 4, ["self of parse > +50000"] = 0, ["slower of parse"] = 4,
         ["slower of read"] = 0, ["faster of read"] = 4, ["new of late"] = 4, new = 4, gone = 4,
         ["gone of early"] = 4, ["gone of parse"] = 0, ["whole > +50%"] = 0, ["whole < -5%"] = 4,
         ["slower of nobody"] = 4, ["slower of tiny"] = 4, -- a gate that checks nothing
      } do
         local text = run(("--fail '%s' gate.db"):format(condition), status)
         assert.equal(status == 4, text:find("\nFAILED  " .. condition, 1, true) ~= nil, condition)
      end
      assert.matches("FAILED  self of parse > %+20%%: parse: %S+ to %S+ %(%+[23]%d%.%d %%%), "
         .. "slower from v12 on\n", (run("--fail 'self of parse > +20%' gate.db", 4)))
      run("--fail 'self of read < -30%' --since v9 gate.db", 0)
      run("--fail 'faster of read' --fail 'slower of read' --since v8 gate.db", 4)
      run("--fail 'faster of read' --where function=parse --top 1 gate.db", 4)
      run("--fail 'self of parse > +5%' --normalise total gate.db", 4)
   end)

   it("is shown in each form", function()
      local text, errors = run("--fail 'faster of read' --output csv gate.db", 4)
      assert.not_matches("FAILED", text)
      assert.matches("FAILED  faster of read: read: ", errors)
      text = run("--fail 'faster of read' --output markdown gate.db", 4)
      assert.matches("^%- %*%*failed%*%* `faster of read`: read: ", text)
      text = run("--fail 'faster of read' --fail 'slower of read' --output junit gate.db", 4)
      assert.matches('tests="2" failures="1" errors="0" skipped="0"', text)
      assert.matches('name="faster of read">\n    <failure message="read: ', text)
   end)

   it("says that it is not known in few versions", function()
      local text = run("--fail 'self > +5%' gate-few.db", 0)
      assert.matches("unknown  self > %+5%%: not known: 4 versions, and no step", text)
      text = run("--fail 'self > +5%' --output junit gate-few.db", 0)
      assert.matches('failures="0" errors="0" skipped="1"', text)
   end)

   it("refuses conditions that no step can meet", function()
      for line, message in pairs {
         ["--fail 'total > +5%'"] = "steps are those of self",
         ["--fail moved"] = "no step is moved", ["--fail 'unknown of x'"] = "no step is unknown",
         ["--normalise total --fail 'whole > +5%'"] = "the whole has no steps",
         ["--normalise total --fail 'self > +5'"] = "shares have bounds in per cent",
         ["--fail 'self > +5ms'"] = "is no time: its bound has no unit",
         ["--fail x"] = "'x' is no condition",
      } do
         local _, errors = run(line .. " gate.db", 2)
         assert.matches(message, errors)
      end
   end)

   it("checks conditions in Lua", function()
      local store <close> = assert(profio.store(folder .. "/gate.db"))
      local result = select(2, assert(store:changes()))
      local list = result.check { "self of parse > +20%", "slower of read" }
      assert.same({ 1, "parse", "failed" }, { #list, list[1].name, list[1].state })
      assert.same({}, result.check {})
   end)
end)
