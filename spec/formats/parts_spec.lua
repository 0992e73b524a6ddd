-- Counts that are divided into several files: the results do not depend on the division.

local command = require "spec.support.command"
local dcpi = require "spec.support.dcpi_builder"
local gmon = require "spec.support.gmon_builder"
local profio = require "profio"

local NUMBERS = { 1, 2, 7, 64 }

-- Divides counts at random into `parts` lists whose sums are the counts.
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

-- Returns the paths of the files of one division, encoded by `bytes_of(counts, part)`.
local function files(name, counts, parts, bytes_of)
   local list = {}
   for part, some in ipairs(divided(counts, parts)) do
      list[part] = command.file(("%s_%d_%d"):format(name, parts, part), bytes_of(some, part))
   end
   return list
end

-- Returns results computed from files as a list: sums of times, rows, a profile, and exports.
local function results_of(paths, table_name, exports, options)
   local trace <close> = assert(profio.open(paths, options))
   local rows, list = trace:table(table_name), {}
   list[1] = rows:aggregate { "t = sum(spent)", "n = sum(count)", "s = min(spent)" }:rows()[1].t
   list[4] = false
   list[5] = rows:derive { "t = total(spent)" }:limit(1):rows()[1].t
   assert.equal(list[1], list[5])
   if table_name == "histogram" then
      local seconds = rows:aggregate { "s = sum(seconds)", "m = mean(seconds)", "n = count" }
      list[4] = seconds:rows()[1].s
      local row = seconds:rows()[1]
      assert.is_true(math.abs(row.s / row.n - row.m) <= row.m * 2.0 ^ -52)
   end
   list[2] = rows:group(table_name == "samples" and "address" or "low")
      :aggregate { "t = sum(spent)", "n = sum(count)" }:where { n = profio.no(0) }
      :sort(table_name == "samples" and "address" or "low"):write { output = "csv" }
   local profile = trace:profile()
   list[3] = profile:flat():sort("function"):write { output = "csv" }
   for _, kind in ipairs(exports) do
      local text = profile:export(kind)
      -- without the name of the first file
      list[#list + 1] = text:gsub(command.folder:gsub("%p", "%%%0") .. "/[%w_]+", "F")
   end
   return list
end

describe("counts that are divided into files", function()
   local function same(name, table_name, exports, bytes_of, options)
      math.randomseed(93)
      local counts = { 2, 1, 64, 0, 333, 7, math.random(500), math.random(500) }
      local expected
      for _, parts in ipairs(NUMBERS) do
         local results = results_of(files(name, counts, parts, bytes_of), table_name, exports,
            options)
         expected = expected or results
         assert.same({ parts, expected }, { parts, results })
      end
      return expected[1], counts, expected[4]
   end

   it("have the same exact times in dcpi", function()
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

   it("have the same times in dcpi with different periods", function()
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

   it("have the times of the undivided counts in the reports of dcpi", function()
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

   it("have the same times in gmon at any rate, also of bins over several functions", function()
      -- bins have 4 bytes: most functions begin or end in the middle of one
      local symbols = command.file("parts.nm", "0000000000001001 T first\n"
         .. "0000000000001006 T second\n0000000000001007 T third\n0000000000001013 T fourth\n")
      for i, rate in ipairs { 100, 60, 1024, 97, 100, 60, 1024 } do
         local time, counts, seconds = same(("g%d_%d"):format(i, rate), "histogram",
            { "pprof", "folded", "callgrind", "speedscope", "svg" }, function(some)
               local file = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1020,
                  bins = some, rate = rate }
               for at, count in ipairs(some) do
                  if at > 1 and count > 0 then
                     file:arc(0x1000 + 4 * at, 0x1000 + 4 * (at * 5 % 8), count)
                  end
               end
               return file:bytes()
            end, i > 4 and { symbols = symbols } or nil)
         local sum = 0
         for _, count in ipairs(counts) do
            sum = sum + count
         end
         assert.equal((sum * 1000000000 * 2 // rate + 1) // 2, time)
         assert.equal(sum / rate, seconds)
      end
   end)

   it("have the same seconds in gmon with different rates", function()
      local function bytes(rate, count)
         return gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1004,
            bins = { count }, rate = rate }:bytes()
      end
      local a, b = command.file("rate_a", bytes(60, 7)), command.file("rate_b", bytes(1024, 3))
      local c = command.file("rate_c", bytes(97, 1))
      local expected = (7 * 1024 * 97 + 3 * 60 * 97 + 60 * 1024) / (60 * 1024 * 97)
      for _, list in ipairs { { a, b, c }, { c, b, a }, { b, c, a } } do
         local trace <close> = assert(profio.open(list))
         assert.equal(expected, trace.histogram:aggregate { "s = sum(seconds)" }:rows()[1].s)
      end
   end)

   it("have a profile of gmon that adds up", function()
      for _, rate in ipairs { 1024, 60, 7 } do
         local bins = {}
         for i = 1, 500 do
            bins[i] = math.random(0, 9)
         end
         local bytes = gmon.new("<", 8):header():histogram { low = 0x1000, high = 0x1000 + 2000,
            bins = bins, rate = rate }:bytes()
         local trace <close> = assert(profio.open { data = bytes })
         local sum = trace.histogram:aggregate { "n = sum(count)" }:rows()[1].n
         assert.equal((sum * 1000000000 * 2 // rate + 1) // 2,
            trace:profile():flat():aggregate { "t = sum(self)" }:rows()[1].t)
      end
   end)
end)
