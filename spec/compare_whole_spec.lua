-- profio compare --whole: the change of the whole program as a row, for tools.
--
-- Tags: user, stressed.
-- Costly: many commands, or reports in Lua; other specs run the same C code.

local command = require "spec.support.command"
local json = require "dkjson"
local profio = require "profio"
local stored = require "spec.support.stored"

-- Five runs of a side; the runs differ, and `heavy` is slower in the new ones.
local function write_runs(name, heavy)
   local traces = {}
   for i = 1, 5 do
      local path = ("%s/whole-%s-%d.pb.gz"):format(command.folder, name, i)
      local trace <close> = assert(profio.open { data = stored.pprof {
         ["main;heavy"] = heavy + 7 * i, ["main;light"] = 3000 - 11 * i,
         ["main;other"] = 2500 + i * i } })
      assert(trace:export("pprof", path))
      traces[i] = assert(profio.open(path))
   end
   return traces
end

describe("comparison:text", function()
   it("names the row with the largest part if only the whole is known to have changed", function()
      -- f and g differ between runs, but not their sum; f is larger by 600 in the new runs.
      local sides = { {}, {} }
      for i, weight in ipairs { 1000, 3000, 2000, 1500, 2500 } do
         for s, side in ipairs(sides) do
            local stacks = { ["main;f"] = weight + 600 * (s - 1), ["main;g"] = 5000 - weight }
            for n = 1, 5 do
               stacks["main;h" .. n] = 1000
            end
            side[i] = assert(profio.open { data = stored.pprof(stacks) })
         end
      end
      local comparison = assert(profio.compare(sides[1], sides[2]))
      assert.equal("slower", comparison.whole.verdict)
      local text = comparison:text()
      assert.matches("No function is known to have changed", text)
      local count = tonumber(text:match("The largest part is in f: %+600 %(%+30.0 %%%), 100 %% "
         .. "of the change; about (%d+) runs on each side would prove it"))
      -- two means of f with its standard deviation of 790 and of the growth of 600: by Student's t,
      -- 28.2 runs for a power of 0.8 at 0.05, and more for several functions
      assert.is_true(count and count >= 28 and count < 100, text)
   end)
end)

describe("profio compare --whole", function()
   local old, new
   setup(function()
      old, new = write_runs("old", 4000), write_runs("new", 6000)
   end)

   local both = " whole-old-?.pb.gz --new whole-new-?.pb.gz "

   it("has the numbers of profio.compare as json", function()
      local whole, wanted = assert(profio.compare(old, new)).whole, {}
      for _, name in ipairs { "before", "after", "change", "relative", "low", "high", "p",
         "verdict", "detectable", "runs_needed", "scale", "scale_width" } do
         wanted[name] = assert(whole[name], name)
      end
      local text, status = command.run("profio compare" .. both .. "--whole --output json")
      local rows = json.decode(text)
      assert.same({ 0, 1 }, { status, #rows })
      for name, value in pairs(wanted) do
         local found = rows[1][name]
         assert(found == value or math.abs(found - value) <= 1e-12 * math.abs(value), name)
         rows[1][name] = nil
      end
      assert.same({}, rows[1])
      assert.same({ 2000.0, "slower" }, { wanted.change, wanted.verdict })
   end)

   it("takes columns, and ends with status 4 by conditions", function()
      local csv, status, errors = command.run("profio compare" .. both
         .. "--whole --output csv --columns change,verdict --fail 'whole > +3%'")
      assert.same({ "change,verdict\n2000,slower\n", 4 }, { csv, status })
      assert.matches("FAILED  whole > %+3%%: the whole: ", errors)
   end)

   it("is refused where no rows are written", function()
      for _, words in ipairs { "--output markdown", "--output junit --fail new",
         "--export folded" } do
         local _, status, errors = command.run("profio compare --whole" .. both .. words)
         assert.equal(2, status)
         assert.matches("%-%-whole is a row", errors)
      end
   end)

   it("names options that its form would ignore", function()
      for words, option in pairs {
         ["--output markdown --top 1"] = "--top", ["--output markdown --sort change"] = "--sort",
         ["--output junit --fail new --where change=5"] = "--where",
         ["--export folded --columns change"] = "--columns",
         ["--export folded --where change=5"] = "--where",
         ["--output csv --unit ms"] = "--unit", ["--export csv --wide"] = "--wide" } do
         local _, status, errors = command.run("profio compare" .. both .. words)
         assert.equal(2, status, words)
         assert.matches("cannot use " .. option .. ":", errors, 1, true)
      end
   end)

   it("reads the old runs first", function()
      for _ = 1, 8 do -- the order of pairs differs from process to process
         local _, status, errors = command.run "profio compare gone1 --new gone2"
         assert.equal(1, status)
         assert.matches("gone1", errors)
      end
   end)
end)

describe("profio compare of small rows", function()
   -- big is slower; 0.2 % of the whole are in each of tiny1 to tiny4, which differ between runs.
   local sums = { old = 0, new = 0 }

   setup(function()
      for side, big in pairs { old = 30000, new = 60000 } do
         for i = 1, 4 do
            local stacks = { ["main;big"] = big + 10 * i, ["main;edge"] = 700 + 300 * (i % 2) }
            for t = 1, 4 do
               local weight = 60 + 40 * ((i + t) % 2) + 4 * t + (side == "new" and 2 or 0)
               stacks["main;tiny" .. t], sums[side] = weight, sums[side] + weight / 4
            end
            local trace <close> = assert(profio.open { data = stored.pprof(stacks, nil, "hit") })
            assert(trace:export("pprof", ("%s/small-%s-%d.pb.gz"):format(command.folder, side, i)))
         end
      end
   end)

   local function run(options, status)
      local text, found, errors = command.run("profio compare small-old-?.pb.gz --new "
         .. "small-new-?.pb.gz " .. options)
      assert.equal(status or 0, found, errors)
      return text, errors
   end

   local function rows_of(text)
      return select(2, text:gsub("tiny%d", ""))
   end

   it("folds unknown ones into one with their sums", function()
      local text = run ""
      local table_of_text = text:match "^(.-)\n\n[^\n]*$" or text
      local row = table_of_text:match "([^\n]*)%(4 rows below 1 %%, by %-%-all%)"
      assert.matches(("^ *%%+%d +%%+%%d+%%.%%d %%%% +%d +%d +unknown +$"):format(
         math.tointeger(sums.new - sums.old), math.tointeger(sums.old),
         math.tointeger(sums.new)), row)
      assert.matches("unknown +edge", table_of_text) -- of at least 1 % on one side
      assert.equal(0, rows_of(table_of_text:match "^.-by %-%-all%)"))
      local markdown = run "--output markdown"
      assert.matches("<summary>%d+ without a known change</summary>", markdown)
      assert.matches("| %(4 rows below 1 %%, by %-%-all%) | %+8 | ", markdown)
      assert.is_nil(markdown:find "\n| tiny")
   end)

   it("shows each of them if it is told to", function()
      for _, options in ipairs { "--all", "--top 30", "--all --output markdown" } do
         local text = run(options)
         assert.not_matches("rows below", text)
         for t = 1, 4 do
            assert.matches((options:find "markdown" and "\n| tiny" or "unknown +tiny") .. t, text)
         end
      end
      for _, form in ipairs { "csv", "json" } do
         assert.equal(4, rows_of(run("--output " .. form)))
         assert.matches("cannot use %-%-all", select(2, run("--all --output " .. form, 2)))
      end
   end)
end)
