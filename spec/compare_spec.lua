-- profio compare and profio.compare: runs with known weights, whose changes are planted.
-- Tags: stressed.
-- Costly: many commands, or large inputs.

local command = require "spec.support.command"
local flames = require "spec.support.flames"
local json = require "dkjson"
local profio = require "profio"
local stored = require "spec.support.stored"
local viewers = require "spec.support.viewers"

local random, begin = require "spec.support.uniform"()

-- Returns a count near its mean, with the variance of samples: a sum of 12 uniform numbers.
local function noisy(mean)
   local sum = -6
   for _ = 1, 12 do
      sum = sum + random()
   end
   return math.max(0, math.floor(mean + math.sqrt(mean) * sum + 0.5))
end

local old_means = { ["main;heavy"] = 4000, ["main;light"] = 3000, ["main;old_name"] = 1500,
   ["main;parent"] = 800, ["main;parent;leaf"] = 1200, ["main;other"] = 2500 }

-- heavy is slower by half, old_name is renamed, leaf is inlined into parent.
local new_means = { ["main;heavy"] = 6000, ["main;light"] = 3000, ["main;new_name"] = 1500,
   ["main;parent"] = 2000, ["main;other"] = 2500 }

-- Returns a trace of one run.
local function run(means, factor, metric)
   local stacks = {}
   for _, stack in ipairs { "main;heavy", "main;light", "main;old_name", "main;new_name",
      "main;parent", "main;parent;leaf", "main;other", "start;program" } do
      stacks[stack] = means[stack] and noisy(means[stack] * (factor or 1)) or nil
   end
   return assert(profio.open { data = stored.pprof(stacks, nil, metric) })
end

local function runs(count, means, factor, metric)
   local list = {}
   for i = 1, count do
      list[i] = run(means, factor, metric)
   end
   return list
end

-- Returns the rows of a comparison by name.
local function by_name(comparison, column)
   local list = {}
   for _, row in ipairs(comparison:rows(column):rows(comparison.by, "before", "after", "change",
      "relative", "low", "high", "verdict", "moved", "detectable", "runs_needed"))
   do
      list[row[comparison.by]] = row
   end
   return list
end

local function verdicts(comparison)
   local list = {}
   for name, row in pairs(by_name(comparison)) do
      list[name] = row.verdict
   end
   return list
end

describe("profio.compare", function()
   before_each(function()
      begin(1)
   end)

   it("gives the verdicts that were planted", function()
      local found = by_name(assert(profio.compare(runs(6, old_means), runs(6, new_means),
         { alpha = 0.001 })))
      assert.equal("slower", found.heavy.verdict)
      assert.is_true(found.heavy.low < 0.5 and 0.5 < found.heavy.high)
      assert.equal("moved", found.old_name.verdict)
      assert.equal("to new_name", found.old_name.moved)
      assert.equal("from old_name", found.new_name.moved)
      assert.equal("to parent", found.leaf.moved)
      assert.equal("from leaf", found.parent.moved)
      for _, name in ipairs { "light", "other" } do
         assert.is_true(found[name].verdict == "unchanged" or found[name].verdict == "unknown")
      end
   end)

   it("finds no difference between runs of one version", function()
      for _ = 1, 20 do
         for name, verdict in pairs(verdicts(assert(profio.compare(runs(4, old_means),
            runs(4, old_means), { alpha = 0.001 }))))
         do
            assert.is_true(verdict == "unchanged" or verdict == "unknown", name .. verdict)
         end
      end
   end)

   it("compares shares if runs of different length are normalised", function()
      local options = { normalise = "total" }
      local base, new = runs(5, old_means), runs(5, old_means, 3)
      local comparison = assert(profio.compare(base, new, options))
      for name, row in pairs(by_name(comparison)) do
         assert.is_true(row.verdict == "unchanged" or row.verdict == "unknown", name)
         assert.is_true(math.abs(row.relative) < 0.2, name)
      end
      assert.is_true(math.abs(comparison.whole.relative - 2) < 0.1)
      assert.is_true(math.abs(comparison.whole.scale - 3) < 0.2)
      assert.equal("slower", verdicts(assert(profio.compare(base, new))).light)
   end)

   it("takes a function as unchanged", function()
      local found = verdicts(assert(profio.compare(runs(5, old_means), runs(5, new_means, 2),
         { normalise = "light" })))
      assert.equal("slower", found.heavy)
      assert.is_true(found.other ~= "slower" and found.other ~= "faster")
      assert.has_error(function()
         profio.compare(runs(1, old_means), runs(1, old_means), { normalise = "ligth" })
      end)
   end)

   it("keeps stacks that vanished, and those without a base", function()
      local found = by_name(assert(profio.compare(runs(5, old_means), runs(5, new_means),
         { by = "stack" })))
      assert.equal("gone", found["main;parent;leaf"].verdict)
      assert.equal(-1, found["main;parent;leaf"].relative)
      assert.equal(0, found["main;parent;leaf"].after)
      local new = found["main;new_name"]
      assert.equal("new", new.verdict)
      assert.is_nil(new.relative)
      assert.equal(new.after, new.change)
   end)

   it("has all cost of both sides in its rows", function()
      for _, by in ipairs { "function", "stack" } do
         local comparison = assert(profio.compare(runs(3, old_means), runs(4, new_means),
            { by = by }))
         local before, after = 0, 0
         for _, row in pairs(by_name(comparison)) do
            before, after = before + row.before, after + row.after
         end
         assert.is_true(math.abs(before - comparison.whole.before) < 1e-6)
         assert.is_true(math.abs(after - comparison.whole.after) < 1e-6)
      end
   end)

   it("gives a verdict on one run per side only if asked", function()
      local base, new = runs(1, old_means), runs(1, new_means)
      for _, verdict in pairs(verdicts(assert(profio.compare(base, new)))) do
         assert.equal("unknown", verdict)
      end
      assert.equal("slower", verdicts(assert(profio.compare(base, new, { single = true }))).heavy)
   end)

   it("gives no verdict on the whole with one run on a side", function()
      for _, sides in ipairs { { 1, 5 }, { 5, 1 } } do
         local base, new = runs(sides[1], old_means), runs(sides[2], old_means, 3)
         assert.equal("unknown", assert(profio.compare(base, new)).whole.verdict)
         assert.equal("slower", assert(profio.compare(base, new, { single = true })).whole.verdict)
      end
   end)

   it("takes any difference of exact counts as real", function()
      local function with(count)
         return assert(profio.open { data = stored.pprof { ["main;f"] = count, ["main;g"] = 7 } })
      end
      local base, new = with(100), with(101)
      assert.same({ f = "slower", g = "unchanged" },
         verdicts(assert(profio.compare(base, new, { exact = true }))))
   end)

   it("gives the difference of the means as a profile", function()
      local comparison = assert(profio.compare(runs(3, old_means), runs(2, new_means),
         { profiles = true }))
      local change = comparison:difference()
      local rows = by_name(comparison)
      for name, self in change:flat { zeros = true }:each("function", "self") do
         assert.is_true(math.abs(self - (rows[name] or { change = 0 }).change) < 2, name)
      end
      assert.has_error(function()
         assert(profio.compare(runs(1, old_means), runs(1, new_means))):difference()
      end)
   end)

   it("says what the whole did, what explains it and what is not known", function()
      local text = assert(profio.compare(runs(5, old_means), runs(5, new_means))):text()
      assert.matches("^The whole went from 1%d+%.?%d* to ", text)
      assert.matches("1 function changed, by %+%d[%d.]* in sum: heavy is slower", text)
      assert.matches("Cost moved, .* of old_name to new_name", text)
      assert.matches("needs %d+ runs to see 2 %%", text)
   end)
end)

describe("comparison:text", function()
   -- Returns the text of a comparison of 12 functions with equal counts; those of run j of the new
   -- side are `factors[j]` times as many.
   local function text_of(factors)
      local sides = { {}, {} }
      for j, factor in ipairs(factors) do
         for side, times in ipairs { 1, factor } do
            local stacks = {}
            for g = 1, 12 do
               stacks["main;f" .. g] = math.floor(1000 * times)
            end
            sides[side][j] = assert(profio.open { data = stored.pprof(stacks) })
         end
      end
      return assert(profio.compare(sides[1], sides[2])):text()
   end

   it("tells of a slower machine only if the runs of one side differ by less", function()
      assert.matches("The typical function costs 1.1 times as much as before, as on a slower "
         .. "machine", text_of { 1.1, 1.1, 1.1 }, 1, true)
      assert.is_nil(text_of { 1.4, 1.1, 0.8 }:find "typical function")
      assert.is_nil(text_of { 1.1 }:find "typical function")
   end)

   it("advises to compare shares if whole runs of one side differ", function()
      begin(1)
      local sides = { {}, {} }
      for _, list in ipairs(sides) do
         for j, factor in ipairs { 0.8, 0.9, 1.0, 1.1, 1.2 } do
            list[j] = run(old_means, factor)
         end
      end
      local said = "Whole runs of one side differ by 1%d %%: option normalise=total"
      assert.matches(said, assert(profio.compare(sides[1], sides[2])):text())
      assert.is_nil(assert(profio.compare(sides[1], sides[2], { normalise = "total" })):text()
         :find "Whole runs")
      assert.is_nil(assert(profio.compare(runs(5, old_means), runs(5, old_means))):text()
         :find "Whole runs")
   end)
end)

describe("profio.compare refuses", function()
   local function refused(base, new, words)
      local comparison, message, code = profio.compare(base, new)
      assert.is_nil(comparison)
      assert.equal("unsupported", code)
      assert.matches("must not be compared", message)
      assert.matches(words, message)
      comparison = assert(profio.compare(base, new, { anyway = true }))
      assert.matches(words, table.concat(comparison.warnings, "\n"))
   end

   it("another metric", function()
      refused(runs(2, old_means), runs(2, old_means, 1, "cycles"),
         "another metric: .*cycles %(count%), and 1 more run")
   end)

   it("another program", function()
      refused(runs(2, old_means), runs(2, { ["start;program"] = 500 }),
         "another program: 0 %% of the weight")
   end)

   it("a run that lost more than 1 % of its records, and warns of less", function()
      local function with(info)
         profio.register {
            name = "losing", score = function() return 0 end,
            tables = { samples = { { "function", "name" }, { "weight", "int" } } },
            profile = { table = "samples", ["function"] = "function",
               metrics = { { name = "samples", unit = "count", column = "weight" } } },
            open = function()
               return { info = info, samples = function(put) put("f", 100) end }
            end,
         }
         return { assert(profio.open({ data = "x", path = "run" }, { format = "losing" })) }
      end
      refused(with {}, with { lost = 2, records = 100 }, "run lost 1.96 %% of its records")
      for _, info in ipairs { { lost = 1, records = 100 }, { lost = 2 } } do
         local comparison = assert(profio.compare(with {}, with(info)))
         assert.same({ ("run: %d records were lost"):format(info.lost) }, comparison.warnings)
      end
   end)

   it("a run without weight", function()
      refused(runs(2, old_means), { run { ["main;heavy"] = 0 } }, "is empty")
   end)

   it("what is neither a trace nor a profile", function()
      for _, wrong in ipairs { { {}, runs(1, old_means) }, { runs(1, old_means), { 1 } },
         { "gmon.out", runs(1, old_means) } } do
         assert.has_error(function()
            profio.compare(wrong[1], wrong[2])
         end)
      end
      for _, one in ipairs { run(old_means), run(old_means):profile() } do
         local ok, message = pcall(profio.compare, one, one, { by = "area" })
         assert.is_false(ok)
         assert.matches("spec.lua:%d+: compare: statistics of calls need a trace", message)
      end
   end)
end)

describe("comparison:check", function()
   local comparison

   setup(function()
      begin(1)
      comparison = assert(profio.compare(runs(6, old_means), runs(6, new_means)))
   end)

   -- Returns the names that fail a condition, sorted.
   local function failed(condition)
      local names = {}
      for _, result in ipairs(comparison:check { condition }) do
         assert.equal(condition, result.condition)
         names[#names + 1] = result.state == "failed" and result.name or nil
      end
      table.sort(names)
      return table.concat(names, " ")
   end

   it("finds the rows that fail", function()
      assert.equal("heavy", failed "self > +5%")
      assert.equal("", failed "self > +90%")
      assert.equal("heavy", failed "self > 1000")
      assert.equal("heavy", failed "slower")
      assert.equal("", failed "new")
      assert.equal("leaf new_name old_name parent", failed "moved")
      assert.equal("heavy", failed "self of ~^h > 5%")
      assert.equal("^x", failed "self of ~^x > 5%")
      assert.equal("main", failed "total of main > 5%")
      assert.equal("the whole", failed "whole > 3%")
      assert.equal("", failed "whole < -3%")
   end)

   it("says for unknown verdicts what would be needed", function()
      local few = assert(profio.compare(runs(3, old_means, 0.05), runs(3, old_means, 0.05)))
      local results = few:check { "self > 1%" }
      assert.is_true(#results > 0)
      for _, result in ipairs(results) do
         assert.equal("unknown", result.state)
         assert.matches("%d+ runs on each side would show 1 %%", result.text)
      end
      local base, new = runs(3, old_means, 0.01), runs(2, new_means, 0.01)
      local tiny = stored.pprof { ["main;light"] = 29, ["main;tiny"] = 3 }
      new[3] = assert(profio.open { data = tiny })
      few = assert(profio.compare(base, new))
      for condition, words in pairs { ["self of light > 1"] = "%d+ runs on each side would show 1$",
         ["whole > 1%"] = "the whole: .*%d+ runs on each side would show 1 %%$",
         ["self of tiny > 5%"] = "tiny: 0 to 1, not known: more or longer runs are needed$" }
      do
         local result = few:check { condition }[1]
         assert.matches(words, result and result.text or condition)
      end
   end)

   it("gives no number of runs that nobody would make", function()
      local sentences = require "profio.internal.compare.sentences"
      assert.same({ "999 runs", "1000 runs", "more than 1000 runs" },
         { sentences.runs(999), sentences.runs(1000), sentences.runs(1001) })
   end)

   it("knows how many runs would show a change of the whole", function()
      -- The runs differ by 1 %, in their totals only: Welch's test with 18 degrees of freedom.
      local function side(factor)
         local list = {}
         for i = 1, 10 do
            list[i] = assert(profio.open { data = stored.pprof {
               ["main;f"] = math.floor(1e6 * factor * (i % 2 == 0 and 1.01 or 0.99)) } })
         end
         return list
      end
      local whole = assert(profio.compare(side(1), side(1))).whole
      -- power.t.test(power = 0.8, sd = 0.01054, n = 10) of R: delta = 0.01398
      assert.is_true(math.abs(whole.detectable - 0.01398) < 2e-4, whole.detectable)
   end)

   it("says that no row has a name, but not of one that must not come", function()
      local results = comparison:check { "self of hevy > 5%", "self of ~^x > 5%",
         "slower of heavy", "new of hevy", "self of main > 5%" }
      assert.equal("no row is called 'hevy'; did you mean 'heavy'?", results[1].text)
      assert.equal("no row has the pattern '^x'", results[2].text)
      assert.same({ "failed", "failed", "failed" }, { results[1].state, results[2].state,
         results[3].state })
      assert.equal(3, #results)
   end)

   it("refuses what is no condition", function()
      for _, wrong in ipairs { "", "slow", "self", "self > ", "self > 5 %x", "selv > 5%",
         "whole of main > 5%", "self of > 5%", "new > 5%", "new of main > 5%",
         "self of ~( > 5%", "self > 2ms" } do
         assert.has_error(function()
            comparison:check { wrong }
         end)
      end
   end)
end)

describe("profio compare", function()
   setup(function()
      begin(1)
      for i = 1, 5 do
         for name, means in pairs { old = old_means, new = new_means } do
            local trace <close> = run(means)
            assert(trace:export("pprof", ("%s/cmp-%s-%d.pb.gz"):format(command.folder, name, i)))
         end
      end
   end)

   local both = " cmp-old-?.pb.gz --new cmp-new-?.pb.gz "

   it("shows a table and a paragraph", function()
      local text, status, errors = command.run("profio compare" .. both)
      assert.equal(0, status, errors)
      assert.matches("new: cmp%-new%-1.pb.gz", text)
      assert.matches("%+%d%d%.%d %%  .* slower +heavy\n", text)
      assert.matches("\nThe whole went from ", text)
      assert.equal(text, (command.run("profio compare --new cmp-new-?.pb.gz --base "
         .. "cmp-old-?.pb.gz")))
      assert.equal(text, (command.run("profio compare --base cmp-old-?.pb.gz --new "
         .. "cmp-new-1.pb.gz --alpha 0.05 cmp-new-[2-5].pb.gz")))
   end)

   it("calls the end of an interval any change if it is a thousandfold", function()
      local cells = require "profio.cli.compare.comparison_text".cells({ change = 2, before = 1,
         after = 3, relative = 2000.0, low = -1.0, high = 1.5e14, verdict = "unknown",
         ["function"] = "f" }, "function", tostring)
      assert.same({ "+200000.0 %", "-100.0 % .. any" }, { cells[2], cells[3] })
   end)

   it("shows progress if asked", function()
      local _, _, errors = command.run("profio compare --progress" .. both)
      assert.matches("\rprofio: 10 of 10 files\n", errors)
   end)

   it("ends with status 4 if a condition of --fail holds", function()
      local text, status = command.run("profio compare" .. both .. "--fail 'self > +5%'")
      assert.equal(4, status)
      assert.matches("\nFAILED  self > %+5%%: heavy: ", text)
      assert.equal(0, select(2, command.run("profio compare" .. both .. "--fail 'self > +95%'")))
      for _, words in ipairs { "--output csv", "--output json", "--export folded" } do
         local rows, code, errors = command.run("profio compare" .. both .. words
            .. " --fail 'self > +5%'")
         assert.equal(4, code)
         assert.matches("profio: FAILED  self > %+5%%: heavy: ", errors)
         assert.is_nil(rows:find "FAILED")
      end
   end)

   it("writes rows, Markdown and JUnit's XML", function()
      local csv = command.run("profio compare" .. both .. "--output csv --columns "
         .. "function,verdict --where verdict=slower")
      assert.equal("function,verdict\nheavy,slower\n", csv)
      local markdown = command.run("profio compare" .. both .. "--output markdown --fail new "
         .. "--fail 'self > 5%'")
      assert.matches("^%- %*%*failed%*%* `self > 5%%`: heavy", markdown)
      assert.matches("\n| function | change %(samples%) |", markdown)
      assert.matches("<details><summary>%d without a known change</summary>", markdown)
      local xml, status = command.run("profio compare" .. both .. "--output junit --fail new "
         .. "--fail 'self > 5%'")
      assert.equal(4, status)
      assert.matches('<testsuite name="profio compare" tests="2" failures="1"', xml)
      assert.matches('name="self &gt; 5%%">\n    <failure message="heavy: ', xml)
   end)

   it("compares sets of runs of a store", function()
      assert.equal(0, select(2, command.run("rm -f cmp.db && profio store add cmp.db --label "
         .. "version=v1 cmp-old-?.pb.gz && profio store add cmp.db --label version=v2 "
         .. "cmp-new-?.pb.gz")))
      local text, status, errors = command.run("profio compare --base version=v1 --new "
         .. "version=v2 cmp.db --output csv --columns function,before,after,verdict")
      assert.equal(0, status, errors)
      assert.equal(command.run("profio compare" .. both
         .. "--output csv --columns function,before,after,verdict"), text)
      assert.equal(text, (command.run("profio compare version=v1 cmp.db --new version=v2 "
         .. "--output csv --columns function,before,after,verdict")))
   end)

   -- Returns the frames of a flame graph by name: width, color, total, before, change.
   local function frames_of(text)
      local list = {}
      for _, frame in ipairs(flames.read(text)) do
         list[frame.name] = { width = frame.width, total = frame.total, before = frame.before,
            change = frame.total - frame.before,
            red = tonumber(frame.color:sub(2, 3), 16), blue = tonumber(frame.color:sub(6, 7), 16) }
      end
      return list
   end

   it("draws the printed change, and what is gone, as a flame graph", function()
      local text, status, errors = command.run("profio compare" .. both .. "--export svg")
      assert.equal(0, status, errors)
      local frames, most = frames_of(text), 0
      local rows = command.run("profio compare" .. both
         .. "--output csv --columns function,change --where verdict=slower")
      assert.is_true(math.abs(tonumber(rows:match "heavy,([%d.]+)") - frames.heavy.change) < 2)
      for name, frame in pairs(frames) do
         assert.is_true(frame.change == 0 or (frame.change > 0) == (frame.red > frame.blue), name)
         assert.is_true(math.abs((frame.total + frame.before) / (frames.all.total
            + frames.all.before) - frame.width) < 1e-5, name)
         most = math.max(most, math.abs(frame.change))
      end
      for name, frame in pairs(frames) do -- the colour is proportional to the change
         local pale = math.min(frame.red, frame.blue)
         assert.is_true(math.abs(245 - 170 * math.abs(frame.change) / most - pale) < 2, name)
      end
      assert.equal(0, frames.leaf.total)
      assert.is_true(frames.leaf.width > 0.03)
      assert.matches("widths: total samples of both profiles", text)
   end)

   -- Returns the names of the frames of a picture, and the part of the width that it uses.
   local function drawn(picture)
      local names = {}
      for _, frame in ipairs(flames.read(picture)) do
         names[frame.name] = true
      end
      return names, tonumber(picture:match ' data%-scale="([^"]*)"')
   end

   it("names the first of many runs of each side in the picture", function()
      assert.matches(">cmp%-new%-1.pb.gz and 4 more less cmp%-old%-1.pb.gz and 4 more<",
         (command.run("profio compare" .. both .. "--export svg")))
      assert.matches(">cmp%-new%-1.pb.gz and cmp%-new%-2.pb.gz less cmp%-old%-1.pb.gz<",
         (command.run("profio compare cmp-old-1.pb.gz --new cmp-new-[12].pb.gz --export svg")))
   end)

   it("draws both sides in one scale", function()
      local text, status, errors = command.run("profio compare" .. both
         .. "--export svg --set pair=yes")
      assert.equal(0, status, errors)
      local before, after = text:match(('(<svg [^\n]*class="flames".*)'):rep(2) .. "$")
      assert.matches(">before: cmp%-old.*</svg>\n$", before)
      assert.matches(">after: cmp%-new", after)
      local old_names, old_width = drawn(before)
      local new_names, new_width = drawn(after)
      assert.is_true(old_names.leaf and old_names.old_name)
      assert.is_nil(new_names.leaf or new_names.old_name)
      assert.is_true(new_names.new_name)
      local rows, sums = command.run("profio compare" .. both .. "--output csv --columns "
         .. "before,after"), { 0, 0 }
      for before_weight, after_weight in rows:gmatch "([%d.]+),([%d.]+)\n" do
         sums[1], sums[2] = sums[1] + before_weight, sums[2] + after_weight
      end
      assert.is_true(math.abs(old_width / new_width - sums[1] / sums[2]) < 1e-3)
      assert.equal(2, select(2, command.run "profio export svg --set pair=yes cmp-old-1.pb.gz"))
   end)

   it("has three pictures in a page, of which one is shown", function()
      if not viewers.has_pages then
         return pending "needs chromium and puppeteer-core"
      end
      local seen = viewers.browse(command.run("profio compare" .. both .. "--export html"), [==[
         for (const side of ['before', 'after', 'difference']) {
            tell(side, await look(async value => {
               page.set({ side: value });
               const boxes = page.flames.rows().flat().filter(box => box.frame);
               return { names: Object.fromEntries(boxes.filter(box => box.frame.fn >= 0).map(box =>
                  [page.name(box.frame.fn), true])), all: boxes[0].w, total: boxes[0].frame.total };
            }, side));
         }]==])
      assert.same({}, seen.errors)
      local before, after, change = seen.told.before, seen.told.after, seen.told.difference
      assert.is_true(before.names.leaf and not before.names.new_name)
      assert.is_true(after.names.new_name and not after.names.leaf)
      assert.is_true(change.names.leaf and change.names.new_name)
      assert.is_true(math.abs(before.all / after.all - before.total / after.total) < 1e-3)
   end)

   it("draws sides that are normalised in one scale", function()
      local frames = frames_of((command.run("profio compare" .. both
         .. "--export svg --normalise total")))
      assert.is_true(math.abs(frames.all.change) <= 1)
      frames = frames_of((command.run("profio compare" .. both
         .. "--export svg --normalise light")))
      assert.is_true(math.abs(frames.light.change) <= 1)
      local page = command.run("profio compare" .. both .. "--export html")
      assert.matches('"difference":true', page)
      local data, found = json.decode(page:match 'id="data">(.-)</script>'), {}
      for i, pair in ipairs(data.verdicts) do
         found[i] = data.functions.name[pair[1] + 1] .. "," .. pair[2]
      end
      assert.equal((command.run("profio compare" .. both
         .. "--output csv --columns function,verdict")),
         "function,verdict\n" .. table.concat(found, "\n") .. "\n")
      assert.matches("leaf,%a+", table.concat(found, "\n")) -- which is gone
      assert.equal(2, select(2, command.run("profio compare" .. both .. "--export btf")))
   end)

   it("refuses wrong use", function()
      for words, said in pairs {
         ["cmp-old-1.pb.gz"] = "new runs are missing",
         ["--new cmp-new-1.pb.gz"] = "old runs are missing",
         ["version=v1 --new version=v2"] = "no file of %l+ runs",
         ["version=v1 cmp-old-1.pb.gz --new cmp-new-1.pb.gz"] = "runs of a store",
         [both .. "--output junit"] = "give one",
         [both .. "--by word"] = "is one of",
         [both .. "--fail nothing"] = "is no condition",
         [both .. "--alpha x"] = "must be a number",
      } do
         local _, status, errors = command.run("profio compare " .. words)
         assert.equal(2, status, words .. errors)
         assert.matches(said, errors)
      end
   end)
end)
