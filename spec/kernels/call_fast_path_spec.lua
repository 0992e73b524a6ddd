-- Statistics of a binary timeline count most calls on a fast path, without rows: they must agree
-- with the slow model, and with the aggregates of the rows of calls.
--
-- Long: many commands or rows, or programs that are compiled.
-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.

local profio = require "profio"
local records = require "spec.support.winidea"
local slow = require "spec.support.slow_calls"
local timelines = require "spec.support.call_timelines"

local lengths = { "net", "gross", "call", "period", "outside" }
local classes = { [0] = "function", "line", "variable" }

local function open(bytes, options)
   options = options or { bin_version = "1.1" }
   options.format = "winidea"
   return assert(profio.open({ data = bytes }, options))
end

-- Aggregates of calls by the key of their area: count; sum, min, max and number of each duration.
local function added_up(calls, key_of)
   local groups = {}
   for _, call in ipairs(calls) do
      local key = key_of(call)
      local group = groups[key] or { count = 0 }
      groups[key] = group
      group.count = group.count + call.count
      for _, name in ipairs(lengths) do
         local length = call[name]
         group[name] = (group[name] or 0) + (length or 0)
         if length then
            group[name .. "_min"] = math.min(group[name .. "_min"] or length, length)
            group[name .. "_max"] = math.max(group[name .. "_max"] or length, length)
         end
      end
   end
   return groups
end

local columns = { "count" }
for _, name in ipairs(lengths) do
   table.move({ name, name .. "_min", name .. "_max" }, 1, 3, #columns + 1, columns)
end

local function statistics(trace, options, key)
   local groups = {}
   for row in trace:call_statistics(options):records(key, table.unpack(columns)) do
      groups[row[key]], row[key] = row, nil
   end
   return groups
end

-- The records as events of the slow model.
local function events_of(list)
   local areas, events = {}, {}
   for i, record in ipairs(list) do
      local handle = record.handle
      areas[handle] = areas[handle] or { name = ("%08X"):format(handle),
         class = classes[handle >> 28] }
      events[i] = { time = record.time, event = record.event, area = areas[handle],
         lane = record.core }
   end
   return events
end

local function check_by_model(shape, options)
   local bytes, list = timelines.make(shape)
   local trace <close> = open(bytes)
   local expected = added_up(slow.calls(events_of(list), options), function(call)
      return tonumber(call.area, 16)
   end)
   options.parts, options.threads = 1, 1
   assert.same(expected, statistics(trace, options, "handle"))
end

-- The rows of calls, each with its stack.
local function check_rows_by_model(shape, options)
   local bytes, list = timelines.make(shape)
   local trace <close> = open(bytes)
   local rows = trace:calls(options):rows()
   local expected = slow.calls(events_of(list), options)
   assert.equal(#expected, #rows)
   for i, row in ipairs(rows) do
      row.path, row.stack, row.lane = slow.path_of(trace, row.stack), nil, nil
      expected[i].lane = nil
      assert.same(expected[i], row, "row " .. i)
   end
end

local function check_by_rows(shape, options, from, to)
   options.from, options.to = from, to
   local trace <close> = open((timelines.make(shape)))
   local expected = added_up(trace:calls(options):rows(), function(call) return call.area end)
   options.parts, options.threads = 1, 1
   assert.same(expected, statistics(trace, options, "area"))
   options.quantiles = ""
   assert.same(expected, statistics(trace, options, "area"))
   options.quantiles, options.parts, options.threads = nil, nil, nil
   local grouped = trace:calls(options):group("area"):aggregate { "count = sum(count)",
      "net = sum(net)", "gross = sum(gross)" }
   for area, count, net, gross in grouped:each("area", "count", "net", "gross") do
      local group = expected[area]
      assert.same({ group.count, group.net, group.gross }, { count, net, gross or 0 })
   end
end

local function options_of(round)
   return { recursion = round % 2 == 0 and "outermost" or "all",
      partial = round % 3 == 0 and "exclude" or "include",
      max_depth = round % 5 == 4 and 6 or nil }
end

describe("calls of the fast path", function()
   it("agree with the slow model, and so do their stacks", function()
      math.randomseed(25)
      for round = 1, 4 do
         check_rows_by_model({ rows = 6000, functions = 5 * round, has_suspends = round % 2 == 1 },
            options_of(round))
         check_rows_by_model({ rows = 6000, functions = 20, has_suspends = true,
            stumbles = 0.002 }, options_of(round))
         check_rows_by_model({ rows = 6000, functions = 20, lines = true, stumbles = 0.001 },
            options_of(round))
      end
   end)
end)

describe("statistics on the fast path", function()
   it("agree with the slow model", function()
      math.randomseed(21)
      for round = 1, 5 do
         check_by_model({ rows = 6000, functions = 5 * round, has_suspends = round % 2 == 1 },
            options_of(round))
         check_by_model({ rows = 6000, functions = 20, has_suspends = true, stumbles = 0.001 },
            options_of(round))
         check_by_model({ rows = 6000, functions = 20, lines = true, stumbles = 0.001 },
            options_of(round))
      end
   end)

   -- Some records of each chunk have unknown bits or an unknown event, so that it is decoded in
   -- another way.
   it("agree with the slow model for each form of records", function()
      math.randomseed(24)
      local other_type = { suspend = "resume", resume = "suspend" }
      local forms = {
         { { bin_version = "1.0" }, records.old, "1.0" },
         { { bin_version = "1.1", record_size = 20 }, function(r)
            local record = records.new(r)
            return record:sub(1, 12) .. record:sub(17)
         end },
         { { bin_version = "1.1", swap_suspend_resume = true }, function(r)
            return records.new { handle = r.handle, core = r.core, time = r.time,
               event = other_type[r.event] or r.event }
         end },
         { { bin_version = "1.1" }, function(r)
            local record = records.new(r)
            local flags = ("<I4"):unpack(record, 5)
            return record:sub(1, 4) .. ("<I4"):pack(flags | 1 << 20) .. record:sub(9)
         end, nil, 0.001, "winidea-odd-flags" },
         { { bin_version = "1.1" }, function(r)
            return records.new(r) .. ("<I4I4i8i8"):pack(r.handle, 9, 0, r.time)
         end, nil, 0.001, "winidea-bad-event" },
      }
      for round = 1, 2 * #forms do
         local form = forms[round % #forms + 1]
         local _, list = timelines.make { rows = 6000, functions = 5 * round,
            has_suspends = true, stumbles = 0.001 }
         local bytes = records.bytes(list, function(r)
            return math.random() < (form[4] or 1) and form[2](r) or records.new(r)
         end)
         for _, record in ipairs(list) do
            record.core = form[3] == nil and record.core or nil
         end
         local trace <close> = open(bytes, form[1])
         local expected = added_up(slow.calls(events_of(list), options_of(round)), function(call)
            return tonumber(call.area, 16)
         end)
         local options = options_of(round)
         options.parts, options.threads = 1, 1
         assert.same(expected, statistics(trace, options, "handle"))
         local codes = {}
         for _, warning in ipairs(trace.warnings) do
            codes[#codes + 1] = warning.code:match "^winidea.*"
         end
         assert.equal(form[5], codes[1])
      end
   end)

   it("agree with the aggregates of the rows of calls", function()
      math.randomseed(22)
      for round = 1, 6 do
         check_by_rows({ rows = 10000, functions = 40 * round, has_suspends = round % 2 == 1,
            min_depth = round % 4 }, options_of(round))
         check_by_rows({ rows = 10000, functions = 30, states = true, stumbles = 0.002 },
            options_of(round))
      end
   end)

   it("agree with them in a range of time", function()
      math.randomseed(23)
      for round = 1, 6 do
         check_by_rows({ rows = 10000, functions = 40 * round, has_suspends = round % 2 == 1 },
            options_of(round), round % 3 ~= 0 and 10000 or nil, round % 3 ~= 1 and 45000 or nil)
      end
   end)
end)
