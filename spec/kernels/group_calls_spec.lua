-- Groups of calls: for many events two threads are used, and the result must not change. A sum
-- over flags needs one thread, because it adds names: the other sums beside it are the model.
--
-- Costly: a large input, or models in Lua; the fuzzers try such inputs as well.

local call_events = require "spec.support.call_events"
local command = require "spec.support.command"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local xpp = require "spec.support.xpp_builder"

local ROWS <const> = 12000 -- more than the batches that are taken before a second thread starts

local wanted = { "n = count", "numbers = sum(count)", "clear = sum(net)", "gross = sum(gross)",
   "most = max(net)", "least = min(outside)", "first = first(start)", "last = last(stop)",
   "mean = mean(period)", "p50 = p50(call)", "depths = distinct(depth)" }
local with_flags = table.move(wanted, 1, #wanted, 1, {})
with_flags[#with_flags + 1] = "flagged = count(flags)"

-- Events with anomalies, and with new areas throughout.
local function random_events(odd)
   local list, stacks, time = {}, { {}, {} }, 0
   for i = 1, ROWS do
      local lane = math.random(2)
      local stack = stacks[lane]
      local leaves = #stack > 0 and (#stack > 9 or math.random(2) == 1)
      local area = leaves and table.remove(stack)
         or { name = "f" .. math.random(i // 50 + 5), class = "function" }
      time = time + math.random(0, 3)
      list[i] = { time = time, event = leaves and "leave" or "enter", area = area, lane = lane }
      if not leaves then
         stack[#stack + 1] = area
      end
      if math.random() < odd then
         list[i].flags = math.random(3) == 1 and "gap" or "lost"
         list[i].time = math.random() < 0.2 and time - 50 or time
         list[i].event = math.random() < 0.3 and "leave" or list[i].event
      end
   end
   return list
end

local function rows_of(trace, options, keys, aggregates)
   local rows = trace:calls(options):group(table.unpack(keys)):aggregate(aggregates):rows()
   for _, row in ipairs(rows) do
      row.flagged = nil
   end
   return rows
end

local options = { {}, { recursion = "outermost" }, { partial = "exclude" }, { edges = "include" },
   { from = 5000 }, { from = 2000, to = 12000 }, { max_depth = 4 } }
local keys = { {}, { "area" }, { "lane", "area" }, { "caller", "area" } }

describe("calls of many events", function()
   it("have the same sums in one and two threads", function()
      for seed = 1, 3 do
         math.randomseed(seed)
         for _, format in ipairs { "calls of areas", "calls of names" } do
            local list = random_events(seed == 1 and 0 or 0.01)
            if format == "calls of names" then
               for _, event in ipairs(list) do
                  event.area = event.area.name or event.area
               end
            end
            local trace <close> = call_events.open(list, format)
            for i, option in ipairs(options) do
               for _, key in ipairs(rounds.all and keys or { keys[(i + seed) % #keys + 1] }) do
                  local rows = rows_of(trace, option, key, wanted)
                  assert.is_true(#rows > 0)
                  assert.same(rows_of(trace, option, key, with_flags), rows)
               end
            end
         end
      end
   end)

   it("return the error of the decoder", function()
      profio.register {
         name = "failing events", score = function() return 0 end,
         tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" } } },
         open = function()
            return { events = function(put)
               for i = 1, ROWS do
                  put(i, i % 2 == 1 and "enter" or "leave", { name = "f" .. (i + 1) // 2 })
               end
               error("no more", 0)
            end }
         end,
      }
      local trace <close> = assert(profio.open({ data = "x" }, { format = "failing events" }))
      local groups = trace:calls():group("area")
      local _, whole = pcall(rows_of, trace, {}, { "area" }, with_flags)
      local done, why = pcall(rows_of, trace, {}, { "area" }, wanted)
      assert.is_false(done)
      assert.matches("no more", why)
      assert.equal(whole, why)
      assert.is_false((pcall(groups.aggregate(groups, wanted).rows, groups:aggregate(wanted))))
   end)

   it("of a live file are those of the rows that it has", function()
      local list, time = {}, 0
      for i = 1, ROWS do
         time = time + math.random(0, 2)
         list[i] = { 1, time, i % 2 == 1 and "I" or "O", "F" .. (i + 1) // 2 % 50, 1 }
      end
      local bytes = xpp.table(list, { fields = xpp.text_fields, version = 3 })
      command.file("calls.PRF", bytes:sub(1, #bytes * 3 // 4))
      local trace <close> = assert(profio.open(command.folder .. "/calls.PRF",
         { live = true, format = "xpp" }))
      local function half(line)
         return line // 2
      end
      local function found()
         local calls = #trace:calls():rows()
         local sum = trace:calls():group("area"):aggregate { "n = count" }:aggregate {
            "n = sum(n)" }:rows()[1].n
         assert.equal(calls, sum)
         local entries = trace.entries:count()
         assert.same({ { half = 0, count = entries } },
            trace.entries:group { half, "line", name = "half" }:rows())
         assert.equal(entries, #trace.entries:sort("-time"):rows())
         assert.equal(entries, trace.entries:aggregate { "n = count" }:rows()[1].n)
         return calls, entries
      end
      local calls, entries = found()
      assert.is_true(calls > 0)
      local file <close> = assert(io.open(command.folder .. "/calls.PRF", "ab"))
      file:write(bytes:sub(#bytes * 3 // 4 + 1))
      file:close()
      trace:refresh()
      local more_calls, more_entries = found()
      assert.is_true(more_calls > calls and more_entries > entries)
      assert.equal(ROWS, more_entries)
   end)
end)
