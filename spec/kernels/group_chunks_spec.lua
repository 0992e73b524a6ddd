-- Groups over timelines read in chunks equal those of one scan, with the same warnings and errors.
--
-- Costly: large inputs, beside models in Lua.
-- Tags: stressed.

local core = require "profio.core"
local chunks = require "profio.internal.chunks"
local profio = require "profio"
local traces = require "profio.internal.trace"
local view = require "profio.view"

-- Regular events and a few anomalies: times that decrease, invalid records.
local function timeline(rows, odd)
   local list, time = {}, 0
   for i = 1, rows do
      time = time + math.random(0, 9)
      local handle = math.random(2) == 1 and math.random(0, 40) or
         0x20000000 + math.random(0, 3) * 0x10000000 + math.random(0, 5)
      local word = math.random(0, 1) << 4 | math.random(0, 3)
      if math.random() < odd then
         word = word | 0x10000
      end
      list[i] = ("<I4I4i8i8"):pack(handle, word, math.random(-3, 3),
         math.random() < odd and time - 500 or time)
   end
   return table.concat(list)
end

local function open(bytes, options)
   options = options or {}
   options.format, options.bin_version = "winidea", "1.1"
   return assert(profio.open({ data = bytes }, options))
end

local aggregates = { { name = "n", fn = "count" }, { name = "s", fn = "sum", column = "value" },
   { name = "least", fn = "min", column = "time" }, { name = "most", fn = "max", column = "event" },
   { name = "first", fn = "first", column = "value" },
   { name = "last", fn = "last", column = "area" },
   { name = "cores", fn = "distinct", column = "core" } }
local keys = { {}, { { column = "area" } }, { { column = "event" }, { column = "area" } },
   { { column = "time", bucket = 10000 }, { column = "core" } } }
local tests = { { column = "time", op = "between", low = 20000, high = 90000 },
   { column = "area", op = "eq", value = "00000007", negate = true } }

-- The rows of a group as text; read in chunks, with or without a condition.
local function told(trace, key, parts, tested)
   local part = traces.of(trace).parts[1]
   local function stage(reader)
      return tested and core.where(reader, tests) or reader
   end
   local readers = parts and chunks.readers(part, "timeline", trace:row_count "timeline", parts)
   for i = 1, parts or 0 do
      readers[i] = stage(readers[i])
   end
   local reader = core.group(stage(part:reader "timeline"), key, aggregates, readers)
   local text, message = view.over(function() return reader end):write { output = "csv" }
   return text or message
end

local function check(bytes, expected_warnings)
   for _, key in ipairs(keys) do
      for _, tested in ipairs { false, true } do
         local one <close> = open(bytes)
         local whole = told(one, key, nil, tested)
         assert.equal(expected_warnings, #one.warnings > 0)
         for _, parts in ipairs { 1, 2, 3, 7 } do
            local trace <close> = open(bytes)
            assert.equal(whole, told(trace, key, parts, tested), parts .. " parts")
            assert.same(one.warnings, trace.warnings)
         end
      end
   end
end

describe("groups over timelines in chunks", function()
   it("equal those of one scan", function()
      math.randomseed(21)
      check(timeline(30000, 0), false)
   end)

   it("give the warnings of one scan, also when there are more than are kept", function()
      math.randomseed(22)
      check(timeline(30000, 0.0001), true)
      check(timeline(30000, 0.02), true)
   end)

   it("have the same quantiles, exact or not", function()
      local exact = { { name = "p50", fn = "p50", column = "value" } }
      -- 600 values of each area, for which they need memory for 1,024
      for areas, is_exact in pairs { [8000] = true, [9000] = false } do
         local list = {}
         for i = 1, 2 * areas do
            local value = 1000000 * (i // areas + 1) + i
            list[i] = ("<I4I4i8i8"):pack(0x20000000 + i % areas, 0, value, 0)
         end
         local bytes = table.concat(list):rep(300)
         local function quantiles(parts)
            local trace <close> = open(bytes)
            local part = traces.of(trace).parts[1]
            local rows = trace:row_count "timeline"
            return core.rows(core.group(part:reader "timeline", keys[2], exact,
               parts and chunks.readers(part, "timeline", rows, parts)))
         end
         local whole = quantiles()
         assert.equal(areas, #whole)
         for _, row in ipairs(whole) do
            assert.equal(is_exact, row.about == nil)
         end
         assert.same(whole, quantiles(2))
         assert.same(whole, quantiles(7))
      end
   end)

   it("fail at the same byte as one scan", function()
      math.randomseed(23)
      local bytes = timeline(30000, 0.001)
      local function failure(parts)
         local trace <close> = open(bytes, { strict = true })
         return told(trace, keys[2], parts)
      end
      local whole = failure()
      assert.matches("winidea", whole)
      assert.equal(whole, failure(5))
   end)

   it("keep the order of areas", function()
      math.randomseed(24)
      local bytes = timeline(30000, 0)
      local function areas(parts)
         local trace <close> = open(bytes)
         told(trace, keys[2], parts)
         return trace:table("areas"):write { output = "csv" }
      end
      local whole = areas()
      for _ = 1, 10 do
         assert.equal(whole, areas(7))
      end
   end)

   it("are used by views of large tables", function()
      math.randomseed(25)
      local bytes = timeline(4096, 0):rep(200)
      local trace <close> = open(bytes)
      local part = traces.of(trace).parts[1]
      local whole = told(trace, keys[3])
      assert.is_true(trace:row_count "timeline" > 3 * 262144)
      assert.equal(whole, told(trace, keys[3], 5))
      assert.equal(core.drain(part:reader("timeline", 5, 11)), 11)
      local rows = trace.timeline:group("event", "area"):aggregate {
         "n = count", "s = sum(value)", "least = min(time)", "most = max(event)",
         "first = first(value)", "last = last(area)", "cores = distinct(core)" }
      assert.equal(whole, rows:write { output = "csv" })
      assert.equal(part:reader("timeline", 819000, 500):fields()[1].name, "time")
      assert.equal(core.drain(part:reader("timeline", 819000, 500)), 200)
   end)
end)
