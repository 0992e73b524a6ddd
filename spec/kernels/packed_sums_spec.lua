-- Packed sums: statistics that come from them equal those of the events, and sums of packs do not
-- depend on how the runs were divided into packs.
--
-- Long: many commands or rows, or programs that are compiled.
-- Costly: large inputs, beside models in Lua.

local core = require "profio.core"
local events = require "spec.support.call_events"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local slow = require "spec.support.slow_calls"
local timelines = require "spec.support.call_timelines"

require "spec.support.events"

local ranks = { "p0", "p50", "p99", "p100" }

local function with(options, more)
   local all = { quantiles = ranks, max_depth = 0 }
   for _, list in ipairs { options, more } do
      for name, value in pairs(list) do
         all[name] = value
      end
   end
   return all
end

-- The rows of statistics as lines with all columns, in the order of the rows.
local function lines_of(reader)
   local names, lines = {}, {}
   for i, field in ipairs(reader:fields()) do
      names[i] = field.name
   end
   for i, row in ipairs(core.rows(reader)) do
      local values = {}
      for n, name in ipairs(names) do
         values[n] = name .. "=" .. tostring(row[name])
      end
      lines[i] = table.concat(values, " ")
   end
   return lines
end

local function sorted(lines)
   table.sort(lines)
   return table.concat(lines, "\n")
end

local function direct(trace, options)
   return sorted(lines_of(core.statistics(trace.events:reader(), options)))
end

local function packed(trace, options)
   return core.packed_sums(trace.events:reader(), options)
end

local function unpacked(bytes, options)
   return lines_of(assert(core.sums_statistics(bytes, options, core.dictionary())))
end

local groupings = { { "area", "context" }, { "context", "area" }, { "caller", "caller" } }

-- Compares the statistics in packed sums with those of the events, in all groupings.
local function check_trace(trace, options, what)
   for _, pair in ipairs(groupings) do
      local bytes = packed(trace, with(options, { by = pair[1] }))
      local wanted = with(options, { by = pair[2] })
      assert.equal(direct(trace, wanted), sorted(unpacked(bytes, wanted)), what)
      assert.equal(bytes, (assert(core.merged_sums { bytes })))
   end
end

-- {====== Files ======

local function word_of(area)
   local name = area.name:gsub(" ", "_")
   if area.class == "aux state" then
      return "state:" .. name .. "=" .. area.value
   end
   return area.class == "function" and name or area.class .. ":" .. name
end

-- A random file of the format `events`, with states, lines, several lanes and orphans.
local function random_file()
   local lines = { "EVENTS" }
   for _, e in ipairs(events.random(math.random)) do
      lines[#lines + 1] = ("%d %s %s %s"):format(e.time, e.event, word_of(e.area), e.lane or "-")
   end
   return { data = table.concat(lines, "\n") .. "\n" }
end

local function random_files(count)
   local files = {}
   for i = 1, count do
      files[i] = random_file()
   end
   return files
end

local function packs_of(files, options)
   local packs = {}
   for i, file in ipairs(files) do
      local trace <close> = assert(profio.open(file))
      packs[i] = packed(trace, options)
   end
   return packs
end

-- Adds up packs in a random order and grouping.
local function merged_at_random(packs)
   local list = table.move(packs, 1, #packs, 1, {})
   while #list > 1 do
      local some = {}
      for _ = 1, math.random(2, #list) do
         some[#some + 1] = table.remove(list, math.random(#list))
      end
      list[#list + 1] = assert(core.merged_sums(some))
   end
   return list[1]
end

-- Returns the names of the seeds of the fuzzers by format.
local function samples()
   local list = {}
   for _, format in ipairs { "br", "winidea", "xpp" } do
      list[format] = {}
      local pipe <close> = assert(io.popen("ls spec/fuzz/corpus/" .. format))
      for name in pipe:lines() do
         table.insert(list[format], name)
      end
   end
   return list
end

-- }======

describe("packed sums", function()
   it("give the statistics of the events", function()
      math.randomseed(31)
      for round = 1, rounds(75) do
         local list = events.random(math.random)
         local by_name = round % 3 == 0
         for _, e in ipairs(list) do
            e.area = by_name and e.area.name or e.area
         end
         local trace <close> = events.open(list, by_name and "calls of names" or nil)
         check_trace(trace, events.random_options(math.random), "round " .. round)
      end
   end)

   it("give the statistics of a slow model of calls", function()
      math.randomseed(32)
      for round = 1, rounds(50) do
         local list = events.random(math.random, true)
         local trace <close> = events.open(list)
         local rows = slow.calls(list, {})
         local expected = {}
         for _, r in ipairs(rows) do
            local sum = expected[r.area] or { area = r.area, count = 0, net = 0, gross = 0 }
            sum.count, sum.net = sum.count + r.count, sum.net + r.net
            sum.gross, sum.net_max = sum.gross + r.gross, math.max(sum.net_max or 0, r.net)
            expected[r.area] = sum
         end
         local reader = assert(core.sums_statistics(packed(trace, with({}, {})), with({}, {}),
            core.dictionary()))
         for _, row in ipairs(core.rows(reader, { "area", "count", "net", "gross", "net_max" })) do
            assert.same(expected[row.area], row, "round " .. round)
            expected[row.area] = nil
         end
         assert.is_nil(next(expected))
      end
   end)

   it("give the statistics of many calls, whose quantiles are counters", function()
      math.randomseed(33)
      local shape = { rows = 200000, functions = 40, has_suspends = true, min_depth = 2,
         stumbles = 0.0005, lines = true, states = true }
      local trace <close> = assert(profio.open({ data = timelines.make(shape) },
         { format = "winidea", bin_version = "1.1" }))
      for _, options in ipairs { {}, { recursion = "outermost", from = 1000, to = 900000 },
         { edges = "include", partial = "exclude" } } do
         check_trace(trace, options)
      end
   end)

   it("give the statistics of sums beyond 64 bits and of 0 ns", function()
      local list, long = {}, math.maxinteger // 2
      for i = 0, 600 do
         local time = i % 3 == 0 and math.mininteger or i % 3 == 1 and 0 or long
         list[#list + 1] = { time = time, event = "enter", area = { name = "f" }, lane = i }
         list[#list + 1] = { time = time + (i % 2) * long, event = "leave", area = { name = "f" },
            lane = i }
      end
      local trace <close> = events.open(list)
      check_trace(trace, {})
      assert.matches("net=nil net_min=0", direct(trace, with({}, {})))
   end)

   it("give the statistics of sample files of all formats", function()
      local count = 0
      for format, names in pairs(samples()) do
         for _, name in ipairs(names) do
            local trace = profio.open(("spec/fuzz/corpus/%s/%s"):format(format, name))
            if trace and trace:has "events" then
               check_trace(trace, { recursion = "outermost" }, name)
               count = count + 1
            end
            if trace then
               trace:close()
            end
         end
      end
      assert.is_true(count >= 16)
   end)

   it("are the same in whatever order areas and lanes occur", function()
      local function bytes_of(text)
         local trace <close> = events.open(events.of(text))
         return packed(trace, with({}, {}))
      end
      assert.equal(bytes_of "0 e f 1; 0 e g 2; 5 l g 2; 5 l f 1; 9 e g 1; 10 l g 1",
         bytes_of "0 e g 2; 0 e f 1; 5 l f 1; 9 e g 1; 10 l g 1; 5 l g 2")
   end)

   it("have rows in the order of areas and lanes", function()
      local trace <close> = events.open(events.of("0 e g 12; 1 e f 12; 2 l f 12; 3 l g 12; "
         .. "4 e f 30; 9 l f 30; 4 e f 7; 9 l f 7; 20 w b"))
      local order = {}
      for i, line in ipairs(unpacked(packed(trace, with({}, {})), with({}, { by = "context" }))) do
         order[i] = ("%s %s"):format(line:match "area=(%S+)", line:match "context=(%S+)")
      end
      assert.same({ "b nil", "f nil", "g nil", "f 7", "f 12", "g 12", "f 30" }, order)
   end)
end)

describe("merged sums", function()
   it("of files are those of the files read as one trace", function()
      math.randomseed(34)
      for round = 1, rounds(60) do
         local files = random_files(math.random(5))
         local options = events.random_options(math.random)
         if round % 3 == 0 then
            options.from, options.to = -200, 400
         elseif round % 3 == 1 then
            options.last = math.random(-1000, 1500)
         end
         local trace <close> = assert(profio.open(files))
         for _, pair in ipairs(groupings) do
            local wanted = with(options, { by = pair[2] })
            local bytes = assert(core.merged_sums(packs_of(files, with(options,
               { by = pair[1] }))))
            assert.equal(direct(trace, wanted), sorted(unpacked(bytes, wanted)),
               "round " .. round)
            assert.equal(packed(trace, with(options, { by = pair[1] })), bytes)
         end
      end
   end)

   it("do not depend on the order and the grouping of the packs", function()
      math.randomseed(35)
      for round = 1, rounds(30) do
         local packs = packs_of(random_files(math.random(2, 9)), with({}, {}))
         local whole = assert(core.merged_sums(packs))
         for _ = 1, 3 do
            assert.equal(whole, merged_at_random(packs), "round " .. round)
         end
      end
   end)

   it("have exact quantiles of up to 4,096 calls", function()
      local function file(from, count)
         local lines = { "EVENTS" }
         for i = from, from + count - 1 do
            lines[#lines + 1] = ("%d enter f\n%d leave f"):format(i * 100000, i * 100000 + i * 7)
         end
         return { data = table.concat(lines, "\n") .. "\n" }
      end
      for _, counts in ipairs { { 60, 4036 }, { 60, 4037 }, { 4096, 1 }, { 4097, 1 },
         { 5000, 5000 } }
      do
         local files = { file(500, counts[1]), file(500 + counts[1], counts[2]) }
         local trace <close> = assert(profio.open(files))
         local bytes = assert(core.merged_sums(packs_of(files, with({}, {}))))
         assert.equal(direct(trace, with({}, {})), sorted(unpacked(bytes, with({}, {}))))
         local all = counts[1] + counts[2]
         local middle = (500 + (all + 1) // 2 - 1) * 7
         local found = tonumber(unpacked(bytes, with({}, {}))[1]:match "net_p50=(%d+)")
         assert.equal(all <= 4096, middle == found)
         assert.is_true(math.abs(middle - found) <= middle / 256)
      end
   end)

   it("of one number of packs more than fit are refused", function()
      local trace <close> = events.open(events.of "0 e f; 5 l f")
      local bytes = packed(trace, with({}, {}))
      for _ = 1, 61 do
         bytes = assert(core.merged_sums { bytes, bytes })
      end
      assert.matches("count=" .. (1 << 61), unpacked(bytes, with({}, {}))[1])
      bytes = assert(core.merged_sums { bytes, bytes })
      local more, message, code = core.merged_sums { bytes, bytes }
      assert.same({ nil, "limit" }, { more, code })
      assert.matches("more than 2^62 calls", message, 1, true)
   end)

   it("with other options are refused", function()
      local trace <close> = events.open(events.of "0 e f; 5 l f")
      local names <close> = events.open(events.of "0 e f; 5 l f", "calls of names")
      local plain = packed(trace, with({}, {}))
      for option, value in pairs { recursion = "outermost", partial = "exclude", from = 3, to = 9,
         last = 10, max_depth = 7, by = "caller", recording = "events", edges = "include" } do
         local options = with({}, { [option] = value })
         local other = packed(trace, options)
         local found, message, code = core.merged_sums { plain, other }
         assert.same({ nil, "unsupported" }, { found, code })
         assert.matches("have another [^:]*'" .. option .. "'", message)
         found, message, code = core.sums_statistics(plain, options, core.dictionary())
         assert.same({ nil, "unsupported" }, { found, code })
         assert.matches("'" .. option .. "'", message)
         assert.is_userdata(core.sums_statistics(other, options, core.dictionary()))
         assert.is_string(core.merged_sums { other, other })
      end
      assert.matches("kind of areas", (select(2,
         core.merged_sums { plain, packed(names, with({}, {})) })))
   end)

   it("of nothing are wrong use", function()
      assert.error_matches(function() core.merged_sums {} end, "there is nothing to add")
   end)
end)

describe("statistics ordered by name", function()
   local function told(trace, options)
      return trace:call_statistics(options):write { output = "csv" }
   end

   it("do not depend on the order of the files", function()
      math.randomseed(38)
      for _ = 1, 20 do
         local files = random_files(3)
         local trace <close> = assert(profio.open(files))
         local swapped <close> = assert(profio.open { files[3], files[1], files[2] })
         for _, by in ipairs { "area", "context", "caller" } do
            local options = { by = by, order = "name", quantiles = "p90" }
            assert.equal(told(trace, options), told(swapped, options))
            local first = { by = by, quantiles = "p90" }
            assert.equal(sorted(lines_of(trace:call_statistics(first):reader())),
               sorted(lines_of(trace:call_statistics(options):reader())))
         end
      end
   end)

   it("are the same read in chunks", function()
      math.randomseed(39)
      local trace <close> = assert(profio.open({ data = timelines.make { rows = 30000,
         functions = 20, has_suspends = true } }, { format = "winidea", bin_version = "1.1" }))
      assert.equal(told(trace, { order = "name", parts = 1 }),
         told(trace, { order = "name", parts = 7, threads = 2 }))
   end)

   it("are those of stored sums", function()
      math.randomseed(40)
      local files, given = random_files(3), nil
      local trace <close> = assert(profio.open(files))
      local function sums(options)
         given = options
         if options.parts == 99 then
            return nil, "there are no such sums"
         end
         return core.merged_sums(packs_of(files, with({}, {})))
      end
      profio.register { name = "stored sums", score = function() return 0 end,
         tables = { none = { { "n", "int" } } }, open = function()
            return { none = function() end,
               stored = { losses = {}, close = function() end, sums = sums } }
         end }
      local stored <close> = assert(profio.open({ data = "x" }, { format = "stored sums" }))
      for _, by in ipairs { "area", "context" } do
         assert.equal(told(trace, { by = by, order = "name" }), told(stored, { by = by }))
         assert.equal(by, given.by)
      end
      assert.error_matches(function() told(stored, { parts = 99 }) end, "there are no such sums")
      assert.error_matches(function() told(stored, { recursion = "outermost" }) end,
         "option 'recursion': the store")
   end)
end)

describe("damaged packed sums", function()
   local function all_of(bytes)
      core.merged_sums { bytes }
      for _, by in ipairs { "area", "context", "caller" } do
         local reader = core.sums_statistics(bytes, with({}, { by = by }), core.dictionary())
         if reader then
            core.rows(reader)
         end
      end
   end

   it("are refused if they are cut anywhere", function()
      math.randomseed(36)
      local trace <close> = assert(profio.open(random_file()))
      for _, by in ipairs { "area", "caller" } do
         local bytes = packed(trace, with({}, { by = by }))
         for size = 0, #bytes - 1 do
            local found, message, code = core.merged_sums { bytes:sub(1, size) }
            assert.is_nil(found)
            assert.matches("^packed sums: ", message)
            assert.is_true(code == "truncated" or code == "format", code)
         end
         assert.is_nil((core.merged_sums { bytes .. "\0" }))
      end
   end)

   it("give an error or other sums if bytes are changed", function()
      math.randomseed(37)
      local trace <close> = assert(profio.open({ data = timelines.make { rows = 3000,
         functions = 5, states = true } }, { format = "winidea", bin_version = "1.1" }))
      for _, by in ipairs { "area", "caller" } do
         local bytes = packed(trace, with({}, { by = by }))
         for _ = 1, 400 do
            local at = math.random(#bytes)
            local byte = string.char(math.random(0, 255))
            all_of(bytes:sub(1, at - 1) .. byte .. bytes:sub(at + 1))
         end
      end
   end)
end)
