-- Several runs in one trace of Xbase++: where time starts again another run begins, as it does
-- where another file begins.
--
-- Tags: user.

local command = require "spec.support.command"
local profio = require "profio"
local xpp = require "spec.support.xpp_builder"

-- Rows of the golden trace, cut behind `count` of them.
local function rows_of(count)
   return table.move(xpp.golden, 1, count or #xpp.golden, 1, {})
end

local function joined(...)
   local all = {}
   for _, rows in ipairs { ... } do
      table.move(rows, 1, #rows, #all + 1, all)
   end
   return all
end

local layout = { fields = xpp.text_fields, version = 3 }

local function table_of(...)
   return (xpp.table(joined(...), layout))
end

local function codes(trace)
   local list = {}
   for _, warning in ipairs(trace.warnings) do
      list[#list + 1] = ("%s %s %d"):format(warning.code, warning.kind, warning.count)
   end
   return list
end

-- Everything that a trace says of its calls.
local function told(trace)
   local calls, sums, self = {}, {}, {}
   for r in trace:calls():records() do
      calls[#calls + 1] = ("%s %d-%d %d %s %s"):format(r.area, r.start, r.stop, r.net,
         r.flags or "", r.period or "")
   end
   for r in trace:call_statistics():records() do
      sums[r.area] = { r.count, r.net, r.gross, r.period_max, r.outside, r.last_stop }
   end
   for name, spent in trace:profile():flat():each("function", "self") do
      self[name] = spent
   end
   return { calls = calls, sums = sums, self = self }
end

describe("time that starts again in one file", function()
   it("begins a run, as another file does", function()
      for _, count in ipairs { 14, 9, 4 } do
         local one, two = rows_of(count), rows_of()
         local whole <close> = assert(profio.open { data = table_of(one, two, one) })
         local files <close> = assert(profio.open { { data = table_of(one) },
            { data = table_of(two) }, { data = table_of(one) } })
         assert.same(told(files), told(whole))
         assert.same({ "xpp-run-begins note 2" }, codes(whole))
         assert.equal(#xpp.header(layout.fields, 0, 3) + count * 43, whole.warnings[1].offset)
      end
   end)

   it("does so in text, in packets and behind letters of both sides", function()
      local text = xpp.text(joined(rows_of(9), rows_of()))
      local trace <close> = assert(profio.open { data = "TID,TIME,OP,MSG,LINE,PARAMS\r\n" .. text })
      local other <close> = assert(profio.open { data = table_of(rows_of(9), rows_of()) })
      assert.same(told(other), told(trace))
      assert.same({ "xpp-run-begins note 1" }, codes(trace))
      command.run "rm -f restart.PR*"
      for _, packet in ipairs(xpp.packets(joined(rows_of(9), rows_of()), 4, "table")) do
         command.file("restart.PRF" .. packet.suffix, packet.bytes)
      end
      local packets <close> = assert(profio.open(command.folder .. "/restart.PRF"))
      assert.same(told(other), told(packets))
      command.run "rm -f restart.PR*"
   end)

   it("is not a clock that wraps, nor rows out of order", function()
      local trace <close> = assert(profio.open { data = (xpp.table { { 1, 10, "I", "A", 1 },
         { 1, 0x7fffffff, "O", "A", 1 }, { 1, -10, "I", "A", 1 }, { 1, 20, "O", "A", 1 } }) })
      trace.entries:rows()
      assert.same({ "xpp-clock-wrapped note 1" }, codes(trace))
      local odd <close> = assert(profio.open { data = (xpp.table { { 1, 0, "I", "A", 1 },
         { 1, 100, "O", "A", 1 }, { 1, 90, "I", "A", 1 }, { 1, 110, "O", "A", 1 } }) })
      odd.entries:rows()
      assert.same({ "xpp-time-back damage 1" }, codes(odd))
      local calls = {}
      for flags in odd:calls():each "flags" do
         calls[#calls + 1] = flags
      end
      assert.same({ false, false }, calls)
   end)

   it("is marked in entries, unfiltered ones and events, whatever columns are asked for", function()
      local rows = joined(rows_of(9), rows_of(4))
      local trace <close> = assert(profio.open { data = table_of(rows) })
      for _, columns in ipairs { { "flags" }, { "time", "flags" }, { "op", "flags", "call" } } do
         local found = {}
         for i, row in ipairs(trace.entries:rows(table.unpack(columns))) do
            found[#found + 1] = row.flags and i .. row.flags
         end
         assert.same({ "10run" }, found)
      end
      local open = {}
      for _, row in ipairs(trace.entries:unfilter():rows("event", "call", "flags")) do
         open[#open + 1] = row.flags and ("%s %s %s"):format(row.event, row.call, row.flags)
      end
      assert.same({ "leave C open", "leave A open", "leave MAIN open", "enter MAIN run",
         "leave A open", "leave MAIN open" }, open)
      local events = {}
      for _, row in ipairs(trace.events:rows("event", "area", "flags")) do
         events[#events + 1] = row.flags and ("%s %s %s"):format(row.event, row.area, row.flags)
      end
      assert.same({ "enter MAIN gap" }, events) -- as where another file begins
   end)

   it("is found among many entries that are decoded ahead", function()
      local rows, begins = {}, {}
      for run = 1, 3 do
         begins[#begins + 1] = run > 1 and #rows + 1 or nil
         for i = 1, 9000 + 500 * run do
            rows[#rows + 1] = { 1, i, i % 2 == 1 and "I" or "O", "F" .. i // 2 % 7, 1 }
         end
      end
      local trace <close> = assert(profio.open { data = (xpp.table(rows, layout)) })
      for _, columns in ipairs { { "flags" }, { "time", "call", "flags" } } do
         local found, n = {}, 0
         for row in trace.entries:records(table.unpack(columns)) do
            n = n + 1
            found[#found + 1] = row.flags and n
         end
         assert.same(begins, found)
      end
      assert.same({ "xpp-run-begins note 2" }, codes(trace))
   end)

   it("has XppPat's shares of all runs, and no timeline of them", function()
      local one, two = table_of(rows_of()), table_of(rows_of(), rows_of())
      local paths = { command.file("once.prf", one), command.file("again.prf", one) }
      local both = command.file("both.prf", two)
      local function xpppat(what)
         return (command.run("profio --report xpppat --output csv " .. what))
      end
      assert.equal(xpppat(table.concat(paths, " ")), xpppat(both))
      local trace <close> = assert(profio.open(both))
      local bytes, message, code = trace:export "chrome"
      assert.same({ nil, "unsupported" }, { bytes, code })
      assert.matches("runs whose times overlap", message)
      assert.matches("another run begins here", (command.run("profio --report entries " .. both)))
   end)

   it("takes the clock of idle threads back", function()
      local rows = { { 1, 0, "I", "M", 1 }, { 1, 10, "I", "SLEEP", 1 }, { 1, 90, "O", "SLEEP", 1 },
         { 1, 100, "O", "M", 1 } }
      local whole <close> = assert(profio.open({ data = table_of(rows, rows) }, { idle = "Sleep" }))
      local nets = {}
      for area, net in whole:calls():each("area", "net") do
         nets[#nets + 1] = area .. net // 1000000
      end
      assert.same({ "SLEEP0", "M20", "SLEEP0", "M20" }, nets)
   end)
end)
