local events = require "spec.support.call_events"
local rounds = require "spec.support.rounds"
local slow = require "spec.support.slow_calls"

local lengths = { "net", "gross", "call", "period", "outside" }

-- {====== By the definitions, from a list of calls ======

local function nearest_rank(values, percent)
   return values[math.max(math.ceil(#values * percent / 100), 1)]
end

local function worst_start(rows, length, greatest)
   local earliest
   for _, r in ipairs(rows) do
      if r[length] == greatest and (not earliest or r.start < earliest) then
         earliest = r.start
      end
   end
   return earliest
end

local function deviation(values, mean)
   local squares = 0
   for _, value in ipairs(values) do
      squares = squares + (value - mean) ^ 2
   end
   return math.sqrt(squares / #values)
end

local function add_length(result, rows, length)
   local values, sum = {}, 0
   for _, r in ipairs(rows) do
      values[#values + 1] = r[length]
      sum = sum + (r[length] or 0)
   end
   table.sort(values)
   result[length] = sum
   if #values == 0 then
      return
   end
   result[length .. "_min"], result[length .. "_max"] = values[1], values[#values]
   result[length .. "_mean"] = sum / #values
   result[length .. "_stddev"] = deviation(values, sum / #values)
   result[length .. "_p50"] = nearest_rank(values, 50)
   result[length .. "_p99"] = nearest_rank(values, 99)
   result[length .. "_max_at"] = worst_start(rows, length, values[#values])
end

local function summary(rows)
   local result = { count = 0 }
   for _, r in ipairs(rows) do
      result.count = result.count + r.count
   end
   for _, length in ipairs(lengths) do
      add_length(result, rows, length)
   end
   result.period_max_at, result.outside_max_at = nil, nil
   result.period_jitter = result.period_max and result.period_max - result.period_min
   return result
end

-- The groups of calls: { [key] = rows }.
local function grouped(rows, key_of)
   local groups = {}
   for _, r in ipairs(rows) do
      local key = key_of(r)
      if key then
         groups[key] = groups[key] or {}
         table.insert(groups[key], r)
      end
   end
   return groups
end

-- }======

local keys = {
   area = { function(r) return r.area end },
   context = { function(r) return r.area end,
      function(r) return r.lane and r.area .. " in " .. r.lane end },
   caller = { function(r) return r.area .. " by " .. tostring(r.caller) end },
}

local function key_of(row, by)
   if by == "caller" then
      return row.area .. " by " .. tostring(row.caller)
   end
   return row.area .. (row.context and " in " .. row.context or "")
end

local function close_to(expected, found)
   return expected == found or (math.type(expected) == "float" and found and
      math.abs(expected - found) <= 1e-9 * math.max(math.abs(expected), 1))
end

local function compare(expected, row, what)
   for name, value in pairs(expected) do
      if not close_to(value, row[name]) then
         assert.equal(value, row[name], what .. ": " .. name)
      end
   end
   for name, value in pairs(row) do
      local is_key = name == "area" or name == "context" or name == "caller" or name == "value"
      assert.is_true(is_key or expected[name] ~= nil, ("%s: %s = %s"):format(what, name, value))
   end
end

-- The end of the last call of each key, including calls that are not counted.
local function add_stops(expected, list, options, find)
   local partial = options.partial
   options.partial = "include"
   for key, rows in pairs(grouped((slow.calls(list, options)), find)) do
      local last = math.mininteger
      for _, r in ipairs(rows) do
         last = math.max(last, r.stop)
      end
      if expected[key] then
         expected[key].last_stop = last
      end
   end
   options.partial = partial
end

local function check(trace, list, options, by, round)
   local calls, tails = slow.calls(list, options)
   table.move(tails, 1, #tails, #calls + 1, calls)
   local expected = {}
   for _, find in ipairs(keys[by]) do
      for key, rows in pairs(grouped(calls, find)) do
         expected[key] = summary(rows)
      end
      if by ~= "caller" then
         add_stops(expected, list, options, find)
      end
   end
   options.by = by
   for row in trace:call_statistics(options):records() do
      local key = key_of(row, by)
      local what = ("round %d, by %s: %s"):format(round, by, key)
      assert.is_table(expected[key], what)
      compare(expected[key], row, what)
      expected[key] = nil
   end
   options.by = nil
   assert.is_nil(next(expected), "round " .. round)
end

describe("statistics of calls", function()
   it("have the columns that scripts rely on", function()
      local trace <close> = events.open(events.of "0 e f; 5 l f")
      local columns = { "area", "handle", "value", "context", "count" }
      for _, length in ipairs(lengths) do
         for _, suffix in ipairs { "", "_min", "_max", "_mean", "_stddev", "_p50", "_p99" } do
            columns[#columns + 1] = length .. suffix
         end
      end
      table.move({ "net_max_at", "gross_max_at", "call_max_at", "period_jitter", "last_stop",
         "file", "line", "about" }, 1, 8, #columns + 1, columns)
      assert.same(columns, trace:call_statistics().columns)
      local few = trace:call_statistics { quantiles = "p90", by = "caller" }.columns
      assert.equal("caller", few[5])
      assert.equal("net_p90", few[12])
   end)

   it("agree with a slow model of calls, aggregated by the definitions", function()
      math.randomseed(19700101)
      for round = 1, rounds(300) do
         local list = events.random(math.random, true)
         local trace <close> = events.open(list)
         for _, by in ipairs { "area", "context", "caller" } do
            check(trace, list, events.random_options(math.random), by, round)
         end
      end
   end)

   it("agree with the aggregates of the rows of calls", function()
      math.randomseed(20260101)
      for round = 1, rounds(100) do
         local trace <close> = events.open(events.random(math.random, true))
         local options = events.random_options(math.random)
         local expected, count = {}, 0
         for r in trace:calls(options):group("area"):aggregate { "count = sum(count)",
            "net = sum(net)", "gross_max = max(gross)", "call_mean = mean(call)",
            "period_min = min(period)", "outside_p50 = p50(outside)" }:records() do
            expected[r.area], count = r, count + 1
         end
         for r in trace:call_statistics(options):records("area", "count", "net", "gross_max",
            "call_mean", "period_min", "outside_p50") do
            assert.same(expected[r.area], r, "round " .. round)
            count = count - 1
         end
         assert.equal(0, count)
      end
   end)

   it("divide sums by the number of known times, also of calls that the range cuts", function()
      require "spec.support.events"
      local trace <close> = assert(require("profio").open { data = "EVENTS\n0 enter main a\n"
         .. "10 enter f a\n30 leave f a\n40 enter f a\n44 leave f a\n50 enter f a\n"
         .. "90 leave f a\n100 leave main a\n" })
      local function rows(options)
         return trace:call_statistics(options):rows("area", "count", "net", "net_mean",
            "gross_mean", "gross_max", "gross_max_at", "call", "call_mean", "call_max_at")
      end
      -- f from 20 to 30, 40 to 44 and 50 to 60; main from 20 to 60
      assert.same({
         { area = "f", count = 2, net = 24, net_mean = 8.0, gross_mean = 8.0, gross_max = 10,
            gross_max_at = 20, call = 4, call_mean = 4.0, call_max_at = 40 },
         { area = "main", count = 0, net = 16, net_mean = 16.0, gross_mean = 40.0, gross_max = 40,
            gross_max_at = 20, call = 0 },
      }, rows { from = 20, to = 60 })
      assert.same({ { area = "f", count = 1, net = 4, net_mean = 4.0, gross_mean = 4.0,
         gross_max = 4, gross_max_at = 40, call = 4, call_mean = 4.0, call_max_at = 40 } },
         rows { from = 20, to = 60, partial = "exclude" })
   end)

   it("are exact if sums and squares exceed 64 bits", function()
      local text = {}
      for i = 1, 4 do
         text[i] = ("%d e f %d; %d l f %d"):format(math.mininteger // 2, i,
            math.maxinteger // 2, i)
      end
      local trace <close> = events.open(events.of(table.concat(text, "; ")))
      local row = trace:call_statistics():rows()[1]
      assert.is_nil(row.net)
      assert.equal(math.maxinteger - 0, row.net_max)
      assert.equal(2.0 ^ 63, row.net_mean)
      assert.equal(0.0, row.net_stddev)
   end)

   it("have a sum of 0 if no call has the duration, like aggregates of calls", function()
      local trace <close> = events.open(events.of "0 e f; 5 l f")
      local row = trace:call_statistics():rows()[1]
      assert.same({ 0, nil, nil }, { row.period, row.period_min, row.period_mean })
      assert.same({ { total = 0 } }, trace:calls():aggregate { "total = sum(period)",
         "least = min(period)", "mean = mean(period)" }:rows())
   end)

   it("have the exact deviation of durations that differ little", function()
      local text, time = {}, 10 ^ 15 // 1 | 0
      for i = 1, 1000 do
         local length = 10 ^ 12 // 1 + i % 2 | 0
         text[i] = ("%d e f; %d l f"):format(time, time + length)
         time = time + length + 5
      end
      local trace <close> = events.open(events.of(table.concat(text, "; ")))
      assert.equal(0.5, trace:call_statistics():rows()[1].net_stddev)
   end)

   it("have exact quantiles of 4,096 calls", function()
      local text, time, values = {}, 0, {}
      math.randomseed(6)
      for i = 1, 4096 do
         values[i] = math.random(10 ^ 12 // 1 | 0)
         text[i] = ("%d e f; %d l f"):format(time, time + values[i])
         time = time + values[i]
      end
      table.sort(values)
      local trace <close> = events.open(events.of(table.concat(text, "; ")))
      local row = trace:call_statistics { quantiles = "p25, p50, p99" }:rows()[1]
      for _, percent in ipairs { 25, 50, 99 } do
         assert.equal(nearest_rank(values, percent), row["net_p" .. percent])
      end
   end)

   it("have the quantiles of a group of the calls, and mark the same ones", function()
      for seed, count in ipairs { 3000, 4096, 4097, 9000 } do
         math.randomseed(seed)
         local list, time = {}, 0
         for i = 1, count do
            local net = math.random(10 ^ 9 // 1 | 0)
            list[i] = ("%d e f; %d l f"):format(time, time + net)
            time = time + net
         end
         local trace <close> = events.open(events.of(table.concat(list, "; ")))
         local row = trace:call_statistics { quantiles = "p10, p50, p99" }:rows()[1]
         local same = trace:calls():group("area"):aggregate { "net_p10 = p10(net)",
            "net_p50 = p50(net)", "net_p99 = p99(net)" }:rows()[1]
         for _, name in ipairs { "net_p10", "net_p50", "net_p99" } do
            assert.equal(same[name], row[name])
         end
         assert.equal(same.about, row.about and row.about:match "^net_p10 net_p50 net_p99")
         assert.equal(count > 4096, row.about ~= nil)
      end
   end)

   it("keep quantiles of many calls within the error bound", function()
      local text, time, values = {}, 0, {}
      math.randomseed(5)
      for i = 1, 15000 do
         values[i] = math.random(1000000)
         text[i] = ("%d e f; %d l f"):format(time, time + values[i])
         time = time + values[i]
      end
      table.sort(values)
      local trace <close> = events.open(events.of(table.concat(text, "; ")))
      local row = trace:call_statistics { quantiles = "p50, p99, p100" }:rows()[1]
      for _, percent in ipairs { 50, 99, 100 } do
         local found, exact = row["net_p" .. percent], nearest_rank(values, percent)
         assert.is_true(math.abs(found - exact) <= exact / 256, percent .. ": " .. found)
      end
      assert.equal(values[15000], row.net_p100)
   end)

   it("are in order of names or of first occurrence, all lanes first", function()
      local trace <close> = events.open(events.of
         "0 e main 1; 1 e f 1; 2 e main 2; 3 l f 1; 4 l main 1; 5 l main 2")
      local function rows_by(order)
         local list = {}
         for r in trace:call_statistics { by = "context", order = order }:records() do
            list[#list + 1] = ("%s %s %d"):format(r.area, r.context, r.net)
         end
         return list
      end
      local by_name = { "f nil 2", "main nil 5", "f 1 2", "main 1 2", "main 2 3" }
      assert.same(by_name, rows_by "name")
      assert.same(by_name, rows_by(nil))
      assert.same({ "main nil 5", "f nil 2", "main 1 2", "f 1 2", "main 2 3" }, rows_by "first")
   end)

   it("show handles and values of areas", function()
      local trace <close> = events.open {
         { time = 0, event = "enter", area = { name = "s", class = "state", handle = 0x30000000,
            value = 2 } },
         { time = 9, event = "other" },
      }
      assert.same({ { area = "s", handle = 0x30000000, value = 2, count = 1, net = 9 } },
         trace:call_statistics():rows("area", "handle", "value", "count", "net"))
   end)

   it("refuse unknown options", function()
      local trace <close> = events.open {}
      assert.same({}, trace:call_statistics():rows())
      assert.error_matches(function() trace:call_statistics { quantiles = "max" }:rows() end,
         "no quantile 'max'; there are p0 to p100")
      assert.error_matches(function() trace:call_statistics { by = "lane" } end,
         "option 'by' is one of area, context, caller; got lane")
   end)
end)
