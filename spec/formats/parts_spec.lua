-- Counts that are divided into several files: what is computed from them does not depend on how.

local command = require "spec.support.command"
local dcpi = require "spec.support.dcpi_builder"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"

local NUMBERS = { 1, 2, 7, 64 }

-- Counts divided at random into `parts` lists whose sums are the counts.
local function divided(counts, parts)
   local lists = {}
   for part = 1, parts do
      lists[part] = {}
      for i = 1, #counts do
         lists[part][i] = 0
      end
   end
   for i, count in ipairs(counts) do
      for _ = 1, count do
         local list = lists[math.random(parts)]
         list[i] = list[i] + 1
      end
   end
   return lists
end

-- The files of one division, written by `bytes_of(counts, part)`.
local function files(name, counts, parts, bytes_of)
   local list = {}
   for part, some in ipairs(divided(counts, parts)) do
      list[part] = command.file(("%s_%d_%d"):format(name, parts, part), bytes_of(some, part))
   end
   return list
end

-- What is computed from files, as a list of texts.
local function results_of(paths, table_name, exports)
   local trace <close> = assert(profio.open(paths))
   local rows, list = trace:table(table_name), {}
   list[1] = rows:aggregate { "t = sum(spent)", "n = sum(count)", "s = min(spent)" }:rows()[1].t
   list[2] = rows:group(table_name == "samples" and "address" or "low")
      :aggregate { "t = sum(spent)", "n = sum(count)" }:where { n = profio.no(0) }
      :sort(table_name == "samples" and "address" or "low"):write { output = "csv" }
   local profile = exports and trace:profile()
   list[3] = profile and profile:flat():sort("function"):write { output = "csv" }
   for _, kind in ipairs(exports or {}) do
      list[#list + 1] = profile:export(kind):gsub("cmd: [^\n]*", "")
   end
   return list
end

describe("counts that are divided into files", function()
   local function same(name, table_name, exports, bytes_of)
      local seed = os.time()
      math.randomseed(seed)
      local counts = { 2, 1, 64, 0, 333, 7, math.random(500), math.random(500) }
      local expected
      for _, parts in ipairs(NUMBERS) do
         local results = results_of(files(name, counts, parts, bytes_of), table_name, exports)
         expected = expected or results
         assert.same({ seed, parts, expected }, { seed, parts, results })
      end
      return expected[1], counts
   end

   it("have the same times in dcpi, and the exact ones", function()
      for _, clock in ipairs { "333", "77", "1000" } do
         local time, counts = same("d" .. clock, "samples", { "pprof", "folded", "callgrind" },
            function(some)
               return dcpi():header { cpuspeed = clock }:chunk(0, some):footer():bytes()
            end)
         local sum = 0
         for _, count in ipairs(counts) do
            sum = sum + count
         end
         assert.equal((sum * 63488 * 1000 * 2 // math.tointeger(clock) + 1) // 2, time)
      end
   end)

   it("have the same times in dcpi where periods differ", function()
      local function period_of(number)
         return number % 2 == 0 and "63488" or "4099"
      end
      -- the same counts at two periods, each in one file or in two
      local function bytes(count, number)
         return dcpi():header { period = period_of(number) }:chunk(0, { count }):footer():bytes()
      end
      local expected
      for name, list in pairs { few = { 3, 5 }, many = { 1, 2, 2, 3 }, most = { 1, 1, 1, 3, 1, 1 } }
      do
         local paths = {}
         for i, count in ipairs(list) do
            paths[i] = command.file("period_" .. name .. i, bytes(count, i))
         end
         local results = results_of(paths, "samples", { "folded" })
         expected = expected or results
         assert.same(expected, results)
      end
      assert.equal((3 * 4099 * 1000 + 5 * 63488 * 1000 + 166) // 333, expected[1])
   end)

   it("have the times of whole counts in the reports of dcpi", function()
      local function file(name, counts)
         return command.file(name, dcpi():header {}:chunk(0, counts):footer():bytes())
      end
      local two, one = file("two", { 2 }), file("one", { 1 })
      local again = file("again", { 1 })
      for _, line in ipairs { "--report prof --output csv", "--report epochs --output csv",
         "--report flat --output csv", "--report topcounts --output csv",
         "--group event --aggregate 't=sum(spent)' --output csv",
         "--group event --aggregate 't=mean(spent),s=sum(spent)' --where count=1..9 --output csv" }
      do
         local whole = assert(command.run("profio " .. line .. " " .. two))
         local parts = assert(command.run("profio " .. line .. " " .. one .. " " .. again))
         if line:find "mean" then
            whole, parts = whole:match "381309", parts:match "381309"
         end
         assert.same({ line, whole }, { line, parts })
      end
   end)

   it("have the same times in gmon at any rate", function()
      for _, rate in ipairs { 100, 60, 1024, 97 } do
         local time, counts = same("g" .. rate, "histogram", rate == 100 and { "pprof", "folded" },
            function(some)
               return gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1020,
                  bins = some, rate = rate }:bytes()
            end)
         local sum = 0
         for _, count in ipairs(counts) do
            sum = sum + count
         end
         assert.equal((sum * 1000000000 * 2 // rate + 1) // 2, time)
      end
   end)
end)
