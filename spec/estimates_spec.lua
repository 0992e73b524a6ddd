-- Quantiles that are estimates are marked, and limits near one are decided exactly.
--
-- Tags: user.

local command = require "spec.support.command"
local events = require "spec.support.events"
local limits = require "profio.limits"

-- Returns events of calls of f with these durations in ns, in turns on the lanes a and b.
local function calls_of(durations)
   local lines, time = {}, 0
   for i, long in ipairs(durations) do
      local lane = i % 2 == 0 and "a" or "b"
      lines[i] = ("%d enter f %s\n%d leave f %s"):format(time, lane, time + long, lane)
      time = time + long + 1000
   end
   return table.concat(lines, "\n") .. "\n"
end

-- 5,000 calls, of which the 4,950th by duration takes 1.999 ms and the 4,951st 2.1 ms.
local function tail()
   local list = {}
   for i = 1, 5000 do
      list[i] = i < 4950 and 1000000 or i == 4950 and 1999000 or i < 5000 and 2100000 or 2200000
   end
   return calls_of(list)
end

local function check(text, rows, exact)
   local result = limits.check(assert(limits.parse(text)), rows, nil, exact)[1]
   return { result.state, result.value, result.about }
end

describe("a quantile of many calls", function()
   it("meets or exceeds limits as its exact value does", function()
      local trace <close> = events.open(tail())
      local rows, exact = trace:call_statistics():rows(), limits.exact(trace)
      assert.matches("gross_p99", rows[1].about)
      assert.is_true(rows[1].gross_p99 > 2000000) -- the estimate
      assert.same({ "ok", 1999000 }, check("f gross_p99 <= 2ms", rows, exact))
      assert.same({ "exceeded", 1999000 }, check("f gross_p99 < 1999us", rows, exact))
      assert.same({ "ok", 1999000 }, check("f gross_p99 == 1999us", rows, exact))
      assert.same({ "ok", rows[1].gross_p99, "value" }, check("f gross_p99 <= 3ms", rows, exact))
      assert.same({ "undecided", rows[1].gross_p99, "value" }, check("f gross_p99 <= 2ms", rows))
      assert.same({ "ok", 2200000 }, check("f gross_max <= 2200us", rows))
   end)

   it("is exact after another scan, for all lanes and for one", function()
      math.randomseed(91)
      local durations, sorted = {}, { {}, {}, {} }
      for i = 1, 12000 do
         durations[i] = math.floor(1000 * math.exp(math.random() * 3))
         for _, list in ipairs { sorted[1], sorted[2 + i % 2] } do
            list[#list + 1] = durations[i]
         end
      end
      local trace <close> = events.open(calls_of(durations))
      local exact, seen = limits.exact(trace), 0
      for _, row in ipairs(trace:call_statistics { by = "context",
         quantiles = "p10,p50,p99,p99.9" }:rows())
      do
         local list = sorted[row.context == nil and 1 or row.context == "a" and 2 or 3]
         table.sort(list)
         for _, thousandths in ipairs { 100, 500, 990, 999 } do
            local column = ("gross_p%g"):format(thousandths / 10)
            assert.equal(list[(#list * thousandths + 999) // 1000], exact(row, column))
            seen = seen + 1
         end
      end
      assert.equal(12, seen)
   end)

   it("is compared with that of a base exactly, too", function()
      local trace <close> = events.open(tail())
      local rows, exact = trace:call_statistics():rows(), limits.exact(trace)
      local list = assert(limits.parse "f gross_p99 <= base * 0.999")
      assert.equal("undecided", limits.check(list, rows, rows, exact)[1].state)
      local result = limits.check(list, rows, rows, exact, exact)[1]
      assert.same({ "exceeded", 1999000, 1999000 * 0.999 },
         { result.state, result.value, result.bound })
   end)

   it("is marked in tables and in csv, and by --limits", function()
      local path = command.file("limits.txt", "f gross_p99 <= 2ms\nf gross_p99 <= 3ms\n")
      assert.matches(" about 2002%.943 ", (events.command(tail(), "--report", "statistics")))
      assert.matches("\nf,2002943,[%l%d_ ]*gross_p99", (events.command(tail(), "--report",
         "statistics", "--output", "csv", "--columns", "area,gross_p99,about")))
      local text, status = events.command(tail(), "--limits", path)
      assert.equal(0, status)
      assert.matches("ok  f  gross_p99        1%.999 ms  <= 2%.000 ms\n", text)
      assert.matches("ok  f  gross_p99  about 2%.003 ms  <= 3%.000 ms\n", text)
      assert.matches("\n2,f,,gross_p99,<=,3000000,2002943,ok,,value\n", (events.command(tail(),
         "--limits", path, "--output", "csv")))
   end)

   it("is marked on both sides of a comparison, and so is the change", function()
      local short = command.file("short.events", "EVENTS\n0 enter f a\n5 leave f a\n")
      local text = events.command(tail(), "--report", "statistics", "--diff", short)
      assert.matches("\n *1 [^\n]* 0%.005 [^\n]* old ", text)
      assert.matches("\n *5000 [^\n]* about 2002%.943 [^\n]* new ", text)
      assert.matches("\n *4999 [^\n]* about 2002%.938 [^\n]* change ", text)
      local rows = events.command(tail(), "--report", "statistics", "--diff", short, "--output",
         "csv", "--columns", "area,about")
      assert.equal("area,about\nf,net_p99 net_p99_change gross_p99 gross_p99_change\n", rows)
   end)

   it("is as it was where few calls are known exactly", function()
      local text = events.command("0 enter f a\n5 leave f a\n", "--report", "statistics")
      assert.is_nil(text:find("about", 1, true))
   end)
end)
