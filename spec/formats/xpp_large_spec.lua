-- Traces of many entries: several batches, most of them without a break. The expected values are
-- computed row by row in this file.
--
-- Extra: tables of millions of entries.

local command = require "spec.support.command"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local xpp = require "spec.support.xpp_builder"

local MS = 1000000

-- Returns rows of some threads with random calls; `odd` may change each row.
local function rows_of(count, threads, odd)
   local rows, time = {}, 0
   for i = 1, count do
      time = time + math.random(0, 2)
      rows[i] = { i % 3000 < 2000 and 1 or math.random(threads), time,
         math.random(2) == 1 and "I" or "O", ("FUNCTION%03d"):format(math.random(200)), i % 9999 }
      odd(rows[i], i)
      time = rows[i][2] or time
   end
   return rows
end

-- Returns the rows that differ from those expected, and the number of rows.
local function compare(trace, rows)
   local n, different = 0, {}
   for time, op, call, thread, line in trace.entries:each("time", "op", "call", "thread", "line") do
      n = n + 1
      local row = rows[n] or {}
      if time ~= (row[2] and row[2] * MS or false) or op ~= row[3] or call ~= row[4]
         or thread ~= row[1] or line ~= row[5] then
         different[#different + 1] = #different < 3 and n or nil
      end
   end
   return different, n
end

-- Returns the number of warnings by code.
local function totals(trace)
   local list = {}
   for _, warning in ipairs(trace.warnings) do
      list[warning.code] = warning.count
   end
   return list
end

-- Returns the expected warnings: times that go back in a thread, and unknown operations.
local function odd_ones(rows)
   local last, back, unknown = {}, 0, 0
   for _, row in ipairs(rows) do
      back = back + ((row[2] and row[2] < (last[row[1]] or row[2])) and 1 or 0)
      last[row[1]] = row[2] or last[row[1]]
      unknown = unknown + (row[3]:find "[iIOo]" and 0 or 1)
   end
   return { ["xpp-time-back"] = back > 0 and back or nil,
      ["xpp-unknown-op"] = unknown > 0 and unknown or nil }
end

local cases = {
   { "of one thread", 1, function() end },
   { "of several threads", 5, function() end },
   { "with names that come late", 1, function(row, i)
      row[4] = i % 14000 == 13000 and "LATE" .. i or row[4]
   end },
   { "with times that go back", 3, function(row, i)
      row[2] = i % 17000 == 16000 and math.max(row[2] - 50, 0) or row[2]
   end },
   { "with operations that nobody knows", 1, function(row, i)
      row[3] = i % 21000 // 3 == 6666 and "?" or row[3] -- three in a row
   end },
   { "with more names than are remembered", 1, function(row)
      row[4] = "N" .. math.random(9000)
   end },
   { "after some hours", 2, function(row, i)
      row[2] = i == 25000 and 99999990 or row[2]
   end },
}

-- The layouts: all text, and numbers in binary.
local layouts = {
   { fields = xpp.text_fields, version = 3 },
   { fields = { table.unpack(xpp.fields, 1, 5) } },
   { fields = { { "LINE", "N", 5 }, { "MSG", "C", 12 }, { "OP", "C", 1 }, { "TIME", "N", 9 },
      { "TID", "N", 1 } }, version = 3, order = { 5, 4, 3, 2, 1 } },
}

describe("many entries", function()
   for turn, case in ipairs(cases) do
      it(case[1], function()
         for at = turn, turn + rounds(#layouts) - 1 do -- with sanitizers one of the layouts
            local number = at % #layouts + 1
            local layout = layouts[number]
            math.randomseed(number)
            local rows = rows_of(38000 + number, table.unpack(case, 2))
            local placed = rows
            if layout.order then
               placed = {}
               for i, row in ipairs(rows) do
                  placed[i] = { row[5] % 9999, row[4], row[3], row[2], row[1] }
               end
            end
            local trace <close> = assert(profio.open { data = (xpp.table(placed, layout)) })
            local different, count = compare(trace, rows)
            assert.same({}, different)
            assert.equal(#rows, count)
            assert.same(odd_ones(rows), totals(trace))
         end
      end)
   end

   it("are read without deleted and lost ones", function()
      math.randomseed(3)
      local rows = rows_of(50000, 1, function(row, i)
         row.deleted = i % 15000 > 14990
      end)
      local bytes = xpp.table(rows, layouts[1])
      local kept = {}
      for _, row in ipairs(rows) do
         kept[#kept + 1] = not row.deleted and row or nil
      end
      local trace <close> = assert(profio.open { data = bytes })
      assert.same({ {}, #kept }, { compare(trace, kept) })
      assert.same({ ["xpp-deleted"] = 1 }, totals(trace))
      -- Half a record is lost before row 30000.
      local header = #xpp.header(xpp.text_fields, 0, 3)
      local at = header + 43 * 29999
      local cut <close> = assert(profio.open {
         data = bytes:sub(1, at) .. bytes:sub(at + 24) })
      local flags = {}
      for record in cut.entries:where { flags = "gap" }:records() do
         flags[#flags + 1] = record.time
      end
      assert.equal(1, #flags)
      assert.equal(1, totals(cut)["xpp-lost-rows"])
   end)

   it("have the statistics of their calls", function()
      math.randomseed(6)
      local trace <close> = assert(profio.open { data = (xpp.table(rows_of(40000, 3,
         function() end), layouts[1])) })
      for _, recursion in ipairs { "all", "outermost" } do
         local expected = trace:calls { recursion = recursion }:group "area":aggregate {
            "count = sum(count)", "net = sum(net)", "gross = sum(gross)", "net_max = max(net)" }
            :sort "area":rows()
         assert.same(expected, trace:call_statistics { recursion = recursion, quantiles = "" }
            :sort "area":rows("area", "count", "net", "gross", "net_max"))
      end
   end)

   it("have the same statistics and warnings with one thread and with two", function()
      for _, case in ipairs { table.unpack(cases, 2, 4) } do
         math.randomseed(8)
         local bytes = xpp.table(rows_of(26000, table.unpack(case, 2)), layouts[1])
         local found = {}
         for threads = 1, 2 do
            local trace <close> = assert(profio.open { data = bytes })
            found[threads] = { trace:call_statistics { threads = threads }:rows(), totals(trace) }
         end
         assert.same(found[1], found[2])
      end
   end)

   -- Returns nested calls of some threads, with two or four operations and some lost ends.
   local function nested(count, threads, letters)
      local rows, stacks, time = {}, {}, 0
      local function put(thread, op, name)
         time = time + math.random(0, 2)
         rows[#rows + 1] = { thread, time, op, name, 1 }
      end
      while #rows < count do
         local thread = #rows % 5000 < 4000 and 1 or math.random(threads)
         local stack = stacks[thread] or {}
         stacks[thread] = stack
         if #stack > 0 and (#stack > 11 or math.random(2) == 1) then
            local name = table.remove(stack)
            if math.random(2000) > 1 then
               put(thread, "O", name)
               put(thread, letters == 4 and "o" or nil, name)
            end
         else
            stack[#stack + 1] = ("F%03d"):format(math.random(200))
            put(thread, letters == 4 and "i" or nil, stack[#stack])
            put(thread, "I", stack[#stack])
         end
      end
      return rows
   end

   it("have the statistics of nested calls", function()
      math.randomseed(7)
      for round = 1, 6, 6 // rounds(3) do
         local rows = {}
         for _, row in ipairs(nested(40000, round, round % 2 == 0 and 4 or 2)) do
            rows[#rows + 1] = row[3] and row or nil
         end
         if round > 3 then -- a clock that goes back
            for i = 20000, #rows do
               rows[i][2] = rows[i][2] - 90
            end
         end
         local trace <close> = assert(profio.open { data = (xpp.table(rows, layouts[1])) })
         for _, recursion in ipairs { "all", "outermost" } do
            local expected = trace:calls { recursion = recursion }:group("area", "lane")
               :aggregate { "count = sum(count)", "net = sum(net)", "gross = sum(gross)",
                  "net_min = min(net)", "net_max = max(net)", "period = sum(period)",
                  "outside = sum(outside)", "last_stop = max(stop)" }:sort("lane", "area"):rows()
            local found = trace:call_statistics { recursion = recursion, quantiles = "",
               by = "context" }:where { context = profio.no(profio.missing) }
               :sort("context", "area"):rows("area", "context", "count", "net", "gross", "net_min",
                  "net_max", "period", "outside", "last_stop")
            for _, row in ipairs(found) do
               row.lane, row.context = row.context, nil
            end
            assert.same(expected, found)
         end
      end
   end)

   it("are the same in packets", function()
      math.randomseed(4)
      local rows = rows_of(70000, 1, function() end)
      local files = xpp.packets(rows, 30000, "table")
      for _, file in ipairs(files) do
         command.file("MANY.PRF" .. file.suffix, file.bytes)
      end
      local trace <close> = assert(profio.open(command.folder .. "/MANY.PRF"))
      assert.same({ {}, #rows }, { compare(trace, rows) })
   end)

   it("may be read partly, by several readers at once", function()
      math.randomseed(5)
      local rows = rows_of(45000, 1, function() end)
      local bytes = xpp.table(rows, layouts[1])
      for _ = 1, rounds(10) do
         local trace = assert(profio.open { data = bytes })
         local first, second = trace.entries:each("time", "op", "call"),
            trace.entries:each("call", "time", "op")
         for i = 1, math.random(40000) do
            assert(rows[i][2] * MS == first() and rows[i][4] == second(), "row " .. i)
         end
         trace:close()
         assert.error_matches(function()
            for _ = 1, 5000 do
               first()
            end
         end, "closed")
      end
      collectgarbage()
   end)
end)
